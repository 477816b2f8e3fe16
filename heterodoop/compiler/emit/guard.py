"""The text that keeps guards (`guards`): marks behind writes, checks before reads that are not proven.

An access to a variable that stands by its name goes to its guard by a constant offset; all others ask, by address, each
guard of the objects that they may touch. Non-goals: which reads these are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..analysis.flow_findings import KEPT, TEXT
from ..analysis.libc_effects import EFFECTS, writes
from ..analysis.points_to import RECORD
from ..decide.guards import Guard, leaves
from ..ir import formats, ir
from ..ir import walk as ir_walk
from ..normalise import stdio
from ..types import ctype
from .scope import Environment, Scope
from .types import declare

HEADER = "guard.cuh"
# Arguments of which a function reads no more than so many bytes, though they are strings.
_UP_TO = {
    "strnlen": {0: 1}, "strncmp": {0: 2, 1: 2}, "strncasecmp": {0: 2, 1: 2}, "strncpy": {1: 2}, "stpncpy": {1: 2},
    "strncat": {1: 2},
}
_TOKENS = frozenset({"strtok", "strtok_r", "__strtok_r", "strsep"})


def is_used(env: Environment) -> bool:
    calls = ((name, node) for name, body in env.bodies for node in ir_walk.walk(body) if isinstance(node, ir.Call))
    return bool(env.guards.by_key or env.guards.sites) or any(_writes_line(env, name, node) for name, node in calls)


def _writes_line(env: Environment, function: str, node: ir.Call) -> bool:
    """Does a call of the library write where the line may lie? Then it is checked that it does not write behind it."""
    name = ir.called(node)
    effect = EFFECTS.get(name)
    written = {access.arg for access in effect.writes} if effect else set(range(len(node.args)))
    pointers = (a for n, a in enumerate(node.args) if n in written and isinstance(a.type, ctype.Pointer))
    return writes(name) and any(RECORD in env.points_to.targets(function, a) for a in pointers)


# ------------------------------------------------------------------------------------------ the kernel's own


def fields(env: Environment) -> list[str]:
    """Members of the kernel's `Guards`."""
    sizes = ((g, f"{g.nbytes}, {g.limit}" if g.limit != g.nbytes else f"{g.nbytes}") for g in env.guards.by_key.values())
    return [f"hd::Guard<{size}> {guard.name};" for guard, size in sizes]


def before_items(env: Environment) -> list[str]:
    """The bits of what is written apart, once for a thread."""
    at, lines = 0, []
    for guard in env.guards.by_key.values():
        if guard.words:
            lines.append(f"hd.guards.{guard.name}.words = hd_written + {at};")
            at += guard.words
    return [f"uint32_t hd_written[{at}];", *lines] if lines else []


def begin(guard: Guard, text: str) -> str:
    """Nothing of it is written. `text`: the object, "" where it does not exist yet."""
    return f"hd.guards.{guard.name}.begin({f'&{text}' if guard.based and text else ''});"


def declared(stmt: ir.Decl, scope: Scope, text: str) -> list[str]:
    """What follows a local's declaration: nothing where it has no guard."""
    guard = scope.env.guards.by_key.get(scope.env.key(scope.function.name, stmt.name))
    if guard is None:
        return []
    return [begin(guard, text), *([f"hd.guards.{guard.name}.add(0, {guard.nbytes});"] if stmt.init is not None else [])]


def jumped_over(switch: ir.Switch, scope: Scope) -> list[str]:
    """Before a switch: its labels may jump over declarations, after which nothing of the variables is written."""
    keys = [scope.env.key(scope.function.name, n.name) for n in ir_walk.walk(switch.body) if isinstance(n, ir.Decl)]
    return [begin(scope.env.guards.by_key[key], "") for key in keys if key in scope.env.guards.by_key]


# ------------------------------------------------------------------------------------------ variables and lvalues


def checked(node: ir.Expr, text: str, scope: Scope) -> str:
    """An lvalue that is read, with its check where it needs one."""
    keys = scope.env.guards.of(node)
    if not keys:
        return ""
    place = node.target if isinstance(node, (ir.Assign, ir.Step)) else node
    strict = scope.env.guards.only(node)
    if keys == {RECORD} and strict == "true":
        return f"hd::in_line(hd, {text}, {_line(node)})"
    layouts = scope.env.program.layouts
    members = leaves(place.type, layouts) if isinstance(place.type, ctype.Struct) else ()
    parts = ", ".join(f"{at}, {size}" for at, size in members)
    named = _named(place, scope)
    if named is not None:
        guard, at = named
        more = f"_parts<{at}, {parts}>" if parts else f"<{at}>"
        return f"hd::named{more}(hd, hd.guards.{guard.name}, {text}, {_line(node)})"
    more = f"_parts<{strict}, {parts}>" if parts else f"<{strict}>"
    return f"hd::guarded{more}(hd, {text}, {_line(node)}, {guards(keys, scope.env)})"


