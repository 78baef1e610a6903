#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, ns, out and err
# bats file_tags=local,version
# The kinds' definitions, as a real API server takes them.
load helpers

setup_file() {
  install_crds
}

versions() {
  dljob crds -o json | jq -r '.items[].metadata.name' | xargs kubectl get crd \
    -o 'jsonpath={range .items[*]}{.metadata.name} {.metadata.generation} {.metadata.resourceVersion}{"\n"}{end}'
}

@test "crds: applied a second time, nothing changes" {
  versions >before
  dljob crds | kubectl apply -f -
  versions >after
  diff before after
}

@test "crds: names accepted, established, schemas structural" {
  dljob crds -o json | jq -r '.items[].metadata.name' >names
  xargs kubectl get crd -o json <names >crds.json
  is "$(jq '.items | length' crds.json)" 5
  jq -e 'all(.items[].status.conditions; any(.type == "Established" and .status == "True")
    and any(.type == "NamesAccepted" and .status == "True")
    and all(.type != "NonStructuralSchema" or .status == "False"))' crds.json
  # Nothing of what we say is dropped or changed on the way.
  dljob crds -o json | jq -S '[.items[].spec | del(.preserveUnknownFields)]' >ours
  jq -S '[.items[].spec | del(.conversion, .preserveUnknownFields)]' crds.json >theirs
  diff ours theirs
}

@test "kubectl get dljobs: jobs of all kinds" {
  for f in $one_of_each; do
    kubectl -n "$ns" create -f "$root/examples/$f.yaml"
  done
  is "$(kubectl -n "$ns" get dljobs -o name | sort)" "aitrainingjob.elasticdeeplearning.ai/paddle-mnist
mxjob.fioravanzo.org/mx-test-dist
mxjob.mpba.fbk.eu/test02
tfjob.mlkube.io/tf-smoke-gpu
tfjob.mpba.fbk.eu/mnist"
}

# It writes a status, as an operator on this machine would at the same time; verbs.bats reads the columns there.
# bats test_tags=kube
@test "kubectl get: the columns" {
  kubectl -n "$ns" create -f "$root/examples/mlkube-tfjob/gpu.yaml"
  kubectl -n "$ns" patch tfjob.mlkube.io tf-smoke-gpu --subresource=status --type=merge \
    -p '{"status":{"dlOperator":{"version":1,"phase":"Running","reason":"all replicas run","pods":"1/1","restarts":3}}}'
  kubectl -n "$ns" get tfjobs.mlkube.io >table
  is "$(head -n 1 table | awk '{ print $1, $2, $3, $4, $5, $NF }')" "NAME STATE REASON PODS RESTARTS AGE"
  is "$(awk 'NR == 2 { print $1, $2, $3, $4, $5, $6, $7 }' table)" "tf-smoke-gpu Running all replicas run 1/1 3"
}

@test "kubectl get aitj: the short name" {
  kubectl -n "$ns" create -f "$root/examples/aitrainingjob/paddle-mnist.yaml"
  is "$(kubectl -n "$ns" get aitj -o name)" aitrainingjob.elasticdeeplearning.ai/paddle-mnist
}

# docs/kinds.md says so.
@test "two kinds called MXJob, two TfJob: which name reaches which" {
  kubectl -n "$ns" create -f "$root/examples/mpba-mxjob/linear.yaml" -f "$root/examples/mpba-tfjob/ps-worker.yaml" \
    -f "$root/examples/fioravanzo-mxjob/linear-dist.yaml" -f "$root/examples/mlkube-tfjob/hello.yaml"
  groups() { kubectl -n "$ns" get "$1" -o name | sed 's|/.*||' | sort -u | paste -s -d ' '; }
  is "$(groups mpbamx)" mxjob.mpba.fbk.eu
  is "$(groups mpbatf)" tfjob.mpba.fbk.eu
  is "$(groups fiomx)" mxjob.fioravanzo.org
  is "$(groups mlktf)" tfjob.mlkube.io
  is "$(groups mxjobs)" mxjob.fioravanzo.org
  is "$(groups tfjobs)" tfjob.mlkube.io
}

@test "kubectl explain: the fields of every kind" {
  dljob crds -o json | jq -c '.items[].spec | {plural: .names.plural, api: (.group + "/" + .versions[0].name),
    fields: [.versions[0].schema.openAPIV3Schema.properties.spec | (.properties // .items.properties) | keys[]]}' >kinds
  is "$(wc -l <kinds)" 5
  while read -r kind; do
    api=$(jq -r .api <<<"$kind")
    plural=$(jq -r .plural <<<"$kind")
    # The server publishes a new schema a moment after it serves it.
    eventually 120 kubectl explain --api-version="$api" "$plural.spec"
    kubectl explain --api-version="$api" "$plural.spec" | awk '{ print $1 }' >shown
    for field in $(jq -r '.fields[]' <<<"$kind"); do
      grep -qx -- "$field" shown || { echo "not shown: $plural.spec.$field"; return 1; }
    done
  done <kinds
}
