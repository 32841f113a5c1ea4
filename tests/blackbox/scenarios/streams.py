"""Streams that end, break, fall silent, or are refused."""

from scenario import empty, error_event, plain, reset, scenario, silence, status


@scenario()
def follows_what_changes(w):
    """Changes of a server that behaves well arrive at once, with one list and one watch."""
    w.start()
    for _ in range(3):
        w.change()
        w.settles(5)
    w.at_most(1, "list page")
    w.at_most(1, "watch")
    w.log_lines(0)
