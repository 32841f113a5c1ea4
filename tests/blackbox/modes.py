"""The configurations of the program, and the servers it meets with them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mode:
    name: str
    arguments: tuple = ()  # of the program
    streams: str = "served"  # sendInitialEvents is served, ignored or refused
    protobuf: bool = False  # the server answers in protobuf where the request accepts it
    delay: float = 0  # seconds that the first list takes longer

    @property
    def asides(self):
        """Requests for a streamed list that lead to a LIST: one for each URL."""
        return 0 if self.streams == "served" else 1


MODES = {mode.name: mode for mode in (
    Mode("plain", ("--no-watch-list", "--encoding", "json")),
    # Kubernetes 1.34.
    Mode("default", protobuf=True),
    # An aggregated API server: it has streamed lists, and no protobuf.
    Mode("json"),
    # A server that knows neither. It lists for a watch that names no version, but sends no bookmark
    # that ends the list. A client waits for that bookmark for ten seconds.
    Mode("ignored", streams="ignored", delay=12),
    # Kubernetes 1.33.
    Mode("refused", streams="refused", protobuf=True),
)}

ALL = ("plain", "default", "ignored", "refused")
IN_JSON = ("plain", "json", "ignored")  # what only JSON can express
LISTS = ("plain", "ignored", "refused")  # only where a LIST brings the list
LISTS_IN_JSON = ("plain", "ignored")
STREAMS = ("default", "json")
