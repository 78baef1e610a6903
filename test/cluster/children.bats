#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, ns, out and err
# bats file_tags=local,version
# The pods and services of every example, in a real cluster.
load helpers

# Every example with its children, each in a namespace of its own: their names may be the same. On this machine it is
# the operator that makes the children.
setup_file() {
  install_crds
  cd "$BATS_FILE_TMPDIR" || return 1
  for f in $(examples); do
    n=$(namespace_of "$f")
    example "$f" | runnable >"$n.job.json"
    new_namespace "$n"
    on_this_machine || claims "$n"
    uid=$(kubectl -n "$n" create -f "$n.job.json" -o 'jsonpath={.metadata.uid}')
    dljob render -o json -n "$n" --uid "$uid" "$n.job.json" >"$n.children.json"
    on_this_machine || kubectl -n "$n" create --validate=strict -f "$n.children.json"
  done >log
}

# claims NAMESPACE: what its job claims is there.
claims() {
  local claim
  for claim in $(jq -r '[.. | objects | .claimName // empty] | unique[]' "$1.job.json"); do
    kubectl create -f - <<YAML
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: PersistentVolume
  metadata: {name: $1-$claim}
  spec:
    accessModes: [ReadWriteMany]
    capacity: {storage: 1Gi}
    storageClassName: ""
    claimRef: {namespace: $1, name: $claim}
    hostPath: {path: /nowhere}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {namespace: $1, name: $claim}
  spec:
    accessModes: [ReadWriteMany]
    resources: {requests: {storage: 1Gi}}
    storageClassName: ""
    volumeName: $1-$claim
YAML
  done
}

# runnable <job.json: with a command that this machine has. What a kind adds by itself, PS and TensorBoard, is
# TensorFlow.
runnable() {
  if on_this_machine; then
    jq '(.spec | objects | .replicaSpecs | arrays) |= (.[0].template as $t | map(.template //= $t))
      | del(.spec | objects | .tensorboard, .policy.tensorboard)
      | .metadata.annotations |= with_entries(select(.value | contains("tensorboard") | not))?
      ' | pods_do 'exec sleep infinity'
  else
    cat
  fi
}

# namespace_of EXAMPLE
namespace_of() {
  echo "${1/\//-}-$CLUSTER_RUN"
}

# What is ours in a list of children. A variable without value and one with an empty value are the same.
ours='[.items[] | {kind, name: .metadata.name, labels: .metadata.labels, owner: .metadata.ownerReferences,
  env: [.spec.containers[]? | .env[]? | if .value == "" then del(.value) else . end],
  selector: .spec.selector, restart: .spec.restartPolicy, hostname: .spec.hostname, host: .spec.hostNetwork,
  early: .spec.publishNotReadyAddresses}] | sort_by(.kind, .name)'

stored_as_given() {
  kubectl -n "$1" get pods,services -o json | jq -S "$ours" >stored
  diff given stored
}

@test "rendered for the job's own UID, every child is stored as we say" {
  for f in $(examples); do
    n=$(namespace_of "$f")
    echo "$n"
    jq -S "$ours" "$BATS_FILE_TMPDIR/$n.children.json" >given
    eventually 60 stored_as_given "$n"
  done
}

each_has_an_address() {
  [ "$(kubectl -n "$1" get endpointslices -o json | jq '[.items[] | select(.endpoints | length == 1)] | length')" = \
    "$(kubectl -n "$1" get services -o name | wc -l)" ]
}

@test "all pods become ready, and each service finds its pod" {
  for f in $(examples); do
    n=$(namespace_of "$f")
    echo "$n"
    kubectl -n "$n" wait --for=condition=Ready --timeout=120s pods --all
    # On this machine names lead to pods without slices; node.bats tries them.
    on_this_machine || eventually 120 each_has_an_address "$n"
  done
}

nothing_left() {
  [ -z "$(kubectl -n "$1" get pods,services -o name)" ]
}

@test "a job that is deleted takes its children with it" {
  for f in $(examples); do
    n=$(namespace_of "$f")
    [ -n "$(kubectl -n "$n" get pods -o name)" ]
    kubectl -n "$n" delete --wait=false "$(job_in "$BATS_FILE_TMPDIR/$n.job.json")"
  done
  # The garbage collector looks for new kinds every half minute.
  for f in $(examples); do
    eventually 120 nothing_left "$(namespace_of "$f")"
  done
}
