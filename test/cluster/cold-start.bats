#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets ns and root
# An operator that starts after all pods of a large job were lost.
load helpers

setup_file() {
  install_crds
}

# The large job would go on to make ten thousand children.
teardown() {
  [ -z "${OPERATOR:-}" ] || kill -9 "$OPERATOR" 2>/dev/null || true
  kubectl -n "$ns" delete dljobs --all
}

# large on standard output: a scheduler, a server and 9,998 workers.
large() {
  example fioravanzo-mxjob/linear-dist | jq '.metadata.name = "large"
    | (.spec.replicaSpecs[] | select(.mxReplicaType == "WORKER")).replicas = 9998'
}

lost='{"status": {"dlOperator": {"version": 1, "phase": "Running", "roles": {
  "scheduler": {"count": 1, "seen": "0"}, "server": {"count": 1, "seen": "0"},
  "worker": {"count": 9998, "seen": "0-9997"}}}}}'

# seen JQ: of what the operator asked of the API server in this namespace, all as one list.
seen() {
  grep -F "\"namespace\":\"$ns\"" "$CLUSTER_DIR/audit.log" |
    jq -cs "map(select(.userAgent | startswith(\"dl-operator\"))) | $1"
}

questions_are_asked() {
  [ "$(seen 'map(select(.verb == "get" and .objectRef.resource == "pods")) | length')" -gt 100 ]
}

restarted() {
  [ "$(kubectl -n "$ns" get mxjob.fioravanzo.org large -o 'jsonpath={.status.dlOperator.restarts}')" = 1 ]
}

# took: how many questions the operator asked, the seconds from the first to the last, and those from the create of the
# small job to that of its last pod.
took() {
  grep -F "\"namespace\":\"$ns\"" "$CLUSTER_DIR/audit.log" | python3 -c '
import datetime, json, sys
def at(e, what): return datetime.datetime.fromisoformat(e[what].replace("Z", "+00:00")).timestamp()
events = [e for e in map(json.loads, sys.stdin) if e["responseStatus"]["code"] < 300 or e["verb"] == "get"]
asked = [e for e in events if e["verb"] == "get" and e["objectRef"]["resource"] == "pods"]
small = next(e for e in events if e["verb"] == "create" and e["objectRef"]["resource"] == "tfjobs")
pods = [e for e in events if e["verb"] == "create" and e["objectRef"]["resource"] == "pods"
        and e["userAgent"].startswith("dl-operator") and e["objectRef"].get("name", "").startswith("small-")]
assert len(pods) == 2, pods
print(len(asked), max(at(e, "stageTimestamp") for e in asked) - min(at(e, "requestReceivedTimestamp") for e in asked),
      max(at(e, "stageTimestamp") for e in pods) - at(small, "requestReceivedTimestamp"))'
}

@test "ten thousand lost pods are resolved within a minute, and a small job does not wait for them" {
  large | kubectl -n "$ns" create -f -
  kubectl -n "$ns" patch mxjob.fioravanzo.org large --subresource=status --type=merge -p "$lost"
  start_operator
  eventually 120 questions_are_asked
  tfjob small 1 | kubectl -n "$ns" create -f -
  eventually 120 restarted
  read -r questions all small < <(took)
  echo "# $questions questions in $all s, the small job's pods after $small s" >&3
  # Each of them once.
  is "$questions" 10000
  python3 -c "assert $all < 60"
  python3 -c "assert $small < 2"
}
