"""Counts the instructions of decode, generate and diff with callgrind, and compares them with the
recorded figures. Instruction counts hardly depend on the machine, so a regression of 3 % shows on
any.

usage: scripts/bench --instructions [--record]
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/bench/bench/bench_instructions"
RECORD = ROOT / "bench/data/instructions.json"
LIMIT = 1.03


def built_with():
    """The versions behind the figures: another compiler or Boost changes the instruction count."""
    out = subprocess.run([PROGRAM, "--built-with"], capture_output=True, text=True, check=True)
    return out.stdout.strip()


def count(region):
    with tempfile.TemporaryDirectory(prefix="k8s-sd-bench-") as folder:
        out = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
             "--collect-atstart=no", f"--toggle-collect=measured_{region}", PROGRAM, region],
            capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", out.stderr).group(1))


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --instructions")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("scripts/bench: valgrind is not installed (Debian: apt-get install valgrind)",
              file=sys.stderr)
        return 1
    key = built_with()
    regions = subprocess.run([PROGRAM, "--regions"], capture_output=True, text=True,
                             check=True).stdout.split()
    records = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    recorded = records.get(key, {})
    if not recorded and not options.record:
        print(f"nothing is recorded for {key}; --record records it")
    worse = []
    counted = {}
    for region in regions:
        counted[region] = count(region)
        text = f"{region:18} {counted[region]:>14,} instructions"
        if region in recorded:
            ratio = counted[region] / recorded[region]
            text += f", × {ratio:.3f} of the record"
            if ratio > LIMIT and not options.record:
                worse.append(region)
        print(text, flush=True)
    if options.record:
        records[key] = counted
        RECORD.write_text(json.dumps(records, indent=2) + "\n")
        print(f"recorded in {RECORD.relative_to(ROOT)}")
    if worse:
        print(f"over {LIMIT - 1:.0%} more than recorded: {', '.join(worse)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
