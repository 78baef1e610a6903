#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, ns, out and err
# bats file_tags=version
# Jobs in a real API server: what is stored of them, and what is refused. On this machine the API refuses nothing that
# is an object, and an operator writes into each status: what tries that is for a real one.
load helpers

setup_file() {
  install_crds
}

# job_status FOLDER: a status such as the kind's file writes, with the odd spellings of its old operator.
job_status() {
  case $1 in
  mpba-*)
    echo '{"phase": "Running", "reason": "all run"}'
    ;;
  fioravanzo-mxjob)
    echo '{"phase": "Running", "reason": "", "state": "Running", "replicaStatuses": [
      {"mx_replica_type": "WORKER", "state": "Running", "ReplicasStates": {"Running": 2}}]}'
    ;;
  mlkube-tfjob)
    echo '{"phase": "CleanUp", "reason": "", "state": "Succeeded", "controlPaused": false, "replicaStatuses": [
      {"tf_replica_type": "MASTER", "state": "Succeeded", "ReplicasStates": {"Succeeded": 1}}]}'
    ;;
  aitrainingjob)
    echo '{"phase": "Restarting", "RestartCount": {"trainer": 2}, "RestartReplicaName": "trainer",
      "replicaStatuses": {"trainer": {"active": 1, "restarting": 1}}, "startTime": "2024-01-02T03:04:05Z",
      "startRunningTime": "2024-01-02T03:05:05Z"}'
    ;;
  esac
}

# bats test_tags=local
@test "every example is accepted, with strict validation, and stored as it is" {
  for f in $(examples); do
    echo "$f"
    example "$f" >job.json
    kubectl -n "$ns" create --validate=strict -o json -f job.json >stored.json
    jq -S .spec job.json >given
    jq -S .spec stored.json >stored
    diff given stored
    # As a user would read it back, it is the same job still.
    dljob validate stored.json
    kubectl -n "$ns" delete --wait=false "$(job_in job.json)"
  done
}

@test "the status is kept whole: our record, and the kind's own fields" {
  for f in $one_of_each; do
    echo "$f"
    example "$f" >job.json
    kubectl -n "$ns" create -f job.json
    job=$(job_in job.json)
    job_status "${f%/*}" | jq -S '. + {
      conditions: [{type: "Running", status: "True", reason: "AllRunning", message: "",
        lastTransitionTime: "2024-01-02T03:04:05Z"}],
      dlOperator: {version: 1, phase: "Running", reason: "all run", pods: "3/3", restarts: 1, observedGeneration: 1,
        roles: {worker: {generation: 2, completed: "0-4,7"}}, later: {unknown: [1, {two: 3}]}}}' >given
    jq '{status: ., spec: null, metadata: {labels: {not: "changed"}}}' given >patch.json
    kubectl -n "$ns" patch "$job" --subresource=status --type=merge --patch-file=patch.json -o json >stored.json
    jq -S .status stored.json >stored
    diff given stored
    # Only the status: neither spec nor labels, and so no new generation.
    jq -e '.metadata.generation == 1 and .metadata.labels == null and .spec != null' stored.json
    # … and the other way round.
    kubectl -n "$ns" patch "$job" --type=merge -p '{"status":{"phase":"Lost"}}' -o json | jq -S .status >stored
    diff given stored
  done
}

@test "the status: a null removes, a conflict is told" {
  kubectl -n "$ns" create -f "$root/examples/mlkube-tfjob/gpu.yaml"
  patch() { kubectl -n "$ns" patch tfjob.mlkube.io tf-smoke-gpu --subresource=status --type=merge -p "$1"; }
  patch '{"status":{"phase":"Running","dlOperator":{"version":1,"phase":"Running","restarts":1}}}'
  patch '{"status":{"phase":null,"dlOperator":{"restarts":null}}}'
  is "$(kubectl -n "$ns" get tfjob.mlkube.io tf-smoke-gpu -o json | jq -c .status)" \
    '{"dlOperator":{"phase":"Running","version":1}}'
  refused "the object has been modified" patch '{"metadata":{"resourceVersion":"1"},"status":{"phase":"Failed"}}'
}

@test "fields that no kind knows: refused when asked to be strict, dropped otherwise" {
  tfjob demo 1 | sed 's/^    replicas: 1/&\n    replcas: 2/' >job.yaml
  refused 'unknown field "spec.replicaSpecs[1].replcas"' kubectl -n "$ns" create --validate=strict -f job.yaml
  kubectl -n "$ns" create --validate=ignore -f job.yaml
  is "$(kubectl -n "$ns" get tfjob.mlkube.io demo -o json | jq -c '.spec.replicaSpecs[1] | keys')" \
    '["replicas","template","tfReplicaType"]'
}

