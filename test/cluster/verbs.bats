#!/usr/bin/env bats
# shellcheck disable=SC2154 # the helpers set ns, image, status, out and err
# bats file_tags=local,node
# kubectl's everyday verbs on jobs and pods that run: the machine's kubectl, and the newest. What it shows of a pod on
# this machine must be what it shows of one on a real node.
load node_helpers

setup_file() {
  node_with_operator
  KUBECTL_NEWEST=$("$BATS_TEST_DIRNAME/../../scripts/kube-deps.sh" --local)/kubectl
  export KUBECTL_NEWEST
}

teardown_file() {
  end_operator_of_node
}

teardown() {
  kill_started
}

# k: the kubectl that is tried.
k() { "$kubectl" -n "$ns" "$@"; }

# with_each FUNCTION: once for each kubectl, each time with nothing there.
with_each() {
  for kubectl in kubectl "$KUBECTL_NEWEST"; do
    k version --client
    "$1"
    k delete dljobs,pods --all --timeout=60s
  done
}

# job WORKERS [COMMAND] on standard output: a TfJob, demo, whose replicas talk and stay.
job() {
  tfjob demo "$1" "  policy: {cleanPods: None}" | yaml_to_json | jq '.[0]' |
    in_containers "${2:-echo hello from \$HOSTNAME; exec sleep $((123456 + CLUSTER_RUN))}"
}

# runs WORKERS: demo does, with so many.
runs() {
  k wait --for=condition=Running --timeout=120s tfjob.mlkube.io/demo
  eventually 120 pods_run "$1"
}

pods_run() {
  is "$(k get pods --field-selector=status.phase=Running -l job_type=WORKER -o name | wc -l)" "$1"
}

# row COMMAND…: the line below the heading, with single blanks.
row() {
  "$@" | sed -n 2p | tr -s ' ' | sed 's/ $//'
}

jobs_and_pods() {
  local pod ip node
  job 1 >job.json
  has "$(k create -f job.json)" "tfjob.mlkube.io/demo created"
  refused AlreadyExists k create -f job.json
  runs 1
  is "$(k get tfjobs.mlkube.io demo | head -n 1 | tr -s ' ')" "NAME STATE REASON PODS RESTARTS AGE"
  has "$(row k get tfjobs.mlkube.io demo)" "demo Running 2 running 2/2 0 "
  has "$(k get dljobs)" demo
  pod=$(k get pods -l job_type=WORKER -o 'jsonpath={.items[0].metadata.name}')
  ip=$(k get pod "$pod" -o 'jsonpath={.status.podIP}')
  node=$(k get nodes -o 'jsonpath={.items[0].metadata.name}')
  [ -n "$ip" ]
  has "$(row k get pod "$pod")" "$pod 1/1 Running 0 "
  has "$(row k get pod "$pod" -o wide)" " $ip $node <none> <none>"
  is "$(k get pod "$pod" -o yaml | yaml_to_json | jq -r '.[0].status.podIP')" "$ip"
  is "$(k get tfjob.mlkube.io demo -o yaml | yaml_to_json | jq -c '.[0].spec')" \
    "$(k get tfjob.mlkube.io demo -o json | jq -c .spec)"
  is "$(k get pods -l job_type=WORKER -o name)" "pod/$pod"
  # Described, with what happened to them.
  eventually 60 described "SuccessfulCreate .* dl-operator .*Created .*demo-" tfjob.mlkube.io demo
  has "$(tr -s ' ' <described)" "Phase: Running"
  eventually 60 described 'Scheduled .*Successfully assigned' pod "$pod"
  eventually 60 described 'Started ' pod "$pod"
  has "$(cat described)" "$ip"
  has "$(tr -s ' ' <described)" "Controlled By: TfJob/demo"
  has "$(tr -s ' ' <described)" "State: Running"
  has "$(tr -s ' ' <described)" "Node: $node/"
  k get events --field-selector "involvedObject.name=$pod" >events.txt
  grep -q "Normal  *Started  *pod/$pod " events.txt
  has "$(k events --for "pod/$pod")" Started
  # Changed.
  has "$(k label tfjob.mlkube.io demo team=vision)" labeled
  has "$(k annotate tfjob.mlkube.io demo note='for the record')" annotated
  is "$(k get dljobs -l team=vision -o 'jsonpath={.items[*].metadata.annotations.note}')" "for the record"
  k label pod "$pod" seen=yes
  has "$(k get pods -L seen)" yes
  has "$(k patch tfjob.mlkube.io demo --type=json \
    -p '[{"op": "replace", "path": "/spec/replicaSpecs/1/replicas", "value": 2}]')" patched
  runs 2
  has "$(k get tfjobs.mlkube.io demo | tr -s ' ')" "3 running 3/3 0 "
  # Deleted, and its processes with it.
  is "$(sleeping | wc -l)" 3
  has "$(k delete tfjob.mlkube.io demo)" '"demo" deleted'
  k wait --for=delete --timeout=120s "pod/$pod"
  eventually 90 nobody_sleeps
  is "$(k get tfjobs.mlkube.io -o name)" ""
}

# described WHAT OBJECT: with an event like that. Events come when they come.
described() {
  local what=$1
  shift
  k describe "$@" >described
  sed -n '/^Events:/,$p' described | grep "$what" || { cat described; return 1; }
}

