#!/usr/bin/env bats
# shellcheck disable=SC2154 # the helpers set root, ns, image, out and err
# bats file_tags=node
# dl-operator and a real node: replicas in containers, which find each other by name.
load node_helpers

setup_file() {
  node_with_operator
}

teardown_file() {
  end_operator_of_node
}

teardown() {
  kill_started
}

# bats test_tags=local,version
@test "one job of each kind: the replicas find each other and end" {
  one_of_each_kind
}

# bats test_tags=local,version
@test "dljob logs: all replicas, over a restart, until the job has ended" {
  # shellcheck disable=SC2016 # for the containers
  tfjob talk 1 "  policy: {cleanPods: None, restart: {backoff: {initialSeconds: 0}}}" | yaml_to_json | jq '.[0]' |
    in_containers 'echo "$HOSTNAME begins"
      case $HOSTNAME in
      *master*) nc -l -p 2222 </dev/null && echo ends ;;
      *) sleep 1 && echo fails >&2 && exit 137 ;;
      esac' >job.json
  create job.json
  "$DLJOB" logs -q -n "$ns" -f talk >followed 2>&1 3>&- &
  echo $! >logs.pid
  eventually 120 failed_twice
  end_master
  status=0
  timeout 120 tail --pid="$(cat logs.pid)" -f /dev/null
  wait "$(cat logs.pid)" || status=$?
  is "$status" 0
  is "$(grep -c 'master-0 | .* begins' followed)" 1
  is "$(grep 'master-0 | ' followed | tail -n 1)" "master-0 | ends"
  # The first run and the one after the restart.
  [ "$(grep -c 'worker-0 | .* begins' followed)" -ge 2 ]
  # Afterwards the last run of each is there.
  is "$(dljob logs -q -n "$ns" talk --role master --tail 1)" "master-0 | ends"
  is "$(dljob logs -n "$ns" talk --role master --tail 1 -o json | jq -r .text)" ends
  split dljob logs -q -n "$ns" talk --previous
  if on_this_machine; then
    is "$(grep -v begins <<<"$out")" "worker-0 | fails"
  else
    is "$status" 1
  fi
  kubectl -n "$ns" delete dljobs --all --wait=false
}

failed_twice() {
  [ "$(grep -c 'worker-0 | fails' followed)" -ge 2 ]
}

# The master waits for somebody who calls.
end_master() {
  local ip
  ip=$(kubectl -n "$ns" get pods -l job_type=MASTER -o 'jsonpath={.items[0].status.podIP}')
  eventually 60 at_node busybox nc -w 5 "$ip" 2222 </dev/null
}

# bats test_tags=local
@test "an exit code that is worth another try: the replica starts again" {
  # shellcheck disable=SC2016 # for the container
  example aitrainingjob/paddle-mnist | kept | in_containers '
    echo "run $TRAININGJOB_REPLICA_RESTARTCOUNT"
    [ "$TRAININGJOB_REPLICA_RESTARTCOUNT" != 0 ] || exit 137' >job.json
  job=$(create job.json)
  ended "$job" Complete
  record "$job" .
  is "$(record "$job" '[.phase, .restarts]')" '["Succeeded",1]'
  is "$(kubectl -n "$ns" logs paddle-mnist-trainer-0)" "run 1"
}

# bats test_tags=local
@test "an exit code that is not: the job has failed, and says with which" {
  # shellcheck disable=SC2016 # for the container
  tfjob wrong 1 | yaml_to_json | jq '.[0]' | in_containers '
    case $TF_CONFIG in *\"type\":\"master\"*) exit 3 ;; esac
    sleep infinity' >job.json
  job=$(create job.json)
  ended "$job" Failed
  record "$job" .
  is "$(record "$job" '[.phase, .restarts]')" '["Failed",0]'
  has "$(record "$job" .reason)" "master-0 exited with code 3"
}

