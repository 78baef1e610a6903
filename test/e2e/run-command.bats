#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2016,SC2030,SC2031 # helpers.bash sets root, out and err; scripts are for other shells
# dljob run -n 3 -- COMMAND, its -o yaml, and dljob init: jobs without a manifest.
load helpers

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset DL_OPERATOR_KINDS NO_COLOR OMP_NUM_THREADS CUDA_VISIBLE_DEVICES
  export TMPDIR=$BATS_TEST_TMPDIR
}

# The tests' own folder is only for whoever runs them; this one is for an ordinary user, too.
open_folder() {
  theirs=$(TMPDIR=/tmp mktemp -d)
  chmod 777 "$theirs"
  cd "$theirs" || return 1
}

teardown() {
  cd /
  [ -z "${theirs-}" ] || rm -rf "$theirs"
}

# lines TEXT: what the replicas printed, in the order of their names.
lines() { printf '%s\n' "$1" | LC_ALL=C sort; }

# gpus N: a machine with so many, of which nvidia-smi tells.
gpus() {
  mkdir -p tools
  printf '#!/bin/sh\nseq 0 %d\n' "$(($1 - 1))" >tools/nvidia-smi
  chmod +x tools/nvidia-smi
  export PATH=$PWD/tools:$PATH
}

@test "run -n: the variables of torchrun, the caller's folder and environment" {
  for name in RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE NODE_RANK GROUP_RANK GROUP_WORLD_SIZE ROLE_RANK \
    ROLE_WORLD_SIZE ROLE_NAME MASTER_ADDR MASTER_PORT OMP_NUM_THREADS LR MINE; do
    printf 'printf "%%s=%%s " %s "$%s"\n' $name $name
  done >say.sh
  echo 'echo "$(env | grep -c ^TORCHELASTIC_)" "$PWD"' >>say.sh
  MINE='a b' TORCHELASTIC_RUN_ID=outer HOSTNAME=outer split dljob run -n 2 --env LR=0.1 -- sh say.sh
  is "$status" 0
  for i in 0 1; do
    has "$out" "worker-$i | RANK=$i WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 NODE_RANK=$i GROUP_RANK=$i \
GROUP_WORLD_SIZE=2 ROLE_RANK=$i ROLE_WORLD_SIZE=2 ROLE_NAME=default MASTER_ADDR=say-worker-0 MASTER_PORT=29500 \
OMP_NUM_THREADS=1 LR=0.1 MINE=a b 0 $PWD"
  done
  has "${err##*$'\n'}" "dljob: say: Succeeded after"
}

@test "replicas that write faster than their lines are shown hold up neither deadlines nor signals" {
  status=0
  timeout -k 20 60 "$DLJOB" run -q -n 6 --timeout 1s -- yes >/dev/null 2>err || status=$?
  is "$status" 124
  has "$(cat err)" "timed out after"
}

@test "a reader that leaves ends the run quietly, and its pods" {
  # No other test on this machine sleeps so long.
  long="sleep $((2000000 + $$))"
  # unread SCRIPT: exit status and standard error, of a run whose reader wants one line.
  unread() {
    {
      status=0
      timeout 60 "$DLJOB" run -n 2 -- sh -c "$1" || status=$?
      echo $status >status
    } 2>err | head -n 1 >first
    is "$(cat status)" 1
    has "$(cat first)" "worker-"
    has_not "$(cat err)" "cannot write"
    has_not "$(cat err)" "Succeeded"
  }
  unread "$long & yes"
  # It writes no more, so that no write can fail.
  unread "echo once; $long & wait"
  is "$(pgrep -fx "$long")" ""
}

@test "states are lines on standard error while the job runs" {
  echo 'until grep -q "^dljob: seen: Running: worker 2/2$" stderr; do sleep 0.05; done' >seen.sh
  split dljob run -n 2 --timeout 60s -- sh seen.sh
  is "$status" 0
}

@test "a program that fails ends the job at once, and what cannot be run is named" {
  split dljob run -n 2 -- sh -c '[ $RANK = 0 ] || exit 7; exec sleep 60'
  is "$status" 1
  has "${err##*$'\n'}" "worker-1 exited with code 7"
  split dljob run --kind TFJob -n 1 -- sh -c 'exit 7'
  is "$status" 1
  has "${err##*$'\n'}" "exited with code 7"
  has "$err" "not restarted under policy Never"
  split dljob run -- ./nonesuch
  is "$status" 1
  has "$err" "./nonesuch"
}

