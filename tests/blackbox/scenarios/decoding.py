"""Valid and invalid responses, and the client's reaction."""

import gzip
import json

import protobuf
from modes import IN_JSON, LISTS_IN_JSON
from scenario import plain, reset, scenario, status

MEGABYTE = 1 << 20


def lists(change):
    """A list edited by `change`: a function of the dictionary, in place or returning a new one."""
    def answer(x):
        found = x.list_object()
        x.answer(200, change(found) or found)
    return answer


def relist(w):
    w.server.on("watch", status(410, "Expired"), times=1)
    w.server.end_watches()


# --- lists --------------------------------------------------------------------------------------

def between_items(x, data):
    """The offset after the first object of the list."""
    if x.request.verb == "streamed":
        return len(x.list_pieces()[0])
    if x.protobuf:
        return data.index(protobuf.message({"items": (2, [protobuf.POD])},
                                           {"items": x.list_object()["items"][1:2]}))
    return data.index(b"}, {") + 1


def cut(framing, where):
    def answer(x):
        data = x.list_bytes()
        place = {"in-the-middle": len(data) // 2, "before-the-last-byte": len(data) - 1,
                 "between-items": between_items(x, data), "behind-the-head": 0}[where]
        x.head(framing=framing, length=len(data))
        if place:
            x.chunk(data[:place])
        x.close()
    return answer


def without_the_last_chunk(x):
    """The list is complete, but the framing announces more bytes."""
    x.head()
    x.chunk(x.list_bytes())
    x.close()


CUTS = {f"{framing}-{where}": cut(framing, where)
        for framing in ("chunked", "length", "close")
        for where in ("in-the-middle", "before-the-last-byte", "between-items", "behind-the-head")}
CUTS["without-the-last-chunk"] = without_the_last_chunk


@scenario(variants=CUTS)
def half_a_list_is_no_list(w, cutting):
    """A truncated list does not count as complete: the first state appears once the list is whole,
    and a later truncated list removes nothing."""
    w.server.on("list", cutting, times=1)
    w.start(within=20)
    w.server.on("list probe", cutting, times=2)
    relist(w)
    w.cluster.put("pods", "a")
    w.settles(75)
    w.check(not w.program.removals(), "something was removed")


def shuffled(found):
    return {"items": found["items"], "metadata": found["metadata"], "extra": {"items": [1, {}]},
            "apiVersion": found["apiVersion"], "kind": found["kind"]}


def unstructured(found):
    """In the form of custom resource lists."""
    for item in found["items"]:
        item.update(apiVersion="v1", kind="Pod")
    return {name: found[name] for name in sorted(found)}


def unknown_members(found):
    for item in found["items"]:
        item.update(extra=[[{}]], apiVersion="v1", kind="Pod")
        item["metadata"]["managedFields"] = [{"fieldsV1": {"f:metadata": {"f:labels": {}}}}] * 20
        item["spec"]["volumes"] = [None, 1e300, -0.0, 12345678901234567890123]


def in_tiny_chunks(x):
    data = x.list_bytes()
    x.head()
    for i in range(0, len(data), 7):
        x.chunk(data[i:i + 7])
    x.end()


def by_hand(head, end=b""):
    """A response with a given head, and the list delimited by the end of the connection."""
    def answer(x):
        x.send(head.replace("\n", "\r\n").encode() + b"\r\n")
        x.send(json.dumps(x.list_object()).encode() + end)
        x.close()
    return answer


