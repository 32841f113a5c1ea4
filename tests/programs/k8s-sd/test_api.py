"""k8s-sd serves Prometheus' API, and the data of its page."""

import contextlib
import http.client
import json
import time
import unittest
import urllib.parse

from harness import TIMEOUT, replace_file
from test_serving import JOBS, serving, serving_file

# Static targets only, in each state.
STILL = """
scrape_configs:
- job_name: one
  static_configs:
  - {targets: ['10.0.0.1:80', '10.0.0.2:80'], labels: {team: red}}
  - {targets: ['10.0.0.3:80'], labels: {team: blue, odd: '<img src=x onerror=alert(1)>'}}
  - {targets: ['bad/path:80'], labels: {team: red}}
  relabel_configs:
  - {source_labels: [team], regex: blue, action: drop}
- job_name: two
  static_configs: [{targets: ['10.0.1.1:80', '10.0.1.2:80']}]
  relabel_configs:
  - {target_label: __address__, replacement: 'same:80'}
"""


class Api:
    """Requests JSON from a running k8s-sd."""

    def __init__(self, server):
        self.server = server

    def get(self, path, status=200, **query):
        text = urllib.parse.urlencode(query, doseq=True)
        found, headers, body = self.server.ask(path + ("?" + text if text else ""))
        assert (found, headers["Content-Type"]) == (status, "application/json"), (found, body)
        assert headers["Cache-Control"] == "no-store"
        answer = json.loads(body)
        if path.startswith("/api/ui/"):
            assert abs(answer.pop("now") / 1000 - time.time()) < TIMEOUT
        return answer

    def post(self, path, body, content_type="application/json"):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=TIMEOUT)
        with contextlib.closing(connection):
            connection.request("POST", path, body=body, headers={"Content-Type": content_type})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def relabel(self, **question):
        status, answer = self.post("/api/ui/relabel", json.dumps(question))
        assert status == 200, answer
        return answer

    def rows(self, **query):
        return self.get("/api/ui/targets", **query)["rows"]

    def wait_until_complete(self):
        end = time.monotonic() + TIMEOUT
        while self.server.text("/readyz")[0] != 200:
            assert time.monotonic() < end
            time.sleep(0.02)


@contextlib.contextmanager
def still():
    with serving_file(STILL) as (server, path):
        api = Api(server)
        api.wait_until_complete()
        yield api, path


@contextlib.contextmanager
def simulated():
    with serving("--sim") as server:
        api = Api(server)
        api.wait_until_complete()
        yield api


