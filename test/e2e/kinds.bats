#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# dljob kinds, dljob crds, and kinds that users add.
load helpers

@test "kinds: a line for each" {
  split dljob kinds
  is "$status" 0
  is "$err" ""
  is "$(awk '{ print $1, $2, $3, $4 }' stdout | LC_ALL=C sort)" \
    "AITrainingJob elasticdeeplearning.ai/v1 aitrainingjobs aitj
KIND APIVERSION PLURAL SHORT
MXJob fioravanzo.org/v1alpha1 mxjobs fiomx
MXJob mpba.fbk.eu/v1 mxjobs mpbamx
TFJob mpba.fbk.eu/v1 tfjobs mpbatf
TfJob mlkube.io/v1beta1 tfjobs mlktf"
  is "$(head -n 1 stdout | awk '{ print $5 }')" FILE
}

@test "crds: one for each kind, as an API server wants them" {
  dljob crds -o json >crds.json
  is "$(jq -r '.apiVersion + " " + .kind' crds.json)" "v1 List"
  is "$(jq -r '.items[].metadata.name' crds.json | sort)" "aitrainingjobs.elasticdeeplearning.ai
mxjobs.fioravanzo.org
mxjobs.mpba.fbk.eu
tfjobs.mlkube.io
tfjobs.mpba.fbk.eu"
  is "$(jq -r '.items[] | .apiVersion + " " + .kind' crds.json | sort -u)" \
    "apiextensions.k8s.io/v1 CustomResourceDefinition"
  jq -e 'all(.items[]; .metadata.name == .spec.names.plural + "." + .spec.group)' crds.json
  jq -e 'all(.items[]; .spec.names.categories | index("dljobs"))' crds.json
  jq -e 'all(.items[]; .spec.scope == "Namespaced" and .spec.preserveUnknownFields == false)' crds.json
  jq -e 'all(.items[].spec.versions[]; .served and .storage and .subresources.status == {})' crds.json
  jq -e 'all(.items[].spec.versions[]; .additionalPrinterColumns | length > 2)' crds.json
  jq -e 'all(.items[].spec.versions[].schema.openAPIV3Schema; .type == "object" and .properties.status)' crds.json
}

# Clusters that have an older one are brought up to date by the number.
@test "crds: what has changed since revision 1 has a higher revision" {
  # without_revision <definitions: the rest of them.
  without_revision() {
    jq -S 'map(del(.metadata.annotations["dl-operator.mpba.fbk.eu/revision"]))'
  }
  yaml_to_json <"$root/test/cluster/fixtures/revision-1/crds.yaml" | without_revision >first
  dljob crds -o json | jq .items | without_revision >now
  differ=0
  cmp first now || differ=$?
  is "$differ" 1
  is "$(dljob crds -o json | jq -r '.items[].metadata.annotations["dl-operator.mpba.fbk.eu/revision"]' | sort -u)" 6
  has "$(cat "$root/CHANGELOG.md")" "Revision 6 of the CRDs."
}

# Two kinds are called MXJob, two TfJob.
@test "crds: every kind has a short name, and no name of another kind" {
  dljob crds -o json | jq -c '[.items[].spec.names | {shortNames, plural, singular}]' >names
  jq -e 'all(.[]; .shortNames | length > 0)' names
  is "$(jq '[.[].shortNames[]] | length' names)" "$(jq '[.[].shortNames[]] | unique | length' names)"
  is "$(jq '[.[].shortNames[]] - ([.[].shortNames[]] - [.[] | .plural, .singular]) | length' names)" 0
}

@test "crds: small" {
  [ "$(dljob crds -o json | wc -c)" -lt 100000 ]
}

@test "crds: YAML and JSON say the same" {
  dljob crds | yaml_to_json | jq -S . >from-yaml
  dljob crds -o json | jq -S .items >from-json
  cmp from-yaml from-json
}

@test "crds: by kind, plural, short name, or with the group" {
  names() { dljob crds -o json "$@" | jq -r '.items[].metadata.name' | sort | tr '\n' ' '; }
  is "$(names aitj)" "aitrainingjobs.elasticdeeplearning.ai "
  is "$(names MXJob)" "mxjobs.fioravanzo.org mxjobs.mpba.fbk.eu "
  is "$(names mxjobs.mpba.fbk.eu)" "mxjobs.mpba.fbk.eu "
  is "$(names fiomx mpbatf)" "mxjobs.fioravanzo.org tfjobs.mpba.fbk.eu "
  is "$(names TfJob.mlkube.io aitrainingjobs)" "aitrainingjobs.elasticdeeplearning.ai tfjobs.mlkube.io "
  split dljob crds Nothing
  is "$status" 2
  is "$err" "dljob crds: there is no kind 'Nothing'; see 'dljob kinds'"
}

