#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, ns, out and err
# What cannot be read or listed on a real API server: one object that is too large, one kind without a right or with a
# broken webhook. Everybody else is served.
load helpers
# shellcheck source=test/cluster/lib.sh
. "$here/lib.sh"

: "${DL_OPERATOR:=$(dirname "$DLJOB")/dl-operator}"

setup_file() {
  install_crds
  give_rights
  kubectl delete dljobs --all --all-namespaces
  # Longer than 8 MiB once every character is written as JSON writes it: \u003c.
  head -c 1450000 /dev/zero | tr '\0' '<' >"$BATS_FILE_TMPDIR/much"
}

teardown() {
  kill_started
  kubectl -n "$ns" delete pod --ignore-not-found --wait=false stranger
  kubectl -n "$ns" delete dljobs --all --wait=false
  kubectl delete clusterrole,clusterrolebinding -l app.kubernetes.io/instance=few
  kubectl delete crd --ignore-not-found tfjobs.hook.example
}

# operator NAME [FLAG…]: starts one in the background; its log is in NAME.log, its ports in NAME.ports.
operator() {
  local name=$1 metrics health
  shift
  metrics=$(free_port) health=$(free_port)
  with_rights --metrics-bind-address=127.0.0.1:"$metrics" --health-probe-bind-address=127.0.0.1:"$health" "$@" \
    >"$name.log" 2>&1 3>&- &
  echo $! >"$name.pid"
  echo "$metrics $health" >"$name.ports"
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

readyz() { # readyz NAME [TEXT]: it is ready, and says this as well
  curl -sf "127.0.0.1:$(cut -d' ' -f2 "$1.ports")/readyz" | grep -F -- "${2:-ok}"
}

metric() { # metric NAME LINE
  curl -sf "127.0.0.1:$(cut -d' ' -f1 "$1.ports")/metrics" | grep -xF -- "$2"
}

says() { # says NAME TEXT [TEXT]: the lines of its log that have them
  grep -F -- "$2" "$1.log" | grep -F -- "${3:-$2}"
}

ready() {
  eventually 120 readyz "$1" || {
    cat "$1.log"
    return 1
  }
}

# stranger [UID]: a pod with our label, of that job or of none, and much in its variables.
stranger() {
  jq -n --arg uid "${1:-nobody}" --rawfile much "$BATS_FILE_TMPDIR/much" '{apiVersion: "v1", kind: "Pod",
    metadata: {name: "stranger", labels: {"dl-operator.mpba.fbk.eu/uid": $uid}},
    spec: {containers: [{name: "main", image: "img", env: [{name: "MUCH", value: $much}]}]}}' >stranger.json
  kubectl create --raw "/api/v1/namespaces/$ns/pods" -f stranger.json >/dev/null
  [ "$(kubectl get --raw "/api/v1/namespaces/$ns/pods/stranger" | wc -c)" -gt 8388608 ]
}

