#!/usr/bin/env python3
"""Writes the kinds' files as C arrays: embed.py OUT FILE…"""
import os
import sys

out, files = sys.argv[1], sys.argv[2:]
with open(out, "w", encoding="ascii") as f:
    f.write('#include "kind/builtin.h"\n\n')
    for i, path in enumerate(files):
        with open(path, "rb") as lua:
            data = lua.read()
        f.write("static const unsigned char text_%d[] = {" % i)
        for at in range(0, len(data), 16):
            f.write("\n\t" + "".join("0x%02x," % b for b in data[at:at + 16]))
        f.write("\n};\n\n")
    f.write("const struct builtin builtins[] = {\n")
    for i, path in enumerate(files):
        f.write('\t{ "kinds/%s", text_%d, sizeof(text_%d) },\n' % (os.path.basename(path), i, i))
    f.write("};\nconst size_t n_builtins = sizeof(builtins) / sizeof(builtins[0]);\n")
