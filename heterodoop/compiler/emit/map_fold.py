"""Pairs that a map kernel folds itself, because what it prints is what the combiner's fold reads (lane/map_fold.cuh).

Which prints are such pairs is decided by their pieces: a key, a tab, integers with the reader's bytes between them, a line
end. All others are printed; what the device finds out about a pair at run time, its key's bytes say, is not looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ... import manifest
from ...values import dataclass
from ..decide.decisions import Decisions
from ..device import nodes
from ..device.program import Program
from ..ir import ir

HEADER = "lane/map_fold.cuh"
OPTION = "map-fold"
_THREADS = 256  # of a block, where the program does not say: fewer tables to empty at the end
_THREAD_BYTES = 160  # of a block's table, for each of its threads
_THREAD_PLACES = 8  # kBlockPlaces in runtime/host/steps/fold.cpp
_IN_BLOCK = frozenset({"shared", "warp", "block-total", "thread-total"})
_BLOCK_BYTES = 46 << 10  # of a block's shared memory without its cursors
_OPS = {"sum": "sum", "min": "least", "max": "greatest", "and": "bits_and", "or": "bits_or", "xor": "bits_xor"}
_WORDS = {"int32": 4, "uint32": 4, "int64": 8, "uint64": 8}
_ID_BYTES = 8
_NUMBER = re.compile(rb"-?[0-9]{1,19}")


@dataclass(frozen=True)
class MapFold:
    """How a combiner reads pairs, and what it makes of their numbers."""

    pairs: manifest.PairReader
    fold: manifest.Fold


def map_fold(combine: manifest.Region) -> MapFold | None:
    """What a map kernel may do of a combiner's work; None: nothing, because its output is none that it reads, number for
    number, or its keys are not known to read back."""
    pairs, fold = combine.pairs, combine.fold
    if pairs is None or fold is None or not fold.regroup or pairs.key == "other":
        return None
    same = pairs.value == tuple(field.value for field in fold.fields) and pairs.between == fold.between
    return MapFold(pairs, fold) if same and all(field.op in _OPS for field in fold.fields) else None


def folds_some(program: Program, form: MapFold) -> bool:
    """Does a kernel print pairs that are folded?"""
    return any(isinstance(node, nodes.Print) and folded(node, form) is not None for node in program.nodes())


def decisions(before: Decisions, form: MapFold, *, threads_said: bool) -> Decisions | None:
    """Of a kernel that folds its pairs; None where there is no shared memory for it."""
    made = replace(before, plan=replace(before.plan, map_fold=True), threads=before.threads if threads_said else _THREADS)
    return made if _places(made, form) else None


# ------------------------------------------------------------------------------------------ prints


def folded(node: nodes.Print, form: MapFold) -> tuple[tuple[nodes.Piece, ...], tuple[str, ...]] | None:
    """The pieces of a print that is a pair of the fold's form, the first one its key, and where its numbers are."""
    pieces = _key_apart(node.pieces)
    if node.stream != "stdout" or len(pieces) < 2:
        return None
    key = pieces[0]
    if form.pairs.key not in ("token", "field") and not _is_decimal(key):
        return None
    numbers = _numbers(pieces, form)
    return None if numbers is None else (pieces, numbers)


def _key_apart(pieces: tuple[nodes.Piece, ...]) -> tuple[nodes.Piece, ...]:
    """The pieces with a literal key by itself."""
    first = pieces[0] if pieces else None
    if not isinstance(first, ir.Text) or b"\t" not in first.data:
        return pieces
    key, tab, rest = first.data.partition(b"\t")
    return (ir.Text(key), ir.Text(tab + rest), *pieces[1:])


def _is_decimal(piece: nodes.Piece) -> bool:
    return isinstance(piece, nodes.Converted) and piece.how == "dec"


def _numbers(pieces: Sequence[nodes.Piece], form: MapFold) -> tuple[str, ...] | None:
    """Template arguments for the numbers of what follows the key; None where it is something else."""
    rest = _Rest(pieces)
    found: list[str] = []
    between = ("\t", *form.pairs.between)
    for field, before in zip(form.fold.fields, between, strict=True):
        number = rest.number(field.value) if rest.text(before) else ""
        if not number:
            return None
        found.append(number)
    return tuple(found) if rest.text("\n") and rest.ended else None


class _Rest:
    """What has not been looked at of a print's pieces."""

    def __init__(self, pieces: Sequence[nodes.Piece]) -> None:
        self._pieces, self._at, self._text = pieces, 0, b""
        self._next()

    def _next(self) -> None:
        """Goes on to the next piece, and through texts to their end."""
        self._at += 1
        while self._at < len(self._pieces) and isinstance(piece := self._pieces[self._at], ir.Text):
            self._text += piece.data
            self._at += 1

    @property
    def ended(self) -> bool:
        return not self._text and self._at >= len(self._pieces)

    def text(self, wanted: str) -> bool:
        if not self._text.startswith(wanted.encode()):
            return False
        self._text = self._text[len(wanted) :]
        return True

    def number(self, kind: manifest.Integer) -> str:
        """The template argument of a number that stands here, "" where none does."""
        if self._text:
            match = _NUMBER.match(self._text)
            return self._constant(match[0], kind) if match else ""
        at = self._at
        if at >= len(self._pieces) or not _is_decimal(self._pieces[at]):
            return ""
        self._next()
        return f"hd::PieceAt<{at}>"

    def _constant(self, digits: bytes, kind: manifest.Integer) -> str:
        value = int(digits)
        bits = _WORDS[kind] * 8
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.startswith("int") else (0, (1 << bits) - 1)
        if not least <= value <= most or (digits.startswith(b"-") and least == 0):
            return ""
        self._text = self._text[len(digits) :]
        return f"hd::Constant<{abs(value)}ull{', true' if value < 0 else ''}>"


# ------------------------------------------------------------------------------------------ text


def call(numbers: Iterable[str]) -> str:
    return f"hd.pair<{', '.join(numbers)}>("


def fold_type(made: Decisions, form: MapFold) -> str:
    """The type that folds a lane's pairs."""
    pairs = form.pairs
    keys = f"hd::KeyReader::{pairs.key}, {pairs.key_max}"
    if pairs.none is not None:
        keys += f", true, {pairs.none % 2**64}ull"
    parts = [str(_places(made, form)), f"hd::FoldKeys<{keys}>", *_fields(form)]
    return f"hd::MapFold<{', '.join(parts)}>"


def _fields(form: MapFold) -> Iterator[str]:
    for field in form.fold.fields:
        yield f"hd::FoldField<hd::FoldOp::{_OPS[field.op]}, hd::ValueReader::{field.value}>"


def _places(made: Decisions, form: MapFold) -> int:
    """Of a block's table, a power of two; 0 where there is no room for a useful one."""
    taken = sum(place.nbytes for place in made.places if place.space in _IN_BLOCK)
    room = min(_THREAD_BYTES * made.threads, _BLOCK_BYTES - taken)
    each = _ID_BYTES + sum(_WORDS[field.value] for field in form.fold.fields)
    most = min(room // each, _THREAD_PLACES * made.threads)
    places = 1 << max(most, 1).bit_length() - 1
    return places if places >= made.threads // 2 and places * each <= room else 0
