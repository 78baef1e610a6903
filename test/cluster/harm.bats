#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets ns
# What real clusters and people do, and must not harm a job that is well: policies that deny for a while, workers that
# fail now and then, evictions, finalizers, edits up and down, deletion in the foreground.
load helpers

setup_file() {
  install_crds
  start_operator
}

teardown_file() {
  kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy -l test=harm
  end_operator
}

teardown() {
  kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy -l test=harm
  # What a failed test left would be held for ever.
  kubectl -n "$ns" get pods -o name | xargs -r -n 1 kubectl -n "$ns" patch --type=merge \
    -p '{"metadata":{"finalizers":null}}' || true
  kubectl -n "$ns" delete dljobs --all --wait=false
  stop_now || true
  let_go || true
}

# made <job.json: it is there.
made() {
  kubectl -n "$ns" create -f -
}

# record JQ: of status.dlOperator of the job `demo`, of whichever kind.
record() {
  kubectl -n "$ns" get dljobs -o json | jq -c ".items[] | select(.metadata.name == \"demo\") | .status.dlOperator | $1"
}

record_is() { # record_is JQ WANTED
  is "$(record "$1")" "$2"
}

becomes() { # becomes PHASE
  eventually 120 record_is .phase "\"$1\""
}

condition() { # condition TYPE: its status
  local jobs
  jobs=$(kubectl -n "$ns" get dljobs -o json) || return 1
  jq -r --arg type "$1" '.items[0].status.conditions[] | select(.type == $type) | .status' <<<"$jobs"
}

condition_is() { # condition_is TYPE WANTED
  is "$(condition "$1")" "$2"
}

# uids ROLE: of its pods, by index.
uids() {
  kubectl -n "$ns" get pods -l "dl-operator.mpba.fbk.eu/role=$1" -o json |
    jq -r '[.items[] | {i: .metadata.labels["dl-operator.mpba.fbk.eu/index"] | tonumber, u: .metadata.uid}]
      | sort_by(.i) | .[].u'
}

pod_of() { # pod_of ROLE INDEX
  kubectl -n "$ns" get pods -o name -l "dl-operator.mpba.fbk.eu/role=$1,dl-operator.mpba.fbk.eu/index=$2"
}

fail_pod() { # fail_pod ROLE INDEX CODE
  kubectl -n "$ns" annotate "$(pod_of "$1" "$2")" fake/exit="$3"
}

# stop_now: the pods that take their time to stop do so.
stop_now() {
  kubectl -n "$ns" annotate --overwrite pods --all fake/stop-after=0s
}

# deny RESOURCES [REASON]: a policy that denies these in the namespace of the test, for this reason: Invalid (422),
# which may be final, or Forbidden (403), which never is.
deny() {
  kubectl apply -f - <<END
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: frozen-$ns, labels: {test: harm}}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [$1]}
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $ns}}
  validations: [{expression: "false", message: change freeze, reason: ${2:-Invalid}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: frozen-$ns, labels: {test: harm}}
spec: {policyName: frozen-$ns, validationActions: [Deny]}
END
  eventually 60 denies "$1"
}

allow() {
  kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy -l test=harm
  eventually 60 try pods
  eventually 60 try services
}

# try RESOURCES: may one of them be made?
try() {
  case $1 in
  pods) kubectl -n "$ns" run try --image=none --dry-run=server ;;
  services) kubectl -n "$ns" create service clusterip try --clusterip=None --dry-run=server ;;
  esac
}

denies() {
  refused "change freeze" try "$1"
}

# bats test_tags=version
@test "a policy that denies pods for a while does not end a job that has run" {
  tfjob demo 2 '  policy: {restart: {backoff: {initialSeconds: 0}}}' | goes_on | made
  becomes Running
  before=$(uids worker)
  deny pods
  fail_pod worker 1 137
  eventually 60 has_reason "refused, retrying"
  eventually 60 has_reason "change freeze"
  is "$(record '[.phase, .outcome // "none", .restarts]')" '["Restarting","none",1]'
  allow
  becomes Running
  is "$(record '[.restarts, .roles.worker.counted]')" '[1,1]'
  is "$(uids worker | head -n 1)" "$(echo "$before" | head -n 1)"
}

