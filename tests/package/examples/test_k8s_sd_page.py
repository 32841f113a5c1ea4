"""k8s-sd's page in a real browser: what it shows, and what hostile labels cannot do to it.

With K8S_SD_SCREENSHOTS=FOLDER the pictures of docs/k8s-sd/page.md are written there."""

import contextlib
import http.client
import http.server
import json
import os
import threading
import time
import unittest
import urllib.parse

import browser
from harness import PATIENCE
from test_k8s_sd import serving, serving_file

BIDI = "a\u202egnp.exe"
HOSTILE = json.dumps({"scrape_configs": [{"job_name": "hostile <b>job</b>", "static_configs": [
    {"targets": ["10.0.0.1:80"], "labels": {
        "image": "<img src=x onerror=\"document.title='owned'\">",
        "script": "</script><script>document.title='owned'</script>",
        "bidi": BIDI, "long": "x" * 262144,
        "link": "javascript:document.title='owned'"}},
    {"targets": ["10.0.0.2:80"], "labels": {"other": "one"}}]}]})
MANY = json.dumps({"scrape_configs": [{"job_name": "many", "static_configs": [
    {"targets": [f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}:9100" for i in range(150_000)],
     "labels": {"team": "red"}}]}]})
ROWS = "document.querySelectorAll('tr.row').length"
MOST_NODES = 2000


