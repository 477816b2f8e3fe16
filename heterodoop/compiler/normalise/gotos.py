"""Pass `gotos`: jumps to labels, in the region and its helpers, become if, else, break, continue and do ... while.

    if (!p) goto next; A; next: ;          ->  if (!p) continue; A;           at the end of a loop's body
    if (!p) goto bad; A; bad: B;           ->  if (!p) { } else { A; } B;
    for (...) if (x) goto found; A; found: ->  for (...) if (x) { found$2 = 1; break; } if (!found$2) { A; }
    again: A; if (x) goto again;           ->  do { again$2 = 0; A; if (x) { again$2 = 1; continue; } } while (again$2);

No statement is copied. A label in the same list of statements as what jumps to it, or in one around that, is all that this
takes; a body with any other jump stays as it is, and `why` says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from ...source import UNKNOWN, Span
from ...values import dataclass
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..ir.call_graph import reached
from ..types import ctype
from .inlining import declared

_LOOPS = (ir.While, ir.DoWhile, ir.For, ir.RecordLoop)
Stmts = Sequence[ir.Stmt]


def gotos(program: ir.Program) -> ir.Program:
    """The same object where nothing is a jump, or none can be changed."""
    wanted = reached(program, program.region.body) - {program.region.function}
    functions = tuple(_function(program, f) if f.name in wanted else f for f in program.functions)
    if any(a is not b for a, b in zip(functions, program.functions, strict=True)):
        program = replace(program, functions=functions)
    return _region(program)


def _function(program: ir.Program, function: ir.Function) -> ir.Function:
    if not _labelled(function.body):
        return function
    work = _Body(program, function)
    try:
        body = work.whole(function.body)
    except _Left:
        return function
    return replace(function, body=body, locals=work.locals(body))


def _region(program: ir.Program) -> ir.Program:
    if not _labelled(program.region.body):
        return program
    function = program.enclosing
    work = _Body(program, function)
    try:
        body = work.whole(program.region.body)
    except _Left:
        return program
    function = replace(function, locals=work.locals(function.body, body))
    functions = tuple(function if f.name == function.name else f for f in program.functions)
    return replace(program, functions=functions, region=replace(program.region, body=body))


def why(program: ir.Program, function: ir.Function, body: ir.Block) -> tuple[str, Span]:
    """What keeps a body's jumps as they are, and where: of a body that the pass did not change."""
    try:
        _Body(program, function).whole(body)
    except _Left as left:
        return left.text, left.span
    return "goto and labels are not supported here", UNKNOWN


class _Left(Exception):
    """A jump that has no other form. `text` ends with what to write instead."""

    def __init__(self, text: str, span: Span) -> None:
        super().__init__(text)
        self.text, self.span = text, span


@dataclass(frozen=True)
class _Out:
    """How a place is left for a label: the flag is set where `flag` names one, then `jump`."""

    label: str
    flag: str
    jump: type[ir.Break | ir.Continue]


