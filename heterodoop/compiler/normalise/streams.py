"""Which FILE * variables always are stdin, stdout or stderr: parameters of helpers, and locals set once, say.

Flow-insensitive: a variable is resolved when every value that the program gives it is one and the same stream.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import ir
from ..ir import walk as ir_walk
from ..types.ctype import Func

STREAMS = ("stdin", "stdout", "stderr")
_UNKNOWN = "?"


class Streams:
    """`of(function, expr)`: the stream an expression is inside a function, "" where that is not known."""

    def __init__(self, program: ir.Program) -> None:
        self._program = program
        self._externs = {s.name for s in program.externs}
        # names that are assigned to: `stdout = fopen(...)` makes another stream of it
        self.replaced = {
            n.target.name for _, body in ir_walk.bodies(program) for n in ir_walk.walk(body)
            if isinstance(n, ir.Assign) and isinstance(n.target, ir.Name)
        }
        self._values: dict[tuple[str, str], set[str]] = {}
        flows = list(self._flows())
        changed = True
        while changed:
            changed = False
            for target, function, value in flows:
                known = self._values.setdefault(target, set())
                new = {_UNKNOWN} if value is None else self._value(function, value)
                changed |= not new <= known
                known |= new

    def of(self, function: str, expr: ir.Expr) -> str:
        values = self._value(function, expr)
        stream = next(iter(values)) if len(values) == 1 else ""
        return stream if stream in STREAMS else ""

    def _value(self, function: str, expr: ir.Expr) -> set[str]:
        expr = ir_walk.uncast(expr)
        if not isinstance(expr, ir.Name):
            return {_UNKNOWN}
        if expr.name in self._externs:
            return {expr.name if expr.name in STREAMS and expr.name not in self.replaced else _UNKNOWN}
        return self._values.get(self._key(function, expr.name), set())

    def _key(self, function: str, name: str) -> tuple[str, str]:
        inner = self._program.by_name[function].symbol(name)
        return (function, name) if inner is not None else ("", name)

    def _flows(self) -> Iterator[tuple[tuple[str, str], str, ir.Expr | None]]:
        """Every (variable, function, value) of the program; value None: anything."""
        for symbol in self._program.globals:
            yield ("", symbol.name), self._program.region.function, symbol.init if isinstance(symbol.init, ir.Expr) else None
        taken = {self._program.region.function, *self._taken()}
        for function in self._program.functions:
            bodies = [function.body]
            if function.name in taken:
                yield from (((function.name, p.name), function.name, None) for p in function.params)
            if function.name == self._program.region.function:
                bodies.append(self._program.region.body)
            for body in bodies:
                for node in ir_walk.walk(body):
                    yield from self._node_flows(function.name, node)

    def _node_flows(self, function: str, node: object) -> Iterator[tuple[tuple[str, str], str, ir.Expr | None]]:
        if isinstance(node, ir.Decl) and isinstance(node.init, ir.Expr):
            yield self._key(function, node.name), function, node.init
        elif isinstance(node, ir.Assign) and isinstance(node.target, ir.Name):
            yield self._key(function, node.target.name), function, node.value if node.op == "=" else None
        elif isinstance(node, ir.Step) and isinstance(node.target, ir.Name):
            yield self._key(function, node.target.name), function, None
        elif isinstance(node, ir.AddressOf) and isinstance(node.operand, ir.Name):
            yield self._key(function, node.operand.name), function, None
        elif isinstance(node, ir.Call):
            callee = self._program.by_name.get(ir.called(node))
            for param, arg in zip(callee.params if callee else (), node.args, strict=False):
                yield (callee.name if callee else "", param.name), function, arg

    def _taken(self) -> Iterator[str]:
        """Functions whose address is used for more than a direct call: they may be called with anything."""
        for body in (*(f.body for f in self._program.functions), self._program.region.body):
            direct = {n.callee.number for n in ir_walk.walk(body) if isinstance(n, ir.Call)}
            for node in ir_walk.walk(body):
                if isinstance(node, ir.Decay) and isinstance(node.operand, ir.Name) and node.number not in direct:
                    if isinstance(node.operand.type, Func):
                        yield node.operand.name
        for symbol in self._program.globals:
            if symbol.init is not None:
                yield from (n.name for n in ir_walk.walk(symbol.init) if isinstance(n, ir.Name))
