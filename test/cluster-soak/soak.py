"""What the soak tests share: the API server, operators as processes, and waiting by asking."""
import base64
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import local

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = Path(os.environ["CLUSTER_DIR"])
OPERATOR = os.environ.get("DL_OPERATOR", str(ROOT / "build/dl-operator"))
OURS = "dl-operator.mpba.fbk.eu/"
PLURALS = {"MXJob": "mxjobs", "TFJob": "tfjobs", "TfJob": "tfjobs", "AITrainingJob": "aitrainingjobs"}
FINAL = ("Succeeded", "Failed", "TimedOut", "Preempted", "NodeFailed")

failures = []


def say(text):
    print(text, flush=True)


def check(well, text):
    """One thing that must hold; the script goes on, and fails at its end."""
    say(("ok      " if well else "FAILED  ") + text)
    if not well:
        failures.append(text)
    return well


def finish():
    """At once: proxies have connections that nobody closes."""
    sys.stdout.flush()
    os._exit(1 if failures else 0)


def eventually(seconds, ask, every=0.2):
    """What ask() says as soon as it is true, or its last answer when the time is over."""
    end = time.monotonic() + seconds
    while True:
        answer = ask()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(every)


def in_time(most, attempt, what):
    """attempt(n) says how many seconds something took. Once or twice it may be this machine that had something else to
    do; three times in a row it is not."""
    times = []
    while len(times) < 3 and (not times or min(times) > most):
        times.append(attempt(len(times)))
    check(min(times) <= most, f"{what}: {', '.join(f'{t:.1f}' for t in times)} s (at most {most})")


class Api:
    """The API server, as its administrator; a connection for each thread."""

    def __init__(self):
        config = json.loads(subprocess.check_output(
            ["kubectl", "config", "view", "--raw", "-o", "json", f"--kubeconfig={CLUSTER / 'kubeconfig'}"]))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.host = cluster["server"].split("//")[1]
        self.tls = ssl.create_default_context(
            cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        with tempfile.NamedTemporaryFile() as pem:
            for key in ("client-certificate-data", "client-key-data"):
                pem.write(base64.b64decode(user[key]))
            pem.flush()
            self.tls.load_cert_chain(pem.name)
        self.mine = local()

    def ask(self, method, path, body=None, kind="application/json"):
        """(code, object). A connection that the server has closed is opened again, once."""
        data = None if body is None else json.dumps(body)
        for again in (True, False):
            c = getattr(self.mine, "c", None)
            if c is None:
                c = self.mine.c = http.client.HTTPSConnection(self.host, context=self.tls, timeout=60)
            try:
                c.request(method, path, data, {"Content-Type": kind})
                r = c.getresponse()
                text = r.read()
                return r.status, json.loads(text) if text.startswith(b"{") else {}
            except (OSError, http.client.HTTPException):
                c.close()
                self.mine.c = None
                if not again:
                    raise
        return None

    def get(self, path):
        code, o = self.ask("GET", path)
        return o if code == 200 else None

    def items(self, path):
        return self.get(path)["items"]

    def make(self, path, o):
        code, reply = self.ask("POST", path, o)
        if code != 201:
            raise RuntimeError(f"{path}: {code} {reply.get('message')}")
        return reply

    def watch(self, path):
        """The events of one watch, until the server ends it."""
        c = http.client.HTTPSConnection(self.host, context=self.tls, timeout=900)
        c.request("GET", path)
        yield from map(json.loads, c.getresponse())
        c.close()

    def namespace(self, name):
        self.make("/api/v1/namespaces", {"metadata": {"name": name}})
        assert eventually(120, lambda: self.get(f"/api/v1/namespaces/{name}/serviceaccounts/default"))
        return name

    def well(self):
        try:
            return self.ask("GET", "/readyz")[0] == 200
        except (OSError, http.client.HTTPException):
            return False


api = Api()


def new_namespace(what):
    return api.namespace(f"{what}-{os.getpid()}")


def jobs_path(job, ns):
    return f"/apis/{job['apiVersion']}/namespaces/{ns}/{PLURALS[job['kind']]}"


def make_job(job, ns):
    return api.make(jobs_path(job, ns), job)


def record(job, ns):
    o = api.get(f"{jobs_path(job, ns)}/{job['metadata']['name']}")
    return o and (o.get("status") or {}).get("dlOperator")


def phase(job, ns):
    return (record(job, ns) or {}).get("phase")


def ends(job, ns, seconds, wanted="Succeeded"):
    return eventually(seconds, lambda: phase(job, ns) in FINAL) and phase(job, ns) == wanted


def parallel(f, things, threads=8):
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(f, things))