class _Body:
    """The jumps of one body. `function`: whose locals the flags join."""

    def __init__(self, program: ir.Program, function: ir.Function) -> None:
        self._function = function
        self._taken = {s.name for s in (*program.globals, *program.externs, *function.params, *function.locals)}
        self._taken |= set(program.by_name)
        self._flags: list[ir.Symbol] = []
        self._assigned: set[str] = set()  # whose initialisers became assignments
        outer = program.enclosing.body if function.name == program.region.function else ir.Block(())
        self._outside = {n.label for n in ir_walk.walk(outer) if isinstance(n, ir.Goto)}

    def whole(self, body: ir.Block) -> ir.Block:
        """The body without labels. Raises _Left."""
        self._check(body)
        return self._block(body, loop=False)

    def locals(self, body: ir.Block, region: ir.Block | None = None) -> tuple[ir.Symbol, ...]:
        """The function's variables, in the order of their declarations: what no jump reaches is gone."""
        known = {s.name: s for s in (*self._function.locals, *self._flags)}
        for name in self._assigned:
            known[name] = replace(known[name], const=False)
        return tuple(known[name] for name in declared(body, region))

    def _check(self, body: ir.Block) -> None:
        """Every label must be seen from where it is jumped to."""
        labels = {n.name for n in ir_walk.walk(body) if isinstance(n, ir.Label)}
        jumps = [n for n in ir_walk.walk(body) if isinstance(n, ir.Goto)]
        for jump in jumps:
            if jump.label not in labels:
                text = f"goto {jump.label} leaves the record loop: write continue, or jump to a label at the end of its body"
                raise _Left(text, jump.span)
        for name in labels & self._outside:
            raise _Left(f"goto {name} jumps into the region from outside: call the code from both places", body.span)
        for block in (n for n in ir_walk.walk(body) if isinstance(n, ir.Block)):
            here = {s.name for s in block.body if isinstance(s, ir.Label)}
            inside = {n.number for n in ir_walk.walk(block) if isinstance(n, ir.Goto)} if here else set()
            for jump in jumps:
                if jump.label in here and jump.number not in inside:
                    raise _Left(f"goto {jump.label} jumps into a block or loop: put the label behind it, or the code in a "
                                "function that both places call", jump.span)

    # ------------------------------------------------------------------------------------- from the inside out

    def _block(self, block: ir.Block, *, loop: bool) -> ir.Block:
        if not _labelled(block):
            return block
        stmts = [self._inner(stmt) for stmt in block.body]
        return replace(block, body=tuple(self._list(stmts, loop)))

    def _inner(self, stmt: ir.Stmt) -> ir.Stmt:
        new: dict[str, Any] = {}
        if isinstance(stmt, ir.Block):
            return self._block(stmt, loop=False)
        for name in ("then", "other", "body"):
            part = getattr(stmt, name, None)
            if isinstance(part, ir.Block):
                new[name] = self._block(part, loop=isinstance(stmt, _LOOPS))
        return replace(stmt, **new) if any(new[n] is not getattr(stmt, n) for n in new) else stmt

    def _list(self, stmts: list[ir.Stmt], loop: bool) -> list[ir.Stmt]:
        """Statements whose own blocks have no labels left. loop: they are a loop's whole body."""
        stmts = self._backward(stmts)
        while (at := next((i for i, s in enumerate(stmts) if isinstance(s, ir.Label)), None)) is not None:
            label, behind = stmts[at], stmts[at + 1 :]
            assert isinstance(label, ir.Label)
            first = next((i for i in range(at) if _jumps(stmts[i], label.name)), at)
            stmts = [*stmts[:first], *self._forward(stmts[first:at], label, behind, loop), *behind]
        return stmts

    # ------------------------------------------------------------------------------------- forward

    def _forward(self, stmts: list[ir.Stmt], label: ir.Label, behind: list[ir.Stmt], loop: bool) -> list[ir.Stmt]:
        """What stands from the first jump to its label, `behind` which it continues."""
        if not stmts:
            return []
        if any(map(_has_case, stmts)):
            raise _Left(f"goto {label.name} jumps over a case: write what it skips as the branch of an if", label.span)
        flag = self._flag(label)
        if all(isinstance(s, ir.Label) or s == ir.Block(()) for s in behind):
            end = _Out(label.name, "", ir.Continue)
            made = self._leave(stmts, end, flag) if loop else self._cut(stmts, label.name, flag)
        else:
            hoisted, stmts = self._hoisted(stmts, label, again=False)
            made = [*hoisted, *self._cut(stmts, label.name, flag)]
        return [*self._with_flag(flag, made), *made]

    def _cut(self, stmts: Stmts, label: str, flag: str, mark: bool = False) -> list[ir.Stmt]:
        """The statements such that a jump to the label goes behind them. mark: it must set the flag, too."""
        at = next((i for i, s in enumerate(stmts) if _jumps(s, label)), None)
        if at is None:
            return list(stmts)
        before, stmt, rest = stmts[:at], stmts[at], stmts[at + 1 :]
        if isinstance(stmt, ir.Block):
            return [*before, *self._cut([*stmt.body, *rest], label, flag, mark)]
        if isinstance(stmt, ir.Goto):
            return [*before, *([_set(flag, 1, stmt.span)] if mark else [])]
        if isinstance(stmt, ir.If):
            return [*before, *self._cut_if(stmt, rest, label, flag, mark)]
        out = _Out(label, flag if mark or rest else "", ir.Break)
        left = self._left_loop(stmt, out, flag)
        return [*before, left, *self._unless(flag, rest, label, mark)]

    def _cut_if(self, stmt: ir.If, rest: Stmts, label: str, flag: str, mark: bool) -> list[ir.Stmt]:
        """What follows goes where the jump is not, where one side has no way on."""
        then, other = stmt.then.body, stmt.other.body if stmt.other is not None else ()
        after: list[ir.Stmt] = []
        if not _falls(then):
            other = (*other, *rest) if _falls(other) else other
        elif not _falls(other):
            then = (*then, *rest)
        elif rest:
            after, mark = self._unless(flag, rest, label, mark), True
        one, two = self._cut(then, label, flag, mark), self._cut(other, label, flag, mark)
        block = ir.Block(tuple(two), span=stmt.span) if two else None
        return [replace(stmt, then=replace(stmt.then, body=tuple(one)), other=block), *after]

    def _unless(self, flag: str, rest: Stmts, label: str, mark: bool) -> list[ir.Stmt]:
        if not rest:
            return []
        span = rest[0].span
        body = ir.Block(tuple(self._cut(rest, label, flag, mark)), span=span)
        return [ir.If(build.unary("!", _name(flag, span), span), body, None, span=span)]

    def _leave(self, stmts: Stmts, out: _Out, flag: str) -> list[ir.Stmt]:
        """The statements with break or continue in the place of jumps to the label."""
        made: list[ir.Stmt] = []
        dead = False
        for stmt in stmts:
            dead = dead and not _has_case(stmt)
            if dead:
                continue
            if isinstance(stmt, ir.Goto) and stmt.label == out.label:
                made += [*([_set(out.flag, 1, stmt.span)] if out.flag else []), out.jump(span=stmt.span)]
                dead = True
            elif not _jumps(stmt, out.label):
                made.append(stmt)
            elif isinstance(stmt, (ir.If, ir.Block)):
                made.append(_with_blocks(stmt, lambda part: self._leave(part, out, flag)))
            elif isinstance(stmt, ir.Switch) and out.jump is ir.Continue:
                made.append(_with_blocks(stmt, lambda part: self._leave(part, out, flag)))
            else:
                then = ir.Block((out.jump(span=stmt.span),), span=stmt.span)
                made += [self._left_loop(stmt, _Out(out.label, flag, ir.Break), flag),
                         ir.If(_name(flag, stmt.span), then, None, span=stmt.span)]
        return made

    def _left_loop(self, stmt: ir.Stmt, out: _Out, flag: str) -> ir.Stmt:
        """A loop or switch with breaks in the place of jumps to the label."""
        left: ir.Stmt = _with_blocks(stmt, lambda part: self._leave(part, out, flag))
        return left

    # ------------------------------------------------------------------------------------- backward

    def _backward(self, stmts: list[ir.Stmt]) -> list[ir.Stmt]:
        """The first label that is jumped back to begins a loop to the last jump; those behind and inside come after it."""
        for at, label in enumerate(stmts):
            end = _last(stmts, at)
            if isinstance(label, ir.Label) and end > at:
                inner = {s.name for s in stmts[at + 1 : end + 1] if isinstance(s, ir.Label)}
                for jump in (n for s in stmts[:at] for n in ir_walk.walk(s) if isinstance(n, ir.Goto)):
                    if jump.label in inner:
                        text = f"goto {jump.label} jumps into what goto {label.name} repeats"
                        raise _Left(f"{text}: write that as a loop, with an if around what is passed over", jump.span)
                return [*stmts[: at + 1], *self._repeated(stmts[at + 1 : end + 1], label), *self._backward(stmts[end + 1 :])]
        return stmts

    def _repeated(self, stmts: list[ir.Stmt], label: ir.Label) -> list[ir.Stmt]:
        if any(map(_has_case, stmts)):
            raise _Left(f"goto {label.name} jumps back over a case: write it as a loop around the switch", label.span)
        hoisted, stmts = self._hoisted(stmts, label, again=True)
        flag, end = self._flag(label), f"{label.name}$end"
        behind: dict[str, ir.Stmt] = {}
        body: list[ir.Stmt] = [s for stmt in stmts for s in _redirected(stmt, label.name, flag, end, behind, (False, False))]
        made = self._list([*body, ir.Label(end, span=label.span)], loop=True)
        first = _set(flag, 0, label.span)
        loop = ir.DoWhile(ir.Block((first, *made), span=label.span), _name(flag, label.span), span=label.span)
        return [*hoisted, self._declaration(flag, label.span), *self._list([loop, *_landings(behind, label)], loop=False)]

    # ------------------------------------------------------------------------------------- variables

    def _hoisted(self, stmts: list[ir.Stmt], label: ir.Label, *, again: bool) -> tuple[list[ir.Stmt], list[ir.Stmt]]:
        """Declarations that come to stand before the jump, since they live on behind the label, and the rest with
        assignments in the place of their initialisers. again: it is run more than once."""
        before: list[ir.Stmt] = []
        rest: list[ir.Stmt] = []
        for stmt in stmts:
            if not isinstance(stmt, ir.Decl):
                rest.append(stmt)
            elif stmt.length is None and (stmt.init is None or (not again and _constant(stmt.init))):
                before.append(stmt)
            elif stmt.length is None and isinstance(stmt.init, ir.Expr) and not isinstance(stmt.init, ir.Str):
                self._assigned.add(stmt.name)
                before.append(ir.Decl(stmt.name, span=stmt.span))
                target = ir.Name(stmt.init.type, stmt.name, span=stmt.span)
                rest.append(ir.ExprStmt(build.assign("=", target, stmt.init, stmt.span), span=stmt.span))
            else:
                name = stmt.name.partition("$")[0]
                where = "before the label" if again else f"before the first goto {label.name}"
                raise _Left(f"goto {label.name} jumps over the declaration of '{name}': declare it {where}", stmt.span)
        return before, rest

    def _flag(self, label: ir.Label) -> str:
        base = label.name.partition("$")[0]
        name = next(n for i in count(2) if (n := f"{base}${i}") not in self._taken)
        self._taken.add(name)
        self._flags.append(ir.Symbol(name, base, ctype.INT, "local", span=label.span))
        return name

    def _with_flag(self, flag: str, stmts: Stmts) -> list[ir.Stmt]:
        used = any(isinstance(n, ir.Name) and n.name == flag for s in stmts for n in ir_walk.walk(s))
        return [self._declaration(flag, stmts[0].span)] if used else []

    def _declaration(self, flag: str, span: Span) -> ir.Stmt:
        return ir.Decl(flag, build.const(0, span=span), span=span)


