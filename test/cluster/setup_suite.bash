# One cluster for all files of a run. CLUSTER says which:
#
#   kube (default)   a real Kubernetes. CLUSTER_DIR names one that `up` has started already: it is used, and left.
#                    CLUSTER_KWOK=0: no file of this run asks it, so none is started. Files with the tag `node` share
#                    one with a real node, which the first of them starts (node_helpers.bash).
#   local            `dljob local`, for the tests that have the tag `local`; pods are processes of this machine
setup_suite() {
  here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
  export CLUSTER=${CLUSTER:-kube}
  "${CLUSTER}_cluster" || return 1
  # Namespaces are made of it: a cluster that is used again has those of the last run still.
  CLUSTER_RUN=$$
  export PATH CLUSTER_PATH CLUSTER_DIR CLUSTER_RUN
  export KUBECONFIG=${CLUSTER_DIR:-$BATS_SUITE_TMPDIR/none}/kubeconfig
  # What kubectl remembers of a server is kept by address: the next cluster may have the same.
  export KUBECACHEDIR=$BATS_SUITE_TMPDIR/kubectl
}

kube_cluster() {
  CLUSTER_PATH=$("$here/../../scripts/kube-deps.sh"):$("$here/../../scripts/kube-deps.sh" --helm)
  PATH=$CLUSTER_PATH:$PATH
  [ -z "${CLUSTER_DIR:-}" ] && [ "${CLUSTER_KWOK:-1}" != 0 ] || return 0
  CLUSTER_DIR=$BATS_SUITE_TMPDIR/cluster
  CLUSTER_OURS=$CLUSTER_DIR
  "$here/up" "$CLUSTER_DIR" --nodes 3 --while "${CLUSTER_WHILE:-$$}" || {
    # The folder of the run is removed with it.
    [ -z "${CLUSTER_LOGS:-}" ] || cp -r "$CLUSTER_DIR" "$CLUSTER_LOGS"
    return 1
  }
}

local_cluster() {
  # shellcheck source=test/cluster/local.sh
  . "$here/local.sh"
  local own
  own=$("$here/../../scripts/kube-deps.sh" --local) || return 1
  # The machine's kubectl, if it is there and not too old.
  kubectl patch --help 2>/dev/null | grep -q -e --subresource || PATH=$own:$PATH
  CLUSTER_DIR=$BATS_SUITE_TMPDIR/local
  CLUSTER_OURS=$CLUSTER_DIR
  local_start "$CLUSTER_DIR" "${CLUSTER_WHILE:-$$}"
}

teardown_suite() {
  if [ -d "$BATS_SUITE_TMPDIR/node" ]; then
    "$here/down" --keep-logs "$BATS_SUITE_TMPDIR/node"
    [ -z "${CLUSTER_LOGS:-}" ] || cp -r "$BATS_SUITE_TMPDIR/node" "$CLUSTER_LOGS-node"
  fi
  [ -n "${CLUSTER_OURS:-}" ] || return 0
  case $CLUSTER in
  kube) "$here/down" --keep-logs "$CLUSTER_OURS" ;;
  local) local_end ;;
  esac
  [ -z "${CLUSTER_LOGS:-}" ] || cp -r "$CLUSTER_OURS" "$CLUSTER_LOGS"
}
