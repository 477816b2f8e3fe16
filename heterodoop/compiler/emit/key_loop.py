"""A key loop as C++: the struct `Fold` that runtime/hostlane/sink/fold_sink.h does a combiner's work with.

Terms are written with a parenthesis around each operator and conversions as they stand in them, so that C++ computes in the
types that C does; integers wrap (-fwrapv), divisions that trap and NaNs that are printed leave the task. Pure text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...manifest import PairReader
from ..ir import formats, ir
from ..keyloop.loop import (
    Choice,
    Convert,
    Finish,
    Kept,
    KeyLoop,
    Number,
    Operation,
    Piece,
    PrintedKey,
    PrintedTerm,
    Read,
    Term,
)
from ..types import ctype
from ..types.ctype import CType, Float, Int
from . import leaf
from .types import INDENT, declare

_SPEC = re.compile(r"%([-+ #0]*)(\d+)?(\.(\d+)?)?(?:hh|h|ll|l|j|z|t|q)?([diouxXfFeEgGaA])")
_KEY_SPEC = re.compile(r"%(-?)(\d*)(\.(\d*))?s")
_FLAGS = {"-": 1, "+": 2, " ": 4, "#": 8, "0": 16}  # format_text.cuh
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_KEYS = {"token": "token", "field": "field", "int32": "int32", "int64": "int64", "uint32": "uint32", "uint64": "uint64"}
_READ_TYPES = (ctype.INT, ctype.UINT, ctype.LONG, ctype.ULONG, ctype.LLONG, ctype.ULLONG,
               ctype.FLOAT, ctype.DOUBLE)


def problem(loop: KeyLoop, pairs: PairReader | None) -> str:
    """Why a combiner cannot be done while its pairs are printed, "" where it can."""
    if pairs is None or pairs.key not in _KEYS:
        return "how it reads a key is not known"
    odd = next((str(f.type) for f in loop.reads.fields if f.type not in _READ_TYPES), "")
    if odd:
        return f"it reads a number of type '{odd}'"
    return _finish_problem(loop.finish)


def reducer_problem(loop: KeyLoop, pairs: PairReader) -> str:
    """Why a reducer cannot be done on typed values, "" where it can."""
    if pairs.key not in _KEYS:
        return "how it reads a key is not known"
    finish: Finish | None = loop.finish
    while finish is not None:
        if any(isinstance(p, PrintedTerm) and not _SPEC.fullmatch(p.spec) for p in finish.pieces):
            return "it prints by a conversion that is not analysed"
        finish = finish.other
    return ""


def _finish_problem(finish: Finish) -> str:
    """A key's line must begin with the key, so that lines stay in the order of the keys, and be one."""
    pieces = [*finish.pieces]
    whole = b"".join(p if isinstance(p, bytes) else b"\1" for p in pieces)
    if pieces and (pieces[0] != PrintedKey() or not whole.startswith(b"\1\t") or not whole.endswith(b"\n")):
        return "what it prints of a key is not the key, a tab, something and a newline"
    if any(c in whole[:-1] for c in b"\n\r\0"):
        return "it prints more than a line of a key"
    if any(isinstance(p, PrintedTerm) and not _SPEC.fullmatch(p.spec) for p in pieces):
        return "it prints by a conversion that is not analysed"
    return _finish_problem(finish.other) if finish.other is not None else ""


def lines(loop: KeyLoop, pairs: PairReader, regroup: bool, out: str = "hd::Output") -> list[str]:
    """The struct's text. out: the type of what it prints to."""
    return ["struct Fold {", *(INDENT + line if line else "" for line in _members(loop, pairs, regroup, out)), "};"]


def reducer_lines(loop: KeyLoop, pairs: PairReader) -> list[str]:
    """The same of a reducer, with what it prints before and behind all keys."""
    *members, end = lines(loop, pairs, False, "hd::Printed")
    texts = [("head", loop.head), ("tail", loop.tail)]
    around = [f"static constexpr hd::Literal {name}() {{ return {{{{{leaf.string(data)}, {len(data)}}}}}; }}"
              for name, data in texts]
    return [*members, "", *(INDENT + line for line in around), end]


def headers(loop: KeyLoop) -> list[str]:
    """What the text includes besides the sink."""
    return ["sink/real_text.h"] if any(isinstance(f.type, Float) for f in loop.reads.fields) else []


def _members(loop: KeyLoop, pairs: PairReader, regroup: bool, out: str) -> Iterator[str]:
    fields = loop.reads.fields
    none = str(pairs.none % (1 << 64)) + "u" if pairs.none is not None else "0"
    yield f"static constexpr unsigned fields = {len(fields)};"
    yield f"static constexpr bool regroup = {_truth(regroup)};"
    yield (f"static constexpr hd::KeyRule key = {{hd::KeyRule::{_KEYS[pairs.key]}, {pairs.key_max}, "
           f"{_truth(not loop.nonempty)}, {_truth(pairs.none is not None)}, {none}}};")
    yield from ("", "struct Values {", *(f"{INDENT}{declare(f.type, f'v{i}')};" for i, f in enumerate(fields)), "};")
    yield "struct State {"
    yield from (f"{INDENT}{declare(s.type, f's{i}')};  // {s.name}" for i, s in enumerate(loop.state))
    yield "};"
    yield from ("", *_reading(loop))
    yield from ("", *_step("first", loop.first, loop))
    yield from ("", *_step("same", loop.same, loop))
    yield from ("", *_finish(loop.finish, out))


