"""The API server that is measured, what its audit log says, and a clean namespace between the runs."""
import datetime
import http.client
import json
import os
import re
import ssl
import subprocess
import time

from requests_file import CHILDREN, GROUPS, NAMESPACE


def when(stamp):
    return datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


class Cluster:
    """etcd and kube-apiserver alone: who schedules pods or makes endpoints would be measured with it."""

    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.kubeconfig = os.path.join(folder, "kubeconfig")
        subprocess.run([os.path.join(tools, "up"), folder, "--while", str(os.getpid())], check=True)
        for name in ("kube-scheduler", "kube-controller-manager"):
            subprocess.run(["bash", "-c", '. "$1"/lib.sh; stop_component "$2" "$3" 10', "stop", tools, folder, name],
                           check=True)
        with open(self.kubeconfig, encoding="utf-8") as f:
            self.host, port = re.search(r"server: https://([^:]+):(\d+)", f.read()).groups()
        self.port = int(port)
        self.files = [os.path.join(folder, "pki", name) for name in ("ca.crt", "admin.crt", "admin.key")]
        tls = ssl.create_default_context(cafile=self.files[0])
        tls.load_cert_chain(*self.files[1:])
        self.connection = http.client.HTTPSConnection(self.host, self.port, context=tls)
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        self.call("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}})

    def down(self):
        subprocess.run([os.path.join(self.tools, "down"), self.folder], check=True)

    def call(self, method, path, body=None, kind="application/json"):
        self.connection.request(method, path, json.dumps(body) if body else None,
                                {"Content-Type": kind, "User-Agent": "bench"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status // 100 != 2:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
        return json.loads(text)

    @staticmethod
    def job_paths(jobs):
        return {"/" + GROUPS[j["kind"]] for j in jobs}

    def job_uids(self, jobs):
        """name -> UID"""
        return {j["metadata"]["name"]: j["metadata"]["uid"]
                for path in self.job_paths(jobs) for j in self.call("GET", path)["items"]}

    def wipe(self, jobs):
        """The jobs, their children and events; nothing is left when it returns."""
        for path in [*self.job_paths(jobs), *CHILDREN, f"/api/v1/namespaces/{NAMESPACE}/events"]:
            while self.call("GET", path + "?limit=1")["items"]:
                self.call("DELETE", path + "?gracePeriodSeconds=0")

    def audit_mark(self):
        return os.path.getsize(os.path.join(self.folder, "audit.log"))

    def _audit(self, mark):
        with open(os.path.join(self.folder, "audit.log"), "rb") as f:
            f.seek(mark)
            return f.read()

    def audit(self, mark):
        """What was asked in our namespace since MARK."""
        events = [json.loads(line) for line in self._audit(mark).split(b"\n")[:-1]]
        return [e for e in events if e.get("objectRef", {}).get("namespace") == NAMESPACE]

    def count_children(self, mark):
        """How many pods and services were made since MARK, and the mark to go on from."""
        *lines, _ = self._audit(mark).split(b"\n")
        return sum(made_child(line) for line in lines), mark + sum(len(line) + 1 for line in lines)

    def wait_children(self, mark, n):
        """Until N pods and services were made since MARK."""
        end = time.monotonic() + 600
        while time.monotonic() < end:
            more, mark = self.count_children(mark)
            n -= more
            if n <= 0:
                return
            time.sleep(0.1)
        raise RuntimeError("not all children were made in ten minutes")

    def span(self, mark, agent, children=True):
        """Seconds from the first create since MARK to the end of the last one of a child (or of a job), and
        how many writes AGENT made in that time."""
        events = self.audit(mark)
        creates = [e for e in events if e["verb"] == "create" and e["responseStatus"]["code"] == 201]
        ends = [e for e in creates if not children or e["objectRef"]["resource"] in ("pods", "services")]
        first = min(when(e["requestReceivedTimestamp"]) for e in creates)
        last = max(when(e["stageTimestamp"]) for e in ends)
        writes = [e for e in events if e["userAgent"].startswith(agent) and e["verb"] in ("create", "patch", "delete")
                  and when(e["stageTimestamp"]) <= last]
        return last - first, len(writes)


def made_child(line):
    return (b'"verb":"create"' in line and b'"code":201' in line
            and (b'"resource":"pods"' in line or b'"resource":"services"' in line))