@test "arguments reach the program as they were written" {
  printf '%s\n' '$$' '$(RANK)' '$$(RANK)' '$$$(RANK)$' '$x' '$(' '' 'a b' '"' '{x: 1}' '*' '0.1' 'yes' >want
  split dljob run -q -- printf '%s\n' '$$' '$(RANK)' '$$(RANK)' '$$$(RANK)$' '$x' '$(' '' 'a b' '"' '{x: 1}' '*' 0.1 yes
  is "$status" 0
  is "$(printf '%s\n' "$out" | sed 's/^worker-0 | //; s/^worker-0 |$//')" "$(cat want)"
}

@test "what the user sets is his: OMP_NUM_THREADS, RANK, and names of the derived ones in others" {
  OMP_NUM_THREADS=4 split dljob run -q -n 2 -- sh -c 'echo $OMP_NUM_THREADS'
  is "$(lines "$out")" $'worker-0 | 4\nworker-1 | 4'
  split dljob run -q -n 2 --env OMP_NUM_THREADS=3 --env RANK=9 --env 'FROM=$(TRAININGJOB_REPLICA_INDEX)' -- \
    sh -c 'echo $OMP_NUM_THREADS $RANK $FROM'
  is "$(lines "$out")" $'worker-0 | 3 9 0\nworker-1 | 3 9 1'
  split dljob run -q -- sh -c 'echo ${OMP_NUM_THREADS-none}'
  is "$out" "worker-0 | none"
}

# meet.py: replicas that find each other as init_process_group() does, all of them or none.
meet() {
  cat >meet.py <<'PY'
import os, socket, time
here = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
n = int(os.environ["WORLD_SIZE"])
if os.environ["RANK"] == "0":
    with socket.create_server(here) as s:
        for _ in range(n - 1):
            s.accept()[0].close()
else:
    while True:
        try:
            socket.create_connection(here, 30).close()
            break
        except ConnectionRefusedError:
            time.sleep(0.02)
print("met at", here[0], here[1] != 29500)
PY
}
met=$'worker-0 | met at 127.0.0.1 True\nworker-1 | met at 127.0.0.1 True\nworker-2 | met at 127.0.0.1 True'

@test "without a network of their own the replicas meet on 127.0.0.1, at a port that is free" {
  meet
  split dljob run --host-network -n 3 -- /usr/bin/python3 meet.py
  is "$status" 0
  is "$(lines "$out")" "$met"
  split dljob run -q --host-network --env MASTER_ADDR=me --env MASTER_PORT=1 -- sh -c 'echo $MASTER_ADDR $MASTER_PORT'
  is "$out" "worker-0 | me 1"
}

