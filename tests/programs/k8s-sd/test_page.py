"""k8s-sd's page in a real browser: its content, and its resistance to hostile labels.

With K8S_SD_SCREENSHOTS=FOLDER the pictures of docs/programs/k8s-sd/page.md are written there."""

import contextlib
import http.client
import json
import os
import time
import unittest
import urllib.parse

import browser
from harness import TIMEOUT, JsonHandler, server_with
from test_serving import UNREACHABLE, serving, serving_file

BIDI = "a\u202egnp.exe"


def static_jobs(**jobs):
    """A configuration of jobs with these static_configs."""
    return json.dumps({"scrape_configs": [{"job_name": name, **job} for name, job in jobs.items()]})


def job_of(targets, rules=(), **labels):
    return {"static_configs": [{"targets": list(targets), "labels": labels}],
            "relabel_configs": list(rules)}


HOSTILE = json.dumps({"scrape_configs": [{"job_name": "hostile <b>job</b>", "static_configs": [
    {"targets": ["10.0.0.1:80"], "labels": {
        "image": "<img src=x onerror=\"document.title='owned'\">",
        "script": "</script><script>document.title='owned'</script>",
        "bidi": BIDI, "long": "x" * 262144,
        "link": "javascript:document.title='owned'"}},
    {"targets": ["10.0.0.2:80"], "labels": {"other": "one"}}]}]})
MANY = static_jobs(many=job_of((f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}:9100"
                                for i in range(150_000)), team="red"))
# Each row uses all optional parts of a row.
WIDE = static_jobs(**{f"job {n}": job_of(
    [f"10.0.{n}.{i}:9100" for i in range(20)],
    **{f"label_{i}": f"value {i}" for i in range(15)}) for n in range(50)})
RELABELLED = static_jobs(one=job_of(
    ["10.0.0.1:80", "10.0.0.2:80"],
    [{"source_labels": ["__address__"], "regex": r"10\.0\.0\.2:.*", "action": "drop"},
     {"target_label": "__address__", "replacement": "exporter:9115"},
     {"target_label": "__scheme__", "replacement": "https"},
     {"target_label": "__param_module", "replacement": "http"},
     {"target_label": "__metrics_path__", "replacement": "/probe"},
     {"target_label": "team", "replacement": "it's: \"red\""}]))
ROWS = "document.querySelectorAll('.row').length"
FOCUS = "document.activeElement"
LIVE = "byId('live').textContent"
MAX_NODES = 2000
MAX_BYTES = 100_000  # until the first rows appear
MAX_HEAP = 8_000_000