@test "--kinds-dir: a file that does not parse, named with its line, exit 2" {
  mkdir kinds
  printf 'return {\n  group = "example.org",\n  version = = 1\n}\n' >kinds/broken.lua
  for c in kinds crds "render x.yaml" "validate x.yaml"; do
    # shellcheck disable=SC2086
    split dljob $c --kinds-dir kinds
    is "$status" 2
    is "$out" ""
    has "$err" "kinds/broken.lua:3:"
  done
  # shellcheck disable=SC2086
  split dljob --kinds-dir kinds kinds
  is "$status" 2
  split env DL_OPERATOR_KINDS=kinds "$DLJOB" kinds
  is "$status" 2
  has "$err" "kinds/broken.lua:3:"
}

@test "--kinds-dir: a file that lacks fields, exit 2" {
  mkdir kinds
  echo 'return { group = "example.org" }' >kinds/empty.lua
  split dljob kinds --kinds-dir kinds
  is "$status" 2
  has "$err" "kinds/empty.lua"
}

@test "--kinds-dir: a file that never ends is stopped, exit 2" {
  mkdir kinds
  echo 'while true do end' >kinds/loop.lua
  split timeout 20 "$DLJOB" kinds --kinds-dir kinds
  is "$status" 2
  has "$err" "kinds/loop.lua"
}

@test "--kinds-dir: a file that eats memory is stopped, exit 2" {
  mkdir kinds
  echo 'local t = {} local i = 0 while true do i = i + 1 t[i] = "x" .. i end' >kinds/eat.lua
  split timeout 60 "$DLJOB" kinds --kinds-dir kinds
  is "$status" 2
  has "$err" "kinds/eat.lua"
}

@test "--kinds-dir: a kind that gives one name to two replicas: told before anything is made" {
  mkdir kinds
  cat >kinds/twins.lua <<'END'
local function read(spec)
  return { roles = { { name = "worker", path = at(spec), count = 2, template = spec.template } } }
end
-- `late`: only the UID that a cluster gives makes twins of them.
local function names(job, role, index)
  local real = job.uid ~= "" and job.uid ~= "00000000-0000-4000-8000-000000000000"
  return job.name .. "-" .. (job.spec.late and not real and index or "x")
end
return {
  group = "example.org", version = "v1", kind = "Twins", plural = "twins",
  spec = { "object", fields = { late = { "bool" }, template = { "template" } } },
  read = read, names = names, pod = function() return {} end, status = function() return {} end,
}
END
  cat >job.yaml <<'END'
apiVersion: example.org/v1
kind: Twins
metadata: {name: it}
spec:
  template: {spec: {containers: [{name: a, image: img, command: [/bin/sleep, "600"]}]}}
END
  # shellcheck disable=SC2016 # these are quotes of the message
  line='`names` gives the pods of worker-0 and worker-1 one name, "it-x": every replica must have its own'
  for c in validate render run; do
    split timeout 20 "$DLJOB" --kinds-dir kinds $c job.yaml
    is "$status" "$([ $c = run ] && echo 2 || echo 1)"
    has "$out$err" "kinds/twins.lua:5: "
    has "$out$err" "$line"
    has_not "$out$err" job.yaml:
  done
  # On the cluster itself: the job is Invalid, and says why.
  sed -i 's/^spec:/&\n  late: true/' job.yaml
  is "$(dljob --kinds-dir kinds validate job.yaml)" "1 job in 1 file: valid"
  split timeout 20 "$DLJOB" --kinds-dir kinds run job.yaml
  is "$status" 2
  has "$err" "dljob: it: Invalid"
  has "$err" "$line"
}

