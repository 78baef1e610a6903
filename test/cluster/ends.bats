#!/usr/bin/env bats
# shellcheck disable=SC2154 # the helpers set root, ns, image, out and err
# bats file_tags=node
# How pods of a real node end, and what their job makes of it.
load node_helpers

setup_file() {
  node_with_operator
}

teardown_file() {
  end_operator_of_node
}

# job NAME WORKERS POLICY COMMAND [JQ]: each worker runs it, with $run (0, 1 …) and $me (its index); JQ changes its pod.
job() {
  name=aitrainingjob/$1
  cat >job.yaml <<END
apiVersion: elasticdeeplearning.ai/v1
kind: AITrainingJob
metadata: {name: $1}
spec:
  policy: {restart: {scope: Pod, backoff: {initialSeconds: 0}, $3}, cleanPods: None, complete: All}
  replicaSpecs:
    worker: {replicas: $2, template: {spec: {containers: [{name: aitj-worker, image: img}]}}}
END
  yaml_to_json <job.yaml | jq '.[0]' |
    in_containers "run=\$TRAININGJOB_REPLICA_RESTARTCOUNT me=\$TRAININGJOB_REPLICA_INDEX; $4" |
    jq ".spec.replicaSpecs.worker.template.spec |= (${5:-.})" >job.json
  create job.json
}

pod() { kubectl -n "$ns" get pods -l "dl-operator.mpba.fbk.eu/index=$1" -o name; }

# causes: of all restarts, the first one first.
causes() {
  record "$name" '[.restartHistory // [.lastRestart // empty] | reverse | .[] | [.index, .cause, .exitCode // 0]]'
}

causes_are() { is "$(causes)" "$1"; }

runs() { is "$(record "$name" '[.phase, .pods]')" "[\"Running\",\"$1\"]"; }

@test "exit 137 and 143 are restarted by exit code, and 0 is a success" {
  # shellcheck disable=SC2016 # for the containers
  job codes 3 'policy: ExitCode, exitCodes: "128-255", limit: 1' \
    'case $run:$me in 0:1) exit 137 ;; 0:2) sleep 3; exit 143 ;; esac'
  ended "$name" Complete
  causes_are '[[1,"Failed",137],[2,"Failed",143]]'
  is "$(record "$name" .roles.worker.limit.counted)" 1
}

@test "exit 1 is not" {
  job wrong 1 'policy: ExitCode, exitCodes: "128-255"' 'exit 1'
  ended "$name" Failed
  has "$(record "$name" .reason)" "worker-0 exited with code 1; permanent under restart policy ExitCode"
}

@test "more memory than its limit: OOMKilled, counted" {
  # shellcheck disable=SC2016 # for the container
  job memory 1 'policy: OnFailure, limit: 1' '[ $run = 1 ] || tail /dev/zero' \
    '.containers[0].resources = {limits: {memory: "32Mi"}}'
  ended "$name" Complete
  causes_are '[[0,"OOMKilled",137]]'
}

@test "an image that does not exist: the job says so and waits; a name that is none ends it" {
  job absent 1 'policy: Always' true '.containers[0].image = "localhost/absent:1"'
  eventually 60 reason_has "ErrImageNeverPull"
  is "$(record "$name" '.restarts // 0')" 0
  kubectl -n "$ns" delete "$name"
  job nameless 1 'policy: Always' true '.containers[0].image = "No Image"'
  ended "$name" Failed
  has "$(record "$name" .reason)" "worker-0 could not be created: InvalidImageName"
}

reason_has() { has "$(record "$name" .reason)" "$1"; }

@test "a pod that somebody deletes, and one that is drained, come back, and that does not count" {
  # shellcheck disable=SC2016 # for the containers
  job moved 2 'policy: Never' '[ $run != 0 ] || sleep infinity'
  eventually 60 runs 2/2
  kubectl -n "$ns" delete "$(pod 0)"
  evict "$(pod 1)"
  ended "$name" Complete
  is "$(causes | jq -c sort)" '[[0,"Deleted",0],[1,"Disrupted",0]]'
}

evict() {
  jq -n --arg name "${1#pod/}" --arg ns "$ns" \
    '{apiVersion: "policy/v1", kind: "Eviction", metadata: {name: $name, namespace: $ns}}' |
    kubectl create --raw "/api/v1/namespaces/$ns/pods/${1#pod/}/eviction" -f -
}

@test "a pod that uses more storage than its own limit: evicted by the kubelet, and that counts" {
  # shellcheck disable=SC2016 # for the container
  job greedy 1 'policy: OnFailure, limit: 1' '[ $run = 1 ] || { head -c 8m /dev/zero >/scratch/8m; sleep infinity; }' \
    '.volumes += [{name: "scratch", emptyDir: {sizeLimit: "1Mi"}}]
    | .containers[0].volumeMounts += [{name: "scratch", mountPath: "/scratch"}]'
  ended "$name" Complete
  is "$(causes | jq -c 'map(.[:2])')" '[[0,"Failed"]]'
}
