#!/usr/bin/env python3
"""Checks that a kind needs one file and two lines, its row and the #include of the file, and that a
role of the kind needs one line, its row.

Copies the library's headers, adds the toy kind and the toy role to the copy, and compiles and runs
a program that uses them. Also checks that no second list of all kinds or roles exists.

usage: check_toy_role.py INCLUDE_DIRECTORY BUILD_DIRECTORY [--libraries FILE...] -- COMPILE_COMMAND
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
# The file of each list, its name, and the added row.
ROWS = (
    ("kind.hpp", "K8S_SD_KINDS",
     'ROW(widget, "Widget", "toys.example.com", "v1", "widgets", true)'),
    ("role.hpp", "K8S_SD_ROLES", "ROW(widget, widget, widget)"),
)
FILE = "k8s_sd/detail/kinds/widget.hpp"
INCLUDES = "k8s_sd/detail/kinds/all.hpp"
EXPECTED = """\
toy/n/a __address__=one:7
bad b: items.spec.port: a string where an integer was expected
listed
path /apis/toys.example.com/v1/namespaces/n/widgets
role widget
needs widgets namespaces
metrics {kinds}
"""


def rows_of(text, name):
    """The first arguments of the rows of a list."""
    body = re.search(rf"#define {name}\(ROW\)((?:.*\\\n)*.*)", text)[1]
    return re.findall(r"\bROW\((\w+)", body)


def add_row(path, name, row):
    """Adds one line after the last row; changes no other line."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith(f"#define {name}("))
    last = max(i for i in range(start, len(lines))
               if all(line.endswith("\\\n") for line in lines[start:i + 1])
               and lines[i].lstrip().startswith("ROW("))
    lines.insert(last + 1, f"    {row} \\\n")
    path.write_text("".join(lines), encoding="utf-8")


def add_include(path, included):
    """Adds one line after the last #include; changes no other line."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if line.startswith("#include"))
    lines.insert(last + 1, f'#include "{included}"\n')
    path.write_text("".join(lines), encoding="utf-8")


def second_lists(include):
    """Files that name every kind or every role, besides the two lists themselves."""
    for file, name, _ in ROWS:
        rows = rows_of((include / "k8s_sd" / file).read_text(encoding="utf-8"), name)
        enumeration = "Kind" if name == "K8S_SD_KINDS" else "Role"
        for path in sorted(include.rglob("*.[hi]pp")):
            text = path.read_text(encoding="utf-8")
            if all(re.search(rf"\b{enumeration}::{row}\b", text) for row in rows):
                yield f"{path} names every {enumeration}: it would need a line for a new one, too"


def build_and_run(include, build, command, libraries):
    program = build / "toy_role"
    subprocess.run([*command, f"-I{include}", str(HERE / "program.cpp"), "-o", str(program),
                    *libraries], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("include", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--libraries", nargs="*", default=[])
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()

    problems = list(second_lists(args.include))
    copy = args.build / "include"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(args.include, copy)
    kinds = len(rows_of((copy / "k8s_sd/kind.hpp").read_text(encoding="utf-8"), "K8S_SD_KINDS"))
    shutil.copyfile(HERE / "widget.hpp", copy / FILE)
    add_include(copy / INCLUDES, FILE)
    for file, name, row in ROWS:
        add_row(copy / "k8s_sd" / file, name, row)

    output = build_and_run(copy, args.build, args.command, args.libraries)
    expected = EXPECTED.format(kinds=kinds)
    if output != expected:
        problems.append(f"expected:\n{expected}\nbut the program printed:\n{output}")
    print(*problems, f"{len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
