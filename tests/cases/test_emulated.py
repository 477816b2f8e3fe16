"""Field cases A to D and the filters of E and F on the emulated device: the CPU's bytes, or a reason why not there.

Not here: what the cases are about on the CPU (test_input_text.py, test_programs.py ...).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from heterodoop import manifest
from heterodoop.compiler.decide import optimisations
from heterodoop.engine.devices.devices import DeviceSource
from heterodoop.engine.run.local import JobResult, run_local
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

from ..support import COMMAND, Bundles, environment, parts
from .runner import Case, check_output, folder, load, place_input, program

pytestmark = pytest.mark.usefixtures("kernel_cache")
CASES = {case.name: case for letter in "ABCDEF" for case in load(letter)}
SLOW = "HETERODOOP_SLOW" in os.environ

REFUSED = {  # compiled for the CPU alone, with this code
    "B14": "HD212",  # break out of the record loop
    "B16": "HD210",  # state from record to record
    "B17": "HD210",
    "B32": "HD210",
    "B37": "HD237",  # __int128
    "B66": "HD228",  # its own stream of stdin
    "E01": "HD202",  # no directive
}
LEFT = {  # compiled for both, but a record of this input is left to the CPU
    "B27": "record 3: recursion deeper than the device's stack allows",
    "B62": "record 2: the program reads or writes behind the end of a line",
    "B63": "record 2: the program reads what it has not written for this record",
    "B64": "record 2: the program reads or writes behind the end of a line",
    "C07": "record 1: a NaN is printed whose sign only the CPU knows",
}
TINY = "heterodoop.gpu.sub-split.bytes=64"


class Way(NamedTuple):
    """How a job runs. `cut`: only where splits may end anywhere."""

    settings: tuple[str, ...]
    reducers: int
    cut: bool = False


WAYS = {
    "one reducer": Way((), 1),
    "three reducers, tiny sub-splits": Way((TINY, "heterodoop.emulated.order=random", "heterodoop.emulated.seed=7"), 3),
    "no reducer": Way(("heterodoop.emulated.order=reverse", "heterodoop.emulated.pattern=165"), 0),
    "small splits, two reducers, tiny sub-splits and sort": Way((TINY, "heterodoop.sort.bytes=20000"), 2, cut=True),
}


def job(case: Case, bundle: Path, source: Path, output: Path, way: Way) -> JobResult:
    size = sum(path.stat().st_size for path in (source.iterdir() if source.is_dir() else [source]))
    split = max(7, size // 6) if way.cut else 0
    more = {"split_size": split} if split else {}
    # One launch for every 64 bytes of 300 KB would take minutes.
    settings = [s.replace("=64", f"={max(64, size // 50)}") if s == TINY else s for s in way.settings]
    options = RunOptions(quiet=True, device="emulated", settings=settings, reducers=way.reducers, **more)  # type: ignore[arg-type]
    return run_local(bundle, [str(source)], str(output), options, devices=DeviceSource())


def ways(case: Case) -> dict[str, Way]:
    """A combiner's own output is final only in one task of one run over its pairs."""
    if case.programs["combine"] and not case.programs["reduce"]:
        return {"one reducer": WAYS["one reducer"]}
    found = {name: way for name, way in WAYS.items() if not (way.cut and case.carried)}
    return {name: way for name, way in found.items() if way.reducers or not case.programs["combine"]}


def check_device(case: Case, bundle: Path, result: JobResult, name: str) -> None:
    """Where the tasks ran, and what is told about it."""
    what, ran = f"{case.name} ({case.title}), {name}", result.report["device"]["map_tasks"]
    program = manifest.load(bundle).program("map")
    codes = [reason.code for reason in program.gpu_refusals] if program else []
    told = {warning.code: warning.message for warning in result.warnings}
    if case.name in REFUSED:
        assert codes and codes[0] == REFUSED[case.name], f"{what}: {codes}"
        assert set(ran) <= {"cpu"} and f"[{codes[0]}]" in told["HD411"], what
    elif case.name in LEFT:
        assert not codes and ran["cpu"], f"{what}: {ran}"
        assert LEFT[case.name] in told["HD410"] or "small splits" in name, f"{what}: {told}"
    else:  # a split without records is the CPU's, and nothing to tell of
        assert not codes and not told.keys() & {"HD410", "HD411"}, f"{what}: {codes}, {told}"
        assert "emulated" in ran or not result.report["counters"]["MAP_INPUT_RECORDS"], f"{what}: {ran}"