# bats test_tags=local,version
@test "a job that is deleted while it runs: its containers end" {
  tfjob runs 2 | yaml_to_json | jq '.[0]' | in_containers "exec sleep $((123456 + CLUSTER_RUN))" >job.json
  job=$(create job.json)
  kubectl -n "$ns" wait --for=condition=Running --timeout=120s "$job"
  is "$(sleeping | wc -l)" 3
  kubectl -n "$ns" delete "$job" --timeout=60s
  eventually 90 nobody_sleeps
}

sleeping() {
  at_node pgrep -fx "sleep $((123456 + CLUSTER_RUN))"
}

nobody_sleeps() {
  is "$(sleeping || true)" ""
}

# What is left of a node on this machine: traces LINK NAMESPACES DIR
traces() {
  local link=$1 namespaces=$2 dir=$3 ns
  ls -d "/sys/class/net/$link"* 2>/dev/null || true
  find /sys/fs/cgroup -maxdepth 3 -name "$link" 2>/dev/null
  for ns in $namespaces; do
    find /proc/[0-9]*/ns -lname "$ns" 2>/dev/null || true
    grep -F "$ns" /proc/self/mountinfo || true
  done
  grep -F " $dir" /proc/self/mountinfo || true
  ls -d "$dir/node" "$dir/proc" "$dir/config" 2>/dev/null || true
}

