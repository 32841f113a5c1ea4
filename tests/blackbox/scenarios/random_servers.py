"""Servers with random faults. The same seed replays the same faults."""

import gzip
import random

from api_server import status_object
from modes import STREAMS
from scenario import empty, error_event, no_answer, plain, reset, scenario, silence, status


# --- faults of any request ----------------------------------------------------------------------

def refused(code, **headers):
    return status(code, "Reason", "some message", headers)


def echo(x):
    x.answer(400, "you sent " + x.request.headers.get("authorization", ""), None, "text/plain")


def echo_in_type(x):
    x.answer(200, "", None, x.request.headers.get("authorization", ""))


def after_hints(x):
    x.send(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 2)
    x.behave()


def late(x):
    x.wait(15)
    x.behave()


def compressed(x):
    x.answer(200, gzip.compress(b"{}" * 100), {"Content-Encoding": "gzip"})


def half_a_head(x):
    x.send(b"HTTP/1.1 200 OK\r\nContent-Ty")
    x.close()


FAILURES = {
    **{str(code): refused(code) for code in (400, 401, 403, 404, 405, 406, 409, 422, 500, 502, 503,
                                             504)},
    "429": refused(429), "429-1s": refused(429, **{"Retry-After": "1"}),
    "503-20s": refused(503, **{"Retry-After": "20"}),
    "410": status(410, "Expired", "too old"),
    "too-large": lambda x: x.answer(504, status_object(504, "Timeout", "", details={
        "causes": [{"reason": "ResourceVersionTooLarge"}], "retryAfterSeconds": 1})),
    "reset": reset, "close": lambda x: x.close(), "half-a-head": half_a_head,
    "html": plain(200, "<html></html>"), "garbage": plain(200, "{]", "application/json"),
    "nothing": plain(200, "", "application/json"),
    "204": lambda x: x.answer(204, framing="chunked"),
    "no-http": lambda x: (x.send(b"hello\r\n\r\n"), x.close()),
    "compressed": compressed, "echo": echo, "echo-in-type": echo_in_type,
}
OTHERS = {"silence": no_answer, "late": late, "hints": after_hints}


# --- with lists ---------------------------------------------------------------------------------

