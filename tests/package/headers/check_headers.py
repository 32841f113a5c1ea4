#!/usr/bin/env python3
"""Every header compiles alone, without a warning.

usage: check_headers.py BUILD [--public]
    BUILD     a configured build; its compile_commands.json has the compiler and its options
    --public  without those in detail/

A header that another one includes in front of its own code can precede it in a translation unit: it
provides nothing that the other one does not include itself. This saves most of the time, in two
ways. A few headers that many others include are precompiled. The headers that include the same
precompiled one are divided into chains in which each header includes its predecessor, directly or
not; a chain is one translation unit, which includes every header twice. The compiler generates no
code.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3] / "include"
UNIT = "tests/package/headers/host.cpp"  # has the options of a host
INCLUDE = re.compile(r'\s*#\s*include\s+["<]([^">]+)[">]')
CODE = re.compile(r"\s*(?!#|//)\S")  # no directive, no comment
CONDITION = re.compile(r"\s*#\s*(if|endif)")
BODIES = re.compile(r"(^|/)src\.hpp$")  # the library's bodies, no header


def includes_of(text):
    """The headers that a text includes under no condition, in front of its own code."""
    depth = 0
    for line in text.splitlines():
        if CODE.match(line):
            return
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


def bases(headers, included):
    """The header to compile each header with, precompiled: one of them that it includes, or None.

    The time for a header is estimated by the number of headers that it includes. One of Boost takes
    as long as many of our own.
    """
    def estimate(header):
        return 8 if header.startswith("boost/") else 1

    times = {header: sum(map(estimate, [header, *names])) for header, names in included.items()}
    base = dict.fromkeys(headers)

    def users(candidate):
        """The headers that gain by this one, and the time that each of them gains."""
        for header in headers:
            gain = times[candidate] - times.get(base[header], 0)
            if candidate in included[header] and gain > 0:
                yield header, gain

    def saving(candidate):
        return sum(gain for _, gain in users(candidate)) - times[candidate]

    while saving(best := max(headers, key=saving)) > 0:
        base |= {header: best for header, _ in users(best)}
    return base


def chains(headers, included):
    """As few chains as possible: a matching of headers and their predecessors (Dilworth)."""
    candidates = {header: sorted(included[header] & set(headers)) for header in headers}
    successor = {}

    def match(header, seen):
        for predecessor in candidates[header]:
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


class Compiler:
    """\\param command: the compiler with its options  \\param folder: for temporary files"""

    def __init__(self, command, folder):
        self.command = command
        self.folder = pathlib.Path(folder)
        version = subprocess.run([*command, "--version"], check=True, capture_output=True,
                                 text=True).stdout
        self.is_clang = "clang" in version

    def unit(self, headers):
        file = self.folder / (headers[-1].replace("/", ".") + ".cpp")
        file.write_text("".join(f'#include "{header}"\n' * 2 for header in headers),
                        encoding="utf-8")
        return str(file)

    def use(self, base):
        """The arguments to compile a unit with a precompiled header."""
        if base is None:
            return []
        file = str(self.folder / (base.replace("/", ".") + ".cpp"))
        # gcc looks for the precompiled header beside the header.
        return ["-include-pch", f"{file}.gch"] if self.is_clang else ["-include", file]

    def run(self, *arguments):
        """The compiler's messages; "" if it finds nothing."""
        result = subprocess.run([*self.command, *arguments], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, check=False)
        return "" if result.returncode == 0 else result.stdout or "the compiler ended"

    def precompile(self, header):
        unit = self.unit([header])
        return self.run("-x", "c++-header", unit, "-o", f"{unit}.gch")

    def check(self, base, chain):
        return self.run(*self.use(base), "-fsyntax-only", self.unit(chain))


def is_header(name):
    return not BODIES.search(name)


def is_public(name):
    return is_header(name) and "/detail/" not in name


def check(command, wanted=is_header):
    """The compiler's messages for each unit with a mistake, and the number of headers.

    \\param command  the compiler and its options  \\param wanted  which headers to check
    """
    direct = {str(path.relative_to(ROOT)): list(includes_of(path.read_text(encoding="utf-8")))
              for path in ROOT.rglob("*.hpp")}
    included = closures(direct)
    headers = sorted(filter(wanted, included))
    base = bases(headers, included)
    precompiled = sorted(set(base.values()) - {None})
    units = []
    for one in [None, *precompiled]:
        users = [header for header in headers
                 if base[header] == one and header not in precompiled]
        units += [(one, chain) for chain in chains(users, included)]
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        compiler = Compiler(command, folder)
        messages = [text for text in pool.map(compiler.precompile, precompiled) if text]
        if not messages:
            messages = [text for text in pool.map(lambda u: compiler.check(*u), units) if text]
    return messages, len(headers)


def host_command(build):
    """The compiler and the options of a host of the library."""
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if entry["file"].endswith(UNIT):
            words = shlex.split(entry["command"])
            return words[:words.index("-o")]
    sys.exit(f"check_headers.py: {build} does not compile {UNIT}")


def main(build, *options):
    messages, count = check(host_command(pathlib.Path(build)),
                            is_public if "--public" in options else is_header)
    print(*messages, f"{count} headers, {len(messages)} units with mistakes", sep="\n")
    return 1 if messages or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
