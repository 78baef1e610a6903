#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, here, out and err
# The helm chart before it is installed: what it renders, and what it refuses. The values in deploy/chart/ci are tried
# all.
load helpers

chart=$root/deploy/chart
: "${DL_OPERATOR:=$(dirname "$DLJOB")/dl-operator}"

setup_file() {
  install_crds
  export RENDER_NS=render-$CLUSTER_RUN
  kubectl create namespace "$RENDER_NS"
  # What does not keep to the standard is refused here.
  kubectl label namespace "$RENDER_NS" pod-security.kubernetes.io/enforce=restricted
  eventually 120 kubectl -n "$RENDER_NS" get serviceaccount default
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
}

# The sets of values, by name.
modes() {
  local f
  for f in "$chart"/ci/*-values.yaml; do
    f=${f##*/}
    echo "${f%-values.yaml}"
  done
}

# render MODE [FLAG…]: a JSON array of all objects.
render() {
  local mode=$1
  shift
  helm template release "$chart" --namespace "$RENDER_NS" -f "$chart/ci/$mode-values.yaml" "$@" | yaml_to_json |
    jq 'map(select(.))'
}

# For a jq program: all pods that come of the objects, as {name, spec}.
pods='map({name: "\(.kind)-\(.metadata.name)" | ascii_downcase,
  spec: (.spec.template?.spec, (.spec | select(.containers?)), .spec.replicaSpecs?[]?.template.spec | select(.))})'

@test "helm finds nothing to say against it" {
  for mode in $(modes); do
    helm lint --strict "$chart" -f "$chart/ci/$mode-values.yaml"
  done
}

# bats test_tags=version
@test "the server takes every object" {
  for mode in $(modes); do
    echo "$mode"
    # What the Prometheus operator defines is not there; a pod needs its account first (the next test).
    render "$mode" | jq '.[] | select(.apiVersion != "monitoring.coreos.com/v1" and .kind != "Pod")' >objects.json
    kubectl apply --dry-run=server --validate=strict -f objects.json
  done
}

# bats test_tags=version
@test "every pod keeps to the pod security standard restricted" {
  kubectl -n "$RENDER_NS" create serviceaccount any
  for mode in $(modes); do
    echo "$mode"
    render "$mode" | jq "$pods"'[] | {apiVersion: "v1", kind: "Pod", metadata: {name},
      spec: (.spec + {serviceAccountName: "any"} | del(.priorityClassName))}' >pods.json
    [ -s pods.json ]
    kubectl -n "$RENDER_NS" apply --dry-run=server -f pods.json
    jq -es 'all(.[].spec.containers[]; .securityContext.readOnlyRootFilesystem)' pods.json
    # Nothing of the host, and no token that the pod did not ask for.
    render "$mode" | jq -e 'all(.[] | select(.kind == "ServiceAccount"); .automountServiceAccountToken == false)'
  done
}

@test "rights: no wildcard, no secrets, no exec, nothing that makes more rights" {
  for mode in $(modes); do
    render "$mode" | jq '[.[] | select(.kind | test("Role$")) | .rules[]]' >rules.json
    jq -e 'all(.[] | .apiGroups[], .resources[], .verbs[]; contains("*") | not)' rules.json
    jq -e 'all(.[] | .resources[]; test("^(secrets|configmaps|serviceaccounts.*|pods/(exec|attach|portforward|proxy|"
      + "ephemeralcontainers|eviction))$") | not)' rules.json
    jq -e 'all(.[] | .verbs[]; test("^(escalate|bind|impersonate|approve)$") | not)' rules.json
    jq -e 'all(.[] | .apiGroups[]; . != "rbac.authorization.k8s.io")' rules.json
    # Definitions: the operator looks at its own ones; only the hook makes them.
    render "$mode" | jq -e 'all(.[] | select(.kind == "ClusterRole" and .metadata.annotations["helm.sh/hook"] == null)
      | .rules[] | select(.apiGroups == ["apiextensions.k8s.io"]); .verbs == ["get"] and (.resourceNames | length > 4))'
  done
}