def cut_list(x):
    data = x.list_bytes()
    x.head()
    x.chunk(data[:len(data) // 2])
    x.close()


def half_a_list(x):
    data = x.list_bytes()
    x.head()
    x.chunk(data[:len(data) // 2])
    x.silence()


def other_kind(x):
    found = x.list_object()
    x.answer(200, {**found, "kind": "ServiceList"})


def without_version(x):
    found = x.list_object()
    x.answer(200, {**found, "metadata": {}})


def first_page_again(x):
    x.request.query.pop("continue", None)
    found = x.list_object()
    found["metadata"]["continue"] = "again"
    x.answer(200, found)


def spaces_behind(x):
    x.head()
    for piece in x.list_pieces():
        x.chunk(piece)
    while True:
        x.wait(10)
        x.chunk(" ")


def slow_list(x):
    data = x.list_bytes()
    x.head(framing="length", length=len(data))
    x.drip(data, 10, len(data) // 5 + 1)


LISTS = {"cut": cut_list, "half": half_a_list, "other-kind": other_kind, "slow": slow_list,
         "without-version": without_version, "same-page": first_page_again,
         "spaces": spaces_behind}


# --- with watches -------------------------------------------------------------------------------

def bookmark_then(what):
    def answer(x):
        x.head()
        x.bookmark(x.since)
        what(x)
    return answer


def event_then_end(x):
    x.stream(send=lambda data: (x.chunk(data), x.end(), x.close()))


def half_an_event(x):
    x.stream(send=lambda data: (x.chunk(data[:len(data) // 2]), x.reset()))


def old_bookmark(x):
    x.head()
    x.bookmark(max(x.cluster.oldest, x.since - 5))
    x.end()


def odd_events(x):
    x.head()
    for change in ("RENAMED", "BOOKMARK", "ADDED"):
        x.event(change, {})
    x.stream(head=False)


WATCHES = {
    "empty": empty, "silent": silence, "short": lambda x: x.stream(lasts=3),
    "a-minute": lambda x: x.stream(lasts=55, bookmarks=None),
    "bookmark-and-end": bookmark_then(lambda x: x.end()),
    "bookmark-and-410": bookmark_then(lambda x: (x.error_event(410, "Expired"), x.end())),
    "bookmark-and-reset": bookmark_then(lambda x: x.reset()),
    "bookmark-and-silence": bookmark_then(lambda x: x.silence()),
    "410": error_event(410, "Expired"), "410-without-code": error_event(None, "Expired"),
    "500": error_event(500, "InternalError"), "429": error_event(429, "TooManyRequests"),
    "event-and-end": event_then_end, "half-an-event": half_an_event, "old-bookmark": old_bookmark,
    "odd-events": odd_events,
    "bytes": lambda x: x.stream(send=lambda data: [x.chunk(bytes([byte])) for byte in data]),
    "good": lambda x: x.stream(),
}


# --- the scenario -------------------------------------------------------------------------------

def change(w):
    """Changes some objects."""
    dice, pods = w.random, sorted(w.cluster.objects["pods"])
    what = dice.random()
    if what < 0.4 or len(pods) < 3:
        w.cluster.put("pods", f"pod-{dice.randrange(30)}")
    elif what < 0.7:
        w.cluster.put("pods", dice.choice(pods)[1])
    elif what < 0.85:
        w.cluster.delete("pods", dice.choice(pods)[1])
    elif what < 0.95:
        w.cluster.replace("pods", dice.choice(pods)[1])
    else:
        w.cluster.forget_history()


def misbehave(w, phase):
    """The faults of this phase, each for some of the requests."""
    dice, server = w.random, w.server
    server.heal()
    for verb, faults in (("list page", {**FAILURES, **OTHERS, **LISTS}),
                         ("probe", {**FAILURES, **OTHERS, **LISTS}),
                         ("watch", {**FAILURES, **OTHERS, **WATCHES, **WATCHES})):
        chosen = [faults[name] for name in dice.sample(sorted(faults), dice.randrange(1, 4))]
        share = dice.choice((0.2, 0.5, 0.8, 1))
        if verb != "watch" and dice.random() < 0.4:
            continue

        # The order of requests varies, so their draws must not affect the plan.
        own = random.Random(f"{w.seed} {phase} {verb}")

        def answer(x, own=own, chosen=chosen):
            own.choice(chosen)(x)
        server.on(verb, answer, when=lambda request, own=own, share=share: own.random() < share)


def nothing_works(w):
    """Each request fails at once, for four minutes; then the log must report it."""
    server = w.server
    server.heal()
    failure = FAILURES[w.random.choice(sorted(FAILURES))]
    server.on("all", failure)
    server.end_watches(reset)
    began = w.now()
    w.sleep(250)
    if server.count(since=began) >= 3:  # otherwise it waits on a silent stream
        lines = w.program.log_text().splitlines()
        w.check(lines and not lines[-1].endswith("works again"),
                "nothing works, and the log does not say so")


@scenario(factor=80)
def gets_there_whatever_the_server_does(w):
    """Random faults for a while, then none: the state is exact, and there were few requests."""
    dice = w.random
    for number in range(dice.choice((3, 10, 10, 20))):
        w.cluster.put("pods", f"pod-{number}")
    if dice.random() < 0.15:
        for number in range(700):
            w.cluster.put("pods", f"many-{number}")
    if dice.random() < 0.5:
        misbehave(w, 0)
    w.start(synced=False)
    for phase in range(1, dice.randrange(4, 7)):
        misbehave(w, phase)
        if dice.random() < 0.5:
            w.server.end_watches(dice.choice((reset, lambda x: x.end(), lambda x: x.close())))
        for _ in range(dice.randrange(1, 6)):
            w.sleep(dice.uniform(2, 25))
            change(w)
    if dice.random() < 0.4:
        nothing_works(w)
    w.server.heal()
    change(w)
    w.settles(1000)
    w.at_most_per_minute(150)
    w.at_most_per_minute(45, "list page")
    w.log_lines(150)


# --- the forms of lists -------------------------------------------------------------------------

# 404 to a LIST means that the API itself is missing, and a Retry-After of 20 s is respected.
FORM_FAULTS = {name: fault for name, fault in {**FAILURES, **LISTS, "silence": no_answer}.items()
               if name not in ("404", "503-20s", "slow")}
STREAM_FAULTS = {**{name: fault for name, fault in FAILURES.items() if name != "503-20s"},
                 "silence": no_answer, "silent-behind-the-head": silence, "empty": empty,
                 "410-event": error_event(410, "Expired")}


def shape_of(request):
    if request.verb == "streamed":
        return "streamed"
    return "pages" if "limit" in request.query else "whole"


def treat_forms(w):
    """Treats each form of a list differently, at least one of them correctly."""
    dice = w.random
    w.server.heal()
    forms = [(shape, protobuf) for shape in ("streamed", "pages", "whole")
             for protobuf in (True, False)]
    right = dice.choice(forms)
    for form in forms:
        if form == right or dice.random() < 0.2:
            continue
        faults = STREAM_FAULTS if form[0] == "streamed" else FORM_FAULTS
        w.server.on("list page streamed", faults[dice.choice(sorted(faults))],
                    when=lambda request, form=form: form == (
                        shape_of(request), "protobuf" in request.headers["accept"]))


@scenario(modes=STREAMS)
def a_list_gets_through_if_any_form_of_it_does(w):
    """The first state within a minute, and likewise each later list, with few requests."""
    treat_forms(w)
    w.start(synced=False)
    w.settles(65)
    for _ in range(2):
        w.sleep(w.random.uniform(1, 400))
        treat_forms(w)
        w.server.end_watches(reset)
        change(w)
        w.cluster.forget_history()
        w.settles(75)  # including the pauses before the list
    w.at_most_per_minute(45, "list page streamed")
