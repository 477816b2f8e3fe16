"""Apps of movies, regressions and options against their oracles, in every way to run them that must make no difference."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from heterodoop import manifest
from heterodoop.compiler.decide import optimisations

from ..support import ROOT, cli_here
from . import oracles
from .everywhere import APPS, EMULATED, by_key, compiled, devices, run_app, ways

ORACLES: dict[str, Callable[[bytes], bytes]] = {
    "histratings": oracles.histratings, "histmovies": oracles.histmovies, "linear_regression": oracles.linear_regression,
    "blackscholes": oracles.blackscholes,
}
DEFAULT = optimisations.chosen("default")
CPU_AND_DEVICE = [(), EMULATED]
Build = Callable[..., Path]


@pytest.fixture(scope="module")
def build() -> Build:
    """Compiles an app with options, once."""
    return compiled


def output(bundle: Path, source: Path, folder: Path, *options: str) -> bytes:
    """All part files, sorted; every map task must have run where it was to run."""
    pairs = run_app(bundle, source, [], folder / "out", options)
    assert devices(folder / "out") == ({"emulated"} if EMULATED[0] in options else {"cpu"})
    return pairs


@pytest.mark.usefixtures("kernel_cache")
@pytest.mark.parametrize("app", ORACLES)
@pytest.mark.parametrize("name", ways(0))
def test_every_way_gives_the_expected_output(app: str, name: str, build: Build, tmp_path: Path) -> None:
    source = APPS / app / "sample.txt"
    way = ways(source.stat().st_size)[name]
    bundle = build(app, *way.compile)
    assert output(bundle, source, tmp_path, *way.run) == by_key((APPS / app / "expected.txt").read_bytes())


@pytest.mark.usefixtures("kernel_cache")
@pytest.mark.parametrize("app", ["histratings", "linear_regression"])
@pytest.mark.parametrize("without", DEFAULT)
def test_each_optimisation_can_be_left_out(app: str, without: str, build: Build, tmp_path: Path) -> None:
    source = tmp_path / "few"
    source.write_bytes(b"".join((APPS / app / "sample.txt").read_bytes().splitlines(keepends=True)[:60]))
    bundle = build(app, f"--no-opt={without}")
    assert output(bundle, source, tmp_path, *EMULATED) == ORACLES[app](source.read_bytes())


@pytest.mark.parametrize("app", ["histratings", "histmovies", "linear_regression"])
def test_the_expected_output_is_the_oracle_s(app: str) -> None:
    sample, expected = ((APPS / app / name).read_bytes() for name in ("sample.txt", "expected.txt"))
    assert ORACLES[app](sample) == expected and len(sample) <= 50_000


def test_the_expected_prices_are_the_oracle_s_and_nearly_the_exact_ones() -> None:
    sample, expected = ((APPS / "blackscholes" / name).read_bytes() for name in ("sample.txt", "expected.txt"))
    assert [line.split()[0] for line in expected.splitlines()] == [line.split()[0] for line in sample.splitlines()]
    values = np.array([line.split() for line in by_key(expected).splitlines()], dtype=float)
    for normal, near in ((None, 1.001e-6), (oracles.exact_normal, 2e-5)):
        lines = oracles.blackscholes(sample, normal).splitlines()
        np.testing.assert_allclose(values, np.array([line.split() for line in lines], dtype=float), rtol=0, atol=near)


@pytest.mark.parametrize("app", ORACLES)
def test_the_sample_is_what_the_readme_says(app: str, tmp_path: Path) -> None:
    readme = " ".join((APPS / app / "README.md").read_text().split())
    command = readme[readme.index("`python bench/data.py") + 1:].split("`")[0].split()
    subprocess.run([sys.executable, *command[1:], "-o", tmp_path / "sample"], cwd=ROOT, check=True)
    assert (tmp_path / "sample").read_bytes() == (APPS / app / "sample.txt").read_bytes()


@pytest.mark.parametrize("app", ORACLES)
def test_the_compiler_understands_every_region(app: str, build: Build) -> None:
    programs = {program.role: program for program in manifest.load(build(app)).programs}
    assert programs["map"].gpu_refusals == ()
    if app == "blackscholes":
        assert set(programs) == {"map"}
        return
    combine = programs["combine"]
    assert combine.gpu_refusals == () and combine.region and combine.region.fold
    assert combine.region.fold.only and combine.region.fold.only.op == "sum" and combine.region.fold.regroup


def odd_movies(chosen: random.Random) -> bytes:
    """Movies as no generator makes them, all of which the original takes."""
    ratings = [b"1", b"2", b"3", b"4", b"5", b"5", b"+4", b"-2", b"0", b"007", b"2147483647", b"-2147483648"]
    few = ratings[:6] if chosen.random() < 0.5 else ratings

    def review() -> bytes:
        user = chosen.choice([b"12_", b"7_", b"_", b"", b"a b_", b"\0_", b":_", b"\xc3\xa9_"])
        return user + chosen.choice(few)

    movie = chosen.choice([b"7", b"a b", b"\0", b"x" * 300, b"", b"1_2,3"])
    commas = chosen.choice([b",", b",", b",,,"])
    reviews = commas.join(review() for _ in range(chosen.choice([0, 1, 2, 3, 40, 300])))
    colon = chosen.choice([b":", b":", b":", b":", b""])
    return movie + colon + chosen.choice([b"", b","]) + reviews + chosen.choice([b"", b","]) + b"\n"


@pytest.mark.usefixtures("kernel_cache")
@pytest.mark.parametrize("app", ["histratings", "histmovies"])
@pytest.mark.parametrize("device", CPU_AND_DEVICE)
def test_odd_movies(app: str, device: tuple[str, ...], build: Build, tmp_path: Path) -> None:
    chosen = random.Random(3)
    data = b"\n" + b"".join(odd_movies(chosen) for _ in range(400)) + b"8:1_5"
    (tmp_path / "in").write_bytes(data)
    settings = (*device, "--split-size", "9000", "--reducers", "2")
    assert output(build(app), tmp_path / "in", tmp_path, *settings) == ORACLES[app](data)


def test_means_at_the_ends_of_bins(build: Build) -> None:
    """A mean of 5 is 5.5, none is 0; and a mean that float rounds up to 3 lies in 3.5, which double would put into 3."""
    many = b"1:" + b"3," * 5_592_407 + b"2\n"
    movies = {b"1:5\n": b"5.5", b"1:1\n": b"1.5", b"1:\n": b"0.0", b"1:2,3\n": b"3.0", many: b"3.5"}
    for data, label in movies.items():
        program = build("histmovies") / "bin" / "map"
        assert subprocess.run([program], input=data, stdout=subprocess.PIPE, check=True).stdout == label + b"\t1\n"


ROW = b"1 " * 12
REFUSED = {
    "histratings": [b"1:1_5,2_" + r for r in (b"x", b"", b"+", b"2147483648", b"-2147483649", b"1_2", b" 5", b"5\0")],
    "histmovies": [b"1:1_5,2_x", b"1:9:9", b"1:2_ "],
    "linear_regression": [ROW + x for x in (b"", b"1 1", b"100", b"-100.0", b"1.2345", b"1e2", b".", b"-", b"1,5", b"1\0")],
    "blackscholes": [b"1 0 3 3", b"1 2 3", b"1 2 nan 3", b"x 2 3 4", b"1 1e7 3 3", b"1 1 1 101"],
}


@pytest.mark.usefixtures("kernel_cache")
@pytest.mark.parametrize("app", REFUSED)
def test_what_is_no_input_fails_the_task(app: str, build: Build, tmp_path: Path) -> None:
    job = ["run", build(app), tmp_path / "in", "-o", tmp_path / "out", "--quiet", "--max-attempts", "1"]
    for number, line in enumerate(REFUSED[app]):
        (tmp_path / "in").write_bytes(line + b"\n")
        done = subprocess.run([build(app) / "bin" / "map"], input=line + b"\n", capture_output=True, check=False)
        assert done.returncode == 1 and done.stderr.startswith(f"{app}: ".encode()), line
        if number == 0:  # a kernel leaves such a task to the filter
            for device in CPU_AND_DEVICE:
                assert f"{app}: " in cli_here(*job, *device, status=1).message


@pytest.mark.usefixtures("kernel_cache")
@pytest.mark.parametrize("device", CPU_AND_DEVICE)
def test_numbers_of_rows_in_every_form(device: tuple[str, ...], build: Build, tmp_path: Path) -> None:
    chosen = random.Random(5)
    forms = [b"-0", b"+1", b".5", b"5.", b"-.125", b"99.999", b"-99.999", b"007.250", b"0", b"3", b"-0.001"]
    rows = [chosen.choice([b" ", b"\t", b" \t "]).join(chosen.choices(forms, k=13)) for _ in range(200)]
    data = b"".join(chosen.choice([b"", b" "]) + row + chosen.choice([b"", b"  "]) + b"\n" for row in rows) + b"\n  \n"
    (tmp_path / "in").write_bytes(data)
    settings = (*device, "--split-size", "7000", "--reducers", "3")
    assert output(build("linear_regression"), tmp_path / "in", tmp_path, *settings) == oracles.linear_regression(data)


def test_sums_of_map_tasks_may_need_128_bits(build: Build) -> None:
    values = {b"0": [2**63 - 1] * 5, b"1": [-(2**63)] * 3, b"2": [-1, 1], b"3": [10**18] * 1000}
    pairs = b"".join(b"%s\t%d\n" % (key, value) for key, group in values.items() for value in group)
    reduce = build("linear_regression") / "bin" / "reduce"
    done = subprocess.run([reduce], input=pairs, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"".join(b"%s\t%d\n" % (key, sum(group)) for key, group in values.items())


def test_the_solved_coefficients_are_numpy_s() -> None:
    app = APPS / "linear_regression"
    argv = [sys.executable, app / "solve.py", app / "expected.txt"]
    lines = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    z = np.loadtxt(app / "sample.txt")
    wanted = np.linalg.lstsq(z[:, 1:], z[:, 0], rcond=None)[0]
    assert lines == [f"rows\t{len(z)}", *(f"b{i}\t{value:.6f}" for i, value in enumerate(wanted, 1))]


@pytest.mark.parametrize(("text", "message"), [("", "no rows"), ("singular", "some regressors depend on others")])
def test_what_cannot_be_solved_is_said(text: str, message: str, tmp_path: Path) -> None:
    sums = {"-1": 1, **{str(100 * i + j): 1_000_000 for i in range(13) for j in range(i, 13)}}
    (tmp_path / "part").write_text("".join(f"{k}\t{v}\n" for k, v in sums.items()) if text else "")
    argv = [sys.executable, APPS / "linear_regression" / "solve.py", tmp_path / "part"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and message in done.stderr
