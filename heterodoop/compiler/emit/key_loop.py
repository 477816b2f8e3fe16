"""A key loop as C++: the struct `Fold` that does a combiner's work, pair by pair: a host kernel's (`lines`, for
runtime/hostlane/sink/fold_sink.h) or a device's combine kernel's (`device_lines`, for runtime/device/sink/ordered.cuh).

Terms are written with a parenthesis around each operator and conversions as they stand in them, so that C++ computes in the
types that C does; integers wrap, divisions that trap and NaNs that are printed leave the task. Pure text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...manifest import PairReader
from ...values import dataclass
from ..ir import formats, ir
from ..keyloop.algebra import is_joined, is_numbers, is_text, parts
from ..keyloop.finish import flat, terms_of
from ..keyloop.loop import (
    TEXT,
    Byte,
    Choice,
    Convert,
    Element,
    Joined,
    KeptValue,
    KeyLoop,
    KeyOutput,
    Length,
    LiteralText,
    Number,
    Operation,
    Order,
    PairField,
    Piece,
    PrintedIf,
    PrintedKey,
    PrintedTerm,
    Size,
    Stored,
    Term,
    TextPrefix,
    ValueField,
    ValueText,
    Zeros,
)
from ..types import ctype
from ..types.ctype import Array, CType, Float, Int
from . import leaf
from .types import INDENT, declare

_SPEC = re.compile(r"%([-+ #0]*)(\d+)?(\.(\d+)?)?(?:hh|h|ll|l|j|z|t|q)?([diouxXfFeEgGaA])")
_KEY_SPEC = re.compile(r"%(-?)(\d*)(\.(\d*))?s")
_REAL = "fFeEgGaA"
_FLAGS = {"-": 1, "+": 2, " ": 4, "#": 8, "0": 16}  # format_text.cuh
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_WRAPPING = {"+": "add", "-": "sub", "*": "mul"}  # wrap.cuh
_CALLS: dict[str, dict[CType, str]] = {  # arith.cuh, math.cuh
    "abs": {ctype.INT: "abs", ctype.LONG: "labs", ctype.LLONG: "llabs"},
    "fabs": {ctype.DOUBLE: "fabs", ctype.FLOAT: "fabsf"}, "sqrt": {ctype.DOUBLE: "sqrt", ctype.FLOAT: "sqrtf"},
}
_KEYS = {"token": "token", "field": "field", "int32": "int32", "int64": "int64", "uint32": "uint32", "uint64": "uint64"}
MOST_WORDS = 64  # of eight bytes, kept of a key
_MOST_TEXT = 1 << 16  # bytes of an array whose text is kept
_MOST_DEVICE_TEXTS = 1 << 12  # of all of them, each key's on a device
_MOST_ASIDE = 1 << 9  # of texts that are changed while others are made of them, in a device's thread
_COLUMN_TEXT = (1 << 24) - 1  # bytes of a text in a column (ordered_texts.cuh)
_READ_TYPES = (ctype.INT, ctype.UINT, ctype.LONG, ctype.ULONG, ctype.LLONG, ctype.ULLONG,
               ctype.FLOAT, ctype.DOUBLE)


def problem(loop: KeyLoop, pairs: PairReader | None) -> str:
    """Why a combiner cannot be done while its pairs are printed, "" where it can."""
    if pairs is None or pairs.key not in _KEYS:
        return "how it reads a key is not known"
    return _reading_problem(loop) or _finish_problem(loop.finish)


def reducer_problem(loop: KeyLoop, pairs: PairReader) -> str:
    """Why a reducer cannot be done on typed values, "" where it can."""
    if pairs.key not in _KEYS:
        return "how it reads a key is not known"
    problem = _reading_problem(loop)
    if problem:
        return problem
    finish: KeyOutput | None = loop.finish
    while finish is not None:
        if not all(map(_is_printed, flat(finish.pieces))):
            return "it prints by a conversion that is not analysed"
        finish = finish.other
    return ""


def device_problem(loop: KeyLoop) -> str:
    """Why a device cannot do what host kernels can, "" where it can."""
    if text_bytes(loop) > _MOST_DEVICE_TEXTS:
        return f"it keeps texts of more than {_MOST_DEVICE_TEXTS} bytes of a key"
    aside = (sum(_length(loop.state[i].type) for i in _set_aside(terms, loop)) for terms in (loop.first, loop.same))
    if max(aside) > _MOST_ASIDE:
        return f"texts of more than {_MOST_ASIDE} bytes change places"
    return ""


def _reading_problem(loop: KeyLoop) -> str:
    odd = next((str(f.type) for f in loop.reads.fields if isinstance(f, ValueField) and f.type not in _READ_TYPES), "")
    if odd:
        return f"it reads a number of type '{odd}'"
    if any(not _is_printed(piece) for made in (*loop.first, *loop.same) for part in parts(made)
           for piece in _printing(part)):
        return "it puts a text together by a conversion that is not analysed"
    for terms in (loop.first, loop.same):
        if any(is_joined(made) and (_may_leave(made) or not all(_is_own(part, i) for part in parts(made)))
               for i, made in enumerate(terms)):
            return "it puts a text together from others that it keeps"
    large = next((s.name for s in loop.state if is_text(s.type) and (_length(s.type)) > _MOST_TEXT), "")
    if large:
        return f"a text that it keeps, '{large}', is of more than {_MOST_TEXT} bytes"
    return f"it keeps more than {8 * MOST_WORDS} bytes of a key" if words(loop) > MOST_WORDS else ""


def _is_own(part: Term, number: int) -> bool:
    """Is it no text that is kept, but that of one number?"""
    return not (isinstance(part, KeptValue) and part.type == TEXT) or part.number == number


def _printing(part: Term) -> tuple[Piece, ...]:
    """What a term has printed."""
    if isinstance(part, Size):
        return (PrintedTerm(part.spec, part.operand),)
    return part.pieces if isinstance(part, Joined) else ()


def _prints_real(made: Term) -> bool:
    """Does it print floating numbers, of which a NaN, whose sign is not known, ends the task?"""
    pieces = (piece for part in parts(made) for piece in _printing(part) if isinstance(piece, PrintedTerm))
    return any(piece.spec[-1] in _REAL for piece in pieces)


def _length(kind: CType) -> int:
    return (kind.length or 0) if isinstance(kind, Array) else 0


def words(loop: KeyLoop) -> int:
    """Of eight bytes, what is kept of a key: at least one for each variable."""
    return sum(_words(state.type) for state in loop.state)


def _words(kind: CType) -> int:
    if isinstance(kind, Array) and isinstance(kind.of, (Int, Float)) and is_numbers(kind):
        return (_length(kind) * kind.of.bits + 63) // 64
    return 2 if is_text(kind) else 1


def text_bytes(loop: KeyLoop) -> int:
    """Of a key's texts where each has the room of its array: whole words."""
    return sum(_room(state.type) for state in loop.state)


