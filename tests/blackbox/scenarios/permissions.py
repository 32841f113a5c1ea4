"""The output of discover --check, and the effects of missing permissions and old servers."""

import json
import time

from certificates import Authority
from scenario import no_answer, scenario, silence, status

GROUP = "/apis/discovery.k8s.io"
DISCOVERY = (GROUP + "/v1", GROUP + "/v1beta1")
SLICES = "list endpointslices (API group discovery.k8s.io) in all namespaces"


def checked(w, *arguments, code=0, within=20, **options):
    """Runs the check to its end; returns {step: line}."""
    began = time.monotonic()
    w.start("--check", *arguments, synced=False, **options)
    w.ends_alone(code, within)
    w.measured["real seconds"] = time.monotonic() - began
    lines = [json.loads(line) for _, line in w.program.lines]
    w.check(lines, "nothing was printed")
    w.check(all(line["text"] for line in lines), "a line says nothing")
    failed = [line for line in lines if line["result"] == "FAILED"]
    w.check(bool(failed) == (code != 0), f"failed steps: {failed}")
    return {line["step"]: line for line in lines}


def failed(w, lines, *steps):
    """Exactly these steps have failed."""
    found = [step for step, line in lines.items() if line["result"] == "FAILED"]
    w.check(found == list(steps), f"failed: {found}, not {list(steps)}")


def says(w, line, *texts):
    for text in texts:
        w.check(text in line["text"], f"{line['step']} does not say \"{text}\": {line['text']}")


@scenario(factor=1)
def all_is_fine(w):
    """Each step runs once, with short requests, and the status is 0."""
    lines = checked(w, role="endpoints")
    steps = list(lines)
    w.check(steps[:6] == ["configuration", "name lookup", "TCP", "credentials", "TLS",
                          "authentication"], f"steps: {steps}")
    w.check(len(steps) == 6 + 6, f"steps: {steps}")
    w.check(w.server.count("watch") == 3 and w.server.count("probe") == 3, "other requests")
    w.check(w.server.count("list page") == 0, "a whole list")


@scenario(factor=1)
def the_token_is_refused(w):
    """401: the authentication step fails, and its message points to the credentials."""
    w.server.on("all", status(401, "Unauthorized", "Unauthorized"))
    lines = checked(w, code=1)
    failed(w, lines, "authentication")
    says(w, lines["authentication"], "HTTP 401", "check the credentials")


@scenario(factor=1)
def only_watching_is_forbidden(w):
    """403 for watch: the line of the watch names the missing rule."""
    w.server.on("watch", status(403, "Forbidden", "no"))
    lines = checked(w, code=1)
    failed(w, lines, "watch pods in all namespaces")
    says(w, lines["watch pods in all namespaces"], "permission to watch pods",
         'a rule of a ClusterRole: {apiGroups: [""], resources: ["pods"], '
         'verbs: ["list", "watch"]}')


@scenario(factor=1)
def one_of_three_kinds_is_forbidden(w):
    """403 for services in a namespace: both lines report it, and the other kinds are fine."""
    w.server.on("probe watch", status(403, "Forbidden", "no"), kind="services")
    lines = checked(w, "--namespace", "default", role="endpoints", code=1)
    failed(w, lines, "list services in the namespace default",
           "watch services in the namespace default")
    says(w, lines["list services in the namespace default"], "Role in the namespace default")


@scenario(factor=1)
def anonymous_needs_a_token_and_no_rights(w):
    """403 for system:anonymous: the credentials are missing, not a permission."""
    w.server.on("probe watch", status(403, "Forbidden", 'pods is forbidden: User '
                                      '"system:anonymous" cannot list resource "pods"'))
    lines = checked(w, code=1, token=None)
    says(w, lines["list pods in all namespaces"], "configure a token")
    w.check("grant" not in lines["list pods in all namespaces"]["text"], "rights for anonymous")


@scenario(factor=1)
def the_authority_is_another(w):
    """A certificate of another authority: TCP succeeds, TLS fails, and nothing is sent."""
    authority = Authority(w.folder)
    other = Authority(w.folder, "other")
    w.serve(tls=authority.server())
    lines = checked(w, "--ca-file", other.certificate, code=1)
    failed(w, lines, "TLS")
    says(w, lines["TLS"], "is not trusted")
    w.check(not w.server.requests, "something was sent")


