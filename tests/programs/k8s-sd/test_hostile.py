"""Client requests to k8s-sd have limits: of memory, and of the delay for other clients."""

import contextlib
import http.client
import json
import random
import signal
import threading
import unittest
import urllib.parse

from test_api import Api, simulated, still
from test_serving import serving_file

DOUBLING = "{source_labels: [x], target_label: x, regex: (.*), replacement: $1$1}"
MAX_MEMORY = 600 << 10  # KiB; one of these requests took 8 GB


def doubling(count, rule=DOUBLING):
    """This many rules in few bytes: each is an alias of one anchor."""
    return f"[&r {rule}" + ",*r" * (count - 1) + "]"


def peak_memory(api):
    """In KiB, since the start."""
    with open(f"/proc/{api.server.program.process.pid}/status") as status:
        line, = (line for line in status if line.startswith("VmHWM:"))
    return int(line.split()[1])


class Asking(threading.Thread):
    """Sends requests to the laboratory in parallel to other requests."""

    def __init__(self, api, question):
        super().__init__()
        self.api, self.question, self.status, self.answer = api, question, None, None
        self.start()

    def run(self):
        with contextlib.suppress(OSError, http.client.HTTPException):  # the program has ended
            self.status, self.answer = self.api.post("/api/ui/relabel", json.dumps(self.question))


