#!/bin/sh
# Writes the manifests for `kubectl apply` that come of the helm chart.
#
#   scripts/manifests.sh [DIR [HELM FLAG…]]       DIR: deploy/manifests
#
# crds.yaml: the definitions of all kinds; the chart has a hook for them. users.yaml: the roles for people, which a
# cluster with an operator in each of some namespaces needs, too. dl-operator.yaml: everything else, with its namespace.
# DLJOB is the program that knows the kinds.
set -eu
cd "$(dirname "$0")/.."
dir=${1:-deploy/manifests}
[ $# = 0 ] || shift
dljob=${DLJOB:-build/dljob}
PATH=$(scripts/kube-deps.sh --helm):$PATH

mkdir -p "$dir"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
{
  echo "# The definitions of all kinds. Made by \`make manifests\` (dljob crds)."
  "$dljob" crds
} >"$tmp/crds.yaml"
# Helm does not look after what is made of these.
render() {
  helm template dl-operator deploy/chart --namespace dl-operator --no-hooks "$@" >"$tmp/rendered"
  sed -e '/^ *app.kubernetes.io\/managed-by: Helm$/d' -e '/^ *helm.sh\/chart: /d' -e '/^# Source: /d' \
    -e '/^ *annotations: {helm.sh\/resource-policy: keep}$/d' "$tmp/rendered"
}
{
  echo "# Jobs for who has Kubernetes' own roles admin, edit and view. Made from deploy/chart by \`make manifests\`."
  for role in admin edit view; do
    render -s "templates/user-$role-clusterrole.yaml" "$@" --set rbac.userRoles=true,namespaced.enabled=false
  done
} >"$tmp/users.yaml"
{
  cat <<'YAML'
# The operator, with its namespace. crds.yaml comes first. Made from deploy/chart by `make manifests`.
apiVersion: v1
kind: Namespace
metadata:
  name: dl-operator
  labels:
    pod-security.kubernetes.io/enforce: restricted
YAML
  render "$@" --set rbac.userRoles=false
} >"$tmp/dl-operator.yaml"
mv "$tmp/crds.yaml" "$tmp/users.yaml" "$tmp/dl-operator.yaml" "$dir/"
