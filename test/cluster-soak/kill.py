#!/usr/bin/env python3
"""200 jobs whose ends are known, while the operator is killed with SIGKILL and started again:

    kill.py [--kills 40] [--jobs 200] [--seed 1]

It is killed when it sends its k-th write, k chosen by the seed: before the request reaches the server (so
also between a record and the act that follows it), or after (so that the reply is lost)."""
import argparse
import collections
import os
import random
import signal
import threading

from jobs import check_audit, check_children, check_jobs, check_pods, start_jobs, wait_for_all
from proxy import Proxy
from soak import CLUSTER, Operator, api, audit_end, check, finish, new_namespace, say

LOG = CLUSTER / "log/operators.log"
IDLE = 4  # seconds; an operator that has too little to write is killed then


class Killer:
    """Starts operators behind a proxy and kills each at its moment."""

    def __init__(self, seed, most):
        self.rng, self.most = random.Random(seed), most
        self.done = threading.Event()
        self.left = self.number = 0
        self.moments = collections.Counter()
        self.how = self.operator = self.last = None
        self.proxy = Proxy(request=self.request)

    def request(self, method, path):
        if method == "GET" or self.done.is_set():
            return None
        self.left -= 1
        after, self.last = self.last, "record" if path.endswith("/status") else "act"
        if self.left:
            return None
        os.kill(self.operator.p.pid, signal.SIGKILL)
        self.moments[f"{self.how} a {self.last}" + (" after a record" if after == "record" else "")] += 1
        self.done.set()
        return "drop" if self.how == "before" else "mute"

    def start(self):
        self.number += 1
        self.operator = Operator(f"soak-{self.number}", server=self.proxy.url, log=str(LOG))
        return self.operator

    def once(self):
        self.done.clear()
        self.how = self.rng.choice(("before", "reply lost of"))
        self.left, self.last = self.rng.randint(1, self.most), None
        o = self.start()
        if not self.done.wait(IDLE):
            self.done.set()
            self.moments["idle"] += 1
        o.stop()
        self.proxy.renew()


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--kills", type=int, default=40)
    args.add_argument("--jobs", type=int, default=200)
    args.add_argument("--seed", type=int, default=1)
    a = args.parse_args()
    Operator("first").ready().stop()
    ns, since = new_namespace("kill"), audit_end()
    # A job takes about 18 writes: the kills are spread over all of them, a few over the first ones.
    killer = Killer(a.seed, min(120, max(2, a.jobs * 36 // max(a.kills, 1))))
    jobs = start_jobs(a.jobs, ns)
    for _ in range(a.kills):
        killer.once()
    say(f"        seed {a.seed}, {a.kills} kills: {dict(killer.moments)}")
    last = killer.start()
    wait_for_all(jobs, ns)
    check(last.alive(), "the last operator is alive")
    check_jobs(jobs, ns)
    check_children(jobs, ns)
    last.stop()
    check_pods(ns)
    check_audit(since, ns)
    api.ask("DELETE", f"/api/v1/namespaces/{ns}")
    finish()


if __name__ == "__main__":
    main()
