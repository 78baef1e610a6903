#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2030,SC2031,SC2016,SC2317 # what the helpers set; programs of other shells
# Programs that are started in replicas that run: dljob exec and kubectl exec on the cluster on this machine.
load helpers
load local-cluster

teardown() {
  dljob local down --now >/dev/null 2>&1 || true
}

# replica: the job one, whose only replica waits in the folder of the test.
replica() {
  up >/dev/null
  job one 'exec sleep 1000' | submit >/dev/null
  runs() { is "$(api "$pods" | jq -r '.items[].status.phase')" Running; }
  eventually 60 runs
}

# enter [options] -- COMMAND: in the background, as $client; itself, and no shell around it.
enter() {
  "$DLJOB" exec --local one trainer-0 "$@" 3>&- &
  client=$!
}

# inside [options] -- COMMAND
inside() { dljob exec --local one trainer-0 "$@"; }

gone() { [ ! -e "/proc/$1" ]; }

# No other test on this machine sleeps so long.
long="sleep $((1000000 + $$))"

# process_named COMMAND: its number here.
process_named() { pgrep -fx "$1"; }

@test "exec: output, errors, variables, folder, exit status" {
  replica
  split inside -- sh -c 'echo "$TRAININGJOB_REPLICA_INDEX in $(hostname)"; pwd; echo wrong >&2; exit 7'
  is "$status" 7
  is "$out" "0 in one-trainer-0
$PWD"
  is "$err" wrong
  split inside -- sh -c 'kill -9 $$'
  is "$status" 137
  split inside -- printf '%s|' '' 'a b' '$HOME' "'" '&x=1'
  is "$out" "|a b|\$HOME|'|&x=1|"
}

@test "exec: standard input, to its end" {
  replica
  is "$(seq 100000 | inside -i -- md5sum)" "$(seq 100000 | md5sum)"
  is "$(inside -- cat </etc/passwd)" ""
  head -c 5000000 /dev/urandom >data
  inside -i -- cat <data >copy
  cmp data copy
  # Nobody reads what it writes.
  inside -- yes | head -n 1
}

@test "exec: a breakpoint() of Python at a terminal" {
  replica
  cat >train.py <<'PY'
weight = 41
breakpoint()
print("weight is", weight)
PY
  "$root/test/e2e/typist.py" "$DLJOB" exec --local -t one trainer-0 -- python3 train.py >typed <<'KEYS'
wait (Pdb)
type weight += 1
wait (Pdb)
type continue
wait weight is 42
KEYS
  has_not "$(cat typed)" Traceback
}

@test "exec: the terminal's size, Ctrl-C, and a shell where no command is named" {
  replica
  status=0
  "$root/test/e2e/typist.py" "$DLJOB" exec --local one trainer-0 >typed <<'KEYS' || status=$?
type echo begin $((40+2)); stty size; tty
wait begin 42
wait 33 99
wait /dev/pts/
size 40x100
type while [ "$(stty size)" != "40 100" ]; do sleep 0.05; done; echo now $((600+66))
wait now 666
type sh -c 'echo slee$((0+0))ps; exec sleep 1000'
wait slee0ps
key C-c
type exit 9
KEYS
  is "$status" 9
}

@test "exec: what cannot be run says why" {
  replica
  split inside -- /no/such
  is "$status" 1
  is "$err" "dljob exec: one-trainer-0: Internal error occurred: exec /no/such: executable file not found"
  split inside -c other -- true
  is "$status" 1
  has "$err" 'container other is not valid for pod one-trainer-0'
  split dljob exec --local -q one trainer-5 -- true
  is "$status" 1
  is "$err" "dljob exec: no replica trainer-5 runs; there are: trainer-0"
  is "$(dljob __complete -- exec --local one tr)" "trainer-0
:4"
  split dljob exec --local -q one trainer -- true
  is "$status" 2
  has "$err" "'trainer' is no replica"
  split dljob exec --local -q one trainer-0 true
  is "$status" 2
  has "$err" "'true': a command stands behind --"
  split inside -t -- true </dev/null
  is "$status" 2
  has "$err" "standard input is no terminal"
  split inside </dev/null
  is "$status" 2
  has "$err" "which command?"
  split dljob exec --local -q none trainer-0 -- true
  is "$status" 1
}

@test "exec: who leaves ends what he has started" {
  replica
  # By a signal, by SIGKILL, and with its terminal; what it has started, too.
  for how in TERM KILL; do
    enter -- sh -c 'trap "" HUP; '"$long & wait" 2>/dev/null
    eventually 60 process_named "$long"
    process=$(process_named "$long")
    kill -$how "$client"
    wait "$client" || true
    eventually 60 gone "$process"
  done
  "$root/test/e2e/typist.py" "$DLJOB" exec --local -t one trainer-0 -- \
    sh -c "echo begun; exec $long" >/dev/null <<'KEYS' || true
wait begun
hangup
KEYS
  none() { ! process_named "$long"; }
  eventually 60 none
}

