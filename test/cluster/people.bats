#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, ns, status, out and err
# bats file_tags=local
# The commands for people, on a real API server with dl-operator: the life of a job without kubectl.
load helpers

setup_file() {
  install_crds
  start_operator
}

teardown_file() {
  end_operator
}

teardown() {
  kill_started
  kubectl -n "$ns" delete dljobs --all --wait=false
}

# Without it they take the cluster that kubectl would.
where=()
[ "${CLUSTER:-kube}" = kube ] || where=(--local)

# people COMMAND …: in the namespace of the test.
people() {
  local command=$1
  shift
  dljob "$command" -q "${where[@]}" -n "$ns" "$@"
}

state_of() {
  people get "$1" -o json | jq -r .status.dlOperator.phase
}

has_state() { # has_state NAME STATE
  is "$(state_of "$1")" "$2"
}

# bats test_tags=version
@test "submit, wait, list, get, delete: a job that succeeds, and one that fails" {
  tfjob good 1 | ends 0 >good.yaml
  tfjob bad 1 "  policy: {restart: {limit: 0}}" | ends 1 >bad.yaml
  is "$(people submit good.yaml bad.yaml)" "TfJob.mlkube.io/good created
TfJob.mlkube.io/bad created"
  split people submit good.yaml
  is "$status" 1
  has "$err" "already exists"
  split people wait good --timeout 120s
  is "$status" 0
  has "$out" "good Succeeded: "
  split people wait bad --timeout 120s
  is "$status" 1
  has "$out" "bad Failed: "
  is "$(people list -o name | sort | paste -s -d ' ')" "TfJob.mlkube.io/bad TfJob.mlkube.io/good"
  is "$(people list --state succeeded -o name)" TfJob.mlkube.io/good
  # Long reasons are cut in the table.
  has "$(people list)" "$(kubectl -n "$ns" get tfjob.mlkube.io bad -o json | jq -r '.status.dlOperator.reason[:50]')"
  split people get good
  is "$status" 0
  [[ $out =~ master-0\ +Succeeded\ +0\ +0\ +$(nodes) ]]
  has "$out" "Last events:"
  has "$out" "SuccessfulCreate"
  split people get bad
  has "$out" "Failed"
  is "$(people delete good bad)" "good was deleted
bad was deleted"
  is "$(kubectl -n "$ns" get dljobs -o name)" ""
  split people list
  is "$err" "no jobs in namespace $ns; -A lists all namespaces"
}

@test "every kind can be submitted, listed, shown, suspended, resumed and deleted" {
  for f in $one_of_each; do
    example "$f" | goes_on >"${f%/*}.json"
  done
  people submit ./*.json
  is "$(people list -o name | wc -l)" "$(dljob crds -o json | jq '.items | length')"
  people list -o name >names
  while read -r job; do
    echo "$job"
    people wait "$job" --for running --timeout 120s
    people get "$job" >tree
    has "$(cat tree)" "Running"
    people suspend "$job"
    eventually 120 has_state "$job" Suspended
    people resume "$job"
    people wait "$job" --for running --timeout 120s
  done <names
  people delete -f ./mlkube-tfjob.json
  people delete --all
  is "$(people list -o name 2>/dev/null)" ""
}

# bats test_tags=version
@test "a job that is followed: every change is a line, until it is deleted" {
  tfjob demo 1 | goes_on >job.yaml
  people submit job.yaml
  "$DLJOB" get -q "${where[@]}" -n "$ns" -w demo >watched 2>&1 3>&- &
  echo $! >watch.pid
  "$DLJOB" list -q "${where[@]}" -n "$ns" -w >listed 2>&1 3>&- &
  echo $! >list.pid
  people wait demo --for running --timeout 120s
  eventually 60 grep -q 'demo: Running' watched
  eventually 60 grep -q "worker-0: Running on $(nodes)" watched
  eventually 60 grep -q 'demo .* Running' listed
  people delete demo
  status=0
  wait "$(cat watch.pid)" || status=$?
  is "$status" 0
  is "$(tail -n 1 watched)" "demo was deleted"
  eventually 60 grep -q 'demo .* Deleted' listed
}

@test "scale: more replicas, fewer replicas, in every kind" {
  example mpba-mxjob/linear | goes_on >mx.json
  example aitrainingjob/pserver-trainer | goes_on >ai.json
  tfjob tf 1 | goes_on >tf.yaml
  people submit mx.json ai.json tf.yaml
  while read -r job role n; do
    echo "$job $role"
    people wait "$job" --for running --timeout 120s
    people scale "$job" "$role=$n"
    eventually 120 has_pods "${job#*/}" "$role" "$n"
  done <<TABLE
