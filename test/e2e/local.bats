#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2030,SC2031,SC2317,SC2016 # set by helpers; called by eventually; jobs of sh
# dljob local: the cluster on this machine, in the background.
load helpers
load local-cluster

teardown() {
  kill_started
  if [ -d home ]; then dljob local down --now >/dev/null 2>&1 || true; fi
}

@test "up, status, kubeconfig, down: what they say, and their exit codes" {
  split dljob local status
  is "$status" 1
  has "$out" "is down"
  split dljob local kubeconfig
  is "$status" 1
  has "$err" "dljob local up"
  split dljob local down
  is "$status $out" "0 no cluster is running"
  [ ! -e home ]
  split up
  is "$status" 0
  has "$out" "is up: https://127.0.0.1:$(cat home/port), pid "
  pid=$(cluster_pid)
  split up
  is "$status" 0
  has "$out" "it is already up"
  has "$out" ", pid $pid"
  split dljob local kubeconfig
  is "$status $out" "0 $PWD/home/kubeconfig"
  is "$(api /version | jq -r .major)" 1
  before="$(cat home/port) $(cat home/token)"
  split dljob local down
  is "$status" 0
  has "$out" "jobs are kept"
  split dljob local status
  is "$status" 1
  split dljob local down
  is "$status" 0
  up
  is "$(cat home/port) $(cat home/token)" "$before"
}

@test "reset wants a yes; wrong words are told" {
  up
  split dljob local reset
  is "$status" 2
  has "$err" "--yes"
  api /version >/dev/null
  split dljob local reset --yes
  is "$status" 0
  is "$(ls -A home)" ""
  split dljob local status
  is "$status" 1
  for words in "" "upp" "up down"; do
    # shellcheck disable=SC2086 # several words
    split dljob local $words
    is "$status" 2
    has "$err" "up, down, status, kubeconfig or reset"
  done
  split dljob local down --timeout soon
  is "$status" 2
  has "$err" "--timeout wants a time"
}

@test "a folder without a cluster: down and reset make nothing in it, and up can use it" {
  mkdir home
  for words in down "reset --yes" "down --now" "reset --yes"; do
    # shellcheck disable=SC2086 # several words
    split dljob local $words
    is "$status" 0
    is "$(ls -A home)" ""
  done
  up
  for words in "reset --yes" "reset --yes" down; do
    # shellcheck disable=SC2086 # several words
    split dljob local $words
    is "$status" 0
    is "$(ls -A home)" ""
  done
  has "$out" "no cluster is running"
  up
}

@test "many ups at once: one cluster, and all of them say where" {
  for i in 1 2 3 4 5; do
    up >"out.$i" 2>&1 &
  done
  wait
  pid=$(cluster_pid)
  for i in 1 2 3 4 5; do
    has "$(cat "out.$i")" "is up: https://127.0.0.1:$(cat home/port), pid $pid"
  done
}

@test "a relative DLJOB_HOME, and one that does not hold the caller's descriptors" {
  DLJOB_HOME=home/deep up | cat
  is "$(stat -c %a home/deep)" 700
  has "$(DLJOB_HOME=home/deep dljob local kubeconfig)" "$PWD/home/deep/kubeconfig"
  DLJOB_HOME=home/deep dljob local down
}

@test "jobs: one that ends well, one that fails, and both are there after down and up" {
  up
  job good 'echo fine' 2 | submit --wait
  status=0
  job bad 'exit 3' | submit --wait || status=$?
  is "$status" 1
  dljob local down
  up
  phase_is good Succeeded
  phase_is bad Failed
  has "$(dljob logs --local -q good)" "fine"
  has "$(dljob list --local -q)" "trainer-0 exited with code 3"
}

@test "down ends what runs, and that is no failure: after up the job goes on, nothing is counted" {
  up
  job it 'touch began; [ -e go ] || exec sleep 1000' 2 | submit
  eventually 60 phase_is it Running
  remember
  dljob local down
  nothing_left
  touch go
  up
  ended it Succeeded
  is "$(api "$jobs/it" | jq -c .status.dlOperator.roles.trainer.restarts)" '{"Disrupted":1}'
  dljob local down
  nothing_left
}

