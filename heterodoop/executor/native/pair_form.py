"""What a job says of its pairs, where it is not what Hadoop does by default: separators, fields of keys, partition, order.

The native runtime does it (runtime/host/pairs). Not here: the settings that say it (job/keys.py).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ...values import dataclass
from . import abi


@dataclass(frozen=True)
class KeyRange:
    """`-kF.C,F.C` with flags n and r: fields and characters from 1 on.

    last_field 0: to the key's end. last_char 0: the whole of the last field.
    """

    first_field: int = 1
    first_char: int = 1
    last_field: int = 0
    last_char: int = 0
    numeric: bool = False
    reverse: bool = False


@dataclass(frozen=True)
class PairForm:
    """How pairs are text, which reducer they go to and in what order. No text is empty.

    map_out, map_fields        separator of fields in the map filter's lines, and fields of the key.
    reduce_out, reduce_fields  of those of combiner and reduce filter.
    reduce_in   between key and value of what these two read.
    out         between key and value in part files.
    key_fields  between fields within a key, for the two below.
    partition   ranges by which a KeyFieldBasedPartitioner decides, () = by the key as a Java string; None: HashPartitioner.
    order       ranges by which a KeyFieldBasedComparator sorts; None: by the key's bytes.
    """

    map_out: bytes = b"\t"
    map_fields: int = 1
    reduce_out: bytes = b"\t"
    reduce_fields: int = 1
    reduce_in: bytes = b"\t"
    out: bytes = b"\t"
    key_fields: bytes = b"\t"
    partition: Sequence[KeyRange] | None = None
    order: Sequence[KeyRange] | None = None


def form_block(form: PairForm | None) -> Any:
    """A pointer to the C structure, which holds everything that it points to; None: NULL."""
    if form is None:
        return abi.PairFormPointer()
    return ctypes.pointer(abi.PairFormBlock(
        map_out=_text(form.map_out), reduce_out=_text(form.reduce_out), reduce_in=_text(form.reduce_in),
        out=_text(form.out), map_fields=form.map_fields, reduce_fields=form.reduce_fields,
        by_fields=form.partition is not None, ordered=form.order is not None, key_fields=_text(form.key_fields),
        partition=_ranges(form.partition or ()), n_partition=len(form.partition or ()),
        order=_ranges(form.order or ()), n_order=len(form.order or ()),
    ))


def _text(data: bytes) -> abi.Text:
    if not data:
        raise ValueError("an empty separator")
    return abi.Text(data, len(data))


def _ranges(ranges: Sequence[KeyRange]) -> ctypes.Array[abi.KeyRangeBlock]:
    rows = [abi.KeyRangeBlock(r.first_field, r.first_char, r.last_field, r.last_char, r.numeric, r.reverse) for r in ranges]
    return (abi.KeyRangeBlock * len(rows))(*rows)
