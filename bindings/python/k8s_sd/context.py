"""A loop with its watches, and the exceptions of the package."""

from __future__ import annotations

import asyncio
import ctypes
import json
import logging
import math
import select
import time
from collections.abc import Mapping
from ctypes import byref, c_uint64, c_void_p
from typing import Any, AsyncIterator, Iterator, Optional, Sequence, Union

from . import _library
from ._helper import helper
from ._library import library
from .events import Event, read_event

#: YAML text, or its content as a mapping.
Yaml = Union[str, Mapping[str, Any]]
_DIALECTS = {"prometheus": 0, "victoriametrics": 1}
_MAX_POLL = 2**31 - 1  # milliseconds: poll() takes an int
_LEVELS = {2: logging.ERROR, 3: logging.WARNING, 4: logging.INFO, 5: logging.DEBUG}


class Error(Exception):
    """A failed call of the library."""


class ConfigError(Error, ValueError):
    """An unusable configuration: the text names the line and key, and the allowed values."""


class NotFound(Error, KeyError):
    """The context has no such watch."""

    __str__ = Exception.__str__  # that of KeyError puts the text into quotes


class Closed(Error):
    """The context is closed, or belongs to the parent of this process."""


def _raise(error: c_void_p) -> None:
    text = library.k8s_sd_error_text(error).decode("utf-8", "replace")
    code = library.k8s_sd_error_code(error)
    library.k8s_sd_error_free(error)
    if code in (_library.INVALID_ARGUMENT, _library.INVALID_CONFIG):
        raise ConfigError(text)
    if code == _library.NOT_FOUND:
        raise NotFound(text)
    if code in (_library.CLOSED, _library.FORKED):
        raise Closed(text)
    raise Error(text)


def _text(name: str, text: str, allowed: str = "a text") -> bytes:
    """An argument for C, where a zero ends a text. Errors quote nothing of it: it may have
    secrets."""
    if not isinstance(text, str):
        raise ConfigError(f"{name}: must be {allowed}, not {type(text).__name__}")
    if "\0" in text:
        raise ConfigError(f"{name}: must not contain a zero character")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ConfigError(f"{name}: must not contain a lone surrogate") from None


def _optional_text(name: str, text: Optional[str]) -> Optional[bytes]:
    return _text(name, text) if text is not None else None


def _yaml(name: str, given: Optional[Yaml]) -> Optional[bytes]:
    def as_dict(value: Any) -> dict[Any, Any]:
        if isinstance(value, Mapping):
            return dict(value)
        raise ConfigError(f"{name}: has a value of the type {type(value).__name__}; allowed are "
                          "texts, numbers, booleans, None, lists and mappings of them")

    if given is None:
        return None
    if isinstance(given, Mapping):
        given = json.dumps(given, ensure_ascii=False, default=as_dict)
    return _text(name, given, "a text or a mapping")


def _milliseconds(seconds: float) -> int:
    if not isinstance(seconds, (int, float)) or not 0 <= seconds < 4_000_000:
        raise ConfigError("min_interval: must be a number of seconds from 0 to below 4000000")
    return math.ceil(seconds * 1000)


def _limit(changes: Optional[int]) -> int:
    if changes is None:
        return 0
    if not isinstance(changes, int) or not 0 < changes < 2**32:
        raise ConfigError("max_changes: must be a whole number from 1 to 4294967295, or None")
    return changes


def _number(watch: int) -> int:
    if not isinstance(watch, int):
        raise ConfigError(f"watch: must be the number of a watch, not {type(watch).__name__}")
    if not 0 <= watch < 2**64:
        raise NotFound(f"the context has no watch {watch}")
    return watch


def _log_function(logger: logging.Logger) -> Any:
    """The library's thread runs this, so it only hands the line to another thread."""
    def log(_user: Any, level: int, line: bytes) -> None:
        helper.log(logger, _LEVELS.get(level, logging.INFO), line.decode("utf-8", "replace"))
    return _library.LogFunction(log)


def _log_level(logger: logging.Logger) -> int:
    """The least severe level that the logger takes."""
    return max((ours for ours, theirs in _LEVELS.items() if logger.isEnabledFor(theirs)),
               default=1)


