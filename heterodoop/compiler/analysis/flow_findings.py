"""What the use analysis finds: accesses of each object, reads that are not proven, reasons against the GPU."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from ...manifest import Reason
from ...source import Span
from ...values import dataclass
from ..ir import ir
from .flow_state import Same, State, Value
from .objects import RECORD, Cell, Object

Level = Literal["proven", "assumed", "exposed"]
Access = Literal["value", "string", "bytes"]
Site = tuple[int, int]  # a read: number of its node, and what of it reads (below, or the number of a call's argument)
ITSELF = -1  # the lvalue that the node is, or assigns to
KEPT = -3  # the place that strtok_r and strsep keep
TEXT = -2  # what the node, a pointer that printf or sprintf is given, leads to


@dataclass(frozen=True)
class Touched:
    """What an access touches: a cell as a whole, or a part of it (an element, by its number, or one before `end`).

    by  a variable whose number, plus a constant, is the element's. tokens: it is where strtok had stopped.
    """

    cell: Cell
    part: bool = False
    elem: int | None = None
    end: int | None = None
    by: Same | None = None
    tokens: bool = False


Outcomes = list[tuple[Value, State]]  # of an expression
PlaceOutcomes = list[tuple[list[Touched], State]]  # of an lvalue


@dataclass
class OneObject:
    """What was found about one object: the first place of each kind of access, in the order of the analysis."""

    read: Span | None = None
    exposed: Span | None = None
    exposed_in_loop: bool = False
    assumed: Span | None = None
    write: Span | None = None
    reader_only: bool = True


@dataclass
class Findings:
    """unproven  reads -> the objects that each may touch where this record has not written them. touched: all objects.
    reach     object -> the byte before which all writes to it surely end; None: not known.
    inside    accesses that go by an index or a pointer -> does what they touch surely lie in its object?
    line_ends  nothing but NUL is written over the line's NUL. line_texts: reads of strings for which that matters.
    """

    facts: dict[Object, OneObject] = field(default_factory=dict)
    problems: dict[tuple[str, str, Span], Reason] = field(default_factory=dict)
    unproven: dict[Site, set[Object]] = field(default_factory=dict)
    touched: dict[Site, set[Object]] = field(default_factory=dict)
    reach: dict[Object, int | None] = field(default_factory=dict)
    inside: dict[Site, bool] = field(default_factory=dict)
    line_ends: bool = True
    line_texts: set[Site] = field(default_factory=set)

    def lies(self, node: ir.Node, part: int, *, inside: bool) -> None:
        """What an access may touch on one path."""
        site = node.number, part
        self.inside[site] = inside and self.inside.get(site, True)

    def of(self, obj: Object) -> OneObject:
        return self.facts.setdefault(obj, OneObject())

    def problem(self, code: str, message: str, span: Span) -> None:
        self.problems.setdefault((code, message, span), Reason(code, message, span))

    def text(self) -> str:
        """One line per object: the first read, read that is not proven, and write."""
        lines = [f"{obj}: read {_at(f.read)}, exposed {_at(f.exposed)}, assumed {_at(f.assumed)}, written {_at(f.write)}\n"
                 for obj, f in sorted(self.facts.items())]
        return "".join(lines)

    def all_unproven(self) -> dict[Site, frozenset[Object]]:
        """Strings in the line, too, where it may have lost its end."""
        late = {} if self.line_ends else dict.fromkeys(self.line_texts, {RECORD})
        sites = [*self.unproven, *(s for s in late if s not in self.unproven)]
        return {s: frozenset(self.unproven.get(s, set()) | late.get(s, set())) for s in sites}

    def reaches(self, obj: Object, end: int | None) -> None:
        """A write to the object ends before byte `end`."""
        old = self.reach.get(obj, 0)
        self.reach[obj] = None if end is None or old is None else max(old, end)


@dataclass
class Walk:
    """Where the analysis is on its way through the region, and what it has found so far.

    line_ends  nothing is written over the NUL at the line's end (else `Findings.line_ends` would tell).
    in_loop    in the record loop; `reading`: in its condition, which may read, `in_reader`: in what the reader does.
    thresholds  numbers that variables are compared with.
    recursing  in a function that may call itself, of whose calls only the first is followed.
    """

    function: str
    line_ends: bool
    findings: Findings = field(default_factory=Findings)
    in_loop: bool = False
    reading: bool = False
    in_reader: bool = False
    recursing: bool = False
    thresholds: set[int] = field(default_factory=set)


def _at(span: Span | None) -> str:
    return str(span) if span is not None and span.line else "-"
