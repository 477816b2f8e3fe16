"""Search loops: which loops look ahead on a GPU, and the statement that does it before the loop (lane/ahead.cuh).

`while (i < n && t[i] != x) i++;` and `for (i = 0; i < n; i++) if (t[i] == x) break;` wait for each element before they ask
for the next one. Where `t` is a read-only array of known size, and all that the loop does, as long as it goes on, is to
step `i`, elements further on can be read ahead: nothing can fail, and nothing changes. A call before the loop moves `i`
to where the loop stops. The loop itself stays as it is, so that a call which stops early is right as well.

Not for the bytes of a record: there looking ahead by words was measured to be slower.
"""

from __future__ import annotations

from ...values import dataclass
from ..analysis import device_calls
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import Array, Float, Int
from . import nodes
from .arithmetic import can_fail
from .program import SearchAhead
from .scope import Scope

_SMALLEST_TABLE = 32  # elements: a search in fewer is over before looking ahead pays
_READ_ONLY = frozenset({"constant", "parameter-array", "global", "shared", "texture"})
_PURE = (ir.Const, ir.Name, ir.Cast, ir.Unary, ir.Binary, ir.Conditional, ir.Decay, ir.Index, ir.Deref, ir.Member, ir.Call)
_LOADS = (ir.Index, ir.Deref, ir.Member)
_ELEMENT, _INDEX = "hd_e", "hd_i"


@dataclass(frozen=True)
class Search:
    """A loop that steps `variable` while all `tests` hold. `element`: the one lvalue that they read by it, of a read-only
    array of `size` elements."""

    variable: ir.Name
    tests: tuple[ir.Expr, ...]
    element: ir.Index
    size: int


def search_ahead(loop: ir.While | ir.For, scope: Scope) -> SearchAhead | None:
    """The statement that goes before the loop (a `for` has begun by then), None where there is none."""
    search = _search(loop, scope) if scope.kernel.decisions.plan.search_ahead else None
    if search is None:
        return None
    index, read = nodes.Temp(search.variable.type, _INDEX), nodes.Temp(search.element.type, _ELEMENT)
    bounds = tuple(test for test in search.tests if _bounds(search.variable, test))
    others = tuple(test for test in search.tests if test not in bounds)

    def of_index(node: ir.Expr) -> ir.Expr:
        return scope.value(_replaced(node, search.variable, index))

    return SearchAhead(
        scope.var(search.variable.name, search.variable.type), search.size, index, read, of_index(_conjunction(bounds)),
        of_index(search.element), of_index(_replaced(_conjunction(others), search.element, read)), span=loop.span,
    )


# ------------------------------------------------------------------------------------------ what is a search


def _search(loop: ir.While | ir.For, scope: Scope) -> Search | None:
    variable = _stepped(loop)
    tests = _tests(loop)
    if variable is None or not tests or not can_step(variable, scope):
        return None
    element = next((node for test in tests for node in ir_walk.expressions(test) if _by(variable, node)), None)
    size = _table_size(element, scope) if isinstance(element, ir.Index) else 0
    if not isinstance(element, ir.Index) or size < _SMALLEST_TABLE:
        return None
    bare = [_replaced(test, element, nodes.Temp(element.type, _ELEMENT)) for test in tests]
    safe = all(_is_safe(test, variable, scope, loads=number == 0) for number, test in enumerate(bare))
    return Search(variable, tests, element, size) if safe else None


def _stepped(loop: ir.While | ir.For) -> ir.Name | None:
    """The variable that a round of the loop steps, and which is all that it does."""
    if isinstance(loop, ir.For):
        alone = not loop.body.body or (len(loop.body.body) == 1 and isinstance(loop.body.body[0], ir.If))
        return increment(loop.step) if alone else None
    if len(loop.body.body) != 1 or not isinstance(loop.body.body[0], ir.ExprStmt):
        return None
    return increment(loop.body.body[0].expr)


def increment(node: ir.Expr | None) -> ir.Name | None:
    if isinstance(node, ir.Step) and node.op == "++" and isinstance(node.target, ir.Name):
        return node.target
    if isinstance(node, ir.Assign) and node.op == "+=" and isinstance(node.target, ir.Name):
        amount = ir_walk.uncast(node.value)
        return node.target if isinstance(amount, ir.Const) and amount.value == 1 else None
    return None


def _tests(loop: ir.While | ir.For) -> tuple[ir.Expr, ...]:
    """What must hold for a round that does nothing but step: the loop's condition, and not that of the `if` in it."""
    tests = split_tests(loop.cond) if loop.cond is not None else ()
    if isinstance(loop, ir.For) and loop.body.body:
        inner = loop.body.body[0]
        if not isinstance(inner, ir.If) or inner.other is not None:
            return ()
        return (*tests, build.unary("!", inner.cond, inner.span))
    return tests


