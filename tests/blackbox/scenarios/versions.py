"""Expired versions, versions that go back or lie in the future; lists in pages."""

import copy

from api_server import Exchange, status_object
from modes import IN_JSON, LISTS
from scenario import error_event, plain, reset, scenario, status

MANY = 1100  # three pages


def many_pods(w):
    for number in range(MANY):
        w.cluster.put("pods", f"many-{number:04}")


def relist(w):
    """The version of the next watch has expired."""
    w.server.on("watch", status(410, "Expired", "too old resource version"), times=1)
    w.server.end_watches()


# --- expired ------------------------------------------------------------------------------------

GONE = {
    "status": status(410, "Expired", "too old resource version: 1 (2)"),
    "status-in-plain-text": plain(410, "Gone", "text/plain"),
    "event": error_event(410, "Expired", "too old resource version: 1 (2)"),
    "event-gone": error_event(410, "Gone"),
    "event-without-code": error_event(None, "Expired", "The resourceVersion is too old."),
    "event-without-code-gone": error_event(None, "Gone"),
    "event-with-code-as-text": error_event("410", "Expired", "too old"),
    "event-with-code-only": error_event(410),
}


TEXT_ONLY = {"event-with-code-as-text": IN_JSON}


@scenario(factor=5, variants=GONE, but=TEXT_ONLY)
def an_expired_version_is_listed_at_once(w, gone):
    """Each form of 410 leads to one list without a pause, and no change is missed."""
    w.start()
    began = w.now()
    w.server.on("watch", gone, times=1)
    w.server.end_watches()
    w.change()
    w.cluster.replace("pods", "b")
    w.settles(5)
    w.check(w.server.count("list", since=began) == 1, "there is not just one list")
    w.at_most(4, since=began)


def after_a_bookmark(x):
    x.head()
    x.bookmark()
    x.error_event(410, "Expired")
    x.end()


def after_an_event(x):
    x.head()
    x.event("MODIFIED", x.cluster.objects["pods"]["default", "a"])
    x.error_event(410, "Expired")
    x.end()


def after_a_while(x):
    x.head()
    x.wait(1.5)
    x.bookmark()
    x.error_event(410, "Expired")
    x.end()


@scenario(factor=40, slow=True, variants={**GONE, "after-a-bookmark": after_a_bookmark,
                               "after-an-event": after_an_event, "after-a-while": after_a_while},
          but=TEXT_ONLY)
def versions_that_expire_again_and_again(w, gone):
    """410 to each watch, after any earlier event: the first list at once, then growing pauses."""
    w.start()
    w.server.on("watch", gone)
    w.server.end_watches()
    began = w.now()
    w.change()
    w.settles(30)
    w.sleep(130)
    w.at_most(19, "list page probe", since=began, until=began + 60)
    w.at_most(8, "list page probe", since=began + 60, until=began + 120)
    w.change()
    w.settles(70)
    w.log_lines(10)
    w.watches_again(70)


@scenario(factor=40)
def lists_that_have_expired_too(w):
    """Watch and list get 410: the most recent state is requested, with growing pauses."""
    w.start()
    w.server.on("list page probe watch", status(410, "Expired"))
    w.server.end_watches()
    began = w.now()
    w.sleep(120)
    w.at_most_per_minute(30, since=began)
    w.check(w.server.asked("list")[-1].query.get("resourceVersion", "") == "",
            "it does not ask for the most recent state")
    w.server.heal()
    w.change()
    w.settles(75)


@scenario()
def several_changes_of_one_version(w):
    """Deletions of a whole collection share a version: none of them counts as a repetition."""
    def same(event):
        event["object"]["metadata"]["resourceVersion"] = "1003"
    w.server.on("watch", lambda x: x.stream(edit=same))
    w.start()
    w.cluster.delete("pods", "a")
    w.cluster.delete("pods", "b")
    w.cluster.put("pods", "c")
    w.settles(5)
    w.at_most(1, "list")


