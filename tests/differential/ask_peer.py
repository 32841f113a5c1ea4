#!/usr/bin/env python3
"""Asks Prometheus or vmagent what they make of scrape configurations and targets.

    ask_peer.py prometheus|vmagent PROGRAM QUESTIONS ANSWERS [FLAG_OF_THE_PROGRAM...]

QUESTIONS is a JSON list of {"job": <an entry of scrape_configs without name and targets>,
"name": <its name>, "targets": [<labels with __address__>, ...]}. ANSWERS becomes
{"version": <of the program>, "answers": [<null: the job is refused, or a list with one entry for
each target>, ...]}. An entry is {"labels": ..., "url": ...} for a target that would be scraped,
with "interval" and "timeout" where the program prints them, "dropped", or null where the program
shows the target nowhere: it failed, or is the same as another one.

The program runs in a network namespace of its own that has only loopback: nothing is scraped.
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

PORT = 18457
BASE = f"http://127.0.0.1:{PORT}"
MARK = "__meta_case"
JOBS_AT_A_TIME = 600
# What calls itself by no version: by the contents of the program.
KNOWN_PROGRAMS = {
    # Debian's victoria-metrics 1.145.0+ds1-2 for amd64
    "cc66e6fbaec2cf0efb6e386c5df3b16ac419955ad8817ddbc192684daba29194": "1.145.0",
}


def fetch(path, form=None, timeout=60):
    data = urllib.parse.urlencode(form).encode() if form is not None else None
    with urllib.request.urlopen(BASE + path, data, timeout=timeout) as answer:
        return answer.read().decode()


def wait_for(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"waited in vain for {what}")
        time.sleep(0.05)


def is_up():
    try:
        fetch("/metrics", timeout=1)
        return True
    except OSError:
        return False


def write_config(folder, jobs, extra=None):
    text = json.dumps({**(extra or {}), "scrape_configs": jobs}, ensure_ascii=False)
    (folder / "config.yml").write_text(text)  # JSON is YAML


def with_targets(question):
    static = []
    for number, target in enumerate(question["targets"]):
        labels = {name: value for name, value in target.items() if name != "__address__"}
        labels[MARK] = f"{question['name']}.{number}"
        static.append({"targets": [target["__address__"]], "labels": labels})
    return {"job_name": question["name"], **question["job"], "static_configs": static}


def jobs_with_targets(questions, answers):
    """Of the jobs that are not refused, and a last one whose target shows that all is read."""
    last = {"job_name": "last", "scrape_interval": "1d",
            "static_configs": [{"targets": ["last:1"], "labels": {MARK: "last.0"}}]}
    return [with_targets(q) for q, a in zip(questions, answers) if a is not None] + [last]


def settled(questions, answers):
    wait_for(lambda: '"last:1"' in fetch("/api/v1/targets?state=any"), "the targets")
    counts = None
    while (now := read_targets(questions, answers)) != counts:
        counts = now
        time.sleep(1)
    return answers


def read_targets(questions, answers):
    """Fills the answers to these questions from /api/v1/targets."""
    data = json.loads(fetch("/api/v1/targets?state=any"))["data"]
    by_name = {q["name"]: i for i, q in enumerate(questions)}
    for target in data["activeTargets"] + data["droppedTargets"]:
        name, _, number = target["discoveredLabels"][MARK].partition(".")
        if name not in by_name:
            continue
        entry = "dropped"
        if "scrapeUrl" in target:
            entry = {"labels": target["labels"], "url": target["scrapeUrl"]}
            if "scrapeInterval" in target:
                entry["interval"] = target["scrapeInterval"]
                entry["timeout"] = target["scrapeTimeout"]
        answers[by_name[name]][int(number)] = entry
    return len(data["activeTargets"]), len(data["droppedTargets"])


def no_answers(questions):
    return [[None] * len(q["targets"]) for q in questions]


class Prometheus:
    def __init__(self, program, folder, flags):
        self.folder = folder
        out = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        self.version = re.search(r"version (\d+\.\d+\.\d+)", out.stdout + out.stderr).group(1)
        write_config(folder, [])
        self.process = subprocess.Popen(
            [program, f"--config.file={folder}/config.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{PORT}", "--web.enable-lifecycle",
             "--log.level=error", *flags],
            stdout=subprocess.DEVNULL, stderr=open(folder / "log", "w"))
        wait_for(is_up, "Prometheus")
        wait_for(lambda: self.load([]), "Prometheus' first reload")

    def load(self, jobs):
        write_config(self.folder, jobs)
        try:
            fetch("/-/reload", {})
            return True
        except urllib.error.HTTPError:
            return False

    def ask(self, questions):
        answers = no_answers(questions)
        for index, question in enumerate(questions):
            if not self.load([{"job_name": question["name"], **question["job"]}]):
                answers[index] = None
        if not self.load(jobs_with_targets(questions, answers)):
            raise SystemExit("Prometheus refuses together what it takes one by one")
        return settled(questions, answers)


class Vmagent:
    def __init__(self, program, folder, flags):
        self.program = program
        self.flags = flags
        self.folder = folder
        self.process = None
        self.start([])
        match = re.search(r'vm_app_version\{[^}]*short_version="v?([\d.]+)"', fetch("/metrics"))
        self.version = match.group(1) if match else self.version_of_contents()

    def version_of_contents(self):
        digest = hashlib.sha256(pathlib.Path(self.program).read_bytes()).hexdigest()
        return KNOWN_PROGRAMS.get(digest, "of contents " + digest)

    def start(self, jobs):
        self.stop()
        write_config(self.folder, jobs)
        self.process = subprocess.Popen(
            [self.program, f"-promscrape.config={self.folder}/config.yml",
             "-promscrape.config.strictParse=false", "-promscrape.dropOriginalLabels=false",
             "-promscrape.maxDroppedTargets=1000000", "-promscrape.suppressScrapeErrors",
             "-remoteWrite.url=http://127.0.0.1:1/", f"-remoteWrite.tmpDataPath={self.folder}/d",
             f"-httpListenAddr=127.0.0.1:{PORT}", "-loggerLevel=ERROR", *self.flags],
            stdout=subprocess.DEVNULL, stderr=open(self.folder / "log", "w"))
        wait_for(is_up, "vmagent")

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def refuses(self, job):
        answer = json.loads(fetch("/target-relabel-debug", {
            "format": "json", "metric": "{a=\"b\"}",
            "relabel_configs": json.dumps(job.get("relabel_configs", []), ensure_ascii=False)}))
        return answer["status"] != "success"

    def ask(self, questions):
        answers = no_answers(questions)
        for index, question in enumerate(questions):
            if self.refuses(question["job"]):
                answers[index] = None
        self.start(jobs_with_targets(questions, answers))
        answers = settled(questions, answers)
        if self.process.poll() is not None:
            raise SystemExit("vmagent ended: " + (self.folder / "log").read_text()[-2000:])
        return answers


def run(kind, program, questions_file, answers_file, *flags):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    questions = json.loads(pathlib.Path(questions_file).read_text())
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        make = {"prometheus": Prometheus, "vmagent": Vmagent}[kind]
        peer = make(program, pathlib.Path(folder), flags)
        try:
            for begin in range(0, len(questions), JOBS_AT_A_TIME):
                answers += peer.ask(questions[begin:begin + JOBS_AT_A_TIME])
        finally:
            peer.process.kill()
            peer.process.wait()
    pathlib.Path(answers_file).write_text(
        json.dumps({"version": peer.version, "answers": answers}, ensure_ascii=False))


def main():
    if os.environ.get("K8S_SD_PEER_IS_ALONE"):
        run(*sys.argv[1:])
        return
    os.environ["K8S_SD_PEER_IS_ALONE"] = "1"
    become_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    os.execvp("unshare", ["unshare", "--net", *become_root, sys.executable, *sys.argv])


main()
