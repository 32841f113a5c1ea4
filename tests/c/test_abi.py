#!/usr/bin/env python3
"""Compares the binary interface of k8s_sd_c.h with the recorded one, k8s_sd_c.abi, by abidiff.

It compiles a library of empty functions from the header: a second, and the same with each compiler
and each kind of build. The C++ compiler compares the real functions with the header, and
test_symbols.py the exported names.

usage: test_abi.py CC PROJECT [--record]
"""

import pathlib
import re
import subprocess
import sys
import tempfile

REMEDY = """
The binary interface differs from the recorded one (tests/c/k8s_sd_c.abi).
 * An addition (a function, a constant, a member at the end of a struct with struct_size): raise the
   minor version of K8S_SD_ABI_VERSION, give new functions a symbol version of their own in
   src/c/k8s_sd_c.map and tests/c/symbols.txt, and keep the size of the first version in
   src/c/arguments.hpp. Until 0.1.0 is released, the version stays.
 * Anything else breaks programs that are installed: undo it, or raise the major version of
   K8S_SD_ABI_VERSION and the SOVERSION of k8s_sd_c.
 * Then record the interface: tests/c/test_abi.py cc . --record
"""


class Project:
    def __init__(self, compiler, folder):
        self.compiler = compiler
        self.header = (folder / "include/k8s_sd_c.h").read_text(encoding="utf-8")
        self.map = (folder / "src/c/k8s_sd_c.map").read_text(encoding="utf-8")
        self.record = folder / "tests/c/k8s_sd_c.abi"

    def write_interface(self, header, file):
        """Writes the interface of a header."""
        functions = re.findall(r"^K8S_SD_API ([^;]+);", header, re.MULTILINE)
        # Each constant has an enum of its own: abidiff misses a changed value among equal ones, and
        # some constants are in enums without a name.
        constants = re.findall(r"^\s+(K8S_SD_\w+)\s*=", header, re.MULTILINE)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "k8s_sd_c.h").write_text(header, encoding="utf-8")
            (folder / "library.map").write_text(
                self.map + "CONSTANTS { global: constants; };\n", encoding="utf-8")
            (folder / "library.c").write_text("\n".join([
                '#include "k8s_sd_c.h"',
                *(f"{function} {{ __builtin_trap(); }}" for function in functions),
                "struct constants {",
                *(f"enum enum_{one} {{ value_{one} = {one} }} member_{one};" for one in constants),
                "};", "void constants(struct constants* of) { (void)of; }"]), encoding="utf-8")
            subprocess.run(
                [self.compiler, "-std=c99", "-g", "-w", "-fPIC", "-shared", "library.c", "-o",
                 "library.so", "-Wl,-soname,libk8s_sd_c.so.1", "-Wl,--version-script=library.map"],
                cwd=folder, check=True)
            subprocess.run(["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
                            "--no-elf-needed", "--out-file", file, "library.so"], cwd=folder,
                           check=True)

    def differences(self, header):
        """The report of abidiff; empty: none."""
        with tempfile.NamedTemporaryFile(suffix=".abi") as file:
            self.write_interface(header, file.name)
            done = subprocess.run(["abidiff", "--no-show-locs", self.record, file.name], text=True,
                                  stdout=subprocess.PIPE, check=False)
        if done.returncode & 3:
            raise RuntimeError(f"abidiff fails: {done.stdout}")
        return done.stdout if done.returncode else ""

    def check_test(self):
        """Changes of the header that must be noticed."""
        for before, after in (
                ("int32_t log_level;", "int64_t log_level;"),
                ("    int32_t reserved;   /**< zero */\n", ""),
                ("K8S_SD_API k8s_sd_context* k8s_sd_open(", "K8S_SD_API void* k8s_sd_open("),
                ("K8S_SD_API void k8s_sd_text_free(char* text);\n", ""),
                ("    K8S_SD_CHANGED = 2,", "    K8S_SD_CHANGED = 5,"),
                ("    K8S_SD_FIND_SERVER = 4", "    K8S_SD_FIND_SERVER = 8")):
            if before not in self.header:
                raise RuntimeError(f"test_abi.py: the header has changed: {before}")
            if not self.differences(self.header.replace(before, after)):
                raise RuntimeError(f"test_abi.py: not noticed: {after or 'without ' + before}")


def main():
    compiler, folder, *record = sys.argv[1:]
    project = Project(compiler, pathlib.Path(folder).resolve())
    if record == ["--record"]:
        project.write_interface(project.header, project.record)
        return
    report = project.differences(project.header)
    if report:
        sys.exit(report + REMEDY)
    project.check_test()


if __name__ == "__main__":
    main()