MXJob/$(jq -r .metadata.name mx.json) worker 3
AITrainingJob/$(jq -r .metadata.name ai.json) trainer 2
tfjob.mlkube.io/tf WORKER 0
TABLE
  split people scale tf MASTER=0
  is "$status" 2
}

has_pods() { # has_pods JOB ROLE N
  is "$(kubectl -n "$ns" get pods -o name \
    -l "dl-operator.mpba.fbk.eu/job=$1,dl-operator.mpba.fbk.eu/role=${2,,}" | wc -l)" "$3"
}

@test "rerun: a job that has ended runs again, under the next name or its own" {
  tfjob demo 1 | ends 0 >job.yaml
  split people submit --wait job.yaml
  is "$status" 0
  is "$(people rerun demo)" "TfJob.mlkube.io/demo-2 created"
  people wait demo-2 --timeout 120s
  people rerun demo-2 --set 'spec.replicaSpecs[1].replicas=2' --wait >said
  is "$(head -n 1 said)" "TfJob.mlkube.io/demo-3 created"
  uid=$(people get demo -o json | jq -r .metadata.uid)
  people rerun demo --replace --wait
  [ "$(people get demo -o json | jq -r .metadata.uid)" != "$uid" ]
  is "$(people list -o name | wc -l)" 3
}

@test "wait: what takes too long, and a job that goes away" {
  tfjob demo 1 | goes_on >job.yaml
  people submit job.yaml
  split people wait demo --timeout 1s
  is "$status" 124
  has "$err" "timed out: demo "
  "$DLJOB" wait -q "${where[@]}" -n "$ns" demo >waited 2>&1 3>&- &
  echo $! >wait.pid
  people delete demo
  status=0
  wait "$(cat wait.pid)" || status=$?
  is "$status" 1
  has "$(cat waited)" "demo"
}

@test "names of jobs and namespaces are completed" {
  tfjob mnist 1 | goes_on >job.yaml
  people submit job.yaml
  is "$(dljob __complete -- get -n "$ns" mn | cut -f1 | paste -s -d ' ')" "mnist :4"
  is "$(dljob __complete -- get -n "$ns" TfJob.mlkube.io/m | cut -f1 | head -n 1)" TfJob.mlkube.io/mnist
  is "$(dljob __complete -- list --namespace="$ns" | head -n 1)" ":4"
  is "$(dljob __complete -- list -n "$ns" | paste -s -d ' ')" "$ns :4"
}

@test "kubectl dljob" {
  mkdir bin
  ln -s "$DLJOB" bin/kubectl-dljob
  tfjob demo 1 | goes_on >job.yaml
  PATH=$PWD/bin:$PATH kubectl dljob submit -q -n "$ns" job.yaml
  is "$(PATH=$PWD/bin:$PATH kubectl dljob list -n "$ns" -o name)" TfJob.mlkube.io/demo
}

# On this machine there are no accounts: who has the token may do everything.
# bats test_tags=kube,version
@test "who may not see the jobs is told so" {
  kubectl -n "$ns" create serviceaccount guest
  token=$(kubectl -n "$ns" create token guest)
  kubectl config view --raw --minify --flatten -o json | jq --arg t "$token" '.users[0].user = {token: $t}' >guest.json
  split dljob list -q -n "$ns" --kubeconfig guest.json
  is "$status" 1
  has "$err" "not allowed"
  has "$err" "system:serviceaccount:$ns:guest"
  jq '.users[0].user.token = "wrong"' guest.json >wrong.json
  split dljob list -q -n "$ns" --kubeconfig wrong.json
  is "$status" 1
  has "$err" "(401)"
}
