"""What a combiner is: a key loop (`situations`), and such a one that is a fold; how it reads its pairs, loop or not.

A fold keeps integers of a key, each a sum, count, least, greatest, and, or, xor of the numbers at its place, and prints them
as its pairs have them. What is not understood is none. Non-goals: folds of floating numbers, keys that are compared but for
case.
"""

from __future__ import annotations

from dataclasses import replace

from ... import manifest
from ...source import Span
from ...values import dataclass
from ..ir import formats, ir
from ..normalise.by_value import reads
from ..types.ctype import Float, Int
from . import algebra, finish, loop
from .loop_text import loop_text
from .reader import Reader
from .situations import KeyLoopFound, Situations
from .state import SITUATIONS, VALUES, Jump, NoKeyLoop

LEFT = "the loop is left before the last pair, or a comparison cannot be decided"
DEEP = "it is nested too deeply"
ENDS = "it may end the process at a pair"
_BY_OPERATOR: dict[str, manifest.FoldOp] = {"+": "sum", "&": "and", "|": "or", "^": "xor"}


@dataclass(frozen=True)
class Recognised:
    """What a combine region is; nothing at all of a map region.

    fold     None where it is none or may be none. `regroup` is true where its output, read as its input, gives the same
             result again: not for a count, and not where a number is read as a narrower type than it is printed.
    pairs    how it reads its pairs, as far as that is certain.
    why      it is no fold; "" where it is one.
    loop     None where it is none, or is not known to be one; `no_loop` says why.
    place    the statement for which it is none, where there is one.
    """

    fold: manifest.Fold | None = None
    pairs: manifest.PairReader | None = None
    why: str = ""
    loop: loop.KeyLoop | None = None
    no_loop: str = ""
    place: Span | None = None


def recognise(program: ir.Program) -> Recognised:
    """Run a combine region on symbols, once."""
    if not isinstance(program.region, ir.CombineRegion):
        return Recognised()
    try:
        found = Situations(program).key_loop()
    except NoKeyLoop as refused:
        return _none(program, reason(refused), place(refused))
    except Jump:
        return _none(program, LEFT)
    except RecursionError:
        return _none(program, DEEP)
    fold, why = _fold(found)
    pairs = pair_reader(found.reader, found.loop.reads)
    if found.reader.guarded:
        return Recognised(fold, pairs, why, None, ENDS, found.reader.guarded_at)
    return Recognised(fold, pairs, why, found.loop)


def without(found: Recognised, why: str) -> Recognised:
    """The same where more than what it does with its pairs speaks against a fold and a loop."""
    return replace(found, fold=None, loop=None, no_loop=found.no_loop or why)


def text(found: Recognised) -> str:
    lines = [f"{what:6}{value}\n" for what, value in
             (("fold", found.fold), ("pairs", found.pairs), ("why", found.why), ("at", found.place)) if value]
    return "".join(lines) + (loop_text(found.loop) if found.loop is not None else "")


def _none(program: ir.Program, why: str, place: Span | None = None) -> Recognised:
    return Recognised(None, _plain_reader(program), why, None, why, place)


def place(refused: NoKeyLoop) -> Span | None:
    """The statement that it is for."""
    return refused.span if refused.span is not None and refused.span.line else None


def reason(refused: NoKeyLoop) -> str:
    """As a sentence, without the place."""
    return refused.why or f"what it does {SITUATIONS[refused.situation or 'flush']} is not understood"


# ------------------------------------------------------------------------------------------ folds


def _fold(found: KeyLoopFound) -> tuple[manifest.Fold | None, str]:
    """The fold that a key loop is, or why it is none."""
    whole, reader = found.loop, found.reader
    try:
        if found.goes_on:
            raise NoKeyLoop(found.goes_on)
        if found.leaks:
            raise NoKeyLoop("what it makes of a key may depend on an empty key before it")
        if reader.ends_at_value:
            raise NoKeyLoop("it may end the process at a number of the value")
        if any(isinstance(field, loop.ValueText) for field in whole.reads.fields):
            raise NoKeyLoop("it reads a text of the value")
        order = _printed_order(whole)
        if whole.reads.fields and len(whole.reads.fields) != len(order):
            raise NoKeyLoop("it does not print as many numbers as it reads")
        fields = tuple(_field(whole, place, at) for place, at in enumerate(order))
    except NoKeyLoop as refused:
        return None, refused.why
    between = finish.between(whole.finish) or ()
    types = [number.type for number in whole.reads.fields]
    same = len(types) == len(order) and all(
        algebra.same_kind(kind, whole.state[at].type) for kind, at in zip(types, order, strict=True))
    again = same and between == whole.reads.between and all(field.op != "count" for field in fields)
    names = tuple(whole.state[at].name for at in order)
    return manifest.Fold(fields, tuple(b.decode("latin-1") for b in between), found.key, names, again), ""