def written(node: ir.Assign | ir.Step, text: str, scope: Scope) -> str:
    """The lvalue that an assignment or step changes: a step reads it before."""
    text = checked(node, text, scope) or text
    if isinstance(node, ir.Step) or node.op != "=":
        return text
    named = _named(node.target, scope)
    if named is not None:
        return f"hd::set<{named[1]}>(hd.guards.{named[0].name}, {text})"
    keys = _targets(scope.env.points_to.objects(scope.function.name, node.target), scope.env)
    return f"hd::wrote({text}, {guards(keys, scope.env)})" if keys else text


def _named(node: ir.Expr, scope: Scope) -> tuple[Guard, int] | None:
    """The guard and the offset of a variable, member or constant element that stands by its name."""
    layouts, at = scope.env.program.layouts, 0
    while not isinstance(node, ir.Name):
        if isinstance(node, ir.Member) and isinstance(node.base.type, ctype.Struct):
            layout = layouts.table.get(node.base.type.tag)
            field = layout.field(node.field) if layout is not None else None
            if field is None:
                return None
            at, node = at + field.offset, node.base
        elif isinstance(node, ir.Index) and isinstance(node.base, ir.Decay) and isinstance(node.index, ir.Const):
            at, node = at + int(node.index.value) * (layouts.size(node.type) or 0), node.base.operand
        elif isinstance(node, ir.Deref) and isinstance(node.pointer, ir.Decay):
            node = node.pointer.operand
        else:
            return None
    guard = scope.env.guards.by_key.get(scope.env.key(scope.function.name, node.name))
    return (guard, at) if guard is not None and 0 <= at < guard.nbytes else None


def _line(node: ir.Node) -> int:
    return max(node.span.line, 0)


def guards(keys: frozenset[str] | set[str], env: Environment) -> str:
    """Arguments for the guards of these objects; the line is its own."""
    return ", ".join("hd.in" if key == RECORD else f"hd.guards.{env.guards.by_key[key].name}" for key in sorted(keys))


def _targets(objects: set[str], env: Environment) -> set[str]:
    return {key for key in objects if key in env.guards.by_key}


# ------------------------------------------------------------------------------------------ library calls


@dataclass(frozen=True)
class Call:
    """What a call of the library needs around it, its arguments being hd_0, hd_1 ...: `wrap` has checks that an argument
    can be put into ({} is its text); `before` and `after` are statements."""

    wrap: dict[int, str]
    before: tuple[str, ...]
    after: tuple[str, ...]


def library_call(node: ir.Call, scope: Scope) -> Call:
    name = ir.called(node)
    wrap = dict(_text_checks(node, name, scope))
    before, after = [*_other_checks(node, name, scope), *_line_room(node, name, scope)], list(_marks(node, name, scope))
    return Call(wrap, tuple(before), tuple(after))


def lambda_text(kinds: list[ctype.CType], texts: list[str], plan: Call, called: str, result: ctype.CType) -> str:
    """The call with its arguments as temporaries. `called`: its text up to the arguments."""
    first = [f"{declare(kind, f'hd_{n}')} = {text};" for n, (kind, text) in enumerate(zip(kinds, texts, strict=True))]
    checks = [f"(void){check.format(f'hd_{n}')};" for n, check in plan.wrap.items()]
    call = f"{called}{', '.join(f'hd_{n}' for n in range(len(texts)))})"
    kept, back = ("", "") if result == ctype.VOID else (f"{declare(result, 'hd_r')} = ", " return hd_r;")
    return f"[&] {{ {' '.join([*first, *plan.before, *checks, f'{kept}{call};', *plan.after])}{back} }}()"


def _text_checks(node: ir.Call, name: str, scope: Scope) -> Iterator[tuple[int, str]]:
    effect = EFFECTS.get(name)
    arguments = [a.arg for a in effect.reads if a.how == "string"] if effect else [0] if name == "sscanf" else []
    arguments += [1] if name in _TOKENS else []
    for number in arguments:
        keys = scope.env.guards.of(node, number)
        if keys and number not in _UP_TO.get(name, {}):
            yield number, _text_check(node, number, keys, "{}", scope)


def _text_check(
    node: ir.Call, number: int, keys: frozenset[str], text: str, scope: Scope, most: str = "hd::whole_text",
) -> str:
    strict = scope.env.guards.only(node, number)
    return f"hd::guarded_text<{strict}>(hd, {text}, {most}, {_line(node)}, {guards(keys, scope.env)})"


def _other_checks(node: ir.Call, name: str, scope: Scope) -> Iterator[str]:
    """Checks of what other arguments say how much of is read."""
    if name in _TOKENS:
        yield from _token_checks(node, name, scope)
        return
    for number, size in _UP_TO.get(name, {}).items():
        if keys := scope.env.guards.of(node, number):
            yield f"(void){_text_check(node, number, keys, f'hd_{number}', scope, f'hd_{size}')};"
    effect = EFFECTS.get(name)
    for access in effect.reads if effect else ():
        keys = scope.env.guards.of(node, access.arg)
        if not keys or access.how == "string" or access.arg in _UP_TO.get(name, {}):
            continue
        strict = scope.env.guards.only(node, access.arg)
        rest = f"{_line(node)}, {guards(keys, scope.env)});"
        if name in ("memchr", "rawmemchr"):
            most = "hd_2" if name == "memchr" else "hd::whole_text"
            yield f"hd::check_search<{strict}>(hd, hd_0, hd_1, {most}, {rest}"
        else:
            yield f"hd::check_bytes<{strict}>(hd, hd_{access.arg}, {_product(access.size)}, {rest}"


