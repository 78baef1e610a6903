"""dl-operator as a process: started, asked whether it is ready, measured from /proc, killed."""
import os
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Operator:
    """`with Operator(…) as op`: runs inside the block, and is killed at its end."""

    def __init__(self, binary, kubeconfig, log, flags):
        self.health = free_port()
        self.argv = [binary, f"--kubeconfig={kubeconfig}", "--metrics-bind-address=0",
                     f"--health-probe-bind-address=127.0.0.1:{self.health}", *flags]
        self.log = log
        self.peak = 0

    def __enter__(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.argv, stdout=log, stderr=log)
        self.over = threading.Event()
        self.sampler = threading.Thread(target=self._sample, daemon=True)
        self.sampler.start()
        return self

    def __exit__(self, *unused):
        self.over.set()
        self.sampler.join()
        self.process.kill()
        self.process.wait()

    def _status(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return {k: int(v) for k, v in re.findall(r"^(\w+):\s+(\d+) kB", f.read(), re.M)}

    def _sample(self):
        """The kernel keeps the peak of the whole only, not of the anonymous part."""
        while not self.over.wait(0.01):
            self.peak = max(self.peak, self._status().get("RssAnon", 0))

    def wait_ready(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"the operator has ended; {self.tail()}")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.health}/readyz", timeout=5).close()
                return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.02)
        raise RuntimeError(f"the operator is not ready; {self.tail()}")

    def tail(self):
        with open(self.log, encoding="utf-8") as f:
            return "".join(f.readlines()[-5:])

    def settle(self):
        """Until it has nothing to do: no processor time for a second."""
        end, before = time.monotonic() + 60, None
        while time.monotonic() < end and (now := self._cpu()) != before:
            before = now
            time.sleep(1)

    def _cpu(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def figures(self):
        """Memory in KB, processor time in seconds."""
        status = self._status()
        return {"anon": status["RssAnon"], "rss": status["VmRSS"], "peak": max(self.peak, status["RssAnon"]),
                "cpu": self._cpu()}
