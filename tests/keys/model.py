"""Hadoop's keys in plain Python: lines split into pairs, partitions by fields, comparisons. Knows none of the engine's code.

`tests/keys/golden.txt` has what Hadoop's own classes say, and test_model.py holds this against it. Comparisons follow
KeyFieldBasedComparator in its oddities too: what it says of texts that are no numbers is no order.
"""

from __future__ import annotations

import re
from typing import NamedTuple

ZERO, POINT, MINUS = b"0.-"


class Part(NamedTuple):
    """-kF.C,F.C with n and r; last field 0: to the end, last character 0: the whole field."""

    first: int
    first_char: int
    last: int
    last_char: int
    numeric: bool
    reverse: bool


def split(line: bytes, separator: bytes, fields: int) -> tuple[bytes, bytes]:
    """Key and value: the key ends before the `fields`-th separator."""
    at = line.find(separator)
    for _ in range(1, fields):
        if at >= 0:
            at = line.find(separator, at + len(separator))
    return (line, b"") if at < 0 else (line[:at], line[at + len(separator):])


def parts(options: str) -> list[Part]:
    """Of well-formed `-k` options, `-k 1` too; options without any are one part, the whole key."""
    numeric, reverse = (any(flag in word for word in re.findall(r"(?<!\S)-n?r?(?!\S)", options)) for flag in "nr")
    found = []
    for match in re.finditer(r"-k ?(\d+)(?:\.(\d+))?([nr]*)(?:,(\d+)(?:\.(\d+))?([nr]*))?", options):
        flags = match[3] + (match[6] or "")
        n, r = ("n" in flags, "r" in flags) if flags else (numeric, reverse)
        found.append(Part(int(match[1]), int(match[2] or 1), int(match[4] or 0), int(match[5] or 0), n, r))
    return found or ([Part(1, 1, 0, 0, numeric, reverse)] if options.strip() else [])


def decoded(key: bytes) -> str:
    """As Java decodes UTF-8: a surrogate is one malformed sequence, otherwise as Python."""
    return re.sub(rb"\xed[\xa0-\xbf][\x80-\xbf]?", b"\xef\xbf\xbd", key).decode("utf-8", "replace")


def hash_partition(key: bytes, reducers: int) -> int:
    """HashPartitioner of a Text."""
    return (_hashed(key, 1) & 0x7FFFFFFF) % reducers


def partition(key: bytes, separator: bytes, options: str, reducers: int) -> int:
    """KeyFieldBasedPartitioner."""
    text, wanted = decoded(key), parts(options)
    if not wanted:
        units = text.encode("utf-16-be")
        value = 0
        for high, low in zip(units[::2], units[1::2], strict=True):
            value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
        return (value & 0x7FFFFFFF) % reducers
    value, data = 0, text.encode()
    for one in wanted:
        first, end = _bounds(data, separator, one)
        if first >= 0:
            value = _hashed(data[first:max(first, end)], value)
    return (value & 0x7FFFFFFF) % reducers


def compare(a: bytes, b: bytes, separator: bytes, options: str) -> int:
    """KeyFieldBasedComparator: -1, 0 or 1; of two keys without the part it says a < b both ways, as Hadoop."""
    wanted = parts(options)
    if not wanted:
        return _sign(a, b)
    for one in wanted:
        (first, first_end), (other, other_end) = _bounds(a, separator, one), _bounds(b, separator, one)
        if first < 0 or other < 0:
            return -1 if (first < 0) != one.reverse else 1
        if one.numeric:
            result = numeric(a, first, first_end, b, other, other_end)
        else:
            sizes = first_end - first, other_end - other
            common = max(0, min(sizes))
            result = _sign(a[first:first + common], b[other:other + common]) or _sign(*sizes)
        if result:
            return -result if one.reverse else result
    return 0


def numeric(a: bytes, i: int, end: int, b: bytes, j: int, other_end: int) -> int:
    """Its numeric comparison of a[i:end] and b[j:other_end], of which it may read the byte behind, where one is empty."""
    first, other, sign = a[i], b[j], 1
    if (first == MINUS) != (other == MINUS):
        if first == MINUS:
            return 0 if _is_zero(a[i + 1:end]) and _is_zero(b[j:other_end]) else -1
        return 0 if _is_zero(b[j + 1:other_end]) and _is_zero(a[i:end]) else 1
    if first == MINUS:
        i, j, sign = i + 1, j + 1, -1
    i, j = _behind_zeros(a, i, end), _behind_zeros(b, j, other_end)
    while i < end and j < other_end and _digit(a[i]) and a[i] == b[j]:
        i, j = i + 1, j + 1
    # Where a number is used up, its first byte counts, whatever it was.
    first, other = a[i] if i < end else first, b[j] if j < other_end else other
    if (first == POINT and not (_digit(other) and j < other_end)) or (other == POINT and not (_digit(first) and i < end)):
        return sign * _fractions(a[i:end], b[j:other_end])
    sizes = _digits(a[i:end]) - _digits(b[j:other_end])
    return sign * _sign(sizes or _signed(first) - _signed(other), 0)


def _fractions(a: bytes, b: bytes) -> int:
    if not (a and b and a[0] == b[0] == POINT):
        return _more(a[1:]) if not b or (a and a[0] == POINT) else -_more(b[1:])
    for x, y in zip(a, b, strict=False):
        if x != y:
            return _sign(x, y) if _digit(x) and _digit(y) else _sign(_digit(x), _digit(y))
    return _more(a[len(b):]) - _more(b[len(a):])


def _more(rest: bytes) -> int:
    return int(re.match(rb"0*[1-9]", rest) is not None)


def _is_zero(text: bytes) -> bool:
    return re.match(rb"0*(?![0-9])(?:\.0*(?![0-9]))?", text) is not None and re.match(rb"0*(\.0*)?[1-9]", text) is None


def _behind_zeros(text: bytes, at: int, end: int) -> int:
    while at < end and text[at] == ZERO:
        at += 1
    return at


def _digits(text: bytes) -> int:
    return len(re.match(rb"[0-9]*", text)[0])  # type: ignore[index]


def _digit(byte: int) -> bool:
    return 48 <= byte <= 57


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def _hashed(data: bytes, value: int) -> int:
    for byte in data:
        value = (31 * value + _signed(byte)) & 0xFFFFFFFF
    return value


def _sign(a: bytes | int, b: bytes | int) -> int:
    return (a > b) - (a < b)  # type: ignore[operator]


def _bounds(key: bytes, separator: bytes, part: Part) -> tuple[int, int]:
    """[first, end) of a part; first -1: the key has none. Fields go on one byte behind a separator's first, as in Hadoop."""
    lengths, start = [], 0
    while (at := key.find(separator, start)) >= 0:
        lengths.append(at - start)
        start = at + 1
    lengths.append(len(key) - start)
    places = [sum(lengths[:n]) + n * len(separator) for n in range(len(lengths))]
    first, end = -1, len(key)
    if len(lengths) >= part.first and places[part.first - 1] + part.first_char <= len(key):
        first = places[part.first - 1] + part.first_char - 1
    if part.last and len(lengths) >= part.last:
        wish = places[part.last - 1] + (part.last_char or lengths[part.last - 1])
        end = wish if wish <= len(key) else end
    return first, end