@scenario(factor=20)
def a_real_cache_that_forgets(w):
    """The server has dropped its entire history, including deletions and replacements."""
    w.start()
    w.server.go_away()
    w.change()
    w.cluster.delete("pods", "b")
    w.cluster.replace("pods", "a")
    w.cluster.forget_history()
    w.server.come_back()
    w.settles(30)
    w.change()
    w.settles(5)


# --- from the future ----------------------------------------------------------------------------

def too_large(shape):
    message = "Too large resource version: 9999, current: 1000"
    details = {"with-cause": {"causes": [{"reason": "ResourceVersionTooLarge",
                                          "message": "Too large resource version"}],
                              "retryAfterSeconds": 1},
               "with-cause-without-reason": {"causes": [{"message": "Too large resource version"}],
                                             "retryAfterSeconds": 1},
               "message-only": {"retryAfterSeconds": 1}}[shape]
    return status_object(504, "Timeout", message if shape == "message-only" else "Timeout",
                         details=details)


@scenario(variants={shape: too_large(shape) for shape in
                    ("with-cause", "with-cause-without-reason", "message-only")})
def a_version_from_the_future_of_a_list(w, refusal):
    """The re-list's version is too large for this replica: the most recent state, at once."""
    w.start()
    w.server.on("list", lambda x: x.answer(504, refusal, {"Retry-After": "1"}),
                when=lambda request: "resourceVersion" in request.query)
    began = w.now()
    w.server.on("watch", status(410, "Expired"), times=1)
    w.server.end_watches()
    w.change()
    w.settles(8)
    w.at_most(8, since=began)


@scenario(factor=40)
def a_version_from_the_future_of_a_watch(w):
    """An ERROR event reports that the version is too large: listed again, and then with pauses."""
    w.start()
    w.server.on("watch", lambda x: (x.head(), x.event("ERROR", too_large("with-cause")), x.end()))
    w.server.end_watches()
    began = w.now()
    w.change()
    w.settles(15)
    w.sleep(120)
    w.at_most(19, "list page probe", since=began, until=began + 60)
    w.watches_again(75)


# --- restored servers ---------------------------------------------------------------------------

@scenario(factor=20, variants={"reset": reset, "cut": Exchange.close})
def a_restored_server_is_found_out(w, cut):
    """The store was restored: watches from its future are accepted and deliver nothing. One LIST of
    one object detects it, everything is listed again, and the log reports it."""
    w.start()
    for _ in range(20):
        w.cluster.put("pods", "a")
    w.settles(5)
    with w.cluster.condition:
        w.cluster.restore(900)
        w.cluster.put("pods", "b")
        w.cluster.delete("pods", "c")
        w.server.end_watches(cut)
    w.settles(20)
    w.logged("older|went back|restored", within=10)
    w.change()
    w.settles(5)


@scenario(factor=20)
def a_restored_server_that_was_away(w):
    """The same after a minute without a server."""
    w.start()
    for _ in range(20):
        w.cluster.put("pods", "a")
    w.settles(5)
    w.server.go_away()
    w.sleep(60)
    with w.cluster.condition:
        w.cluster.restore(900)
        w.cluster.put("pods", "b")
        w.cluster.delete("pods", "c")
    w.server.come_back()
    w.settles(75)
    w.logged("older|went back|restored", within=10)


@scenario(factor=80)
def a_restored_server_behind_a_proxy(w):
    """The store goes back while the connection holds: the missing bookmarks reveal it."""
    w.start()
    for _ in range(20):
        w.cluster.put("pods", "a")
    w.settles(5)
    w.sleep(190)

    def watch(x):
        x.stream(bookmarks=60 if w.cluster.version >= 1000 else None)
    w.server.on("watch", watch)
    with w.cluster.condition:
        w.cluster.restore(900)
        w.cluster.put("pods", "b")
        w.cluster.delete("pods", "c")
    # 150 s after the last bookmark, or, if the watch ends earlier, 150 s after the next one has
    # begun.
    w.settles(400)
    w.logged("older|went back|restored", within=10)