@test "exec: the job, the container and the API end before it" {
  replica
  # It does not end by itself: with the pod it is killed, and who waits for it hears just that.
  enter -- sh -c 'trap "" TERM HUP; touch up; while :; do sleep 1000; done'
  eventually 60 test -e up
  dljob delete --local -q one
  ended=0
  wait "$client" || ended=$?
  is "$ended" 137
  job one 'exec sleep 1000' | submit >/dev/null
  eventually 60 runs
  # shellcheck disable=SC2086 # two words
  enter -- $long 2>err
  eventually 60 process_named "$long"
  process=$(process_named "$long")
  kill_cluster
  wait "$client" && false
  has "$(cat err)" "the connection ended before the command"
  eventually 60 gone "$process"
}

@test "exec: a reader that does not read makes the program wait, not the cluster grow" {
  replica
  enter -- yes $$ >/dev/null
  eventually 60 process_named "yes $$"
  kill -STOP "$client"
  process=$(process_named "yes $$")
  # It waits for its pipe: it has written no more for a while.
  wrote() { sed -n 's/^wchar: //p' "/proc/$process/io"; }
  waits() {
    before=$(wrote)
    sleep 0.5
    is "$(wrote)" "$before"
  }
  eventually 60 waits
  is "$(api "$pods" | jq '.items | length')" 1
  # What waits is bounded: far less than was made.
  kib=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$(cluster_pid)/status")
  [ "$kib" -lt 400000 ]
  kill -KILL "$client"
  eventually 60 gone "$process"
}

@test "exec: hostile clients get nowhere, and the others are served" {
  replica
  /usr/bin/python3 - "$(cat home/port)" "$(cat home/token)" "${long#* }" <<'PY'
import os, random, socket, ssl, sys
port, token = int(sys.argv[1]), sys.argv[2]
context = ssl.create_default_context(cafile="home/ca.pem")
path = "/api/v1/namespaces/default/pods/one-trainer-0/exec?stdin=true&stdout=true&command=sleep&command=" + sys.argv[3]

def ask(*lines, method="GET", where=path):
    s = context.wrap_socket(socket.create_connection(("127.0.0.1", port), 60), server_hostname="127.0.0.1")
    s.sendall("\r\n".join((f"{method} {where} HTTP/1.1", "Host: x") + lines + ("", "")).encode())
    return s

def status(s):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = s.recv(1)
        if not piece:
            break
        head += piece
    return int(head.split()[1])

auth = f"Authorization: Bearer {token}"
ws = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: v5.channel.k8s.io")

def expect(want, *a, **k):
    got = status(ask(*a, **k))
    if got != want:
        sys.exit(f"{got}, not {want}: {a} {k}")

expect(401, *ws)
expect(401, "Authorization: Bearer x", *ws)
expect(400, auth)
expect(400, auth, method="POST")
expect(400, auth, *(w.replace("v5.channel", "v9.channel") for w in ws))
expect(400, auth, *(w.replace("==", "") for w in ws))
expect(400, auth, *(w.replace("13", "8") for w in ws))
expect(404, auth, *ws, where=path.replace("trainer-0", "trainer-1"))
expect(400, auth, *ws, where=path.split("&command")[0])
expect(400, auth, *ws, where=path + "&command=x" * 300)
expect(405, auth, *ws, where=path, method="DELETE")
rng = random.Random(6455)
for i in range(60):
    s = ask(auth, *ws)
    if status(s) != 101:
        sys.exit("no WebSocket")
    s.settimeout(60)
    try:
        for _ in range(20):
            head = (rng.choice([0x82, 0x02, 0x80, 0x88, 0x89, 0x81, rng.randrange(256)]),
                    rng.choice([0x80, 0x85, 0xfe, 0xff, rng.randrange(256)]))
            s.sendall(bytes(head) + rng.randbytes(rng.randrange(40)))
    except OSError:
        pass
    s.close()
PY
  is "$(inside -- echo well)" well
  none() { ! process_named "$long"; }
  eventually 60 none
}

@test "exec: kubectl's, with a terminal and without" {
  command -v kubectl >/dev/null || skip "no kubectl"
  replica
  export KUBECONFIG=$DLJOB_HOME/kubeconfig
  is "$(seq 1000 | kubectl exec -i one-trainer-0 -- md5sum)" "$(seq 1000 | md5sum)"
  split kubectl exec one-trainer-0 -- sh -c 'echo wrong >&2; exit 3'
  is "$status" 3
  is "$err" "wrong
command terminated with exit code 3"
  split kubectl exec one-trainer-0 -- /no/such
  is "$status" 1
  has "$err" "executable file not found"
  "$root/test/e2e/typist.py" kubectl exec -it one-trainer-0 -- sh -c 'stty size; read a; echo "got $a"' >typed <<'KEYS'
wait 33 99
type this
wait got this
KEYS
  KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false split kubectl exec one-trainer-0 -- true
  has "$err" "the local cluster has exec over WebSockets only"
  echo data >file
  kubectl cp file one-trainer-0:"$PWD/there"
  kubectl cp one-trainer-0:"$PWD/there" back 2>/dev/null
  is "$(cat back)" data
}