def _room(kind: CType) -> int:
    return (_length(kind) + 7) // 8 * 8 if is_text(kind) else 0


def columns(loop: KeyLoop) -> tuple[int, ...]:
    """The fields of a value that have a column on a device: all but texts that nothing is made of."""
    terms = (*loop.first, *loop.same, *loop.outside)
    read = {part.number for made in terms for part in parts(made) if isinstance(part, PairField)}
    return tuple(i for i, field in enumerate(loop.reads.fields) if isinstance(field, ValueField) or i in read)


def texts(loop: KeyLoop) -> bool:
    """Does it read texts of values, or keep texts?"""
    read = any(isinstance(field, ValueText) for field in loop.reads.fields)
    return read or any(is_text(state.type) for state in loop.state)


def _joins(loop: KeyLoop) -> bool:
    """Does it put texts together?"""
    return any(map(is_joined, (*loop.first, *loop.same)))


def _is_printed(piece: Piece) -> bool:
    if not isinstance(piece, PrintedTerm):
        return True
    return bool((_KEY_SPEC if piece.term.type == TEXT else _SPEC).fullmatch(piece.spec))


def _finish_problem(finish: KeyOutput) -> str:
    """A key's line must begin with the key, so that lines stay in the order of the keys, and be one."""
    pieces = [*finish.pieces]
    whole = b"".join(p if isinstance(p, bytes) else b"\1" for p in pieces)
    inside = b"".join(p for p in flat(pieces) if isinstance(p, bytes))
    if pieces and (pieces[0] != PrintedKey() or not whole.startswith(b"\1\t") or not whole.endswith(b"\n")):
        return "what it prints of a key is not the key, a tab, something and a newline"
    if any(c in whole[:-1] for c in b"\n\r\0") or inside.count(b"\n") > 1 or b"\r" in inside or b"\0" in inside:
        return "it prints more than a line of a key"
    if not all(map(_is_printed, flat(pieces))):
        return "it prints by a conversion that is not analysed"
    return _finish_problem(finish.other) if finish.other is not None else ""


