"""The text that keeps guards: marks behind writes, checks before reads that are not proven (decision 0017).

Arguments of a library call that needs more than a check around one of them are temporaries, hd_0, hd_1 ..., its result hd_r.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..analysis.objects import Object
from ..decide.guards import Guard
from ..device import checks, nodes
from ..device.program import Begin
from ..ir import ir
from ..types import ctype
from . import extent
from .scope import KernelStyle, Scope, line
from .types import declare

HEADER = "lane/guard.cuh"

# ------------------------------------------------------------------------------------------ the kernel's own


def fields(kernel: KernelStyle) -> list[str]:
    """Members of the kernel's `Guards`."""
    found = kernel.program.guards.by_key.values()
    sizes = ((g, f"{g.nbytes}, {g.limit}" if g.limit != g.nbytes else f"{g.nbytes}") for g in found)
    return [f"hd::Guard<{size}> {guard.name};" for guard, size in sizes]


def before_items(kernel: KernelStyle) -> list[str]:
    """The bits of what is written apart, once for a thread."""
    at, lines = 0, []
    for guard in kernel.program.guards.by_key.values():
        if guard.words:
            lines.append(f"hd.guards.{guard.name}.words = hd_written + {at};")
            at += guard.words
    return [f"uint32_t hd_written[{at}];", *lines] if lines else []


def begin(stmt: Begin, scope: Scope) -> str:
    assert stmt.object is None or isinstance(stmt.object, (nodes.Var, nodes.Memory))
    return _begin(_guard(stmt.guard, scope), scope.variable(stmt.object) if stmt.object is not None else "")


def declared(key: Object | None, name: str, scope: Scope, *, filled: bool) -> list[str]:
    """What follows a local's declaration: nothing where it has no guard. filled: it was initialised."""
    if key is None:
        return []
    guard = _guard(key, scope)
    return [_begin(guard, name), *([f"hd.guards.{guard.name}.add(0, {guard.nbytes});"] if filled else [])]


def _guard(key: Object, scope: Scope) -> Guard:
    return scope.kernel.program.guards.by_key[key]


def _begin(guard: Guard, text: str) -> str:
    """Nothing of it is written. `text`: the object, "" where it does not exist yet."""
    return f"hd.guards.{guard.name}.begin({f'&{text}' if guard.based and text else ''});"


# ------------------------------------------------------------------------------------------ variables and lvalues


def _in_line(node: nodes.InLine, scope: Scope) -> str:
    return f"hd::in_line{'' if node.strict else '_or_own'}(hd, {scope.value(node.operand)}, {line(node)})"


def _named(node: nodes.Named, scope: Scope) -> str:
    arguments = f"hd, {scope.kernel.guard(node.guard)}, {scope.value(node.operand)}, {line(node)}"
    return f"hd::named{_by_parts(str(node.at), node.parts)}({arguments})"


def _guarded(node: nodes.Guarded, scope: Scope) -> str:
    how = _by_parts(strict(node.asked.strict), node.parts)
    return f"hd::guarded{how}(hd, {scope.value(node.operand)}, {line(node)}, {guards(node.asked.keys, scope)})"


def _by_parts(first: str, parts: checks.Parts) -> str:
    """The template's arguments; a struct's members are looked at one by one."""
    more = "".join(f", {at}, {size}" for at, size in parts)
    return f"{'_parts' if parts else ''}<{first}{more}>"


def _named_write(node: nodes.NamedWrite, scope: Scope) -> str:
    return f"hd::set<{node.at}>({scope.kernel.guard(node.guard)}, {scope.value(node.operand)})"


def _guarded_write(node: nodes.GuardedWrite, scope: Scope) -> str:
    return f"hd::wrote({scope.value(node.operand)}, {guards(node.keys, scope)})"


def strict(only: bool) -> str:
    """The template argument Strict of a check: does it touch nothing else?"""
    return "true" if only else "false"


def guards(keys: Sequence[Object], scope: Scope) -> str:
    """Arguments for the guards of these objects."""
    return ", ".join(dict.fromkeys(map(scope.kernel.guard, keys)))


TEXTS: dict[type, Callable[[Any, Scope], str]] = {
    nodes.InLine: _in_line, nodes.Named: _named, nodes.Guarded: _guarded, nodes.NamedWrite: _named_write,
    nodes.GuardedWrite: _guarded_write,
}

# ------------------------------------------------------------------------------------------ library calls


def library_call(node: nodes.Library, called: str, texts: list[str], scope: Scope) -> str:
    """A call with its arguments' texts, and what its guards need: checks around arguments, or statements around the call.
    called: its text up to the arguments."""
    wraps = [c for c in node.checks if isinstance(c, checks.TextCheck) and c.wraps]
    others = [c for c in node.checks if not (isinstance(c, checks.TextCheck) and c.wraps)]
    more = guards(node.given, scope)
    if not others and not node.marks:
        for wrap in wraps:
            texts[wrap.arg] = _text_check(wrap, texts[wrap.arg], node, scope)
        return f"{called}{', '.join([*roomy(texts, node.rooms, scope), *([more] if more else [])])})"
    rooms = [c for c in others if isinstance(c, checks.FitsCheck)]  # look at strings that must have been looked at
    before = [_CHECKS[type(check)](check, node, scope) for check in [*(c for c in others if c not in rooms), *wraps, *rooms]]
    after = [mark(m, scope) for m in node.marks]
    return lambda_text(node.params, texts, called, node.type, before, after,
                       lambda names: [*roomy(names, node.rooms, scope), *([more] if more else [])])


