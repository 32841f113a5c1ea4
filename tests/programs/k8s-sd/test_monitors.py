"""k8s-sd --monitors serves the jobs of monitors: of the simulated shop, without a file."""

import json
import time
import unittest

from harness import TIMEOUT, file_with, run
from test_serving import serving

SHOP = "serviceMonitor/shop/shop/0"
API = "serviceMonitor/payments/api/0"
NODES = "podMonitor/monitoring/node-exporter/0"
LEDGER = "serviceMonitor/payments/ledger/0"
CR = """
prometheus_cr:
  enabled: true
  allow_namespaces: [payments, monitoring]
  service_monitor_selector: {matchlabels: {release: monitoring}}
  probe_selector: {}
"""
CR_SETTINGS = """
  scrape_interval: 17s
  scrape_protocols: [PrometheusText0.0.4]
  scrape_classes:
  - name: team
    default: true
    relabelings: [{action: replace, targetLabel: team, replacement: x}]
"""
CR_FILES = """
  deny_fs_access_through_sms: true
  scrape_classes: [{name: files, default: true, tlsConfig: {caFile: /ca}}]
"""
DROPPING = """
kind: Prometheus
metadata: {name: main, namespace: shop}
spec:
  serviceMonitorSelector: {}
  serviceDiscoveryRole: EndpointSlice
  scrapeClasses:
  - {name: none, default: true, relabelings: [{action: drop, sourceLabels: [namespace], regex: .*}]}
"""


