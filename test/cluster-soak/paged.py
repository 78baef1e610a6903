#!/usr/bin/env python3
"""etcd forgets a version while a list of that version is read page by page: the rest cannot be had, and the list
begins anew."""
from network import acts, compact, component, etcd
from proxy import Proxy
from soak import OURS, Operator, api, check, eventually, finish, new_namespace, parallel

SERVICES = 1200


def fill(ns):
    """Services that look like a job's, more than two pages of them. They belong to nobody: the operator leaves them."""
    path = f"/api/v1/namespaces/{ns}/services"
    spec = {"clusterIP": "None", "ports": [{"port": 1}]}
    parallel(lambda i: api.make(path, {"metadata": {"name": f"page-{i}", "labels": {OURS + "uid": "nobody"}},
                                       "spec": spec}), range(SERVICES), 8)


def main():
    ns = new_namespace("paged")
    fill(ns)
    asked = []

    def request(_, path):
        """The second page waits until its version is forgotten, also by the server's memory."""
        if "/services?" not in path or "watch=" in path:
            return
        asked.append("continue=" in path)
        if asked.count(True) == 1 and asked[-1]:
            component("stop_component", "kube-apiserver")
            etcd("/v3/kv/put", '{"key":"cGFnZWQ=","value":"eA=="}')
            compact()
            component("start_component", "kube-apiserver")
            eventually(180, api.well, 0.05)

    proxy = Proxy(request=request)
    o = Operator("paged", server=proxy.url).ready(240)
    check(proxy.gone > 0, f"{proxy.gone} answers said 410")
    check(asked[:2] == [False, True] and False in asked[2:], f"the list began anew: {len(asked)} pages were asked for")

    def all_known():
        """Those of jobs that ran before are there, too, and go."""
        n = len(api.items(f"/api/v1/services?labelSelector={OURS}uid"))
        return n >= SERVICES and f'dl_operator_cached_objects{{resource="services"}} {n}\n' in o.ask(
            o.metrics_port, "/metrics")

    check(eventually(60, all_known), "all services are known")
    acts(ns, "after-pages")
    check(o.alive(), "it was the same process")
    o.stop()
    api.ask("DELETE", f"/api/v1/namespaces/{ns}")
    finish()


if __name__ == "__main__":
    main()
