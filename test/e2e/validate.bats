#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# dljob validate: everything that is wrong, and never a crash.
load helpers

# invalid FILE: validate says so, with status 2, in the file's name, and nothing on standard error.
invalid() {
  split timeout 60 "$DLJOB" validate "$1"
  is "$status" 2
  is "$err" ""
  has "$out" "$1:"
  has "$out" " error: "
}

@test "all examples are valid" {
  split dljob validate "$root"/examples/*/*.yaml
  is "$status" 0
  set -- "$root"/examples/*/*.yaml
  n=$#
  is "$out" "$n jobs in $n files: valid"
}

@test "every kind has examples for CPU and GPU, NFS, claims and Azure files, and the list has them all" {
  for kind in mpba-mxjob mpba-tfjob fioravanzo-mxjob mlkube-tfjob aitrainingjob; do
    grep -q nvidia.com/gpu: "$root/examples/$kind"/*.yaml
    without=$(grep -L nvidia.com/gpu: "$root/examples/$kind"/*.yaml)
    [ -n "$without" ]
    for volume in nfs persistentVolumeClaim azureFile; do
      grep -qE "^ *$volume:\$" "$root/examples/$kind"/*.yaml
    done
  done
  cd "$root/examples"
  for f in */*.yaml; do
    grep -qF "[$f]($f)" README.md
  done
}

@test "standard input" {
  status=0
  dljob validate - <"$root/examples/mlkube-tfjob/gpu.yaml" >stdout || status=$?
  is "$status" 0
  is "$(cat stdout)" "1 job in 1 file: valid"
  status=0
  echo 'a: [' | dljob validate - >stdout || status=$?
  is "$status" 2
  has "$(cat stdout)" "<stdin>:"
}

@test "a file that is missing" {
  invalid nowhere.yaml
  has "$out" "nowhere.yaml: error: "
  has "$out" "No such file"
  has "$out" "0 jobs in 1 file: 1 error"
}

@test "a folder instead of a file" {
  mkdir folder
  invalid folder
}

@test "a file with nothing in it" {
  : >empty.yaml
  invalid empty.yaml
  printf '# only a comment\n---\n---\n' >comment.yaml
  invalid comment.yaml
}

@test "YAML that breaks off: line and column" {
  head -c 300 "$root/examples/mpba-mxjob/linear.yaml" >cut.yaml
  printf '\n  broken: [1, 2\n' >>cut.yaml
  invalid cut.yaml
  [[ $out =~ cut.yaml:[0-9]+:[0-9]+:\ error:\  ]]
}

@test "the same key twice" {
  printf 'apiVersion: mlkube.io/v1beta1\nkind: TfJob\nkind: TfJob\n' >twice.yaml
  invalid twice.yaml
  has "$out" "twice.yaml:3:1: error: "
}

@test "bytes that are no text" {
  head -c 4096 /dev/zero >zero.yaml
  invalid zero.yaml
  printf 'a: \377\376\n' >latin.yaml
  invalid latin.yaml
}

@test "an alias bomb" {
  {
    echo 'a0: &a0 [x, x, x, x, x, x, x, x, x]'
    for i in 1 2 3 4 5 6 7 8 9; do
      p="*a$((i - 1))"
      echo "a$i: &a$i [$p, $p, $p, $p, $p, $p, $p, $p, $p]"
    done
  } >bomb.yaml
  invalid bomb.yaml
}

@test "nesting 10,000 deep" {
  printf '[%.0s' $(seq 10000) >deep.yaml
  invalid deep.yaml
  printf 'a: {%.0s' $(seq 10000) >deep.yaml
  invalid deep.yaml
}

@test "100 MB" {
  truncate -s 100M large.yaml
  invalid large.yaml
}

@test "a document that is no object" {
  printf -- '- 1\n- 2\n' >list.yaml
  invalid list.yaml
  has "$out" "list.yaml:1:1: error: a manifest must be an object, found a list"
  echo hello >text.yaml
  invalid text.yaml
}

@test "apiVersion or kind is missing or no text" {
  echo 'kind: TfJob' >one.yaml
  invalid one.yaml
  has "$out" "apiVersion: is missing"
  echo 'apiVersion: mlkube.io/v1beta1' >two.yaml
  invalid two.yaml
  has "$out" "kind: is missing"
  printf 'apiVersion: 1\nkind: [TfJob]\n' >three.yaml
  invalid three.yaml
}

