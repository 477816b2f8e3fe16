"""From what the user named as input to a list of files: files, folders (one level), globs, streams, HDFS.

As Hadoop's FileInputFormat lists a job's input: order of the arguments is kept, entries of a folder and matches of a
glob come in byte order, names that start with `.` or `_` are hidden in both. Two differences: a hidden name that the
user wrote out is taken, and a name with `*`, `?`, `[` or `{` in it is a glob only where no file has that very name.
"""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..diag import Diagnostic
from ..errors import Limitation, UsageError
from . import codecs, sequence_file, streams
from .codecs import Codec
from .contents import Content, look_at
from .local import UNSUPPORTED, InputFile, Stamp, codec_of, suffix_of
from .streams import Stream, is_stream

if TYPE_CHECKING:
    from .hdfs_inputs import Found, HdfsInputs

AS_TEXT = "heterodoop.input.as.text"
_OF_TOOLS = {"lz4": "lz4 -d", "snappy": "snzip -d"}
_STREAM = "write the stream to a file first"
_IN_HDFS = re.compile(r"hdfs:/", re.IGNORECASE)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")


class Listing(NamedTuple):
    """The files in order, and warnings (a folder with nothing in it that is read)."""

    files: tuple[InputFile, ...]
    warnings: tuple[Diagnostic, ...]


def resolve(
    inputs: Sequence[str], *, ignore: Sequence[str] = (), check: Callable[[], None] = lambda: None, as_text: bool = False,
    kept: Path | None = None, sequence: bool = False,
) -> Listing:
    """Find the job's input files, before any work is done. What streams and files in HDFS hold is copied.

    ignore   absolute paths (the job's own output folder) that a folder or glob must not find.
    check    called once per entry looked at, and while a stream is waited for; may raise to stop.
    as_text  containers of records are read as lines, too.
    kept     the folder that gets what streams and files in HDFS hold, made where one is named; None: they are no inputs.
    sequence  they are SequenceFiles, whatever their names end with.
    Raises UsageError HD010 (missing, unreadable, no input at all), HD011 (neither file nor folder; folder in a folder; a
    stream), HD012 (glob without match); Limitation HD013 (hdfs: and other schemes), HD014 (compression), HD047 (a
    container), HD048 (a file whose size the system does not tell), HD056 (no SequenceFile, or one that cannot be read);
    ToolError HD054 (a codec's package), HD632, HD636 (HDFS); JobFailed HD053 (no room for a copy).
    """
    finder = _Finder(frozenset(ignore), check, as_text, kept, sequence)
    for name in inputs:
        finder.add(name)
    if not inputs:
        raise UsageError("no input was named", code="HD010")
    finder.copy()
    return Listing(tuple(finder.files), (*finder.warnings, *finder.told_by_bytes()))