@test "one namespace: nothing of the cluster is made or asked for" {
  for mode in namespaced elsewhere; do
    render $mode | jq -e 'all(.[]; .kind | test("^Cluster|^CustomResource|^PriorityClass") | not)'
    render $mode | jq -e 'any(.[] | select(.kind == "Deployment") | .spec.template.spec.containers[0].args[];
      test("^--namespace="))'
  done
  render namespaced | jq -e --arg ns "$RENDER_NS" 'all(.[]; .metadata.namespace == $ns)'
  render elsewhere | jq -e 'any(.[]; .kind == "Role" and .metadata.namespace == "default")'
}

@test "the kinds are those that dljob knows" {
  render default | jq -r '.[] | select(.kind == "ClusterRole") | .rules[]
    | select(.apiGroups == ["apiextensions.k8s.io"] and .verbs == ["get"]) | .resourceNames[]' | sort >chart
  dljob crds -o json | jq -r '.items[].metadata.name' | sort >known
  diff chart known
  render full | jq -e 'any(.[] | select(.metadata.name | endswith("-edit")) | .rules[];
    .apiGroups == ["example.com"] and .resources == ["myjobs"] and (.verbs | contains(["create"])))'
  render full | jq -e 'any(.[] | select(.metadata.name | endswith("-crds")) | .rules[]?;
    .resourceNames // [] | contains(["otherjobs.mlkube.io", "myjobs.example.com"]))'
}

@test "dljob knows all flags that it is given" {
  for mode in $(modes); do
    render "$mode" | jq -r "$pods"'[].spec.containers[] | select(.command == ["/usr/bin/dljob"]) | .args
      | join(" ")' >lines
    [ -s lines ]
    while read -r args; do
      echo "$args"
      # shellcheck disable=SC2086 # words
      split dljob $args --help
      is "$status" 0
      is "$err" ""
    done <lines
  done
}

@test "the operator knows all flags that it is given" {
  for mode in $(modes); do
    render "$mode" | jq -r "$pods"'[].spec.containers[] | select(.command == null) | .args
      | join(" ")' >lines
    [ -s lines ]
    while read -r args; do
      echo "$args"
      # shellcheck disable=SC2086 # words
      split "$DL_OPERATOR" $args --version
      is "$status" 0
      is "$err" ""
    done <lines
  done
}

@test "accelerators: every preset is a file that the program takes" {
  for cloud in gke azure azure-mxnet device-plugin; do
    helm template release "$chart" --set accelerators.cloud=$cloud -s templates/config-configmap.yaml | yaml_to_json |
      jq -er '.[0].data["controller-config-file.yaml"]' >config.yaml
    tfjob demo 1 >job.yaml
    dljob render --controller-config-file config.yaml job.yaml >/dev/null
    grep -q alpha.kubernetes.io/nvidia-gpu config.yaml
  done
}

@test "rights for PodGroups only with a gang scheduler, and for that one" {
  groups() {
    render "$@" | jq -r '.[] | select(.kind | test("Role$")) | .rules[]
      | select(.resources == ["podgroups"]) | .apiGroups[]' | sort -u
  }
  is "$(groups default)" ""
  is "$(groups full)" scheduling.volcano.sh
  is "$(groups lean --set rbac.create=true)" scheduling.x-k8s.io
}

@test "the admin of a namespace can give an operator there its rights, with a gang scheduler, too" {
  "$root/scripts/manifests.sh" "$PWD/new" --set namespaced.enabled=true,gang.schedulerName=volcano
  kubectl apply -f new/users.yaml
  kubectl -n "$RENDER_NS" create rolebinding admin --clusterrole=admin --user=admin@example
  render namespaced --set gang.schedulerName=volcano | jq '.[] | select(.kind == "Role")' >roles.json
  grep -q podgroups roles.json
  # Until the controller has put the roles together.
  eventually 60 kubectl apply --dry-run=server -f roles.json --as=admin@example
  kubectl delete -f new/users.yaml
}

@test "roles are left to others: none is made, not for a hook either" {
  helm template release "$chart" --set rbac.create=false,rbac.userRoles=false,archive.enabled=true | yaml_to_json |
    jq -e 'all(.[]; .kind? // "" | test("Role") | not)'
}