def check(case: Case, bundle: Path, source: Path, folder: Path, chosen: dict[str, Way]) -> None:
    for number, (name, way) in enumerate(chosen.items()):
        result = job(case, bundle, source, folder / f"out{number}", way)
        check_output(case, parts(result.output), name)
        check_device(case, bundle, result, name)


def verified(case: Case, bundle: Path, source: Path) -> None:
    """Every order of lanes and pattern of memory."""
    found = verify(bundle, [str(source)], RunOptions(device="emulated", reducers=2))
    for verdict in found.verdicts:
        assert verdict.difference is None, f"{case.name}: {verdict.difference}"
        assert (verdict.outcome == "cpu-only") == (case.name in {*REFUSED, *LEFT}), f"{case.name}: {verdict}"


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_the_same_bytes_or_a_reason(case: Case, bundles: Bundles, tmp_path: Path) -> None:
    bundle, source = bundles.get(**case.programs), place_input(case, tmp_path)
    check(case, bundle, source, tmp_path, ways(case))
    verified(case, bundle, source)


IN_EVERY_SET = ("A12", "B18", "B36", "C10", "C13", "D06", "D13", "E19")


@pytest.mark.parametrize("name", CASES if SLOW else IN_EVERY_SET)
def test_the_papers_set_of_optimisations(name: str, bundles: Bundles, tmp_path: Path) -> None:
    case = CASES[name]
    bundle, source = bundles.get(**case.programs, options=("--opt", "paper")), place_input(case, tmp_path)
    check(case, bundle, source, tmp_path, ways(case))


@pytest.mark.parametrize("off", [(name, item) for name in optimisations.SETS for item in optimisations.chosen(name)],
                         ids=" without ".join)
@pytest.mark.parametrize("name", IN_EVERY_SET if SLOW else ("B18", "D06"))
def test_each_optimisation_switched_off(name: str, off: tuple[str, str], bundles: Bundles, tmp_path: Path) -> None:
    case, (all_of, without) = CASES[name], off
    bundle = bundles.get(**case.programs, options=("--opt", all_of, "--no-opt", without))
    chosen = {way: WAYS[way] for way in list(ways(case))[1:2]}
    check(case, bundle, place_input(case, tmp_path), tmp_path, chosen)


def test_f01_a_wild_write_of_a_kernel_is_told_and_the_next_job_is_right(bundles: Bundles, tmp_path: Path) -> None:
    bundle, source = bundles.get(program("F01", "map")), folder("F01") / "input"
    case = CASES["B13"]
    for number in range(2):
        options = RunOptions(quiet=True, device="emulated", reducers=1)
        result = run_local(bundle, [str(source)], str(tmp_path / f"out{number}"), options, devices=DeviceSource())
        (warning,) = result.warnings
        assert warning.code == "HD410" and "record 2: the program reads or writes outside of an array" in warning.message
        assert result.report["device"]["map_tasks"] == {"cpu": 1}
        check(case, bundles.get(**case.programs), place_input(case, tmp_path), tmp_path / f"next{number}", ways(case))


def test_f03_a_kernel_that_never_ends_does_not_keep_an_interrupted_job(bundles: Bundles, tmp_path: Path) -> None:
    arguments = ["run", bundles.get(program("F03", "map")), folder("F03") / "input", "-o", tmp_path / "out"]
    options = ["--device", "emulated", "-r1", "-D", "heterodoop.emulated.order=forward"]
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments), *options], env=environment(), stderr=subprocess.PIPE, start_new_session=True,
    )
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=5)
        process.terminate()
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130 and b"SIGTERM" in err
    assert not (tmp_path / "out").exists()
