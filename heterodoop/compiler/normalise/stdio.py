"""Pass `stdio`: calls of stdio on stdin, stdout and stderr, and calls that end the process, become nodes of our own.

A call keeps its plain form where its stream or its format is not known at compile time; `refusals` names it then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...values import dataclass
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.pieces import make_pieces
from ..types import ctype
from .streams import Streams

EXITS = frozenset({"exit", "_exit", "_Exit", "quick_exit", "abort", "__assert_fail", "__assert", "__hd_assert_fail"})


def stdio(program: ir.Program) -> ir.Program:
    streams = Streams(program)

    def change(function: str, node: Any) -> Any:
        if isinstance(node, ir.ExprStmt) and _flushes(node.expr, function, streams):
            return ir.Block((), span=node.span)
        if not isinstance(node, ir.Call):
            return node
        name = ir.called(node)
        if not name or name in program.by_name:
            return node
        if name in EXITS:
            return ir.Exit(ctype.VOID, name, node.args, span=node.span)
        handler = _CALLS.get(name.removesuffix("_unlocked"))
        made = handler(_Site(node, name, function, streams)) if handler else None
        return node if made is None else made

    return ir_walk.map_functions(program, change)


def literal(expr: ir.Expr) -> bytes | None:
    """The bytes of a string literal as a C string (up to its first NUL), None for anything else."""
    expr = ir_walk.uncast(expr)
    if isinstance(expr, ir.Decay) and isinstance(expr.operand, ir.Str):
        return expr.operand.data.split(b"\0")[0]
    return None


@dataclass(frozen=True)
class _Site:
    call: ir.Call
    name: str
    function: str
    streams: Streams

    @property
    def args(self) -> tuple[ir.Expr, ...]:
        return self.call.args

    def stream(self, number: int) -> str:
        return self.streams.of(self.function, self.args[number])

    def write(self, stream: str, pieces: tuple[ir.Piece, ...] | None) -> ir.Expr | None:
        """The node of an output call, None where the stream is another or the pieces are not known."""
        if pieces is None or stream not in ("stdout", "stderr") or stream in self.streams.replaced:
            return None
        cls = ir.Emit if stream == "stdout" else ir.Stderr
        return cls(self.call.type, self.name, pieces, span=self.call.span)


def _format(site: _Site, stream: str, at: int) -> ir.Expr | None:
    text = literal(site.args[at])
    return None if text is None else site.write(stream, make_pieces(text, site.args[at + 1 :]))


def _string(expr: ir.Expr, tail: bytes = b"") -> tuple[ir.Piece, ...]:
    text = literal(expr)
    if text is not None:
        return (ir.Text(text + tail),) if text + tail else ()
    return (ir.Format("%s", (expr,)), *((ir.Text(tail),) if tail else ()))


def _char(expr: ir.Expr) -> tuple[ir.Piece, ...]:
    if isinstance(expr, ir.Const) and isinstance(expr.value, int):
        return (ir.Text(bytes([expr.value & 0xFF])),)
    return (ir.Format("%c", (expr,)),)


def _fwrite(site: _Site) -> ir.Expr | None:
    data, size, count, _ = site.args
    return site.write(site.stream(3), (ir.Format("%!", (data, size, count)),))


def _flushes(expr: ir.Expr, function: str, streams: Streams) -> bool:
    """Is it a call that only writes output sooner? The output is the same."""
    call = ir_walk.uncast(expr)
    if not isinstance(call, ir.Call) or ir.called(call).removesuffix("_unlocked") != "fflush" or len(call.args) != 1:
        return False
    target = ir_walk.uncast(call.args[0])
    if isinstance(target, ir.Const):
        return target.value == 0 and not {"stdout", "stderr"} & streams.replaced
    return streams.of(function, target) in ("stdout", "stderr")


def _getline(site: _Site) -> ir.Expr | None:
    target, capacity = site.args[:2]
    delimiter = site.args[2] if site.name == "getdelim" else None
    newline = delimiter is None or (isinstance(delimiter, ir.Const) and delimiter.value == 10)
    if not newline or site.stream(len(site.args) - 1) != "stdin":
        return None
    return ir.ReadRecord(ctype.LONG, "getline", target, capacity, span=site.call.span)


def _fgets(site: _Site) -> ir.Expr | None:
    if site.stream(2) != "stdin":
        return None
    return ir.ReadRecord(site.call.type, "fgets", site.args[0], site.args[1], span=site.call.span)


def _scanf(site: _Site, at: int) -> ir.Expr | None:
    text = literal(site.args[at])
    if text is None or (at == 1 and site.stream(0) != "stdin") or "stdin" in site.streams.replaced:
        return None
    return ir.ReadPair(ctype.INT, text, site.args[at + 1 :], span=site.call.span)


_CALLS: dict[str, Callable[[_Site], ir.Expr | None]] = {
    "printf": lambda s: _format(s, "stdout", 0),
    "fprintf": lambda s: _format(s, s.stream(0), 1),
    "puts": lambda s: s.write("stdout", _string(s.args[0], b"\n")),
    "fputs": lambda s: s.write(s.stream(1), _string(s.args[0])),
    "putchar": lambda s: s.write("stdout", _char(s.args[0])),
    "fputc": lambda s: s.write(s.stream(1), _char(s.args[0])),
    "putc": lambda s: s.write(s.stream(1), _char(s.args[0])),
    "fwrite": _fwrite,
    "perror": lambda s: s.write("stderr", _string(s.args[0])),
    "getline": _getline,
    "getdelim": _getline,
    "fgets": _fgets,
    "scanf": lambda s: _scanf(s, 0),
    "fscanf": lambda s: _scanf(s, 1),
}
