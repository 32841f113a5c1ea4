"""discover with several clusters: contexts of one kubeconfig."""

import contextlib
import json
import signal
import tempfile
import threading
import unittest

from cluster_profiles import kubeconfig as kubeconfig_of
from cluster_profiles import simulated_hub
from harness import (TIMEOUT, JsonHandler, SilentHandler, file_with, run, running, server_with,
                     simulated_cluster)


def kubeconfig(**servers):
    """A context of the name for each URL; None: one that cannot be used."""
    clusters = [f"- {{name: k-{name}, cluster: {{server: '{url or ''}'}}}}"
                for name, url in servers.items()]
    contexts = [f"- {{name: {name}, context: {{cluster: k-{name}}}}}" for name in servers]
    return "\n".join(["clusters:", *clusters, "contexts:", *contexts, ""])


@contextlib.contextmanager
def two_clusters():
    with simulated_cluster() as blue, simulated_cluster() as green:
        with file_with(kubeconfig(blue=blue, green=green), "kc") as path:
            yield path


class Contexts(unittest.TestCase):
    def targets(self, *arguments):
        result = run("discover", "--role", "node", "--once", "--output", "targets", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout), result.stderr

    def test_targets_have_the_names_of_their_clusters(self):
        with two_clusters() as path:
            both, _ = self.targets("--kubeconfig", path, "--context", "blue", "--context", "green")
            every, _ = self.targets("--kubeconfig", path, "--all-contexts", "--cluster-label",
                                    "region")
            one, _ = self.targets("--kubeconfig", path, "--context", "green")
            named, _ = self.targets("--kubeconfig", path, "--context", "green", "--cluster", "g")
        self.assertEqual({t["cluster"] for t in both}, {"blue", "green"})
        self.assertEqual({t["region"] for t in every}, {"blue", "green"})
        self.assertEqual(len(both), 2 * len(one))
        self.assertEqual({t.get("cluster") for t in one}, {None})
        self.assertEqual({t["cluster"] for t in named}, {"g"})

    def test_lines_of_json_and_text_name_the_cluster(self):
        with two_clusters() as path:
            arguments = ("--kubeconfig", path, "--all-contexts", "--role", "node", "--once")
            lines = run("discover", *arguments, "--output", "json").stdout.splitlines()
            text = run("discover", *arguments).stdout
        self.assertEqual({json.loads(line)["cluster"] for line in lines}, {"blue", "green"})
        self.assertRegex(text, r"Discovering targets of role node at blue http://\S+, green http://")
        self.assertIn("[green] ", text)

    def test_a_cluster_that_is_away_does_not_stop_the_others(self):
        with simulated_cluster() as blue:
            servers = {"away": "http://127.0.0.1:1", "blue": blue}
            with file_with(kubeconfig(**servers), "kc") as path:
                arguments = ("--kubeconfig", path, "--all-contexts", "--role", "node")
                with running("discover", *arguments, "--output", "json") as program:
                    line = json.loads(program.line())
                result = run("discover", *arguments, "--once", "--timeout", 2)
        self.assertEqual(line["cluster"], "blue")
        self.assertTrue(line["full"])
        self.assertEqual(result.returncode, 3)
        # On a loaded machine blue may be incomplete as well.
        self.assertIn("  away: nodes: ", result.stderr)

    def test_each_cluster_is_checked(self):
        with simulated_cluster() as blue:
            servers = {"away": "http://127.0.0.1:1", "blue": blue}
            with file_with(kubeconfig(**servers), "kc") as path:
                arguments = ("--check", "--kubeconfig", path, "--role", "node", "--timeout", 30)
                both = run("discover", *arguments, "--all-contexts", "--output", "json")
                one = run("discover", *arguments, "--context", "blue")
        lines = [json.loads(line) for line in both.stdout.splitlines()]
        self.assertEqual(both.returncode, 1)
        self.assertEqual({line["cluster"] for line in lines if line["result"] == "FAILED"},
                         {"away"})
        self.assertEqual(lines[-1]["cluster"], "blue")
        self.assertEqual(one.returncode, 0)
        self.assertRegex(one.stdout, "^ok ")

    def test_a_context_that_cannot_be_used_is_left_out_of_all_contexts_only(self):
        with simulated_cluster() as blue:
            with file_with(kubeconfig(blue=blue, broken=None), "kc") as path:
                targets, errors = self.targets("--kubeconfig", path, "--all-contexts")
                named = run("discover", "--kubeconfig", path, "--context", "blue", "--context",
                            "broken", "--once")
        self.assertEqual({t["cluster"] for t in targets}, {"blue"})
        self.assertIn("context broken is left out: ", errors)
        self.assertEqual(named.returncode, 2)
        self.assertIn("clusters[1].cluster.server: is missing", named.stderr)

    def test_a_context_that_cannot_be_used_fails_the_check(self):
        with simulated_cluster() as blue:
            with file_with(kubeconfig(blue=blue, broken=None), "kc") as path:
                arguments = ("--check", "--kubeconfig", path, "--role", "node", "--timeout", 30,
                             "--all-contexts")
                text = run("discover", *arguments)
                lines = run("discover", *arguments, "--output", "json").stdout.splitlines()
        self.assertEqual(text.returncode, 1)
        self.assertRegex(text.stdout, r"(?m)^\[broken\] FAILED +configuration: .*is missing")
        self.assertEqual([line["cluster"] for line in map(json.loads, lines)
                          if line["result"] == "FAILED"], ["broken"])

    def test_contexts_with_one_server_are_named_in_a_warning(self):
        with simulated_cluster() as server:
            with file_with(kubeconfig(admin=server, dev=server), "kc") as path:
                targets, errors = self.targets("--kubeconfig", path, "--all-contexts")
        self.assertEqual({t["cluster"] for t in targets}, {"admin", "dev"})
        self.assertIn("contexts admin and dev have the same server", errors)