# One that counts in its own memory, and tells its replicas.
@test "run: a kind reads a manifest once for dljob, and once for the operator" {
  mkdir kinds
  cat >kinds/count.lua <<'END'
local reads = 0
local function read(spec)
  reads = reads + 1
  return { roles = { { name = "worker", path = at(spec), count = 1, template = spec.template, env = "all" } } }
end
return {
  group = "example.org", version = "v1", kind = "Count", plural = "counts",
  spec = { "object", fields = { template = { "template" } } },
  read = read, names = function(job, role, index) return job.name .. "-" .. index end,
  pod = function() return { env = { { "READS", "" .. reads } } } end, status = function() return {} end,
  write = function(roles, template) return { template = template } end,
}
END
  cat >job.yaml <<'END'
apiVersion: example.org/v1
kind: Count
metadata: {name: it}
spec:
  template: {spec: {containers: [{name: a, image: img, command: [/bin/sh, -c, "echo $READS"]}]}}
END
  for network in "" --host-network; do
    # shellcheck disable=SC2086 # a flag or nothing
    is "$(dljob --kinds-dir kinds run -q $network job.yaml)" "worker-0 | 2"
    # shellcheck disable=SC2016,SC2086 # for the shell in the replica
    is "$(dljob --kinds-dir kinds run -q $network --kind Count -n 1 -- sh -c 'echo $READS')" "worker-0 | 2"
  done
}

@test "--kinds-dir: a folder that is missing, exit 2" {
  split dljob kinds --kinds-dir nowhere
  is "$status" 2
  has "$err" "nowhere"
  split dljob kinds --kinds-dir "$root/README.md"
  is "$status" 2
}

@test "--kinds-dir: an empty folder changes nothing" {
  mkdir kinds
  is "$(dljob kinds --kinds-dir kinds)" "$(dljob kinds)"
}

@test "--kinds-dir: a new kind is a file, no more" {
  mkdir kinds
  sed 's/TFJob/JaxJob/; s/tfjobs/jaxjobs/' "$root/kinds/mpba-tfjob.lua" >kinds/jaxjob.lua
  sed 's/kind: TFJob/kind: JaxJob/' "$root/examples/mpba-tfjob/ps-worker.yaml" >job.yaml
  split dljob validate job.yaml
  is "$status" 2
  split dljob kinds --kinds-dir kinds
  is "$status" 0
  is "$(awk '$1 == "JaxJob" { print $2, $3, $5 }' stdout)" "mpba.fbk.eu/v1 jaxjobs kinds/jaxjob.lua"
  is "$(dljob --kinds-dir kinds validate job.yaml)" "1 job in 1 file: valid"
  is "$(DL_OPERATOR_KINDS=/nowhere/at/all:kinds dljob validate job.yaml 2>&1 || true)" \
    "$(DL_OPERATOR_KINDS=/nowhere/at/all dljob validate job.yaml 2>&1 || true)"
  is "$(DL_OPERATOR_KINDS=:kinds: dljob render -o json job.yaml | jq '.items | length')" 6
  is "$(dljob crds --kinds-dir=kinds JaxJob -o json | jq -r '.items[].metadata.name')" jaxjobs.mpba.fbk.eu
}

@test "--kinds-dir: two files for one kind, exit 2" {
  mkdir kinds
  cp "$root/kinds/mpba-tfjob.lua" kinds/again.lua
  split dljob kinds --kinds-dir kinds
  is "$status" 2
  has "$err" "kinds/again.lua"
}

@test "--kinds-dir: a kind whose code fails while it reads a job, exit 1, with file and line" {
  mkdir kinds
  sed 's/TFJob/JaxJob/; s/tfjobs/jaxjobs/; s/^local function read(spec)/&\n  local x = nil + 1/' \
    "$root/kinds/mpba-tfjob.lua" >kinds/jaxjob.lua
  line=$(grep -n 'nil + 1' kinds/jaxjob.lua | cut -d: -f1)
  sed 's/kind: TFJob/kind: JaxJob/' "$root/examples/mpba-tfjob/ps-worker.yaml" >job.yaml
  for c in validate render; do
    split dljob $c --kinds-dir kinds job.yaml
    is "$status" 1
    has "$out$err" "kinds/jaxjob.lua:$line:"
  done
}

@test "--kinds-dir: a kind's own mistake is not the manifest's: exit 1, with the line of the Lua file" {
  mkdir kinds
  sed 's/TFJob/JaxJob/; s/tfjobs/jaxjobs/; s/service = true/servce = true/' "$root/kinds/mpba-tfjob.lua" \
    >kinds/jaxjob.lua
  line=$(grep -n servce kinds/jaxjob.lua | cut -d: -f1)
  sed 's/kind: TFJob/kind: JaxJob/' "$root/examples/mpba-tfjob/ps-worker.yaml" >job.yaml
  split dljob validate --kinds-dir kinds job.yaml
  is "$status" 1
  has "$out$err" "kinds/jaxjob.lua:$line: error: role \"ps\": unknown field \"servce\"; did you mean \"service\"?"
  has_not "$out$err" job.yaml:
}

