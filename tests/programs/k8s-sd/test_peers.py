"""Prometheus and vmagent get the same targets from k8s-sd as from their own discovery.

The programs come from $K8S_SD_PEERS or the path. They run in a network namespace with loopback
only, and their jobs scrape once a day, so nothing is ever scraped.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

import test_tls as tls
from harness import TIMEOUT, command, environment, file_with, run, running

try:
    import yaml
except ImportError:
    yaml = None

ROLES = ("pod", "service", "endpoints", "endpointslice", "node", "ingress")
INSIDE = "K8S_SD_TEST_NAMESPACE"

# Rules that exercise everything a list can carry.
RULES = """
  relabel_configs:
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__meta_kubernetes_namespace], regex: kube-system, action: drop}
  - {action: labelmap, regex: __meta_kubernetes_pod_label_(.+)}
  - {source_labels: [__meta_kubernetes_pod_name], regex: .*-(..).*, target_label: __tmp_x}
  - {source_labels: [__tmp_x], target_label: x}
  - {source_labels: [__meta_kubernetes_namespace], regex: shop, target_label: __metrics_path__,
     replacement: /shop/metrics}
  - {source_labels: [__meta_kubernetes_namespace], regex: payments, target_label: __scheme__,
     replacement: https}
  - {source_labels: [__meta_kubernetes_namespace], regex: monitoring, target_label: __param_name,
     replacement: a b&c}
  - {source_labels: [__meta_kubernetes_namespace], regex: monitoring,
     target_label: __scrape_timeout__, replacement: 7s}
"""
DROP_ALL = """
  relabel_configs: [{source_labels: [__address__], regex: .*, action: drop}]
