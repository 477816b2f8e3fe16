"""The words of a compiler's command ($CC, $CXX), told apart by what they do.

A user's own words reach his own programs as they stand. Files of ours get only those that choose the compiler, the machine
and where things lie, so that no warning, standard or header of his stops them. Not here: running a compiler (`cc`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# What code of ours is compiled with, too; then the options whose value is the next word.
_MACHINE = re.compile(
    r"-m(?!long-double)|--?target|--?sysroot|-isysroot|-isystem|-B|-L|--?specs|--gcc-toolchain|-stdlib|-fsanitize|-fuse-ld"
    r"|-f(no-)?(pic|pie|PIC|PIE)$|-(no-)?pie$|-static|-pipe$|-Wl,|-nostdinc$|-resource-dir"
)
_TWO_WORDS = frozenset(
    "-target --target -sysroot --sysroot -isysroot -isystem -B -L -specs --specs -I -D -U -include -imacros -iquote "
    "-idirafter -MF -MT -MQ -x -u -z -T -Xlinker -Xpreprocessor -Xassembler -o --param".split()
)
# Warnings, by-products that running the preprocessor alone must not have, other forms of its text, and other places for it.
_ASIDE = re.compile(
    r"-W(?![lpa],)|-pedantic|--pedantic|-M|-save-temps|--save-temps|-ftime|-fdump|-fstack-usage"
    r"|-P$|-CC?$|-d[DIMNU]+$|-H$|-v$|-fdirectives-only$|-o$"
)

# What changes how C is understood or computed, where neither kernels nor the analysis follow. The flags that every filter
# is built with come later and win over -O0, -Ofast, -ftrapv, -fno-wrapv, -fstrict-aliasing and -ffp-contract.
_CHANGES = re.compile(
    r"-ffast-math$|-Ofast$|-funsafe-math-optimizations$|-fassociative-math$|-freciprocal-math$|-ffinite-math-only$"
    r"|-fno-signed-zeros$|-fno-honor-(nans|infinities)$|-fapprox-func$|-ffp-model=|-fsingle-precision-constant$"
    r"|-f(no-)?cx-|-mrecip|-mfpmath=|-mpc(32|64|80)$|-mdaz-ftz$|-mlong-double-|-m(32|x32|16)$|-mms-bitfields$"
    r"|-funsigned-char$|-fno-signed-char$|-funsigned-bitfields$|-fno-signed-bitfields$"
    r"|-fshort-enums$|-fshort-wchar$|-fshort-double$|-fpack-struct|-f(wide-)?exec-charset=|-fsanitize=|-fopenmp|-fopenacc"
    r"|-ftree-parallelize-loops=|-traditional|-fplugin=|-finstrument-functions$"
)
_UNDONE = {"-ffast-math": "-fno-fast-math", "-funsigned-char": "-fsigned-char", "-fno-signed-char": "-fsigned-char"}


def program(words: Sequence[str]) -> list[str]:
    """The command itself: `ccache gcc` of `ccache gcc -g`."""
    count = next((i for i, word in enumerate(words) if word.startswith(("-", "@"))), len(words))
    return list(words[:count])


def own(words: Sequence[str]) -> list[str]:
    """The command for files of ours: the same compiler for the same machine, no other word of the user's."""
    return [*program(words), *(part for option in _options(words) if _MACHINE.match(option[0]) for part in option)]


def quiet(words: Sequence[str]) -> list[str]:
    """The command for looking at a user's file without building it: all that says what it means, no warnings."""
    return [*program(words), *(part for option in _options(words) if not _ASIDE.match(option[0]) for part in option)]


def standard(words: Sequence[str]) -> str:
    """The C standard that the words choose, as -std takes it; "" for none."""
    found = ""
    for option in _options(words):
        if option[0] == "-ansi":
            found = "c90"
        elif option[0].startswith(("-std=", "--std=")):
            found = option[0].partition("=")[2]
    return found


def changes(words: Sequence[str]) -> list[str]:
    """Words that give programs another meaning, as far as they are known by name."""
    flat = [option[0] for option in _options(words)]
    last = {word: i for i, word in enumerate(flat)}
    return [w for w in last if _CHANGES.match(w) and last[w] > last.get(_UNDONE.get(w, ""), -1)]


def _options(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The options behind the command, each with its value where that is a word of its own."""
    rest = iter(words[len(program(words)):])
    for word in rest:
        value = next(rest, None) if word in _TWO_WORDS else None
        yield (word,) if value is None else (word, value)
