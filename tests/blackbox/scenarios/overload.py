"""Busy, slow or endless servers; and the number of requests of the program."""

import email.utils
import json
import random
import time

from modes import IN_JSON, LISTS, LISTS_IN_JSON
from scenario import in_namespaces, no_answer, populate, reset, scenario, status

MEGABYTES = 18  # of an endless response
EIGHT = [f"ns-{i}" for i in range(8)]


# --- Retry-After --------------------------------------------------------------------------------

@scenario(factor=10, variants={"429": 429, "503": 503})
def many_that_were_sent_away_together(w, code):
    """Eight watches get Retry-After 5 s: none retries earlier, and not all at the same time."""
    populate(w, EIGHT)
    w.start(*in_namespaces(EIGHT))
    w.until(lambda: w.server.count("watch") == 8, 30, "eight watches")
    w.sleep(2)
    w.server.on("watch", status(code, "TooManyRequests", "shutting down",
                                {"Retry-After": "5", "Connection": "close"}), times=8)
    began = w.now()
    w.server.end_watches()
    w.until(lambda: w.server.count("watch", since=began) >= 16, 40, "all have come back")
    asked = w.server.asked("watch", since=began)
    refused = {r.ns: r.at for r in asked[:8]}
    pauses = sorted(r.at - refused[r.ns] for r in asked[8:16])
    w.check(pauses[0] >= 4.8, f"one comes back after {pauses[0]:.1f} s")
    w.check(pauses[-1] <= 12, f"one comes back after {pauses[-1]:.1f} s only")
    w.check(pauses[-1] - pauses[0] >= 1, f"all come back after {pauses[0]:.1f} s")
    w.at_most(8, "list page")


def in_the_header(x):
    x.status(429, "TooManyRequests", headers={"Retry-After": "40"})


def in_the_body(x):
    x.status(429, "TooManyRequests", details={"retryAfterSeconds": 40})


def with_plain_text(x):
    x.answer(429, "Too many requests, please try again later.\n", {"Retry-After": "40"},
             "text/plain; charset=utf-8")


@scenario(factor=40, variants={"header": in_the_header, "body": in_the_body,
                               "plain-text": with_plain_text})
def what_the_server_asks_for_is_obeyed(w, refusal):
    """Retry-After 40 s is respected, and the pause is at most twice as long."""
    w.server.on("list", refusal, times=2)
    w.start(synced=False)
    w.settles(190)
    lists = [r.at for r in w.server.asked("list")]
    for before, after in zip(lists, lists[1:]):
        w.check(39 <= after - before <= 90, f"asked again after {after - before:.1f} s")


DATES = {"a-date": lambda w: email.utils.formatdate(time.time() + 30, usegmt=True),
         "nonsense": lambda w: "soon", "negative": lambda w: "-5", "a-fraction": lambda w: "1.5",
         "empty": lambda w: "", "zero": lambda w: "0"}


@scenario(factor=40, variants=DATES)
def what_is_no_number_of_seconds(w, text):
    """An invalid Retry-After is harmless: retried within a minute, and not at once."""
    w.server.on("list", status(429, "TooManyRequests", headers={"Retry-After": text(w)}), times=4)
    w.start(synced=False)
    w.settles(150)
    w.at_most_per_minute(10, until=20)


@scenario(factor=500, slow=True)
def ten_years_are_too_long(w):
    """A Retry-After of ten years is capped: the retry comes after an hour or two."""
    w.server.on("list", status(429, headers={"Retry-After": "315360000"}), times=1)
    w.start(synced=False)
    w.settles(3 * 3600)


@scenario(factor=20)
def busy_is_no_reason_for_a_list(w):
    """Watches get 429 for a minute: the same watch is retried, without a list."""
    w.start()
    w.server.on("watch", status(429, "TooManyRequests", headers={"Retry-After": "1"}))
    w.server.end_watches()
    w.sleep(60)
    w.at_most(1, "list page")
    w.at_most_per_minute(70)
    w.watches_again(75)
    w.at_most(1, "list page")


