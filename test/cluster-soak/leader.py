#!/usr/bin/env python3
"""Two operators, one leads. It is killed; it is frozen and thawed after the other took over, with writes of its
own still on their way."""
import signal
import time

from jobs import Pods, check_audit, check_children, check_jobs, start_jobs, wait_for_all
from proxy import Proxy
from soak import (Operator, api, audit, audit_end, check, eventually, finish, in_time, make_job, new_namespace, phase,
                  say, tf_job)

DURATION = 8


def pair(ns, names, proxies=(None, None)):
    """Two operators, the first of which leads."""
    flags = ("--leader-elect", f"--leader-elect-resource-namespace={ns}", f"--leader-elect-lease-duration={DURATION}s",
             "--leader-elect-renew-deadline=5s", "--leader-elect-retry-period=1s")
    a = Operator(names[0], *flags, server=proxies[0] and proxies[0].url)
    assert eventually(120, a.leads), a.log.read_text()[-2000:]
    return a, Operator(names[1], *flags, server=proxies[1] and proxies[1].url).ready()


def killed(ns):
    def attempt(n):
        a, b = pair(ns, (f"killed-a{n}", f"killed-b{n}"))
        first, second = tf_job(f"first-{n}"), tf_job(f"second-{n}")
        make_job(first, ns)
        eventually(120, lambda: phase(first, ns))
        a.stop()
        at = time.monotonic()
        make_job(second, ns)
        eventually(DURATION + 100, lambda: phase(second, ns), 0.05)
        took = time.monotonic() - at
        b.stop(signal.SIGTERM)
        return took

    in_time(DURATION + 2, attempt, f"leader killed, lease {DURATION} s: the other acts after")


def frozen(ns):
    held = []

    def request(method, path):
        """From the 200th write on what the leader sends is held on its way; it is frozen with it."""
        nonlocal left
        if method == "GET" or "/leases" in path:
            return None
        left -= 1
        if left > 0 or proxy.release.is_set():
            return None
        held.append(path)
        if left == 0:
            a.send(signal.SIGSTOP)
        return "hold"

    left = 200
    proxy = Proxy(request=request)
    a, b = pair(ns, ("frozen-a", "frozen-b"), (proxy, None))
    since = audit_end()
    pods, jobs = Pods(ns), start_jobs(44, ns)
    check(eventually(120, lambda: held, 0.05), "the leader is frozen in the midst of its work")
    at = time.monotonic()
    check(eventually(DURATION + 100, b.leads, 0.05), "the other leads")
    say(f"        after {time.monotonic() - at:.2f} s")
    time.sleep(3)  # it has done much of the work by then
    took_over = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
    a.send(signal.SIGCONT)
    proxy.release.set()
    wait_for_all(jobs, ns)
    late, remade = {}, set()
    for e in audit(since):
        ref = e.get("objectRef") or {}
        if "(frozen-a_" in e["userAgent"] and e["stageTimestamp"] > took_over and ref.get("namespace") == ns:
            if ref["resource"] != "leases" and e["verb"] not in ("get", "list", "watch"):
                what = f"{e['verb']} {ref['resource']} {e['responseStatus']['code']}"
                late[what] = late.get(what, 0) + 1
                if what == "create pods 201":
                    remade.add(e["requestObject"]["metadata"]["name"])
    say(f"        {len(held)} writes were held; those that arrived after the thaw: {late}")
    # Only what was held back on its way may come after the thaw.
    check(sum(late.values()) <= len(held), f"no more than the {len(held)} writes that were held came after the thaw")
    check(a.alive() and not a.leads() and b.leads(), "it knows that it does not lead any more")
    check_jobs(jobs, ns)
    check_children(jobs, ns)
    pods.check(remade)
    check_audit(since, ns)
    a.stop()
    b.stop()


def main():
    for part in (killed, frozen):
        ns = new_namespace(part.__name__)
        part(ns)
        api.ask("DELETE", f"/api/v1/namespaces/{ns}")
    finish()


if __name__ == "__main__":
    main()
