"""Work that waits for other processes, side by side in threads, and ends with the block that began it.

    with Together() as work:
        first = work.begin(function, argument)
        ...
        first.result()

Where the block ends with an error, an interrupt among them, the processes that still run are killed. Not here: starting a
process (`toolchain.cc`), which says by `ending` how it is ended.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

P = ParamSpec("P")
T = TypeVar("T")

_here = threading.local()


class Threads:
    """A thread per processor. What is begun first is done first, so that later work may wait for earlier."""

    def __init__(self) -> None:
        from concurrent.futures import ThreadPoolExecutor  # most commands of `toolchain` run alone

        count = max(2, len(os.sched_getaffinity(0)))
        self._threads = ThreadPoolExecutor(count, "heterodoop-together", initializer=self._enter)
        self._lock = threading.Lock()
        self._ends: set[Callable[[], None]] = set()
        self._over = False
        self._outer = ExitStack()  # of which this is a part, where one began the other

    def begin(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call the function in a thread; `result()` gives what it returns, or raises."""
        return self._threads.submit(function, *args, **kwargs)

    def __enter__(self) -> Threads:
        self._outer.enter_context(ending(self._end))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._outer:
            if kind is not None:
                self._end()
            self._threads.shutdown(cancel_futures=kind is not None)

    def _enter(self) -> None:
        _here.together = self

    def _end(self) -> None:
        with self._lock:
            self._over = True
            ends = tuple(self._ends)
        for end in ends:
            end()

    def _add(self, end: Callable[[], None]) -> None:
        with self._lock:
            self._ends.add(end)
            over = self._over
        if over:
            end()

    def _drop(self, end: Callable[[], None]) -> None:
        with self._lock:
            self._ends.discard(end)


@contextmanager
def ending(end: Callable[[], None]) -> Iterator[None]:
    """Inside, `end` is what ends this thread's work; it may be called from another thread. Elsewhere it does nothing."""
    group: Threads | None = getattr(_here, "together", None)
    if group is None:
        yield
        return
    group._add(end)
    try:
        yield
    finally:
        group._drop(end)
