#!/usr/bin/env python3
"""Bad input through the API: each is told on the job, in words that name the field or the child, and the other jobs
go on."""
import json
import random
import time

from jobs import CASES
from soak import (OURS, PLURALS, Operator, api, check, ends, eventually, finish, jobs_path, make_job, new_namespace,
                  phase, record, say, tf_job)

WRONG = [None, True, -1, 10**12, 1.5, "", "x", "\u0000", "é" * 300, [], {}, [None], [[]], {"x": None}, {"": {}}]
# What only the API server looks at, when a pod is made of it (but for a TensorBoard's), and the name that it has there.
THEIRS = {"annotations": "metadata.annotations", "volumes": "spec.volumes", "volumeMounts": "containers.volumeMounts"}


def reason(job, ns):
    return (record(job, ns) or {}).get("reason") or ""


def places(o, at=()):
    """The path of every value below o."""
    children = o.items() if isinstance(o, dict) else enumerate(o) if isinstance(o, list) else ()
    for k, v in children:
        yield (*at, k)
        yield from places(v, (*at, k))


def fields(schema, role, at=()):
    """The path and the definition of every field below it; a map of roles has one."""
    below = dict(schema.get("properties") or {})
    if isinstance(schema.get("additionalProperties"), dict):
        below[role] = schema["additionalProperties"]
    if "items" in schema:
        below[0] = schema["items"]
    for k, v in below.items():
        yield (*at, k), v
        yield from fields(v, role, (*at, k))


def of_type(schema, value):
    kind = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}[type(value)]
    if schema.get("x-kubernetes-int-or-string"):
        return kind in ("integer", "string")
    return schema.get("type") == kind


def attempts(manifest, definition, rng):
    """Values of all sorts where the manifest has one, and values of another type in every field that there is."""
    for place in places(manifest["spec"]):
        for wrong in rng.sample(WRONG, 3):
            yield place, wrong
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    roles = manifest["spec"].get("replicaSpecs") if isinstance(manifest["spec"], dict) else None
    for place, field in fields(schema, next(iter(roles)) if isinstance(roles, dict) else "worker"):
        for wrong in rng.sample([w for w in WRONG if w is not None and not of_type(field, w)], 3):
            yield place, wrong


def put(o, place, value):
    """Makes what is missing on the way."""
    for k, then in zip(place, (*place[1:], None)):
        if isinstance(o, list) and k == len(o):
            o.append(None)
        if then is None:
            o[k] = value
        elif isinstance(o, list) and o[k] is None or isinstance(o, dict) and k not in o:
            o[k] = [] if isinstance(then, int) else {}
        o = o[k]


def spelt(place):
    """As the operator writes it: spec.replicaSpecs[0].template"""
    return "spec" + "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in place)


def endure(o):
    """What would end well goes on instead: a role that is refused is given up after a minute, and until then the job
    must not be over for another reason."""
    if isinstance(o, list):
        for v in o:
            endure(v)
    elif isinstance(o, dict):
        for v in o.values():
            endure(v)
        a = o.get("annotations")
        if isinstance(a, dict) and "0" in a.values():
            a["fake/after"] = "1h"


def does(place, wrong):
    """Is that value no mistake there?"""
    return wrong is None or (
        type(wrong) in (int, float) and wrong > 0 if "minResources" in place[:-1] else
        # An empty list and an empty object are one and the same to Lua.
        wrong in ([], {}) if place[0] == "tensorboard" and place[-1] in THEIRS else
        isinstance(wrong, str) if "annotations" in place[:-1] else
        isinstance(wrong, str) and wrong != "" if place[-1] == "image" else
        isinstance(wrong, dict) if place[-1] == "metadata" else
        wrong in ({}, {"x": None}) if place[-1] == "annotations" else
        wrong == [] if place[-1] in THEIRS else
        wrong == "" if place[-1] == "restartPolicy" else
        wrong == "x" and place[-1] == "name")


def told(job, ns, place, wrong):
    """Does the job say what is wrong, in its line and in a condition, and name the field? None: not yet."""
    o = api.get(f"{jobs_path(job, ns)}/{job['metadata']['name']}") or {}
    status = o.get("status") or {}
    r = status.get("dlOperator") or {}
    if not r.get("reason"):
        return None
    field = spelt(place)
    if place[0] != "tensorboard":
        field = next((name for k, name in THEIRS.items() if k in place), field)
    if r["phase"] in ("Invalid", "Failed") and field in r["reason"]:
        return any(field in (c.get("message") or "") for c in status.get("conditions") or []) or None
    return None if not does(place, wrong) else "it is no mistake"


