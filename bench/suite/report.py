"""Tables, and the page that contains them."""

from datetime import date


def seconds(value):
    return f"{value:.2f} s"


def megabytes(value):
    return f"{value:,.0f} MB"


def times(value, reference):
    return f"{value / reference:.2f}" if reference else "–"


class Table:
    def __init__(self, title, text, header, rows, figures=()):
        self.title, self.text, self.header, self.rows = title, text, header, rows
        self.figures = figures

    def markdown(self):
        lines = [f"## {self.title}", "", *wrapped(self.text), ""]
        lines += [line(self.header), line(["---"] * len(self.header))]
        lines += [line(row) for row in self.rows]
        for figure in self.figures:
            lines += ["", f"![{self.title}](performance/{figure})"]
        return "\n".join(lines) + "\n"


class Verbatim:
    def __init__(self, title, text, output):
        self.title, self.text, self.output = title, text, output

    def markdown(self):
        return "\n".join([f"## {self.title}", "", *wrapped(self.text), "", "```text",
                          self.output.rstrip(), "```", ""])


def line(cells):
    return "| " + " | ".join(cells) + " |"


def wrapped(text, width=98):
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def document(tables, machine, peers, load):
    programs = [f"{peer.name} ({version or 'version unknown'})" for peer, _, version in peers]
    head = [
        "# Performance", "",
        "`scripts/bench` writes this page. [benchmarks.md](benchmarks.md) has the benchmarks of "
        "parts.", "",
        *wrapped(
            "One run has measured everything here: the same recorded objects, a server in a "
            "separate process with prepared bytes, and a network with loopback only. CPU is user and system time of the measured process, memory is its "
            "resident memory. × compares with the first row of the same kind. A peer counts as "
            "done when it has been idle for eight seconds; its targets are all dropped by a rule. "
            "k8s_sd keeps every target reachable."), "",
        f"* machine: {machine}, load before the end {load:.1f}",
        f"* date: {date.today().isoformat()}",
        "* peers: " + (", ".join(programs) or "none was found"), "",
    ]
    return "\n".join(head) + "\n" + "\n".join(table.markdown() for table in tables)
