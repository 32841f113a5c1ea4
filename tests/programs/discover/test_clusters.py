"""discover with several clusters: contexts of one kubeconfig."""

import contextlib
import json
import unittest

from cluster_profiles import simulated_hub
from harness import file_with, run, running, simulated_cluster


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


class Profiles(unittest.TestCase):
    """The clusters that ClusterProfiles of a hub describe at the start."""
    FLEET = ("--cluster-profiles-namespace", "fleet", "--role", "node")

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
                self.assertRegex(result.stderr, "(?m)^discover: cluster fleet/lost: ")

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

    def test_options_for_one_cluster_are_refused(self):
        for option in (["--jobs", "2"], ["--record", "/tmp/x.gz"], ["--explain", "node/a"]):
            result = run("discover", "--api-server", "http://127.0.0.1:1", *self.FLEET, *option)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"{option[0]}: is for one cluster", result.stderr)


if __name__ == "__main__":
    unittest.main()