sleeping() {
  at_node pgrep -fx "sleep $((123456 + CLUSTER_RUN))"
}

nobody_sleeps() {
  is "$(sleeping || true)" ""
}

@test "create, get in every form, describe, events, label, annotate, patch, delete" {
  with_each jobs_and_pods
}

applied() {
  job 1 >job.json
  has "$(k apply -f job.json)" created
  has "$(k apply -f job.json)" unchanged
  runs 1
  uid=$(k get tfjob.mlkube.io demo -o 'jsonpath={.metadata.uid}')
  job 2 >job.json
  has "$(k diff -f job.json || true)" "replicas: 2"
  has "$(k apply -f job.json)" configured
  runs 2
  job 0 >job.json
  has "$(k apply -f job.json)" configured
  eventually 120 pods_run 0
  is "$(k get tfjob.mlkube.io demo -o 'jsonpath={.metadata.uid} {.status.dlOperator.restarts}')" "$uid 0"
  has "$(k delete -f job.json)" deleted
}

@test "apply: a running job gets more replicas, and fewer" {
  with_each applied
}

# Each change of a job and of its pods comes as a line, and a wait ends with what it waits for.
watched() {
  k get tfjobs.mlkube.io -w >jobs.seen 2>&1 3>&- &
  echo $! >jobs.pid
  k get pods -w -o wide >pods.seen 2>&1 3>&- &
  echo $! >pods.pid
  job 1 "exec nc -l -p 2222 </dev/null" >job.json
  k create -f job.json
  runs 1
  eventually 60 grep -q 'demo .*Running' jobs.seen
  eventually 60 grep -q 'demo-master-.* 1/1 .*Running' pods.seen
  k wait --for=condition=Complete --timeout=120s tfjob.mlkube.io/demo >waited 2>&1 3>&- &
  waiting=$!
  pod=$(k get pods -l job_type=MASTER -o name)
  eventually 60 at_node busybox nc -w 5 "$(k get "$pod" -o 'jsonpath={.status.podIP}')" 2222 </dev/null
  wait $waiting
  is "$(cat waited)" "tfjob.mlkube.io/demo condition met"
  k wait --for=jsonpath='{.status.phase}'=Succeeded --timeout=60s "$pod"
  eventually 60 grep -q 'demo .*Succeeded' jobs.seen
  eventually 60 grep -q 'demo-master-.* 0/1 .*Completed' pods.seen
  is "$(k get "$pod" -o 'jsonpath={.status.containerStatuses[0].state.terminated.exitCode}')" 0
  k wait --for=delete --timeout=60s tfjob.mlkube.io/demo 3>&- &
  waiting=$!
  k delete tfjob.mlkube.io demo
  wait $waiting
  kill "$(cat jobs.pid)" "$(cat pods.pid)"
  wait "$(cat jobs.pid)" "$(cat pods.pid)" || true
  rm ./*.pid
  is "$(grep -c NAME jobs.seen) $(grep -c NAME pods.seen)" "1 1"
}

@test "get -w and wait: a job to its end" {
  with_each watched
}

# A pod without a job, whose first run fails.
logged() {
  k create -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: talk, labels: {app: talk}}
spec:
  restartPolicy: OnFailure
  terminationGracePeriodSeconds: 1
  volumes: [{name: own, emptyDir: {}}]
  containers:
  - name: main
    image: $image
    imagePullPolicy: Never
    volumeMounts: [{name: own, mountPath: /own}]
    command:
    - sh
    - -c
    - |
      # In one stream: of two nobody promises the order.
      [ -e /own/again ] || { touch /own/again; echo first >&2; echo went wrong >&2; exit 3; }
      echo second; echo here
      nc -l -p 2222 </dev/null
      echo bye
  - {name: other, image: $image, imagePullPolicy: Never, command: [echo, aside]}
YAML
  eventually 120 says here talk -c main
  is "$(k logs talk -c main)" $'second\nhere'
  is "$(k logs talk -c main --tail=1)" here
  eventually 60 says $'first\nwent wrong' talk -c main --previous
  eventually 60 says aside talk -c other
  is "$(k get pod talk -o 'jsonpath={.status.containerStatuses[?(@.name=="main")].restartCount}')" 1
  is "$(k get pod talk -o json | jq -c '.status.containerStatuses[] | select(.name == "main")
    | .lastState.terminated | [.exitCode, .reason]')" '[3,"Error"]'
  has "$(k logs -l app=talk -c main --prefix --timestamps --tail=1)" "[pod/talk/main] 20"
  refused "container nobody is not valid for pod talk" k logs talk -c nobody
  k logs -f talk -c main >followed 2>&1 3>&- &
  following=$!
  eventually 60 grep -q here followed
  eventually 60 at_node busybox nc -w 5 "$(k get pod talk -o 'jsonpath={.status.podIP}')" 2222 </dev/null
  wait $following
  is "$(cat followed)" $'second\nhere\nbye'
  k wait --for=jsonpath='{.status.phase}'=Succeeded --timeout=60s pod/talk
  is "$(k logs talk -c main)" $'second\nhere\nbye'
}

says() { # says TEXT LOGS-ARGUMENTS…: at the end of the logs
  local text=$1
  shift
  is "$(k logs "$@" | tail -n "$(wc -l <<<"$text")")" "$text"
}

@test "logs: -f, --tail, --previous, of each container" {
  with_each logged
}
