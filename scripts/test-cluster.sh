#!/usr/bin/env bash
# Runs the tests that need a real Kubernetes, on one that is started for them: scripts/test-cluster.sh [FILE.bats …]
# The cluster ends with this script, however that ends. Its logs stay in build/cluster, those of
# the real nodes in build/cluster-node and build/cluster-frameworks. With DL_REQUIRE=1 the frameworks must be there.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- test/cluster

# Built before the clock of the tests runs. What a node needs, where there can be one.
case "$(id -u) $*" in
"0 test/cluster" | "0 "*node.bats* | "0 "*frameworks.bats*) scripts/kube-deps.sh --node >/dev/null ;;
*) scripts/kube-deps.sh >/dev/null ;;
esac
case "$*" in
test/cluster | *frameworks.bats*)
  for name in mxnet tensorflow; do
    scripts/example.sh --install $name >/dev/null || [ $? = 77 ] || exit 1
  done
  ;;
esac
out=$(mktemp)
trap 'rm -f "$out"' EXIT
trap 'exit 130' INT TERM HUP
rm -rf build/cluster build/cluster-node build/cluster-frameworks
export CLUSTER_WHILE=$$ CLUSTER_LOGS=$PWD/build/cluster
rc=0
timeout -k 10 1800 bats --tap --timing "$@" 3>&- | tee "$out" || rc=$?
awk -v rc=$rc '
  /^1\.\./ { split($0, p, /\.\./); plan = p[2] }
  /^ok/ { if (/# skip/) skipped++; else passed++ }
  /^not ok/ { failed++ }
  END {
    if (passed + failed + skipped < plan || !plan) print "not all tests ran, exit status " rc
    if (skipped) print skipped " skipped"
    print passed + 0 " passed, " failed + 0 " failed"
  }' "$out"
[ $rc = 0 ] || { echo "test-cluster: the logs are in build/cluster*" >&2; exit 1; }
