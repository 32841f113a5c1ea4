"""Lists delivered as the first events of a watch, and compressed lists."""

import gzip

from api_server import Exchange
from modes import STREAMS
from scenario import error_event, in_namespaces, populate, reset, scenario, status

ALL = "list page probe watch streamed"
EIGHT = [f"ns-{i}" for i in range(8)]


@scenario(modes=STREAMS)
def one_request_lists_and_watches(w):
    """A server with streamed lists gets one request, and changes arrive at once."""
    w.start()
    for _ in range(3):
        w.change()
        w.settles(5)
    w.at_most(1, ALL)
    w.check(w.server.count("streamed") == 1, "the list did not come with a watch")
    w.log_lines(0)


@scenario(modes=STREAMS)
def a_stream_that_ends_goes_on_as_a_watch(w):
    """The watch after a list ends: the next one continues from its version."""
    w.start()
    for _ in range(3):
        w.server.end_watches()
        w.change()
        w.settles(10)
    w.at_most(1, "streamed")
    w.at_most(0, "LIST")


@scenario(modes=STREAMS)
def an_expired_version_is_listed_again_with_a_watch(w):
    """410 to a watch: one streamed list, not older than the known version, removes deleted objects.
    """
    w.start()
    w.server.end_watches(Exchange.reset)
    w.cluster.delete("pods", "b")
    w.cluster.forget_history()
    w.settles(20)
    w.at_most(2, "streamed")
    w.at_most(0, "LIST")


