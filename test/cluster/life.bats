#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets ns
# bats file_tags=local
# What a job's policies do to pods of a cluster: restarts, endings, what is left, suspending, mistakes.
load helpers

setup_file() {
  install_crds
  start_operator
}

teardown_file() {
  end_operator
}

teardown() {
  kubectl -n "$ns" delete dljobs --all --wait=false
}

# job POLICY on standard output: a TfJob, demo, with a master and a worker.
job() {
  tfjob demo 1 "  policy: $1"
}

# made <job.json: it is there.
made() {
  kubectl -n "$ns" create -f -
}

# record JQ: of status.dlOperator.
record() {
  kubectl -n "$ns" get tfjob.mlkube.io demo -o json | jq -c ".status.dlOperator | $1"
}

record_is() { # record_is JQ WANTED
  is "$(record "$1")" "$2"
}

# becomes PHASE
becomes() {
  eventually 120 record_is .phase "\"$1\""
}

# uid_of TYPE: of the pod of the master or the worker.
uid_of() {
  kubectl -n "$ns" get pods -l "job_type=$1" -o 'jsonpath={.items[0].metadata.uid}'
}

pod_of() {
  kubectl -n "$ns" get pods -l "job_type=$1" -o name
}

# end_replica TYPE CODE
end_replica() {
  end_pod "$(pod_of "$1")" "$(uid_of "$1")" "$2"
}

# Another pod runs in its place: renewed TYPE UID
renewed() {
  local now
  now=$(uid_of "$1") && [ -n "$now" ] && [ "$now" != "$2" ]
}

# types WANTED: whose pods there are.
types() {
  local pods
  pods=$(kubectl -n "$ns" get pods -o json) || return 1
  is "$(jq -r '[.items[].metadata.labels.job_type] | sort | join(" ")' <<<"$pods")" "$1"
}

@test "an exit code that is worth another try, until the limit" {
  job '{restart: {exitCodes: "40-49", limit: 2, backoff: {initialSeconds: 0}}}' | ends 42 0 | made
  becomes Failed
  record .
  is "$(record '[.roles[].counted] | max')" 2
  has "$(record .reason)" "exited with code 42; the restart limit of 2 is reached"
}

@test "an exit code that is not" {
  job '{restart: {exitCodes: "40-49", limit: 2}}' | ends 3 0 | made
  becomes Failed
  is "$(record .restarts)" 0
  has "$(record .reason)" "exited with code 3"
}

@test "one that fails starts all again, if its scope is the job" {
  job '{restart: {policy: OnFailure, scope: Job}}' | goes_on | made
  becomes Running
  master=$(uid_of MASTER) worker=$(uid_of WORKER)
  end_replica WORKER 7
  eventually 120 renewed MASTER "$master"
  eventually 120 renewed WORKER "$worker"
  becomes Running
  is "$(record .restarts)" 1
}

@test "a pod that somebody deletes starts again, which is shown and no limit counts" {
  job '{restart: {policy: Never}}' | goes_on | made
  becomes Running
  worker=$(uid_of WORKER)
  kubectl -n "$ns" delete "$(pod_of WORKER)" --wait=false
  eventually 120 renewed WORKER "$worker"
  becomes Running
  is "$(record '[.restarts, .roles.worker.counted // 0]')" "[1,0]"
}

@test "what is left at the end" {
  for clean in All Running None; do
    echo "$clean"
    job "{cleanPods: $clean, complete: {role: master}}" | goes_on | made
    becomes Running
    end_replica MASTER 0
    kubectl -n "$ns" wait --for=condition=Complete --timeout=120s tfjob.mlkube.io/demo
    becomes Succeeded
    case $clean in
    All) eventually 120 types "" ;;
    Running) eventually 120 types MASTER ;;
    None) types "MASTER WORKER" ;;
    esac
    kubectl -n "$ns" delete tfjob.mlkube.io demo
    # Whoever collects them takes his time.
    kubectl -n "$ns" delete pods --all --timeout=120s
  done
}

@test "suspended and resumed" {
  job '{}' | goes_on | made
  becomes Running
  master=$(uid_of MASTER)
  kubectl -n "$ns" patch tfjob.mlkube.io demo --type=merge -p '{"spec":{"policy":{"suspend":true}}}'
  becomes Suspended
  eventually 120 types ""
  kubectl -n "$ns" patch tfjob.mlkube.io demo --type=merge -p '{"spec":{"policy":{"suspend":null}}}'
  becomes Running
  renewed MASTER "$master"
  is "$(record .restarts)" 0
}

gone() {
  none kubectl -n "$ns" get tfjobs.mlkube.io -o name
}

@test "too long: it is ended; a time after its end: it is gone" {
  job '{activeDeadlineSeconds: 2}' | goes_on | made
  becomes TimedOut
  eventually 120 types ""
  kubectl -n "$ns" delete tfjob.mlkube.io demo
  job '{ttlSecondsAfterFinished: 1}' | ends 0 | made
  eventually 120 gone
}

@test "ended from outside" {
  job '{}' | goes_on | made
  becomes Running
  kubectl -n "$ns" annotate tfjob.mlkube.io demo Preempted='others are first'
  becomes Preempted
  has "$(record .reason)" "others are first"
  eventually 120 types ""
}

@test "a mistake is named, and there are no pods until it is mended" {
  job '{roles: {boss: {restart: {limit: 1}}}}' | goes_on | made
  becomes Invalid
  has "$(record .reason)" boss
  types ""
  kubectl -n "$ns" patch tfjob.mlkube.io demo --type=json -p '[{"op": "remove", "path": "/spec/policy/roles"}]'
  becomes Running
  types "MASTER WORKER"
}
