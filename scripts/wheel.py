#!/usr/bin/env python3
"""Makes a wheel of dljob: the program, the libraries that it loads beside it, and their licenses.

  scripts/wheel.py --version 1.2.3 --out FOLDER PROGRAM

Only the C library is the machine's own. The platform tag says how new it must be: as new as the newest of its symbols
that the program or a library asks for. SOURCE_DATE_EPOCH is the time of all files; the same input gives the same wheel.
"""
import argparse
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
import zipfile

import linked

# pip makes no programs but Python's: these hand over to ours, which keeps the process.
INIT = '''"""dljob, as a Python package: only a way to install the program."""
import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "dljob")


def main():
    os.execv(PROGRAM, sys.argv)


def complete():
    os.execv(PROGRAM, ["dljob", "__complete", "--", *sys.argv[1:]])
'''
MAIN = '''from dljob import main

main()
'''
ENTRY_POINTS = '''[console_scripts]
dljob = dljob:main
kubectl-dljob = dljob:main
kubectl_complete-dljob = dljob:complete
'''
METADATA = '''Metadata-Version: 2.1
Name: dljob
Version: {version}
Summary: Deep-learning jobs on this machine or on Kubernetes
License: Apache-2.0
Requires-Python: >=3.8
Classifier: Environment :: Console
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Description-Content-Type: text/markdown

# dljob

Runs the manifests of distributed training jobs as processes of this machine, without a cluster, and manages such jobs
on a Kubernetes cluster with dl-operator. `dljob --help` has the commands.

The package is a program written in C with the libraries that it needs; it needs no Python package and changes none. It
runs on Linux with glibc {glibc} or later. The libraries are Debian's, under licenses of their own, which are in the
folder `licenses` beside this file:

{libraries}
'''


def glibc_needed(path):
    """The versions of glibc whose symbols it asks for, as pairs of numbers."""
    said = linked.output("objdump", "-p", path)
    wanted = said.partition("Version References:")[2]
    if "GLIBC_PRIVATE" in wanted:
        linked.fail(f"{path} uses what is private to glibc")
    return [tuple(int(n) for n in v.split(".")) for v in re.findall(r"\bGLIBC_(\d+\.\d+)", wanted)]


def beside(source, target):
    """A copy without symbols, that looks for libraries in its own folder only."""
    subprocess.run(["strip", "-o", target, source], check=True)
    os.chmod(target, 0o755)
    subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", target], check=True)


def licenses(packages):
    """{name in the wheel: bytes}: their own texts, and the common ones that these refer to."""
    texts, common = {}, set()
    for p in packages:
        texts[f"{p.name}.txt"] = p.copyright.encode()
        common |= set(re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", p.copyright))
    for name in sorted(common):
        path = f"/usr/share/common-licenses/{name}"
        if not os.path.exists(path):
            linked.fail(f"a copyright file refers to {path}, which is not there")
        with open(path, "rb") as f:
            texts[f"common-licenses/{name}"] = f.read()
    with open("LICENSE", "rb") as f:
        texts["LICENSE"] = f.read()
    return texts


def contents(program, version, folder):
    """What is in the wheel, as {name: (bytes, executable)}, and its tag."""
    owner = linked.packages(linked.libraries(program))
    bundled = {path: p for path, p in owner.items() if p.name not in ("libc6", "libc6.1", "libc0.1")}
    binaries = {"dljob": program, **{os.path.basename(path): path for path in bundled}}
    files, glibc = {}, (2, 17)
    for name, path in sorted(binaries.items()):
        target = os.path.join(folder, name)
        beside(os.path.realpath(path), target)
        glibc = max([glibc, *glibc_needed(target)])
        with open(target, "rb") as f:
            files[f"dljob/bin/{name}"] = (f.read(), name == "dljob")
    tag = f"py3-none-manylinux_{glibc[0]}_{glibc[1]}_{platform.machine()}"
    packages = sorted({p.name: p for p in bundled.values()}.items())
    info = f"dljob-{version}.dist-info"
    texts = {
        "dljob/__init__.py": INIT,
        "dljob/__main__.py": MAIN,
        f"{info}/METADATA": METADATA.format(version=version, glibc=f"{glibc[0]}.{glibc[1]}",
                                            libraries="\n".join(f"- {n} {p.version}" for n, p in packages)),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: dl-operator\nRoot-Is-Purelib: false\nTag: {tag}\n",
        f"{info}/entry_points.txt": ENTRY_POINTS,
    }
    files.update({name: (text.encode(), False) for name, text in texts.items()})
    for name, data in licenses([p for _, p in packages]).items():
        files[f"{info}/licenses/{name}"] = (data, False)
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, (data, _) in sorted(files.items()))
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), False)
    return files, tag


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write(path, files):
    """dist-info comes last, as the format wants."""
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name in sorted(files, key=lambda n: (".dist-info/" in n, n)):
            data, executable = files[name]
            entry = zipfile.ZipInfo(name, moment)
            entry.create_system = 3
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--version", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("program")
    a = p.parse_args()
    for name in ("patchelf", "strip", "objdump"):
        if not shutil.which(name):
            linked.fail(f"{name} is missing; scripts/deps.sh --release installs it")
    with tempfile.TemporaryDirectory() as folder:
        files, tag = contents(a.program, a.version, folder)
    os.makedirs(a.out, exist_ok=True)
    name = f"dljob-{a.version}-{tag}.whl"
    path = os.path.join(a.out, name)
    write(path + ".new", files)
    os.replace(path + ".new", path)
    print(f"{name}: {os.path.getsize(path) / 1e6:.1f} MB")


main()