def lines(loop: KeyLoop, pairs: PairReader, regroup: bool, out: str = "hd::Output") -> list[str]:
    """A host kernel's struct. out: the type of what it prints to."""
    return _struct(_members(loop, pairs, regroup, _Style(out=out)))


def reducer_lines(loop: KeyLoop, pairs: PairReader) -> list[str]:
    """The same of a reducer, with what it prints before and behind all keys."""
    *members, end = lines(loop, pairs, False, "hd::Printed")
    texts = [("head", loop.head), ("tail", loop.tail)]
    around = [f"static constexpr hd::Literal {name}() {{ return {{{{{leaf.string(data)}, {len(data)}}}}}; }}"
              for name, data in texts]
    return [*members, "", *(INDENT + line for line in around), end]


def device_lines(loop: KeyLoop, pairs: PairReader) -> list[str]:
    """A combine kernel's struct."""
    return _struct(_device_members(loop, pairs))


def _struct(members: Iterator[str]) -> list[str]:
    return ["struct Fold {", *(INDENT + line if line else "" for line in members), "};"]


@dataclass(frozen=True)
class _Style:
    """How methods say what gives the task up, and where a line is put. outside: what they do where the program goes outside
    of an array. longest: bytes of a text that is read; 0: any."""

    head: str = ""
    leaving: str = ""
    out: str = "hd::Output"
    outside: str = "leaving.fail(hd::Status::outside_object, 0)"
    longest: int = 0
    keeping: str = "template <class Texts> "
    keeps: str = ", Texts &texts"


_DEVICE = _Style("template <class L{}> ", ", L &leaving", "Out", "return leaving.note(hd::Status::outside_object)",
                 _COLUMN_TEXT, "template <class L> ", ", L &leaving")
_DEVICE_TEXTS = replace(_DEVICE, keeping="template <class L, class Texts> ", keeps=", L &leaving, const Texts &texts")


def headers(loop: KeyLoop) -> list[str]:
    """What the text includes besides the sink."""
    found = ["sink/real_text.cuh"] if any(isinstance(f.type, Float) for f in loop.reads.fields) else []
    calls = (isinstance(part, Operation) and part.op in ("fabs", "sqrt")
             for made in (*loop.first, *loop.same, *terms_of(loop.finish)) for part in parts(made))
    found += ["libc/math.cuh"] if any(calls) else []
    found += ["sink/kept_numbers.cuh"] if any(is_numbers(state.type) for state in loop.state) else []
    return found


def _members(loop: KeyLoop, pairs: PairReader, regroup: bool, style: _Style) -> Iterator[str]:
    yield f"static constexpr unsigned fields = {0 if texts(loop) else len(loop.reads.fields)};  // that a number each is"
    yield f"static constexpr bool texts = {_truth(texts(loop))}, joins = {_truth(_joins(loop))};"
    yield f"static constexpr bool regroup = {_truth(regroup)};"
    yield f"static constexpr hd::KeyRule key = {_key_rule(loop, pairs)};"
    yield "static constexpr auto &leaving = hd::leaving;"
    yield from ("", *_types(loop))
    yield from ("", *_behind(loop), *_taking(loop), *_reading(loop, style))
    yield from ("", *_step("first", loop.first, loop, style))
    yield from ("", *_step("same", loop.same, loop, style))
    yield from ("", *_finish(loop.finish, style))


