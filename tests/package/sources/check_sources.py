#!/usr/bin/env python3
"""Checks of all sources.

usage: check_sources.py PROJECT lines             lines have at most 100 columns
       check_sources.py PROJECT targets BUILD     every .cpp is in a target of the configured build
       check_sources.py PROJECT dependencies      install-dependencies knows every header and
                                                  package that CMake looks for
"""
import json
import pathlib
import re
import subprocess
import sys

COLUMNS = 100
CODE = ("*.hpp", "*.ipp", "*.cpp", "*.h", "*.c", "*.py", "*.cmake", "*CMakeLists.txt", "scripts/*")
# A line with a long literal may be longer.
LITERAL = re.compile(r'R"([^(]*)\(.{61,}\)\1"|"(?:[^"\\]|\\.){61,}"')
# Compiled by builds of their own, or with libFuzzer only.
ELSEWHERE = ("tests/package/consume/", "tests/package/toy_role/", "tests/fuzz/",
             "tests/support/thread_sanitizer.cpp", "tests/c/boost_host.cpp")
# Projects of hosts, which look for the library.
HOSTS = ("tests/package/consume/", "cmake/packaging/conan/")
INCLUDED = re.compile(r'^#include "([^"]+\.cpp)"', re.MULTILINE)
LOOKED_FOR = re.compile(r"find_path\(\s*\w+ ([\w./+-]+)|find_package\(\s*(\w[\w+-]*)")
# CMake's name of a package, and the header or program that install-dependencies checks for.
PACKAGES = {"Boost": "boost/version.hpp", "OpenSSL": "openssl/ssl.h", "ZLIB": "zlib.h",
            "libyaml": "yaml.h", "nghttp2": "nghttp2/nghttp2.h", "re2": "re2/re2.h",
            "Python3": "python3",
            "Catch2": "catch2/catch_test_macros.hpp", "Threads": "g++",
            "protozero/pbf_writer.hpp": "protozero/pbf_reader.hpp"}


def tracked(root, patterns):
    result = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard", "--", *patterns],
                            capture_output=True, text=True, check=False)
    if result.returncode:
        print("skipped: the sources are not in a git repository")
        sys.exit(77)
    return [file for file in result.stdout.split("\0") if file and (root / file).exists()]


def long_lines(file, text):
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS and not LITERAL.search(line):
            yield f"{file}:{number}: {len(line)} columns, more than {COLUMNS}"


def compiled_files(build):
    """The sources that the build compiles, alone or through a unity source."""
    files = set()
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        file = pathlib.Path(entry["file"])
        files.add(file.resolve())
        if file.parent.name == "Unity":
            files |= {pathlib.Path(name).resolve()
                      for name in INCLUDED.findall(file.read_text(encoding="utf-8"))}
    return files


def uncompiled(root, sources, compiled):
    for source in sources:
        if not source.startswith(ELSEWHERE) and (root / source).resolve() not in compiled:
            yield f"{source}: no target compiles it"


def unknown_dependencies(cmake_text, script_text):
    for header, package in LOOKED_FOR.findall(cmake_text):
        name = header or package
        wanted = PACKAGES.get(name, name)
        if wanted not in script_text:
            yield f"CMake looks for {name}, but install-dependencies does not look for {wanted}"


def problems(root, check, arguments):
    if check == "lines":
        for file in tracked(root, CODE):
            yield from long_lines(file, (root / file).read_text(encoding="utf-8"))
    elif check == "targets":
        yield from uncompiled(root, tracked(root, ("*.cpp",)),
                              compiled_files(pathlib.Path(arguments[0])))
    else:
        files = [file for file in tracked(root, ("*.cmake", "*CMakeLists.txt"))
                 if not file.startswith(HOSTS)]
        yield from unknown_dependencies(
            "\n".join((root / file).read_text(encoding="utf-8") for file in files),
            (root / "scripts/install-dependencies").read_text(encoding="utf-8"))


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in ("lines", "targets", "dependencies"):
        sys.exit(__doc__)
    found = list(problems(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
