#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, ns, out and err
# The rights that the chart gives, against what the API server saw. The last file of a run: what operators of the others
# have done is in the audit log.
load helpers

: "${DL_OPERATOR:=$(dirname "$DLJOB")/dl-operator}"

setup_file() {
  install_crds
  give_rights
}

teardown() {
  kill_started
}

# log: the API server's, complete lines only.
log() {
  sed '$ { /}$/!d }' "$CLUSTER_DIR/audit.log"
}

# Given, though no test sees it used, with the reason; sorted.
#
# get: a job is read again when its status was written by somebody else at the same time, or a reply was lost. The long
#   tests see it (make soak-cluster); nothing here can bring it about for certain.
# finalizers: admission asks for it when a child with a blocking owner is made; the log shows only the create.
unseen="get - jobs
update - jobs/finalizers"

@test "in trouble: labels that somebody removes, a node that is gone" {
  kubectl get node fake-0 -o json | jq --arg name "$ns" '{apiVersion, kind, metadata: {name: $name,
    annotations: .metadata.annotations, labels: (.metadata.labels + {"kubernetes.io/hostname": $name})},
    status: (.status | {capacity, allocatable})}' | kubectl create -f -
  kubectl wait --for=condition=Ready --timeout=120s "node/$ns"
  with_rights --metrics-bind-address=127.0.0.1:0 --health-probe-bind-address=127.0.0.1:0 >trouble.log 2>&1 3>&- &
  echo $! >trouble.pid
  tfjob demo 1 | goes_on | jq --arg node "$ns" '.spec.replicaSpecs[1].template.spec.nodeSelector =
    {"kubernetes.io/hostname": $node}' >job.json
  kubectl -n "$ns" create -f job.json
  kubectl -n "$ns" wait --for=condition=Running --timeout=120s "$(job_in job.json)"
  labelled() {
    kubectl -n "$ns" get "$1" -o json | jq -e '.metadata.labels["dl-operator.mpba.fbk.eu/uid"] != null'
  }
  pod=$(kubectl -n "$ns" get pods -o name | grep worker)
  for child in "$pod" "$(kubectl -n "$ns" get services -o name | head -n 1)"; do
    kubectl -n "$ns" label "$child" dl-operator.mpba.fbk.eu/uid-
    eventually 120 labelled "$child"
  done
  uid=$(kubectl -n "$ns" get "$pod" -o jsonpath='{.metadata.uid}')
  kubectl delete node "$ns"
  renewed() {
    local new
    new=$(kubectl -n "$ns" get "$pod" -o jsonpath='{.metadata.uid}') && [ "$new" != "$uid" ]
  }
  eventually 120 renewed
  kubectl -n "$ns" delete -f job.json
}

# bats test_tags=version
@test "no account of the chart was refused anything" {
  is "$(log | rights_refused | sort | uniq -c)" ""
}

@test "what is granted is what is used" {
  # Only a whole run uses all: operator.bats and life.bats, by what they left.
  log | jq -r 'select(.verb == "create" and .objectRef.resource == "namespaces") | .objectRef.name' >namespaces
  for file in life operator people; do
    grep -q "^$file-[0-9]*-$CLUSTER_RUN$" namespaces || skip "$file.bats did not run"
  done
  log | rights_used "$(rights_account dl-operator dl-operator)" >used
  rights_granted >granted
  # Used without being granted: the account got it from elsewhere.
  is "$(comm -23 used granted)" ""
  is "$(comm -13 used granted)" "$unseen"
}

# bats test_tags=version
@test "the hook's account may make and upgrade the definitions, and does no more" {
  helm template hook "$root/deploy/chart" --namespace "$ns" | yaml_to_json |
    jq '.[] | select(.kind? // "" | test("^ServiceAccount$|Role$|RoleBinding$"))
      | select(.metadata.annotations["helm.sh/hook"]? == "pre-install,pre-upgrade")' | kubectl apply -f -
  rights_kubeconfig "$ns" hook-dl-operator-crds >hook.kubeconfig
  # One is missing, one is somebody else's.
  kubectl delete crd mxjobs.fioravanzo.org
  kubectl annotate crd tfjobs.mlkube.io dl-operator.mpba.fbk.eu/revision-
  KUBECONFIG=hook.kubeconfig "$DL_OPERATOR" install-crds --adopt-crds
  kubectl get crd mxjobs.fioravanzo.org
  kubectl get crd tfjobs.mlkube.io -o json |
    jq -e '.metadata.annotations["dl-operator.mpba.fbk.eu/revision"] | tonumber > 0'
  is "$(log | rights_used "$(rights_account hook-dl-operator-crds "$ns")")" \
    'create apiextensions.k8s.io customresourcedefinitions
get apiextensions.k8s.io customresourcedefinitions
patch apiextensions.k8s.io customresourcedefinitions'
  is "$(log | rights_refused | grep -F "$ns" || true)" ""
}

