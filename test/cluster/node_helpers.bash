# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the tests read what is set here; helpers.bash sets root, here and ns
# Shared by the bats files that need a real node: one for all of them, with an operator for each.
load helpers
# shellcheck source=test/cluster/lib.sh
. "$here/lib.sh"

: "${DL_OPERATOR:=$(dirname "$DLJOB")/dl-operator}"
# The one image of the node.
image=localhost/busybox:test

# The cluster with a real node that the files of a run share, beside that of the other files; whoever comes first starts
# it, and setup_suite.bash ends it. NODE_DIR names one that is there already. `dljob local` has a node and an operator,
# and runs pods of the image in a tree with the same files.
node_with_operator() {
  if on_this_machine; then
    export NODE_LOG=$CLUSTER_DIR/log
    return
  fi
  export NODE_DIR=${NODE_DIR:-$BATS_SUITE_TMPDIR/node}
  [ -e "$NODE_DIR/kubeconfig" ] || start_node_cluster || return 1
  use_node
  install_crds
  give_rights
  with_rights --metrics-bind-address=127.0.0.1:0 --health-probe-bind-address=127.0.0.1:0 >"$NODE_LOG" 2>&1 3>&- &
  export OPERATOR=$!
}

end_operator_of_node() {
  on_this_machine && return
  kill "$OPERATOR" && wait "$OPERATOR" || echo "# dl-operator ended with $?" >&3
}

# node_alone: one that nobody has used, without an operator; end_node NAME puts its logs into $CLUSTER_LOGS-NAME.
node_alone() {
  export NODE_DIR=$BATS_FILE_TMPDIR/node
  start_node_cluster || return 1
  use_node
}

end_node() {
  "$here/down" --keep-logs "$NODE_DIR"
  [ -z "${CLUSTER_LOGS:-}" ] || cp -r "$NODE_DIR" "$CLUSTER_LOGS-$1"
}

start_node_cluster() {
  "$here/up" "$NODE_DIR" --node --while "${CLUSTER_WHILE:-$$}" 3>&-
}

use_node() {
  export KUBECONFIG=$NODE_DIR/kubeconfig
  NODE_LOG=$NODE_DIR/log/dl-operator-$(basename "$BATS_TEST_FILENAME" .bats).log
  export NODE_LOG
}

# at_node COMMAND…: where the pods' processes can be seen and their addresses reached.
at_node() {
  if on_this_machine; then
    "$@"
  else
    in_node "$NODE_DIR" "$@"
  fi
}

# in_containers COMMAND <job.json: every replica runs it in our image. /tmp is its own: on this machine all pods share
# the files of an image.
in_containers() {
  jq --arg image "$image" --arg command "$1" '
    (.spec | .. | objects | select(.containers?)) |= (del(.hostNetwork) + {terminationGracePeriodSeconds: 1}
      | .volumes += [{name: "own-tmp", emptyDir: {}}]
      | .containers[] |= (del(.args, .resources)
        + {image: $image, imagePullPolicy: "Never", command: ["sh", "-c", $command]}
        | .volumeMounts += [{name: "own-tmp", mountPath: "/tmp"}]))'
}

# create JOB.json: its name, as kubectl takes it.
create() {
  kubectl -n "$ns" create -f "$1" >&2
  job_in "$1"
}

# ended JOB CONDITION: waits for the end; if it is another one, what happened.
ended() {
  kubectl -n "$ns" wait --for=condition="$2" --timeout=180s "$1" || {
    kubectl -n "$ns" get "$1" -o json | jq .status
    kubectl -n "$ns" get pods -o wide
    kubectl -n "$ns" get events --sort-by=.lastTimestamp | tail -n 30
    kubectl -n "$ns" get pods -o name | xargs -n 1 kubectl -n "$ns" logs --prefix --tail=5
    tail -n 5 "$NODE_LOG"
    return 1
  }
}

record() { # record JOB JQ: of status.dlOperator
  kubectl -n "$ns" get "$1" -o json | jq -c ".status.dlOperator | $2"
}

# kept <job.json: all pods stay after its end, for their logs.
kept() {
  jq 'if .apiVersion == "mpba.fbk.eu/v1" then
      .metadata.annotations["dl-operator.mpba.fbk.eu/policy"] |= (. // "") + "\ncleanPods: None\n"
    else del(.spec.cleanPodPolicy) | .spec.policy.cleanPods = "None" end'
}

# A job of each kind, whose replicas must find each other by name: all end well.
one_of_each_kind() {
  local replica f job mx tf role host
  replica=$(cat "$here/replica.sh")
  for f in mpba-mxjob/linear fioravanzo-mxjob/linear-dist mlkube-tfjob/distributed aitrainingjob/pserver-trainer; do
    # The kind's own PS would be a TensorFlow.
    example "$f" | jq 'if .kind == "TfJob" then .spec.replicaSpecs[2].template = .spec.replicaSpecs[1].template
      else . end' | kept | in_containers "$replica" >job.json
    create job.json >>jobs.list
  done
  example mpba-tfjob/ps-worker | in_containers "$replica" >job.json
  create job.json >>jobs.list
  is "$(wc -l <jobs.list)" "$(dljob crds -o json | jq '.items | length')"
  while read -r job; do
    ended "$job" Complete
    is "$(record "$job" '[.phase, .restarts // 0]')" '["Succeeded",0]'
  done <jobs.list
  # What still ran is gone where nothing else was asked for; who has ended stays.
  eventually 60 pods_are job_name=mnist "pod/worker-mnist-0 pod/worker-mnist-1"
  # Who was answered by whom. The random part of names comes from labels.
  mx=$(pod_of fioravanzo.org,job_type=SCHEDULER)
  tf=$(pod_of mlkube.io,job_type=MASTER)
  tf=${tf#example-job-master-}
  said scheduler-test02-0 "greeted by 2"
  said worker-test02-0 "scheduler-test02-0-service:9000: welcome worker-test02-0, says scheduler-test02-0"
  said worker-mnist-0 "ps-mnist-0-service:2222: welcome worker-mnist-0, says ps-mnist-0"
  said worker-mnist-1 "ps-mnist-0-service:2222: welcome worker-mnist-1, says ps-mnist-0"
  said "$mx" "greeted by 2"
  said "$(pod_of fioravanzo.org,job_type=WORKER)" "${mx%-?????}:9000: welcome"
  said "example-job-master-$tf" "greeted by 1"
  for role in "ps-$tf" "ps-${tf%0}1" "master-$tf"; do
    said "example-job-worker-$tf" "example-job-$role:2222: welcome example-job-worker-$tf, says example-job-$role"
  done
  said demo-trainer-3 "demo-trainer-3.$ns is me"
  for host in demo-pserver-0.$ns:4444 demo-pserver-0.$ns:5555 demo-pserver-1.$ns:4444 demo-pserver-1.$ns:5555; do
    said demo-trainer-0 "$host: welcome demo-trainer-0, says ${host%%.*}"
  done
  kubectl -n "$ns" delete dljobs --all --wait=false
}

pods_are() { # pods_are LABELS NAMES
  is "$(kubectl -n "$ns" get pods -l "$1" -o name | paste -s -d ' ')" "$2"
}

pod_of() { # pod_of LABELS: its name
  kubectl -n "$ns" get pods -l "$1" -o 'jsonpath={.items[0].metadata.name}'
}

said() { # said POD TEXT
  has "$(kubectl -n "$ns" logs "$1")" "$2"
}
