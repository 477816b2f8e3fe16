"""A job's input format: what `run` makes of the class that Hadoop Streaming takes by -inputformat.

Streaming hands keys to the map filter with every format but TextInputFormat, unless stream.map.input.ignoreKey says so
(PipeMapper). Not here: the text of a split (storage/readers.py), other classes, which `submit` leaves to Hadoop.
"""

from __future__ import annotations

from typing import NamedTuple

from ..diag import Diagnostic
from ..errors import UsageError
from ..storage.readers import Form, Reader
from . import settings as names
from .jobconf import JobConf

_TEXT, _LINES = "org.apache.hadoop.mapred.TextInputFormat", "org.apache.hadoop.mapred.lib.NLineInputFormat"
# Class -> what makes text of its records.
_FORMS: dict[str, Form] = {
    _TEXT: "lines", "org.apache.hadoop.mapred.KeyValueTextInputFormat": "key value", _LINES: "lines",
    "org.apache.hadoop.mapred.SequenceFileAsTextInputFormat": "sequence text",
    "org.apache.hadoop.mapred.SequenceFileInputFormat": "sequence",
}
_SHORT = {name.rpartition(".")[2]: name for name in _FORMS}


class InputFormat(NamedTuple):
    """reader: None: filters read the lines of the files. lines: of a split; 0: splits are cut by bytes.

    delimiter  of records, which TextInputFormat alone heeds; b"" for the three line ends.
    """

    reader: Reader | None = None
    lines: int = 0
    delimiter: bytes = b""

    @property
    def of_sequence_files(self) -> bool:
        return self.reader is not None and self.reader.of_sequence_files


def full_name(name: str) -> str:
    """Of a class that is known by its last word, too; others as they are."""
    return _SHORT.get(name, name)


def input_format(conf: JobConf) -> InputFormat:
    """Raises UsageError HD031: a class that is not supported, or settings that are not together."""
    name = full_name(conf.get(names.INPUT_FORMAT) or _TEXT)
    if name not in _FORMS:
        raise UsageError(f"-inputformat {name}: there is no such input format here", code="HD031",
                         help=f"there are {', '.join(_SHORT)}; others run under Hadoop: heterodoop submit")
    given = conf.get(names.IGNORE_KEY)
    keys, plain = name != _TEXT if given is None else not given, name == _TEXT
    if plain and keys and conf.get(names.RECORD_DELIMITER):
        raise UsageError(f"-D {names.IGNORE_KEY}=false with a record delimiter is not supported: keys are offsets of lines",
                         code="HD031", help=f"-D {names.IGNORE_KEY}=true")
    lines = (conf.get(names.LINES_PER_MAP) or 1) if name == _LINES else 0
    if _FORMS[name] == "lines" and not keys:
        return InputFormat(None, lines, conf.get(names.RECORD_DELIMITER) or b"" if plain else b"")
    reader = Reader(
        _FORMS[name], keys, (conf.get(names.MAP_INPUT_SEPARATOR) or "\t").encode("utf-8", "surrogateescape"),
        (conf.get(names.KEY_VALUE_SEPARATOR) or "\t").encode(), conf.skip_from, conf.get(names.LINE_BYTES))
    return InputFormat(reader, lines)


def warnings(conf: JobConf) -> list[Diagnostic]:
    """Settings that the job's input format does not look at; Hadoop passes over them without a word."""
    name = full_name(conf.get(names.INPUT_FORMAT) or _TEXT)
    of = {names.KEY_VALUE_SEPARATOR: ("key value",), names.LINES_PER_MAP: (), names.RECORD_DELIMITER: ()}
    own = {_LINES: names.LINES_PER_MAP, _TEXT: names.RECORD_DELIMITER}.get(name)
    return [Diagnostic("warning", "HD035", f"-D {key}={conf.text[key]!r} has no effect with {name.rpartition('.')[2]}")
            for key, forms in of.items() if key in conf.text and key != own and _FORMS.get(name) not in forms]
