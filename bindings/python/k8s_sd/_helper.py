"""A thread that logs and frees for the library's threads.

Python runs the finalizers of garbage in any thread that allocates, with any lock held. So a
finalizer must not wait for the library's thread, and that thread must not wait for a lock of the
program. Both only put their work into a queue.
"""

from __future__ import annotations

import atexit
import functools
import logging
import os
import queue
import sys
import threading
import weakref
from typing import Any, Callable, Optional

from ._library import library

#: Further lines are dropped while so many wait for a slow handler.
MAX_WAITING_LINES = 10_000

_Work = Callable[[], None]


def _free(handle: int, _log: Any) -> None:
    library.k8s_sd_free(handle)


class Helper:
    """One for the process."""

    def __init__(self) -> None:
        self._finalizers: list[Any] = []  # of weakref
        self._ended = False
        self._begin()
        atexit.register(self._end)
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """A child has neither the thread nor the owners of locks, so it begins again."""
        self._thread: Optional[threading.Thread] = None
        self._changing = threading.Lock()
        # Its put() may interrupt another one of the same thread, as a finalizer does.
        self._work: queue.SimpleQueue[Optional[_Work]] = queue.SimpleQueue()

    def start(self) -> None:
        """Starts the thread, which a finalizer could not. Idempotent."""
        with self._changing:
            if self._ended:
                raise RuntimeError("the interpreter ends")
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="k8s_sd", daemon=True)
                thread.start()
                self._thread = thread

    def log(self, logger: logging.Logger, level: int, line: str) -> None:
        if self._work.qsize() < MAX_WAITING_LINES:
            self._work.put(lambda: logger.log(level, "%s", line))

    def free_after(self, owner: Any, handle: int, log: Any) -> None:
        """Frees a context after its owner. The end of the interpreter only calls `owner.close()`,
        because the program may have other threads that use it. The library calls `log` until
        then."""
        finalizer = weakref.finalize(owner, self._free_soon, os.getpid(), handle, log)
        finalizer.atexit = False
        with self._changing:
            self._finalizers = [each for each in self._finalizers if each.alive] + [finalizer]

    def _free_soon(self, process: int, handle: int, log: Any) -> None:
        if os.getpid() == process:
            self._work.put(functools.partial(_free, handle, log))
        else:
            _free(handle, log)  # only closes the descriptor

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except BaseException:  # of a handler of the program
                sys.excepthook(*sys.exc_info())

    def _close_all(self) -> None:
        """In the thread that frees, so no context is freed meanwhile."""
        for finalizer in self._finalizers:
            # At the end a finalizer that is called does nothing, but peek() works.
            if (alive := finalizer.peek()) and alive[2][0] == os.getpid():
                alive[0].close()

    def _end(self) -> None:
        """Before the end of the interpreter, and of the handlers of logging."""
        self._ended = True
        if self._thread is not None:
            self._work.put(self._close_all)
            # After the lines that the contexts log while they are closed.
            self._work.put(lambda: self._work.put(None))
            self._thread.join()


helper = Helper()
