"""How long a change of a pod waits for the operator: from when the server has stored it until the operator's next
request for the pod's job comes in, both by the stamps of the server's audit log."""
from cluster import when
from requests_file import CHILDREN

RUNNING = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


def change_pods(cluster, jobs):
    """One pod of each job turns Running, one after the other. A job's status is written once a second at most: none
    is used twice."""
    pods = {}
    for pod in cluster.call("GET", CHILDREN[0])["items"]:
        pods[pod["metadata"]["ownerReferences"][0]["name"]] = pod["metadata"]["name"]
    for job in jobs:
        cluster.call("PATCH", f"{CHILDREN[0]}/{pods[job['metadata']['name']]}/status", RUNNING,
                     "application/strategic-merge-patch+json")


def waits(cluster, mark):
    """Seconds, one for each change."""
    changed, result = {}, []
    for e in cluster.audit(mark):
        ref = e["objectRef"]
        if ref["resource"] == "pods" and e["verb"] == "patch" and e["userAgent"] == "bench":
            changed[ref["name"]] = when(e["stageTimestamp"])
    for e in cluster.audit(mark):
        if e["userAgent"].startswith("dl-operator") and e["verb"] == "patch" and e["objectRef"]["resource"] != "events":
            pod = next((p for p in changed if p.startswith(e["objectRef"]["name"] + "-")), None)
            if pod:
                result.append(when(e["requestReceivedTimestamp"]) - changed.pop(pod))
    if changed:
        raise RuntimeError(f"the operator did not answer to {len(changed)} changes")
    return result
