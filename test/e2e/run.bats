#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2016 # helpers.bash sets root, out and err; scripts are for other shells
# dljob run: one job on this machine, in the foreground.
load helpers

teardown() {
  kill_started
}

# job SCRIPT [REPLICAS]: on standard output.
job() { trainers it "$@"; }

# nothing_left: nothing of the run is there any more.
nothing_left() {
  is "$(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name 'dljob-run-*')" ""
  is "$(pgrep -f "$BATS_TEST_TMPDIR/dljob-run" || true)" ""
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset DL_OPERATOR_KINDS NO_COLOR
  export TMPDIR=$BATS_TEST_TMPDIR
}

@test "a job that succeeds: its output with names, exit 0, the reason as the last line" {
  job 'echo hello from $TRAININGJOB_REPLICA_INDEX' 2 >job.yaml
  split dljob run job.yaml
  is "$status" 0
  has "$out" "trainer-0 | hello from 0"
  has "$out" "trainer-1 | hello from 1"
  has "${err##*$'\n'}" "dljob: it: Succeeded after"
  nothing_left
}

@test "a job that fails: exit 1, and the exit code in the last line" {
  job 'echo bad >&2; exit 3' >job.yaml
  split dljob run job.yaml
  is "$status" 1
  has "$out" "trainer-0 | bad"
  has "${err##*$'\n'}" "Failed"
  has "${err##*$'\n'}" "trainer-0 exited with code 3"
  nothing_left
}

@test "an invalid job: exit 2, with file and line, and nothing is started" {
  job 'touch started' >job.yaml
  sed -i 's/replicas: 1/replicas: -1/' job.yaml
  split dljob run job.yaml
  is "$status" 2
  has "$err" "job.yaml:8:"
  has "$err" "replicas"
  [ ! -e started ]
}

@test "what cannot run here is refused before the start: a container without a command" {
  job 'touch started' >job.yaml
  sed -i '/command:/d' job.yaml
  split dljob run job.yaml
  is "$status" 2
  has "$err" "job.yaml: "
  has "$err" "command"
  has "$err" "--rootfs"
}

@test "no job, two jobs, no file, an unknown option" {
  echo 'apiVersion: v1' >cm.yaml
  echo 'kind: ConfigMap' >>cm.yaml
  echo 'metadata: {name: c}' >>cm.yaml
  split dljob run cm.yaml
  is "$status" 2
  has "$err" "there is no job in cm.yaml: ConfigMap of v1 is not a job; a job is "
  job true >a.yaml
  split dljob run a.yaml a.yaml
  is "$status" 2
  has "$err" "a second job"
  split dljob run nowhere.yaml
  is "$status" 2
  has "$err" "nowhere.yaml"
  split dljob run --tiemout 3s a.yaml
  is "$status" 2
  has "$err" "did you mean"
  split dljob run --timeout soon a.yaml
  is "$status" 2
  has "$err" "--timeout wants a time"
  split dljob run --kill worker a.yaml
  is "$status" 2
  has "$err" "ROLE/INDEX@SECONDS"
  split dljob run --kill worker/0@1 a.yaml
  is "$status" 2
  has "$err" "no role 'worker'"
  split dljob run --kill trainer/1@1 a.yaml
  is "$status" 2
  is "$err" "dljob run: --kill trainer/1@1: the role trainer has 1 replica, starting at 0"
  split dljob run --volume x=/nowhere a.yaml
  is "$status" 2
  has "$err" "no such directory"
}

@test "replicas find each other by name, though all listen on one port" {
  cat >talk.py <<'PY'
import os, socket, sys
index = int(os.environ["TRAININGJOB_REPLICA_INDEX"])
hosts = os.environ["TRAINER_HOSTS"].split(",")
port = 2222
server = socket.create_server(("", port))
if index == 0:
    for _ in hosts[1:]:
        c, _ = server.accept()
        print("heard", c.recv(100).decode(), flush=True)
        c.close()
else:
    import time
    end = time.monotonic() + 30
    while True:
        try:
            c = socket.create_connection((hosts[0].split(":")[0], port), 5)
            break
        except OSError:
            if time.monotonic() > end: raise
            time.sleep(0.05)
    c.sendall(b"trainer %d" % index)
    c.close()
PY
  job 'exec python3 talk.py' 3 >job.yaml
  sed -i 's/image: none/&\n            ports: [{name: aitj-2222, containerPort: 2222}]/' job.yaml
  split dljob run --timeout 60s job.yaml
  is "$status" 0
  has "$out" "trainer-0 | heard trainer 1"
  has "$out" "trainer-0 | heard trainer 2"
}

