#!/usr/bin/env python3
"""Makes the reference with Doxygen, and fails for a comment that it cannot parse and for a public
name without a comment, except those of OF_KUBERNETES.

usage: check_reference.py DOXYGEN DOXYFILE"""

import re
import subprocess
import sys

# Names of Kubernetes' API and of the builders of its objects; Kubernetes documents them.
OF_KUBERNETES = re.compile(r"/include/k8s_sd/(api/\w+|sim/(builders|gateway_api))\.hpp$")
COMPLAINT = re.compile(r"^(?P<file>/[^:]*):\d+: (warning|error): (?P<text>.*)")


def problems_of(output, status=0):
    for line in output.splitlines():
        match = COMPLAINT.match(line)
        if not match:
            continue
        if not match["text"].endswith("is not documented.") or not OF_KUBERNETES.search(
                match["file"]):
            yield line
    if status:
        yield f"Doxygen has failed with status {status}"


def main():
    doxygen, doxyfile = sys.argv[1:]
    result = subprocess.run([doxygen, doxyfile], text=True, capture_output=True, check=False)
    output = result.stdout + result.stderr
    problems = sorted(set(problems_of(output, result.returncode)))
    print(*problems, sep="\n")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