@test "an unknown kind of a group of ours, with a suggestion" {
  tfjob demo 1 | sed 's/TfJob/TfJbo/' >kind.yaml
  invalid kind.yaml
  has "$out" "kind.yaml:2:1: error: kind: kind TfJbo of mlkube.io/v1beta1 is unknown;"
  has "$out" "; did you mean TfJob of mlkube.io/v1beta1?"
  tfjob demo 1 | sed 's/TfJob/Pipeline/' >kind.yaml
  invalid kind.yaml
  has "$out" "kind Pipeline of mlkube.io/v1beta1 is unknown; see 'dljob kinds'"
}

@test "an unknown version, and a group with a slip, with a suggestion" {
  tfjob demo 1 | sed 's/v1beta1/v1/' >version.yaml
  invalid version.yaml
  has "$out" "version mlkube.io/v1 of TfJob is unknown; did you mean mlkube.io/v1beta1?"
  tfjob demo 1 | sed 's/mlkube/mlkbue/' >group.yaml
  invalid group.yaml
  has "$out" "did you mean TfJob of mlkube.io/v1beta1?"
}

@test "objects of others in the same file are skipped, with a note" {
  {
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n'
    tfjob demo 1
    printf -- '---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n'
  } >mixed.yaml
  split dljob validate mixed.yaml
  is "$status" 0
  has "$out" "mixed.yaml:1:1: note: ConfigMap of v1 is not a job: skipped"
  has "$out" "note: Deployment of apps/v1 is not a job: skipped"
  has "$out" "1 job in 1 file: valid"
}

@test "a file in which there is no job: what is in it, and what is near" {
  cat >other.yaml <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: d}
YAML
  invalid other.yaml
  has "$out" "other.yaml: error: there is no job in it: PyTorchJob of kubeflow.org/v1 is not a known API; a job is \
AITrainingJob of elasticdeeplearning.ai/v1 or MXJob of "
  sed 's/PyTorchJob/TFJob/' other.yaml >near.yaml
  invalid near.yaml
  has "$out" "TFJob of kubeflow.org/v1 is not a known API; did you mean "
  has "$out" "TFJob of mpba.fbk.eu/v1"
  echo 'apiVersion: v1' | cat - <(echo 'kind: List') <(echo 'items: []') >list.yaml
  invalid list.yaml
  has "$out" "there is no job in it: it is empty"
  # Whatever stands beside it.
  tfjob demo 1 >good.yaml
  split dljob validate good.yaml other.yaml
  is "$status" 2
  has "$out" "other.yaml: error: there is no job in it: "
}

@test "the items of a List" {
  {
    echo 'apiVersion: v1'
    echo 'kind: List'
    echo 'items:'
    tfjob good 1 | sed 's/^/  /; 1s/^  /- /'
    tfjob bad -3 | sed 's/^/  /; 1s/^  /- /'
  } >list.yaml
  invalid list.yaml
  has "$out" "items[1].spec.replicaSpecs[1].replicas"
  has "$out" "2 jobs in 1 file: 1 error"
}

@test "a spec that is null, missing, or of another type" {
  for spec in '' '~' '{}' '[]' '5' 'text' 'true'; do
    for head in 'mlkube.io/v1beta1 TfJob' 'mpba.fbk.eu/v1 MXJob' 'mpba.fbk.eu/v1 TFJob' \
      'fioravanzo.org/v1alpha1 MXJob' 'elasticdeeplearning.ai/v1 AITrainingJob'; do
      printf 'apiVersion: %s\nkind: %s\nmetadata: {name: x}\nspec: %s\n' "${head% *}" "${head#* }" "$spec" >spec.yaml
      invalid spec.yaml
      has "$out" "spec"
    done
  done
  printf 'apiVersion: mlkube.io/v1beta1\nkind: TfJob\nmetadata: {name: x}\n' >spec.yaml
  invalid spec.yaml
}

@test "metadata that is missing, null, or of another type" {
  for meta in '' '~' '{}' '[]' '{name: 5}' '{name: ""}' 'x' '{name: x, labels: 5}' '{name: x, annotations: [a]}'; do
    tfjob demo 1 | sed '/^metadata/d; /^  name: demo/d' >meta.yaml
    echo "metadata: $meta" >>meta.yaml
    split timeout 60 "$DLJOB" validate meta.yaml
    case $meta in
    *"name: x"*) [ "$status" = 0 ] || is "$status" 2 ;;
    *) is "$status" 2 ;;
    esac
  done
}

@test "replicas: negative, huge, and of another type" {
  for n in -1 -2147483649 100001 2147483648 9223372036854775808 99999999999999999999 1.5 '"2"' many '[1]'; do
    tfjob demo "$n" >replicas.yaml
    invalid replicas.yaml
    has "$out" "replicas.yaml:10:"
    has "$out" "spec.replicaSpecs[1].replicas"
  done
  for n in .inf -.inf .nan 1e400; do
    tfjob demo "$n" >replicas.yaml
    invalid replicas.yaml
    has "$out" "replicas.yaml:10:"
  done
}

