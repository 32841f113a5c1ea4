#!/usr/bin/env python3
"""Runs bench_fleet and puts its tables and plots into docs/internals/fleet-benchmark.md.

usage: report.py BENCH_FLEET [OPTION...]
    The options are those of bench_fleet, e.g. --targets 1000 for a short run.
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/suite"))
import plots  # noqa: E402

PAGE = ROOT / "docs/internals/fleet-benchmark.md"
FOLDER = ROOT / "docs/internals/fleet-benchmark"
BEGIN, END = "<!-- bench_fleet: begin -->\n", "<!-- bench_fleet: end -->\n"


def draw_gaps(rows):
    groups = {}
    for _, scenario, system, seconds in rows:
        groups.setdefault(scenario, {})[system] = float(seconds) if float(seconds) >= 0 else None
    plots.bars(FOLDER / "gaps.svg", "Longest time that a target has no owner", groups, "s")


def draw_bytes(rows):
    lines = {}
    for _, members, _, _, at_start, later, discovers in rows:
        what = "discovery" if discovers == "1" else "members only"
        for name, value in (("start", at_start), ("changes", later)):
            lines.setdefault(f"{name}, {what}", []).append((int(members), float(value) / 1e6))
    plots.log_log(FOLDER / "bytes.svg", "What the API server sends", "members", "MB", lines)


def main(program, *options):
    with tempfile.TemporaryDirectory() as folder:
        series = pathlib.Path(folder) / "series"
        run = subprocess.run([program, "--markdown", "--series", series, *options], check=True,
                             stdout=subprocess.PIPE, text=True)
        rows = [line.split("\t") for line in series.read_text().splitlines()]
    FOLDER.mkdir(exist_ok=True)
    draw_gaps([row for row in rows if row[0] == "gap"])
    draw_bytes([row for row in rows if row[0] == "size"])
    tables = run.stdout.split("### ")[1:]
    figures = {"Longest time": "![gaps](fleet-benchmark/gaps.svg)\n\n",
               "What the server": "![bytes](fleet-benchmark/bytes.svg)\n\n"}
    text = ""
    for table in tables:
        figure = next((value for key, value in figures.items() if table.startswith(key)), "")
        text += f"### {table.rstrip()}\n\n{figure}"
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + "\n" + text + END + after, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
