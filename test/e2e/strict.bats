#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2034,SC2016 # helpers.bash sets root, out and err; texts have $ and ` in them
# What Kubernetes would not take of a pod template is said before a job is made: by all commands, and by the local API.
load helpers
load local-cluster

teardown() {
  dljob local reset --yes >/dev/null 2>&1 || true
}

# wrong NAME LINES: a job whose container has these lines.
wrong() { trainers "$1" 'echo "<$LR>"' 1 "" "$2"; }

@test "a value that is not a string arrives nowhere empty: validate, run and submit refuse it, with the remedy" {
  wrong it '            env: [{name: LR, value: 0.1}]' >job.yaml
  message='spec.replicaSpecs.trainer.template.spec.containers[0].env[0].value: '\
'must be a string, found a number: quote it: "0.1"'
  split dljob validate job.yaml
  is "$status" 2
  has "$out" "job.yaml:17:30: error: $message"
  split dljob run job.yaml
  is "$status" 2
  has "$err" "$message"
  is "$out" ""
  split dljob submit --dry-run job.yaml
  is "$status" 2
  has "$err" "$message"
  split dljob run --set 'spec.replicaSpecs.trainer.template.spec.containers[0].env[0].value="0.1"' -q job.yaml
  is "$out" "trainer-0 | <0.1>"
}

@test "unknown fields: an error, a warning or nothing, as --validate says" {
  wrong it '            comand: [a]' >job.yaml
  message='spec.replicaSpecs.trainer.template.spec.containers[0].comand: unknown field, did you mean `command`?'
  for command in validate 'run -q' 'submit --dry-run' render; do
    # shellcheck disable=SC2086 # with its options
    split dljob $command job.yaml
    is "$status" 2
    has "$out$err" "error: $message"
    # shellcheck disable=SC2086
    split dljob $command --validate=warn job.yaml
    is "$status" 0
    has "$out$err" "warning: $message"
    # shellcheck disable=SC2086
    split dljob $command --validate=ignore job.yaml
    is "$status" 0
    has_not "$out$err" "unknown field"
  done
  split dljob validate --validate=lax job.yaml
  is "$status" 2
  has "$err" "--validate is strict, warn or ignore, not 'lax'"
}

@test "the local API does as fieldValidation says, and takes no wrong types" {
  up
  post() { api "$1" -i -H 'Content-Type: application/json' -d "@$2"; }
  wrong unknown '            comand: [a]' | yaml_to_json | jq '.[0]' >unknown.json
  wrong type '            env: [{name: LR, value: 0.1}]' | yaml_to_json | jq '.[0]' >type.json
  run post "$jobs?fieldValidation=Strict" unknown.json
  has "$output" "400 Bad Request"
  has "$output" 'cannot be handled as a AITrainingJob: strict decoding error: spec.replicaSpecs.trainer'
  has "$output" 'did you mean `command`?'
  run post "$jobs?fieldValidation=Sometimes" unknown.json
  has "$output" 'supported values: \"Ignore\", \"Warn\", \"Strict\"'
  run post "$jobs?dryRun=All" unknown.json
  has "$output" "201 Created"
  has "$output" 'Warning: 299 - "spec.replicaSpecs.trainer.template.spec.containers[0].comand: unknown field'
  run post "$jobs?dryRun=All&fieldValidation=Ignore" unknown.json
  has "$output" "201 Created"
  has_not "$output" "Warning"
  for how in Strict Warn Ignore; do
    run post "$jobs?fieldValidation=$how" type.json
    has "$output" "400 Bad Request"
    has "$output" 'must be a string, found a number: quote it'
  done
  jq -n '{apiVersion: "v1", kind: "Pod", metadata: {name: "p"}, spec: {containers: [{name: "a", imag: "b"}]}}' >pod.json
  run post "$pods?fieldValidation=Strict" pod.json
  has "$output" 'spec.containers[0].imag: unknown field, did you mean `image`?'
  # What is there already is patched elsewhere, however it looks.
  jq '.spec.replicaSpecs.trainer.replicas = 0' unknown.json >zero.json
  run post "$jobs" zero.json
  has "$output" "201 Created"
  run api "$jobs/unknown?fieldValidation=Strict" -X PATCH -H 'Content-Type: application/merge-patch+json' \
    -d '{"metadata":{"labels":{"a":"b"}}}'
  is "$(jq -r .metadata.labels.a <<<"$output")" b
  run api "$jobs/unknown?fieldValidation=Strict" -X PATCH -H 'Content-Type: application/merge-patch+json' \
    -d '{"metadata":{"labels":{"a":1}}}'
  has "$output" "metadata.labels.a: must be a string"
}

