#!/usr/bin/env python3
"""Checks the documents: that links and paths lead to files, that each C++ block is compiled, and
that lines fit a terminal.

usage: check_documents.py PROJECT_DIRECTORY
"""
import pathlib
import re
import sys
import textwrap

LINK = re.compile(r"\]\(([^)#\s]*)(#[^)]*)?\)")
CPP_BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REGION = re.compile(r"^ *//\[(\w+)\n(.*?)^ *//\]$", re.MULTILINE | re.DOTALL)
# A file or folder of the project in backticks; "<role>" stands for any name.
PATH = re.compile(r"`((?:\.github|bench|cmake|docs|examples|include|scripts|src|tests)/[^`\s]*)`")
COLUMNS = 100
README_LINES = 150


def text_of(path):
    return path.read_text(encoding="utf-8")


def anchors(document):
    """The anchors GitHub makes of a document's headings."""
    headings = re.findall(r"^#+ (.*)$", text_of(document), re.MULTILINE)
    return {"#" + re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def broken_links(document):
    for path, anchor in LINK.findall(text_of(document)):
        if "://" in path:
            continue
        target = document.parent / path if path else document
        if not target.exists():
            yield f"{document}: {path} does not exist"
        elif anchor and anchor not in anchors(target):
            yield f"{document}: {path} has no heading {anchor}"


def long_lines(document):
    for number, line in enumerate(text_of(document).splitlines(), 1):
        if len(line) > COLUMNS:
            yield f"{document}:{number}: {len(line)} columns, more than {COLUMNS}"


def compiled_code(root):
    """What a C++ block may be: an example, or the regions of one name in a source file."""
    code = set()
    for source in [*root.glob("examples/**/*.cpp"), *root.glob("docs/snippets/*.cpp")]:
        code.add(text_of(source).strip())
        regions = {}
        for name, text in REGION.findall(text_of(source)):
            regions.setdefault(name, []).append(textwrap.dedent(text).strip("\n"))
        code.update("\n\n".join(parts).strip() for parts in regions.values())
    return code


def blocks_not_compiled(document, code):
    for block in CPP_BLOCK.findall(text_of(document)):
        if textwrap.dedent(block).strip() not in code:
            first = block.strip().splitlines()[0]
            yield (f"{document}: the C++ block that begins with '{first}' is no region of a file "
                   "in docs/snippets/ and no example")


def missing_paths(document, root):
    for path in PATH.findall(text_of(document)):
        pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
        if not any(root.glob(pattern)):
            yield f"{document}: {path} does not exist"


def readme_problems(root):
    readme = text_of(root / "README.md")
    if f"```cpp\n{text_of(root / 'examples/minimal.cpp').strip()}\n```" not in readme:
        yield "README.md does not show examples/minimal.cpp as it is"
    if (lines := len(readme.splitlines())) > README_LINES:
        yield f"README.md has {lines} lines, more than {README_LINES}"


def main(project):
    root = pathlib.Path(project)
    documents = [*sorted(root.glob("*.md")), *sorted(root.glob("docs/*.md"))]
    code = compiled_code(root)
    problems = list(readme_problems(root))
    for document in documents:
        problems += broken_links(document)
        problems += long_lines(document)
        problems += blocks_not_compiled(document, code)
        problems += missing_paths(document, root)
    print(*problems, f"{len(documents)} documents, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