@scenario(factor=10, variants={"429": 429, "503": 503})
def a_storm_of_refusals(w, code):
    """Two of three requests are refused with Retry-After: 1; still, all four roles are complete
    within 20 s, or later if the server does not stream lists."""
    for kind in ("endpoints", "services", "nodes"):
        w.cluster.put(kind, "web")
    dice = random.Random(7)
    in_a_row = {}

    def refuse(request):
        """68 %, but none of them more than eight times in a row."""
        key = (request.headers.get("user-agent"), request.kind, request.verb)
        refused = dice.random() < 0.68 and in_a_row.get(key, 0) < 8
        in_a_row[key] = in_a_row.get(key, 0) + 1 if refused else 0
        return refused
    w.server.on("all", status(code, "TooManyRequests", headers={"Retry-After": "1"}), when=refuse)
    for role in ("pod", "service", "node"):
        w.start(role=role, synced=False)
    w.start("--attach", "node", role="endpoints", synced=False)
    programs = list(w.programs)
    # If streams are refused or ignored, they are forms of a list that never succeed.
    within = {"refused": 60, "ignored": 200}.get(w.mode.name, 25)
    w.until(lambda: all(program.diffs for program in programs), within, "all four are complete")
    w.server.heal()


@scenario(factor=60, slow=True)
def pauses_at_the_cap_differ(w):
    """If everything fails, retries come every 30 to 60 s, without a fixed rhythm."""
    w.server.on("list", reset)
    w.start(synced=False)
    w.sleep(1000 if w.mode.streams == "ignored" else 600)
    times = [r.at for r in w.server.asked("list streamed")]
    # Before that, each form of the list is tried. An ignored stream takes additional time.
    forms = 5 if w.mode.name == "plain" else 9
    pauses = [after - before for before, after in zip(times, times[1:])][forms:]
    if w.mode.streams == "ignored":
        pauses = [pause for pause in pauses if pause <= 66]
    w.check(len(pauses) >= 4, f"only {len(pauses)} tries at the cap")
    w.check(min(pauses) >= 26, f"a pause of {min(pauses):.1f} s")
    w.check(max(pauses) <= 66, f"a pause of {max(pauses):.1f} s")
    w.check(max(pauses) - min(pauses) >= 3, "pauses: " + " ".join(f"{p:.1f}" for p in pauses))


@scenario(factor=20)
def those_who_failed_together_come_back_apart(w):
    """Eight lists that fail at the same moment are not retried at the same moment."""
    populate(w, EIGHT)
    w.server.on("list", status(500, "InternalError"), times=24)
    w.start(*in_namespaces(EIGHT), synced=False)
    w.settles(200)
    times = {}
    for request in w.server.asked("list"):
        times.setdefault(request.ns, []).append(request.at)
    third = sorted(asked[2] for asked in times.values() if len(asked) > 2)
    w.check(len(third) >= 4 and third[-1] - third[0] >= 0.5,
            "the third tries: " + " ".join(f"{at:.1f}" for at in third))


# --- concurrency --------------------------------------------------------------------------------

def max_concurrent(requests):
    # The program has its response and sends the next request before a busy server records the end.
    late = 1.0
    ends = [((r.listed or r.ended or 1e12) - late, -1) for r in requests]
    steps = sorted([(r.at, 1) for r in requests] + ends)
    most = now = 0
    for _, step in steps:
        now += step
        most = max(most, now)
    return most


def slowly(x):
    x.wait(4)
    x.behave()


@scenario(factor=20)
def no_more_than_eight_lists_at_a_time(w):
    """Sixteen namespaces: at most eight concurrent lists, and every list is served."""
    names = [f"ns-{i}" for i in range(16)]
    populate(w, names)
    w.server.on("list", slowly)
    w.start(*in_namespaces(names), within=60)
    most = max_concurrent(w.server.asked("list page"))
    w.check(most <= 8, f"{most} lists at the same time")


