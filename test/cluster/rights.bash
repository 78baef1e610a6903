# shellcheck shell=bash
# shellcheck disable=SC2154 # helpers.bash sets root
# The rights that the helm chart gives: operators of the tests run with no more, and zz-rights.bats looks at what the
# API server saw of them.

# The account, as the API server names it; rights_account RELEASE NAMESPACE.
rights_account() {
  echo "system:serviceaccount:$2:$1"
}

# rights_objects RELEASE NAMESPACE [HELM FLAG…]: the chart's account, roles and bindings of the operator, as JSON, one
# after the other. No hooks.
rights_objects() {
  local release=$1 namespace=$2
  shift 2
  helm template "$release" "$root/deploy/chart" --namespace "$namespace" --no-hooks "$@" | yaml_to_json |
    jq '.[] | select(.kind? // "" | test("^ServiceAccount$|Role$|RoleBinding$"))'
}

# rights_kubeconfig NAMESPACE ACCOUNT: speaks to the cluster of KUBECONFIG as that account.
rights_kubeconfig() {
  kubectl config view --raw --flatten --minify -o json |
    jq --arg token "$(kubectl -n "$1" create token "$2" --duration=24h)" \
      '.users = [{name: "account", user: {$token}}] | .contexts[0].context.user = "account"'
}

# give_rights: the account that the operators of the tests use, in the namespace dl-operator of this cluster.
give_rights() {
  export OPERATOR_KUBECONFIG=$BATS_FILE_TMPDIR/operator.kubeconfig
  kubectl create namespace dl-operator --dry-run=client -o yaml | kubectl apply -f - >/dev/null
  rights_objects dl-operator dl-operator | kubectl apply -f - >/dev/null
  rights_kubeconfig dl-operator dl-operator >"$OPERATOR_KUBECONFIG"
}

# may_lease NAMESPACE: an operator of the tests may have its Lease there, too.
may_lease() {
  rights_objects dl-operator dl-operator | jq --arg ns "$1" 'select(.metadata.name | endswith("-lease"))
    | .metadata.namespace = $ns' | kubectl apply -f -
}

# with_rights FLAG…: dl-operator as the chart runs it, in place of this shell; with the administrator's rights, and
# definitions to look after, if OPERATOR_RIGHTS is all.
with_rights() {
  [ "${OPERATOR_RIGHTS:-chart}" = all ] || {
    export KUBECONFIG=$OPERATOR_KUBECONFIG
    set -- --install-crds=false "$@"
  }
  exec "${DL_OPERATOR:-$(dirname "$DLJOB")/dl-operator}" "$@"
}

# rights_granted: what the chart gives, a line for each: VERB GROUP RESOURCE[/SUBRESOURCE]. Of the kinds, which have all
# the same, one stands for all: jobs.
rights_granted() {
  rights_objects dl-operator dl-operator | jq -r 'select(.kind | test("Role$"))
    | select(.metadata.labels["app.kubernetes.io/component"] == "operator") | .rules[]
    | .verbs[] as $verb | .apiGroups[] as $group | .resources[] as $resource | [$verb, $group, $resource]
    | join(" ")' | rights_by_kind
}

# rights_used ACCOUNT <audit.log: what it asked for and was given, in the same form.
rights_used() {
  jq -r --arg account "$1" 'select(.user.username == $account and .objectRef != null)
    | select(.annotations["authorization.k8s.io/decision"] == "allow")
    | [.verb, .objectRef.apiGroup // "", .objectRef.resource + (.objectRef.subresource // "" | if . == "" then . else
      "/" + . end)] | join(" ")' | rights_by_kind
}

rights_by_kind() {
  sed -E "s, ($("$DLJOB" crds -o json | jq -r '[.items[].spec.group] | unique | join("|")')) [a-z]+, - jobs," | sort -u
}

# rights_refused <audit.log: what accounts of the chart asked for and have no right to. (A refusal by a quota, or by a
# webhook, is none of those.)
rights_refused() {
  jq -c 'select(.user.username // "" | test("^system:serviceaccount:.*:[a-z]*-?dl-operator(-[a-z]+)?$"))
    | select(.annotations["authorization.k8s.io/decision"] == "forbid")
    | [.user.username, .verb, .requestURI, .annotations["authorization.k8s.io/reason"]]'
}
