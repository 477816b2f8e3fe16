"""Abstract objects: what an access of the program may touch and a pointer may lead to.

An object's contents are one set: fields and elements together. Objects are values, and there is one of each: two that are
equal are the same, so that sets and tables of them are fast. Their text is for dumps and for an order that is the same in
every run; nobody takes it apart.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from ..ir import ir
from ..ir.names import escape


class _OfEach(type):
    """One instance per class and arguments, made when it is first asked for."""

    def __init__(cls, *args: Any) -> None:
        super().__init__(*args)
        cls._made: dict[tuple[Any, ...], Any] = {}

    def __call__(cls, *args: Any) -> Any:
        found = cls._made.get(args)
        return found if found is not None else cls._made.setdefault(args, super().__call__(*args))


class Single(metaclass=_OfEach):
    """Base of values of which there is one of each. Equality and hash are the instance's own."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Object(Single):
    """Base of all objects.

    lasting  Does it live on from record to record? Of locals and memory without a name the program decides that.
    one      Is it one object, as far as its kind says, so that a write to all of it replaces what was there?
    """

    lasting = False
    one = True

    def __lt__(self, other: Object) -> bool:
        return str(self) < str(other)

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        raise NotImplementedError

    @property
    def shown(self) -> str:
        """As a message names it."""
        return str(self)

    @cached_property
    def cell(self) -> Cell:
        """All of it."""
        return Cell(self, ())

    def within(self, function: str) -> bool:
        """Does it belong to a call of that function?"""
        return False


@dataclass(frozen=True, eq=False)
class Cell(Single):
    """A part of an object that is followed by itself: the members that lead to it. All elements of an array are one."""

    obj: Object
    path: tuple[str, ...]

    def __lt__(self, other: Cell) -> bool:
        return (str(self.obj), self.path) < (str(other.obj), other.path)

    def member(self, name: str) -> Cell:
        return Cell(self.obj, (*self.path, name))

    def holds(self, other: Cell) -> bool:
        """Is the other a part of it?"""
        return other.obj is self.obj and other.path[: len(self.path)] == self.path


# ------------------------------------------------------------------------------------------ variables


class Variable(Object):
    """`name` as in the IR."""

    name: str

    @property
    def shown(self) -> str:
        return self.name.split("$")[0]


@dataclass(frozen=True, eq=False)
class Global(Variable):
    """A variable of file scope, a static local, or one of the library's."""

    name: str
    lasting = True

    @cached_property
    def _text(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class Local(Variable):
    """A parameter or local variable of a function."""

    function: str
    name: str

    @cached_property
    def _text(self) -> str:
        return f"{self.function}::{self.name}"

    def within(self, function: str) -> bool:
        return self.function == function


@dataclass(frozen=True, eq=False)
class Returned(Object):
    """What a function of the program returns."""

    function: str

    @cached_property
    def _text(self) -> str:
        return f"{self.function}::return"

    @property
    def shown(self) -> str:
        return f"what {self.function}() returns"

    def within(self, function: str) -> bool:
        return self.function == function


def variable(program: ir.Program, function: str, name: str) -> Variable | Hidden:
    """The object of a variable as `function` names it."""
    own = program.by_name.get(function)
    if own is not None and own.symbol(name) is not None:
        return Local(function, name)
    return ERRNO if name == ERRNO.name else Global(name)


def symbol_of(program: ir.Program, obj: Object) -> ir.Symbol | None:
    """The variable that an object is; None for memory without a name and state without a variable."""
    if isinstance(obj, Local):
        return program.by_name[obj.function].symbol(obj.name)
    return program.symbol("", obj.name) if isinstance(obj, (Global, Hidden)) else None


# ------------------------------------------------------------------------------------------ memory without a name


@dataclass(frozen=True, eq=False)
class Site(Object):
    """What one place of the program makes. `number`: of the place, in the order of the text."""

    number: int

    @property
    def shown(self) -> str:
        return "memory"


@dataclass(frozen=True, eq=False)
class Heap(Site):
    """What a call allocates."""

    @cached_property
    def _text(self) -> str:
        return f"heap@{self.number}"


@dataclass(frozen=True, eq=False)
class Arena(Heap):
    """What a call allocates while a record is treated: any number of objects, which end with the record."""

    one = False

    @cached_property
    def _text(self) -> str:
        return f"arena@{self.number}"


@dataclass(frozen=True, eq=False)
class Unnamed(Site):
    """A compound literal."""

    @cached_property
    def _text(self) -> str:
        return f"compound@{self.number}"


@dataclass(frozen=True, eq=False)
class Area(Object):
    """Memory that is no variable's and no place's of the program."""

    name: str
    meaning: str
    one = False

    @cached_property
    def _text(self) -> str:
        return self.name

    @property
    def shown(self) -> str:
        return self.meaning


@dataclass(frozen=True, eq=False)
class Literal(Object):
    """A string literal; those of the same text are one. `data`: without its NUL."""

    data: bytes

    @cached_property
    def _text(self) -> str:
        return f"literal {escape(self.data)}"

    @property
    def shown(self) -> str:
        return "a string literal"


def is_literal(obj: Object) -> bool:
    return isinstance(obj, Literal) or obj is LITERAL


# ------------------------------------------------------------------------------------------ the rest


@dataclass(frozen=True, eq=False)
class Hidden(Object):
    """State of the library that calls read and change."""

    name: str
    meaning: str
    lasting = True

    @cached_property
    def _text(self) -> str:
        return self.name

    @property
    def shown(self) -> str:
        return self.meaning


@dataclass(frozen=True, eq=False)
class Code(Object):
    """A function that is pointed to."""

    name: str

    @cached_property
    def _text(self) -> str:
        return f"fn:{self.name}"


@dataclass(frozen=True, eq=False)
class Behind(Object):
    """What a pointer leads to, whatever that is."""

    pointer: Object

    @cached_property
    def _text(self) -> str:
        return f"@{self.pointer}"

    @property
    def shown(self) -> str:
        return f"what '{self.pointer.shown}' points to"


RECORD = Area("*record", "the line")  # that getline keeps
EXTERNAL = Area("*external", "memory")  # that nobody of us writes: argv, the environment
UNKNOWN = Area("*unknown", "memory")  # that cannot be followed
LITERAL = Area("*literal", "a string literal")  # every one of a program that has too many to tell apart
ANY_TEXT = Area("*texts", "a text")  # what a kernel knows the place of: literals, arguments, texts of the environment
STRTOK = Hidden("*strtok", "the position that strtok keeps")
ERRNO = Hidden("errno", "errno")
