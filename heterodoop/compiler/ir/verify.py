"""What must hold of an ir.Program after every pass. A fault is ours, so it raises CompilerBug and names the pass.

Checks structure and types, not meaning: a verified program prints, reads back and can be walked without surprises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from ...errors import CompilerBug
from ..types import ctype
from ..types.ctype import CType, Float, Func, Int, Pointer
from . import build, formats, ir
from . import walk as ir_walk

_LOOPS = (ir.While, ir.DoWhile, ir.For, ir.RecordLoop)


def verify(program: ir.Program, after: str = "lower") -> None:
    """Raises CompilerBug naming `after`, the pass that ran last, and the place of the first fault."""
    _Verifier(program, after).run()


class _Verifier:
    def __init__(self, program: ir.Program, after: str) -> None:
        self._program, self._after = program, after
        self._globals = {s.name: s.type for s in (*program.globals, *program.externs)}
        self._globals |= {f.name: f.type for f in program.functions}
        self._scope: dict[str, CType] = {}
        self._function = program.functions[0]

    def _bad(self, what: str, node: Any = None) -> NoReturn:
        place = f" at {node.span}" if isinstance(node, ir.Node) else ""
        raise CompilerBug(f"after pass '{self._after}', function '{self._function.name}': {what}{place}")

    def run(self) -> None:
        names = [s.name for s in (*self._program.globals, *self._program.externs)]
        if len(set(names)) != len(names):
            self._bad("two globals have one name")
        if self._program.region.function not in self._program.by_name:
            self._bad("the region's function is missing")
        for function in self._program.functions:
            self._check_function(function)
        for symbol in self._program.globals:
            if symbol.init is not None:
                self._init(symbol.init, symbol.type)
        self._check_numbers()

    def _check_numbers(self) -> None:
        """What is known of a part is known by its number."""
        seen: set[int] = set()
        inits = (symbol.init for symbol in self._program.globals if symbol.init is not None)
        for part in (p for root in (*inits, *(b for _, b in ir_walk.bodies(self._program))) for p in ir_walk.walk(root)):
            if part.number in seen:
                self._bad(f"two parts have one number: {part}", part)
            seen.add(part.number)

    def _check_function(self, function: ir.Function) -> None:
        self._function = function
        symbols = (*function.params, *function.locals)
        self._scope = self._globals | {s.name: s.type for s in symbols}
        if len({s.name for s in symbols}) != len(symbols):
            self._bad("two variables have one name")
        if function.type.params != tuple(p.type for p in function.params):
            self._bad("parameters do not fit the function's type")
        bodies = [function.body]
        here = [n for n in ir_walk.walk(function.body) if isinstance(n, ir.RegionHere)]
        if len(here) != (function.name == self._program.region.function):
            self._bad(f"{len(here)} places for the region")
        if here:
            bodies.append(self._program.region.body)
            self._check_region()
        self._check_decls(function, bodies)
        for body in bodies:
            self._block(body, loop=False, switch=False)

    def _check_region(self) -> None:
        region = self._program.region
        named = [region.key, region.value, *region.firstprivate, *region.sharedRO, *region.texture]
        if isinstance(region, ir.CombineRegion):
            named += [region.keyin, region.valuein]
        for name in named:
            if name and name not in self._scope:
                self._bad(f"clause names '{name}', which is no variable")
        if sum(isinstance(n, ir.RecordLoop) for n in ir_walk.walk(region.body)) > 1:
            self._bad("two record loops")

    def _check_decls(self, function: ir.Function, bodies: list[ir.Block]) -> None:
        declared = [n.name for b in bodies for n in ir_walk.walk(b) if isinstance(n, ir.Decl)]
        if sorted(declared) != sorted(s.name for s in function.locals):
            self._bad(f"declared {sorted(declared)}, listed {sorted(s.name for s in function.locals)}")
        labels = {n.name for b in bodies for n in ir_walk.walk(b) if isinstance(n, ir.Label)}
        for body in bodies:
            for node in ir_walk.walk(body):
                if isinstance(node, ir.Goto) and node.label not in labels:
                    self._bad(f"goto to no label '{node.label}'", node)

    # ------------------------------------------------------------------------------------- statements

    def _block(self, block: ir.Block, *, loop: bool, switch: bool) -> None:
        if not isinstance(block, ir.Block):
            self._bad("a body is no block", block)
        for stmt in block.body:
            self._stmt(stmt, loop, switch)

    def _stmt(self, stmt: ir.Stmt, loop: bool, switch: bool) -> None:
        if isinstance(stmt, ir.Break) and not (loop or switch):
            self._bad("break outside of loop and switch", stmt)
        if isinstance(stmt, ir.Continue) and not loop:
            self._bad("continue outside of a loop", stmt)
        if isinstance(stmt, ir.CaseLabel) and not switch:
            self._bad("case label outside of a switch", stmt)
        if isinstance(stmt, ir.Return):
            self._return(stmt)
        if isinstance(stmt, ir.Decl) and stmt.init is not None:
            self._init(stmt.init, self._scope[stmt.name])
        for part in ir_walk.children(stmt):
            if isinstance(part, ir.Expr):
                self._expr(part)
            elif isinstance(part, ir.Block):
                self._block(part, loop=loop or isinstance(stmt, _LOOPS), switch=_inside_switch(stmt, switch))
            elif isinstance(part, ir.Stmt):
                self._stmt(part, loop, switch)
        cond = getattr(stmt, "cond", None)
        if cond is not None and not _scalar(cond.type):
            self._bad(f"condition of type {cond.type}", stmt)

    def _return(self, stmt: ir.Return) -> None:
        result = self._function.type.result
        if stmt.value is not None and stmt.value.type != result:
            self._bad(f"return of {stmt.value.type} from a function of {result}", stmt)

    def _init(self, init: ir.Init, kind: CType) -> None:
        if isinstance(init, ir.Str) and isinstance(kind, ctype.Array):
            return
        if isinstance(init, ir.Expr):
            self._expr(init)
            if init.type != kind:
                self._bad(f"initialiser of type {init.type} for {kind}", init)
            return
        for path, value in init.items:
            self._init(value, self._part(kind, path))

    def _part(self, kind: CType, path: tuple[int | str, ...]) -> CType:
        for step in path:
            if isinstance(step, int) and isinstance(kind, ctype.Array):
                kind = kind.of
                continue
            layout = self._program.layouts.table.get(kind.tag) if isinstance(kind, ctype.Struct) else None
            field = layout.field(str(step)) if layout else None
            if field is None:
                self._bad(f"initialiser names {step!r}, which {kind} has not")
            kind = field.type
        return kind

    # ------------------------------------------------------------------------------------- expressions

    def _expr(self, node: ir.Expr) -> None:
        for part in ir_walk.children(node):
            if isinstance(part, ir.Expr):
                self._expr(part)
            elif isinstance(part, ir.Fill):
                self._init(part, node.type)
            elif isinstance(part, ir.Format):
                self._format(part)
        check = _CHECKS.get(type(node))
        if check is not None:
            for right, message in check(self, node):
                if not right:
                    self._bad(message, node)

    def _format(self, piece: ir.Format) -> None:
        for arg in piece.args:
            self._expr(arg)
        if formats.conversion(piece.spec).takes != len(piece.args):
            self._bad(f"conversion {piece.spec} with {len(piece.args)} arguments")

    def name(self, node: ir.Name) -> Iterator[tuple[bool, str]]:
        known = self._scope.get(node.name)
        yield known is not None, f"undeclared name '{node.name}'"
        yield known == node.type, f"'{node.name}' has type {node.type}, declared {known}"

    def const(self, node: ir.Const) -> Iterator[tuple[bool, str]]:
        if isinstance(node.type, Int):
            fits = isinstance(node.value, int) and ctype.wrap(node.type, node.value) == node.value
            yield fits, f"constant {node.value} of type {node.type}"
        else:
            right = float if isinstance(node.type, ctype.Float) else int
            yield isinstance(node.value, right), f"constant {node.value!r} of type {node.type}"

    def binary(self, node: ir.Binary) -> Iterator[tuple[bool, str]]:
        left, right = node.left.type, node.right.type
        yield node.type == build.binary_type(node.op, left, right), f"{node.op} of type {node.type}"
        loose = node.op in build.LOGICAL or node.op in build.SHIFTS or (isinstance(left, Pointer) and isinstance(right, Int))
        yield loose or left == right, f"{node.op} on {left} and {right}"

    def assign(self, node: ir.Assign) -> Iterator[tuple[bool, str]]:
        yield node.type == node.target.type, f"assignment of type {node.type}"
        yield _lvalue(node.target), "assignment to no lvalue"
        if node.op == "=":
            yield node.value.type == node.type, f"assignment of {node.value.type} to {node.type}"

    def accumulate(self, node: ir.Accumulate) -> Iterator[tuple[bool, str]]:
        yield node.type == ctype.VOID, f"update of type {node.type}"
        yield _lvalue(node.target), "update of no lvalue"
        yield node.value.type == node.target.type, f"update of {node.target.type} with {node.value.type}"
        yield isinstance(node.target.type, (Int, Float)), f"update of {node.target.type}"

    def call(self, node: ir.Call) -> Iterator[tuple[bool, str]]:
        function = ctype.element(node.callee.type)
        yield isinstance(function, Func), f"call of {node.callee.type}"
        assert isinstance(function, Func)
        yield node.type == function.result, f"call of type {node.type}"
        extra = len(node.args) - len(function.params)
        yield extra == 0 or (function.variadic and extra > 0), "call with a wrong number of arguments"
        yield all(a.type == p for a, p in zip(node.args, function.params, strict=False)), "argument of another type"

    def conditional(self, node: ir.Conditional) -> Iterator[tuple[bool, str]]:
        yield node.then.type == node.other.type == node.type, f"?: on {node.then.type} and {node.other.type}"

    def pointee(self, node: ir.Deref | ir.Index) -> Iterator[tuple[bool, str]]:
        pointer = node.pointer if isinstance(node, ir.Deref) else node.base
        yield ctype.element(pointer.type) == node.type, f"access of type {node.type} through {pointer.type}"
        yield not isinstance(pointer.type, ctype.Array), "array that is not decayed"

    def member(self, node: ir.Member) -> Iterator[tuple[bool, str]]:
        layout = self._program.layouts.table.get(node.base.type.tag) if isinstance(node.base.type, ctype.Struct) else None
        field = layout.field(node.field) if layout else None
        yield field is not None and field.type == node.type, f"member '{node.field}' of {node.base.type}"

    def cast(self, node: ir.Cast) -> Iterator[tuple[bool, str]]:
        yield node.type == ctype.VOID or (_scalar(node.type) and _scalar(node.operand.type)), "cast of an aggregate"

    def decay(self, node: ir.Decay) -> Iterator[tuple[bool, str]]:
        yield node.type == ctype.decay(node.operand.type) != node.operand.type, f"decay of {node.operand.type}"


def _inside_switch(stmt: ir.Stmt, outside: bool) -> bool:
    """`case` reaches through if, blocks and loops; `break` is checked with the loop flag then."""
    return outside or isinstance(stmt, ir.Switch)


def _scalar(kind: CType) -> bool:
    return isinstance(kind, (ctype.Int, ctype.Float, Pointer))


def _lvalue(node: ir.Expr) -> bool:
    return isinstance(node, (ir.Name, ir.Deref, ir.Index, ir.Member, ir.Compound))


_CHECKS: dict[type, Callable[[_Verifier, Any], Iterator[tuple[bool, str]]]] = {
    ir.Name: _Verifier.name,
    ir.Const: _Verifier.const,
    ir.Binary: _Verifier.binary,
    ir.Assign: _Verifier.assign,
    ir.Accumulate: _Verifier.accumulate,
    ir.Call: _Verifier.call,
    ir.Conditional: _Verifier.conditional,
    ir.Deref: _Verifier.pointee,
    ir.Index: _Verifier.pointee,
    ir.Member: _Verifier.member,
    ir.Cast: _Verifier.cast,
    ir.Decay: _Verifier.decay,
}
