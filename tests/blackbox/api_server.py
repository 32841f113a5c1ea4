"""A scripted API server on loopback. It behaves well until a rule changes that, byte by byte
if need be, and it keeps a list of all requests with the program's time.

A scenario has rules for LIST and for WATCH. Where the server serves streamed lists, a rule for LIST
answers the request for one as well: the list that it sends becomes initial events and their
bookmark. Behind that bookmark the newest rule for WATCH goes on with the same stream. Objects are
in protobuf where the server has it and the request accepts it."""

import copy
import json
import re
import select
import socket
import struct
import threading
import time
import traceback
import urllib.parse
from dataclasses import dataclass, field

import protobuf
from cluster import PATHS, Cluster, Expired, Malformed
from modes import MODES

# A client that loops must not take the machine away from the scenarios beside it.
FREE_REQUESTS = 400
BRAKE = 0.02  # seconds
JSON = "application/json"
OWN = "the content type that the request accepts"
END_OF_LIST = {"k8s.io/initial-events-end": "true"}


class Gone(Exception):
    """The client has closed the connection, or the scenario is over."""


class HeadIsSent(Exception):
    """The answer to a watch has a head of its own, but the watch goes on behind a list."""


@dataclass
class Request:
    number: int
    at: float  # the program's time
    method: str
    target: str
    headers: dict
    connection: int
    kind: str = ""
    ns: str = ""
    verb: str = "other"  # list, page, probe, watch, streamed (a list with a watch)
    roles: frozenset = frozenset()  # the verb, and what else the request is to this server
    generation: int = 0  # of good watches that end together
    query: dict = field(default_factory=dict)
    answer: str = ""
    content_type: str = None  # of the answer
    listed: float = None  # when a list was complete
    ended: float = None
    follows: bool = False  # it is a watch that brings what changes

    def __str__(self):
        return f"{self.at:8.1f} #{self.connection} {self.target} -> {self.answer or '(nothing)'}"


def classify(request):
    url = urllib.parse.urlsplit(request.target)
    request.query = dict(urllib.parse.parse_qsl(url.query))
    parts = url.path.strip("/").split("/")
    if parts[-1] in PATHS:
        request.kind = parts[-1]
        if "namespaces" in parts[:-1]:
            request.ns = parts[parts.index("namespaces") + 1]
        if request.query.get("watch") in ("1", "true"):
            request.verb = "streamed" if "sendInitialEvents" in request.query else "watch"
        elif "continue" in request.query:
            request.verb = "page"
        elif request.query.get("limit") == "1":
            request.verb = "probe"
        else:
            request.verb = "list"


