#!/usr/bin/env python3
"""Checks the licences: .reuse/dep5 covers every file, debian/copyright agrees, LICENSE has the text
of Apache 2.0, and no file claims another licence or copyright.

usage: check_licences.py PROJECT
"""
import fnmatch
import pathlib
import re
import subprocess
import sys

LICENCE = "Apache-2.0"
CLAIM = re.compile(rb"SPDX-License-Identifier:\s*([\w.+-]+)|^\W{0,8}Copyright \(?[cC]\)",
                   re.MULTILINE)
# Files about licences.
ABOUT_LICENCES = ("LICENSE", "tests/package/release/")


def tracked(root):
    result = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], capture_output=True, text=True, check=False)
    if result.returncode:
        print("skipped: the sources are not in a git repository")
        sys.exit(77)
    return [file for file in result.stdout.split("\0") if file and (root / file).is_file()]


def stanzas(text):
    """Files patterns and licence of each stanza in the format of debian/copyright."""
    for stanza in re.split(r"\n\s*\n", text):
        files = re.search(r"^Files:((?: .*\n?)+)", stanza, re.MULTILINE)
        licence = re.search(r"^License: (\S+)", stanza, re.MULTILINE)
        if files and licence and re.search(r"^Copyright: \S", stanza, re.MULTILINE):
            yield files[1].split(), licence[1]


def uncovered(files, patterns):
    for file in files:
        if not any(fnmatch.fnmatchcase(file, pattern) for pattern in patterns):
            yield f"{file}: no licence in .reuse/dep5"


def foreign_claims(file, content):
    for match in CLAIM.finditer(content):
        if not match[1] or match[1].decode() != LICENCE:
            yield f"{file}: {match[0].decode(errors='replace').strip()}"


def problems(root):
    files = tracked(root)
    dep5 = list(stanzas((root / ".reuse/dep5").read_text(encoding="utf-8")))
    debian = list(stanzas((root / "debian/copyright").read_text(encoding="utf-8")))
    if dep5 != debian:
        yield ".reuse/dep5 and debian/copyright do not agree"
    if {licence for _, licence in dep5} != {LICENCE}:
        yield f".reuse/dep5 has another licence than {LICENCE}"
    if "Apache License\n                           Version 2.0" not in (
            root / "LICENSE").read_text(encoding="utf-8"):
        yield "LICENSE is not the Apache License 2.0"
    yield from uncovered(files, [pattern for patterns, _ in dep5 for pattern in patterns])
    for file in files:
        if not file.startswith(ABOUT_LICENCES):
            yield from foreign_claims(file, (root / file).read_bytes())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
