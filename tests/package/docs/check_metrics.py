#!/usr/bin/env python3
"""Checks that the tables of docs/guide/metrics.md are those of the code. With --write writes them
into the page, between the comments there.

usage: check_metrics.py [--write] PROJECT_DIRECTORY
"""
import pathlib
import re
import sys

PAGE = "docs/guide/metrics.md"
# A text may consist of several literals.
TEXT = r'((?:"[^"\\]*"\s*)+)'
FIELD = re.compile(r'\{"(k8s_sd_\w+)", &Metrics::(PerKind::)?(\w+),\s*' + TEXT)
MEMBER = re.compile(r"^ +(Counter|Gauge) (\w+)\{0\};", re.M)
CONSTANT = re.compile(r'"(k8s_sd_\w+)", MetricType::(\w+),\s*' + TEXT)
PROGRAM = re.compile(r'out\.metric\("(\w+)", "(\w+)",\s*' + TEXT + r"\)")
OLDEST = re.compile(r'write_oldest\(out, "(\w+)",\s*' + TEXT)
PREFIX = re.compile(r'Writer out\("(\w+)"\);')
TABLE = re.compile(r"^(<!-- ([a-z ]+), written by scripts/metrics -->\n)(.*?)^(<!-- end -->)$",
                   re.S | re.M)
HEAD = "| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n"
# The labels of the metrics of k8s-sd; a test compares them with those of a running program.
LABELS = {
    "polls_total": "list, code", "watches_total": "code", "watch_events_total": "type",
    "refused_requests_total": "code", "targets": "job, state", "job_complete": "job",
    "job_unconfirmed": "job", "job_synced": "job", "job_superseded_configs": "job",
    "job_missing_clusters": "job", "held_requests": "job", "cluster_profiles": "state",
}
ALLOCATOR_LABELS = {
    "targets": "job_name", "targets_per_collector": "collector_name, strategy",
    "collectors_allocatable": "strategy",
}
WATCH_LABELS = {"k8s_sd_watch_lists_total": "reason", "k8s_sd_watch_waiting_seconds": "for"}


def read(root, path):
    return (root / path).read_text(encoding="utf-8")


def joined(literals):
    return "".join(re.findall(r'"([^"]*)"', literals))


def library_tables(root):
    text = read(root, "include/k8s_sd/metrics.hpp")
    types = {name: kind.lower() for kind, name in MEMBER.findall(text)}
    kinds, context = [], []
    for name, per_kind, member, help_text in FIELD.findall(text):
        row = (name, types[member], "resource" if per_kind else "", joined(help_text))
        (kinds if per_kind else context).append(row)
    watches, servers = [], []
    for name, kind, help_text in CONSTANT.findall(text):
        if name.startswith("k8s_sd_watch_"):
            labels = ", ".join(filter(None, ["server, resource, namespace",
                                             WATCH_LABELS.get(name, "")]))
            watches.append((name, kind, labels, joined(help_text)))
        elif name.startswith("k8s_sd_server_"):
            servers.append((name, kind, "cluster, server", joined(help_text)))
        else:
            context.append((name, kind, "le", joined(help_text)))
    return {"of each kind": kinds, "of the context": context, "of each server": servers,
            "of each watch": watches}


def program_tables(root):
    text = read(root, "src/programs/k8s-sd/jobs/serve_metrics.cpp")
    begin = PREFIX.search(text)
    end = text.index("\n}\n", begin.start())
    rows = [(match.start(), match[1], match[2], joined(match[3]))
            for match in PROGRAM.finditer(text)]
    rows += [(match.start(), match[1], "gauge", joined(match[2]))
             for match in OLDEST.finditer(text)]
    program, allocator = [], []
    for place, name, kind, help_text in sorted(rows):
        if begin.start() < place < end:
            allocator.append((begin[1] + name, kind, ALLOCATOR_LABELS.get(name, ""), help_text))
        else:
            program.append(("k8s_sd_program_" + name, kind, LABELS.get(name, ""), help_text))
    return {"of the program": program, "of the allocator": allocator}


def tables(root):
    """By its name, the rows of each table: name, type, labels, help."""
    return {**library_tables(root), **program_tables(root)}


def entry(row):
    name, kind, labels, help_text = row
    labels = ", ".join(f"`{label}`" for label in labels.split(", ")) if labels else ""
    return f"| `{name}` | {kind} | {labels} | {help_text} |\n"


def page_with(text, lists):
    """The page with these lists, and the names of lists that it lacks or has in addition."""
    found = [match[1] for match in TABLE.findall(text)]
    problems = sorted(set(lists) ^ set(found))

    def replace(match):
        rows = "".join(map(entry, sorted(lists.get(match[2], []))))
        return match[1] + HEAD + rows + match[4]
    return TABLE.sub(replace, text), problems


def main(arguments):
    write = arguments[:1] == ["--write"]
    root = pathlib.Path(arguments[-1])
    lists = tables(root)
    text = read(root, PAGE)
    wanted, problems = page_with(text, lists)
    for problem in problems:
        print(f"{PAGE}: the table \"{problem}\" is in the page or in the code only")
    for name, rows in lists.items():
        if not rows:
            problems.append(name)
            print(f"no metrics {name} were found in the code")
    if wanted != text and not write:
        problems.append("differs")
        print(f"{PAGE} is not what the code says; run scripts/metrics")
    if write and not problems:
        (root / PAGE).write_text(wanted, encoding="utf-8")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
