#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets ns
# Names of children that somebody else has: the job waits, and goes on as soon as they are free.
load helpers

setup_file() {
  install_crds
  start_operator
}

teardown_file() {
  end_operator
}

teardown() {
  kubectl -n "$ns" delete dljobs --all --wait=false
  kubectl -n "$ns" get pods -o name |
    xargs -r -n1 kubectl -n "$ns" patch --type=merge -p '{"metadata":{"finalizers":null}}'
}

# Its pods have plain names, demo-trainer-0 and demo-trainer-1, and take eight seconds to stop.
job() {
  trainers demo true 2 | pods_do 'sleep 1000' '{"fake/stop-after": "8s"}'
}

job_uid() {
  kubectl -n "$ns" get aitrainingjob demo -o 'jsonpath={.metadata.uid}'
}

# running UID: both pods run, and this job owns them.
running() {
  is "$(kubectl -n "$ns" get pods -o json |
    jq -r '.items[] | [.metadata.ownerReferences[0].uid, .status.phase] | @text' | tr '\n' ' ')" \
    "[\"$1\",\"Running\"] [\"$1\",\"Running\"] "
}

says() {
  has "$(kubectl -n "$ns" get aitrainingjob demo -o 'jsonpath={.status.dlOperator.reason}')" "$1"
}

# waited POD: milliseconds from the write that freed its name, the last one of somebody else, until the operator's
# create, as the API server saw both.
waited() {
  grep -F "\"namespace\":\"$ns\",\"name\":\"$1\"" "$CLUSTER_DIR/audit.log" | python3 -c '
import datetime, json, sys
def at(e): return datetime.datetime.fromisoformat(e["requestReceivedTimestamp"].replace("Z", "+00:00")).timestamp()
events = sorted((e for e in map(json.loads, sys.stdin) if e["objectRef"]["resource"] == "pods"
                 and e["responseStatus"]["code"] < 300), key=at)
ours = [e for e in events if e["userAgent"].startswith("dl-operator") and e["verb"] == "create"]
freed = [e for e in events if e["verb"] in ("delete", "patch", "update") and at(e) < at(ours[-1])]
print(round(1000 * (at(ours[-1]) - at(freed[-1]))))'
}

# soon POD: within two seconds.
soon() {
  local ms
  ms=$(waited "$1")
  echo "# $1: $ms ms" >&3
  [ "$ms" -le 2000 ]
}

@test "deleted, and made again at once under its name" {
  job | kubectl -n "$ns" create -f -
  eventually 120 running "$(job_uid)"
  kubectl -n "$ns" delete aitrainingjob demo
  job | kubectl -n "$ns" create -f -
  eventually 120 says "waiting for a name that is taken"
  eventually 120 says "belongs to AITrainingJob/demo and is being deleted"
  eventually 120 running "$(job_uid)"
  soon demo-trainer-0
  soon demo-trainer-1
}

@test "a pod of somebody else, without any of our labels" {
  kubectl -n "$ns" create -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: demo-trainer-0, finalizers: [example.com/hold]}
spec: {containers: [{name: main, image: img}]}
YAML
  job | kubectl -n "$ns" create -f -
  eventually 120 says "pod demo-trainer-0 has no owner"
  kubectl -n "$ns" delete pod demo-trainer-0 --wait=false
  eventually 120 says "pod demo-trainer-0 has no owner and is being deleted"
  kubectl -n "$ns" patch pod demo-trainer-0 --type=merge -p '{"metadata":{"finalizers":null}}'
  eventually 120 running "$(job_uid)"
  soon demo-trainer-0
}
