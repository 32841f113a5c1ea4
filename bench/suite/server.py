"""An API server of prepared bytes: it costs the measured processes only the socket.

usage: server.py --pods N [--tls CERT KEY] [--gzip] [--protobuf] [--watch-list]

Prints its port. Then it takes commands on standard input, one a line, and answers each with a line
when it is done:

  burst N          N changes of pods, as fast as the socket takes them, to each watch of pods;
                   the last one has the value "last"
  churn RATE S     so many changes of pods a second for S seconds; the value is the time in
                   microseconds (steady clock, the last nine digits)
  node NAME        one change of a node
  expire N         ends all watches with 410; the next list has N changed pods
  requests         prints how many lists and watches there were
"""

import argparse
import gzip
import json
import socket
import ssl
import sys
import threading
import time
from urllib.parse import parse_qs, urlsplit

import cluster

LAST = b"999999999"
BATCH = 512 * 1024


class Server:
    def __init__(self, options):
        self.options = options
        self.resources = {}
        self.lock = threading.Lock()
        self.watches = {}  # path -> list of (socket, encoding, lock)
        self.changed = 0
        self.revision = 0
        self.counts = {"lists": 0, "watches": 0}
        self.packed = {}

    def resource(self, path, encoding):
        name = path.rsplit("/", 1)[1]
        if path.startswith("/api/v1/namespaces/quiet-") and name == "pods":
            return cluster.Resource(encoding, name, 0)
        if name not in cluster.KINDS or cluster.KINDS[name][2] != path:
            return None
        with self.lock:
            key = name, encoding
            if key not in self.resources:
                self.resources[key] = cluster.Resource(encoding, name, self.options.pods)
            return self.resources[key]

    def prepare(self, names, encoding):
        for name in names:
            self.resource(cluster.KINDS[name][2], encoding).listing()

    # --- requests ---------------------------------------------------------------------------------

    def serve(self, connection):
        reader = connection.makefile("rb")
        try:
            while True:
                head = []
                while (line := reader.readline()) not in (b"\r\n", b""):
                    head.append(line.decode("latin-1").strip())
                if not head:
                    return
                headers = dict(line.lower().split(": ", 1) for line in head[1:])
                if self.answer(connection, head[0].split(" ")[1], headers):
                    self.wait_for_end(reader)
                    return
        except (OSError, ssl.SSLError, ValueError):
            pass
        finally:
            self.forget(connection)

    @staticmethod
    def wait_for_end(reader):
        while reader.read(1):
            pass

    def answer(self, connection, target, headers):
        """True: the connection has become a watch."""
        url = urlsplit(target)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        wants_protobuf = "vnd.kubernetes.protobuf" in headers.get("accept", "")
        encoding = cluster.Protobuf if wants_protobuf and self.options.protobuf else cluster.Json
        resource = self.resource(url.path, encoding)
        if not resource:
            self.send(connection, "404 Not Found", "application/json",
                      json.dumps(cluster.status(404, "NotFound")).encode())
            return False
        if query.get("watch") in ("1", "true"):
            return self.watch(connection, url.path, resource, query)
        self.list(connection, resource, query, headers)
        return False

    def list(self, connection, resource, query, headers):
        self.counts["lists"] += 1
        selector = None
        if "labelSelector" in query:
            selector = tuple(tuple(part.encode().split(b"="))
                             for part in query["labelSelector"].split(","))
        changed = self.changed if resource.kind == "Pod" else 0
        body = resource.listing(changed, selector)
        extra = ""
        if self.options.gzip and "gzip" in headers.get("accept-encoding", ""):
            with self.lock:
                if id(body) not in self.packed:
                    # The API server uses this level, too.
                    self.packed[id(body)] = gzip.compress(body, compresslevel=1)
            body = self.packed[id(body)]
            extra = "Content-Encoding: gzip\r\n"
        self.send(connection, "200 OK", resource.encoding.content_type, body, extra)

    @staticmethod
    def send(connection, status, content_type, body, extra=""):
        head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n{extra}" \
               f"Content-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode())
        view = memoryview(body)
        for at in range(0, len(view), BATCH):
            connection.sendall(view[at:at + BATCH])

    def watch(self, connection, path, resource, query):
        initial = query.get("sendInitialEvents") == "true"
        if initial and not self.options.watch_list:
            self.send(connection, "422 Unprocessable Entity", "application/json", json.dumps(
                cluster.status(422, "Invalid")).encode())
            return False
        self.counts["watches"] += 1
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {resource.encoding.watch_type}\r\n" \
               "Transfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head.encode())
        if initial:
            events = memoryview(resource.initial_events())
            for at in range(0, len(events), BATCH):
                self.chunk(connection, events[at:at + BATCH])
        with self.lock:
            self.watches.setdefault(path, []).append((connection, resource))
        return True

    def forget(self, connection):
        with self.lock:
            for path, open_ones in self.watches.items():
                self.watches[path] = [one for one in open_ones if one[0] is not connection]
        connection.close()

    @staticmethod
    def chunk(connection, data):
        connection.sendall(b"%x\r\n" % len(data) + data + b"\r\n")

    # --- commands ---------------------------------------------------------------------------------

    def of(self, name):
        with self.lock:
            return list(self.watches.get(cluster.KINDS[name][2], []))

    def burst(self, count):
        for connection, resource in self.of("pods"):
            batch, size = [], 0
            for i in range(count):
                value = LAST if i + 1 == count else b"%09d" % i
                batch.append(resource.event(i % len(resource.items), value))
                size += len(batch[-1])
                if size >= BATCH or i + 1 == count:
                    self.chunk(connection, b"".join(batch))
                    batch, size = [], 0

    def churn(self, rate, seconds):
        start = time.monotonic()
        for i in range(rate * seconds):
            time.sleep(max(0.0, start + i / rate - time.monotonic()))
            for connection, resource in self.of("pods"):
                stamp = b"%09d" % (time.monotonic_ns() // 1000 % 10**9)
                number = (i * 101) % len(resource.items)
                self.chunk(connection, resource.event(number, stamp))

    def node(self, name):
        self.revision += 1
        for connection, resource in self.of("nodes"):
            number = next(i for i, item in enumerate(resource.items)
                          if resource.encoding.text(name.encode()) in item)
            self.chunk(connection, resource.event(number, b"g%06d" % self.revision))

    def expire(self, changed):
        self.changed = changed
        with self.lock:
            all_watches = [one for open_ones in self.watches.values() for one in open_ones]
            self.watches.clear()
        for connection, resource in all_watches:
            resource.listing(self.changed if resource.kind == "Pod" else 0)
        for connection, resource in all_watches:
            try:
                self.chunk(connection, resource.encoding.expired())
                connection.sendall(b"0\r\n\r\n")
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the client closed the connection when the event arrived


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, required=True)
    parser.add_argument("--prepare", default="pods", help="resources that are made beforehand")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    parser.add_argument("--gzip", action="store_true")
    parser.add_argument("--protobuf", action="store_true")
    parser.add_argument("--watch-list", action="store_true")
    server = Server(parser.parse_args())
    options = server.options
    server.prepare(options.prepare.split(","), cluster.Json)
    if options.protobuf:
        server.prepare(options.prepare.split(","), cluster.Protobuf)
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)

    def accept():
        while True:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=greet, args=(connection,), daemon=True).start()

    def greet(connection):
        if options.tls:
            try:
                connection = context.wrap_socket(connection, server_side=True)
            except (OSError, ssl.SSLError):
                return
        server.serve(connection)

    threading.Thread(target=accept, daemon=True).start()
    print(listener.getsockname()[1], flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "requests":
            print(json.dumps(server.counts), flush=True)
            continue
        getattr(server, command)(*(int(a) if a.isdigit() else a for a in arguments))
        print("done", flush=True)


if __name__ == "__main__":
    main()
