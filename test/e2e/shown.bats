#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2317 # helpers.bash sets root, status, out and err; eventually calls what is there
# What is shown of what others have written, and what the shell is offered of it.
load helpers
load canned-server

# harmless: what was written on either output moves no terminal's cursor.
harmless() {
  controls='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]'
  turns='\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]'
  if LC_ALL=C grep -nP "$controls|$turns" stdout stderr; then
    return 1
  fi
}

@test "whatever an object says is shown and not done" {
  bad='x\u001b[2J\u001b]0;t\u0007y\u009b1mz\u202e\r'
  odd=$(job demo Failed here | jq -c --argjson bad "\"$bad\"" '.status.dlOperator.reason = $bad
    | .metadata.annotations.note = $bad | .metadata.annotations[$bad] = "x"
    | .spec[$bad] = 1 | .spec.replicaSpecs[0].tfPort = $bad')
  pod=$(jq -n -c --argjson bad "\"$bad\"" '{metadata: {name: $bad, namespace: "ml", uid: "p", labels: {
    "dl-operator.mpba.fbk.eu/uid": "u-demo", "dl-operator.mpba.fbk.eu/role": $bad,
    "dl-operator.mpba.fbk.eu/index": "0", "dl-operator.mpba.fbk.eu/generation": "0"}},
    spec: {nodeName: $bad, containers: [{name: "tensorflow"}]}, status: {phase: "Pending", reason: $bad, message: $bad,
    containerStatuses: [{name: "tensorflow", state: {waiting: {reason: $bad, message: $bad}}}]}}')
  event=$(jq -n -c --argjson bad "\"$bad\"" '{metadata: {name: "e", namespace: "ml"}, type: $bad, reason: $bad,
    message: $bad, involvedObject: {kind: "TfJob", name: "demo", uid: "u-demo"}}')
  no="{\"kind\":\"Status\",\"message\":\"$bad\"}"
  answers "GET $tfjobs/demo 200 $odd" "GET $tfjobs 200 [$odd]" "GET /api/v1/namespaces/ml/pods 200 [$pod]" \
    "GET /api/v1/namespaces/ml/events 200 [$event]" "PATCH $tfjobs/demo 403 $no" "DELETE $tfjobs/demo 403 $no" \
    "POST $tfjobs 403 $no"
  serve
  for c in list "list -o json" "list -o yaml" "list -o name" "get demo" "get -o json demo" "get -o yaml demo" \
    "wait demo" "logs demo" "rerun demo" "scale demo worker=3" "suspend demo" "resume demo" "delete demo" \
    "__complete -- get de" "__complete -- get -n ml"; do
    echo "$c"
    # shellcheck disable=SC2086 # words
    split dljob $c
    harmless
    [ -s stdout ] || [ -s stderr ]
  done
  split dljob get demo
  has "$out" 'Failed: x\x1b[2J\x1b]0;t\x07y\x9b1mz\u202e\x0d'
  dljob get -q -o json demo | jq -e --argjson bad "\"$bad\"" '.status.dlOperator.reason == $bad'
  # The same in what is wrong with a file.
  printf '%s' "$odd" >job.json
  for c in validate render "submit" "run"; do
    echo "$c"
    split dljob $c job.json
    is "$status" 2
    harmless
  done
  has "$err" 'tfPort'
}

