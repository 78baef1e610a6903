#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, status, out and err
# The commands that speak to a cluster: which one it is, what they say when it refuses, what they send.
load helpers
load canned-server

@test "no cluster at all: what to do about it" {
  for c in list "get x" "logs x" "wait x" "delete x" "rerun x" "scale x worker=1" "suspend x" "resume x"; do
    # shellcheck disable=SC2086 # words
    split dljob $c
    is "$status" 1
    is "$err" "dljob ${c%% *}: there is no kubeconfig, and no cluster runs on this machine; start one with \
'dljob local up'"
  done
  split dljob list --local
  is "$err" "dljob list: no cluster runs on this machine; start one with 'dljob local up'"
  split dljob list --local --context x
  is "$status" 2
  split dljob list --kubeconfig none
  is "$status" 1
  has "$err" "--kubeconfig: none does not exist"
}

@test "which cluster: kubeconfig, the one on this machine, and what is said of it" {
  answers "GET $tfjobs 200 [$(job demo Running 'all run')]"
  serve
  split dljob list
  is "$status" 0
  is "$err" "cluster: here (http://127.0.0.1:$(cat port))"
  split dljob list -q
  is "$err" ""
  split dljob list -o name
  is "$out" "TfJob.mlkube.io/demo"
  is "$err" ""
  # ~/.kube/config, too.
  mkdir "$HOME/.kube"
  cp kubeconfig "$HOME/.kube/config"
  unset KUBECONFIG
  is "$(dljob list -o name)" "TfJob.mlkube.io/demo"
  rm "$HOME/.kube/config"
  # Nothing: the one of this machine.
  mkdir -p "$HOME/.local/state/dljob"
  cp kubeconfig "$HOME/.local/state/dljob/"
  split dljob list
  is "$status" 0
  is "$err" "cluster: this machine"
  DLJOB_HOME=$PWD split dljob list --local
  is "$status" 0
}

@test "a server that cannot be reached" {
  config 1 >kubeconfig
  split dljob list --kubeconfig kubeconfig -q
  is "$status" 1
  has "$err" "dljob list: cannot list"
  has "$err" "http://127.0.0.1:1 cannot be reached: "
  has "$err" "is the server running, and is this the right context?"
  is "$(wc -l <stderr)" 1
  mkdir here
  cp kubeconfig here/
  DLJOB_HOME=here split dljob get x --local -q
  is "$status" 1
  has "$err" "start the cluster on this machine with 'dljob local up'"
}

@test "a credential plugin that works once, then fails for two jobs" {
  cat >plugin <<'SH'
#!/bin/sh
[ ! -e used ] || exit 7
touch used
echo '{"status":{"token":"t"}}'
SH
  chmod +x plugin
  answers "GET /apis/mlkube.io/ 401 {}" "GET /apis 200 {}"
  serve
  jq -n --arg port "$(cat port)" --arg plugin "$PWD/plugin" '{
    apiVersion: "v1", kind: "Config", "current-context": "here",
    contexts: [{name: "here", context: {cluster: "k", user: "u"}}],
    clusters: [{name: "k", cluster: {server: "http://127.0.0.1:\($port)"}}],
    users: [{name: "u", user: {exec: {apiVersion: "client.authentication.k8s.io/v1", command: $plugin}}}]}' >kubeconfig
  split dljob wait -q TfJob/one TfJob/two
  is "$status" 1
  is "$(grep -c "credential plugin .*/plugin: exit status 7" stderr)" 2
  is "$(wc -l <stderr)" 2
}

@test "a certificate that is not trusted" {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 \
    -subj /CN=other 2>/dev/null
  cat key.pem cert.pem >both.pem
  answers
  serve both.pem
  split dljob list -q
  is "$status" 1
  has "$err" "the certificate of https://127.0.0.1:$(cat port) is not accepted"
  has "$err" "does the certificate-authority of context here belong to this server?"
}

