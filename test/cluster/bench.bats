#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, ns, out and err
# The test bench itself: up, down, and what kwok makes of pods.
load helpers
# shellcheck source=test/cluster/lib.sh
. "$here/lib.sh"

# A pod with these annotations: pod NAME 'fake/exit: "3"' …
pod() {
  local name=$1
  shift
  {
    printf 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  annotations:\n    a: b\n' "$name"
    [ $# = 0 ] || printf '    %s\n' "$@"
    printf 'spec:\n  restartPolicy: Never\n  containers:\n  - {name: one, image: img}\n  - {name: two, image: img}\n'
  } | kubectl -n "$ns" create -f -
}

# pod_is NAME JQ: true of the pod.
pod_is() {
  kubectl -n "$ns" get pod "$1" -o json | jq -e "$2"
}

pod_gone() {
  ! kubectl -n "$ns" get pod "$1"
}

# running DIR: the processes of a cluster that are there.
running() {
  for name in guard "${components[@]}"; do
    pid_of "$1" "$name" || true
  done
}

# gone PID…: none of them is there.
gone() {
  for pid; do
    ! started "$pid" || return 1
  done
}

# bats test_tags=version
@test "the versions that were asked for" {
  kubectl version -o json | jq -e --arg v "v${KUBE_VERSION:-1.36.3}" '.serverVersion.gitVersion == $v'
}

@test "everything listens on loopback, and only there" {
  for pid in $(running "$CLUSTER_DIR"); do
    # Sockets of the process, then those of them that listen.
    find "/proc/$pid/fd" -lname 'socket:*' -printf '%l\n' | tr -dc '0-9\n' | sort >inodes
    awk '$4 == "0A" { print $10, $2 }' /proc/net/tcp /proc/net/tcp6 | sort >listening
    join inodes listening >>ours
  done
  [ "$(wc -l <ours)" -ge 6 ]
  is "$(grep -v ' 0100007F:' ours || true)" ""
}

@test "the audit log: who, what, with which result" {
  kubectl -n "$ns" create configmap "audit-me"
  kubectl -n "$ns" get configmap "nobody-made-me" || true
  grep -F "\"$ns\"" "$CLUSTER_DIR/audit.log" >mine
  jq -es 'any(.verb == "create" and .objectRef.resource == "configmaps" and .objectRef.name == "audit-me"
    and .responseStatus.code == 201 and .user.username == "admin" and (.userAgent | startswith("kubectl")))' mine
  jq -es 'any(.verb == "get" and .objectRef.name == "nobody-made-me" and .responseStatus.code == 404)' mine
}

@test "an owner that one may not touch cannot be blocked" {
  kubectl -n "$ns" create configmap owner
  kubectl -n "$ns" create role maker --verb=create,get --resource=configmaps
  kubectl -n "$ns" create rolebinding maker --role=maker --user=somebody
  uid=$(kubectl -n "$ns" get configmap owner -o 'jsonpath={.metadata.uid}')
  child() {
    jq -n --arg uid "$uid" --argjson block "$1" '{apiVersion: "v1", kind: "ConfigMap", metadata: {generateName: "c-",
      ownerReferences: [{apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: $uid,
        blockOwnerDeletion: $block}]}}' >c.json
    kubectl -n "$ns" --as=somebody create -f c.json
  }
  refused "cannot set blockOwnerDeletion" child true
  child false
}

@test "pods run until they are told otherwise" {
  pod plain
  kubectl -n "$ns" wait --for=condition=Ready --timeout=120s pod/plain
  pod_is plain '.status.phase == "Running" and (.status.containerStatuses | length == 2)
    and all(.status.containerStatuses[]; .ready and .state.running.startedAt)
    and (.status.podIP | startswith("10.244."))'
  kubectl -n "$ns" annotate pod plain fake/exit=0 fake/after=0s
  eventually 120 pod_is plain '.status.phase == "Succeeded"'
}

@test "pods end with the code and the reason of their annotations" {
  pod well 'fake/exit: "0"'
  pod bad 'fake/exit: "3"' 'fake/after: 100ms'
  pod oom 'fake/exit: "137"' 'fake/after: 0s' 'fake/reason: OOMKilled'
  eventually 120 pod_is well '.status.phase == "Succeeded"'
  eventually 120 pod_is bad '.status.phase == "Failed"'
  eventually 120 pod_is oom '.status.phase == "Failed"'
  ended() {
    pod_is "$1" "all(.status.containerStatuses[]; (.state | keys) == [\"terminated\"]
      and .state.terminated.exitCode == $2 and .state.terminated.reason == \"$3\"
      and .state.terminated.startedAt <= .state.terminated.finishedAt)
      and any(.status.conditions[]; .type == \"Ready\" and .status == \"False\")"
  }
  ended well 0 Completed
  ended bad 3 Error
  ended oom 137 OOMKilled
  pod again
  kubectl -n "$ns" label pod again dl-operator.mpba.fbk.eu/generation=1
  kubectl -n "$ns" annotate pod again fake/exit=3 fake/exit-1=7
  eventually 120 pod_is again '.status.phase == "Failed"'
  ended again 7 Error
}