def _device_members(loop: KeyLoop, pairs: PairReader) -> Iterator[str]:
    style = _DEVICE_TEXTS if text_bytes(loop) else _DEVICE
    ends = any(_may_leave(made) or _prints_real(made) for made in (*loop.first, *loop.same, *loop.outside))
    yield f"static constexpr bool leaves = {_truth(ends)};"
    yield f"static constexpr unsigned text_bytes = {text_bytes(loop)};  // of the texts kept of a key"
    yield f"static HD_DEVICE hd::KeyRule key_rule() {{ return {_key_rule(loop, pairs)}; }}"
    yield from ("", *_types(loop))
    yield f'static_assert(sizeof(State) <= {8 * max(words(loop), 1)}, "as much as there is for it");'
    yield from ("", *_placing(loop), *_reading(loop, style))
    for name, const in (("put", "const "), ("get", "")):
        moves = [_moved(name, at, i, loop.reads.fields[i]) for at, i in enumerate(columns(loop))]
        head = f"static HD_DEVICE void {name}(const hd::Columns &c, uint64_t i, {const}Values &v)"
        yield from ("", f"{head} {{", *(INDENT + move for move in moves or ["(void)c, (void)i, (void)v;"]), "}")
    asked = [f"hd::ask_text(v.v{i});" for i in columns(loop) if isinstance(loop.reads.fields[i], ValueText)]
    yield from ("", f"static HD_DEVICE void ask(const Values &v) {{ {' '.join(asked) or '(void)v;'} }}")
    yield from ("", *_step("first", loop.first, loop, style))
    yield from ("", *_step("same", loop.same, loop, style))
    yield from ("", *_finish(loop.finish, style))


def _placing(loop: KeyLoop) -> Iterator[str]:
    """Where the texts are that are kept, one after the other."""
    at = 0
    if text_bytes(loop):
        yield "static HD_DEVICE void place(State &s, char *texts) {"
        for i, state in enumerate(loop.state):
            if is_text(state.type):
                yield f"{INDENT}hd::place_text(s.s{i}, texts + {at}, {_length(state.type)});"
                at += _room(state.type)
        yield from ("}", "")


def _moved(name: str, at: int, number: int, field: ValueField | ValueText) -> str:
    """A field's value to its column or from it."""
    value = f"v.v{number}"
    if isinstance(field, ValueText):
        return f"hd::put_text(c, {at}, i, {value});" if name == "put" else f"{value} = hd::get_text(c, {at}, i);"
    column = f"hd::column<{declare(field.type)}>(c, {at}, i)"
    return f"{column} = {value};" if name == "put" else f"{value} = {column};"


def _key_rule(loop: KeyLoop, pairs: PairReader) -> str:
    none = str(pairs.none % (1 << 64)) + "u" if pairs.none is not None else "0"
    return (f"{{hd::KeyRule::{_KEYS[pairs.key]}, {pairs.key_max}, {_truth(not loop.nonempty)}, "
            f"{_truth(pairs.none is not None)}, {none}}}")


def _types(loop: KeyLoop) -> Iterator[str]:
    fields = ("hd::Text v{}" if isinstance(f, ValueText) else declare(f.type, "v{}") for f in loop.reads.fields)
    yield from ("struct Values {", *(f"{INDENT}{field.format(i)};" for i, field in enumerate(fields)), "};")
    yield "struct State {"
    for i, s in enumerate(loop.state):
        yield f"{INDENT}{_declared(s.type, f's{i}')};  // {s.name}"
    yield "};"


def _declared(kind: CType, name: str) -> str:
    if is_numbers(kind):
        assert isinstance(kind, Array)
        return f"hd::Numbers<{declare(kind.of)}, {kind.length}> {name}"
    return f"hd::KeptText {name}" if is_text(kind) else declare(kind, name)


def _may_leave(made: Term) -> bool:
    """Does a step end the task at some numbers?"""
    match made:
        case Convert():
            return _may_leave(made.operand)
        case Choice():
            return any(map(_may_leave, (made.condition, made.then, made.other)))
        case TextPrefix() | Length() | Byte():
            return _may_leave(made.operand)
        case Element() | Stored() | Order() | Joined() | Size():
            return any(_may_leave(part) for part in parts(made) if part is not made)
        case Operation():
            by = made.operands[-1]
            divides = made.op in ("/", "%") and _is_integer(made.type)
            traps = divides and not (isinstance(by, Number) and by.value not in (0, -1))
            return traps or any(map(_may_leave, made.operands))
    return False


