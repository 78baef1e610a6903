#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, ns, out and err
# The pods and services of every example, in a real cluster.
load helpers

# Every example with its children, each in a namespace of its own: their names may be the same.
setup_file() {
  install_crds
  cd "$BATS_FILE_TMPDIR" || return 1
  for f in $(examples); do
    n=$(namespace_of "$f")
    example "$f" >"$n.job.json"
    new_namespace "$n"
    uid=$(kubectl -n "$n" create -f "$n.job.json" -o 'jsonpath={.metadata.uid}')
    dljob render -o json -n "$n" --uid "$uid" "$n.job.json" >"$n.children.json"
    kubectl -n "$n" create --validate=strict -f "$n.children.json"
  done >log
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

@test "rendered for the job's own UID, every child is stored as we say" {
  for f in $(examples); do
    n=$(namespace_of "$f")
    echo "$n"
    jq -S "$ours" "$BATS_FILE_TMPDIR/$n.children.json" >given
    kubectl -n "$n" get pods,services -o json | jq -S "$ours" >stored
    diff given stored
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
    eventually 120 each_has_an_address "$n"
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
