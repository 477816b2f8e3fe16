"""Inputs that are read once: kept whole, all at a time, and refused where they cannot be."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.errors import JobFailed, Limitation, UsageError
from heterodoop.storage import streams
from heterodoop.storage.inputs import Listing, resolve


@pytest.fixture
def listed(tmp_path: Path) -> Callable[..., Listing]:
    return lambda *names, **options: resolve([str(name) for name in names], kept=tmp_path / "kept", **options)


def fifo(tmp_path: Path, name: str) -> Path:
    os.mkfifo(tmp_path / name)
    return tmp_path / name


def write(*pieces: tuple[Path, bytes]) -> threading.Thread:
    """Open all pipes, write the pieces in their order, then close them all."""
    def work() -> None:
        files = {path: os.open(path, os.O_WRONLY) for path in dict.fromkeys(path for path, _ in pieces)}
        for path, data in pieces:
            view = memoryview(data)
            while view:
                view = view[os.write(files[path], view):]
        for file in files.values():
            os.close(file)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_pipes_are_kept_in_the_order_of_their_names_whoever_writes_first(tmp_path: Path, listed: Callable[..., Listing]):
    one, two = fifo(tmp_path, "one"), fifo(tmp_path, "two.gz")
    (tmp_path / "file").write_bytes(b"x\n")
    large = b"2\n" * 300_000  # more than a pipe holds
    thread = write((two, large), (one, b"1\n"), (two, b"end"))
    found = listed(one, tmp_path / "file", two).files
    thread.join()
    assert [file.name for file in found] == [str(one), str(tmp_path / "file"), str(two)]
    assert [Path(file.path).read_bytes() for file in found] == [b"1\n", b"x\n", large + b"end"]
    assert [file.uri for file in found] == [f"file:{one}", f"file:{tmp_path}/file", f"file:{two}"]
    assert [file.codec for file in found] == ["", "", "gzip"], "by its name, as a file's"
    assert found[2].size == len(large) + 3 and found[2].stamp


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "file:///dev/stdin"])
def test_stdin(name: str, tmp_path: Path, listed: Callable[..., Listing], monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "in").write_bytes(b"a\nb\n")
    with open(tmp_path / "in", "rb") as source:
        monkeypatch.setattr(streams, "_STDIN", source.fileno())
        (file,) = listed(name).files
    assert (file.name, file.uri, Path(file.path).read_bytes()) == ("/dev/stdin", "file:/dev/stdin", b"a\nb\n")


def test_a_process_s_own_descriptor(listed: Callable[..., Listing]):
    reads, writes = os.pipe()
    os.write(writes, b"PAR1")
    os.close(writes)
    (file,) = listed(f"/dev/fd/{reads}").files
    os.close(reads)
    assert file.name == f"/dev/fd/{reads}" and file.size == 4


def test_what_a_stream_holds_is_looked_at(tmp_path: Path, listed: Callable[..., Listing]):
    pipe = fifo(tmp_path, "pipe")
    thread = write((pipe, b"PK\x03\x04\x14\x00\x00\x00\x08\x00"))
    with pytest.raises(Limitation, match="pipe' is a zip archive") as caught:
        listed(pipe)
    thread.join()
    assert caught.value.code == "HD047"


def test_one_stream_is_one_input(tmp_path: Path, listed: Callable[..., Listing], monkeypatch: pytest.MonkeyPatch):
    pipe = fifo(tmp_path, "pipe")
    os.link(pipe, tmp_path / "other")
    for names, what in (("--", "'-' is named twice"), ([pipe, pipe], "pipe' is named twice"),
                        ([pipe, tmp_path / "other"], "other' is the same as '.*pipe'")):
        with pytest.raises(UsageError, match=what) as caught:
            listed(*names)
        assert caught.value.code == "HD010"


def test_nothing_is_read_where_another_input_is_missing(tmp_path: Path, listed: Callable[..., Listing]):
    with pytest.raises(UsageError, match="missing"):
        listed(fifo(tmp_path, "pipe"), tmp_path / "missing")  # nobody writes: it would be waited for
    assert not (tmp_path / "kept").exists()


def test_a_pipe_that_a_folder_or_a_glob_finds_is_refused(tmp_path: Path, listed: Callable[..., Listing]):
    (tmp_path / "in").mkdir()
    fifo(tmp_path, "in/pipe")
    for name in ("in", "in/p*"):
        with pytest.raises(UsageError, match="in/pipe' is not a regular file") as caught:
            listed(tmp_path / name)
        assert caught.value.code == "HD011" and "by itself" not in caught.value.help and "of its own" in caught.value.help


def test_where_the_input_is_read_again_there_are_none(tmp_path: Path):
    for name in ("-", str(fifo(tmp_path, "pipe"))):
        with pytest.raises(UsageError, match="read once only") as caught:
            resolve([name])
        assert caught.value.code == "HD011" and "to a file" in caught.value.help


def test_waiting_for_a_writer_can_be_stopped(tmp_path: Path, listed: Callable[..., Listing]):
    class Stopped(Exception):
        pass

    def stop() -> None:
        if (tmp_path / "kept/0").exists():
            raise Stopped

    with pytest.raises(Stopped):
        listed(fifo(tmp_path, "pipe"), check=stop)


def test_a_full_disk(tmp_path: Path, listed: Callable[..., Listing], monkeypatch: pytest.MonkeyPatch):
    def full(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    source = tmp_path / "in"
    source.write_bytes(b"x\n")
    with open(source, "rb") as file:
        monkeypatch.setattr(streams, "_STDIN", file.fileno())
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(JobFailed, match="'-' cannot be kept in '.*kept/0', behind 0 bytes of it: No space") as caught:
            listed("-")
    assert caught.value.code == "HD053" and "with room" in caught.value.help


def test_a_stream_that_cannot_be_read(tmp_path: Path, listed: Callable[..., Listing], monkeypatch: pytest.MonkeyPatch):
    folder = os.open(tmp_path, os.O_RDONLY)
    monkeypatch.setattr(streams, "_STDIN", folder)
    for name, what in (("-", "Is a directory"), ("/dev/fd/999", "No such file")):
        with pytest.raises(UsageError, match=what) as caught:
            listed(name)
        assert caught.value.code == "HD010"
    os.close(folder)
