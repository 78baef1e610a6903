#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, ns, out and err
# Gangs: PodGroups of Volcano and of scheduler-plugins on a real API server. Nobody schedules by them here: what is
# looked at is what the operator tells a gang scheduler, and what it makes of the answer.
load helpers

: "${DL_OPERATOR:=$(dirname "$DLJOB")/dl-operator}"
volcano=podgroups.scheduling.volcano.sh
plugins=podgroups.scheduling.x-k8s.io

setup_file() {
  install_crds
  kubectl delete dljobs --all --all-namespaces
}

teardown() {
  kill_started
  kubectl -n "$ns" delete dljobs --all --wait=false
  kubectl delete crd --ignore-not-found $volcano $plugins
  kubectl delete clusterrole,clusterrolebinding --ignore-not-found "gang-$ns"
}

define() { # define volcano|plugins
  kubectl apply -f "$here/crds/podgroup-$1.yaml"
  kubectl wait --for=condition=Established --timeout=120s "crd/${!1}"
  eventually 120 kubectl get "${!1}" --all-namespaces
}

# operator SCHEDULER: starts one in $ns, with the rights that the chart gives for it.
operator() {
  rights_objects gang "$ns" --set namespaced.enabled=true --set gang.schedulerName="$1" | kubectl apply -f -
  rights_kubeconfig "$ns" gang-dl-operator >operator.kubeconfig
  operator_as operator.kubeconfig "$1"
}

operator_as() { # operator_as KUBECONFIG SCHEDULER
  port=$(free_port)
  KUBECONFIG=$PWD/$1 "$DL_OPERATOR" --namespace="$ns" --kinds=TfJob.mlkube.io --metrics-bind-address=0 \
    --health-probe-bind-address=127.0.0.1:"$port" --install-crds=false --gang-scheduler-name="$2" \
    >operator.log 2>&1 3>&- &
  echo $! >operator.pid
  eventually 120 ready || {
    cat operator.log
    return 1
  }
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

ready() {
  curl -sf "127.0.0.1:$port/readyz"
}

# job [JQ]: a TfJob with a master of half a core and two workers with four accelerators each, changed by JQ.
job() {
  cat <<J | yaml_to_json | jq '.[0]' | jq "${1:-.}" | goes_on_as_it_is | kubectl -n "$ns" apply -f -
apiVersion: mlkube.io/v1beta1
kind: TfJob
metadata: {name: gang}
spec:
  policy: {cleanPods: All}
  replicaSpecs:
  - tfReplicaType: MASTER
    replicas: 1
    template:
      spec:
        initContainers: [{name: fetch, image: img, resources: {requests: {memory: 3Gi}}}]
        containers: [{name: tensorflow, image: img, resources: {requests: {cpu: 500m, memory: 1Gi}}}]
  - tfReplicaType: WORKER
    replicas: 2
    template:
      spec:
        containers: [{name: tensorflow, image: img, resources: {limits: {cpu: 1}}}]
J
}

goes_on_as_it_is() {
  jq '(.spec.replicaSpecs[].template) |= (.metadata.annotations += {} | .spec.terminationGracePeriodSeconds = 1)'
}

group() { # group RESOURCE: the job's PodGroup
  kubectl -n "$ns" get "$1" gang -o json
}

group_is() { # group_is RESOURCE JQ: true of it
  local object
  object=$(group "$1") && jq -e "$2" <<<"$object"
}

group_gone() { # group_gone RESOURCE
  ! kubectl -n "$ns" get "$1" gang
}

pods() { # pods N: so many are there
  [ "$(kubectl -n "$ns" get pods -o name | wc -l)" = "$1" ]
}

reason() { # reason TEXT: the job says so
  has "$(kubectl -n "$ns" get tfjob.mlkube.io gang -o jsonpath='{.status.dlOperator.reason}')" "$1"
}

phase() {
  [ "$(kubectl -n "$ns" get tfjob.mlkube.io gang -o jsonpath='{.status.dlOperator.phase}')" = "$1" ]
}

# asked VERB RESOURCE: how often the operator did so in this namespace, by the server's own log.
asked() {
  jq -c --arg ns "$ns" --arg verb "$1" --arg resource "$2" 'select(.verb == $verb and .objectRef.resource == $resource
    and .objectRef.namespace == $ns and (.userAgent | startswith("dl-operator/")))' "$CLUSTER_DIR/audit.log" | wc -l
}

# first RESOURCE: the line of the server's log that tells of the first that was made in this namespace.
first() {
  grep -n "" "$CLUSTER_DIR/audit.log" | grep "\"verb\":\"create\"" | grep "\"resource\":\"$1\",\"namespace\":\"$ns\"" |
    head -n 1 | cut -d: -f1
}

