"""One watch with a context of its own, as an iterator of its diffs."""

from __future__ import annotations

from typing import Any, AsyncIterator, Callable, Generic, Iterator, Optional, TypeVar

from .context import Context, Yaml
from .events import Data, GroupDiff, ObjectDiff, Status, TargetDiff

D = TypeVar("D", GroupDiff, TargetDiff, ObjectDiff, Data)


class Stream(Generic[D]):
    """The diffs of one watch: `for diff in stream`, `async for diff in stream`, or `next()` with a
    timeout. A context manager; the end of a `with` block, or close(), ends the watch."""

    def __init__(self, start: Callable[[Context], int], **options: Any) -> None:
        self.context = Context(**options)
        #: The latest status.
        self.status = Status(0, False, "")
        try:
            self.watch = start(self.context)
        except BaseException:
            self.context.close()
            raise

    def next(self, timeout: Optional[float] = None) -> Optional[D]:
        """The next diff; None after `timeout` seconds without an event."""
        while True:
            event = self.context.next(timeout)
            if event is None or self._is_diff(event):
                return event

    def __iter__(self) -> Iterator[D]:
        return (event for event in self.context if self._is_diff(event))

    async def __aiter__(self) -> AsyncIterator[D]:
        async for event in self.context:
            if self._is_diff(event):
                yield event

    def close(self) -> None:
        """Ends the watch. Idempotent."""
        self.context.close()

    def __enter__(self) -> Stream[D]:
        return self

    def __exit__(self, *_exception: Any) -> None:
        self.close()

    def _is_diff(self, event: Any) -> bool:
        if isinstance(event, Status):
            self.status = event
            return False
        return True


def discover(config: Optional[Yaml] = None, *, find_server: bool = True,
             **arguments: Any) -> Stream[GroupDiff]:
    """The targets of a cluster. Arguments: see Context.discover()."""
    return Stream(lambda context: context.discover(config, **arguments), find_server=find_server)


def scrape(config: Yaml, *, find_server: bool = True, **arguments: Any) -> Stream[TargetDiff]:
    """The scrape targets of `scrape_configs`. Arguments: see Context.scrape()."""
    return Stream(lambda context: context.scrape(config, **arguments), find_server=find_server)


def watch(kind: str, *, find_server: bool = True, **arguments: Any) -> Stream[ObjectDiff]:
    """The objects of any kind. Arguments: see Context.watch()."""
    return Stream(lambda context: context.watch(kind, **arguments), find_server=find_server)


def follow(kind: str, namespace: str, name: str, *, find_server: bool = True,
           **arguments: Any) -> Stream[Data]:
    """One Secret or ConfigMap. Arguments: see Context.follow()."""
    return Stream(lambda context: context.follow(kind, namespace, name, **arguments),
                  find_server=find_server)