# deaf NAME: a job of a pod that no SIGTERM ends, and whose grace period is an hour; it runs.
deaf() {
  trainers "$1" "trap \"\" TERM; touch $1.runs; exec sleep 1000" |
    sed 's/terminationGracePeriodSeconds: 5/terminationGracePeriodSeconds: 3600/' | submit
  eventually 60 [ -e "$1.runs" ]
}

@test "down --now: a pod that ignores SIGTERM, whose grace period is an hour" {
  up
  deaf it
  remember
  timeout 240 "$DLJOB" local down --now
  nothing_left
}

@test "down --now hurries a down that waits, another down does not" {
  up
  deaf it
  remember
  split dljob local down --timeout 1s
  is "$status" 124
  has "$err" "--now"
  split dljob local down --timeout 1s
  is "$status" 124
  has "$err" "--now"
  has_not "$(cat home/log)" "at once"
  timeout 240 "$DLJOB" local down --now
  nothing_left
}

@test "up --foreground: Ctrl-C waits for the pods, a second one ends them at once" {
  "$DLJOB" local up --foreground >said 2>&1 3>&- &
  echo $! >up.pid
  serves() { is "$(api /version | jq -r .major)" 1; }
  eventually 60 serves
  deaf it
  remember
  kill -INT "$(cat up.pid)"
  eventually 60 grep -q "shutting down" said
  has_not "$(cat said)" "at once"
  kill -INT "$(cat up.pid)"
  gone() { [ ! -e "/proc/$1" ]; }
  eventually 60 gone "$(cat up.pid)"
  status=0
  wait "$(cat up.pid)" || status=$?
  is "$status" 0
  has "$(cat said)" "ends at once"
  nothing_left
}

@test "down --now, reset --now: what a killed cluster left, too" {
  for words in "down --now" "reset --yes --now"; do
    up
    deaf "${words%% *}"
    remember
    kill_cluster
    # shellcheck disable=SC2086 # several words
    timeout 240 "$DLJOB" local $words
    nothing_left
  done
}

@test "killed with SIGKILL in the middle of a job: up adopts its pods, and it ends" {
  up
  job it 'while [ ! -e go ]; do sleep 0.05; done' 2 | submit
  eventually 60 phase_is it Running
  pids=$(pod_pids)
  is "$(wc -w <<<"$pids")" 2
  kill_cluster
  split dljob local status
  is "$status" 1
  up
  is "$(pod_pids)" "$pids"
  phase_is it Running
  is "$(api "$jobs/it" | jq -r .status.dlOperator.restarts)" 0
  touch go
  ended it Succeeded
  is "$(api "$jobs/it" | jq -r .status.dlOperator.restarts)" 0
}

@test "killed with SIGKILL, and what ended meanwhile is known after up" {
  up
  job well 'while [ ! -e go ]; do sleep 0.05; done' | submit
  job badly 'while [ ! -e go ]; do sleep 0.05; done; exit 9' | submit
  eventually 60 phase_is well Running
  eventually 60 phase_is badly Running
  kill_cluster
  touch go
  none() { is "$(pod_pids)" ""; }
  eventually 60 none
  up
  ended well Succeeded
  ended badly Failed
  has "$(dljob list --local -q)" "trainer-0 exited with code 9"
}

@test "killed with SIGKILL, then down: nothing is left; reset after that, too" {
  for words in down "reset --yes"; do
    up
    job "${words%% *}" 'exec sleep 1000' 2 | submit
    eventually 60 phase_is "${words%% *}" Running
    remember
    kill_cluster
    # shellcheck disable=SC2086 # several words
    split dljob local $words
    is "$status" 0
    nothing_left
  done
}

