# shellcheck shell=bash
# Commands that speak to a server whose answers the test writes, for the bats files that do.
# shellcheck disable=SC2154,SC2034,SC2317 # helpers.bash sets root; the tests read and call what is here

teardown() {
  kill_started
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset DL_OPERATOR_KINDS NO_COLOR KUBECONFIG KUBERNETES_SERVICE_HOST DLJOB_HOME XDG_STATE_HOME
  export HOME=$BATS_TEST_TMPDIR/home
  mkdir "$HOME"
}

# config PORT [https]: a kubeconfig of a server there.
config() {
  cat <<YAML
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: k, namespace: ml}}]
clusters: [{name: k, cluster: {server: "${2:-http}://127.0.0.1:$1"}}]
YAML
}

# serve [CERTIFICATE]: a server with the answers of answers.json; KUBECONFIG is its.
serve() {
  python3 "$root/test/e2e/canned_server.py" port answers.json requests "$@" >server.log 2>&1 3>&- &
  echo $! >server.pid
  eventually 120 test -s port
  config "$(cat port)" "${1:+https}" >kubeconfig
  export KUBECONFIG=$PWD/kubeconfig
}

# job NAME PHASE REASON [replicas]: a TfJob as the server has it.
job() {
  jq -n -c --arg name "$1" --arg phase "$2" --arg reason "$3" --argjson n "${4:-2}" '{
    apiVersion: "mlkube.io/v1beta1", kind: "TfJob",
    metadata: {name: $name, namespace: "ml", uid: "u-\($name)", resourceVersion: "5", generation: 2,
      creationTimestamp: "2020-01-01T00:00:00Z",
      annotations: {keep: "this", Failed: "ended it", "kubectl.kubernetes.io/last-applied-configuration": "x"}},
    spec: {replicaSpecs: [
      {tfReplicaType: "MASTER", template: {spec: {containers: [{name: "tensorflow", image: "i"}]}}},
      {tfReplicaType: "WORKER", replicas: $n, template: {spec: {containers: [{name: "tensorflow", image: "i"}]}}}]},
    status: {dlOperator: {version: 1, phase: $phase, reason: $reason, pods: "1/3", restarts: 2}}}'
}

tfjobs=/apis/mlkube.io/v1beta1/namespaces/ml/tfjobs

# answers ENTRY…: each is METHOD PATH CODE BODY, the body in JSON.
answers() {
  for entry; do
    read -r method path code body <<<"$entry"
    jq -n -c --arg m "$method" --arg p "$path" --argjson c "$code" --argjson b "$body" '[$m, $p, $c, $b]'
  done | jq -s -c . >answers.new
  mv answers.new answers.json
}

last() { # last METHOD: the last such request
  grep "^$1 " requests | tail -n 1
}