class Laboratory(unittest.TestCase):
    def test_rules_that_make_much_of_little_end_at_a_limit(self):
        with simulated() as api:
            row = api.rows(job="pods", limit=1)[0]
            for count in (10, 21, 25, 32, 1000):
                for rule in (DOUBLING, DOUBLING.replace("[x]", "[x, x, x]").replace("$1$1", "$1")):
                    question = {"job": "pods", "rules": doubling(count, rule),
                                "labels": {"__address__": "a:1", "x": "a"}, "effect": True}
                    answer = api.relabel(**question)
                    if count < 21:
                        self.assertEqual(answer["state"], "active")
                        continue
                    self.assertEqual(answer["state"], "failed")
                    self.assertRegex(answer["reason"], r"relabel_configs\[\d+\]: .* the limit")
            answer = api.relabel(job="pods", id=row["id"], rules=doubling(1000, "{"
                "action: labelmap, regex: (.*), replacement: '${1}_$1'}"))
            self.assertEqual(answer["state"], "failed")
            self.assertLess(peak_memory(api), MAX_MEMORY)
            self.assertEqual(api.server.text("/livez"), (200, "ok\n"))

    def test_random_rules_are_answered_within_the_limits(self):
        chance = random.Random(5)
        with simulated() as api:
            for _ in range(12):
                rules = [{"action": chance.choice(["replace", "labelmap", "replace_all",
                                                   "labelmap_all", "uppercase", "lowercase"]),
                          "source_labels": chance.choices(["x", "y", "__address__"],
                                                          k=chance.randint(1, 20)),
                          "regex": chance.choice(["(.*)", "(.+)a", "(a|b)*", "", "(?i)(A+)"]),
                          "target_label": chance.choice(["x", "y", "z"]),
                          "replacement": chance.choice(["$1$1", "$1" * 1000, "a$1", "$1"])}
                         for _ in range(chance.randint(1, 60))]
                for rule in rules:
                    if rule["action"] in ("uppercase", "lowercase"):
                        del rule["replacement"]
                status, answer = api.post("/api/ui/relabel", json.dumps({
                    "job": "services", "rules": json.dumps(rules),
                    "labels": {"__address__": "a:1", "x": "aab" * chance.randint(1, 10_000)},
                    "effect": chance.random() < 0.2}))
                self.assertEqual(status, 200, answer)
                self.assertIn(answer["state"], ("active", "failed", "dropped"))
            self.assertLess(peak_memory(api), MAX_MEMORY)

    def test_anchors_of_yaml_stand_for_so_much_and_no_more(self):
        with still() as (api, _):
            names = "{target_label: t, source_labels: [" + "a," * 20_000 + "]}"
            text = "{target_label: t, replacement: '" + "a" * 50_000 + "'}"
            for rule in (names, text):
                status, answer = api.post("/api/ui/relabel", json.dumps(
                    {"job": "one", "rules": doubling(3000, rule)}))
                self.assertEqual(status, 400)
                self.assertRegex(answer["error"], "at most|bytes together|expand to too much")
            self.assertLess(peak_memory(api), MAX_MEMORY)

    def test_large_expressions_are_refused_without_delay_for_others(self):
        rules = [{"target_label": "t", "regex": f"(?i)(\\pL{{20}}){{20}}{i}"} for i in range(50)]
        many = [{"target_label": "t", "regex": f"(?i)\\pL{{3}}{i}"} for i in range(800)]
        with still() as (api, _):
            questions = [Asking(api, {"job": "one", "rules": json.dumps(all), "effect": True})
                         for all in (rules, many, rules, many)]
            while any(question.is_alive() for question in questions):
                self.assertEqual(api.server.text("/livez"), (200, "ok\n"))
            for question in questions:
                question.join()
                self.assertEqual(question.status, 400)
                self.assertRegex(question.answer["error"],
                                 "pattern too large|larger than 32768 instructions together")
            self.assertLess(peak_memory(api), MAX_MEMORY)

    def test_slow_matches_of_long_labels_end_at_a_limit(self):
        rule = {"action": "replace_all", "source_labels": ["x"], "target_label": "t",
                "regex": "a.*b|a", "replacement": "a"}
        with still() as (api, _):
            answer = api.relabel(job="one", rules=json.dumps([rule] * 20),
                                 labels={"__address__": "a:1", "x": "a" * 50_000})
            self.assertEqual(answer["state"], "failed")
            self.assertIn("steps for this label set", answer["reason"])

    def test_a_question_does_not_keep_the_program_from_its_end(self):
        rules = [{"target_label": "t", "regex": f"(?i)\\pL{{2}}{i}"} for i in range(12)]
        with simulated() as api:
            for _ in range(6):
                Asking(api, {"job": "pods", "rules": json.dumps(rules), "effect": True}).join(0.01)
            self.assertEqual(api.server.program.signal(signal.SIGTERM), 0)

    def test_the_steps_of_the_jobs_own_rules_have_the_limits(self):
        text = ("scrape_configs:\n- job_name: one\n  static_configs: [{targets: ['a:1']}]\n"
                "  relabel_configs: " + doubling(25) + "\n")
        with serving_file(text) as (server, _):
            api = Api(server)
            api.wait_until_complete()
            # Discovered targets lack the label; a client can supply it.
            self.assertEqual(api.rows()[0]["state"], "active")
            labels = json.dumps({"__address__": "a:1", "x": "a"})
            answer = api.get("/api/v1/targets/relabel_steps", 422, scrapePool="one", labels=labels)
            self.assertEqual((answer["status"], answer["errorType"]), ("error", "execution"))
            self.assertIn("relabel_configs[19]: the rules make more than", answer["error"])
            self.assertEqual(api.relabel(job="one", labels=json.loads(labels))["state"], "failed")
            self.assertLess(peak_memory(api), MAX_MEMORY)

    def test_a_target_of_a_job_beyond_a_limit_fails_and_the_others_stay(self):
        text = ("scrape_configs:\n- job_name: one\n  static_configs:\n"
                "  - {targets: ['a:1'], labels: {x: a}}\n  - {targets: ['b:1']}\n"
                "  relabel_configs: " + doubling(40) + "\n")
        with serving_file(text) as (server, _):
            api = Api(server)
            api.wait_until_complete()
            failed, = api.rows(state="failed")
            self.assertEqual(failed["address"], "a:1")
            self.assertIn("relabel_configs[20]: a text would be longer than 1048576 bytes",
                          failed["reason"])
            self.assertEqual([row["address"] for row in api.rows(state="active")], ["b:1"])
            self.assertEqual(api.get("/api/ui/target", job="one", id=failed["id"])["row"]["state"],
                             "failed")
            self.assertIn('k8s_sd_program_targets{job="one",state="failed"} 1',
                          server.text("/metrics")[1])
            self.assertLess(peak_memory(api), MAX_MEMORY)