@test "--env and --set change the manifest" {
  job 'echo "$GREETING $INHERITED"' >job.yaml
  INHERITED=there split dljob run -e GREETING=hello --env INHERITED \
    --set spec.replicaSpecs.trainer.replicas=2 job.yaml
  is "$status" 0
  has "$out" "trainer-0 | hello there"
  has "$out" "trainer-1 | hello there"
  split dljob run --set spec.replicaSpecs.trainer.replicas.x=2 job.yaml
  is "$status" 2
  has "$err" "spec.replicaSpecs.trainer.replicas"
  # What is wrong with a value is no fault of the file.
  split dljob run --set spec.replicaSpecs.trainer.replicas=-2 --set spec.polcy.restart.limit=1 job.yaml
  is "$status" 2
  has "$err" "--set spec.replicaSpecs.trainer.replicas=-2: error: spec.replicaSpecs.trainer.replicas: "
  has "$err" "--set spec.polcy.restart.limit=1: error: spec.polcy: unknown field"
  has_not "$err" "job.yaml:"
  split dljob submit --dry-run --set spec.replicaSpecs.trainer.replicas=x job.yaml
  is "$status" 2
  has "$err" "--set spec.replicaSpecs.trainer.replicas=x: error: spec.replicaSpecs.trainer.replicas: "
}

@test "the user's variables may refer to the derived ones, and to those before them" {
  job 'echo "$RANK of $WORLD_SIZE at $URL, later $LATE, not $PLAIN"' 2 >job.yaml
  sed -i 's/image: none/&\n            env:'\
'\n            - {name: RANK, value: $(TRAININGJOB_REPLICA_INDEX)}'\
'\n            - {name: URL, value: "tcp:\/\/$(RANK)\/$(TRAININGJOB_NAME)"}'\
'\n            - {name: LATE, value: $(LAST)}'\
'\n            - {name: PLAIN, value: $$(RANK)}'\
'\n            - {name: LAST, value: x}/' job.yaml
  split dljob run --env 'WORLD_SIZE=$(TRAINER_INSTANCES_NUM)' job.yaml
  is "$status" 0
  has "$out" 'trainer-0 | 0 of 2 at tcp://0/it, later $(LAST), not $(RANK)'
  has "$out" 'trainer-1 | 1 of 2 at tcp://1/it, later $(LAST), not $(RANK)'
}

@test "the environment is the manifest's: nothing else is inherited" {
  job 'echo "[$SECRET_OF_MINE]"; command -v sh' >job.yaml
  SECRET_OF_MINE=1 split dljob run job.yaml
  is "$status" 0
  has "$out" "[]"
}

@test "ConfigMaps beside the job, and --volume for a claim" {
  mkdir data && echo content >data/file
  job 'cat /etc/conf/key /data/file; echo made >/data/new' >job.yaml
  sed -i 's/image: none/&\n            volumeMounts: [{name: c, mountPath: \/etc\/conf}, {name: d, mountPath: \/data}]/
    s/terminationGracePeriodSeconds: 5/&\n          volumes: [{name: c, configMap: {name: conf}},'\
' {name: d, persistentVolumeClaim: {claimName: claim}}]/' job.yaml
  cat >cm.yaml <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {key: "from the map\n"}
YAML
  split dljob run cm.yaml job.yaml --volume d=data --volume datta=data --volume e=data
  is "$status" 2
  has "$err" "--volume datta=data: no replica has a volume or a PVC 'datta'"
  has "$err" "--volume e=data: no replica has a volume or a PVC 'e'"
  split dljob run cm.yaml job.yaml --volume d=data
  is "$status" 0
  has "$out" "trainer-0 | from the map"
  has "$out" "trainer-0 | content"
  is "$(cat data/new)" made
  # By the claim's name as well.
  rm data/new
  split dljob run cm.yaml job.yaml --volume claim=data
  is "$status" 0
  is "$(cat data/new)" made
  # What is missing is named at once.
  split dljob run cm.yaml job.yaml
  is "$status" 2
  has "$err" "--volume d=DIR"
  sed 's/{name: d, pers/{name: share, nfs: {server: x, path: \/}}, &/' job.yaml >two.yaml
  split dljob run cm.yaml two.yaml
  is "$status" 2
  has "$err" "--volume share=DIR --volume d=DIR"
  split dljob run job.yaml --volume d=data
  is "$status" 2
  has "$err" "ConfigMap conf is not there"
}