class Prometheus(unittest.TestCase):
    def test_targets_have_prometheus_fields_and_an_honest_health(self):
        with still() as (api, _):
            answer = api.get("/api/v1/targets")
            self.assertEqual(answer["status"], "success")
            data = answer["data"]
            self.assertEqual(data["droppedTargetCounts"], {"one": 1, "two": 0})
            target = data["activeTargets"][0]
            self.assertEqual(target.pop("discoveredLabels")["__scheme__"], "http")
            self.assertEqual(target, {
                "labels": {"instance": "10.0.0.1:80", "job": "one", "team": "red"},
                "scrapePool": "one", "scrapeUrl": "http://10.0.0.1:80/metrics",
                "globalUrl": "http://10.0.0.1:80/metrics", "lastError": "",
                "lastScrape": "0001-01-01T00:00:00Z", "lastScrapeDuration": 0,
                "health": "unknown", "scrapeInterval": "1m", "scrapeTimeout": "10s"})
            self.assertEqual([t["scrapePool"] for t in data["activeTargets"]],
                             ["one", "one", "two"])
            self.assertEqual(data["droppedTargets"], [{
                "discoveredLabels": {
                    "__address__": "10.0.0.3:80", "__metrics_path__": "/metrics",
                    "__scheme__": "http", "__scrape_interval__": "1m",
                    "__scrape_timeout__": "10s", "job": "one", "team": "blue",
                    "odd": "<img src=x onerror=alert(1)>"}, "scrapePool": "one"}])

    def test_state_and_pool_choose_as_in_prometheus(self):
        with still() as (api, _):
            def sizes(**query):
                data = api.get("/api/v1/targets", **query)["data"]
                return (len(data["activeTargets"]), len(data["droppedTargets"]),
                        data["droppedTargetCounts"])
            counts = {"one": 1, "two": 0}
            self.assertEqual(sizes(), (3, 1, counts))
            self.assertEqual(sizes(state="any"), (3, 1, counts))
            self.assertEqual(sizes(state="ACTIVE"), (3, 0, None))
            self.assertEqual(sizes(state="dropped"), (0, 1, counts))
            self.assertEqual(sizes(state="odd"), (0, 0, None))
            self.assertEqual(sizes(scrapePool="two"), (1, 0, counts))
            self.assertEqual(sizes(scrapePool="three"), (0, 0, counts))

    def test_targets_can_be_paged_and_selected(self):
        with simulated() as api:
            whole = api.get("/api/v1/targets", scrapePool="nodes")["data"]["activeTargets"]
            pages, query = [], {"limit": 1, "scrapePool": "nodes"}
            while True:
                data = api.get("/api/v1/targets", **query)["data"]
                pages += data["activeTargets"]
                if "next" not in data:
                    break
                query["cursor"] = data["next"]
            self.assertEqual(pages, whole)
            self.assertGreater(len(whole), 2)
            found = api.get("/api/v1/targets", **{"match[]": [
                '{instance="node-a1"}', '{instance=~"node-a2"}']})["data"]["activeTargets"]
            self.assertEqual([t["labels"]["instance"] for t in found], ["node-a1", "node-a2"])

    def test_kept_dropped_targets_are_as_many_as_the_job_says(self):
        limited = "- job_name: one\n  keep_dropped_targets: 1"
        kept = STILL.replace("- job_name: one", limited).replace("regex: blue", "regex: .*")
        with serving_file(kept) as (server, _):
            api = Api(server)
            api.wait_until_complete()
            data = api.get("/api/v1/targets")["data"]
            self.assertEqual(len(data["droppedTargets"]), 1)
            self.assertEqual(data["droppedTargetCounts"]["one"], 4)

    def test_pools_and_their_configuration(self):
        with still() as (api, _):
            self.assertEqual(api.get("/api/v1/scrape_pools")["data"],
                             {"scrapePools": ["one", "two"]})
            yaml = api.get("/api/v1/scrape_pools/config", scrapePool="one")["data"]["yaml"]
            self.assertIn('job_name: "one"\n', yaml)
            self.assertIn('- action: drop\n  source_labels: ["team"]\n  regex: "blue"\n', yaml)

    def test_a_configuration_shows_no_secrets(self):
        secret = STILL.replace("- job_name: one", """- job_name: one
  basic_auth: {username: u, password: secret1}
  params: {token: [secret2]}
  http_sd_configs: [{url: 'http://127.0.0.1:1/list?key=secret3'}]""")
        with serving_file(secret) as (server, _):
            answer = Api(server).get("/api/v1/scrape_pools/config", scrapePool="one")
            self.assertNotIn("secret", json.dumps(answer))

    def test_relabel_steps_by_get_and_post(self):
        labels = json.dumps({"team": "blue", "__address__": "x"})
        path = "/api/v1/targets/relabel_steps"
        with still() as (api, _):
            steps = api.get(path, scrapePool="one", labels=labels)["data"]["steps"]
            self.assertEqual(steps, [{"rule": {
                "sourceLabels": ["team"], "separator": ";", "regex": "blue", "replacement": "$1",
                "action": "drop"}, "output": {}, "keep": False}])
            form = urllib.parse.urlencode({"scrapePool": "one", "labels": labels})
            status, answer = api.post(path, form, "application/x-www-form-urlencoded")
            self.assertEqual((status, answer["data"]["steps"]), (200, steps))
            kept = api.get(path, scrapePool="two", labels=labels)["data"]["steps"]
            self.assertEqual(kept[0]["output"], {"team": "blue", "__address__": "same:80"})

    def test_mistakes_are_reported_in_prometheus_form(self):
        with still() as (api, _):
            for path, query in (("scrape_pools/config", {}),
                                ("scrape_pools/config", {"scrapePool": "three"}),
                                ("targets/relabel_steps", {"scrapePool": "one"}),
                                ("targets/relabel_steps", {"scrapePool": "one", "labels": "{"}),
                                ("targets/relabel_steps", {"scrapePool": "one", "labels": "[1]"}),
                                ("targets", {"limit": "0"}), ("targets", {"limit": "x"}),
                                ("targets", {"limit": "1", "cursor": "x"}),
                                ("targets", {"match[]": '{a=~"("}'})):
                answer = api.get("/api/v1/" + path, 400, **query)
                self.assertEqual((answer["status"], answer["errorType"]), ("error", "bad_data"))
                self.assertTrue(answer["error"])


