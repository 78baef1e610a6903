#!/usr/bin/env bats
# shellcheck disable=SC2030,SC2031,SC2154 # helpers.bash sets root and ns; each test has its own job
# Jobs that another operator has served, with its status and its children, and what becomes of them here:
# docs/migration.md. No operator runs until a test starts it.
load helpers

: "${DL_OPERATOR:=$(dirname "$DLJOB")/dl-operator}"

setup_file() {
  install_crds
}

teardown() {
  kill_started
  kubectl -n "$ns" delete dljobs --all --wait=false
  kubectl delete crd --ignore-not-found --wait=false mxjobs.old.example
}

# operator [FLAG…]: in the background, for this namespace.
operator() {
  "$DL_OPERATOR" --namespace="$ns" --metrics-bind-address=0 --health-probe-bind-address=0 "$@" >operator.log 2>&1 3>&- &
  echo $! >operator.pid
}

# was STATUS: the job in job.json is there, with a status that an old operator wrote. $job is its name for kubectl,
# $uid its UID.
was() {
  uid=$(kubectl -n "$ns" create -f job.json -o 'jsonpath={.metadata.uid}')
  job=$(job_in job.json)
  kubectl -n "$ns" patch "$job" --subresource=status --type=merge -p "{\"status\": $1}"
}

# children JQ: those that we would make, without our labels and as JQ changes each, are there and run.
children() {
  dljob render -o json -n "$ns" --uid "$uid" job.json |
    jq "del(.items[].metadata.labels[\"uid\", \"kind\", \"job\", \"role\", \"index\", \"generation\"
      | \"dl-operator.mpba.fbk.eu/\" + .]) | .items[] |= ($1)" >children.json
  kubectl -n "$ns" create -f children.json
  kubectl -n "$ns" wait --for=condition=Ready --timeout=120s pods --all
}

# pods: their names and UIDs.
pods() {
  kubectl -n "$ns" get pods -o json | jq -r '.items[].metadata | .name + " " + .uid'
}

# record JQ: of status.dlOperator.
record() {
  kubectl -n "$ns" get "$job" -o json | jq -c ".status.dlOperator | $1"
}

record_is() { # record_is JQ WANTED
  is "$(record "$1")" "$2"
}

becomes() {
  eventually 120 record_is .phase "\"$1\"" || {
    kubectl -n "$ns" get "$job" -o yaml
    cat operator.log
    return 1
  }
}

# recipe: the commands of docs/migration.md, for this namespace.
recipe() {
  awk '/^```/ { inside = /^```sh$/; next } inside' "$root/docs/migration.md" | sed "s/--all-namespaces/-n $ns/"
}

# owned COUNT: so many of its pods have our labels.
owned() {
  is "$(kubectl -n "$ns" get pods -l dl-operator.mpba.fbk.eu/uid="$uid" -o name | wc -l)" "$1"
}

@test "AITrainingJob: one that runs goes on, with its pods, services and restarts" {
  example aitrainingjob/pserver-trainer | goes_on >job.json
  was '{"phase": "Running", "RestartCount": {"trainer": 2}, "RestartReplicaName": "",
    "startTime": "2020-09-04T08:00:00Z", "startRunningTime": "2020-09-04T08:00:05Z"}'
  children .
  pods >before
  operator
  becomes Running
  pods | diff before -
  owned 6
  record_is .roles.trainer.counted 2
  is "$(kubectl -n "$ns" get services -l dl-operator.mpba.fbk.eu/uid="$uid" -o name | wc -l)" 6
  # A trainer that fails starts again, alone, and finds the same service.
  old=$(kubectl -n "$ns" get pod demo-trainer-1 -o 'jsonpath={.metadata.uid}')
  kubectl -n "$ns" annotate pod demo-trainer-1 fake/exit=1
  eventually 120 record_is .roles.trainer.counted 3
  eventually 120 other demo-trainer-1 "$old"
  becomes Running
  is "$(pods | grep -cFf before)" 5
  is "$(kubectl -n "$ns" get pod demo-trainer-1 \
    -o 'jsonpath={.metadata.labels.TrainingJobReplicaName} {.metadata.labels.TrainingJobReplicaIndex}')" "trainer 1"
}

other() { # other POD UID: it is another one
  local now
  now=$(kubectl -n "$ns" get pod "$1" -o 'jsonpath={.metadata.uid}') && [ "$now" != "$2" ]
}

@test "AITrainingJob: what has ended stays so, and what was about to end does" {
  example aitrainingjob/paddle-mnist | goes_on >job.json
  was '{"phase": "Succeed", "RestartCount": {}, "RestartReplicaName": "", "endTime": "2020-09-04T08:00:00Z"}'
  first=$job
  example aitrainingjob/paddle-mnist | goes_on |
    jq '.metadata.name = "ending" | .metadata.annotations.Timeout = "too long"' >job.json
  was '{"phase": "Terminating", "RestartCount": {}, "RestartReplicaName": ""}'
  operator
  becomes TimedOut
  job=$first
  becomes Succeeded
  is "$(kubectl -n "$ns" get "$job" -o 'jsonpath={.status.phase}')" Succeed
  is "$(kubectl -n "$ns" get pods,services -o name)" ""
}