def _printed_order(whole: loop.KeyLoop) -> list[int]:
    """The state by the places at which it is printed, each once, as what it is."""
    if whole.finish.condition is not None:
        raise NoKeyLoop("it prints of some keys only")
    order = []
    for piece in whole.finish.pieces:
        if isinstance(piece, loop.PrintedIf):
            raise NoKeyLoop("it prints of some keys only")
        if not isinstance(piece, loop.PrintedTerm):
            continue
        kept = piece.term
        while isinstance(kept, loop.Convert):
            kept = kept.operand
        if not isinstance(kept, loop.KeptValue):
            raise NoKeyLoop("it does not print what it gathers by the plain conversion of its type")
        state = whole.state[kept.number]
        if state.type not in VALUES and not isinstance(state.type, Float):
            raise NoKeyLoop(f"what it gathers must be one integer of 32 or 64 bits: '{state.name}' is {state.type}")
        if isinstance(state.type, Float):
            raise NoKeyLoop(f"what it gathers must be one integer of 32 or 64 bits: '{state.name}' is {state.type}")
        if piece.term != kept or not finish.plain(state.type, piece.spec):
            raise NoKeyLoop(f"it does not print '{state.name}' by the plain conversion of its type")
        order.append(kept.number)
    between = finish.between(whole.finish)
    if sorted(order) != list(range(len(whole.state))) or between is None:
        raise NoKeyLoop("it does not print what it gathers, each number once")
    if not all(manifest.stands_between(text.decode("latin-1")) for text in between):
        raise NoKeyLoop("it prints more than a few plain bytes between two numbers")
    return order


def _field(whole: loop.KeyLoop, place: int, at: int) -> manifest.FoldField:
    """What the state at `at`, which is printed at `place`, is of the numbers there."""
    state, first, same = whole.state[at], whole.first[at], whole.same[at]
    kept = loop.KeptValue(at, state.type)
    value = VALUES[state.type]
    one = loop.Number(1, state.type)
    if isinstance(same, loop.Operation) and same == loop.Operation("+", (kept, one), state.type) and first == one:
        return manifest.FoldField("count", value)
    if place < len(whole.reads.fields):
        read: loop.Term = loop.PairField(place, whole.reads.fields[place].type)
        number = algebra.convert(read, state.type)
        op = reduction(same, kept, number) if number is not None and first == number else None
        if op is not None and number is not None and (op == "sum" or number == read):
            return manifest.FoldField(op, value)
    raise NoKeyLoop(f"what it makes of '{state.name}' with another pair of the same key is no sum, count, least or greatest"
                    " of the numbers at its place")


def reduction(same: loop.Term, kept: loop.Term, number: loop.Term) -> manifest.FoldOp | None:
    """What makes `same` of what is kept and a number, whose order does not matter."""
    if isinstance(same, loop.Operation) and sorted(map(repr, same.operands)) == sorted(map(repr, (kept, number))):
        return _BY_OPERATOR.get(same.op)
    found = algebra.extreme(same)
    if found is None or {repr(found[1]), repr(found[2])} != {repr(kept), repr(number)}:
        return None
    return "min" if found[0] == "min" else "max"


# ------------------------------------------------------------------------------------------ how pairs are read


def pair_reader(reader: Reader, form: loop.ValueForm) -> manifest.PairReader:
    """Learnt from the run itself."""
    key = VALUES[reader.number_kept] if reader.number_kept is not None else reader.key or "other"
    if any(isinstance(field, loop.ValueText) for field in form.fields):
        return manifest.PairReader(key, reader.key_max, (), reader.none)  # what texts read back, the loop alone says
    numbers = tuple(VALUES[n.type] if isinstance(n.type, Int) else _FLOATS[str(n.type)] for n in form.fields)
    return manifest.PairReader(key, reader.key_max, numbers, reader.none, tuple(b.decode("latin-1") for b in form.between))


_FLOATS: dict[str, manifest.Number] = {"float": "float", "double": "double"}


def _plain_reader(program: ir.Program) -> manifest.PairReader | None:
    """How a combine region that is no fold reads its pairs; None where its loop was not recognised."""
    record_loop = ir.record_loop(program.region)
    if record_loop is None:
        return None
    read = reads(record_loop.cond)[0]
    if isinstance(read, ir.ReadPair):
        return _scanf_reader(program, read)
    return manifest.PairReader("other", 0, ())


def _scanf_reader(program: ir.Program, read: ir.ReadPair) -> manifest.PairReader:
    parts = [s for s in formats.split_scanf(read.format) or [] if s.letter != " "]
    unknown = manifest.PairReader("other", 0, ())
    several = len(formats.split_scanf(read.format.partition(b"\t")[0]) or []) > 1 and b"\t" in read.format
    if not parts or parts[0].letter != "s" or not parts[0].stores or parts[0].length or several:
        return unknown
    target = read.targets[0]
    size = program.layouts.size(target.operand.type) if isinstance(target, ir.Decay) else None
    key = manifest.PairReader("token", parts[0].width or (size - 1 if size else 0), ())
    if len(parts) == 2 and parts[1].letter in "du" and parts[1].stores and not parts[1].width:
        kind = parts[1].target
        if isinstance(kind, Int) and kind in VALUES:
            return replace(key, value=(VALUES[kind],))
    return key