GOOD = {
    "http-1.0": by_hand("HTTP/1.0 200 OK\nContent-Type: application/json\n"),
    "lower-case-headers": by_hand("HTTP/1.1 200 OK\ncontent-type:application/json\n"
                                  "connection:close\n"),
    "without-a-reason": by_hand("HTTP/1.1 200 \nContent-Type: application/json\n"),
    "new-line-at-the-end": lambda x: x.answer(200, json.dumps(x.list_object()) + "\n\n"),
    "items-first": lists(shuffled),
    "sorted": lists(unstructured),
    "unknown-members": lists(unknown_members),
    "indented": lambda x: x.answer(200, json.dumps(x.list_object(), indent=4)),
    "escaped": lambda x: x.answer(200, json.dumps(x.list_object()).replace("pod", "\\u0070od")),
    "byte-order-mark": lambda x: x.answer(200, "\ufeff" + json.dumps(x.list_object())),
    "charset": lambda x: x.answer(200, x.list_object(),
                                  content_type="application/json;charset=UTF-8"),
    "in-capitals": lambda x: x.answer(200, x.list_object(), content_type="Application/JSON"),
    "until-the-end": lambda x: x.answer(200, x.list_object(), framing="close"),
    "tiny-chunks": in_tiny_chunks,
    "large-head": lambda x: x.answer(200, x.list_object(),
                                     {f"X-Padding-{i}": "x" * 500 for i in range(12)}),
}


BY_HAND = ("http-1.0", "lower-case-headers", "without-a-reason", "new-line-at-the-end", "indented",
           "escaped", "byte-order-mark")


@scenario(variants=GOOD, but=dict.fromkeys(BY_HAND, LISTS_IN_JSON))
def lists_in_every_good_form(w, form):
    """Every valid encoding of a list yields the same state."""
    w.server.on("list", form)
    w.start(within=10)
    w.log_lines(0)


@scenario(variants={"null": None, "empty": []})
def lists_without_items(w, items):
    """An empty cluster: its list is complete, and objects that appear later arrive."""
    for name in "abc":
        w.cluster.delete("pods", name)

    def change(found):
        found["items"] = items
    w.server.on("list", lists(change))
    w.start(within=10)
    w.cluster.put("pods", "d")
    w.settles(5)


BAD_LISTS = {
    "html": plain(200, "<html>log in, please</html>"),
    "no-content-type": plain(200, "hello", None),
    "garbage": plain(200, "{]", "application/json"),
    "empty": plain(200, "", "application/json"),
    "null": plain(200, "null", "application/json"),
    "an-array": plain(200, "[]", "application/json"),
    "two-lists": lambda x: x.answer(200, json.dumps(x.list_object()) * 2),
    "deep": plain(200, "[" * 100000, "application/json"),
    "204": lambda x: x.answer(204, framing="chunked"),
    "206": lambda x: x.answer(206, x.list_object()),
    "a-status": plain(200, json.dumps({"kind": "Status", "status": "Failure", "code": 500}),
                      "application/json"),
    "protobuf": lambda x: x.answer(200, b"k8s\0\n\x0b\n\x02v1\x12\x05",
                                   content_type="application/vnd.kubernetes.protobuf"),
    "no-http": lambda x: (x.send(b"220 mail.example ESMTP\r\n"), x.close()),
    "nonsense-framing": lambda x: (x.head(), x.send(b"zz\r\n{}\r\n"), x.close()),
    "two-lengths": lambda x: (x.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                                     b"Content-Length: 3\r\n\r\n{}"), x.close()),
}


@scenario(variants=BAD_LISTS)
def lists_that_are_none(w, bad):
    """An invalid list shows nothing and removes nothing; it is logged and retried."""
    w.server.on("list", bad, times=2)
    w.start(within=20)
    w.logged("/api/v1/pods")
    w.server.on("list", bad, times=2)
    relist(w)
    w.cluster.put("pods", "a")
    w.settles(75)
    w.check(not w.program.removals(), "something was removed")


@scenario(variants={"first": True, "later": False})
def a_list_of_another_kind(w, first):
    """A list of services in response to a request for pods: none of its objects is ever shown."""
    def answer(x):
        found = x.list_object()
        found["kind"] = "ServiceList"
        found["items"] = [{"metadata": {"name": f"ghost-{i}", "namespace": "default",
                                        "uid": f"ghost-{i}", "resourceVersion": "1"},
                           "spec": {"containers": [{"name": "c", "ports": []}]},
                           "status": {"podIP": "10.9.9.9", "phase": "Running"}} for i in range(3)]
        x.answer(200, found)
    if first:
        w.server.on("list", answer, times=2)
        w.start(within=20)
    else:
        w.start()
        w.server.on("list", answer, times=2)
        relist(w)
        w.sleep(10)
        w.cluster.put("pods", "a")
        w.settles(30)
    w.logged("kind|ServiceList")
    w.check(not w.program.removals(), "something was removed")


