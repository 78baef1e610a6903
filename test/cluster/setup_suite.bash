# One cluster for all files of a run. CLUSTER_DIR names one that `up` has started already: it is used, and
# left as it is.
setup_suite() {
  here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
  CLUSTER_PATH=$("$here/../../scripts/kube-deps.sh")
  PATH=$CLUSTER_PATH:$PATH
  if [ -z "${CLUSTER_DIR:-}" ]; then
    CLUSTER_DIR=$BATS_SUITE_TMPDIR/cluster
    CLUSTER_OURS=$CLUSTER_DIR
    "$here/up" "$CLUSTER_DIR" --nodes 3 --while "${CLUSTER_WHILE:-$$}" || {
      # The folder of the run is removed with it.
      [ -z "${CLUSTER_LOGS:-}" ] || cp -r "$CLUSTER_DIR" "$CLUSTER_LOGS"
      return 1
    }
  fi
  # Namespaces are made of it: a cluster that is used again has those of the last run still.
  CLUSTER_RUN=$$
  export PATH CLUSTER_PATH CLUSTER_DIR CLUSTER_RUN
  export KUBECONFIG=$CLUSTER_DIR/kubeconfig
  # What kubectl remembers of a server is kept by address: the next cluster may have the same.
  export KUBECACHEDIR=$BATS_SUITE_TMPDIR/kubectl
}

teardown_suite() {
  if [ -n "${CLUSTER_OURS:-}" ]; then
    "$here/down" --keep-logs "$CLUSTER_OURS"
    [ -z "${CLUSTER_LOGS:-}" ] || cp -r "$CLUSTER_OURS" "$CLUSTER_LOGS"
  fi
}
