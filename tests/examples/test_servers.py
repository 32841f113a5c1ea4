"""Every example program connects to a server with TLS and credentials, by the same options."""

import os
import re
import unittest

from harness import FOLDER, run
from tls_gate import connect_proxy, tls_gate

# How each program ends once it has discovered something, and its last output.
PROGRAMS = {
    "discover": (["--once", "--timeout", "20"], r"\d+ targets of \d+ objects now:"),
    "existing_app": (["--diffs", "1"], r"\d+ groups added or changed"),
    "coroutine": (["--diffs", "1"], r"(?m)^\d+ pods$"),
    "watch_url": (["--diffs", "1"], "running pods; changes from now on:"),
    "agent": (["--diffs", "3"], r"(?m)^\S+: \S+/\S+ on \S+ app="),
    "balancer": (["--diffs", "1"], r"(?m)^\+ shop/\S+: \d+\."),
    "crd_watch": (["--diffs", "1", "--resource", "apps/Deployment"], r"(?m)^\+ shop/"),
    "object_cache": (["--diffs", "1"], "(Secret|ConfigMap) shop/.*: does not exist"),
    "many_jobs": (["--steps", "1", "--interval", "0.3", "--timeout", "20"],
                  "shop, first diff: [1-9]"),
    "scraper": (["--scrapes", "1"], "(?m)^pods: start http"),
}
SCRAPE_CONFIG = "scrape_configs: [{job_name: pods, scrape_interval: 1s, scrape_timeout: 1s, " \
    "kubernetes_sd_configs: [{role: pod}]}]\n"
SHARED_OPTIONS = ("--api-server", "--kubeconfig", "--context", "--proxy", "--no-proxy",
                  "--proxy-from-environment", "--http-version", "--header", "--token-file",
                  "--username", "--password-file", "--as", "--as-group", "--as-uid", "--ca-file",
                  "--client-cert", "--client-key", "--tls-server-name", "--tls-min-version",
                  "--tls-max-version", "--insecure-skip-tls-verify")


