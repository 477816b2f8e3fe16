"""A recognised fold as the key loop that it is."""

from __future__ import annotations

from ... import manifest
from ..types import ctype
from ..types.ctype import Int
from .loop import (
    Choice,
    Convert,
    Finish,
    Kept,
    KeyLoop,
    Number,
    Operation,
    PrintedKey,
    PrintedTerm,
    Read,
    State,
    Term,
    ValueField,
    ValueForm,
)

_TYPES: dict[str, Int] = {"int32": ctype.INT, "int64": ctype.LONG, "uint32": ctype.UINT, "uint64": ctype.ULONG}
_SPECS = {"int32": "%d", "int64": "%ld", "uint32": "%u", "uint64": "%lu"}
_BITWISE = {"and": "&", "or": "|", "xor": "^"}


def key_loop(region: manifest.Region) -> KeyLoop | None:
    """None where the region is no fold, or reads what its fields are not made of."""
    fold, pairs = region.fold, region.pairs
    if fold is None or pairs is None or any(kind not in _TYPES for kind in pairs.value):
        return None
    counts = all(field.op == "count" for field in fold.fields)
    if not counts and len(pairs.value) != len(fold.fields):
        return None
    reads = tuple(_TYPES[kind] for kind in pairs.value)
    states = tuple(State(name, _TYPES[field.value])
                   for field, name in zip(fold.fields, fold.accumulators, strict=True))
    return KeyLoop(
        ValueForm(tuple(map(ValueField, reads)), tuple(text.encode("latin-1") for text in pairs.between)),
        states,
        tuple(_first(field, i, states[i].type, reads) for i, field in enumerate(fold.fields)),
        tuple(_same(field, i, states[i].type, reads) for i, field in enumerate(fold.fields)),
        _finish(fold, states),
    )


def _first(field: manifest.FoldField, i: int, kind: ctype.CType, reads: tuple[Int, ...]) -> Term:
    return Number(1, kind) if field.op == "count" else _read(i, kind, reads)


def _read(i: int, kind: ctype.CType, reads: tuple[Int, ...]) -> Term:
    value = Read(i, reads[i])
    return value if reads[i] == kind else Convert(value, kind)


def _same(field: manifest.FoldField, i: int, kind: ctype.CType, reads: tuple[Int, ...]) -> Term:
    kept, value = Kept(i, kind), _first(field, i, kind, reads)
    if field.op in ("sum", "count"):
        return Operation("+", (kept, value), kind)
    if field.op in _BITWISE:
        return Operation(_BITWISE[field.op], (kept, value), kind)
    taken = Operation("<" if field.op == "min" else ">", (value, kept), ctype.INT)
    return Choice(taken, value, kept, kind)


def _finish(fold: manifest.Fold, states: tuple[State, ...]) -> Finish:
    pieces: list[bytes | PrintedKey | PrintedTerm] = [PrintedKey(), b"\t"]
    for i, field in enumerate(fold.fields):
        behind = fold.between[i].encode("latin-1") if i < len(fold.between) else b"\n"
        pieces += [PrintedTerm(_SPECS[field.value], Kept(i, states[i].type)), behind]
    return Finish(tuple(pieces))
