#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2030,SC2031,SC2317,SC2016 # set by helpers; called by eventually; jobs of sh
# The cluster on this machine, and dljob run, on a disk that is full: on a small file system of their own.
load helpers
load local-cluster

teardown() {
  kill_started
  if [ -d home ]; then dljob local down --now >/dev/null 2>&1 || true; fi
}

# filled FOLDER: to the last byte.
filled() { dd if=/dev/zero of="$1/ballast" bs=64k status=none 2>/dev/null || true; }

full_disk() {
  mount -t tmpfs -o size=4m,mode=700 none "$BATS_TEST_TMPDIR/home"
  up
  job runs "while [ ! -e $PWD/go ]; do sleep 0.05; done" 2 | submit
  eventually 60 phase_is runs Running
  filled home
  # Perhaps there is room in the database still; in the end there is none.
  refused() {
    ! job "more-$SECONDS-$RANDOM" true | submit >said 2>&1
  }
  eventually 60 refused
  has "$(cat said)" "$BATS_TEST_TMPDIR/home/store.db cannot be written: the disk is full"
  # It still answers, and pods that end meanwhile end well.
  phase_is runs Running
  touch go
  none() { is "$(pgrep -f "e $PWD/go" || true)" ""; }
  eventually 60 none
  rm home/ballast
  ended runs Succeeded
  job after 'echo fine' | submit --wait
  dljob local down
}

# on_full_disk FUNCTION: it may mount.
on_full_disk() {
  unshare --mount --propagation private true || {
    [ "${DL_REQUIRE:-}" != 1 ]
    skip "nothing may be mounted here"
  }
  mkdir home
  # shellcheck disable=SC2163 # the function of that name
  export -f "$1"
  export -f filled up dljob has_not job trainers submit eventually phase_is ended api is has pod_pids
  export BATS_TEST_TMPDIR DLJOB root jobs pods
  unshare --mount --propagation private bash -ec "trap 'dljob local down --now >/dev/null 2>&1 || true' EXIT; $1"
}

@test "a full disk: errors that say so, and it goes on when there is room again" {
  on_full_disk full_disk
}

delete_on_full_disk() {
  mount -t tmpfs -o size=4m,mode=700 none "$BATS_TEST_TMPDIR/home"
  up
  job runs "exec sleep 1000" 2 | submit
  job other "exec sleep 1000" 1 | submit
  eventually 60 phase_is runs Running
  eventually 60 phase_is other Running
  filled home
  refused() {
    ! job "more-$SECONDS-$RANDOM" true | submit >said 2>&1
  }
  eventually 60 refused
  has "$(cat said)" "$BATS_TEST_TMPDIR/home/store.db cannot be written: the disk is full"
  # What is deleted ends and goes, though there is no room to write anything else.
  dljob delete --local -q runs
  gone() { is "$(api "$pods" | jq -r '[.items[].metadata.name] | join(" ")')" other-trainer-0; }
  eventually 60 gone
  # Its folders are gone, too.
  rm home/ballast
  filled home
  # As long as its pods take, 1 s here; it has been 50 s where each write was waited for.
  SECONDS=0
  dljob local down
  [ "$SECONDS" -lt 40 ]
  is "$(jq -r .life home/pods/*/state.json | sort -u)" ended
  rm home/ballast
  up
  is "$(api "$jobs" | jq -r '[.items[].metadata.name] | join(" ")')" other
  dljob local down --now
}

@test "a full disk: delete and down work" {
  on_full_disk delete_on_full_disk
}

start_on_full_disk() {
  mount -t tmpfs -o size=4m,mode=700 none "$BATS_TEST_TMPDIR/home"
  up
  # Each takes the whole machine: the second starts when the first has ended.
  whole() { trainers "$1" "$2" 1 "  cleanPodPolicy: None" "            resources: {requests: {cpu: $(nproc)}}"; }
  whole first "while [ ! -e $PWD/go ]; do sleep 0.05; done" | submit
  eventually 60 phase_is first Running
  whole second "echo fine" | submit
  filled home
  refused() {
    ! job "more-$SECONDS-$RANDOM" true | submit >/dev/null 2>&1
  }
  eventually 60 refused
  touch go
  full=".*$BATS_TEST_TMPDIR/home/.*: No space left on device"
  said() {
    dljob get --local second >got
    grep -E "^Creating: trainer-0: FailedCreatePodSandBox: $full" got
    grep -E "Warning +FailedCreatePodSandBox +trainer-0 +$full" got
  }
  eventually 60 said
  rm home/ballast
  ended second Succeeded
  dljob local down
}

