"""Streams that end, break, stall, or are refused."""

import signal

from api_server import Exchange
from modes import IN_JSON, LISTS, MODES
from scenario import empty, error_event, no_answer, plain, reset, scenario, silence, status

A_WHILE = 200  # seconds until a list compensates for failing watches


@scenario(modes=tuple(MODES))
def follows_what_changes(w):
    """Changes from a well-behaved server arrive at once, with one list and one watch."""
    w.start()
    for _ in range(3):
        w.change()
        w.settles(5)
    w.at_most(1, "list page")
    w.at_most(1, "watch")
    w.log_lines(0)
    forms = [(r.verb, "protobuf" in r.headers["accept"], "protobuf" in r.content_type)
             for r in w.server.requests if r.verb != "other"]  # not /version
    w.check(forms == FORMS[w.mode.name], f"its requests are {forms}")


# (verb, protobuf is accepted, the answer is in protobuf)
FORMS = {
    "plain": [("list", False, False), ("watch", False, False)],
    "default": [("streamed", True, True)],
    "json": [("streamed", True, False)],
    "ignored": [("streamed", True, False), ("list", True, False), ("watch", True, False)],
    "refused": [("streamed", True, True), ("list", True, True), ("watch", True, True)],
}

# --- failing watches, working lists -------------------------------------------------------------

@scenario(factor=80, variants={"403": status(403, "Forbidden", "pods is forbidden"),
                               "405": status(405, "MethodNotAllowed", "the verb is not known")})
def a_watch_that_is_refused_becomes_polling(w, refusal):
    """With permission to list but not to watch, it lists every minute, and logs this once."""
    w.server.on("watch streamed", refusal)
    w.start()
    for _ in range(4):
        w.change()
        w.settles(130)
    w.at_most_per_minute(3, "list")
    w.logged("poll|60 ?s|every minute", at_most=1)
    w.log_lines(3)


@scenario(factor=80)
def a_watch_that_is_refused_later_becomes_polling(w):
    """The permission to watch is revoked and restored: polling meanwhile, then watching."""
    w.start()
    w.server.on("watch", status(403, "Forbidden", "pods is forbidden"))
    w.server.end_watches()
    for _ in range(2):
        w.change()
        w.settles(130)
    w.watches_again(400)


def html(x):
    x.answer(200, "<html>Welcome to the gateway</html>", content_type="text/html")


def reset_after_head(x):
    x.head()
    x.reset()


def cut_after_head(x):
    x.head()
    x.close()


FAILING = {
    "500": status(500, "InternalError", "etcdserver: mvcc: required revision is broken"),
    "502": plain(502, "<html>Bad Gateway</html>"),
    "404": status(404, "NotFound", "the server could not find the requested resource"),
    "400": status(400, "BadRequest", "unknown parameter"),
    "422": status(422, "Invalid", "invalid options"),
    "204": lambda x: x.answer(204, framing="chunked"),
    "reset": reset,
    "reset-after-the-head": reset_after_head,
    "cut-after-the-head": cut_after_head,
    "closed-without-an-answer": Exchange.close,
    "html": html,
    "garbage": plain(200, "this is not JSON\n", "application/json"),
    "error-event-500": error_event(500, "InternalError", "cannot be decoded"),
    "error-event-without-code": error_event(None, "", "something is wrong"),
}


@scenario(factor=80, variants=FAILING)
def watches_that_keep_failing_are_made_up_for_by_lists(w, failing):
    """Lists work, each watch fails: lists deliver the changes, again and again."""
    w.start()
    w.server.on("watch", failing)
    w.server.end_watches()
    for _ in range(2):
        w.change()
        w.settles(A_WHILE)
    w.at_most_per_minute(20)
    w.at_most_per_minute(6, "list page")
    w.logged("/api/v1/pods")
    w.log_lines(12)
    w.watches_again(200)


# --- streams without events ---------------------------------------------------------------------

@scenario(factor=40, slow=True)
def empty_watches_are_made_up_for_by_a_list(w):
    """Five watches end at once without an event: a list, an error in the log, few requests."""
    w.start()
    w.server.on("watch", empty)
    w.server.end_watches()
    w.change()
    w.settles(100)
    w.logged("/api/v1/pods")
    began = w.now()
    w.sleep(240)
    w.at_most_per_minute(25)
    w.at_most(8, "list page", since=began)
    w.log_lines(8)
    w.change()
    w.settles(330)  # five pauses of at most a minute


@scenario(factor=40)
def empty_watches_behind_a_slow_gateway_are_no_progress(w):
    """An empty watch that takes 1.3 s to be answered is still an empty watch."""
    def slow(x):
        x.wait(1.3)
        empty(x)
    w.start()
    w.server.on("watch", slow)
    w.server.end_watches()
    w.change()
    w.settles(250)
    w.logged("/api/v1/pods")
    w.at_most_per_minute(40)