REFUSALS = {
    "422": status(422, "Invalid", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden"),
    "400": status(400, "BadRequest", "unknown parameter sendInitialEvents"),
    "403": status(403, "Forbidden", "pods is forbidden"),
    "405": status(405, "MethodNotAllowed", "not known"),
    "error-event": error_event(500, "InternalError", "etcd without progress notifications"),
}


@scenario(variants=REFUSALS, modes=STREAMS)
def a_server_that_refuses_is_sent_lists(w, refusal):
    """Refused once, it lists at once in the usual way, and remembers this. 400 may be about the
    parameter of Accept, so that request is repeated without it."""
    w.server.on("streamed", refusal)
    w.start(within=5)
    for _ in range(3):
        w.change()
        w.settles(5)
    w.server.end_watches(Exchange.reset)
    w.cluster.delete("pods", "b")
    w.cluster.forget_history()
    w.settles(20)
    w.at_most(2 if refusal is REFUSALS["400"] else 1, "streamed")
    w.at_most(2, "LIST")
    w.never_logged("forbidden|refused|works again")


@scenario(modes=("refused", "ignored"))
def a_server_without_streams_is_asked_for_one_once(w):
    """Three re-lists of a server that refuses or ignores the parameter: each is a LIST at once."""
    w.start()
    for count in range(2, 5):
        w.server.end_watches(Exchange.reset)
        w.cluster.delete("pods", sorted(w.cluster.objects["pods"])[0][1])
        w.cluster.forget_history()
        w.cluster.put("pods", f"new-{count}")
        w.settles(20)
        w.at_most(count, "LIST")
    w.at_most(0, "streamed")  # beside the first one
    w.never_logged("stream this list|encoding")


def without_the_end(x):
    """The behaviour of a server that supports watches, but not this parameter."""
    x.head()
    x.stream(head=False, version=x.initial_events())


def without_anything(x):
    x.head()
    x.stream(head=False)


def ignores_head_too(x):
    x.silence()


IGNORING = {"objects-without-an-end": without_the_end, "changes-only": without_anything}


@scenario(factor=40, variants=IGNORING, modes=STREAMS)
def a_server_that_ignores_the_parameter_is_sent_lists(w, ignoring):
    """Without the end of the list nothing is complete; after ten seconds a LIST delivers it."""
    w.server.on("streamed", ignoring)
    w.start(within=50)
    w.change()
    w.settles(5)
    w.at_most(1, "streamed")
    w.at_most(1, "LIST")


@scenario(factor=40, modes=STREAMS)
def changes_do_not_postpone_the_end(w):
    """The server ignores the parameter, and its objects change all the time: a LIST in time."""
    def busy(x):
        x.head()
        version = x.initial_events()
        for step in range(1000):
            x.wait(3)
            x.cluster.put("pods", "a")
            x.cluster.put("pods", f"new-{step}")
            for change, name in (("MODIFIED", "a"), ("ADDED", f"new-{step}")):
                x.event(change, x.full(x.cluster.objects["pods"]["default", name]))
    w.server.on("streamed", busy)
    w.start(synced=False)
    w.until(lambda: w.server.count("LIST"), 50, "it lists")
    w.settles(10)
    w.at_most(1, "streamed")


@scenario(factor=80, modes=STREAMS)
def no_answer_at_all_gives_way_to_a_list(w):
    """A gateway delays the heads of watches: a LIST delivers the state after the timeout."""
    w.server.on("streamed", ignores_head_too)
    w.start(within=60, synced=False)
    w.settles(60)
    w.at_most(1, "streamed")


def ends_early(x):
    x.head()
    x.initial_events()
    x.end()


def breaks_early(x):
    x.head()
    x.initial_events()
    x.reset()


def ends_in_an_event(x):
    x.head()
    x.initial_events()
    x.chunk(x.event_bytes("ADDED", x.full(x.cluster.objects["pods"]["default", "a"]))[:70])
    x.end()


EARLY = {"clean": ends_early, "reset": breaks_early, "in-an-event": ends_in_an_event,
         "at-once": reset}


@scenario(variants=EARLY, modes=STREAMS)
def a_stream_that_always_ends_early(w, early):
    """Each stream ends before its list does: the partial list is dropped, and a LIST follows."""
    w.server.on("streamed", early)
    w.start(within=20)
    w.at_most(2, "streamed")
    w.server.end_watches(Exchange.reset)
    w.cluster.delete("pods", "b")
    w.cluster.forget_history()
    w.settles(20)
    w.at_most_per_minute(12, ALL)


REFUSING = {**{str(code): status(code, "Reason", "no") for code in (404, 408, 429, 500, 502, 503)},
            "503-5s": status(503, "Reason", "no", {"Retry-After": "5"}), "reset": reset,
            "close": lambda x: x.close()}


@scenario(factor=10, variants=REFUSING, modes=STREAMS)
def a_gateway_that_lets_no_stream_through(w, refusal):
    """Any other response to a streamed-list request: a LIST follows, also for a re-list."""
    w.server.on("streamed", refusal)
    w.start(within=30)
    w.at_most(2, "streamed")
    w.server.end_watches(Exchange.reset)
    w.cluster.delete("pods", "b")
    w.cluster.forget_history()
    w.settles(40)
    w.at_most_per_minute(12, ALL)


@scenario(factor=10, variants=REFUSING, modes=STREAMS)
def a_relist_that_does_not_come_as_a_stream(w, refusal):
    """The first list was streamed, the second one is refused: a LIST follows."""
    w.start()
    w.server.on("streamed", refusal)
    w.server.end_watches(Exchange.reset)
    w.cluster.delete("pods", "b")
    w.cluster.forget_history()
    w.settles(40)
    w.at_most(3, "streamed")


@scenario(factor=20, modes=STREAMS)
def objects_that_come_one_by_one_are_no_list(w):
    """A server ignores the parameter and has a new object every 20 s: a LIST within a minute."""
    def slow(x):
        x.head()
        x.initial_events()
        for step in range(1000):
            x.wait(20)
            x.cluster.put("pods", f"new-{step}")
            x.event("ADDED", x.full(x.cluster.objects["pods"]["default", f"new-{step}"]))
    w.server.on("streamed", slow)
    w.start(synced=False)
    w.until(lambda: w.server.count("LIST"), 60, "it lists")
    w.settles(10)


@scenario(modes=STREAMS)
def a_stream_that_breaks_once_is_tried_again(w):
    """A stream ends early once: the next one delivers the list."""
    w.server.on("streamed", breaks_early, times=1)
    w.start(within=10)
    w.at_most(2, "streamed")
    w.at_most(0, "LIST")


@scenario(modes=STREAMS)
def most_of_a_streamed_list_is_missing(w):
    """A streamed list without most objects: a LIST confirms it before they are removed."""
    def nearly_nothing(x):
        x.head()
        x.end_of_list()
        x.stream(head=False, version=x.cluster.version)
    w.start()
    w.server.on("streamed", nearly_nothing)
    w.server.end_watches(Exchange.reset)
    w.cluster.forget_history()
    w.until(lambda: w.server.count("LIST"), 20, "it confirms with a LIST")
    w.change()
    w.settles(10)
    w.logged("lacks", at_most=1)


def end_first(x):
    """The end, then the objects."""
    x.head()
    x.end_of_list()
    version = x.initial_events()
    x.stream(head=False, version=version)


def end_twice(x):
    x.head()
    version = x.initial_events()
    x.end_of_list(version)
    x.end_of_list(version)
    x.stream(head=False, version=version)


def everything_repeated(x):
    x.head()
    for _ in range(20):
        version = x.initial_events()
    x.bookmark(version)  # ends nothing
    x.end_of_list(version)
    x.stream(head=False, version=version)


LIES = {"the-end-first": end_first, "the-end-twice": end_twice,
        "objects-repeated": everything_repeated}


@scenario(variants=LIES, modes=STREAMS)
def a_server_that_gets_it_wrong(w, lie):
    """Misplaced ends of the list and repeated objects are harmless."""
    w.server.on("streamed", lie)
    w.start(within=10)
    w.change()
    w.settles(5)
    w.server.end_watches(Exchange.reset)
    w.cluster.delete("pods", "b")
    w.cluster.forget_history()
    w.settles(30)
    w.change()
    w.settles(5)
    w.at_most_per_minute(10, ALL)  # including a probe and a list because of old objects


@scenario(modes=STREAMS)
def an_end_without_a_version_is_none(w):
    """A list without a version is no basis for a watch; a LIST follows in time."""
    def nowhere(x):
        x.head()
        x.initial_events()
        x.bookmark(1, metadata={"annotations": {"k8s.io/initial-events-end": "true"}})
        x.silence()
    w.server.on("streamed", nowhere)
    w.start(within=50)
    w.at_most(1, "streamed")


@scenario(modes=STREAMS)
def events_between_the_objects_and_their_end(w):
    """Changes during the list belong to it: updates and deletions."""
    def changing(x):
        x.head()
        version = x.initial_events()
        x.cluster.put("pods", "a")
        x.cluster.delete("pods", "b")
        for _, kind, change, item in x.cluster.history:
            if int(item["metadata"]["resourceVersion"]) > version:
                x.event(change, x.full(item))
        x.end_of_list()
        x.stream(head=False, version=x.cluster.version)
    w.server.on("streamed", changing, times=1)
    w.start(within=10)
    w.at_most(1, ALL)


# --- compressed lists ---------------------------------------------------------------------------

def packed(pack):
    """A list compressed by that function."""
    def answer(x):
        data = pack(x.list_bytes())
        x.head(200, {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}, "length", len(data))
        x.chunk(data)
    return answer


def two_members(text):
    half = len(text) // 2
    return gzip.compress(text[:half]) + gzip.compress(text[half:])


def filled(w):
    for number in range(300):
        w.cluster.put("pods", f"web-{number}")


@scenario(variants={"one-member": gzip.compress, "two-members": two_members}, modes=STREAMS)
def compressed_lists_are_read(w, pack):
    """Of a server that streams lists as they are, lists are requested compressed, and watches not.
    """
    filled(w)
    w.server.on("LIST", packed(pack))
    w.start("--gzip", "on")
    w.check(all(r.headers["accept-encoding"] == "gzip" for r in w.server.asked("LIST")),
            "a list was not asked for compressed")
    w.check(all(r.headers["accept-encoding"] == "identity" for r in w.server.asked("watch")
                if r.verb == "watch"), "a watch was asked for compressed")
    w.change()
    w.settles(5)
    w.at_most(1, "streamed")
    w.at_most(3, ALL)
    w.log_lines(0)


def bomb(text):
    """A list with much white space, which compresses a thousandfold."""
    return gzip.compress(text.replace(b"{", b"{" + b" " * 20_000_000, 1))


@scenario(factor=5, variants={"cut": lambda text: gzip.compress(text)[:-20],
                              "garbage-behind": lambda text: gzip.compress(text) + b"garbage",
                              "no-gzip": lambda text: b"\x1f\x8b" + text, "bomb": bomb},
          modes=STREAMS, but={"bomb": ("json",)})
def a_list_that_cannot_be_unpacked(w, pack):
    """Invalid compressed data is refused, and the next list is requested uncompressed."""
    w.server.on("LIST", packed(pack),
                when=lambda request: request.headers["accept-encoding"] == "gzip")
    w.start("--gzip", "on", within=20)
    w.at_most_per_minute(8, ALL)
    w.logged("compressed answer")


# --- compressed streams -------------------------------------------------------------------------

def compressed_stream(pack=gzip.compress, declared=True, behind=None):
    """A streamed list, each write compressed by that function. `behind` follows the list."""
    def answer(x):
        x.head(headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"} if declared else {})
        version, chunk = x.cluster.version, x.chunk
        x.chunk = lambda data: chunk(pack(data.encode() if isinstance(data, str) else data))
        x.chunk(x.list_bytes())
        if behind:
            return behind(x)
        x.stream(head=False, version=version)
    return answer


def in_three_members(data):
    third = len(data) // 3 + 1
    return b"".join(gzip.compress(data[at:at + third]) for at in range(0, len(data), third))


@scenario(variants={"a-member-each": compressed_stream(),
                    "three-members-each": compressed_stream(in_three_members),
                    "plain": compressed_stream(lambda data: data)},
          modes=STREAMS)
def compressed_streams_are_read(w, stream):
    """Kubernetes 1.37: one request lists, compressed, and each event arrives with its write; so it
    does from a proxy that has unpacked the stream and left its Content-Encoding."""
    filled(w)
    w.server.on("streamed", stream)
    w.start("--gzip", "on")
    for _ in range(3):
        w.change()
        w.settles(5)
    w.sleep(70)  # a bookmark
    w.at_most(1, ALL)
    w.check(w.server.asked(ALL)[0].headers["accept-encoding"] == "gzip", "it asks for no gzip")
    w.log_lines(0)


@scenario(modes=STREAMS)
def a_compressed_stream_without_content_encoding(w):
    """The head says that the stream is not compressed: a compressed LIST replaces it."""
    filled(w)
    w.server.on("streamed", compressed_stream(declared=False))
    w.start("--gzip", "on")
    w.at_most(1, "streamed")
    w.at_most(3, ALL)
    w.log_lines(0)


@scenario(factor=5, variants={"cut": lambda data: gzip.compress(data)[:-20],
                              "garbage-behind": lambda data: gzip.compress(data) + b"garbage",
                              "no-gzip": lambda data: b"\x1f\x8b" + data},
          modes=STREAMS)
def a_stream_that_cannot_be_unpacked(w, pack):
    """Invalid compressed data: the list is requested again without compression, and arrives."""
    w.server.on("streamed", compressed_stream(pack, behind=Exchange.end),
                when=lambda request: request.headers["accept-encoding"] == "gzip")
    w.start("--gzip", "on", within=20)
    w.change()
    w.settles(10)
    w.at_most_per_minute(8, ALL)


# --- objects without managedFields --------------------------------------------------------------

STRICT = {"406": status(406, "NotAcceptable", "only application/json is accepted"),
          "415": status(415, "UnsupportedMediaType", "unknown parameter"),
          "400": status(400, "BadRequest", "malformed Accept")}


@scenario(variants=STRICT)
def a_proxy_that_refuses_parameters_of_accept(w, refusal):
    """Refused once, the parameter is left out, and the encoding stays the same."""
    w.server.on("list page probe watch streamed", refusal,
                when=lambda request: ";drop=" in request.headers["accept"])
    w.start(within=10)
    w.change()
    w.settles(10)
    w.server.end_watches()
    w.change()
    w.settles(10)
    dropping = [r for r in w.server.asked(ALL) if ";drop=" in r.headers["accept"]]
    w.check(len(dropping) == 1, f"{len(dropping)} requests have the parameter")
    if w.mode.protobuf:
        w.check(all("protobuf" in r.headers["accept"] for r in w.server.asked(ALL)),
                "protobuf is not requested any longer")
    w.log_lines(0)


@scenario()
def managed_fields_are_not_requested(w):
    """Each request is for objects without managedFields."""
    w.start()
    w.check(all(";drop=metadata.managedFields" in r.headers["accept"]
                for r in w.server.asked(ALL)), "a request is for managedFields")


# --- a restarted server -------------------------------------------------------------------------

@scenario(factor=40, modes=STREAMS)
def a_restart_without_watch_lists(w):
    """The gate is off after a restart, and the caches are empty for a while: one of eight watches
    is refused, and nothing is reported."""
    populate(w, EIGHT)
    w.start(*in_namespaces(EIGHT))
    w.until(lambda: w.server.count("streamed") == 8, 30, "eight watches")
    w.sleep(20)
    began = w.now()
    w.server.on("streamed", REFUSALS["422"])
    w.server.on("list page probe watch",
                status(429, "TooManyRequests", "storage is (re)initializing", {"Retry-After": "1"}),
                when=lambda _: w.now() < began + 15)
    w.server.end_watches(reset)
    w.cluster.put("pods", "new", EIGHT[0])
    w.cluster.forget_history()
    w.settles(90)
    w.at_most(16, "streamed", since=began)
    w.never_logged("429|initializ")


@scenario(variants={"auto": (), "off": ("--gzip", "off")})
def nothing_compressed_is_asked_for_on_loopback(w, arguments):
    """On loopback, the network is never the bottleneck."""
    filled(w)
    w.start(*arguments)
    w.check(all(r.headers["accept-encoding"] == "identity" for r in w.server.asked(ALL)),
            "something was asked for compressed")