@test "alert rules: quiet when all is well, loud when it is not" {
  helm template dl-operator "$chart" -n dl --set metrics.prometheusRule.enabled=true -s templates/prometheusrule.yaml |
    yaml_to_json | jq '.[0].spec' >rules.json
  promtool check rules rules.json
  cp "$here/alerts.yaml" .
  promtool test rules alerts.yaml
  for alert in $(jq -r '.groups[].rules[].alert' rules.json); do
    grep -q "alertname: $alert$" alerts.yaml
    has "$(cat "$root/docs/install.md")" "\`$alert\`"
  done
  # Only of metrics that there are.
  jq -r '.groups[].rules[].expr' rules.json |
    grep -oE '\b(dl_operator|controller_runtime|workqueue|rest_client|leader_election)_[a-z_]+' | sort -u >used
  while read -r name; do
    grep -rqF "\"$name\"" "$root/src/operator/metrics.c" || { echo "there is no metric $name"; return 1; }
  done <used
}

@test "network policies: every pod of the chart that speaks with the API server has one, and no other way out" {
  render full | jq 'map(select(.kind == "NetworkPolicy"))' >policies.json
  render full | jq -r '.[] | select(.kind | test("^(Deployment|Job|Pod)$"))
    | .spec.template?.metadata.labels // .metadata.labels | .["app.kubernetes.io/component"]' | sort >components
  is "$(paste -s -d ' ' components)" "archive crds operator test"
  jq -r '.[].spec.podSelector.matchLabels["app.kubernetes.io/component"]' policies.json | sort | diff components -
  jq -e 'all(.[].spec; (.policyTypes | contains(["Egress", "Ingress"]))
    and ([.egress[].ports | map(.port)] == [[443, 6443], [53, 53]])
    and .egress[0].to == [{ipBlock: {cidr: "10.0.0.1/32"}}])' policies.json
  # The hook's is there before its pod.
  jq -e '.[] | select(.metadata.name == "trainer-crds") | .metadata.annotations
    | .["helm.sh/hook"] == "pre-install,pre-upgrade" and .["helm.sh/hook-weight"] == "-10"' policies.json
  # Only the operator is asked anything.
  is "$(jq -r '.[] | select(.spec.ingress) | .metadata.name' policies.json)" trainer
  # … and by whom the values name.
  jq -e '.[] | select(.metadata.name == "trainer") | .spec.ingress
    | (.[] | select(.ports == [{port: "health"}])).from == [{ipBlock: {cidr: "10.2.0.0/16"}}]
      and (.[] | select(.ports == [{port: "metrics"}])).from
        == [{namespaceSelector: {matchLabels: {"kubernetes.io/metadata.name": "monitoring"}}}]' policies.json
}

@test "another replica is ready before one goes, and a node with the only one can be drained" {
  render default | jq -e '.[] | select(.kind == "Deployment") | .spec
    | .replicas == 2 and .strategy.rollingUpdate.maxUnavailable == 0'
  render default | jq -e '.[] | select(.kind == "PodDisruptionBudget") | .spec
    | .maxUnavailable == 1 and .unhealthyPodEvictionPolicy == "AlwaysAllow"'
}

# not_taken WHAT FLAG…: helm refuses these values, and says WHAT.
not_taken() {
  local what=$1
  shift
  refused "$what" helm template release "$chart" "$@"
}

@test "a value of the wrong type, or one that is not there: an error that names it" {
  not_taken /replicas --set replicas=two
  not_taken /replicas --set replicas=-1
  not_taken /image/tag --set image.tag=15
  not_taken /image/pullPolicy --set image.pullPolicy=Sometimes
  not_taken /image/digest --set image.digest=latest
  not_taken replicaCount --set replicaCount=2
  not_taken enable --set metrics.serviceMonitor.enable=true
  not_taken /namespaced/enabled --set-string namespaced.enabled=yes
  not_taken /kinds --set kinds.myjob=text
  not_taken 'in extraKinds' --set 'kinds.myjob\.lua=text'
  not_taken /extraKinds/0 --set 'extraKinds[0].group=example.com'
  not_taken /extraKinds/0/group --set 'extraKinds[0].group=*,extraKinds[0].plural=pods'
  not_taken /extraArgs --set extraArgs=--v=2
  not_taken /accelerators/cloud --set accelerators.cloud=moon
  not_taken "'envVar'" --set accelerators.config.accelerators.x.envVar=y
  not_taken 'set one of them' --set accelerators.cloud=gke --set accelerators.config.accelerators.x.resource=z
  not_taken 'needs metrics.service.enabled' --set metrics.serviceMonitor.enabled=true,metrics.service.enabled=false
  not_taken 'needs metrics.service.enabled' --set metrics.prometheusRule.enabled=true,metrics.service.enabled=false
  not_taken /podDisruptionBudget/maxUnavailable --set podDisruptionBudget.maxUnavailable=most
  not_taken /metrics/service/port --set metrics.service.port=http
  # No port at all would mean every port.
  not_taken /networkPolicy/apiServerPorts --set networkPolicy.enabled=true --set-json networkPolicy.apiServerPorts=[]
}

