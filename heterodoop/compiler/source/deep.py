"""Work on trees that are as deep as the program is nested: in a thread with a stack of its own, beyond Python's usual limit.

A sum of 2000 terms or 200 blocks in each other are no fault of their author. What is too deep even here ends as a
RecursionError or MemoryError, which costs the kernel (`own_faults`).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial, wraps
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_LIMIT = 200_000  # Python frames; one needs at most about 2 KiB of the thread's stack, where C code stands between two
_STACKS = (1 << 29, 1 << 27, 1 << 25)  # bytes; memory that is not touched costs nothing, but may be forbidden
_turn = threading.Lock()
_here = threading.local()


def deep(function: Callable[P, T]) -> Callable[P, T]:
    """A function that may recurse as deep as a program is nested. Raises what it raises. One at a time in a process."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        work = partial(function, *args, **kwargs)
        if getattr(_here, "deep", False):
            return work()
        with _turn:
            return _Deep(work).result()

    return run


class _Deep(Generic[T]):
    """A call in a thread of its own."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._value: list[T] = []
        self._error: BaseException | None = None

    def result(self) -> T:
        usual = sys.getrecursionlimit()
        try:
            self._thread(usual).join()
        finally:
            sys.setrecursionlimit(usual)
        if self._error is not None:
            raise self._error
        return self._value[0]

    def _thread(self, usual: int) -> threading.Thread:
        """The running thread, with as large a stack as can be had, and as deep a limit as that allows."""
        for size in _STACKS:
            before = threading.stack_size(size)
            thread = threading.Thread(target=self._run, name="deep", daemon=True)
            sys.setrecursionlimit(max(usual, _LIMIT // (_STACKS[0] // size)))
            try:
                thread.start()
                return thread
            except RuntimeError:  # no memory for the stack
                if size == _STACKS[-1]:
                    raise
            finally:
                threading.stack_size(before)
        raise AssertionError("the last stack was tried")

    def _run(self) -> None:
        _here.deep = True
        try:
            self._value.append(self._work())
        except BaseException as error:
            self._error = error
