#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2030,SC2031,SC2317 # the helpers set what is read here; eventually calls what is there
# shellcheck disable=SC2016 # jobs of sh, which know their own variables
# One cluster on this machine for several projects: a job runs where it was submitted, with that PATH.
load helpers
load local-cluster

teardown() {
  kill_started
  if [ -d home ]; then dljob local down --now >/dev/null 2>&1 || true; fi
}

# project NAME: a folder with a program `tool` of its own.
project() {
  mkdir -p "$1/bin"
  printf '#!/bin/sh\necho "%s in $(pwd)"\n' "$1" >"$1/bin/tool"
  chmod +x "$1/bin/tool"
}

# says JOB: what its trainer wrote.
says() { dljob logs --local -q "$1" | sed 's/^trainer-0 | //'; }

@test "submit: folder and PATH of the caller, by --local and by KUBECONFIG; the manifest's own come first" {
  up
  here=$PWD
  project one
  project two
  trainers it 'tool' >job.yaml
  for p in one two; do
    cd "$here/$p"
    PATH=$PWD/bin:$PATH dljob submit --local -q --suffix "$p" --wait ../job.yaml
  done
  cd "$here"
  is "$(says it-one)" "one in $here/one"
  is "$(says it-two)" "two in $here/two"
  is "$(api "$jobs/it-one" | jq -r '.metadata.annotations["dl-operator.mpba.fbk.eu/folder"]')" "$here/one"
  # The spec is as it was written.
  yaml_to_json <job.yaml | jq -S '.[0].spec' >want
  diff want <(api "$jobs/it-one" | jq -S .spec)
  cp "$(dljob local kubeconfig)" config
  cd one
  KUBECONFIG=$here/config PATH=$PWD/bin:$PATH dljob submit -q --suffix config --wait ../job.yaml
  cd "$here"
  is "$(says it-config)" "one in $here/one"
  # Whoever runs it again means the same project.
  cd two
  dljob rerun --local -q it-one --wait
  cd "$here"
  is "$(says it-one-2)" "one in $here/one"
  trainers own 'tool || pwd' 1 "" "            workingDir: /tmp
            env: [{name: PATH, value: /usr/bin:/bin}]" >own.yaml
  PATH=$here/one/bin:$PATH dljob submit --local -q --wait own.yaml
  is "$(says own | tail -n 1)" /tmp
}