@test "a credential plugin that fails" {
  config 1 >kubeconfig
  cat >>kubeconfig <<'YAML'
users:
- name: u
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, interactiveMode: Never}}
YAML
  sed -i 's/cluster: k, /&user: u, /' kubeconfig
  printf '#!/bin/sh\necho please log in >&2\nexit 1\n' >login
  chmod +x login
  split dljob list --kubeconfig kubeconfig -q
  is "$status" 1
  has "$err" "please log in"
}

@test "401, 403, 5xx, and kinds that the server does not know" {
  refusal='{"kind": "Status", "message": "tfjobs is forbidden: User \"me\" cannot list"}'
  answers "GET $tfjobs 403 $refusal"
  serve
  split dljob list -q
  is "$status" 1
  is "$err" "dljob list: cannot list TfJob.mlkube.io: not allowed: tfjobs is forbidden: User \"me\" cannot list"
  # What may be seen is shown.
  answers "GET $tfjobs 403 $refusal" "GET /apis/elasticdeeplearning.ai/ 200 []"
  split dljob list -q
  is "$status" 1
  has "$err" "not allowed"
  answers "GET $tfjobs 401 {}"
  split dljob list -q tfjob.mlkube.io
  has "$err" "does not accept the credentials of context here (401)"
  answers "GET $tfjobs 503 {\"kind\":\"Status\",\"message\":\"etcd\"}"
  split dljob list -q tfjob.mlkube.io
  is "$err" "dljob list: cannot list TfJob.mlkube.io: the server answered 503: etcd"
  answers
  split dljob list -q
  is "$err" "dljob list: none of the kinds is installed on this cluster: run 'dl-operator install-crds', or \
'dljob crds | kubectl apply -f -'"
  split dljob list -q aitj
  is "$err" "dljob list: AITrainingJob is not installed on this cluster: run 'dl-operator install-crds', or \
'dljob crds AITrainingJob.elasticdeeplearning.ai | kubectl apply -f -'"
}

@test "list: newest first, by state, by kind, as objects" {
  new=$(job new Failed 'worker-1 failed' | jq -c '.metadata.creationTimestamp = "2021-01-01T00:00:00Z"')
  answers "GET $tfjobs 200 [$(job old Running 'all run'),$new]" \
    "GET /apis/mlkube.io/v1beta1/tfjobs 200 [$(job old Running x)]"
  serve
  split dljob list -q
  is "$(awk '{ print $1, $2, $3 }' stdout | paste -s -d ';')" \
    "NAME KIND STATE;new TfJob.mlkube.io Failed;old TfJob.mlkube.io Running"
  has "$out" "worker-1 failed"
  is "$(dljob list -q --state failed -o name)" "TfJob.mlkube.io/new"
  is "$(dljob list -o json | jq -c '[.items[].metadata.name]')" '["new","old"]'
  is "$(dljob list -o yaml | grep -c '^kind: TfJob')" 2
  has "$(dljob list -A -q)" "NAMESPACE"
  has "$(cat requests)" "GET /apis/mlkube.io/v1beta1/tfjobs?"
  dljob list -q -l 'a=b,c!=d'
  has "$(last GET)" "labelSelector=a%3Db%2Cc%21%3Dd"
  for wrong in "-o table2" "--state Odd" "-w -o json" "-n A/B"; do
    # shellcheck disable=SC2086 # words
    split dljob list -q $wrong
    is "$status" 2
  done
  split dljob list frob -q
  is "$status" 2
  is "$err" "dljob list: there is no kind 'frob'; see 'dljob kinds'"
}

@test "list: kinds of one name with their group" {
  mx() { job "$1" Running 'all run' | jq -c --arg api "$2" '.apiVersion = $api | .kind = "MXJob"'; }
  answers "GET /apis/mpba.fbk.eu/v1/namespaces/ml/mxjobs 200 [$(mx one mpba.fbk.eu/v1)]" \
    "GET /apis/fioravanzo.org/v1alpha1/namespaces/ml/mxjobs 200 [$(mx two fioravanzo.org/v1alpha1)]"
  serve
  split dljob list -q mxjobs
  is "$(awk '{ print $1, $2 }' stdout | sort | paste -s -d ';')" \
    "NAME KIND;one MXJob.mpba.fbk.eu;two MXJob.fioravanzo.org"
  is "$(dljob list -o name mpbamx)" "MXJob.mpba.fbk.eu/one"
}

