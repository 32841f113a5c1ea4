"""The instructions in the documents of k8s-sd are correct: options and paths exist, agents accept
the configurations, and the programs run."""

import contextlib
import http.client
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import browser
import test_tls as tls
from harness import TIMEOUT, environment, file_with, run, running
from manifests import options_in
from test_push import MANY, configure
from test_serving import serving, serving_file

try:
    import yaml
except ImportError:
    yaml = None
try:
    import tomllib
except ImportError:
    tomllib = None

ROOT = pathlib.Path(__file__).parents[3]
CONSUMERS = ROOT / "docs/programs/k8s-sd/consumers.md"
DOCUMENTS = [ROOT / "docs/programs/k8s-sd.md", *sorted(ROOT.glob("docs/programs/k8s-sd/*.md")),
             ROOT / "examples/manifests/k8s-sd/README.md"]
PAGE = ROOT / "src/programs/k8s-sd/page"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SERVICE = "https://k8s-sd.monitoring.svc:8080"
# The value that each agent substitutes for its variables.
VARIABLES = {"$(POD_NAME)": "agent-1", "%{POD_NAME}": "agent-1", "${env:POD_NAME}": "agent-1",
             "${POD_NAME}": "agent-1", "$(SHARD)": "1", "${K8S_SD_TOKEN}": "secret"}
# Prefixes of k8s-sd's paths. Other paths in the documents are files.
OURS = re.compile(r"/(sd|v1|api|jobs|scrape_configs|livez|readyz|metrics|ui|-)\b")
# The keys of the operators' types: HTTPSDConfig of monitoring.coreos.com/v1alpha1 and of
# operator.victoriametrics.com/v1beta1.
OPERATOR_KEYS = {"ScrapeConfig": {"url", "refreshInterval", "authorization", "tlsConfig"},
                 "VMScrapeConfig": {"url", "authorization", "tlsConfig"}}
# Keys of vmagent's http_sd_configs; vmagent refuses any other key.
VMAGENT_KEYS = {"url", "authorization", "tls_config"}


def text_of(path):
    return path.read_text(encoding="utf-8")


def blocks(path, language):
    return [text for name, text in BLOCK.findall(text_of(path)) if name == language]


def section(title):
    """The part of consumers.md with this heading."""
    return text_of(CONSUMERS).split(f"\n## {title}\n")[1].split("\n## ")[0]


def section_blocks(title, language):
    return [text for name, text in BLOCK.findall(section(title)) if name == language]


def with_values(text):
    for name, value in VARIABLES.items():
        text = text.replace(name, value)
    return text


def commands(path):
    """Command lines of k8s-sd in blocks and in the text, each as a list of words."""
    text = text_of(path)
    lines = [line for _, block in BLOCK.findall(text)
             for line in re.sub(r" *\\\n\s*", " ", block).splitlines()]
    lines += re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))
    for line in lines:
        words = line.removeprefix("$ ").split("#")[0].split()
        if words and words[0] == "k8s-sd":
            yield words[1:]


def urls(path):
    """URLs of k8s-sd, with values in place of variables."""
    text = with_values(text_of(path))
    hosts = r"https?://(?:k8s-sd|k8s-sd\.monitoring\.svc|127\.0\.0\.1|localhost):8080"
    for match in re.finditer(rf"'{hosts}(/[^']*)'|{hosts}(/[^\s'\"`<>)\\]*)", text):
        url = match[1] or match[2]
        # A function of the agent supplies the rest.
        url = re.sub(r"(member|node)=$", r"\1=agent-1", url)
        if "…" not in url:
            yield url
    for parameters in re.findall(r"`(\?[a-z]+=[^`…]*)`", text):
        yield "/sd/pods/targets" + parameters