@test "cp: files and folders, there and back, under their names and others" {
  replica
  mkdir -p there here/in/deep
  head -c 300000 /dev/urandom >here/data
  echo deep >here/in/deep/file
  ln -s deep/file here/in/link
  ln -s /etc/passwd here/in/out
  cp_() { dljob cp --local one "$@"; }
  cp_ here/data trainer-0:there
  cmp here/data there/data
  cp_ here/data 'trainer-0:there/a b,[&]'
  cmp here/data 'there/a b,[&]'
  cp_ here/in trainer-0:there/as
  is "$(cat there/as/link) $(readlink there/as/out)" "deep /etc/passwd"
  cp_ trainer-0:there/data .
  cmp here/data data
  cp_ 'trainer-0:there/a b,[&]' back
  cmp here/data back
  # Over a file that is there; not over a folder.
  echo old >back
  cp_ trainer-0:there/data back
  cmp here/data back
  split cp_ "trainer-0:$PWD/there/as" got
  is "$status $err" "0 links that lead elsewhere are left out: 1"
  is "$(cat got/link)" deep
  [ ! -L got/out ]
  split cp_ trainer-0:there/as/deep/file got/link/
  is "$status" 1
  split cp_ trainer-0:no/such .
  is "$status" 1
  has "$err" "tar in one-trainer-0 ended with 2"
  split cp_ no/such trainer-0:there
  is "$status" 1
  has "$err" "no/such: No such file"
  for wrong in "here there" "trainer-0:a trainer-0:b" "trainer-0:.. here" "trainer-0:/ here"; do
    # shellcheck disable=SC2086 # two words
    split cp_ $wrong
    is "$status" 2
  done
  is "$(find . -name '.dljob-cp-*')" ""
}

@test "cp: an archive that wants to leave the target does not" {
  replica
  mkdir bin real
  touch real/file
  # What a container's tar may send.
  cat >bin/tar <<'SH'
#!/usr/bin/python3
import io, sys, tarfile
out = tarfile.open(fileobj=sys.stdout.buffer, mode="w|")
def add(name, kind=tarfile.REGTYPE, link="", text=b"bad"):
    t = tarfile.TarInfo(name)
    t.type, t.linkname, t.mode = kind, link, 0o4777
    t.size = len(text) if kind == tarfile.REGTYPE else 0
    out.addfile(t, io.BytesIO(text) if t.size else None)
where = open("which").read().split()
add("got", tarfile.DIRTYPE)
add("got/mine", text=b"good")
if where[0] == "up":
    add("got/../../escaped")
elif where[0] == "absolute":
    add(where[1] + "/escaped")
elif where[0] == "link":
    add("got/link", tarfile.SYMTYPE, where[1])
    add("got/link/escaped")
elif where[0] == "other":
    add("escaped")
out.close()
SH
  chmod +x bin/tar
  path="{name: PATH, value: '$PWD/bin:$PATH'}"
  job evil 'exec sleep 1000' | sed "s|containerPort: 2222}]|&\n            env: [$path]|" | submit >/dev/null
  both() { is "$(api "$pods" | jq -r '[.items[].status.phase] | join(" ")')" "Running Running"; }
  eventually 60 both
  mkdir target
  for how in "up" "absolute $PWD" "link $PWD/real" "link ../.." "other"; do
    echo "$how" >which
    rm -rf target/got
    split dljob cp --local evil trainer-0:got target
    is "$(find . -name escaped)" ""
    [ ! -L target/got/link ]
    [ "$status" != 0 ] || is "$(cat target/got/mine) $(stat -c %a target/got/mine)" "good 755"
  done
}

