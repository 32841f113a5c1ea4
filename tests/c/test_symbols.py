#!/usr/bin/env python3
"""The libraries export the functions of k8s_sd_c.h with the symbol version of symbols.txt, and
nothing else.

usage: test_symbols.py NM HEADER SYMBOLS SHARED_LIBRARY [STATIC_LIBRARY]
"""
import re
import subprocess
import sys


def symbols_of(nm, options, library):
    lines = subprocess.run([nm, *options, "--defined-only", library], capture_output=True,
                           text=True, check=True).stdout.splitlines()
    # The name of a version is an absolute symbol.
    return {words[2] for words in map(str.split, lines) if len(words) == 3 and words[1] != "A"}


def main():
    nm, header, symbols, shared, *static = sys.argv[1:]
    with open(symbols, encoding="utf-8") as file:
        expected = set(file.read().split())
    names = {symbol.partition("@")[0] for symbol in expected}
    with open(header, encoding="utf-8") as file:
        declared = set(re.findall(r"^K8S_SD_API[^(;]*\b(k8s_sd_\w+)\(", file.read(), re.MULTILINE))
    mistakes = [f"{what}: {', '.join(sorted(found ^ right))}" for what, found, right in (
        ("the header", declared, names),
        ("the shared library", symbols_of(nm, ["-D"], shared), expected),
        *(("the static library", symbols_of(nm, ["-g"], library), names) for library in static),
    ) if found != right]
    print("\n".join(mistakes))
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
