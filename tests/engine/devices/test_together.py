"""Map tasks of several splits on a device: the bytes of the filters whatever fails, and only where that is sure.

The device is the fake one, which runs a filter in the kernel's place, but for one job of word count's own kernels.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heterodoop import manifest
from heterodoop.engine.devices.devices import DevicePlan
from heterodoop.engine.devices.together import FOLDED_BYTES, SORTED_BYTES, Together, together
from heterodoop.engine.run.attempts import AttemptRunner
from heterodoop.engine.run.local import JobResult
from heterodoop.executor.gpu.gpus import Gpu
from heterodoop.executor.kernel.native_device import DeviceOptions
from heterodoop.executor.native.runtime import MapSpec, TaskStatus
from heterodoop.job import jobconf
from heterodoop.manifest import FILE, KeptNumber, Manifest, PairReader, Reducer
from heterodoop.scheduler.model import Attempt

from ..checking import rows
from ..conftest import CAT, SUM, WORDS, names, parts
from ..fake_device import Behaviour, with_kernel

EIGHT = ("heterodoop.gpu.splits=8",)
SPLIT = 300
OFFLOAD = DevicePlan({}, DeviceOptions(), gpus=(Gpu(0, "H200", "sm_90", 1 << 30),))
READER = PairReader("field", 255, ("int64",))


def lines(seed: int, count: int = 700) -> bytes:
    """Of words, with every kind of end, empty ones among them, and none behind the last."""
    chance = random.Random(seed)
    words = [bytes(chance.choices(b"abcd", k=chance.randint(1, 4))) for _ in range(30)]
    return b"".join(
        b" ".join(chance.choices(words, k=chance.randint(0, 6))) + chance.choice([b"\n", b"\r\n", b"\r"])
        for _ in range(count)) + b"the last"


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    """Splits of different files are never one task's."""
    paths = [tmp_path / name for name in ("a.txt", "b.txt", "c.txt")]
    for seed, path in enumerate(paths):
        path.write_bytes(lines(seed) if seed else b"one short line\n")
    return paths


def reduced(bundle: Path, reducer: Reducer | None = None) -> Path:
    """The bundle, its combiner known to read int64 and its reducer to sum them."""
    reducer = reducer or Reducer("fold", "prev", READER, (KeptNumber("sum", "long", "sum", 0),))
    found = manifest.from_json((bundle / FILE).read_text())
    programs = [
        replace(one, region=replace(one.region, pairs=READER)) if one.role == "combine" and one.region
        else replace(one, reducer=reducer) if one.role == "reduce" else one
        for one in found.programs
    ]
    (bundle / FILE).write_text(replace(found, programs=tuple(programs)).to_json())
    return bundle


def of_several(result: JobResult, outcome: str = "succeeded") -> list[list[int]]:
    """The tasks of each attempt that had more than one."""
    return [row["tasks"] for row in rows(result) if "tasks" in row and row["outcome"] == outcome]  # type: ignore[misc]


def holds_together(result: JobResult, cpu: JobResult) -> None:
    """The same bytes, and each map task was done by one attempt."""
    assert parts(result.output) == parts(cpu.output) and any(parts(cpu.output)) and result.warnings == cpu.warnings
    counted = [number for row in rows(result) if row["outcome"] == "succeeded"
               for number in row.get("tasks", [int(str(row["attempt"])[2:8])])]  # type: ignore[attr-defined]
    assert sorted(counted) == list(range(cpu.report["tasks"]["map"]["planned"]))
    for name in ("MAP_INPUT_RECORDS", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "REDUCE_OUTPUT_RECORDS"):
        assert result.report["counters"][name] == cpu.report["counters"][name], name
    sides = result.report["map"]["device"], result.report["map"]["cpu"]
    assert sum(side["tasks"] for side in sides) == len(counted)
    assert sum(side["bytes"] for side in sides) == cpu.report["job"]["input_bytes"]