@test "top, exec, cp, port-forward: whatever an object or the server says is shown and not done" {
  bad='x\u001b[2J\u001b]0;t\u0007y\u009b1mz\u202e\r'
  pod=$(jq -n -c --argjson bad "\"$bad\"" '{metadata: {name: $bad, namespace: "ml", uid: "p", labels: {
    "dl-operator.mpba.fbk.eu/uid": "u-demo", "dl-operator.mpba.fbk.eu/role": "master",
    "dl-operator.mpba.fbk.eu/index": "0", "dl-operator.mpba.fbk.eu/generation": "0"}},
    spec: {nodeName: $bad, containers: [{name: "tensorflow"}]}, status: {phase: "Running",
    containerStatuses: [{name: "tensorflow", ready: true, state: {running: {}}}]}}')
  use=$(jq -n -c --argjson bad "\"$bad\"" '{metadata: {name: $bad, namespace: "ml"}, containers: [{name: $bad,
    usage: {cpu: "5m", memory: "7Mi"}}]}')
  no="{\"kind\":\"Status\",\"message\":\"$bad\"}"
  answers "GET $tfjobs/demo 200 $(job demo Running here)" "GET $tfjobs 200 [$(job demo Running here)]" \
    "GET /api/v1/namespaces/ml/pods/ 403 $no" "GET /api/v1/namespaces/ml/pods 200 [$pod]" \
    "GET /apis/metrics.k8s.io/v1beta1/namespaces/ml/pods 200 [$use]"
  serve
  split dljob top demo
  harmless
  has "$out" 'x\x1b[2J'
  answers "GET $tfjobs/demo 200 $(job demo Running here)" "GET $tfjobs 200 [$(job demo Running here)]" \
    "GET /api/v1/namespaces/ml/pods/ 403 $no" \
    "GET /api/v1/namespaces/ml/pods 200 [$(jq -c '.metadata.name = "demo-master-0"' <<<"$pod")]" \
    "GET /apis/metrics.k8s.io/v1beta1/namespaces/ml/pods 403 $no"
  echo x >file
  for c in "top demo" "exec demo master-0 -- true" "cp demo master-0:/x here" "cp demo file master-0:/x"; do
    echo "$c"
    # shellcheck disable=SC2086 # words
    split dljob $c
    is "$status" 1
    harmless
    has "$err" 'x\x1b[2J'
  done
  # It says so when somebody comes.
  "$DLJOB" port-forward demo master-0 0:80 >stdout 2>stderr 3>&- &
  echo $! >forward.pid
  eventually 60 grep -q 127.0.0.1: stdout
  curl -s -m 60 "http://$(grep -o '127.0.0.1:[0-9]*' stdout | head -n 1)/" || true
  eventually 60 grep -qF 'x\x1b[2J' stderr
  harmless
}

@test "a valid job with such words is printed as JSON and YAML that move nothing, and means the same" {
  bad='x\u001b[2J\u001b]0;t\u0007y\u009b1mz\u202e\r'
  trainers odd true | yaml_to_json | jq --argjson bad "\"$bad\"" '.[0] | .metadata.annotations[$bad] = $bad
    | .spec.replicaSpecs.trainer.template.metadata.annotations[$bad] = $bad
    | .spec.replicaSpecs.trainer.template.spec.containers[0] |=
      (.env = [{name: "ODD", value: $bad}] | .args = [$bad])' >odd.json
  raw=$(jq -rn --argjson bad "\"$bad\"" '$bad')
  # COMMAND FILTER: the value that the first of its objects which has it shows.
  means() {
    echo "$1"
    # shellcheck disable=SC2086 # words
    split dljob $1 "${@:3}"
    is "$status" 0
    harmless
    has "$out" 1mz
    yaml_to_json <stdout | jq -e --argjson bad "\"$bad\"" "[.[] | $2] | any(. == \$bad)"
  }
  means "render odd.json" '.spec.containers[0]?.args[0]'
  # shellcheck disable=SC2016 # of jq
  means "submit --dry-run odd.json" '.metadata.annotations[$bad]'
  means "run -o json -n 1 --env ODD=$raw" '.. | objects | select(.name == "ODD") | .value' -- echo "$raw"
}

@test "run on a terminal: whatever an object says is shown and not done" {
  bad='x\\e[2Jy\\u202e\\u009b1mz'
  trainers odd 'sleep 1000' | sed "s/{name: odd}/{name: odd, annotations: {failed: \"$bad\"}}/" >odd.yaml
  script -qec "stty cols 200; $DLJOB run odd.yaml" /dev/null >terminal </dev/null || true
  # The rest is ours: where a line begins, and that it is removed.
  sed 's/\r//g; s/\x1b\[K//g; s/\x1b\[[02]m//g' terminal >stdout
  : >stderr
  harmless
  has "$(cat stdout)" 'Failed after'
  has "$(cat stdout)" 'x\x1b[2Jy\u202e\x9b1mz'
}