@test "a list that comes in pages" {
  page=$(jq -n -c --argjson j "$(job one Running x)" \
    '{metadata: {resourceVersion: "7", continue: "next"}, items: [$j]}')
  answers "GET $tfjobs?limit=500&continue=next 200 [$(job two Running x)]" "GET $tfjobs 200 $page"
  serve
  is "$(dljob list -o name | sort | paste -s -d ' ')" "TfJob.mlkube.io/one TfJob.mlkube.io/two"
}

@test "names: nearly right, of several kinds, impossible" {
  ai='{"apiVersion":"elasticdeeplearning.ai/v1","kind":"AITrainingJob","metadata":{"name":"demo","namespace":"ml"}}'
  answers "GET $tfjobs/demo 200 $(job demo Running x)" "GET $tfjobs? 200 [$(job demo Running x)]" \
    "GET /apis/elasticdeeplearning.ai/v1/namespaces/ml/aitrainingjobs/demo 200 $ai"
  serve
  split dljob get demo -q
  is "$status" 2
  is "$err" "dljob get: there are several jobs demo: use AITrainingJob.elasticdeeplearning.ai/demo or \
TfJob.mlkube.io/demo"
  split dljob get deno -q
  is "$status" 1
  is "$err" "dljob get: there is no job deno in namespace ml; did you mean demo?"
  split dljob get mnist -q
  is "$err" "dljob get: there is no job mnist in namespace ml; 'dljob list -A' shows all jobs"
  split dljob get "../demo" -q
  is "$status" 2
  for name in "a/../b" "tfjob.mlkube.io/A" "" ".." "x y"; do
    split dljob get "$name" -q
    is "$status" 2
  done
  is "$(dljob get tfjob.mlkube.io/demo -o json | jq -r .metadata.uid)" u-demo
}

@test "get: the tree" {
  pod='{"metadata":{"name":"p0","uid":"1","labels":{"dl-operator.mpba.fbk.eu/uid":"u-demo",
    "dl-operator.mpba.fbk.eu/role":"worker","dl-operator.mpba.fbk.eu/index":"1"}},"spec":{"nodeName":"n7"},
    "status":{"phase":"Failed","containerStatuses":[{"name":"tensorflow","state":{"terminated":{"exitCode":3}}}]}}'
  answers "GET $tfjobs/demo 200 $(job demo Running 'waiting for worker-1')" \
    "GET /api/v1/namespaces/ml/pods 200 [$(jq -c . <<<"$pod")]" "GET /api/v1/namespaces/ml/events 200 []"
  serve
  split dljob get demo -q
  is "$status" 0
  has "$out" "Running: waiting for worker-1"
  [[ $out =~ worker-1\ +Failed\ +0\ +3\ +n7\ +p0 ]]
  has "$(grep pods requests)" "labelSelector=dl-operator.mpba.fbk.eu%2Fuid%3Du-demo"
}

@test "wait: exit codes" {
  answers "GET $tfjobs/demo 200 $(job demo Succeeded 'master-0 completed')" \
    "GET $tfjobs? 200 [$(job demo Succeeded 'master-0 completed')]"
  serve
  split dljob wait demo -q
  is "$status" 0
  is "$out" "demo Succeeded: master-0 completed"
  answers "GET $tfjobs/demo 200 $(job demo Failed 'worker-1 failed')" \
    "GET $tfjobs? 200 [$(job demo Failed 'worker-1 failed')]"
  split dljob wait demo -q --for succeeded
  is "$status" 1
  is "$out" "demo Failed: worker-1 failed"
  split dljob wait demo -q --for deleted --timeout 100ms
  is "$status" 124
  is "$err" "dljob wait: timed out: demo Failed: worker-1 failed"
  answers "GET $tfjobs/demo 200 $(job demo Running x)" "GET $tfjobs?watch=true 403 {}" \
    "GET $tfjobs? 200 [$(job demo Running x)]"
  split dljob wait demo -q --for running
  is "$status" 0
  split dljob wait demo -q
  is "$status" 1
  has "$err" "cannot watch the job: not allowed"
  split dljob wait demo --for ever
  is "$status" 2
}