@test "scheduler-plugins: the group comes first, says what is needed, and is written only when that changes" {
  define plugins
  operator default-scheduler
  job '.spec.policy.schedulingPolicy = {scheduleTimeoutSeconds: 30, queue: "of-volcano"}'
  eventually 120 phase Running
  [ "$(first podgroups)" -lt "$(first pods)" ]
  [ "$(first podgroups)" -lt "$(first services)" ]
  group_is $plugins '.spec == {minMember: 3, scheduleTimeoutSeconds: 30,
    minResources: {cpu: "2500m", memory: "3Gi"}}'
  uid=$(kubectl -n "$ns" get tfjob.mlkube.io gang -o jsonpath='{.metadata.uid}')
  group_is $plugins ".metadata.ownerReferences[0] | .uid == \"$uid\" and .controller"
  group_is $plugins ".metadata.labels[\"dl-operator.mpba.fbk.eu/uid\"] == \"$uid\""
  kubectl -n "$ns" get pods -o json | jq -e '[.items[] | .metadata.labels["scheduling.x-k8s.io/pod-group"] == "gang"
    and .spec.schedulerName == "default-scheduler"] | length == 3 and all'

  # Somebody else says something of it: that is no reason to write.
  kubectl -n "$ns" patch $plugins gang --subresource=status --type=merge -p '{"status":{"phase":"Running","running":3}}'
  kubectl -n "$ns" annotate tfjob.mlkube.io gang seen=yes
  job '.spec.policy.schedulingPolicy = {scheduleTimeoutSeconds: 30, minAvailable: 3}'
  eventually 120 phase Running
  job '.spec.policy.schedulingPolicy = {minAvailable: 2}'
  eventually 120 group_is $plugins '.spec.minMember == 2 and .spec.minResources == {cpu: "1500m", memory: "3Gi"}'
  [ "$(asked patch podgroups)" = 1 ]
  # Another number of workers: another gang.
  job '.spec.replicaSpecs[1].replicas = 3'
  eventually 120 group_is $plugins '.spec.minMember == 4 and .spec.minResources == {cpu: "3500m", memory: "3Gi"}'
  eventually 120 pods 4
  eventually 120 phase Running
  [ "$(asked patch podgroups)" = 2 ]
  # What a user changes by hand is put right.
  kubectl -n "$ns" patch $plugins gang --type=merge -p '{"spec":{"minMember":1,"minResources":{"x":"1"}}}'
  eventually 120 group_is $plugins '.spec.minMember == 4 and (.spec.minResources | has("x") | not)'
  [ "$(asked patch podgroups)" = 3 ]
  [ "$(asked create podgroups)" = 1 ]
  # Without our label nobody sees it: it is read by name, and gets it back.
  kubectl -n "$ns" label $plugins gang dl-operator.mpba.fbk.eu/uid-
  eventually 120 group_is $plugins ".metadata.labels[\"dl-operator.mpba.fbk.eu/uid\"] == \"$uid\""
  kubectl -n "$ns" delete tfjob.mlkube.io gang
  eventually 120 group_gone $plugins
  is "$(rights_used "$(rights_account gang-dl-operator "$ns")" <"$CLUSTER_DIR/audit.log" | grep podgroups |
    cut -d' ' -f1 | tr '\n' ' ')" "create get list patch watch "
}

@test "the group is gone while the job is suspended, after its end, and with the job" {
  define plugins
  operator default-scheduler
  job
  eventually 120 phase Running
  kubectl -n "$ns" patch tfjob.mlkube.io gang --type=merge -p '{"spec":{"policy":{"suspend":true}}}'
  eventually 120 phase Suspended
  eventually 120 group_gone $plugins
  kubectl -n "$ns" patch tfjob.mlkube.io gang --type=merge -p '{"spec":{"policy":{"suspend":false}}}'
  eventually 120 phase Running
  group_is $plugins '.spec.minMember == 3'
  kubectl -n "$ns" annotate tfjob.mlkube.io gang Succeed=done
  eventually 120 phase Succeeded
  eventually 120 group_gone $plugins
  is "$(asked delete podgroups)" 2
  kubectl -n "$ns" delete tfjob.mlkube.io gang
  job
  eventually 120 group_is $plugins .
  kubectl -n "$ns" delete tfjob.mlkube.io gang
  eventually 120 group_gone $plugins
}

