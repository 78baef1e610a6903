#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2317 # the helpers set what is read here, and call what is defined
# dljob logs --archive with a server that refuses, forgets and is slow.
load helpers

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

@test "a log that is not there, or may not be read, for a while" {
  two="$pods?label 200 [$(pod a 0),$(pod b 1)]"
  a="$pods/a/log 200 \"$(line 1)\""
  answers "$a" "$pods/b/log 404 \"404 page not found\"" "$pods/b 200 $(pod b 1)" "$two"
  serve
  keep --all -f
  eventually 120 asked "$pods/b/log" 2
  eventually 120 log_is 0 "line 1"
  answers "$a" "$pods/b/log 403 {\"kind\":\"Status\",\"message\":\"not now\"}" "$pods/b 200 $(pod b 1)" "$two"
  n=$(grep -c "^GET $pods/b/log" requests)
  eventually 120 asked "$pods/b/log" $((n + 2))
  is "$(cat keep.err)" "dljob logs: ml/b (main): its log may not be read: not now"
  answers "$a" "$pods/b/log 200 \"$(line 2)\"" "$pods/b 200 $(pod b 1)" "$two"
  eventually 120 log_is 1 "line 2"
  kill -TERM "$(cat keep.pid)"
  kept
  is "$status" 0

  # Whose every log is refused may not read any.
  answers "$pods/a/log 403 {\"kind\":\"Status\",\"message\":\"not you\"}" "$pods?label 200 [$(pod a 0)]"
  split timeout 120 "$DLJOB" logs -q --archive other --all -f
  [ "$status" != 0 ] && [ "$status" != 124 ]
  has "$err" "not you"
}

@test "a container that restarts while its log is read" {
  again=$(jq -n -c --argjson pod "$(pod a 0 1)" '{type: "MODIFIED", object: $pod} | tojson + "\n"')
  list="$pods?label 200 [$(pod a 0)]"
  answers "$pods/a/log 200 {\"after\": \"go\", \"body\": \"$(line 1)\"}" "$pods/a 200 $(pod a 0)" "$list" \
    "$pods?watch=true 200 {\"after\": \"tell\", \"body\": $again}"
  serve
  keep --all -f
  eventually 120 asked "$pods/a/log" 1
  # The next watch begins when the event of the one before was taken.
  touch tell
  eventually 120 asked "$pods?watch=true" 2
  answers "$pods/a/log 200 \"$(line 1)$(line 2)\"" "$pods/a 200 $(pod a 0 1)" "$list"
  touch go
  eventually 120 log_is 0 "line 1,line 2"
  kill -TERM "$(cat keep.pid)"
  kept
  is "$status" 0
}

@test "one job until its end: what did not come is said" {
  ended='{"apiVersion": "mlkube.io/v1beta1", "kind": "TfJob", "metadata": {"name": "demo", "namespace": "ml",
    "uid": "u-demo", "resourceVersion": "5"}, "spec": {},
    "status": {"dlOperator": {"version": 1, "phase": "Succeeded"}}}'
  ended=$(jq -c . <<<"$ended")
  answers "$pods/a/log 200 \"$(line 1)\"" "$pods/b/log 200 {\"after\": \"never\", \"body\": \"\"}" \
    "$pods?label 200 [$(pod a 0),$(pod b 1)]" "$jobs/demo 200 $ended" "$jobs?field 200 [$ended]"
  serve
  keep -f demo
  kept
  is "$status $(cat keep.out)" "1 1 logs kept in kept"
  is "$(cat keep.err)" "dljob logs: 1 more are not whole: their containers still run, or nothing came for a minute"
  log_is 0 "line 1"
}
