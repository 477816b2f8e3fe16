"""A sample of the device's first map task, all of it, or every task against the CPU's: what counts, what the user hears."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import pytest

from heterodoop.engine.devices.first_check import check_mode
from heterodoop.errors import Interrupted, JobFailed, UsageError
from heterodoop.executor.native.runtime import TaskStatus

from ...support import ROOT, Bundles, cli_here
from ..checking import COUNTS, TEXT, TIDY, WRONG, WRONG_COUNTS, always, assuming, checked, rows
from ..conftest import CAT, SUM, WORDS, names, parts
from ..fake_device import with_kernel
from ..test_emulated_jobs import LEFTOVER


@pytest.mark.parametrize("reducers", [0, 1, 3])
@pytest.mark.parametrize(("check", "tasks"), [("first", 1), ("all", 4), ("none", 0)])
def test_a_right_device_is_believed(fake, bundle, job, check: str, tasks: int, reducers: int) -> None:
    result = job(with_kernel(bundle(WORDS, SUM, SUM, fold=True)), check, reducers=reducers, cpu_slots=3)
    cpu = job(bundle(WORDS, SUM, SUM, fold=True), check, reducers=reducers, device="cpu", out="cpu")
    assert parts(result.output) == parts(cpu.output) and result.warnings == ()
    assert checked(result) == {"mode": check, "tasks": tasks, "samples": 0, "different": None}
    assert result.report["device"]["map_tasks"] == {"emulated": 4} and len(fake.tasks) == 4
    assert sum("check" in row["stages"] for row in rows(result)) == tasks
    assert result.report["counters"] == cpu.report["counters"] and "check" not in cpu.report["device"]


@pytest.mark.parametrize("slots", [1, 4])
@pytest.mark.parametrize("check", ["first", "all"])
@pytest.mark.parametrize("reducers", [0, 2])
def test_a_wrong_device_is_out_of_service(fake, bundle, job, filters, check: str, slots: int, reducers: int) -> None:
    fake.program = always(filters(WRONG))
    result = job(with_kernel(bundle(WORDS, SUM, SUM)), check, reducers=reducers, cpu_slots=slots)
    cpu = job(bundle(WORDS, SUM, SUM), device="cpu", reducers=reducers, out="cpu")
    assert parts(result.output) == parts(cpu.output) and result.report["counters"] == cpu.report["counters"]
    assert result.report["device"]["map_tasks"] == {"cpu": 4} and len(fake.tasks) <= slots
    found = checked(result)
    assert found["tasks"] == 1 if check == "first" else 1 <= found["tasks"] <= slots
    one, two = (found["different"][side].split("\t") for side in ("cpu", "device"))
    assert one[0] == two[0] and int(two[1]) == 2 * int(one[1])
    wrong, left = result.warnings
    assert (wrong.code, left.code) == ("HD414", "HD410") and "heterodoop verify" in wrong.help
    assert f"map task {found['different']['task']} (" in wrong.message and left.message.startswith("4 of 4 map tasks")
    assert [row.get("reason") for row in rows(result)] == [left.message.partition(": ")[2]] * 4


@pytest.mark.parametrize(("reducers", "where"), [
    (0, "line 1, key 'b' it is 'b\\t2' and not 'b\\t1'"), (1, "partition 0, pair 1, key 'a' it is 'a\\t2' and not 'a\\t1'"),
])
def test_the_warning_shows_the_first_difference(fake, bundle, job, filters, text, reducers: int, where: str) -> None:
    fake.program = always(filters(WRONG))
    (warning, _) = job(with_kernel(bundle(WORDS)), split_size=100, reducers=reducers).warnings
    assert warning.message == (
        f"map task 0 ({text}, bytes 0 to 100) has another result on the emulated device than on the CPU: at {where}; "
        "the CPU's counts, and the CPU did all map tasks from there on"
    )


def test_without_a_check_the_output_is_the_devices(fake, bundle, job, filters) -> None:
    fake.program = always(filters(WRONG))
    result = job(assuming(with_kernel(bundle(WORDS, SUM, SUM))), "none")
    assert parts(result.output) == [WRONG_COUNTS] and result.warnings == ()


def test_a_device_that_goes_wrong_later_is_found_by_all_and_not_by_first(fake, bundle, job, filters) -> None:
    other = filters(WRONG)
    fake.program = lambda options: other if len(fake.tasks) == 3 else None
    made = with_kernel(bundle(WORDS, SUM, SUM))
    first = job(made, "first")
    assert parts(first.output) != [COUNTS] and first.warnings == () and checked(first)["tasks"] == 1
    fake.tasks.clear()
    every = job(made, "all", out="all")
    assert parts(every.output) == [COUNTS] and checked(every)["tasks"] == 3
    assert every.report["device"]["map_tasks"] == {"emulated": 2, "cpu": 2} and len(fake.tasks) == 3


@pytest.mark.parametrize("check", [None, "auto"])
def test_nothing_is_compared_unless_asked_for(fake, bundle, job, filters, check: str | None) -> None:
    """A kernel checks itself what it reads."""
    fake.program = always(filters(WRONG))
    result = job(assuming(with_kernel(bundle(WORDS, SUM, SUM, fold=True))), check)
    assert checked(result)["mode"] == "none" and parts(result.output) == [WRONG_COUNTS]


def test_modes() -> None:
    assert check_mode("auto") == "none"
    for asked in ("none", "sample", "first", "all"):
        assert check_mode(asked) == asked


def test_the_setting_and_the_option(fake, bundle, job, text, tmp_path) -> None:
    made = with_kernel(bundle(WORDS, SUM, SUM))
    assert checked(job(made, None, settings=["heterodoop.gpu.check=all"]))["tasks"] == 4
    both = job(made, "none", settings=["heterodoop.gpu.check=all"], out="both")
    assert checked(both)["tasks"] == 0 and [w.code for w in both.warnings] == ["HD034"]
    for options, code in (({"check": "some"}, "HD032"), ({"settings": ["heterodoop.gpu.check=some"]}, "HD030")):
        with pytest.raises(UsageError, match="must be auto, none, sample, first or all") as caught:
            job(made, **{"check": None, **options}, out="never")
        assert caught.value.code == code and not (tmp_path / "never").exists()
    line = ["run", made, text, "-o", tmp_path / "line", "--device", "emulated", "--check", "first", "--json"]
    found = json.loads(cli_here(*line).out)["device"]["check"]
    assert found == {"mode": "first", "tasks": 1, "samples": 0, "different": None}


def test_a_wrong_fold_is_found_and_pairs_that_it_left_uncombined_are_not_wrong(fake, bundle, job, filters) -> None:
    fake.combine = filters(CAT)
    made = with_kernel(bundle(WORDS, SUM, SUM, fold=True))
    right = job(made)
    assert parts(right.output) == [COUNTS] and checked(right)["different"] is None
    fake.combine = filters(SUM.replace("prev, sum)", "prev, sum + 1)"))
    wrong = job(made, out="wrong")
    assert parts(wrong.output) == [COUNTS] and checked(wrong)["different"]["where"] == "partition 0, pair 1"


def test_an_output_that_the_combiner_cannot_read_is_a_difference(fake, bundle, job, filters) -> None:
    strict = SUM.replace("any = 1; sum += atol", "if (tab[1] == '2') return 5; any = 1; sum += atol")
    fake.program, fake.combine = always(filters(WRONG)), filters(CAT)
    result = job(with_kernel(bundle(WORDS, strict, SUM, fold=True)), split_size=10)
    assert parts(result.output) == [COUNTS] and checked(result)["different"]["where"] == "the whole task"
    assert "cannot be compared" in result.warnings[0].message


def test_counters_are_compared(fake, bundle, job, filters) -> None:
    fake.program = always(filters(CAT.replace("int c;", 'int c; fprintf(stderr, "reporter:counter:g,c,1\\n");')))
    result = job(with_kernel(bundle(CAT)))
    assert checked(result)["different"]["where"] == "counter g,c" and result.report["user_counters"] == {}


@pytest.mark.parametrize("reducers", [0, 1])
@pytest.mark.parametrize("wrong", [False, True])
def test_both_runs_begin_in_clean_folders_and_one_run_s_files_stay(
    fake, bundle, job, filters, text, reducers: int, wrong: bool,
) -> None:
    """The filter fails where it finds what another run left; its log is there once."""
    other = filters(TIDY.replace("putchar(c)", "putchar(c == 'a' ? 'x' : c)"))
    fake.program = lambda options: other if wrong else None
    made = with_kernel(bundle(TIDY.replace("SIDE", "filter")))
    result = job(made, "all", reducers=reducers, files=[f"{text}#data"], cpu_slots=2)
    assert b"".join(parts(result.output)).count(b"\n") == TEXT.count(b"\n") and b"x" not in b"".join(parts(result.output))
    assert names(result.output) == ["_SUCCESS", *(f"part-0000{i}" for i in range(1 if reducers else 4)),
                                    *(f"side{i}" for i in range(4))]
    assert result.report["tasks"]["map"]["failed_attempts"] == 0
    logs = {path.name: path.read_text() for path in (result.report_folder / "logs").iterdir()}
    assert set(logs) >= {f"m_{i:06d}_0.log" for i in range(4)} and not any("device" in name for name in logs), logs
    assert {logs[f"m_{i:06d}_0.log"] for i in range(4)} == {"filter ran\n"}


def test_a_first_attempt_that_fails_on_the_device_is_no_verdict(fake, bundle, job) -> None:
    fake.answer = lambda spec: TaskStatus.IO_ERROR if len(fake.tasks) == 1 else TaskStatus.OK
    result = job(with_kernel(bundle(WORDS, SUM, SUM)))
    assert parts(result.output) == [COUNTS]
    assert checked(result) == {"mode": "first", "tasks": 1, "samples": 0, "different": None}
    assert result.report["tasks"]["map"]["failed_attempts"] == 1 and len(fake.tasks) == 5
    assert result.report["device"]["map_tasks"] == {"emulated": 4}


@pytest.mark.parametrize("slots", [1, 3])
def test_a_check_that_fails_passes_its_turn_to_the_next(fake, bundle, job, filters, tmp_path, slots: int) -> None:
    """The CPU's filter fails the first time that it runs; the device never does."""
    flag = tmp_path / "flag"
    once = CAT.replace("int c;", f'int c; if (rename("{flag}", "{flag}.used") == 0) return 3;')
    flag.touch()
    fake.program = always(filters(CAT))
    result = job(with_kernel(bundle(once)), cpu_slots=slots)
    assert result.report["tasks"]["map"]["failed_attempts"] == 1 and checked(result)["tasks"] == 1
    assert result.report["device"]["map_tasks"] == {"emulated": 4} and result.warnings == ()
    assert len(b"".join(parts(result.output)).splitlines()) == 40


