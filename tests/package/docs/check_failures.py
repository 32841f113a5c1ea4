#!/usr/bin/env python3
"""Checks that each row of docs/internals/failures.md names its proof: existing tests, or the reason
why there is none ("does not apply: …", "not yet: …").

usage: check_failures.py PROJECT_DIRECTORY
"""
import pathlib
import re
import subprocess
import sys

LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
TEST_CASE = re.compile(r'^TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', re.MULTILINE)
ROW = re.compile(r"^\| ([FM])(\d+) \|(.*)\|$", re.MULTILINE)
REASON = re.compile(r"(does not apply|not yet): \S")
# The numbers of known failures and of cases for a scripted server; there may be more.
MIN_ROWS = {"F": 75, "M": 38}
SUITES = ("unit", "integration", "property", "sim", "conformance", "differential")
NAMED = re.compile(f"`((?:{'|'.join(SUITES)}|blackbox): [^`]+)`")


def test_cases(root):
    """The names known to ctest; a name may consist of several adjacent literals."""
    for suite in SUITES:
        for source in (root / "tests" / suite).rglob("*.cpp"):
            for literals in TEST_CASE.findall(source.read_text(encoding="utf-8")):
                name = "".join(LITERAL.findall(literals)).replace('\\"', '"')
                yield f"{suite}: {name}"


def scenarios(root):
    """With each variant, and without, for all of them. Modes are not part of the name."""
    listed = subprocess.run([sys.executable, "-B", root / "tests/blackbox/run.py", "--list"],
                            check=True, capture_output=True, text=True).stdout
    for line in listed.splitlines():
        title = line.partition(" (x")[0].partition("@")[0]
        yield f"blackbox: {title}"
        yield f"blackbox: {title.partition(':')[0]}"


def names_in(document):
    return {" ".join(name.split()) for name in NAMED.findall(document)}  # lines may be broken


def problems_of_row(name, cells):
    if len(cells) != 3:
        yield f"{name} has {len(cells) + 1} columns, not 4"
        return
    for proof in cells[2].split("<br>"):
        proof = proof.strip()
        if not NAMED.fullmatch(proof) and not REASON.match(proof):
            yield (f"{name}: '{proof}' is neither a test in backticks nor 'does not apply: …' nor "
                   "'not yet: …'")


def problems_of(document, tests):
    numbers = {"F": [], "M": []}
    for letter, number, rest in ROW.findall(document):
        numbers[letter].append(int(number))
        cells = [cell.strip() for cell in rest.split(" | ")]
        yield from problems_of_row(letter + number, cells)
    for letter, found in numbers.items():
        if len(found) < MIN_ROWS[letter] or found != list(range(1, len(found) + 1)):
            yield f"the rows {letter}1, {letter}2, … are not complete or not in order"
    for name in sorted(names_in(document) - tests):
        yield f"there is no test '{name}'"


def tests_of(root):
    return {*test_cases(root), *scenarios(root)}


def main(project):
    root = pathlib.Path(project)
    document = (root / "docs/internals/failures.md").read_text(encoding="utf-8")
    problems = list(problems_of(document, tests_of(root)))
    print(*problems, f"{len(names_in(document))} tests are named, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