def _reading(loop: KeyLoop) -> Iterator[str]:
    """A value's numbers and what stands behind each, from pieces and from a text."""
    numbers = range(len(loop.reads.fields))
    behind = [*loop.reads.between, b"\n"] if numbers else [b""]
    texts = ", ".join(f"{{{{{leaf.string(data)}, {len(data)}}}}}" for data in behind)
    yield "static constexpr hd::Literal behind(unsigned i) {"
    yield f"{INDENT}constexpr hd::Literal texts[] = {{{texts}}};"
    yield f"{INDENT}return texts[i];"
    yield "}"
    taken = " && ".join(f"hd::take(v.v{i}, numbers[{i}])" for i in numbers)
    yield from ("static bool take(Values &v, const hd::Decimal *numbers) {", f"{INDENT}return {taken or 'true'};", "}")
    read = []
    for i in numbers:
        read += [f"text.number(v.v{i})"]
        read += [f"text.is({leaf.string(behind[i])}, {len(behind[i])})"] if i + 1 < len(behind) else ["text.at_end()"]
    yield from ("static bool read(Values &v, hd::ValueText &text) {", f"{INDENT}return {' && '.join(read) or 'true'};", "}")


def _step(name: str, terms: Sequence[Term], loop: KeyLoop) -> Iterator[str]:
    """All of the state at once: each term sees what was kept before."""
    yield f"static void {name}(State &s, const Values &v) {{"
    for i, (state, made) in enumerate(zip(loop.state, terms, strict=True)):
        yield f"{INDENT}const {declare(state.type, f'made{i}')} = {term(made)};"
    yield from (f"{INDENT}s.s{i} = made{i};" for i in range(len(loop.state)))
    yield "}"


def _finish(finish: Finish, out: str) -> Iterator[str]:
    yield f"static bool finish(const State &s, const hd::Text &text, {out} &out) {{"
    yield from (INDENT + line for line in _printed(finish))
    yield "}"


def _printed(finish: Finish | None) -> Iterator[str]:
    if finish is None:
        yield "return false;"
        return
    puts = [*(f"out.put({piece(p)});" for p in finish.pieces), f"return {_truth(bool(finish.pieces))};"]
    if finish.condition is None:
        yield from puts
        return
    yield f"if ({term(finish.condition)} != 0) {{"
    yield from (INDENT + line for line in puts)
    yield "}"
    yield from _printed(finish.other)


def piece(made: Piece) -> str:
    """A piece of a line (format.cuh)."""
    if isinstance(made, bytes):
        return f"hd::text({leaf.string(made)}, {len(made)})"
    if isinstance(made, PrintedKey):
        return "text" if made.spec == "%s" else _padded(made.spec)
    match = _SPEC.fullmatch(made.spec)
    assert match is not None  # `problem`
    letter = match[5]
    wanted = formats.argument_type(formats.conversion(made.spec))
    assert wanted is not None
    value = term(Convert(made.term, wanted) if made.term.type != wanted else made.term)
    if letter in "diu" and not (match[1] or match[2] or match[3]):
        return f"hd::dec({value})"
    precision = -1 if match[3] is None else int(match[4] or 0)
    flags = sum(_FLAGS[flag] for flag in set(match[1]))
    spec = f"hd::spec({flags}, {int(match[2] or 0)}, {precision}, '{'d' if letter == 'i' else letter}')"
    if letter in "fFeEgGaA":
        return f"hd::real({spec}, hd::checked(hd::leaving, {value}, 0))"
    return f"hd::{'integer' if letter in 'di' else 'natural'}({spec}, {value})"


def _padded(spec: str) -> str:
    """The key, which holds no NUL, by a conversion with a width or a precision."""
    match = _KEY_SPEC.fullmatch(spec)
    assert match is not None  # `finish._PADDED`
    most = "text.n" if match[3] is None else f"(text.n < {int(match[4] or 0)}u ? text.n : {int(match[4] or 0)}u)"
    return f"hd::padded(hd::spec({_FLAGS['-'] if match[1] else 0}, {int(match[2] or 0)}, -1, 's'), text.from, {most}, 0)"


def term(made: Term) -> str:
    """An expression of C++ that has the term's value and type, tight enough for any operator."""
    match made:
        case Kept():
            return f"s.s{made.number}"
        case Read():
            return f"v.v{made.number}"
        case Number():
            return f"({leaf.const(ir.Const(made.type, made.value))[0]})"
        case Convert():
            return f"hd::stored<{declare(made.type)}>({term(made.operand)})"
        case Choice():
            return f"({term(made.condition)} != 0 ? {term(made.then)} : {term(made.other)})"
        case Operation():
            return _operation(made)


def _operation(made: Operation) -> str:
    texts = [term(operand) for operand in made.operands]
    if len(texts) == 1:
        return f"hd::stored<{declare(made.type)}>({made.op}{texts[0]})"
    left, right = texts
    if made.op in _COMPARISONS:
        return f"static_cast<int>({left} {made.op} {right})"
    if made.op in ("<<", ">>"):
        return f"hd::{'shl' if made.op == '<<' else 'shr'}({left}, {right})"
    if made.op in ("/", "%") and _is_integer(made.type):
        return f"hd::{'divide' if made.op == '/' else 'remainder'}(hd::leaving, {left}, {right}, 0)"
    return f"({left} {made.op} {right})"


def _is_integer(kind: CType) -> bool:
    return isinstance(kind, Int) and not isinstance(kind, Float)


def _truth(value: bool) -> str:
    return "true" if value else "false"
