"""Messages and exit status of discover when it fails."""

import contextlib
import json
import os
import socket
import unittest

from harness import JsonHandler, file_with, run, server_with


@contextlib.contextmanager
def closed_port():
    """A port without a listener: it is bound, so no other process gets it."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield reserved.getsockname()[1]


@contextlib.contextmanager
def silent_port():
    """Accepts connections, never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def answering_server(status, content_type, body, seen=None):
    """Answers every request with this response. Appends the request headers to `seen`."""
    class Handler(JsonHandler):
        def do_GET(self):
            if seen is not None:
                seen.append(self.headers)
            self.reply_bytes(status, body, content_type)

        do_CONNECT = do_GET

    return server_with(Handler)


def refusing_server(status, reason):
    """Answers every request with an API server's refusal."""
    body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status,
                       "reason": reason, "message": "pods: no"}).encode()
    return answering_server(status, "application/json", body)


KUBECONFIG_WITH_PLUGIN = """
clusters: [{name: k, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: /none}}}]
contexts: [{name: c, context: {cluster: k, user: u}}]
current-context: c
"""


class Requests(unittest.TestCase):
    def test_the_options_of_credentials_reach_the_server(self):
        seen = []
        with file_with("sesame\n", "password") as path, \
                answering_server(403, "text/plain", b"no", seen) as url:
            run("discover", "--once", "--api-server", url, "--header",
                "X-Tenant: one: two", "--header=X-Empty:", "--as", "jane", "--as-group", "g",
                "--as-group", "h", "--as-uid", "7", "--username", "u", "--password-file", path)
        self.assertEqual(seen[0]["X-Tenant"], "one: two")
        self.assertEqual(seen[0]["X-Empty"], "")
        self.assertEqual(seen[0]["Impersonate-User"], "jane")
        self.assertEqual(seen[0].get_all("Impersonate-Group"), ["g", "h"])
        self.assertEqual(seen[0]["Impersonate-Uid"], "7")
        self.assertEqual(seen[0]["Authorization"], "Basic dTpzZXNhbWU=")


class NotSynced(unittest.TestCase):
    def unsynced(self, port, *arguments):
        result = run("discover", "--once", "--timeout", "2", "--output", "quiet",
                     "--api-server", f"http://127.0.0.1:{port}", *arguments)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertIn("discover: not synced after 2 s:\n", result.stderr)
        return result.stderr

    def test_an_unreachable_server_is_named_with_the_reason(self):
        with closed_port() as port:
            errors = self.unsynced(port)
        self.assertRegex(errors, rf"\n  pods: .*127\.0\.0\.1:{port}.* connection refused")
        self.assertRegex(errors, r"(?m)^\d\d:\d\d:\d\d\.\d{3}  k8s_sd: warning: ")

    def test_times_can_be_left_out(self):
        with closed_port() as port:
            self.assertRegex(self.unsynced(port, "--no-log-times"), "(?m)^k8s_sd: warning: ")

    def test_the_log_can_be_turned_off(self):
        with closed_port() as port:
            self.assertNotIn("warning", self.unsynced(port, "--log-level", "off"))

    def test_every_watch_is_named(self):
        with closed_port() as port:
            errors = self.unsynced(port, "--role", "endpoints", "--namespace", "a",
                                   "--namespace", "b")
        for kind in ("pods", "services", "endpoints"):
            for namespace in "ab":
                self.assertIn(f"\n  {kind} in namespace {namespace}: ", errors)

    def test_a_silent_server_is_still_listed_from(self):
        with silent_port() as port:
            self.assertIn("\n  pods: still listing, 0 objects so far (waits for list)\n",
                          self.unsynced(port))

    def test_once_ends_where_waiting_does_not_help(self):
        for status, reason in ((403, "Forbidden"), (401, "Unauthorized"), (400, "BadRequest")):
            with self.subTest(status), refusing_server(status, reason) as url:
                result = run("discover", "--once", "--api-server", url)
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertIn("discover: not synced and waiting does not help:\n", result.stderr)
                self.assertRegex(result.stderr, f"\n  pods: .*: HTTP {status}: pods: no")

    def test_once_waits_for_the_form_that_a_gateway_lets_through(self):
        for status in (400, 403):
            class Gateway(JsonHandler):
                refused = status

                def do_GET(self):
                    if "protobuf" in self.headers["Accept"] or "watch" in self.path:
                        return self.reply_bytes(self.refused, b"blocked", "text/plain")
                    return self.reply(200, {"kind": "PodList", "apiVersion": "v1", "items": [],
                                            "metadata": {"resourceVersion": "1"}})

            with self.subTest(status), server_with(Gateway) as url:
                result = run("discover", "--once", "--output", "quiet", "--api-server", url)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(result.stdout, "synced targets=0 groups=0 jobs=1\n")

    def test_once_has_a_limit_for_credentials_and_proxies(self):
        with file_with(KUBECONFIG_WITH_PLUGIN, "kc") as path:
            result = run("discover", "--once", "--kubeconfig", path)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("discover: not synced and waiting does not help:\n", result.stderr)
        with answering_server(407, "text/plain", b"no") as url:
            result = run("discover", "--once", "--api-server", "https://127.0.0.1:1",
                         "--proxy", url)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertRegex(result.stderr, "\n  pods: .*407")

    def test_without_once_a_missing_permission_may_still_come(self):
        with refusing_server(403, "Forbidden") as url:
            result = run("discover", "--timeout", "3", "--api-server", url)
            self.assertIn("discover: not synced after 3 s:\n", result.stderr)

    def test_a_web_page_is_not_quoted(self):
        page = "<!DOCTYPE html><html><body>" + "Not found here. " * 100 + "</body></html>"
        with answering_server(404, "text/html", page.encode()) as url:
            result = run("discover", "--once", "--api-server", url)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertRegex(result.stderr,
                             r"\n  pods: .*: HTTP 404: the answer is a web page \(HTML\); ")
            self.assertNotIn("Not found here", result.stderr)

    def test_without_once_the_timeout_is_the_same(self):
        with closed_port() as port:
            result = run("discover", "--timeout", "0.5", "--api-server", f"http://127.0.0.1:{port}")
        self.assertEqual(result.returncode, 3)
        self.assertIn("not synced after 0.5 s", result.stderr)