# Where programs of a node write, unless it has a disk of its own; and what kube-proxy would leave.
machine() {
  ls -d /opt/containerd /var/lib/cni/* /var/lib/kubelet/* /var/log/containers/* /var/log/pods/* \
    /run/containerd/* /run/netns/cni-* /run/runc/* 2>/dev/null || true
  iptables-save | grep -c KUBE || true
  cat /proc/sys/net/ipv4/ip_forward
}

# namespaces PID…: of processes, as /proc names them.
namespaces() {
  for pid; do
    readlink "/proc/$pid/ns/net" "/proc/$pid/ns/mnt" "/proc/$pid/ns/pid"
  done | sort -u | grep -vFx "$(readlink /proc/self/ns/net /proc/self/ns/mnt /proc/self/ns/pid)"
}

nothing_left() {
  is "$(traces "$@")" ""
}

@test "down leaves nothing of a node, though its programs were killed" {
  machine >before
  "$here/up" "$PWD/second" --node 3>&-
  export KUBECONFIG=$PWD/second/kubeconfig
  new_namespace left
  # Another run of these tests may be on this machine.
  sleep="sleep $((1000000 + CLUSTER_RUN))"
  # shellcheck disable=SC2086 # two words
  kubectl -n left run pod --image="$image" --image-pull-policy=Never --restart=Never -- $sleep
  kubectl -n left wait --for=condition=Ready --timeout=120s pod/pod
  # The number of a process here: those in containers are children of this machine, too.
  pod=$(pgrep -fx "$sleep")
  spaces=$(namespaces "$pod" "$(pid_of "$PWD/second" node)")
  is "$(echo "$spaces" | wc -l)" 6
  link=$(cat second/config/node)
  [ "$(traces "$link" "$spaces" "$PWD/second" | wc -l)" -gt 10 ]
  for name in containerd kubelet kube-proxy coredns; do
    kill -KILL "$(pid_of "$PWD/second" $name)"
  done
  "$here/down" "$PWD/second"
  nothing_left "$link" "$spaces" "$PWD/second"
  [ ! -e second ]
  machine | diff before -
  # The other node goes on.
  KUBECONFIG=$NODE_DIR/kubeconfig kubectl get node node-0
}

@test "a node whose up was killed half-way: down leaves nothing" {
  "$here/up" "$PWD/half" --node 3>&- &
  up=$!
  eventually 120 test -s half/run/containerd.pid
  kill -KILL $up
  spaces=$(namespaces "$(pid_of "$PWD/half" node)")
  link=$(cat half/config/node)
  kill -KILL "$(pid_of "$PWD/half" node)"
  eventually 30 ended_all "$PWD/half"
  "$here/down" "$PWD/half"
  nothing_left "$link" "$spaces" "$PWD/half"
}

# Nothing runs on a node whose first process is gone.
ended_all() {
  for name in containerd kubelet kube-proxy coredns; do
    is "$(pid_of "$1" $name || true)" ""
  done
}

@test "a node whose up is stopped half-way leaves nothing" {
  "$here/up" "$PWD/half" --node 3>&- &
  up=$!
  eventually 120 test -s half/run/containerd.pid
  spaces=$(namespaces "$(pid_of "$PWD/half" node)")
  link=$(cat half/config/node)
  kill $up
  wait $up || stopped=$?
  is "$stopped" 130
  nothing_left "$link" "$spaces" "$PWD/half"
}

# bats test_tags=version
@test "dljob logs --archive: what restarts and clean-up remove is kept, each line once" {
  # shellcheck disable=SC2016 # for the containers
  tfjob kept 1 "  policy: {cleanPods: All, restart: {backoff: {initialSeconds: 0}}}" | yaml_to_json | jq '.[0]' |
    in_containers 'echo "$HOSTNAME begins"
      case $HOSTNAME in
      *master*) nc -l -p 2222 </dev/null && echo ends ;;
      *) i=0; while [ $i -lt 300 ]; do echo "line $i"; i=$((i + 1)); [ $((i % 100)) != 0 ] || sleep 1; done; exit 137 ;;
      esac' >job.json
  create job.json
  keep() {
    "$DLJOB" logs -q -n "$ns" --all -f --archive kept >keep.out 2>&1 3>&- &
    echo $! >keep.pid
  }
  keep
  first_line() { grep -q "line 0" kept/*/*/kept/*/worker-0/0.*.log; }
  eventually 120 first_line
  kill -KILL "$(cat keep.pid)"
  wait "$(cat keep.pid)" || true
  keep
  second_is_whole() { grep -q "line 299" kept/*/*/kept/*/worker-0/1.*.log; }
  eventually 180 second_is_whole
  end_master
  ended tfjob.mlkube.io/kept Complete
  no_pods() { is "$(kubectl -n "$ns" get pods -o name)" ""; }
  eventually 120 no_pods
  ends() { grep -q ends kept/*/*/kept/*/master-0/0.*.log; }
  eventually 120 ends
  kill "$(cat keep.pid)"
  wait "$(cat keep.pid)"
  for generation in 0 1; do
    sed 's/^[^ ]* //; 1d' kept/*/*/kept/*/worker-0/$generation.*.log >texts
    seq -f 'line %g' 0 299 | cmp - texts
  done
  has "$("$DLJOB" logs kept --from kept --role master)" "ends"
}

# bats test_tags=version
@test "TensorBoard runs as restricted pods do, and answers where the status says" {
  kubectl label namespace "$ns" pod-security.kubernetes.io/enforce=restricted
  # The image has a web server of its own to play with.
  kubectl -n "$ns" create configmap program --from-literal=tensorboard='#!/bin/sh
echo "$*" >/tmp/index.html
exec httpd -f -p 6006 -h /tmp'
  trainers curves "sleep 100000" 1 "  policy: {tensorboard: {logDir: /logs, image: $image,
    volumes: [{name: program, configMap: {name: program, defaultMode: 0555}}],
    volumeMounts: [{name: program, mountPath: /bin/tensorboard, subPath: tensorboard}]}}" "            securityContext:
              {runAsNonRoot: true, runAsUser: 1000, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]},
              seccompProfile: {type: RuntimeDefault}}" |
    yaml_to_json | jq '.[0]' | in_containers "sleep 100000" >job.json
  job=$(create job.json)
  kubectl -n "$ns" wait --for=condition=Running --timeout=120s "$job"
  eventually 120 has_board "$job"
  address=$(record "$job" .tensorboard | jq -r .)
  is "$(kubectl -n "$ns" exec curves-trainer-0 -- wget -qO- "$address/")" "--logdir /logs --host 0.0.0.0 --port 6006"
  kubectl -n "$ns" delete "$job" --timeout=60s
}

has_board() { # has_board JOB
  [ "$(record "$1" .tensorboard)" != null ]
}

@test "the image runs as nobody in particular, reads only, and finds the API server by name" {
  BUILD=$(dirname "$DLJOB") "$root/deploy/image/rootfs.sh" "$PWD/root"
  TAG=node IMAGE=localhost/dl-operator "$root/deploy/image/archive.sh" root image.tar
  at_node ctr -n k8s.io images import "$PWD/image.tar"
  kubectl -n "$ns" create rolebinding admin --clusterrole=cluster-admin --serviceaccount="$ns:default"
  kubectl label namespace "$ns" pod-security.kubernetes.io/enforce=restricted
  tfjob seen 0 "  policy: {suspend: true}" | kubectl -n "$ns" create -f -
  kubectl -n "$ns" create -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: image}
spec:
  restartPolicy: Never
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: main
    image: localhost/dl-operator:node
    imagePullPolicy: Never
    command: [/usr/bin/dljob, list, -n, $ns]
    env: [{name: KUBERNETES_SERVICE_HOST, value: kubernetes.default.svc}]
    securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
YAML
  kubectl -n "$ns" wait --for=jsonpath='{.status.phase}'=Succeeded --timeout=120s pod/image ||
    { kubectl -n "$ns" get pod image -o json | jq .status; kubectl -n "$ns" logs image; return 1; }
  said image "in-cluster (https://kubernetes.default.svc:443)"
  said image "seen"
}

@test "a node ends with the process for which it was started" {
  sleep 1000 3>&- &
  owner=$!
  "$here/up" "$PWD/third" --node --while $owner 3>&-
  spaces=$(namespaces "$(pid_of "$PWD/third" node)")
  link=$(cat third/config/node)
  kill -KILL $owner
  eventually 60 nothing_left "$link" "$spaces" "$PWD/third"
  [ -s third/log/kubelet.log ]
}

# without WHAT SCRIPT: a program of that name, which stands before the machine's own.
without() {
  mkdir -p bin
  { echo '#!/bin/sh'; echo "$2"; } >"bin/$1"
  chmod +x "bin/$1"
}

@test "what the machine lacks is said in one line, and nothing is started" {
  # A program that fails | when it is asked this | what is said
  while IFS='|' read -r program asked said; do
    real=$(command -v "$program")
    without "$program" "case \"\$*\" in $asked) exit 1 ;; esac; exec $real \"\$@\""
    split env PATH="$PWD/bin:$PATH" "$here/up" "$PWD/lacks" --node
    is "$status" 1
    has "$err" "$said"
    is "$(echo "$err" | wc -l)" 1
    is "$(find lacks -name '*.pid')" ""
    rm -r bin lacks
  done <<'TABLE'
unshare|*true|a real node needs namespaces of its own
mount|*overlay*|a real node needs overlayfs
ip|*bridge*|a real node needs bridges
iptables|*|a real node needs iptables
TABLE
  without id 'echo 1000'
  refused "a real node needs root" env PATH="$PWD/bin:$PATH" "$here/up" "$PWD/lacks" --node
  refused "has /run, /var/lib and /var/log of its own" "$here/up" "/run/dl-operator-test-$$" --node
  [ ! -e "/run/dl-operator-test-$$" ]
}

@test "a folder of old, whose bridge is another cluster's by now: down leaves that alone" {
  mkdir -p old/config
  touch old/.cluster
  cp "$NODE_DIR/config/node" old/config/node
  "$here/down" "$PWD/old"
  [ ! -e old ]
  kubectl get --raw /readyz
  is "$(cat "/sys/class/net/$(cat "$NODE_DIR/config/node")/ifalias")" "$NODE_DIR"
}
