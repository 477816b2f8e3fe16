"""What a job's settings say of its pairs: separators, fields of keys, partitioner and comparator.

Sources: Hadoop Streaming's PipeMapper, PipeReducer and TextOutputReader for text, KeyFieldHelper for `-k` options. What
Hadoop takes and means otherwise than it looks, as a part that ends before it begins, is refused. Not here: doing it
(runtime/host/pairs), other classes (settings.py).
"""

from __future__ import annotations

import re

from ..diag import Diagnostic
from ..errors import UsageError
from ..executor.native.pair_form import KeyRange, PairForm
from . import settings as names
from .jobconf import JobConf

# Those of which another value than the default makes a PairForm.
_PLAIN = {
    names.MAP_KEY_FIELDS: 1, names.REDUCE_KEY_FIELDS: 1, names.MAP_OUTPUT_SEPARATOR: "\t",
    names.REDUCE_OUTPUT_SEPARATOR: "\t", names.REDUCE_INPUT_SEPARATOR: "\t", names.TEXT_SEPARATOR: "\t",
}
_TAB = b"\t"
_RANGE = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?([nr]*)(?:,([0-9]{1,9})(?:\.([0-9]{1,9}))?([nr]*))?")
_FORM = "must be like -k1,1 -k2.3,2nr, with -n, -r or -nr for the parts that say neither"


def pair_form(conf: JobConf) -> PairForm | None:
    """None: all is as Hadoop has it by default. Raises UsageError HD030, HD031: what cannot be, or is not supported."""
    by_fields = conf.text.get(names.PARTITIONER, "") == names.FIELD_PARTITIONER
    by_order = bool(conf.text.get(names.COMPARATOR, ""))
    if not (by_fields or by_order or any(_differs(conf, key) for key in _PLAIN)):
        return None
    order = _ranges(conf, names.COMPARATOR_OPTIONS) if by_order else ()
    return PairForm(
        map_out=_separator(conf, names.MAP_OUTPUT_SEPARATOR), map_fields=conf.get(names.MAP_KEY_FIELDS) or 1,
        reduce_out=_separator(conf, names.REDUCE_OUTPUT_SEPARATOR), reduce_fields=conf.get(names.REDUCE_KEY_FIELDS) or 1,
        reduce_in=_separator(conf, names.REDUCE_INPUT_SEPARATOR), out=_separator(conf, names.TEXT_SEPARATOR),
        key_fields=_separator(conf, names.KEY_SEPARATOR), partition=_partition(conf) if by_fields else None,
        order=order or None,
    )


def of_maps(form: PairForm, reducers: int, combines: bool) -> bool:
    """Whether it concerns map tasks, and not reduce tasks alone."""
    texts = form.map_out, form.map_fields, *((form.reduce_out, form.reduce_fields, form.reduce_in) if combines else ())
    if reducers == 0:
        return (form.map_out, form.map_fields, form.out) != (_TAB, 1, _TAB)
    return form.partition is not None or form.order is not None or any(text not in (_TAB, 1) for text in texts)


def asked(conf: JobConf) -> list[str]:
    """The settings for which `pair_form` is not None, as the user gave them."""
    classes = {names.PARTITIONER: conf.text.get(names.PARTITIONER, "") == names.FIELD_PARTITIONER,
               names.COMPARATOR: bool(conf.text.get(names.COMPARATOR, ""))}
    keys = [*(key for key in _PLAIN if _differs(conf, key)), *(key for key, given in classes.items() if given)]
    return [f"-D {key}={conf.text[key]}" for key in keys]


def warnings(conf: JobConf) -> list[Diagnostic]:
    """Options of classes that the job does not use, which Hadoop passes over."""
    read = (
        (names.PARTITIONER, names.FIELD_PARTITIONER, (names.PARTITION_OPTIONS, names.PARTITION_FIELDS)),
        (names.COMPARATOR, names.FIELD_COMPARATORS[0], (names.COMPARATOR_OPTIONS,)),
    )
    return [Diagnostic("warning", "HD035", f"-D {key}={conf.text[key]} has no effect: it is for -D {setting}={name}")
            for setting, name, keys in read for key in keys
            if key in conf.text and conf.text.get(setting, "") in ("", names.HASH_PARTITIONER)]


def _differs(conf: JobConf, key: str) -> bool:
    return key in conf.text and conf.get(key) != _PLAIN[key]


def _separator(conf: JobConf, key: str) -> bytes:
    text: str = conf.get(key) or "\t"
    return text.encode("utf-8", "surrogateescape")


def _partition(conf: JobConf) -> tuple[KeyRange, ...]:
    fields: int | None = conf.get(names.PARTITION_FIELDS)
    return (KeyRange(last_field=fields),) if fields else _ranges(conf, names.PARTITION_OPTIONS)


def _ranges(conf: JobConf, key: str) -> tuple[KeyRange, ...]:
    """The ranges of a setting; () where it says nothing."""
    text: str = conf.get(key) or ""
    try:
        return parse_ranges(text)
    except ValueError as error:
        raise UsageError(f"-D {key}={text!r}: {error}", code="HD030") from None


def parse_ranges(text: str) -> tuple[KeyRange, ...]:
    """`-k` options as Hadoop's KeyFieldHelper reads them; () of an empty text. Without any -k the key is one part.

    Raises ValueError: what Hadoop refuses, or passes over.
    """
    given, flags = [], ""
    words = iter(text.split())
    for word in words:
        if word in ("-n", "-r", "-nr"):
            flags += word[1:]
        elif word.startswith("-k"):
            given.append(_range(word[2:] or next(words, "")))
        else:
            raise ValueError(f"{word!r}: {_FORM}")
    if not given and flags:
        given = [KeyRange()]
    return tuple(_with_flags(one, flags) for one in given)


def _with_flags(one: KeyRange, flags: str) -> KeyRange:
    if one.numeric or one.reverse:
        return one
    return KeyRange(one.first_field, one.first_char, one.last_field, one.last_char, "n" in flags, "r" in flags)


def _range(text: str) -> KeyRange:
    match = _RANGE.fullmatch(text)
    if not match:
        raise ValueError(f"-k{text}: {_FORM}")
    first, first_char, last, last_char = int(match[1]), int(match[2] or 1), int(match[4] or 0), int(match[5] or 0)
    if not first or not first_char or (match[4] and not last):
        raise ValueError(f"-k{text}: fields and characters are counted from 1")
    if last and ((last, last_char or first_char) < (first, first_char)):
        raise ValueError(f"-k{text}: it ends before it begins")
    flags = (match[3] or "") + (match[6] or "")
    return KeyRange(first, first_char, last, last_char, "n" in flags, "r" in flags)