class Mistakes(unittest.TestCase):
    def refused(self, *arguments):
        result = run("discover", *arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        return result.stderr

    def test_they_name_the_option_and_the_remedy(self):
        with file_with(kubeconfig(a="http://127.0.0.1:1"), "kc") as path:
            kc = ("--kubeconfig", path)
            for arguments, text in (
                    ((*kc, "--context", "a", "--context", "x"),
                     '--context: .*there is no context "x"; the kubeconfig has a|there is no '
                     'context "x"'),
                    ((*kc, "--context", "a", "--context", "a"), '--context: .*"a" is given twice'),
                    ((*kc, "--all-contexts", "--context", "a"), "--context: --all-contexts takes"),
                    ((*kc, "--all-contexts", "--cluster", "b"), "--cluster: names one server"),
                    ((*kc, "--cluster-label", "region"), "--cluster-label: needs --cluster"),
                    ((*kc, "--cluster", "a", "--cluster-label", "job"),
                     '--cluster-label: .*"job" is reserved'),
                    ((*kc, "--all-contexts", "--jobs", 2), "--jobs: is for one cluster"),
                    (("--api-server", "http://127.0.0.1:1", "--all-contexts"),
                     "--api-server: is one server"),
                    (("--sim", "--all-contexts"), "--sim: is for one cluster"),
                    (("--all-contexts",), r"tried \$KUBECONFIG \(not set\)")):
                with self.subTest(arguments=arguments):
                    self.assertRegex(self.refused(*arguments), text)
        with file_with("clusters: []\n", "empty") as path:
            self.assertIn("--all-contexts: there is no context in ",
                          self.refused("--kubeconfig", path, "--all-contexts"))


def handler_of_nodes(*names):
    """Of an API server with these nodes, which never change."""
    class Handler(JsonHandler):
        def do_GET(self):
            if "sendInitialEvents" in self.path:  # an older server
                return self.reply(400, {"kind": "Status", "code": 400, "reason": "BadRequest"})
            if "watch" in self.path:
                return self.hold()
            items = [{"metadata": {"name": name, "uid": name, "resourceVersion": "1"},
                      "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}}
                     for name in names]
            return self.reply(200, {"kind": "NodeList", "apiVersion": "v1", "items": items,
                                    "metadata": {"resourceVersion": "1"}})

    return Handler


class Profiles(unittest.TestCase):
    """The clusters that ClusterProfiles of a hub describe."""
    FLEET = ("--cluster-profiles-namespace", "fleet", "--role", "node")

    def test_clusters_that_come_move_and_go_are_followed(self):
        with simulated_hub() as (hub, url), server_with(handler_of_nodes("a", "b")) as old, \
                server_with(handler_of_nodes("b", "c")) as new, \
                server_with(handler_of_nodes("d")) as green:
            hub.cluster("blue", old)
            with running("discover", "--api-server", url, *self.FLEET, "--output",
                         "json") as program:
                def line():
                    diff = json.loads(program.line())
                    return (diff["job"], diff["cluster"], diff["full"],
                            {group["source"]: group["kept"] for group in diff["updated"]},
                            diff["removed"])

                self.assertEqual(line(),
                                 (0, "fleet/blue", True, {"node/a": 0, "node/b": 0}, []))
                hub.cluster("green", green)
                self.assertEqual(line(), (1, "fleet/green", True, {"node/d": 0}, []))
                program.log_line_with("# cluster fleet/green is new")
                # Its targets stay until the new server has been listed. Its node b is another one.
                hub.secret("blue", kubeconfig_of(new))
                self.assertEqual(line(), (0, "fleet/blue", False, {"node/b": 0, "node/c": 0},
                                          ["node/a"]))
                program.log_line_with("# cluster fleet/blue has another server")
                hub.remove("clusterprofiles", "green")
                self.assertEqual(line(), (1, "fleet/green", False, {}, ["node/d"]))
                program.log_line_with("# cluster fleet/green is gone")
                hub.profile("green")
                self.assertEqual(line(), (1, "fleet/green", True, {"node/d": 0}, []))
                program.log_line_with("# cluster fleet/green is back")

    def test_a_cluster_that_moves_has_targets_of_a_snapshot_before_and_after(self):
        with simulated_hub() as (hub, url), tempfile.TemporaryDirectory() as folder:
            def lines(count, *, after_first=lambda: None):
                with running("discover", "--api-server", url, *self.FLEET, "--output", "json",
                             "--snapshot-dir", folder, "--snapshot-after", 0) as program:
                    diffs = [json.loads(program.line())]
                    after_first()
                    diffs += [json.loads(program.line()) for _ in range(count - 1)]
                    self.assertEqual(program.signal(signal.SIGTERM), 0)
                return [({group["source"] for group in diff["updated"]}, set(diff["removed"]),
                         diff["full"], "unconfirmed" in diff, "confirms" in diff)
                        for diff in diffs]

            with server_with(handler_of_nodes("a", "b")) as old:
                hub.cluster("blue", old)
                self.assertEqual(lines(1), [({"node/a", "node/b"}, set(), True, False, False)])
            with server_with(handler_of_nodes("b", "c")) as new:
                moves = lines(2, after_first=lambda: hub.secret("blue", kubeconfig_of(new)))
            self.assertEqual(moves, [({"node/a", "node/b"}, set(), True, True, False),
                                     ({"node/b", "node/c"}, {"node/a"}, False, False, True)])
            self.assertEqual(lines(1), [({"node/b", "node/c"}, set(), True, True, False)])

    def test_a_cluster_that_cannot_be_used_is_named_once_and_stops_no_other_one(self):
        with simulated_hub() as (hub, url), server_with(handler_of_nodes("a")) as blue, \
                server_with(handler_of_nodes("b")) as green:
            hub.cluster(2000 * "bad", "http://127.0.0.1:1")  # too long a value of the label
            hub.cluster("blue", blue)
            with running("discover", "--api-server", url, *self.FLEET, "--output",
                         "json") as program:
                program.log_line_with("cluster fleet/bad")
                self.assertEqual(json.loads(program.line())["cluster"], "fleet/blue")
                hub.cluster("green", green)
                line = ""
                while "# cluster fleet/green is new" not in line:
                    line = program.log_line()
                    self.assertTrue(line, "it has ended")
                    self.assertNotIn("fleet/bad", line)

    def test_a_cluster_that_goes_before_its_first_list_is_not_counted(self):
        asked = threading.Event()

        class Blue(SilentHandler):
            def do_GET(self):
                asked.set()
                super().do_GET()

        with simulated_hub() as (hub, url), server_with(Blue) as blue, \
                server_with(handler_of_nodes("a")) as green:
            hub.cluster("blue", blue)
            hub.cluster("green", green)
            with running("discover", "--api-server", url, *self.FLEET, "--output",
                         "quiet") as program:
                self.assertTrue(asked.wait(TIMEOUT))
                hub.remove("clusterprofiles", "blue")
                self.assertEqual(program.line(), "synced targets=1 groups=1 jobs=1")

    def test_a_change_of_properties_changes_nothing(self):
        with simulated_hub() as (hub, url), server_with(handler_of_nodes("a")) as blue, \
                server_with(handler_of_nodes("b")) as green:
            hub.cluster("blue", blue)
            with running("discover", "--api-server", url, *self.FLEET, "--output",
                         "json") as program:
                self.assertEqual(json.loads(program.line())["cluster"], "fleet/blue")
                hub.profile("blue", region="north")
                hub.cluster("green", green)
                self.assertEqual(json.loads(program.line())["cluster"], "fleet/green")
                program.log_line_with("# cluster fleet/green is new")

    def test_a_hub_without_clusters_may_have_some_later(self):
        with simulated_hub() as (hub, url), server_with(handler_of_nodes("a", "b")) as blue:
            with running("discover", "--api-server", url, *self.FLEET, "--output",
                         "quiet") as program:
                self.assertIn("none of the 0 ClusterProfiles of the hub has a usable cluster yet",
                              program.log_line())
                hub.cluster("blue", blue)
                self.assertEqual(program.line(), "synced targets=2 groups=2 jobs=1")
                hub.remove("clusterprofiles", "blue")
                self.assertEqual(program.line(), "changed targets=0 added=0 updated=0 removed=2")
                self.assertEqual(program.signal(signal.SIGTERM), 0)

    def test_a_hub_without_clusters_has_nothing_in_time(self):
        with simulated_hub() as (hub, url):
            hub.profile("lost")
            for log_format in ("text", "json"):
                result = run("discover", "--api-server", url, *self.FLEET, "--timeout", "0.5",
                             "--log-format", log_format)
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertRegex(result.stderr, r"not synced after 0\.5 s:(\\n|\n)  none of the 1 "
                                 "ClusterProfiles of the hub has a usable cluster")

    def test_a_hub_whose_clusters_are_gone_had_something_in_time(self):
        with simulated_hub() as (hub, url), server_with(handler_of_nodes("a")) as blue:
            hub.cluster("blue", blue)
            with running("discover", "--api-server", url, *self.FLEET, "--output", "quiet",
                         "--timeout", "6") as program:
                program.line()
                hub.remove("clusterprofiles", "blue")
                program.log_line_with("# cluster fleet/blue is gone")
                self.assertEqual(program.process.wait(TIMEOUT), 0)

    def test_a_hub_whose_only_cluster_goes_unlisted_had_nothing_in_time(self):
        with simulated_hub() as (hub, url), server_with(SilentHandler) as blue:
            hub.cluster("blue", blue)
            with running("discover", "--api-server", url, *self.FLEET, "--output", "quiet",
                         "--timeout", "3") as program:
                hub.remove("clusterprofiles", "blue")
                program.log_line_with("not synced after 3 s:")
                self.assertEqual(program.process.wait(TIMEOUT), 3)
                self.assertEqual(program.process.stdout.read(), "")

    def test_targets_of_before_are_named_as_such_while_the_new_server_is_away(self):
        with simulated_hub() as (hub, url), server_with(handler_of_nodes("a")) as blue:
            hub.cluster("blue", blue)
            with running("discover", "--api-server", url, *self.FLEET, "--output", "quiet",
                         "--timeout", "6") as program:
                self.assertEqual(program.line(), "synced targets=1 groups=1 jobs=1")
                hub.cluster("blue", "http://127.0.0.1:1")
                line = program.log_line_with("cluster fleet/blue: ")
                self.assertIn("its targets are those of before", line)
                self.assertIn("connection refused", line)
                # The state is not that of the clusters of the hub.
                program.log_line_with("not synced after 6 s:")
                self.assertIn("  fleet/blue: nodes: ", program.log_line())
                self.assertEqual(program.process.wait(TIMEOUT), 3)

    def test_targets_of_all_clusters_have_their_names(self):
        with simulated_hub() as (hub, url), simulated_cluster() as blue, \
                simulated_cluster() as green:
            hub.cluster("blue", blue)
            hub.cluster("green", green)
            hub.profile("lost")
            for label in ("cluster", "region"):
                result = run("discover", "--api-server", url, *self.FLEET, "--once", "--output",
                             "targets", "--cluster-label", label)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual({target[label] for target in json.loads(result.stdout)},
                                 {"fleet/blue", "fleet/green"})
                self.assertRegex(result.stderr, "(?m)^[0-9:.]+  discover: cluster fleet/lost: ")

    def test_a_hub_that_is_away_is_named_in_time(self):
        result = run("discover", "--api-server", "http://127.0.0.1:1", *self.FLEET, "--once",
                     "--timeout", "0.5", "--log-format", "json")
        self.assertEqual(result.returncode, 3)
        event = json.loads(result.stderr.splitlines()[-1])
        self.assertEqual(event["event"], "not_synced")
        self.assertIn("ClusterProfiles of the hub have not been listed", event["msg"])

    def test_without_a_usable_cluster_there_is_nothing_to_discover(self):
        with simulated_hub() as (hub, url):
            hub.profile("lost")
            result = run("discover", "--api-server", url, *self.FLEET, "--once")
        self.assertEqual(result.returncode, 2)
        self.assertIn("none of the 1 ClusterProfiles", result.stderr)

    def test_a_mistake_in_an_option_is_no_mistake_of_the_clusters(self):
        with simulated_hub() as (hub, url):
            hub.cluster("blue", "http://127.0.0.1:1")
            # It needs no answer of the hub.
            for server in (url, "http://127.0.0.1:1"):
                result = run("discover", "--api-server", server, *self.FLEET, "--namespace", "a b")
                self.assertEqual(result.returncode, 2)
                self.assertRegex(result.stderr, "^discover: --namespace: ")

    def test_names_of_the_hub_do_not_control_a_terminal(self):
        with simulated_hub() as (hub, url), server_with(handler_of_nodes("a")) as blue, \
                server_with(handler_of_nodes("b")) as green:
            hub.cluster("blue", blue)
            with running("discover", "--api-server", url, *self.FLEET, "--output",
                         "json") as program:
                program.line()
                hub.cluster("gr\x1b[2Jeen", green)
                line = program.log_line_with("is new")
        self.assertNotIn("\x1b", line)

    def test_options_for_one_cluster_are_refused(self):
        for option in (["--jobs", "2"], ["--record", "/tmp/x.gz"], ["--explain", "node/a"]):
            result = run("discover", "--api-server", "http://127.0.0.1:1", *self.FLEET, *option)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"{option[0]}: is for one cluster", result.stderr)


if __name__ == "__main__":
    unittest.main()