class Context:
    """Watches and their events. A thread of the library runs it; the host takes the events by
    iterating: `for event in context` or `async for event in context`. One iteration at a time.

    At most one event for each watch waits, and one about its status. Later changes are coalesced
    until the host has taken it, so a slow host costs no memory.
    """

    def __init__(self, *, find_server: bool = True,
                 logger: Optional[logging.Logger] = None) -> None:
        """find_server: a configuration without a server means $KUBECONFIG, the service account of
        the program's pod, or ~/.kube/config, in this order. logger: default "k8s_sd"."""
        helper.start()
        logger = logger or logging.getLogger("k8s_sd")
        self._log = _log_function(logger)
        options = _library.Options(
            struct_size=ctypes.sizeof(_library.Options), log=self._log,
            flags=_library.EVENTS_AS_JSON | (_library.FIND_SERVER if find_server else 0),
            log_level=_log_level(logger))
        error = c_void_p()
        handle = library.k8s_sd_open(byref(options), byref(error))
        if not handle:
            _raise(error)
        self._handle: int = handle
        self._closed = False
        self._fd: int = library.k8s_sd_fd(handle)
        helper.free_after(self, handle, self._log)

    def close(self) -> None:
        """Ends all watches, and every iteration, also of another task or thread. Idempotent."""
        if not self._closed:
            self._closed = True
            # An iteration may wait for the descriptor, so the end of the object closes that.
            library.k8s_sd_close(self._handle)

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_exception: Any) -> None:
        self.close()

    # --- watches

    def discover(self, config: Optional[Yaml] = None, *, dialect: str = "prometheus",
                 prometheus_version: Optional[str] = None, min_interval: float = 0,
                 max_changes: Optional[int] = None, file_name: Optional[str] = None,
                 **keys: Any) -> int:
        """Discovers targets: GroupDiff events. `config` is an entry of `kubernetes_sd_configs`; or
        its keys are given as arguments, such as role="pod". A diff with more than `max_changes`
        comes in parts, so that the program can do other work in between. Returns the number of the
        watch."""
        if (config is None) == (not keys):
            raise ConfigError("config: give either a configuration or its keys")
        return self._add(library.k8s_sd_discover, self._config(
            config if config is not None else keys, dialect, prometheus_version, min_interval,
            max_changes, file_name))

    def scrape(self, config: Yaml, *, dialect: str = "prometheus",
               prometheus_version: Optional[str] = None, min_interval: float = 0,
               max_changes: Optional[int] = None, file_name: Optional[str] = None) -> int:
        """Discovers and relabels the targets of `scrape_configs`: TargetDiff events."""
        return self._add(library.k8s_sd_scrape, self._config(
            config, dialect, prometheus_version, min_interval, max_changes, file_name))

    def reload(self, watch: int, config: Yaml, *, dialect: str = "prometheus",
               prometheus_version: Optional[str] = None, min_interval: float = 0,
               max_changes: Optional[int] = None, file_name: Optional[str] = None) -> None:
        """Replaces the configuration of a scrape(): only what differs is an event."""
        given = self._config(config, dialect, prometheus_version, min_interval, max_changes,
                             file_name)
        self._call(library.k8s_sd_reload, _number(watch), byref(given))

    def watch(self, kind: str, *, group: str = "", server: Optional[Yaml] = None,
              fields: Optional[Sequence[str]] = None, label_selector: str = "",
              field_selector: str = "", min_interval: float = 0) -> int:
        """Watches the objects of any kind: ObjectDiff events. `server` has the keys of a
        kubernetes_sd_configs entry about the server and `namespaces`; `fields` has the paths to
        keep, such as "metadata.labels"."""
        query = self._query(kind, group, server)
        query.label_selector = _text("label_selector", label_selector) or None
        query.field_selector = _text("field_selector", field_selector) or None
        query.min_interval_ms = _milliseconds(min_interval)
        if isinstance(fields, str):
            raise ConfigError(f"fields: must be a list of paths, such as [{fields!r}]")
        if fields is not None:
            paths = [*(_text("fields", path) for path in fields), None]
            query.fields = (ctypes.c_char_p * len(paths))(*paths)
        return self._add(library.k8s_sd_watch, query)

    def follow(self, kind: str, namespace: str, name: str, *,
               server: Optional[Yaml] = None) -> int:
        """Follows one Secret or ConfigMap: Data events. The first one says whether it exists."""
        query = self._query(kind, "", server)
        query.name_space, query.name = _text("namespace", namespace), _text("name", name)
        return self._add(library.k8s_sd_follow, query)

    def cancel(self, watch: int) -> None:
        """Ends a watch: no event of it comes any more."""
        self._call(library.k8s_sd_cancel, _number(watch))

    # --- events

    def next(self, timeout: Optional[float] = None) -> Optional[Event]:
        """The oldest event; waits at most `timeout` seconds, without one for any time. None: the
        time has passed."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            event = self._take()
            if event is not None:
                return event
            self._check()
            left = None if end is None else max(end - time.monotonic(), 0) * 1000
            waiting = select.poll()
            waiting.register(self._fd, select.POLLIN)
            if not waiting.poll(None if left is None else min(left, _MAX_POLL)) and left == 0:
                return None

    def __iter__(self) -> Iterator[Event]:
        while not self._closed:
            try:
                event = self.next()
            except Closed:
                if self._closed:
                    return
                raise
            if event is not None:
                yield event

    async def __aiter__(self) -> AsyncIterator[Event]:
        loop = asyncio.get_running_loop()
        while not self._closed:
            await asyncio.sleep(0)  # other tasks have their turn, however many events there are
            event = self._take()
            if event is not None:
                yield event
                continue
            try:
                self._check()
            except Closed:
                if self._closed:
                    return
                raise
            ready = loop.create_future()
            loop.add_reader(self._fd, _set_once, ready)
            try:
                await ready
            finally:
                loop.remove_reader(self._fd)

    # --- status

    def status(self) -> dict[str, Any]:
        """The status of all watches."""
        status: dict[str, Any] = json.loads(self._text(library.k8s_sd_status_json))
        return status

    def metrics(self) -> str:
        """The metrics in Prometheus' text format."""
        return self._text(library.k8s_sd_metrics_text).decode()

    # --- calls of the library

    def _check(self) -> None:
        """Raises Closed, also in a child of the process that made the context."""
        error = c_void_p()
        if library.k8s_sd_poll(self._handle, 0, byref(error)) < 0:
            _raise(error)

    def _take(self) -> Optional[Event]:
        event = library.k8s_sd_next(self._handle)
        if not event:
            return None
        try:
            return read_event(library.k8s_sd_event_json(event).bytes())
        finally:
            library.k8s_sd_event_free(event)

    def _call(self, function: Any, *arguments: Any) -> None:
        error = c_void_p()
        if function(self._handle, *arguments, byref(error)) < 0:
            _raise(error)

    def _add(self, function: Any, given: ctypes.Structure) -> int:
        watch = c_uint64()
        self._call(function, byref(given), byref(watch))
        return watch.value

    def _text(self, function: Any) -> bytes:
        error = c_void_p()
        text = function(self._handle, byref(error))
        if not text:
            _raise(error)
        try:
            return ctypes.string_at(text)
        finally:
            library.k8s_sd_text_free(text)

    @staticmethod
    def _config(config: Yaml, dialect: str, version: Optional[str], min_interval: float,
                max_changes: Optional[int], file_name: Optional[str]) -> _library.Config:
        if dialect not in _DIALECTS:
            raise ConfigError(f"dialect: must be one of {', '.join(_DIALECTS)}")
        return _library.Config(
            struct_size=ctypes.sizeof(_library.Config), yaml=_yaml("config", config),
            file_name=_optional_text("file_name", file_name),
            prometheus_version=_optional_text("prometheus_version", version),
            dialect=_DIALECTS[dialect], min_interval_ms=_milliseconds(min_interval),
            max_changes=_limit(max_changes))

    @staticmethod
    def _query(kind: str, group: str, server: Optional[Yaml]) -> _library.Query:
        return _library.Query(struct_size=ctypes.sizeof(_library.Query), kind=_text("kind", kind),
                              group=_text("group", group) or None, server=_yaml("server", server))


def _set_once(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