class Between:
    """A proxy that serves the program unchanged below /tools/sd/; it can replace some responses."""

    def __init__(self, port):
        self.port = port
        # Prefix of a path: (status, type, body), or a delay in seconds. The longest prefix wins.
        self.instead = {}
        between = self

        class Handler(JsonHandler):
            protocol_version = "HTTP/1.0"  # the end of the connection ends a stream

            def do_GET(self):
                between.answer(self)

            do_POST = do_GET

        self.server = contextlib.ExitStack()
        self.url = self.server.enter_context(server_with(Handler)) + "/tools/sd/"

    def say(self, path, body, status=200):
        self.instead[path] = (status, "application/json", json.dumps(body))

    def answer(self, handler):
        path = handler.path.removeprefix("/tools/sd")
        if path == handler.path:
            handler.send_error(404)
            return
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        prefixes = [start for start in self.instead if path.startswith(start)]
        other = self.instead[max(prefixes, key=len)] if prefixes else None
        # The page abandons some responses.
        with contextlib.suppress(OSError, http.client.HTTPException):
            if isinstance(other, tuple):
                self.send(handler, other[0], {"Content-Type": other[1]}, [other[2].encode()])
                return
            if other:
                time.sleep(other)
            self.pass_on(handler, path, body)

    def pass_on(self, handler, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        with contextlib.closing(connection):
            kept = {name: handler.headers[name] for name in ("Accept", "Content-Type")
                    if name in handler.headers}
            connection.request(handler.command, path, body or None, kept)
            answer = connection.getresponse()
            headers = {name: answer.getheader(name)
                       for name in ("Content-Type", "Content-Security-Policy")
                       if answer.getheader(name)}
            self.send(handler, answer.status, headers, iter(lambda: answer.read1(1 << 16), b""))

    @staticmethod
    def send(handler, status, headers, pieces):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        for piece in pieces:
            handler.wfile.write(piece)
            handler.wfile.flush()

    def close(self):
        self.server.close()


@contextlib.contextmanager
def behind_prefix(port):
    between = Between(port)
    try:
        yield between
    finally:
        between.close()


@unittest.skipUnless(browser.PROGRAM, browser.WHY_NOT)
class WithPage(unittest.TestCase):
    @contextlib.contextmanager
    def page(self, server, path="/", **options):
        """The page; the test fails if it contacts other hosts or logs complaints."""
        url = f"http://127.0.0.1:{server.port}"
        with browser.browser(**options) as page:
            page.open(url + path)
            yield page
            self.assert_is_fine(page, url + "/")

    @contextlib.contextmanager
    def page_behind(self, between, path="", **options):
        with browser.browser(**options) as page:
            page.open(between.url + path)
            yield page
            self.assert_is_fine(page, between.url)

    def assert_is_fine(self, page, url):
        self.assertEqual(page.complaints, [])
        for asked in page.requests:
            self.assertTrue(asked.startswith((url, "data:", "about:")), asked)
        self.assert_is_small(page)

    def assert_is_small(self, page):
        self.assertLess(page.js("document.querySelectorAll('*').length"), MAX_NODES)

    def picture(self, page, name):
        folder = os.environ.get("K8S_SD_SCREENSHOTS")
        if folder:
            page.screenshot(os.path.join(folder, name + ".png"))


class Page(WithPage):
    def test_targets_are_searched_and_filtered_by_the_server(self):
        with serving("--sim") as server, self.page(server) as page:
            page.wait(ROWS + " > 10 && byId('strip').innerText.includes('All is well')")
            self.picture(page, "page-targets")
            page.js("byId('query').focus()")
            page.type('namespace="shop" cart')
            page.wait("location.search.includes('cart')")
            page.wait("[...document.querySelectorAll('.row')].every("
                      "row => row.innerText.includes('cart'))")
            self.assertEqual(page.js(FOCUS + ".id"), "query")
            page.type(' x=~"("')
            page.wait("byId('notice').innerText.includes('at character')")
            page.forgive("api/ui/targets?q=", 400)
            page.open(f"http://127.0.0.1:{server.port}/?state=dropped")
            page.wait(ROWS + " > 5")
            self.assertTrue(page.js("[...document.querySelectorAll('.row .reason')].some("
                                    "one => one.innerText.trim().startsWith('rule 1: keep if'))"))
            self.assertEqual(page.js("document.querySelectorAll('.state.active').length"), 0)
            page.click("aside button[aria-pressed=true]")
            page.wait("document.querySelectorAll('.state.active').length > 0")

    def test_the_reasons_of_the_filter_can_be_read(self):
        with serving("--sim") as server, self.page(server) as page:
            page.wait("document.querySelector('.facet.why button')")
            why = "document.querySelector('.facet.why button span')"
            self.assertEqual(page.js(f"getComputedStyle({why}).whiteSpace"), "normal")
            self.assertIn("rule 1 of pods", page.js(why + ".innerText"))
            self.assertLessEqual(page.js(why + ".scrollWidth"), page.js(why + ".clientWidth"))

    def test_there_are_pages_and_links_that_last(self):
        with serving("--sim") as server, self.page(server, "/?limit=10&job=services") as page:
            page.wait(ROWS + " === 10 && byId('summary').innerText.startsWith('1–10 of ')")
            first = page.js("document.querySelector('.row').dataset.id")
            page.press("n")
            page.wait(f"document.querySelector('.row').dataset.id !== '{first}'")
            page.wait("byId('summary').innerText.startsWith('11–20 of ')")
            page.js("history.back()")
            page.wait(f"document.querySelector('.row').dataset.id === '{first}'")
            page.open(f"http://127.0.0.1:{server.port}/?job_of=services&id={first}")
            page.wait("document.querySelector('.drawer')")
            self.assertIn("__meta_kubernetes",
                          page.js("document.querySelector('.drawer').innerText"))

    def test_back_goes_back(self):
        with serving("--sim") as server, self.page(server) as page:
            page.wait(ROWS + " > 10")
            entries = page.js("history.length")
            page.click(".row a.open")
            page.wait("document.querySelector('.drawer')")
            page.press("Escape")
            page.wait("!document.querySelector('.drawer') && !location.search")
            page.js("byId('query').focus()")
            page.type("cart")
            page.wait("location.search.includes('cart')")
            page.type("-x")
            page.wait("location.search.includes('cart-x')")
            self.assertEqual(page.js("history.length"), entries + 1)
            page.js("history.back()")
            page.wait("!location.search && byId('query').value === ''")
            page.wait(ROWS + " > 10")
            # Without a history entry to return to, the page stays.
            row = page.js("document.querySelector('.row').dataset.key").rpartition(" ")
            page.open(f"http://127.0.0.1:{server.port}/?job_of={row[0]}&id={row[2]}")
            page.wait("document.querySelector('.drawer')")
            page.press("Escape")
            page.wait("!document.querySelector('.drawer')")
            self.assertEqual(page.js("location.search"), "")

    def test_the_keyboard_is_enough(self):
        with serving("--sim") as server, self.page(server) as page:
            page.wait(ROWS + " > 10")
            page.press("j")
            page.press("j")
            row = page.js(FOCUS + ".closest('.row').dataset.id")
            page.press("Enter")
            page.wait("document.querySelector('.drawer') === " + FOCUS)
            page.press("Escape")
            page.wait("!document.querySelector('.drawer')")
            self.assertEqual(page.js(FOCUS + ".closest('.row').dataset.id"), row)
            page.press("j")
            self.assertEqual(page.js("rowsHere().indexOf(" + FOCUS + ".closest('.row'))"), 2)
            page.press("/")
            self.assertEqual(page.js(FOCUS + ".id"), "query")
            page.press("Escape")
            page.press("?")
            page.wait("byId('keys').open")
            page.js("byId('keys').close()")
            page.press("5")
            page.wait("byId('dry-run')")
            page.forgive("api/ui/collectors", 404)

    def test_the_focus_stays_where_it_is(self):
        with serving("--sim") as server, self.page(server) as page:
            page.wait(ROWS + " > 10")
            page.js("document.querySelector('[data-key=\"state=dropped\"]').focus()")
            page.press("Enter")
            page.wait("location.search === '?state=dropped' && "
                      "document.querySelectorAll('.state.active').length === 0")
            self.assertEqual(page.js(FOCUS + ".dataset.key"), "state=dropped")
            page.press("j")
            row = page.js(FOCUS + ".closest('.row').dataset.key")
            page.js("show()")
            self.assertEqual(page.js(FOCUS + ".closest('.row').dataset.key"), row)

    def test_what_is_equal_is_left_alone(self):
        with serving_file(UNREACHABLE) as (server, _), self.page(server) as page:
            page.wait("byId('strip').innerText.includes('is not complete')")
            self.assertIn("127.0.0.1:1", page.js("byId('strip').innerText"))
            self.assertEqual(page.js("byId('strip').querySelector('a').innerText"), "Health")
            page.js("byId('main').querySelector('p').focus(); mark = byId('main').querySelector("
                    "'.columns'); getSelection().selectAllChildren(byId('summary'))")
            page.requests.clear()
            time.sleep(6)
            self.assertTrue(page.js("mark.isConnected"))
            self.assertEqual(page.js("String(getSelection())"), "No target")
            self.assertLessEqual(sum("api/ui/targets" in one for one in page.requests), 2)
            page.press("7")
            page.wait("byId('main').innerText.includes('127.0.0.1:1')")
            self.picture(page, "page-health")

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
            self.assertLess(text.index("rule 1"), text.index("Not in 1 job"))
            self.picture(page, "page-find")
            page.js("byId('query').value = 'pod/no/such'; byId('query').form.requestSubmit()")
            page.wait("byId('main').innerText.includes('No such object is known')")

    def test_rules_are_tried_without_changing_anything(self):
        with serving("--sim") as server:
            server.wait_for("/readyz", 200)
            dropped = json.loads(server.ask("/api/ui/targets?state=dropped&q=frontend")[2])
            row = dropped["rows"][0]["id"]
            with self.page(server, f"/?view=lab&job=pods&id_of={row}") as page:
                page.wait("byId('result')?.innerText.includes('dropped')")
                before = server.targets("/sd/pods/targets")
                page.js("byId('rules').value = byId('rules').value.replace('metrics', "
                        "'http|metrics')")
                page.click("#run")
                page.wait("document.querySelector('#result .state.active') && byId('effect')")
                self.assertRegex(page.js("byId('effect').innerText"), r"\+[1-9]")
                self.assertEqual(page.js("byId('effect').querySelector('.soft').innerText"), "−0")
                self.assertLess(page.js("byId('effect').getBoundingClientRect().bottom"), 800)
                self.picture(page, "page-laboratory")
                page.js("byId('rules').value = '- {action: dorp}'")
                page.click("#run")
                page.wait("byId('result').innerText.includes('rules:1')")
                page.js("byId('labels').value = '{'")
                page.click("#run")
                page.wait("byId('result').innerText.includes('no JSON object')")
                self.assertTrue(before)
                self.assertTrue(server.targets("/sd/pods/targets"))
                page.forgive("api/ui/relabel", 400)

    def test_what_is_written_in_the_laboratory_stays(self):
        with serving("--sim") as server, self.page(server, "/?view=lab&job=pods") as page:
            page.wait("byId('rules') && byId('rules').value.includes('action')")
            rules = "- {action: drop, regex: x, source_labels: [__address__]}"
            page.js("byId('rules').focus(); byId('rules').value = ''")
            page.type(rules + "\n- {action: labeldrop, regex: pod}")
            page.click("#run")
            page.wait("document.querySelector('#effect a.open')")
            page.js("mine = [byId('rules'), byId('effect')]")
            page.click("#effect a.open")
            page.wait("document.querySelector('.drawer')")
            page.press("Escape")
            page.wait("!document.querySelector('.drawer')")
            page.press("l")
            page.wait(LIVE + " === 'Live: on' && get('live')")
            page.press("l")
            self.assertTrue(page.js("mine.every((one) => one.isConnected)"))
            self.assertTrue(page.js("byId('rules').value").startswith(rules))
            page.press("1")
            page.wait(ROWS + " > 10")
            page.open(f"http://127.0.0.1:{server.port}/?view=lab&job=pods")
            page.wait("byId('rules') && byId('rules').value.includes('labeldrop')")
            page.click("#reset")
            page.wait("!byId('rules').value.includes('labeldrop')")

    def test_changes_come_by_themselves(self):
        with serving("--sim") as server, self.page(server, "/?view=changes") as page:
            page.wait("byId('changes')")
            page.press("l")
            page.wait("byId('live').getAttribute('aria-pressed') === 'true'")
            newest = page.js("byId('changes').firstChild.dataset.seq")
            page.wait(f"byId('changes').firstChild.dataset.seq !== '{newest}'")
            self.assertIn("live=1", page.js("location.search"))
            page.click("#pause")
            newest = page.js("byId('changes').firstChild.dataset.seq")
            page.wait("/Paused: [1-9]/.test(byId('live-words').innerText)")
            self.assertEqual(page.js("byId('changes').firstChild.dataset.seq"), newest)
            page.click("#pause")
            page.wait(f"byId('changes').firstChild.dataset.seq !== '{newest}'")
            page.reload()
            page.wait("live.source?.readyState === 1")
            page.press("l")
            page.wait("live.source === null")

    def test_every_view_can_be_seen(self):
        with serving("--sim") as server:
            server.targets("/sd/pods/targets?shard=1&shards=3")
            views = {"consumers": "shard=1&shards=3", "health": "complete",
                     "snippets": "http_sd_configs", "shards&job=pods": "would move"}
            for view, text in views.items():
                with self.subTest(view=view), self.page(server, "/?view=" + view) as page:
                    page.wait(f"byId('main').innerText.includes({json.dumps(text)})")
                    page.wait("byId('strip').innerText.includes('All is well')")
                    page.forgive("api/ui/collectors", 404)
                    if view.startswith("shards"):
                        self.picture(page, "page-shards")
            with self.page(server, dark=True) as page:
                page.wait(ROWS + " > 10 && byId('strip').innerText.includes('All is well')")
                self.assertEqual(page.js("document.documentElement.dataset.theme"), "dark")
                self.picture(page, "page-targets-dark")
            with self.page(server, width=420) as page:
                for view in range(1, 10):
                    page.press(str(view))
                    page.wait("byId('main').dataset.view === views[%d].name" % (view - 1))
                    self.assertLessEqual(page.js("document.documentElement.scrollWidth"), 420)
                page.forgive("api/ui/collectors", 404)

    def test_a_small_screen_begins_with_targets(self):
        with serving("--sim") as server, self.page(server, width=390, height=844) as page:
            page.wait(ROWS + " > 10 && byId('strip').innerText.includes('All is well')")
            self.assertFalse(page.js("byId('filters').open"))
            self.assertLess(page.js("document.querySelector('.row').getBoundingClientRect().top"),
                            400)
            # The placeholder is not cut.
            self.assertTrue(page.js("""(() => {
                const field = byId('query');
                const ink = document.createElement('canvas').getContext('2d');
                ink.font = getComputedStyle(field).font;
                const style = getComputedStyle(field);
                return ink.measureText(field.placeholder).width <= field.clientWidth
                    - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight); })()"""))
            page.click("#filters summary")
            page.click('[data-key="state=dropped"]')
            page.wait("location.search === '?state=dropped' && "
                      "document.querySelector('summary').innerText === 'Filters: 1 chosen'")
            self.assertTrue(page.js("byId('filters').open"))
            page.js("show(true)")
            page.wait("!busy")
            self.assertTrue(page.js("byId('filters').open"))
            page.press("7")
            page.wait("byId('main').dataset.view === 'health' && "
                      "document.querySelector('.scroll')")
            self.assertTrue(page.js("(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)("
                                    "document.querySelector('.scroll'))"))
            self.assertIn("local", page.js(
                "getComputedStyle(document.querySelector('.scroll')).backgroundAttachment"))
        with serving("--sim") as server, self.page(server) as page:
            page.wait(ROWS + " > 10")
            self.assertTrue(page.js("byId('filters').open"))
            self.assertEqual(page.js("document.querySelector('summary').offsetHeight"), 0)

    def test_buttons_say_what_is_on(self):
        with serving("--sim") as server, self.page(server) as page:
            texts = lambda: page.js("['live', 'theme', 'help'].map((id) => byId(id).innerText)")
            self.assertEqual(texts(), ["Live: off", "Theme: light", "Keys ?"])
            page.click("#theme")
            page.click("#live")
            page.wait(LIVE + " === 'Live: on'")
            self.assertEqual(texts()[1], "Theme: dark")

    def test_a_view_that_there_is_not_is_named(self):
        with serving("--sim") as server, self.page(server, "/?view=bogus") as page:
            page.wait("byId('notice').innerText.includes('There is no view “bogus”')")
            page.wait(ROWS + " > 10")
            page.press("7")
            page.wait("byId('notice').hidden")
            page.open(f"http://127.0.0.1:{server.port}/?view=laboratory")
            page.wait("byId('main').dataset.view === 'lab'")
            self.assertTrue(page.js("byId('notice').hidden"))

    def test_a_page_that_there_is_not_leads_to_the_first(self):
        with serving("--sim") as server, self.page(server, "/?after=zzz&job=pods") as page:
            page.click("#first")
            page.wait(ROWS + " > 10 && byId('notice').hidden && location.search === '?job=pods'")
            page.forgive("api/ui/targets?", 400)

    def test_a_shard_without_targets_has_no_bar(self):
        with serving_file(RELABELLED) as (server, _), \
                self.page(server, "/?view=shards&job=one&shards=3") as page:
            page.wait("document.querySelectorAll('tbody tr').length >= 3")
            bars = page.js("[...document.querySelectorAll('tbody tr')].slice(0, 3).map((row) => "
                           "[row.cells[1].innerText, row.querySelectorAll('.meter').length])")
            self.assertEqual(sorted(bars), [["0", 0], ["0", 0], ["1", 1]])
            page.open(f"http://127.0.0.1:{server.port}/")
            page.click(".row a.open")
            page.wait("document.querySelector('.drawer [name=shards]')")
            self.assertEqual(page.js("document.querySelector('.drawer [name=shards]')"
                                     ".parentElement.innerText.trim()"), "Owner, of  shards")
            page.forgive("api/ui/collectors", 404)

    def test_the_theme_is_kept(self):
        with serving("--sim") as server, self.page(server) as page:
            theme = "document.documentElement.dataset.theme"
            self.assertEqual(page.js(theme), "light")
            page.click("#theme")
            self.assertEqual(page.js(theme), "dark")
            page.reload()
            page.wait(ROWS + " > 10")
            self.assertEqual(page.js(theme), "dark")

    def test_what_is_copied_can_be_used(self):
        copied = ("copied = ''; navigator.clipboard.writeText = async (text) => { copied = text; };"
                  "press = (title) => { copied = ''; [...document.querySelectorAll('button')].find("
                  "(one) => one.textContent === title).click(); }")
        with serving_file(RELABELLED) as (server, _), self.page(server) as page:
            page.wait(ROWS + " === 2")
            page.js(copied)
            page.js("press('Copy YAML')")
            page.wait("copied")
            ((target, labels),) = server.targets("/sd/one/targets")
            lines = page.js("copied").splitlines()
            self.assertEqual(lines[:2], [f'- targets: ["{target}"]', "  labels:"])
            self.assertEqual({name: json.loads(value) for name, value in (
                (json.loads(line.strip().partition(": ")[0]), line.partition(": ")[2])
                for line in lines[2:])}, labels)
            page.js("press('Copy JSON')")
            page.wait("copied")
            self.assertEqual(len(json.loads(page.js("copied"))), 2)
            page.js("press('Copy curl')")
            page.wait("copied.startsWith('curl -s ')")
            page.click(".row a.open")
            page.wait("document.querySelector('.drawer')")
            page.js("press('Copy link')")
            page.wait("copied.includes('?job_of=one&id=')")

    def test_hostile_labels_are_texts(self):
        with serving_file(HOSTILE) as (server, _), self.page(server) as page:
            page.wait(ROWS + " === 2")
            self.assertEqual(
                page.js("document.querySelectorAll('main img, main script').length"), 0)
            text = page.js("byId('main').innerText")
            self.assertIn("<img src=x onerror=", text)
            self.assertIn("a⟨U+202E⟩gnp.exe", text)
            self.assertIn("hostile <b>job</b>", text)
            self.assertNotIn("\u202e", page.js("document.documentElement.textContent"))
            self.assertLess(len(text), 10_000)
            for place in ("td", ".chip", ".foreign"):
                self.assertEqual(page.js("getComputedStyle(document.querySelector("
                                         f"'main {place}')).unicodeBidi"), "isolate")
            page.press("j")
            page.press("Enter")
            page.wait("document.querySelector('.drawer')")
            page.click(".drawer td button.plain")
            page.wait("document.querySelector('.drawer').innerText.length > 260000")
            self.assertEqual(page.js("[...document.querySelectorAll('a')].filter("
                                     "a => a.protocol === 'javascript:').length"), 0)
            self.assertEqual(page.js("document.title"), "Targets · k8s-sd")

    def test_it_works_behind_a_prefix(self):
        with serving("--sim") as server, behind_prefix(server.port) as between, \
                self.page_behind(between) as page:
            page.wait(ROWS + " > 10")
            page.js("go({ view: 'lab', job: 'pods' })")
            page.wait("byId('rules') && byId('rules').value")
            page.click("#run")
            page.wait("byId('effect')")
            page.press("4")
            page.press("l")
            page.wait("byId('changes') && recent.length > 0")

    def test_many_targets_are_as_quick_as_few(self):
        with serving_file(MANY) as (server, _):
            server.wait_for("/readyz", 200)
            server.ask("/api/ui/targets")
            with self.page(server) as page:
                page.wait(ROWS + " === 50")
                page.open("about:blank")
                # Another load of the machine does not change the CPU time much.
                before = server.cpu_seconds()
                page.measure_cpu()
                page.open(f"http://127.0.0.1:{server.port}/")
                page.wait("performance.getEntriesByName('first rows').length")
                script = page.cpu_seconds()
                answers = server.cpu_seconds() - before
                print(f"\n150 000 targets: {script:.2f} s of CPU in the page and {answers:.2f} s in "
                      "the program until the first rows")
                self.assertLess(script + answers, 3)
                page.wait("byId('summary').innerText.includes('of 150,000')")
                self.assertLess(page.js(
                    "['navigation', 'resource'].flatMap((type) => performance.getEntriesByType("
                    "type)).reduce((sum, one) => sum + one.encodedBodySize, 0)"), MAX_BYTES)
                page.js("byId('query').focus()")
                page.type("10.1.17.8:")
                page.wait(ROWS + " === 1")

    def test_the_browser_holds_one_page_only(self):
        with serving_file(MANY) as (server, _), self.page(server, "/?limit=100") as page:
            server.wait_for("/readyz", 200)
            page.wait("byId('summary')?.innerText.includes('of 150,000')")
            before = page.heap()
            for number in range(1, 31):
                page.press("n")
                page.wait(f"byId('summary').innerText.startsWith('{number * 100 + 1:,}–')")
                self.assertEqual(page.js(ROWS), 100)
            heap = page.heap()
            print(f"\n150 000 targets, 30 pages: {before} bytes of heap, then {heap}")
            self.assertLess(heap, MAX_HEAP)
            self.assertLess(heap, before + 1_000_000)

    def test_no_view_is_too_large(self):
        with serving_file(WIDE) as (server, _), self.page(server) as page:
            server.wait_for("/readyz", 200)
            for i in range(300):
                server.ask("/sd/job%200", User_Agent=f"agent {i}")
            page.wait(ROWS + " === 50")
            row = "document.querySelector('.row')"
            self.assertEqual(page.js(row + ".querySelectorAll('.chip').length"), 5)
            self.assertRegex(page.js(row + ".innerText"), r"\+1\d")
            for path, text in {"?state=active": "1–50 of 1,000",
                               "?view=find&object=10.0.7.1": "Not in",
                               "?view=shards&shards=256&to=300": "0–99 of 300 shards",
                               "?view=consumers": "300 readers", "?view=health": "job 0",
                               "?view=changes": "first list", "?view=lab": "Run",
                               "?view=snippets": "http_sd"}.items():
                with self.subTest(path=path):
                    page.open(f"http://127.0.0.1:{server.port}/{path}")
                    page.wait(f"byId('main').innerText.includes({json.dumps(text)})")
                    self.assert_is_small(page)
            page.forgive("api/ui/collectors", 404)
            page.open(f"http://127.0.0.1:{server.port}/?view=shards&shards=4&replicas=2")
            page.wait("document.querySelector('td a[href*=\"replicas=2\"]')")
            page.forgive("api/ui/collectors", 404)

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


class PageWithTrouble(WithPage):
    """Servers that are slow, unreachable, or send something else."""

    @contextlib.contextmanager
    def simulated(self, path="", **options):
        with serving("--sim") as server, behind_prefix(server.port) as between:
            server.wait_for("/readyz", 200)
            with self.page_behind(between, path, **options) as page:
                page.wait("byId('main').dataset.view")
                yield between, page

    def test_a_stale_answer_does_not_overtake_a_newer_one(self):
        with self.simulated() as (between, page):
            between.instead["/api/ui/targets?q=cart"] = 1.5
            page.js("go({ q: 'cart' }); go({ q: 'orders' })")
            page.wait("document.querySelector('.row')?.innerText.includes('orders')")
            time.sleep(2)
            self.assertTrue(page.js("rowsHere().every((row) => row.innerText.includes('orders'))"))
            self.assertEqual(page.js("byId('notice').hidden"), True)

    def test_a_login_before_the_program_is_reported_in_words(self):
        with self.simulated() as (between, page):
            between.instead["/api/"] = (200, "text/html", "<h1>Log in</h1>")
            page.press("7")
            page.wait("byId('notice').innerText.includes('not JSON but text/html')")
            self.assertIn("login", page.js("byId('notice').innerText"))
            self.assertIn("nothing to show", page.js("byId('main').innerText"))

    def test_what_is_shown_stays_while_the_server_is_away(self):
        with self.simulated() as (between, page):
            page.wait(ROWS + " > 10 && byId('strip').innerText.includes('All is well')")
            between.instead["/api/"] = (503, "application/json", '{"error":"too busy"}')
            page.js("refresh()")
            page.wait("byId('strip').innerText.includes('too busy')")
            self.assertIn("last updated at", page.js("byId('strip').innerText"))
            self.assertGreater(page.js(ROWS), 10)
            between.instead.clear()
            page.js("refresh()")
            page.wait("byId('strip').innerText.includes('All is well')")
            page.forgive("api/", 503)

    def test_a_server_that_is_gone_is_reported_once(self):
        with self.simulated() as (between, page):
            page.wait(ROWS + " > 10 && byId('strip').innerText.includes('All is well')")
            between.close()
            page.press("7")
            page.wait("byId('strip').innerText.includes('does not answer')")
            self.assertTrue(page.js("byId('notice').hidden"))
            self.assertEqual(page.js("byId('main').dataset.view"), "health")
            self.assertEqual(page.js("byId('main').innerText.trim()"), "Health")
            page.complaints.clear()

    def test_notes_of_the_program_are_seen(self):
        with self.simulated() as (between, page):
            health = json.loads(page.js("fetch('api/ui/health').then((one) => one.text())"))
            self.assertEqual(health["notes"], [])
            health["notes"] = ["the certificate of tls.crt has expired"]
            between.say("/api/ui/health", health)
            page.js("refresh()")
            page.wait("byId('strip').innerText.includes('tls.crt has expired')")
            page.press("7")
            page.wait("byId('main').innerText.includes('▲ the certificate of tls.crt')")

    def test_a_view_that_failed_is_shown_when_it_can_be(self):
        with self.simulated() as (between, page):
            between.say("/api/ui/", {"error": "too busy"}, 503)
            page.js("go({ view: 'find', object: 'cart' })")
            page.wait("byId('notice').innerText === 'too busy'")
            self.assertIn("nothing to show", page.js("byId('main').innerText"))
            between.instead.clear()
            page.js("refresh()")
            page.wait("byId('notice').hidden && byId('query')?.value === 'cart'")
            page.forgive("api/ui/", 503)

    def test_a_new_column_is_in_each_row(self):
        def answer(*labels):
            return {"total": 2, "next": None, "rows": [
                {"id": f"{i:016}", "job": "pods", "state": "active", "reason": "", "url": "",
                 "address": f"10.9.9.{i}:80", "object": "", "node": "", "namespace": "",
                 "labels": one} for i, one in enumerate(labels)]}
        with self.simulated() as (between, page):
            between.say("/api/ui/targets", answer({}, {}))
            page.js("refresh()")
            page.wait(ROWS + " === 2")
            between.say("/api/ui/targets", answer({}, {"team": "red"}))
            page.js("refresh()")
            page.wait("document.querySelector('.chip')")
            self.assertEqual(page.js("[...document.querySelectorAll('tr')].map((row) => "
                                     "row.cells.length)"), [5, 5, 5])

    def test_live_comes_back(self):
        with self.simulated("?view=changes") as (between, page):
            between.say("/api/ui/live", {"error": "100 readers"}, 503)
            page.press("l")
            page.wait(LIVE + " === 'Live: reconnecting'")
            self.assertIn("Next attempt in", page.js("byId('live-words').innerText"))
            between.instead.clear()
            page.wait(LIVE + " === 'Live: on' && recent.length > 0")
            # Another process starts with other numbers.
            with serving("--sim") as other:
                other.wait_for("/readyz", 200)
                between.port, first = other.port, between.port
                page.js("live.source.onerror()")
                page.wait(LIVE + " === 'Live: on' && feed.changes.length > 0 && "
                          "byId('changes').children.length < 60")
                page.wait("recent.length > 0 && byId('changes').firstChild.dataset.seq === "
                          "String(recent[0].seq)")
                page.js("go({ live: null })")
                between.port = first
            page.forgive("api/ui/live", 503)

    def test_a_place_in_the_history_of_another_process_is_left(self):
        with self.simulated() as (between, page):
            between.say("/api/ui/history?before=", {"error": "of another"}, 410)
            page.js("go({ view: 'changes', before: 'old-3' })")
            page.wait("byId('changes') && location.search === '?view=changes'")
            self.assertTrue(page.js("byId('notice').hidden"))
            page.forgive("api/ui/history?before=", 410)

    def test_changes_without_end_are_few_elements(self):
        with self.simulated("?view=changes&live=1") as (_, page):
            page.wait("live.source?.readyState === 1 && byId('changes')")
            page.js("for (let i = 0; i < 300; i++) takeChange({ seq: `x-${i}`, time: 1e12, "
                    "job: 'pods', kind: 'added', id: '1', address: 'a:1', object: 'o' })")
            page.wait("document.querySelector('[data-seq=\"x-299\"]')")
            self.assertEqual(page.js("byId('changes').children.length"), 100)
            self.assert_is_small(page)
            page.press("l")
            page.wait("live.source === null")

    def test_a_change_of_a_target_that_is_gone(self):
        change = {"seq": "e-1", "time": 1e12, "job": "pods", "kind": "removed", "id": "0" * 16,
                  "address": "10.9.9.9:80", "object": "pod/shop/gone", "what": "", "reason": "why"}
        with self.simulated() as (between, page):
            between.say("/api/ui/history", {"changes": [change], "next": None, "lost": 0})
            page.press("4")
            page.wait("document.querySelector('#changes a.open')")
            self.assertIn("why", page.js("byId('changes').innerText"))
            self.assertEqual(page.js("document.querySelector('#changes td').title"),
                             "2001-09-09T01:46:40.000Z")
            page.click("#changes a.open")
            page.wait("document.querySelector('.drawer')?.innerText.includes('is gone')")
            page.click(".drawer a")
            page.wait("byId('query')?.value === 'pod/shop/gone'")
            page.forgive("api/ui/target?", 404)
            page.forgive("api/ui/target?", 400)

    def test_late_consumers_come_first(self):
        def reader(name, **more):
            return {"address": name, "agent": "a", "job": "j", "list": "relabelled",
                    "selection": "", "interval": 15, "last_poll": 9e11, "polls": 1, "status": 200,
                    "bytes": 1, "errors": 0, "current": True, "late": False, **more}
        with self.simulated() as (between, page):
            between.say("/api/ui/consumers", {"now": 9e11 + 7000, "dropped": 0, "consumers": [
                reader("fine", kind="stream"), reader("late", late=True),
                reader("old", current=False, version="aaaa", current_version="bbbb"),
                reader("fails", status=503, errors=3)]})
            page.press("6")
            page.wait("document.querySelectorAll('tbody tr').length === 4")
            names = page.js("[...document.querySelectorAll('tbody tr')].map((row) => "
                            "row.cells[0].firstChild.data)")
            self.assertEqual(names, ["late", "fails", "old", "fine"])
            text = page.js("byId('main').innerText")
            for part in ("1 late, 1 failing, 1 with an older list", "7 s ago", "aaaa → bbbb",
                         "stream"):
                self.assertIn(part, text)
            page.click("#late")
            page.wait("document.querySelectorAll('tbody tr').length === 1")

    def test_who_owns_a_target(self):
        with self.simulated() as (between, page):
            between.say("/api/ui/collectors", {"enabled": True, "unassigned": 7, "collectors": [
                {"name": "collector-0", "targets": 12, "ready": True}]})
            page.press("5")
            page.wait("byId('collectors')?.innerText.includes('no collector: 7 targets')")
            self.assertIn("collector-0", page.js("byId('collectors').innerText"))
            page.press("1")
            page.wait("document.querySelector('.row .state.active')")
            key = page.js("document.querySelector('.row').dataset.key").rpartition(" ")
            row = json.loads(page.js(f"fetch('api/ui/target?job={key[0]}&id={key[2]}')"
                                     ".then((answer) => answer.text())"))
            row["row"].update(owners=[2], collectors=["collector-0"])
            between.say("/api/ui/target?", row)
            page.click(".row a.open")
            page.wait("document.querySelector('.drawer [name=shards]')")
            page.js("document.querySelector('.drawer [name=shards]').value = 3; "
                    "document.querySelector('.drawer [name=shards]').onchange({ target: "
                    "document.querySelector('.drawer [name=shards]') })")
            page.wait("document.querySelector('.drawer').innerText.includes('shard 2')")
            self.assertIn("collector-0", page.js("document.querySelector('.drawer').innerText"))

    def test_health_says_since_when_and_what_to_do(self):
        watch = {"kind": "pods", "namespace": "", "state": "failing", "synced": False,
                 "message": "403", "remedy": "allow it", "failures": 4, "objects": 0, "relists": 0,
                 "http_version": 2, "since": 1e12, "waiting": "retry", "last_event": None,
                 "last_list": None}
        config = {"role": "pod", "server": "in-cluster", "state": "stale", "message": "cannot list",
                  "remedy": "grant list", "failures": 3, "since": 1e12, "stale_since": 1e12 - 60000,
                  "watches": [watch]}
        with self.simulated() as (between, page):
            between.say("/api/ui/health", {"now": 1e12 + 120_000, "jobs": [
                {"job": "fine", "synced": True, "configs": []},
                {"job": "bad", "synced": True, "configs": [config]}]})
            page.press("7")
            page.wait("byId('main').innerText.includes('What to do: grant list')")
            text = page.js("byId('main').innerText")
            for part in ("for 2 min, 3 failures, the targets are of 3 min ago", "allow it",
                         "by HTTP/2"):
                self.assertIn(part, text)
            self.assertLess(text.index("cannot list"), text.index("fine"))
            page.wait("byId('strip').innerText.includes('Job bad is out of date')")
            page.js("scrollTo(0, 9); mine = document.querySelector('h3')")
            page.js("show(true)")
            self.assertTrue(page.js("mine.isConnected"))


    def test_several_clusters_are_a_table(self):
        counts = {"objects": 30, "watches": 2, "connections": 1, "requests": 9}
        blue = {"cluster": "blue", "server": "https://blue", "state": "synced", "targets": 1200,
                "failures": 0, **counts}
        green = {"cluster": "green", "server": "https://green", "state": "failing", "targets": 7,
                 "failures": 4, "message": "connection refused", "remedy": "start it",
                 "since": 1e12, **counts}
        cells = ("[...document.querySelectorAll('[data-key=servers] tbody tr')].map(row => "
                 "[...row.children].map(cell => cell.innerText))")
        with self.simulated() as (between, page):
            def say(*servers):
                job = {"job": "nodes", "synced": False, "configs": [],
                       "missing_clusters": ["<b>green"]}
                between.say("/api/ui/health", {"now": 1e12 + 1000, "jobs": [job],
                                               "servers": list(servers)})
            say(blue, green)
            page.press("7")
            page.wait("byId('main').innerText.includes('What to do: start it')")
            first, second = page.js(cells)
            self.assertEqual(first[0].split(), ["blue", "https://blue"])
            self.assertEqual(second[0].split(), ["green", "https://green"])
            self.assertIn("connection refused", second[1])
            self.assertNotIn("What to do", first[1])
            self.assertEqual([first[-1], second[2], second[-1]], ["0", "7", "4"])
            self.assertIn("Listed without <b>green", page.js("byId('main').innerText"))
            self.assertEqual(page.js("document.querySelectorAll('[data-key=servers] td.bad').length"),
                             1)
            say(blue)  # one cluster has the table of its watches
            page.js("show(true)")
            page.wait("document.querySelector('[data-key=servers]') === null")

    def test_monitors_say_what_is_wrong_and_what_to_do(self):
        kind = {"kind": "ServiceMonitor", "watch": "synced", "message": "", "objects": 3,
                "accepted": 2, "refused": 1, "unselected": 0, "waiting": 0}
        fine = {"kind": "ServiceMonitor", "namespace": "shop", "name": "fine", "state": "accepted",
                "jobs": 1, "reason": "", "remedy": ""}
        empty = {**fine, "name": "empty"}
        refused = {**fine, "name": "<b>bad", "state": "refused", "jobs": 0,
                   "reason": "the Secret shop/creds does not exist", "remedy": "create it"}
        job = {"name": "serviceMonitor/shop/fine/0", "complete": True, "rules": 3, "discovered": 9,
               "active": 4, "dropped": 5, "failed": 0, "duplicate": 0}
        with self.simulated() as (between, page):
            page.press("9")
            page.wait("byId('main').innerText.includes('--monitors')")
            between.say("/api/ui/monitors", {
                "enabled": True, "synced": True, "jobs": 2, "kinds": [kind],
                "owner": {"known": True, "reason": "", "remedy": ""},
                "monitors": [fine, empty], "next": "ServiceMonitor/shop/empty"})
            between.say("/api/ui/monitors?after=ServiceMonitor%2Fshop%2Fempty",
                        {"monitors": [refused], "next": "ServiceMonitor/shop/empty"})
            between.say("/api/ui/status", {"version": "1", "jobs": [
                job, {**job, "name": "serviceMonitor/shop/empty/0", "active": 0}],
                "limits": {"page_rows": 1000, "query_bytes": 1000}})
            between.say("/api/ui/monitor?job=serviceMonitor%2Fshop%2Fempty%2F0", {
                "job": "serviceMonitor/shop/empty/0", "reason": "no Service has the port web",
                "remedy": "set port"})
            page.js("show(true)")
            page.wait("byId('monitors')?.innerText.includes('no Service has the port web')")
            rows = page.js("[...byId('monitors').querySelectorAll('tbody tr')]"
                           ".map((row) => row.innerText)")
            self.assertEqual(len(rows), 3)
            for row, parts in zip(rows, (("<b>bad", "refused", "shop/creds", "create it"),
                                         ("shop/empty", "no targets", "set port"),
                                         ("shop/fine", "accepted", "4"))):
                for part in parts:
                    self.assertIn(part, row)
            page.js("go({ state: 'refused' })")
            page.wait("byId('monitors').querySelectorAll('tbody tr').length === 1")
            page.js("go({ state: null, q: 'fine' })")
            page.wait("byId('monitors').innerText.includes('shop/fine')")


class PageForAll(WithPage):
    """Also for users of screen readers, or without a mouse."""

    def test_everything_has_a_name(self):
        roles = {"button", "link", "textbox", "searchbox", "combobox", "spinbutton", "checkbox"}
        with serving("--sim") as server, self.page(server) as page:
            server.targets("/sd/pods/targets")
            for view in range(1, 10):
                page.press(str(view))
                page.wait(f"byId('main').dataset.view === views[{view - 1}].name")
                with self.subTest(view=page.js("viewNow().name")):
                    things = list(page.tree())
                    self.assertTrue(any(role == "heading" for role, _, _ in things))
                    named = [(role, name) for role, name, _ in things if role in roles]
                    self.assertGreater(len(named), 10)
                    self.assertEqual([one for one in named if not one[1].strip()], [])
            page.press("1")
            page.click(".row a.open")
            page.wait("document.querySelector('.drawer')")
            self.assertIn(("dialog", "Target"), [thing[:2] for thing in page.tree()])
            self.assertEqual([thing for thing in page.tree()
                              if thing[0] in roles and not thing[1]], [])
            page.forgive("api/ui/collectors", 404)

    def test_the_tab_key_goes_from_the_top_to_the_rows(self):
        with serving("--sim") as server, self.page(server) as page:
            page.wait(ROWS + " > 10")
            been = []
            for _ in range(40):
                page.press("Tab")
                been.append(page.js(f"{FOCUS}.id || {FOCUS}.dataset.key || {FOCUS}.dataset.go || "
                                    f"{FOCUS}.className || {FOCUS}.textContent"))
            self.assertEqual(been[0], "skip")
            for first, second in (("targets", "live"), ("live", "theme"), ("theme", "query"),
                                  ("query", "state=active"), ("state=active", "Copy JSON")):
                self.assertLess(been.index(first), been.index(second))
            self.assertIn("open mono foreign", been)

    def test_texts_and_borders_can_be_seen(self):
        contrast = """((front, back) => {
            const light = (text) => { const parts = text.match(/[\\d.]+/g).slice(0, 3)
                .map((n) => n / 255)
                .map((n) => n <= .03928 ? n / 12.92 : ((n + .055) / 1.055) ** 2.4);
                return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2]; };
            const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
            return (a + .05) / (b + .05); })"""
        for dark in (False, True):
            with self.subTest(dark=dark), serving("--sim") as server, \
                    self.page(server, "/?state=dropped", dark=dark) as page:
                page.wait(ROWS + " > 5")
                style = "getComputedStyle(document.querySelector('%s')).%s"
                for back in ("body", "table"):
                    behind = style % (back, "backgroundColor")
                    for front, least in ((style % ("#query", "borderColor"), 3),
                                         (style % ("#theme", "borderColor"), 3),
                                         (style % (".state.dropped", "color"), 4.5),
                                         (style % (".soft", "color"), 4.5),
                                         (style % (".row a.open", "color"), 4.5)):
                        self.assertGreaterEqual(page.js(f"{contrast}({front}, {behind})"), least,
                                                front)


if __name__ == "__main__":
    unittest.main()
