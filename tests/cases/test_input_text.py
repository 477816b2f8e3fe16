"""Field cases A: what input text does to readers. Bytes, line ends, long records, split ends, compressed files."""

from __future__ import annotations

import bz2
import gzip
import os
from pathlib import Path

import pytest

from ..support import Bundles, cli_here, parts
from .processes import run_watched
from .runner import PROGRAMS, Case, check, check_verdict, load

WORDS = (PROGRAMS / "words.c").read_text()
PROBE = (PROGRAMS / "probe.c").read_text()
SUM = (PROGRAMS / "sum.c").read_text()
SUM_REDUCE = (PROGRAMS / "sum_reduce.c").read_text()


@pytest.mark.parametrize("case", load("A"), ids=lambda case: case.name)
def test_case(case: Case, bundles: Bundles, tmp_path: Path) -> None:
    check(case, bundles, tmp_path)


@pytest.mark.parametrize("case", load("A"), ids=lambda case: case.name)
def test_verdict(case: Case, bundles: Bundles) -> None:
    check_verdict(case, bundles)


def lines(bundle: Path, inputs: list[Path], output: Path, *options: object) -> list[bytes]:
    """Run a job; the lines of its output, sorted."""
    cli_here("run", bundle, *inputs, "-o", output, "--quiet", *options)
    return sorted(line for part in parts(output) for line in part.split(b"\n")[:-1])


def probed(*records: bytes) -> list[bytes]:
    """What the probe prints for records, each with the newline that a filter sees."""
    found = []
    for record in records:
        checksum = 0
        for byte in record + b"\n":
            checksum = (checksum * 31 + byte) & 0xFFFF
        found.append(b"%07d\t%d" % (len(record) + 1, checksum))
    return sorted(found)


def test_a01_a_delimiter_of_newline_keeps_the_carriage_return(bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"ab\r\ncd\r\n")
    app = bundles.get(PROBE)
    for split in range(1, 10):
        options = ["--record-delimiter", r"\n", "--split-size", split]
        assert lines(app, [tmp_path / "in"], tmp_path / f"out{split}", *options) == probed(b"ab\r", b"cd\r")


def test_a03_words_with_nul(bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"ab\x00cd ef\n\x00\n")
    assert lines(bundles.get(WORDS), [tmp_path / "in"], tmp_path / "out") == [b"\t1", b"ab\t1", b"ef\t1"]


def test_a07_a_byte_order_mark_is_data_with_a_delimiter_and_elsewhere(bundles: Bundles, tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    (tmp_path / "in").write_bytes(mark + b"the\n" + mark + b"the\n")
    app = bundles.get(PROBE)
    for split in range(1, 16):
        found = lines(app, [tmp_path / "in"], tmp_path / f"out{split}", "--split-size", split)
        assert found == probed(b"the", mark + b"the"), split


def test_a08_every_part_file_of_an_empty_input_exists(bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"")
    assert lines(bundles.get(WORDS), [tmp_path / "in"], tmp_path / "out", "--reducers=3") == []
    assert parts(tmp_path / "out") == [b"", b"", b""]


def test_a09_words_of_newlines_only(bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"\n\n\n\n")
    assert lines(bundles.get(WORDS), [tmp_path / "in"], tmp_path / "out") == []


@pytest.mark.parametrize("texts", [(b"z\n", b"x y"), (b"x y", b"", b"z\n"), (b"x", b"y", b"z")])
def test_a11_files_in_any_order_and_an_empty_one_between(texts: tuple[bytes, ...], bundles: Bundles, tmp_path: Path) -> None:
    inputs = [tmp_path / f"{i}.txt" for i in range(len(texts))]
    for path, text in zip(inputs, texts, strict=True):
        path.write_bytes(text)
    assert lines(bundles.get(WORDS), inputs, tmp_path / "out") == [b"x\t1", b"y\t1", b"z\t1"]


@pytest.mark.parametrize("length", [4095, 4096, 4097, 65535, 65536, 1048575, 1048577])
def test_a12_records_around_the_sizes_of_buffers(length: int, bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a" * length + b"\nc\n")
    app = bundles.get(PROBE)
    for split in ("4096", "64k", "64m"):
        found = lines(app, [tmp_path / "in"], tmp_path / split, "--split-size", split)
        assert found == probed(b"a" * length, b"c")


@pytest.mark.parametrize("split", range(1, 17))
def test_a14_every_split_size(split: int, bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"abc\ndef\nghi\n")
    found = lines(bundles.get(PROBE), [tmp_path / "in"], tmp_path / "out", "--split-size", split)
    assert found == probed(b"abc", b"def", b"ghi")


@pytest.mark.skipif("HETERODOOP_SLOW" not in os.environ, reason="minutes: HETERODOOP_SLOW=1 pytest tests/cases -k a16")
def test_a16_more_than_two_gib(bundles: Bundles, tmp_path: Path) -> None:
    pairs = 1 << 30
    with open(tmp_path / "in", "wb") as file:
        for _ in range(pairs >> 20):
            file.write(b"a\n" * (1 << 20))
        file.write(b"a\n" * 2)
    app = bundles.get(WORDS, SUM, SUM_REDUCE)
    for number, options in enumerate((["--split-size=4g"], [])):
        found = lines(app, [tmp_path / "in"], tmp_path / f"out{number}", *options)
        assert found == [b"a\t%d" % (pairs + 2)]


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a17_every_member_of_a_compressed_file_is_read(suffix: str, compress, bundles: Bundles, tmp_path: Path) -> None:
    source = tmp_path / f"in{suffix}"
    source.write_bytes(compress(b"one\nfi") + compress(b"ve\n") + compress(b"") + compress(b"two"))
    app = bundles.get(WORDS)
    assert lines(app, [source], tmp_path / "out") == [b"five\t1", b"one\t1", b"two\t1"]
    assert lines(app, [source], tmp_path / "cut", "--split-size=1") == [b"five\t1", b"one\t1", b"two\t1"]


def test_a19_a_record_of_96_mib_is_held_few_times(bundles: Bundles, tmp_path: Path) -> None:
    size = 96 << 20
    with open(tmp_path / "in", "wb") as file:
        for _ in range(96):
            file.write(b"q" * (1 << 20))
    watched = run_watched(tmp_path, "run", bundles.get(PROBE), "in", "-o", "out", "--split-size=32m", "--quiet")
    assert watched.status == 0, watched.message
    found = [line for part in parts(tmp_path / "out") for line in part.split(b"\n") if line]
    assert len(found) == 1 and found[0].startswith(b"100663297\t")
    assert watched.peak_bytes < 4 * size, f"{watched.peak_bytes >> 20} MiB for the engine and its filters together"