# ------------------------------------------------------------------------------------------ what statements are


def _labelled(body: ir.Block) -> bool:
    return any(isinstance(n, (ir.Label, ir.Goto)) for n in ir_walk.walk(body))


def _jumps(stmt: ir.Stmt, label: str) -> bool:
    return any(isinstance(n, ir.Goto) and n.label == label for n in ir_walk.walk(stmt))


def _has_case(stmt: ir.Stmt) -> bool:
    """Does a case of a switch around it stand in the statement?"""
    if isinstance(stmt, (ir.CaseLabel, ir.Switch)):
        return isinstance(stmt, ir.CaseLabel)
    return any(_has_case(part) for part in ir_walk.children(stmt) if isinstance(part, ir.Stmt))


def _falls(stmts: Iterable[ir.Stmt]) -> bool:
    """May the end of statements without labels be reached?"""
    return not any(map(_ends, stmts))


def _ends(stmt: ir.Stmt) -> bool:
    if isinstance(stmt, ir.Block):
        return not _falls(stmt.body)
    if isinstance(stmt, ir.If):
        return stmt.other is not None and _ends(stmt.then) and _ends(stmt.other)
    return isinstance(stmt, (ir.Goto, ir.Break, ir.Continue, ir.Return))


def _last(stmts: list[ir.Stmt], at: int) -> int:
    """The last statement that jumps back to the label at `at`, or to a label before one that does; `at` without any."""
    end, pos = at, at
    while pos <= end:
        stmt = stmts[pos]
        if isinstance(stmt, ir.Label):
            end = max([end, *(i for i in range(pos, len(stmts)) if _jumps(stmts[i], stmt.name))])
        pos += 1
    return end