@pytest.mark.parametrize(("policy", "combine"), [("gpu-only", ""), ("gpu-only", SUM), ("gpu-first", SUM)])
def test_a_job_has_the_bytes_of_the_cpu(fake, bundle, run, inputs: list[Path], policy: str, combine: str) -> None:
    made = with_kernel(reduced(bundle(WORDS, combine, SUM, fold=bool(combine))))
    options = {"split_size": SPLIT, "reducers": 2, "cpu_slots": 2}
    cpu = run(made, *inputs, out="cpu", **options)
    result = run(made, *inputs, device="emulated", policy=policy, settings=EIGHT, **options)
    holds_together(result, cpu)
    done = of_several(result)
    several = result.report["map"]["several_splits"]
    assert several == {"most": 8, "why_one": "", "attempts": len(done), "tasks": sum(map(len, done)), "given_back": 0}
    if policy == "gpu-only":
        assert max(map(len, done)) == 8 and len(rows(result)) < cpu.report["tasks"]["map"]["planned"] / 2
    files = {number: row["split"] for row in rows(cpu) for number in [int(str(row["attempt"])[2:8])]}
    for tasks, row in zip(done, (row for row in rows(result) if "tasks" in row), strict=True):
        assert {files[number]["file"] for number in tasks} == {row["split"]["file"]}  # type: ignore[index]
        assert row["split"]["length"] == sum(files[number]["length"] for number in tasks)  # type: ignore[index]


def test_one_split_each_is_the_setting_s_one(fake, bundle, run, inputs: list[Path]) -> None:
    made = with_kernel(bundle(WORDS, None, SUM))
    for settings in (("heterodoop.gpu.splits=1",), ()):
        result = run(made, *inputs, device="emulated", settings=settings, split_size=SPLIT, out=f"out{len(settings)}")
        assert of_several(result) == [] and result.report["map"]["several_splits"]["most"] == 1


@pytest.mark.parametrize("seed", range(3))
def test_whatever_a_device_does_of_them_the_bytes_are_the_same(fake, bundle, run, inputs: list[Path], seed: int) -> None:
    """It leaves some to the CPU and fails at others; what it does not do of several splits is done singly."""
    chance = random.Random(seed)
    made = with_kernel(bundle(WORDS, None, SUM))
    options: dict[str, Any] = {"split_size": SPLIT, "reducers": 2, "cpu_slots": 2}
    cpu = run(made, *inputs, out="cpu", **options)

    def answer(spec: MapSpec) -> TaskStatus:
        bad = chance.random() < (0.5 if (spec.length or 0) > 2 * SPLIT else 0.05)
        return chance.choice([TaskStatus.RUN_ON_CPU, TaskStatus.DEVICE_FAILED]) if bad else TaskStatus.OK

    fake.answer = answer
    result = run(made, *inputs, device="emulated", settings=EIGHT, **options)
    holds_together(replace_warnings(result), cpu)
    back = of_several(result, "given back")
    assert back and result.report["map"]["several_splits"]["given_back"] == len(back)
    assert result.report["tasks"]["map"]["failed_attempts"] == 0 and result.report["failures"] == []
    assert not {f"m_{tasks[0]:06d}_0.log" for tasks in back} & set(logs(result))


def replace_warnings(result: JobResult) -> JobResult:
    """Without those on tasks that were left to the CPU."""
    return result._replace(warnings=tuple(one for one in result.warnings if one.code != "HD410"))


def logs(result: JobResult) -> list[str]:
    folder = result.report_folder / "logs"
    return names(folder) if folder.exists() else []


def test_a_pair_that_does_not_read_back_ends_it(fake: Behaviour, bundle, run, tmp_path: Path) -> None:
    """The combiner takes `a b` for `a`: what it makes of several splits is not what the reducer would of each one's."""
    (tmp_path / "in").write_bytes(b"a\t1\nb\t1\n" * 150 + b"a b\t1\n" + b"a\t1\n" * 2000)
    reader = PairReader("token", 255, ("int64",))
    made = with_kernel(reduced(bundle(CAT, SUM, SUM, fold=True), Reducer("fold", "prev", READER, ())))
    text = (made / FILE).read_text().replace('"key": "field"', '"key": "token"')
    (made / FILE).write_text(text)
    assert manifest.from_json(text).program("reduce").reducer.pairs.key == reader.key  # type: ignore[union-attr]
    cpu = run(made, tmp_path / "in", out="cpu", split_size=SPLIT)
    result = run(made, tmp_path / "in", device="emulated", settings=EIGHT, split_size=SPLIT, cpu_slots=1)
    holds_together(result, cpu)
    (back,) = of_several(result, "given back")
    assert 4 in back and of_several(result), "the 1200th byte is in the split of this number"