def test_a_filter_that_fails_on_the_cpu_fails_the_job_whatever_the_device_says(fake, bundle, job, filters) -> None:
    fake.program = always(filters(CAT))
    with pytest.raises(JobFailed, match="exit status 3") as caught:
        job(with_kernel(bundle(CAT.replace("return 0", "return 3"))), cpu_slots=3, max_attempts=2)
    assert caught.value.code == "HD401"


def test_tasks_that_the_cpu_did_anyway_are_not_the_first(fake, bundle, job, filters) -> None:
    fake.program = always(filters(WRONG))
    fake.answer = lambda spec: TaskStatus.RUN_ON_CPU if spec.start < 120 else TaskStatus.OK
    result = job(with_kernel(bundle(WORDS, SUM, SUM)))
    assert parts(result.output) == [COUNTS] and checked(result)["different"]["task"] == 2
    assert len(fake.tasks) == 3


def test_a_split_without_a_record_is_not_the_first(fake, bundle, job, text) -> None:
    text.write_bytes(b"x" * 90 + b"\n")
    made = with_kernel(bundle(WORDS))
    assert checked(job(made, "all", split_size=30))["tasks"] == 1 and len(fake.tasks) == 3
    fake.answer = lambda spec: TaskStatus.OK if spec.start else TaskStatus.RUN_ON_CPU
    assert checked(job(made, split_size=30, out="left"))["tasks"] == 0 and len(fake.tasks) == 6