"""


def program(name):
    path = os.pathsep.join(filter(None, [os.environ.get("K8S_SD_PEERS"), os.environ["PATH"]]))
    return shutil.which(name, path=path)


def is_version(path, version):
    """Distribution packages may print no version."""
    result = subprocess.run([path, "--version"], text=True, capture_output=True, check=False)
    output = (result.stdout + result.stderr).strip()
    return not output or version in output


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
        return answer.read().decode()


def native(api_server, rules):
    """Jobs that discover the cluster themselves."""
    return "".join(f"- job_name: {role}\n  kubernetes_sd_configs:\n"
                   f"  - {{role: {role}, api_server: '{api_server}'}}{rules}" for role in ROLES)


def listed(server, form, rules, refresh):
    """Jobs that read the lists of k8s-sd."""
    return "".join(f"- job_name: {role}-listed\n  http_sd_configs:\n"
                   f"  - {{url: '{server}/sd/{role}{form}'{refresh}}}{rules}" for role in ROLES)


@contextlib.contextmanager
def still_cluster():
    """The URL of a simulated cluster without changes: discovery has not begun."""
    with running("discover", "--sim", "--start-jitter", 1_000_000, "--output", "quiet") as cluster:
        yield cluster.error_line().rpartition(" ")[2]


@contextlib.contextmanager
def peer(name, config):
    """The API of a running peer."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config.yml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(config)
        address = f"127.0.0.1:{free_port()}"
        command = {
            "prometheus": ["--config.file=" + path, "--web.listen-address=" + address,
                           f"--storage.tsdb.path={folder}/data"],
            "vmagent": ["-promscrape.config=" + path, "-httpListenAddr=" + address,
                        "-remoteWrite.url=http://127.0.0.1:1", "-promscrape.httpSDCheckInterval=1s",
                        f"-remoteWrite.tmpDataPath={folder}/data",
                        "-promscrape.fileSDCheckInterval=1s",
                        "-promscrape.kubernetesSDCheckInterval=1s"]}[name]
        process = subprocess.Popen([program(name), *command], env=environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield f"http://{address}/api/v1/targets"
        finally:
            process.kill()
            process.wait()


def by_job(targets):
    """The targets of each job, as sets of labels that can be compared."""
    jobs = {}
    for job, labels in targets:
        labels = {name: value for name, value in labels.items() if name != "__meta_url"}
        jobs.setdefault(job, []).append(tuple(sorted(labels.items())))
    return {job: sorted(labels) for job, labels in jobs.items()}


def dropped_targets(url):
    data = json.loads(get(url + "?state=dropped"))["data"]
    targets = []
    for target in data["droppedTargets"] or []:
        labels = dict(target["discoveredLabels"])
        targets.append((labels.pop("job"), labels))
    return by_job(targets)


def active_targets(url):
    data = json.loads(get(url + "?state=active"))["data"]
    return by_job((target["scrapePool"], {**target["labels"], "URL": target["scrapeUrl"],
                                          "timeout": target.get("scrapeTimeout", "")})
                  for target in data["activeTargets"] or [])


class Peers(unittest.TestCase):
    def both(self, name, version, dialect, form, rules, listed_rules, targets_of):
        """The peer's targets of each role by itself, and from the lists."""
        if not program(name):
            self.skipTest(f"there is no {name}, neither installed nor in $K8S_SD_PEERS")
        if not is_version(program(name), version):
            self.skipTest(f"{program(name)} is not version {version}")
        refresh = ", refresh_interval: 1s" if name == "prometheus" else ""
        head = "global: {scrape_interval: 1d}\nscrape_configs:\n"
        with still_cluster() as api_server, tempfile.TemporaryDirectory() as folder:
            jobs = head + native(api_server, rules)
            path = os.path.join(folder, "k8s-sd.yml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(jobs)
            with running("k8s-sd", "--listen", "127.0.0.1:0", "--config", path, "--dialect",
                         dialect) as served:
                server = served.line_with("^listens at (.*)$").group(1)
                expected = {role: len([target for group in json.loads(
                    get(f"{server}/sd/{role}{form}")) for target in group["targets"]])
                    for role in ROLES}
                with peer(name, jobs + listed(server, form, listed_rules, refresh)) as url:
                    return self.settled(url, targets_of, expected)

    def settled(self, url, targets_of, expected):
        end = time.monotonic() + TIMEOUT
        found = {}
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                found = targets_of(url)
                # The peer's own discovery lists duplicates once, and the other way repeats them.
                if all(found.get(role) and found.get(role + "-listed") or not expected[role]
                       for role in ROLES):
                    time.sleep(0.5)
                    return targets_of(url)
            time.sleep(0.2)
        self.fail({job: len(targets) for job, targets in found.items()})

    def compare(self, found):
        for role in ROLES:
            with self.subTest(role=role):
                own = set(found.get(role, ()))
                from_list = set(found.get(role + "-listed", ()))
                self.assertTrue(own)
                # The first difference is easier to read than all.
                self.assertEqual(sorted(own - from_list)[:1], sorted(from_list - own)[:1])
                self.assertEqual(own, from_list)

    def test_prometheus_has_the_same_discovered_targets(self):
        self.compare(self.both("prometheus", "3.5.3", "prometheus", "", DROP_ALL, DROP_ALL,
                               dropped_targets))

    def test_vmagent_has_the_same_discovered_targets(self):
        self.compare(self.both("vmagent", "1.145", "victoriametrics", "", DROP_ALL, DROP_ALL,
                               dropped_targets))

    def test_prometheus_has_the_same_relabelled_targets(self):
        self.compare(self.both("prometheus", "3.5.3", "prometheus", "/targets", RULES, "\n",
                               active_targets))

    def test_vmagent_has_the_same_relabelled_targets(self):
        self.compare(self.both("vmagent", "1.145", "victoriametrics", "/targets", RULES, "\n",
                               active_targets))


@unittest.skipIf(yaml is None, "PyYAML (python3-yaml) is not installed")
class Monitors(unittest.TestCase):
    """Prometheus with the printed configuration of monitors has the targets of k8s-sd. It gets the
    discovered ones from k8s-sd: class Peers compares discovery."""

    OWNERS = ("  version: 3.5.0\n", """
  version: 3.5.0
  serviceDiscoveryRole: EndpointSlice
  podTargetLabels: [app.kubernetes.io/name]
  enforcedNamespaceLabel: tenant
  scrapeClasses:
  - {name: all, default: true, attachMetadata: {node: true},
     relabelings: [{sourceLabels: [__meta_kubernetes_node_name], targetLabel: node_name}]}
""", """
  version: 3.5.0
  ignoreNamespaceSelectors: true
  enforcedKeepDroppedTargets: 1000
""")
    MONITORS = ("shop/shop", "kube-system/coredns", "payments/api", "monitoring/node-exporter",
                "shop/storefront", "monitoring/warehouse")

    def test_prometheus_finds_the_same_targets(self):
        if not program("prometheus") or not is_version(program("prometheus"), "3.5.3"):
            self.skipTest("there is no prometheus 3.5.3, neither installed nor in $K8S_SD_PEERS")
        if not os.path.exists(command("monitors", ())[0]):
            self.skipTest("the example monitors is not built")
        selectors = "".join(f"  {kind}Selector: {{}}\n  {kind}NamespaceSelector: {{}}\n"
                            for kind in ("serviceMonitor", "podMonitor", "probe", "scrapeConfig"))
        for spec in self.OWNERS:
            owner = ("kind: Prometheus\nmetadata: {name: main, namespace: monitoring}\nspec:\n" +
                     selectors + spec)
            with self.subTest(owner=spec), still_cluster() as api_server, \
                    file_with(owner) as path, \
                    running("k8s-sd", "--listen", "127.0.0.1:0", "--api-server", api_server,
                            "--monitors-config", path) as served:
                own_url = served.line_with("^listens at (.*)$").group(1)
                configs = self.configs(api_server, path)
                self.wait_for_all(own_url, configs)
                for config in configs:
                    if config.pop("kubernetes_sd_configs", None):
                        config["http_sd_configs"] = [{
                            "url": self.list_of(own_url, config), "refresh_interval": "1s"}]
                # The operator's reloader replaces the number of the shard.
                text = json.dumps({"scrape_configs": configs}).replace("$(SHARD)", "0")
                with peer("prometheus", text) as url:
                    self.compare(own_url + "/api/v1/targets", url)

    @staticmethod
    def list_of(own_url, config):
        return f"{own_url}/sd/{urllib.parse.quote(config['job_name'], safe='')}"

    def configs(self, api_server, owner_file):
        """The printed configurations of all monitors."""
        configs = []
        for name in self.MONITORS:
            result = run("monitors", "--api-server", api_server, "--owner-file", owner_file,
                         "--print", name)
            self.assertEqual(result.returncode, 0, result.stderr)
            configs += yaml.safe_load(result.stdout)["scrape_configs"]
        for config in configs:
            config.pop("scrape_timeout", None)
            config["scrape_interval"] = "1d"
        return configs

    def wait_for_all(self, own_url, configs):
        end = time.monotonic() + TIMEOUT
        while json.loads(get(own_url + "/api/ui/monitors"))["jobs"] != len(configs):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.2)
        for config in configs:
            get(self.list_of(own_url, config))

    def compare(self, own_url, url):
        own = self.targets_of(own_url)
        end = time.monotonic() + TIMEOUT
        theirs = {"active": set(), "dropped": set()}
        while time.monotonic() < end and theirs != own:
            time.sleep(0.3)
            with contextlib.suppress(OSError):
                theirs = self.targets_of(url)
        for kind, targets in own.items():
            self.assertTrue(targets)
            self.assertEqual(sorted(targets - theirs[kind])[:1], sorted(theirs[kind] - targets)[:1])

    def targets_of(self, url):
        """Of equal active targets each program shows another one, so their discovered labels are
        not compared. Of dropped ones Prometheus shows labels of rules, too."""
        data = json.loads(get(url))["data"]
        active = {json.dumps([target[name] for name in ("scrapePool", "labels", "scrapeUrl")],
                             sort_keys=True) for target in data["activeTargets"]}
        known = ("__meta_kubernetes_", "__address__")
        dropped = {json.dumps({name: value for name, value in target["discoveredLabels"].items()
                               if name.startswith(known)}, sort_keys=True)
                   for target in data["droppedTargets"]}
        return {"active": active, "dropped": dropped}


class Secured(unittest.TestCase):
    """Lists over TLS, for clients with a certificate and a token."""

    def found_by(self, name, authorization):
        version = {"prometheus": "3.5.3", "vmagent": "1.145"}[name]
        if not program(name) or not is_version(program(name), version):
            self.skipTest(f"there is no {name} {version}, neither installed nor in $K8S_SD_PEERS")
        with tls.authority() as ca, file_with("secret-token\n", "token") as token:
            cert, key = ca.certificate("agent", usage="clientAuth")
            with tls.serving_tls(ca, "--tls-client-ca", ca.cert, "--tls-require-client-cert",
                                 "--list-token-file", token) as server:
                job = (f"scrape_configs:\n- job_name: one\n  scrape_interval: 1d\n"
                       f"  http_sd_configs:\n  - url: https://127.0.0.1:{server.port}/sd/one\n"
                       f"    {authorization.format(token)}\n"
                       f"    tls_config: {{ca_file: {ca.cert}, cert_file: {cert}, key_file: {key}}}")
                with peer(name, job) as url:
                    end = time.monotonic() + TIMEOUT
                    found = {}
                    while not found and time.monotonic() < end:
                        with contextlib.suppress(OSError):
                            found = active_targets(url)
                    return [dict(labels)["instance"] for labels in found["one"]]

    def test_prometheus_gets_in(self):
        for authorization in ("authorization: {{credentials_file: {}}}",
                              "basic_auth: {{username: any, password_file: {}}}"):
            self.assertEqual(self.found_by("prometheus", authorization), ["10.0.0.1:80"])

    def test_vmagent_gets_in(self):
        for authorization in ("bearer_token_file: {}",
                              "basic_auth: {{username: any, password_file: {}}}"):
            self.assertEqual(self.found_by("vmagent", authorization), ["10.0.0.1:80"])
class Api(unittest.TestCase):
    """k8s-sd's own /api/v1/targets, next to Prometheus'."""

    SCRAPED = {"lastError", "lastScrape", "lastScrapeDuration", "health"}

    def test_the_api_returns_what_prometheus_returns(self):
        if not program("prometheus") or not is_version(program("prometheus"), "3.5.3"):
            self.skipTest("there is no prometheus 3.5.3, neither installed nor in $K8S_SD_PEERS")
        with still_cluster() as api_server, tempfile.TemporaryDirectory() as folder:
            jobs = ("global: {scrape_interval: 1d}\nscrape_configs:\n" + native(api_server, RULES))
            path = os.path.join(folder, "k8s-sd.yml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(jobs)
            with running("k8s-sd", "--listen", "127.0.0.1:0", "--config", path) as served:
                own_url = served.line_with("^listens at (.*)$").group(1)
                for role in ROLES:
                    get(f"{own_url}/sd/{role}")  # waits until it is complete
                with peer("prometheus", jobs) as url:
                    # Among targets that relabelling makes equal, each program shows a different
                    # one.
                    self.ambiguous = {
                        job["name"] for job in json.loads(get(own_url + "/api/ui/status"))["jobs"]
                        if job["duplicate"]}
                    self.assertLess(len(self.ambiguous), len(ROLES) / 2)
                    self.compare(own_url + "/api/v1/targets", url)

    def compare(self, own_url, url):
        own = self.targets_of(own_url)
        end = time.monotonic() + TIMEOUT
        theirs = {}
        while time.monotonic() < end and theirs != own:
            time.sleep(0.3)
            with contextlib.suppress(OSError):
                theirs = self.targets_of(url)
        self.assertEqual(own["counts"], theirs["counts"])
        self.assertTrue(sum(own["counts"].values()))
        for kind in ("active", "dropped"):
            self.assertTrue(own[kind])
            self.assertEqual(sorted(own[kind] - theirs[kind])[:1],
                             sorted(theirs[kind] - own[kind])[:1])

    def targets_of(self, url):
        data = json.loads(get(url))["data"]
        for target in data["activeTargets"]:
            if target["scrapePool"] in self.ambiguous:
                del target["discoveredLabels"]
        active = {json.dumps({name: value for name, value in target.items()
                              if name not in self.SCRAPED}, sort_keys=True)
                  for target in data["activeTargets"]}
        dropped = {json.dumps(target, sort_keys=True) for target in data["droppedTargets"]}
        return {"active": active, "dropped": dropped, "counts": data["droppedTargetCounts"]}


def enter_namespace():
    """Runs this file again in a namespace with only loopback. Returns only inside such a namespace.
    """
    if os.environ.get(INSIDE):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    if subprocess.run(["unshare", "--net", "ip", "link", "set", "lo", "up"], check=False,
                      capture_output=True).returncode != 0:
        print("skipped: no network namespace can be made here")
        sys.exit(0)
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])


if __name__ == "__main__":
    enter_namespace()
    unittest.main()