@scenario(factor=20)
def one_watch_for_many_namespaces(w):
    """Forty namespaces: one cluster-wide watch, and only their objects are shown."""
    names = [f"ns-{i}" for i in range(40)]
    populate(w, [*names, "other"])
    w.cluster.known.discard("pod/other/web")
    w.start(*in_namespaces(names), synced=False)

    def ours():
        return {source: step for source, step in w.cluster.state().items() if "other" not in source}
    w.until(lambda: w.program.state() == ours(), 20, "all but one namespace")
    w.cluster.put("pods", "web", "other")
    w.cluster.known.discard("pod/other/web")
    w.cluster.put("pods", "web", "ns-7")
    w.until(lambda: w.program.state() == ours(), 10, "the change is shown")
    w.at_most(2, "watch")
    w.at_most(2, "list page")


@scenario(factor=20)
def forty_namespaces_without_the_right_to_all(w):
    """The cluster-wide list is forbidden: one list per namespace, at most eight at a time."""
    names = [f"ns-{i}" for i in range(40)]
    populate(w, names)
    w.server.on("list", slowly)
    w.server.on("list watch probe", status(403, "Forbidden", "pods is forbidden"),
                when=lambda request: not request.ns)
    w.start(*in_namespaces(names), within=100)
    most = max_concurrent([r for r in w.server.asked("list page") if r.ns])
    w.check(most <= 8, f"{most} lists at the same time")
    w.cluster.put("pods", "web", "ns-7")
    w.settles(10)


@scenario(factor=20)
def many_versions_that_expire_together(w):
    """Sixteen watches get 410 at the same moment: at most eight lists at a time."""
    names = [f"ns-{i}" for i in range(16)]
    populate(w, names)
    w.start(*in_namespaces(names), within=60)
    w.until(lambda: w.server.count("watch") == 16, 30, "sixteen watches")
    began = w.now()
    w.server.on("list", slowly)
    w.server.on("watch", status(410, "Expired"), times=16)
    w.server.end_watches()
    for ns in names:
        w.cluster.put("pods", "web", ns)
    w.settles(60)
    most = max_concurrent(w.server.asked("list page", since=began))
    w.check(most <= 8, f"{most} lists at the same time")


@scenario()
def jobs_share_one_watch(w):
    """Twenty discoverers of one configuration list and watch once."""
    w.start("--jobs", "20", synced=False)
    w.until(lambda: len(w.program.diffs) >= 20, 20, "all are complete")
    w.sleep(2)
    w.at_most(1, "list page")
    w.at_most(1, "watch")


# --- slow answers -------------------------------------------------------------------------------

