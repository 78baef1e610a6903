# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the tests read what is set here; helpers.bash sets root, here and ns
# Shared by the bats files that need a real node: one for each file, with dl-operator beside it.
load helpers
# shellcheck source=test/cluster/lib.sh
. "$here/lib.sh"

: "${DL_OPERATOR:=$(dirname "$DLJOB")/dl-operator}"
# The one image of the node.
image=localhost/busybox:test

# A cluster of its own, beside that of the other files. NODE_DIR names one that is there already. `dljob local` has a
# node and an operator, and runs pods of the image in a tree with the same files.
node_with_operator() {
  if on_this_machine; then
    export NODE_LOG=$CLUSTER_DIR/log
    return
  fi
  if [ -z "${NODE_DIR:-}" ]; then
    export NODE_DIR=$BATS_FILE_TMPDIR/node NODE_OURS=yes
    "$here/up" "$NODE_DIR" --node --while "${CLUSTER_WHILE:-$$}" 3>&- || return 1
  fi
  export KUBECONFIG=$NODE_DIR/kubeconfig NODE_LOG=$NODE_DIR/log/dl-operator.log
  install_crds
  "$DL_OPERATOR" --metrics-bind-address=127.0.0.1:0 --health-probe-bind-address=127.0.0.1:0 \
    >"$NODE_LOG" 2>&1 3>&- &
  export OPERATOR=$!
}

# end_node_with_operator NAME: its logs go to $CLUSTER_LOGS-NAME.
end_node_with_operator() {
  on_this_machine && return
  kill "$OPERATOR" && wait "$OPERATOR" || echo "# dl-operator ended with $?" >&3
  if [ -n "${NODE_OURS:-}" ]; then
    "$here/down" --keep-logs "$NODE_DIR"
    [ -z "${CLUSTER_LOGS:-}" ] || cp -r "$NODE_DIR" "$CLUSTER_LOGS-$1"
  fi
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
