"""Servers that echo the token, anywhere in a response."""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from api_server import status_object
from modes import IN_JSON
from scenario import TOKEN, scenario

# Every scenario fails if the program's output contains the token.


def echo(x):
    return x.request.headers.get("authorization", "")


def with_version(x, version):
    found = x.list_object()
    found["metadata"]["resourceVersion"] = version
    x.answer(200, found)


def with_item(x, **members):
    found = x.list_object()
    found["items"].append({**found["items"][0], **members})
    x.answer(200, found)


def error_event(x, **members):
    x.head()
    x.event("ERROR", status_object(500, **members))
    x.end()


PLACES = {
    "text-of-400": lambda x: x.answer(400, "bad request: " + echo(x), content_type="text/plain"),
    "html-of-500": lambda x: x.answer(500, f"<html><pre>{echo(x)}</pre></html>",
                                      content_type="text/html"),
    "page-of-200": lambda x: x.answer(200, f"<html><pre>{echo(x)}</pre></html>",
                                      content_type="text/html"),
    "json-of-200": lambda x: x.answer(200, {"headers": {"Authorization": echo(x)}}),
    "message-of-403": lambda x: x.status(403, "Forbidden", "forbidden: " + echo(x)),
    "message-of-401": lambda x: x.status(401, "Unauthorized", "who is " + echo(x)),
    "reason": lambda x: x.status(400, echo(x), "bad"),
    "long-message": lambda x: x.status(500, "InternalError", "x" * 390 + echo(x)),
    "twice": lambda x: x.status(500, "InternalError", echo(x) + " " + echo(x)),
    "token-only": lambda x: x.status(500, "InternalError", echo(x).removeprefix("Bearer ")),
    "capitals": lambda x: x.status(500, "InternalError", echo(x).upper()),
    "content-type": lambda x: x.answer(200, "hello", content_type=echo(x)),
    "content-type-in-the-middle": lambda x: x.answer(200, "x", content_type="text/" + echo(x)),
    "content-encoding": lambda x: x.answer(200, "hello", {"Content-Encoding": echo(x)}),
    "transfer-encoding": lambda x: x.answer(200, "hello", {"Transfer-Encoding": echo(x)}),
    "date-of-401": lambda x: x.status(401, "Unauthorized", "", {"Date": echo(x)}),
    "retry-after": lambda x: x.status(429, headers={"Retry-After": echo(x)}),
    "location": lambda x: x.answer(302, "", {"Location": "http://127.0.0.1/" + echo(x)}),
    "warning": lambda x: x.status(500, headers={"Warning": f'299 - "{echo(x)}"'}),
    "status-line": lambda x: (x.send(f"HTTP/1.1 500 {echo(x)}\r\n\r\n".encode()), x.close()),
    "no-http": lambda x: (x.send(echo(x).encode() + b"\r\n\r\n"), x.close()),
    "chunk-head": lambda x: (x.head(), x.send(echo(x).encode() + b"\r\n"), x.close()),
    "kind-of-the-list": lambda x: x.answer(200, {**x.list_object(), "kind": echo(x)}),
    "version-of-the-list": lambda x: with_version(x, echo(x)),
    "name-of-a-bad-object": lambda x: with_item(x, metadata={"name": echo(x), "labels": 5}),
    "status-in-200": lambda x: x.answer(200, status_object(500, echo(x), echo(x))),
}
STREAM_PLACES = {
    "event": lambda x: error_event(x, message=echo(x)),
    "reason-of-an-event": lambda x: error_event(x, reason=echo(x)),
    "garbage-in-a-stream": lambda x: (x.head(), x.chunk(echo(x)), x.end()),
    "type-of-an-event": lambda x: (x.head(), x.event(echo(x), {"metadata": {}}), x.end()),
    "kind-of-an-event": lambda x: (x.head(), x.event("ADDED", {
        "kind": echo(x), "metadata": {"name": echo(x), "namespace": "default"}}), x.end()),
}


VARIANTS = {**{name: ("list", place) for name, place in PLACES.items()},
            **{name: ("watch", place) for name, place in STREAM_PLACES.items()}}


@scenario(factor=20, variants=VARIANTS, but={"name-of-a-bad-object": IN_JSON})
def a_server_that_repeats_the_token(w, given):
    """The token anywhere in a response: never in the log, never in the output."""
    w.ghosts_allowed = True
    w.server.on(*given, times=3)
    w.start("--log-level", "debug", synced=False)
    w.sleep(20)
    w.server.heal()
    w.change()
    w.settles(200)


@scenario(factor=10, variants={"text": "text-of-400", "message": "message-of-403",
                               "content-type": "content-type"})
def the_token_when_time_is_up(w, place):
    """The report of --timeout about each watch does not contain the token."""
    w.server.on("list", PLACES[place])
    w.start("--once", "--timeout", "15", synced=False)
    w.ends_alone(3)


@scenario(factor=20)
def the_password_in_other_forms(w):
    """The token without Bearer, in base64 and in JSON: no part of it reaches the log."""
    encoded = base64.b64encode(TOKEN.encode()).decode()
    w.server.on("list", lambda x: x.status(500, "InternalError", json.dumps(
        {"Authorization": [echo(x)]})), times=3)
    w.start("--log-level", "debug", within=60)
    w.never_logged(encoded)


CONTROLS = {"escape": "\x1b]0;owned\x07\x1b[31mred", "newline": "one\nk8s_sd: warning: forged",
            "carriage-return": "one\rk8s_sd: forged", "c1": "\x9b31m", "zero": "a\0b"}


