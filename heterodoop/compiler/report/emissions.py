"""The places where a region writes to stdout: the call, its format as text, and the pair's two halves where they show."""

from __future__ import annotations

from ... import manifest
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..ir.text import format_text
from ..normalise.stdio import literal

_OUTPUT = frozenset(
    {"printf", "fprintf", "vprintf", "vfprintf", "puts", "fputs", "putchar", "fputc", "putc", "fwrite", "write", "dprintf"}
)


def emissions(program: ir.Program, calls: CallGraph) -> tuple[manifest.Emission, ...]:
    """Output sites of the region, then those of its helpers, in source order.

    `key` and `value` are the format's text before and after its first tab, where one call writes a whole line: its text
    ends in a newline, which `value` is without.
    """
    found = []
    for _, body in calls.bodies:
        for node in ir_walk.walk(body):
            if isinstance(node, ir.Emit):
                found.append(_emission(node))
            elif isinstance(node, ir.Call) and ir.called(node) in _OUTPUT and ir.called(node) not in program.by_name:
                found.append(_plain(node))
    return tuple(found)


def _emission(node: ir.Emit) -> manifest.Emission:
    text = format_text(node.pieces).decode("utf-8", "backslashreplace")
    key = value = ""
    if text.endswith("\n") and text.count("\n") == 1:
        key, _, value = text[:-1].partition("\t")
    return manifest.Emission(node.call, text, str(node.span), key, value)


def _plain(node: ir.Call) -> manifest.Emission:
    """A call whose stream or format is not known."""
    texts = [t for a in node.args if (t := literal(a)) is not None]
    shown = texts[0].decode("utf-8", "backslashreplace") if texts else ""
    return manifest.Emission(ir.called(node), shown, str(node.span))