@pytest.mark.parametrize("check", ["sample", "first"])
def test_results_wait_for_the_first_verdict(fake, bundle, job, filters, small, tmp_path, check: str) -> None:
    """While the CPU's run of the first check goes on, the other slots' tasks are done by the device, and none counts."""
    go = tmp_path / "go"
    wait = f'#include <unistd.h>\nint main(void) {{ while (access("{go}", F_OK)) usleep(1000);'
    slow = WORDS.replace("int main(void) {", wait)
    fake.program = always(filters(WRONG))
    seen: list[int] = []
    done = 3 + (check == "sample")

    def release() -> None:
        while len(fake.tasks) < done:
            time.sleep(0.01)
        time.sleep(0.3)
        seen.append(len(fake.tasks))
        go.touch()

    thread = threading.Thread(target=release)
    thread.start()
    result = job(with_kernel(bundle(slow, SUM, SUM)), check, cpu_slots=3)
    thread.join()
    assert seen == [done] and len(fake.tasks) == done, "the fourth task waits for a slot, and then goes to the CPU"
    assert parts(result.output) == [COUNTS] and result.report["device"]["map_tasks"] == {"cpu": 4}
    assert (checked(result)["tasks"], checked(result)["samples"]) == ((0, 1) if check == "sample" else (1, 0))


