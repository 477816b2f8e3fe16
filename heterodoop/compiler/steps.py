"""Rows of the table of passes: a name, what it is for, what it needs, how its result reads, and the time that it took.

A *rewrite* makes a program of a program. A *fact* is found out about a program once the rewrites are done: a method of a
class of `Asked`, computed when it is first asked for and then kept. One that asks for a fact it does not name among its
needs is a bug, so that the table says who depends on whom.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Generic, TypeVar, overload

from ..errors import CompilerBug
from ..values import dataclass

T = TypeVar("T")
A = TypeVar("A", bound="Asked")


@dataclass(frozen=True)
class FactRow:
    """dump: the result as text, None where it has none that tells more than its readers'."""

    name: str
    doc: str
    needs: tuple[str, ...] = ()
    dump: Callable[[Any], str] | None = None


@dataclass
class Times:
    """Seconds that each step took by itself, without those that it asked for, in the order in which they began."""

    seconds: dict[str, float] = field(default_factory=dict)
    _running: list[str] = field(default_factory=list)
    _since: float = 0.0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self._turn()
        self.seconds.setdefault(name, 0.0)
        self._running.append(name)
        try:
            yield
        finally:
            self._turn()
            self._running.pop()

    def _turn(self) -> None:
        """What has passed since the last turn is the innermost step's."""
        now = time.perf_counter()
        if self._running:
            self.seconds[self._running[-1]] += now - self._since
        self._since = now

    def text(self) -> str:
        """A line per step, milliseconds first."""
        lines = [f"{1000 * spent:9.2f} ms  {name}\n" for name, spent in self.seconds.items()]
        return "".join([*lines, f"{1000 * sum(self.seconds.values()):9.2f} ms  in all\n"])


class Asked:
    """Base of a class of facts."""

    def __init__(self, times: Times) -> None:
        self.times = times
        self._known: dict[str, Any] = {}
        self._asking: list[FactRow] = []

    def ask(self, row: FactRow, compute: Callable[[], T]) -> T:
        """A fact's value. Raises CompilerBug where the fact that is being computed does not need it by its row."""
        if self._asking and row.name not in self._asking[-1].needs:
            raise CompilerBug(f"'{self._asking[-1].name}' asks for '{row.name}', which is not among its needs")
        if row.name not in self._known:
            self._asking.append(row)
            try:
                with self.times.step(row.name):
                    self._known[row.name] = compute()
            finally:
                self._asking.pop()
        found: T = self._known[row.name]
        return found


class Fact(Generic[A, T]):
    """A method that is a fact: reading it gives its value."""

    row: FactRow

    def __init__(self, method: Callable[[A], T], needs: tuple[str, ...], dump: Callable[[Any], str] | None) -> None:
        self._method, self._needs, self._dump = method, needs, dump

    def __set_name__(self, owner: type, name: str) -> None:
        self.row = FactRow(name, self._method.__doc__ or "", self._needs, self._dump)

    @overload
    def __get__(self, asked: None, owner: type) -> Fact[A, T]: ...
    @overload
    def __get__(self, asked: A, owner: type) -> T: ...
    def __get__(self, asked: A | None, owner: type) -> Fact[A, T] | T:
        if asked is None:
            return self
        return asked.ask(self.row, lambda: self._method(asked))


def fact(*needs: str, dump: Callable[[Any], str] | None = None) -> Callable[[Callable[[A], T]], Fact[A, T]]:
    """Makes a fact of a method; its docstring is the row's."""
    return lambda method: Fact(method, needs, dump)


def rows(kind: type[Asked]) -> tuple[FactRow, ...]:
    """The facts of a class, in the order in which they stand there."""
    return tuple(found.row for found in vars(kind).values() if isinstance(found, Fact))