@test "the local API: a JSON patch is judged by what it makes of an object" {
  up
  patch() { # PATH VALUE [query]
    api "$jobs/one$3" -i -X PATCH -H 'Content-Type: application/json-patch+json' \
      -d "[{\"op\": \"add\", \"path\": \"$1\", \"value\": $2}]"
  }
  trainers one 'exec sleep 1000' 1 "" '            env: [{name: LR, value: "0.1"}]' | submit
  container=/spec/replicaSpecs/trainer/template/spec/containers/0
  at="spec.replicaSpecs.trainer.template.spec.containers[0]"
  for how in Strict Warn Ignore; do
    run patch $container/env/0/value 0.2 "?fieldValidation=$how"
    has "$output" "422 "
    has "$output" "$at.env[0].value: must be a string, found a number: quote it"
  done
  is "$(api "$jobs/one" | jq -r '[.. | objects | select(.name == "LR") | .value] | join(" ")')" 0.1
  run patch $container/comand '["a"]' "?fieldValidation=Strict"
  has "$output" "422 "
  has "$output" "$at.comand: unknown field, did you mean"
  run patch $container/comand '["a"]' "?fieldValidation=Warn"
  has "$output" "200 OK"
  has "$output" "Warning: 299 - \"$at.comand: unknown field"
  # What was there before is no fault of this one.
  run patch /metadata/labels '{"a": "b"}' "?fieldValidation=Strict"
  has "$output" "200 OK"
  has_not "$output" "Warning"
}

# config KIND KEY VALUE: a ConfigMap or Secret with that value, whose words are variables of a job behind it.
config() {
  printf 'apiVersion: v1\nkind: %s\nmetadata: {name: words}\n%s: {LR: %s}\n---\n' "$1" "$2" "$3"
  trainers it 'echo "<$LR>"' 1 "" "            envFrom: [{$4: {name: words}}]"
}

@test "what a ConfigMap or a Secret holds and is no string: validate, run, submit and the local API refuse it" {
  up
  while read -r kind field ref; do
    config "$kind" "$field" 0.1 "$ref" >job.yaml
    message="job.yaml:4:$((${#field} + 4)): error: $field.LR: must be a string, found a number: quote it: \"0.1\""
    for command in validate 'run -q' 'submit --dry-run' 'submit --local'; do
      # shellcheck disable=SC2086 # with its options
      split dljob $command job.yaml
      is "$status" 2
      has "$out$err" "$message"
    done
    yaml_to_json <job.yaml | jq '.[0]' >config.json
    plural=$(tr '[:upper:]' '[:lower:]' <<<"$kind")s
    run api "/api/v1/namespaces/default/$plural" -i -H 'Content-Type: application/json' -d @config.json
    has "$output" "400 Bad Request"
    has "$output" "$field.LR: must be a string, found a number: quote it"
  done <<'CASES'
ConfigMap data configMapRef
Secret stringData secretRef
Secret data secretRef
CASES
  config ConfigMap data '"0.1"' configMapRef >job.yaml
  split dljob run -q job.yaml
  is "$out" "trainer-0 | <0.1>"
}

