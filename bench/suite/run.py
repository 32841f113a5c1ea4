"""Measures k8s_sd and its peers in one run and writes docs/internals/performance.md with its plots.

Called by scripts/bench, see there.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import peers
import plots
import report
from processes import Host, Process, Server, busy_until_idle

ROOT = Path(__file__).resolve().parents[2]
HAS_LAST = lambda figures: figures["event"] == "last"


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = Path(folder)
        self.host = options.build / "bench" / "bench_host"
        self.peers, self.unusable_peers = ([], []) if options.without_peers else peers.find()
        self.tls = self.certificate()
        quick = options.quick
        self.pods = 2_000 if quick else 50_000
        self.sizes = [1_000, 2_000] if quick else [1_000, 10_000, 50_000, 100_000]
        self.peer_limit = 50_000
        self.jobs = [1, 10] if quick else [1, 10, 100, 1000]
        self.events = 5_000 if quick else 100_000

    def certificate(self):
        cert, key = self.folder / "cert.pem", self.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
                        "-out", cert], check=True, capture_output=True)
        return str(cert), str(key)

    def serve(self, pods=None, **options):
        return Server(pods or self.pods, **options)

    def best(self, measure):
        """The round with the least interference from other processes."""
        rounds = [measure() for _ in range(1 if self.options.quick else self.options.rounds)]
        return min(rounds, key=lambda figures: figures["cpu"])

    def sync(self, server, **options):
        def once():
            with Host(self.host, server, **options) as host:
                return host.next_report()
        return self.best(once)

    def floor(self, server, *names, protobuf=False):
        """CPU seconds to read the lists, and to find the wanted fields in them."""
        words = [self.options.build / "bench" / "bench_floors", str(server.port),
                 "protobuf" if protobuf else "json", *names]
        def once():
            out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
            return json.loads(out)
        rounds = [once() for _ in range(1 if self.options.quick else self.options.rounds)]
        return min(rounds, key=lambda figures: figures["walk"])

    def peer_sync(self, peer, program, server, **options):
        with tempfile.TemporaryDirectory(dir=self.folder) as folder, \
                peer(program, server, folder, **options) as process:
            cpu = busy_until_idle(process, peer.quiet, since=0.0)
            return {"cpu": cpu, "peak_mb": process.memory_mb("VmHWM"),
                    "memory_mb": process.memory_mb("VmRSS")}

    # --- sections ---------------------------------------------------------------------------------

    def syncs(self):
        """Sync by role, size and encoding."""
        lines = {}
        rows = []
        prepare = {"pod": "pods", "endpoints": "pods,services,endpoints",
                   "endpointslice": "pods,services,endpointslices"}
        for role, names in prepare.items():
            for pods in self.sizes:
                kinds = names.split(",")
                with self.serve(pods, prepare=names) as server:
                    floor = self.floor(server, *kinds)["walk"]
                    contenders = [("k8s_sd, JSON", self.sync(server, role=role))]
                    for peer, program, _ in self.peers if pods <= self.peer_limit else []:
                        contenders.append(
                            (peer.name, self.peer_sync(peer, program, server, role=role)))
                with self.serve(pods, prepare=names, protobuf=True) as server:
                    protobuf_floor = self.floor(server, *kinds, protobuf=True)["walk"]
                    contenders.insert(1, ("k8s_sd, protobuf", self.sync(server, role=role)))
                ours = contenders[0][1]
                for name, figures in contenders:
                    lines.setdefault((role, name), []).append((pods, figures))
                    own_floor = protobuf_floor if "protobuf" in name else floor
                    rows.append([role, f"{pods:,}", name, report.seconds(figures["cpu"]),
                                 report.times(figures["cpu"], ours["cpu"]),
                                 report.times(figures["cpu"], own_floor),
                                 report.megabytes(figures["peak_mb"]),
                                 report.times(figures["peak_mb"], ours["peak_mb"])])
                    self.say(rows[-1])
        for role in prepare:
            mine = {name: points for (r, name), points in lines.items() if r == role}
            for field, unit in (("cpu", "CPU seconds"), ("peak_mb", "peak memory, MB")):
                plots.log_log(self.options.plots / f"sync-{role}-{field.split('_')[0]}.svg",
                              f"Sync, role {role}: {unit}", "pods", unit,
                              {name: [(pods, figures[field]) for pods, figures in points]
                               for name, points in mine.items()})
        return report.Table(
            "Sync",
            "CPU time and peak memory from the start of a program until it has all targets. The "
            "floor reads the same lists in the same encoding and finds the wanted fields in them, "
            "with the tables of the library, and stores nothing.",
            ["role", "pods", "program", "CPU", "×", "of the floor", "peak", "×"], rows,
            [f"sync-{role}-{field}.svg" for role in prepare for field in ("cpu", "peak")])

    def transports(self):
        """The same list over other transports."""
        rows = []
        floors = {}
        for name, server_options, host_options in (
                ("plain JSON", {}, {}),
                ("JSON over TLS", {"tls": self.tls}, {}),
                ("JSON, gzip", {"gzip": True}, {"gzip": 1}),
                ("JSON, gzip over TLS", {"gzip": True, "tls": self.tls}, {"gzip": 1}),
                ("JSON, watch-list", {"watch_list": True}, {}),
                ("protobuf", {"protobuf": True}, {}),
                ("protobuf over TLS", {"protobuf": True, "tls": self.tls}, {}),
                ("protobuf, watch-list", {"protobuf": True, "watch_list": True}, {})):
            protobuf = "protobuf" in server_options
            if protobuf not in floors:
                with self.serve(protobuf=protobuf) as server:
                    floors[protobuf] = self.floor(server, "pods", protobuf=protobuf)["walk"]
            with self.serve(**server_options) as server:
                figures = self.sync(server, **host_options)
            rows.append([name, report.seconds(figures["cpu"]),
                         report.times(figures["cpu"], self.first(rows, figures)),
                         report.times(figures["cpu"], floors[protobuf]),
                         report.megabytes(figures["peak_mb"]),
                         f"{figures['max_handler_ms']:.1f} ms", str(figures["lists"])])
            self.say(rows[-1])
        return report.Table(
            "Ways to the same list",
            f"{self.pods:,} pods, role pod. The longest handler is that of the "
            "`io_context` during the sync, including the host's callback with the complete state. "
            "The floor is that of the plain list in the same encoding.",
            ["way", "CPU", "×", "of the floor", "peak", "longest handler", "lists"], rows)

    def first(self, rows, figures):
        if not rows:
            self.reference = figures["cpu"]
        return self.reference

    def many_jobs(self):
        """Jobs over the same pods."""
        rows = []
        pods = min(self.pods, 10_000)
        base = None
        with self.serve(pods) as server:
            floor = self.floor(server, "pods")["walk"]
        for different in (0, 1):
            for jobs in self.jobs:
                with self.serve(pods) as server:
                    figures = self.sync(server, jobs=jobs, different=different)
                    requests = server.requests()
                    rounds = 1 if self.options.quick else self.options.rounds
                base = base or figures
                rows.append(["different selectors" if different else "equal", str(jobs),
                             report.seconds(figures["cpu"]),
                             report.times(figures["cpu"], base["cpu"]),
                             report.times(figures["cpu"], floor),
                             report.megabytes(figures["memory_mb"]),
                             report.times(figures["memory_mb"], base["memory_mb"]),
                             f"{requests['lists'] / rounds:g}",
                             f"{requests['watches'] / rounds:g}"])
                self.say(rows[-1])
        for peer, program, _ in self.peers:
            for different in (0, 1):
                jobs = self.jobs[-2]
                with self.serve(pods) as server:
                    figures = self.peer_sync(peer, program, server, jobs=jobs,
                                             different=bool(different))
                    requests = server.requests()
                rows.append([f"{peer.name}, {'different' if different else 'equal'}", str(jobs),
                             report.seconds(figures["cpu"]),
                             report.times(figures["cpu"], base["cpu"]),
                             report.times(figures["cpu"], floor),
                             report.megabytes(figures["memory_mb"]),
                             report.times(figures["memory_mb"], base["memory_mb"]),
                             str(requests["lists"]), str(requests["watches"])])
                self.say(rows[-1])
        return report.Table(
            "Many jobs", f"Jobs over {pods:,} pods; × compares with one job. Different: each job "
            "has its own label selector for a twentieth of the pods. The floor is that of one "
            "list of all pods.",
            ["jobs", "number", "sync CPU", "×", "of the floor", "memory", "×", "lists",
             "watches"], rows)

    def changes(self):
        """A burst, a re-list, steady changes; for each program that keeps running."""
        rows = []
        contenders = [("k8s_sd, JSON", {}), ("k8s_sd, protobuf", {"protobuf": True})]
        floors = {}
        for name, options in contenders:
            with self.serve(**options) as server, Host(self.host, server) as host:
                floors[name] = floor = self.floor(server, "pods", **options)["walk"]
                synced = host.next_report()
                server.send_command(f"burst {self.events}")
                burst = host.next_report()
                server.wait()
                again = self.relist(server, host, 0, 2)
                some = self.relist(server, host, self.pods // 100, 3)
                churn = self.churn(server, host)
            rows.append(self.row(name, burst, again, some, churn, synced["memory_mb"], floor))
            self.say(rows[-1])
        for peer, program, _ in self.peers:
            with self.serve() as server, \
                    tempfile.TemporaryDirectory(dir=self.folder) as folder, \
                    peer(program, server, folder) as process:
                busy_until_idle(process, peer.quiet)
                memory = process.memory_mb("VmRSS")

                def after(command):
                    process.reset_peak()
                    before = process.cpu()
                    server.send_command(command)
                    server.wait()
                    return {"cpu": busy_until_idle(process, peer.quiet, since=before),
                            "peak_mb": process.memory_mb("VmHWM")}
                burst = after(f"burst {self.events}")
                again = after("expire 0")
                some = after(f"expire {self.pods // 100}")
                before = process.cpu()
                server.send_command(f"churn {self.churn_rate} 10")
                server.wait()
                churn = {"cpu": process.cpu() - before}
            rows.append(self.row(peer.name, burst, again, some, churn, memory,
                                 floors["k8s_sd, JSON"]))
            self.say(rows[-1])
        return report.Table(
            "Changes",
            f"{self.pods:,} pods. Burst: {self.events:,} MODIFIED events, each with a changed "
            "label, as fast as the socket takes them. List again: the server ends the watch with "
            "410; nothing has changed, or 1 % of the pods. "
            f"Steady: {self.churn_rate} changes a second for ten seconds. The floor of a list is "
            "that of the sync, the floor of events the fields of as many pods.",
            ["program", "events a CPU second", "of the floor", "peak", "list again",
             "of the floor", "peak", "1 % changed", "steady", "memory before"], rows)

    churn_rate = 500

    def row(self, name, burst, again, some, churn, memory, floor):
        return [name, f"{self.events / max(burst['cpu'], 0.01):,.0f}",
                report.times(burst["cpu"], floor * self.events / self.pods),
                report.megabytes(burst["peak_mb"]), report.seconds(again["cpu"]),
                report.times(again["cpu"], floor), report.megabytes(again["peak_mb"]),
                report.seconds(some["cpu"]),
                f"{churn['cpu'] * 10:.1f} % of a core", report.megabytes(memory)]

    def relist(self, server, host, changed, lists):
        host.report()
        server.send_command(f"expire {changed}")
        server.wait()
        return host.until(lambda f: f["lists"] >= lists and f["changes"] >= changed)

    def churn(self, server, host):
        time.sleep(0.5)
        host.report()
        server.send_command(f"churn {self.churn_rate} 10")
        server.wait()
        return host.report()

    def latency(self):
        """From the event to the callback."""
        rows = []
        for role, names in (("pod", "pods"), ("endpointslice", "pods,services,endpointslices")):
            for name, options in (("JSON", {}), ("protobuf", {"protobuf": True})):
                with self.serve(min(self.pods, 10_000), prepare=names, **options) as server, \
                        Host(self.host, server, role=role, latency=1) as host:
                    host.next_report()
                    time.sleep(0.5)
                    host.report()
                    server.send_command("churn 100 10")
                    server.wait()
                    time.sleep(0.2)
                    figures = host.report()
                rows.append([role, name, f"{figures['p50_ms']:.2f} ms",
                             f"{figures['p99_ms']:.2f} ms", f"{figures['changes']:,}"])
                self.say(rows[-1])
        return report.Table(
            "Latency", "From the moment the server makes the event to the host's callback, "
            "10,000 pods, 100 changes a second. Role endpointslice: a pod's label changes the "
            "targets of the slices with that pod.",
            ["role", "encoding", "p50", "p99", "changes"], rows)

    def dependants(self):
        """One object with many dependent groups."""
        pods = min(self.pods, 50_000)
        rows = []
        with self.serve(pods, prepare="pods,nodes") as server, \
                Host(self.host, server, attach_node=1) as host:
            host.next_report()
            time.sleep(0.5)
            host.report()
            rounds, cpu, changes = 20, 0.0, 0
            for _ in range(rounds):
                server.send_command("node node-00007")
                server.wait()
                # One at a time: simultaneous changes arrive in one diff.
                figures = host.until(lambda f: f["changes"] >= pods // 200)
                cpu += figures["cpu"]
                changes += figures["changes"]
        rows.append([f"labels of a node with {pods // 200} pods", f"{cpu / rounds * 1000:.2f} ms",
                     f"{changes:,}"])
        self.say(rows[-1])
        return report.Table(
            "Dependants", "CPU of one change, from the event to the callback. bench_dependants "
            "has more of them, see benchmarks.md.", ["change", "CPU", "changed groups"], rows)

    def idle(self):
        """Watches of empty namespaces over TLS."""
        watches = 100 if self.options.quick else 1000
        with self.serve(1, tls=self.tls) as server:
            with Process([self.options.build / "bench" / "bench_tls_sessions", server.port,
                          watches], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         text=True) as floor:
                session_mb = float(floor.process.stdout.readline())
            figures = []
            for jobs in (1, 1 + watches):
                with Host(self.host, server, jobs=jobs, quiet=1) as host:
                    host.next_report()
                    figures.append(host.until(lambda f: f["watches"] >= jobs))
        ours = (figures[1]["memory_mb"] - figures[0]["memory_mb"]) * 1024 / watches
        session = session_mb * 1024 / watches
        rows = [["OpenSSL's session alone", f"{session:.1f} KB", "–"],
                ["a Discoverer with a watch of its own", f"{ours:.1f} KB",
                 f"{ours - session:.1f} KB"]]
        for row in rows:
            self.say(row)
        return report.Table(
            "Idle watches", f"{watches:,} idle watches over TLS; resident memory of "
            "each.", ["what", "memory", "beside the session"], rows)

    def slow_host(self):
        """A callback that sleeps."""
        rows = []
        for sleep in (0, 10):
            with self.serve(min(self.pods, 10_000)) as server, \
                    Host(self.host, server, sleep_ms=sleep) as host:
                synced = host.next_report()
                server.send_command(f"burst {self.events}")
                burst = host.next_report()
                server.wait()
            rows.append([f"{sleep} ms", report.megabytes(synced["memory_mb"]),
                         report.megabytes(burst["peak_mb"]), report.seconds(burst["cpu"]),
                         f"{burst['changes']:,}"])
            self.say(rows[-1])
        return report.Table(
            "A slow host", f"The callback sleeps; {self.events:,} events on "
            f"{min(self.pods, 10_000):,} pods meanwhile. Repeated changes are coalesced.",
            ["callback sleeps", "memory before", "peak in the burst", "CPU", "changes delivered"],
            rows)

    def pools(self):
        """The output of bench_pools."""
        program = self.options.build / "bench" / "bench_pools"
        arguments = ["2000"] if self.options.quick else []
        out = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
        return report.Verbatim("Pools", "`bench_pools`: targets of the pods in scrape pools.",
                               out.stdout)

    def scale(self):
        """The output of bench_scale."""
        program = self.options.build / "bench" / "bench_scale"
        arguments = ["20000", "2", "1000", "100"] if self.options.quick else []
        out = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
        return report.Verbatim("Half a million pods", "`bench_scale`: whether the cost grows "
                               "linearly, and the latency at 5,000 changes a second.", out.stdout)

    def soak(self):
        """The output of bench_soak."""
        program = self.options.build / "bench" / "bench_soak"
        arguments = ["1000", "12"] if self.options.quick else []
        out = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
        return report.Verbatim("A week", "`bench_soak`: memory after a week of changes in virtual "
                               "time, beside a fresh start in the same state.", out.stdout)

    def monitors(self):
        """The output of bench_monitors, and Prometheus with the configuration of the monitors."""
        program = self.options.build / "bench" / "bench_monitors"
        count = "100" if self.options.quick else "1000"
        out = subprocess.run([program, count], capture_output=True, text=True, check=True).stdout
        prometheus = [found for peer, found, _ in self.peers if peer is peers.Prometheus]
        if not prometheus:
            out += "".join(f"{line}\n" for line in
                           ["Prometheus: skipped, no usable one is in $K8S_SD_PEERS or on the path",
                            *self.unusable_peers])
        for found in prometheus:
            with Process([program, "--config", count], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True) as server, \
                    tempfile.TemporaryDirectory(dir=self.folder) as folder:
                config = server.process.stdout.readline()
                with peers.Prometheus(found, None, folder, text=config) as process:
                    cpu = busy_until_idle(process, peers.Prometheus.quiet, since=0.0)
                    if process.process.poll() is not None:
                        out += "Prometheus: it refuses the configuration\n"
                        continue
                    out += row_of_monitors("Prometheus, from its start", cpu,
                                           process.memory_mb("VmRSS"), out)
        return report.Verbatim("Monitors", "`bench_monitors`: ServiceMonitors over the same "
                               "endpoints, and Prometheus with the jobs that they become.", out)

    def say(self, row):
        print("  " + " | ".join(row), flush=True)


def row_of_monitors(what, cpu, memory, table):
    """A row of the table of bench_monitors, compared with the first one."""
    first = next(line for line in table.splitlines() if line.startswith("one job"))
    _, _, first_cpu, _, first_memory, *_ = map(float, first.split()[-9:])
    return (f"{what:34} {'':8} {'':10} {cpu:8.3f} {cpu / first_cpu:7.2f} {memory:8.1f} "
            f"{memory / first_memory:7.2f}\n")


SECTIONS = ["syncs", "transports", "many_jobs", "changes", "latency", "dependants", "idle",
            "slow_host", "pools", "monitors", "scale", "soak"]


def machine():
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} cores ({cpu.group(1) if cpu else 'unknown'})"


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench")
    parser.add_argument("--build", type=Path, default=ROOT / "build/bench")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/internals/performance.md")
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--only", help=f"sections, with commas, of {', '.join(SECTIONS)}; "
                        "prints and writes no file")
    options = parser.parse_args()
    options.build = options.build.resolve()
    sections = options.only.split(",") if options.only else SECTIONS
    unknown = [name for name in sections if name not in SECTIONS]
    if unknown:
        parser.error(f"no such section: {', '.join(unknown)}")
    with tempfile.TemporaryDirectory(prefix="k8s-sd-bench-") as folder:
        # Partial and quick runs write no document.
        whole = not options.only and not options.quick
        options.plots = options.output.parent / "performance" if whole else Path(folder)
        options.plots.mkdir(parents=True, exist_ok=True)
        bench = Bench(options, folder)
        tables = []
        for name in sections:
            print(f"=== {name}: {getattr(bench, name).__doc__}", flush=True)
            tables.append(getattr(bench, name)())
        text = report.document(tables, machine(), bench.peers, load_average())
    if whole:
        options.output.write_text(text)
        print(f"written: {options.output}")
    else:
        print(text)


def load_average():
    return os.getloadavg()[2]


if __name__ == "__main__":
    sys.exit(main())
