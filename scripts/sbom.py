#!/usr/bin/env python3
"""Prints an SPDX 2.3 document (JSON) of programs and of what they load: ldd names the libraries, dpkg their packages.

  scripts/sbom.py --version 1.2.3 PROGRAM…

The checksums are those of the programs without symbols, as all packages ship them. SOURCE_DATE_EPOCH is the document's
time. The same programs on the same machine give the same document.
"""
import argparse
import hashlib
import json
import os
import tempfile
import time
import urllib.parse
import uuid

import linked

NOTHING = "NOASSERTION"


def checksums(path):
    with tempfile.NamedTemporaryFile() as f:
        linked.output("strip", "-o", f.name, path)
        with open(f.name, "rb") as stripped:
            data = stripped.read()
    return [{"algorithm": name, "checksumValue": hashlib.new(name.lower(), data).hexdigest()}
            for name in ("SHA1", "SHA256")]


def purl(package):
    if not package.debian:
        return f"pkg:github/ibireme/yyjson@{package.version}"
    quoted = urllib.parse.quote(package.version, safe="~")
    return f"pkg:deb/debian/{package.name}@{quoted}?arch={package.arch}"


def library(package):
    described = {
        "SPDXID": f"SPDXRef-Package-{package.name.replace('+', '-')}",
        "name": package.name,
        "versionInfo": package.version,
        "supplier": "Organization: Debian",
        "downloadLocation": NOTHING,
        "filesAnalyzed": False,
        "licenseConcluded": NOTHING,
        "licenseDeclared": NOTHING if package.debian else "MIT",
        "copyrightText": NOTHING,
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": purl(package)}],
    }
    if package.debian:
        described["sourceInfo"] = f"Debian source package {package.source}"
    return described


def program(path):
    return {
        "SPDXID": f"SPDXRef-File-{os.path.basename(path)}",
        "fileName": f"./{os.path.basename(path)}",
        "fileTypes": ["BINARY"],
        "checksums": checksums(path),
        "licenseConcluded": "Apache-2.0",
        "licenseInfoInFiles": [NOTHING],
        "copyrightText": NOTHING,
    }


def ours(version, files):
    sums = sorted(f["checksums"][0]["checksumValue"] for f in files)
    return {
        "SPDXID": "SPDXRef-Package-dl-operator",
        "name": "dl-operator",
        "versionInfo": version,
        "downloadLocation": NOTHING,
        "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": hashlib.sha1("".join(sums).encode()).hexdigest()},
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "licenseInfoFromFiles": [NOTHING],
        "copyrightText": NOTHING,
        "primaryPackagePurpose": "APPLICATION",
    }


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def document(version, programs):
    loaded = {path: linked.libraries(path) for path in programs}
    owner = linked.packages(sorted({lib for libs in loaded.values() for lib in libs}))
    files = [program(path) for path in programs]
    main = ours(version, files)
    described = {p.name: library(p) for p in owner.values()}
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", main["SPDXID"])]
    for path, file in zip(programs, files):
        relations.append(relation(main["SPDXID"], "CONTAINS", file["SPDXID"]))
        for name in sorted({owner[lib].name for lib in loaded[path]}):
            relations.append(relation(file["SPDXID"], "DYNAMIC_LINK", described[name]["SPDXID"]))
    for name in sorted(described):
        relations.append(relation(main["SPDXID"], "DEPENDS_ON", described[name]["SPDXID"]))
    body = {
        "packages": [main] + [described[name] for name in sorted(described)],
        "files": files,
        "relationships": relations,
    }
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()
    unique = uuid.UUID(bytes=digest[:16], version=4)
    created = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"dl-operator-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/dl-operator-{version}-{unique}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", created),
            "creators": ["Tool: dl-operator-scripts/sbom.py"],
        },
        **body,
    }


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--version", required=True)
    p.add_argument("programs", nargs="+")
    a = p.parse_args()
    print(json.dumps(document(a.version, a.programs), indent=2, ensure_ascii=False))


main()