mx() {
  example fioravanzo-mxjob/linear-dist | goes_on | jq '.spec.RuntimeId = "ab12"' >job.json
  was '{"phase": "Creating", "state": "Running", "reason": "", "replicaStatuses": null}'
  # A suffix by chance, a service with an address.
  children 'if .kind == "Pod" then .metadata.name |= sub("-[^-]*$"; "-x7f3q") | .spec.restartPolicy = "OnFailure"
    else del(.spec.clusterIP) | .spec.selector = .metadata.labels end'
}

@test "MXJob of fioravanzo.org: pods that are handed over go on, and their end is the job's" {
  mx
  pods >before
  recipe >handover
  sh -e handover
  operator
  becomes Running
  pods | diff before -
  owned 3
  kubectl -n "$ns" annotate pod mx-test-dist-scheduler-ab12-0-x7f3q fake/exit=0
  becomes Succeeded
  is "$(kubectl -n "$ns" get "$job" -o 'jsonpath={.status.phase} {.status.state}')" "Done Succeeded"
}

@test "MXJob of fioravanzo.org: pods that are not handed over stay beside new ones" {
  mx
  operator
  becomes Running
  owned 3
  is "$(pods | wc -l)" 6
}

@test "TfJob: what has ended stays so; what runs is begun anew, beside what the old operator made" {
  tfjob ended 1 | goes_on >job.json
  was '{"phase": "Done", "state": "Succeeded", "reason": "", "conditions": null, "controlPaused": false,
    "replicaStatuses": [{"tf_replica_type": "MASTER", "state": "Succeeded", "ReplicasStates": {"Succeeded": 1}}]}'
  ended=$job
  # So an operator that was restarted left it.
  tfjob relabelled 1 | goes_on >job.json
  was '{"phase": "Failed", "state": "Succeeded", "reason": "Job has unexpected phase Done"}'
  relabelled=$job
  tfjob demo 1 | goes_on | jq '.spec.RuntimeId = "76no"' >job.json
  was '{"phase": "Running", "state": "", "reason": ""}'
  children 'del(.metadata.ownerReferences) | .metadata.name |= sub("^demo-"; "") | del(.spec.clusterIP)
    | .spec.selector? |= if . then {runtime_id: "76no"} else empty end'
  pods >before
  operator
  becomes Running
  owned 2
  is "$(pods | grep -cFf before)" 2
  for job in $ended $relabelled; do
    becomes Succeeded
  done
  is "$(pods | wc -l)" 4
}

@test "MXJob of mpba.fbk.eu: nothing of the old operator is touched; once it is gone, the job begins" {
  example mpba-mxjob/linear | goes_on >job.json
  uid=$(kubectl -n "$ns" create -f job.json -o 'jsonpath={.metadata.uid}')
  job=$(job_in job.json)
  children 'del(.metadata.ownerReferences)'
  pods >before
  operator
  eventually 120 waits_for_a_name
  pods | diff before -
  owned 0
  kubectl -n "$ns" delete pods,services -l job_name=test02
  becomes Running
  owned 3
}

waits_for_a_name() {
  has "$(record .reason)" \
    "waiting for a name that is taken: service scheduler-test02-0-service has no owner"
}

# bats test_tags=version
@test "a definition of before is replaced, and its jobs stay with all that they say" {
  mkdir kinds
  sed 's/fioravanzo\.org/old.example/g' "$root/kinds/fioravanzo-mxjob.lua" >kinds/old.lua
  # Neither a schema nor a status of its own.
  kubectl create -f - <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: mxjobs.old.example}
spec:
  group: old.example
  names: {kind: MXJob, plural: mxjobs, singular: mxjob}
  scope: Namespaced
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
YAML
  kubectl wait --for=condition=Established --timeout=120s crd/mxjobs.old.example
  example fioravanzo-mxjob/linear-dist | goes_on |
    jq '.apiVersion = "old.example/v1alpha1" | .spec.RuntimeId = "ab12"' >job.json
  jq '.metadata.name = "ended" | .status = {phase: "Done", state: "Failed", reason: "it was so",
    replicaStatuses: [{mx_replica_type: "WORKER", state: "Failed", ReplicasStates: {Failed: 1}}]}' job.json >ended.json
  for f in job ended; do
    eventually 120 kubectl -n "$ns" create -f $f.json
    kubectl -n "$ns" get "$(job_in $f.json)" -o json | jq -S '.spec, .status' >$f.before
  done
  "$DL_OPERATOR" install-crds --kinds-dir=kinds --kinds=MXJob.old.example >log 2>&1 && return 1
  grep -q 'no status subresource (--adopt-crds replaces it)' log
  "$DL_OPERATOR" install-crds --kinds-dir=kinds --kinds=MXJob.old.example --adopt-crds
  for f in job ended; do
    kubectl -n "$ns" get "$(job_in $f.json)" -o json | jq -S '.spec, .status' | diff $f.before -
  done
  operator --kinds-dir=kinds --kinds=MXJob.old.example
  job=$(job_in job.json)
  becomes Running
  job=$(job_in ended.json)
  becomes Failed
  record_is .reason '"it was so"'
  is "$(pods | wc -l)" 3
}