@pytest.mark.parametrize("check", ["sample", "first", "all"])
def test_an_interrupt_during_the_check_ends_it_at_once(fake, bundle, job, filters, small, tmp_path, check: str) -> None:
    fake.program = always(filters(CAT))
    mark = tmp_path / "mark"
    hang = f'#include <stdio.h>\n#include <unistd.h>\nint main(void) {{ fclose(fopen("{mark}", "w")); for (;;) pause(); }}'
    begun: list[float] = []

    def stop() -> None:
        while not mark.exists() or len(fake.tasks) < 3:
            time.sleep(0.01)
        time.sleep(0.2)
        begun.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=stop)
    made = with_kernel(bundle(hang))
    thread.start()
    with pytest.raises(Interrupted):
        job(made, check, cpu_slots=3)
    thread.join()
    assert time.monotonic() - begun[0] < 2
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.report").exists()
    assert [t.name for t in threading.enumerate() if t.name.startswith("heterodoop-slot")] == []


@pytest.mark.usefixtures("kernel_cache")
@pytest.mark.parametrize("reducers", [0, 2])
def test_a_kernel_needs_no_check_to_be_right(bundles: Bundles, run, text, reducers: int) -> None:
    """What a short line leaves is from the lines before: such tasks go to the CPU."""
    text.write_bytes(b"abcd\nefgh\nx\nijkl\n" * 10)
    options = {"reducers": reducers, "split_size": 60, "cpu_slots": 2}
    made = bundles.get(LEFTOVER)
    cpu = run(made, text, out="cpu", **options)
    result = run(made, text, device="emulated", check="none", **options)
    assert parts(result.output) == parts(cpu.output) and [w.code for w in result.warnings] == ["HD410"]


@pytest.mark.usefixtures("kernel_cache")
@pytest.mark.parametrize("check", ["sample", "first", "all"])
def test_real_kernels_of_an_app_pass(bundles: Bundles, run, small, check: str) -> None:
    folder = ROOT / "apps" / "wordcount"
    made = bundles.get(*((folder / f"{role}.c").read_text() for role in ("map", "combine", "reduce")))
    result = run(made, folder / "sample.txt", device="emulated", check=check, split_size=40_000, reducers=1)
    assert parts(result.output) == [(folder / "expected.txt").read_bytes()] and result.warnings == ()
    assert set(result.report["device"]["map_tasks"]) == {"emulated"} and checked(result)["different"] is None