@test "everything in its folder is for the owner only, and nobody is let in without the token" {
  umask 0
  up
  job it 'echo fine' | submit --wait
  # What a container wrote, and its volumes, are the pod's business; the folder above keeps others out.
  is "$(stat -c %a home home/pods home/net | sort -u)" 700
  is "$(find home -maxdepth 1 -type f ! -perm 600)" ""
  url=https://127.0.0.1:$(cat home/port)
  for path in / /version /healthz /api /apis /openapi/v2 /metrics "$jobs" "$pods/it-trainer-0/log" \
    "$pods?watch=1" /nothing; do
    is "$(curl -sSk -m 60 -o /dev/null -w '%{http_code}' "$url$path")" 401
    is "$(curl -sSk -m 60 -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer x' "$url$path")" 401
  done
  is "$(curl -sSk -m 60 -o /dev/null -w '%{http_code}' -X DELETE "$url$jobs/it")" 401
  # Nothing of it listens elsewhere: sockets in state 0A of its process.
  pid=$(cluster_pid)
  sockets=$(find "/proc/$pid/fd" -lname 'socket:*' -printf '%l\n' | tr -dc '0-9\n')
  for inode in $sockets; do
    awk -v i="$inode" '$4 == "0A" && $10 == i { print $2 }' /proc/net/tcp /proc/net/tcp6
  done >listens
  is "$(cat listens)" "$(printf '0100007F:%04X' "$(cat home/port)")"
}

@test "another user of the machine has no token and is not let in" {
  [ "$(id -u)" = 0 ] || skip "only root can change the user"
  chmod o+x "$BATS_TEST_TMPDIR" || true
  up
  nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
  for f in token kubeconfig tls.pem store.db log lock; do
    split nobody cat "home/$f"
    is "$status" 1
    has "$err" "Permission denied"
  done
  is "$(nobody curl -sSk -m 60 -o /dev/null -w '%{http_code}' "https://127.0.0.1:$(cat home/port)$pods")" 401
  # Nor does the command line of any process show it.
  has_not "$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ')" "$(cat home/token)"
}

@test "a port that somebody else has is named; nothing is left" {
  /usr/bin/python3 -c '
import socket, sys, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(600)' >taken 3>&- &
  echo $! >server.pid
  eventually 60 test -s taken
  split up --port "$(cat taken)"
  is "$status" 1
  has "$err" "$(cat taken)"
  has "$err" "in use"
  is "$(processes_of "$DLJOB_HOME")" ""
  split up
  is "$status" 0
}

# damage HOW: to the database; `up` refuses and touches nothing, reset mends it.
damage() {
  up
  job it 'exec sleep 1000' 2 | submit
  eventually 60 phase_is it Running
  remember
  dljob local down
  case $1 in
  garbage) yes garbage | dd of=home/store.db bs=4096 seek=2 count=8 conv=notrunc status=none ;;
  short) truncate -s 5000 home/store.db ;;
  other) yes 'this is no database' | head -c 40000 >home/store.db ;;
  empty-pages) dd if=/dev/zero of=home/store.db bs=4096 seek=1 count=6 conv=notrunc status=none ;;
  esac
  sha256sum home/store.db >sum
  split up
  is "$status" 1
  has "$err" "store.db"
  has "$err" "dljob local reset"
  sha256sum --quiet -c sum
  nothing_left
  split dljob local reset --yes
  is "$status" 0
  is "$(ls -A home)" ""
  up
  job it 'echo fine' | submit --wait
  dljob local down
}

@test "a damaged database: garbage in the middle" { damage garbage; }
@test "a damaged database: too short" { damage short; }
@test "a damaged database: something else altogether" { damage other; }
@test "a damaged database: empty pages" { damage empty-pages; }

@test "damaged while it was killed: reset ends the pods, too" {
  up
  job it 'exec sleep 1000' 2 | submit
  eventually 60 phase_is it Running
  remember
  kill_cluster
  rm home/store.db-wal
  yes 'this is no database' | head -c 40000 >home/store.db
  split up
  is "$status" 1
  has "$err" "dljob local reset"
  split dljob local reset --yes
  is "$status" 0
  nothing_left
}

@test "reset empties only a cluster's folder" {
  mkdir -p home/sub
  echo precious >home/sub/file
  for words in up down "reset --yes"; do
    # shellcheck disable=SC2086 # several words
    split dljob local $words
    is "$status" 1
    has "$err" "$DLJOB_HOME contains files that are not a cluster's"
    is "$(ls -A home)" sub
  done
  # A cluster's, with something that somebody else has put there.
  rm -r home
  up
  echo precious >home/notes
  split dljob local reset --yes
  is "$status" 0
  has "$out" "other files are left"
  is "$(ls -A home)" notes
  # A file that is named as one of ours makes no cluster of a folder.
  rm home/notes
  echo mine >home/log
  split dljob local reset --yes
  is "$status" 1
  is "$(cat home/log)" mine
}