class Servers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.programs = {name: how for name, how in PROGRAMS.items()
                        if os.path.exists(os.path.join(FOLDER, name))}

    def see_something(self, gate, options):
        for program, (arguments, pattern) in self.programs.items():
            if program == "scraper":
                arguments = [*arguments, "--config", gate.write("scrape.yaml", SCRAPE_CONFIG)]
            with self.subTest(program=program, options=options):
                result = run(program, *arguments, *options)
                self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
                self.assertRegex(result.stdout, pattern)

    def test_a_token_and_a_ca(self):
        with tls_gate() as gate:
            self.see_something(gate, ["--api-server", gate.url, "--ca-file", gate.file("ca.pem"),
                                      "--token-file", gate.file("token")])

    def test_a_client_certificate_for_a_server_of_another_name(self):
        with tls_gate("DNS:kube.test") as gate:
            self.see_something(gate, ["--api-server", gate.url, "--ca-file", gate.file("ca.pem"),
                                      "--tls-server-name", "kube.test",
                                      "--tls-min-version", "1.3",
                                      "--client-cert", gate.file("client.pem"),
                                      "--client-key", gate.file("client.key")])

    def test_any_certificate(self):
        with tls_gate("DNS:kube.test") as gate:
            self.see_something(gate, ["--api-server", gate.url, "--insecure-skip-tls-verify",
                                      "--token-file", gate.file("token")])

    def test_a_kubeconfig_with_a_context(self):
        with tls_gate() as gate:
            self.see_something(gate, ["--kubeconfig", gate.kubeconfig(), "--context", "gate"])

    def test_a_proxy(self):
        with tls_gate() as gate, connect_proxy() as proxy:
            self.see_something(gate, ["--api-server", gate.url, "--ca-file", gate.file("ca.pem"),
                                      "--token-file", gate.file("token"), "--proxy", proxy.url])
            self.assertGreaterEqual(proxy.connects, len(self.programs))

    def test_a_context_of_the_kubeconfig_that_is_found(self):
        with tls_gate() as gate:
            home = {"KUBECONFIG": gate.kubeconfig()}
            result = run("watch_url", "--diffs", "1", "--context", "gate", variables=home)
            self.assertEqual(result.returncode, 0, result.stderr)
            result = run("minimal", variables={"KUBECONFIG": "/none/config"})
            self.assertEqual(result.returncode, 2, result.stderr)

    def unusable(self, program, *options):
        result = run(program, *options)
        self.assertEqual(result.returncode, 2, result.stderr + result.stdout)
        return result.stderr

    def test_missing_files_are_reported_at_once(self):
        with tls_gate() as gate:
            for user, authority, message in (
                    ("{tokenFile: token}", "none.pem",
                     "CA certificates, .*/none.pem: No such file"),
                    ("{tokenFile: none}", "ca.pem", "the token, .*/none: No such file"),
                    ("{client-certificate: no.pem, client-key: client.key}", "ca.pem",
                     "the client certificate, .*/no.pem: No such file")):
                path = gate.kubeconfig(authority, user)
                for program in self.programs:
                    with self.subTest(program=program, message=message):
                        needed = ["--config", "/dev/null"] if program == "scraper" else []
                        self.assertRegex(self.unusable(program, *needed, "--kubeconfig", path,
                                                       "--context", "gate"), message)

    def test_files_of_options_name_the_option(self):
        for option in ("--ca-file", "--token-file", "--client-cert", "--client-key"):
            for program in self.programs:
                with self.subTest(option=option, program=program):
                    self.assertIn(f"{program}: {option}: cannot read the file /none: No such file",
                                  self.unusable(program, "--api-server", "https://127.0.0.1:1",
                                                option, "/none"))
            self.assertIn("Is a directory", self.unusable("discover", option, "/tmp"))

    def test_once_does_not_wait_for_another_certificate(self):
        with tls_gate("DNS:kube.test") as gate:
            for options, message in (([], "is not trusted: "),
                                     (["--ca-file", gate.file("ca.pem")],
                                      "kube.test, not for 127.0.0.1")):
                result = run("discover", "--once", "--api-server", gate.url, *options)
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertIn("discover: not synced and waiting does not help:", result.stderr)
                self.assertIn(message, result.stderr)

    def test_all_of_them_explain_these_options_alike(self):
        def section(program):
            text = run(program, "--help").stdout
            # Some programs have options of several clusters besides.
            text = re.sub(r"(the current context); repeatable:\n.*?--cluster-label LABEL[^\n]*",
                          r"\1", text, flags=re.DOTALL)
            return "\n\n".join(text[text.index("  --api-server URL"):].split("\n\n")[:2])
        expected = section("discover")
        for option in SHARED_OPTIONS:
            self.assertRegex(expected, f"(?m)^  {option} ")
        for program in self.programs:
            with self.subTest(program):
                self.assertEqual(section(program), expected)

    def test_object_cache_follows_other_names(self):
        with tls_gate() as gate:
            result = run("object_cache", "--api-server", gate.url,
                         "--token-file", gate.file("token"), "--ca-file", gate.file("ca.pem"),
                         "--diffs", "3", "--namespace", "payments",
                         "--secret", "one", "--other-secret", "two", "--config-map", "three")
            self.assertEqual(result.returncode, 0, result.stderr)
            for line in ("Secret payments/one: does not exist", "Secret payments/two is ",
                         "ConfigMap payments/three is "):
                self.assertIn(line, result.stdout)

    def test_many_jobs_discovers_other_namespaces(self):
        with tls_gate() as gate:
            result = run("many_jobs", "--api-server", gate.url, "--token-file", gate.file("token"),
                         "--ca-file", gate.file("ca.pem"), "--steps", "1", "--interval", "0.3",
                         "--namespace", "none-here", "--other-namespace", "shop")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, "(?m)^  shop, first diff: 0 groups .* 0 targets$")
            self.assertRegex(result.stdout, "(?m)^  all(, first diff)?: [1-9]")


if __name__ == "__main__":
    unittest.main()