def split_tests(node: ir.Expr) -> tuple[ir.Expr, ...]:
    plain = ir_walk.uncast(node)
    if isinstance(plain, ir.Binary) and plain.op == "&&":
        return (*split_tests(plain.left), *split_tests(plain.right))
    return (node,)


def can_step(variable: ir.Name, scope: Scope) -> bool:
    """An index that nothing but its name leads to."""
    kind = variable.type
    if not isinstance(kind, Int) or kind.bits not in (32, 64) or scope.function.symbol(variable.name) is None:
        return False
    bodies = [scope.function.body, *([scope.kernel.program.region.body] if scope.region else [])]
    return not scope.var(variable.name, kind).is_constant and not any(
        isinstance(node, ir.AddressOf) and variable.name in ir_walk.names(node.operand)
        for body in bodies for node in ir_walk.walk(body))


def _by(variable: ir.Name, node: ir.Expr) -> bool:
    """Is it `base[variable]`?"""
    return isinstance(node, ir.Index) and variable.name not in ir_walk.names(node.base) and is_value_of(variable, node.index)


def is_value_of(variable: ir.Name, node: ir.Expr) -> bool:
    """Is it the variable's value, as long as that is not negative? A conversion to fewer bits may cut it."""
    while isinstance(node, ir.Cast) and isinstance(node.type, Int) and isinstance(node.operand.type, Int):
        if node.type.bits < node.operand.type.bits or node.type == ctype.BOOL:
            return False
        node = node.operand
    return node == variable


def _is_safe(test: ir.Expr, variable: ir.Name, scope: Scope, *, loads: bool) -> bool:
    """May the test (its element replaced) be evaluated for places further on? `loads`: it is the first test, so that what it
    loads from memory is loaded for the first place as well; if that does not depend on the place, it can be for all."""
    parts = list(ir_walk.expressions(test))
    if any(not isinstance(n, (*_PURE, nodes.Temp)) or can_fail(n) or not is_pure(n, scope) for n in parts):
        return False
    loaded = [n for n in parts if isinstance(n, _LOADS)]
    branches = any(isinstance(n, ir.Conditional) or (isinstance(n, ir.Binary) and n.op in build.LOGICAL) for n in parts)
    return not loaded or (loads and not branches and all(variable.name not in ir_walk.names(n) for n in loaded))


def is_pure(node: ir.Expr, scope: Scope) -> bool:
    """A call whose value depends on nothing but its arguments' values; all that is no call is one."""
    if not isinstance(node, ir.Call):
        return True
    name = ir.called(node)
    row = device_calls.find(name)
    if not scope.kernel.own(name):
        return row is not None and row.header == "libc/ctype.cuh"
    function = scope.kernel.program.by_name[name]
    if len(function.body.body) != 1 or not isinstance(function.body.body[0], ir.Return):
        return False
    plain = (ir.Const, ir.Name, ir.Cast, ir.Unary, ir.Binary, ir.Conditional)
    names = {s.name for s in function.params}
    return all(isinstance(n, plain) and not can_fail(n) and (not isinstance(n, ir.Name) or n.name in names)
               for n in ir_walk.expressions(function.body))


def _bounds(variable: ir.Name, test: ir.Expr) -> bool:
    """Is it `variable < END` or `variable <= END`, which holds for all places before one that it holds for?"""
    plain = ir_walk.uncast(test)
    if not isinstance(plain, ir.Binary) or plain.op not in ("<", "<=", ">", ">="):
        return False
    small, large = (plain.left, plain.right) if plain.op in ("<", "<=") else (plain.right, plain.left)
    return is_value_of(variable, small) and variable.name not in ir_walk.names(large)


def _table_size(element: ir.Index, scope: Scope) -> int:
    """Elements of the read-only array that it is one of, 0 where it is none of those."""
    if not isinstance(element.base, ir.Decay) or not isinstance(element.base.operand, ir.Name):
        return 0
    kind, place = element.base.operand.type, scope.place(element.base.operand.name)
    if place is None or place.space not in _READ_ONLY or not isinstance(element.type, (Int, Float)):
        return 0
    return kind.length or 0 if isinstance(kind, Array) else 0


def _replaced(node: ir.Expr, old: ir.Expr, new: ir.Expr) -> ir.Expr:
    return ir_walk.rewrite(node, lambda found: new if found == old else found)


def _conjunction(tests: tuple[ir.Expr, ...]) -> ir.Expr:
    whole = tests[0] if tests else ir.Const(ctype.INT, 1)
    for test in tests[1:]:
        whole = ir.Binary(ctype.INT, "&&", whole, test)
    return whole


