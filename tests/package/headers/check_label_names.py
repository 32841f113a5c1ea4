#!/usr/bin/env python3
"""Checks that every label name, a literal "__meta_kubernetes_...", is written on one line only.

A text search then finds the only place with that label.

usage: check_label_names.py INCLUDE_DIRECTORY
"""
import pathlib
import re
import sys

LITERAL = re.compile(r'"(__meta_kubernetes_[a-z0-9_]+)')


def main(include):
    lines = {}
    for header in sorted(pathlib.Path(include).rglob("*.hpp")):
        for number, line in enumerate(header.read_text(encoding="utf-8").splitlines(), 1):
            for name in LITERAL.findall(line):
                lines.setdefault(name, set()).add(f"{header}:{number}")
    if not lines:
        print("found no label name at all: the pattern or the directory is wrong")
        return 1
    repeated = {name: places for name, places in lines.items() if len(places) > 1}
    for name, places in sorted(repeated.items()):
        print(f"{name} is written on several lines: {', '.join(sorted(places))}")
    print(f"{len(lines)} label names, {len(repeated)} of them repeated")
    return 1 if repeated else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