def wrong_types(ns, o):
    """A wrong value at every place of every kind's spec. What the definition lets in is answered with a phase and a
    line that names the field."""
    rng, let_in, refused, unnamed = random.Random(1), [], 0, []
    kinds = {(m["apiVersion"], m["kind"]): m for _, m, _, _ in CASES}
    for (version, kind), manifest in sorted(kinds.items()):
        definition = api.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                             f"{PLURALS[kind]}.{version.split('/')[0]}")
        for n, (place, wrong) in enumerate(attempts(manifest, definition, rng)):
            job = json.loads(json.dumps(manifest))
            job["metadata"] = {"name": f"w-{kind.lower()}-{n}-{len(let_in)}"}
            if place[0] == "tensorboard":
                job["spec"]["tensorboard"] = {"logDir": "/logs"}
            put(job["spec"], place, wrong)
            endure(job["spec"])
            code, reply = api.ask("POST", jobs_path(job, ns), job)
            if code == 201:
                let_in.append((job, place, wrong))
            else:
                refused += 1
                if spelt(place) not in reply["message"]:
                    unnamed.append(f"{kind}: {spelt(place)}: {wrong!r:.40}: {code} {reply['message']:.200}")
    for line in unnamed[:10]:
        say(f"        {line}")
    check(refused and not unnamed, f"{refused} refused by the definitions, which name the field; {len(let_in)} let in")
    silent = []
    for job, place, wrong in let_in:
        if not eventually(5 if silent else 120, lambda: told(job, ns, place, wrong)):
            silent.append(f"{job['metadata']['name']}: {spelt(place)}: {wrong!r:.40}: "
                          f"{phase(job, ns)}: {reason(job, ns)}")
    for line in silent[:10]:
        say(f"        {line}")
    check(not silent, "each that was let in says what is wrong, and names the field")
    check(o.alive(), "the operator is alive")
    for job, _, _ in let_in:
        api.ask("DELETE", f"{jobs_path(job, ns)}/{job['metadata']['name']}")


def big_annotation(ns):
    """The server takes 256 KiB of annotations, in all, and does not look at the template of a pod; we take pods of up to
    1 MiB."""
    for name, size, says in ("big", 1 << 19, "annotations"), ("bigger", 1 << 20, "--max-pod-size"):
        job = tf_job(name, {"fake/exit": "0", "big": "x" * size})
        code, reply = api.ask("POST", jobs_path(job, ns), job)
        if code != 201:
            check(True, f"{size} bytes in the template: refused by the server: {code} {reply.get('message', '')[:80]}")
            continue
        r = eventually(120, lambda: (record(job, ns) or {}).get("phase") in ("Failed", "Invalid") and record(job, ns))
        check(bool(r) and says in r["reason"], f"{size} bytes: {r and r['phase']}: {r and r['reason'][:200]}")


def deleted_early(ns):
    for i in range(10):
        job = tf_job(f"early-{i}", {}, workers=40)
        make_job(job, ns)
        eventually(60, lambda: any(p["metadata"]["name"].find(f"early-{i}") >= 0
                                   for p in api.items(f"/api/v1/namespaces/{ns}/pods")), 0.01)
        api.ask("DELETE", f"{jobs_path(job, ns)}/early-{i}", {"propagationPolicy": "Background"})

    def left():
        return [o["metadata"]["name"] for what in ("pods", "services")
                for o in api.items(f"/api/v1/namespaces/{ns}/{what}") if "early-" in o["metadata"]["name"]]

    eventually(180, lambda: not left(), 1)
    check(not left(), f"jobs deleted while their pods are made leave nothing {left()[:3]}")


def colliding(ns):
    """Two kinds whose children have the same names, and a service that none of our jobs owns."""
    first = tf_job("same", {})
    second = {**tf_job("same", {}), "kind": "MXJob"}
    second["spec"] = [{**second["spec"][0], "replicaType": "scheduler"}, second["spec"][0]]
    make_job(first, ns)
    check(eventually(120, lambda: phase(first, ns) == "Running"), "the first of two jobs of one name runs")
    services = [s for s in api.items(f"/api/v1/namespaces/{ns}/services") if "same" in s["metadata"]["name"]]
    make_job(second, ns)
    told = eventually(120, lambda: "a name that is taken" in reason(second, ns))
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
    told = eventually(120, lambda: name in reason(job, ns))
    check(told, f"a service of somebody else: {reason(job, ns)}")
    check("has no owner" in reason(job, ns), "and that it is nobody's")
    told = eventually(120, lambda: any(
        e["reason"] == "NameTaken" and e["involvedObject"]["name"] == "taken"
        for e in api.items(f"/api/v1/namespaces/{ns}/events")))
    check(told, "an Event says it, too")
    check(api.get(f"/api/v1/namespaces/{ns}/services/{name}")["metadata"]["resourceVersion"]
          == theirs["metadata"]["resourceVersion"], "that service is untouched")
    api.ask("DELETE", f"/api/v1/namespaces/{ns}/services/{name}")
    check(ends(job, ns, 180), "when it is gone the job goes on to its end")


def wrong_policy(ns):
    job = tf_job("policy")
    job["metadata"]["annotations"] = {OURS + "policy": "{restart: [" + "[" * 5000}
    make_job(job, ns)
    check(eventually(120, lambda: phase(job, ns) == "Invalid"),
          f"a policy that is no document: {phase(job, ns)}: {reason(job, ns)[:100]}")


def main():
    o = Operator("input").ready()
    ns = new_namespace("input")
    for part in (big_annotation, wrong_policy, colliding, deleted_early):
        part(ns)
    wrong_types(ns, o)
    at = time.monotonic()
    make_job(tf_job("good"), ns)
    check(ends(tf_job("good"), ns, 120), f"a good job beside them ends well ({time.monotonic() - at:.1f} s)")
    check(o.alive(), "the operator is alive")
    o.stop()
    api.ask("DELETE", f"/api/v1/namespaces/{ns}")
    finish()


if __name__ == "__main__":
    main()
