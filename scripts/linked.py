"""Which shared libraries programs load, and which packages these are of. For scripts/sbom.py and scripts/wheel.py."""
import os
import re
import subprocess
import sys


def fail(message):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "LC_ALL": "C"}, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def libraries(program):
    """Paths of all that the loader would map for it, the ELF interpreter too."""
    said = output("ldd", program)
    if "not found" in said:
        fail(f"{program}: ldd does not find every library:\n{said}")
    return sorted(set(re.findall(r"(/\S+) \(0x", said)))


class Package:
    """Where a library comes from."""

    def __init__(self, name, version, source, arch, copyright_text, debian):
        self.name = name
        self.version = version
        self.source = source
        self.arch = arch
        self.copyright = copyright_text
        self.debian = debian


def yyjson(path):
    """The one library that may not be the machine's: scripts/deps.sh unpacked it, its license is in its header."""
    header = os.path.join(os.path.dirname(path), "../include/yyjson.h")
    if not os.path.basename(path).startswith("libyyjson.so") or not os.path.exists(header):
        fail(f"{path} is of no Debian package")
    with open(header, encoding="utf-8") as f:
        text = f.read()
    version = re.search(r'#define YYJSON_VERSION_STRING\s+"([^"]+)"', text).group(1)
    lines = text.split("*/", 1)[0].splitlines()[1:-1]
    return Package("yyjson", version, None, None, "\n".join(line.strip() for line in lines) + "\n", False)


def names_of(path):
    """A package may know a file by its name before /lib became a link."""
    real = os.path.realpath(path)
    return [path, "/usr" + path, real, re.sub("^/usr", "", real)]


def packages(paths):
    """{path: Package}"""
    asked = sorted({name for path in paths for name in names_of(path)})
    # Of the names of one file most are unknown; that is no failure.
    said = subprocess.run(["dpkg-query", "-S", *asked], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout
    owner = {}
    for line in said.splitlines():
        who, _, name = line.partition(": ")
        owner[name] = who.split(",")[0]
    known, result = {}, {}
    for path in paths:
        who = next((owner[name] for name in names_of(path) if name in owner), None)
        if who is None:
            result[path] = yyjson(path)
            continue
        if who not in known:
            fields = "${Package}\t${Version}\t${source:Package}\t${Architecture}"
            name, version, source, arch = output("dpkg-query", "-W", "-f", fields, who).split("\t")
            with open(f"/usr/share/doc/{name}/copyright", encoding="utf-8", errors="replace") as f:
                known[who] = Package(name, version, source, arch, f.read(), True)
        result[path] = known[who]
    return result