@scenario(factor=40)
def watches_that_end_after_a_few_empty_seconds(w):
    """A proxy cuts each watch after 3 s: changes between two watches arrive, with few requests."""
    def short(x):
        x.stream(lasts=3)
    w.start()
    w.server.on("watch", short)
    w.server.end_watches()
    for _ in range(3):
        w.change()
        w.settles(15)
        w.sleep(20)
    w.at_most_per_minute(70)


@scenario(factor=10, slow=True, variants={"bookmark": "BOOKMARK", "event": "MODIFIED"})
def a_watch_that_ends_after_each_event(w, kind):
    """A stream ends right after an event or a bookmark: pauses grow to seconds."""
    def one(x):
        x.head()
        if kind == "BOOKMARK":
            x.bookmark()
        else:
            x.event("MODIFIED", w.cluster.objects["pods"]["default", "a"])
        x.end()
    w.start()
    w.server.on("watch", one)
    w.server.end_watches()
    began = w.now()
    w.sleep(70)
    w.at_most_per_minute(70, since=began)
    w.at_most(70, since=began, until=began + 60)
    w.server.heal()
    w.change()
    w.settles(20)


@scenario(factor=40)
def a_watch_that_ends_after_each_real_event(w):
    """The server answers like a long poll, one event per watch: each change arrives soon."""
    def poll(x):
        x.stream(send=lambda data: (x.chunk(data), x.end(), x.close()))
    w.start()
    w.server.on("watch", poll)
    w.server.end_watches()
    for _ in range(6):
        w.cluster.put("pods", "a")
        w.cluster.put("pods", "b")
        w.settles(20)
    w.at_most_per_minute(70)


# --- streams with a regular end -----------------------------------------------------------------

@scenario(factor=100, slow=True)
def the_server_ends_watches_in_time(w):
    """A watch that ends at its timeoutSeconds is reopened at once: no list, no log line."""
    w.start()
    for _ in range(3):
        w.sleep(400)
        w.change()
        w.settles(15)
    w.at_most(1, "list page")
    w.at_most(6, "watch")
    w.log_lines(0)


CUTS = {"clean": Exchange.end, "without-the-last-chunk": Exchange.close, "reset": reset}


@scenario(factor=60, slow=True, variants=CUTS)
def a_proxy_cuts_idle_watches(w, cut):
    """Every watch is cut after 55 s: changes in between arrive without a list."""
    w.start()
    for _ in range(6):
        w.sleep(55)
        w.server.end_watches(cut)
        w.change()
        w.settles(20)
    w.at_most(1, "list page")
    w.at_most_per_minute(8)
    w.log_lines(2)