@test "submit: checked as validate does, nothing is sent if anything is wrong" {
  answers "POST $tfjobs 201 $(job demo '' '')"
  serve
  tfjob good 1 >good.yaml
  tfjob bad -1 >bad.yaml
  split dljob submit -q good.yaml bad.yaml
  is "$status" 2
  has "$err" "bad.yaml:10:5: error: spec.replicaSpecs[1].replicas: must be 0 to 100000, found -1"
  has "$err" "dljob submit: nothing was sent: there is an error"
  [ ! -e requests ]
  split dljob submit -q good.yaml
  is "$status" 0
  is "$out" "TfJob.mlkube.io/demo created"
  [[ $(last POST) == "POST $tfjobs {"*'"name":"good"'* ]]
  split dljob submit -q good.yaml --name
  is "$status" 2
  split dljob submit -q - <good.yaml
  is "$status" 0
  split dljob submit -q none.yaml
  is "$status" 2
}

@test "submit, delete -f: a file without a job" {
  answers "POST $tfjobs 201 $(job demo '' '')"
  serve
  printf 'apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: d}\n' >other.yaml
  : >empty.yaml
  for c in submit "delete -f"; do
    # shellcheck disable=SC2086 # words
    split dljob $c other.yaml -q
    is "$status" 2
    is "$out" ""
    has "$err" "dljob ${c%% *}: there is no job in other.yaml: PyTorchJob of kubeflow.org/v1 is not a known API"
    # shellcheck disable=SC2086 # words
    split dljob $c empty.yaml -q
    is "$status" 2
    is "$err" "dljob ${c%% *}: there is no job in empty.yaml: it is empty"
  done
  # What is wrong in it has been said.
  printf 'kind: TfJob\n' >wrong.yaml
  split dljob delete -q -f wrong.yaml
  is "$status" 2
  is "$err" "wrong.yaml:1:1: error: apiVersion: is missing"
  grep -v '^GET /apis' requests >sent || true
  is "$(cat sent)" ""
}

@test "submit: changes on the way, another name, a dry run" {
  tfjob demo 1 >job.yaml
  split dljob submit --dry-run job.yaml --set 'spec.replicaSpecs[1].replicas=3' --set spec.policy.cleanPods=None \
    --env LR=0.1 --suffix b
  is "$status" 0
  yaml_to_json <stdout >sent.json
  is "$(jq -c '.[0] | [.metadata.name, .spec.replicaSpecs[1].replicas, .spec.policy.cleanPods,
    ([.. | .env? | select(.) | .[0].value] | unique)]' sent.json)" '["demo-b",3,"None",["0.1"]]'
  split dljob submit --dry-run job.yaml --set 'spec.replicaSpecs[9].replicas=3'
  is "$status" 2
  has "$err" "--set spec.replicaSpecs[9].replicas=3: spec.replicaSpecs has 2 items, starting at [0]: there is no [9]"
  # A change is checked like the rest.
  split dljob submit --dry-run job.yaml --set 'spec.replicaSpecs[1].replicas=x'
  is "$status" 2
  has "$err" "spec.replicaSpecs[1].replicas"
  split dljob submit --dry-run job.yaml job.yaml --name x
  is "$status" 2
  has "$err" "--name is for one job; there are 2"
}