@dataclass
class _Finder:
    ignore: frozenset[str]
    check: Callable[[], None]
    as_text: bool
    kept: Path | None
    sequence: bool
    files: list[InputFile] = field(default_factory=list)
    streams: dict[int, Stream] = field(default_factory=dict)  # by their places among the files
    in_hdfs: dict[int, Found] = field(default_factory=dict)  # as these
    clusters: HdfsInputs | None = None
    warnings: list[Diagnostic] = field(default_factory=list)
    compressed: dict[str, list[str]] = field(default_factory=dict)  # read as text: format -> paths
    wide: dict[str, list[str]] = field(default_factory=dict)  # encoding -> paths

    def add(self, name: str) -> None:
        if self.kept and _IN_HDFS.match(name) and not os.path.lexists(name):
            self._add_hdfs(name)
            return
        path = local_path(name)
        if is_stream(path, None):
            self._add_stream(path)
            return
        try:
            status = os.stat(path)
        except (OSError, ValueError) as error:
            if not glob.has_magic(path) and len(_alternatives(path)) == 1:
                raise _unreadable(name, error) from None
            self._add_glob(name, path)
            return
        if is_stream(path, status):
            self._add_stream(path)
        else:
            self._add_named(path, status)

    def _add_stream(self, name: str) -> None:
        """One that was named by itself; a pipe that a folder or a glob finds may be nobody's, and is waited for by none."""
        if self.kept is None:
            raise UsageError(f"the input {name!r} is a stream, which can be read once only", code="HD011", help=_STREAM)
        path, place = streams.path_of(name), len(self.files)
        for earlier in self.streams.values():
            if earlier.path == path:
                raise streams.repeated(name, earlier.name)
        self._refuse_compression(name)
        self.streams[place] = Stream(name, path, self._kept(place, path))
        self.files.append(InputFile(path, 0))

    def _add_hdfs(self, name: str) -> None:
        from .hdfs_inputs import HdfsInputs  # few jobs have such an input, and it reads Hadoop's configuration

        self.clusters = self.clusters or HdfsInputs()
        found = self.clusters.find(name)
        for file in found:
            self._refuse_compression(file.address)
            self.in_hdfs[len(self.files)] = file
            self.files.append(InputFile(file.path, file.length))
        if not found:
            what = f"the input folder {name!r} holds no visible file: it is empty input"
            self.warnings.append(Diagnostic("warning", "HD015", what))

    def copy(self) -> None:
        """What streams and files in HDFS hold. All are there that were named: nothing is read where an input is missing."""
        if self.in_hdfs:
            self._copy_from_hdfs()
        streams.keep(list(self.streams.values()), self.check)
        for place, stream in self.streams.items():
            status = _stat(str(stream.kept))
            self.files[place] = self._file(str(stream.kept), status, stream.path)

    def _copy_from_hdfs(self) -> None:
        from .hdfs_inputs import copy

        copies = {place: self._kept(place, found.path) for place, found in self.in_hdfs.items()}
        copy([(found, copies[place]) for place, found in self.in_hdfs.items()], self.check)
        for place, found in self.in_hdfs.items():
            self.files[place] = self._file(str(copies[place]), _stat(str(copies[place])), found.address)

    def _kept(self, place: int, path: str) -> Path:
        """Where a copy goes: its suffix says whether it is compressed."""
        assert self.kept is not None
        return self.kept / f"{place}{suffix_of(path)}"

    def _add_named(self, path: str, status: os.stat_result) -> None:
        if stat.S_ISDIR(status.st_mode):
            self._add_folder(path)
        else:
            self._add_file(path, status)

    def _add_glob(self, name: str, pattern: str) -> None:
        alternatives = [_as_python_writes(one) for one in _alternatives(pattern)]
        matches = {path for one in alternatives for path in glob.glob(one) if _visible_match(one, path)}
        found = sorted((p for p in matches if os.path.abspath(p) not in self.ignore), key=os.fsencode)
        if not found:
            hint = "names that start with . or _ are not matched"
            raise UsageError(f"no input file matches {name!r}", code="HD012", help=hint)
        for path in found:
            self._add_named(path, _stat(path))

    def _add_folder(self, folder: str) -> None:
        try:
            names = sorted(os.listdir(folder), key=os.fsencode)
        except OSError as error:
            raise _unreadable(folder, error) from None
        before = len(self.files)
        for name in names:
            self.check()
            path = os.path.join(folder, name)
            if name[0] in "._" or os.path.abspath(path) in self.ignore:
                continue
            status = _stat(path)
            if stat.S_ISDIR(status.st_mode):
                raise UsageError(
                    f"the input folder {folder!r} holds a folder: {path!r}", code="HD011",
                    help=f"folders are read one level deep; name it as an input of its own, or use a glob like {folder}/*/*",
                )
            self._add_file(path, status)
        if len(self.files) == before:
            what = f"the input folder {folder!r} holds no visible file: it is empty input"
            self.warnings.append(Diagnostic("warning", "HD015", what))

    def _add_file(self, path: str, status: os.stat_result) -> None:
        self.check()
        if not stat.S_ISREG(status.st_mode):
            pipe = stat.S_ISFIFO(status.st_mode)
            raise UsageError(
                f"the input {path!r} is not a regular file: splits are read at their offsets", code="HD011",
                help="name the pipe as an input of its own" if pipe else _STREAM,
            )
        self._refuse_compression(path)
        self.files.append(self._file(path, status))

    def _file(self, path: str, status: os.stat_result, address: str = "") -> InputFile:
        """A file that is there, looked at. `address`: what the user knows it by, where that is not its path."""
        if self.sequence:
            _check_sequence_file(path, address or path)
            return InputFile(os.path.abspath(path), status.st_size, "", Stamp.of(status), address)
        codec = codec_of(path)
        if codec:
            codecs.need(codec, f"the input {address or path!r}")
        try:
            found = look_at(path, status.st_size)
        except OSError as error:
            raise _unreadable(path, error) from None
        self._judge(found, address or path, status.st_size, codec)
        return InputFile(os.path.abspath(path), status.st_size, codec, Stamp.of(status), address)

    def _judge(self, found: Content, path: str, size: int, codec: Codec) -> None:
        """Refuse what is there and is no text. `codec`: by its name; then its bytes need not be."""
        if not size and not found.empty:
            raise Limitation(
                f"the input {path!r} holds data, and has the size 0: it cannot be cut into splits", code="HD048",
                help="copy it to a file first: cat PATH > FILE",
            )
        if found.container and not self.as_text and not codec:
            raise Limitation(
                f"the input {path!r} is {found.container}, and holds no lines of text", code="HD047",
                help=f"{found.text}; -D {AS_TEXT}=true reads its bytes as they are",
            )
        if found.compressed and codec == f"Hadoop {found.compressed}":
            raise Limitation(
                f"the input {path!r} is a file of the tool {found.compressed}; {suffix_of(path)} stands for blocks in"
                " Hadoop's own form", code="HD014", help=f"decompress it first ({_OF_TOOLS[found.compressed]})",
            )
        if found.compressed and not codec:
            self.compressed.setdefault(found.compressed, []).append(path)
        if found.wide:
            self.wide.setdefault(found.wide, []).append(path)

    def told_by_bytes(self) -> list[Diagnostic]:
        """One for each format of data that its name does not tell, and each encoding that is read as bytes: as by Hadoop."""
        warnings = []
        for name, paths in self.wide.items():
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            what = f"the input {paths[0]!r}{more}: {name} text is read as the bytes that it is, as Hadoop reads it"
            help = f"convert it first: iconv -f {name} -t UTF-8 PATH > FILE"
            warnings.append(Diagnostic("warning", "HD710", what, help=help))
        for name, paths in self.compressed.items():
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            what = f"{paths[0]!r}{more}: {name} data under a name that does not say so is read as text, as Hadoop reads it"
            suffix = next((suffix for suffix, codec in codecs.SUFFIXES.items() if codec == name), "")
            help = f"name the file *{suffix}" if suffix else "decompress it first"
            warnings.append(Diagnostic("warning", "HD050", f"the input {what}", help=help))
        return warnings

    def _refuse_compression(self, path: str) -> None:
        suffix = suffix_of(path)
        if suffix in UNSUPPORTED and not self.sequence:
            raise Limitation(
                f"the input {path!r}: {suffix} compression is not supported", code="HD014",
                help=f"decompress it first ({UNSUPPORTED[suffix]}); read as they are: {', '.join(codecs.SUFFIXES)}",
            )