@test "a folder that is not ours alone is refused, and nothing in it changes" {
  up
  dljob local down
  mv home real
  ln -s real home
  find real -exec stat -c '%n %a %s %Z' {} + >before
  for words in up down "reset --yes"; do
    # shellcheck disable=SC2086 # several words
    split dljob local $words
    is "$status" 1
    has "$err" "is a link"
    for end in / /. /./ //.//; do
      # shellcheck disable=SC2086 # several words
      split env DLJOB_HOME="home$end" "$DLJOB" local $words
      is "$status" 1
      has "$err" "$PWD/home is a link"
    done
  done
  find real -exec stat -c '%n %a %s %Z' {} + | diff before -
  rm home
  chmod g+w real
  find real -exec stat -c '%n %a %s %Z' {} + >before
  for words in up down "reset --yes"; do
    # shellcheck disable=SC2086 # several words
    split env DLJOB_HOME="$PWD/real" "$DLJOB" local $words
    is "$status" 1
    has "$err" "others may write to $PWD/real"
  done
  if [ "$(id -u)" = 0 ]; then
    chmod g-w real
    chown 65534 real
    find real -exec stat -c '%n %a %s %Z' {} + >before
    for words in up down "reset --yes"; do
      # shellcheck disable=SC2086 # several words
      split env DLJOB_HOME="$PWD/real" "$DLJOB" local $words
      is "$status" 1
      has "$err" "$PWD/real belongs to user 65534"
    done
  fi
  find real -exec stat -c '%n %a %s %Z' {} + | diff before -
}

@test "a database that is not ours is not opened" {
  up
  dljob local down
  python3 - <<'X'
import sqlite3
db = sqlite3.connect("home/other.db")
db.execute("CREATE TABLE t (a)")
db.executemany("INSERT INTO t VALUES (?)", [("x" * 500,)] * 50)
db.commit()
X
  mv home/other.db home/store.db
  sha256sum home/store.db >sum
  split up
  is "$status" 1
  has "$err" "is not a database of the local cluster"
  sha256sum --quiet -c sum
  [ ! -e home/store.db-wal ]
  # One that is smaller than an empty one of ours.
  rm home/store.db
  python3 -c 'import sqlite3; sqlite3.connect("home/store.db").executescript("PRAGMA page_size=512; CREATE TABLE t(a)")'
  chmod 600 home/store.db
  is "$(stat -c %s home/store.db)" 1024
  sha256sum home/store.db >sum
  split up
  is "$status" 1
  has "$err" "is not a database of the local cluster"
  sha256sum --quiet -c sum
  mv home/store.db elsewhere.db
  ln -s ../elsewhere.db home/store.db
  before=$(sha256sum <elsewhere.db)
  split up
  is "$status" 1
  has "$err" "store.db: is a link"
  is "$(sha256sum <elsewhere.db)" "$before"
}

@test "a folder that cannot be made or written" {
  split env DLJOB_HOME=/proc/no/such "$DLJOB" local up
  is "$status" 1
  has "$err" "/proc/no/such"
  touch file
  split env DLJOB_HOME="$PWD/file" "$DLJOB" local up
  is "$status" 1
  has "$err" "file"
  if [ "$(id -u)" = 0 ]; then
    chmod o+x "$BATS_TEST_TMPDIR" || true
    mkdir -m 755 theirs
    split setpriv --reuid=65534 --regid=65534 --clear-groups env DLJOB_HOME="$PWD/theirs" "$DLJOB" local up
    is "$status" 1
    has "$err" "theirs"
  fi
}

# reason POD: the first container's.
state_of() { api "$pods/$1" | jq -c ".status.containerStatuses[0].state"; }

