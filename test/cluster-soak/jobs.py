"""Jobs of all kinds whose ends are known, and what must hold for them and for the server's account of them."""
import collections
import http.client
import json
import threading
import time

from soak import FINAL, OURS, api, audit, check, eventually, jobs_path, make_job, parallel, say


def template(annotations, container="main", restart="OnFailure"):
    return {"metadata": {"annotations": annotations},
            "spec": {"restartPolicy": restart, "containers": [{"name": container, "image": "none"}]}}


def job(api_version, kind, spec, policy=None):
    o = {"apiVersion": api_version, "kind": kind, "metadata": {}, "spec": spec}
    if policy:
        o["metadata"]["annotations"] = {OURS + "policy": json.dumps(policy)}
    return o


def mpba(kind, policy=None, **roles):
    return job("mpba.fbk.eu/v1", kind, [
        {"replicas": n, "replicaType": role, "template": template(a)} for role, (n, a) in roles.items()], policy)


def fioravanzo(**roles):
    return job("fioravanzo.org/v1alpha1", "MXJob", {"replicaSpecs": [
        {"replicas": n, "mxReplicaType": role, "template": template(a, "mxnet")} for role, (n, a) in roles.items()]})


def mlkube(**roles):
    return job("mlkube.io/v1beta1", "TfJob", {"replicaSpecs": [
        {"replicas": n, "tfReplicaType": role, "template": template(a, "tensorflow")}
        for role, (n, a) in roles.items()]})


def aitj(fields, **roles):
    return job("elasticdeeplearning.ai/v1", "AITrainingJob", {**fields, "replicaSpecs": {
        role: {"replicas": n, "template": template(a, "aitj-main"), **own} for role, (n, a, own) in roles.items()}})


ON, WELL = {}, {"fake/exit": "0"}
FIRST_FAILS = {"fake/exit-0": "3", "fake/exit": "0"}
QUICK = {"restart": {"limit": 2, "backoff": {"initialSeconds": 1, "maxSeconds": 1}}}

# What it is, how it ends, how many restarts are counted.
CASES = [
    ("all-workers", mpba("TFJob", ps=(1, ON), worker=(2, WELL)), "Succeeded", 0),
    ("worker-again", mpba("TFJob", ps=(1, ON), worker=(2, FIRST_FAILS)), "Succeeded", 2),
    ("limit", mpba("TFJob", QUICK, ps=(1, ON), worker=(1, {"fake/exit": "3"})), "Failed", 2),
    ("job-scope", mpba("MXJob", scheduler=(1, {"fake/exit-1": "0"}), server=(1, ON), worker=(2, {"fake/exit-0": "1"})),
     "Succeeded", 1),
    ("chief-well", fioravanzo(SCHEDULER=(1, WELL), SERVER=(1, ON), WORKER=(1, ON)), "Succeeded", 0),
    ("chief-killed", fioravanzo(SCHEDULER=(1, {"fake/exit-0": "137", "fake/exit-1": "0"}), WORKER=(1, ON)),
     "Succeeded", 1),
    ("chief-permanent", mlkube(MASTER=(1, {"fake/exit": "1"}), WORKER=(1, ON)), "Failed", 0),
    ("chief-again", mlkube(MASTER=(1, {"fake/exit-0": "137", "fake/exit": "0"}), WORKER=(1, ON)), "Succeeded", 1),
    ("any-role", aitj({"completePolicy": "Any"}, a=(1, WELL, {}), b=(2, ON, {})), "Succeeded", 0),
    ("all-restart", aitj({"restartingExitCode": "137"}, trainer=(
        3, {"fake/exit-0": "137", "fake/exit": "0"}, {"restartPolicy": "ExitCode", "restartScope": "All"})),
     "Succeeded", 1),
    ("never", aitj({}, trainer=(2, {"fake/exit": "2"}, {"restartPolicy": "Never"})), "Failed", 0),
]


def start_jobs(n, ns):
    jobs = []
    for i in range(n):
        name, manifest, phase, restarts = CASES[i % len(CASES)]
        o = json.loads(json.dumps(manifest))
        o["metadata"]["name"] = f"{name}-{i}"
        jobs.append((o, phase, restarts))
    threading.Thread(target=lambda: parallel(lambda j: make_job(j[0], ns), jobs, 2)).start()
    return jobs


def open_jobs(jobs, ns):
    """Is there one that has not ended?"""
    found = [o for path in {jobs_path(o, ns) for o, _, _ in jobs} for o in api.items(path)]
    return len(found) < len(jobs) or any(
        ((o.get("status") or {}).get("dlOperator") or {}).get("phase") not in FINAL for o in found)


def wait_for_all(jobs, ns, seconds=600):
    """Until all have ended and what remains to be done then is done: pods that still run, services."""
    began = time.monotonic()
    eventually(seconds, lambda: not open_jobs(jobs, ns), 1)
    say(f"        {time.monotonic() - began:.0f} s until all had ended")
    eventually(120, lambda: not api.items(f"/api/v1/namespaces/{ns}/services") and all(
        p["status"].get("phase") in ("Succeeded", "Failed") for p in api.items(f"/api/v1/namespaces/{ns}/pods")), 1)


