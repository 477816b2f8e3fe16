"""The pieces of an output call: its format cut into literal text and conversions with their arguments."""

from __future__ import annotations

from . import formats, ir


def make_pieces(text: bytes, args: tuple[ir.Expr, ...]) -> tuple[ir.Piece, ...] | None:
    """A format and its arguments as pieces; None where they do not fit each other."""
    parts = formats.split_printf(text)
    if parts is None:
        return None
    pieces: list[ir.Piece] = []
    at = 0
    for part in parts:
        if isinstance(part, bytes):
            pieces.append(ir.Text(part))
            continue
        pieces.append(ir.Format(part.spec, args[at : at + part.takes]))
        at += part.takes
    return tuple(pieces) if at == len(args) else None
