"""A zip, a pipe, a device or far too much as a bundle, its manifest, its programs or a C file: one clear line, at once."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heterodoop import manifest
from heterodoop.errors import UsageError

from .support import ROOT, Bundles, cli_here

WORDCOUNT = [(ROOT / "apps" / "wordcount" / f"{role}.c").read_text() for role in ("map", "combine", "reduce")]


@pytest.fixture
def bundle(bundles: Bundles, tmp_path: Path) -> Path:
    return Path(shutil.copytree(bundles.get(*WORDCOUNT), tmp_path / "wc.hdp"))


def zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("manifest.json", "{}" * 1000)


MADE: dict[str, Callable[[Path], Any]] = {
    "a zip": zipped, "a pipe": os.mkfifo, "a device": lambda path: path.symlink_to("/dev/zero"),
    "more than can be": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 1 << 40),
}


@pytest.mark.parametrize("kind", MADE)
def test_as_a_bundle_or_a_program(tmp_path: Path, kind: str) -> None:
    (tmp_path / "in").write_text("a\n")
    MADE[kind](tmp_path / "x")
    for words in (("run", tmp_path / "x", tmp_path / "in", "-o", tmp_path / "out"), ("explain", tmp_path / "x"),
                  ("compile", tmp_path / "x", "-o", tmp_path / "o.hdp"), ("verify", tmp_path / "x", tmp_path / "in")):
        done = cli_here(*words, status=2)
        assert done.message.count("error[") == 1 and ("[HD001]" in done.message or "[HD312]" in done.message)
        assert len(done.message.splitlines()) <= 2 and not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "kind"), [
    (name, kind) for name in ("manifest.json", "bin/map") for kind in MADE if (name, kind) != ("bin/map", "more than can be")
])
def test_inside_of_a_bundle(bundle: Path, tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / "in").write_text("a\n")
    (bundle / name).unlink()
    MADE[kind](bundle / name)
    for words in (("run", bundle, tmp_path / "in", "-o", tmp_path / "out"), ("explain", bundle)):
        done = cli_here(*words, status=2)
        assert done.message.count("error[HD31") == 1 and len(done.message.splitlines()) <= 2
    assert not (tmp_path / "out").exists()


def test_a_pipe_as_an_apps_file(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    os.mkfifo(tmp_path / "app" / "map.c")
    assert "[HD001]" in cli_here("compile", tmp_path / "app", "-o", tmp_path / "o.hdp", status=2).message


@pytest.mark.parametrize(("field", "value"), [
    ("shared_bytes", 0), ("shared_bytes", 1 << 40), ("threads", 0), ("threads", 1 << 20), ("blocks", -1),
    ("key_bytes", 1 << 40), ("value_bytes", -5), ("stack_bytes", 1 << 50), ("kvpairs", 1 << 33),
])
def test_sizes_of_a_kernel_that_cannot_be(bundle: Path, field: str, value: int) -> None:
    data = json.loads((bundle / manifest.FILE).read_text())
    next(program for program in data["programs"] if program["role"] == "map")["kernel"][field] = value
    (bundle / manifest.FILE).write_text(json.dumps(data))
    with pytest.raises(UsageError, match=f"{field} is {value}") as caught:
        manifest.load(bundle)
    assert caught.value.code == "HD310"
