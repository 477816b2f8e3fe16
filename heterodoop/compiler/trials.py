"""Small changes of the source that mend refusals: each is tried, so that what a user is told is what he will get.

A draft (`mend`) is written into a copy of the program, and that is compiled and analysed as the program was. It is kept
where the refusal is gone and nothing else came in its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from .. import scratch
from ..errors import HeteroDoopError
from ..manifest import Change, Fix, Program, Reason
from ..source import UNKNOWN
from .app import BuildOptions
from .mend import table
from .mend.scene import Draft, Scene
from .source.frontend import Unit

MOST_TRIALS = 8  # of one program, each one or two tenths of a second
# Behind these others may come to light that nobody could see before.
_HIDE = frozenset({"HD202", "HD228", "HD304", "HD305", "HD330"})

Analyse = Callable[[BuildOptions], Program]


def mended(program: Program, unit: Unit, options: BuildOptions, analyse: Analyse) -> Program:
    """The program, with a fix at each reason that a small change mends. analyse: the only program of such options."""
    source = unit.sources.get(unit.path)
    if source is None:
        return program
    trials = _Trials(program, unit, source.lines(), options, analyse)
    if program.role == "reduce":
        return replace(program, no_host=tuple(map(trials.fixed, program.no_host)))
    made = replace(program, gpu_refusals=tuple(map(trials.fixed, program.gpu_refusals)))
    if made.region is not None and made.region.no_fold is not None:
        made = replace(made, region=replace(made.region, no_fold=trials.fixed(made.region.no_fold)))
    return made


def changed(lines: Sequence[str], changes: Sequence[Change]) -> str:
    """The text with changes made. Raises ValueError where a line is not what a change says."""
    made = list(lines)
    for one in changes:
        if made[one.line - 1] != one.old:
            raise ValueError(f"line {one.line} is another one")
        made[one.line - 1] = one.new
    return "\n".join(made)


class _Trials:
    def __init__(
        self, program: Program, unit: Unit, lines: Sequence[str], options: BuildOptions, analyse: Analyse,
    ) -> None:
        self._program, self._unit, self._lines, self._analyse = program, unit, lines, analyse
        home = str(Path(unit.path).resolve().parent)  # for what it includes in quotes
        cc = replace(options.cc, includes=(*options.cc.includes, home))
        self._options = replace(options, cc=cc, commands=(), carried=())
        variables = program.region.variables if program.region else ()
        self._types = {variable.name: variable.ctype for variable in variables}
        self._known: dict[tuple[Change, ...], Program | None] = {}
        self._before = Counter(map(_key, _reasons(program)))

    def fixed(self, reason: Reason) -> Reason:
        if reason.code not in table.DRAFTS or reason.span.file not in (self._unit.path, UNKNOWN.file):
            return reason
        directive = next((d.span.line for d in self._unit.directives if d.span.file == self._unit.path), 0)
        for draft in table.drafts(Scene(reason, self._lines, directive, self._types)):
            if draft.changes not in self._known:
                if len(self._known) == MOST_TRIALS:
                    return reason
                self._known[draft.changes] = self._tried(draft)
            found = self._known[draft.changes]
            if found is not None and self._helps(reason, found):
                left = len(found.no_host if found.role == "reduce" else found.gpu_refusals)
                return replace(reason, fix=Fix(draft.changes, draft.where, left))
        return reason

    def _helps(self, reason: Reason, found: Program) -> bool:
        """Is the refusal gone, and nothing in its place?"""
        after = Counter(map(_key, _reasons(found)))
        gone = after[_key(reason)] < self._before[_key(reason)]
        return gone and (reason.code in _HIDE or not after - self._before)

    def _tried(self, draft: Draft) -> Program | None:
        """What the analysis says of the program with it; None: that is no C, or its directive is wrong."""
        with scratch.folder("mend-") as folder:
            path = folder / Path(self._unit.path).name
            path.write_text(changed(self._lines, draft.changes), encoding="utf-8", errors="surrogateescape", newline="")
            try:
                return self._analyse(replace(self._options, programs=((self._program.role, path),)))
            except HeteroDoopError:
                return None


def _reasons(program: Program) -> list[Reason]:
    """What is told of a program that a change may mend."""
    no_fold = [program.region.no_fold] if program.region and program.region.no_fold else []
    return [*program.gpu_refusals, *no_fold, *(program.no_host if program.role == "reduce" else ())]


def _key(reason: Reason) -> tuple[str, str]:
    """Without the places in its text, which a change moves."""
    return reason.code, re.sub(r"\d+", "N", reason.message)
