#!/usr/bin/env bats
# shellcheck disable=SC2154 # the helpers set root, out and err
# bats file_tags=apart
# kubectl's everyday verbs on the API of the local cluster: the machine's kubectl, and the newest. The real cluster that
# the other files share is not asked.
load ../e2e/helpers
load ../e2e/local-api

setup_file() {
  KUBECTL_NEWEST=$("${BATS_TEST_DIRNAME}/../../scripts/kube-deps.sh" --local)/kubectl
  export KUBECTL_NEWEST
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  start_api
}

teardown() {
  kill_started
}

# k: the kubectl that is tried.
k() { "$kubectl" "$@"; }

# with_each FUNCTION: once for each kubectl, each time with a new store.
with_each() {
  kubectl=kubectl
  "$1"
  stop_api
  rm -r api "$KUBECACHEDIR"
  rm api.out
  start_api
  kubectl=$KUBECTL_NEWEST
  "$1"
  stop_api
}

pod() {
  cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: $1}}
spec: {containers: [{name: c, image: i, command: [sleep, "9"]}]}
YAML
}

# running POD
running() {
  k patch pod "$1" --subresource=status --type=merge -p '{"status":{"phase":"Running","podIP":"10.1.2.3","conditions":[
    {"type":"Ready","status":"True"}],"containerStatuses":[{"name":"c","ready":true,"restartCount":2,
    "state":{"running":{}}}]}}'
}

jobs() {
  tfjob one 2 >job.yaml
  has "$(k create -f job.yaml)" 'tfjob.mlkube.io/one created'
  has "$(k create -f job.yaml 2>&1 || true)" AlreadyExists
  k delete -f job.yaml
  has "$(k apply -f job.yaml)" created
  has "$(k apply -f job.yaml)" unchanged
  tfjob one 3 >job3.yaml
  has "$(k diff -f job3.yaml || true)" '+  - replicas: 3'
  has "$(k apply -f job3.yaml)" configured
  is "$(k get tfjobs.mlkube.io one -o jsonpath='{.spec.replicaSpecs[1].replicas}')" 3
  has "$(k get dljobs | tr -s ' ')" 'NAME STATE REASON PODS RESTARTS AGE'
  is "$(k get dljobs -o name)" tfjob.mlkube.io/one
  k patch tfjobs.mlkube.io one --subresource=status --type=merge \
    -p '{"status":{"conditions":[{"type":"Complete","status":"True"}],"dlOperator":{"phase":"Succeeded","restarts":4}}}'
  has "$(k get tfjobs.mlkube.io | tr -s ' ')" 'one Succeeded 4 '
  has "$(k wait --for=condition=Complete tfjobs.mlkube.io/one --timeout=60s)" 'condition met'
  has "$(k describe tfjobs.mlkube.io one)" 'Phase:     Succeeded'
  has "$(k explain tfjobs.mlkube.io.spec)" replicaSpecs
  has "$(k replace -f job.yaml)" replaced
  refuse 'no server-side apply' apply --server-side -f job.yaml
  refuse "use 'dljob scale --local one ROLE=N'" scale tfjobs.mlkube.io one --replicas=2
  refuse 'strategic-merge-patch+json is not supported' patch tfjobs.mlkube.io one --type=strategic -p '{}'
  has "$(k delete tfjobs.mlkube.io --all)" deleted
}

# refuse WHAT ARGUMENT…: kubectl fails and says WHAT.
refuse() {
  local what=$1
  shift
  split k "$@"
  [ "$status" -ne 0 ]
  has "$err" "$what"
}

@test "jobs: create, apply, get, patch, wait, describe, explain, replace, delete" {
  with_each jobs
}

pods() {
  pod a | k apply -f -
  running a
  has "$(k get pods)" 'NAME   READY   STATUS    RESTARTS   AGE'
  has "$(k get po | tr -s ' ')" 'a 1/1 Running 2 '
  has "$(k get pods -o wide | tr -s ' ')" '10.1.2.3 <none> <none> <none>'
  has "$(k get all)" 'pod/a'
  has "$(k get pods -A | tr -s ' ')" 'default a 1/1'
  has "$(k get pod a -o yaml)" 'command:'
  is "$(k get pod -o jsonpath='{.items[*].metadata.name}')" a
  is "$(k get pods -l app=a -o name)$(k get pods -l app=b -o name)" pod/a
  is "$(k get pods --field-selector status.phase=Running -o name)" pod/a
  is "$(k get pods --chunk-size=1 -o name)" pod/a
  k label pod a x=y
  k annotate pod a note=here
  has "$(k get pods --show-labels)" 'app=a,x=y'
  has "$(k get pods -L x)" y
  k patch pod a -p '{"metadata":{"labels":{"x":null}}}'
  k patch pod a --type=json -p '[{"op":"add","path":"/metadata/labels/z","value":"1"}]'
  has "$(k get pods --show-labels)" 'app=a,z=1'
  EDITOR="sed -i 's/note: here/note: there/'" k edit pod a
  is "$(k get pod a -o jsonpath='{.metadata.annotations.note}')" there
  k create -f - <<YAML
apiVersion: v1
kind: Event
metadata: {name: e}
involvedObject:
  {apiVersion: v1, kind: Pod, name: a, namespace: default, uid: $(k get pod a -o jsonpath='{.metadata.uid}')}
type: Warning
reason: Tried
message: it was tried
source: {component: test}
firstTimestamp: 2026-01-02T03:04:05Z
lastTimestamp: 2026-01-02T03:04:05Z
count: 1
YAML
  has "$(k describe pod a)" 'it was tried'
  has "$(k get events --sort-by=.lastTimestamp)" 'it was tried'
  has "$(k get events | tr -s ' ')" 'Warning Tried pod/a it was tried'
  has "$(k events)" 'it was tried'
  has "$(k delete pod a --now 2>&1)" deleted
  pod a | k create -f -
  has "$(k delete pod a --grace-period=0 --force 2>&1)" deleted
  for p in b c d; do
    pod $p | k create -f -
  done
  has "$(k delete pods -l app=b)" '"b" deleted'
  k delete pod c --dry-run=server
  is "$(k get pods -o name | sort | tr '\n' ,)" pod/c,pod/d,
  k delete pods --all
  is "$(k get pods -o name)" ''
}

