"""A sample of the device's first map task against the CPU's: when it decides, when the whole task does, what it leaves."""

from __future__ import annotations

import gzip

import pytest

from heterodoop.engine.devices.first_check import DeviceCheck
from heterodoop.errors import JobFailed
from heterodoop.executor.native.runtime import Progress, TaskStatus
from heterodoop.executor.task.cpu_task import MapRun
from heterodoop.executor.task.report import AttemptResult

from ..checking import COUNTS, TEXT, TIDY, WRONG, always, checked, rows, samples
from ..conftest import CAT, SUM, WORDS, names, parts
from ..fake_device import with_kernel


@pytest.mark.parametrize("slots", [1, 4])
@pytest.mark.parametrize("reducers", [0, 2])
def test_a_sample_that_agrees_lets_the_devices_results_count(
    fake, bundle, job, small, monkeypatch, reducers: int, slots: int,
) -> None:
    """And nothing of it is in the task's numbers, nor in those that the display shows."""
    seen: list[tuple[tuple[int, int], tuple[int, int]]] = []
    run_map = DeviceCheck.run_map

    def watched(check: DeviceCheck, run: MapRun, progress: Progress) -> AttemptResult:
        result = run_map(check, run, progress)
        done = result.counters["MAP_INPUT_RECORDS"], result.counters["MAP_INPUT_BYTES"]
        seen.append(((progress.records_in, progress.bytes_in), done))
        return result

    monkeypatch.setattr(DeviceCheck, "run_map", watched)
    made = with_kernel(bundle(WORDS, SUM, SUM, fold=True))
    result = job(made, "sample", reducers=reducers, cpu_slots=slots)
    cpu = job(made, device="cpu", reducers=reducers, out="cpu")
    assert parts(result.output) == parts(cpu.output) and result.warnings == ()
    assert checked(result) == {"mode": "sample", "tasks": 0, "samples": 1, "different": None}
    assert result.report["device"]["map_tasks"] == {"emulated": 4} and result.report["counters"] == cpu.report["counters"]
    assert len(fake.tasks) == 5 and len(samples(fake)) == 1
    assert sum("check" in row["stages"] for row in rows(result)) == 1
    assert len(seen) == 4 and all(shown == done for shown, done in seen), seen


@pytest.mark.parametrize("slots", [1, 4])
@pytest.mark.parametrize("reducers", [0, 2])
def test_a_sample_that_differs_puts_the_device_out_of_service(
    fake, bundle, job, filters, text, small, reducers: int, slots: int,
) -> None:
    fake.program = always(filters(WRONG))
    made = with_kernel(bundle(WORDS, SUM, SUM))
    result = job(made, "sample", reducers=reducers, cpu_slots=slots)
    cpu = job(made, device="cpu", reducers=reducers, out="cpu")
    assert parts(result.output) == parts(cpu.output) and result.report["counters"] == cpu.report["counters"]
    assert result.report["device"]["map_tasks"] == {"cpu": 4} and len(fake.tasks) <= slots + 1
    assert (checked(result)["tasks"], checked(result)["samples"]) == (0, 1)
    wrong, left = result.warnings
    ((start, length),) = samples(fake)
    assert (wrong.code, left.code) == ("HD414", "HD410") and f"({text}, bytes {start} to {start + length})" in wrong.message
    assert sum("refused" in row["stages"] for row in rows(result)) == 1 and len(rows(result)) == 4


def test_what_only_a_later_record_shows_is_found_by_first_and_not_by_sample(fake, bundle, job, filters, small) -> None:
    late = "while (getline(&line, &cap, stdin) != -1 && ++n)"
    wrong = WORDS.replace("while (getline(&line, &cap, stdin) != -1)", late).replace("size_t cap", "int n = 0; size_t cap")
    fake.program = always(filters(wrong.replace('printf("%s\\t1\\n", word)', 'printf("%s\\t%d\\n", word, 1 + (n > 9))')))
    made = with_kernel(bundle(WORDS, SUM, SUM))
    sample = job(made, "sample")
    assert parts(sample.output) != [COUNTS] and sample.warnings == () and checked(sample)["samples"] == 1
    first = job(made, "first", out="first")
    assert parts(first.output) == [COUNTS] and [w.code for w in first.warnings] == ["HD414", "HD410"]


@pytest.mark.parametrize("reducers", [0, 1])
@pytest.mark.parametrize("wrong", [False, True])
def test_a_sample_leaves_no_files_log_or_counters(
    fake, bundle, job, filters, text, small, reducers: int, wrong: bool,
) -> None:
    """The filter fails where it finds what another run left, and says how much it was told to read."""
    count = 'fprintf(stderr, "reporter:counter:g,runs,1\\nfilter ran over %s\\n", getenv("mapreduce_map_input_length"))'
    source = TIDY.replace('fprintf(stderr, "SIDE ran\\n")', count)
    other = filters(source.replace("putchar(c)", "putchar(c == 'a' ? 'x' : c)"))
    fake.program = lambda options: other if wrong else None
    result = job(with_kernel(bundle(source)), "sample", reducers=reducers, files=[f"{text}#data"], cpu_slots=2)
    output = b"".join(parts(result.output))
    assert output.count(b"\n") == TEXT.count(b"\n") and b"x" not in output
    assert names(result.output) == ["_SUCCESS", *(f"part-0000{i}" for i in range(1 if reducers else 4)),
                                    *(f"side{i}" for i in range(4))]
    assert result.report["user_counters"] == {"g": {"runs": 4}} and checked(result)["samples"] == 1
    logs = {path.name: path.read_text() for path in (result.report_folder / "logs").iterdir()}
    lengths = [60, 60, 60, 20]
    assert {f"m_{i:06d}_0.log": f"filter ran over {n}\n" for i, n in enumerate(lengths)}.items() <= logs.items(), logs
    assert not any("device" in name or "sample" in name for name in logs)


