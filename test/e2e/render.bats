#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# dljob render: what a job would be given.
load helpers

dist=$root/examples/mlkube-tfjob/distributed.yaml

@test "services first, then pods, all of them" {
  split dljob render "$dist"
  is "$status" 0
  is "$err" ""
  is "$(yaml_to_json <stdout | jq -r '.[].kind' | uniq -c | awk '{ print $1, $2 }' | tr '\n' ' ')" "4 Service 4 Pod "
}

@test "YAML and JSON say the same, for every example" {
  mkdir said
  for f in "$root"/examples/*/*.yaml; do
    name=$(basename "$(dirname "$f")")-$(basename "$f" .yaml)
    dljob render "$f" >"said/$name.yaml"
    dljob render -o json "$f" >"said/$name.json"
  done
  is "$(find said -name '*.yaml' | wc -l)" "$(find "$root"/examples/*/*.yaml | wc -l)"
  # Another reader than ours, once for all of them.
  /usr/bin/python3 - said/*.yaml <<'PY'
import json, sys, yaml
for name in sys.argv[1:]:
    with open(name) as y, open(name[:-4] + "json") as j:
        if list(yaml.safe_load_all(y)) != json.load(j)["items"]:
            sys.exit(name + " and its JSON differ")
PY
}

@test "JSON is one List" {
  is "$(dljob render -o json "$dist" | jq -r '.apiVersion + " " + .kind')" "v1 List"
}

@test "what every child has" {
  for f in "$root"/examples/*/*.yaml; do
    dljob render -o json "$f" >list.json
    wrong=$(jq -r --arg dl dl-operator.mpba.fbk.eu/ '
      [.items[] | select(.kind == "Pod")] as $pods | [.items[] | select(.kind == "Service")] as $services
      | (.items | length) as $all | {
        "pods and services": ($all > 0 and $all == ($pods + $services | length) and all(.items[]; .apiVersion == "v1")),
        "names": all(.items[].metadata; .name | test("^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$")),
        "each name once": ([.items[] | .kind + .metadata.name] | length == (unique | length)),
        "namespace": all(.items[].metadata; (.namespace | length) > 0),
        "owner": all(.items[].metadata.ownerReferences; length == 1 and .[0].controller and (.[0].uid | length) == 36),
        "our labels": all(.items[].metadata.labels; . as $labels
          | all("uid", "role", "index", "job", "kind"; $labels[$dl + .])),
        "labels": all(.items[].metadata.labels[]; type == "string" and length <= 63),
        "pod": all($pods[]; .spec.restartPolicy == "Never" and .spec.enableServiceLinks == false
          and .metadata.labels[$dl + "generation"] == "0"),
        "containers": all($pods[].spec.containers[]; .name and .image),
        "variables": all($pods[].spec.containers[].env // [] | .[]; (.value | type) == "string"),
        "headless services": all($services[].spec | select(.type == null);
          .clusterIP == "None" and .publishNotReadyAddresses and (.selector | length) > 0),
        "a service selects exactly the pod of its replica": all($services[].spec.selector; . as $selector
          | [$pods[].metadata.labels | select(contains($selector))] | length == 1)
      } | to_entries[] | select(.value | not) | .key' list.json)
    is "$f: $wrong" "$f: "
  done
}

@test "accelerators as dl-operator would put them in" {
  cat >config.yaml <<'YAML'
grpcServerFilePath: /opt/mlkube/grpc_tensorflow_server.py
accelerators:
  nvidia.com/gpu:
    volumes: [{name: driver, mountPath: /usr/local/nvidia, hostPath: /usr/lib/nvidia}]
    envVars: [{name: LD_LIBRARY_PATH, value: /usr/local/nvidia}]
YAML
  split dljob render --controller-config-file config.yaml -o json "$root/examples/mlkube-tfjob/gpu.yaml"
  is "$status" 0
  is "$err" "config.yaml: note: grpcServerFilePath has no effect: a parameter server without a template has \
a program of its own"
  is "$(jq -c '.items[] | select(.kind == "Pod").spec
    | [.volumes, .containers[0].volumeMounts, .containers[0].env[-1]]' stdout)" \
    '[[{"name":"driver","hostPath":{"path":"/usr/lib/nvidia"}}],'\
'[{"name":"driver","mountPath":"/usr/local/nvidia"}],{"name":"LD_LIBRARY_PATH","value":"/usr/local/nvidia"}]'
  has "$(dljob render --env --controller-config-file config.yaml "$root/examples/mlkube-tfjob/gpu.yaml" 2>&1)" \
    "LD_LIBRARY_PATH  /usr/local/nvidia"
  # Nobody who does not ask gets anything.
  dljob render "$dist" >plain
  dljob render --controller-config-file config.yaml "$dist" 2>/dev/null | cmp plain -
  echo 'accelerators: {nvidia.com/gpu: {volume: []}}' >config.yaml
  split dljob render --controller-config-file config.yaml "$dist"
  is "$status" 2
  is "$out" ""
  has "$err" 'config.yaml:1:33: accelerators["nvidia.com/gpu"].volume: unknown key "volume"; did you mean "volumes"?'
}

@test "the files of deploy/chart/accelerators, on the manifest that they are for" {
  sed 's|nvidia.com/gpu|alpha.kubernetes.io/nvidia-gpu|' "$root/examples/mlkube-tfjob/gpu.yaml" >old.yaml
  grep -q alpha.kubernetes.io/nvidia-gpu old.yaml
  dljob render old.yaml >plain
  for f in "$root"/deploy/chart/accelerators/*.yaml; do
    split dljob render --controller-config-file "$f" old.yaml
    is "$status" 0
    is "$err" ""
    ! cmp -s plain stdout
  done
  has "$(dljob render --controller-config-file "$root/deploy/chart/accelerators/device-plugin.yaml" old.yaml)" \
    "nvidia.com/gpu: 1"
}

@test "the hosts of TF_CONFIG are the services" {
  for f in "$dist" "$root/examples/mpba-tfjob/ps-worker.yaml"; do
    dljob render -o json "$f" >list.json
    jq -r '.items[] | select(.kind == "Pod").spec.containers[].env[] | select(.name == "TF_CONFIG").value | fromjson
      | .cluster[][] | sub(":2222$"; "")' list.json | sort -u >hosts
    jq -r '.items[] | select(.kind == "Service").metadata.name' list.json | sort >services
    cmp hosts services
  done
}

@test "the scheduler's service is what DMLC_PS_ROOT_URI names, wherever the scheduler is listed" {
  for f in "$root/examples/mpba-mxjob/linear.yaml" "$root/examples/fioravanzo-mxjob/linear-dist.yaml"; do
    dljob render -o json "$f" >list.json
    uri=$(jq -r '[.items[] | select(.kind == "Pod").spec.containers[].env[] | select(.name == "DMLC_PS_ROOT_URI").value]
      | unique | join(" ")' list.json)
    jq -e --arg uri "$uri" 'any(.items[]; .kind == "Service" and .metadata.name == $uri
      and .metadata.labels."dl-operator.mpba.fbk.eu/role" == "scheduler")' list.json
  done
}

@test "the same job gives the same bytes" {
  is "$(dljob render "$dist" | sha256sum)" "$(dljob render "$dist" | sha256sum)"
}

@test "--uid and the namespace change the names that depend on them" {
  names() { dljob render -o json "$@" "$dist" | jq -r '.items[].metadata.name' | sort; }
  [ "$(names)" != "$(names --uid 11111111-2222-3333-4444-555555555555)" ]
  [ "$(names)" != "$(names -n other)" ]
  is "$(names --uid u)" "$(names -n other --uid u)"
  is "$(dljob render -o json --uid abc "$dist" | jq -r '[.items[].metadata.ownerReferences[0].uid] | unique | .[]')" abc
}

@test "the UID of an object that has one is used" {
  tfjob demo 1 | sed 's/^  name: demo/  name: demo\n  uid: 01234567-89ab-cdef-0123-456789abcdef/' >job.yaml
  is "$(dljob render -o json job.yaml | jq -r '[.items[].metadata.ownerReferences[0].uid] | unique | .[]')" \
    01234567-89ab-cdef-0123-456789abcdef
}

@test "-n: for jobs that name no namespace; another one is an error" {
  is "$(dljob render -o json -n ml "$dist" | jq -r '[.items[].metadata.namespace] | unique | .[]')" ml
  is "$(dljob render -o json "$dist" | jq -r '[.items[].metadata.namespace] | unique | .[]')" default
  split dljob render -n other "$root/examples/aitrainingjob/pserver-trainer.yaml"
  is "$status" 2
  is "$out" ""
  is "$err" "dljob render: demo is in namespace ml, not in other"
}

@test "--role and --index choose" {
  is "$(dljob render -o json --role ps "$dist" | jq '.items | length')" 4
  is "$(dljob render -o json --role PS --index 1 "$dist" | jq '.items | length')" 2
  is "$(dljob render -o json --index 0 "$dist" | jq '.items | length')" 6
  split dljob render --role nobody "$dist"
  is "$status" 2
  is "$err" "dljob render: example-job has no role 'nobody'"
  split dljob render --index 99 "$dist"
  is "$status" 2
  is "$err" "dljob render: example-job has no replica with index 99"
  split dljob render --index x "$dist"
  is "$status" 2
}

@test "--env: a table of the variables" {
  split dljob render --env "$root/examples/aitrainingjob/pserver-trainer.yaml"
  is "$status" 0
  is "$(head -n 1 stdout | awk '{ print $1, $2, $3, $4, $5 }')" "ROLE INDEX CONTAINER NAME VALUE"
  is "$(awk '$1 == "trainer" && $2 == 3 && $4 == "PSERVER_HOSTS" { print $3, $5 }' stdout)" \
    "aitj-trainer demo-pserver-0.ml:4444,demo-pserver-0.ml:5555,demo-pserver-1.ml:4444,demo-pserver-1.ml:5555"
  is "$(awk '$1 == "pserver" && $2 == 1 && $4 == "TRAININGJOB_SERVICE" { print $5 }' stdout)" demo-pserver-1.ml
  is "$(dljob render --env --role trainer --index 2 "$root/examples/aitrainingjob/pserver-trainer.yaml" |
    awk 'NR > 1 { print $1, $2 }' | sort -u)" "trainer 2"
}

@test "--env: the user's variables come after the derived ones and are shown with where they come from" {
  ip='{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}'
  tfjob demo 1 | sed 's/image: img/image: img, env: [{name: MINE, value: "a\\nb"}, '"$ip"']/' >job.yaml
  split dljob render --env --role master job.yaml
  is "$status" 0
  is "$(awk 'NR > 1 { print $4 }' stdout | tr '\n' ' ')" "TF_CONFIG MINE IP "
  has "$out" 'a\nb'
  has "$out" '<fieldRef {"fieldPath":"status.podIP"}>'
}

@test "the template is kept" {
  cat >job.yaml <<'YAML'
apiVersion: mlkube.io/v1beta1
kind: TfJob
metadata: {name: demo}
spec:
  replicaSpecs:
  - template:
      metadata: {labels: {team: x}, annotations: {note: here}}
      spec:
        nodeSelector: {gpu: "true"}
        tolerations: [{operator: Exists}]
        containers:
        - {name: tensorflow, image: img, args: ["0644", "yes", "1.0", "null", "a: b", "", " x"]}
        - {name: side, image: s}
YAML
  dljob render -o json --role master job.yaml | jq '.items[] | select(.kind == "Pod")' >pod.json
  is "$(jq -r '.metadata.labels.team + .metadata.annotations.note' pod.json)" xhere
  is "$(jq -c '[.spec.nodeSelector, .spec.tolerations]' pod.json)" '[{"gpu":"true"},[{"operator":"Exists"}]]'
  is "$(jq -c '[.spec.containers[].name]' pod.json)" '["tensorflow","side"]'
  is "$(jq -c '.spec.containers[0].args' pod.json)" '["0644","yes","1.0","null","a: b",""," x"]'
  # … and YAML does not make something else of such texts.
  is "$(dljob render job.yaml | yaml_to_json | jq -c '.[] | select(.kind == "Pod").spec.containers[0].args')" \
    '["0644","yes","1.0","null","a: b",""," x"]'
}

@test "what is invalid is said on standard error, nothing is printed, exit 2" {
  tfjob demo -1 >bad.yaml
  for o in yaml json; do
    split dljob render -o $o bad.yaml
    is "$status" 2
    is "$out" ""
    has "$err" "bad.yaml:10:"
    has "$err" "spec.replicaSpecs[1].replicas"
  done
}

@test "files without a job, exit 2" {
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n' >other.yaml
  split dljob render other.yaml
  is "$status" 2
  has "$err" "there is no job in other.yaml: ConfigMap of v1 is not a job; a job is "
  : >empty.yaml
  split dljob render empty.yaml
  is "$status" 2
  split dljob render nowhere.yaml
  is "$status" 2
  has "$err" "nowhere.yaml: error:"
}

@test "several files and documents in one stream" {
  { tfjob one 1; echo ---; tfjob two 1; } >both.yaml
  is "$(dljob render -o json both.yaml "$root/examples/mlkube-tfjob/gpu.yaml" |
    jq -r '[.items[].metadata.labels."dl-operator.mpba.fbk.eu/job"] | unique | join(" ")')" "one tf-smoke-gpu two"
  is "$(dljob render both.yaml | yaml_to_json | jq length)" 8
  is "$(dljob render - <both.yaml | sha256sum)" "$(dljob render both.yaml | sha256sum)"
}

@test "a thousand replicas" {
  tfjob large 999 >large.yaml
  is "$(dljob render -o json large.yaml | jq '.items | length')" 2000
}