@test "a name of 64 characters, and names that are no DNS labels" {
  for name in "$(printf 'a%.0s' $(seq 64))" Upper under_score -dash dash- 'dot.ted'; do
    tfjob "$name" 1 >name.yaml
    invalid name.yaml
    has "$out" "metadata.name"
  done
}

@test "all problems of all files at once" {
  tfjob one -1 >one.yaml
  sed 's/tfReplicaType: MASTER/tfReplicaType: MASTRE/' <(tfjob two -2) >two.yaml
  split dljob validate one.yaml "$root/examples/mlkube-tfjob/gpu.yaml" two.yaml nowhere.yaml
  is "$status" 2
  has "$out" "one.yaml:10:"
  has "$out" "two.yaml:10:"
  has "$out" "MASTRE"
  has "$out" "nowhere.yaml: error:"
  [[ ${out##*$'\n'} =~ ^3\ jobs\ in\ 4\ files:\ [4-9]\ errors ]]
}

@test "a misspelt field, with a suggestion" {
  tfjob demo 2 | sed 's/    replicas: 2/    replcas: 2/' >field.yaml
  split dljob validate field.yaml
  has "$out" "field.yaml:10:"
  has "$out" "replicas"
}

@test "a derived variable that the user has set is a warning" {
  tfjob demo 1 | sed 's/image: img/image: img, env: [{name: TF_CONFIG, value: mine}]/' >env.yaml
  split dljob validate env.yaml
  is "$status" 0
  has "$out" "warning: "
  has "$out" "TF_CONFIG"
  [[ ${out##*$'\n'} =~ ^1\ job\ in\ 1\ file:\ valid,\ [12]\ warnings?$ ]]
}

@test "a policy that is wrong is reported where it stands" {
  tfjob demo 1 "  policy: {restart: {limit: -5}, cleanPods: Some}" >policy.yaml
  invalid policy.yaml
  has "$out" "spec.policy.restart.limit"
  has "$out" "spec.policy.cleanPods"
}

@test "what the schema says hides nothing that the kind says of other parts" {
  tfjob demo 2 "  tensorboard: {logDir: ''}" | sed 's/replicas: 2/replicas: two/' >both.yaml
  invalid both.yaml
  has "$out" "spec.replicaSpecs[1].replicas: must be a whole number"
  has "$out" "spec.tensorboard.logDir: must not be empty"
}

@test "the same job twice is a warning" {
  tfjob demo 1 >one.yaml
  { tfjob other 1; echo ---; tfjob demo 1; } >two.yaml
  sed 's/name: demo/name: demo\n  namespace: team/' one.yaml >team.yaml
  split dljob validate one.yaml team.yaml two.yaml
  is "$status" 0
  has "$out" "two.yaml:"
  has "$out" "metadata.name: the same job is also at one.yaml:4; if both are applied, the last one wins"
  has_not "$out" "team.yaml"
  [[ ${out##*$'\n'} =~ ^4\ jobs\ in\ 3\ files:\ valid,\ 1\ warning$ ]]
}

@test "size: a job whose pods etcd would not take, with the figures; flags for a larger etcd" {
  tfjob demo 1600 >warned.yaml
  split dljob validate warned.yaml
  is "$status" 0
  has "$out" "warning: spec: its 1601 pods have "
  has "$out" "MiB in all, which etcd has to store; at most 256.0 MiB is allowed"
  tfjob demo 3500 >large.yaml
  invalid large.yaml
  has "$out" "error: spec: its 3501 pods have "
  has "$out" "at most 256.0 MiB is allowed: use fewer replicas (or raise dl-operator --max-job-size"
  is "$(dljob validate --max-job-size 4Gi large.yaml)" "1 job in 1 file: valid"
  # One that has started is only warned.
  echo "status: {dlOperator: {version: 1, phase: Running, startTime: '2026-01-01T00:00:00Z'}}" >status
  cat large.yaml status >started.yaml
  split dljob validate started.yaml
  is "$status" 0
  has "$out" "warning: spec: its 3501 pods have "
  tfjob demo 2 >small.yaml
  split dljob validate --max-pod-size=1Ki small.yaml
  is "$status" 2
  has "$out" "each of its pods has "
  split dljob validate --max-pod-size=big small.yaml
  is "$status" 2
  has "$err" "--max-pod-size wants a size such as 2Mi, not 'big'"
  split dljob render --max-pod-size=1Ki small.yaml
  is "$status" 2
  split dljob run --max-pod-size=1Ki small.yaml
  is "$status" 2
  has "$err" "each of its pods has "
}
