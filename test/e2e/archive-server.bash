# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the tests read what is set here, and helpers.bash sets root
# A server that answers as it is told, and an archive of its logs in the background.
teardown() {
  kill_started
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset DL_OPERATOR_KINDS NO_COLOR KUBERNETES_SERVICE_HOST DLJOB_HOME XDG_STATE_HOME
  export HOME=$BATS_TEST_TMPDIR/home KUBECONFIG=$BATS_TEST_TMPDIR/kubeconfig
  mkdir "$HOME"
}

pods=/api/v1/namespaces/ml/pods
jobs=/apis/mlkube.io/v1beta1/namespaces/ml/tfjobs

# answers ENTRY…: each is PATH CODE BODY, the body in JSON.
answers() {
  for entry; do
    read -r path code body <<<"$entry"
    jq -n -c --arg p "$path" --argjson c "$code" --argjson b "$body" '["GET", $p, $c, $b]'
  done | jq -s -c . >answers.new
  mv answers.new answers.json
}

serve() {
  python3 "$root/test/e2e/canned_server.py" port answers.json requests >server.log 2>&1 3>&- &
  echo $! >server.pid
  eventually 120 test -s port
  cat >kubeconfig <<YAML
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: k, namespace: ml}}]
clusters: [{name: k, cluster: {server: "http://127.0.0.1:$(cat port)"}}]
YAML
}

# pod NAME INDEX [RESTARTS]: its container has ended.
pod() {
  jq -n -c --arg n "$1" --arg i "$2" --argjson r "${3:-0}" '{kind: "Pod", apiVersion: "v1",
    metadata: {name: $n, namespace: "ml", uid: $n, resourceVersion: "8", labels: ({
      kind: "TfJob.mlkube.io", job: "demo", uid: "u-demo", role: "worker", index: $i, generation: "0"} |
      with_entries(.key |= "dl-operator.mpba.fbk.eu/" + .))},
    status: {containerStatuses: [{name: "main", restartCount: $r, state: {terminated: {}}}]}}'
}

# line N: of a log.
line() { printf '2026-01-02T03:04:0%s.5Z line %s\\n' "$1" "$1"; }

# keep [options]: in the background.
keep() {
  "$DLJOB" logs -q --archive kept "$@" >keep.out 2>keep.err 3>&- &
  echo $! >keep.pid
}

# kept: how it ended.
kept() {
  status=0
  wait "$(cat keep.pid)" || status=$?
  rm keep.pid
}

# log INDEX: what is kept, without the times.
log() { sed 's/^[^ ]* //' "kept/ml/TfJob.mlkube.io/demo/u-demo/worker-$1/0.main.log" | paste -s -d ,; }
log_is() { is "$(log "$1")" "$2"; }

asked() { [ "$(grep -c "^GET $1" requests)" -ge "$2" ]; } # asked PATH TIMES
