#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2317 # the helpers set what is read here, and call what is defined
# bats file_tags=apart
# dljob logs --archive of one job, to its end. It waits for a minute by the clock: that is too long for `make test`.
load ../e2e/helpers
load ../e2e/archive-server

@test "one job until its end: what did not come is said" {
  ended='{"apiVersion": "mlkube.io/v1beta1", "kind": "TfJob", "metadata": {"name": "demo", "namespace": "ml",
    "uid": "u-demo", "resourceVersion": "5"}, "spec": {},
    "status": {"dlOperator": {"version": 1, "phase": "Succeeded"}}}'
  ended=$(jq -c . <<<"$ended")
  answers "$pods/a/log 200 \"$(line 1)\"" "$pods/b/log 200 {\"after\": \"never\", \"body\": \"\"}" \
    "$pods?label 200 [$(pod a 0),$(pod b 1)]" "$jobs/demo 200 $ended" "$jobs?field 200 [$ended]"
  serve
  keep -f demo
  kept
  is "$status $(cat keep.out)" "1 1 logs archived in kept"
  is "$(cat keep.err)" "dljob logs: 1 more are incomplete: their containers still run, or nothing arrived for a minute"
  log_is 0 "line 1"
}
