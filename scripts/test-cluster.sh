#!/usr/bin/env bash
# Runs the tests that need a cluster, on one that is started for them.
#
#   scripts/test-cluster.sh [FILE.bats …]           a real Kubernetes
#   scripts/test-cluster.sh --local [FILE.bats …]   `dljob local`, for the tests that have the tag `local`
#
# The cluster ends with this script, however that ends. Its logs stay in build/cluster, those of the real nodes in
# build/cluster-node, build/cluster-frameworks and build/cluster-chart, those of the local one in build/cluster-local.
# With DL_REQUIRE=1 the frameworks must be there.
set -euo pipefail
cd "$(dirname "$0")/.."
logs=build/cluster
options=()
export CLUSTER=kube
if [ "${1:-}" = --local ]; then
  shift
  CLUSTER=local
  logs=build/cluster-local
  options=(--filter-tags 'local,!kube')
fi
[ $# -gt 0 ] || set -- test/cluster

# Built before the clock of the tests runs. What a node needs, where there can be one.
case "$CLUSTER $(id -u) $*" in
local*) scripts/kube-deps.sh --kubectl >/dev/null ;;
"kube 0 test/cluster" | "kube 0 "*node.bats* | "kube 0 "*verbs.bats* | "kube 0 "*frameworks.bats* | \
  "kube 0 "*chart.bats*)
  scripts/kube-deps.sh --node >/dev/null
  ;;
*) scripts/kube-deps.sh >/dev/null ;;
esac
[ $CLUSTER = local ] || scripts/kube-deps.sh --helm >/dev/null
case "$CLUSTER $*" in
"kube test/cluster" | kube*frameworks.bats*)
  for name in mxnet tensorflow; do
    scripts/example.sh --install $name >/dev/null || [ $? = 77 ] || exit 1
  done
  ;;
esac
out=$(mktemp)
trap 'rm -f "$out"' EXIT
trap 'exit 130' INT TERM HUP
rm -rf "$logs" "$logs-node" "$logs-frameworks" "$logs-chart"
export CLUSTER_WHILE=$$ CLUSTER_LOGS=$PWD/$logs
rc=0
timeout -k 10 2400 bats --tap --timing "${options[@]}" "$@" 3>&- | tee "$out" || rc=$?
awk -v rc=$rc '
  /^1\.\./ { split($0, p, /\.\./); plan = p[2] }
  /^ok/ { if (/# skip/) skipped++; else passed++ }
  /^not ok/ { failed++ }
  END {
    if (passed + failed + skipped < plan || !plan) print "not all tests ran, exit status " rc
    if (skipped) print skipped " skipped"
    print passed + 0 " passed, " failed + 0 " failed"
  }' "$out"
[ $rc = 0 ] || { echo "test-cluster: the logs are in $logs*" >&2; exit 1; }