class Options(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve = set(options_in(run("k8s-sd", "--help").stdout))
        cls.follow = set(options_in(run("k8s-sd", "follow", "--help").stdout))

    def test_every_option_of_a_command_is_there(self):
        seen = 0
        for path in DOCUMENTS:
            for words in commands(path):
                known = self.follow if words[:1] == ["follow"] else self.serve
                for word in words:
                    if word.startswith("--") and word != "--help":
                        seen += 1
                        self.assertIn(word.split("=")[0], known, f"{path.name}: {words}")
        self.assertGreater(seen, 20)

    def test_every_option_in_the_text_is_there(self):
        for path in DOCUMENTS:
            text = BLOCK.sub("", text_of(path))
            for option in re.findall(r"`(--[a-z][a-z-]*)", text):
                self.assertIn(option, self.serve | self.follow, path.name)

    def test_the_container_file_names_options_that_are_there(self):
        text = text_of(ROOT / "src/programs/k8s-sd/Containerfile")
        comments = " ".join(line for line in text.splitlines() if line.startswith("#"))
        for option in re.findall(r"(?<!\S)(--[a-z-]+)", comments):
            self.assertIn(option, self.serve)


class Paths(unittest.TestCase):
    def test_every_url_is_answered(self):
        with serving("--sim", "--collectors", 3, "--collector-prefix",
                     "otel-collector-") as server:
            seen = 0
            for path in DOCUMENTS:
                for url in urls(path):
                    seen += 1
                    with self.subTest(document=path.name, url=url):
                        self.assert_is_answered(server, url)
            self.assertGreater(seen, 30)

    def assert_is_answered(self, server, url):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
        with contextlib.closing(connection):
            connection.request("GET", urllib.parse.quote(url, safe="/?&=%:,.~*+!()[]|-_"))
            answer = connection.getresponse()
            if answer.status == 404:
                # The document marks this name as wrong, or uses a separate job.
                self.assertRegex(answer.read().decode(), "^there is no job ")
            elif answer.status == 405:
                self.assertEqual(url, "/api/ui/relabel")  # a POST
            else:
                self.assertEqual(answer.status, 200, url)

    def test_every_path_in_the_text_is_there(self):
        with serving("--sim") as server:
            known = re.findall(r"^  (?:GET|POST) (\S+)$", server.text("/none")[1], re.MULTILINE)
        patterns = [re.compile(re.sub(r"\\\{\\?\+?\w+\\\}", "[^/]+", re.escape(one)) + "$")
                    for one in known]
        seen = 0
        for path in DOCUMENTS:
            text = BLOCK.sub("", text_of(path))
            for span in re.findall(r"`(?:GET |POST )?(/[^`\s]*)`", text):
                if not OURS.match(span) or span.endswith("…"):
                    continue
                seen += 1
                asked = span.split("?")[0]
                self.assertTrue(any(pattern.match(asked) for pattern in patterns),
                                f"{path.name}: {span}")
        self.assertGreater(seen, 20)


@unittest.skipIf(yaml is None, "PyYAML (python3-yaml) is not installed")
class Configurations(unittest.TestCase):
    def jobs(self, *titles):
        """The YAML of sections in the form of a Prometheus configuration."""
        for title in titles:
            for text in section_blocks(title, "yaml"):
                document = yaml.safe_load(text)
                if "receivers" in document:
                    document = document["receivers"]["prometheus"]["config"]
                if "scrape_configs" in document:
                    with self.subTest(section=title):
                        yield title, document

    def test_yaml_is_yaml(self):
        seen = 0
        for path in DOCUMENTS:
            for text in blocks(path, "yaml"):
                seen += 1
                with self.subTest(document=path.name):
                    self.assertTrue(list(yaml.safe_load_all(text)))
        self.assertGreater(seen, 15)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_prometheus_takes_its_snippets(self):
        seen = 0
        with tempfile.TemporaryDirectory() as folder:
            for name in ("token/token", "ca/ca.crt"):
                path = pathlib.Path(folder, name)
                path.parent.mkdir()
                path.write_text("x", encoding="utf-8")
            for title, document in self.jobs("Prometheus", "A sidecar", "OpenTelemetry collector"):
                text = with_values(yaml.safe_dump(document)).replace("/etc/k8s-sd", folder)
                text = text.replace("/targets/pods.json", folder + "/token/*.json")
                with file_with(text, "prometheus.yml") as path:
                    result = subprocess.run(["promtool", "check", "config", path], text=True,
                                            capture_output=True, timeout=TIMEOUT, check=False)
                self.assertEqual(result.returncode, 0, title + result.stdout + result.stderr)
                seen += 1
        self.assertGreaterEqual(seen, 5)

    def test_vmagent_takes_its_snippets(self):
        seen = 0
        for _, document in self.jobs("vmagent"):
            for job in document["scrape_configs"]:
                for discovery in job.get("http_sd_configs", []):
                    # refresh_interval is not among them.
                    self.assertLessEqual(set(discovery), VMAGENT_KEYS)
                self.assertLessEqual(len(job.get("http_sd_configs", [])), 1)
            with file_with(yaml.safe_dump(document), "vmagent.yml") as path:
                result = run("relabel", "--config", path, "--job", "pods", "--dialect",
                             "victoriametrics", variables={"POD_NAME": "agent-1"})
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            seen += 1
        self.assertEqual(seen, 2)
        self.assertIn("-promscrape.httpSDCheckInterval=15s", section("vmagent"))

    def test_reads_its_own_snippets(self):
        for _, document in self.jobs("Prometheus", "vmagent"):
            with file_with(yaml.safe_dump(document), "p.yml") as path:
                result = run("relabel", "--config", path, "--job", "pods")
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_operators_know_the_keys(self):
        kinds = {}
        for title in ("Prometheus operator", "VictoriaMetrics operator"):
            for text in section_blocks(title, "yaml"):
                kinds.update({one["kind"]: one for one in yaml.safe_load_all(text)})
        for kind, keys in OPERATOR_KEYS.items():
            for discovery in kinds[kind]["spec"]["httpSDConfigs"]:
                self.assertEqual(set(discovery), keys)
                self.assertTrue(discovery["url"].startswith(SERVICE + "/sd/"))
        # Prometheus' own sharding must not drop targets assigned by k8s-sd.
        self.assertIn({"targetLabel": "__tmp_disable_sharding", "replacement": "true"},
                      kinds["ScrapeConfig"]["spec"]["relabelings"])

    @unittest.skipIf(tomllib is None, "Python before 3.11 reads no TOML")
    def test_toml_is_toml(self):
        for text in section_blocks("Telegraf", "toml"):
            (plugin,) = tomllib.loads(text)["inputs"]["prometheus"]
            self.assertIn("form=urls", plugin["http_service_discovery"]["url"])

    def test_credentials_are_where_the_pod_of_an_agent_has_them(self):
        (text,) = section_blocks("The pod of an agent", "yaml")
        pod = yaml.safe_load(text)
        folders = {mount["mountPath"] for mount in pod["spec"]["containers"][0]["volumeMounts"]}
        self.assertEqual(folders, {"/etc/k8s-sd/ca", "/etc/k8s-sd/token"})
        named = set(re.findall(r"/etc/k8s-sd/[a-z]+/[a-z.]+", text_of(CONSUMERS)))
        # Only agents with client certificates obtain those from elsewhere.
        self.assertEqual(named, {"/etc/k8s-sd/ca/ca.crt", "/etc/k8s-sd/token/token",
                                 "/etc/k8s-sd/client/tls.crt", "/etc/k8s-sd/client/tls.key"})


@contextlib.contextmanager
def safe_server(folder, port=0, **files):
    """The simulated cluster over TLS, for clients with the token."""
    with running("k8s-sd", "--sim", "--listen", f"127.0.0.1:{port}", "--tls-cert", files["cert"],
                 "--tls-key", files["key"], "--list-token-file",
                 os.path.join(folder, "token")) as program:
        yield tls.Server(program)


class Lines:
    """Lines of a pipe, as they arrive."""

    def __init__(self, pipe):
        self.lines = queue.Queue()
        threading.Thread(target=lambda: [self.lines.put(line) for line in pipe],
                         daemon=True).start()

    def line_with(self, pattern):
        while True:
            line = self.lines.get(timeout=TIMEOUT)
            if re.search(pattern, line):
                return line


@contextlib.contextmanager
def started(*command, folder=None, **variables):
    """A program and its child processes."""
    with subprocess.Popen(command, text=True, env={**environment(), **variables}, cwd=folder,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as program:
        try:
            yield Lines(program.stdout), Lines(program.stderr)
        finally:
            os.killpg(program.pid, signal.SIGKILL)


class Programs(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        authority = tls.Authority(self.folder, "ca")
        self.ca = authority.cert
        self.cert, self.key = authority.certificate("server")
        self.write("token", "a long secret\n")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def server(self, port=0):
        return safe_server(self.folder, port, cert=self.cert, key=self.key)

    def test_the_program_in_python_follows_a_job_and_comes_back(self):
        (text,) = section_blocks("Your program", "python")
        script = self.write("follow.py", text)
        with contextlib.ExitStack() as stack:
            with self.server() as server:
                port = server.port
                url = f"https://127.0.0.1:{port}/v1/watch?job=pods"
                out, errors = stack.enter_context(started(
                    sys.executable, "-u", script, url, K8S_SD_CA=self.ca,
                    K8S_SD_TOKEN_FILE=os.path.join(self.folder, "token")))
                self.assertRegex(out.line_with("targets"), r"^full [1-9]\d* targets$")
                out.line_with(r"^diff [1-9]\d* targets$")
            errors.line_with("the targets stay as they are")
            with self.server(port):
                # The client sends its state, and receives the differences.
                out.line_with(r"^(full|diff|heartbeat) [1-9]\d* targets$")

    def test_the_program_in_python_adds_and_removes(self):
        (text,) = section_blocks("Your program", "python")
        said = 'print(event["type"], len(targets), "targets", flush=True)'
        self.assertIn(said, text)
        script = self.write("follow.py", text.replace(
            said, 'print(event["type"], sorted(address for address, _ in targets), flush=True)'))
        with serving_file(MANY) as (server, path), started(
                sys.executable, "-u", script,
                f"http://127.0.0.1:{server.port}/v1/watch?job=one") as (out, _):
            self.assertEqual(out.lines.get(timeout=TIMEOUT),
                             "full ['10.0.0.1:80', '10.0.0.2:80', '10.0.1.1:80']\n")
            configure(server, path, MANY.replace("10.0.0.2", "10.0.0.3"))
            self.assertEqual(out.line_with("^(full|diff)"),
                             "diff ['10.0.0.1:80', '10.0.0.3:80', '10.0.1.1:80']\n")

    @unittest.skipUnless(shutil.which("curl"), "curl is not installed")
    def test_the_script_waits_for_lists(self):
        (text,) = [block for block in section_blocks("Your program", "sh") if "Prefer" in block]
        with self.server() as server:
            text = text.replace(SERVICE, f"https://127.0.0.1:{server.port}")
            text = text.replace("/etc/k8s-sd/ca/ca.crt", self.ca)
            with started("bash", self.write("follow.sh", text), folder=self.folder):
                seen, end = set(), time.monotonic() + TIMEOUT
                while len(seen) < 2:
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.05)
                    with contextlib.suppress(FileNotFoundError):
                        seen.add(pathlib.Path(self.folder, "list.json").read_bytes())
                for body in seen:
                    self.assertTrue(json.loads(body))

    @unittest.skipUnless(browser.PROGRAM, browser.WHY_NOT)
    def test_the_page_follows_a_job(self):
        (text,) = section_blocks("Your program", "js")
        with serving("--sim") as server, browser.browser() as page:
            page.open(f"http://127.0.0.1:{server.port}/metrics")
            page.js(text + """
                let seen_version = 0;
                const note = ({ data }) => { seen_version = JSON.parse(data).version; };
                for (const type of ["full", "diff"]) stream.addEventListener(type, note);
                0""")
            page.wait("targets.size > 0")
            size = len(server.targets("/sd/pods/targets"))
            self.assertGreater(size, 0)
            page.wait("seen_version !== 0")
            first = page.js("seen_version")
            page.wait(f"seen_version !== {json.dumps(first)}")
            end = time.monotonic() + TIMEOUT
            while True:
                tag = server.ask("/sd/pods/targets")[1]["ETag"].strip('"')
                count, version = page.js("[targets.size, seen_version]")
                if version == tag:
                    break
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
            self.assertEqual(count, len(server.targets("/sd/pods/targets")))


STATIC = json.dumps({"scrape_configs": [{"job_name": "serviceMonitor/shop/a b (c)*/0",
                                         "static_configs": [{"targets": ["10.0.0.1:80"]}]}]})


@unittest.skipUnless(browser.PROGRAM, browser.WHY_NOT)
@unittest.skipIf(yaml is None, "PyYAML (python3-yaml) is not installed")
class SnippetsOfThePage(unittest.TestCase):
    """They agree with consumers.md. The page comes from the sources."""

    def snippet(self, page, server, **query):
        page.open(f"http://127.0.0.1:{server.port}/?" +
                  urllib.parse.urlencode({"view": "snippets", **query}))
        page.wait("byId('snippet')")
        return page.js("byId('snippet').textContent")

    def test_agents_name_themselves_as_the_document_says(self):
        rows = dict(re.findall(r"^\| \[([^\]]*)\].*\| ([^|]*) \|$", text_of(CONSUMERS),
                               re.MULTILINE))
        parts = {"sidecar": rows["Prometheus, sidecar"], "operator": rows["Prometheus operator"],
                 "vmagent": rows["vmagent"], "telegraf": rows["Telegraf"]}
        with serving("--sim", "--page-dir", PAGE) as server, browser.browser() as page:
            for agent, part in parts.items():
                with self.subTest(agent=agent):
                    text = self.snippet(page, server, agent=agent, shards=3, job="pods")
                    self.assertIn("shards=3&" + part.strip("`"), text)
            text = self.snippet(page, server, agent="alloy", shards=3, job="pods")
            self.assertIn('shards=3&member=" + sys.env("POD_NAME")\n', text)
            text = self.snippet(page, server, agent="otel", shards=3, job="pods")
            self.assertIn("shards=3&member=${env:POD_NAME}", text)
            text = self.snippet(page, server, agent="prometheus", shards=3, job="pods")
            self.assertIn("shards=3&shard=0", text)

    def test_every_snippet_can_be_used(self):
        with serving_file(STATIC, "--page-dir", PAGE) as (server, _), browser.browser() as page:
            self.snippet(page, server)
            agents = page.js("[...document.querySelector('select').options].map(o => o.value)")
            self.assertGreaterEqual(len(agents), 8)
            for agent in agents:
                for form in ("targets", "discovered"):
                    for shards in (1, 2):
                        with self.subTest(agent=agent, form=form, shards=shards):
                            text = self.snippet(page, server, agent=agent, list=form,
                                                shards=shards)
                            self.assert_is_usable(server, agent, with_values(text))
            self.assertEqual(page.complaints, [])

    def assert_is_usable(self, server, agent, text):
        if agent == "telegraf":
            if tomllib:
                self.assertTrue(tomllib.loads(text)["inputs"])
        elif agent == "alloy":
            self.assertEqual(text.count("{"), text.count("}"))
        else:
            document = yaml.safe_load(text)
            if agent == "operator":
                (discovery,) = document["spec"]["httpSDConfigs"]
                self.assertLessEqual(set(discovery), OPERATOR_KEYS["ScrapeConfig"])
            elif agent == "vmagent":
                (discovery,) = document["scrape_configs"][0]["http_sd_configs"]
                self.assertLessEqual(set(discovery), VMAGENT_KEYS)
            elif agent == "sidecar":
                self.assert_sidecar_fits(document, text)
        for url in re.findall(r'"(http://[^"]*/sd/[^"]*)"', text):
            self.assertEqual(server.ask(url[url.index("/sd/"):] +
                                        ("agent-1" if url.endswith("member=") else ""))[0], 200)

    def assert_sidecar_fits(self, document, text):
        """The sidecar writes the file that Prometheus reads."""
        arguments = yaml.safe_load(re.search(r"args: (\[.*\])", text)[1])
        (job,) = document["scrape_configs"]
        ((file,),) = [one["files"] for one in job["file_sd_configs"]]
        with tempfile.TemporaryDirectory() as folder:
            arguments[arguments.index("/targets")] = folder
            with running("k8s-sd", *arguments) as follower:
                self.assertEqual(file, "/targets/" + follower.line_with(r" in (\S+)$").group(1))


if __name__ == "__main__":
    unittest.main()
