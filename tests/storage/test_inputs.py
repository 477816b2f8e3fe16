"""Which files an input argument stands for."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from heterodoop.errors import Limitation, UsageError
from heterodoop.storage import inputs
from heterodoop.storage.inputs import local_path, resolve
from heterodoop.storage.local import UNSUPPORTED


def put(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x\n")


def found(*inputs: str | Path, **options: object) -> list[str]:
    return [os.path.basename(file.path) for file in resolve([str(i) for i in inputs], **options).files]  # type: ignore[arg-type]


def test_arguments_keep_their_order_and_may_repeat(tmp_path: Path):
    put(tmp_path, "b", "a")
    assert found(tmp_path / "b", tmp_path / "a", tmp_path / "b") == ["b", "a", "b"]


def test_a_folder_gives_its_visible_files_in_byte_order(tmp_path: Path):
    put(tmp_path, "in/b", "in/B", "in/ä", "in/_SUCCESS", "in/.part-0.crc", "in/a")
    os.rename(tmp_path / "in/b", os.fsencode(tmp_path / "in") + b"/\xff")
    listing = resolve([str(tmp_path / "in")])
    assert [os.fsencode(f.path).rpartition(b"/")[2] for f in listing.files] == [b"B", b"a", "ä".encode(), b"\xff"]
    assert listing.warnings == ()


def test_a_hidden_file_is_taken_when_named(tmp_path: Path):
    put(tmp_path, "_a", ".b")
    assert found(tmp_path / "_a", tmp_path / ".b") == ["_a", ".b"]


def test_a_folder_in_a_folder_is_an_error_that_names_it_but_a_hidden_one_is_skipped(tmp_path: Path):
    put(tmp_path, "in/a", "in/_logs/x")
    assert found(tmp_path / "in") == ["a"]
    put(tmp_path, "in/sub/x")
    with pytest.raises(UsageError, match="in/sub") as caught:
        resolve([str(tmp_path / "in")])
    assert caught.value.code == "HD011"


def test_only_hidden_files_are_empty_input_with_a_warning(tmp_path: Path):
    put(tmp_path, "in/_a")
    listing = resolve([str(tmp_path / "in")])
    assert listing.files == () and [w.code for w in listing.warnings] == ["HD015"]


def test_globs_match_in_byte_order_and_pass_over_hidden_names(tmp_path: Path):
    put(tmp_path, "in/b.txt", "in/a.txt", "in/_c.txt", "in/.d.txt", "in/e.log", "_x/y.txt")
    assert found(tmp_path / "in/*.txt") == ["a.txt", "b.txt"]
    assert found(tmp_path / "in/[ab].txt", tmp_path / "in/?.log") == ["a.txt", "b.txt", "e.log"]
    assert found(tmp_path / "*/_c.txt") == ["_c.txt"], "the pattern writes the _ out"
    assert found(tmp_path / "*/*.txt") == ["a.txt", "b.txt"]


def test_braces_are_alternatives(tmp_path: Path):
    put(tmp_path, "in/b.txt", "in/a.txt", "in/c.log", "in/_d.txt", "in/{x,y}")
    assert found(tmp_path / "in/{b,a,none}.txt") == ["a.txt", "b.txt"]
    assert found(tmp_path / "in/{{a,b}.txt,?.log}") == ["a.txt", "b.txt", "c.log"]
    assert found(tmp_path / "in/{x,y}") == ["{x,y}"], "a file of that very name"
    for name, code in (("in/{e,f}", "HD012"), ("in/{e}", "HD010"), ("in/{e", "HD010")):
        with pytest.raises(UsageError) as caught:
            resolve([str(tmp_path / name)])
        assert caught.value.code == code


def test_a_glob_may_match_folders(tmp_path: Path):
    put(tmp_path, "y1/a", "y2/b")
    assert found(tmp_path / "y*") == ["a", "b"]


def test_a_file_of_a_globs_very_name_comes_first(tmp_path: Path):
    put(tmp_path, "a*", "ab", "[x]")
    assert found(tmp_path / "a*", tmp_path / "[x]") == ["a*", "[x]"]


@pytest.mark.parametrize("name", ["a\nb.txt", "it's", "größe.txt", "(1)", "x;touch PWNED;.txt", "$(touch PWNED)", "n" * 200])
def test_odd_names_are_names(tmp_path: Path, name: str):
    put(tmp_path, name)
    assert found(tmp_path / name) == [name]


def test_names_with_a_dash_or_at_sign_are_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    put(tmp_path, "-oPWNED", "@args")
    monkeypatch.chdir(tmp_path)
    assert resolve(["-oPWNED", "@args"]).files[0].path == str(tmp_path / "-oPWNED")


def test_file_addresses(tmp_path: Path):
    put(tmp_path, "a b%20")
    assert found(f"file://{tmp_path}/a b%20", f"file:{tmp_path}/a b%20") == ["a b%20"] * 2
    assert local_path("file:///x/y") == "/x/y"


@pytest.mark.parametrize("name", ["hdfs://host/x", "hdfs:/x", "s3a://b/x", "file://host/x"])
def test_other_file_systems_are_refused_by_name(name: str):
    with pytest.raises(Limitation, match=name) as caught:
        resolve([name])
    assert caught.value.code == "HD013"


@pytest.mark.parametrize("suffix", sorted(UNSUPPORTED))
def test_other_compression_is_refused_by_name(tmp_path: Path, suffix: str):
    put(tmp_path, "in/a" + suffix)
    for argument in ("in", "in/a" + suffix, "in/*"):
        with pytest.raises(Limitation, match="a" + suffix) as caught:
            resolve([str(tmp_path / argument)])
        assert caught.value.code == "HD014"


def test_the_codec_comes_from_the_name(tmp_path: Path):
    put(tmp_path, "a.gz", "b.bz2", "c.txt")
    assert [f.codec for f in resolve([str(tmp_path)]).files] == ["gzip", "bzip2", ""]


def test_what_is_not_there_is_an_error(tmp_path: Path):
    os.symlink(tmp_path / "nowhere", tmp_path / "dangling")
    for name, code in ("missing", "HD010"), ("m*", "HD012"), ("dangling", "HD010"), ("a\0b", "HD010"):
        with pytest.raises(UsageError) as caught:
            resolve([str(tmp_path / name)])
        assert caught.value.code == code
    for nothing in ([], [""]):
        with pytest.raises(UsageError) as caught:
            resolve(nothing)
        assert caught.value.code == "HD010"


@pytest.mark.parametrize(("pattern", "found"), [
    ("pl[^b]in", ["plain"]), ("pl[!b]in", ["plain"]), ("pl[^a]in", []),
    (r"a\*?", ["a*b"]), (r"a\??", ["a?b"]), (r"\[*", ["[x"]),
    ("{pl[^b]in,a[^x]b}", ["a*b", "a?b", "plain"]),
])
def test_globs_are_written_as_for_hadoop(tmp_path: Path, pattern: str, found: list[str]):
    put(tmp_path, "plain", "a*b", "a?b", "[x")
    if found:
        assert [Path(f.path).name for f in resolve([f"{tmp_path}/{pattern}"]).files] == found
    else:
        with pytest.raises(UsageError, match="no input file matches"):
            resolve([f"{tmp_path}/{pattern}"])


@pytest.mark.parametrize("argument", ["in/link", "in", "in/l*"])
def test_a_link_to_nothing_is_told_as_that(tmp_path: Path, argument: str):
    put(tmp_path, "in/a")
    os.symlink("gone", tmp_path / "in/link")
    with pytest.raises(UsageError, match="in/link': it is a symbolic link to 'gone', which is not there") as caught:
        resolve([str(tmp_path / argument)])
    assert caught.value.code == "HD010"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_an_error_before_any_work(tmp_path: Path):
    put(tmp_path, "a")
    (tmp_path / "a").chmod(0)
    with pytest.raises(UsageError, match="Permission denied"):
        resolve([str(tmp_path / "a")])


def test_a_file_that_cannot_be_opened_is_an_error_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(path: str, size: int) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    put(tmp_path, "a")
    monkeypatch.setattr(inputs, "look_at", refuse)
    with pytest.raises(UsageError, match="Permission denied") as caught:
        resolve([str(tmp_path / "a")])
    assert caught.value.code == "HD010"


def test_devices_are_refused():
    with pytest.raises(UsageError, match="not a regular file") as caught:
        resolve(["/dev/null"])
    assert caught.value.code == "HD011"


def test_the_jobs_own_output_is_not_input(tmp_path: Path):
    put(tmp_path, "a")
    (tmp_path / "out").mkdir()
    ignore = [str(tmp_path / "out")]
    assert found(tmp_path, ignore=ignore) == ["a"]
    assert found(tmp_path / "*", ignore=ignore) == ["a"]


def test_the_search_can_be_stopped(tmp_path: Path):
    put(tmp_path, "in/a")

    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        resolve([str(tmp_path / "in")], check=stop)