@scenario(factor=100, slow=True, modes=LISTS)
def a_list_may_be_slow(w):
    """A list that takes ten minutes, with a few bytes every 20 s, is not restarted."""
    def answer(x):
        data = x.list_bytes()
        x.head(framing="length", length=len(data))
        x.drip(data, 20, len(data) // 30 + 1)
    w.server.on("list", answer, times=1)
    w.start(within=900)
    # After a form that timed out, the others may not be silent for this long.
    w.at_most(2 if w.mode.name == "ignored" else 1, "list")


@scenario(factor=60)
def a_list_may_not_be_silent(w):
    """A list that stalls in the middle is given up within two minutes, and restarted."""
    def half(x):
        x.head(framing="length", length=100000)
        x.chunk('{"kind": "PodList", "items": [')
        x.silence()
    w.spoil_lists(half)
    w.start(within=140)
    w.logged("/api/v1/pods")


@scenario(factor=60)
def a_list_that_is_never_answered(w):
    """A list without any response is given up within two minutes."""
    w.spoil_lists(no_answer)
    w.start(within=140)
    w.logged("/api/v1/pods")


def spaces(x):
    """A complete list, then endless white space."""
    x.head()
    x.chunk(json.dumps(x.list_object()))
    while True:
        x.wait(10)
        x.chunk(" ")


def spaces_first(x):
    x.head()
    while True:
        x.wait(10)
        x.chunk("\n")


def headers(x):
    x.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Padding: ")
    x.drip(b"x" * 100000, 10)


@scenario(factor=80, variants={"behind-the-list": spaces, "before-the-list": spaces_first,
                               "in-the-headers": headers}, but={"behind-the-list": LISTS_IN_JSON,
               "before-the-list": IN_JSON})
def what_means_nothing_is_no_progress(w, drip):
    """White space or endless headers do not keep a list alive."""
    w.spoil_lists(drip)
    w.start(within=400)
    w.logged("/api/v1/pods")


# --- endless responses --------------------------------------------------------------------------

def endless(status_code, prefix, unit, content_type="application/json", megabytes=MEGABYTES):
    def answer(x):
        x.head(status_code, content_type=content_type)
        x.chunk(prefix)
        for _ in range(megabytes * 16):
            x.chunk(unit * (65536 // len(unit)))
        x.close()
    return answer


def endless_headers(x):
    x.send(b"HTTP/1.1 200 OK\r\n")
    for _ in range(MEGABYTES * 16):
        x.send(b"X-Padding: " + b"x" * 60000 + b"\r\n")
    x.close()


def endless_chunk_extension(x):
    x.head()
    x.send(b"2;x=")
    for _ in range(MEGABYTES * 16):
        x.send(b"x" * 60000)
    x.close()


ENDLESS = {
    "error-text": endless(500, "", "error ", "text/plain"),
    "status-message": endless(500, '{"kind":"Status","message":"', "error "),
    "html": endless(200, "", "<html>", "text/html"),
    "name": endless(200, '{"kind":"PodList","items":[{"metadata":{"name":"', "name-"),
    "label": endless(200, '{"kind":"PodList","items":[{"metadata":{"labels":{"x":"', "value"),
    # Each of these bytes would cost many in memory if it were kept.
    "labels": endless(200, '{"kind":"PodList","items":[{"metadata":{"labels":{', '"x":"y",',
                      megabytes=6),
    "depth": endless(200, '{"kind":"PodList","items":', "["),
    "continue": endless(200, '{"kind":"PodList","metadata":{"continue":"', "token"),
    "headers": endless_headers,
    "chunk-extension": endless_chunk_extension,
}


@scenario(factor=10, slow=True, variants=ENDLESS)
def answers_without_end_cost_no_memory(w, answer):
    """A response with many meaningless megabytes: bounded, reported, tried again."""
    w.memory_limit = 60
    w.server.on("list", answer, times=1)
    w.start(within=150)
    w.logged("/api/v1/pods")
    w.server.on("watch", answer, times=1)
    w.server.end_watches()
    w.change()
    w.settles(150)


@scenario(factor=4)
def ten_thousand_pods_are_listed_again(w):
    """A re-list of ten thousand pods without differences reports none, and costs little."""
    for number in range(10000):
        w.cluster.put("pods", f"pod-{number:05}")
    w.start(within=60)
    before = w.program.processor_seconds()
    w.server.on("watch", status(410, "Expired"), times=1)
    w.server.end_watches()
    w.until(lambda: w.server.count("watch") >= 3, 60, "it was listed again")
    w.check(w.program.processor_seconds() - before <= 3 * w.setup.slowness, "it cost much")
    w.check(len(w.program.diffs) == 1, "something was reported")
    w.change()
    w.settles(20)


@scenario(factor=40, slow=True)
def the_output_has_no_reader(w):
    """Standard output is not read for five minutes: afterwards everything arrives, memory stays
    bounded, and no list is sent."""
    for number in range(100):
        w.cluster.put("pods", f"pod-{number}")
    w.start()
    w.program.reading.clear()
    for _ in range(30):
        for number in range(100):
            w.cluster.put("pods", f"pod-{number}")
        w.sleep(10)
    w.program.reading.set()
    w.settles(400)
    w.at_most(1, "list page")
    w.at_most(3, "watch")
    w.memory_limit = 50
