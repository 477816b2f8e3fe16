"""Comparing a device with the CPU: what is equal, which difference is found, and the record that it comes from."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.checker import Verdict, configurations
from heterodoop.engine.verify.verify import Verification, verify
from heterodoop.errors import Interrupted, JobFailed, UsageError
from heterodoop.executor.kernel.native_device import DeviceOptions
from heterodoop.executor.native.runtime import TaskStatus

from ..conftest import CAT, SUM, WORDS
from ..fake_device import with_kernel

TEXT = b"b a b\na\tb\nc\n" * 20
# Like WORDS, but counts one word twice in the 7th line that it reads.
WRONG_WORDS = WORDS.replace(
    'printf("%s\\t1\\n", word);', 'printf("%s\\t1\\n%s", word, lines == 7 ? word : ""), lines == 7 && printf("\\t1\\n");',
).replace("int main(void) {", "int lines;\nint main(void) {").replace("!= -1)\n", "!= -1 && ++lines)\n")
UPPER = r"""
#include <stdio.h>
#include <ctype.h>
int main(void) { int c; while ((c = getchar()) != EOF) putchar(toupper(c)); return 0; }
"""
COUNTER = r"""
#include <stdio.h>
int main(void) { int c; fprintf(stderr, "reporter:counter:g,c,%d\n", AMOUNT);
  while ((c = getchar()) != EOF) putchar(c); return 0; }