def roomy(texts: Sequence[str], rooms: Sequence[tuple[int, checks.Room]], scope: Scope) -> list[str]:
    """Arguments, those that are targets with a room as such."""
    known = dict(rooms)
    return [extent.roomy(known[n], text, scope) if n in known else text for n, text in enumerate(texts)]


def lambda_text(
    kinds: Sequence[ctype.CType], texts: list[str], called: str, result: ctype.CType, before: list[str], after: list[str],
    given: Callable[[list[str]], list[str]] = list,
) -> str:
    """The call with its arguments as temporaries. given: how it is given those."""
    first = [f"{declare(kind, f'hd_{n}')} = {text};" for n, (kind, text) in enumerate(zip(kinds, texts, strict=True))]
    call = f"{called}{', '.join(given([f'hd_{n}' for n in range(len(texts))]))})"
    kept, back = ("", "") if result == ctype.VOID else (f"{declare(result, 'hd_r')} = ", " return hd_r;")
    return f"[&] {{ {' '.join([*first, *before, f'{kept}{call};', *after])}{back} }}()"


def text_checked(asked: checks.Asked, text: str, most: str, where: ir.Node, scope: Scope) -> str:
    """A string's address, looked at up to `most` bytes."""
    return f"hd::guarded_text<{strict(asked.strict)}>(hd, {text}, {most}, {line(where)}, {guards(asked.keys, scope)})"


def bytes_checked(asked: checks.Asked, at: str, size: str, where: ir.Node, scope: Scope) -> str:
    return f"hd::check_bytes<{strict(asked.strict)}>(hd, {at}, {size}, {line(where)}, {guards(asked.keys, scope)});"


def _text_check(check: checks.TextCheck, text: str, node: ir.Node, scope: Scope) -> str:
    most = "hd::whole_text" if check.most is None else f"hd_{check.most}"
    return text_checked(check.asked, text, most, node, scope)


def _text(check: checks.TextCheck, node: nodes.Library, scope: Scope) -> str:
    return f"(void){_text_check(check, f'hd_{check.arg}', node, scope)};"


def _bytes(check: checks.BytesCheck, node: nodes.Library, scope: Scope) -> str:
    return bytes_checked(check.asked, f"hd_{check.arg}", _product(check.size), node, scope)


def _search(check: checks.SearchCheck, node: nodes.Library, scope: Scope) -> str:
    most = "hd::whole_text" if check.most is None else f"hd_{check.most}"
    rest = f"{line(node)}, {guards(check.asked.keys, scope)}"
    return f"hd::check_search<{strict(check.asked.strict)}>(hd, hd_0, hd_1, {most}, {rest});"


def _kept(node: nodes.Library) -> str:
    """Where strtok and its like go on."""
    return {"strtok": "hd.token", "strsep": "*hd_0"}.get(node.name, "*hd_2")


def _kept_check(check: checks.KeptCheck, node: nodes.Library, scope: Scope) -> str:
    text = bytes_checked(check.asked, f"&{_kept(node)}", "sizeof(char *)", node, scope)
    return text if node.name == "strsep" else f"if (!hd_0) {text}"


def _kept_text(check: checks.KeptTextCheck, node: nodes.Library, scope: Scope) -> str:
    text = _kept(node) if node.name == "strsep" else f"hd_0 ? hd_0 : {_kept(node)}"
    return f"(void){text_checked(check.asked, text, 'hd::whole_text', node, scope)};"


def _room(check: checks.RoomCheck, node: nodes.Library, scope: Scope) -> str:
    size = _product(check.size) if check.size is not None else "hd::strlen(hd_1) + 1"
    return f"hd::check_bytes<{strict(check.strict)}>(hd, hd_{check.arg}, {size}, {line(node)}, hd.in);"


_CHECKS: dict[type, Callable[[Any, nodes.Library, Scope], str]] = {
    checks.FitsCheck: extent.fits,
    checks.TextCheck: _text, checks.BytesCheck: _bytes, checks.SearchCheck: _search, checks.KeptCheck: _kept_check,
    checks.KeptTextCheck: _kept_text, checks.RoomCheck: _room,
}


def mark(found: checks.Mark, scope: Scope) -> str:
    """What a call, whose result is hd_r, has written."""
    at, keys = f"hd_{found.arg}", guards(found.keys, scope)
    if isinstance(found, checks.TextMark):
        text = f"hd::wrote_text({at}, {keys});"
    else:
        size = _product(found.size) if isinstance(found.size, tuple) else str(found.size or f"sizeof *{at}")
        text = f"hd::wrote_bytes({at}, {size}, {keys});"
    return text if found.reached is None else f"if (hd_r >= {found.reached}) {text}"


def _product(size: tuple[int, ...]) -> str:
    return " * ".join(f"(uint64_t)hd_{n}" for n in size)
