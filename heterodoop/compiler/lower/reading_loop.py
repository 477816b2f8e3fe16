"""The loop of a program without a directive that reads its pairs: the first of main()'s own statements that calls a reader.

What the loop does with them is for the analyses of the IR to find; so is whether it is one at all.
"""

from __future__ import annotations

from pycparser import c_ast

from ..source.directive import Directive
from ..source.frontend import Unit
from ..types.ctype import Layouts
from .bind import BoundRegion

_LOOPS = (c_ast.While, c_ast.DoWhile, c_ast.For)
_READERS = frozenset({"getline", "getdelim", "fgets", "scanf", "fscanf"})


def reading_loop(unit: Unit) -> BoundRegion | None:
    """The region that a combiner's directive before that loop would make, without clauses; None: there is none."""
    mains = [] if unit.ast is None else [n for n in unit.ast.ext if isinstance(n, c_ast.FuncDef) and n.decl.name == "main"]
    for main in mains:
        items = main.body.block_items or []
        for at, stmt in enumerate(items):
            if isinstance(stmt, _LOOPS) and _reads(stmt):
                directive = Directive("combiner", unit.span(stmt), ())
                around = tuple(items[:at]), tuple(items[at + 1 :])
                names, numbers = ("", "", "", ""), (0, 0, 0, 0, 0)
                return BoundRegion(
                    directive, "combiner", main, stmt, *around, {}, Layouts({}), *names, *numbers, (), (), ())
    return None


def _reads(node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
        if str(node.name.name).removesuffix("_unlocked") in _READERS:
            return True
    return any(_reads(child) for _, child in node.children())