class Exchange:
    """A request and the way to answer it. All methods raise Gone when there is nobody left."""

    def __init__(self, server, sock, request):
        self.server, self.sock, self.request = server, sock, request
        self.cluster = server.cluster
        self.chunked = False
        self.keep = True  # the connection may be used again
        self.rule = None  # the one that is played
        self.listed = None  # the version of the list that this watch has begun with
        self.in_json = False  # whatever the request accepts

    # --- bytes ----------------------------------------------------------------------------------

    def send(self, data):
        try:
            self.sock.sendall(data)
        except OSError:
            raise Gone from None

    def drip(self, data, pause, size=1):
        """Pieces, with a pause of the program's time after each."""
        for i in range(0, len(data), size):
            self.send(data[i:i + size])
            self.wait(pause)

    def head(self, status=200, headers=None, framing="chunked", length=None,
             content_type=OWN):
        """framing: chunked, length (then `length`) or close."""
        if self.listed is not None:
            if status != 200 or headers or content_type != OWN:
                raise HeadIsSent
            return
        self.request.answer = self.request.answer or str(status)
        if content_type == OWN:
            content_type = self.content_type()
        self.request.content_type = content_type
        lines = [f"HTTP/1.1 {status} Reason"]
        if content_type is not None:
            lines.append(f"Content-Type: {content_type}")
        if framing == "chunked":
            lines.append("Transfer-Encoding: chunked")
        elif framing == "length":
            lines.append(f"Content-Length: {length}")
        else:
            lines.append("Connection: close")
            self.keep = False
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.chunked = framing == "chunked"
        # latin-1: a server may send any byte.
        self.send("\r\n".join(lines + ["", ""]).encode("latin-1"))

    def chunk(self, data):
        if not isinstance(data, bytes):
            data = data.encode()
        if self.chunked:
            data = b"%x\r\n%s\r\n" % (len(data), data)
        self.send(data)

    def event(self, change, item):
        self.chunk(self.event_bytes(change, item))

    def end(self):
        if self.chunked:
            self.send(b"0\r\n\r\n")

    def answer(self, status, body=b"", headers=None, content_type=OWN, framing="length"):
        """A whole answer. Objects are sent as the request accepts them, unless the content type
        is given; a list in answer to a request for a streamed list is sent as one."""
        self.in_json = content_type != OWN
        if status == 200 and isinstance(body, dict) and "items" in body:
            return self._answer_list(body, headers, content_type, framing)
        if content_type == OWN and not (self.protobuf and isinstance(body, dict)
                                        and body.get("kind") == "Status"):
            content_type = JSON
        if isinstance(body, dict):
            body = json.dumps(body) if content_type != OWN else protobuf.body(body)
        elif isinstance(body, list):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        if content_type == OWN:
            content_type = protobuf.MEDIA_TYPE
        return self._answer_bytes(status, body, headers, content_type, framing)

    def _answer_bytes(self, status, body, headers, content_type, framing):
        self.head(status, headers, framing, len(body), content_type)
        if body or framing != "chunked":
            self.chunk(body)
        self.end()

    def _answer_list(self, found, headers, content_type, framing):
        pieces = self.list_pieces(found)
        if self.request.verb != "streamed":
            return self._answer_bytes(200, pieces[0], headers, content_type, framing)
        self.head(200, headers, "chunked" if framing == "length" else framing,
                  content_type=content_type)
        for piece in pieces:
            self.chunk(piece)
        return self.follow(found["metadata"].get("resourceVersion"))

    def close(self):
        """The end of the connection, wherever the answer is."""
        self.request.answer += " closed"
        self.keep = False
        raise Gone

    def reset(self):
        self.request.answer += " reset"
        self.keep = False
        raw = self.sock
        try:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raw.close()
        except OSError:
            pass
        raise Gone

    # --- time -----------------------------------------------------------------------------------

    def wait(self, seconds):
        """Of the program's time."""
        end = time.monotonic() + seconds / self.server.factor
        while True:
            left = end - time.monotonic()
            if left <= 0:
                return
            self._look(min(left, 0.5))

    def silence(self):
        """Until the client gives up."""
        self.request.answer += " silence"
        while True:
            self._look(0.5)

    def _look(self, seconds):
        if self.server.stopped:
            raise Gone
        try:
            readable, _, _ = select.select([self.sock], [], [], seconds)
            if readable and not self.sock.recv(4096):
                raise Gone
        except (OSError, ValueError):
            raise Gone from None

    # --- encodings ------------------------------------------------------------------------------

    @property
    def protobuf(self):
        return (self.server.mode.protobuf and not self.in_json
                and protobuf.MEDIA_TYPE in self.request.headers.get("accept", ""))

    def content_type(self):
        if not self.protobuf:
            return JSON
        watching = self.request.verb in ("watch", "streamed")
        return protobuf.MEDIA_TYPE + (";stream=watch" if watching else "")

    def full(self, item):
        """An object with its kind, as events have it."""
        api, kind = PATHS[self.request.kind]
        return {"kind": kind, "apiVersion": api.split("/", 2)[2], **item}

    def event_bytes(self, change, item):
        if self.protobuf:
            return protobuf.frame(change, self.full(item))
        return (json.dumps({"type": change, "object": item}) + "\n").encode()

    def list_pieces(self, found=None):
        """The list in the form that was asked for: the events of a streamed list, or one piece."""
        found = found or self.list_object()
        if self.request.verb != "streamed":
            return [protobuf.body(found) if self.protobuf else json.dumps(found).encode()]
        own = {"kind": found["kind"].removesuffix("List"), "apiVersion": found["apiVersion"]}
        version = {name: found["metadata"][name] for name in ("resourceVersion",)
                   if name in found["metadata"]}
        return [*(self.event_bytes("ADDED", {**own, **item}) for item in found["items"] or []),
                self.event_bytes("BOOKMARK", {
                    **own, "metadata": {**version, "annotations": END_OF_LIST}})]

    def list_bytes(self, found=None):
        return b"".join(self.list_pieces(found))

    # --- good answers ---------------------------------------------------------------------------

    def behave(self):
        version = self.request.query.get("resourceVersion", "")
        if self.listed is not None:
            self.stream()
        elif version and not version.isdigit():
            self.status(400, "BadRequest", "the resource version is no number")
        elif self.request.verb == "watch":
            self.stream()
        elif self.request.verb == "other":
            self.status(404, "NotFound", "no such path")
        elif self.request.verb == "streamed" and self.server.mode.streams == "refused":
            self.refuse_stream()
        elif self.request.verb == "streamed" and self.server.mode.streams == "ignored":
            self.ignore_stream()
        else:
            self.list()

    def refuse_stream(self):
        """As Kubernetes 1.33 does, and a later server without the feature."""
        message = ("sendInitialEvents is forbidden for watch unless the WatchList feature gate is "
                   "enabled")
        self.status(422, "Invalid", "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: "
                    "Forbidden: " + message, details={
                        "group": "meta.k8s.io", "kind": "ListOptions", "causes": [
                            {"reason": "FieldValueForbidden", "message": "Forbidden: " + message,
                             "field": "sendInitialEvents"}]})

    def ignore_stream(self):
        """An ordinary watch, which begins with the objects if the request names no version."""
        self.head()
        version = None
        if self.request.query.get("resourceVersion", "0") == "0":
            version = self.initial_events()
        self.stream(head=False, version=version)

    def follow(self, version=None):
        """The watch behind a streamed list: the scenario's, or a good one. If the answer of the
        scenario has a head of its own, the stream ends, and the next watch is answered so."""
        self.request.listed = self.server.now()
        digits = re.search(r"\d+$", str(version))
        self.listed = int(digits.group()) if digits else self.cluster.version
        rule = self.server.take_rule(lambda rule: rule.fits(self.request, {"watch"})
                                     and rule is not self.rule)
        if rule is None:
            return self.stream()
        try:
            return rule.answer(self)
        except HeadIsSent:
            self.server.give_back(rule)
            return self.end()

    @property
    def since(self):
        """The version that the watch follows."""
        if self.listed is not None:
            return self.listed
        return int(self.request.query.get("resourceVersion") or self.cluster.version)

    def status(self, code, reason="", message="", headers=None, **details):
        """An error as the API has it."""
        self.answer(code, status_object(code, reason, message, **details), headers)

    def list_object(self, limit=None):
        """The list that was asked for, as a dictionary; raises Expired."""
        query = self.request.query
        if limit is None:
            limit = int(query.get("limit", 0))
        items, version, token = self.cluster.page(self.request.kind, self.request.ns, limit,
                                                  query.get("continue", ""))
        metadata = {"resourceVersion": str(version)}
        if token:
            metadata["continue"] = token
        return {"kind": PATHS[self.request.kind][1] + "List",
                "apiVersion": PATHS[self.request.kind][0].split("/", 2)[2],
                "metadata": metadata, "items": items}

    def list(self, **how):
        wanted = self.request.query.get("resourceVersion", "")
        if wanted.isdigit() and int(wanted) > self.cluster.version:
            self.request.answer = "504 too large"
            return self.status(504, "Timeout", "Too large resource version", retry=1, details={
                "causes": [{"reason": "ResourceVersionTooLarge", "message": "too large"}],
                "retryAfterSeconds": 1})
        try:
            found = self.list_object()
        except Expired:
            return self.status(410, "Expired", "The provided continue parameter is too old")
        except Malformed:
            return self.status(400, "BadRequest", "continue key is not valid")
        self.request.answer = f"200 {len(found['items'])} items rv={self.cluster.version}"
        self.answer(200, found, **how)

    def bookmark(self, version=None, **members):
        self.event("BOOKMARK", self.full({
            "metadata": {"resourceVersion": str(version or self.cluster.version)}, **members}))

    def initial_events(self):
        """The list as events. Returns its version."""
        with self.cluster.condition:
            found = self.list_object(0)
        self.request.answer = f"200 {len(found['items'])} streamed"
        for item in found["items"]:
            self.event("ADDED", self.full(item))
        return int(found["metadata"]["resourceVersion"])

    def end_of_list(self, version=None):
        """The bookmark that ends the initial events."""
        version = version or self.cluster.version
        self.bookmark(metadata={"resourceVersion": str(version), "annotations": END_OF_LIST})

    def error_event(self, code, reason="", message="", **members):
        self.request.answer += f" ERROR {code or reason}"
        self.event("ERROR", {**status_object(code, reason, message), **members})

    def stream(self, bookmarks=60, lasts=None, framing="chunked", head=True, edit=None, line=None,
               send=None, version=None):
        """Follows the cluster, as a good watch does. `edit` may change an event, in place or by
        returning another one, `line` its text where it is JSON, `send` how its bytes are sent."""
        send = send or self.chunk
        self.request.follows = True
        self.keep = self.keep and framing == "chunked"
        if head:
            self.head(framing=framing)
        query, server = self.request.query, self.server
        version = version or self.since
        lasts = min(lasts or 1e9, float(query.get("timeoutSeconds", 1800)))
        began = server.now()
        next_bookmark = began + bookmarks if bookmarks else 1e12
        while True:
            with self.cluster.condition:
                # What changes after the order to end comes with the next watch.
                ended = server.generation != self.request.generation
                try:
                    events, reached = ([], version) if ended else self.cluster.events(
                        self.request.kind, self.request.ns, version)
                except Expired:
                    self.error_event(410, "Expired", "too old resource version")
                    return self.end()
                if not events and not ended:
                    left = min(began + lasts, next_bookmark) - server.now()
                    self.cluster.condition.wait(min(max(left, 0) / server.factor, 0.2))
            self._look(0)
            for change, item in events:
                send(self._rendered({"type": change, "object": self.full(item)}, edit, line))
            version = reached
            if ended:
                self.request.answer += " ended by the server"
                return server.ending(self)
            if server.now() >= began + lasts:
                self.request.answer += " timeoutSeconds"
                return self.end()
            if server.now() >= next_bookmark:
                next_bookmark += bookmarks
                # A server whose store was restored says nothing of what is in its future.
                if version <= self.cluster.version:
                    self.bookmark(version)

    def _rendered(self, event, edit, line):
        if edit:
            event = copy.deepcopy(event)
            event = edit(event) or event
        if self.protobuf:
            if line:
                raise protobuf.NotEncodable("this scenario is about JSON")
            return protobuf.frame(event["type"], self.full(event["object"]))
        text = json.dumps(event) + "\n"
        text = line(text) if line else text
        return text.encode() if isinstance(text, str) else text


