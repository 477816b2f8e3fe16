"""THE table of directive clauses: one row each, from the paper's Table 1. Parser, binder and documentation read it.

Not here: what a clause does to the generated code (placement, launch).
"""

from __future__ import annotations

from typing import Literal

from ...values import dataclass

Kind = Literal["mapper", "combiner"]
KINDS: tuple[Kind, ...] = ("mapper", "combiner")

MAX_LENGTH = 1 << 20
MAX_PAIRS = 1 << 20
MAX_BLOCKS = (1 << 31) - 1
MAX_THREADS = 1024
WARP = 32


@dataclass(frozen=True)
class ClauseRule:
    """One row.

    many      takes a list of arguments, else exactly one.
    argument  "variable": names of the program; "constant": an integer constant expression.
    legal     directives that may carry it.
    required  directives that must carry it, whatever the program.
    derived   what stands for a clause that is left out ("" = nothing does).
    largest   of a constant argument; the smallest is 1.
    """

    name: str
    many: bool
    argument: Literal["variable", "constant"]
    legal: tuple[Kind, ...]
    required: tuple[Kind, ...]
    derived: str
    largest: int
    doc: str


_BOTH: tuple[Kind, ...] = ("mapper", "combiner")
_COMBINER: tuple[Kind, ...] = ("combiner",)
_MAPPER: tuple[Kind, ...] = ("mapper",)

CLAUSES: tuple[ClauseRule, ...] = (
    ClauseRule(
        "key", False, "variable", _BOTH, _BOTH, "", 0,
        "The variable, or the struct of numbers and texts, that holds the key of the pair that is output.",
    ),
    ClauseRule(
        "value", False, "variable", _BOTH, (), "", 0,
        "The variable, or the struct of numbers and texts, that holds the value of the pair that is output; may be left out "
        "where the program prints a literal.",
    ),
    ClauseRule(
        "keyin", False, "variable", _COMBINER, _COMBINER, "", 0,
        "The variable that receives the key of an incoming pair.",
    ),
    ClauseRule(
        "valuein", False, "variable", _COMBINER, (), "what the loop's scanf, atoi or strtol fills", 0,
        "The variable that receives the value of an incoming pair; required where the loop does not show it.",
    ),
    ClauseRule(
        "keylength", False, "constant", _BOTH, (), "the key's array length, 1 for a number, the sum of a struct's",
        MAX_LENGTH, "Elements of the longest key, a string's final NUL included; required where the key is a pointer.",
    ),
    ClauseRule(
        "vallength", False, "constant", _BOTH, (), "the value's array length, 1 for a number, the sum of a struct's",
        MAX_LENGTH, "Elements of the longest value, a string's final NUL included; required where the value is a pointer.",
    ),
    ClauseRule(
        "firstprivate", True, "variable", _BOTH, (), "", 0,
        "Variables of which every record starts with a copy of what they held before the region.",
    ),
    ClauseRule(
        "sharedRO", True, "variable", _BOTH, (), "", 0,
        "Variables that the region only reads; all threads share one copy.",
    ),
    ClauseRule(
        "texture", True, "variable", _BOTH, (), "", 0,
        "Arrays of numbers that the region only reads, to be placed in texture memory.",
    ),
    ClauseRule(
        "kvpairs", False, "constant", _MAPPER, (), "", MAX_PAIRS,
        "The most pairs that one record outputs; saves memory for pairs.",
    ),
    ClauseRule("blocks", False, "constant", _BOTH, (), "", MAX_BLOCKS, "Thread blocks of the kernel."),
    ClauseRule(
        "threads", False, "constant", _BOTH, (), "", MAX_THREADS,
        "Threads in a block, at most 1024; multiples of 32 use whole warps.",
    ),
)

BY_NAME: dict[str, ClauseRule] = {rule.name: rule for rule in CLAUSES}