@scenario(factor=4)
def a_list_of_twenty_megabytes(w):
    """Lists have no size limit, and most of their bytes are not kept."""
    for number in range(400):
        w.cluster.put("pods", f"pod-{number}", status={
            "podIP": "10.1.2.3", "phase": "Running", "message": "x" * 50000})
    w.start(within=60)
    w.memory_limit = 60


# --- objects ------------------------------------------------------------------------------------

BAD_ITEMS = {
    "labels-are-a-number": lambda item: item["metadata"].update(labels=5),
    "label-is-an-object": lambda item: item["metadata"]["labels"].update(app={}),
    "no-metadata": lambda item: item.pop("metadata"),
    "metadata-is-null": lambda item: item.update(metadata=None),
    "no-name": lambda item: item["metadata"].pop("name"),
    "spec-is-a-text": lambda item: item.update(spec="none"),
    "containers-are-numbers": lambda item: item["spec"].update(containers=[1, 2]),
    "port-is-a-text": lambda item: item["spec"]["containers"][0]["ports"][0].update(
        containerPort="http"),
    "port-is-enormous": lambda item: item["spec"]["containers"][0]["ports"][0].update(
        containerPort=10 ** 30),
}


# In these cases a bad object still has members of the right types.
INCOMPLETE = ("no-metadata", "metadata-is-null", "no-name")
BAD_IN_JSON = {name: IN_JSON for name in BAD_ITEMS if name not in INCOMPLETE}


@scenario(variants=BAD_ITEMS, but=BAD_IN_JSON)
def a_bad_object_does_not_spoil_the_list(w, spoil):
    """A malformed object is skipped or read as far as possible; all others are shown."""
    def change(found):
        found["items"].insert(1, json.loads(json.dumps(found["items"][0])))
        found["items"][1]["metadata"].update(name="bad", uid="bad")
        spoil(found["items"][1])
    w.cluster.known.update({"pod/default/bad", "pod/default/"})
    w.server.on("list", lists(change))
    w.start(synced=False)

    def others():
        return {source: step for source, step in w.program.state().items()
                if source != "pod/default/bad"}
    w.until(lambda: w.program.diffs and others() == w.cluster.state(), 20,
            "all other pods are shown")
    w.log_lines(2)


@scenario(variants=BAD_ITEMS, but=BAD_IN_JSON)
def a_bad_event_does_not_spoil_the_watch(w, spoil):
    """The same in a watch: later events are applied, without another list."""
    def answer(x):
        x.head()
        item = json.loads(json.dumps(w.cluster.objects["pods"]["default", "a"]))
        item["metadata"].update(name="bad", uid="bad")
        spoil(item)
        x.event("ADDED", item)
        x.stream(head=False)
    w.cluster.known.update({"pod/default/bad", "pod/default/"})
    w.server.on("watch", answer, times=1)
    w.start(synced=False)
    w.until(lambda: w.server.count("watch"), 10, "it watches")

    def others():
        return {source: step for source, step in w.program.state().items()
                if source != "pod/default/bad"}
    w.cluster.put("pods", "a")
    w.cluster.delete("pods", "b")
    w.until(lambda: others() == w.cluster.state(), 20, "the next events are shown")
    w.log_lines(2)
    w.at_most(1, "list")


