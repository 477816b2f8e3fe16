"""What a kernel's program takes from the C library and the compiler of this machine, and whether kernels do the same.

The machine that compiles decides (`toolchain.probe`): a behaviour that kernels know becomes a macro in their text, one that
they do not know keeps the program on the CPU, by name and place. Not here: which functions devices have (`device_calls`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ..manifest import Reason
from ..source import Span
from ..toolchain import cc, compiler_words, probe
from ..toolchain.probe import ProbedMachine
from .device import output
from .ir import formats, ir
from .ir import walk as ir_walk
from .normalise import callbacks, stdio
from .passes import Analysis

_REAL = ("tiny hexadecimals", "large payloads")
_READS = {name: (name, *_REAL) for name in ("strtod", "strtof", "atof")}
# Functions that the probe knows under another's name.
_AS = {
    "index": "strchr", "rindex": "strrchr", "bcmp": "memcmp", "bcopy": "memmove", "bzero": "memset", "_tolower": "tolower",
    "_toupper": "toupper", "__strtok_r": "strtok_r", "frexpf": "frexp", "modff": "modf", "fmaf": "fma", "lroundf": "lround",
    "llroundf": "llround", "lrintf": "lrint",
}
_PRINTED = {
    **dict.fromkeys("diouxXc", "printed integers"), **dict.fromkeys("fFeEgGaA", "printed reals"), "s": "printed words",
}
_SCANNED = {
    **dict.fromkeys("diouxX", ("scanned integers",)), **dict.fromkeys("sc[", ("scanned words",)),
    **dict.fromkeys("eEfgGaA", ("scanned reals", *_REAL, "scanned payloads")),
}

def checked(analysis: Analysis, led: frozenset[str], path: Path) -> Analysis:
    """The analysis of a program that may have a kernel, with this machine's reasons against that, or the kernel's macros.

    led  functions that the system's headers lead to those of C23. Raises as `toolchain.probe.machine`.
    """
    if not analysis.has_kernel and analysis.facts.fold.loop is None:
        return analysis
    bodies = (body for _, body in analysis.facts.calls.bodies)
    reasons, macros = needs(analysis.program, bodies, led, path)
    return replace(analysis, refusals=tuple(dict.fromkeys((*analysis.refusals, *reasons))), macros=macros)


def needs(
    program: ir.Program, bodies: Iterable[ir.Block], led: frozenset[str], path: Path,
) -> tuple[list[Reason], tuple[str, ...]]:
    """This machine's reasons against code of ours that does what `bodies` of a program do, or the macros for it."""
    machine = probe.machine()
    reasons = [*_language(machine, path)]
    macros: set[str] = set()
    for behaviour, function, span in () if machine.failure else _behaviours(program, bodies, led):
        wanted = machine.macros(behaviour)
        if wanted is None:
            text = f"{function}() does not do in this machine's C library ({machine.library}) what it does in kernels"
            reasons.append(Reason("HD308", text, span if span.line else Span(str(path), 0)))
        macros |= wanted or set()
    return reasons, tuple(sorted(macros))


def _language(machine: ProbedMachine, path: Path) -> Iterator[Reason]:
    """What $CC says that kernels do not follow."""
    words = compiler_words.changes(cc.find_cc())
    for word in words:
        text = f"the C compiler is called with {word}, which gives programs another meaning than kernels have"
        yield Reason("HD307", text, Span(str(path), 0))
    if machine.failure:
        yield Reason("HD309", f"how this machine's C library behaves cannot be asked: {machine.failure}", Span(str(path), 0))
    for fact in machine.strange if not words else ():
        yield Reason("HD307", f"as the C compiler is called it is not so that {fact}, as in kernels", Span(str(path), 0))


def _behaviours(
    program: ir.Program, bodies: Iterable[ir.Block], led: frozenset[str],
) -> Iterator[tuple[str, str, Span]]:
    """Behaviour, the function that has it, and where: for all that the bodies call."""
    for node in (n for body in bodies for n in ir_walk.walk(body)):
        if isinstance(node, (ir.Emit, ir.Stderr)):
            yield from ((b, node.call, node.span) for b in _printed(node.pieces))
        elif isinstance(node, ir.ReadPair):
            yield from ((b, "scanf", node.span) for b in _scanned(node.format, led & {"scanf", "fscanf"}))
        elif isinstance(node, ir.Call) and (name := callbacks.made_of(ir.called(node))):
            yield name, name, node.span
        elif isinstance(node, ir.Call) and ir.called(node) not in program.by_name:
            yield from ((b, ir.called(node), node.span) for b in _called(node, led))


def _called(node: ir.Call, led: frozenset[str]) -> Iterable[str]:
    name = ir.called(node)
    if name in ("sprintf", "snprintf"):
        return _printed(output.string_pieces(node) or ())
    if name == "sscanf":
        return _scanned(stdio.literal(node.args[1]) or b"", led & {name})
    return [f"c23:{name}"] if name in led else _READS.get(name, (_AS.get(name, name),))


def _printed(pieces: Iterable[ir.Piece]) -> list[str]:
    letters = [piece.spec[-1] for piece in pieces if isinstance(piece, ir.Format)]
    return [_PRINTED[letter] for letter in letters if letter in _PRINTED]


def _scanned(text: bytes, led: frozenset[str]) -> list[str]:
    found = [name for item in formats.split_scanf(text) or () for name in _SCANNED.get(item.letter, ())]
    return [f"c23:{name}" if led and name.startswith("scanned") and name != "scanned payloads" else name for name in found]