# bare COMMAND…: by an ordinary user who is allowed no namespace at all.
bare() {
  local as=()
  [ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  # In a user namespace with a limit of 0 there is none below; where the first one is refused already, all the better.
  if "${as[@]}" unshare --user --map-current-user --keep-caps sh -c 'echo 0 >/proc/sys/user/max_user_namespaces'; then
    as+=(unshare --user --map-current-user --keep-caps
      sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" "$@"'
      setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all)
  fi
  for space in --user --net --mount --pid --uts --ipc; do
    if "${as[@]}" unshare $space true 2>/dev/null; then return 1; fi
  done
  split "${as[@]}" env HOME="$PWD" TMPDIR="$PWD" "$@"
}

@test "without any namespaces an ordinary user's replicas meet on 127.0.0.1" {
  open_folder
  meet
  bare "$DLJOB" run -n 3 -- /usr/bin/python3 meet.py
  is "$status" 0
  is "$(lines "$out")" "$met"
  has "$err" "dljob: pods share the machine's network, so two of them cannot listen on one port (a user namespace: "
  # "No space left on device" is what the kernel calls a limit.
  has_not "$err" "space left"
  has "$err" "Succeeded"
  bare "$DLJOB" run -q -n 3 -- sh -c 'echo $RANK $WORLD_SIZE $MASTER_ADDR $((MASTER_PORT > 1023))'
  is "$(lines "$out")" $'worker-0 | 0 3 127.0.0.1 1\nworker-1 | 1 3 127.0.0.1 1\nworker-2 | 2 3 127.0.0.1 1'
}

@test "where AppArmor takes the rights from user namespaces, the command that gives them back is named" {
  unshare --mount --propagation private true 2>/dev/null || {
    [ "${DL_REQUIRE:-}" != 1 ]
    skip "nothing may be mounted here"
  }
  open_folder
  export -f bare split
  export DLJOB
  cp -r /proc/sys/kernel kernel 2>/dev/null || true
  chmod -R u+w kernel
  echo 1 >kernel/apparmor_restrict_unprivileged_userns
  unshare --mount --propagation private bash -ec '
    mount --bind kernel /proc/sys/kernel
    bare "$DLJOB" run -n 2 -- true
    exit "$status"'
  err=$(cat stderr)
  has "$err" "on one port (a user namespace: "
  has "$err" "; AppArmor takes their rights from user namespaces here; until the next boot dljob has them with: \
echo 'abi <abi/4.0>, \"$(realpath "$DLJOB")\" flags=(unconfined) { userns, }' | sudo apparmor_parser -r"
}

@test "GPUs: each replica has its own, and those that nobody asked for are hidden, which is said" {
  gpus 4
  split dljob run -n 2 --gpus 1 -- sh -c 'echo ${CUDA_VISIBLE_DEVICES-unset}'
  is "$status" 0
  is "$(printf '%s\n' "$out" | sed 's/.*| //' | sort)" $'0\n1'
  has_not "$err" "hidden"
  CUDA_VISIBLE_DEVICES=2,3 split dljob run -n 1 -- sh -c 'echo "<$CUDA_VISIBLE_DEVICES>"'
  is "$out" "worker-0 | <>"
  has "$err" "dljob: note: 2 GPUs of this machine are hidden; --gpus 1 gives each replica one"
  split dljob run -n 3 --gpus 2 -- true
  is "$status" 2
  has "$err" "GPU"
}

@test "--kind and --roles: other frameworks get their own variables" {
  split dljob run -q --kind TFJob --roles ps=1,worker=2 -- \
    sh -c 'echo "$TF_CONFIG"; case $TF_CONFIG in *\"ps\"*\"ps\"*) exec sleep 60 ;; esac'
  is "$status" 0
  has "$out" 'worker-1 | {"cluster": {"ps": ["ps-sh-0-service:2222"], '\
'"worker": ["worker-sh-0-service:2222", "worker-sh-1-service:2222"]}'
  split dljob run -q --kind MXJob.mpba.fbk.eu -n 2 -- sh -c 'echo $DMLC_ROLE $DMLC_NUM_SERVER $DMLC_NUM_WORKER'
  is "$status" 0
  has "$out" "scheduler-0 | scheduler 1 2"
  for kind in TfJob MXJob.fioravanzo.org TFJob MXJob.mpba.fbk.eu; do
    split dljob run -o yaml --kind "$kind" --roles worker=2 --image i -- python3 train.py
    is "$status" 0
    is "$err" ""
    printf '%s\n' "$out" >job.yaml
    dljob validate job.yaml
  done
  split dljob run -q --roles ps=1,trainer=2 -- sh -c 'echo ${RANK-none} $PS_INSTANCES_NUM $TRAINER_INSTANCES_NUM'
  is "$(lines "$out")" $'ps-0      | none 1 2\ntrainer-0 | none 1 2\ntrainer-1 | none 1 2'
}

@test "-o yaml is ready for a cluster, and holds nothing of the caller" {
  export SECRET=hunter2
  split dljob run -n 2 --gpus 1 --env LR=0.1 --image registry/train:1 -o yaml -- python3 train.py --epochs 3
  is "$status" 0
  is "$err" ""
  printf '%s\n' "$out" >job.yaml
  has_not "$out" hunter2
  has_not "$out" "$PWD"
  has_not "$out" PATH
  is "$(yaml_to_json <job.yaml | jq -c '.[0].spec.replicaSpecs.worker.template.spec |
    [.containers[0].image, .containers[0].command, .containers[0].resources, .containers[0].volumeMounts, .volumes]')" \
    '["registry/train:1",["python3","train.py","--epochs","3"],{"limits":{"nvidia.com/gpu":1}},'\
'[{"name":"shm","mountPath":"/dev/shm"}],[{"name":"shm","emptyDir":{"medium":"Memory"}}]]'
  dljob validate job.yaml
  split dljob run -n 2 -o json -- python3 train.py
  is "$(printf '%s' "$out" | jq -r .metadata.name)" train
  has "$err" "warning: without --image the manifest has 'your-image-here'"
}

@test "the job's name is the program's" {
  name() { dljob run -o json --image i "$@" | jq -r .metadata.name; }
  is "$(name -- python3 -u ./src/Train_Net.py)" train-net
  is "$(name -- python3 -m pkg.fit --x)" fit
  is "$(name -- ./run.sh)" run
  is "$(name -- /usr/bin/env)" env
  is "$(name -- ./123)" job
  is "$(name --name mine -- python3 train.py)" mine
}

@test "init: a manifest with comments, which is valid, as is what its comments propose" {
  split dljob init -n 3 --gpus 1 --image i -- python3 train.py
  is "$status" 0
  is "$err" ""
  has "$out" "# "
  printf '%s\n' "$out" >job.yaml
  is "$(yaml_to_json <job.yaml)" "$(dljob run -o yaml -n 3 --gpus 1 --image i -- python3 train.py | yaml_to_json)"
  sed 's/# \(restart:\|activeDeadlineSeconds:\)/\1/' job.yaml >more.yaml
  [ "$(diff job.yaml more.yaml | grep -c '^>')" -eq 2 ]
  dljob validate job.yaml
  dljob validate more.yaml
  split dljob init new.yaml --image i
  is "$status" 0
  has "$(cat new.yaml)" train.py
  script=$'cat >f <<END\n\ncleanPods: b\n\n  image: c\nEND\n\n'
  for text in "$script" "${script%$'\n'}" "${script%$'\n\n'}"; do
    split dljob init --image i -- sh -c "$text"
    is "$status" 0
    printf '%s\n' "$out" >text.yaml
    is "$(yaml_to_json <text.yaml)" "$(dljob run -o yaml --image i -- sh -c "$text" | yaml_to_json)"
    has "$out" $'\n    # Keep finished pods'
  done
  same=(-n 2 --image i -e LR=1 --set spec.policy.restart.limit=3 -- true)
  is "$(dljob init "${same[@]}" | yaml_to_json)" "$(dljob run -o yaml "${same[@]}" | yaml_to_json)"
  split dljob init new.yaml --image other
  is "$status" 1
  has "$err" "new.yaml: already exists"
  has_not "$(cat new.yaml)" other
}

@test "init: no half of a manifest is left where the disk is full" {
  split bash -c 'trap "" XFSZ; ulimit -f 1; exec "$0" init new.yaml --image i' "$DLJOB"
  is "$status" 1
  has "$err" "new.yaml: File too large"
  [ ! -e new.yaml ]
}

@test "wrong uses say what is right" {
  wrong() {
    local message=$1
    shift
    split dljob run "$@"
    is "$status" 2
    has "$err" "$message"
    is "$out" ""
  }
  wrong "-n is the number of replicas, not a namespace: 'ml' is no number" -n ml -- true
  wrong "-n is the number of replicas, not a namespace: 'ml' is no number" -n ml job.yaml
  wrong "-n is for a command" -n 3 job.yaml
  wrong "--name is for a command" --name x job.yaml
  wrong "after --: '-n 3 -- python train.py'; python is read as a file" -n 3 python train.py
  wrong "-n wants 1 to 100000 replicas, not 0" -n 0 -- true
  wrong "-n and --roles" -n 1 --roles ps=1 -- true
  wrong "--roles wants ROLE=N" --roles ps -- true
  wrong "--roles wants ROLE=N" --roles '' -- true
  wrong "--roles wants ROLE=N" --roles ps=1,,worker=1 -- true
  wrong "twice" --roles ps=1,PS=2 -- true
  wrong "--gpus wants" --gpus many -- true
  wrong "MXJob.fioravanzo.org or MXJob.mpba.fbk.eu" --kind MXJob -- true
  wrong "there is no kind 'PyTorchJob'" --kind PyTorchJob -- true
  wrong "'job.yaml' is a file" -- job.yaml
  wrong "give a file or a command, not both" job.yaml -- true
  wrong "which command" -n 3
  wrong "which FILE, or which command" --
  wrong "the command is empty" -- ''
  wrong "not UTF-8" -- printf $'\xff'
  wrong 'must be ps or worker, found "trainer"' --kind TFJob --roles trainer=1 -- true
  wrong "metadata.name" --name 'No Name' -- true
}

@test "what is wrong with the value of a --set points at the flag: run, init" {
  for c in run init; do
    split dljob $c --image i --set spec.polcy.cleanPods=None --set spec.policy.restart.limit=x --name 'No Name' -- true
    is "$status" 2
    has "$err" "--set spec.polcy.cleanPods=None: error: spec.polcy: unknown field, did you mean \`policy\`?"
    has "$err" "--set spec.policy.restart.limit=x: error: spec.policy.restart.limit: must be a whole number"
    has "$err" "dljob $c: metadata.name: must be"
    has_not "$err" "dljob $c: spec"
  done
  # A warning, too.
  split dljob init --image i --set spec.policy.restart='{policy: Never, limit: 3}' -- true
  is "$status" 0
  has "$err" "--set spec.policy.restart={policy: Never, limit: 3}: warning: spec.policy.restart.limit: has no effect"
}

@test "a kind that does not write manifests says so" {
  mkdir kinds
  sed 's/, write = write//; s/AITrainingJob/OtherJob/; s/aitrainingjobs/otherjobs/; s/"aitj"/"oj"/' \
    "$root/kinds/aitrainingjob.lua" >kinds/other.lua
  split dljob run --kinds-dir kinds --kind OtherJob -- true
  is "$status" 2
  has "$err" "OtherJob.elasticdeeplearning.ai has no \`write\` function"
}

@test "what a kind writes wrong is told with the line of its Lua, what was asked of it is not" {
  mkdir kinds
  cat >kinds/ring.lua <<'LUA'
return {
  group = "example.org", version = "v1", kind = "RingJob", plural = "ringjobs",
  spec = { "object", fields = {
    workers = { "int", required = true, max = 2 }, template = { "template", required = true } } },
  read = function(spec)
    return { roles = { { name = "worker", path = at(spec), count = spec.workers, template = spec.template,
      fields = { count = "workers" } } } }
  end,
  names = function(job, role, index) return job.name .. "-" .. index end,
  pod = function() end, status = function() return {} end,
  write = function(roles, template)
    return { workers = roles[1].count,
      template = template }
  end,
}
LUA
  split dljob init --kinds-dir kinds --kind RingJob --image i -- true
  is "$status$err" 0
  split dljob run --kinds-dir kinds --kind RingJob -n 3 -- true
  is "$status" 2
  is "$err" "dljob run: spec.workers: must be at most 2, found 3"
  sed -i 's/return { workers/return { wrkers/' kinds/ring.lua
  split dljob run --kinds-dir kinds --kind RingJob --set spec.policy.cleanPods=x -- true
  is "$status" 1
  is "$err" "kinds/ring.lua:12: error: write: spec.wrkers: unknown field, did you mean \`workers\`?"
  # An edit that mends it ends that.
  split dljob run --kinds-dir kinds --kind RingJob -o yaml --image i --set spec.wrkers=null --set spec.workers=1 -- true
  is "$status$err" 0
  sed -i 's/return { wrkers/template.spec.containers[1].comand = "x"\n    return { workers/' kinds/ring.lua
  split dljob init --kinds-dir kinds --kind RingJob -- true
  is "$status" 1
  has "$err" "kinds/ring.lua:12: error: write: spec.template.spec.containers[0].comand: unknown field"
  # Fields with the names of roles are those of whoever asked for the roles.
  sed -i '/^  write = /,$d' kinds/ring.lua
  cat >>kinds/ring.lua <<'LUA'
  write = function(roles, template)
    local spec = { template = template }
    spec[roles[1].name] = roles[1].count
    return spec
  end,
}
LUA
  split dljob init --kinds-dir kinds --kind RingJob --image i --roles workers=2 -- true
  is "$status$err" 0
  split dljob init --kinds-dir kinds --kind RingJob --image i --roles wrkers=2 -- true
  is "$status" 2
  has "$err" "dljob init: spec.wrkers: unknown field, did you mean \`workers\`?"
}