@contextlib.contextmanager
def behind_prefix(port):
    """A proxy that serves the program below /tools/sd/."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            with contextlib.closing(connection):
                if not self.path.startswith("/tools/sd/"):
                    self.send_error(404)
                    return
                connection.request("GET", self.path[len("/tools/sd"):],
                                   headers={"Accept": self.headers.get("Accept", "*/*")})
                answer = connection.getresponse()
                body = answer.read()
                self.send_response(answer.status)
                for name in ("Content-Type", "Content-Security-Policy"):
                    if answer.getheader(name):
                        self.send_header(name, answer.getheader(name))
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/tools/sd/"
    finally:
        server.shutdown()
        server.server_close()


@unittest.skipUnless(browser.PROGRAM, browser.WHY_NOT)
class Page(unittest.TestCase):
    @contextlib.contextmanager
    def page(self, server, path="/", **options):
        """The page, which must not ask anybody else or complain."""
        url = f"http://127.0.0.1:{server.port}"
        with browser.browser(**options) as page:
            page.open(url + path)
            yield page
            self.assertEqual(page.complaints, [])
            for asked in page.requests:
                self.assertTrue(asked.startswith((url + "/", "data:", "about:")), asked)
            self.assertLess(page.js("document.querySelectorAll('*').length"), MOST_NODES)

    def picture(self, page, name):
        folder = os.environ.get("K8S_SD_SCREENSHOTS")
        if folder:
            page.screenshot(os.path.join(folder, name + ".png"))

    def test_targets_are_searched_and_filtered_by_the_server(self):
        with serving("--sim") as server, self.page(server) as page:
            page.wait(ROWS + " > 10")
            self.picture(page, "targets")
            page.js("byId('query').focus()")
            page.type('namespace="shop" cart')
            page.wait("location.search.includes('cart')")
            page.wait("[...document.querySelectorAll('tr.row')].every("
                      "row => row.innerText.includes('cart'))")
            self.assertEqual(page.js("document.activeElement.id"), "query")
            page.type(' x=~"("')
            page.wait("byId('notice').innerText.includes('at character')")
            page.complaints = [one for one in page.complaints if "400" not in str(one)]
            page.open(f"http://127.0.0.1:{server.port}/?state=dropped")
            page.wait(ROWS + " > 5")
            self.assertTrue(page.js("[...document.querySelectorAll('.reason')].some("
                                    "one => one.innerText.startsWith('rule 1: keep if'))"))
            self.assertEqual(page.js("document.querySelectorAll('.state.active').length"), 0)
            page.click("aside button[aria-pressed=true]")
            page.wait("document.querySelectorAll('.state.active').length > 0")

    def test_there_are_pages_and_links_that_last(self):
        with serving("--sim") as server, self.page(server, "/?limit=10&job=services") as page:
            page.wait(ROWS + " === 10")
            first = page.js("document.querySelector('tr.row').dataset.id")
            page.press("n")
            page.wait(f"document.querySelector('tr.row').dataset.id !== '{first}'")
            page.js("history.back()")
            page.wait(f"document.querySelector('tr.row').dataset.id === '{first}'")
            page.open(f"http://127.0.0.1:{server.port}/?job_of=services&id={first}")
            page.wait("document.querySelector('.drawer')")
            self.assertIn("__meta_kubernetes", page.js("document.querySelector('.drawer').innerText"))

    def test_the_keyboard_is_enough(self):
        with serving("--sim") as server, self.page(server) as page:
            page.wait(ROWS + " > 10")
            page.press("j")
            page.press("j")
            page.press("Enter")
            page.wait("document.querySelector('.drawer') === document.activeElement")
            self.picture(page, "target")
            page.press("Escape")
            page.wait("!document.querySelector('.drawer')")
            page.press("/")
            self.assertEqual(page.js("document.activeElement.id"), "query")
            page.press("Escape")
            page.press("?")
            page.wait("byId('keys').open")
            page.js("byId('keys').close()")
            page.press("5")
            page.wait("document.querySelector('h2#dry-run')")
            self.picture(page, "shards")

    def test_why_an_object_is_no_target(self):
        with serving("--sim") as server, self.page(server, "/?view=find") as page:
            server.wait_for("/readyz", 200)
            dropped = json.loads(server.ask("/api/ui/targets?state=dropped&q=frontend")[2])
            pod = dropped["rows"][0]["object"]
            page.wait("byId('query')")
            page.js(f"byId('query').value = '{pod}'; byId('query').form.requestSubmit()")
            page.wait("document.querySelectorAll('.card').length > 1")
            text = page.js("byId('main').innerText")
            self.assertIn(pod, text)
            self.assertIn("rule 1: keep if __meta_kubernetes_pod_container_port_name", text)
            self.picture(page, "find")
            page.js("byId('query').value = 'pod/no/such'; byId('query').form.requestSubmit()")
            page.wait("byId('main').innerText.includes('No such object has been seen')")

    def test_rules_are_tried_without_changing_anything(self):
        with serving("--sim") as server, self.page(server, "/?view=lab&job=pods") as page:
            page.wait("byId('rules') && byId('rules').value.includes('action')")
            before = server.targets("/sd/pods/targets")
            page.js("byId('rules').value = '- {action: drop, source_labels: [__address__], "
                    "regex: .*}'")
            page.click("#run")
            page.wait("byId('effect')")
            self.assertIn("−", page.js("byId('effect').innerText"))
            page.js("byId('labels').value = '{\"__address__\": \"a:1\"}'")
            page.click("#run")
            page.wait("document.querySelector('.step.drops')")
            self.picture(page, "laboratory")
            page.js("byId('rules').value = '- {action: dorp}'")
            page.click("#run")
            page.wait("byId('result').innerText.includes('rules:1')")
            self.assertTrue(before)
            self.assertTrue(server.targets("/sd/pods/targets"))
            page.complaints = [one for one in page.complaints if "400" not in str(one)]

    def test_changes_come_by_themselves(self):
        with serving("--sim") as server, self.page(server, "/?view=changes") as page:
            page.wait("byId('changes')")
            page.press("l")
            page.wait("byId('live').getAttribute('aria-pressed') === 'true'")
            page.wait("byId('changes').children.length > 0")
            newest = page.js("Number(byId('changes').firstChild.dataset.seq)")
            page.wait(f"Number(byId('changes').firstChild.dataset.seq) > {newest}")
            self.picture(page, "changes")
            page.press("l")

    def test_every_view_can_be_seen(self):
        with serving("--sim") as server:
            server.targets("/sd/pods/targets?shard=1&shards=3")
            views = {"consumers": "shard=1&shards=3", "health": "complete",
                     "snippets": "http_sd_configs", "shards&job=pods": "would move"}
            for view, text in views.items():
                with self.subTest(view=view), self.page(server, "/?view=" + view) as page:
                    page.wait(f"byId('main').innerText.includes({json.dumps(text)})")
                    self.picture(page, view.split("&")[0])
            with self.page(server, dark=True) as page:
                page.wait(ROWS + " > 10")
                self.assertEqual(page.js("document.documentElement.dataset.theme"), "dark")
                self.picture(page, "targets-dark")
            with self.page(server, width=420) as page:
                page.wait(ROWS + " > 10")
                self.assertLessEqual(page.js("document.documentElement.scrollWidth"), 420)

    def test_hostile_labels_are_texts(self):
        with serving_file(HOSTILE) as (server, _), self.page(server) as page:
            page.wait(ROWS + " === 2")
            self.assertEqual(page.js("document.querySelectorAll('main img, main script').length"), 0)
            text = page.js("byId('main').innerText")
            self.assertIn("<img src=x onerror=", text)
            self.assertIn("a⟨U+202E⟩gnp.exe", text)
            self.assertIn("hostile <b>job</b>", text)
            self.assertNotIn("\u202e", page.js("document.documentElement.textContent"))
            self.assertLess(len(text), 10_000)
            page.js("document.querySelector('tr.row').focus()")
            page.press("Enter")
            page.wait("document.querySelector('.drawer')")
            page.click(".drawer td button.plain")
            page.wait("document.querySelector('.drawer').innerText.length > 260000")
            self.assertEqual(page.js("[...document.querySelectorAll('a')].filter("
                                     "a => a.protocol === 'javascript:').length"), 0)
            self.assertEqual(page.js("document.title"), "Targets · k8s-sd")

    def test_it_works_behind_a_prefix(self):
        with serving("--sim") as server, behind_prefix(server.port) as url, \
                browser.browser() as page:
            page.open(url)
            page.wait(ROWS + " > 10")
            page.press("4")
            page.wait("byId('changes')")
            self.assertEqual(page.complaints, [])
            self.assertTrue(all(asked.startswith((url, "data:", "about:"))
                                for asked in page.requests), page.requests)

    def test_many_targets_are_as_quick_as_few(self):
        with serving_file(MANY) as (server, _):
            server.wait_for("/readyz", 200)
            begin = time.monotonic()
            with self.page(server) as page:
                page.wait(ROWS + " === 50")
                print(f"\n150 000 targets: first rows after {time.monotonic() - begin:.2f} s, "
                      "with the start of the browser")
                page.wait("byId('summary').innerText.startsWith('150,000')")
                status, _, body = server.ask("/api/ui/targets?limit=50&facets=1")
                self.assertEqual(status, 200)
                self.assertLess(len(body), 100_000)
                page.js("byId('query').focus()")
                page.type("10.1.17.8:")
                page.wait(ROWS + " === 1")

    def test_who_does_not_ask_for_html_gets_text(self):
        with serving("--sim") as server:
            server.wait_for("/readyz", 200)
            status, headers, body = server.ask("/")
            self.assertEqual((status, headers["Content-Type"]), (200, "text/plain; charset=utf-8"))
            self.assertIn(b"pods: ", body)
            _, headers, _ = server.ask("/", Accept="text/html")
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertNotIn("http:", urllib.parse.unquote(policy))


if __name__ == "__main__":
    unittest.main()