@test "submit: what is there already, what the job needs, what is not allowed" {
  answers "POST $tfjobs 409 {\"kind\":\"Status\",\"reason\":\"AlreadyExists\"}" \
    "POST /api/v1/namespaces/ml/configmaps 201 {}"
  serve
  {
    tfjob demo 1
    printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n'
    printf -- '---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n'
  } >job.yaml
  split dljob submit -q job.yaml
  is "$status" 1
  is "$out" "ConfigMap/c created"
  has "$err" "job.yaml:18:1: note: Deployment of apps/v1 is not a job: skipped"
  has "$err" "TfJob.mlkube.io/demo already exists: 'dljob rerun demo' runs it again"
  tfjob demo 1 | sed 's/name: demo/&\n  namespace: other/' >other.yaml
  split dljob submit -q -n ml other.yaml
  is "$status" 2
  has "$err" "demo is in namespace other, not in ml"
  split dljob submit -q other.yaml
  has "$err" "TfJob.mlkube.io is not installed on this cluster"
}

@test "kinds that only the cluster knows: by discovery and their category, without a look at definitions" {
  group() { jq -n -c --arg g "$1" '{name: $g, preferredVersion: {groupVersion: "\($g)/v1", version: "v1"}}'; }
  resource() {
    jq -n -c --arg kind "$1" --arg plural "$2" --argjson categories "$3" '{kind: $kind, name: $plural,
      singularName: ($kind | ascii_downcase), namespaced: true, categories: $categories, shortNames: ["ri"]}'
  }
  ring=$(job one Running "all run" | jq -c '.kind = "RingJob" | .apiVersion = "ring.example/v1"')
  resources=$(resource RingJob ringjobs '["dljobs"]'),$(resource Ring rings '["all"]')
  resources+=,$(resource RingJob ringjobs/status '["dljobs"]')
  groups=$(group apps),$(group storage.k8s.io),$(group ring.example),$(group away.example)
  answers "GET /apis/ring.example/v1/namespaces/ml/ringjobs/one 200 $ring" \
    "GET /apis/ring.example/v1/namespaces/ml/ringjobs 200 [$ring]" "GET /api/v1/namespaces/ml/ 200 []" \
    "GET /apis/ring.example/v1 200 {\"resources\": [${resources//$'\n'/}]}" "GET $tfjobs 200 []" \
    "GET /apis 200 {\"groups\": [${groups//$'\n'/}]}"
  serve
  is "$(dljob list -q -o name)" RingJob.ring.example/one
  is "$(sed -n 's/^GET \([^? ]*\).*/\1/p' requests | sort -u | grep -v namespaces | paste -s -d ' ')" \
    "/apis /apis/away.example/v1 /apis/ring.example/v1"
  has_not "$(cat requests)" customresourcedefinitions
  is "$(dljob list -q -o name ri)" RingJob.ring.example/one
  split dljob list -q rings
  is "$status" 2
  has "$err" "there is no kind 'rings'"
  split dljob get -q ringjob/one
  is "$status" 0
  has "$out" "RingJob"
}

@test "submit to another cluster says nothing of this machine" {
  answers "POST $tfjobs 201 $(job demo '' '')"
  serve
  job demo "" "" | jq 'del(.status) | .metadata = {name: "demo", namespace: "ml"}' >demo.json
  dljob submit -q demo.json
  sent=$(last POST | sed 's/^[^{]*//')
  is "$(jq -c .metadata <<<"$sent")" '{"name":"demo","namespace":"ml"}'
  has_not "$sent" "$PWD"
}

