#!/usr/bin/env python3
"""200 jobs whose ends are known, while the operator is killed with SIGKILL and started again:

    kill.py [--kills 40] [--jobs 200] [--seed 1]

It is killed when it sends its k-th write, k chosen by the seed: before the request reaches the server, after it
(so that the reply is lost), or between record and act: the first record from the k-th write on reaches the server,
and nothing that follows from it does."""
import argparse
import collections
import random
import signal
import threading

from jobs import Pods, check_audit, check_children, check_jobs, open_jobs, start_jobs, wait_for_all
from proxy import Proxy
from soak import CLUSTER, Operator, api, audit_end, check, finish, new_namespace, say

LOG = CLUSTER / "log/operators.log"
BEFORE, AFTER, BETWEEN = "before a write", "after a write", "between record and act"


class Killer:
    """Starts operators behind a proxy and kills each at its moment."""

    def __init__(self, seed, most):
        self.rng, self.most = random.Random(seed), most
        self.done = threading.Event()
        self.left = self.number = 0
        self.moments, self.crashed = collections.Counter(), []
        self.how = self.operator = None
        self.proxy = Proxy(request=self.request)

    def request(self, method, path):
        if method == "GET" or self.done.is_set():
            return None
        self.left -= 1
        if self.left > 0 or (self.how == BETWEEN and not path.endswith("/status")):
            return None
        self.operator.send(signal.SIGKILL)
        self.moments[self.how] += 1
        self.done.set()
        return "drop" if self.how == BEFORE else "mute"

    def start(self):
        self.number += 1
        self.operator = Operator(f"soak-{self.number}", server=self.proxy.url, log=str(LOG))
        return self.operator

    def once(self, jobs, ns):
        self.done.clear()
        self.how, self.left = self.rng.choice((BEFORE, AFTER, BETWEEN)), self.rng.randint(1, self.most)
        o = self.start()
        while not self.done.wait(2):
            if not o.alive() or not open_jobs(jobs, ns):
                self.done.set()
                self.moments["with nothing to write"] += 1
        rc = o.stop()
        if rc != -signal.SIGKILL:
            self.crashed.append(f"{o.name}: exit status {rc}")
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
    pods, jobs = Pods(ns), start_jobs(a.jobs, ns)
    for _ in range(a.kills):
        killer.once(jobs, ns)
    say(f"        seed {a.seed}, {a.kills} kills: {dict(killer.moments)}")
    last = killer.start()
    wait_for_all(jobs, ns)
    check(last.alive() and not killer.crashed, f"no operator ended by itself {killer.crashed[:3]}")
    check_jobs(jobs, ns)
    check_children(jobs, ns)
    last.stop()
    pods.check()
    check_audit(since, ns)
    api.ask("DELETE", f"/api/v1/namespaces/{ns}")
    finish()


if __name__ == "__main__":
    main()