def _behind(loop: KeyLoop) -> Iterator[str]:
    """What stands behind each number where a pair is printed."""
    behind = [*loop.reads.between, b"\n"] if loop.reads.fields and not texts(loop) else [b""]
    literals = ", ".join(f"{{{{{leaf.string(data)}, {len(data)}}}}}" for data in behind)
    yield "static constexpr hd::Literal behind(unsigned i) {"
    yield f"{INDENT}constexpr hd::Literal texts[] = {{{literals}}};"
    yield f"{INDENT}return texts[i];"
    yield "}"


def _taking(loop: KeyLoop) -> Iterator[str]:
    """A value's numbers from pieces, each of a type of its own."""
    numbers = range(0 if texts(loop) else len(loop.reads.fields))
    taken = " && ".join(f"hd::take(v.v{i}, n{i})" for i in numbers)
    if numbers:
        yield f"template <{', '.join(f'class N{i}' for i in numbers)}>"
    head = ", ".join(["Values &v", *(f"const N{i} &n{i}" for i in numbers)])
    yield from (f"static bool take({head}) {{", f"{INDENT}return {taken or 'true'};", "}")


def _reading(loop: KeyLoop, style: _Style) -> Iterator[str]:
    """A value's fields from a text."""
    between, read = loop.reads.between, []
    for i, field in enumerate(loop.reads.fields):
        rule = "" if isinstance(field, ValueField) else _rule(field, style)
        read += [f"hd::read_text(text, v.v{i}, {rule})" if rule else f"text.number(v.v{i})"]
        read += [f"text.is({leaf.string(between[i])}, {len(between[i])})"] if i < len(between) else ["text.at_end()"]
    whole = " && ".join(read) or "true"
    yield from ("static HD_DEVICE bool read(Values &v, hd::ValueText &text) {", f"{INDENT}return {whole};", "}")


def _step(name: str, terms: Sequence[Term], loop: KeyLoop, style: _Style) -> Iterator[str]:
    """All of the state at once: each term sees what was kept before."""
    yield f"{style.keeping}static HD_DEVICE void {name}(State &s, const Values &v{style.keeps}) {{"
    outside = loop.outside[terms is loop.same]
    if not isinstance(outside, Number):
        yield f"{INDENT}if ({term(outside)} != 0) {style.outside};"
    changed, aside = _changed(terms, loop), _set_aside(terms, loop)
    for i in sorted(changed):
        state, made = loop.state[i], terms[i]
        if is_numbers(state.type):
            yield f"{INDENT}{_declared(state.type, f'made{i}')} = s.s{i};"
            yield from (INDENT + line for line in _array(made, i))
        elif is_joined(made):
            yield from (INDENT + line for line in _beforehand(made, f"when{i}"))
        elif not is_text(state.type):
            yield f"{INDENT}const {declare(state.type, f'made{i}')} = {term(made)};"
        elif i in aside:
            yield f"{INDENT}const auto made{i} = texts.template aside<{_length(state.type)}>({term(made)});"
        else:
            yield f"{INDENT}const hd::Text made{i} = {term(made)};"
    for i in changed:
        if is_joined(terms[i]):
            yield from (INDENT + line for line in _joined(terms[i], i, f"when{i}"))
            continue
        put = f"texts.put(s.s{i}, made{i});" if is_text(loop.state[i].type) else f"s.s{i} = made{i};"
        yield INDENT + put
    yield "}"


def _changed(terms: Sequence[Term], loop: KeyLoop) -> list[int]:
    """What changes, in an order for that: texts, whose pieces see numbers as they were, before numbers, and a text that
    others are made of behind those."""
    changed = [i for i, made in enumerate(terms) if not (isinstance(made, KeptValue) and made.number == i)]
    texts, found = [i for i in changed if is_text(loop.state[i].type)], []
    while texts:
        free = (i for i in texts if not any(i in _sources(terms[j]) for j in texts if j != i))
        found.append(next(free, texts[0]))
        texts.remove(found[-1])
    return [*found, *(i for i in changed if i not in found)]