# small_kind STATUS [MORE]: a kind whose status is that Lua.
small_kind() {
  cat <<LUA
return {
  group = "example.org", version = "v1", kind = "RingJob", plural = "ringjobs",
  spec = { "object", fields = { workers = { "int", default = 1 }, template = { "template", required = true } } },
  read = function(spec)
    return { roles = { { name = "worker", path = at(spec), count = spec.workers, template = spec.template } } }
  end,
  names = function(job, role, index) return job.name .. "-" .. index end,
  pod = function(job, role, index) return { env = { { "RANK", index } } } end,
  status = function(job, st)
    return $1
  end,$2
}
LUA
}

ring_job() {
  printf 'apiVersion: example.org/v1\nkind: RingJob\nmetadata: {name: %s}\nspec:\n  workers: %s\n' "$1" "$2"
  printf '  template: {spec: {containers: [{name: a, image: img}]}}\n'
}

@test "kinds --check: everything that is asked of a kind, the status of every phase included" {
  mkdir new
  ring_job one 3 >new/one.yaml
  echo '{' >new/not.yaml
  small_kind '{ phase = st.phase }' >new/ring.lua
  split dljob kinds --check new/ring.lua
  is "$status$err" 0
  is "$out" "new/ring.lua: RingJob.example.org: 1 job, 2 pods, 0 services, 13 statuses: no mistake found"
  # A job whose spec cannot be read has none.
  small_kind '{ workers = job.spec.workers }' >new/ring.lua
  split dljob kinds --check new/ring.lua
  is "$status" 2
  is "$err" "new/ring.lua:10: error: attempt to index a nil value (field 'spec') (in \`status\`), for a job that is \
Invalid"
  small_kind '{ done = st.outcome == "TimedOut" and nothing.here }' >new/ring.lua
  split dljob kinds --check new/ring.lua
  has "$err" "new/ring.lua:10: there is no \`nothing\`"
  small_kind '{ done = st.outcome == "TimedOut" and st.no.thing }' >new/ring.lua
  split dljob kinds --check new/ring.lua
  is "$status" 2
  has "$err" "(in \`status\`), for a job that is TimedOut"
  small_kind '{}' '
  adopt = function() return { phase = "Running" } end,' >new/ring.lua
  split dljob kinds --check new/ring.lua
  has "$err" "new/ring.lua:12: error: \`adopt\` returned the phase \"Running\", which is not final"
}

@test "kinds --check: examples that are named, that are wrong, and none at all" {
  mkdir new
  small_kind '{}' >new/ring.lua
  split dljob kinds --check new/ring.lua
  is "$status" 2
  has "$err" "there is no example of a RingJob.example.org to try it with"
  ring_job one many >wrong.yaml
  split dljob kinds --check new/ring.lua wrong.yaml
  is "$status" 2
  has "$err" "wrong.yaml:5:3: error: spec.workers: must be a whole number, found a string"
  sed -i 's/count = spec.workers/count = spec.workers, servce = true/' new/ring.lua
  ring_job one 1 >one.yaml
  split dljob kinds --check new/ring.lua one.yaml
  is "$status" 2
  is "$err" 'new/ring.lua:5: error: role "worker": unknown field "servce"; did you mean "service"?'
  split dljob kinds --check nowhere.lua one.yaml
  is "$status" 2
  # With `write` it has an example of its own.
  small_kind '{}' '
  write = function(roles, template) return { workers = roles[1].count, template = template } end,' >new/ring.lua
  split dljob kinds --check new/ring.lua
  is "$status$err" 0
  has "$out" "1 job, 2 pods"
  # … which is tried beside those that are named, and is no reason to pass over a file without any.
  split dljob kinds --check new/ring.lua one.yaml
  is "$status$err" 0
  has "$out" "2 jobs, 3 pods"
  echo '{apiVersion: v1, kind: ConfigMap}' >other.yaml
  split dljob kinds --check new/ring.lua other.yaml
  is "$status" 2
  has "$err" "there is no example of a RingJob.example.org to try it with"
  sed -i 's/return { workers = roles/return { wrkers = roles/' new/ring.lua
  split dljob kinds --check new/ring.lua one.yaml
  is "$status" 2
  has "$err" "spec.wrkers: unknown field"
}

@test "kinds --check: our own kinds and their examples" {
  for lua in "$root"/kinds/*.lua; do
    name=${lua##*/}
    name=${name%.lua}
    split dljob kinds --check "$lua" "$root/examples/$name"/*.yaml
    is "$status" 0
    has "$out" "no mistake found"
  done
}