@test "rerun: a new job of the old one, and only once that has ended" {
  answers "GET $tfjobs/demo 200 $(job demo Failed x)" "POST $tfjobs 201 $(job demo-2 '' '')" \
    "GET $tfjobs/runs 200 $(job runs Running x)"
  serve
  split dljob rerun demo -q --env A=b
  is "$status" 0
  is "$out" "TfJob.mlkube.io/demo-2 created"
  sent=$(last POST | sed 's/^[^{]*//')
  is "$(jq -c '[.metadata, has("status")]' <<<"$sent")" \
    '[{"name":"demo-2","namespace":"ml","annotations":{"keep":"this"}},false]'
  has "$sent" '{"name":"A","value":"b"}'
  dljob rerun demo -q --name again
  has "$(last POST)" '"name":"again"'
  split dljob rerun runs -q
  is "$status" 1
  is "$err" "dljob rerun: runs has not ended (Running): with --force a second one runs beside it"
  dljob rerun runs -q --force
  # Nothing is deleted for one that would be invalid.
  split dljob rerun demo -q --replace --set 'spec.replicaSpecs[1].replicas=-1'
  is "$status" 2
  set='spec.replicaSpecs[1].replicas=-1'
  is "$err" "--set $set: error: ${set%=*}: must be 0 to 100000, found -1"
  is "$(grep -c ^DELETE requests || true)" 0
}

@test "rerun: checks fields of pods as submit does, and warns once" {
  answers "GET $tfjobs/demo 200 $(job demo Failed x)" "POST $tfjobs 409 {}"
  serve
  path='spec.replicaSpecs[1].template.spec.containers[0].comand'
  split dljob rerun demo -q --set "$path=[a]"
  is "$status" 2
  is "$err" "--set $path=[a]: error: $path: unknown field, did you mean \`command\`?"
  is "$(grep -c ^POST requests || true)" 0
  split dljob rerun demo -q --set "$path=[a]" --validate=warn
  is "$(grep -c 'warning: ' stderr)" 1
  has "$err" "--set $path=[a]: warning: $path: unknown field, did you mean \`command\`?"
  is "$(grep -c ^POST requests)" 100
  split dljob rerun demo -q --set "$path=[a]" --validate=ignore
  has_not "$err" "unknown field"
  split dljob rerun demo -q --set 'spec.replicaSpecs[1].template.spec.containers[0].image=7' --validate=ignore
  is "$status" 2
  # What was wrong before is the job's.
  answers "GET $tfjobs/old 200 $(job old Failed x -1)"
  split dljob rerun old -q --set "$path=[a]"
  is "$status" 2
  is "$err" "--set $path=[a]: error: $path: unknown field, did you mean \`command\`?
dljob rerun: old-2 would be invalid: spec.replicaSpecs[1].replicas: must be 0 to 100000, found -1"
  split dljob rerun demo -q --validate=lax
  is "$status" 2
  has "$err" "--validate is strict, warn or ignore, not 'lax'"
}

@test "rerun: the next free number" {
  answers "GET $tfjobs/demo-2 200 $(job demo-2 Failed x)" "POST $tfjobs 409 {}"
  serve
  split dljob rerun demo-2 -q
  is "$status" 1
  is "$err" "dljob rerun: demo-3 to demo-102 already exist: choose a name with --name"
  sed -n 's/^POST.*"name":"\(demo-[0-9]*\)".*/\1/p' requests >names
  is "$(head -n 3 names | paste -s -d ' ')" "demo-3 demo-4 demo-5"
}

@test "scale: the kind's own field, its limits, and who cannot" {
  answers "GET $tfjobs/demo 200 $(job demo Running x)" "PATCH $tfjobs/demo 200 {}" \
    "GET $tfjobs/ended 200 $(job ended Failed x)"
  serve
  split dljob scale demo worker=4 -q
  is "$status" 0
  is "$out" "demo: worker from 2 to 4 replicas; the whole job restarts, not counted"
  # Not the resourceVersion: the operator writes into the status all the time.
  is "$(last PATCH)" "PATCH $tfjobs/demo [{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"u-demo\"},\
{\"op\":\"test\",\"path\":\"/metadata/generation\",\"value\":2},\
{\"op\":\"add\",\"path\":\"/spec/replicaSpecs/1/replicas\",\"value\":4}]"
  split dljob scale demo MASTER=2 -q
  is "$status" 2
  is "$err" "dljob scale: demo cannot be scaled like this: spec.replicaSpecs[0].replicas: \
there must be exactly one MASTER"
  split dljob scale demo ps=2 -q
  is "$err" "dljob scale: demo has no role ps; it has master, worker"
  split dljob scale ended worker=1 -q
  is "$status" 1
  is "$err" "dljob scale: ended has ended (Failed); 'dljob rerun ended' runs it again"
  for wrong in worker worker= worker=x worker=-1 =3 worker=100001; do
    split dljob scale demo "$wrong" -q
    is "$status" 2
  done
}

