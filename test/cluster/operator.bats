#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, ns, out and err
# dl-operator against a real API server: jobs to their end, two operators, definitions.
load helpers

: "${DL_OPERATOR:=$(dirname "$DLJOB")/dl-operator}"

# What other files left would be served as well, and hold nodes and their ports.
setup_file() {
  install_crds
  on_this_machine || give_rights
  kubectl delete dljobs --all --all-namespaces
  kubectl delete pods --all --all-namespaces --wait=false
  eventually 120 no_pods
}

no_pods() {
  [ -z "$(kubectl get pods --all-namespaces -o name)" ]
}

# What a failed test left would be in the way of the others.
teardown_file() {
  kubectl annotate nodes --all fake/down-
  kubectl delete crd --ignore-not-found tfjobs.other.example tfjobs.gone.example tfjobs.late.example
}

teardown() {
  kill_started
}

# operator NAME [FLAG…]: starts one in the background; its log is in NAME.log, its ports in NAME.ports. On this machine
# it is part of the cluster, which is started if it was killed.
operator() {
  local name=$1 metrics health
  shift
  if on_this_machine; then
    local_up
    return
  fi
  metrics=$(free_port) health=$(free_port)
  with_rights --metrics-bind-address=127.0.0.1:"$metrics" --health-probe-bind-address=127.0.0.1:"$health" "$@" \
    >"$name.log" 2>&1 3>&- &
  echo $! >"$name.pid"
  echo "$metrics $health" >"$name.ports"
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# probe NAME PATH, metrics NAME
probe() {
  curl -sf "127.0.0.1:$(cut -d' ' -f2 "$1.ports")$2"
}

metrics() {
  curl -sf "127.0.0.1:$(cut -d' ' -f1 "$1.ports")/metrics"
}

ready() {
  if on_this_machine; then
    kubectl get --raw /readyz
    return
  fi
  eventually 120 probe "$1" /readyz || {
    cat "$1.log"
    return 1
  }
}

kill_operator() { # kill_operator NAME
  if on_this_machine; then
    local_kill
  else
    kill -KILL "$(cat "$1.pid")"
  fi
}

# phase JOB WANTED
phase() {
  [ "$(kubectl -n "$ns" get "$1" -o jsonpath='{.status.dlOperator.phase}')" = "$2" ]
}

event() { # event KIND REASON
  kubectl -n "$ns" get events --field-selector "involvedObject.kind=$1,reason=$2" -o name | grep .
}

ended() { # ended NAME STATUS: the operator is gone and exited so
  local pid rc=0
  pid=$(cat "$1.pid")
  wait "$pid" || rc=$?
  [ "$rc" = "$2" ] || {
    echo "exit status $rc, not $2"
    cat "$1.log"
    return 1
  }
  rm "$1.pid"
}

# bats test_tags=local,version
@test "one job of each kind runs to its end" {
  operator a
  ready a
  for f in $one_of_each; do
    example "$f" | ends 0 >job.json
    kubectl -n "$ns" create -f job.json
    job_in job.json >>jobs.list
  done
  while read -r job; do
    echo "$job"
    kubectl -n "$ns" wait --for=condition=Complete --timeout=120s "$job"
    phase "$job" Succeeded
  done <jobs.list
  [ "$(kubectl -n "$ns" get dljobs -o name | wc -l)" = "$(wc -l <jobs.list)" ]
  for reason in SuccessfulCreate Completed; do
    for kind in TfJob TFJob MXJob AITrainingJob; do
      eventually 120 event "$kind" "$reason"
    done
  done
  # Only a process of its own has ports.
  on_this_machine && return
  job=$(tail -1 jobs.list)
  curl -sf "127.0.0.1:$(cut -d' ' -f1 a.ports)/debug/jobs/$ns/${job#*/}" |
    jq -e '.[0].plan | .actions == [] and .record.phase == "Succeeded"'
  # A page in a browser on this machine may have made its own name lead here.
  run curl -s -o /dev/null -w '%{http_code}' -H 'Host: evil.example' \
    "127.0.0.1:$(cut -d' ' -f1 a.ports)/debug/jobs/$ns/${job#*/}"
  is "$output" 404
  metrics a >numbers
  grep -q '^dl_operator_jobs_ended_total{kind="TfJob.mlkube.io",phase="Succeeded"} 1' numbers
  grep -q '^rest_client_requests_total{code="201",method="POST"} ' numbers
  grep -q '^rest_client_requests_total{code="200",method="LIST"} ' numbers
  promtool check metrics <numbers
  kill -TERM "$(cat a.pid)"
  ended a 0
}

# bats test_tags=local,version
@test "a pod that fails is started again, and a killed operator's successor goes on" {
  operator a
  ready a
  example mpba-tfjob/ps-worker | goes_on >job.json
  kubectl -n "$ns" create -f job.json
  job=$(job_in job.json)
  eventually 120 phase "$job" Running
  pod=$(kubectl -n "$ns" get pods -o name | grep worker | head -1)
  uid=$(kubectl -n "$ns" get "$pod" -o jsonpath='{.metadata.uid}')
  kill_operator a
  end_pod "$pod" "$uid" 3
  operator b
  renewed() {
    local new
    new=$(kubectl -n "$ns" get "$pod" -o jsonpath='{.metadata.uid}') && [ "$new" != "$uid" ]
  }
  eventually 120 renewed
  eventually 120 phase "$job" Running
  kubectl -n "$ns" get "$job" -o jsonpath='{.status.dlOperator}' | jq -e '.restarts == 1'
  eventually 120 event TFJob Restarting
}

# bats test_tags=version
@test "a node that has failed: its pods start again on another one" {
  operator a --node-grace=2s
  ready a
  example mpba-tfjob/ps-worker >job.json
  kubectl -n "$ns" create -f job.json
  job=$(job_in job.json)
  eventually 120 phase "$job" Running
  pod=$(kubectl -n "$ns" get pods -o name | grep worker | head -1)
  node=$(kubectl -n "$ns" get "$pod" -o jsonpath='{.spec.nodeName}')
  kubectl annotate node "$node" fake/down=Unknown
  moved() {
    local now
    now=$(kubectl -n "$ns" get "$pod" -o jsonpath='{.spec.nodeName}') && [ -n "$now" ] && [ "$now" != "$node" ]
  }
  eventually 120 moved
  eventually 120 phase "$job" Running
  told() {
    kubectl -n "$ns" get events --field-selector reason=Restarting -o jsonpath='{.items[*].message}' | grep NodeFail
  }
  eventually 120 told
  kubectl annotate node "$node" fake/down-
  kubectl wait --for=condition=Ready --timeout=120s "node/$node"
}

# bats test_tags=version
@test "two operators: one leads, and hands over at once when it ends" {
  may_lease "$ns"
  # Whoever waits for the end of this lease waits for longer than the test does.
  lease=(--leader-elect --leader-elect-resource-namespace="$ns" --leader-elect-lease-duration=1h
    --leader-elect-renew-deadline=30m)
  holder() {
    kubectl -n "$ns" get lease dl-operator -o jsonpath='{.spec.holderIdentity}' | grep .
  }
  operator a "${lease[@]}"
  eventually 120 holder
  first=$(holder)
  operator b "${lease[@]}"
  ready b
  metrics a | grep -q '^leader_election_master_status{name="dl-operator"} 1'
  metrics b >numbers
  grep -q '^leader_election_master_status{name="dl-operator"} 0' numbers
  promtool check metrics <numbers
  # Whoever stands by knows how the jobs are.
  example mpba-tfjob/ps-worker | jq '.metadata.name = "before"' >before.json
  kubectl -n "$ns" create -f before.json
  eventually 120 phase "$(job_in before.json)" Running
  standby_knows() {
    metrics b >numbers && grep '^dl_operator_jobs{kind="TFJob.mpba.fbk.eu",phase="Running"} [1-9]' numbers
  }
  eventually 120 standby_knows
  kill -TERM "$(cat a.pid)"
  ended a 0
  other() {
    local now
    now=$(holder) && [ "$now" != "$first" ]
  }
  eventually 120 other
  example mpba-tfjob/ps-worker | ends 0 >job.json
  kubectl -n "$ns" create -f job.json
  kubectl -n "$ns" wait --for=condition=Complete --timeout=120s "$(job_in job.json)"
}

@test "the leader is killed: the other takes over after the lease's duration" {
  may_lease "$ns"
  lease=(--leader-elect --leader-elect-resource-namespace="$ns" --leader-elect-lease-duration=8s
    --leader-elect-renew-deadline=5s --leader-elect-retry-period=500ms)
  leads() {
    metrics "$1" | grep -q '^leader_election_master_status{name="dl-operator"} 1'
  }
  operator a "${lease[@]}"
  eventually 120 leads a
  operator b "${lease[@]}"
  ready b
  kill -KILL "$(cat a.pid)"
  eventually 120 leads b
  # Frozen and thawed, it knows that it does not lead any more.
  operator a "${lease[@]}"
  ready a
  kill -STOP "$(cat b.pid)"
  eventually 120 leads a
  kill -CONT "$(cat b.pid)"
  eventually 120 grep -q 'is no longer the leader' b.log
}

@test "a kind whose definition does not do is not served; the others are" {
  mkdir kinds
  sed 's/mlkube\.io/other.example/g' "$root/kinds/mlkube-tfjob.lua" >kinds/other.lua
  DL_OPERATOR_KINDS=$PWD/kinds dljob crds -o json TfJob.other.example |
    jq '.items[0] // . | del(.metadata.annotations, .spec.versions[].subresources)' >foreign.json
  kubectl apply -f foreign.json
  kubectl wait --for=condition=Established --timeout=120s crd/tfjobs.other.example
  OPERATOR_RIGHTS=all operator a --kinds-dir=kinds
  ready a
  grep -q 'no status subresource (--adopt-crds replaces it)' a.log
  example mpba-tfjob/ps-worker | ends 0 >job.json
  kubectl -n "$ns" create -f job.json
  kubectl -n "$ns" wait --for=condition=Complete --timeout=120s "$(job_in job.json)"
  kill -TERM "$(cat a.pid)"
  ended a 0
  "$DL_OPERATOR" install-crds --kinds-dir=kinds --kinds=TfJob.other.example --adopt-crds
  [ "$(kubectl get crd tfjobs.other.example -o jsonpath='{.spec.versions[0].subresources.status}')" = '{}' ]
  kubectl delete crd tfjobs.other.example
}

@test "definitions that it made go at the end, if it was told so" {
  mkdir kinds
  sed 's/mlkube\.io/gone.example/g' "$root/kinds/mlkube-tfjob.lua" >kinds/gone.lua
  OPERATOR_RIGHTS=all operator a --kinds-dir=kinds --kinds=TfJob.gone.example --cleanup-on-exit
  ready a
  kubectl get crd tfjobs.gone.example
  kill -TERM "$(cat a.pid)"
  ended a 0
  eventually 120 refused 'not found' kubectl get crd tfjobs.gone.example
}

@test "kinds that are added, spoilt and mended while it runs" {
  mkdir kinds
  OPERATOR_RIGHTS=all operator a --kinds-dir=kinds --leader-elect --leader-elect-resource-namespace="$ns" \
    --leader-elect-lease-duration=1h --leader-elect-renew-deadline=30m --cleanup-on-exit=false
  ready a
  sed 's/mlkube\.io/late.example/g' "$root/kinds/mlkube-tfjob.lua" >late
  mv late kinds/late.lua
  eventually 120 kubectl wait --for=condition=Established crd/tfjobs.late.example
  ready a
  example mlkube-tfjob/gpu | ends 0 | sed 's/mlkube\.io/late.example/' >job.json
  eventually 120 kubectl -n "$ns" create -f job.json
  kubectl -n "$ns" wait --for=condition=Complete --timeout=120s "$(job_in job.json)"
  echo 'no Lua' >kinds/late.lua
  eventually 120 grep -q 'the kinds are unchanged: .*late.lua' a.log
  # The others, and the kind as it was, are served all the same.
  for name in mlkube.io late.example; do
    example mlkube-tfjob/gpu | ends 0 | jq '.metadata.name = "again"' |
      sed "s/mlkube\.io/$name/" >job.json
    kubectl -n "$ns" create -f job.json
    kubectl -n "$ns" wait --for=condition=Complete --timeout=120s "$(job_in job.json)"
  done
  # One process, one lease all the time.
  [ "$(kubectl -n "$ns" get lease dl-operator -o jsonpath='{.spec.leaseTransitions}')" = 0 ]
  kill -TERM "$(cat a.pid)"
  ended a 0
  kubectl delete crd tfjobs.late.example
}

# pods_have NAME PATTERN: what the pod of the job NAME has as variables.
pods_have() {
  kubectl -n "$ns" get pods -l "dl-operator.mpba.fbk.eu/job=$1" \
    -o jsonpath='{.items[0].spec.containers[0].env[*].name} {.items[0].spec.containers[0].resources.limits}' |
    tee "$1.has" | grep -q "$2"
}

@test "accelerators that are changed, spoilt and mended while it runs" {
  # As the kubelet mounts a ConfigMap: one link is swapped.
  config() {
    mkdir "..$1"
    cat >"..$1/config.yaml"
    ln -s "..$1" ..new
    mv -T ..new ..data
  }
  job() {
    example mlkube-tfjob/gpu | goes_on | jq --arg name "$1" '.metadata.name = $name
      | .spec.replicaSpecs[0].template.spec.containers[0].resources.limits = {"example.org/old": 1}' >job.json
    kubectl -n "$ns" create -f job.json
    eventually 120 pods_have "$1" "$2"
  }
  config 1 <<<'accelerators: {example.org/old: {envVars: [{name: FIRST, value: a}]}}'
  ln -s ..data/config.yaml config.yaml
  operator a -controller_config_file=config.yaml
  ready a
  job one FIRST
  config 2 <<<'accelerators: {example.org/old: {resource: example.org/new}}'
  eventually 120 grep -q 'the accelerators have changed' a.log
  ready a
  job two example.org/new
  config 3 <<<'acelerators: {}'
  eventually 120 grep -q 'the accelerators are unchanged: .*did you mean \\"accelerators\\"' a.log
  job three example.org/new
  # A pod that was there is not touched, one that is made anew has the new.
  pods_have one FIRST
  uid=$(kubectl -n "$ns" get pods -l dl-operator.mpba.fbk.eu/job=one -o 'jsonpath={.items[0].metadata.uid}')
  config 4 <<<'accelerators: {example.org/old: {envVars: [{name: LAST, value: a}]}}'
  eventually 120 sh -c "[ \$(grep -c 'the accelerators have changed' a.log) = 2 ]"
  ready a
  pods_have one FIRST
  [ "$uid" = "$(kubectl -n "$ns" get pods -l dl-operator.mpba.fbk.eu/job=one -o 'jsonpath={.items[0].metadata.uid}')" ]
  kubectl -n "$ns" delete pods -l dl-operator.mpba.fbk.eu/job=one --wait=false
  eventually 120 pods_have one LAST
  kill -TERM "$(cat a.pid)"
  ended a 0
}

@test "one namespace: its jobs are served, the others' are not" {
  kubectl create namespace "$ns-other"
  example mpba-tfjob/ps-worker | ends 0 >job.json
  kubectl -n "$ns-other" create -f job.json
  operator a --namespace="$ns"
  ready a
  grep -q 'node failures are not detected' a.log
  kubectl -n "$ns" create -f job.json
  kubectl -n "$ns" wait --for=condition=Complete --timeout=120s "$(job_in job.json)"
  [ -z "$(kubectl -n "$ns-other" get pods -o name)" ]
  kubectl delete namespace "$ns-other" --wait=false
}

@test "a server that is not there is waited for" {
  kubectl config view --raw --flatten | sed "s|server: .*|server: https://127.0.0.1:$(free_port)|" >nobody.yaml
  operator a --kubeconfig=nobody.yaml
  eventually 120 grep -q 'no answer' a.log
  eventually 120 probe a /healthz
  refused '503' curl -sSf "127.0.0.1:$(cut -d' ' -f2 a.ports)/readyz"
  kill -TERM "$(cat a.pid)"
  ended a 0
}

@test "a wrong flag or file: one line, exit 2" {
  wrong() {
    local what=$1 rc=0
    shift
    "$DL_OPERATOR" "$@" >out 2>err || rc=$?
    cat err
    [ "$rc" = 2 ]
    [ ! -s out ]
    [ "$(wc -l <err)" = 1 ]
    grep -qF -- "$what" err
  }
  wrong 'unknown flag --leader-elct; did you mean --leader-elect?' --leader-elct
  wrong "there is no kind 'NoJob'" --kinds=NoJob
  wrong "unexpected argument 'serve'" serve
  wrong '/nowhere' --kinds-dir=/nowhere
  wrong '/nowhere/config' --kubeconfig=/nowhere/config
  echo 'this is no Lua' >x.lua
  wrong 'x.lua' --kinds-dir=.
}