@test "--kill: the replica ends with 137, the job starts it again and ends well" {
  job 'if [ -e second ]; then echo again; else touch second; echo first; exec sleep 1000; fi' 1 >job.yaml
  sed -i 's/restartPolicy: Never/restartPolicy: OnFailure/' job.yaml
  split dljob run --kill trainer/0@0.2 job.yaml
  is "$status" 0
  has "$out" "trainer-0 | first"
  has "$out" "trainer-0 | again"
  has "$err" "killed trainer-0"
  has "${err##*$'\n'}" "and 1 restart"
  nothing_left
}

@test "--timeout: exit 124, and what it was doing" {
  job 'exec sleep 1000' >job.yaml
  split dljob run --timeout 1s job.yaml
  is "$status" 124
  has "${err##*$'\n'}" "timed out"
  nothing_left
}

@test "one Ctrl-C: the replicas hear SIGTERM; exit 130" {
  job 'trap "echo stopping; exit 0" TERM; touch up; while :; do sleep 0.05; done' >job.yaml
  "$DLJOB" run job.yaml >stdout 2>stderr 3>&- &
  echo $! >run.pid
  eventually 30 test -e up
  kill -INT "$(cat run.pid)"
  status=0
  wait "$(cat run.pid)" || status=$?
  is "$status" 130
  has "$(cat stdout)" "trainer-0 | stopping"
  has "$(tail -n 1 stderr)" "interrupted"
  has "$(cat stderr)" "dljob: interrupted: stopping, which may take 5 s; interrupt again to stop at once"
  nothing_left
}

@test "a second Ctrl-C stops at once what does not listen" {
  job 'trap "" TERM; touch up; while :; do sleep 0.05; done' >job.yaml
  sed -i 's/terminationGracePeriodSeconds: 5/terminationGracePeriodSeconds: 1000/' job.yaml
  "$DLJOB" run job.yaml >stdout 2>stderr 3>&- &
  echo $! >run.pid
  eventually 30 test -e up
  kill -INT "$(cat run.pid)"
  eventually 30 grep -q 'interrupt again' stderr
  kill -INT "$(cat run.pid)"
  status=0
  wait "$(cat run.pid)" || status=$?
  is "$status" 130
  nothing_left
}

@test "killed with SIGKILL: no process of the job goes on" {
  job 'echo $$ >up; exec sleep 12345' >job.yaml
  "$DLJOB" run job.yaml >stdout 2>stderr 3>&- &
  echo $! >run.pid
  eventually 30 test -e up
  kill -KILL "$(cat run.pid)"
  ended() { ! pgrep -f "sleep 12345" && ! pgrep -f "$BATS_TEST_TMPDIR/dljob-run"; }
  eventually 30 ended
}

@test "what a killed run leaves is removed by the next one; living, kept and others' folders are not" {
  job 'touch up; exec sleep 12346' >long.yaml
  job 'echo fine' >job.yaml
  "$DLJOB" run long.yaml >stdout 2>stderr 3>&- &
  echo $! >run.pid
  eventually 30 test -e up
  dead=$(echo dljob-run-*)
  uid=$(ls "$dead/pods")
  kill -KILL "$(cat run.pid)"
  gone() { ! pgrep -f "$BATS_TEST_TMPDIR/$1"; }
  eventually 30 gone "$dead"
  rm up
  "$DLJOB" run --keep long.yaml >stdout 2>stderr 3>&- &
  echo $! >run.pid
  eventually 30 test -e up
  [ ! -e "$dead" ]
  is "$(find /sys/fs/cgroup -maxdepth 4 -name "$uid" 2>/dev/null)" ""
  alive=$(echo dljob-run-*)
  mkdir -m 700 dljob-run-other dljob-run-elsewhere elsewhere
  touch dljob-run-other/file elsewhere/lock elsewhere/file
  rmdir dljob-run-elsewhere && ln -s elsewhere dljob-run-elsewhere
  mkdir -m 755 dljob-run-open && touch dljob-run-open/lock
  split dljob run job.yaml
  is "$status" 0
  [ -e "$alive/lock" ] && kill -0 "$(cat run.pid)"
  kill -KILL "$(cat run.pid)"
  eventually 30 gone "$alive"
  split dljob run job.yaml
  is "$status" 0
  # Kept, and never looked at again.
  [ -d "$alive/pods" ] && [ ! -e "$alive/lock" ]
  [ -e dljob-run-other/file ] && [ -e elsewhere/file ] && [ -e dljob-run-open/lock ]
  set -- dljob-run-*
  is $# 4
}