def _token_checks(node: ir.Call, name: str, scope: Scope) -> Iterator[str]:
    """strtok and its like: the place that is kept, and the string there, all of it."""
    kept = {"strtok": "hd.token", "strsep": "*hd_0"}.get(name, "*hd_2")
    line, env = _line(node), scope.env
    if keys := env.guards.of(node, KEPT):
        strict = env.guards.only(node, KEPT)
        check = f"hd::check_bytes<{strict}>(hd, &{kept}, sizeof(char *), {line}, {guards(keys, env)});"
        yield check if name == "strsep" else f"if (!hd_0) {check}"
    if keys := env.guards.of(node, 0):
        strict = env.guards.only(node, 0)
        text = kept if name == "strsep" else f"hd_0 ? hd_0 : {kept}"
        yield f"(void)hd::guarded_text<{strict}>(hd, {text}, hd::whole_text, {line}, {guards(keys, env)});"


def _line_room(node: ir.Call, name: str, scope: Scope) -> Iterator[str]:
    """What is written into the line must lie in it: `support` lets functions pass that move parts of it."""
    effect = EFFECTS.get(name)
    for access in effect.writes if effect else ():
        objects = scope.env.points_to.targets(scope.function.name, node.args[access.arg])
        if RECORD in objects and access.how in ("string", "bytes"):
            size = _product(access.size) if access.how == "bytes" else "hd::strlen(hd_1) + 1"
            strict = "true" if objects == {RECORD} else "false"
            yield f"hd::check_bytes<{strict}>(hd, hd_{access.arg}, {size}, {_line(node)}, hd.in);"


def _marks(node: ir.Call, name: str, scope: Scope) -> Iterator[str]:
    effect = EFFECTS.get(name)
    for access in effect.writes if effect else ():
        if found := target_guards(node.args[access.arg], scope):
            at = f"hd_{access.arg}"
            if access.how == "string":
                yield f"hd::wrote_text({at}, {found});"
            else:
                size = _product(access.size) if access.how == "bytes" else f"sizeof *{at}"
                yield f"hd::wrote_bytes({at}, {size}, {found});"
    if name in ("strtok_r", "__strtok_r") and (found := target_guards(node.args[2], scope)):
        yield f"hd::wrote_bytes(hd_2, sizeof *hd_2, {found});"
    if name == "sscanf":
        yield from scan_marks(stdio.literal(node.args[1]) or b"", node.args[2:], 2, scope)


def scan_marks(text: bytes, targets: tuple[ir.Expr, ...], first: int, scope: Scope) -> Iterator[str]:
    """What scanf, whose result is hd_r, stored through its targets hd_FIRST ...: those that its count reaches, and %n right
    behind one."""
    stored, number = 0, first
    certain = True  # that a %n here was reached when the count is `stored`
    for item in formats.split_scanf(text) or []:
        if not item.stores:
            certain = certain and item.letter == " "
            continue
        at, target = f"hd_{number}", targets[number - first]
        number += 1
        stored += item.letter != "n"
        if found := target_guards(target, scope):
            reached = f"hd_r >= {stored if certain or item.letter != 'n' else stored + 1}"
            mark = f"hd::wrote_text({at}, {found})" if item.letter in "s[" else (
                f"hd::wrote_bytes({at}, {item.width or 1 if item.letter == 'c' else f'sizeof *{at}'}, {found})")
            yield f"if ({reached}) {mark};"
        certain = certain if item.letter == "n" else True


def target_guards(pointer: ir.Expr, scope: Scope) -> str:
    """The guards of what a pointer may lead to, "" for none."""
    return guards(_targets(scope.env.points_to.targets(scope.function.name, pointer), scope.env), scope.env)


def _product(size: tuple[int, ...]) -> str:
    return " * ".join(f"(uint64_t)hd_{n}" for n in size)


# ------------------------------------------------------------------------------------------ output and readers


def piece_guards(pointer: ir.Expr, scope: Scope) -> tuple[str, str]:
    """(strict, guards) of the text that an output piece's pointer leads to; both "" where it needs no check."""
    keys = scope.env.guards.of(pointer, TEXT)
    if not keys:
        return "", ""
    return scope.env.guards.only(pointer, TEXT), guards(keys, scope.env)


def filled(node: ir.ReadRecord, text: str, scope: Scope) -> str:
    """fgets, and what it wrote."""
    found = target_guards(node.target, scope) if node.kind == "fgets" else ""
    return f"hd::filled(hd, {text}, {found})" if found else text
