#!/usr/bin/env python3
"""Checks that one header, detail/base/dialect_rules.hpp, holds all differences between dialects and
versions.

Other code reads a rule of the header instead of comparing them; each rule has a reader, and each
rule of a version has a row with its first version.

usage: check_dialects.py SOURCE_DIRECTORY...
"""
import pathlib
import re
import sys

TABLE = "k8s_sd/detail/base/dialect_rules.hpp"
# The dialect's name is parsed and printed here.
NAMES = "k8s_sd/role.hpp"

COMMENT = re.compile(r"//[^\n]*")
DIALECT = r"(?:\w+::)*LabelDialect::\w+"
VERSION = r"(?:\w+::)*PrometheusVersion::\w+"
RULES = r"(?:\*|&)?\s*(?:\w+::)*(?:prometheus|victoriametrics)_rules"
QUESTIONS = [
    re.compile(rf"[=!]=\s*(?:{DIALECT}|{RULES})"),
    re.compile(rf"(?:{DIALECT}|{RULES})\s*[=!]="),
    re.compile(rf"(?:[=!<>]=|[^<]<|[^>]>)\s*{VERSION}"),
    re.compile(rf"{VERSION}\s*(?:[=!]=|[<>])"),
    re.compile(rf"\bcase\s+(?:{DIALECT}|{VERSION})"),
    re.compile(r"\busing\s+enum\s+(?:\w+::)*(?:LabelDialect|PrometheusVersion)\b"),
    re.compile(r"\b(?:is_)?(?:prometheus|victoriametrics)\s*\(\)"),
]
SWITCH = re.compile(r"\bswitch\s*\([^)]*dialect")
# Each question has one of these words; looking for them first takes a tenth of the time.
WORDS = re.compile(r"dialect|version|prometheus|victoriametrics", re.IGNORECASE)


def questions_in(text):
    """The lines, from 1, that compare a dialect or a version."""
    if not WORDS.search(text):
        return []
    places = [match.start() for pattern in [*QUESTIONS, SWITCH] for match in pattern.finditer(text)]
    return sorted({text.count("\n", 0, place) + 1 for place in places})


def main(*directories):
    files = [file for directory in directories for file in pathlib.Path(directory).rglob("*")
             if file.suffix in (".hpp", ".ipp", ".cpp")]
    texts = {str(file): COMMENT.sub("", file.read_text(encoding="utf-8")) for file in sorted(files)}
    table = [text for name, text in texts.items() if name.endswith(TABLE)]
    if len(table) != 1:
        print(f"found no {TABLE}: the directory is wrong")
        return 1
    others = {name: text for name, text in texts.items() if not name.endswith((TABLE, NAMES))}
    problems = [f"{name}:{line}: asks for a dialect or version; read a rule of {TABLE} instead"
                for name, text in others.items() for line in questions_in(text)]
    rules = re.findall(r"^    bool (\w+);$", table[0], re.MULTILINE)
    for rule in rules:
        if not any(re.search(rf"(?:\.|->){rule}\b", text) for text in others.values()):
            problems.append(f"{TABLE}: no code reads {rule}")
    version_rules = table[0].partition("struct VersionRules {")[2].partition("};")[0]
    for rule in re.findall(r"^    bool (\w+);$", version_rules, re.MULTILINE):
        if not re.search(rf"\{{&VersionRules::{rule}, {VERSION}\}}", table[0]):
            problems.append(f"{TABLE}: {rule} has no row with its first version")
    print(*problems, f"{len(rules)} rules, {len(problems)} problems", sep="\n")
    return 1 if problems or not rules else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
