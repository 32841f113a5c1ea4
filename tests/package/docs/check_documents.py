#!/usr/bin/env python3
"""Checks that the README shows an example as it is compiled, and that links lead to files.

usage: check_documents.py PROJECT_DIRECTORY
"""
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")


def anchors(document):
    """The anchors GitHub makes of a document's headings."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {"#" + re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def broken_links(document):
    for path, anchor in LINK.findall(document.read_text(encoding="utf-8")):
        target = document.parent / path
        if "://" in path:
            continue
        if not target.exists():
            yield f"{document}: {path} does not exist"
        elif anchor and anchor not in anchors(target):
            yield f"{document}: {path} has no heading {anchor}"


def main(project):
    root = pathlib.Path(project)
    documents = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    problems = [problem for document in documents for problem in broken_links(document)]
    example = (root / "examples/minimal.cpp").read_text(encoding="utf-8").strip()
    if f"```cpp\n{example}\n```" not in documents[0].read_text(encoding="utf-8"):
        problems.append("README.md does not show examples/minimal.cpp as it is")
    print(*problems, f"{len(documents)} documents, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