@test "suspend and resume: the policy, or the annotation of kinds whose spec is a list" {
  mx=/apis/mpba.fbk.eu/v1/namespaces/ml/mxjobs/lin
  list=$(yaml_to_json <"$root/examples/mpba-mxjob/policy.yaml" | jq -c '.[0]')
  answers "GET $tfjobs/demo 200 $(job demo Running x)" "PATCH $tfjobs/demo 200 {}" "GET $mx 200 $list" \
    "PATCH $mx 200 {}"
  serve
  split dljob suspend demo -q
  is "$status" 0
  is "$(last PATCH)" "PATCH $tfjobs/demo {\"spec\":{\"policy\":{\"suspend\":true}}}"
  split dljob resume demo -q
  is "$out" "demo is not suspended already"
  dljob suspend lin -q
  before=$(jq -r '.metadata.annotations["dl-operator.mpba.fbk.eu/policy"]' <<<"$list" | yaml_to_json | jq -S -c '.[0]')
  is "$(last PATCH | sed 's/^[^{]*//' | jq -r '.metadata.annotations["dl-operator.mpba.fbk.eu/policy"]' |
    jq -S -c 'del(.suspend)')" "$before"
  has "$(last PATCH)" '\"suspend\":true'
}

@test "delete: with a precondition, by file, all, and what is not there" {
  answers "GET $tfjobs/demo 200 $(job demo Running x)" "DELETE $tfjobs/demo 200 {}" "GET $tfjobs? 200 []"
  serve
  split dljob delete demo -q
  is "$status" 0
  is "$out" "demo was deleted"
  has "$(last DELETE)" '"preconditions":{"uid":"u-demo"},"propagationPolicy":"Background"'
  tfjob demo 1 >job.yaml
  split dljob delete -q --no-wait -f job.yaml
  is "$out" "demo is being deleted"
  split dljob delete -q none demo
  is "$status" 1
  is "$out" "demo was deleted"
  split dljob delete -q --all
  is "$out" "no jobs in namespace ml"
  split dljob delete -q
  is "$status" 2
}

# log_of POD LINES…: an answer to the log of that pod; lines are SECOND:TEXT.
log_of() {
  local pod=$1 text=
  shift
  for line; do text+="2026-01-02T03:04:${line%%:*}Z ${line#*:}"$'\n'; done
  echo "GET /api/v1/namespaces/ml/pods/$pod/log 200 $(jq -n -c --arg t "$text" '$t')"
}

pod_of() { # pod_of NAME ROLE INDEX
  jq -n -c --arg n "$1" --arg r "$2" --arg i "$3" '{metadata: {name: $n, uid: $n, labels: {
    "dl-operator.mpba.fbk.eu/uid": "u-demo", "dl-operator.mpba.fbk.eu/role": $r, "dl-operator.mpba.fbk.eu/index": $i}},
    status: {phase: "Running", containerStatuses: [{name: "tensorflow", restartCount: 0, state: {terminated: {}}},
      {name: "mesh", restartCount: 0, state: {running: {}}}]}}'
}

