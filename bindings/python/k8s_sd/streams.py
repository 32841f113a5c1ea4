"""One watch with a context of its own, as an iterator of its diffs."""

from __future__ import annotations

import time
from typing import (Any, AsyncIterator, Callable, Generic, Iterator, Optional, Sequence, TypeVar,
                    cast)

from .context import Context, Yaml
from .events import Data, Event, GroupDiff, ObjectDiff, Status, TargetDiff

D = TypeVar("D", GroupDiff, TargetDiff, ObjectDiff, Data)


class Stream(Generic[D]):
    """The diffs of one watch: `for diff in stream`, `async for diff in stream`, or `next()` with a
    timeout. A context manager; the end of a `with` block, or close(), ends the watch."""

    def __init__(self, start: Callable[[Context], int], *, find_server: bool = True) -> None:
        self.context = Context(find_server=find_server)
        #: The latest status.
        self.status = Status(0, False, "")
        try:
            self.watch = start(self.context)
        except BaseException:
            self.context.close()
            raise

    def next(self, timeout: Optional[float] = None) -> Optional[D]:
        """The next diff; waits at most `timeout` seconds, without one for any time. None: the time
        has passed."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            event = self.context.next(None if end is None else max(end - time.monotonic(), 0))
            if event is None:
                return None
            diff = self._diff(event)
            if diff is not None:
                return diff

    def __iter__(self) -> Iterator[D]:
        for event in self.context:
            diff = self._diff(event)
            if diff is not None:
                yield diff

    async def __aiter__(self) -> AsyncIterator[D]:
        async for event in self.context:
            diff = self._diff(event)
            if diff is not None:
                yield diff

    def close(self) -> None:
        """Ends the watch. Idempotent."""
        self.context.close()

    def __enter__(self) -> Stream[D]:
        return self

    def __exit__(self, *_exception: Any) -> None:
        self.close()

    def _diff(self, event: Event) -> Optional[D]:
        """The event if it is a diff; stores a status."""
        if isinstance(event, Status):
            self.status = event
            return None
        return cast(D, event)


def discover(config: Optional[Yaml] = None, *, find_server: bool = True,
             dialect: str = "prometheus", prometheus_version: Optional[str] = None,
             min_interval: float = 0, max_changes: Optional[int] = None,
             file_name: Optional[str] = None, **keys: Any) -> Stream[GroupDiff]:
    """The targets of a cluster. Arguments: see Context.discover()."""
    return Stream(lambda context: context.discover(
        config, dialect=dialect, prometheus_version=prometheus_version, min_interval=min_interval,
        max_changes=max_changes, file_name=file_name, **keys), find_server=find_server)


def scrape(config: Yaml, *, find_server: bool = True, dialect: str = "prometheus",
           prometheus_version: Optional[str] = None, min_interval: float = 0,
           max_changes: Optional[int] = None,
           file_name: Optional[str] = None) -> Stream[TargetDiff]:
    """The scrape targets of `scrape_configs`. Arguments: see Context.scrape()."""
    return Stream(lambda context: context.scrape(
        config, dialect=dialect, prometheus_version=prometheus_version, min_interval=min_interval,
        max_changes=max_changes, file_name=file_name), find_server=find_server)


def watch(kind: str, *, find_server: bool = True, group: str = "", server: Optional[Yaml] = None,
          fields: Optional[Sequence[str]] = None, label_selector: str = "",
          field_selector: str = "", min_interval: float = 0) -> Stream[ObjectDiff]:
    """The objects of any kind. Arguments: see Context.watch()."""
    return Stream(lambda context: context.watch(
        kind, group=group, server=server, fields=fields, label_selector=label_selector,
        field_selector=field_selector, min_interval=min_interval), find_server=find_server)


def follow(kind: str, namespace: str, name: str, *, find_server: bool = True,
           server: Optional[Yaml] = None) -> Stream[Data]:
    """One Secret or ConfigMap. Arguments: see Context.follow()."""
    return Stream(lambda context: context.follow(kind, namespace, name, server=server),
                  find_server=find_server)