@test "--keep: folders and logs stay, and it says where" {
  job 'echo kept' >job.yaml
  split dljob run --keep job.yaml
  is "$status" 0
  folder=$(printf '%s\n' "$err" | sed -n 's/.*folders and logs: //p')
  has "$(cat "$folder"/*/logs/aitj-main/0.log)" "stdout F kept"
}

@test "a command and a directory that do not exist: the last line says which" {
  job true >job.yaml
  sed -i 's,"/bin/sh",/no/such/program,' job.yaml
  split dljob run job.yaml
  is "$status" 1
  has "${err##*$'\n'}" "trainer-0 could not start: "
  has "${err##*$'\n'}" "/no/such/program"
  job true >job.yaml
  sed -i 's,image: none,&\n            workingDir: /no/such/folder,' job.yaml
  split dljob run job.yaml
  is "$status" 1
  has "${err##*$'\n'}" "/no/such/folder"
}

@test "what can never fit is refused before the start, with what is missing: exit 2" {
  job 'touch started' >job.yaml
  sed -i 's/image: none/&\n            resources: {limits: {nvidia.com\/gpu: 64}}/' job.yaml
  split dljob run --timeout 60s job.yaml
  is "$status" 2
  has "${err##*$'\n'}" "requests 64 GPUs"
  has "${err##*$'\n'}" "--without-gpus runs it without"
  sed -i 's/nvidia.com\/gpu: 64/cpu: 100000/' job.yaml
  split dljob run --timeout 60s job.yaml
  is "$status" 2
  has "${err##*$'\n'}" "100000 cores"
  [ ! -e started ]
}

@test "--without-gpus: what asks for GPUs runs without any, said loudly" {
  job 'echo "sees [$CUDA_VISIBLE_DEVICES]"' >job.yaml
  sed -i 's/image: none/&\n            env: [{name: CUDA_VISIBLE_DEVICES, value: "0"}]/' job.yaml
  sed -i 's/image: none/&\n            resources: {limits: {nvidia.com\/gpu: 64}}/' job.yaml
  split dljob run --quiet --without-gpus --timeout 60s job.yaml
  is "$status" 0
  has "$out" "sees []"
  has "$err" "WITHOUT GPUs: trainer requests 64 each and gets none"
  # Nothing is said where nothing is missed.
  job true >job.yaml
  split dljob run --quiet --without-gpus job.yaml
  is "$status" 0
  is "$(grep -c GPU <<<"$err")" 0
}

@test "much output: every line arrives, in order" {
  job 'seq 1 200000' >job.yaml
  split dljob run -q job.yaml
  is "$status" 0
  sed 's/^trainer-0 | //' stdout >numbers
  seq 1 200000 | cmp - numbers
}

@test "a program without a newline at its end, control characters on a pipe" {
  job 'printf "no newline"' >job.yaml
  split dljob run -q job.yaml
  is "$out" "trainer-0 | no newline"
}

@test "on the host's network: it works without namespaces of their own" {
  job 'echo fine' 2 >job.yaml
  split dljob run --host-network job.yaml
  is "$status" 0
  has "$out" "trainer-1 | fine"
}

# with_port PORT: the job of the test before wants it.
with_port() { sed "s/image: none/&\n            ports: [{name: aitj-$1, containerPort: $1}]/"; }

@test "on the host's network: what wants a port twice can never run: exit 2, and nothing is started" {
  job 'touch started' 2 | with_port 2222 >job.yaml
  split dljob run --host-network job.yaml
  is "$status" 2
  has "$err" "trainer-0 and trainer-1 both want port 2222, and here all replicas share the ports of one network"
  [ ! -e started ]
  # Of several roles, too.
  tfjob it 1 >job.yaml
  sed -i 's/image: img}/image: img, command: [touch, started], ports: [{containerPort: 2222}]}/' job.yaml
  split dljob run --host-network job.yaml
  is "$status" 2
  has "$err" "master-0 and worker-0 both want port 2222"
  [ ! -e started ]
  job 'touch started' 1 | with_port 2222 >job.yaml
  split dljob run -q --host-network job.yaml
  is "$status" 0
  [ -e started ]
}