@scenario()
def a_list_from_the_past_is_taken(w):
    """A list older than the known version: it is authoritative, and logged once."""
    w.start()
    w.cluster.restore(900)
    w.cluster.put("pods", "b")
    w.cluster.delete("pods", "c")
    w.server.on("list", lambda x: x.answer(200, x.list_object()))
    relist(w)
    w.settles(20)
    w.logged("older|went back|restored", at_most=2, within=10)


@scenario(factor=40)
def the_same_server_costs_no_list(w):
    """A connection breaks, and the server is the same: no full list."""
    w.start()
    for _ in range(4):
        w.cluster.advance()
        w.server.end_watches(reset)
        w.change()
        w.settles(30)
        w.sleep(30)
    w.at_most(1, "list page")


@scenario(factor=40)
def versions_that_are_no_numbers(w):
    """Versions may be any text: they are sent back unchanged, and never compared."""
    def opaque(item):
        item["metadata"]["resourceVersion"] = "v-" + item["metadata"]["resourceVersion"]

    def known(x):
        version = x.request.query.get("resourceVersion", "")
        if version not in ("", "0") and not version.startswith("v-"):
            return x.status(400, "BadRequest", "what version is this?")
        x.request.query["resourceVersion"] = version.removeprefix("v-")
        return None

    def answer(x):
        known(x)
        found = copy.deepcopy(x.list_object())
        for item in (found, *found["items"]):
            opaque(item)
        x.answer(200, found)

    def watch(x):
        known(x)
        x.stream(edit=lambda event: opaque(event["object"]))
    w.server.on("list page probe", answer)
    w.server.on("watch", watch)
    w.start()
    w.change()
    w.settles(5)
    w.server.end_watches(reset)
    w.change()
    w.settles(30)
    w.never_logged("older|restored")


# --- pages --------------------------------------------------------------------------------------

@scenario(modes=LISTS)
def lists_come_in_pages(w):
    """Eleven hundred pods in three pages, one state."""
    many_pods(w)
    w.start()
    w.at_most(3, "list page")
    w.check(len(w.program.diffs) == 1, "the first state came in parts")


@scenario(modes=LISTS)
def a_position_that_expires_once(w):
    """A continue token expires in the middle: one unpaged list, without a pause."""
    many_pods(w)
    w.server.on("page", status(410, "Expired", "continue"), times=1)
    w.start(within=40)
    w.at_most(3, "list page")
    w.check("limit" not in w.server.asked("list")[-1].query, "it asks for pages again")


@scenario(modes=LISTS)
def a_position_that_expires_before_a_list_fails(w):
    """The unpaged list fails once: it is requested unpaged again."""
    many_pods(w)
    w.server.on("page", status(410, "Expired", "continue"))
    w.server.on("list", status(503), times=1, when=lambda r: "limit" not in r.query)
    w.start(within=30)
    w.at_most(2, "page")
    w.at_most(5, "list")


@scenario(modes=LISTS)
def positions_are_rejected(w):
    """A proxy answers 400 to each continue token: unpaged lists from then on."""
    many_pods(w)
    w.server.on("page", status(400, "BadRequest", "continue key is not valid"))
    w.start(within=30)
    w.at_most(2, "page")
    w.cluster.delete("pods", "many-0003")
    relist(w)
    w.settles(30)
    w.at_most(2, "page")


@scenario(factor=60, variants={"reset": reset, "500": status(500), "504": status(504),
                               "closed": lambda x: x.close(), "404": status(404, "NotFound"),
                               "html": plain(200, "<html></html>")}, modes=LISTS)