def test_a_damaged_output_of_several_is_made_again_singly(
    fake, bundle, run, inputs: list[Path], monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, damaged, commit = with_kernel(bundle(WORDS, None, SUM)), list[Attempt](), AttemptRunner.commit
    cpu = run(made, *inputs, out="cpu", split_size=SPLIT, reducers=2)

    def and_damage(self: AttemptRunner, attempt: Attempt) -> None:
        commit(self, attempt)
        if attempt.splits > 1 and not damaged:
            os.truncate(self.layout.map_output(attempt)[0], 20)
            damaged.append(attempt)

    monkeypatch.setattr(AttemptRunner, "commit", and_damage)
    result = run(made, *inputs, device="emulated", settings=EIGHT, split_size=SPLIT, reducers=2)
    assert parts(result.output) == parts(cpu.output) and [one.code for one in result.warnings] == ["HD431"]
    assert f"{damaged[0].splits} map tasks" in result.warnings[0].message
    again = {str(row["attempt"]) for row in rows(result)}
    assert {f"m_{number:06d}_1" for number in damaged[0].numbers} <= again
    assert result.report["tasks"]["map"]["done"] == cpu.report["tasks"]["map"]["done"]


def test_cpu_slots_take_back_what_a_gpu_does_not_end(fake: Behaviour, bundle, run, filters, tmp_path: Path) -> None:
    """The device is fast until it gets several splits, at which it hangs; a CPU slot needs 50 ms for one."""
    (tmp_path / "in").write_bytes(lines(5, 1000))
    slow, quick, hangs = (
        WORDS.replace("int main(void) {", f"#include <unistd.h>\nint main(void) {{ usleep({us});") for us in
        (50_000, 0, 30_000_000))
    made = with_kernel(bundle(slow, None, SUM))
    programs = filters(quick), filters(hangs)
    fake.program = lambda options: programs[(fake.tasks[-1][0].length or 0) > SPLIT * 1.2]
    options: dict[str, Any] = {"split_size": SPLIT, "reducers": 2, "cpu_slots": 2}
    cpu = run(bundle(WORDS, None, SUM), tmp_path / "in", out="cpu", **options)
    begun = time.monotonic()
    result = run(made, tmp_path / "in", device="emulated", policy="tail", settings=EIGHT, **options)
    assert time.monotonic() - begun < 20
    holds_together(result, cpu)
    late = of_several(result, "overtaken")
    assert late and result.report["map"]["several_splits"]["given_back"] == len(late)
    assert not {f"m_{tasks[0]:06d}_0.log" for tasks in late} & set(logs(result))


def test_word_count_by_its_own_kernels(wordcount: Path, run, inputs: list[Path]) -> None:
    options: dict[str, Any] = {"split_size": 1500, "reducers": 3, "cpu_slots": 2}
    cpu = run(wordcount, *inputs, out="cpu", filters=True, **options)
    result = run(wordcount, *inputs, device="emulated", settings=EIGHT, **options)
    holds_together(result, cpu)
    assert of_several(result)


# ------------------------------------------------------------------------------------------ where it is allowed


def change(found: Manifest, role: manifest.Role, **fields: Any) -> Manifest:
    return replace(found, programs=tuple(replace(p, **fields) if p.role == role else p for p in found.programs))


Change = Callable[[Manifest], Manifest]


def kernel(role: manifest.Role, **fields: Any) -> Change:
    return lambda found: change(found, role, kernel=replace(found.program(role).kernel, **fields))  # type: ignore[union-attr]


def reducer(**fields: Any) -> Change:
    return lambda found: change(found, "reduce", reducer=replace(found.program("reduce").reducer, **fields))  # type: ignore[union-attr]


def fold(**fields: Any) -> Change:
    def changed(found: Manifest) -> Manifest:
        region = found.program("combine").region  # type: ignore[union-attr]
        return change(found, "combine", region=replace(region, fold=replace(region.fold, **fields)))  # type: ignore[union-attr]

    return changed


LESS = "the reducer is not known to make the same of what was combined over several splits"
NOT_ALLOWED: dict[str, tuple[Change, str]] = {
    "an epilogue": (kernel("map", epilogue="bin/e"), "the code behind the map's loop prints for each split"),
    "a prologue each": (kernel("map", prologue_runs="each"), "the code before the map's loop runs for each split"),
    "a combiner's": (kernel("combine", prologue_runs="each"), "the code before the combiner's loop runs for each split"),
    "no fold": (lambda found: change(found, "combine", region=replace(
        found.program("combine").region, fold=None)), "the combiner is no fold of integers"),  # type: ignore[arg-type, union-attr]
    "counts": (fold(regroup=False), "the combiner is no fold of integers"),
    "no reducer": (lambda found: replace(found, programs=found.programs[:2]), LESS),
    "no key loop": (lambda found: change(found, "reduce", reducer=None), LESS),
    "in order": (reducer(loop="ordered"), LESS),
    "it counts pairs": (reducer(kept=(KeptNumber("n", "long", "count", -1),)), LESS),
    "it sums squares": (reducer(kept=(KeptNumber("n", "long", "sum", -1),)), LESS),
    "it has the greatest": (reducer(kept=(KeptNumber("n", "long", "max", 0),)), LESS),
    "a shorter key": (reducer(pairs=replace(READER, key_max=15)), LESS),
    "a narrower number": (reducer(pairs=replace(READER, value=("int32",))), LESS),
}


@pytest.fixture
def found(wordcount: Path) -> Manifest:
    return manifest.load(wordcount)


@pytest.mark.parametrize("name", NOT_ALLOWED)
def test_what_a_program_must_not_do(found: Manifest, name: str) -> None:
    changed, why = NOT_ALLOWED[name]
    got = together(changed(found), jobconf.parse([], {}), 2, OFFLOAD)
    assert got.most == 1 and got.why.startswith(why)


def test_which_jobs_have_them(found: Manifest) -> None:
    def most(*settings: str, reducers: int = 2, offload: DevicePlan | None = OFFLOAD, of: Manifest = found) -> Together:
        return together(of, jobconf.parse(settings, {}), reducers, offload)

    assert most() == Together(8, FOLDED_BYTES) and most("heterodoop.gpu.splits=3").most == 3
    plain = replace(found, programs=tuple(p for p in found.programs if p.role != "combine"))
    assert most(of=plain) == Together(8, SORTED_BYTES)
    assert most(offload=None) == most("heterodoop.gpu.splits=1") == most(offload=replace(OFFLOAD, gpus=())) == Together()
    assert most(reducers=0).why == "without reduce tasks each split has an output file"
    assert "stays on the GPU" in most(offload=replace(OFFLOAD, options=DeviceOptions(keep=50))).why
    assert "compared" in most(offload=replace(OFFLOAD, check="all")).why
    for setting in ("textinputformat.record.delimiter=|", "mapreduce.input.linerecordreader.line.maxlength=80"):
        assert "records begin and end" in most(setting).why


def test_a_report_says_why_not(fake, bundle, run, inputs: list[Path]) -> None:
    made = with_kernel(bundle(WORDS, SUM, SUM))
    result = run(made, *inputs, device="emulated", settings=EIGHT, split_size=SPLIT)
    said = json.loads((result.report_folder / "report.json").read_text())["map"]["several_splits"]
    assert (said["most"], said["attempts"]) == (1, 0) and said["why_one"].startswith("the combiner is no fold")
