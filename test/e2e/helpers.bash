# shellcheck disable=SC2034 # the tests read what is set here
# Shared by the bats files: DLJOB is the executable, examples are found from anywhere, each test has a
# folder of its own to work in.
root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
DLJOB=${DLJOB:-$root/build/dljob}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset DL_OPERATOR_KINDS NO_COLOR
}

dljob() {
  "$DLJOB" "$@"
}

# Like `run`, but standard output and standard error stay apart: $status, $out, $err.
split() {
  status=0
  "$@" >stdout 2>stderr || status=$?
  out=$(cat stdout)
  err=$(cat stderr)
}

# has TEXT WHAT: fails, showing both, if TEXT does not contain WHAT.
has() {
  case $1 in
  *"$2"*) ;;
  *)
    printf 'not found: %s\nin:\n%s\n' "$2" "$1"
    return 1
    ;;
  esac
}

has_not() {
  case $1 in
  *"$2"*)
    printf 'found: %s\nin:\n%s\n' "$2" "$1"
    return 1
    ;;
  esac
}

# is A B: equal.
is() {
  [ "$1" = "$2" ] || {
    printf 'got:  %s\nwant: %s\n' "$1" "$2"
    return 1
  }
}

# A small TfJob on standard output: tfjob NAME REPLICAS [more lines of spec]
tfjob() {
  cat <<YAML
apiVersion: mlkube.io/v1beta1
kind: TfJob
metadata:
  name: $1
spec:
  replicaSpecs:
  - tfReplicaType: MASTER
    template: {spec: {containers: [{name: tensorflow, image: img}]}}
  - tfReplicaType: WORKER
    replicas: $2
    template: {spec: {containers: [{name: tensorflow, image: img}]}}
${3:-}
YAML
}

# An AITrainingJob on standard output whose trainers run a shell script: trainers NAME SCRIPT [REPLICAS [lines of spec
# [lines of the container]]]; POLICY is its restartPolicy.
trainers() {
  cat <<YAML
apiVersion: elasticdeeplearning.ai/v1
kind: AITrainingJob
metadata: {name: $1}
spec:
${4:-}
  replicaSpecs:
    trainer:
      replicas: ${3:-1}
      restartPolicy: ${POLICY:-Never}
      completePolicy: All
      template:
        spec:
          terminationGracePeriodSeconds: 5
          containers:
          - name: aitj-main
            image: none
${5:-}
            command: ["/bin/sh", "-ec", '$2']
YAML
}

# YAML documents on standard input to one JSON list, by another reader than ours.
yaml_to_json() {
  /usr/bin/python3 -c 'import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))'
}

# eventually SECONDS COMMAND…: until it succeeds; what it said last, if it never does.
eventually() {
  local end=$((SECONDS + $1)) said
  shift
  until said=$("$@" 2>&1); do
    if [ $SECONDS -ge "$end" ]; then
      printf 'never: %s\n%s\n' "$*" "$said"
      return 1
    fi
    sleep 0.1
  done
}

# kill_started: ends what the test started in the background and wrote into NAME.pid, whatever became of it.
kill_started() {
  local pid
  for pid in "$BATS_TEST_TMPDIR"/*.pid; do
    [ -e "$pid" ] || continue
    kill -KILL "$(cat "$pid")" 2>/dev/null || true
    wait "$(cat "$pid")" 2>/dev/null || true
  done
}