def _check_sequence_file(path: str, shown: str) -> None:
    """Raises Limitation HD056, ToolError HD054, UsageError HD010."""
    try:
        sequence_file.header(path)
    except (sequence_file.CannotRead, codecs.DamagedInput) as error:
        between = "" if isinstance(error, sequence_file.CannotRead) else ":"
        help = "-inputformat says what all inputs of the job are"
        raise Limitation(f"the input {shown!r}{between} {error}", code="HD056", help=help) from None
    except OSError as error:
        raise _unreadable(shown, error) from None


def local_path(name: str) -> str:
    """The path behind an argument: `file:` taken off, not percent-decoded (as Hadoop's Path).

    Raises UsageError HD010 for an empty name, Limitation HD013 for another scheme or host.
    """
    if not name:
        raise UsageError("an input or output name is empty", code="HD010")
    match = _SCHEME.match(name)
    if not match or os.path.lexists(name):
        return name
    scheme = match[1].lower()
    rest = name[len(match[1]) + 1:]
    if scheme == "file" and (not rest.startswith("//") or rest.startswith("///")):
        return "/" + rest.lstrip("/")
    what = f"{scheme}: addresses are" if scheme != "file" else "a file: address with a host is"
    raise Limitation(
        f"{name!r}: {what} not supported by the embedded engine", code="HD013",
        help="copy the data to this machine first, for example: hadoop fs -get PATH .",
    )


def _alternatives(pattern: str) -> list[str]:
    """The patterns that one with `{a,b}` stands for, as in Hadoop's globs; braces may stand in braces."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if found is None:
        return [pattern]
    before, after = pattern[:found.start()], pattern[found.end():]
    return [one for word in found[1].split(",") for one in _alternatives(before + word + after)]


def _as_python_writes(pattern: str) -> str:
    """Hadoop's `[^a]`, and `\\*` for a star that is none."""
    return re.sub(r"\\([*?\[])|\[\^", lambda found: f"[{found[1]}]" if found[1] else "[!", pattern)


def _visible_match(pattern: str, path: str) -> bool:
    """Wildcards do not match hidden names; a `_` or `.` that the pattern writes out does."""
    pairs = zip(pattern.split("/"), path.split("/"), strict=False)
    return not any(part[:1] in ("_", ".") and part[:1] != written[:1] for written, part in pairs)


def _stat(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(name: str, error: OSError | ValueError) -> UsageError:
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if isinstance(error, FileNotFoundError) and os.path.islink(name):
        why = f"it is a symbolic link to {os.readlink(name)!r}, which is not there"
    return UsageError(f"cannot read the input {name!r}: {why}", code="HD010")
