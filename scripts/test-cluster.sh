#!/usr/bin/env bash
# Runs the tests that need a cluster, on one that is started for them.
#
#   scripts/test-cluster.sh [FILE.bats …]    a real Kubernetes; all files unless some are named
#   scripts/test-cluster.sh --kwok           only the files that need no other nodes than those that kwok plays
#   scripts/test-cluster.sh --node           only those with the tag `node`: on a real one
#   scripts/test-cluster.sh --apart          only those with the tag `apart`: they ask no cluster, and take their time
#   scripts/test-cluster.sh --oldest         only the tests with the tag `version`, to which another server may answer
#                                            otherwise; on the oldest version that is supported (or KUBE_VERSION)
#   scripts/test-cluster.sh --local [FILE…]  `dljob local`, for the tests with the tag `local`
#   scripts/test-cluster.sh --get            builds and installs what all of these need, and runs none
#
# The cluster ends with this script, however that ends. Its logs stay in build/cluster, those of real nodes in
# build/cluster-node and build/cluster-chart, those of the local one in build/cluster-local, those of the oldest in
# build/cluster-oldest and build/cluster-oldest-…: all of these can run side by side. With DL_REQUIRE=1 the frameworks
# must be there.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/group.sh
. scripts/group.sh

# As docs/install.md says.
oldest=1.33.13

usage() {
  sed -n 's/^#   //p' "$0" >&2
  exit 2
}

# tagged TAG FILE…: those that have it, or a test that does.
tagged() { grep -ls "^# bats [a-z]*_tags=\(.*,\)\?$1\(,.*\)\?\$" "${@:2}" || true; }
# of_kwok FILE…: those that ask the cluster that all files share.
of_kwok() { grep -Ls '^# bats file_tags=\(.*,\)\?\(node\|apart\)\(,.*\)\?$' "$@" || true; }

part=all
case ${1:-} in
--local | --kwok | --node | --apart | --oldest | --get)
  part=${1#--}
  shift
  [ "$part" = local ] || [ $# = 0 ] || usage
  ;;
-*) usage ;;
esac
export CLUSTER=kube
options=()
files=()
logs=$PWD/build/cluster
[ $# -gt 0 ] || set -- test/cluster/*.bats
case $part in
local)
  CLUSTER=local
  logs=$PWD/build/cluster-local
  options=(--filter-tags 'local,!kube')
  ;;
kwok) mapfile -t files < <(of_kwok "$@") ;;
node | apart) mapfile -t files < <(tagged "$part" "$@") ;;
oldest)
  mapfile -t files < <(tagged version "$@")
  export KUBE_VERSION=${KUBE_VERSION:-$oldest}
  logs=$PWD/build/cluster-oldest
  options=(--filter-tags version)
  ;;
esac
[ ${#files[@]} = 0 ] || set -- "${files[@]}"

# Built before the clock of the tests runs. What a node needs, where there can be one.
node=$(tagged node "$@")
[ "$(id -u)" = 0 ] || node=
if [ $CLUSTER = local ]; then
  scripts/kube-deps.sh --local >/dev/null
else
  scripts/kube-deps.sh ${node:+--node} >/dev/null
  scripts/kube-deps.sh --helm >/dev/null
fi
case "$CLUSTER $part $*" in
"kube oldest "*) ;;
kube*frameworks.bats*)
  for name in mxnet tensorflow; do
    scripts/example.sh --install $name >/dev/null || [ $? = 77 ] || exit 1
  done
  ;;
esac
if [ "$part" = get ]; then
  scripts/kube-deps.sh --local >/dev/null
  KUBE_VERSION=$oldest scripts/kube-deps.sh ${node:+--node} >/dev/null
  exit 0
fi
# No cluster with kwok where nobody asks it.
mapfile -t kwok < <(of_kwok "$@")
out=$(mktemp)
trap 'rm -f "$out"' EXIT
export CLUSTER_WHILE=$$ CLUSTER_LOGS=$logs CLUSTER_KWOK=${#kwok[@]}
[ "$CLUSTER_KWOK" = 0 ] || rm -rf "$logs"
[ -z "$node" ] || rm -rf "$logs-node" "$logs-chart"
rc=0
# Seen as it comes, and kept to be counted. Who ends this script is waited for by the tests, which write until then.
exec 7> >(trap '' INT TERM HUP; exec tee "$out")
tee=$!
in_group timeout -k 60 2400 bats --tap --timing "${options[@]}" "$@" 3>&- >&7 7>&- || rc=$?
exec 7>&-
wait $tee
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
