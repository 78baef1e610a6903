#!/usr/bin/env python3
"""The way to the API server fails, and comes back. The operator must act within 20 s of the return, and be the
same process all the time. The black hole needs root: it is a network namespace whose link goes down."""
import json
import os
import subprocess
import time
import urllib.request

from proxy import Proxy
from soak import (CLUSTER, ROOT, Operator, api, check, ends, eventually, finish, make_job, new_namespace, phase, say,
                  tf_job)

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


def acts(what, ns, name, since):
    """A job that is made now is acted on in time."""
    job = tf_job(name, annotations={})
    make_job(job, ns)
    made = eventually(MOST + 40, lambda: api.get(f"/api/v1/namespaces/{ns}/services") and phase(job, ns), 0.05)
    took = time.monotonic() - since
    check(made and took <= MOST, f"{what}: acted {took:.1f} s after the return (at most {MOST})")


def stopped_server(ns):
    o = Operator("net-stop").ready()
    job = tf_job("before-stop", {"fake/exit": "0", "fake/after": "5s"})
    make_job(job, ns)
    eventually(20, lambda: phase(job, ns) == "Running")
    component("stop_component", "kube-apiserver")
    compact()
    time.sleep(30)
    component("start_component", "kube-apiserver")
    eventually(60, api.well, 0.05)
    back = time.monotonic()
    acts("server stopped for 30 s, etcd compacted", ns, "after-stop", back)
    renew_scheduler()
    check(ends(job, ns, 60), "the job of before goes on to its end")
    check(o.alive(), "it was the same process")
    o.stop()


def expired(ns):
    """Cut off while much changes and etcd forgets it; a server that was started since has nothing in memory."""
    proxy = Proxy()
    o = Operator("net-410", server=proxy.url).ready()
    proxy.cut()
    for i in range(50):
        make_job(tf_job(f"unseen-{i}"), ns)
    component("stop_component", "kube-apiserver")
    compact()
    component("start_component", "kube-apiserver")
    eventually(60, api.well, 0.05)
    proxy.renew()
    back = time.monotonic()
    acts("cut off until etcd was compacted", ns, "after-410", back)
    renew_scheduler()
    check(all(ends(tf_job(f"unseen-{i}"), ns, 60) for i in range(50)), "what it had not seen has ended")
    check(o.alive(), "it was the same process")
    check(proxy.gone > 0, f"{proxy.gone} of its watches were told 410")
    o.stop()


def ip(*args):
    subprocess.run(["ip", *args], check=True)


def black_hole(ns, seconds):
    """The link goes down under living watches: no FIN, no RST, no error."""
    space, near, far = f"soak{os.getpid()}", f"sn{os.getpid()}", f"sf{os.getpid()}"
    ip("netns", "add", space)
    try:
        ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", space)
        ip("addr", "add", "10.231.77.1/30", "dev", near)
        ip("link", "set", near, "up")
        for args in (("addr", "add", "10.231.77.2/30", "dev", far), ("link", "set", far, "up"),
                     ("link", "set", "lo", "up")):
            ip("-n", space, *args)
        proxy = Proxy(host="10.231.77.1")
        o = Operator(f"net-hole-{seconds}", server=proxy.url, prefix=("ip", "netns", "exec", space))
        job = tf_job(f"before-hole-{seconds}")
        make_job(job, ns)
        check(ends(job, ns, 30), f"works through the link ({seconds} s)")
        ip("link", "set", near, "down")
        make_job(tf_job(f"in-hole-{seconds}", {}), ns)
        time.sleep(seconds)
        ip("link", "set", near, "up")
        back = time.monotonic()
        eventually(MOST + 40, lambda: phase(tf_job(f"in-hole-{seconds}"), ns), 0.05)
        took = time.monotonic() - back
        check(took <= MOST, f"black hole of {seconds} s: acted {took:.1f} s after the return (at most {MOST})")
        acts("and on what came later", ns, f"after-hole-{seconds}", time.monotonic())
        check(o.alive(), "it was the same process")
        o.stop()
    finally:
        ip("netns", "del", space)


def main():
    ns = new_namespace("network")
    stopped_server(ns)
    expired(ns)
    if os.geteuid():
        say("        no black hole: not root")
    else:
        for seconds in (8, 45):
            black_hole(ns, seconds)
    api.ask("DELETE", f"/api/v1/namespaces/{ns}")
    finish()


if __name__ == "__main__":
    main()
