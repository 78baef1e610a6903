#!/usr/bin/env python3
"""Pods of others cost the operator nothing: foreign.py [--pods 10000]. They carry a name of a scheduler that is not
there, so that they stay as they are."""
import argparse
import time

from soak import Operator, api, check, eventually, finish, make_job, new_namespace, parallel, phase, say, tf_job

MOST = 1024  # KB


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--pods", type=int, default=10000)
    n = args.parse_args().pods
    ns = new_namespace("foreign")
    o = Operator("foreign").ready()
    make_job(tf_job("warm"), ns)
    check(eventually(120, lambda: phase(tf_job("warm"), ns) == "Succeeded"), "a job has run")
    before = o.anonymous()
    began = time.monotonic()
    pod = {"spec": {"schedulerName": "nobody", "containers": [{"name": "x", "image": "none"}]}}
    path = f"/api/v1/namespaces/{ns}/pods"
    parallel(lambda i: api.make(path, {**pod, "metadata": {"name": f"foreign-{i}", "labels": {"app": "other"}}}),
             range(n), 8)
    say(f"        {n} pods made in {time.monotonic() - began:.0f} s")
    make_job(tf_job("after"), ns)
    check(eventually(120, lambda: phase(tf_job("after"), ns) == "Succeeded"), "a job beside them has run")
    after = o.anonymous()
    check(after - before < MOST, f"RssAnon {before} KB → {after} KB while they came (less than {MOST} KB more)")
    o.stop()
    o = Operator("foreign-again").ready()
    time.sleep(2)
    check(o.anonymous() - before < MOST, f"RssAnon {o.anonymous()} KB when started beside them")
    o.stop()
    api.ask("DELETE", f"{path}?gracePeriodSeconds=0")
    api.ask("DELETE", f"/api/v1/namespaces/{ns}")
    finish()


if __name__ == "__main__":
    main()
