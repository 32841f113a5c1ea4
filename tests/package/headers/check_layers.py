#!/usr/bin/env python3
"""Checks what each layer of the public headers includes, directly or not, by asking the compiler.

usage: check_layers.py INCLUDE_DIRECTORY COMPILER [COMPILER_OPTION...]
"""
import pathlib
import re
import subprocess
import sys

# What every layer below the edge may use of this project.
VALUES = "error|role|resource|logger|version|config|selector|cleansing"
OBJECTS = VALUES + "|labels|labels/.*|target_group|object|data_object"

# Layer: the headers of this project that it may include, besides its own.
ALLOWED = {
    "labels": "labels|target_group",
    "model": "",
    "roles": OBJECTS + "|model/.*",
    "codec": OBJECTS + "|model/.*|roles/.*",
    "watch": OBJECTS,
}
# These layers decide and compute; they do no I/O.
PURE_DENIED = "boost/asio|boost/beast|openssl"
# What hosts include must stay cheap to compile and free to change inside.
HOST_DENIED = "boost/beast|boost/asio/ssl|openssl|k8s_sd/(codec|roles|model|watch)"


def dependencies(command, include, header):
    """The paths of all files that the header includes, relative to an include directory."""
    make = subprocess.run(
        [*command, f"-I{include}", "-M", "-x", "c++", str(header)],
        check=True, capture_output=True, text=True).stdout
    paths = make.replace("\\\n", " ").split()[1:]
    return [re.sub(r".*/(?=(k8s_sd|boost|openssl)/)", "", path) for path in paths]


def problems_of(header, layer, paths):
    denied = re.compile(f"({PURE_DENIED if layer else HOST_DENIED})(?=[/.])")
    problems = set()
    for path in paths:
        if match := denied.match(path):
            problems.add(f"{header} must not include {match[0]}")
        elif layer and path.startswith("k8s_sd/") and not path.startswith(f"k8s_sd/{layer}/"):
            if not re.fullmatch(f"k8s_sd/({ALLOWED[layer]})\\.hpp", path):
                problems.add(f"{header} must not include {path}, which is above {layer}/")
    return sorted(problems)


def main(include, *command):
    root = pathlib.Path(include)
    problems = []
    checked = 0
    for header in sorted(root.glob("k8s_sd/**/*.hpp")):
        layer = header.parent.name
        if layer == "sim":
            continue
        layer = "" if layer == "k8s_sd" else layer
        if layer and layer not in ALLOWED:
            problems.append(f"{header}: no rule for the layer {layer}; add it to {__file__}")
            continue
        name = header.relative_to(root)
        problems += problems_of(name, layer, dependencies(command, include, header))
        checked += 1
    print(*problems, f"{checked} headers checked, {len(problems)} problems", sep="\n")
    return 1 if problems or not checked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
