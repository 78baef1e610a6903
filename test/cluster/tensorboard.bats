#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets ns and root
# TensorBoard on a cluster: the API server's own pod security admission, its address, its end.
load helpers

setup_file() {
  install_crds
}

# An operator for each test: one of them starts another.
setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset DL_OPERATOR_KINDS NO_COLOR
  ns=$(namespace_of_test)
  new_namespace "$ns"
  start_operator
}

teardown() {
  kubectl -n "$ns" delete dljobs --all --wait=false
  end_operator
}

# restricted: from now on only such pods are let into the namespace.
restricted() {
  kubectl label namespace "$ns" pod-security.kubernetes.io/enforce=restricted
  refused "violates PodSecurity" kubectl -n "$ns" run root --image=none
}

# job [lines of tensorboard]: trainers that pass the standard, too.
job() {
  trainers demo true 2 "  cleanPodPolicy: None
  policy: {tensorboard: {logDir: /logs${1:-}}}" "            securityContext:
              {runAsNonRoot: true, runAsUser: 1000, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]},
              seccompProfile: {type: RuntimeDefault}}"
}

record() { kubectl -n "$ns" get aitj demo -o json | jq -r ".status.dlOperator.$1 // \"\""; }
record_is() { is "$(record "$1")" "$2"; }
becomes() { eventually 120 record_is phase "$1"; }

# The children of TensorBoard, as kubectl names them.
board() { kubectl -n "$ns" get pods,services -l dl-operator.mpba.fbk.eu/role=tensorboard -o name; }
board_is() { is "$(board | wc -l)" "$1"; }

# bats test_tags=version
@test "its pod passes the restricted standard, and the status says where it is" {
  restricted
  job | goes_on | kubectl -n "$ns" create -f -
  becomes Running
  service=$(kubectl -n "$ns" get services -l dl-operator.mpba.fbk.eu/role=tensorboard -o name)
  eventually 120 record_is tensorboard "http://${service#service/}.$ns.svc:80"
  is "$(kubectl -n "$ns" get "$service" -o jsonpath='{.spec.type} {.spec.ports[0].port} {.spec.ports[0].targetPort}')" \
    "ClusterIP 80 6006"
  has "$(kubectl -n "$ns" describe aitj demo)" "http://${service#service/}.$ns.svc:80"
  has "$("$DLJOB" get -n "$ns" demo)" "tensorboard: http://${service#service/}.$ns.svc:80"
  is "$(record pods)" "2/2"
  # With the job's deletion it goes.
  kubectl -n "$ns" delete aitj demo
  eventually 120 board_is 0
}

@test "those of the examples pass it too" {
  restricted
  for f in mlkube-tfjob/tensorboard-gs aitrainingjob/tensorboard-pvc mpba-mxjob/tensorboard-s3; do
    echo "$f"
    "$DLJOB" render -n "$ns" -o json "$root/examples/$f.yaml" | jq '.items[]
      | select(.metadata.labels["dl-operator.mpba.fbk.eu/role"] == "tensorboard")
      | del(.metadata.ownerReferences)' >children.json
    is "$(jq -r .kind children.json | sort | xargs)" "Pod Service"
    kubectl -n "$ns" create --dry-run=server -f children.json
  done
}

@test "one that the server does not let in holds nobody" {
  restricted
  job ', volumes: [{name: logs, hostPath: {path: /}}], volumeMounts: [{name: logs, mountPath: /logs}]' |
    goes_on | kubectl -n "$ns" create -f -
  becomes Running
  told() { has "$(kubectl -n "$ns" get events -o json | jq -r '.items[].message')" "violates PodSecurity"; }
  eventually 120 told
  is "$(record tensorboard)" ""
  is "$(record pods)" "2/2"
}

@test "it goes its own time after the job's end, whoever is the operator then" {
  job ', ttlSecondsAfterFinished: 8' | ends 0 | kubectl -n "$ns" create -f -
  becomes Succeeded
  board_is 2
  end_operator
  start_operator
  eventually 120 board_is 0
  eventually 120 record_is tensorboard ""
  record_is phase Succeeded
}