def _with_blocks(stmt: Any, change: Any) -> Any:
    parts = {name: getattr(stmt, name, None) for name in ("then", "other", "body")}
    if isinstance(stmt, ir.Block):
        return replace(stmt, body=tuple(change(stmt.body)))
    return replace(stmt, **{
        name: replace(part, body=tuple(change(part.body))) for name, part in parts.items() if isinstance(part, ir.Block)})


def _redirected(
    stmt: ir.Stmt, label: str, flag: str, end: str, behind: dict[str, ir.Stmt], inside: tuple[bool, bool],
) -> list[ir.Stmt]:
    """A statement of what becomes a loop: jumps to its begin go to its end with the flag set; a break and a continue of what
    is around go to labels behind it, which `behind` collects. inside: whose breaks, whose continues are their own."""
    if isinstance(stmt, ir.Goto):
        return [_set(flag, 1, stmt.span), ir.Goto(end, span=stmt.span)] if stmt.label == label else [stmt]
    if (isinstance(stmt, ir.Break) and not inside[0]) or (isinstance(stmt, ir.Continue) and not inside[1]):
        name = f"{label}${'break' if isinstance(stmt, ir.Break) else 'continue'}"
        behind.setdefault(name, type(stmt)(span=stmt.span))
        return [ir.Goto(name, span=stmt.span)]
    loop = isinstance(stmt, _LOOPS)
    own = (inside[0] or loop or isinstance(stmt, ir.Switch), inside[1] or loop)
    return [_with_blocks(
        stmt, lambda part: [s for inner in part for s in _redirected(inner, label, flag, end, behind, own)])]


def _landings(behind: dict[str, ir.Stmt], label: ir.Label) -> list[ir.Stmt]:
    """goto over; a: break; b: continue; over: ;"""
    over = f"{label.name}$over"
    made: list[ir.Stmt] = [ir.Goto(over, span=label.span)] if behind else []
    for name, stmt in behind.items():
        made += [ir.Label(name, span=label.span), stmt]
    return [*made, ir.Label(over, span=label.span)] if behind else []


def _constant(init: ir.Init) -> bool:
    return all(isinstance(n, (ir.Const, ir.Str, ir.Fill, ir.Decay)) for n in ir_walk.walk(init))


def _name(flag: str, span: Span) -> ir.Name:
    return ir.Name(ctype.INT, flag, span=span)


def _set(flag: str, value: int, span: Span) -> ir.Stmt:
    return ir.ExprStmt(build.assign("=", _name(flag, span), build.const(value, span=span), span), span=span)
