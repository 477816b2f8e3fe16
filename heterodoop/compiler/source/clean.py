"""Preprocessed text -> text that pycparser takes, every token that stays in its column.

What does not change the program's meaning is blanked out (`__attribute__((unused))`, `__extension__`, asm labels,
foreign pragmas); what does, and has no place in the tree, is found and named, so that the caller can say why the program
is not analysed. The CPU filter is built from the original source in any case.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

from ...values import dataclass
from .line_markers import PpLine
from .preprocess import TOKEN

PRAGMA = re.compile(r"\s*#\s*pragma\s+mapreduce\b")
_FOREIGN = re.compile(r"\s*#\s*pragma\s+(.*)")
_LAYOUT_PRAGMAS = ("pack", "scalar_storage_order", "redefine_extname")
_MEANING_PRAGMA = re.compile(
    r"(GCC\s+optimize)\b.*(?:fast|math|reciprocal|signed|trap|contract|alias|wrap)|(clang\s+fp|float_control)\b"
    r"|(STDC\s+(?:FP_CONTRACT|FENV_ACCESS|CX_LIMITED_RANGE)\s+ON)\b"
)

PRELUDE = """\
typedef struct { unsigned int gp_offset; unsigned int fp_offset; void *overflow_arg_area; void *reg_save_area; } \
__builtin_va_list[1];
typedef __int128 __int128_t;
typedef unsigned __int128 __uint128_t;
long __builtin_expect(long, long);
void __builtin_unreachable(void);
void __builtin_trap(void);
void __builtin_prefetch(const void *, ...);
int __builtin_constant_p(int, ...);
int __builtin_popcount(unsigned int);
int __builtin_popcountl(unsigned long);
int __builtin_popcountll(unsigned long long);
int __builtin_clz(unsigned int);
int __builtin_clzl(unsigned long);
int __builtin_clzll(unsigned long long);
int __builtin_ctz(unsigned int);
int __builtin_ctzl(unsigned long);
int __builtin_ctzll(unsigned long long);
unsigned short __builtin_bswap16(unsigned short);
unsigned int __builtin_bswap32(unsigned int);
unsigned long __builtin_bswap64(unsigned long);
"""

_BLANK = {"__extension__", "__inline", "__inline__", "__restrict", "__restrict__", "__thread"}
_RESPELT = {
    "__const": "const", "__const__": "const", "__volatile": "volatile", "__volatile__": "volatile",
    "__signed": "signed", "__signed__": "signed", "__alignof": "_Alignof", "__alignof__": "_Alignof",
    "__builtin_offsetof": "offsetof", "<:": "[", ":>": "]", "<%": "{", "%>": "}",
}
_REFUSED = {
    "__auto_type": "__auto_type", "__label__": "local label",
    "_Complex": "complex number", "__complex__": "complex number",
    "__complex": "complex number", "__real__": "complex number", "__imag__": "complex number",
    "__builtin_types_compatible_p": "__builtin_types_compatible_p", "__builtin_choose_expr": "__builtin_choose_expr",
    **{f"_Float{n}": f"type _Float{n}" for n in ("16", "32", "64", "128", "32x", "64x")},
    "__float128": "type __float128", "__fp16": "type __fp16", "__bf16": "type __bf16",
    **{f"_Decimal{n}": f"type _Decimal{n}" for n in (32, 64, 128)}, "_BitInt": "type _BitInt",
}
_REFUSED_ATTRIBUTES = {
    "packed": "attribute packed", "vector_size": "vector extension",
    "mode": "attribute mode", "cleanup": "attribute cleanup",
    "constructor": "attribute constructor", "destructor": "attribute destructor", "alias": "attribute alias",
    "ifunc": "attribute ifunc", "transparent_union": "attribute transparent_union",
    "scalar_storage_order": "attribute scalar_storage_order", "optimize": "attribute optimize",
}
_CONTROL = {
    "if", "else", "while", "for", "do", "switch",
    "return", "case", "default", "goto", "sizeof", "struct", "union", "enum",
}
_UNARY_AFTER = {"(", ",", "=", "{", "[", "?", ":", "return", "&&", "||", "!", "+", "-", "==", "!=", "<", ">", ";", "}"}


@dataclass(frozen=True)
class FoundConstruct:
    """A construct that keeps the program from being analysed. `ordinal`: which occurrence of `token` on its line."""

    what: str
    file: str
    line: int
    token: str
    ordinal: int


@dataclass(frozen=True)
class Cleaned:
    """Text with markers `# LINE "K"`, where K indexes `files`; `lines` is the same text by line, for its columns."""

    text: str
    files: tuple[str, ...]
    lines: tuple[PpLine, ...]
    refusal: FoundConstruct | None


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    line: int


def clean(lines: Sequence[PpLine], *, gnu: bool) -> Cleaned:
    """Make preprocessed lines fit for pycparser. `gnu`: `asm` is a keyword (in -std=gnuNN it is).

    Every `#pragma mapreduce ...` becomes `#pragma mapreduce N`, N counting from 0 in order of the text. One in a
    system header, or behind a marker that says so, is none.
    """
    texts, pragma_refusal = _without_pragmas(lines)
    cleaner = _Cleaner(texts, gnu)
    cleaner.run()
    found = [(line, what, token) for line, what, token in (pragma_refusal, *cleaner.found) if what]
    refusal = None
    if found:
        line, what, token = min(found, key=lambda f: (f[0], f[2].start if f[2] else 0))
        refusal = FoundConstruct(what, lines[line].file, lines[line].line, token.text if token else "",
                                 cleaner.ordinal(token))
    out = [PpLine(p.file, p.line, t, p.system) for p, t in zip(lines, cleaner.result().split("\n"), strict=True)]
    files = tuple(dict.fromkeys(line.file for line in out))
    return Cleaned(_with_markers(out, files), files, tuple(out), refusal)


def _without_pragmas(lines: Sequence[PpLine]) -> tuple[list[str], tuple[int, str, _Token | None]]:
    texts: list[str] = []
    refusal: tuple[int, str, _Token | None] = (0, "", None)
    number = 0
    for i, line in enumerate(lines):
        text = line.text
        if PRAGMA.match(text) and not line.system:
            text, number = f"#pragma mapreduce {number}", number + 1
        elif text.lstrip().startswith("#"):
            foreign = _FOREIGN.match(text)
            name = foreign[1].split("(")[0].split()[:1] if foreign else []
            meaning = _MEANING_PRAGMA.match(foreign[1]) if foreign else None
            if name and (name[0] in _LAYOUT_PRAGMAS or meaning) and not refusal[1]:
                refusal = (i, f"#pragma {next(filter(None, meaning.groups())) if meaning else name[0]}", None)
            text = ""
        texts.append(text)
    return texts, refusal


def _with_markers(lines: Sequence[PpLine], files: Sequence[str]) -> str:
    index = {file: i for i, file in enumerate(files)}
    parts: list[str] = []
    place = ("", 0)
    for line in lines:
        if not line.text.strip():
            continue
        if (line.file, line.line) != place:
            parts.append(f'# {line.line} "{index[line.file]}"')
        parts.append(line.text)
        place = (line.file, line.line + 1)
    return "\n".join(parts) + "\n"


class _Cleaner:
    """One walk over the tokens with a stack of what each open brace is."""

    def __init__(self, texts: Sequence[str], gnu: bool) -> None:
        self.found: list[tuple[int, str, _Token | None]] = []
        self._text = "\n".join(texts)
        self._gnu = gnu
        self._starts = [0]
        for text in texts:
            self._starts.append(self._starts[-1] + len(text) + 1)
        self._tokens = self._tokenize()
        self._edits: list[tuple[int, int, str]] = []
        self._braces: list[str] = []
        self._statement = 0
        self._handlers: dict[str, Callable[[int], int]] = {
            "__attribute__": self._attribute, "__attribute": self._attribute, "__asm__": self._asm, "__asm": self._asm,
            "asm": self._asm, "{": self._open, "}": self._close, "[": self._bracket, "&&": self._and, "goto": self._goto,
        }

    def _tokenize(self) -> list[_Token]:
        tokens = []
        for match in TOKEN.finditer(self._text):
            line = bisect_right(self._starts, match.start()) - 1
            if self._text.startswith("#pragma mapreduce ", self._starts[line]):
                continue
            tokens.append(_Token(match.lastgroup or "", match[0], match.start(), line))
        return tokens

    def run(self) -> None:
        i = 0
        while i < len(self._tokens):
            i = self._step(i)

    def _step(self, i: int) -> int:
        """Treat token i; the index of the next one to look at."""
        token = self._tokens[i]
        if token.text in (";", ":"):
            self._statement = i + 1
        if token.kind in ("name", "punct") or token.text in self._handlers:
            if token.text in _BLANK:
                self._blank(i, i + 1)
            elif token.text in _RESPELT:
                self._respell(i, _RESPELT[token.text])
            elif token.text in _REFUSED:
                self._refuse(i, _REFUSED[token.text])
            handler = self._handlers.get(_RESPELT.get(token.text, token.text))
            return handler(i) if handler else i + 1
        if token.kind == "raw":
            self._refuse(i, "raw string")
        return i + 1

    # ------------------------------------------------------------------------------------------ helpers

    def _at(self, i: int) -> str:
        return self._tokens[i].text if 0 <= i < len(self._tokens) else ""

    def _refuse(self, i: int, what: str) -> None:
        token = self._tokens[i]
        self.found.append((token.line, what, token))

    def _blank(self, first: int, last: int) -> None:
        """Blank out tokens [first, last)."""
        end = self._tokens[last - 1]
        self._edits.append((self._tokens[first].start, end.start + len(end.text), ""))

    def _respell(self, i: int, text: str) -> None:
        token = self._tokens[i]
        self._edits.append((token.start, token.start + len(token.text), text))

    def _group(self, i: int) -> int:
        """Index after the bracket group that opens at token i (the end of the text where it never closes)."""
        depth = 0
        while i < len(self._tokens):
            text = self._at(i)
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            i += 1
            if depth == 0:
                return i
        return i

    def _function(self) -> bool:
        return "block" in self._braces

    def ordinal(self, token: _Token | None) -> int:
        if token is None:
            return 0
        return sum(t.line == token.line and t.text == token.text and t.start < token.start for t in self._tokens)

    def result(self) -> str:
        parts, pos = [], 0
        for start, end, text in sorted(self._edits):
            if start < pos:
                continue
            hole = re.sub(r"[^\n]", " ", self._text[start + len(text) : end])
            parts += [self._text[pos:start], text, hole]
            pos = end
        return "".join(parts) + self._text[pos:]

    # --------------------------------------------------------------------------------------- constructs

    def _attribute(self, i: int) -> int:
        end = self._group(i + 1) if self._at(i + 1) == "(" else i + 1
        self._judge_attributes(i, end)
        self._blank(i, end)
        return end

    def _judge_attributes(self, i: int, end: int) -> None:
        for k in range(i, end):
            name = self._at(k).removeprefix("__").removesuffix("__")
            if name in _REFUSED_ATTRIBUTES and self._at(k - 1) in ("(", ",", "[", "::"):
                self._refuse(k, _REFUSED_ATTRIBUTES[name])
            elif name == "aligned" and self._aligns_type(i):
                self._refuse(k, "attribute aligned on a type")

    def _aligns_type(self, i: int) -> bool:
        """Alignment of a variable changes nothing that a program computes; that of a type or member changes layouts."""
        in_struct = bool(self._braces) and self._braces[-1] == "struct"
        return in_struct or self._at(i - 1) in ("}", "struct", "union") or self._at(self._statement) == "typedef"

    def _bracket(self, i: int) -> int:
        """C2x attributes `[[...]]`, which gcc takes in every mode."""
        if self._at(i + 1) not in ("[", "<:"):
            return i + 1
        end = self._group(i)
        self._judge_attributes(i, end)
        self._blank(i, end)
        return end

    def _asm(self, i: int) -> int:
        if self._at(i) == "asm" and not self._gnu:
            return i + 1
        label = not self._function() and self._at(i + 1) == "(" and self._at(i - 1) not in (";", "}", "")
        if not label:
            self._refuse(i, "asm")
            return i + 1
        end = self._group(i + 1)
        self._blank(i, end)
        return end

    def _open(self, i: int) -> int:
        self._braces.append(self._brace_kind(i))
        if self._braces[-1] == "block":
            if self._function_nested(i):
                self._refuse(self._statement, "nested function")
            self._statement = i + 1
        return i + 1

    def _brace_kind(self, i: int) -> str:
        before = self._at(i - 1)
        if before in ("struct", "union") or self._at(i - 2) in ("struct", "union"):
            return "struct"
        if before == "enum" or self._at(i - 2) == "enum":
            return "enum"
        if before == "=" or (self._braces and self._braces[-1] == "init") or before in (",", "["):
            return "init"
        return "init" if before == ")" and self._compound_literal(i) else "block"

    def _compound_literal(self, i: int) -> bool:
        """`(type){...}`: the bracket before the brace follows an operator, not a name, a control word or a `)`."""
        depth, k = 0, i - 1
        while k >= 0:
            depth += (self._at(k) == ")") - (self._at(k) == "(")
            if depth == 0:
                break
            k -= 1
        before = self._tokens[k - 1] if k > 0 else None
        operator = before is not None and before.kind == "punct" and before.text not in (")", "]", "*")
        return operator or (before is not None and before.text == "return")

    def _function_nested(self, i: int) -> bool:
        """`type name(...) {` as a statement of a block."""
        words = self._tokens[self._statement : i]
        if not self._function() or len(self._braces) < 2 or len(words) < 4 or words[-1].text != ")":
            return False
        heads = [t for t in words if t.text == "("]
        before = words[: words.index(heads[0])] if heads else []
        names = [t for t in before if t.kind == "name"]
        plain = len(names) >= 2 and all(t.kind == "name" or t.text == "*" for t in before)
        return plain and not any(t.text in _CONTROL - {"struct", "union", "enum"} for t in before)

    def _close(self, i: int) -> int:
        if self._braces and self._braces.pop() == "block":
            self._statement = i + 1
        return i + 1


    def _and(self, i: int) -> int:
        if self._tokens[i + 1 : i + 2] and self._tokens[i + 1].kind == "name" and self._at(i - 1) in _UNARY_AFTER:
            self._refuse(i, "label as a value")
        return i + 1

    def _goto(self, i: int) -> int:
        if self._at(i + 1) == "*":
            self._refuse(i, "computed goto")
        return i + 1