@test "metadata of a ConfigMap or a Secret: validate, run and submit refuse what is no string, and unknown fields" {
  for kind in ConfigMap Secret; do
    config "$kind" data '"1"' "${kind,}Ref" |
      sed '3s/.*/metadata: {name: words, labels: {a: 1.0}, lables: {}}/' >job.yaml
    for command in validate 'run -q' 'submit --dry-run'; do
      # shellcheck disable=SC2086 # with its options
      split dljob $command job.yaml
      is "$status" 2
      has "$out$err" 'job.yaml:3:34: error: metadata.labels.a: must be a string, found a number: quote it: "1.0"'
      has "$out$err" 'job.yaml:3:43: error: metadata.lables: unknown field, did you mean `labels`?'
      has_not "$out" "kind: $kind"
      # shellcheck disable=SC2086 # with its options
      split dljob $command --validate=ignore job.yaml
      is "$status" 2
      has_not "$out$err" metadata.lables
    done
  done
  # Of other objects nothing is said.
  printf 'apiVersion: v1\nkind: Service\nmetadata: {name: s, labels: {a: 1}}\n---\n' >job.yaml
  trainers it true 1 >>job.yaml
  split dljob validate job.yaml
  is "$status" 0
}

@test "the remedy has the number as it is written, with its zeros" {
  while read -r written; do
    wrong it "            env: [{name: V, value: $written}]" >job.yaml
    split dljob validate job.yaml
    is "$status" 2
    has "$out" "containers[0].env[0].value: must be a string, found a number: quote it: \"$written\""
    config ConfigMap data "$written" configMapRef >job.yaml
    split dljob validate job.yaml
    has "$out" "data.LR: must be a string, found a number: quote it: \"$written\""
  done <<'NUMBERS'
3.10
0777
1.0
0x1F
1_000
NUMBERS
  # What a --set says stands in no file.
  wrong it '            env: [{name: V, value: "3.10"}]' >job.yaml
  split dljob submit --dry-run job.yaml --set 'spec.replicaSpecs.trainer.template.spec.containers[0].env[0].value=1.0'
  has "$err" "must be a string, found a number: quote it"
  has_not "$err" "quote it:"
}

@test "strings of the kind's own spec and of its policy: the same remedy" {
  spec_of() { trainers it true 1 "  $1"; }
  spec_of 'schedulerName: 5' >job.yaml
  split dljob validate job.yaml
  is "$status" 2
  has "$out" 'spec.schedulerName: must be a string, found a number: quote it: "5"'
  spec_of 'cleanPodPolicy: no' >job.yaml
  split dljob validate job.yaml
  has "$out" 'spec.cleanPodPolicy: must be a string, found a boolean: quote it, since YAML reads false, no'
  spec_of 'policy: {tensorboard: {logDir: 7}}' >job.yaml
  split dljob validate job.yaml
  has "$out" 'spec.policy.tensorboard.logDir: must be a string, found a number: quote it: "7"'
  tfjob it 1 '  RuntimeId: 1234' >job.yaml
  split dljob validate job.yaml
  has "$out" 'spec.RuntimeId: must be a string, found a number: quote it: "1234"'
}

@test "the table of fields is that of the Kubernetes of our cluster tests" {
  version=$(sed -n 's/^kube=${KUBE_VERSION:-\(.*\)}$/\1/p' "$root/scripts/kube-deps.sh")
  [ -n "$version" ]
  cache=$(go env GOMODCACHE 2>/dev/null || echo "$HOME/go/pkg/mod")
  spec=$cache/k8s.io/kubernetes@v$version/api/openapi-spec/swagger.json
  has "$(head -n 1 "$root/src/kind/pod_fields.inc")" "of Kubernetes $version."
  [ -e "$spec" ] || skip "the source of Kubernetes $version is not here; scripts/kube-deps.sh fetches it"
  "$root/scripts/pod-fields.py" "$spec" | diff - "$root/src/kind/pod_fields.inc"
}