def until(found):
    """The result of the function once it is true; the monitors are read after the start."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        result = found()
        if result:
            return result
        time.sleep(0.05)
    raise AssertionError("in vain for a minute")


class Serving(unittest.TestCase):
    def test_monitors_of_the_shop_are_jobs(self):
        with serving("--sim", "--monitors", "--collectors", "1") as server:
            states = until(lambda: self.decided(server))
            ledger = states["ServiceMonitor payments/ledger"]
            self.assertIn("ledger-token", ledger["reason"])
            self.assertTrue(ledger["remedy"])
            self.assertGreater(len(until(lambda: self.same_pages(server))), 2)
            for wrong in ("limit=0", "limit=1001", "after=shop%2Fweb", "after=Pod%2Fshop%2Fweb"):
                self.assertEqual(server.ask(f"/api/ui/monitors?{wrong}")[0], 400)
            jobs = until(lambda: self.configs(server, SHOP, NODES, API))
            self.assertNotIn(LEDGER, jobs)
            self.assertEqual(jobs[API]["basic_auth"]["password"], "<secret>")
            status, _, body = server.ask(f"/sd/{SHOP.replace('/', '%2F')}")
            self.assertEqual(status, 200)
            self.assertTrue(json.loads(body))
            status, _, body = server.ask(f"/sd/{LEDGER.replace('/', '%2F')}")
            self.assertEqual(status, 404)
            self.assertIn(b"ServiceMonitor payments/ledger is refused", body)
            self.assertIn(b"ledger-token", server.ask("/readyz")[2])
            self.assertIn(b'k8s_sd_monitors{kind="ServiceMonitor",state="refused"} 1',
                          server.ask("/metrics")[2])
            self.assertIn(b"payments/ledger is refused", server.ask("/api/ui/health")[2])

    def test_monitors_beyond_the_room_name_the_option(self):
        with serving("--sim", "--monitors", "--monitors-max-jobs", "1") as server:
            until(lambda: b"--monitors-max-jobs" in server.ask("/readyz")[2])
            until(lambda: self.with_jobs(server, 1))

    def test_the_file_of_a_target_allocator_says_which(self):
        with file_with(CR) as path:
            with serving("--sim", "--monitors-config", path, "--collectors", "1") as server:
                until(lambda: {m["name"] for m in self.known(server)["monitors"]}
                      == {"api", "ledger"})

    def test_the_file_of_a_target_allocator_says_how(self):
        with file_with(CR + CR_SETTINGS) as path:
            with serving("--sim", "--monitors-config", path, "--collectors", "1") as server:
                job = until(lambda: self.configs(server, API))[API]
                self.assertEqual(job["scrape_interval"], "17s")
                self.assertEqual(job["scrape_protocols"], ["PrometheusText0.0.4"])
                self.assertEqual([rule["replacement"] for rule in job["relabel_configs"]
                                  if rule.get("target_label") == "team"], ["x"])
        with file_with(CR + CR_FILES) as path:
            with serving("--sim", "--monitors-config", path, "--collectors", "1") as server:
                reason = until(lambda: self.reason(server, "api"))
                self.assertIn("deny_fs_access_through_sms", reason)

    def test_the_file_of_a_target_allocator_may_turn_monitors_off(self):
        with file_with(CR.replace("enabled: true", "enabled: false")) as path, \
                file_with("scrape_configs: []\n") as jobs:
            with serving("--sim", "--monitors-config", path, "--config", jobs) as server:
                self.assertIs(json.loads(server.ask("/api/ui/monitors")[2])["enabled"], False)

    def test_an_object_of_the_cluster_says_which(self):
        with serving("--sim", "--monitors-owner", "monitoring/main") as server:
            monitors = until(lambda: self.with_jobs(server, 6))
            self.assertTrue(monitors["owner"]["known"])

    def test_targets_of_monitors_have_the_name_of_the_cluster(self):
        with serving("--sim", "--monitors", "--cluster", "blue", "--collectors", "1") as server:
            until(lambda: self.configs(server, SHOP))
            groups = until(lambda: json.loads(
                server.ask(f"/sd/{SHOP.replace('/', '%2F')}")[2]) or None)
            self.assertEqual({group["labels"].get("cluster") for group in groups}, {"blue"})
            health = json.loads(server.ask("/api/ui/health")[2])
            self.assertEqual({one["cluster"] for one in health["servers"]}, {"blue"})

    def test_a_job_without_targets_says_why(self):
        with serving("--sim", "--monitors", "--collectors", "1") as server:
            until(lambda: self.configs(server, SHOP))
            why = self.why(server, SHOP)
            self.assertEqual(why["reason"], "")
            self.assertTrue(why["active"])
            self.assertEqual(server.ask("/api/ui/monitor?job=none")[0], 404)
            self.assertEqual(server.ask("/api/ui/monitor")[0], 400)
        with file_with(DROPPING) as path:
            with serving("--sim", "--monitors-config", path, "--collectors", "1") as server:
                until(lambda: self.configs(server, SHOP))
                why = self.why(server, SHOP)
                self.assertEqual(why["active"], 0)
                self.assertIn("dropped, the last ones by relabel_configs[", why["reason"])
                self.assertTrue(why["remedy"])
                line = f"job {SHOP} has no targets: all of its targets are dropped".encode()
                until(lambda: line in server.ask("/readyz")[2])
                self.assertNotIn(b"has no targets", server.ask("/api/ui/health")[2])
                self.assertRegex(server.ask("/metrics")[2].decode(),
                                 r"k8s_sd_program_jobs_without_targets [1-9]")

    def test_monitors_of_victoriametrics_are_jobs(self):
        job = "serviceScrape/shop/shop/0"
        for owner in ((), ("--monitors-owner", "VMAgent/monitoring/main")):
            with serving("--sim", "--monitors", "--dialect", "victoriametrics", *owner) as server:
                monitors = until(lambda: self.with_jobs(server, 2))
                self.assertEqual({m["kind"] for m in monitors["monitors"]},
                                 {"VMServiceScrape", "VMPodScrape"})
                objects = {k["kind"]: k["objects"] for k in monitors["kinds"]}
                self.assertEqual(objects["VMServiceScrape"], 1)
                self.assertNotIn("ServiceMonitor", objects)
                for missing, kind in (("serviceScrape/shop/none/0", "VMServiceScrape"),
                                      ("probe/shop/none", "VMProbe")):
                    status, _, body = server.ask(f"/sd/{missing.replace('/', '%2F')}")
                    self.assertEqual(status, 404)
                    self.assertIn(f"{kind} shop/none".encode(), body)
                status, _, body = server.ask(f"/sd/{job.replace('/', '%2F')}")
                self.assertEqual(status, 200)
                self.assertTrue(json.loads(body))
                self.assertIn(b'k8s_sd_monitors{kind="VMPodScrape",state="accepted"} 1',
                              server.ask("/metrics")[2])

    @staticmethod
    def why(server, job):
        """The answer once the targets of the job are complete."""
        server.ask(f"/sd/{job.replace('/', '%2F')}")
        return json.loads(server.ask(f"/api/ui/monitor?job={job.replace('/', '%2F')}")[2])

    def same_pages(self, server):
        """The names of all monitors, once no more of them arrive between the pages."""
        by_one, at_once = ([(m["kind"], m["namespace"], m["name"])
                            for m in self.pages(server, limit)] for limit in (1, 1000))
        return at_once if by_one == at_once else None

    def pages(self, server, limit):
        """The monitors of all pages, in order."""
        found, after = [], ""
        while True:
            status, _, body = server.ask(f"/api/ui/monitors?limit={limit}&after={after}")
            self.assertEqual(status, 200)
            page = json.loads(body)
            self.assertLessEqual(len(page["monitors"]), limit)
            found += page["monitors"]
            if "next" not in page:
                return found
            after = page["next"].replace("/", "%2F")

    @staticmethod
    def known(server):
        """The monitors. On a busy machine more of them follow, whatever `synced` says."""
        status, _, body = server.ask("/api/ui/monitors")
        return json.loads(body) if status == 200 else {"monitors": []}

    def reason(self, server, name):
        """Why the ServiceMonitor of the name is refused, once it is."""
        return next((m["reason"] for m in self.known(server)["monitors"]
                     if m["name"] == name and m["state"] == "refused"), None)

    def with_jobs(self, server, count):
        monitors = self.known(server)
        return monitors if monitors.get("jobs") == count else None

    def decided(self, server):
        """All monitors by name, once the Secrets are known."""
        states = {f'{m["kind"]} {m["namespace"]}/{m["name"]}': m
                  for m in self.known(server)["monitors"]}
        wanted = {"ServiceMonitor shop/shop": "accepted", "ServiceMonitor payments/ledger":
                  "refused"}
        found = {name: states.get(name, {}).get("state") for name in wanted}
        return states if found == wanted else None

    @staticmethod
    def configs(server, *names):
        """The jobs, once those of the names are there."""
        status, _, body = server.ask("/scrape_configs")
        jobs = json.loads(body) if status == 200 else {}
        return jobs if all(name in jobs for name in names) else None


class Arguments(unittest.TestCase):
    def refusal(self, *arguments):
        result = run("k8s-sd", *arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        return result.stderr

    def test_mistakes_are_named(self):
        self.assertIn("NAMESPACE/NAME", self.refusal("--sim", "--monitors-owner", "main"))
        self.assertIn("1 to 10000000", self.refusal("--sim", "--monitors-max-jobs", "0"))
        self.assertIn("needs --monitors", self.refusal("--sim", "--monitors-max-jobs", "5"))
        self.assertIn("1048576 to", self.refusal("--sim", "--monitors-max-bytes", "1000"))
        with file_with("prometheus_cr: {service_monitor_selectors: {}}\n") as path:
            text = self.refusal("--monitors-config", path, "--check")
            self.assertIn("service_monitor_selectors", text)
            self.assertIn("did you mean service_monitor_selector", text)
        with file_with("prometheus_cr: {allow_namespaces: [a], deny_namespaces: [b]}\n") as path:
            text = self.refusal("--monitors-config", path, "--check")
            self.assertIn("prometheus_cr.deny_namespaces: excludes allow_namespaces", text)
        with file_with("prometheus_cr: {allow_namespaces: [A]}\n") as path:
            text = self.refusal("--monitors-config", path, "--check")
            self.assertIn("prometheus_cr.allow_namespaces: A is no name of a namespace", text)
        self.assertIn("--dialect victoriametrics", self.refusal(
            "--sim", "--monitors-owner", "VMAgent/monitoring/main"))
        self.assertIn("KIND", self.refusal("--sim", "--monitors-owner", "Other/a/b"))
        with file_with("a: b\n") as path:
            self.assertIn("prometheus_cr", self.refusal("--monitors-config", path, "--check"))
        with file_with("kind: Prometheus\nspec: {}\n") as path:
            self.assertIn("--monitors-config", self.refusal(
                "--sim", "--monitors-config", path, "--monitors-owner", "a/b"))


if __name__ == "__main__":
    unittest.main()
