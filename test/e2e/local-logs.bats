#!/usr/bin/env bats
# shellcheck disable=SC2154 # the helpers set what is read here
# The logs of pods that are gone, on the cluster on this machine.
load helpers
load local-cluster

teardown() {
  kill_started
  if [ -d home ]; then dljob local down --now >/dev/null 2>&1 || true; fi
}

# cleaned NAME SCRIPT [REPLICAS]: a job whose pods are removed at its end.
cleaned() { job "$@" | sed /cleanPodPolicy/d; }

no_pods() { is "$(api "$pods" | jq -r '.items[].metadata.name')" ""; }

@test "a job that is cleaned up: its logs are there until the job goes" {
  up
  # shellcheck disable=SC2016 # the pod's shell
  cleaned tidy 'for i in 1 2 3; do echo "$HOSTNAME $i"; done; sleep 0.3; echo end' 2 | submit
  ended tidy Succeeded
  eventually 60 no_pods
  split dljob logs tidy --local -q
  is "$status $err" "0 "
  for r in 0 1; do
    is "$(grep "^trainer-$r |" <<<"$out" | sed 's/.*| //' | tr '\n' ,)" \
      "tidy-trainer-$r 1,tidy-trainer-$r 2,tidy-trainer-$r 3,end,"
  done
  # In the order of time.
  times=$(dljob logs tidy --local -q --timestamps | sed 's/^[^|]*| //; s/ .*//')
  is "$times" "$(sort <<<"$times")"
  is "$(dljob logs tidy --local -q --role trainer --index 1 --tail 1)" "trainer-1 | end"
  is "$(dljob logs tidy --local -q -f | sort)" "$(sort <<<"$out")"
  is "$(api "$pods/tidy-trainer-0/log?tailLines=1")" end
  is "$(KUBECONFIG=home/kubeconfig "$DLJOB" logs tidy -q --index 0 --tail 1)" "trainer-0 | end"
  split dljob logs tidy --local -q --previous
  is "$status" 1
  is "$err" "dljob logs: no container of tidy has an earlier log"

  # Whatever becomes of the cluster.
  kill_cluster
  up
  is "$(dljob logs tidy --local -q --index 1 --tail 1)" "trainer-1 | end"

  has "$(ls home/logs)" -
  dljob delete --local -q tidy >/dev/null
  nothing_kept() { is "$(ls home/logs)" ""; }
  eventually 60 nothing_kept
  is "$(api "$pods/tidy-trainer-0/log" | jq -r .reason)" NotFound
}

@test "a job that was restarted: what the pods before wrote" {
  up
  # shellcheck disable=SC2016 # the pod's shell
  POLICY=OnFailure cleaned again \
    'if [ -e '"$PWD"'/mark ]; then echo second; else touch '"$PWD"'/mark; echo first; exit 1; fi' | submit
  ended again Succeeded
  eventually 60 no_pods
  is "$(dljob logs again --local -q)" "trainer-0 | second"
  is "$(dljob logs again --local -q --previous)" "trainer-0 | first"

  rm mark
  POLICY=OnFailure cleaned runs \
    'if [ -e '"$PWD"'/mark ]; then echo second; sleep 1000; else touch '"$PWD"'/mark; echo first; exit 1; fi' | submit
  second() { is "$(dljob logs runs --local -q)" "trainer-0 | second"; }
  eventually 60 second
  is "$(dljob logs runs --local -q --previous)" "trainer-0 | first"
}