"""
FAILS = "#include <stdio.h>\nint main(void) { while (getchar() != EOF); return 3; }"
Check = Callable[..., Verification]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    (tmp_path / "in.txt").write_bytes(TEXT)

    def run(bundle: Path, *inputs: Path, host: bool = False, **options: object) -> Verification:
        options.setdefault("device", "emulated")
        named = [str(i) for i in inputs or [tmp_path / "in.txt"]]
        return verify(bundle, named, RunOptions(**options), host=host)  # type: ignore[arg-type]

    return run


def only(found: Verification) -> Verdict:
    (verdict,) = found.verdicts
    return verdict


def test_the_wrong_filter_of_these_tests_is_wrong_in_line_seven(filters) -> None:
    out = subprocess.run([filters(WRONG_WORDS)], input=TEXT, stdout=subprocess.PIPE, check=True).stdout
    right = subprocess.run([filters(WORDS)], input=TEXT, stdout=subprocess.PIPE, check=True).stdout
    assert len(out) == len(right) + 3 * len(b"b\t1\n")


@pytest.mark.parametrize("options", [{}, {"reducers": 0}, {"reducers": 3, "split_size": 50}])
def test_equal_outputs(fake, bundle, check, options: dict[str, object]) -> None:
    told: list[Verdict] = []
    found = check(with_kernel(bundle(WORDS, SUM, SUM, fold=True)), **options)
    assert found.count("equal") == len(found.verdicts) and found.warnings == ()
    assert sum(v.records for v in found.verdicts) == 60 and sum(v.pairs for v in found.verdicts) == 120
    assert len(fake.tasks) == 4 * len(found.verdicts), "each task in every configuration"
    chosen = {(options.order, options.pattern) for _, _, _, options in fake.tasks}
    assert chosen == {("forward", 0), ("reverse", 0), ("random", 0), ("forward", 0xA5)} and told == []


def test_tasks_are_told_of_in_order_and_nothing_is_left_behind(fake, bundle, check, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    told: list[Verdict] = []
    made = with_kernel(bundle(WORDS))
    options = RunOptions(device="emulated", split_size=30, cpu_slots=3)
    found = verify(made, [str(tmp_path / "in.txt")], options, told.append)
    assert tuple(told) == found.verdicts and [v.task for v in told] == list(range(len(told))) and len(told) == 8
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize(("reducers", "where"), [(0, "line 14"), (1, "partition 0, pair 41"), (4, "partition 0, pair 41")])
def test_a_wrong_kernel_is_found_with_its_record(fake, bundle, check, filters, reducers: int, where: str) -> None:
    fake.program = lambda options: filters(WRONG_WORDS)
    verdict = only(check(with_kernel(bundle(WORDS)), reducers=reducers))
    difference = verdict.difference
    assert verdict.outcome == "different" and difference is not None
    assert difference.configuration.startswith("lanes forward")
    assert difference.where == where
    assert (difference.record, difference.record_text) == (7, "b a b")
    assert "gives" in difference.note


def test_the_first_pair_that_differs_is_shown(fake, bundle, check, filters, tmp_path) -> None:
    fake.program = lambda options: filters(UPPER)
    (tmp_path / "two").write_bytes(b"X\t1\na\t2\n")
    difference = only(check(with_kernel(bundle(CAT)), tmp_path / "two", reducers=1)).difference
    assert (difference.where, difference.key) == ("partition 0, pair 1", "A")
    assert (difference.cpu, difference.device) == ("X\t1", "A\t2")
    assert (difference.record, difference.record_text) == (2, "a\t2")
    assert difference.note == "it gives 'a\\t2' on the CPU and 'A\\t2' on the device"


def test_the_configuration_that_differs_is_named(fake, bundle, check, filters) -> None:
    names = {"reverse": "lanes in reverse", "random": "lanes in random order (seed 5)", 165: "unwritten memory 0xA5"}
    for wrong, name in names.items():
        fake.program = lambda o, wrong=wrong: filters(WRONG_WORDS) if wrong in (o.order, o.pattern) else None
        found = check(with_kernel(bundle(WORDS)), settings=["heterodoop.emulated.seed=5"])
        assert only(found).difference.configuration == name and only(found).difference.record == 7


def test_the_second_split_counts_its_own_records(fake, bundle, check, filters, tmp_path) -> None:
    fake.program = lambda options: filters(WRONG_WORDS)
    (tmp_path / "lines").write_bytes(b"a b\n" * 20)
    found = check(with_kernel(bundle(WORDS)), tmp_path / "lines", split_size=40)
    assert [v.difference.record for v in found.verdicts] == [7, 7] and [v.records for v in found.verdicts] == [11, 9]


def test_a_fold_may_leave_pairs_uncombined(fake, bundle, check, filters) -> None:
    """A device whose fold did nothing has other bytes and the same sums; one whose map is wrong has other sums."""
    fake.combine = filters(CAT)
    made = with_kernel(bundle(WORDS, SUM, SUM, fold=True))
    assert only(check(made)).outcome == "equal"
    fake.program = lambda options: filters(WRONG_WORDS)
    difference = only(check(made)).difference
    assert (difference.key, difference.cpu, difference.device) == ("a", "a\t40", "a\t41") and difference.record == 7


def test_a_combiner_that_is_no_fold_must_give_the_same_bytes(fake, bundle, check, filters) -> None:
    fake.combine = filters(CAT)
    verdict = only(check(with_kernel(bundle(WORDS, SUM, SUM))))
    assert verdict.outcome == "different" and verdict.difference.record is None
    assert "the combiner differs" in verdict.difference.note


def test_counters_are_compared(fake, bundle, check, filters) -> None:
    fake.program = lambda options: filters(COUNTER.replace("AMOUNT", "2"))
    difference = only(check(with_kernel(bundle(COUNTER.replace("AMOUNT", "1"))))).difference
    assert (difference.where, difference.cpu, difference.device) == ("counter g,c", "1", "2")


def test_tasks_that_the_device_leaves_are_cpu_only(fake, bundle, check) -> None:
    fake.answer = lambda spec: TaskStatus.RUN_ON_CPU if spec.start else TaskStatus.OK
    found = check(with_kernel(bundle(WORDS)), split_size=100)
    assert [v.outcome for v in found.verdicts] == ["equal", "cpu-only", "cpu-only"]
    assert found.verdicts[1].reason == fake.message
    assert found.to_json()["cpu_only"] == 2 and found.to_json()["tasks"][1]["reason"] == fake.message


@pytest.mark.parametrize(("order", "status"), [
    ("forward", TaskStatus.DEVICE_FAILED), ("reverse", TaskStatus.DEVICE_FAILED), ("random", TaskStatus.RUN_ON_CPU),
])
def test_a_device_that_fails_or_changes_its_mind_differs(fake, bundle, check, order: str, status: TaskStatus) -> None:
    fake.answer = lambda spec: status if fake.tasks[-1][3].order == order else TaskStatus.OK
    difference = only(check(with_kernel(bundle(WORDS)))).difference
    assert (difference.where, difference.device) == ("the whole task", f"none: {fake.message}")
    assert order in difference.configuration and difference.record is None


def test_splits_without_a_record_are_equal(fake, bundle, check, tmp_path) -> None:
    (tmp_path / "long").write_bytes(b"x" * 90 + b"\n")
    found = check(with_kernel(bundle(WORDS)), tmp_path / "long", split_size=30)
    assert [(v.outcome, v.records) for v in found.verdicts] == [("equal", 1), ("equal", 0), ("equal", 0)]
    assert len(fake.tasks) == 4


def test_a_program_without_a_kernel_is_cpu_only(fake, bundle, check) -> None:
    found = check(bundle(WORDS), split_size=100)
    assert [v.outcome for v in found.verdicts] == ["cpu-only"] * 3 and [w.code for w in found.warnings] == ["HD411"]
    assert "holds no kernel" in found.verdicts[0].reason and fake.tasks == []


def test_settings_of_keys_leave_nothing_to_compare(fake, bundle, check) -> None:
    for host in (False, True):
        found = check(with_kernel(bundle(WORDS)), settings=("stream.num.map.output.key.fields=2",), host=host)
        assert [(v.outcome, v.reason) for v in found.verdicts] == [
            ("cpu-only", "-D stream.num.map.output.key.fields=2")]
    assert fake.tasks == []


def test_a_filter_that_fails_on_the_cpu_ends_it(fake, bundle, check) -> None:
    with pytest.raises(JobFailed, match="map task 0 .*exit status 3") as caught:
        check(with_kernel(bundle(FAILS)), split_size=100)
    assert caught.value.code == "HD401"


def test_a_compressed_input_is_compared_without_looking_for_the_record(fake, bundle, check, filters, tmp_path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(TEXT))
    assert only(check(with_kernel(bundle(WORDS)), tmp_path / "x.gz")).outcome == "equal"
    fake.program = lambda options: filters(WRONG_WORDS)
    difference = only(check(with_kernel(bundle(WORDS)), tmp_path / "x.gz")).difference
    assert difference.record is None and "compressed" in difference.note


def test_long_and_odd_bytes_are_shown_safely(fake, bundle, check, filters, tmp_path) -> None:
    (tmp_path / "odd").write_bytes(b"a\xff" + b"x" * 1000 + b"\n")
    fake.program = lambda options: filters(UPPER)
    difference = only(check(with_kernel(bundle(CAT)), tmp_path / "odd", reducers=0)).difference
    assert difference.cpu.startswith("a\\xffxxx") and difference.cpu.endswith("... (1003 bytes)")
    assert len(difference.cpu) < 250


def test_a_custom_delimiter_and_shipped_files_are_the_jobs(fake, bundle, check, filters, tmp_path) -> None:
    fake.program = lambda options: filters(WRONG_WORDS)
    (tmp_path / "semi").write_bytes(b"a;b\nc;d;" * 5)
    difference = only(check(with_kernel(bundle(WORDS)), tmp_path / "semi", record_delimiter=";")).difference
    assert (difference.record, difference.record_text) == (5, "b\nc"), "the fifth record holds the seventh line"


@pytest.mark.parametrize(("options", "code"), [
    ({"device": "cpu"}, "HD032"), ({"device": "gpu"}, "HD032"), ({"reducers": "x"}, "HD032"), ({"settings": ["a"]}, "HD030"),
])
def test_wrong_usage(fake, bundle, check, options: dict[str, object], code: str) -> None:
    with pytest.raises(UsageError) as caught:
        check(with_kernel(bundle(WORDS)), **options)
    assert caught.value.code == code


def test_an_interrupt_ends_it_at_once(fake, bundle, tmp_path) -> None:
    (tmp_path / "in.txt").write_bytes(TEXT)
    made = with_kernel(bundle("#include <unistd.h>\nint main(void) { for (;;) pause(); }"))
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(Interrupted):
        verify(made, [str(tmp_path / "in.txt")], RunOptions(device="emulated", split_size=30))
    timer.join()


def test_a_kernel_that_never_ends_does_not_keep_an_interrupted_run(fake, bundle, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("heterodoop.engine.verify.verify.CLOSE_SECONDS", 0.2)
    (tmp_path / "in.txt").write_bytes(TEXT)
    over = threading.Event()

    def hang(spec: object) -> TaskStatus:
        over.wait()
        return TaskStatus.OK

    fake.answer = hang
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(Interrupted):
        verify(with_kernel(bundle(WORDS)), [str(tmp_path / "in.txt")], RunOptions(device="emulated", split_size=30))
    over.set()
    timer.join()


def test_a_gpu_runs_each_task_again_and_in_smaller_pieces() -> None:
    found = configurations("cuda", DeviceOptions(sub_split=5_000_000, arena=7))
    assert [c.options.sub_split for c in found] == [5_000_000, 5_000_000, 100_000]
    assert {c.options.arena for c in found} == {7} and {c.options.order for c in found} == {"forward"}


@pytest.mark.parametrize("last", [False, True])
def test_an_input_that_changes_meanwhile_ends_it(fake, bundle, check, tmp_path, last: bool) -> None:
    """Also one whose only task is done: the first file changes when the second task has been told of."""
    first, second = tmp_path / "first", tmp_path / "second"
    for path in (first, second):
        path.write_bytes(TEXT)
        os.utime(path, (1, 1))

    def tell(verdict: Verdict) -> None:
        if verdict.task == int(last):
            first.write_bytes(TEXT)

    with pytest.raises(JobFailed, match="was written to") as caught:
        verify(with_kernel(bundle(CAT)), [str(first), str(second)], RunOptions(device="emulated", cpu_slots=1), tell)
    assert caught.value.code == "HD049" and str(first) in caught.value.message