@test "Volcano: pods wait until the queue lets the group in, and the job says so" {
  define volcano
  operator volcano
  job '.spec.policy.schedulingPolicy = {queue: "team-a", priorityClass: "high"}'
  eventually 120 group_is $volcano '.spec == {minMember: 3, queue: "team-a", priorityClassName: "high",
    minResources: {cpu: "2500m", memory: "3Gi"}}'
  eventually 120 reason "waiting for Volcano to let PodGroup gang into queue team-a (phase not set)"
  kubectl -n "$ns" patch $volcano gang --type=merge -p '{"status":{"phase":"Pending","conditions":[
    {"type":"Unschedulable","status":"True","message":"queue resource quota insufficient"}]}}'
  eventually 120 reason "into queue team-a (phase Pending): queue resource quota insufficient"
  pods 0
  kubectl -n "$ns" patch $volcano gang --type=merge -p '{"status":{"phase":"Inqueue"}}'
  eventually 120 pods 3
  kubectl -n "$ns" get pods -o json | jq -e '[.items[] | .spec.schedulerName == "volcano"
    and .metadata.annotations["scheduling.k8s.io/group-name"] == "gang"
    and .metadata.annotations["volcano.sh/task-spec"] == .metadata.labels["dl-operator.mpba.fbk.eu/role"]]
    | length == 3 and all'
  # They are not scheduled, since there is no Volcano; the group's own words say why.
  eventually 120 reason "to be scheduled: queue resource quota insufficient"
  [ "$(asked create podgroups)" = 1 ]
  [ "$(asked patch podgroups)" = 0 ]
  # The queue that a webhook or an administrator gave it is left alone.
  job
  kubectl -n "$ns" patch $volcano gang --type=merge -p '{"spec":{"queue":"of-the-namespace"}}'
  job '.spec.policy.schedulingPolicy = {minAvailable: 1}'
  eventually 120 group_is $volcano '.spec.minMember == 1 and .spec.queue == "of-the-namespace"'
  [ "$(asked patch podgroups)" = 1 ]
}

@test "a scheduler that the template names is kept, and an event says so" {
  define volcano
  operator volcano
  job '.spec.replicaSpecs[0].template.spec.schedulerName = "mine"'
  eventually 120 group_is $volcano .
  kubectl -n "$ns" patch $volcano gang --type=merge -p '{"status":{"phase":"Inqueue"}}'
  eventually 120 pods 3
  [ "$(kubectl -n "$ns" get pods -o json | jq -r '[.items[].spec.schedulerName] | sort | join(" ")')" = \
    "mine volcano volcano" ]
  other_scheduler() {
    kubectl -n "$ns" get events --field-selector reason=OtherScheduler,type=Warning -o name | grep .
  }
  eventually 120 other_scheduler
}

@test "a cluster without PodGroups: the operator is ready, jobs say what is missing, and go on when it is there" {
  operator volcano
  job
  eventually 120 reason "waiting: the cluster has no PodGroups of scheduling.volcano.sh/v1beta1: install Volcano, or \
start dl-operator without --gang-scheduler-name"
  ready
  pods 0
  # What jobs say of it is logged with them; of itself the operator says it once.
  [ "$(grep -c '"level":"warn".*has no PodGroups' operator.log)" = 1 ]
  define volcano
  eventually 120 group_is $volcano '.spec.minMember == 3 and .spec.queue == "default"'
  kubectl -n "$ns" patch $volcano gang --type=merge -p '{"status":{"phase":"Inqueue"}}'
  eventually 120 pods 3
  kill -0 "$(cat operator.pid)"
}

@test "without the right to list PodGroups the job names it" {
  define volcano
  kubectl -n "$ns" create serviceaccount op
  kubectl create clusterrole "gang-$ns" --verb='*' \
    --resource=pods,services,events,tfjobs.mlkube.io,tfjobs.mlkube.io/status,tfjobs.mlkube.io/finalizers
  kubectl create clusterrolebinding "gang-$ns" --clusterrole="gang-$ns" --serviceaccount="$ns:op"
  rights_kubeconfig "$ns" op >kubeconfig
  operator_as kubeconfig volcano
  job
  eventually 120 reason "waiting: dl-operator may not use the PodGroups of scheduling.volcano.sh/v1beta1: \
podgroups.scheduling.volcano.sh is forbidden"
  kubectl patch clusterrole "gang-$ns" --type=json -p '[{"op": "add", "path": "/rules/-", "value": {"verbs": ["*"],
    "apiGroups": ["scheduling.volcano.sh"], "resources": ["podgroups"]}}]'
  eventually 120 group_is $volcano .
}

@test "a PodGroup that is somebody else's is left alone" {
  define plugins
  cat >group.yaml <<G
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: gang}
spec: {minMember: 9}
G
  # A definition that was just made again is not served by everybody at once.
  eventually 120 kubectl -n "$ns" apply -f group.yaml
  before=$(group $plugins | jq -r .metadata.resourceVersion)
  operator default-scheduler
  job
  eventually 120 reason "waiting for a name that is taken: PodGroup gang has no owner"
  pods 0
  [ "$(group $plugins | jq -r .metadata.resourceVersion)" = "$before" ]
  kubectl -n "$ns" delete $plugins gang
  eventually 120 phase Running
  group_is $plugins '.spec.minMember == 3'
}
