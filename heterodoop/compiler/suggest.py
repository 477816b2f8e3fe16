"""The directive that a map without one could have: the loop that reads stdin, and the pair that it prints first.

A proposal is made only where it binds, and is analysed as if it stood there: what the user is told is what he will get.
Not here: combiners, whose clauses say more than one sees in a print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pycparser import c_ast

from ..diag import Sink
from ..manifest import Reason
from ..source import Span
from . import library, passes
from .app import BuildOptions
from .lower.bind import bind
from .source.deep import deep
from .source.directive import Argument, Clause, Directive
from .source.frontend import Unit

_LOOPS = (c_ast.While, c_ast.DoWhile, c_ast.For)
_OF_STDIN = frozenset({"scanf", "getchar", "gets"})
_READERS = frozenset({"getline", "getdelim", "fgets", "fscanf", "fgetc", "getc", "fread"})
_PRINTERS = frozenset({"puts", "fputs", "putchar", "putc", "fputc"})
_PARTS: dict[type[c_ast.Node], str] = {
    c_ast.ArrayRef: "name", c_ast.StructRef: "name", c_ast.Cast: "expr", c_ast.UnaryOp: "expr", c_ast.BinaryOp: "left",
}
_CONVERSION = re.compile(r"%(?!%)[-+ #0-9.*]*[hlLqjzt]*[a-zA-Z]")
_KEY_BYTES = "256"  # where the key is a pointer; a longer one leaves its task to the CPU


@deep
def reason(unit: Unit, options: BuildOptions) -> Reason:
    """Why a map without a directive runs on the CPU, and what the directive would change."""
    found = _proposed(unit, options)
    if found is None:
        return Reason("HD202", "there is no '#pragma mapreduce mapper' in it", Span(unit.path, 0))
    line, place, refusals = found
    missing = "there is no '#pragma mapreduce mapper' before this loop"
    if not refusals:
        return Reason("HD202", f"{missing}; with this line there it runs on GPUs, too: {line}", place)
    first = refusals[0]
    left = f"{first.place}: {first.message} [{first.code}]"
    return Reason("HD202", f"{missing}, and with {line} this is left: {left}", place)


def _proposed(unit: Unit, options: BuildOptions) -> tuple[str, Span, tuple[Reason, ...]] | None:
    """The directive's line, the place of the loop, and what keeps that off GPUs then; None: nothing shows what it is."""
    functions = {} if unit.ast is None else {n.decl.name: n for n in unit.ast.ext if isinstance(n, c_ast.FuncDef)}
    found = next((place for function in functions.values() for place in _loops(function.body, functions)), None)
    if found is None:
        return None
    items, at = found
    place, clauses = unit.span(items[at]), list(_clauses(items[at:], functions))
    before = unit.directives
    items.insert(at, c_ast.Pragma("mapreduce 0"))
    try:
        for names in clauses:
            unit.directives = [Directive("mapper", place, tuple(_clause(place, *pair) for pair in names))]
            refusals = _analysed(unit, options)
            if refusals is not None:
                text = " ".join(f"{name}({argument})" for name, argument in names)
                return f"#pragma mapreduce mapper {text}", place, refusals
    finally:
        del items[at]
        unit.directives = before
    return None


def _clause(place: Span, name: str, argument: str) -> Clause:
    return Clause(name, place, (Argument(argument, place, argument),))


def _analysed(unit: Unit, options: BuildOptions) -> tuple[Reason, ...] | None:
    """What keeps the loop off GPUs; None: the directive does not bind."""
    sink = Sink()
    bound = bind(unit, sink, "map")
    if sink.errors or not bound:
        return None
    found = passes.run(unit, bound[0], sink, options=options.gpu.optimisations, libm=options.cc.libm)
    return None if sink.errors else library.checked(found, unit.newer, Path(unit.path)).refusals


def _loops(body: c_ast.Compound, functions: dict[str, c_ast.FuncDef]) -> Iterator[tuple[list[c_ast.Node], int]]:
    """The statements of a block that are loops over stdin, outer ones first, each as its list and place there."""
    for at, stmt in enumerate(body.block_items or []):
        if isinstance(stmt, _LOOPS) and _reads(stmt, functions):
            yield body.block_items, at
        elif isinstance(stmt, c_ast.Compound):
            yield from _loops(stmt, functions)


def _reads(node: c_ast.Node, functions: dict[str, c_ast.FuncDef]) -> bool:
    """Does it read stdin, by itself or by a function that it calls?"""
    for call in _calls(node):
        name = str(call.name.name).removesuffix("_unlocked")
        arguments = call.args.exprs if call.args else []
        if name in _OF_STDIN or (name in _READERS and any(isinstance(a, c_ast.ID) and a.name == "stdin" for a in arguments)):
            return True
        if name in functions and _reads(functions[name].body, {k: v for k, v in functions.items() if k != name}):
            return True
    return False


def _calls(node: c_ast.Node) -> Iterator[c_ast.FuncCall]:
    if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
        yield node
    for _, child in node.children():
        yield from _calls(child)


def _clauses(
    statements: Sequence[c_ast.Node], functions: dict[str, c_ast.FuncDef],
) -> Iterator[tuple[tuple[str, str], ...]]:
    """What the clauses could be, best first. statements: the loop and what is behind it."""
    for key, value in sorted((p for stmt in statements for p in _pairs(stmt, functions)), key=lambda pair: not pair[0]):
        named = [(("key", key), ("value", value))] if key and value else []
        for clauses in (*named, (("key", key or value),)):
            yield clauses
            yield (*clauses, ("keylength", _KEY_BYTES))


def _pairs(node: c_ast.Node, functions: dict[str, c_ast.FuncDef]) -> Iterator[tuple[str, str]]:
    """(key, value) variables of what is printed, "" where none is seen; not both."""
    for call in _calls(node):
        arguments = call.args.exprs if call.args else []
        names = [_variable(argument) for argument in arguments]
        name = str(call.name.name).removesuffix("_unlocked")
        if name == "printf" and arguments and isinstance(arguments[0], c_ast.Constant):
            before, _, behind = arguments[0].value.partition("\\t")
            keys = len(_CONVERSION.findall(before))
            key = names[1] if keys and len(names) > 1 else ""
            value = names[keys + 1] if _CONVERSION.search(behind) and len(names) > keys + 1 else ""
            yield from [(key, value)] if key or value else []
        elif name in _PRINTERS and names and names[0]:
            yield names[0], ""
        elif name in functions:
            yield from _passed(functions[name], names, {one: f for one, f in functions.items() if one != name})


def _passed(
    called: c_ast.FuncDef, names: list[str], others: dict[str, c_ast.FuncDef],
) -> Iterator[tuple[str, str]]:
    """What a function prints, with its parameters as the caller's variables."""
    listed = called.decl.type.args.params if called.decl.type.args else []
    given = dict(zip([getattr(one, "name", None) for one in listed], names, strict=False))
    yield from ((given.get(key) or key, given.get(value) or value) for key, value in _pairs(called.body, others))


def _variable(node: c_ast.Node) -> str:
    """The variable that an argument is of: `word` of `word`, `word + 1`, `words[i]`, `tolower(word)`; "" for none."""
    if isinstance(node, c_ast.ID):
        return str(node.name)
    if isinstance(node, c_ast.FuncCall):
        return _variable(node.args.exprs[0]) if node.args else ""
    part = _PARTS.get(type(node))
    return _variable(getattr(node, part)) if part else ""