def positions_that_never_get_through(w, failing):
    """A gateway breaks each continue token, but unpaged lists work: the program switches to them.
    """
    many_pods(w)
    w.server.on("page", failing)
    w.start(within=250)
    w.at_most(20)


@scenario(modes=LISTS)
def an_inconsistent_position_is_not_used(w):
    """The 410 offers a token of another version, which is no basis for a watch."""
    many_pods(w)

    def gone(x):
        x.answer(410, {**status_object(410, "Expired"), "metadata": {"continue": "inconsistent"}})
    w.server.on("page", gone)
    w.start(within=30)
    w.check(not any(r.query["continue"] == "inconsistent" for r in w.server.asked("page")),
            "the inconsistent token was used")


def first_page_again(token):
    """The server ignores the continue token and answers the first page."""
    def answer(x):
        x.request.query.pop("continue", None)
        if "limit" not in x.request.query:
            return x.behave()
        found = x.list_object(limit=500)
        found["metadata"]["continue"] = token(x)
        x.answer(200, found)
    return answer


@scenario(modes=LISTS)
def the_same_position_again_and_again(w):
    """The server ignores the continue token, but supports unpaged lists: the program soon uses
    them."""
    many_pods(w)
    w.server.on("list page", first_page_again(lambda x: "again"))
    w.start(within=15)
    w.at_most(6, "list page")


@scenario(modes=LISTS)
def the_same_position_whatever_is_asked(w):
    """The server always returns the first page: few requests, and the log has the cause."""

    def answer(x):
        x.request.query.pop("continue", None)
        found = x.list_object(limit=500)
        found["metadata"]["continue"] = "again"
        x.answer(200, found)
    w.server.on("list page", answer)
    w.start(synced=False)
    w.sleep(60)
    w.check(not w.program.diffs, "a part was shown")
    w.at_most(20, "list page")
    w.logged("continue|page|token|again")
    w.server.heal()
    w.settles(w.after_outage(75))


@scenario(factor=10, slow=True, modes=LISTS)
def two_positions_in_turn(w):
    """The tokens alternate between two: paging ends."""
    tokens = {"": "one", "one": "two", "two": "one"}

    def answer(x):
        token = x.request.query.pop("continue", "")
        if "limit" not in x.request.query and not token:
            return x.behave()
        found = x.list_object(limit=500)
        found["metadata"]["continue"] = tokens.get(token, "one")
        return x.answer(200, found)
    w.server.on("list page", answer)
    w.start(synced=False)
    w.sleep(60)
    w.at_most(130, "list page")


@scenario(factor=10, slow=True, modes=LISTS)
def new_positions_without_end(w):
    """Each page has a new token and the same objects: paging ends."""
    w.server.on("list page", first_page_again(lambda x: f"token-{x.request.number}"))
    w.start(synced=False)
    w.sleep(60)
    w.at_most_per_minute(300)


@scenario(modes=LISTS)
def empty_pages_are_followed(w):
    """An empty page is not necessarily the last one."""
    def answer(x):
        found = x.list_object(limit=500)
        if not x.request.query.get("continue"):
            found["metadata"]["continue"] = "first"
            found["items"] = []
        x.answer(200, found)

    def second(x):
        x.request.query.pop("continue")
        found = x.list_object()
        x.answer(200, found)
    w.server.on("list", answer)
    w.server.on("page", second)
    w.start(within=20)
    w.at_most(2, "list page")


@scenario(modes=LISTS)
def the_list_changes_between_pages(w):
    """The server pages at its current state: changes between two pages are not missed."""
    many_pods(w)

    def now(x):
        """The page after the name in the token, from the current state."""
        token = x.request.query.pop("continue", "")
        everything = x.list_object(limit=0)
        behind = [item for item in everything["items"] if item["metadata"]["name"] > token]
        size = int(x.request.query.get("limit", 0)) or len(behind)
        everything["items"] = behind[:size]
        if len(behind) > size:
            everything["metadata"]["continue"] = behind[size - 1]["metadata"]["name"]
        x.answer(200, everything)
        if not token and size < len(behind):
            w.cluster.put("pods", "many-0001")
            w.cluster.delete("pods", "many-0002")
    w.server.on("list page", now)
    w.start(within=30)


