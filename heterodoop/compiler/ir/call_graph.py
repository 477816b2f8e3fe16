"""Which of a program's own functions may be called from where: by the names that a body mentions, and for a call through a
pointer those functions of its type whose address is taken anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from ..types import ctype
from . import ir
from . import walk as ir_walk


class CallGraph:
    """Functions are named; a body is walked when it is first asked for, once."""

    def __init__(self, program: ir.Program) -> None:
        self._program = program
        self._mentioned: dict[str, frozenset[str]] = {}

    def of(self, *starts: ir.Node) -> set[str]:
        """Functions that may be called from these pieces of the program."""
        return self._all(name for start in starts for name in self._own(start))

    def below(self, name: str) -> set[str]:
        """Functions that may be called from a function's body, itself among them only where it is recursive."""
        return self._all(self._of_body(name))

    def named(self, names: Iterable[str]) -> set[str]:
        """The functions among these names, and all that they may call."""
        return self._all(name for name in names if name in self._program.by_name)

    def _all(self, names: Iterable[str]) -> set[str]:
        found: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending.extend(self._of_body(name))
        return found

    def _own(self, node: ir.Node) -> frozenset[str]:
        pointed = {self._by_type.get(kind, frozenset()) for kind in _pointed(node)}
        return frozenset(ir_walk.names(node) & self._program.by_name.keys()).union(*pointed)

    @cached_property
    def _by_type(self) -> dict[ctype.CType, frozenset[str]]:
        """The functions whose address is taken, by their types."""
        parts = [*(body for _, body in ir_walk.bodies(self._program)), *(s.init for s in self._program.globals if s.init)]
        found: dict[ctype.CType, set[str]] = {}
        for part in parts:
            called = {n.callee.number for n in ir_walk.walk(part) if isinstance(n, ir.Call)}
            for node in ir_walk.walk(part):
                if isinstance(node, ir.Decay) and isinstance(node.operand, ir.Name) and node.number not in called:
                    if node.operand.name in self._program.by_name:
                        found.setdefault(node.operand.type, set()).add(node.operand.name)
        return {kind: frozenset(names) for kind, names in found.items()}

    def _of_body(self, name: str) -> frozenset[str]:
        if name not in self._mentioned:
            self._mentioned[name] = self._own(self._program.by_name[name].body)
        return self._mentioned[name]

    @cached_property
    def recursive(self) -> frozenset[str]:
        """Functions that may call themselves, by others too."""
        return frozenset(name for name in self._program.by_name if name in self.below(name))

    @cached_property
    def helpers(self) -> tuple[ir.Function, ...]:
        """What the region may call, in the order of the names."""
        return tuple(self._program.by_name[name] for name in sorted(self.of(self._program.region.body)))

    @cached_property
    def bodies(self) -> tuple[tuple[str, ir.Block], ...]:
        """What runs for a record, each body with its function's name: the region, then the helpers."""
        region = self._program.region
        return ((region.function, region.body), *((f.name, f.body) for f in self.helpers))

    @cached_property
    def around(self) -> frozenset[str]:
        """What the code before and after the region may call."""
        return frozenset(self.of(self._program.enclosing.body))

    def text(self) -> str:
        """One line per function: what its body mentions, what is recursive."""
        lines = []
        for name in self._program.by_name:
            more = " (recursive)" if name in self.recursive else ""
            lines.append(f"{name}{more}: {' '.join(sorted(self._of_body(name))) or '-'}\n")
        region = self._program.region
        return "".join([*lines, f"the region: {' '.join(sorted(self._own(region.body))) or '-'}\n"])


def _pointed(node: ir.Node) -> Iterator[ctype.CType]:
    """The types of the functions that are called through pointers."""
    for part in ir_walk.walk(node):
        if isinstance(part, ir.Call) and not ir.called(part) and (kind := ctype.element(part.callee.type)) is not None:
            yield kind


def reached(program: ir.Program, start: ir.Node) -> set[str]:
    """Own functions that may be called from a piece of a program that rewrites still change: later there is a graph."""
    return CallGraph(program).of(start)
