"""Which variable receives the value of a pair that a combiner's loop reads, as far as its text shows it.

Part of `bind`. A convenience only: what the loop does with the pair is for the analyses of the IR to find.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

# The arguments before the targets, and how many targets there must be: a key and a value, or parts of a line.
_SCANS = {"scanf": (1, 2), "fscanf": (2, 2), "sscanf": (2, 1)}
_NUMBERS = frozenset("atoi atol atoll atof strtol strtoul strtoll strtoull strtod strtof strtold".split())


def value_read(stmt: c_ast.Node) -> str | None:
    """The name of the variable that the loop reads a value into, None where no call in it shows one.

    It is the last target of a scanf, or what a number's text (atoi, strtol, ...) is kept in.
    """
    return next(_values(stmt), None)


def _values(node: c_ast.Node) -> Iterator[str]:
    name = ""
    if isinstance(node, c_ast.FuncCall):
        name = _last_target(node)
    elif isinstance(node, c_ast.Assignment) and _reads_number(node.rvalue):
        name = _variable(node.lvalue)
    elif isinstance(node, c_ast.Decl) and node.init is not None and _reads_number(node.init):
        name = node.name or ""
    if name:
        yield name
    for _, child in node.children():
        yield from _values(child)


def _last_target(call: c_ast.FuncCall) -> str:
    before, least = _SCANS.get(_called(call), (0, 0))
    arguments = call.args.exprs if call.args is not None else []
    return _variable(arguments[-1]) if least and len(arguments) >= before + least else ""


def _reads_number(node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.FuncCall):
        return _called(node) in _NUMBERS
    return any(_reads_number(child) for _, child in node.children())


def _called(call: c_ast.FuncCall) -> str:
    return str(call.name.name) if isinstance(call.name, c_ast.ID) else ""


def _variable(node: c_ast.Node) -> str:
    """The variable that an lvalue, or the address of one, is a part of; "" where it is none with a name."""
    while not isinstance(node, c_ast.ID):
        if isinstance(node, c_ast.UnaryOp | c_ast.Cast):
            node = node.expr
        elif isinstance(node, c_ast.StructRef | c_ast.ArrayRef):
            node = node.name
        else:
            return ""
    return str(node.name)