def tf_job(name, annotations=None, workers=1, policy=None):
    """The shortest job there is: workers that must all succeed."""
    o = {
        "apiVersion": "mpba.fbk.eu/v1", "kind": "TFJob", "metadata": {"name": name},
        "spec": [{"replicas": workers, "replicaType": "worker", "template": {
            "metadata": {"annotations": {"fake/exit": "0"} if annotations is None else annotations},
            "spec": {"restartPolicy": "OnFailure", "containers": [{"name": "tensorflow", "image": "none"}]}}}],
    }
    if policy:
        o["metadata"]["annotations"] = {OURS + "policy": json.dumps(policy)}
    return o


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Operator:
    """A dl-operator. Its name stands in its User-Agent, and so in the audit log."""

    def __init__(self, name, *flags, server=None, prefix=(), log=None):
        self.name, self.health, self.metrics_port = name, free_port(), free_port()
        config = CLUSTER / "kubeconfig"
        if server:
            config = CLUSTER / f"config/{name}.kubeconfig"
            config.write_text(json.dumps({
                "apiVersion": "v1", "kind": "Config", "current-context": "x",
                "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
                "clusters": [{"name": "x", "cluster": {"server": server}}], "users": [{"name": "x", "user": {}}]}))
        self.log = Path(log or CLUSTER / f"log/{name}.log")
        self.out = self.log.open("ab")
        self.p = subprocess.Popen(
            [*prefix, OPERATOR, f"--kubeconfig={config}", f"--health-probe-bind-address=127.0.0.1:{self.health}",
             f"--metrics-bind-address=127.0.0.1:{self.metrics_port}", *flags],
            stdout=self.out, stderr=self.out, stdin=subprocess.DEVNULL,
            env={**os.environ, "MY_POD_NAME": name, "NO_PROXY": "*"})

    def ask(self, port, path):
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        try:
            c.request("GET", path)
            r = c.getresponse()
            return r.read().decode() if r.status == 200 else None
        except OSError:
            return None
        finally:
            c.close()

    def ready(self, seconds=120):
        if not eventually(seconds, lambda: self.ask(self.health, "/readyz"), 0.05):
            raise RuntimeError(f"{self.name} is not ready: {self.log.read_text()[-2000:]}")
        return self

    def leads(self):
        text = self.ask(self.metrics_port, "/metrics")
        return bool(text) and 'leader_election_master_status{name="dl-operator"} 1' in text

    def anonymous(self):
        """Its anonymous memory in KB."""
        for line in Path(f"/proc/{self.p.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
        return 0

    def alive(self):
        return self.p.poll() is None

    def send(self, sig):
        self.p.send_signal(sig)

    def stop(self, sig=signal.SIGKILL):
        if self.alive():
            self.p.send_signal(signal.SIGCONT)
            self.p.send_signal(sig)
        rc = self.p.wait(30)
        self.out.close()
        return rc


def audit(since=0, agent="dl-operator/"):
    """What the server answered to operators from that byte of its log on, oldest first."""
    with (CLUSTER / "audit.log").open("rb") as f:
        f.seek(since)
        for line in f:
            if not line.endswith(b"\n"):
                break
            o = json.loads(line)
            if o.get("userAgent", "").startswith(agent):
                yield o


def audit_end():
    return (CLUSTER / "audit.log").stat().st_size
