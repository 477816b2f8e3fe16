"""A key loop as text, for `--emit` and tests."""

from __future__ import annotations

from collections.abc import Iterator

from . import loop


def loop_text(found: loop.KeyLoop) -> str:
    """Its reader, each number of its state with what it begins as and becomes, and what is printed."""
    names = [state.name for state in found.state]
    value = "".join(
        f" {_shown(text)} {_field(field)}" if text else _field(field)
        for text, field in zip((b"", *found.reads.between), found.reads.fields, strict=bool(found.reads.fields)))
    lines = [f"loop  value {value or 'not read'}" + (", no empty key" if found.nonempty else "")]
    for state, first, same in zip(found.state, found.first, found.same, strict=True):
        lines.append(f"      {state.type} {state.name} = {term_text(first, names)}, then {term_text(same, names)}")
    for when, outside in zip(("first", "then"), found.outside, strict=True):
        lines += [f"      {when} outside if {term_text(outside, names)}"] if not isinstance(outside, loop.Number) else []
    lines += [f"      print {_shown(found.head)} before all"] if found.head else []
    lines += [f"      {line}" for line in _finish(found.finish, names)]
    lines += [f"      print {_shown(found.tail)} behind all"] if found.tail else []
    return "\n".join(lines) + "\n"


def _field(field: loop.ValueField | loop.ValueText) -> str:
    if isinstance(field, loop.ValueField):
        return str(field.type)
    without = f" without {_shown(field.stops)}" if field.stops else ""
    most = f" of at most {field.most}" if field.most else ""
    return f"text{most}{without}{'' if field.empty else ', not empty'}{'' if field.indented else ', not indented'}"


def term_text(term: loop.Term, names: list[str]) -> str:
    """Like C, with v0, v1 ... for the numbers of the value; every operator in parentheses."""
    if isinstance(term, loop.KeptValue):
        return names[term.number]
    if isinstance(term, loop.PairField):
        return f"v{term.number}"
    if isinstance(term, loop.Number):
        return str(term.value)
    if isinstance(term, loop.Joined):
        upto = f"[:{term_text(term.upto, names)}]" if term.upto is not None else ""
        return f"({term_text(term.text, names)}{upto} .. {' '.join(_piece(piece, names) for piece in term.pieces)})"
    if isinstance(term, loop.Size):
        return f"size({term.spec}:{term_text(term.operand, names)})"
    if isinstance(term, loop.Zeros):
        return "zeros"
    if isinstance(term, (loop.Stored, loop.Element)):
        at = f"{term_text(term.array, names)}[{term_text(term.index, names)}]"
        return at if isinstance(term, loop.Element) else f"{at}={term_text(term.value, names)}"
    if isinstance(term, loop.LiteralText):
        return _shown(term.data)
    if isinstance(term, loop.TextPrefix):
        return f"{term_text(term.operand, names)}[:{term.most}]"
    if isinstance(term, (loop.Length, loop.Byte)):
        return f"{'length' if isinstance(term, loop.Length) else 'first'}({term_text(term.operand, names)})"
    if isinstance(term, loop.Order):
        return f"order({', '.join(term_text(part, names) for part in term.operands)})"
    if isinstance(term, loop.Convert):
        return f"({term.type}){term_text(term.operand, names)}"
    if isinstance(term, loop.Choice):
        condition, then, other = (term_text(part, names) for part in (term.condition, term.then, term.other))
        return f"({condition} ? {then} : {other})"
    parts = [term_text(part, names) for part in term.operands]
    if len(parts) == 2:
        return f"({parts[0]} {term.op} {parts[1]})"
    return f"{term.op}({parts[0]})" if term.op.isalpha() else f"{term.op}{parts[0]}"


def _finish(finish: loop.KeyOutput | None, names: list[str]) -> Iterator[str]:
    while finish is not None:
        condition = f" if {term_text(finish.condition, names)}" if finish.condition is not None else ""
        printed = " ".join(_piece(piece, names) for piece in finish.pieces)
        yield f"print {printed or 'nothing'}{condition}"
        finish = finish.other


def _piece(piece: loop.Piece, names: list[str]) -> str:
    if isinstance(piece, bytes):
        return _shown(piece)
    if isinstance(piece, loop.PrintedIf):
        then, other = (" ".join(_piece(part, names) for part in parts) for parts in (piece.then, piece.other))
        return f"[{then} if {term_text(piece.condition, names)}{f' else {other}' if other else ''}]"
    if isinstance(piece, loop.PrintedKey):
        return "KEY" if piece.spec == "%s" else f"{piece.spec}:KEY"
    return f"{piece.spec}:{term_text(piece.term, names)}"


def _shown(text: bytes) -> str:
    return '"' + repr(text)[2:-1].replace('"', '\\"') + '"'
