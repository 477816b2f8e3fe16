"""Jobs with an input format: the same bytes by filters, as a host kernel and on a device; what such jobs are refused for.

What the bytes are, Hadoop says: tests/keys/test_streaming.py."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ...support import ROOT, Bundles, cli_here, parts

TEXT = b"\x19org.apache.hadoop.io.Text"
SYNC = bytes(range(200, 216))
HEAD = b"SEQ\6" + TEXT * 2 + bytes(6) + SYNC
SEQUENCE = "SequenceFileAsTextInputFormat"


def record(key: bytes, value: bytes) -> bytes:
    data = b"".join(bytes([len(text)]) + text for text in (key, value))
    return len(data).to_bytes(4, "big") + (len(key) + 1).to_bytes(4, "big") + data


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    rows = [(b"\xef\xbb\xbfone two"[: n % 12], b"a\rb c\n\td %d" % (n % 7)) for n in range(400)]
    marked = [b"\xff\xff\xff\xff" + SYNC if n % 40 == 9 else b"" for n in range(400)]
    (folder / "texts.seq").write_bytes(HEAD + b"".join(sync + record(*row) for sync, row in zip(marked, rows, strict=True)))
    (folder / "lines").write_bytes(b"".join(key + b"=" + value + b"\r\n" for key, value in rows))
    (folder / "lines.gz").write_bytes(gzip.compress(b"one=two\nthree"))
    (folder / "nothing").write_bytes(b"")
    return folder


@pytest.mark.parametrize(("form", "names", "more"), [
    (SEQUENCE, ["texts.seq"], ()),
    ("KeyValueTextInputFormat", ["lines", "lines.gz"], ("-D", "key.value.separator.in.input.line==", "--split-size", 3000)),
    ("NLineInputFormat", ["lines"],
     ("-D", "mapreduce.input.lineinputformat.linespermap=999", "-D", "stream.map.input.ignoreKey=true")),
])
def test_whatever_runs_a_task(
    form: str, names: list[str], more: tuple[object, ...], inputs: Path, bundles: Bundles, tmp_path: Path,
) -> None:
    bundle, files = bundles.app(ROOT / "apps" / "wordcount"), [inputs / name for name in names]
    ways = {"filters": ["--cpu-only", "--filters"], "host": ["--cpu-only"], "device": ["--device", "emulated"]}
    for way, options in ways.items():
        done = cli_here("run", bundle, *files, "-o", tmp_path / way, "-inputformat", form, *more, *options)
        assert "warning" not in done.message, done.message
    (wanted,) = parts(tmp_path / "filters")
    assert parts(tmp_path / "host") == parts(tmp_path / "device") == [wanted]
    assert b"a\t" in wanted and wanted.count(b"\n") > 7


def test_no_lines_have_no_maps(inputs: Path, bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.app(ROOT / "apps" / "wordcount")
    cli_here("run", bundle, inputs / "nothing", "-o", tmp_path / "out", "-inputformat", "NLineInputFormat", "--quiet")
    assert parts(tmp_path / "out") == [b""]


@pytest.mark.parametrize(("options", "name", "code", "why"), [
    (["-inputformat", "my.Format"], "lines", "HD031", "-inputformat my.Format: there is no such input format here"),
    (["-D", "mapred.input.format.class=my.Format"], "lines", "HD031", "-inputformat my.Format: there is no"),
    (["-D", "stream.map.input.ignoreKey=false", "-D", "textinputformat.record.delimiter=|"], "lines", "HD031", "offsets"),
    (["-D", "key.value.separator.in.input.line=::"], "lines", "HD030", "must be one ASCII character"),
    (["-inputformat", "NLineInputFormat", "-D", "mapred.line.input.format.linespermap=0"], "lines", "HD030", "from 1"),
    (["-inputformat", "NLineInputFormat"], "lines.gz", "HD056", "lines.gz is compressed"),
    (["-inputformat", SEQUENCE], "lines", "HD056", "is no SequenceFile"),
    ([], "texts.seq", "HD047", "is a SequenceFile, and holds no lines"),
])
def test_what_cannot_be_is_refused(
    options: list[str], name: str, code: str, why: str, inputs: Path, bundles: Bundles, tmp_path: Path,
) -> None:
    bundle = bundles.app(ROOT / "apps" / "wordcount")
    done = cli_here("run", bundle, inputs / name, "-o", tmp_path / "out", *options, status=None)
    assert done.status in (2, 4) and f"[{code}]" in done.message and why in done.message, done.message
    assert not (tmp_path / "out").exists()


def test_settings_of_another_format_have_no_effect(inputs: Path, bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.app(ROOT / "apps" / "wordcount")
    settings = ["key.value.separator.in.input.line==", "mapred.line.input.format.linespermap=3",
                "textinputformat.record.delimiter=|"]
    done = cli_here("run", bundle, inputs / "texts.seq", "-o", tmp_path / "out", "-inputformat", SEQUENCE, "--quiet",
                    *(word for setting in settings for word in ("-D", setting)))
    told = "warning[HD035]: -D ", f"has no effect with {SEQUENCE}\n"
    assert all(done.message.count(one) == 3 for one in told), done.message


def test_damage_names_the_file_and_the_byte(inputs: Path, bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.app(ROOT / "apps" / "wordcount")
    whole = (inputs / "texts.seq").read_bytes()
    for name, data, code, why in (
        ("cut", whole[:-3], "HD404", f"damaged at byte {len(whole) - 15}: a record has 15 bytes, and the file 12 more"),
        ("long", HEAD + (1 << 20).to_bytes(4, "big") + bytes(4), "HD051", "and 65536 at most are read"),
    ):
        (tmp_path / name).write_bytes(data)
        done = cli_here("run", bundle, tmp_path / name, "-o", tmp_path / "out", "-inputformat", SEQUENCE,
                        "-D", "heterodoop.line.max.bytes=65536", "--quiet", status=1)
        assert f"cannot read {tmp_path / name}: the " in done.message and why in done.message, done.message
        assert f"[{code}]" in done.message and not (tmp_path / "out").exists()
