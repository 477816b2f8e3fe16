"""Guards in the device dialect: what is asked before a read, and what is noted behind a write (decision 0017).

Arguments of a call are named by their numbers from 0, objects by their keys in PointsTo (`points_to.RECORD`: the line).
"""

from __future__ import annotations

from typing import Literal

from ...values import dataclass
from ..analysis.objects import Object


@dataclass(frozen=True)
class Asked:
    """The guards that a check asks, by their objects' keys, in order (`points_to.RECORD`: the line).

    strict  the access touches nothing else.
    """

    keys: tuple[Object, ...]
    strict: bool


Parts = tuple[tuple[int, int], ...]  # offset and bytes of a struct's members, () for all else


@dataclass(frozen=True)
class TextCheck:
    """The string at argument `arg` has been written. most: the argument that says how much is read at most, None: all.
    wraps: it can stand around the argument."""

    arg: int
    asked: Asked
    most: int | None = None
    wraps: bool = False


@dataclass(frozen=True)
class BytesCheck:
    """As many bytes at `arg` as the product of the arguments `size` have been written."""

    arg: int
    size: tuple[int, ...]
    asked: Asked


@dataclass(frozen=True)
class SearchCheck:
    """The bytes that memchr looks at, up to argument `most` of them, None: without end."""

    most: int | None
    asked: Asked


@dataclass(frozen=True)
class KeptCheck:
    """The pointer to where strtok, strtok_r or strsep goes on has been written, where the call looks at it."""

    asked: Asked


@dataclass(frozen=True)
class KeptTextCheck:
    """The string that strtok, strtok_r or strsep goes on in has been written."""

    asked: Asked


@dataclass(frozen=True)
class RoomCheck:
    """What the call writes at `arg` lies in the line: a string like that at argument 1, or bytes (`size`)."""

    arg: int
    size: tuple[int, ...] | None
    strict: bool


@dataclass(frozen=True)
class TextMark:
    """The call has written a string at `arg`. reached: only where its result is at least that."""

    arg: int
    keys: tuple[Object, ...]
    reached: int | None = None


@dataclass(frozen=True)
class BytesMark:
    """The call has written bytes at `arg`: the product of arguments, so many, or (None) the whole object."""

    arg: int
    size: tuple[int, ...] | int | None
    keys: tuple[Object, ...]
    reached: int | None = None


@dataclass(frozen=True)
class Room:
    """Bytes that a call may touch from an argument on: `nbytes`, None: to the end of that of the objects it leads into."""

    nbytes: int | None
    keys: tuple[Object, ...]


@dataclass(frozen=True)
class FitsCheck:
    """What a function of the table touches at `arg` is there.

    how   "bytes": as many as the product of the arguments `size`. "object": what the argument points to. "copy": the string
          at argument 1. "append": that behind the string which is there, and no more of it than argument `most` says.
    """

    arg: int
    room: Room
    how: Literal["bytes", "object", "copy", "append"]
    size: tuple[int, ...] = ()
    most: int | None = None


Check = FitsCheck | TextCheck | BytesCheck | SearchCheck | KeptCheck | KeptTextCheck | RoomCheck
Mark = TextMark | BytesMark
