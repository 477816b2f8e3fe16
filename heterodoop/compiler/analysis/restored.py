"""Pass `restored`: variables that each record leaves as it found them, such as the length of a word that ends with its line.

    n = 0; RecordLoop (...) { ... w[n++] = c; ... n = 0; }
    ->  n = 0; RecordLoop (...; n != 0 && leave()) { n = 0; ... w[n++] = c; ... n = 0; }

A record may read such a variable before it writes it: it finds what the loop began with, since every record before it left
that. Whether a record leaves it so is not proven but checked behind each: where one does not, the filter does the task. So
the value that a record begins with is known, and what it comes to behind the loop, too. Only where nothing else is carried
from record to record, and where a record ends, as far as its statements tell, with that value or without a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from ..ir import build, ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..normalise.by_value import fixed, holds, is_assignment, quiet
from ..normalise.inlining import with_region
from ..types import ctype
from ..types.ctype import Int, Pointer
from .accumulators import accumulators
from .flow import analyse_flow
from .flow_objects import ObjectModel
from .objects import Object
from .points_to import PointsTo
from .uses import Gathered, classify

_MOST = 4  # variables of which all choices are tried


def restored(program: ir.Program) -> ir.Program:
    """The program with checks of such variables; the same object where there are none, or where they are not all."""
    loop = ir.record_loop(program.region)
    if loop is None or not isinstance(program.region, ir.MapRegion):
        return program
    calls = CallGraph(program)
    began = {name: value for name, value in _begun(program).items() if _comes_back(program, calls, loop, name, value)}
    carried = _carried(program) if began else set()
    points_to = PointsTo(program) if carried else None
    names = [name for name in began if points_to and points_to.key(program.region.function, name) in carried]
    for count in range(1, len(names) + 1) if len(names) <= _MOST else [len(names)]:
        for chosen in combinations(names, count):
            tried = _with_checks(program, loop, {name: began[name] for name in chosen})
            if not _carried(tried):
                return _known_behind(tried, {name: began[name] for name in chosen})
    return program


def _carried(program: ir.Program) -> set[Object]:
    """What records need of those before them."""
    points_to, calls = PointsTo(program), CallGraph(program)
    model = ObjectModel(program, points_to, calls)
    table = classify(model, analyse_flow(model), Gathered(accumulators(program, points_to, calls)))
    return {use.key for use in table.uses if use.cls == "carried"}


# ------------------------------------------------------------------------------------------ what the loop begins with


def _begun(program: ir.Program) -> dict[str, ir.Expr]:
    """Numbers and pointers with a value that is known where the region begins."""
    function = program.enclosing
    if any(isinstance(n, (ir.Label, ir.Goto)) for n in ir_walk.walk(function.body)):
        return {}
    pointed = {node.operand.name for _, body in ir_walk.bodies(program) for node in ir_walk.walk(body)
               if isinstance(node, ir.AddressOf) and isinstance(node.operand, ir.Name)}
    outside = {s.name: s for s in program.globals if not s.const and s.name not in pointed}
    known: dict[str, ir.Expr] = {
        s.name: s.init if isinstance(s.init, ir.Expr) else ir.Const(s.type, 0) for s in outside.values()
        if isinstance(s.type, (Int, Pointer)) and (s.init is None or fixed(s.init))}
    _follow(function.body.body, known, program.by_name)
    kinds = {s.name: s.type for s in (*outside.values(), *function.params, *function.locals)}
    return {name: value for name, value in known.items()
            if name not in pointed and isinstance(kinds.get(name), (Int, Pointer)) and value.type == kinds[name]}


def _follow(stmts: Sequence[ir.Stmt], known: dict[str, ir.Expr], own: dict[str, ir.Function]) -> bool:
    """What variables hold behind statements; True: behind those that stand before the region."""
    for stmt in stmts:
        if isinstance(stmt, ir.RegionHere):
            return True
        if isinstance(stmt, ir.Block):
            if _follow(stmt.body, known, own):
                return True
            continue
        if any(isinstance(n, ir.RegionHere) for n in ir_walk.walk(stmt)):
            known.clear()
            return True
        for node in ir_walk.walk(stmt):
            changed = ir_walk.changed(node)
            if isinstance(changed, ir.Name):
                known.pop(changed.name, None)
            if isinstance(node, ir.Name) and node.name in own:
                known.clear()  # functions may write what is global
        _learn(stmt, known)
    return False


def _learn(stmt: ir.Stmt, known: dict[str, ir.Expr]) -> None:
    if isinstance(stmt, ir.Decl) and isinstance(stmt.init, ir.Expr) and fixed(stmt.init):
        known[stmt.name] = stmt.init
    node = stmt.expr if isinstance(stmt, ir.ExprStmt) else None
    chain = []
    while node is not None and is_assignment(node):
        chain.append(node)
        node = ir_walk.uncast(node.value)
    for assign in chain if node is not None and fixed(node) else ():
        known[assign.target.name] = build.cast(assign.type, node) if isinstance(node, ir.Const) else assign.value


# ------------------------------------------------------------------------------------------ what a record ends with


def _comes_back(program: ir.Program, calls: CallGraph, loop: ir.RecordLoop, name: str, value: ir.Expr) -> bool:
    """Is the variable given that value, by the last statement of a record that changes it as far as can be seen?"""
    if name in {n.name for n in ir_walk.walk(program.region.body) if isinstance(n, ir.Decl)}:
        return False
    bodies = [(f, body) for f, body in calls.bodies if f == program.region.function or program.symbol(f, name) is None
              or program.by_name[f].symbol(name) is None]
    last = _Last(name, value)
    given = [f for f, body in bodies for n in ir_walk.walk(body) if last.gives(n)]
    if not given:
        return False
    if set(given) != {program.region.function}:
        return True
    return last.of(loop.body) == {"value"}


class _Last:
    """How a variable was changed last: given the value, otherwise, or not at all; "value" is also what it may be."""

    def __init__(self, name: str, value: ir.Expr) -> None:
        self._name, self._value = name, value
        self._jumps: list[set[str]] = []

    def gives(self, node: ir.Node) -> bool:
        """x = value, x = !x, and x = c where the value is what every line ends with."""
        if not is_assignment(node) or node.target.name != self._name:
            return False
        value = ir_walk.uncast(node.value)
        turned = isinstance(value, ir.Unary) and value.op == "!" and ir_walk.uncast(value.operand) == node.target
        last = isinstance(value, ir.Name) and isinstance(self._value, ir.Const) and self._value.value == ord("\n")
        return turned or last or node.value == self._value

    def of(self, body: ir.Block) -> set[str]:
        """Behind a record, where it is changed."""
        self._jumps = [set()]
        return (self._block(body.body, {"none"}) | self._jumps[0]) - {"none"}

    def _block(self, stmts: Sequence[ir.Stmt], before: set[str]) -> set[str]:
        for stmt in stmts:
            before = self._stmt(stmt, before) if before else before
        return before

    def _stmt(self, stmt: ir.Stmt, before: set[str]) -> set[str]:
        if isinstance(stmt, ir.Block):
            return self._block(stmt.body, before)
        if isinstance(stmt, ir.If):
            before = self._plain(stmt.cond, before)
            then, other = self._refined(stmt.cond, before)
            return self._block(stmt.then.body, then) | self._block(stmt.other.body if stmt.other else (), other)
        if isinstance(stmt, (ir.While, ir.For, ir.DoWhile, ir.Switch)):
            return self._loop(stmt, before)
        if isinstance(stmt, (ir.Continue, ir.Break)):
            self._jumps[-1] |= before
            return set()
        return set() if isinstance(stmt, ir.Return) else self._plain(stmt, before)

    def _loop(self, stmt: ir.While | ir.For | ir.DoWhile | ir.Switch, before: set[str]) -> set[str]:
        """Of its last round nothing is known: where a round may give the value, that is what it does."""
        self._jumps.append(set())
        behind = self._block(stmt.body.body, {"none"}) | self._jumps.pop()
        for part in ir_walk.children(stmt):
            behind |= self._plain(part, {"none"}) if isinstance(part, ir.Expr) else set()
        changed = behind - {"none"}
        return {"value"} if "value" in changed else before | changed

    def _plain(self, node: ir.Node, before: set[str]) -> set[str]:
        for part in ir_walk.walk(node):
            changed = ir_walk.changed(part)
            if isinstance(changed, ir.Name) and changed.name == self._name:
                before = {"value" if self.gives(part) else "other"}
            if isinstance(part, ir.Exit):
                return set()
        return before

    def _refined(self, cond: ir.Expr, before: set[str]) -> tuple[set[str], set[str]]:
        """A test of the variable: on one side it may have the value, on the other it has another."""
        known = {self._name: self._value.value} if isinstance(self._value, ir.Const) else {}
        outcome = holds(cond, known) if quiet(cond) and self._name in ir_walk.names(cond) else None  # type: ignore[arg-type]
        if outcome is None:
            return before, before
        same, another = {"value"} if before & {"other", "value"} else before, before - {"value"}
        return (same, another) if outcome else (another, same)


# ------------------------------------------------------------------------------------------ the program with its checks


def _with_checks(program: ir.Program, loop: ir.RecordLoop, began: dict[str, ir.Expr]) -> ir.Program:
    span = loop.span
    sets = tuple(ir.ExprStmt(_given(name, value), span=span) for name, value in began.items())
    step = loop.step
    for name, value in began.items():
        leaves = build.comma(ir.Exit(ctype.VOID, "carried", (), span=span), build.const(0, span=span), span)
        other = build.binary("!=", ir.Name(value.type, name, span=span), ir_walk.copied(value), span)
        check = build.binary("&&", other, leaves, span)
        step = check if step is None else build.comma(step, check, span)
    new = replace(loop, step=step, body=replace(loop.body, body=(*sets, *loop.body.body)))
    body = program.region.body
    stmts = tuple(new if stmt is loop else stmt for stmt in body.body)
    return replace(program, region=replace(program.region, body=replace(body, body=stmts)))


def _given(name: str, value: ir.Expr) -> ir.Expr:
    return build.assign("=", ir.Name(value.type, name, span=value.span), ir_walk.copied(value), value.span)


def _known_behind(program: ir.Program, began: dict[str, ir.Expr]) -> ir.Program:
    """The code behind the region, which finds the variables as the loop did, without branches that are not taken then."""
    function = program.enclosing
    numbers = {name: value.value for name, value in began.items() if isinstance(value, ir.Const)}
    known = {name: value for name, value in numbers.items() if isinstance(value, int)}
    sets = [ir.ExprStmt(_given(name, began[name]), span=began[name].span) for name in known]
    body = _Behind(program, sets).block(function.body, known)
    new = replace(program, functions=tuple(replace(f, body=body) if f is function else f for f in program.functions))
    return with_region(new, program.region.body)


class _Behind:
    """sets: statements that give the variables their values."""

    def __init__(self, program: ir.Program, sets: Sequence[ir.Stmt]) -> None:
        self._own, self._sets = program.by_name, sets

    def block(self, block: ir.Block, known: dict[str, int]) -> ir.Block:
        """The block that the region stands in."""
        for number, stmt in enumerate(block.body):
            if any(isinstance(n, ir.RegionHere) for n in ir_walk.walk(stmt)):
                before, rest = block.body[:number], block.body[number + 1 :]
                if isinstance(stmt, ir.Block):
                    return replace(block, body=(*before, self.block(stmt, known), *self._taken(rest, known)))
                if isinstance(stmt, ir.RegionHere):
                    return replace(block, body=(*before, stmt, *self._sets, *self._taken(rest, known)))
        return block

    def _taken(self, stmts: Iterable[ir.Stmt], known: dict[str, int]) -> list[ir.Stmt]:
        """The statements without branches that are not taken while the values are known, and calls that do nothing then."""
        made: list[ir.Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, ir.If) and quiet(stmt.cond):
                outcome = holds(stmt.cond, dict(known))
                if outcome is not None:
                    branch = stmt.then if outcome else stmt.other
                    made += self._taken(branch.body, known) if branch is not None else []
                    continue
            if self._does_nothing(stmt, known):
                continue
            for node in ir_walk.walk(stmt):
                changed = ir_walk.changed(node)
                if isinstance(changed, ir.Name):
                    known.pop(changed.name, None)
                if isinstance(node, ir.Call):
                    known.clear()  # a function may write what is global
            made.append(stmt)
        return made

    def _does_nothing(self, stmt: ir.Stmt, known: dict[str, int]) -> bool:
        call = stmt.expr if isinstance(stmt, ir.ExprStmt) else None
        function = self._own.get(ir.called(call)) if isinstance(call, ir.Call) and not call.args else None
        if function is None:
            return False
        outside = {name: value for name, value in known.items() if function.symbol(name) is None}
        return not self._taken(function.body.body, outside)