FRAMINGS = ("chunked", "length", "close")


def cut_list(framing):
    """Two thirds of the list, and the end of the connection."""
    def answer(x):
        data = x.list_bytes()
        x.head(framing=framing, length=len(data))
        x.chunk(data[:2 * len(data) // 3])
        x.close()
    return answer


@scenario(factor=40, variants={framing: cut_list(framing) for framing in FRAMINGS})
def whole_lists_that_are_always_cut(w, cut):
    """Unpaged lists are always cut: after three of them it requests pages."""
    many_pods(w)
    w.start()
    w.server.on("list", cut, when=lambda r: "limit" not in r.query)
    began = w.now()
    relist(w)
    w.cluster.delete("pods", "many-0100")
    w.cluster.put("pods", "many-0007")
    w.settles(120)
    w.at_most(5, "list", since=began)


@scenario(factor=40, modes=LISTS)
def pages_that_are_always_cut(w):
    """Neither the second page nor an unpaged list ever succeeds: few requests."""
    many_pods(w)
    w.server.on("page", cut_list("length"))
    w.server.on("list", cut_list("length"), when=lambda r: "limit" not in r.query)
    w.start(synced=False)
    w.sleep(120)
    w.check(not w.program.diffs, "a part was shown")
    w.at_most_per_minute(20)
    w.server.heal()
    w.settles(w.after_outage(75))


# --- implausible lists --------------------------------------------------------------------------

def lose(count):
    """A list without its first objects."""
    def answer(x):
        found = x.list_object()
        found["items"] = found["items"][count:]
        x.answer(200, found)
    return answer


@scenario(variants={"empty": 100, "most-of-it": 70})
def a_list_that_lost_most_by_mistake(w, lost):
    """One list lacks more than half of the objects: nothing is removed until a second list confirms
    it."""
    for number in range(97):
        w.cluster.put("pods", f"pod-{number:02}")
    w.start()
    w.server.on("list", lose(lost), times=1)
    relist(w)
    w.sleep(20)
    w.settles(20)
    w.check(not w.program.removals(), "something was removed")
    w.cluster.put("pods", "a")
    w.settles(10)


@scenario(factor=40)
def most_of_it_was_really_deleted(w):
    """Most objects are deleted: the second list confirms it, and the change appears soon."""
    for number in range(97):
        w.cluster.put("pods", f"pod-{number:02}")
    w.start()
    w.server.go_away()
    for number in range(90):
        w.cluster.delete("pods", f"pod-{number:02}")
    w.cluster.forget_history()
    w.server.come_back()
    w.settles(60)
    w.at_most(4, "list page")


@scenario(factor=40)
def everything_was_really_deleted(w):
    """An empty cluster is shown as empty."""
    w.start()
    w.server.go_away()
    for name in "abc":
        w.cluster.delete("pods", name)
    w.cluster.forget_history()
    w.server.come_back()
    w.settles(60)


@scenario()
def a_list_without_a_version(w):
    """A list without a version is no basis for a watch: reported, and requested again."""
    def answer(x):
        found = x.list_object()
        found["metadata"] = {}
        x.answer(200, found)
    w.server.on("list", answer, times=2)
    w.start(within=30)
    w.logged("version")


@scenario(modes=LISTS)
def a_list_of_an_expired_page_chain_is_no_state(w):
    """The second page is refused for a while: nothing is shown until the list is complete."""
    many_pods(w)
    w.server.on("page", status(503), times=3)
    w.start(within=60)
    w.check(len(w.program.diffs) == 1, "the first state came in parts")
