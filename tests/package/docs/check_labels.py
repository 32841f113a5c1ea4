#!/usr/bin/env python3
"""Checks that docs/labels.md names each label that the roles make, and no other.

usage: check_labels.py PROJECT_DIRECTORY
"""
import pathlib
import re
import sys

LITERAL = re.compile(r'"(__meta_kubernetes_[a-z0-9_]+)')
# A family ends with "_" in the code; the document writes a placeholder behind it.
NAME = re.compile(r"__meta_kubernetes_[a-z0-9_]+")


def main(project):
    root = pathlib.Path(project)
    made = set()
    for header in root.glob("include/k8s_sd/detail/roles/**/*.[hi]pp"):
        made.update(LITERAL.findall(header.read_text(encoding="utf-8")))
    told = set(NAME.findall((root / "docs/labels.md").read_text(encoding="utf-8")))
    for name in sorted(made - told):
        print(f"docs/labels.md lacks {name}")
    for name in sorted(told - made):
        print(f"docs/labels.md names {name}, which no role makes")
    print(f"{len(made)} labels in the code, {len(told)} in the document")
    return 0 if made and made == told else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