@test "top: CPU and memory of each replica; GPUs by nvidia-smi" {
  up >/dev/null
  mkdir bin
  cat >bin/nvidia-smi <<'SH'
#!/bin/sh
echo "$@" >asked
echo "80, 1000"
echo "90, 500"
SH
  chmod +x bin/nvidia-smi
  vars="[{name: PATH, value: '$PWD/bin:$PATH'}, {name: CUDA_VISIBLE_DEVICES, value: '2,3'}]"
  job one '[ "$TRAININGJOB_REPLICA_INDEX" = 0 ] || exec sleep 1000; while :; do :; done' 2 |
    sed "s|containerPort: 2222}]|&\n            env: $vars|" | submit >/dev/null
  both() { is "$(api "$pods" | jq -r '[.items[].status.phase] | join(" ")')" "Running Running"; }
  eventually 60 both
  busy() {
    split dljob top --local -q one
    is "$status" 0
    grep -Eqx 'trainer-0 +[1-9][0-9]*m +[0-9]+Mi +one-trainer-0' <<<"$out"
    grep -Eqx 'trainer-1 +0m +[0-9]+Mi +one-trainer-1' <<<"$out"
  }
  eventually 60 busy
  split dljob top --local -q one --gpus
  is "$status $err" "0 "
  is "$(head -n 1 <<<"$out" | tr -s ' ')" "REPLICA CPU MEMORY GPU GPU-MEMORY POD"
  grep -Eqx 'trainer-1 .* 85% +1500Mi +one-trainer-1' <<<"$out"
  has "$(cat asked)" "-i 2,3"
  metrics=/apis/metrics.k8s.io/v1beta1
  is "$(api "$metrics/namespaces/default/pods/one-trainer-0" | jq -r '.kind, .window, (.containers | length)')" \
    "PodMetrics
1s
1"
  is "$(api "$metrics/pods?labelSelector=no=such" | jq -c .items)" "[]"
  is "$(api "$metrics/namespaces/default/pods/none" | jq -r .code)" 404
  is "$(api "$metrics/namespaces/default/pods/one-trainer-0/log" | jq -r .code)" 404
  is "$(api "$metrics/pods" -X POST | jq -r .code)" 405
  has "$(api "$metrics/nodes" | jq -r .message)" "measures pods only"
  if command -v kubectl >/dev/null; then
    export KUBECONFIG=$DLJOB_HOME/kubeconfig
    split kubectl top pods
    is "$status$err" 0
    is "$(head -n 1 <<<"$out" | tr -s ' ' | sed 's/ $//')" "NAME CPU(cores) MEMORY(bytes)"
    grep -Eqx 'one-trainer-0 +[1-9][0-9]*m +[0-9]+Mi *' <<<"$out"
    grep -Eqx 'one-trainer-1 +[0-9]+m +[0-9]+Mi *' <<<"$out"
    is "$(wc -l <<<"$out")" 3
    split kubectl top pods one-trainer-0 --containers
    grep -Eqx 'one-trainer-0 +aitj-main +[1-9][0-9]*m +[0-9]+Mi *' <<<"$out"
    unset KUBECONFIG
  fi
  dljob delete --local -q one
  split dljob top --local -q one
  is "$status" 1
  if command -v kubectl >/dev/null; then
    KUBECONFIG=$DLJOB_HOME/kubeconfig split kubectl top pods
    has "$err" "No resources found"
  fi
}

@test "port-forward: many connections, much data, a port that nobody has" {
  up >/dev/null
  cat >echo.py <<'PY'
import socketserver
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while piece := self.request.recv(65536):
            self.request.sendall(piece)
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
with Server(("127.0.0.1", 7007), Echo) as s:
    open("up", "w").close()
    s.serve_forever()
PY
  job one 'exec python3 echo.py' | submit >/dev/null
  eventually 60 test -e up
  "$DLJOB" port-forward --local -q one trainer-0 0:7007 0:7008 >ports 2>err 3>&- &
  client=$!
  two() { is "$(wc -l <ports)" 2; }
  eventually 60 two
  is "$(sed 's/.*-> //' ports | tr '\n' ' ')" "7007 7008 "
  mapfile -t ports < <(sed 's/127.0.0.1:\([0-9]*\) .*/\1/' ports)
  /usr/bin/python3 - "${ports[@]}" <<'PY'
import os, socket, sys, threading
here, nobody = map(int, sys.argv[1:])
connect = lambda port: socket.create_connection(("127.0.0.1", port), 60)
data = os.urandom(4_000_000)
def echo():
    s = connect(here)
    threading.Thread(target=s.sendall, args=(data,)).start()
    got = b""
    while len(got) < len(data):
        got += s.recv(1 << 20) or sys.exit("it ended")
    if got != data:
        os._exit(3)
threads = [threading.Thread(target=echo) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
for _ in range(100):
    with connect(here) as s:
        s.sendall(b"x")
        if s.recv(1) != b"x":
            sys.exit("no echo")
if connect(nobody).recv(1):
    sys.exit("somebody")
PY
  eventually 60 grep -qx 'dljob port-forward: port 7008: Connection refused' err
  kill "$client"
  status=0
  wait "$client" || status=$?
  is "$status" 130
  for wrong in 0 70000 x 1:2:3 8:x; do
    split dljob port-forward --local -q one trainer-0 $wrong
    is "$status" 2
  done
  is "$(api "$pods/one-trainer-0/portforward?ports=7007" -X POST | jq -r .code)" 400
}