@test "dl-operator: whatever a server or its caller says is shown and not done" {
  : "${DL_OPERATOR:=$(dirname "$DLJOB")/dl-operator}"
  split "$DL_OPERATOR" $'--x\e[2J\u202e\u009b1m'
  is "$status" 2
  harmless
  has "$err" '--x\x1b[2J\u202e\x9b1m'
  answers "GET / 403 {\"kind\":\"Status\",\"message\":\"x\\u001b[2J\\u202e\\u009b1m\"}"
  serve
  split "$DL_OPERATOR" install-crds --kubeconfig=kubeconfig
  [ "$status" != 0 ]
  harmless
  has "$err" 'x\u001b[2J\u202e\u009b1m'
  split "$DL_OPERATOR" install-crds --kubeconfig=kubeconfig --json-log-format=false
  [ "$status" != 0 ]
  harmless
  has "$err" 'x\x1b[2J\u202e\x9b1m'
  printf '%s\n' 'current-context: "x\e[2J\u202e\u009b1m"' >lost
  split "$DL_OPERATOR" --kubeconfig=lost
  is "$status" 2
  harmless
  has "$err" 'x\x1b[2J\u202e\x9b1m'
}

@test "get -w, list -w: whatever an object says is shown and not done" {
  bad='x\u001b[2J\u001b]0;t\u0007y\u009b1mz\u202e\r'
  odd=$(job demo Failed here | jq -c --argjson bad "\"$bad\"" '.status.dlOperator.reason = $bad')
  pod=$(jq -n -c --argjson bad "\"$bad\"" '{metadata: {name: $bad, namespace: "ml", uid: "p", labels: {
    "dl-operator.mpba.fbk.eu/uid": "u-demo", "dl-operator.mpba.fbk.eu/role": $bad,
    "dl-operator.mpba.fbk.eu/index": "0", "dl-operator.mpba.fbk.eu/generation": "0"}},
    spec: {nodeName: $bad, containers: [{name: "tensorflow"}]}, status: {phase: "Failed", reason: $bad, message: $bad,
    containerStatuses: [{name: "tensorflow", state: {terminated: {exitCode: 1, reason: $bad}}}]}}')
  changed=$(jq -c '{type: "MODIFIED", object: (.status.dlOperator.reason = "then " + .status.dlOperator.reason)}
    | tojson + "\n"' <<<"$odd")
  answers "GET $tfjobs/demo 200 $odd" "GET $tfjobs?watch 200 $changed" "GET $tfjobs? 200 [$odd]" \
    "GET /api/v1/namespaces/ml/pods?watch 200 $(jq -c '{type: "DELETED", object: .} | tojson + "\n"' <<<"$pod")" \
    "GET /api/v1/namespaces/ml/pods 200 [$pod]"
  serve
  # watch COMMAND LINE…: until it has shown all of these.
  watch() {
    # shellcheck disable=SC2086 # words
    "$DLJOB" $1 >stdout 2>stderr 3>&- &
    echo $! >watch.pid
    for line in "${@:2}"; do eventually 60 grep -qF -- "$line" stdout; done
    kill -INT "$(cat watch.pid)"
    wait "$(cat watch.pid)" || true
    harmless
  }
  watch "get demo -w" 'demo: Failed: x\x1b[2J' 'demo: Failed: then x\x1b[2J' 'exit code 1 on x\x1b[2J' '-0: deleted'
  watch "list -w" 'Failed  x\x1b[2J' 'Failed  then x\x1b[2J'
}

@test "completion: states, and the roles of the job that is named" {
  answers "GET $tfjobs/demo 200 $(job demo Running x)" "GET $tfjobs? 200 []" \
    "GET /api/v1/namespaces/ml/pods 200 []" "GET /api/v1/namespaces/ml/events 200 []"
  serve
  offers() { is "$(dljob __complete -- "${@:2}" | sed '/^:/d' | paste -s -d " ")" "$1"; }
  offers "master worker" logs TfJob/demo --role ""
  offers "--role=worker" logs TfJob/demo --role=w
  offers "master= worker=" scale TfJob/demo ""
  offers "worker=" scale TfJob/demo master=1 wo
  offers "" logs --role ""
  offers "" render demo.yaml --role ""
  offers "Waiting" list --state W
  offers "--state=Running --state=Restarting" list --state=R
  # A word that the list takes, each of them.
  for state in $(dljob __complete -- list --state "" | sed '/^:/d'); do
    split dljob list -q --state "$state"
    is "$status" 0
  done
}
