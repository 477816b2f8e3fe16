"""The C types of a program as HeteroDoop sees them: x86-64, LP64, plain char signed.

Values, compared by content; a struct is known by its tag and looked up in `Layouts`, so that it can hold pointers
to itself. Sizes and alignments are those of the System V ABI, in bytes.
"""

from __future__ import annotations

from dataclasses import field

from ...values import dataclass


@dataclass(frozen=True)
class CType:
    """Base of all types. Qualifiers are dropped but for `const`, which only placement asks for."""


@dataclass(frozen=True)
class Void(CType):
    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True)
class Int(CType):
    """An integer type; an enum is the one gcc gives it (`TypeTable`), `_Bool` is 8 bits unsigned with name "_Bool"."""

    name: str
    bits: int
    signed: bool

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Float(CType):
    name: str
    bits: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Pointer(CType):
    to: CType
    const: bool = False

    def __str__(self) -> str:
        return f"{'const ' if self.const else ''}{self.to} *"


@dataclass(frozen=True)
class Array(CType):
    """`length` None: not known at compile time (incomplete or variable)."""

    of: CType
    length: int | None

    def __str__(self) -> str:
        inner, dims = self.of, f"[{'' if self.length is None else self.length}]"
        while isinstance(inner, Array):
            dims += f"[{'' if inner.length is None else inner.length}]"
            inner = inner.of
        return f"{inner}{dims}"


@dataclass(frozen=True)
class Struct(CType):
    """A struct or union by tag; anonymous ones get a tag `.N` of their own."""

    tag: str
    union: bool = False

    def __str__(self) -> str:
        return f"{'union' if self.union else 'struct'} {self.tag}"


@dataclass(frozen=True)
class Func(CType):
    result: CType
    params: tuple[CType, ...]
    variadic: bool = False

    def __str__(self) -> str:
        params = ", ".join(map(str, self.params)) + (", ..." if self.variadic else "")
        return f"{self.result} ({params or 'void'})"


VOID = Void()
BOOL = Int("_Bool", 8, False)
CHAR = Int("char", 8, True)
SCHAR = Int("signed char", 8, True)
UCHAR = Int("unsigned char", 8, False)
SHORT = Int("short", 16, True)
USHORT = Int("unsigned short", 16, False)
INT = Int("int", 32, True)
UINT = Int("unsigned int", 32, False)
LONG = Int("long", 64, True)
ULONG = Int("unsigned long", 64, False)
LLONG = Int("long long", 64, True)
ULLONG = Int("unsigned long long", 64, False)
INT128 = Int("__int128", 128, True)
UINT128 = Int("unsigned __int128", 128, False)
FLOAT = Float("float", 32)
DOUBLE = Float("double", 64)
LDOUBLE = Float("long double", 128)


@dataclass(frozen=True)
class Field:
    """A member: `offset` in bytes; a bit-field has `bits` > 0 (and is refused for the GPU)."""

    name: str
    type: CType
    offset: int
    bits: int = 0


@dataclass(frozen=True)
class Layout:
    fields: tuple[Field, ...]
    size: int
    align: int

    def field(self, name: str) -> Field | None:
        return next((f for f in self.fields if f.name == name), None)


@dataclass
class Layouts:
    """struct and union tags -> layout; a tag that is only declared is absent."""

    table: dict[str, Layout] = field(default_factory=dict)

    def size(self, kind: CType) -> int | None:
        """sizeof in bytes; None where it is not known (void, incomplete, variable length, function)."""
        if isinstance(kind, (Int, Float)):
            return kind.bits // 8
        if isinstance(kind, Pointer):
            return 8
        if isinstance(kind, Array):
            inner = self.size(kind.of)
            return None if inner is None or kind.length is None else inner * kind.length
        if isinstance(kind, Struct) and kind.tag in self.table:
            return self.table[kind.tag].size
        return None

    def elements(self, kind: CType) -> int | None:
        """How many numbers or characters an object holds, those of a struct's fields together; None where not known."""
        if isinstance(kind, Array):
            inner = self.elements(kind.of) if isinstance(kind.of, (Array, Struct)) else 1
            return None if inner is None or kind.length is None else inner * kind.length
        if isinstance(kind, Struct) and kind.tag in self.table:
            parts = [self.elements(f.type) for f in self.table[kind.tag].fields]
            return None if None in parts else sum(part or 0 for part in parts)
        return None if isinstance(kind, Pointer) else 1

    def align(self, kind: CType) -> int:
        if isinstance(kind, Array):
            return self.align(kind.of)
        if isinstance(kind, Struct) and kind.tag in self.table:
            return self.table[kind.tag].align
        return self.size(kind) or 1


def element(kind: CType) -> CType | None:
    """What an array or pointer holds; None for other types."""
    if isinstance(kind, Array):
        return kind.of
    return kind.to if isinstance(kind, Pointer) else None


def decay(kind: CType) -> CType:
    """The type an expression of type `kind` has as a value: arrays become pointers, functions pointers to them."""
    if isinstance(kind, Array):
        return Pointer(kind.of)
    return Pointer(kind) if isinstance(kind, Func) else kind


def promote(kind: CType) -> CType:
    """C's integer promotions: what `+x` has. Other types come back decayed, else unchanged."""
    if isinstance(kind, Int):
        return INT if kind.bits < 32 else kind
    return decay(kind)


def common(left: CType, right: CType) -> CType:
    """C's usual arithmetic conversions (C17 6.3.1.8): the type two arithmetic operands meet in.

    A pointer wins over an integer, as in `p + 1`, `p == 0` and the arms of `?:`.
    """
    left, right = promote(left), promote(right)
    for kind in (left, right):
        if not isinstance(kind, (Int, Float)):
            return kind
    if isinstance(left, Float) or isinstance(right, Float):
        return max((k for k in (left, right) if isinstance(k, Float)), key=lambda k: k.bits)
    return _common_int(left, right) if isinstance(left, Int) and isinstance(right, Int) else left


_RANKS = ("int", "long", "long long", "__int128")


def _common_int(left: Int, right: Int) -> Int:
    if left.signed == right.signed:
        return max(left, right, key=_rank)
    signed, unsigned = (left, right) if left.signed else (right, left)
    if _rank(unsigned) >= _rank(signed):
        return unsigned
    return signed if signed.bits > unsigned.bits else _UNSIGNED[signed]


def _rank(kind: Int) -> int:
    return _RANKS.index(kind.name.removeprefix("unsigned ")) if kind.name.removeprefix("unsigned ") in _RANKS else 0


_UNSIGNED = {INT: UINT, LONG: ULONG, LLONG: ULLONG, INT128: UINT128}


def wrap(kind: Int, value: int) -> int:
    """`value` as an object of the integer type holds it: two's complement, `_Bool` 0 or 1."""
    if kind == BOOL:
        return int(value != 0)
    value &= (1 << kind.bits) - 1
    return value - (1 << kind.bits) if kind.signed and value >> (kind.bits - 1) else value