class Questions(unittest.TestCase):
    def test_expressions_of_a_search_have_a_limit_together(self):
        with still() as (api, _):
            term = 'a=~"(?i)\\\\pL{2}"'
            self.assertEqual(api.rows(q=term), [])
            error = api.get("/api/ui/targets", 400, q=f"{term} " * 30)["error"]
            self.assertEqual(error, "the expressions are too large together")
            match = {"match[]": [f"{{{term}}}"] * 80}
            answer = api.get("/api/v1/targets", 400, **match)
            self.assertIn("too large together", answer["error"])
            answer = api.get("/api/v1/targets", 400, **{"match[]": ["a"] * 101})
            self.assertIn("100 match[] at most", answer["error"])
            self.assertEqual(api.get("/api/v1/targets", **{"match[]": ["a"] * 100})["status"],
                             "success")

    def test_hostile_bodies_are_refused(self):
        with still() as (api, _):
            for body in ("[" * 60_000, '{"a":' * 10_000, '{"job":"one","labels":' + "[" * 1000,
                         '{"job":"one","rules":"' + "[" * 60_000 + '"}',
                         '{"job":"one","rules":"- &a [*a]"}',
                         '{"job":"one","labels":{"a":1}}', "\xff", ""):
                status, answer = api.post("/api/ui/relabel", body.encode("latin-1"))
                self.assertEqual(status, 400, body[:50])
                self.assertLess(len(answer["error"]), 5000)
            connection = http.client.HTTPConnection("127.0.0.1", api.server.port)
            connection.request("POST", "/api/ui/relabel", body="a" * (1 << 17),
                               headers={"Content-Type": "application/json"})
            self.assertEqual(connection.getresponse().status, 413)

    def test_hostile_parameters_are_refused_or_answered(self):
        chance = random.Random(9)
        paths = {"/api/ui/targets": ["q", "job", "state", "namespace", "limit", "after", "facets"],
                 "/api/ui/target": ["job", "id", "object", "address", "shards", "replicas"],
                 "/api/ui/object": ["q", "shards", "replicas"],
                 "/api/ui/shards": ["job", "shards", "replicas", "to"],
                 "/api/ui/history": ["job", "before", "limit"],
                 "/api/ui/consumers": ["limit", "after", "late"],
                 "/api/v1/targets": ["state", "scrapePool", "match[]", "limit", "cursor"],
                 "/api/v1/targets/relabel_steps": ["scrapePool", "labels"],
                 "/sd/one": ["meta", "node", "shard", "shards", "replicas", "rest", "hold"],
                 "/sd/one/targets": ["keep_meta", "node", "member", "form"],
                 "/jobs/one/targets": ["collector_id"], "/v1/watch": ["job", "list", "after"]}
        values = ["", "0", "1", "4096", "99999999999999999999", "-1", "one", "otel", "(" * 3000,
                  "/(a*)*b/", "/" * 4000, "a" * 12_000, "\0", "\r\nX: y", "[" * 5000, "{}",
                  "0000000000000001.4294967295.6f6e65.", "0" * 9000, "__meta_*" + ",__meta_a" * 200,
                  "\u202e", '{"a":"' + "b" * 9000 + '"}']
        with still() as (api, _):
            for _ in range(600):
                path = chance.choice(list(paths))
                query = [(chance.choice(paths[path]), chance.choice(values))
                         for _ in range(chance.randint(0, 4))]
                text = urllib.parse.urlencode(query)
                if len(text) > 15_000 or "hold" in dict(query) or path == "/v1/watch" and (
                        dict(query).get("job") == "one"):
                    continue
                status, headers, body = api.server.ask(f"{path}?{text}")
                self.assertIn(status, (200, 400, 404, 410, 422, 503), (path, query))
                self.assertLess(len(body), 1 << 20)
                self.assertNotIn("X", headers)
            self.assertEqual(api.server.text("/livez"), (200, "ok\n"))
            self.assertLess(peak_memory(api), MAX_MEMORY)


class Lists(unittest.TestCase):
    def test_unknown_label_names_and_nodes_are_reported(self):
        with simulated() as api:
            def warning(query):
                status, headers, _ = api.server.ask("/sd/pods?" + query)
                self.assertEqual(status, 200)
                return headers.get("Warning")
            self.assertIsNone(warning("meta=__meta_kubernetes_pod_name"))
            self.assertEqual(
                warning("meta=__meta_kubernetes_pod_name,__meta_kubernetes_pod_nme"),
                '299 - "no target of this job has a label __meta_kubernetes_pod_nme"')
            node = api.rows(job="pods")[0]["node"]
            self.assertIsNone(warning("node=" + node))
            self.assertEqual(warning("node=nope"),
                             '299 - "no target of this job is on a node nope"')
            self.assertEqual(warning("node=a%22%0d%0aX:%20b%C3%A4"),
                             '299 - "no target of this job is on a node a???X: b??"')


if __name__ == "__main__":
    unittest.main()
