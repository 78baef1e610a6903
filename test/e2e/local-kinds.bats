#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2030,SC2031,SC2317 # the helpers set what is read here; eventually calls what is there
# shellcheck disable=SC2016 # jobs of sh, which know their own variables
# Kinds from a folder on this machine's cluster: given at its start, reread while it runs.
load helpers
load local-cluster

teardown() {
  kill_started
  if [ -d home ]; then dljob local down --now >/dev/null 2>&1 || true; fi
}

# ring KIND PLURAL: a kind whose pods know their RANK.
ring() {
  cat <<LUA
return {
  group = "example.org", version = "v1", kind = "$1", plural = "$2",
  spec = { "object", fields = {
    workers = { "int", default = 1, min = 0 }, template = { "template", required = true } } },
  read = function(spec)
    return { roles = { { name = "worker", path = at(spec), count = spec.workers, template = spec.template,
      fields = { count = "workers" } } } }
  end,
  names = function(job, role, index) return job.name .. "-" .. index end,
  pod = function(job, role, index) return { env = { { "RANK", "rank " .. index } } } end,
  status = function(job, st) return { phase = st.phase } end,
}
LUA
}

# ring_job KIND NAME SCRIPT [WORKERS]
ring_job() {
  cat <<YAML
apiVersion: example.org/v1
kind: $1
metadata: {name: $2}
spec:
  workers: ${4:-1}
  template: {spec: {containers: [{name: a, image: none, command: [sh, -c, '$3']}]}}
YAML
}

# logged TEXT: the cluster's log has it.
logged() { grep -qF -- "$1" home/log; }

@test "up --kinds-dir on a cluster that runs: it says that it cannot" {
  mkdir kinds
  ring RingJob ringjobs >kinds/ring.lua
  up
  split up --kinds-dir kinds
  is "$status" 2
  has "$err" "it is already up, and cannot load the kinds of kinds while it runs: 'dljob local down' keeps its jobs"
  dljob local down >/dev/null
  up --kinds-dir kinds
  # The same folder by another name is no other one.
  split up --kinds-dir "$PWD/kinds/"
  is "$status" 0
  has "$out" "it is already up"
  split up
  is "$status" 0
}

@test "changed Lua is reread; what does not load changes nothing; a new file is a new kind" {
  mkdir kinds
  ring RingJob ringjobs >kinds/ring.lua
  up --kinds-dir kinds
  ring_job RingJob one 'echo "<$RANK>"' | submit --kinds-dir kinds --logs >out
  has "$(cat out)" "<rank 0>"
  # One that runs meanwhile goes on.
  ring_job RingJob long 'until [ -e go ]; do sleep 0.1; done' | submit --kinds-dir kinds
  dljob wait --local -q --kinds-dir kinds --for running --timeout 60s long
  echo 'return {' >kinds/new.lua
  eventually 60 logged "the kinds are unchanged: kinds/new.lua"
  ring_job RingJob two 'echo "<$RANK>"' >two.yaml
  ring OtherJob otherjobs >kinds/new.lua
  sed 's/"rank "/"number "/' kinds/ring.lua >ring.new
  mv ring.new kinds/ring.lua
  eventually 60 logged "the kinds have changed"
  submit --kinds-dir kinds --logs <two.yaml >out
  has "$(cat out)" "<number 0>"
  ring_job OtherJob three 'echo "<$RANK>"' | submit --kinds-dir kinds --logs >out
  has "$(cat out)" "<rank 0>"
  touch go
  split dljob wait --local -q --kinds-dir kinds --timeout 60s long
  is "$status" 0
  is "$(api /apis/example.org/v1/namespaces/default/ringjobs/long | jq .status.dlOperator.restarts)" 0
  dljob local down >/dev/null
  has_not "$(cat home/log)" Sanitizer
}

@test "submit of a kind whose Lua is not here: it is said so, and nothing is sent" {
  mkdir kinds
  ring RingJob ringjobs >kinds/ring.lua
  up --kinds-dir kinds
  ring_job RingJob one true >one.yaml
  split dljob submit --local -q one.yaml
  is "$status" 2
  is "$err" "one.yaml:2:1: error: kind: this cluster serves RingJob, but its Lua is not here: --kinds-dir DIR
dljob submit: nothing was sent: there is an error"
  # Beside another job it is not passed over, and asked for once.
  {
    cat one.yaml
    printf -- '---\n'
    sed 's/name: one/name: two/' one.yaml
    printf -- '---\n'
    sed -n p "$root/examples/mlkube-tfjob/hello.yaml"
  } >all.yaml
  split dljob submit --local -q all.yaml
  is "$status" 2
  is "$(grep -c 'this cluster serves RingJob' stderr)" 2
  has "$(dljob list --local -q 2>&1)" "no jobs"
  # What nobody serves is no known API, as before.
  sed 's/RingJob/OtherJob/' one.yaml >other.yaml
  split dljob submit --local -q other.yaml
  is "$status" 2
  has "$err" "there is no job in other.yaml: OtherJob of example.org/v1 is not a known API"
  submit --kinds-dir kinds <one.yaml
}

@test "jobs of a kind whose Lua is not here: list, get, logs, exec, cp, top, port-forward, wait, scale, suspend, …" {
  mkdir kinds
  ring RingJob ringjobs >kinds/ring.lua
  up --kinds-dir kinds
  ring_job RingJob one 'echo "<$RANK>"; until [ -e go ]; do sleep 0.1; done' 2 | submit --kinds-dir kinds
  rm -r kinds
  dljob wait --local -q --for running --timeout 60s one
  split dljob list --local -q
  has "$(tr -s ' ' <<<"$out")" "one RingJob Running"
  has "$(dljob list --local -q ringjobs -o name)" "RingJob.example.org/one"
  split dljob get --local -q RingJob/one
  is "$status$err" 0
  has "$(tr -s ' ' <<<"$out")" "worker 2/2"
  has "$out" "worker-1"
  both_spoke() { is "$(dljob logs --local -q one | sort | paste -s -d ,)" "worker-0 | <rank 0>,worker-1 | <rank 1>"; }
  eventually 60 both_spoke
  is "$(dljob exec --local -q one worker-1 -- sh -c 'echo "$RANK here"')" "rank 1 here"
  echo data >here
  dljob cp --local -q one here worker-1:there
  is "$(cat there)" data
  measured() { has "$(dljob top --local -q one)" worker-1; }
  eventually 60 measured
  "$DLJOB" port-forward --local -q one worker-0 0:7007 >ports 3>&- &
  echo $! >forward.pid
  eventually 60 grep -q -- '-> 7007' ports
  split dljob scale --local -q one worker=3
  is "$status $out" "0 one: worker from 2 to 3 replicas; the whole job restarts, not counted"
  is "$(api /apis/example.org/v1/namespaces/default/ringjobs/one | jq .spec.workers)" 3
  split dljob scale --local -q one master=3
  has "$err" "one has no role master; it has worker"
  dljob suspend --local -q one
  dljob resume --local -q one
  touch go
  dljob wait --local -q --timeout 60s one
  has "$(dljob rerun --local -q --wait one)" "RingJob/one-2 created"
  dljob delete --local -q one one-2
  split dljob list --local -q
  has "$err" "no jobs"
}