@test "a command and a directory that do not exist: the pod says so" {
  up
  job command true | sed 's,"/bin/sh",/no/such/program,' | submit
  job folder true | sed 's,image: none,&\n            workingDir: /no/such/folder,' | submit
  ended command Failed
  ended folder Failed
  has "$(state_of command-trainer-0)" '"reason":"StartError"'
  has "$(state_of command-trainer-0)" "/no/such/program"
  has "$(state_of folder-trainer-0)" '"reason":"CreateContainerError"'
  has "$(state_of folder-trainer-0)" "/no/such/folder"
  has "$(api /api/v1/namespaces/default/events | jq -r '.items[].message')" "/no/such/folder"
}

@test "up --without-gpus: pods that request GPUs run without any, and an event says so" {
  wants() {
    job "$1" 'echo "sees [$CUDA_VISIBLE_DEVICES]"' |
      sed 's/image: none/&\n            resources: {limits: {nvidia.com\/gpu: 64}}/'
  }
  limited() {
    api /api/v1/namespaces/default/events |
      jq -r '.items[] | select(.reason == "Limited") | .type + " " + .message'
  }
  up
  wants refused | submit
  ended refused Failed
  dljob local down >/dev/null
  up --without-gpus
  is "$(wants granted | CUDA_VISIBLE_DEVICES=0 submit --logs)" "AITrainingJob/granted created
trainer-0 | sees []
granted Succeeded: 1 of 1 replicas completed"
  is "$(limited)" "Warning requests 64 GPUs and runs WITHOUT any: --without-gpus"
  # Nothing is said where nothing is missed.
  job plain true | submit --wait
  is "$(limited | wc -l)" 1
  # Each of several things is said, none in place of another.
  wants more | sed 's/image: none/&\n            securityContext: {privileged: true}/' | submit --wait
  has "$(dljob get --local more)" "requests 64 GPUs and runs WITHOUT any"
  has "$(dljob get --local more)" "no effect on this machine, where pods run with your rights: privileged"
}

@test "on the machine's network two pods cannot have one port" {
  up --host-network
  PORT=7123 job first 'while [ ! -e go ]; do sleep 0.05; done' | submit
  eventually 60 phase_is first Running
  PORT=7123 job second 'echo never' | submit
  ended second Failed
  is "$(api "$pods/second-trainer-0" | jq -r .status.reason)" HostPortConflict
  has "$(api "$pods/second-trainer-0" | jq -r .status.message)" 7123
  touch go
  ended first Succeeded
  PORT=7123 job third 'echo now' | submit --wait
}

@test "drain: pods are evicted, none starts until uncordon, and no restart is counted" {
  up
  POLICY=OnFailure job long "exec sleep 1000" 2 | submit
  node=/api/v1/nodes/$(api /api/v1/nodes | jq -r '.items[].metadata.name')
  cordon() {
    api "$node" -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"spec":{"unschedulable":'"$1"'}}' |
      jq -e .metadata.uid >/dev/null
  }
  each() { is "$(api "$pods" | jq -r "[.items[]$1] | join(\" \")")" "$2"; }
  eventually 60 each .status.phase "Running Running"
  before=$(api "$pods" | jq -r '.items[].metadata.uid')
  cordon true
  for i in 0 1; do
    is "$(api "$pods/long-trainer-$i/eviction" -H 'Content-Type: application/json' \
      -d '{"deleteOptions":{"gracePeriodSeconds":1}}' | jq -r .status)" Success
  done
  held() {
    each .status.phase "Pending Pending"
    has "$(api "$pods" | jq -r '.items[].status.conditions[].message')" "the node is cordoned"
  }
  eventually 60 held
  [ "$(api "$pods" | jq -r '.items[].metadata.uid')" != "$before" ]
  # It is not forgotten over down and up.
  dljob local down >/dev/null
  up
  held
  cordon false
  eventually 60 each .status.phase "Running Running"
  is "$(api "$jobs/long" | jq -c '[.status.dlOperator.roles[] | .counted // 0]')" "[0]"
}

@test "what scale says to do instead works" {
  up
  job one "exec sleep 1000" 1 | submit
  runs() { is "$(api "$pods" | jq -r '.items[].status.phase')" "$1"; }
  eventually 60 runs Running
  hint=$(api "$jobs/one/scale" | jq -r .message)
  has "$hint" "'dljob scale --local one ROLE=N'"
  dljob scale --local -q one trainer=2
  eventually 60 runs "Running
Running"
}