class Unusable(unittest.TestCase):
    def refused(self, *arguments):
        result = run("discover", "--once", "--timeout", "5", *arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, "")
        return result.stderr

    def test_options(self):
        server = ["--api-server", "http://127.0.0.1:1"]
        cases = [
            (["--bogus"], "unknown option --bogus; --help"),
            (["-x"], "unknown option -x"),
            (["cluster"], "unexpected argument cluster"),
            (["--role"], "--role needs a value"),
            (["--namespace"], "--namespace needs a value"),
            (["--api-server="], "--api-server needs a value"),
            (["--sim=yes"], "--sim takes no value"),
            (["--role", "pods"], "--role: "),
            (["--dialect", "vm"], '--dialect: "vm" is not allowed; allowed are prometheus, '),
            (["--dialect", "prometheus@3.16"], '--dialect: "prometheus@3.16" is not allowed; the '
             "versions of prometheus are 3.5, 3.6, 3.7, 3.8, 3.9, 3.10, 3.11, 3.12, 3.13, 3.14, "
             "3.15"),
            (["--dialect", "prometheus@"], '--dialect: "prometheus@" is not allowed; the versions'),
            (["--dialect", "vmagent@1.145"], '--dialect: "vmagent@1.145" is not allowed; only '
             "prometheus has versions, and the dialect of vmagent is victoriametrics"),
            (["--dialect", "victoriametrics@3.5"], '--dialect: "victoriametrics@3.5" is not '
             "allowed; only prometheus has versions"),
            (["--output", "xml"], "--output: "),
            (["--log-level", "loud"], "--log-level: "),
            (["--jobs", "0"], "--jobs: "),
            (["--jobs", "-1"], "--jobs: "),
            (["--jobs", "2x"], "--jobs: "),
            (["--timeout", "nan"], "--timeout: "),
            (["--timeout", "soon"], "--timeout: "),
            (["--timeout", "0"], "--timeout: "),
            (["--attach", "node,pods"], '--attach: "pods" is not allowed'),
            (["--selector", "pod"], "--selector: "),
            (["--selector", "pod:label"], "--selector: "),
            (["--selector", "pod:name:x"], "--selector: "),
            (["--selector", "pot:label:a=b"], "--selector: "),
            (["--selector", "pod:label:a=b,="], "--selector: "),
            (["--sim", "--selector", "service:label:a=b"], "--selector: "),
            (["--sim", "--namespace", "Shop!"], "--namespace: "),
            (["--sim", "--own-namespace"], "--own-namespace: "),
            (["--api-server", "ftp://127.0.0.1"], "--api-server: "),
            (["--token-file", "/nonexistent"], "--token-file: cannot read the file /nonexistent"),
            (["--ca-file", "/nonexistent"], "--ca-file: "),
            (["--kubeconfig", "/nonexistent"],
             "--kubeconfig: kubeconfig_file: cannot read /nonexistent"),
            ([*server, "--as-group", "g"], "--as: "),
            ([*server, "--header", "sesame"], "--header: the form is NAME: VALUE"),
            ([*server, "--header", "Host: x"], "--header: "),
            ([*server, "--no-proxy", "a"], "--no-proxy: "),
            ([*server, "--tls-min-version", "1.3", "--tls-max-version", "1.2"],
             "--tls-min-version: "),
            (["--sim", "--explain", "pod/a/b", "--check"], "--explain: "),
            (["--sim", "--explain", "pod/a/b", "--print-rbac"], "--explain: "),
            (["--sim", "--service-account", "a/b"], "--service-account: needs --print-rbac"),
            (["--sim", "--api-server", "http://127.0.0.1:1"], "--sim: "),
            (["--sd-config", "/nonexistent"], "/nonexistent"),
        ]
        for arguments, message in cases:
            with self.subTest(arguments):
                self.assertIn("discover: ", self.refused(*arguments))
                self.assertIn(message, self.refused(*arguments))

    def test_only_roles_of_the_dialect_are_suggested(self):
        self.assertIn("(did you mean httproute?)", self.refused("--role", "httprout"))
        for role in ("httprout", "httproute"):
            for arguments in (["--role", role], ["--selector", role + ":label:a=b"]):
                with self.subTest(arguments):
                    self.assertNotIn("did you mean httproute",
                                     self.refused("--dialect", "victoriametrics", *arguments))
        self.assertIn("(did you mean ingress?)",
                      self.refused("--dialect", "victoriametrics", "--role", "ingr"))

    def test_targets_needs_once(self):
        result = run("discover", "--sim", "--output", "targets")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--output: targets needs --once", result.stderr)

    def test_without_a_server_everything_that_was_tried_is_listed(self):
        errors = self.refused()
        for place in ("$KUBECONFIG", "in-cluster", ".kube/config"):
            self.assertIn(place, errors)

    def test_an_unknown_yaml_key_is_named_with_its_line(self):
        with file_with("role: pod\nnamespaces:\n  namez: [shop]\n") as path:
            errors = self.refused("--sim", "--sd-config", path)
            self.assertIn(os.path.basename(path) + ":3: ", errors)
            self.assertIn("namez", errors)

    def test_a_bad_yaml_value_is_named_with_its_line(self):
        with file_with("role: pod\nselectors:\n- role: pod\n  label: '=='\n") as path:
            errors = self.refused("--sim", "--sd-config", path)
            self.assertIn("sd.yaml:4: selectors[0].label", errors)

    def test_a_kubeconfig_of_the_file_is_reported_with_the_file(self):
        with file_with("role: pod\nkubeconfig_file: none\n") as path:
            errors = self.refused("--sd-config", path)
            self.assertIn(f"{path}: kubeconfig_file: cannot read ", errors)
            self.assertNotIn("--kubeconfig", errors)

    def test_a_server_in_the_file_is_not_replaced_by_the_simulation(self):
        with file_with("role: pod\napi_server: http://127.0.0.1:1\n") as path:
            self.assertIn("--sim: ", self.refused("--sim", "--sd-config", path))


class Informing(unittest.TestCase):
    def test_help_and_version_come_on_standard_output(self):
        for arguments in (["--help"], ["--role", "pod", "--help"]):
            result = run("discover", *arguments)
            self.assertEqual(result.returncode, 0)
            for option in ("--sim", "--sd-config", "--selector", "--attach", "--timeout"):
                self.assertIn(option, result.stdout)
        result = run("discover", "--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^discover \(k8s_sd\) \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
