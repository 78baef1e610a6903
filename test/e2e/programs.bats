#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# The example programs, by hand: processes on loopback with the environment that the kinds give.
load helpers

programs=$root/examples/programs
export PYTHONDONTWRITEBYTECODE=1

teardown() {
  kill_started
}

# free_ports N: numbers that nobody uses.
free_ports() {
  python3 - "$1" <<'PY'
import socket, sys
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(s.getsockname()[1] for s in sockets), sep="\n")
PY
}

# replica NAME VARIABLE=VALUE… -- COMMAND…: in the background; its lines in NAME.log, its process in NAME.pid.
replica() {
  local name=$1
  shift
  local vars=()
  while [ "$1" != -- ]; do
    vars+=("$1")
    shift
  done
  shift
  env "${vars[@]}" python3 "$@" >"$name.log" 2>&1 3>&- &
  echo $! >"$name.pid"
}

# ends NAME STATUS: with which it ends; its lines if it is another.
ends() {
  local got=0
  wait "$(cat "$1.pid")" || got=$?
  rm "$1.pid"
  is "$got" "$2" || { cat "$1.log"; return 1; }
}

killed() { # killed NAME
  kill -KILL "$(cat "$1.pid")"
}

said() { # said NAME TEXT
  has "$(cat "$1.log")" "$2"
}

# linear ROLE NAME [ARGUMENT…]: a replica of examples/local/linear.yaml, whose scheduler is on $port.
linear() {
  local role=$1 name=$2
  shift 2
  replica "$name" DMLC_ROLE="$role" DMLC_PS_ROOT_URI=localhost DMLC_PS_ROOT_PORT="$port" \
    DMLC_NUM_SERVER="$servers" DMLC_NUM_WORKER="$workers" -- "$programs/linear.py" "$@"
}

# linear_job [ARGUMENT…]: all of them, the scheduler last: they wait for each other.
linear_job() {
  local i
  port=$(free_ports 1)
  for ((i = 0; i < workers; i++)); do linear worker "worker$i" "$@"; done
  for ((i = 0; i < servers; i++)); do linear server "server$i" "$@"; done
  linear scheduler scheduler "$@"
}

# losses NAME: the numbers that it printed, in their order.
losses() {
  sed -n 's/.*: loss \([0-9.]*\) .*/\1/p' "$1.log"
}

@test "linear regression: the loss falls, the weights are the true ones, everybody ends well" {
  servers=2 workers=3
  linear_job --seconds 0.2
  for name in worker0 worker1 worker2 server0 server1 scheduler; do
    ends $name 0
  done
  said server0 "100 steps done"
  [ "$(losses worker1 | wc -l)" -ge 10 ]
  losses worker1 | awk 'NR > 1 && $1 > last { exit 1 } { last = $1 } END { exit last > 0.001 }'
  # All rows are somebody's.
  is "$(sed -n 's/.*step 1 of .* on \([0-9]*\) of 1000 rows/\1/p' worker?.log | awk '{ n += $1 } END { print n }')" 1000
  is "$(cat worker?.log | grep -c 'fitted\|off by')" 2
}

@test "linear regression: weights that are off fail the job, with a code that is not tried again" {
  servers=1 workers=2
  linear_job --steps 5 --seconds 0
  for name in worker0 worker1 server0 scheduler; do
    ends $name 1
  done
  said scheduler "a weight is off by"
}

@test "linear regression: whoever is killed, the others end as if killed" {
  servers=2 workers=2
  for victim in worker0 server1 scheduler; do
    linear_job --seconds 100
    eventually 60 grep -q "step 1 of" worker1.log
    killed $victim
    for name in worker0 worker1 server0 server1 scheduler; do
      ends $name 137
    done
    has "$(cat ./*.log)" "lost"
  done
}

@test "linear regression: one who is killed before the training, too" {
  servers=1 workers=2
  port=$(free_ports 1)
  linear server server0
  linear scheduler scheduler
  linear worker worker0
  eventually 60 grep -q "worker on .* is here" scheduler.log
  killed worker0
  for name in server0 scheduler worker0; do
    ends $name 137
  done
  said scheduler "lost worker"
}

@test "linear regression: strangers at the scheduler's door do not disturb" {
  servers=1 workers=1
  port=$(free_ports 1)
  linear scheduler scheduler
  cat >strangers.py <<'PY'
import socket, sys
for text in (b"", b"GET / HTTP/1.1\r\n\r\n", b"7\n", b'{"role": "boss"}\n'):
    with socket.create_connection(("localhost", int(sys.argv[1])), 10) as s:
        s.sendall(text)
PY
  eventually 60 python3 strangers.py "$port"
  linear worker worker0 --seconds 0
  linear server server0
  for name in worker0 server0 scheduler; do
    ends $name 0
  done
}

@test "linear regression: without its environment it says what it needs" {
  split python3 "$programs/linear.py"
  is "$status" 2
  has "$out" "this is for MXJob"
}
