"""A bundle that would come out the same is left alone; anything that could change it makes a new one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.compiler import spine
from heterodoop.compiler.begun import Begun
from heterodoop.compiler.compile import BuildOptions, CompileResult, compile_to_bundle

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def app(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    shutil.copytree(ROOT / "apps" / "wordcount", folder)
    text = (folder / "map.c").read_text()
    (folder / "own.h").write_text("#define WORD_SIZE 256\n")
    (folder / "map.c").write_text(text.replace("#define WORD_SIZE 256", '#include "own.h"\n//'))
    return folder


def build(app: Path, **options: object) -> tuple[int, bool]:
    """(inode of the manifest, whether the build was left out)."""
    bundle, result = compile_to_bundle(BuildOptions.make([str(app)], arch=["none"], **options), app.parent / "x.hdp")  # type: ignore[arg-type]
    assert manifest.load(bundle) == result.manifest
    return os.stat(bundle / manifest.FILE).st_ino, not result.programs


def test_nothing_changed(app: Path) -> None:
    first, again = build(app), build(app)
    assert not first[1] and again == (first[0], True)


@pytest.mark.parametrize("change", ["own.h", "map.c", "combine.c", "reduce.c"])
def test_a_changed_file_makes_a_new_bundle(app: Path, change: str) -> None:
    first = build(app)
    with open(app / change, "a") as file:
        file.write("/* changed */\n")
    assert build(app)[0] != first[0] and build(app)[1]


@pytest.mark.parametrize("options", [{"define": ["X=1"]}, {"std": "gnu17"}, {"opt": "paper"}, {"libm": "system"}])
def test_other_options_make_a_new_bundle(app: Path, options: dict[str, object]) -> None:
    first = build(app)
    assert build(app, **options)[0] != first[0]


def test_a_file_taken_away_makes_a_new_bundle(app: Path) -> None:
    build(app)
    (app / "reduce.c").unlink()
    _, left_out = build(app)
    assert not left_out


@pytest.mark.parametrize("damage", ["bin/map", "cuda/map.cu", manifest.FILE])
def test_a_damaged_bundle_is_made_again(app: Path, damage: str) -> None:
    build(app)
    (app.parent / "x.hdp" / damage).write_bytes(b"damaged")
    if damage == manifest.FILE:
        (app.parent / "x.hdp" / damage).write_text("{}")
    assert not build(app)[1]


def test_another_compiler_makes_a_new_bundle(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(app)
    monkeypatch.setenv("CPATH", str(app))
    assert build(app)[0] != first[0]


def test_a_build_with_warnings_shows_them_again(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = spine.analyse

    def warned(options: BuildOptions, begun: Begun, *, mend: bool) -> CompileResult:
        result = original(options, begun, mend=mend)
        result.warnings.append("look")  # type: ignore[arg-type]
        return result

    monkeypatch.setattr(spine, "analyse", warned)
    for _ in range(2):
        _, result = compile_to_bundle(BuildOptions.make([str(app)], arch=["none"]), app.parent / "x.hdp")
        assert result.warnings == ["look"]
