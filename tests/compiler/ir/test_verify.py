"""Every rule of `verify` is broken once: the report names the pass, the function and what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from heterodoop.compiler.ir import ir
from heterodoop.compiler.ir import walk as ir_walk
from heterodoop.compiler.ir.verify import verify
from heterodoop.compiler.types import ctype
from heterodoop.errors import CompilerBug

from ..regions import analyse, mapper

SOURCE = mapper(
    "int j; struct s s; v = (int)n + k[0]; for (j = 0; j < 3; j++) { if (v) break; else continue; } s.a = one(v, k);"
    'switch (v) { case 1: v = v ? 2 : 3; } printf("%d\\n", v);',
    helpers="struct s { int a; }; static int one(int x, char *p) { return x + *p; } static int g[2] = { 1, 2 };",
    before="g[0] = 5;",
)


def program() -> ir.Program:
    return analyse(SOURCE)[0].program


def everywhere(change: Callable[[Any], Any]) -> ir.Program:
    return ir_walk.map_functions(program(), lambda _, node: change(node))


def when(kind: type, change: Callable[[Any], Any]) -> ir.Program:
    """The program with every node of one kind changed."""
    return everywhere(lambda node: change(node) if type(node) is kind else node)


def region(**changes: Any) -> ir.Program:
    return replace(program(), region=replace(program().region, **changes))


def main(**changes: Any) -> ir.Program:
    first, *rest = program().functions
    return replace(program(), functions=(replace(first, **changes), *rest))


INT, LONG = ctype.INT, ctype.LONG
BROKEN: dict[str, Callable[[], ir.Program]] = {
    "two parts have one number": lambda: when(ir.Conditional, lambda n: replace(n, then=n.other)),
    "undeclared name": lambda: when(ir.Name, lambda n: replace(n, name="nobody") if n.name == "v" else n),
    "declared int": lambda: when(ir.Name, lambda n: replace(n, type=LONG) if n.name == "v" else n),
    "+ of type int|+ on": lambda: when(ir.Binary, lambda n: replace(n, left=ir.Const(LONG, 1)) if n.type == INT else n),
    "of type long": lambda: when(ir.Binary, lambda n: replace(n, type=LONG) if n.type == INT else n),
    "assignment of long to int": lambda: when(
        ir.Assign, lambda n: replace(n, value=ir.Const(LONG, 1)) if n.type == INT else n),
    "assignment of type": lambda: when(ir.Assign, lambda n: replace(n, type=ctype.SHORT) if n.type == INT else n),
    "no lvalue": lambda: when(ir.Assign, lambda n: replace(n, target=n.value) if n.type == INT else n),
    "argument of another type": lambda: when(
        ir.Call, lambda n: replace(n, args=(ir.Const(LONG, 1), *n.args[1:])) if len(n.args) == 2 else n),
    "wrong number of arguments": lambda: when(ir.Call, lambda n: replace(n, args=n.args[:1]) if len(n.args) == 2 else n),
    "call of type": lambda: when(ir.Call, lambda n: replace(n, type=LONG)),
    "?: on": lambda: when(ir.Conditional, lambda n: replace(n, then=ir.Const(LONG, 1))),
    "access of type": lambda: when(ir.Deref, lambda n: replace(n, type=INT)),
    "member 'b'": lambda: when(ir.Member, lambda n: replace(n, field="b")),
    "cast of an aggregate": lambda: when(ir.Cast, lambda n: replace(n, type=ctype.Struct("s"))),
    "decay of": lambda: when(ir.Decay, lambda n: replace(n, type=LONG)),
    "constant 4294967296": lambda: when(ir.Const, lambda n: replace(n, value=1 << 32) if n.type == INT else n),
    "constant 1.5": lambda: when(ir.Const, lambda n: replace(n, value=1.5) if n.type == INT else n),
    "return of long": lambda: when(ir.Return, lambda n: replace(n, value=ir.Const(LONG, 1))),
    "conversion %d with 0": lambda: when(ir.Format, lambda n: replace(n, args=())),
    "condition of type": lambda: when(ir.If, lambda n: replace(n, cond=ir.Name(ctype.Struct("s"), "s"))),
    "initialiser of type": lambda: when(ir.Decl, lambda n: replace(n, init=ir.Const(LONG, 1)) if n.name == "cap" else n),
    "break outside": lambda: main(body=ir.Block((ir.Break(), *program().functions[0].body.body))),
    "continue outside": lambda: main(body=ir.Block((ir.Continue(), *program().functions[0].body.body))),
    "case label outside": lambda: main(body=ir.Block((ir.CaseLabel(1), *program().functions[0].body.body))),
    "goto to no label": lambda: main(body=ir.Block((ir.Goto("x"), *program().functions[0].body.body))),
    "two variables have one name": lambda: main(locals=program().functions[0].locals * 2),
    "declared": lambda: main(locals=(*program().functions[0].locals, ir.Symbol("extra", "extra", INT, "local"))),
    "0 places for the region": lambda: main(body=ir.Block(())),
    "2 places for the region": lambda: main(body=ir.Block((ir.RegionHere(), *program().functions[0].body.body))),
    "clause names 'nobody'": lambda: region(key="nobody"),
    "two record loops": lambda: region(body=ir.Block(program().region.body.body * 2)),
    "function is missing": lambda: region(function="nobody"),
    "two globals": lambda: replace(program(), globals=program().globals * 2),
    "initialiser names": lambda: replace(program(), globals=(
        replace(program().globals[0], init=ir.Fill(((("x",), ir.Const(INT, 1)),))),)),
    "parameters do not fit": lambda: main(params=(ir.Symbol("extra", "extra", INT, "param"),)),
}


def test_the_program_itself_is_sound() -> None:
    verify(program())


@pytest.mark.parametrize("fault", BROKEN)
def test_fault(fault: str) -> None:
    with pytest.raises(CompilerBug) as caught:
        verify(BROKEN[fault](), "somepass")
    assert "after pass 'somepass', function '" in caught.value.message
    assert any(part in caught.value.message for part in fault.split("|")), caught.value.message
