"""The program's reports about its state, and its exit status."""

import json

from scenario import empty, no_answer, plain, reset, scenario, silence, status


def runs_to_its_end(w, *arguments, code):
    """Starts the program, and returns the log once it has ended with that status."""
    w.start(*arguments, synced=False)
    w.ends_alone(code)
    return w.program.log_text()


@scenario()
def once(w):
    """--once ends with status 0 after the first complete state."""
    runs_to_its_end(w, "--once", code=0)
    w.check(w.program.state() == w.cluster.state(), "the state is not complete")
    w.log_lines(0)


UNSYNCED = {
    "forbidden": (status(403, "Forbidden", "pods is forbidden"), "forbidden"),
    "unauthorized": (status(401, "Unauthorized", "Unauthorized"), "401|credentials"),
    "not-found": (status(404, "NotFound", "no such thing"), "404|no such"),
    "html": (plain(200, "<html>"), "text/html"),
    "reset": (reset, "reset|broke|closed"),
    "silent": (no_answer, "pods"),
    "server-error": (status(500, "InternalError", "etcd is away"), "etcd is away"),
    "unfinished": (lambda x: (x.head(), x.chunk('{"items":['), x.silence()), "pods"),
}


@scenario(factor=10, variants=UNSYNCED)
def time_is_up(w, given):
    """--timeout ends with status 3, and reports each incomplete list and its cause."""
    answer, words = given
    w.server.on("list", answer)
    log = runs_to_its_end(w, "--once", "--timeout", "12", code=3)
    w.check("not synced" in log, "it does not say that it is not synced")
    w.logged(words)


@scenario(factor=20)
def what_is_missing_is_named(w):
    """Of several kinds, the log names the forbidden one."""
    w.server.on("list", status(403, "Forbidden", "nodes is forbidden"), kind="nodes")
    log = runs_to_its_end(w, "--attach", "node", "--once", "--timeout", "20", code=3)
    last = log.split("not synced")[-1]
    w.check("nodes" in last or "node" in last, "nodes are not named")


@scenario(factor=60, slow=True)
def a_missing_permission_is_reported_once(w):
    """403 for ten minutes is one log line with a remedy; the list succeeds once it is granted."""
    w.server.on("list", status(403, "Forbidden", "pods is forbidden: User \"x\" cannot list"))
    w.start(synced=False)
    w.sleep(600)
    w.logged("forbidden", at_most=1)
    w.logged("RBAC|grant|permission")
    w.log_lines(2)
    w.at_most(30)
    w.server.heal()
    w.settles(w.after_outage(75))
    w.works_again()


@scenario(factor=20)
def anonymous_is_forbidden(w):
    """403 for system:anonymous: the log points to missing credentials, not to a permission."""
    w.server.on("list", status(403, "Forbidden", "pods is forbidden: User \"system:anonymous\" "
                               "cannot list resource \"pods\" in API group \"\""))
    w.start(synced=False, token=None)
    w.logged("anonymous", within=20)
    w.logged("credential|token")
    w.never_logged("RBAC|grant it")


@scenario(factor=20)
def a_clock_that_differs(w):
    """401 quotes the server's clock: a token may not be valid yet."""
    w.server.on("list", status(401, "Unauthorized", "Unauthorized",
                               {"Date": "Thu, 01 Jan 2015 00:00:00 GMT"}))
    w.start(synced=False)
    w.logged("2015", within=20)


OUTAGES = {"refused": lambda w: w.server.go_away(),
           "reset": lambda w: (setattr(w.server, "accepts", False), w.server.end_watches(reset)),
           "500": lambda w: (w.server.on("all", status(500)), w.server.end_watches()),
           "401": lambda w: (w.server.on("all", status(401)), w.server.end_watches()),
           "403": lambda w: (w.server.on("all", status(403)), w.server.end_watches()),
           "404": lambda w: (w.server.on("all", status(404)), w.server.end_watches()),
           "410": lambda w: (w.server.on("all", status(410, "Expired")), w.server.end_watches()),
           "429": lambda w: (w.server.on("all", status(429)), w.server.end_watches()),
           "503": lambda w: (w.server.on("all", status(503)), w.server.end_watches()),
           "html": lambda w: (w.server.on("all", plain(200, "<html>")), w.server.end_watches()),
           "silence": lambda w: (w.server.on("all", no_answer), w.server.end_watches()),
           "silent-streams": lambda w: (w.server.on("watch", silence),
                                        w.server.on("list probe", no_answer),
                                        w.server.end_watches()),
           "empty": lambda w: (w.server.on("all", empty), w.server.end_watches())}


@scenario(factor=120, slow=True, variants=OUTAGES)
def an_outage_is_reported_and_removes_nothing(w, outage):
    """While everything fails for many minutes, the state stays, and the log reports the outage."""
    w.start()
    outage(w)
    # Without bookmarks a watch may be silent for ten minutes, twice.
    silent = outage is OUTAGES["silent-streams"]
    # A missing API is requested at least every five minutes.
    absent = outage is OUTAGES["404"]
    w.sleep(1400 if silent else 700)
    w.check(w.program.state() == w.cluster.state(), "the state did not stay")
    w.check(len(w.program.diffs) == 1, "something was reported")
    w.logged("/api/v1/pods")
    w.log_lines(12)
    w.at_most_per_minute(16, since=60)
    w.server.heal()
    if not w.server.listener.fileno() >= 0:
        w.server.come_back()
    w.change()
    w.settles(700 if silent else 320 if absent else 150)
    w.works_again()


@scenario(factor=60, slow=True)
def a_server_that_comes_and_goes(w):
    """The server is up and down every half minute for ten minutes: it catches up each time, and the
    log is short."""
    w.start()
    for _ in range(10):
        w.server.accepts = False
        w.server.end_watches(reset)
        w.sleep(20)
        w.server.accepts = True
        w.change()
        w.settles(75)
    w.log_lines(44)
    w.at_most(3, "list page")


@scenario(factor=100, slow=True)
def nothing_happens_for_long(w):
    """A quiet quarter of an hour: a watch every five to ten minutes, no list, no log line."""
    w.start()
    w.sleep(900)
    w.change()
    w.settles(10)
    w.at_most(1, "list page")
    w.at_most(5, "watch")
    w.log_lines(0)
    w.check(w.program.processor_seconds() < 2, "it is busy with nothing")


@scenario()
def each_line_of_the_output_is_json(w):
    """Names and labels with quotes, slashes and other scripts: the output stays JSON."""
    w.cluster.put("pods", "a", labels={"app": 'quo"te\\back', "text": "über\u2028日本\U0001f600"})
    w.start()
    labels = w.program.groups["pod/default/a"]["labels"]
    w.check(labels["__meta_kubernetes_pod_label_app"] == 'quo"te\\back', json.dumps(labels))
    w.check(labels["__meta_kubernetes_pod_label_text"] == "über\u2028日本\U0001f600",
            json.dumps(labels))