def _set_aside(terms: Sequence[Term], loop: KeyLoop) -> list[int]:
    """The texts that are made of others which change before they do, as where two change places."""
    changed = _changed(terms, loop)
    return [i for at, i in enumerate(changed) if is_text(loop.state[i].type) and _sources(terms[i]) & {*changed[:at]}]


def _sources(made: Term) -> set[int]:
    """The numbers of the texts that are kept of which a text may be the first bytes."""
    if isinstance(made, Choice):
        return _sources(made.then) | _sources(made.other)
    if isinstance(made, TextPrefix):
        return _sources(made.operand)
    return {made.number} if isinstance(made, KeptValue) else set()


def _beforehand(made: Term, name: str) -> Iterator[str]:
    """The conditions of a text that is put together, and behind which of its bytes, before anything is changed."""
    if isinstance(made, Choice):
        yield f"const bool {name} = {term(made.condition)} != 0;"
        yield from _beforehand(made.then, f"{name}t")
        yield from _beforehand(made.other, f"{name}f")
    elif isinstance(made, Joined):
        if made.upto is not None:
            yield f"const auto {name} = static_cast<size_t>({term(made.upto)});"
        yield from _beforehand(made.text, f"{name}b")


def _joined(made: Term, number: int, name: str) -> Iterator[str]:
    """Statements that put it together where it lies. Of what is kept its pieces see numbers only, which change later."""
    match made:
        case Choice():
            yield f"if ({name}) {{"
            yield from (INDENT + line for line in _joined(made.then, number, f"{name}t"))
            yield "} else {"
            yield from (INDENT + line for line in _joined(made.other, number, f"{name}f"))
            yield "}"
        case Joined():
            yield from _joined(made.text, number, f"{name}b")
            upto = f"s.s{number}.n" if made.upto is None else name
            yield f"texts.append({', '.join([f's.s{number}', upto, *map(piece, made.pieces)])});"
        case KeptValue() if made.number == number:
            return
        case _:
            yield f"texts.put(s.s{number}, {term(made)});"


def _array(made: Term, number: int) -> Iterator[str]:
    """Statements that make an array, a copy of what was kept, what a term says; others see what was kept."""
    match made:
        case Choice():
            yield f"if ({term(made.condition)} != 0) {{"
            yield from (INDENT + line for line in _array(made.then, number))
            yield "} else {"
            yield from (INDENT + line for line in _array(made.other, number))
            yield "}"
        case Stored():
            yield from _array(made.array, number)
            yield f"made{number}.at[{term(made.index)}] = {term(made.value)};"
        case Zeros():
            yield f"made{number} = {{}};"
        case KeptValue():
            yield from [f"made{number} = s.s{made.number};"] if made.number != number else []


def _rule(field: ValueText, style: _Style) -> str:
    """A TextRule (texts.cuh)."""
    stops = {0, 10, 13, *field.stops}
    low, high = (sum(1 << c - at for c in stops if at <= c < at + 64) for at in (0, 64))
    most = min(field.most or style.longest, style.longest or field.most)
    return f"hd::TextRule{{{low:#x}u, {high:#x}u, {most}, {_truth(field.empty)}, {_truth(field.indented)}}}"


def _finish(finish: KeyOutput, style: _Style) -> Iterator[str]:
    yield (f"{style.head.format(', class Out')}static HD_DEVICE bool finish(const State &s, const hd::Text &text, "
           f"{style.out} &out{style.leaving}) {{")
    yield from (INDENT + line for line in _printed(finish))
    yield "}"


def _printed(finish: KeyOutput | None) -> Iterator[str]:
    if finish is None:
        yield "return false;"
        return
    puts = [*_puts(finish.pieces), f"return {_truth(bool(finish.pieces))};"]
    if finish.condition is None:
        yield from puts
        return
    yield f"if ({term(finish.condition)} != 0) {{"
    yield from (INDENT + line for line in puts)
    yield "}"
    yield from _printed(finish.other)