# may ACCOUNT [FLAG…]: everything that it may do, as kubectl tells it.
may() {
  local account=$1
  shift
  kubectl auth can-i --list --no-headers --as="$account" --as-group=system:serviceaccounts \
    --as-group=system:authenticated "$@" | sort
}

# bats test_tags=version
@test "one namespace: its admin gives it its Roles, its jobs are served, and nothing is allowed elsewhere" {
  user_roles admins
  kubectl -n "$ns" create rolebinding admin --clusterrole=admin --user=admin@example
  rights_objects one "$ns" --set namespaced.enabled=true >objects.json
  is "$(jq -r .kind objects.json | grep ^Cluster || true)" ""
  # Until the controller has put the roles together.
  eventually 60 kubectl apply -f objects.json --as=admin@example
  rights_kubeconfig "$ns" one-dl-operator >"$PWD/one.kubeconfig"
  # The flags of the chart.
  helm template one "$root/deploy/chart" --namespace "$ns" --set namespaced.enabled=true | yaml_to_json |
    jq -r '.[] | select(.kind? == "Deployment") | .spec.template.spec.containers[0].args[]' |
    grep -vx -e --run-in-cluster >flags
  mapfile -t flags <flags
  OPERATOR_KUBECONFIG=$PWD/one.kubeconfig with_rights --metrics-bind-address=127.0.0.1:0 \
    --health-probe-bind-address=127.0.0.1:0 "${flags[@]}" >one.log 2>&1 3>&- &
  echo $! >one.pid
  for f in $one_of_each; do
    example "$f" | ends 0 >job.json
    kubectl -n "$ns" create -f job.json
    kubectl -n "$ns" wait --for=condition=Complete --timeout=120s "$(job_in job.json)"
  done
  kill -TERM "$(cat one.pid)"
  wait "$(cat one.pid)"
  account=$(rights_account one-dl-operator "$ns")
  is "$(log | rights_refused | grep -F "$account" || true)" ""
  # Whoever has been given nothing has the same rights everywhere else.
  may "$account" -n "$ns" >own
  may "$(rights_account default "$ns")" -n "$ns" >nobody
  grep -q '^pods ' own
  for other in dl-operator default kube-system; do
    may "$account" -n "$other" | diff - nobody
  done
  for what in "get nodes" "list pods" "create pods" "list tfjobs.mlkube.io" \
    "get customresourcedefinitions/tfjobs.mlkube.io"; do
    # shellcheck disable=SC2086 # two words
    is "$(kubectl auth can-i $what --as="$account" --all-namespaces 2>/dev/null)" no
  done
  kubectl delete clusterrole -l app.kubernetes.io/instance=admins
}

# user_roles RELEASE: the chart's ClusterRoles for people.
user_roles() {
  helm template "$1" "$root/deploy/chart" --namespace "$ns" | yaml_to_json |
    jq '.[] | select(.kind? == "ClusterRole" and .metadata.labels["app.kubernetes.io/component"] == "users")' |
    kubectl apply -f -
}

# bats test_tags=version
@test "users: who may edit a namespace may run jobs there, who may view it sees them" {
  user_roles users
  for role in view edit admin; do
    kubectl -n "$ns" create rolebinding "$role" --clusterrole="$role" --user="$role@example"
  done
  # verbs USER RESOURCE: what the user may do with it.
  verbs() {
    may "$1@example" -n "$ns" | awk -v resource="$2" '$1 == resource' | grep -oE '\[[a-z ]+\]$' | tr -d '[]' |
      tr ' ' '\n' | sort -u | paste -s -d ' '
  }
  verbs_are() { # verbs_are USER RESOURCE VERBS
    is "$(verbs "$1" "$2")" "$3"
  }
  all="create delete deletecollection get list patch update watch"
  for kind in $(dljob crds -o json | jq -r '.items[].metadata.name'); do
    eventually 60 verbs_are view "$kind" "get list watch"
    eventually 60 verbs_are edit "$kind" "$all"
    eventually 60 verbs_are admin "$kind" "$all"
    # What the operator remembers there is not theirs to change.
    verbs_are edit "$kind/status" get
  done
  kubectl delete clusterrole -l app.kubernetes.io/instance=users
}