has_reason() {
  has "$(record .reason)" "$1"
}

# waits_for REASON: and has not ended yet. One look: there is a minute from the one to the other.
waits_for() {
  local now
  now=$(record '[.outcome // "none", .reason]') && has "$now" '["none",' && has "$now" "$1"
}

@test "what was never accepted fails after a minute, and says why" {
  deny pods
  tfjob demo 1 | goes_on | made
  eventually 60 waits_for "change freeze"
  eventually 120 record_is .outcome '"Failed"'
  is "$(record .why)" '"Refused"'
}

@test "a job that waits for its first pods goes on when it may" {
  deny services Forbidden
  tfjob demo 1 | goes_on | made
  eventually 60 has_reason "change freeze"
  allow
  becomes Running
}

@test "eight workers that each fail once, and a limit of six" {
  tfjob demo 8 '  policy: {restart: {backoff: {initialSeconds: 0}}}' | goes_on | made
  becomes Running
  for i in 0 1 2 3 4 5 6 7; do
    fail_pod worker $i 1
  done
  eventually 120 record_is .restarts 8
  becomes Running
  is "$(record '.roles.worker | [.counted, .limit.counted, .limit.of, .limit.by, .limit.window]')" '[8,1,6,"Pod",3600]'
}

@test "an elastic role that shrinks and grows again restarts nobody" {
  cat >job.yaml <<'END'
apiVersion: elasticdeeplearning.ai/v1
kind: AITrainingJob
metadata: {name: demo}
spec:
  replicaSpecs:
    trainer:
      replicas: 4
      minReplicas: 1
      maxReplicas: 4
      edlPolicy: Manual
      restartPolicy: Always
      template: {spec: {containers: [{name: aitj-a, image: none}]}}
END
  goes_on <job.yaml | made
  becomes Running
  before=$(uids trainer | head -n 3)
  scale_to 3
  scale_to 4
  becomes Running
  is "$(uids trainer | head -n 3)" "$before"
  is "$(record '[.restarts, .generation // 0, .roles.trainer.byIndex.generation]')" '[0,0,{"1":"3"}]'
}

scale_to() {
  kubectl -n "$ns" patch aitrainingjob demo --type=merge \
    -p "{\"spec\":{\"replicaSpecs\":{\"trainer\":{\"replicas\":$1}}}}"
  eventually 120 pods_are "$1"
}

pods_are() {
  is "$(uids trainer | wc -l)" "$1"
}

@test "a pod evicted for its own use counts, one that the node evicts does not" {
  tfjob demo 2 '  policy: {restart: {limit: 1, backoff: {initialSeconds: 0}}}' | goes_on | made
  becomes Running
  kubectl -n "$ns" annotate "$(pod_of worker 1)" fake/evict=Evicted
  eventually 120 record_is .roles.worker.restarts '{"Disrupted":1}'
  becomes Running
  kubectl -n "$ns" annotate "$(pod_of worker 0)" fake/overuse=yes
  eventually 120 record_is .roles.worker.restarts '{"Disrupted":1,"Failed":1}'
  becomes Running
  kubectl -n "$ns" annotate "$(pod_of worker 0)" fake/overuse=yes
  eventually 120 record_is .outcome '"Failed"'
  has "$(record .reason)" "worker-0 was evicted: Usage of EmptyDir volume"
}