@test "pods that do not start, and pods that are evicted" {
  pod stuck 'fake/waiting: ImagePullBackOff'
  eventually 120 pod_is stuck '.status.phase == "Pending"
    and all(.status.containerStatuses[]; .state.waiting.reason == "ImagePullBackOff")'
  kubectl -n "$ns" annotate pod stuck fake/waiting-
  kubectl -n "$ns" wait --for=condition=Ready --timeout=120s pod/stuck
  pod_is stuck 'all(.status.containerStatuses[]; (.state | keys) == ["running"])'
  kubectl -n "$ns" annotate pod stuck fake/evict=Evicted
  eventually 120 pod_is stuck '.status.phase == "Failed" and .status.reason == "Evicted"
    and any(.status.conditions[]; .type == "DisruptionTarget" and .status == "True")'
}

@test "pods that are deleted stop first" {
  pod slow 'fake/stop-after: 1h' 'fake/stop-exit: "0"'
  kubectl -n "$ns" wait --for=condition=Ready --timeout=120s pod/slow
  kubectl -n "$ns" delete pod slow --wait=false
  pod_is slow '.status.phase == "Running" and .metadata.deletionTimestamp'
  kubectl -n "$ns" get pod slow --watch -o json --output-watch-events >events 3>&- &
  watch=$!
  eventually 120 test -s events
  kubectl -n "$ns" annotate --overwrite pod slow fake/stop-after=0s
  eventually 120 pod_gone slow
  kill $watch
  jq -es 'any(.object.status.phase == "Succeeded" and .object.metadata.deletionTimestamp)' events
  pod quick
  kubectl -n "$ns" wait --for=condition=Ready --timeout=120s pod/quick
  kubectl -n "$ns" delete pod quick --timeout=120s
}

@test "the nodes say that they live" {
  for n in 0 1 2; do
    kubectl -n kube-node-lease get lease "fake-$n" -o json | jq -e '.spec.leaseDurationSeconds == 40'
  done
}

@test "nodes go down and come back" {
  ready() {
    kubectl get node fake-2 -o json |
      jq -e --arg s "$1" 'any(.status.conditions[]; .type == "Ready" and .status == $s)'
  }
  kubectl annotate node fake-2 fake/down=Unknown
  eventually 120 ready Unknown
  kubectl annotate node fake-2 fake/down-
  eventually 120 ready True
}

@test "two clusters at once; down ends one and leaves nothing" {
  "$here/up" "$PWD/second" 3>&-
  [ "$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')" != \
    "$(KUBECONFIG=$PWD/second/kubeconfig kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')" ]
  KUBECONFIG=$PWD/second/kubeconfig kubectl get namespace default
  refused "there is a cluster" "$here/up" "$PWD/second"
  pids=$(running "$PWD/second")
  is "$(echo "$pids" | wc -l)" 4
  # The API server goes and comes back on its old port, with what it knew.
  KUBECONFIG=$PWD/second/kubeconfig kubectl create configmap kept
  stop_component "$PWD/second" kube-apiserver 10
  refused refused env KUBECONFIG="$PWD/second/kubeconfig" kubectl get configmap kept
  start_component "$PWD/second" kube-apiserver
  eventually 120 env KUBECONFIG="$PWD/second/kubeconfig" kubectl get configmap kept
  pids=$(running "$PWD/second")
  is "$(echo "$pids" | wc -l)" 4
  # Somebody who watches does not hold it up.
  KUBECONFIG=$PWD/second/kubeconfig kubectl get pods -A --watch >watched 2>&1 3>&- &
  "$here/down" "$PWD/second"
  # shellcheck disable=SC2086 # numbers
  gone $pids
  [ ! -e "$PWD/second" ]
  "$here/down" "$PWD/second"
  kubectl get namespace default
}

@test "a cluster ends with the process for which it was started" {
  sleep 1000 3>&- &
  owner=$!
  "$here/up" "$PWD/third" --while $owner 3>&-
  pids=$(running "$PWD/third")
  is "$(echo "$pids" | wc -l)" 5
  kill -KILL $owner
  # shellcheck disable=SC2086 # numbers
  eventually 120 gone $pids
  [ -s "$PWD/third/log/kube-apiserver.log" ]
}

@test "an up that is stopped half-way leaves nothing" {
  "$here/up" "$PWD/half" 3>&- &
  up=$!
  eventually 120 test -s half/run/kube-apiserver.pid
  pids=$(running "$PWD/half")
  kill $up
  wait $up || stopped=$?
  is "$stopped" 130
  # shellcheck disable=SC2086 # numbers
  gone $pids
  is "$(running "$PWD/half")" ""
}

@test "a component that does not start: the end of its log, and nothing is left" {
  # A cache where all is as it should be but etcd.
  mkdir cache
  for d in ${CLUSTER_PATH//:/ }; do
    ln -s "$d" cache/
  done
  etcd=cache/$(basename "$(dirname "$(PATH=$CLUSTER_PATH command -v etcd)")")
  rm "$etcd"
  mkdir "$etcd"
  printf '#!/bin/sh\necho no room on this disk\nexit 1\n' >"$etcd/etcd"
  chmod +x "$etcd/etcd"
  split env DL_OPERATOR_CACHE="$PWD/cache" "$here/up" "$PWD/broken"
  is "$status" 1
  has "$err" "etcd has ended"
  has "$err" "no room on this disk"
  is "$(running "$PWD/broken")" ""
  # Another try, in the same folder, is well.
  [ -d broken/log ]
}

@test "up and down: wrong use" {
  for args in "" "a b" "a --nodes" "a --nodes x" "--what a"; do
    # shellcheck disable=SC2086 # words
    split "$here/up" $args
    is "$status" 2
    has "$err" usage
  done
  mkdir full
  touch full/of-something
  refused "is not empty" "$here/up" full
  [ -e full/of-something ]
  "$here/down" full
  [ -e full/of-something ]
}
