"""A C++ file -> Unit: what it is made of, the compiler's judgement, and that it is not analysed.

C++ is no C with more: 'a' has another type, conversions and calls mean what overloads say (decision 0050). So even a file
that reads as C is C++ here. Not here: C (`frontend`).
"""

from __future__ import annotations

import os
from pathlib import Path

from ...manifest import Reason
from ...source import SourceFile, SourceMap, Span
from ...toolchain import cc
from ...toolchain.cc import CompilerPlace
from .clean import PRAGMA
from .frontend import Unit
from .line_markers import read_lines
from .preprocess import CcRuns

CODE = "HD270"


def load(path: str | os.PathLike[str], runs: CcRuns) -> Unit:
    """Raises UserError HD300 with what the compiler finds, as `cc.check`."""
    name = os.fspath(path)
    names = {CompilerPlace.of([name]).path(name): name}
    compiler = cc.compiler_of(name)[0]
    warnings = cc.check(compiler, runs.judged.result(), names)
    text = runs.stand_ins.result()
    cc.check(compiler, text, names)
    sources = SourceMap()
    sources.add(SourceFile.read(name))
    lines, files = read_lines(text.stdout, names, sources, system=False)
    directive = next((line for line in lines if PRAGMA.match(line.text)), None)
    place = Span(directive.file, directive.line) if directive else Span(name, 0)
    deps = list(dict.fromkeys([name, *filter(os.path.isfile, files)]))
    return Unit(name, None, reason(directive is not None, place), sources, [], deps, warnings)


def reason(directive: bool, place: Span) -> Reason:
    """Why the program runs on the CPU; `directive`: it asks for more."""
    asked = "so the directive has no effect:" if directive else "and"
    return Reason(CODE, f"it is C++, {asked} kernels are made of C", place)


def linked(path: Path) -> Reason:
    """The same of a program that is C and is linked with a C++ file."""
    return Reason(CODE, f"the program is linked with {path.name}, which is C++: kernels are made of C", Span(str(path), 0))