@test "logs: all replicas in the order of time" {
  pods="[$(pod_of m master 0),$(pod_of w0 worker 0),$(pod_of w1 worker 1)]"
  answers "GET $tfjobs/demo 200 $(job demo Succeeded x)" "$(log_of m 01:one 04:four)" \
    "$(log_of w0 02.5:two 03:three)" "$(log_of w1 '02.25:before two' 05:five)" \
    "GET /api/v1/namespaces/ml/pods 200 $pods" \
    "GET $tfjobs?watch=true 200 \"\"" "GET $tfjobs? 200 [$(job demo Succeeded x)]"
  serve
  split dljob logs demo -q
  is "$status" 0
  is "$out" "master-0 | one
worker-1 | before two
worker-0 | two
worker-0 | three
master-0 | four
worker-1 | five"
  # Only what counts, unless it is asked for.
  is "$(grep -c container=mesh requests || true)" 0
  split dljob logs demo -q --role worker --index 1 --timestamps --tail 3 --since 2m
  is "$out" "worker-1 | 2026-01-02T03:04:02.25Z before two
worker-1 | 2026-01-02T03:04:05Z five"
  has "$(last GET)" "timestamps=true&container=tensorflow&sinceSeconds=120&tailLines=3"
  is "$(dljob logs demo -o json --role master | jq -c . | head -n 1)" \
    '{"time":"2026-01-02T03:04:01Z","role":"master","index":0,"pod":"m","container":"tensorflow","text":"one"}'
  split dljob logs demo -q --role worker -c '*'
  has "$out" "worker-1/mesh"
  # The job has ended: so does following it.
  split dljob logs demo -q -f --role master
  is "$status" 0
  is "$out" "master-0 | one
master-0 | four"
  split dljob logs demo -q --previous
  is "$status" 1
  has "$err" "wherever your cluster's log agent keeps it"
  split dljob logs demo -q --role ps
  is "$status" 1
  is "$err" "dljob logs: no matching replica of demo has a log; 'dljob get demo' shows them"
}

@test "logs: none yet, none any more, one that cannot be read" {
  answers "GET $tfjobs/demo 200 $(job demo Pending 'waiting for a GPU')" "GET /api/v1/namespaces/ml/pods 200 []" \
    "GET $tfjobs/ended 200 $(job ended Succeeded x)"
  serve
  split dljob logs demo -q
  is "$status" 1
  is "$err" "dljob logs: no replica of demo has a log yet: waiting for a GPU; -f waits for them"
  split dljob logs ended -q
  has "$err" "ended has ended and its pods and their logs are gone; 'cleanPods: None' in the"
  answers "GET $tfjobs/demo 200 $(job demo Running x)" "$(log_of m 01:one)" \
    "GET /api/v1/namespaces/ml/pods/w0/log 500 {\"kind\":\"Status\",\"message\":\"no route to node\"}" \
    "GET /api/v1/namespaces/ml/pods 200 [$(pod_of m master 0),$(pod_of w0 worker 0)]"
  split dljob logs demo -q
  is "$status" 1
  is "$out" "master-0 | one"
  is "$err" "dljob logs: worker-0: its log cannot be read: no route to node"
}

@test "Ctrl-C ends what waits, with 130" {
  answers "GET $tfjobs/demo 200 $(job demo Running x)" "GET $tfjobs? 200 [$(job demo Running x)]"
  serve
  "$DLJOB" wait demo -q >out 2>&1 3>&- &
  echo $! >wait.pid
  eventually 60 grep -q 'watch=true' requests
  kill -INT "$(cat wait.pid)"
  status=0
  wait "$(cat wait.pid)" || status=$?
  is "$status" 130
}

@test "Ctrl-C in submit --logs: the job goes on, and that is said" {
  answers "POST $tfjobs 201 $(job demo Pending x)" "GET $tfjobs/demo 200 $(job demo Running x)" \
    "GET $tfjobs? 200 [$(job demo Running x)]" \
    "GET /api/v1/namespaces/ml/pods 200 []"
  serve
  tfjob demo 1 >job.yaml
  for flag in --wait --logs; do
    : >requests
    "$DLJOB" submit $flag -q job.yaml >out 2>err 3>&- &
    echo $! >submit.pid
    eventually 60 grep -q 'watch=true' requests
    kill -INT "$(cat submit.pid)"
    status=0
    wait "$(cat submit.pid)" || status=$?
    is "$status" 130
    has "$(cat err)" "demo keeps running; 'dljob logs -f demo' shows it, 'dljob delete demo' ends it"
  done
}