@scenario(variants=CUTS)
def a_stream_ends_in_the_middle_of_an_event(w, cut):
    """An incomplete event is ignored: the next watch delivers it completely."""
    def half(x):
        def send(data):
            x.chunk(data[:len(data) // 2])
            cut(x)
            x.close()
        x.stream(send=send)
    w.start()
    w.server.on("watch", half, times=3)
    w.server.end_watches()
    w.sleep(3)
    w.change()
    w.settles(60)
    w.at_most(1, "list page")


@scenario(factor=40)
def a_broken_watch_is_followed_by_one_probe(w):
    """After a broken connection, one LIST of one object verifies that the server is the same."""
    w.start()
    for _ in range(3):
        w.sleep(10)
        began = w.now()
        w.server.end_watches(reset)
        w.change()
        w.settles(15)
        w.at_most(1, "probe", since=began)
        w.check(w.server.count("probe", since=began) == 1, "there is no LIST of one object")
        order = [request.verb for request in w.server.asked(since=began)]
        w.check(order == ["probe", "watch"], f"it asks for {order}")
    w.at_most(1, "list page")


PROBES = {"500": status(500), "403": status(403, "Forbidden"), "404": status(404, "NotFound"),
          "400": status(400, "BadRequest", "limit"), "reset": reset, "html": html,
          "garbage": plain(200, "{}", "application/json"),
          "429": status(429, headers={"Retry-After": "1"})}


@scenario(factor=60, variants=PROBES)
def a_probe_that_fails_keeps_nothing_back(w, failing):
    """The LIST of one object fails: the watch continues anyway."""
    w.start()
    w.server.on("probe", failing)
    w.server.end_watches(reset)
    w.change()
    w.settles(150)
    w.at_most_per_minute(30)


@scenario(factor=80)
def a_probe_that_is_never_answered_keeps_nothing_back(w):
    """The LIST of one object hangs: the watch continues within a few minutes."""
    w.start()
    w.server.on("probe", no_answer)
    w.server.end_watches(reset)
    w.change()
    w.settles(300)


@scenario(factor=40, slow=True)
def a_proxy_holds_the_head_back(w):
    """The head of a watch arrives with its first event, minutes later: this is no failure."""
    def held(x):
        version = x.cluster.version
        while x.cluster.version == version:
            x.wait(1)
        x.stream(bookmarks=None)
    w.server.on("watch", held)
    w.start()
    for _ in range(2):
        w.sleep(200)
        w.change()
        w.settles(10)
    w.at_most(1, "list page")
    w.log_lines(0)


# --- silence ------------------------------------------------------------------------------------

def noticed(w, since, within, what):
    """The seconds until the program sends another request."""
    w.until(lambda: w.server.count(since=since + 1), within + 300, what)
    took = w.server.asked(since=since + 1)[0].at - since
    w.check(took <= within, f"{what}: only after {took:.0f} s")
    w.check(took >= 85, f"{what}: after {took:.0f} s already")


def bookmarks_then_silence(w, pauses):
    def answer(x):
        x.head()
        for pause in pauses:
            x.wait(pause)
            x.bookmark()
        w.measured["last"] = x.server.now()
        x.silence()
    return answer


def wait_for_last_bookmark(w, within):
    w.measured.pop("last", None)
    w.until(lambda: "last" in w.measured, within, "all bookmarks were sent")
    return w.measured["last"]


@scenario(factor=60, slow=True)
def bookmarks_that_stay_away_are_noticed(w):
    """Bookmarks arrive every minute, then stop: the watch is given up after 150 s."""
    w.server.on("watch", bookmarks_then_silence(w, [60] * 4), times=1)
    w.start()
    last = wait_for_last_bookmark(w, 300)
    w.change()
    noticed(w, last, 175, "the silence is noticed")
    w.settles(20)


@scenario(factor=60, variants={"ten-seconds": 10, "thirty-seconds": 30})
def idle_timeout_is_never_too_short(w, interval):
    """Frequent bookmarks do not make a silence of one minute suspicious."""
    w.server.on("watch", bookmarks_then_silence(w, [interval] * 6), times=1)
    w.start()
    last = wait_for_last_bookmark(w, 300)
    noticed(w, last, 120, "the silence is noticed")


@scenario(factor=120, slow=True)
def one_long_gap_does_not_make_it_patient_for_good(w):
    """One gap of 200 s between bookmarks, two watches ago: silence is detected as before."""
    def bookmarks(*pauses):
        def answer(x):
            x.head()
            for pause in pauses:
                x.wait(pause)
                x.bookmark()
            x.end()
        return answer
    # The newest rule comes first.
    w.server.on("watch", bookmarks_then_silence(w, [60] * 4), times=1)
    w.server.on("watch", bookmarks(60, 60, 60, 60, 60), times=1)
    w.server.on("watch", bookmarks(20, 200), times=1)
    w.start()
    last = wait_for_last_bookmark(w, 1000)
    w.change()
    noticed(w, last, 200, "the silence is noticed")
    w.settles(30)


@scenario(factor=80, slow=True)
def silence_is_noticed_the_second_time_too(w):
    """The server falls silent a second time: it is detected as early as the first time."""
    w.server.on("watch", silence, times=1)
    w.server.on("watch", bookmarks_then_silence(w, [60] * 4), times=1)
    w.start()
    last = wait_for_last_bookmark(w, 300)
    noticed(w, last, 175, "the first silence is noticed")
    w.until(lambda: w.server.count("watch") >= 2, 30, "it watches again")
    second = w.server.asked("watch")[1].at
    w.change()
    noticed(w, second, 200, "the second silence is noticed")
    w.settles(30)


@scenario(factor=150, slow=True,
          variants={"after-the-head": silence, "before-the-head": no_answer})
def watches_that_are_silent_for_good(w, silent):
    """No watch ever delivers anything: after two of them a list, and an error in the log."""
    w.start()
    w.server.on("watch", silent)
    w.server.end_watches()
    w.change()
    w.settles(1500)
    w.logged("/api/v1/pods")
    w.change()
    w.settles(1500)
    w.at_most_per_minute(10)


@scenario(factor=80, modes=IN_JSON)
def white_space_is_no_sign_of_life(w):
    """Blank lines arrive continuously, but no bookmarks: this counts as silence."""
    def blank(x):
        x.head()
        for _ in range(4):
            x.wait(60)
            x.bookmark()
        w.measured["last"] = x.server.now()
        while True:
            x.wait(10)
            x.chunk("\n")
    w.server.on("watch", blank, times=1)
    w.start()
    last = wait_for_last_bookmark(w, 300)
    w.change()
    noticed(w, last, 200, "that only white space comes is noticed")
    w.settles(20)


@scenario(factor=60)
def a_program_that_stood_still_drops_nothing(w):
    """Stopped for 160 s while bookmarks arrived: the buffered data is read first."""
    w.start()
    w.sleep(125)
    w.program.process.send_signal(signal.SIGSTOP)
    w.sleep(160)
    began = w.now()
    w.program.process.send_signal(signal.SIGCONT)
    w.sleep(20)
    w.at_most(0, since=began)
    w.change()
    w.settles(10)


# --- unreachable servers ------------------------------------------------------------------------

@scenario(factor=60, slow=True)
def an_outage_of_five_minutes(w):
    """The server is down for five minutes: nothing is removed, and watches recover soon."""
    w.start()
    w.server.go_away()
    w.sleep(300)
    w.logged("/api/v1/pods", at_most=2)
    w.check(not w.program.removals(), "something was removed")
    w.server.come_back()
    w.change()
    w.settles(75)
    w.at_most(1, "list page")
    w.works_again()


@scenario(factor=20)
def an_outage_of_ten_seconds(w):
    """After a server restart, watches recover within seconds."""
    w.start()
    w.server.go_away()
    w.sleep(10)
    w.server.come_back()
    w.change()
    w.settles(20)


@scenario(factor=40)
def the_server_comes_later_than_the_program(w):
    """The program starts before the server."""
    w.server.accepts = False
    w.start(synced=False)
    w.sleep(100)
    w.check(not w.program.diffs, "something was shown")
    w.logged("/api/v1/pods", at_most=2)
    w.server.accepts = True
    w.settles(75)
    w.works_again()


@scenario(factor=40)
def connections_that_are_reset_at_once(w):
    """Connections are accepted and reset: retried with growing pauses."""
    w.start()
    w.server.accepts = False
    w.server.end_watches(reset)
    w.sleep(180)
    w.check(w.server.connections <= 20, f"{w.server.connections} connections in three minutes")
    w.server.accepts = True
    w.change()
    w.settles(75)


@scenario(factor=60)
def one_watch_that_works_again_brings_the_others(w):
    """After an outage, a successful watch cuts the long pauses of the others short."""
    for kind in ("endpoints", "services"):
        w.cluster.put(kind, "web")
    kinds = ("endpoints", "services", "pods", "nodes")
    w.start("--attach", "node", role="endpoints", synced=False)
    w.until(lambda: all(w.server.count("watch", kind=kind) for kind in kinds), 30,
            "all four are watched")
    w.server.go_away()
    w.sleep(300)
    w.server.come_back()
    began = w.now()
    w.until(lambda: all(w.server.count("watch", since=began, kind=kind) for kind in kinds), 90,
            "all four are watched again")
    first = [min(r.at for r in w.server.asked("watch", since=began, kind=kind)) for kind in kinds]
    w.check(max(first) - min(first) <= 15, f"the last is {max(first) - min(first):.0f} s later")


# --- chunking of a stream -----------------------------------------------------------------------

def by_bytes(x):
    x.stream(send=lambda data: [x.chunk(data[i:i + 1]) for i in range(len(data))])


def across_events(x):
    """Each chunk ends in the middle of an event."""
    bookmark = x.event_bytes("BOOKMARK", {"metadata": {"resourceVersion": str(x.cluster.version)}})

    def send(data):
        x.chunk(data[:40])
        x.wait(0.5)
        x.chunk(data[40:] + bookmark[:30])
        x.chunk(bookmark[30:])
    x.stream(send=send)


def extensions(x):
    x.stream(send=lambda data: x.send(b'%X;name="value"\r\n%s\r\n' % (len(data), data)))


PIECES = {
    "byte-by-byte": by_bytes,
    "across-events": across_events,
    "chunk-extensions": extensions,
    "crlf": lambda x: x.stream(line=lambda text: text[:-1] + "\r\n"),
    "blank-lines": lambda x: x.stream(line=lambda text: "\n\n" + text + " \n"),
    "nothing-between-events": lambda x: x.stream(line=lambda text: text[:-1]),
    "indented": lambda x: x.stream(line=lambda text: text.replace(",", ",\n\t").replace(
        "{", "{\n  ")),
    "without-chunks": lambda x: x.stream(framing="close"),
}
IN_LINES = ("crlf", "blank-lines", "nothing-between-events", "indented")


@scenario(variants=PIECES, but={**dict.fromkeys(IN_LINES, IN_JSON), "without-chunks": LISTS})
def events_may_be_cut_anywhere(w, pieces):
    """Chunking and white space do not change the events."""
    w.server.on("watch", pieces)
    w.start()
    for _ in range(4):
        w.change()
        w.settles(10)
    w.at_most(1, "list page")
    w.log_lines(0)
