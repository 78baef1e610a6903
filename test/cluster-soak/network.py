#!/usr/bin/env python3
"""The way to the API server fails, and comes back. The operator must act within 20 s of the return, and be the
same process all the time. The black hole needs root: it is a network namespace whose link goes down."""
import json
import os
import subprocess
import time
import urllib.request

from proxy import Proxy
from soak import (CLUSTER, ROOT, Operator, api, check, ends, eventually, finish, in_time, make_job, new_namespace,
                  phase, say, tf_job)

MOST = 20


def component(what, name):
    subprocess.run(["bash", "-c", f'. "{ROOT}/test/cluster/lib.sh"; {what} "$@"', what, str(CLUSTER), name,
                    *(["5"] if what == "stop_component" else [])], check=True)


def renew_scheduler():
    """Its watches take half a minute and more to come back; it is not what is tested."""
    component("stop_component", "kube-scheduler")
    component("start_component", "kube-scheduler")


def etcd(path, body):
    command = (CLUSTER / "start/etcd").read_text()
    url = command.split("--advertise-client-urls=")[1].split()[0].strip("'")
    r = urllib.request.Request(url + path, body.encode(), {"Content-Type": "application/json"})
    return urllib.request.urlopen(r, timeout=10).read().decode()


def compact():
    """Forgets every version but the newest, so that who wants to go on from an older one gets 410."""
    revision = json.loads(etcd("/v3/kv/range", '{"key":"AA=="}'))["header"]["revision"]
    etcd("/v3/kv/compaction", json.dumps({"revision": revision, "physical": True}))
    return revision


def acts(ns, name):
    """A job that is made now is acted on."""
    job = tf_job(name, annotations={})
    make_job(job, ns)
    if not eventually(MOST + 100, lambda: phase(job, ns), 0.05):
        check(False, f"{name} is acted on at last")


def stopped_server(ns, n):
    o = Operator(f"net-stop-{n}").ready()
    job = tf_job(f"before-stop-{n}", {"fake/exit": "0", "fake/after": "5s"})
    make_job(job, ns)
    eventually(120, lambda: phase(job, ns) == "Running")
    component("stop_component", "kube-apiserver")
    compact()
    time.sleep(30)
    component("start_component", "kube-apiserver")
    eventually(180, api.well, 0.05)
    back = time.monotonic()
    acts(ns, f"after-stop-{n}")
    took = time.monotonic() - back
    renew_scheduler()
    check(ends(job, ns, 180), "the job of before goes on to its end")
    check(o.alive(), "it was the same process")
    o.stop()
    return took


def expired(ns, n):
    """Cut off while much changes and etcd forgets it; a server that was started since has nothing in memory."""
    proxy = Proxy()
    o = Operator(f"net-410-{n}", server=proxy.url).ready()
    proxy.cut()
    unseen = [tf_job(f"unseen-{n}-{i}") for i in range(50)]
    for job in unseen:
        make_job(job, ns)
    component("stop_component", "kube-apiserver")
    compact()
    component("start_component", "kube-apiserver")
    eventually(180, api.well, 0.05)
    proxy.renew()
    back = time.monotonic()
    acts(ns, f"after-410-{n}")
    took = time.monotonic() - back
    renew_scheduler()
    check(all(ends(job, ns, 180) for job in unseen), "what it had not seen has ended")
    check(o.alive(), "it was the same process")
    check(proxy.gone > 0, f"{proxy.gone} of its watches were told 410")
    o.stop()
    return took


def ip(*args):
    subprocess.run(["ip", *args], check=True)


def link(space, near, far, n):
    """A network namespace and a link to it; its two addresses."""
    n = n % 16384 * 4
    here, there = (f"10.231.{n // 256}.{n % 256 + i}" for i in (1, 2))
    ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", space)
    ip("addr", "add", here + "/30", "dev", near)
    ip("link", "set", near, "up")
    for args in (("addr", "add", there + "/30", "dev", far), ("link", "set", far, "up"), ("link", "set", "lo", "up")):
        ip("-n", space, *args)
    return here


def black_hole(ns, n, seconds):
    """The link goes down under living watches: no FIN, no RST, no error."""
    name, pid = f"{seconds}-{n}", os.getpid()
    space, near, far = f"soak{pid}", f"sn{pid}", f"sf{pid}"
    ip("netns", "add", space)
    try:
        proxy = Proxy(host=link(space, near, far, pid))
        o = Operator(f"net-hole-{name}", server=proxy.url, prefix=("ip", "netns", "exec", space))
        job, unseen = tf_job(f"before-hole-{name}"), tf_job(f"in-hole-{name}", {})
        make_job(job, ns)
        check(ends(job, ns, 120), f"works through the link ({seconds} s)")
        ip("link", "set", near, "down")
        make_job(unseen, ns)
        time.sleep(seconds)
        ip("link", "set", near, "up")
        back = time.monotonic()
        check(eventually(MOST + 100, lambda: phase(unseen, ns), 0.05), "what came meanwhile is acted on")
        acts(ns, f"after-hole-{name}")
        took = time.monotonic() - back
        check(o.alive(), "it was the same process")
        o.stop()
        return took
    finally:
        # The link would go with its namespace, but later.
        ip("link", "del", near)
        ip("netns", "del", space)


def main():
    ns = new_namespace("network")
    in_time(MOST, lambda n: stopped_server(ns, n), "server stopped for 30 s, etcd compacted: acts after the return")
    in_time(MOST, lambda n: expired(ns, n), "cut off until etcd was compacted: acts after the return")
    if os.geteuid():
        say("        no black hole: not root")
    else:
        for seconds in (8, 45):
            in_time(MOST, lambda n: black_hole(ns, n, seconds), f"black hole of {seconds} s: acts after the return")
    api.ask("DELETE", f"/api/v1/namespaces/{ns}")
    finish()


if __name__ == "__main__":
    main()
