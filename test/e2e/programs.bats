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

@test "whoever waits for a name that is not known says so" {
  replica lost DMLC_ROLE=worker DMLC_PS_ROOT_URI=scheduler.invalid DMLC_PS_ROOT_PORT=1 DMLC_NUM_SERVER=1 \
    DMLC_NUM_WORKER=1 -- "$programs/linear.py"
  eventually 60 said lost "waiting for the scheduler at scheduler.invalid:1; its name is not known. If that stays so"
  replica early DMLC_ROLE=worker DMLC_PS_ROOT_URI=127.0.0.1 DMLC_PS_ROOT_PORT=1 DMLC_NUM_SERVER=1 \
    DMLC_NUM_WORKER=1 -- "$programs/linear.py"
  eventually 60 said early "waiting for the scheduler at 127.0.0.1:1"
  has_not "$(cat early.log)" "name"
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
  sed -n 's/.*: loss \([0-9.]*\).*/\1/p' "$1.log"
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

# ring_job [ARGUMENT…]: the three replicas of examples/local/ring.yaml.
ring_job() {
  local i hosts
  hosts=$(free_ports 3 | sed 's/^/localhost:/' | paste -s -d,)
  for i in 0 1 2; do
    replica "trainer$i" TRAINER_HOSTS="$hosts" TRAININGJOB_REPLICA_NAME=trainer TRAININGJOB_REPLICA_INDEX=$i \
      -- "$programs/ring.py" "$@"
  done
}

@test "all-reduce ring: all ranks come to the same mean" {
  ring_job --seconds 0.2
  for i in 0 1 2; do
    ends trainer$i 0
    said trainer$i "all ranks agree"
    is "$(losses trainer$i)" "$(losses trainer0)"
  done
  losses trainer0 | awk 'NR > 1 && $1 >= last { exit 1 } { last = $1 } END { exit NR < 10 }'
}

@test "all-reduce ring: too few steps are a wrong result; alone is a ring, too" {
  ring_job --steps 3 --seconds 0
  for i in 0 1 2; do
    ends trainer$i 1
    said trainer$i "the model is off by"
  done
  replica alone TRAINER_HOSTS=localhost:1 TRAININGJOB_REPLICA_NAME=trainer TRAININGJOB_REPLICA_INDEX=0 \
    -- "$programs/ring.py" --seconds 0
  ends alone 0
}

@test "all-reduce ring: one who is killed takes the others along" {
  ring_job --seconds 100
  eventually 60 grep -q "step 1 of" trainer0.log
  killed trainer1
  for i in 0 1 2; do
    ends trainer$i 137
  done
  said trainer2 "lost rank"
}

# tf_task TYPE INDEX [ARGUMENT…]: of a cluster whose places are in $master, $ps, $worker0 and $worker1.
tf_task() {
  local type=$1 index=$2
  shift 2
  replica "$type$index" TF_CONFIG="{\"cluster\": {\"master\": [\"$master\"], \"ps\": [\"$ps\"],
    \"worker\": [\"$worker0\", \"$worker1\"]}, \"task\": {\"type\": \"$type\", \"index\": $index}}" \
    -- "$programs/tfconfig.py" --seconds 0 "$@"
}

tf_places() {
  # shellcheck disable=SC2046 # four words
  set -- $(free_ports 4 | sed 's/^/localhost:/')
  master=$1 ps=$2 worker0=$3 worker1=$4
}

@test "TF_CONFIG: everybody finds everybody; the ps stays until it is stopped" {
  tf_places
  for task in "ps 0" "worker 0" "worker 1"; do
    # shellcheck disable=SC2086 # two words
    tf_task $task
  done
  # One that is started again alone goes on with the others.
  eventually 60 grep -q "serves on port" worker1.log
  killed worker1
  ends worker1 137
  tf_task worker 1
  tf_task master 0
  for name in master0 worker0 worker1; do
    ends $name 0
  done
  said master0 "4 tasks, 0 wrong answers"
  said master0 "ps 0 asked worker 1: worker 1"
  is "$(grep -c ' asked ' master0.log)" 12
  kill "$(cat ps0.pid)"
  ends ps0 143
}

@test "TF_CONFIG: somebody else's answer is a failure" {
  tf_places
  tf_task ps 0
  tf_task worker 0
  tf_task worker 1
  # The master's table of places has two entries swapped.
  swapped=$worker0 worker0=$worker1 worker1=$swapped
  tf_task master 0
  ends master0 1
  said master0 "master 0 asked worker 0: worker 1 WRONG"
  ends worker0 0
  ends worker1 0
}

@test "rings and TF_CONFIG: without their environment they say what they need" {
  split python3 "$programs/ring.py"
  is "$status" 2
  has "$out" "this is for AITrainingJob"
  for config in '' '{}' '[]' '{"cluster": {}, "task": {"type": "ps", "index": 0}}'; do
    split env TF_CONFIG="$config" python3 "$programs/tfconfig.py"
    is "$status" 2
    has "$out" "this is for TfJob"
  done
}