# In JSON, and as the bytes of protobuf.
TEXTS = {
    "invalid-bytes": (b"a\xff\xfeb", b"a\xff\xfeb"),
    "overlong": (b"a\xc0\xafb", b"a\xc0\xafb"),
    "surrogate-bytes": (b"a\xed\xa0\x80b", b"a\xed\xa0\x80b"),
    "cut-sequence": (b"a\xe2\x82", b"aaaaaaaa\xe2\x82"),
    "zero": (b"a\\u0000b", b"a\0b"),
    "controls": (b"a\\u001b[31m\\nb", b"a\x1b[31m\nb"),
}


@scenario(variants=TEXTS)
def text_that_is_no_text(w, value):
    """Bytes that are not UTF-8 never reach the output: each of its lines is JSON."""
    in_json, raw = value

    def spoiled(x, data):
        return data.replace(b"main-label", raw.ljust(10, b"x") if x.protobuf else in_json)

    def answer(x):
        found = x.list_object()
        x.head()
        for piece in x.list_pieces(found):
            x.chunk(spoiled(x, piece))
        if x.request.verb == "streamed":
            x.follow(found["metadata"]["resourceVersion"])
        else:
            x.end()
    w.cluster.put("pods", "odd", labels={"app": "main-label"})
    w.server.on("list", answer)
    w.server.on("watch", lambda x: x.stream(send=lambda data: x.chunk(spoiled(x, data))))
    w.start(synced=False)
    w.until(lambda: w.server.count("watch"), 20, "it watches")
    w.cluster.put("pods", "odd", labels={"app": "main-label"})
    w.cluster.put("pods", "a")

    def others():
        return {source: step for source, step in w.program.state().items() if source[-4:] != "/odd"}
    w.until(lambda: others() == {source: step for source, step in w.cluster.state().items()
                                 if source[-4:] != "/odd"}, 20, "all other pods are shown")
    shown = w.program.groups.get("pod/default/odd")
    label = shown and shown["labels"].get("__meta_kubernetes_pod_label_app", "")
    if b"\x80" <= max(raw[i:i + 1] for i in range(len(raw))) and label:
        w.check("\ufffd" in label, f"the label is {label!r}")


# --- events -------------------------------------------------------------------------------------

@scenario(factor=4, variants={"2-MiB": 2, "12-MiB": 12, "20-MiB": 20})
def an_enormous_event(w, size):
    """An event with many megabytes of unused data is applied, and costs no memory."""
    def grown(event):
        event["object"]["metadata"]["managedFields"] = [{"x": "y" * (size * MEGABYTE)}]
    w.server.on("watch", lambda x: x.stream(edit=grown))
    w.start()
    # A protobuf object is buffered until it is complete.
    whole = w.mode.protobuf
    w.memory_limit = 80 if whole else 40
    for _ in range(2):
        w.cluster.put("pods", "a")
        if whole and size > 16:
            w.cluster.put("pods", "b")
            w.logged("skipped the object default/a", within=20)
        else:
            w.settles(20)
    w.at_most(1, "list")


@scenario(factor=4)
def an_enormous_annotation(w):
    """An object above the limit is skipped, or shown; the next objects are applied."""
    w.start()
    w.cluster.known.add("pod/default/large")

    def grown(event):
        if event["object"]["metadata"]["name"] == "large":
            event["object"]["metadata"]["annotations"] = {"x": "y" * (20 * MEGABYTE)}
    w.server.on("watch", lambda x: x.stream(edit=grown))
    w.server.end_watches()
    w.cluster.put("pods", "large")
    w.cluster.put("pods", "a")
    w.until(lambda: w.program.state().get("pod/default/a") ==
            w.cluster.state()["pod/default/a"], 40, "the next event is shown")
    w.memory_limit = 120


def odd_bookmarks(x):
    """Bookmarks as some servers send them, around each event."""
    version = str(x.cluster.version)
    bookmarks = [
        {"kind": "Pod", "metadata": {"resourceVersion": version, "creationTimestamp": None,
                                     "labels": None, "annotations": None}, "spec": None,
         "status": {}},
        {"metadata": {"resourceVersion": version}},
        {"kind": "Pod", "metadata": {}},
        {"kind": "Pod"},
        {"metadata": {"resourceVersion": version, "annotations": {
            "k8s.io/initial-events-end": "true"}}},
    ]

    def send(data):
        for item in bookmarks:
            x.event("BOOKMARK", item)
        x.chunk(data)
        for item in bookmarks:
            x.event("BOOKMARK", item)
    x.stream(send=send)