@test "pods: get in every form, label, patch, edit, describe with events, delete" {
  with_each pods
}

# Each line of a watch comes by itself.
watched() {
  pod a | k create -f -
  k get pods -w >seen 2>&1 3>&- &
  echo $! >watch.pid
  eventually 60 grep -q Pending seen
  running a
  eventually 60 grep -q Running seen
  k wait --for=delete pod/a --timeout=60s >waited 3>&- &
  waiting=$!
  k wait --for=jsonpath='{.status.phase}'=Running pod/a --timeout=60s
  k delete pod a
  wait $waiting
  eventually 60 grep -q Terminating seen
  kill "$(cat watch.pid)"
  wait "$(cat watch.pid)" || true
  rm watch.pid
  is "$(grep -c NAME seen)" 1
}

@test "get -w shows rows as they change; wait sees an end" {
  with_each watched
}

logged() {
  pod a | k create -f -
  dir=api/pods/$(k get pod a -o jsonpath='{.metadata.uid}')/logs/c
  refuse 'is waiting to start' logs a
  mkdir -p "$dir"
  echo '2026-01-02T03:04:00.678901234Z stdout F before' >"$dir/0.log"
  echo '2026-01-02T03:04:01.678901234Z stdout F one' >"$dir/1.log"
  echo '2026-01-02T03:04:02.678901234Z stderr F two' >>"$dir/1.log"
  is "$(k logs a)" $'one\ntwo'
  is "$(k logs a -c c --tail=1 --timestamps)" '2026-01-02T03:04:02.678901234Z two'
  is "$(k logs a --since=1s)" ''
  is "$(k logs a --previous)" before
  is "$(k logs -l app=a)" $'one\ntwo'
  k logs -f a >followed 3>&- &
  following=$!
  eventually 60 grep -q two followed
  echo '2026-01-02T03:04:03.678901234Z stdout F three' >>"$dir/1.log"
  eventually 60 grep -q three followed
  k patch pod a --subresource=status --type=merge -p '{"status":{"phase":"Succeeded"}}'
  wait $following
  is "$(cat followed)" $'one\ntwo\nthree'
}

@test "logs, followed to the container's end" {
  with_each logged
}

others() {
  k create namespace team
  k create configmap c --from-literal=a=b --from-file=bin=<(printf '\377')
  is "$(k get configmap c -o jsonpath='{.data.a}{.binaryData.bin}')" 'b/w=='
  k create secret generic s --from-literal=a=b
  has "$(k get secrets | tr -s ' ')" 's Opaque 1'
  has "$(k get ns)" team
  k delete ns team
  k create -f - <<'YAML'
apiVersion: v1
kind: Node
metadata: {name: node}
status:
  conditions: [{type: Ready, status: "True"}]
  addresses: [{type: InternalIP, address: 10.0.0.1}]
  nodeInfo: {kubeletVersion: v1}
---
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {clusterIP: None, ports: [{port: 80}]}
YAML
  has "$(k get nodes -o wide | tr -s ' ')" 'node Ready <none> '
  has "$(k describe node node)" InternalIP
  has "$(k get svc | tr -s ' ')" 's ClusterIP None <none> 80/TCP'
  has "$(k get crd)" tfjobs.mlkube.io
  has "$(k api-resources)" tfjobs
  has "$(k api-versions)" mlkube.io/v1beta1
  has "$(k version 2>&1)" +dljob
  has "$(k cluster-info)" 'is running at https://127.0.0.1:'
  is "$(k auth can-i create pods)" yes
  is "$(k get --raw /readyz)" ok
  pod a | k create -f -
  running a
  refuse "use 'dljob exec --local'" exec a -- true
  refuse "use 'dljob port-forward --local'" port-forward pod/a 8080:80
  refuse 'no attach' attach a
}

@test "namespaces, configmaps, secrets, nodes, services; what the server is; what is left out" {
  with_each others
}

unknown() {
  # As lines: some kubectl take what begins with a brace for JSON.
  for yaml in $'apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: x}' \
    $'apiVersion: v1\nkind: Nothing\nmetadata: {name: x}'; do
    for verb in apply create delete; do
      out=$(k $verb -f - <<<"$yaml" 2>&1) && return 1
      has "$out" 'no matches for kind'
    done
  done
}

@test "a kind that is not served: no matches for kind" {
  with_each unknown
}

drained() {
  k create -f - <<YAML
apiVersion: v1
kind: Node
metadata: {name: here}
YAML
  pod a | sed 's/spec: {/spec: {nodeName: here, /' | k create -f -
  out=$(k drain here --force --grace-period=0 --timeout=60s -v=6 2>&1)
  has "$out" /pods/a/eviction
  has "$out" 'node/here drained'
  is "$(k get pods -o name)" ""
  is "$(k get node here -o jsonpath='{.spec.unschedulable}')" true
  has "$(k uncordon here)" uncordoned
  is "$(k get node here -o jsonpath='{.spec.unschedulable}')" ""
}

@test "drain and uncordon" {
  with_each drained
}
