# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the tests read what is set here; helpers.bash sets root, here and ns
# Shared by the tests of the chart on a real node.

# Values that every release here has: the image is on the node already.
values=(--set image.repository=localhost/dl-operator --set image.tag=test --set image.pullPolicy=Never)

# The image of `make image`, on the node as localhost/dl-operator:test.
image_in_node() {
  make -C "$root" --no-print-directory image IMAGE=localhost/dl-operator TAG=test >"$BATS_FILE_TMPDIR/image.log" 2>&1 ||
    { cat "$BATS_FILE_TMPDIR/image.log"; return 1; }
  in_node "$NODE_DIR" ctr -n k8s.io images import "$root/build/image/dl-operator.tar"
}

# install_chart CHART [OPTION…]: as release dl-operator in namespace dl, ready.
install_chart() {
  helm -n dl install dl-operator "$1" --create-namespace "${values[@]}" "${@:2}" --wait --timeout 180s || {
    kubectl -n dl get pods -o wide
    kubectl -n dl describe pods
    kubectl -n dl logs --prefix --tail=20 -l app.kubernetes.io/name=dl-operator
    return 1
  }
}

operators() {
  kubectl -n dl get pods -l app.kubernetes.io/name=dl-operator,app.kubernetes.io/component=operator -o name
}

# The pod that holds the Lease.
leader() {
  kubectl -n dl get lease dl-operator -o 'jsonpath={.spec.holderIdentity}' | sed 's/_.*//'
}

# operator_pid POD: its process, as this machine numbers it.
operator_pid() {
  local uid
  uid=$(kubectl -n dl get pod "$1" -o 'jsonpath={.metadata.uid}')
  grep -l "$uid" /proc/[0-9]*/cgroup 2>/dev/null | cut -d/ -f3 | while read -r pid; do
    [ "$(cat "/proc/$pid/comm")" != dl-operator ] || echo "$pid"
  done | head -n 1
}

# Whatever there is in the cluster that somebody made and that stays: no Events, nothing of jobs or of the system.
everything() {
  kubectl api-resources --verbs=list -o name | grep -v -e ^events -e ^componentstatuses |
    grep -v -e mpba.fbk.eu -e mlkube.io -e fioravanzo.org -e elasticdeeplearning.ai -e ^pods -e ^services \
      -e endpoint -e podmetrics | paste -s -d , |
    xargs -I{} kubectl get {} -A --ignore-not-found -o json |
    jq -r '.items[] | select(.metadata.name | test("mpba.fbk.eu|mlkube.io|fioravanzo.org|elasticdeeplearning.ai") | not)
      | select(.kind != "Namespace" and .metadata.name != "kube-root-ca.crt" and .metadata.name != "default")
      | select(.metadata.namespace // "" | startswith("kube-") | not)
      | "\(.kind) \(.metadata.namespace // "-") \(.metadata.name)"' | sort
}

# The definitions' revision.
revisions() {
  kubectl get crds -o json |
    jq -r '.items[].metadata.annotations["dl-operator.mpba.fbk.eu/revision"] | values' | sort -u
}

# job_that_ends_after NAME SECONDS: a master that runs so long, and a worker that runs until it is stopped.
job_that_ends_after() {
  tfjob "$1" 1 | yaml_to_json | jq '.[0]' | in_containers "case \$HOSTNAME in *master*) exec sleep $2 ;; esac
    exec sleep 100000"
}

# twenty_jobs: half of them have begun, the others come while the test goes on.
twenty_jobs() {
  local i
  # In one call: the first shall not have ended before the last is made.
  for i in 0 1 2 3 4 5 6 7 8 9; do
    job_that_ends_after "job-$i" $((10 + 4 * i))
  done | jq -s '{apiVersion: "v1", kind: "List", items: .}' | kubectl -n "$ns" create -f -
  eventually 180 ten_have_begun || return 1
  (
    for i in 10 11 12 13 14 15 16 17 18 19; do
      sleep 2
      job_that_ends_after "job-$i" 5 | kubectl -n "$ns" create -f -
    done
  ) 3>&- &
  echo $! >late.pid
}

# On a slow machine the first of them may have ended.
ten_have_begun() {
  kubectl -n "$ns" get dljobs -o json | jq -e '[.items[].status.dlOperator.phase]
    | length == 10 and all(. == "Running" or . == "Succeeded")'
}

# twenty_end COMMAND: the command, and then all twenty have ended well, without a restart.
twenty_end() {
  $1
  wait "$(cat late.pid)"
  kubectl -n "$ns" wait --for=condition=Complete --timeout=300s dljobs --all
  is "$(kubectl -n "$ns" get dljobs -o json |
    jq -c '[.items[].status.dlOperator | [.phase, .restarts // 0]] | group_by(.) | map([.[0], length])')" \
    '[[["Succeeded",0],20]]'
}

# How long each job waited for its operator, in seconds: from the end of its master to its own, and from its making to
# that of its pods.
delays() {
  kubectl -n "$ns" get pods,tfjobs.mlkube.io -o json | jq -r '
    (.items | map(select(.kind == "Pod"))) as $pods | .items[] | select(.kind == "TfJob") | . as $job
    | $pods[] | select(.metadata.ownerReferences[0].uid == $job.metadata.uid and .metadata.labels.job_type == "MASTER")
    | (($job.status.dlOperator.endTime | fromdate)
       - (.status.containerStatuses[0].state.terminated.finishedAt | fromdate)),
      ((.metadata.creationTimestamp | fromdate) - ($job.metadata.creationTimestamp | fromdate))'
}