@test "a full disk: a job says why it does not start" {
  on_full_disk start_on_full_disk
}

run_on_full_disk() {
  mount -t tmpfs -o size=4m,mode=700 none "$BATS_TEST_TMPDIR/home"
  export TMPDIR=$BATS_TEST_TMPDIR/home
  # There is room for what all have in common, and for no pod.
  dd if=/dev/zero of=home/ballast bs=4k count=1018 status=none
  dljob run -n 2 -- echo fine >said 2>&1 3>&- &
  waits() { grep -Eq "Creating: worker-[01]: FailedCreatePodSandBox: .*$TMPDIR/.*: No space left on device$" said; }
  eventually 60 waits
  rm home/ballast
  wait $!
  has "$(cat said)" "worker-0 | fine"
  filled home
  status=0
  dljob run -n 2 -- true >said 2>&1 || status=$?
  [ "$status" = 1 ]
  has "$(cat said)" "$TMPDIR/"
  has "$(cat said)" "No space left on device"
}

@test "a full disk: run says so at once, and goes on when there is room" {
  on_full_disk run_on_full_disk
}

end_on_full_disk() {
  mount -t tmpfs -o size=4m,mode=700 none "$BATS_TEST_TMPDIR/home"
  up
  job runs "trap \"exit 3\" TERM; touch $PWD/\$TRAININGJOB_REPLICA_INDEX; while :; do sleep 0.05; done" 2 | submit
  eventually 60 test -e 0
  eventually 60 test -e 1
  filled home
  SECONDS=0
  dljob local down
  [ "$SECONDS" -lt 40 ]
  # Nobody was killed because there was no room to say how it ended.
  is "$(jq -r .life home/pods/*/state.json | paste -s -d " ")" "ended ended"
}

@test "a full disk: down ends the pods in their time" {
  on_full_disk end_on_full_disk
}

run_loses_lines() {
  mount -t tmpfs -o size=6m,mode=700 none "$BATS_TEST_TMPDIR/home"
  export TMPDIR=$BATS_TEST_TMPDIR/home
  # The job itself does what it should.
  for quiet in "" -q; do
    # shellcheck disable=SC2086 # perhaps none
    dljob run $quiet -n 1 -- sh -c "seq 1 400000; echo done" >out 2>err 3>&-
    shown=$(wc -l <out)
    [ "$shown" -lt 400000 ]
    full="of aitj-main are lost: $TMPDIR/.*/logs/aitj-main/0.log: No space left on device"
    grep -E "^dljob: worker-0: $((400001 - shown)) lines $full\$" err
  done
}

@test "a full disk: run says that lines of a log are lost, and how many" {
  on_full_disk run_loses_lines
}

submit_loses_lines() {
  mount -t tmpfs -o size=6m,mode=700 none "$BATS_TEST_TMPDIR/home"
  up
  job loses "seq 1 400000; echo done" | dljob submit --local --logs - >out 2>err
  shown=$(grep -c "^trainer-0 | " out)
  [ "$shown" -lt 400000 ]
  full="lines of aitj-main are lost: $BATS_TEST_TMPDIR/home/pods/.*/logs/aitj-main/0.log: No space left on device"
  lost="$((400001 - shown)) $full"
  grep -E "^dljob logs: trainer-0: $lost\$" err
  phase_is loses Succeeded
  # One condition says it, however often the status was written.
  is "$(api "$pods" | jq '[.items[].status.conditions[] | select(.type | endswith("log-lost"))] | length')" 1
  dljob get --local loses >got
  grep -E "Warning +LogLost +trainer-0 +$lost" got
  # Whoever looks later hears it, too.
  dljob logs --local loses 2>&1 >/dev/null | grep -E "^dljob logs: trainer-0: $lost\$"
  dljob local down
}

@test "a full disk: submit --logs and get say that lines of a log are lost, and how many" {
  on_full_disk submit_loses_lines
}
