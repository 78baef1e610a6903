#!/usr/bin/env python3
"""An older state of etcd is put back under a running operator: versions fall. It must notice by itself, forget what it
knew of a future that never was, and go on as the same process."""
import shutil
import time

from network import component
from soak import CLUSTER, Operator, api, check, eventually, finish, make_job, new_namespace, parallel, phase, tf_job

# A silent watch is given up after 90 s.
MOST = 150
CONTROLLERS = ("kube-controller-manager", "kube-scheduler", "kwok")


def stop():
    for name in (*CONTROLLERS, "kube-apiserver", "etcd"):
        component("stop_component", name)


def start():
    for name in ("etcd", "kube-apiserver"):
        component("start_component", name)
    check(eventually(60, api.well, 0.05), "the API server is back")


def write_much(ns, times):
    """So that nobody catches up with the old versions while the test lasts."""
    path = f"/api/v1/namespaces/{ns}/configmaps"
    api.make(path, {"metadata": {"name": "counter"}})
    parallel(lambda i: api.ask("PATCH", f"{path}/counter", {"data": {f"n{i % 8}": str(i)}},
                               "application/merge-patch+json"), range(times))


def main():
    ns = new_namespace("restore")
    stop()
    shutil.copytree(CLUSTER / "etcd", CLUSTER / "etcd.saved")
    start()
    o = Operator("restore").ready()
    before = tf_job("before", {})
    make_job(before, ns)
    check(eventually(30, lambda: phase(before, ns)), "a job of the time that is taken back")
    write_much(ns, 4000)
    stop()
    shutil.rmtree(CLUSTER / "etcd")
    (CLUSTER / "etcd.saved").rename(CLUSTER / "etcd")
    start()
    back = time.monotonic()
    check(not phase(before, ns), "it never was")
    # Of the same name, as somebody who makes it again would.
    make_job(before, ns)
    served = eventually(MOST, lambda: phase(before, ns))
    check(served, f"a job is served {time.monotonic() - back:.0f} s after the return (at most {MOST})")
    check("older backup" in o.log.read_text(), "and the log says why it began anew")
    check(o.alive(), "it was the same process")
    o.stop()
    for name in CONTROLLERS:
        component("start_component", name)
    api.ask("DELETE", f"/api/v1/namespaces/{ns}")
    finish()


if __name__ == "__main__":
    main()