# bats test_tags=local
@test "fields of the pod template that we do not know are kept" {
  tfjob demo 1 | sed -e 's/image: img/image: img, futureField: {a: [1, 2]}/' \
    -e 's/template: {/&metadata: {labels: {a: b}}, /' >job.yaml
  how=strict
  # The cluster on this machine knows the fields of its own version, and asks whoever means another one to say so.
  if [ "$CLUSTER" = local ]; then
    refused "futureField: unknown field of a Container" kubectl -n "$ns" create --validate=strict -f job.yaml
    how=warn
  fi
  kubectl -n "$ns" create --validate=$how -f job.yaml
  is "$(kubectl -n "$ns" get tfjob.mlkube.io demo -o json | jq -c '[.spec.replicaSpecs[].template
    | .metadata.labels.a, .spec.containers[0].futureField]')" '["b",{"a":[1,2]},"b",{"a":[1,2]}]'
}

@test "both spellings, also mixed, and RuntimeId" {
  tfjob demo 1 | sed -e 's/replicaSpecs/replica_specs/' -e 's/tfReplicaType: W/tf_replica_type: W/' \
    -e 's/^spec:/&\n  RuntimeId: ab12/' >job.yaml
  kubectl -n "$ns" create --validate=strict -f job.yaml
  kubectl -n "$ns" get tfjob.mlkube.io demo -o json | jq -e '.spec.RuntimeId == "ab12"
    and .spec.replica_specs[0].tfReplicaType == "MASTER" and .spec.replica_specs[1].tf_replica_type == "WORKER"'
  # One of the two must be there.
  tfjob none 1 | sed 's/replicaSpecs/other/' >job.yaml
  refused "spec.replicaSpecs" kubectl -n "$ns" create --validate=ignore -f job.yaml
}

@test "wrong types are refused, and the field is named" {
  # FILE | jq expression that spoils it | what the server must name
  while IFS='|' read -r f change field; do
    example "$f" | jq "$change" >bad.json
    echo "$f: $change"
    refused "$field" kubectl -n "$ns" create --validate=strict -f bad.json
  done <<'TABLE'
mpba-mxjob/linear|.spec = {}|spec
mpba-mxjob/linear|.spec = "x"|spec
mpba-mxjob/linear|.spec[0].replicas = "one"|spec[0].replicas
mpba-mxjob/linear|.spec[1].replicas = -1|spec[1].replicas
mpba-mxjob/linear|del(.spec[2].template)|spec[2].template
mpba-tfjob/ps-worker|.spec[0].replicaType = 7|spec[0].replicaType
mpba-tfjob/ps-worker|.spec[0].template.spec.containers = []|spec[0].template.spec.containers
fioravanzo-mxjob/linear-dist|.spec.replicaSpecs = {}|spec.replicaSpecs
fioravanzo-mxjob/linear-dist|.spec.replicaSpecs[0].mxPort = "high"|spec.replicaSpecs[0].mxPort
fioravanzo-mxjob/linear-dist|.spec.terminationPolicy = []|spec.terminationPolicy
mlkube-tfjob/gpu|.spec.replicaSpecs[0].tfReplicaType = "BOSS"|spec.replicaSpecs[0].tfReplicaType
mlkube-tfjob/gpu|.spec.replicaSpecs[0].replicas = 1.5|spec.replicaSpecs[0].replicas
mlkube-tfjob/gpu|.spec.replicaSpecs[0].template.spec.containers = [{}]|template.spec.containers[0].name
mlkube-tfjob/policy|.spec.policy.restart.limit = "many"|spec.policy.restart.limit
mlkube-tfjob/policy|.spec.policy.roles.ps.restart.scope = "World"|spec.policy.roles.ps.restart.scope
mlkube-tfjob/tensorboard-gs|.spec.tensorboard = "yes"|spec.tensorboard
aitrainingjob/paddle-mnist|.spec.replicaSpecs = []|spec.replicaSpecs
aitrainingjob/paddle-mnist|.spec.replicaSpecs = {}|spec.replicaSpecs
aitrainingjob/paddle-mnist|.spec.replicaSpecs.trainer.restartPolicy = "No"|spec.replicaSpecs.trainer.restartPolicy
aitrainingjob/paddle-mnist|.spec.replicaSpecs.trainer.restartLimit = true|spec.replicaSpecs.trainer.restartLimit
aitrainingjob/paddle-mnist|.spec.timeLimit = 0|spec.timeLimit
aitrainingjob/paddle-mnist|del(.spec)|spec
TABLE
  is "$(kubectl -n "$ns" get dljobs -o name)" ""
}

@test "what the schema refuses, dljob validate refuses" {
  tfjob demo 1 | sed 's/replicas: 1/replicas: "one"/' >job.yaml
  refused replicas kubectl -n "$ns" create -f job.yaml
  split dljob validate job.yaml
  is "$status" 2
  has "$out$err" "spec.replicaSpecs[1].replicas"
}