@scenario(variants=CONTROLS)
def messages_that_want_to_be_more(w, text):
    """Control characters in a server's message neither reach the terminal nor break a line."""
    w.server.on("list", lambda x: x.status(500, "InternalError", text), times=1)
    w.server.on("list", lambda x: x.answer(500, text, content_type="text/plain"), times=1)
    w.start(within=30)
    log = w.program.log_text()
    w.check(not any(ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160 for c in log),
            "a control character is in the log")
    w.check(not any(line.startswith("k8s_sd: warning: forged") or line.startswith("forged")
                    for line in log.splitlines()), "the message made a line of its own")


@scenario()
def a_long_message_is_shortened(w):
    """A message of a megabyte does not fill the log."""
    w.server.on("list", lambda x: x.status(500, "InternalError", "long " * 200000), times=2)
    w.start(within=30)
    w.check(max(len(line) for line in w.program.log_text().splitlines()) < 2000, "a long line")


# --- all kinds of secrets, in each field of a configuration -------------------------------------

class TokenService(BaseHTTPRequestHandler):
    """Echoes the client's secret: in its error, as its token, or in an invalid response."""
    answers = ()

    def do_POST(self):  # noqa: N802, the base class defines the name
        length = int(self.headers["Content-Length"])
        request = f"{self.headers} {self.rfile.read(length).decode()}"
        answers = type(self).answers
        status, body = answers.pop(0) if len(answers) > 1 else answers[0]
        text = (body(request) if callable(body) else body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def token_service(w, *answers):
    handler = type("Handler", (TokenService,), {"answers": list(answers)})
    server = HTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    w.on_close(server.shutdown)
    return f"http://127.0.0.1:{server.server_port}/token"


def echo_all(x):
    lines = "\n".join(f"{name}: {value}" for name, value in x.request.headers.items())
    basic = x.request.headers.get("authorization", "").removeprefix("Basic ")
    try:
        lines += "\n" + base64.b64decode(basic).decode()
    except ValueError:
        pass
    return lines


KINDS = {
    "password": f"basic_auth: {{username: jane, password: {TOKEN}}}",
    "password-file": "basic_auth: {username: jane, password_file: secret}",
    "user-file": "basic_auth: {username_file: secret}",
    "other-scheme": f"authorization: {{type: Token, credentials: {TOKEN}}}",
    "header": f"http_headers: {{X-Key: {{secrets: [{TOKEN}]}}}}",
    "header-file": "http_headers: {X-Key: {files: [secret]}}",
    "header-line": f"headers: ['X-Key: {TOKEN}']",
}
ECHOES = {
    "401": lambda x: x.status(401, "Unauthorized", echo_all(x)),
    "403": lambda x: x.status(403, "Forbidden", echo_all(x)),
    "500": lambda x: x.answer(500, echo_all(x), content_type="text/plain"),
    "page": lambda x: x.answer(200, echo_all(x), content_type="text/html"),
    "json": lambda x: x.answer(200, {"kind": echo_all(x)}),
}


@scenario(factor=20, variants=KINDS)
def a_server_that_repeats_all_headers(w, lines):
    """Any kind of credentials: never in the log, the status or the output."""
    w.ghosts_allowed = True
    w.file("secret", TOKEN + "\n")
    for answer in ECHOES.values():
        w.server.on("list", answer, times=1)
    path = w.file("sd.yaml", f"role: pod\napi_server: {w.server.url}\n{lines}\n")
    w.start("--sd-config", path, "--log-level", "debug", "--status-interval", "5", url="",
            token=None, within=300)
    heard = echo_all_of(w)
    w.check(TOKEN in heard, "the secret was not sent at all")
    for answer in ECHOES.values():
        w.server.on("watch", answer, times=1)
    w.server.end_watches()
    w.sleep(30)
    w.change()
    w.settles(300)
    w.never_logged(base64.b64encode(f"jane:{TOKEN}".encode()).decode())


def echo_all_of(w):
    """All credentials the server has received so far, with user and password in clear."""
    texts = []
    for request in w.server.requests:
        texts.extend(request.headers.values())
        basic = request.headers.get("authorization", "").removeprefix("Basic ")
        try:
            texts.append(base64.b64decode(basic).decode())
        except ValueError:
            pass
    return "\n".join(texts)


SERVICES = {
    "error": (400, lambda request: json.dumps({"error": "invalid_client",
                                               "error_description": request})),
    "error-word": (401, lambda request: json.dumps({"error": request})),
    "text": (500, lambda request: request),
    "page": (200, lambda request: f"<html>{request}</html>"),
    "type": (200, lambda request: json.dumps({"access_token": "x", "token_type": request})),
    "no-token": (200, lambda request: json.dumps({"token": request})),
}


@scenario(factor=20, variants=SERVICES)
def a_token_service_that_repeats_the_secret(w, answer):
    """The token service echoes the client's secret; then it issues a token, and the server echoes
    that."""
    w.ghosts_allowed = True
    good = (200, json.dumps({"access_token": TOKEN, "token_type": "bearer", "expires_in": 3600}))
    url = token_service(w, answer, answer, good)
    path = w.file("sd.yaml", f"role: pod\napi_server: {w.server.url}\noauth2:\n"
                             f"  client_id: jane\n  client_secret: {TOKEN}\n  token_url: {url}\n")
    w.server.on("list", ECHOES["403"], times=1)
    w.start("--sd-config", path, "--log-level", "debug", "--status-interval", "5", url="",
            token=None, within=300)
    w.check(TOKEN in echo_all_of(w), "the token was not sent at all")
