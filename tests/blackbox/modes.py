"""The configurations of the program, and the servers it is tested against."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mode:
    name: str
    arguments: tuple = ()  # of the program
    streams: str = "served"  # sendInitialEvents is served, ignored or refused
    protobuf: bool = False  # the server answers in protobuf where the request accepts it
    delay: float = 0  # seconds added to the first list

    @property
    def asides(self):
        """Streamed-list requests that fall back to a LIST: one per URL."""
        return 0 if self.streams == "served" else 1


MODES = {mode.name: mode for mode in (
    Mode("plain", ("--no-watch-list", "--encoding", "json")),
    # Kubernetes 1.34.
    Mode("default", protobuf=True),
    # An aggregated API server: it supports streamed lists, but not protobuf.
    Mode("json"),
    # A server that supports neither. It lists for a watch without a version, but never sends the
    # bookmark that ends the list. A client waits ten seconds for that bookmark.
    Mode("ignored", streams="ignored", delay=12),
    # Kubernetes 1.33.
    Mode("refused", streams="refused", protobuf=True),
)}

ALL = ("plain", "default", "ignored", "refused")
IN_JSON = ("plain", "json", "ignored")  # cases that only JSON can express
LISTS = ("plain", "ignored", "refused")  # cases in which only a LIST delivers the list
LISTS_IN_JSON = ("plain", "ignored")
STREAMS = ("default", "json")
