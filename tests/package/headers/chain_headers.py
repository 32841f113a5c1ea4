#!/usr/bin/env python3
"""Distributes headers over as few translation units as prove that each of them compiles alone.

usage: chain_headers.py INCLUDE_DIRECTORY OUTPUT_DIRECTORY HEADER...

A header that the next one includes anyway can precede it in a translation unit: it provides nothing
that the next one does not include itself. The headers are therefore divided into chains in which
each header includes its predecessor, directly or not. A chain becomes one source file, which
includes every header twice. Prints the files, separated by semicolons. Files of unchanged chains
keep their times.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s+["<]([^">]+)[">]')
CONDITION = re.compile(r"\s*#\s*(if|endif)")


def includes_of(text):
    """The headers that a text includes under no condition."""
    depth = 0
    for line in text.splitlines():
        if condition := CONDITION.match(line):
            depth += 1 if condition[1] == "if" else -1
        elif depth == 0 and (include := INCLUDE.match(line)):
            yield include[1]


def closures(direct):
    """All headers that each header includes, directly or not."""
    result = {}
    for header in direct:
        reached, waiting = set(), list(direct[header])
        while waiting:
            included = waiting.pop()
            if included not in reached:
                reached.add(included)
                waiting += direct.get(included, ())
        result[header] = reached - {header}
    return result


def chains(headers, direct):
    """As few chains as possible: a matching of headers and their predecessors (Dilworth)."""
    included = {h: sorted(c & set(headers)) for h, c in closures(direct).items()}
    successor = {}

    def match(header, seen):
        for predecessor in included[header]:
            if predecessor not in seen:
                seen.add(predecessor)
                if predecessor not in successor or match(successor[predecessor], seen):
                    successor[predecessor] = header
                    return True
        return False

    for header in sorted(headers):
        match(header, set())
    result = []
    for header in sorted(set(headers) - set(successor.values())):
        chain = [header]
        while chain[-1] in successor:
            chain.append(successor[chain[-1]])
        result.append(chain)
    return result


def write(file, text):
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def main():
    root, output, headers = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    direct = {str(path.relative_to(root)): list(includes_of(path.read_text(encoding="utf-8")))
              for path in root.rglob("*.hpp")}
    files = []
    for chain in chains(headers, direct):
        file = output / (chain[-1] + ".cpp")
        write(file, "".join(f'#include "{h}"\n' * 2 for h in chain))
        files.append(str(file))
    print(";".join(files), end="")


if __name__ == "__main__":
    sys.exit(main())
