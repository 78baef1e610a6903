"""Requests as (method, path, content type, body), and the file of them that `replay` reads."""
import json
import os
import re
import subprocess

NAMESPACE = "bench"
GROUPS = {"TfJob": "apis/mlkube.io/v1beta1/namespaces/bench/tfjobs",
          "AITrainingJob": "apis/elasticdeeplearning.ai/v1/namespaces/bench/aitrainingjobs"}
CHILDREN = tuple(f"/api/v1/namespaces/{NAMESPACE}/{r}" for r in ("pods", "services"))
UID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
VERSION = re.compile(rb'^{"metadata":{"resourceVersion":"[0-9]+"},')


def for_jobs(jobs):
    """The requests that create them."""
    return [("POST", "/" + GROUPS[j["kind"]], "application/json", json.dumps(j).encode()) for j in jobs]


def creates_child(request):
    return request[0] == "POST" and request[1].split("?")[0] in CHILDREN


def only_until_last_child(requests):
    """The writes in our namespace, without those after the last child was created."""
    writes = [r for r in requests if r[0] != "GET" and f"/namespaces/{NAMESPACE}/" in r[1]]
    last = max(i for i, r in enumerate(writes) if creates_child(r))
    return writes[:last + 1]


def with_uids(requests, uids):
    """The same for jobs of the same names that were made anew: with their UIDs, and patches of whichever
    version they have."""
    new = {old.encode(): fresh.encode() for old, fresh in uids.items()}

    def body(r):
        b = UID.sub(lambda m: new.get(m.group(0), m.group(0)), r[3])
        return VERSION.sub(b"{", b) if r[0] == "PATCH" else b

    return [(r[0], r[1], r[2], body(r)) for r in requests]


def write_file(path, requests):
    with open(path, "wb") as f:
        for method, where, kind, body in requests:
            f.write(f"{method} {where} {kind} {len(body)}\n".encode() + body + b"\n")


def replay(binary, connections, path, kubeconfig):
    """Sends them; fails if one of them is refused."""
    done = subprocess.run([binary, str(connections), path], env={**os.environ, "KUBECONFIG": kubeconfig},
                          check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr + done.stdout)
    m = re.match(r"(\d+) requests, ([\d.]+) s, (\d+) a second", done.stdout)
    return {"requests": int(m[1]), "seconds": float(m[2]), "rate": float(m[3])}