@test "each value is in the schema, and in the docs" {
  yaml_to_json <"$chart/values.yaml" | jq -r '.[0] | [paths(type != "object" or length == 0)]
    | .[] | select(all(.[]; type == "string")) | join(".")' |
    # These are Kubernetes' own.
    sed -E 's/^((archive\.)?resources|podSecurityContext|securityContext)\..*/\1/' | sort -u >values
  [ "$(wc -l <values)" -gt 40 ]
  while read -r value; do
    jq -e --arg v "$value" 'getpath(["properties"] + ($v | split(".") | join(".properties.") | split("."))) != null' \
      "$chart/values.schema.json" >/dev/null || { echo "not in the schema: $value"; return 1; }
  done <values
  # shellcheck disable=SC2016 # backticks of the table
  sed -n 's/^| `\([a-z][A-Za-z.]*\)` | .*/\1/p' "$root/docs/install.md" | sort | diff values -
}

@test "the archive's claim is kept, whatever becomes of the release" {
  render full | jq -e '.[] | select(.kind == "PersistentVolumeClaim")
    | .metadata.annotations["helm.sh/resource-policy"] == "keep"'
}

@test "chart and program have one version" {
  version=$(dljob version | cut -d ' ' -f 2)
  is "$(helm show chart "$chart" | sed -n 's/^version: //p')" "$version"
  is "$(helm show chart "$chart" | sed -n 's/^appVersion: //p')" "$version"
}

# bats test_tags=version
@test "the plain manifests are up to date, and the server takes them" {
  "$root/scripts/manifests.sh" "$PWD/new"
  diff -r "$root/deploy/manifests" new || { echo "make manifests"; return 1; }
  has_not "$(cat new/*)" elm
  kubectl apply -f "$root/deploy/manifests/crds.yaml"
  # The namespace must be there before what is in it.
  kubectl create namespace dl-operator --dry-run=client -o yaml | kubectl apply -f -
  kubectl apply --dry-run=server --validate=strict -f "$root/deploy/manifests"
}

@test "plain manifests with other values" {
  "$root/scripts/manifests.sh" "$PWD/new" \
    --set namespaced.enabled=true,archive.enabled=true,rbac.userRoles=true,extraKinds[0].group=example.com \
    --set extraKinds[0].plural=myjobs
  has_not "$(cat new/*)" elm
  is "$(yaml_to_json <new/users.yaml | jq -r '.[] | .metadata.name? // empty' | paste -s -d ' ')" \
    "dl-operator-admin dl-operator-edit dl-operator-view"
  has "$(cat new/users.yaml)" myjobs
  has_not "$(cat new/dl-operator.yaml)" "kind: ClusterRole"
  kubectl create --dry-run=client -f new/dl-operator.yaml
  # What helm refuses is no file that looks whole.
  run "$root/scripts/manifests.sh" "$PWD/bad" --set replicas=two
  [ "$status" -ne 0 ]
  [ ! -e bad/dl-operator.yaml ]
}

@test "a long release name makes names that the server takes" {
  long=$(printf 'r%.0s' $(seq 53))
  helm template "$long" "$chart" --namespace "$RENDER_NS" | yaml_to_json |
    jq '.[] | select(.kind? != "Pod")' >objects.json
  kubectl apply --dry-run=server -f objects.json
}
