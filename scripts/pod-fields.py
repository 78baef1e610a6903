#!/usr/bin/env python3
"""Names and types of the fields of pod templates, out of the OpenAPI of Kubernetes, as a table in C on standard output.

scripts/pod-fields.py …/k8s.io/kubernetes@v1.36.3/api/openapi-spec/swagger.json >src/kind/pod_fields.inc

No descriptions: dljob needs to know what is a field and what it holds, and no more.
"""
import json
import re
import sys

ROOT = "io.k8s.api.core.v1.PodTemplateSpec"
SPECIAL = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "QUANTITY",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "INT_OR_STRING",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "ANY",
}
SCALARS = {"string": "STRING", "integer": "INT", "number": "NUMBER", "boolean": "BOOL"}


def short(ref):
    return ref.rsplit(".", 1)[1]


class Table:
    def __init__(self, definitions):
        self.definitions = definitions
        self.refs = {}  # the type's short name -> its definition
        self.add("#/definitions/" + ROOT)

    def add(self, ref):
        """The field's type for a reference; a type that is new is read in its turn."""
        ref = ref.removeprefix("#/definitions/")
        definition = self.definitions[ref]
        if ref in SPECIAL:
            return SPECIAL[ref], None
        if "properties" not in definition:
            return self.type_of(definition)[1:]
        name = short(ref)
        if self.refs.setdefault(name, ref) != ref:
            sys.exit(f"two types are called {name}: {ref} and {self.refs[name]}")
        return "OBJECT", name

    def type_of(self, schema):
        """(list, map or nothing; the type; the object's name)"""
        if "$ref" in schema:
            return "ONE", *self.add(schema["$ref"])
        kind = schema.get("type")
        if kind == "array":
            return "LIST", *self.type_of(schema["items"])[1:]
        if kind == "object" and "additionalProperties" in schema:
            inner = self.type_of(schema["additionalProperties"])
            if inner[0] != "ONE":
                sys.exit(f"a map of lists or maps: {schema}")
            return "MAP", *inner[1:]
        if kind in SCALARS:
            return "ONE", SCALARS[kind], None
        return "ONE", "ANY", None

    def read(self):
        types, seen = {}, set()
        while len(seen) < len(self.refs):
            name = next(n for n in self.refs if n not in seen)
            seen.add(name)
            properties = self.definitions[self.refs[name]]["properties"]
            types[name] = {f: self.type_of(properties[f]) for f in sorted(properties)}
        return types


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        spec = json.load(f)
    types = Table(spec["definitions"]).read()
    names = [short(ROOT)] + sorted(n for n in types if n != short(ROOT))
    number = {name: i for i, name in enumerate(names)}
    version = re.search(r"kubernetes@v([0-9.]+)/", sys.argv[1])
    of = f" of Kubernetes {version[1]}" if version else ""
    print(f"/* {len(names)} types, {sum(map(len, types.values()))} fields{of}.")
    print("   Made by scripts/pod-fields.py; not to be edited. */")
    print("static const struct pod_field fields[] = {")
    at, ranges = 0, []
    for name in names:
        print(f"\t/* {name} */")
        for field, (many, kind, of) in types[name].items():
            tail = f", {number[of]}" if of else ""
            print(f'\t{{ "{field}", HOLDS_{kind}, HOLDS_{many}{tail} }},')
        ranges.append((name, at, len(types[name])))
        at += len(types[name])
    print("};\n\nstatic const struct pod_type types[] = {")
    for name, start, count in ranges:
        print(f'\t{{ "{name}", {start}, {count} }},')
    print("};")


main()