# runs NAME EXAMPLE: a job of it runs to its end.
runs() {
  example "$2" | ends 0 | jq --arg name "$1" '.metadata.name = $name' >"$1.json"
  kubectl -n "$ns" create -f "$1.json"
  kubectl -n "$ns" wait --for=condition=Complete --timeout=120s "$(job_in "$1.json")" || {
    cat ./*.log
    return 1
  }
}

@test "a stranger's pod of 8.7 MB with our label: ends are seen, and a new operator serves" {
  operator a
  ready a
  example mpba-tfjob/ps-worker | goes_on >job.json
  kubectl -n "$ns" create -f job.json
  job=$(job_in job.json)
  kubectl -n "$ns" wait --for=condition=Running --timeout=120s "$job"
  stranger "$(kubectl -n "$ns" get "$job" -o jsonpath='{.metadata.uid}')"
  eventually 120 says a 'larger than 8 MiB' '"name":"stranger"'
  pod=$(kubectl -n "$ns" get pods -o name | grep worker | head -1)
  uid=$(kubectl -n "$ns" get "$pod" -o jsonpath='{.metadata.uid}')
  end_pod "$pod" "$uid" 3
  renewed() {
    local new
    new=$(kubectl -n "$ns" get "$pod" -o jsonpath='{.metadata.uid}') && [ "$new" != "$uid" ]
  }
  eventually 120 renewed
  kubectl -n "$ns" wait --for=condition=Running --timeout=120s "$job"
  told() {
    kubectl -n "$ns" get events --field-selector reason=Unreadable -o jsonpath='{.items[*].message}' | grep stranger
  }
  eventually 120 told
  runs one mpba-tfjob/ps-worker
  metric a 'dl_operator_unread_objects{resource="pods"} 1'
  kill -KILL "$(cat a.pid)"
  operator b
  ready b
  runs two mlkube-tfjob/gpu
  # Its job goes on as it was.
  kubectl -n "$ns" get "$job" -o json | jq -e '.status.dlOperator | .restarts == 1 and .phase == "Running"'
  # Said once.
  [ "$(says a '"name":"stranger"' | wc -l)" = 1 ]
  [ "$(says b '"name":"stranger"' | wc -l)" = 1 ]
  # Nobody has touched it; it goes, and is forgotten.
  kubectl -n "$ns" delete pod stranger --grace-period=0 --force
  eventually 120 metric b 'dl_operator_unread_objects{resource="pods"} 0'
  kill -TERM "$(cat b.pid)"
}

# few_rights [JQ]: what the chart gives, changed by JQ, for an account of another name.
few_rights() {
  rights_objects few "$ns" | jq '(.. | strings) |= sub("few-dl-operator"; "few")' |
    jq 'if .rules then .rules |= map('"${1:-.}"' | select(.apiGroups != [])) else . end' | kubectl apply -f -
}

@test "a kind without the right to list it: the others are served, and it is once there is the right" {
  few_rights '.apiGroups -= ["mlkube.io"]'
  rights_kubeconfig "$ns" few >few.kubeconfig
  OPERATOR_KUBECONFIG=$PWD/few.kubeconfig operator a
  ready a
  readyz a 'TfJob.mlkube.io not served: its jobs cannot be listed (403): '
  metric a 'dl_operator_kind_served{kind="TfJob.mlkube.io"} 0'
  metric a 'dl_operator_kind_served{kind="TFJob.mpba.fbk.eu"} 1'
  [ "$(says a 'not served: its jobs cannot be listed' '"kind":"TfJob.mlkube.io"' | wc -l)" = 1 ]
  example mlkube-tfjob/gpu | ends 0 >job.json
  kubectl -n "$ns" create -f job.json
  runs other mpba-tfjob/ps-worker
  [ -z "$(kubectl -n "$ns" get "$(job_in job.json)" -o jsonpath='{.status}')" ]
  few_rights
  kubectl -n "$ns" wait --for=condition=Complete --timeout=120s "$(job_in job.json)"
  metric a 'dl_operator_kind_served{kind="TfJob.mlkube.io"} 1'
  # Lost again, while it runs: nobody else minds. Watches that were allowed go on as long as their connection does.
  few_rights '.apiGroups -= ["mlkube.io"]'
  stop_component "$CLUSTER_DIR" kube-apiserver 10
  start_component "$CLUSTER_DIR" kube-apiserver
  eventually 120 kubectl get --raw /readyz
  eventually 120 metric a 'dl_operator_kind_served{kind="TfJob.mlkube.io"} 0'
  readyz a
  runs last mpba-tfjob/ps-worker
  kill -TERM "$(cat a.pid)"
}

@test "a kind whose conversion webhook is broken: the others are served, and it is once it can be listed" {
  mkdir kinds
  sed 's/mlkube\.io/hook.example/g' "$root/kinds/mlkube-tfjob.lua" >kinds/hook.lua
  DL_OPERATOR_KINDS=$PWD/kinds dljob crds -o json TfJob.hook.example | jq '.items[0] // .
    | .spec.versions += [.spec.versions[0] | .name = "v2"] | .spec.versions[0].storage = false
    | .spec.conversion = {strategy: "Webhook", webhook: {conversionReviewVersions: ["v1"],
      clientConfig: {url: "https://127.0.0.1:1/convert"}}}' >crd.json
  kubectl create -f crd.json
  kubectl wait --for=condition=Established --timeout=120s crd/tfjobs.hook.example
  example mlkube-tfjob/gpu | ends 0 | jq '.apiVersion = "hook.example/v2" | .metadata.name = "v2"' >v2.json
  eventually 120 kubectl -n "$ns" create -f v2.json
  refused 'conversion webhook' kubectl get tfjobs.v1beta1.hook.example --all-namespaces
  OPERATOR_RIGHTS=all operator a --install-crds=false --kinds-dir=kinds
  ready a
  readyz a 'TfJob.hook.example not served: its jobs cannot be listed (500): '
  runs other mpba-tfjob/ps-worker
  kubectl -n "$ns" delete tfjobs.v2.hook.example v2
  eventually 120 metric a 'dl_operator_kind_served{kind="TfJob.hook.example"} 1'
  kill -TERM "$(cat a.pid)"
}
