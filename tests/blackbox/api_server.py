"""A scripted API server on loopback. It behaves well until a rule tells it otherwise, byte by byte
if need be, and it keeps a list of all requests with the program's time."""

import json
import select
import socket
import struct
import threading
import time
import traceback
import urllib.parse
from dataclasses import dataclass, field

from cluster import PATHS, Cluster, Expired, Malformed

# A client that loops must not take the machine away from the scenarios beside it.
FREE_REQUESTS = 400
BRAKE = 0.02  # seconds


class Gone(Exception):
    """The client has closed the connection, or the scenario is over."""


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
    generation: int = 0  # of good watches that end together
    query: dict = field(default_factory=dict)
    answer: str = ""
    ended: float = None

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
             content_type="application/json"):
        """framing: chunked, length (then `length`) or close."""
        self.request.answer = self.request.answer or str(status)
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
        self.chunk(json.dumps({"type": change, "object": item}) + "\n")

    def end(self):
        if self.chunked:
            self.send(b"0\r\n\r\n")

    def answer(self, status, body=b"", headers=None, content_type="application/json",
               framing="length"):
        """A whole answer."""
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        self.head(status, headers, framing, len(body), content_type)
        if body or framing != "chunked":
            self.chunk(body)
        self.end()

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

    # --- good answers ---------------------------------------------------------------------------

    def behave(self):
        version = self.request.query.get("resourceVersion", "")
        if version and not version.isdigit():
            self.status(400, "BadRequest", "the resource version is no number")
        elif self.request.verb == "watch":
            self.stream()
        elif self.request.verb == "streamed":
            self.streamed_list()
        elif self.request.verb == "other":
            self.status(404, "NotFound", "no such path")
        else:
            self.list()

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

    def item(self, change, item):
        """An object as events have it."""
        api, kind = PATHS[self.request.kind]
        return {"type": change,
                "object": {"kind": kind, "apiVersion": api.split("/", 2)[2], **item}}

    def bookmark(self, version=None, **members):
        api, kind = PATHS[self.request.kind]
        self.chunk(json.dumps({"type": "BOOKMARK", "object": {
            "kind": kind, "apiVersion": api.split("/", 2)[2],
            "metadata": {"resourceVersion": str(version or self.cluster.version)},
            **members}}) + "\n")

    def initial_events(self):
        """The list as events. Returns its version."""
        with self.cluster.condition:
            found = self.list_object(0)
        self.request.answer = f"200 {len(found['items'])} streamed"
        for item in found["items"]:
            self.chunk(json.dumps(self.item("ADDED", item)) + "\n")
        return int(found["metadata"]["resourceVersion"])

    def end_of_list(self, version=None):
        """The bookmark that ends the initial events."""
        version = version or self.cluster.version
        self.bookmark(version, metadata={"resourceVersion": str(version), "annotations": {
            "k8s.io/initial-events-end": "true"}})

    def streamed_list(self, **how):
        """KEP-3157: the list, its end, and then the watch."""
        self.head()
        version = self.initial_events()
        self.end_of_list(version)
        self.stream(head=False, version=version, **how)

    def error_event(self, code, reason="", message="", **members):
        self.request.answer += f" ERROR {code or reason}"
        self.event("ERROR", {**status_object(code, reason, message), **members})

    def stream(self, bookmarks=60, lasts=None, framing="chunked", head=True,
               line=lambda text: text, send=None, version=None):
        """Follows the cluster, as a good watch does. `line` may change the text of an event,
        `send` how it is sent."""
        send = send or self.chunk
        self.keep = self.keep and framing == "chunked"
        if head:
            self.head(framing=framing)
        query, server = self.request.query, self.server
        version = version or int(query.get("resourceVersion") or self.cluster.version)
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
                send(line(json.dumps(self.item(change, item)) + "\n"))
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

    def fits(self, request):
        return (request.verb in self.verbs and self.left != 0
                and self.kind in (None, request.kind) and self.ns in (None, request.ns)
                and (self.when is None or self.when(request)))


class ApiServer:
    """A thread for each connection. All times are the program's."""

    def __init__(self, cluster=None, factor=1, address="127.0.0.1", port=0, tls=None):
        self.cluster = cluster or Cluster()
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
        calling `answer` with the Exchange. The newest rule that fits counts."""
        if verbs == "all":
            verbs = "list page probe watch streamed other"
        rule = Rule(verbs.split(), answer, times, kind, ns, when)
        with self.lock:
            self.rules.insert(0, rule)
        return rule

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
                    if request.verb in verbs.split() and since <= request.at < until
                    and kind in (None, request.kind)]

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
        with self.lock:
            rule = next((rule for rule in self.rules if rule.fits(request)), None)
            if rule and rule.left > 0:
                rule.left -= 1
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
            request.generation = self.generation
            self.requests.append(request)
        return request
