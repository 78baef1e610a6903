"""What a local cluster can leave on the machine: processes (namespaces live by them), mounts, control groups, links,
tables of the packet filter."""
import glob
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def text(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


class leftovers:
    def __init__(self, home):
        self.home = home
        self.id = text(home + "/id").decode()
        self.links = self.find_links()
        self.uids = set(os.listdir(home + "/pods"))

    def find_links(self):
        mark = b"dl-operator cluster %s\n" % self.id.encode()
        return [p.split("/")[4] for p in glob.glob("/sys/class/net/*/ifalias") if text(p) == mark]

    def processes(self):
        start, pods = b"DLJOB_HOME=" + self.home.encode(), self.home.encode() + b"/pods/"
        for p in glob.glob("/proc/[0-9]*"):
            if start in text(p + "/environ").split(b"\0") or pods in text(p + "/cmdline"):
                yield "process %s: %s" % (p[6:], text(p + "/cmdline").replace(b"\0", b" ").decode(errors="replace"))

    def groups(self):
        for top, folders, _ in os.walk("/sys/fs/cgroup"):
            if top.endswith("/dljob"):
                yield from ("control group %s/%s" % (top, f) for f in folders if f in self.uids)

    def found(self):
        """One line for each thing."""
        ret = list(self.processes()) + list(self.groups()) + ["link " + x for x in self.find_links()]
        if self.home in text("/proc/self/mountinfo").decode(errors="replace"):
            ret.append("a mount")
        if os.geteuid() == 0:
            tables = subprocess.run([HERE + "/../e2e/nft_tables.py"], capture_output=True, text=True, check=True)
            ret += ["table " + t for t in tables.stdout.split() if t in self.links]
        return ret
