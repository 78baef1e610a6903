#!/usr/bin/env python3
"""Bad input through the API: each is told on the job, in words, and the other jobs go on."""
import json
import random
import time

from jobs import CASES
from soak import (OURS, Operator, api, check, ends, eventually, finish, jobs_path, make_job, new_namespace, phase,
                  record, say, tf_job)

WRONG = [None, True, -1, 10**12, 1.5, "", "x", "\u0000", "é" * 300, [], {}, [None], [[]], {"x": None}, {"": {}}]


def reason(job, ns):
    return (record(job, ns) or {}).get("reason") or ""


def places(o, at=()):
    """The path of every value below o."""
    children = o.items() if isinstance(o, dict) else enumerate(o) if isinstance(o, list) else ()
    for k, v in children:
        yield (*at, k)
        yield from places(v, (*at, k))


def wrong_types(ns, o):
    """A wrong value at every place of every kind's spec. What the definition lets in is answered with a phase."""
    rng, let_in, refused = random.Random(1), [], 0
    kinds = {(m["apiVersion"], m["kind"]): m for _, m, _, _ in CASES}
    for (_, kind), manifest in sorted(kinds.items()):
        for n, place in enumerate(places(manifest["spec"])):
            for wrong in rng.sample(WRONG, 3):
                job = json.loads(json.dumps(manifest))
                job["metadata"] = {"name": f"w-{kind.lower()}-{n}-{len(let_in)}-{refused}"}
                spot = job["spec"]
                for k in place[:-1]:
                    spot = spot[k]
                spot[place[-1]] = wrong
                code, _ = api.ask("POST", jobs_path(job, ns), job)
                if code == 201:
                    let_in.append((job, place, wrong))
                else:
                    refused += 1
    say(f"        {refused} refused by the definitions, {len(let_in)} let in")
    silent = []
    for job, place, wrong in let_in:
        r = eventually(20, lambda j=job: (record(j, ns) or {}).get("reason") and record(j, ns))
        if not r:
            silent.append((job["metadata"]["name"], place, wrong))
    for line in silent[:10]:
        say(f"        {line}")
    check(not silent, "each that was let in has a phase and a line that says why")
    check(o.alive(), "the operator is alive")
    for job, _, _ in let_in:
        api.ask("DELETE", f"{jobs_path(job, ns)}/{job['metadata']['name']}")


def big_annotation(ns):
    """The server takes 256 KiB of annotations, in all, and the template of a pod is not looked at."""
    job = tf_job("big", {"fake/exit": "0", "big": "x" * (1 << 20)})
    code, reply = api.ask("POST", jobs_path(job, ns), job)
    if code != 201:
        check(True, f"1 MB annotation in the template: refused by the server: {code} {reply.get('message', '')[:80]}")
        return
    r = eventually(30, lambda: (record(job, ns) or {}).get("phase") in ("Failed", "Invalid") and record(job, ns))
    check(bool(r) and "annotations" in r["reason"], f"1 MB annotation: {r and r['phase']}: {r and r['reason'][:120]}")


def deleted_early(ns):
    for i in range(10):
        job = tf_job(f"early-{i}", {}, workers=40)
        make_job(job, ns)
        eventually(10, lambda: any(p["metadata"]["name"].find(f"early-{i}") >= 0
                                   for p in api.items(f"/api/v1/namespaces/{ns}/pods")), 0.01)
        api.ask("DELETE", f"{jobs_path(job, ns)}/early-{i}", {"propagationPolicy": "Background"})

    def left():
        return [o["metadata"]["name"] for what in ("pods", "services")
                for o in api.items(f"/api/v1/namespaces/{ns}/{what}") if "early-" in o["metadata"]["name"]]

    eventually(90, lambda: not left(), 1)
    check(not left(), f"jobs deleted while their pods are made leave nothing {left()[:3]}")


def colliding(ns):
    """Two kinds whose children have the same names, and a service that belongs to nobody of ours."""
    first = tf_job("same", {})
    second = {**tf_job("same", {}), "kind": "MXJob"}
    second["spec"] = [{**second["spec"][0], "replicaType": "scheduler"}, second["spec"][0]]
    make_job(first, ns)
    check(eventually(30, lambda: phase(first, ns) == "Running"), "the first of two jobs of one name runs")
    services = [s for s in api.items(f"/api/v1/namespaces/{ns}/services") if "same" in s["metadata"]["name"]]
    make_job(second, ns)
    told = eventually(30, lambda: "somebody else has" in reason(second, ns))
    check(told, f"the second says: {reason(second, ns)}")
    check(f"belongs to {first['kind']}/same" in reason(second, ns), "and whose the name is")
    check(phase(first, ns) == "Running", "the first runs on")
    for s in services:
        check(api.get(f"/api/v1/namespaces/{ns}/services/{s['metadata']['name']}")["metadata"]["uid"]
              == s["metadata"]["uid"], "its service is untouched")
    name = services[0]["metadata"]["name"].replace("same", "taken")
    theirs = api.make(f"/api/v1/namespaces/{ns}/services",
                      {"metadata": {"name": name}, "spec": {"ports": [{"port": 1}]}})
    job = tf_job("taken")
    make_job(job, ns)
    told = eventually(30, lambda: name in reason(job, ns))
    check(told, f"a service of somebody else: {reason(job, ns)}")
    check("belongs to nobody" in reason(job, ns), "and that it is nobody's")
    told = eventually(30, lambda: any(
        e["reason"] == "NameTaken" and e["involvedObject"]["name"] == "taken"
        for e in api.items(f"/api/v1/namespaces/{ns}/events")))
    check(told, "an Event says it, too")
    check(api.get(f"/api/v1/namespaces/{ns}/services/{name}")["metadata"]["resourceVersion"]
          == theirs["metadata"]["resourceVersion"], "that service is untouched")
    api.ask("DELETE", f"/api/v1/namespaces/{ns}/services/{name}")
    check(ends(job, ns, 60), "when it is gone the job goes on to its end")


def wrong_policy(ns):
    job = tf_job("policy")
    job["metadata"]["annotations"] = {OURS + "policy": "{restart: [" + "[" * 5000}
    make_job(job, ns)
    check(eventually(20, lambda: phase(job, ns) == "Invalid"),
          f"a policy that is no document: {phase(job, ns)}: {reason(job, ns)[:100]}")


def main():
    o = Operator("input").ready()
    ns = new_namespace("input")
    for part in (big_annotation, wrong_policy, colliding, deleted_early):
        part(ns)
    wrong_types(ns, o)
    at = time.monotonic()
    make_job(tf_job("good"), ns)
    check(ends(tf_job("good"), ns, 30), f"a good job beside them ends well ({time.monotonic() - at:.1f} s)")
    check(o.alive(), "the operator is alive")
    o.stop()
    api.ask("DELETE", f"/api/v1/namespaces/{ns}")
    finish()


if __name__ == "__main__":
    main()