@scenario()
def bookmarks_with_nulls_and_without_members(w):
    """A bookmark needs no members; each event between such bookmarks arrives at once."""
    w.server.on("watch", odd_bookmarks)
    w.start()
    for _ in range(25):
        w.cluster.put("pods", "a")
        w.settles(5)
    w.at_most(1, "list")
    w.at_most(1, "watch")


ODD_EVENTS = {
    "unknown-type": {"type": "RENAMED", "object": {"metadata": {"name": "x"}}},
    "no-type": {"object": {"metadata": {"name": "x"}}},
    "no-object": {"type": "ADDED"},
    "null-object": {"type": "MODIFIED", "object": None},
    "object-is-a-number": {"type": "MODIFIED", "object": 5},
    "type-is-a-number": {"type": 5, "object": {}},
    "empty": {},
    "bookmark-without-object": {"type": "BOOKMARK"},
}


@scenario(factor=80, variants=ODD_EVENTS, modes=IN_JSON)
def events_of_no_known_shape(w, event):
    """A meaningless event in each watch does not delay later events for long."""
    def answer(x):
        x.head()
        x.chunk(json.dumps(event) + "\n")
        x.stream(head=False)
    w.server.on("watch", answer)
    w.start()
    for _ in range(2):
        w.change()
        w.settles(200)
    w.at_most_per_minute(30)


@scenario()
def a_deletion_with_little_in_it(w):
    """A DELETED event needs only the name; an unknown object may be deleted, too."""
    def little(event):
        if event["type"] == "DELETED":
            event["object"] = {"metadata": {name: event["object"]["metadata"][name] for name in
                                            ("name", "namespace", "resourceVersion")}}
    w.server.on("watch", lambda x: x.stream(edit=little))
    w.start()
    w.cluster.delete("pods", "b")
    w.cluster.put("pods", "b")
    w.cluster.delete("pods", "b")
    w.settles(5)


@scenario()
def an_event_of_another_kind(w):
    """A Status, a Service and a list among the events of pods are ignored."""
    def answer(x):
        x.head()
        for kind, more in (("Status", {}), ("Service", {"status": {"podIP": "10.9.9.9"}}),
                           ("PodList", {"items": []})):
            x.event("ADDED", {"kind": kind, "apiVersion": "v1", "metadata": {
                "name": "ghost", "namespace": "default", "uid": "ghost",
                "resourceVersion": str(x.cluster.version)}, **more})
        x.stream(head=False)
    w.server.on("watch", answer, times=1)
    w.start(synced=False)
    w.sleep(3)
    w.change()
    w.settles(60)


@scenario()
def an_object_was_replaced_while_disconnected(w):
    """Another object of the same name is a different object."""
    w.start()
    w.server.end_watches(reset)
    w.cluster.replace("pods", "a")
    w.settles(10)
    w.check(w.program.groups["pod/default/a"]["labels"]["__meta_kubernetes_pod_uid"] ==
            w.cluster.objects["pods"]["default", "a"]["metadata"]["uid"], "the uid is the old one")


# --- unrequested encodings ----------------------------------------------------------------------

def compressed(x):
    data = gzip.compress(x.list_bytes())
    x.head(200, {"Content-Encoding": "gzip"}, "length", len(data))
    x.chunk(data)


def compressed_watch(x):
    x.head(headers={"Content-Encoding": "gzip"})
    x.stream(head=False, send=lambda data: x.chunk(gzip.compress(data)))


@scenario()
def a_list_is_compressed_without_being_asked(w):
    """A gateway compresses a list without being asked: it is read."""
    w.server.on("list", compressed)
    w.start(within=20)
    w.at_most(2)
    w.log_lines(0)


