"""printf and scanf formats as pieces, by C17 7.21.6; the texts that `Emit`, `Stderr` and `ReadPair` are made from."""

from __future__ import annotations

import re

from ...values import dataclass
from ..types import ctype
from ..types.ctype import CType, Pointer

_PRINTF = re.compile(rb"%([-+ #0']*)(\*|\d+)?(?:\.(\*|-?\d+)?)?(hh|h|ll|l|j|z|t|L|q)?([diouxXfFeEgGaAcspn%mCS!])|%")
_SCANF = re.compile(rb"%(\*)?(\d+)?(hh|h|ll|l|j|z|t|L|q|m)?(\[\^?\]?[^\]]*\]|[diouxXfFeEgGaAcspn%CS])|%")

_ANY = re.compile(rb"%[^A-Za-z%\[]*(?:hh|ll|[hljztLqm])?[A-Za-z\[]?")

_INTEGERS: dict[str, tuple[CType, CType]] = {
    "": (ctype.INT, ctype.UINT), "hh": (ctype.SCHAR, ctype.UCHAR), "h": (ctype.SHORT, ctype.USHORT),
    "l": (ctype.LONG, ctype.ULONG), "ll": (ctype.LLONG, ctype.ULLONG), "q": (ctype.LLONG, ctype.ULLONG),
    "j": (ctype.LONG, ctype.ULONG), "z": (ctype.LONG, ctype.ULONG), "t": (ctype.LONG, ctype.ULONG),
}


@dataclass(frozen=True)
class Conversion:
    """One printf conversion: `stars` counts the int arguments that stand before its own."""

    spec: str
    letter: str
    length: str
    stars: int
    takes: int


def split_printf(text: bytes) -> list[bytes | Conversion] | None:
    """Literal runs (%% resolved) and conversions in order; None where the format is not C's."""
    out: list[bytes | Conversion] = []
    pos, run = 0, b""
    for match in _PRINTF.finditer(text):
        run += text[pos : match.start()]
        pos = match.end()
        letter = (match[5] or b"").decode()
        if not letter:
            return None
        if letter == "%":
            run += b"%"
            continue
        stars = (match[2] == b"*") + (match[3] == b"*")
        if run:
            out.append(run)
        run = b""
        takes = 3 if letter == "!" else stars + (letter != "m")
        out.append(Conversion(match[0].decode("latin-1"), letter, (match[4] or b"").decode(), stars, takes))
    run += text[pos:]
    return [*out, run] if run else out


def unread(function: str, text: bytes | None) -> str:
    """Why a function's format is not cut into pieces. text: None where it is no literal."""
    if text is None:
        return f"the format of {function} is not a literal"
    known = _SCANF if function.endswith("scanf") else _PRINTF
    at = next((m.start() for m in known.finditer(text) if m[0] == b"%"), None)
    found = _ANY.match(text, at) if at is not None else None
    if found is None:
        return f"the arguments of {function} do not fit its format"
    return f"'{found[0].decode('latin-1')}' in the format of {function} is not analysed"


def conversion(spec: str) -> Conversion:
    """The parsed form of a `Format.spec`."""
    parts = split_printf(spec.encode("latin-1"))
    if not parts or len(parts) != 1 or not isinstance(parts[0], Conversion):
        raise ValueError(f"not one conversion: {spec!r}")
    return parts[0]


def argument_type(conv: Conversion) -> CType | None:
    """The promoted type of the value a conversion takes; None where it is not known (%n, %C)."""
    if conv.letter in "di":
        return ctype.promote(_INTEGERS[conv.length][0]) if conv.length in _INTEGERS else None
    if conv.letter in "ouxX":
        return _unsigned(conv.length)
    if conv.letter in "fFeEgGaA":
        return ctype.LDOUBLE if conv.length == "L" else ctype.DOUBLE
    if conv.letter == "c":
        return ctype.INT
    return {"s": Pointer(ctype.CHAR), "p": Pointer(ctype.VOID)}.get(conv.letter)


def integer_types(length: str) -> tuple[CType, CType] | None:
    """The signed and unsigned type of a length modifier, before promotion; None where it has none."""
    return _INTEGERS.get(length)


def _unsigned(length: str) -> CType | None:
    kinds = _INTEGERS.get(length)
    return None if kinds is None else ctype.promote(kinds[1])


@dataclass(frozen=True)
class Scan:
    """One directive of a scanf format: white space (letter " "), literal bytes (letter "="), or a conversion.

    width 0 = none given; `stores` is False for %* and for what is no conversion.
    """

    letter: str
    text: bytes = b""
    width: int = 0
    length: str = ""
    stores: bool = False

    @property
    def target(self) -> CType | None:
        """What a stored conversion's argument points to (char for strings and sets)."""
        if self.letter in ("s", "[", "c"):
            return ctype.CHAR if not self.length else None
        if self.letter in "dinouxX" and self.length in _INTEGERS:
            return _INTEGERS[self.length][0 if self.letter in "din" else 1]
        if self.letter in "fFeEgGaA":
            return {"": ctype.FLOAT, "l": ctype.DOUBLE, "L": ctype.LDOUBLE}.get(self.length)
        return None


def split_scanf(text: bytes) -> list[Scan] | None:
    """The directives of a scanf format in order; None where it is not C's."""
    out: list[Scan] = []
    pos = 0
    for match in _SCANF.finditer(text):
        out += _scan_literal(text[pos : match.start()])
        pos = match.end()
        if match[4] is None:
            return None
        letter = match[4][:1].decode("latin-1")
        if letter == "%":
            out.append(Scan("=", b"%"))
            continue
        out.append(Scan(letter, match[4], int(match[2] or 0), (match[3] or b"").decode(), not match[1]))
    return out + _scan_literal(text[pos:])


def _scan_literal(text: bytes) -> list[Scan]:
    parts = re.findall(rb"[ \t\n\v\f\r]+|[^ \t\n\v\f\r]+", text)
    return [Scan(" ") if part.isspace() else Scan("=", part) for part in parts]
