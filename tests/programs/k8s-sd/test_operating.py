"""Whether the steps of docs/guide/operating.md do what the page says."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

import harness
from config_maps import server_of_config_map
from harness import (TIMEOUT, JsonHandler, file_with, run, running, server_with,
                     simulated_cluster)
from program_metrics import ROOT, Metrics, Rules

PAGE = ROOT / "docs/guide/operating.md"
KUBECONFIG = """
clusters: [{name: k, cluster: {server: '%s'}}]
contexts: [{name: c, context: {cluster: k}}]
current-context: c
"""


def blocks(page=PAGE, language=r"\w*"):
    """The code blocks of a page."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", page.read_text(encoding="utf-8"),
                       re.MULTILINE | re.DOTALL)
    return [re.sub(f"^{indent}", "", text, flags=re.MULTILINE) for indent, text in found]


def jobs_of_page():
    return re.search(r"<<'YAML'\n(.*?)^YAML$", blocks()[0], re.MULTILINE | re.DOTALL)[1]


def shape(line):
    """A line of the log without its time and numbers."""
    return re.sub(r"\d+", "N", re.sub(harness.TIME, "", line))


class OnePod(JsonHandler):
    """An API server with one pod, and with what kubectl asks for to annotate it."""
    pod = {}
    is_annotated = threading.Event()

    def do_GET(self):
        path, _, query = self.path.partition("?")
        documents = {
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
            "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [{
                "name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod",
                "verbs": ["get", "list", "patch", "watch"]}]},
            "/api/v1/namespaces/shop/pods/orders-db-0": self.pod,
            "/api/v1/pods": {"kind": "PodList", "apiVersion": "v1", "items": [self.pod],
                             "metadata": {"resourceVersion": "1"}}}
        if path not in documents or "sendInitialEvents" in query:
            self.reply(422 if path in documents else 404, {
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 422,
                "reason": "Invalid"})
        elif "watch=" in query:
            self.watch()
        else:
            self.reply(200, documents[path])

    def watch(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        if self.is_annotated.wait(TIMEOUT):
            event = {"type": "MODIFIED", "object": self.pod}
            self.wfile.write(json.dumps(event).encode() + b"\n")
        self.close_connection = True

    def do_PATCH(self):
        patch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        metadata = {**self.pod["metadata"], "resourceVersion": "2",
                    "annotations": patch["metadata"]["annotations"]}
        OnePod.pod = {**self.pod, "metadata": metadata}
        self.is_annotated.set()
        self.reply(200, self.pod)


def server_of_one_pod():
    OnePod.is_annotated.clear()
    OnePod.pod = {
        "kind": "Pod", "apiVersion": "v1", "metadata": {
            "namespace": "shop", "name": "orders-db-0", "uid": "1", "resourceVersion": "1"},
        "spec": {"containers": [{"name": "db", "ports": [{"containerPort": 5432}]}]},
        "status": {"phase": "Running", "podIP": "10.244.3.18"}}
    return server_with(OnePod)


class Steps(unittest.TestCase):
    def setUp(self):
        self.log, self.jobs = blocks()[1], jobs_of_page()

    def test_the_jobs_pass_the_check(self):
        commands = blocks()[0].rpartition("k8s-sd --sim")[0]
        program = harness.command("k8s-sd", ())[0]
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(["bash", "-euc", commands.replace("k8s-sd", program)],
                                    cwd=folder, env=harness.environment(), capture_output=True,
                                    text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_log_is_that_of_the_page(self):
        wanted = list(map(shape, self.log.splitlines()))
        with file_with(self.jobs, "jobs.yml") as config, running(
                "k8s-sd", "--sim", "--listen", "127.0.0.1:0", "--config", config) as program:
            self.assertEqual([shape(program.log_line()) for _ in wanted], wanted)

    def assert_answer(self, *origin):
        """The question of the page, with the jobs from somewhere else, has the answer of the
        page."""
        question, answer = next((question, answer) for question, answer
                                in zip(blocks(), blocks()[1:]) if "kubectl sd why" in question)
        words = question.removesuffix(" --config jobs.yml\n").split()[2:]
        result = run("kubectl-sd", *words, *origin)
        self.assertEqual(result.returncode, 0, result.stderr)
        for line, shown in zip(result.stdout.splitlines(), answer.splitlines(), strict=True):
            self.assertTrue(line.startswith(shown.rstrip("…")), line)

    def test_the_question_has_the_answer_of_the_page(self):
        with file_with(self.jobs, "jobs.yml") as config:
            self.assert_answer("--config", config, "--sim")

    def test_a_config_map_and_a_running_program_have_the_same_answer(self):
        option, _, name = re.search(r"`(--configmap monitoring/\S+)`",
                                    PAGE.read_text("utf-8"))[1].partition(" ")
        with simulated_cluster() as cluster:
            jobs = self.jobs.replace("- role: pod", f"- {{role: pod, api_server: '{cluster}'}}")
            with server_of_config_map({"prometheus.yml": jobs}, name.partition("/")[2]) as url:
                self.assert_answer(option, name, "--api-server", url)
        option = re.search(r"`(--from) http://127.0.0.1:8080`", PAGE.read_text("utf-8"))[1]
        with file_with(self.jobs, "jobs.yml") as config, running(
                "k8s-sd", "--sim", "--listen", "127.0.0.1:0", "--config", config) as program:
            self.assert_answer(option, Metrics(program).url)

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is not installed")
    def test_an_annotated_pod_is_in_the_list(self):
        command = re.search(r"`(kubectl \S+ \S+ annotate [^`]*)`", PAGE.read_text("utf-8"))[1]
        with server_of_one_pod() as url, file_with(self.jobs, "jobs.yml") as config, running(
                "k8s-sd", "--api-server", url, "--listen", "127.0.0.1:0", "--config",
                config) as program, tempfile.TemporaryDirectory() as cache:
            address = program.line_with(r"^listens at (http://.*)$").group(1)
            program.wait_for_list("pods")

            def targets():
                with urllib.request.urlopen(address + "/sd/pods/targets",
                                            timeout=TIMEOUT) as answer:
                    return [target for group in json.load(answer) for target in group["targets"]]
            self.assertEqual(targets(), [])
            result = subprocess.run([*command.split(), "--server", url, "--cache-dir", cache],
                                    env=harness.environment(), capture_output=True, text=True,
                                    timeout=TIMEOUT, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            end = time.monotonic() + TIMEOUT
            while targets() != ["10.244.3.18:5432"]:
                self.assertLess(time.monotonic(), end)

    def test_a_mistake_is_recorded_and_replayed(self):
        self.assertIn("[bug-reports.md](bug-reports.md)", PAGE.read_text("utf-8"))
        record, replay, look, *_ = blocks(ROOT / "docs/guide/bug-reports.md")[0].splitlines()
        with tempfile.TemporaryDirectory() as folder:
            def words(line):
                return line.partition("#")[0].replace("bug.gz", folder + "/bug.gz").split()
            with running(*words(record), "--sim", "--output", "json") as program:
                program.line()
                self.assertEqual(program.signal(signal.SIGINT), 0)
            result = run(*words(replay))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r"pod/w\d+/w\d+")
            text = subprocess.run(["bash", "-c", " ".join(words(look)).replace("less", "cat")],
                                  capture_output=True, text=True, timeout=TIMEOUT,
                                  check=True).stdout
        self.assertTrue(text.startswith("k8s_sd recording 1\n"))
        self.assertNotIn("orders-db", text)

    def test_the_permissions_can_be_printed(self):
        command = next(block for block in blocks() if "--print-rbac" in block).splitlines()[0]
        words = command.partition(" |")[0].split()
        self.assertEqual(run(*words).returncode, 0)

    def test_the_permissions_can_be_checked(self):
        command = next(block for block in blocks() if "--check --role" in block).splitlines()[1]
        with simulated_cluster() as url, file_with(KUBECONFIG % url, "config") as path:
            result = run(*command.replace("~/.kube/config", path).split())
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("list pods in all namespaces: allowed", result.stdout)

    def test_a_mended_rule_makes_the_pod_a_target(self):
        with file_with(self.jobs, "jobs.yml") as config, running(
                "k8s-sd", "--sim", "--listen", "127.0.0.1:0", "--config", config,
                "--check-interval", "0.1") as program:
            url = program.line_with(r"^listens at (http://.*)$").group(1)
            program.wait_for_list("pods")

            def scraped():
                table = run("kubectl-sd", "why", "orders-db-0", "-n", "shop", "--from", url)
                self.assertEqual(table.returncode, 0, table.stderr)
                return re.split(" {3,}", table.stdout.splitlines()[1])[3]
            self.assertEqual(scraped(), "no")
            question = re.search(r"`curl -s 'localhost:8080(\S+)'`", PAGE.read_text("utf-8"))[1]
            with urllib.request.urlopen(url + question, timeout=TIMEOUT) as answer:
                self.assertTrue(json.load(answer)["found"])
            pathlib.Path(config).write_text(self.jobs.replace('"true"', '".*"'), "utf-8")
            self.assertEqual(run("k8s-sd", "--check", "--config", config).returncode, 0)
            end = time.monotonic() + TIMEOUT
            while scraped() != "yes":
                self.assertLess(time.monotonic(), end)

    def test_the_reasons_are_those_of_the_page(self):
        page = " ".join(PAGE.read_text("utf-8").split())
        with file_with(self.jobs, "jobs.yml") as config:
            def why(*words):
                return run("kubectl-sd", "why", *words, "--config", config)
            other = why("orders-db-0", "-n", "other", "--sim").stdout
            away = why("orders-db-0", "--api-server", "http://127.0.0.1:1", "--timeout", "0.1")
        self.assertRegex(other, r"looks at pods in .*; none of its \d+ targets has this name")
        self.assertIn("`looks at pods in …; none of its … targets has this name`", page)
        self.assertIn("not everything has been listed in time", away.stderr)
        self.assertIn("`not everything has been listed in time`", page)

    def test_an_object_is_explained(self):
        command = re.search(r"`(discover --explain \S+)`", PAGE.read_text("utf-8"))[1]
        result = run(*command.split(), "--sim", "--once")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r'__meta_kubernetes_pod_ip = "\S+" +Pod shop/orders-db-0')


def namespace():
    """The command for a network of its own, where port 8080 is free; None if there can be none."""
    for options in (["--net"], ["--map-root-user", "--net"]):
        command = ["unshare", *options]
        with contextlib.suppress(FileNotFoundError):
            if subprocess.run([*command, "ip", "link", "set", "lo", "up"], capture_output=True,
                              check=False).returncode == 0:
                return command
    return None


@unittest.skipUnless(shutil.which("kubectl") and shutil.which("curl"),
                     "kubectl or curl is not installed")
class WordForWord(unittest.TestCase):
    """One shell runs all blocks of commands of the page."""
    BEGIN = """
trap 'kill $(jobs -p)' EXIT
ip link set lo up
discover --sim --output quiet > cluster.out 2> cluster.log &
until url=$(grep -o 'http://[^ ]*' cluster.log); do sleep 0.1; done
mkdir .kube
printf "$KUBECONFIG_TEXT" "$url" > .kube/config
"""
    # k8s-sd runs in the background, nothing is granted in the simulated cluster, and the program
    # reads its file only after a while.
    CHANGES = (
        (r"^(k8s-sd --sim .*)$", r"""\1 > k8s-sd.out 2> k8s-sd.log &
until curl -sf localhost:8080/readyz > ready && grep -q complete k8s-sd.log; do
    kill -0 $! || { cat k8s-sd.log >&2; exit 1; }
    sleep 0.1
done
cat k8s-sd.log"""),
        (r" \| kubectl apply -f -$", ""),
        (r"^(curl .* \| grep .*)$", r"""until [ "$(\1)" = "$WANTED" ]; do sleep 0.1; done
\1"""))

    def outputs(self, command):
        """Of each block."""
        script = self.BEGIN
        for block in blocks(language="sh"):
            for pattern, text in self.CHANGES:
                block = re.sub(pattern, text, block, flags=re.MULTILINE)
            script += "echo === block\n" + block
        path = os.path.dirname(harness.command("k8s-sd", ())[0])
        with tempfile.TemporaryDirectory() as folder:
            shell = subprocess.Popen(
                [*command, "bash", "-euo", "pipefail", "-c", script], cwd=folder, text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True, env={
                    **harness.environment(), "HOME": folder, "KUBECONFIG_TEXT": KUBECONFIG,
                    "NO_PROXY": "*",
                    "WANTED": blocks()[-1].strip(), "PATH": path + os.pathsep + os.environ["PATH"]})
            watchdog = threading.Timer(4 * TIMEOUT, os.killpg, (shell.pid, signal.SIGKILL))
            watchdog.start()
            try:
                output, errors = shell.communicate()
            finally:
                watchdog.cancel()
        self.assertEqual(shell.returncode, 0, output + errors)
        return output.split("=== block\n")[1:]

    def test_each_block_of_commands_has_the_output_of_the_page(self):
        command = namespace()
        if not command:
            self.skipTest("no network namespace can be made here")
        first, rights, question, metric = self.outputs(command)
        _, log, _, _, answer, _, value = blocks()
        for line in log.splitlines():
            self.assertIn(shape(line), list(map(shape, first.splitlines())))
        self.assertIn("kind: ClusterRole\n", rights)
        self.assertIn("list pods in all namespaces: allowed", rights)
        for line, shown in zip(question.splitlines(), answer.splitlines(), strict=True):
            self.assertTrue(line.startswith(shown.rstrip("…")), line)
        self.assertEqual(metric, value)


class Watching(Rules):
    def setUp(self):
        at = next(at for at, block in enumerate(blocks()) if "grep ^k8s_sd" in block)
        (self.mistake, self.question), self.answer = blocks()[at].splitlines(), blocks()[at + 1]

    def test_a_mistake_in_the_file_raises_the_alert_of_the_page(self):
        alert = re.search(r"\[(\w+)\]\(alerts.md#\w+\) fires", PAGE.read_text("utf-8"))[1]
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, "jobs.yml")
            config.write_text(jobs_of_page(), encoding="utf-8")
            with running("k8s-sd", "--sim", "--listen", "127.0.0.1:0", "--check-interval", "0.05",
                         "--config", config) as program:
                metrics = Metrics(program)
                program.wait_for_list("pods")
                subprocess.run(["bash", "-euc", self.mistake], cwd=folder, timeout=TIMEOUT,
                               check=True)
                self.assertRegex(program.error_line(), r"jobs\.yml:\d+: ")
                name, value = self.answer.split()
                samples = metrics.wait_for(name, float(value))
                answer = metrics.text()
                with urllib.request.urlopen(metrics.url + "/sd/pods/targets",
                                            timeout=TIMEOUT) as targets:
                    self.assertTrue(json.load(targets))  # they stay
        pattern = self.question.rpartition("grep ")[2]
        self.assertEqual(re.findall(f"{pattern}.*\n", answer, re.MULTILINE), [self.answer])
        if shutil.which("promtool"):
            self.assert_fire(samples, [alert])


if __name__ == "__main__":
    unittest.main()
