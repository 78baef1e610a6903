#!/usr/bin/env python3
"""Is what was printed what a page says? Ages, times and random parts of names may differ; a line of the page that is
only "…" stands for any number of lines.

    alike.py WANT GOT
"""
import re
import sys

WORDS = [
    (r"\b\d+m?\d*s\b", "AGE"),
    (r"-(master|worker|ps)-[0-9a-z]{4}-", r"-\1-RUN-"),
    (r"dl-operator-[0-9a-f]{8,10}-[0-9a-z]{5}", "OPERATOR"),
    (r"LAST DEPLOYED: .*", "LAST DEPLOYED"),
    (r" +", " "),
    (r" $", ""),
]


def words(path):
    lines = []
    with open(path, encoding="utf-8") as f:
        for line in f.read().splitlines():
            for pattern, word in WORDS:
                line = re.sub(pattern, word, line)
            lines.append(line)
    return lines


def alike(want, got):
    if not want:
        return not got
    if want[0] == "…":
        return any(alike(want[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and want[0] == got[0] and alike(want[1:], got[1:])


want, got = words(sys.argv[1]), words(sys.argv[2])
if not alike(want, got):
    print("wanted:", *want, "got:", *got, sep="\n  ")
    sys.exit(1)
