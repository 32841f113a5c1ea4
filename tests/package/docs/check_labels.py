#!/usr/bin/env python3
"""Checks that docs/labels.md names each label that the roles make, and no other, and that it says
the same of where they come from as label_origin().

usage: check_labels.py PROJECT_DIRECTORY
"""
import pathlib
import re
import sys

PREFIX = "__meta_kubernetes_"
LITERAL = re.compile(r'"(__meta_kubernetes_[a-z0-9_]+)')
# A family ends with "_" in the code; the document writes a placeholder behind it.
NAME = re.compile(r"__meta_kubernetes_[a-z0-9_]+")
KIND = re.compile(r'ROW\((\w+), "(\w+)"')
SOURCE = re.compile(r'\{"([a-z_]+)", Kind::(\w+),\s*"((?:[^"\\]|\\.)*)"\}')
OWNER = re.compile(r'\{"([a-z_]+)", Kind::(\w+)\}')
FAMILY = re.compile(r'\{"([a-z_]+)", "([a-zA-Z.]+)"\}')
# An entry of the document's list: label, kind, field.
ENTRY = re.compile(r"^\* `(__meta_kubernetes_[a-z0-9_]+)(?:<\w+>)?`:\s(?:  )?([A-Z]\w+) `(.+)`$", re.M)


def origins_in_code(root):
    kinds = dict(KIND.findall((root / "include/k8s_sd/kind.hpp").read_text(encoding="utf-8")))
    code = (root / "include/k8s_sd/detail/labels/label_origin.ipp").read_text(encoding="utf-8")
    origins = {PREFIX + name: (kinds[kind], field.replace('\\"', '"').replace("{}", "<key>"))
               for name, kind, field in SOURCE.findall(code)}
    for owner, kind in OWNER.findall(code):
        for family, field in FAMILY.findall(code):
            origins[PREFIX + owner + family] = (kinds[kind], field + '["<key>"]')
    return origins


def complaints(root):
    made = set()
    for header in root.glob("include/k8s_sd/detail/roles/**/*.[hi]pp"):
        made.update(LITERAL.findall(header.read_text(encoding="utf-8")))
    document = (root / "docs/labels.md").read_text(encoding="utf-8")
    told = set(NAME.findall(document))
    if not made:
        yield "found no label in the code"
    for name in sorted(made - told):
        yield f"docs/labels.md lacks {name}"
    for name in sorted(told - made):
        yield f"docs/labels.md names {name}, which no role makes"
    # Each role's object has a namespace; that is no entry.
    told_origins = {name: (kind, field) for name, kind, field in ENTRY.findall(document)}
    origins = origins_in_code(root)
    for name in sorted(made - {PREFIX + "namespace"} - set(origins)):
        yield f"label_origin.ipp lacks {name}"
    for name in sorted(set(origins) | set(told_origins)):
        if name not in made:
            yield f"{name} has an origin, and no role makes it"
        elif origins.get(name) != told_origins.get(name):
            yield f"{name} comes from {origins.get(name)}, docs/labels.md says {told_origins.get(name)}"


def main(project):
    found = list(complaints(pathlib.Path(project)))
    for complaint in found:
        print(complaint)
    print(f"{len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