def check_jobs(jobs, ns):
    wrong = []
    for o, phase, restarts in jobs:
        status = (api.get(f"{jobs_path(o, ns)}/{o['metadata']['name']}").get("status") or {}).get("dlOperator") or {}
        got = status.get("phase"), status.get("restarts", 0)
        if got != (phase, restarts):
            wrong.append(f"{o['metadata']['name']}: {got}, not {(phase, restarts)}: {status.get('reason')}")
    for line in wrong[:20]:
        say("        " + line)
    check(not wrong, f"{len(jobs) - len(wrong)} of {len(jobs)} jobs ended as they should, with their restarts")


def check_children(jobs, ns):
    uids = {o["metadata"]["uid"] for j, _, _ in jobs
            for o in [api.get(f"{jobs_path(j, ns)}/{j['metadata']['name']}")]}
    pods, services = (api.items(f"/api/v1/namespaces/{ns}/{what}") for what in ("pods", "services"))
    orphans = [o["metadata"]["name"] for o in pods + services
               if (o["metadata"].get("ownerReferences") or [{}])[0].get("uid") not in uids]
    check(not orphans, f"no orphan among {len(pods)} pods and {len(services)} services {orphans[:5]}")
    running = [p["metadata"]["name"] for p in pods if p["status"].get("phase") not in ("Succeeded", "Failed")]
    check(not running, f"nothing runs after the end {running[:5]}")
    check(not services, f"no service is left {[s['metadata']['name'] for s in services[:5]]}")


class Pods:
    """Every pod that there ever is in a namespace, as a watch shows them: the audit log does not know how a create
    ended whose sender was gone."""

    def __init__(self, ns):
        self.path, self.made, self.seen = f"/api/v1/namespaces/{ns}/pods", collections.Counter(), set()
        self.names = {}
        self.version = api.get(self.path)["metadata"]["resourceVersion"]
        self.trouble = None
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        try:
            while not self.trouble:
                for event in api.watch(f"{self.path}?watch=1&resourceVersion={self.version}"):
                    self.see(event)
        except (KeyError, OSError, ValueError, http.client.HTTPException) as e:
            self.trouble = repr(e)

    def see(self, event):
        meta = event["object"]["metadata"]
        self.version = meta["resourceVersion"]
        if meta["uid"] not in self.seen:
            self.seen.add(meta["uid"])
            key = tuple(meta["labels"][OURS + k] for k in ("uid", "role", "index", "generation"))
            self.made[key] += 1
            self.names[key] = meta["name"]

    def check(self, late=()):
        """It must have seen all of those that are there. LATE: names of pods that a create made which was on its
        way for longer than its sender's lease; a server cannot know that, so they may have been made before."""
        check(eventually(60, lambda: self.trouble or self.seen.issuperset(
            p["metadata"]["uid"] for p in api.items(self.path))) is True, f"all pods were seen {self.trouble or ''}")
        twice = [k for k, n in self.made.items() if n > 1 + (self.names[k] in late)]
        check(self.made and not twice, f"{len(self.made)} pods made, none of a generation twice {twice[:3]}")


def check_audit(since, ns):
    """The server's own account of what the operators did."""
    bare, falls, changed, patches = [], [], [], collections.defaultdict(dict)
    codes = collections.Counter()
    for e in audit(since):
        ref, code = e.get("objectRef") or {}, (e.get("responseStatus") or {}).get("code")
        if ref.get("namespace") != ns:
            continue
        codes[f"{e['verb']} {ref['resource']} {code}"] += 1
        if e["verb"] == "delete" and ref["resource"] in ("pods", "services"):
            if not ((e.get("requestObject") or {}).get("preconditions") or {}).get("uid"):
                bare.append(ref["name"])
        reply = e.get("responseObject") or {}
        if ref.get("subresource") == "status" and code == 200:
            m = reply["metadata"]
            patches[m["uid"]][int(m["resourceVersion"])] = (m["name"], reply["status"].get("dlOperator") or {})
    check(not bare, f"every delete names the UID {bare[:3]}")
    for versions in patches.values():
        end, restarts = None, 0
        for _, (name, r) in sorted(versions.items()):
            if end and r.get("phase") != end:
                changed.append(f"{name}: {end} → {r.get('phase')}")
            if r.get("restarts", 0) < restarts:
                falls.append(name)
            end = end or (r.get("phase") if r.get("phase") in FINAL else None)
            restarts = r.get("restarts", 0)
    check(patches and not changed, f"no final phase of {len(patches)} jobs changed {changed[:3]}")
    check(not falls, f"no count of restarts fell {falls[:3]}")
    for what, n in sorted(codes.items()):
        say(f"        {n:6} {what}")