@test "suspended is true when the pods are gone, and not before" {
  tfjob demo 1 | goes_on | jq '(.spec.replicaSpecs[].template.metadata.annotations) += {"fake/stop-after": "1h"}' | made
  becomes Running
  kubectl -n "$ns" patch tfjob.mlkube.io demo --type=merge -p '{"spec":{"policy":{"suspend":true}}}'
  becomes Terminating
  none condition Suspended
  has "$(record .reason)" "suspended; waiting for 2 pods to be deleted"
  is "$(record '[.roles[].pods.active]')" "[1,1]"
  stop_now
  kubectl -n "$ns" wait --for=condition=Suspended --timeout=120s tfjob.mlkube.io/demo
  none kubectl -n "$ns" get pods -o name
  is "$(record .phase)" '"Suspended"'
}

@test "the end is decided at once, and there when the pods have gone" {
  tfjob demo 1 '  policy: {complete: {role: master}, cleanPods: All}' | goes_on | made
  becomes Running
  kubectl -n "$ns" patch "$(pod_of worker 0)" --type=merge -p '{"metadata":{"finalizers":["example.org/hold"]}}'
  fail_pod master 0 0
  kubectl -n "$ns" wait --for=condition=SuccessCriteriaMet --timeout=120s tfjob.mlkube.io/demo
  eventually 60 is_deleted worker 0
  none condition Complete
  is "$(record .phase)" '"Terminating"'
  kubectl -n "$ns" patch "$(pod_of worker 0)" --type=merge -p '{"metadata":{"finalizers":null}}'
  kubectl -n "$ns" wait --for=condition=Complete --timeout=120s tfjob.mlkube.io/demo
}

is_deleted() { # is_deleted ROLE INDEX
  [ -n "$(kubectl -n "$ns" get "$(pod_of "$1" "$2")" -o 'jsonpath={.metadata.deletionTimestamp}')" ]
}

@test "nothing is made for a job that is deleted in the foreground, though its TensorBoard would live on" {
  # Somebody's finalizer keeps the job until its children are gone: the operator has all the time to make them again.
  tfjob demo 1 '  policy: {tensorboard: {logDir: /logs}, complete: {role: master}}' | goes_on |
    jq '.metadata.finalizers = ["example.org/hold"]' | made
  becomes Running
  fail_pod master 0 0
  kubectl -n "$ns" wait --for=condition=Complete --timeout=120s tfjob.mlkube.io/demo
  eventually 60 has_board
  made_before=$(creations)
  [ "$made_before" -ge 6 ]
  kubectl -n "$ns" delete tfjob.mlkube.io demo --cascade=foreground --wait=false
  eventually 120 no_children
  # It is looked at once more, and after it a job that came later.
  kubectl -n "$ns" annotate tfjob.mlkube.io demo example.org/look=again
  tfjob later 0 | goes_on | made
  eventually 120 later_runs
  is "$(creations)" "$made_before"
  none kubectl -n "$ns" get pods,services -o name -l dl-operator.mpba.fbk.eu/job=demo
  let_go
  kubectl -n "$ns" wait --for=delete --timeout=120s tfjob.mlkube.io/demo
}

no_children() {
  none kubectl -n "$ns" get pods,services -o name
}

later_runs() {
  is "$(kubectl -n "$ns" get tfjob.mlkube.io later -o jsonpath='{.status.dlOperator.phase}')" Running
}

let_go() {
  kubectl -n "$ns" patch tfjob.mlkube.io demo --type=merge -p '{"metadata":{"finalizers":null}}'
}

# How many children of the job `demo` the API server has made.
creations() {
  grep -F "\"namespace\":\"$ns\"" "$CLUSTER_DIR/audit.log" |
    jq -r 'select(.verb == "create" and .responseStatus.code == 201 and (.objectRef.subresource // "") == "")
      | select(.objectRef.resource | test("^(pods|services)$")) | .objectRef.name | select(startswith("demo-"))' | wc -l
}

has_board() {
  [ -n "$(kubectl -n "$ns" get pods -l dl-operator.mpba.fbk.eu/role=tensorboard -o name)" ]
}