def test_a_split_that_is_no_longer_than_a_sample_is_compared_as_a_whole(fake, bundle, job, filters) -> None:
    made = with_kernel(bundle(WORDS, SUM, SUM))
    assert (checked(job(made, "sample"))["tasks"], len(fake.tasks)) == (1, 4)
    fake.program = always(filters(WRONG))
    wrong = job(made, "sample", out="wrong")
    assert parts(wrong.output) == [COUNTS] and (checked(wrong)["tasks"], checked(wrong)["samples"]) == (1, 0)


def test_a_compressed_file_is_compared_as_a_whole(fake, bundle, run, filters, tmp_path, small) -> None:
    path = tmp_path / "in.gz"
    path.write_bytes(gzip.compress(TEXT, compresslevel=0))
    made = with_kernel(bundle(WORDS, SUM, SUM))
    right = run(made, path, check="sample", device="emulated")
    assert checked(right)["tasks"] == 1 and len(fake.tasks) == 1 and right.warnings == ()
    fake.program = always(filters(WRONG))
    wrong = run(made, path, check="sample", device="emulated", out="wrong")
    assert parts(wrong.output) == [COUNTS] and checked(wrong)["tasks"] == 1


def test_splits_and_samples_without_a_record(fake, bundle, job, text, small) -> None:
    """No record begins in the first part of the third split, and none at all in the second."""
    text.write_bytes(b"x" * 90 + b"\n" + b"y\n" * 15)
    made = with_kernel(bundle(WORDS))
    fake.answer = lambda spec: TaskStatus.OK if spec.start else TaskStatus.RUN_ON_CPU
    result = job(made, "sample", split_size=40)
    assert [(spec.start, spec.length) for spec, *_ in fake.tasks] == [(0, 40), (40, 40), (80, 41), (80, small)]
    assert checked(result)["samples"] == 1 and result.report["device"]["map_tasks"] == {"emulated": 2, "cpu": 1}
    fake.tasks.clear()
    text.write_bytes(b"x" * 110 + b"\n" + b"y\n" * 15)
    result = job(made, "sample", split_size=40, out="whole")
    assert samples(fake) == [(80, small)] and (checked(result)["tasks"], checked(result)["samples"]) == (1, 0)
    text.write_bytes(b"")
    assert checked(job(made, "sample", out="empty")) == {"mode": "sample", "tasks": 0, "samples": 0, "different": None}


@pytest.mark.parametrize("side", ["cpu", "device"])
def test_a_sample_that_cannot_be_had_is_no_verdict_and_the_whole_task_is_compared(
    fake, bundle, job, filters, small, side: str,
) -> None:
    """The filter fails on anything but its whole split; or it is the device that leaves samples to the CPU."""
    fails = CAT.replace("int c;", 'int c; if (!strcmp(getenv("mapreduce_map_input_length"), "16")) return 3;')
    source = "#include <stdlib.h>\n#include <string.h>\n" + fails if side == "cpu" else CAT
    right = filters(CAT)
    fake.program = always(right)
    fake.answer = lambda spec: TaskStatus.RUN_ON_CPU if side == "device" and spec.length == small else TaskStatus.OK
    made = with_kernel(bundle(source))
    result = job(made, "sample", split_size=50)
    assert len(b"".join(parts(result.output)).splitlines()) == 40
    assert (checked(result)["tasks"], checked(result)["samples"]) == (1, 0) and result.warnings == ()
    assert result.report["device"]["map_tasks"] == {"emulated": 4} and len(samples(fake)) == 1
    assert result.report["tasks"]["map"]["failed_attempts"] == 0
    wrong = filters(CAT.replace("putchar(c)", "putchar(c == 'a' ? 'x' : c)"))
    fake.program = always(wrong)
    result = job(made, "sample", split_size=50, out="wrong")
    assert b"x" not in b"".join(parts(result.output)) and [w.code for w in result.warnings] == ["HD414", "HD410"]


@pytest.mark.parametrize("slots", [1, 3])
def test_a_filter_that_fails_anyway_ends_the_job_as_without_a_check(fake, bundle, job, filters, small, slots: int) -> None:
    """The device leaves what fails to the CPU: no task of it that could be sampled."""
    fake.answer = lambda spec: TaskStatus.RUN_ON_CPU
    with pytest.raises(JobFailed, match="exit status 3") as caught:
        job(with_kernel(bundle(CAT.replace("return 0", "return 3"))), "sample", cpu_slots=slots, max_attempts=2)
    assert caught.value.code == "HD401" and samples(fake) == []
