"""Functions as the values of pointers on a device: numbers from 1 on, since a kernel's functions have other addresses and
other parameters than the program's. A pointer to a function is compared, kept and called; nothing else can be done with one.
"""

from __future__ import annotations

from ..ir import ir
from ..types import ctype
from .libc_effects import EFFECTS, REFUSED
from .objects import Code, Object


def code_numbers(program: ir.Program) -> dict[str, int]:
    """The number of each function that a pointer may lead to: the program's own, then the library's."""
    own = [f.name for f in program.functions]
    library = [s.name for s in program.externs if isinstance(s.type, ctype.Func) and s.name not in own]
    return {name: number for number, name in enumerate([*own, *library], start=1)}


def plain_library_function(name: str) -> bool:
    """Is it a function of its values alone, which a pointer may lead to?"""
    effect = EFFECTS.get(name)
    return effect is not None and name not in REFUSED and not effect.reads and not effect.writes and effect.result == "value"


def only_code(targets: set[Object]) -> bool:
    """Does a pointer lead to functions and to nothing else?"""
    return bool(targets) and all(isinstance(target, Code) for target in targets)