class Page(unittest.TestCase):
    def test_the_status_counts_what_became_of_targets(self):
        with still() as (api, _):
            one, two = api.get("/api/ui/status")["jobs"]
            self.assertEqual(one, {"name": "one", "complete": True, "rules": 1, "discovered": 4,
                                   "active": 2, "dropped": 1, "failed": 1, "duplicate": 0})
            self.assertEqual((two["active"], two["duplicate"]), (1, 1))

    def test_targets_are_found_with_why_they_are_none(self):
        with still() as (api, _):
            page = api.get("/api/ui/targets", facets=1)
            self.assertEqual(page["total"], 6)
            self.assertNotIn("building", page)
            states = {row["address"]: row["state"] for row in page["rows"]}
            self.assertEqual(states, {
                "10.0.0.1:80": "active", "10.0.0.2:80": "active", "10.0.0.3:80": "dropped",
                "bad/path:80": "failed", "10.0.1.1:80": "active", "10.0.1.2:80": "duplicate"})
            self.assertEqual(page["facets"]["job"], [{"value": "one", "count": 4},
                                                     {"value": "two", "count": 2}])
            dropped, = api.rows(state="dropped")
            self.assertEqual(dropped["rule_text"], "drop if team matches blue")
            self.assertEqual(api.rows(reason=dropped["reason"]), [dropped])
            self.assertEqual(api.rows(q='odd=~".*onerror.*"'), [dropped])
            self.assertEqual([row["address"] for row in api.rows(job="two")],
                             ["10.0.1.1:80", "10.0.1.2:80"])
            self.assertEqual({row["address"] for row in api.rows(state=["failed", "dropped"])},
                             {"10.0.0.3:80", "bad/path:80"})
            self.assertEqual(len(api.rows(job=["one", "two"])), 6)
            facets = api.get("/api/ui/targets", facets=1, job="two")
            self.assertEqual((facets["total"], len(facets["facets"]["job"])), (2, 2))
            self.assertEqual(api.rows(job="two")[0]["relabelled_address"], "same:80")
            self.assertTrue(page["complete"])
            for path in ("targets", "shards", "history"):
                error = api.get("/api/ui/" + path, 404, job="onee")["error"]
                self.assertEqual(error, "there is no job onee (did you mean one?)")
            self.assertIn("there are active",
                          api.get("/api/ui/targets", 400, state="unowned")["error"])
            self.assertEqual(api.get("/api/ui/targets", 400, q='team=~"("')["at"], 6)
            for wrong in ({"state": "x"}, {"limit": 0}, {"after": "x"}, {"wrong": 1}):
                self.assertTrue(api.get("/api/ui/targets", 400, **wrong)["error"])

    def test_a_table_follows_the_changes_of_its_job(self):
        with still() as (api, path):
            before = {row["address"]: row["id"] for row in api.rows(job="one")}
            red = STILL.replace("regex: blue", "regex: red")
            replace_file(path, red.replace("'10.0.0.2:80'", "'n:1'"))
            status, _ = api.server.text("/-/reload", method="POST")
            self.assertEqual(status, 200)
            end = time.monotonic() + TIMEOUT
            wanted = {("10.0.0.1:80", "dropped"), ("n:1", "dropped"), ("10.0.0.3:80", "active"),
                      ("bad/path:80", "dropped")}
            while {(r["address"], r["state"]) for r in api.rows(job="one")} != wanted:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
            after = {row["address"]: row["id"] for row in api.rows(job="one")}
            self.assertEqual(before["10.0.0.1:80"], after["10.0.0.1:80"])

    def test_pages_cover_a_changing_cluster(self):
        with simulated() as api:
            total = api.get("/api/ui/targets")["total"]
            seen, query = set(), {"limit": 7}
            while True:
                page = api.get("/api/ui/targets", **query)
                seen |= {(row["job"], row["id"]) for row in page["rows"]}
                if not page["next"]:
                    break
                query["after"] = page["next"]
            self.assertGreater(len(seen), total - 10)

    def test_a_target_is_explained_step_by_step(self):
        with still() as (api, _):
            row, = api.rows(state="dropped")
            target = api.get("/api/ui/target", job="one", id=row["id"])
            self.assertEqual(target["row"], row)
            self.assertEqual(target["discovered"]["team"], "blue")
            self.assertIsNone(target["labels"])
            self.assertFalse(target["steps"][0]["keep"])
            for wrong in ({"job": "one", "id": "x"}, {"job": "x", "id": row["id"]}):
                api.get("/api/ui/target", 404, **wrong)
            api.get("/api/ui/target", 400, job="one")
            # The link of a change stays valid although the labels differ.
            there = {"object": row["object"], "address": row["address"]}
            self.assertEqual(api.get("/api/ui/target", job="one", id="f" * 16, **there), target)
            gone = api.get("/api/ui/target", 404, job="one", id="f" * 16, object="pod/a/b",
                           address="a:1")
            self.assertEqual(gone["object"], "pod/a/b")

    def test_a_target_says_which_shards_have_it(self):
        with simulated() as api:
            for row in api.rows(job="nodes"):
                answer = api.get("/api/ui/target", job="nodes", id=row["id"], shards=3, replicas=2)
                owners = answer["row"]["owners"]
                self.assertEqual(len(owners), 2)
                for shard in range(3):
                    listed = api.server.targets(
                        f"/sd/nodes/targets?shard={shard}&shards=3&replicas=2")
                    self.assertEqual(any(row["address"] in str(one) for one in listed),
                                     shard in owners)
            found = api.get("/api/ui/object", q="no/node-a1", shards=3)["jobs"][0]
            self.assertEqual(len(found["in"][0]["owners"]), 1)
            api.get("/api/ui/object", 400, q="x", replicas=2)

    def test_collectors_and_targets_without_one(self):
        with serving("--sim", "--collectors", "3") as server:
            api = Api(server)
            api.wait_until_complete()
            answer = api.get("/api/ui/collectors")
            self.assertTrue(answer["enabled"])
            self.assertEqual([(c["name"], c["ready"]) for c in answer["collectors"]],
                             [(f"collector-{i}", True) for i in range(3)])
            self.assertEqual(answer["unassigned"], 0)
            self.assertEqual([job["job"] for job in answer["jobs"]], ["nodes", "pods", "services"])
            self.assertEqual(sum(c["targets"] for c in answer["collectors"]),
                             sum(job["targets"] for job in answer["jobs"]))
            self.assertEqual(api.rows(state="unowned"), [])
            row = api.rows(job="nodes")[0]
            owner, = api.get("/api/ui/target", job="nodes", id=row["id"])["row"]["collectors"]
            self.assertIn(row["address"],
                          server.text(f"/jobs/nodes/targets?collector_id={owner}")[1])
            consumer, = api.get("/api/ui/consumers")["consumers"]
            self.assertEqual((consumer["kind"], consumer["member"], consumer["list"]),
                             ("collector", owner, "collector"))
            self.assertTrue(consumer["current"])
        with still() as (api, _):
            self.assertEqual(api.get("/api/ui/collectors"), {
                "enabled": False, "collectors": [], "unassigned": 0, "jobs": [], "trouble": ""})

    def test_an_object_is_searched_in_all_jobs(self):
        with simulated() as api:
            answer = api.get("/api/ui/object", q="node/node-a1")
            jobs = {job["job"]: job for job in answer["jobs"]}
            self.assertTrue(answer["complete"])
            self.assertTrue(all(job["complete"] for job in answer["jobs"]))
            self.assertEqual(answer["objects"], ["node/node-a1"])
            self.assertEqual(jobs["nodes"]["text"], "In job nodes: 1 target")
            self.assertGreater(jobs["pods"]["not_total"], 0)
            self.assertTrue(jobs["pods"]["not"][0]["reason"])
            nothing = api.get("/api/ui/object", q="missing")
            self.assertFalse(nothing["found"])
            nodes = len(api.rows(job="nodes"))
            self.assertEqual(nothing["jobs"][0]["text"],
                             f"Not in job nodes: looks at nodes; none of its {nodes} targets has "
                             "this name or address (missing* finds all names that begin so)")
            self.assertIn("Not in job pods: looks at pods in all namespaces; none of its ",
                          nothing["jobs"][1]["text"])
            begin = api.get("/api/ui/object", q="node/node-*")
            self.assertEqual(len(begin["objects"]), nodes)
            service = api.get("/api/ui/object", q="svc/node-exporter")
            self.assertEqual([job["job"] for job in service["jobs"]], ["services", "nodes", "pods"])
            address = api.rows(job="nodes")[0]["address"]
            found = api.get("/api/ui/object", q=f"http://{address}/metrics")
            self.assertEqual(len(found["objects"]), 1)
            api.get("/api/ui/object", 400)

    def test_of_a_job_that_is_not_complete_nothing_is_said_that_is_not_so(self):
        broken = JOBS.replace("role: pod", "role: pod, api_server: 'http://127.0.0.1:1'")
        with serving_file(broken, "--sim") as (server, _):
            answer = Api(server).get("/api/ui/object", q="web-1")
            pods, = (job for job in answer["jobs"] if job["job"] == "pods")
            self.assertFalse(pods["complete"])
            self.assertIn("Not known yet of job pods: looks at pods", pods["text"])
            self.assertIn("job pods has not been discovered completely yet", pods["text"])
            self.assertNotIn("none of its", pods["text"])

    def test_long_labels_make_no_long_answer(self):
        long = STILL.replace("{team: red}", "{team: red, long: '" + "x" * (1 << 18) + "'}", 1)
        with serving_file(long) as (server, _):
            api = Api(server)
            api.wait_until_complete()
            row = api.rows(q="10.0.0.1:80")[0]
            self.assertEqual((len(row["labels"]["long"]), row["cut"]), (200, True))
            self.assertGreater(row["labels_total"], 5)
            whole = api.get("/api/ui/target", job="one", id=row["id"])
            self.assertEqual(len(whole["labels"]["long"]), 1 << 18)
            self.assertEqual(len(api.rows(q="x" * 250)), 2)
            self.assertIn("256 bytes", api.get("/api/ui/targets", 400, q="x" * 300)["error"])

    def test_the_laboratory_tries_rules_and_changes_nothing(self):
        with still() as (api, _):
            rules = "- {source_labels: [team], regex: blue, action: keep}"
            row = api.rows(q="10.0.0.1:80")[0]
            answer = api.relabel(job="one", id=row["id"], rules=rules, effect=True)
            self.assertEqual(answer["state"], "dropped")
            effect = answer["effect"]
            self.assertEqual((effect["active_before"], effect["active_after"], effect["gained"],
                              effect["lost"], effect["changed"]), (2, 1, 1, 2, 0))
            self.assertEqual(api.rows(q="10.0.0.1:80"), [row])
            own = api.relabel(job="one", labels={"__address__": "x:1", "team": "red"})
            self.assertEqual((own["state"], own["url"]), ("active", "http://x:1/metrics"))
            same = api.relabel(job="one", rules=own["rules"], effect=True)["effect"]
            self.assertEqual((same["gained"], same["lost"], same["changed"]), (0, 0, 0))

    def test_the_laboratory_refuses_what_it_cannot_read(self):
        with still() as (api, _):
            for body, status in (("", 400), ("[]", 400), ('{"job":1}', 400), ('{"job":"x"}', 400),
                                 ('{"job":"one","rules":"- {action: fly}"}', 400),
                                 ('{"job":"one","x":1}', 400),
                                 ('{"job":"one","id":"a","labels":{}}', 400),
                                 ('{"job":"one","id":"a"}', 404), ("[" * 10000, 400)):
                found, answer = api.post("/api/ui/relabel", body)
                self.assertEqual(found, status, body)
                self.assertTrue(answer["error"])
            self.assertEqual(api.post("/api/ui/relabel", "{}", "text/plain")[0], 415)

    def test_long_answers_are_compressed_for_who_asks(self):
        with simulated() as api:
            _, headers, _ = api.server.ask("/api/ui/targets", Accept_Encoding="gzip")
            self.assertEqual(headers["Content-Encoding"], "gzip")

    def test_consumers_are_known_by_what_they_ask(self):
        with still() as (api, _):
            self.assertEqual(api.get("/api/ui/consumers"), {
                "total": 0, "late": 0, "outdated": 0, "dropped": 0, "consumers": [], "next": None})
            api.server.ask("/sd/one?wrong=1", User_Agent="curl")  # is listed first nevertheless
            for query in ("member=agent-0&shards=2", "shards=2&member=agent-0"):
                api.server.ask("/sd/one/targets?" + query, User_Agent="Prometheus/3.5.3",
                               X_Prometheus_Refresh_Interval_Seconds="30")
            page = api.get("/api/ui/consumers", limit=1)
            self.assertEqual((page["total"], page["next"]), (2, "1"))
            self.assertEqual(api.get("/api/ui/consumers", late=1)["consumers"], [])
            wrong, right = (api.get("/api/ui/consumers", limit=1, after=i)["consumers"][0]
                            for i in (0, 1))
            self.assertEqual((wrong["status"], wrong["errors"], wrong["current"]), (400, 1, False))
            self.assertGreater(right.pop("last_poll"), 1e12)
            self.assertGreater(right.pop("bytes"), 10)
            version = right.pop("version")
            self.assertEqual(len(version), 32)
            self.assertEqual(right, {
                "address": "127.0.0.1", "agent": "Prometheus/3.5.3", "job": "one",
                "list": "relabelled", "selection": "shard=0&shards=2", "interval": 30, "polls": 2,
                "status": 200, "errors": 0, "current": True, "late": False, "kind": "poll",
                "member": "agent-0", "shard": 0, "node": None, "current_version": version})
            self.assertEqual(api.server.metric("consumers"), 2)

    def test_a_consumer_is_outdated_as_soon_as_its_list_is_another_one(self):
        with still() as (api, path):
            api.server.ask("/sd/one/targets", Prefer="wait=90", User_Agent="waits")
            replace_file(path, STILL.replace("'10.0.0.2:80'", "'n:1'"))
            api.server.text("/-/reload", method="POST")
            end = time.monotonic() + TIMEOUT
            while not api.rows(q="n:1"):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
            answer = api.get("/api/ui/consumers")
            consumer, = answer["consumers"]
            self.assertEqual((consumer["current"], answer["outdated"]), (False, 1))
            self.assertEqual((consumer["kind"], consumer["interval"]), ("long-poll", 90))
            api.server.ask("/sd/one/targets", Prefer="wait=90", User_Agent="waits")
            consumer, = api.get("/api/ui/consumers")["consumers"]
            self.assertTrue(consumer["current"])
            self.assertEqual(consumer["version"], consumer["current_version"])

    def test_readers_of_streams_are_consumers(self):
        with still() as (api, _):
            connection = http.client.HTTPConnection("127.0.0.1", api.server.port, timeout=TIMEOUT)
            with contextlib.closing(connection):
                connection.request("GET", "/v1/watch?job=one", headers={"User-Agent": "streams"})
                self.assertEqual(json.loads(connection.getresponse().readline())["type"], "full")
                consumer, = api.get("/api/ui/consumers")["consumers"]
            self.assertEqual((consumer["kind"], consumer["agent"], consumer["current"]),
                             ("stream", "streams", True))

    def test_shards_are_counted_and_another_number_is_tried(self):
        with simulated() as api:
            answer = api.get("/api/ui/shards", job="nodes", shards=2, to=3)
            self.assertEqual(sum(m["targets"] for m in answer["members"]), answer["total"])
            for i, member in enumerate(answer["members"]):
                listed = api.server.targets(f"/sd/nodes/targets?shard={i}&shards=2")
                self.assertEqual(len(listed), member["targets"])
            self.assertEqual(len(answer["dry_run"]["members"]), 3)
            for wrong in ({"shards": 0}, {"shards": 5000}, {"replicas": 5}):
                api.get("/api/ui/shards", 400, **wrong)

    def test_changes_are_remembered_the_first_list_as_one(self):
        with still() as (api, path):
            history = api.get("/api/ui/history", job="one")
            self.assertEqual([c["what"] for c in history["changes"]],
                             ["2 targets of a first list"])
            replace_file(path, STILL.replace("'10.0.0.2:80'", "'n:1'"))
            api.server.text("/-/reload", method="POST")
            end = time.monotonic() + TIMEOUT
            while len(history["changes"]) < 2:
                self.assertLess(time.monotonic(), end)
                history = api.get("/api/ui/history", job="one")
                time.sleep(0.02)
            change = history["changes"][0]
            self.assertEqual((change["kind"], change["address"]), ("changed", "n:1"))
            self.assertIn("10.0.0.2:80 -> n:1", change["what"])
            older = api.get("/api/ui/history", job="one", before=change["seq"])
            self.assertEqual(older["changes"], history["changes"][1:])
            api.get("/api/ui/history", 400, limit=0)
            api.get("/api/ui/history", 400, before="5")
            gone = api.get("/api/ui/history", 410, before="000000000-5")["error"]
            self.assertIn("an earlier process", gone)
            self.assertLess(abs(change["time"] / 1000 - time.time()), TIMEOUT)
            replace_file(path, STILL.replace("regex: blue", "regex: red"))
            api.server.text("/-/reload", method="POST")
            while history["changes"][0]["seq"] == change["seq"]:
                self.assertLess(time.monotonic(), end)
                history = api.get("/api/ui/history", job="one")
                time.sleep(0.02)
            removed = [c for c in history["changes"] if c["kind"] == "removed"]
            self.assertIn("rule 0: drop if team matches red", {c["reason"] for c in removed})

    def test_a_follower_sees_changes_as_they_come_and_the_program_ends_with_it(self):
        with simulated() as api:
            connection = http.client.HTTPConnection("127.0.0.1", api.server.port, timeout=TIMEOUT)
            with contextlib.closing(connection):
                connection.request("GET", "/api/ui/live", headers={"Last-Event-ID": "0"})
                answer = connection.getresponse()
                self.assertEqual(answer.headers["Content-Type"], "text/event-stream")
                events = {}
                while set(events) != {"change", "status", "hello"}:
                    line = answer.readline().decode()
                    self.assertTrue(line)
                    if line.startswith("event: "):
                        name = line[7:].strip()
                        data = answer.readline().decode()
                        self.assertTrue(data.startswith("data: "))
                        events[name] = json.loads(data[6:])
                self.assertIn(events["change"]["kind"], ("added", "changed", "removed"))
                self.assertEqual(events["change"]["seq"].split("-")[0], events["hello"]["epoch"])
                self.assertEqual(len(events["status"]["jobs"]), 3)
                self.assertEqual(api.server.program.signal(15), 0)

    def test_the_health_of_discovery_names_what_fails(self):
        broken = JOBS.replace("role: pod", "role: pod, api_server: 'http://127.0.0.1:1'")
        with serving_file(broken, "--sim") as (server, _):
            api = Api(server)
            end = time.monotonic() + TIMEOUT
            state = ""
            while state != "failing":
                self.assertLess(time.monotonic(), end)
                jobs = {job["job"]: job["configs"][0] for job in api.get("/api/ui/health")["jobs"]}
                state = jobs["pods"]["state"]
                time.sleep(0.05)
            self.assertIn("127.0.0.1:1", jobs["pods"]["message"])
            self.assertEqual((jobs["pods"]["role"], jobs["pods"]["synced"]), ("pod", False))
            self.assertIn("check that the server runs", jobs["pods"]["remedy"])
            self.assertGreater(jobs["pods"]["failures"], 0)
            self.assertIsNone(jobs["pods"]["stale_since"])
            self.assertEqual(jobs["pods"]["watches"][0]["remedy"], jobs["pods"]["remedy"])
            text = server.text("/metrics")[1]
            oldest = text.split("\nk8s_sd_program_oldest_incomplete_job_seconds ")[1].split("\n")[0]
            self.assertGreater(float(oldest), 0)


if __name__ == "__main__":
    unittest.main()
