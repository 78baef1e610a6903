#!/bin/sh
# Writes the manifests for `kubectl apply` that come of the helm chart.
#
#   scripts/manifests.sh [DIR [HELM FLAG…]]       DIR: deploy/manifests
#
# crds.yaml: the definitions of all kinds; the chart has a hook for them. dl-operator.yaml: everything else, with its
# namespace. DLJOB is the program that knows the kinds.
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
helm template dl-operator deploy/chart --namespace dl-operator --no-hooks "$@" >"$tmp/all"
{
  cat <<'YAML'
# The operator for all namespaces. crds.yaml comes first. Made from deploy/chart by `make manifests`.
apiVersion: v1
kind: Namespace
metadata:
  name: dl-operator
  labels:
    pod-security.kubernetes.io/enforce: restricted
YAML
  # Helm does not look after these.
  sed -e '/^ *app.kubernetes.io\/managed-by: Helm$/d' -e '/^ *helm.sh\/chart: /d' -e '/^# Source: /d' "$tmp/all"
} >"$tmp/dl-operator.yaml"
mv "$tmp/crds.yaml" "$tmp/dl-operator.yaml" "$dir/"