@scenario(factor=1)
def tls_is_fine(w):
    """The right authority: TLS is fine."""
    authority = Authority(w.folder)
    w.serve(tls=authority.server())
    lines = checked(w, "--ca-file", authority.certificate)
    w.check(lines["TLS"]["result"] == "ok", "TLS")


@scenario(factor=1)
def the_port_has_no_listener(w):
    """A port without a listener: TCP fails, at once."""
    w.server.go_away()
    lines = checked(w, code=1)
    failed(w, lines, "TCP")
    says(w, lines["TCP"], "refused")


@scenario(factor=1)
def the_name_does_not_exist(w):
    """An unknown host name: the lookup fails, and the message has the name."""
    lines = checked(w, url="http://nowhere.invalid:80", code=1)
    failed(w, lines, "name lookup")
    says(w, lines["name lookup"], "nowhere.invalid")


@scenario(factor=10, variants={"everywhere": "all", "in-lists": "probe", "in-watches": "watch"})
def the_server_hangs(w, verbs):
    """No response: the step fails after its time limit, and the check ends."""
    w.server.on(verbs, no_answer)
    lines = checked(w, "--timeout", "5", code=1)
    line = list(lines.values())[-1]
    w.check(line["result"] == "FAILED", f"the last line: {line}")
    says(w, line, "5 s")


@scenario(factor=10)
def a_watch_is_ended_at_once(w):
    """The check ends an open watch at once: the response head suffices."""
    w.server.on("watch", silence)
    checked(w)


@scenario(factor=1)
def what_answers_is_a_web_page(w):
    """HTML in place of an API server's response."""
    w.server.on("all", lambda x: x.answer(200, "<html>", content_type="text/html"))
    lines = checked(w, code=1)
    failed(w, lines, "authentication")
    says(w, lines["authentication"], "is this the URL of a Kubernetes API server?")


# --- old servers --------------------------------------------------------------------------------

def serves(w, version):
    """The server has slices in this version only, and its discovery document shows it. It has both
    versions of the group."""
    other = {"v1": "v1beta1", "v1beta1": "v1"}[version]
    def resources(x):
        has = x.request.target == f"{GROUP}/{version}"
        x.answer(200, {"kind": "APIResourceList", "apiVersion": "v1",
                       "groupVersion": x.request.target.removeprefix("/apis/"),
                       "resources": [{"name": "endpointslices" if has else "others"}]})
    w.server.heal()
    w.server.on("all", status(404, "NotFound", "the server could not find the resource"),
                kind="endpointslices", when=lambda r: r.target.startswith(f"{GROUP}/{other}/"))
    w.server.on("other", resources, when=lambda r: r.target in DISCOVERY)


@scenario(factor=1)
def an_old_server_is_fine(w):
    """Slices in v1beta1 only: the check reports it, and succeeds."""
    serves(w, "v1beta1")
    lines = checked(w, role="endpointslice")
    says(w, lines[SLICES], "v1beta1")


@scenario(factor=60, slow=True)
def an_old_server_learns(w):
    """v1beta1 is discovered and watched; v1 is adopted once it exists."""
    serves(w, "v1beta1")
    w.cluster.put("endpointslices", "s")
    w.start(role="endpointslice", synced=False)
    w.until(lambda: w.server.count("watch", kind="endpointslices"), 30, "it watches slices")
    w.logged("the server is old", at_most=1, within=10)
    w.sleep(600)
    w.check(len([r for r in w.server.requests if r.target in DISCOVERY]) <= 20,
            "discovery is hammered")
    serves(w, "v1")
    healed = w.now()
    w.server.end_watches()
    w.until(lambda: [r for r in w.server.asked("list", since=healed, kind="endpointslices")
                     if r.target.startswith(GROUP + "/v1/")], 700, "v1 is listed")
    w.logged("which replaces the older one", within=10, at_most=1)


@scenario(factor=150, slow=True)
def an_api_that_is_missing(w):
    """404 for half an hour: one line, a few requests, and the API is found within five minutes."""
    w.server.on("all", status(404, "NotFound", "the server could not find the resource"))
    w.start(synced=False)
    w.sleep(1800)
    w.log_lines(1)
    w.logged("no such API", at_most=1)
    w.at_most(20)
    w.server.heal()
    w.settles(w.after_outage(310))
    w.works_again()
