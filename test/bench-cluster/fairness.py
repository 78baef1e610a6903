"""How long a small job waits for its pods while large ones start: from when its create comes in until its last pod is
stored, by the stamps of the server's audit log."""
import time

from cases import training_job
from cluster import when
from requests_file import GROUPS

MOST = 300
PODS = 2


def made(cluster, mark):
    """name -> when its create came in and when it was stored, of all children and jobs since MARK"""
    return {(e["objectRef"]["resource"], e["objectRef"].get("name")):
            (when(e["requestReceivedTimestamp"]), when(e["stageTimestamp"]))
            for e in cluster.audit(mark) if e["verb"] == "create" and e["responseStatus"]["code"] == 201}


def small_jobs(cluster, jobs, pause, begin):
    """Makes small jobs until the children of the large ones are there. Their waits in seconds, and how long the large
    ones took. Nothing of either is left."""
    mark = cluster.audit_mark()
    begin()
    small, at = [], mark
    missing = 2 * sum(s["replicas"] for j in jobs for s in j["spec"]["replicaSpecs"])
    while len(small) < MOST and missing > 0:
        small.append(training_job(f"small-{len(small)}", PODS))
        cluster.call("POST", "/" + GROUPS["AITrainingJob"], small[-1])
        time.sleep(pause)
        more, at = cluster.count_children(at)
        missing += 2 * PODS - more
    cluster.wait_children(at, missing)
    times = made(cluster, mark)
    large = [t for (resource, name), t in times.items() if resource in ("pods", "services") and name.startswith("large-")]
    end = max(stored for _, stored in large)
    waits = []
    for job in small:
        name = job["metadata"]["name"]
        began, _ = times["aitrainingjobs", name]
        # One that came when the large ones were done had nothing to wait for.
        if began < end:
            waits.append(max(times["pods", f"{name}-trainer-{i}"][1] for i in range(PODS)) - began)
    cluster.wipe([*jobs, *small])
    return waits, end - min(began for began, _ in large)
