"""Apps whose expected output an ordinary Unix pipeline makes: both plain pipes and the engine produce it.

Also what is true of every app. Apps with an oracle in Python have test files of their own in this folder.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.manifest import FoldField

from ..support import cli_here
from .everywhere import APPS, compiled

SETTINGS = {"wordcount": [], "grep": ["-D", "grep.pattern=Light"]}
ENVIRONMENT = {"wordcount": {}, "grep": {"grep_pattern": "Light"}}
NAMES = sorted(SETTINGS)
ALL = sorted(path.name for path in APPS.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    for name in NAMES:
        (folder / f"{name}.hdp").symlink_to(compiled(name))
    return folder


def heterodoop(*arguments: object, status: int = 0) -> str:
    """Run the command; returns its stderr."""
    return cli_here(*arguments, status=status).message


def run_filter(bundles: Path, app: str, role: str, data: bytes, **env: str) -> bytes:
    path = bundles / f"{app}.hdp" / "bin" / role
    return subprocess.run([path], input=data, stdout=subprocess.PIPE, env={**ENVIRONMENT[app], **env}, check=True).stdout


def by_key(pairs: bytes) -> bytes:
    """A stable sort by key bytes, as between map and combine."""
    return b"".join(sorted(pairs.splitlines(keepends=True), key=lambda line: line.split(b"\t", 1)[0]))


@pytest.mark.parametrize("app", ALL)
def test_every_app_is_complete(app: str) -> None:
    files = {path.name for path in (APPS / app).iterdir()}
    assert {"map.c", "README.md", "sample.txt", "expected.txt"} <= files
    assert "```shell\n" in (APPS / app / "README.md").read_text()


@pytest.mark.parametrize("app", NAMES)
def test_expected_output_is_what_the_readme_pipeline_makes(app: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (APPS / app / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 1 and blocks[0].rstrip().endswith("> expected.txt")
    (tmp_path / "sample.txt").write_bytes((APPS / app / "sample.txt").read_bytes())
    subprocess.run(["bash", "-euo", "pipefail", "-c", blocks[0]], cwd=tmp_path, check=True)
    assert (tmp_path / "expected.txt").read_bytes() == (APPS / app / "expected.txt").read_bytes()


@pytest.mark.parametrize("app", NAMES)
def test_plain_pipes_give_the_expected_output(app: str, bundles: Path) -> None:
    sample = (APPS / app / "sample.txt").read_bytes()
    pairs = by_key(run_filter(bundles, app, "map", sample))
    combined = run_filter(bundles, app, "combine", pairs)
    assert run_filter(bundles, app, "reduce", combined) == (APPS / app / "expected.txt").read_bytes()
    assert run_filter(bundles, app, "reduce", pairs) == (APPS / app / "expected.txt").read_bytes()


@pytest.mark.parametrize("app", NAMES)
@pytest.mark.parametrize("options", [[], ["--split-size=20k", "--reducers=3"], ["--cpu-slots=1", "--split-size=9k"]])
def test_the_engine_gives_the_expected_output(app: str, options: list[str], bundles: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    heterodoop("run", bundles / f"{app}.hdp", APPS / app / "sample.txt", "-o", output, "--quiet", *SETTINGS[app], *options)
    parts = [path.read_bytes() for path in sorted(output.glob("part-*"))]
    assert len(parts) == (3 if "--reducers=3" in options else 1)
    assert by_key(b"".join(parts)) == (APPS / app / "expected.txt").read_bytes()
    assert (output / "_SUCCESS").read_bytes() == b""


@pytest.mark.parametrize("app", NAMES)
def test_the_compiler_understands_every_region(app: str, bundles: Path) -> None:
    """Nothing keeps map and combiner off a GPU, and the combiner is a sum that may be taken in parts."""
    programs = {program.role: program for program in manifest.load(bundles / f"{app}.hdp").programs}
    combine, reduce = programs["combine"], programs["reduce"]
    assert programs["map"].gpu_refusals == combine.gpu_refusals == ()
    assert combine.region and combine.region.fold and combine.region.fold.only == FoldField("sum", "int64")
    assert combine.region.fold.regroup
    assert [reason.code for reason in reduce.gpu_refusals] == ["HD201"]


def test_words_are_cut_at_white_space_and_nul_only(bundles: Path) -> None:
    data = b"a b\tc\rd\ve\ff\0g  \x85 \xc3\xa9 it's\n\n \t\nlast"
    words = [line.split(b"\t")[0] for line in run_filter(bundles, "wordcount", "map", data).splitlines()]
    assert words == [*b"a b c d e f g".split(), b"\x85", b"\xc3\xa9", b"it's", b"last"]


def test_a_word_that_does_not_fit_is_never_cut(bundles: Path, tmp_path: Path) -> None:
    assert run_filter(bundles, "wordcount", "map", b"x" * 255 + b"\n") == b"x" * 255 + b"\t1\n"
    (tmp_path / "long.txt").write_bytes(b"short " + b"x" * 256 + b" short\n")
    job = ["run", bundles / "wordcount.hdp", tmp_path / "long.txt", "-o", tmp_path / "out", "--quiet", "--max-attempts", "1"]
    assert "a word is longer than 255 bytes" in heterodoop(*job, status=1)
    assert not (tmp_path / "out" / "_SUCCESS").exists()


@pytest.mark.parametrize(("pattern", "line", "matches"), [
    ("aa", b"aaaaa", 2), ("a", b"banana", 3), ("na b", b"na bna b", 2), ("x", b"a\0x\0\0x", 2), ("x", b"", 0),
    ("z", b"abc", 0),
])
def test_matches_do_not_overlap_and_reach_behind_nul(bundles: Path, pattern: str, line: bytes, matches: int) -> None:
    out = run_filter(bundles, "grep", "map", line + b"\n", grep_pattern=pattern)
    assert out == f"{pattern}\t1\n".encode() * matches


def test_a_pattern_with_blanks_is_one_key(bundles: Path, tmp_path: Path) -> None:
    sample = APPS / "grep" / "sample.txt"
    job = ["run", bundles / "grep.hdp", sample, "-o", tmp_path / "out", "--quiet", "--split-size", "50k"]
    heterodoop(*job, "-D", "grep.pattern=of Light")
    matches = sample.read_bytes().count(b"of Light")
    assert matches > 20 and (tmp_path / "out" / "part-00000").read_bytes() == b"of Light\t%d\n" % matches


@pytest.mark.parametrize("setting", [[], ["-D", "grep.pattern="], ["-D", "grep.pattern=a\tb"]])
def test_a_pattern_that_cannot_be_searched_is_refused(bundles: Path, tmp_path: Path, setting: list[str]) -> None:
    job = ["run", bundles / "grep.hdp", APPS / "grep" / "sample.txt", "-o", tmp_path / "out", "--quiet", "--max-attempts=1"]
    assert "-D grep.pattern=TEXT is needed" in heterodoop(*job, *setting, status=1)
