#!/usr/bin/env python3
"""Plays the kubelets of all nodes until it is ended. kwok takes a pod for another one of the same name: under
load it ends and deletes the one that was made after; here every write names the pod's UID.

A pod starts at once and runs until it is deleted, or, by its annotations: `fake/exit` is the code with which it
ends, `fake/exit-N` the code if its generation is N, `fake/after` the seconds until then (1)."""
import heapq
import http.client
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from soak import OURS, PODS, api

MERGE = "application/merge-patch+json"


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def path(pod):
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def conditions(ready):
    return [{"type": t, "status": ready, "lastTransitionTime": now()} for t in ("ContainersReady", "Ready")]


def write(pod, phase, ready, state):
    body = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": {
        "phase": phase, "startTime": pod["status"].get("startTime") or now(), "conditions": conditions(ready),
        "containerStatuses": [{"name": c["name"], "image": c["image"], "imageID": "", "ready": ready == "True",
                               "restartCount": 0, "state": state} for c in pod["spec"]["containers"]]}}
    api.ask("PATCH", path(pod) + "/status", body, MERGE)


def start(pod):
    write(pod, "Running", "True", {"running": {"startedAt": now()}})


def end(pod, code):
    write(pod, "Failed" if code else "Succeeded", "False", {"running": None, "terminated": {
        "exitCode": code, "reason": "Error" if code else "Completed", "startedAt": pod["status"]["startTime"],
        "finishedAt": now()}})


def remove(pod):
    if pod["status"].get("phase") == "Running":
        end(pod, 143)
    api.ask("DELETE", path(pod), {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}})


class Kubelet:
    def __init__(self):
        self.pool, self.done, self.account = ThreadPoolExecutor(6), set(), PODS.open("a", buffering=1)
        self.timers, self.wake = [], threading.Condition()
        threading.Thread(target=self.tick, daemon=True).start()

    def tick(self):
        with self.wake:
            while True:
                wait = self.timers[0][0] - time.monotonic() if self.timers else None
                if wait is None or wait > 0:
                    self.wake.wait(wait)
                else:
                    self.pool.submit(self.act, *heapq.heappop(self.timers)[2:])

    def act(self, what, pod, *args):
        for _ in range(600):
            try:
                return what(pod, *args)
            except (OSError, http.client.HTTPException):
                time.sleep(0.5)  # the server is away
        return None

    def once(self, pod, what, delay, f, *args):
        """Each of start, end and remove happens to a pod once."""
        key = pod["metadata"]["uid"], what
        if key not in self.done:
            self.done.add(key)
            with self.wake:
                heapq.heappush(self.timers, (time.monotonic() + delay, len(self.done), f, pod, *args))
                self.wake.notify()

    def note(self, meta):
        """Every pod that there ever was, for the checks."""
        if (meta["uid"], "seen") not in self.done:
            self.done.add((meta["uid"], "seen"))
            labels = {k[len(OURS):]: v for k, v in (meta.get("labels") or {}).items() if k.startswith(OURS)}
            if labels:
                self.account.write(json.dumps({"namespace": meta["namespace"], "pod": meta["uid"], **labels}) + "\n")

    def see(self, pod):
        meta, phase = pod["metadata"], pod["status"].get("phase")
        self.note(meta)
        if not pod["spec"].get("nodeName"):
            return
        if meta.get("deletionTimestamp"):
            self.once(pod, "remove", 0, remove)
        elif phase == "Pending":
            self.once(pod, "start", 0, start)
        elif phase == "Running":
            a = meta.get("annotations") or {}
            code = a.get("fake/exit-" + (meta.get("labels") or {}).get(OURS + "generation", ""), a.get("fake/exit"))
            if code is not None:
                self.once(pod, "end", float(a.get("fake/after", "1")), end, int(code))

    def follow(self):
        pods = api.get("/api/v1/pods")
        for pod in pods["items"]:
            self.see(pod)
        c = http.client.HTTPSConnection(api.host, context=api.tls, timeout=120)
        c.request("GET", f"/api/v1/pods?watch=1&resourceVersion={pods['metadata']['resourceVersion']}")
        for line in c.getresponse():
            event = json.loads(line)
            if event["type"] in ("ADDED", "MODIFIED"):
                self.see(event["object"])
            elif event["type"] == "ERROR":
                return


def main():
    kubelet = Kubelet()
    while True:
        try:
            kubelet.follow()
        except (OSError, TypeError, ValueError, http.client.HTTPException) as e:
            print(f"kubelet: {e}", file=sys.stderr, flush=True)
            time.sleep(0.5)


if __name__ == "__main__":
    main()