def _puts(pieces: tuple[Piece, ...]) -> Iterator[str]:
    for one in pieces:
        if not isinstance(one, PrintedIf):
            yield f"out.put({piece(one)});"
            continue
        yield f"if ({term(one.condition)} != 0) {{"
        yield from (INDENT + line for line in _puts(one.then))
        if one.other:
            yield "} else {"
            yield from (INDENT + line for line in _puts(one.other))
        yield "}"


def piece(made: Piece) -> str:
    """A piece of a line (format.cuh)."""
    assert not isinstance(made, PrintedIf)
    if isinstance(made, bytes):
        return f"hd::text({leaf.string(made)}, {len(made)})"
    if isinstance(made, PrintedKey):
        return "text" if made.spec == "%s" else _padded(made.spec)
    if made.term.type == TEXT:
        return term(made.term) if made.spec == "%s" else _padded(made.spec, term(made.term))
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
    if letter in _REAL:
        return f"hd::real({spec}, hd::checked(leaving, {value}, 0))"
    return f"hd::{'integer' if letter in 'di' else 'natural'}({spec}, {value})"


def _padded(spec: str, text: str = "text") -> str:
    """The key, or another text, which holds no NUL, by a conversion with a width or a precision."""
    match = _KEY_SPEC.fullmatch(spec)
    assert match is not None  # `finish._PADDED`
    most = f"{text}.n" if match[3] is None else f"({text}.n < {int(match[4] or 0)}u ? {text}.n : {int(match[4] or 0)}u)"
    return f"hd::padded(hd::spec({_FLAGS['-'] if match[1] else 0}, {int(match[2] or 0)}, -1, 's'), {text}.from, {most}, 0)"


def term(made: Term) -> str:
    """An expression of C++ that has the term's value and type, tight enough for any operator."""
    match made:
        case Zeros() | Stored() | Joined():
            raise AssertionError(made)  # of `_array` and `_joined`
        case KeptValue():
            return f"s.s{made.number}.text()" if made.type == TEXT else f"s.s{made.number}"
        case LiteralText():
            return f"hd::Text{{{leaf.string(made.data)}, {len(made.data)}}}"
        case TextPrefix():
            return f"hd::cut({term(made.operand)}, {made.most})"
        case Order():
            return f"hd::order({', '.join(map(term, made.operands))})"
        case Element():
            return f"{term(made.array)}.at[{term(made.index)}]"
        case Size():
            return f"static_cast<unsigned long>({piece(PrintedTerm(made.spec, made.operand))}.size())"
        case Length() | Byte():
            return f"hd::{'length' if isinstance(made, Length) else 'first_byte'}({term(made.operand)})"
        case PairField():
            return f"v.v{made.number}"
        case Number():
            return f"({leaf.const(ir.Const(made.type, made.value))[0]})"
        case Convert():
            return f"hd::stored<{declare(made.type)}>({term(made.operand)})"
        case Choice():
            return f"({term(made.condition)} != 0 ? {term(made.then)} : {term(made.other)})"
        case Operation():
            return _operation(made)
    raise AssertionError(made)


def _operation(made: Operation) -> str:
    texts = [term(operand) for operand in made.operands]
    if made.op in _WRAPPING and _is_integer(made.type):
        return f"hd::{_WRAPPING[made.op] if len(texts) == 2 else 'neg'}({', '.join(texts)})"
    if made.op in _CALLS:
        return f"hd::{_CALLS[made.op][made.type]}({texts[0]})"
    if len(texts) == 1:
        return f"hd::stored<{declare(made.type)}>({made.op}{texts[0]})"
    left, right = texts
    if made.op in _COMPARISONS:
        return f"static_cast<int>({left} {made.op} {right})"
    if made.op in ("<<", ">>"):
        return f"hd::{'shl' if made.op == '<<' else 'shr'}({left}, {right})"
    if made.op in ("/", "%") and _is_integer(made.type):
        return f"hd::{'divide' if made.op == '/' else 'remainder'}(leaving, {left}, {right}, 0)"
    return f"({left} {made.op} {right})"


def _is_integer(kind: CType) -> bool:
    return isinstance(kind, Int) and not isinstance(kind, Float)


def _truth(value: bool) -> str:
    return "true" if value else "false"