def status_object(code, reason="", message="", retry=None, **members):
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    if message:
        status["message"] = message
    if reason:
        status["reason"] = reason
    if code is not None:
        status["code"] = code
    return {**status, **members}


class Rule:
    def __init__(self, verbs, answer, times, kind, ns, when):
        self.verbs, self.answer, self.left = verbs, answer, times
        self.kind, self.ns, self.when = kind, ns, when

    def fits(self, request, roles):
        return (self.left != 0 and not roles.isdisjoint(self.verbs)
                and self.kind in (None, request.kind) and self.ns in (None, request.ns)
                and (self.when is None or self.when(request)))


class ApiServer:
    """A thread for each connection. All times are the program's."""

    def __init__(self, cluster=None, factor=1, address="127.0.0.1", port=0, tls=None,
                 mode=MODES["plain"]):
        self.cluster = cluster or Cluster()
        self.mode = mode
        self.factor = factor
        self.tls = tls  # an ssl.SSLContext
        self.began = time.monotonic()
        self.stopped = False
        self.generation = 0
        self.ending = Exchange.end
        self.requests = []
        self.connections = 0
        self.mistakes = []  # of the scenario, not of the program
        self.accepts = True  # False: a new connection is reset at once
        self.lock = threading.Lock()
        self.rules = []
        self._bind(address, port)

    def _bind(self, address, port):
        self.listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((address, port))
        self.listener.listen(256)
        self.address, self.port = self.listener.getsockname()[:2]
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://{self.address}:{self.port}"

    def now(self):
        return (time.monotonic() - self.began) * self.factor

    # --- rules ----------------------------------------------------------------------------------

    def on(self, verbs, answer, times=-1, kind=None, ns=None, when=None):
        """The next requests of these verbs ("list page probe watch streamed"; "all") are answered by
        calling `answer` with the Exchange. The newest rule that fits counts. "list" is also a
        streamed list where the server serves them, "watch" what comes behind it, and "LIST" a list
        or a page that is no stream."""
        if verbs == "all":
            verbs = "list page probe watch streamed other"
        rule = Rule(verbs.split(), answer, times, kind, ns, when)
        with self.lock:
            self.rules.insert(0, rule)
        return rule

    def take_rule(self, fits):
        with self.lock:
            rule = next((rule for rule in self.rules if fits(rule)), None)
            if rule and rule.left > 0:
                rule.left -= 1
        return rule

    def give_back(self, rule):
        """It has not been played after all."""
        with self.lock:
            if rule.left >= 0:
                rule.left += 1

    def heal(self):
        """Only good answers from now on. Streams that are silent stay so."""
        with self.lock:
            self.rules.clear()
        self.accepts = True

    def end_watches(self, ending=Exchange.end):
        """Ends all good watches that run now."""
        with self.cluster.condition:
            self.ending = ending
            self.generation += 1
            self.cluster.condition.notify_all()

    def go_away(self):
        """No listener: connections are refused."""
        self._close_listener()
        self.end_watches(Exchange.reset)

    def come_back(self):
        self._bind(self.address, self.port)

    def stop(self):
        self.stopped = True
        self._close_listener()
        with self.cluster.condition:
            self.cluster.condition.notify_all()

    def _close_listener(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)  # wakes who waits for connections
        except OSError:
            pass
        self.listener.close()

    def count(self, verbs="list page probe watch streamed", since=0, until=1e12, **filters):
        return len(self.asked(verbs, since, until, **filters))

    def asked(self, verbs="list page probe watch streamed", since=0, until=1e12, kind=None):
        with self.lock:
            return [request for request in self.requests
                    if not request.roles.isdisjoint(verbs.split()) and since <= request.at < until
                    and kind in (None, request.kind)]

    def is_followed(self, since):
        """Whether there is a watch that works, or was one since then."""
        with self.lock:
            return any(request.follows and (request.ended or self.now()) >= since
                       for request in self.requests)

    # --- connections ----------------------------------------------------------------------------

    def _accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                number = self.connections
            threading.Thread(target=self._serve, args=(sock, number), daemon=True).start()

    def _serve(self, sock, number):
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if not self.accepts:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
            while self._serve_one(sock, number):
                pass
        except OSError:  # of TLS, too
            pass
        finally:
            try:
                sock.close()
            except OSError:
                pass

    def _serve_one(self, sock, number):
        """False: the connection is over."""
        head = b""
        while b"\r\n\r\n" not in head:
            data = sock.recv(65536)
            if not data:
                return False
            head += data
            if head.startswith(b"\x16\x03"):  # a client that wants TLS
                sock.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTPS request.\n")
                return False
        request = self._note(head.decode("latin-1"), number)
        exchange = Exchange(self, sock, request)
        if len(self.requests) > FREE_REQUESTS:
            time.sleep(BRAKE)
        rule = self.take_rule(lambda rule: rule.fits(request, request.roles - {"watch"}
                                                     if request.verb == "streamed"
                                                     else request.roles))
        exchange.rule = rule
        try:
            (rule.answer if rule else Exchange.behave)(exchange)
        except (Gone, Expired, Malformed):  # the latter two from an answer that did not ask
            return False
        except Exception:
            self.mistakes.append(traceback.format_exc())
            return False
        finally:
            request.ended = self.now()
        return exchange.keep

    def _note(self, head, connection):
        lines = head.split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        with self.lock:
            request = Request(len(self.requests), self.now(), method, target,
                              {name.lower(): value for name, value in headers.items()}, connection)
            classify(request)
            request.roles = self._roles(request.verb)
            request.generation = self.generation
            self.requests.append(request)
        return request

    def _roles(self, verb):
        if verb == "streamed" and self.mode.streams == "served":
            return frozenset({"streamed", "list", "watch"})
        return frozenset({verb, "LIST"} if verb in ("list", "page") else {verb})
