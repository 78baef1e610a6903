#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root
# dl-operator as whoever runs it sees it, without a cluster.
load helpers

: "${DL_OPERATOR:=$(dirname "$DLJOB")/dl-operator}"

teardown() {
  kill_started
}

# An operator that waits for the answer to a write which never comes.
waiting_operator() {
  python3 "$root/test/e2e/silent_server.py" port writes >server.log 2>&1 3>&- &
  echo $! >server.pid
  eventually 120 test -s port
  cat >kubeconfig <<YAML
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k}}]
clusters: [{name: k, cluster: {server: "http://127.0.0.1:$(cat port)"}}]
YAML
  "$DL_OPERATOR" --kubeconfig=kubeconfig --namespace=team --install-crds=false --metrics-bind-address=0 \
    --health-probe-bind-address=0 >operator.log 2>&1 3>&- &
  echo $! >operator.pid
  eventually 120 test -s writes
}

# signalled FIRST SECOND STATUS: what is in flight is awaited after the first, not after the second.
signalled() {
  local rc=0 pid
  pid=$(cat operator.pid)
  kill "-$1" "$pid"
  eventually 120 grep -q '"signal":"SIG'"$1" operator.log
  kill -0 "$pid"
  kill "-$2" "$pid"
  wait "$pid" || rc=$?
  rm operator.pid
  is "$rc" "$3"
}

@test "a second signal ends it at once: SIGTERM twice" {
  waiting_operator
  signalled TERM TERM 143
}

@test "a second signal ends it at once: SIGINT after SIGTERM" {
  waiting_operator
  signalled TERM INT 130
}

@test "a second signal ends it at once: SIGTERM after SIGINT" {
  waiting_operator
  signalled INT TERM 143
}

@test "a file of accelerators that cannot be taken: one line, exit 2" {
  # wrong TEXT WHAT: the file with TEXT.
  wrong() {
    printf '%s\n' "$1" >config.yaml
    split timeout 60 "$DL_OPERATOR" --controller-config-file=config.yaml --kubeconfig=kubeconfig
    is "$status" 2
    is "$out" ""
    is "$(wc -l <stderr)" 1
    has "$err" "--controller-config-file: config.yaml:$2"
  }
  echo '{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: k}}],
    clusters: [{name: k, cluster: {server: "http://127.0.0.1:9"}}]}' >kubeconfig
  wrong 'accelerators: {a.b/c: {envvar: []}}' \
    '1:24: accelerators["a.b/c"].envvar: unknown key "envvar"; did you mean "envVars"?'
  wrong 'accelerators: [' '2:1:'
  split timeout 60 "$DL_OPERATOR" -controller_config_file nowhere.yaml --kubeconfig=kubeconfig
  is "$status" 2
  is "$err" "dl-operator: --controller-config-file: nowhere.yaml: no such file"
}