@scenario()
def lists_are_always_compressed(w):
    """All lists are compressed: read, or reported with few requests."""
    w.server.on("list", compressed)
    w.start(synced=False)
    w.sleep(60)
    w.at_most_per_minute(12)
    if not w.program.diffs:
        w.logged("compressed|gzip")
    w.server.heal()
    w.settles(75)


@scenario()
def watches_are_always_compressed(w):
    """All watches are compressed, each piece as a separate gzip member: they are read."""
    w.server.on("watch", compressed_watch)
    w.start()
    for _ in range(3):
        w.change()
        w.settles(10)
    w.log_lines(0)


@scenario(factor=20, variants={"br": "br", "deflate": "deflate"})
def lists_are_compressed_in_another_way(w, coding):
    """An unsupported content coding is named in the log, and the list is requested again."""
    w.server.on("list", lambda x: x.answer(200, b"???", {"Content-Encoding": coding}))
    w.start(synced=False)
    w.logged("compressed", within=30)
    w.server.heal()
    w.settles(75)


@scenario()
def nothing_compressed_is_asked_for_by_watches(w):
    """Watches request identity only: servers compress streams inconsistently."""
    w.start()
    accepted = w.server.asked("watch")[0].headers.get("accept-encoding", "identity")
    w.check("gzip" not in accepted, f"Accept-Encoding: {accepted}")


# --- interim responses --------------------------------------------------------------------------

HINTS = {
    "103": b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n",
    "100": b"HTTP/1.1 100 Continue\r\n\r\n",
    "102-twice": b"HTTP/1.1 102 Processing\r\n\r\n" * 2,
    "one-byte-at-a-time": b"HTTP/1.1 103 Early Hints\r\n\r\n",
}


@scenario(variants=HINTS)
def hints_before_the_answer_are_skipped(w, hints):
    """Any number of 1xx responses may precede the real one."""
    def answer(x):
        if hints is HINTS["one-byte-at-a-time"]:
            x.drip(hints, 0.1)
        else:
            x.send(hints)
        x.behave()
    w.server.on("all", answer)
    w.start(within=15)
    w.change()
    w.settles(5)
    w.log_lines(0)
    w.at_most(1, "list")


@scenario()
def an_upgrade_is_no_answer(w):
    """101 is an error, and so is an endless series of hints: reported, with few requests."""
    w.server.on("list", lambda x: (x.send(b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n"),
                                   x.close()), times=2)
    w.start(within=20)
    w.logged("/api/v1/pods")


@scenario(factor=40)
def hints_without_end(w):
    """The server only sends hints: given up, and tried again."""
    def answer(x):
        while True:
            x.send(HINTS["100"])
            x.wait(1)
    w.spoil_lists(answer)
    w.start(within=250)
    w.logged("/api/v1/pods")


# --- redirects ----------------------------------------------------------------------------------

@scenario(variants={str(code): code for code in (301, 302, 303, 307, 308)})
def redirects_are_not_followed(w, code):
    """No other server gets the credentials."""
    other = w.another_server()
    w.server.on("list watch", lambda x: x.answer(
        code, "", {"Location": other.url + x.request.target}), times=3)
    w.start(within=30)
    w.check(not other.requests, "the redirect was followed")
    w.logged(str(code))
    other.stop()


# --- requested encodings ------------------------------------------------------------------------

@scenario(variants={"503": status(503, "ServiceUnavailable", "shutting down"), "reset": reset})
def one_failure_says_nothing_of_the_encoding(w, failing):
    """The first list fails once: the retry and each watch use the same encoding."""
    w.server.on("list", failing, times=1)
    w.start(within=20)
    w.server.end_watches()
    w.change()
    w.settles(10)
    accepted = {r.headers["accept"] for r in w.server.asked("list watch")}
    w.check(len(accepted) == 1, f"it accepts {accepted}")
    w.never_logged("encoding")
