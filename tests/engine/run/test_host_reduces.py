"""Jobs whose reduce tasks run as host kernels: the bytes of filters, what is said of those that were left, verify."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heterodoop.engine.run.local import JobResult
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

from ...host_programs import SUM, WORDS, with_host_reducer
from ...run import reducing
from ...support import cli_here
from ..conftest import parts

pytestmark = pytest.mark.usefixtures("kernel_caches")
TEXT = b"the quick fox\nthe lazy dog jumps\n" * 40
# As SUM, with a line before all.
HEADED = SUM.replace("while", 'printf("word\\tcount\\n"); while', 1)
Job = Callable[..., tuple[JobResult, list[dict[str, Any]]]]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, kernel_caches: None) -> Path:
    return reducing.build(HEADED, tmp_path_factory.mktemp("headed")).host


@pytest.fixture
def app(bundle, host: Path) -> Path:
    return with_host_reducer(bundle(WORDS, SUM, HEADED, fold=True), host)


@pytest.fixture
def job(run, tmp_path: Path) -> Job:
    """The result of a job, and its reduce attempts."""

    def go(bundle: Path, data: bytes = TEXT, out: str = "out", **options: object) -> tuple[JobResult, list[dict[str, Any]]]:
        (tmp_path / "in.txt").write_bytes(data)
        options = {"split_size": 300, "cpu_slots": 2, "reducers": 2, **options}
        result = run(bundle, tmp_path / "in.txt", out=out, **options)
        rows = [json.loads(line) for line in (result.report_folder / "attempts.jsonl").read_text().splitlines()]
        return result, sorted((row for row in rows if "split" not in row), key=lambda row: row["attempt"])

    return go


def test_reduce_tasks_run_as_host_kernels_and_give_the_bytes_of_filters(app: Path, job: Job) -> None:
    filters, attempts = job(app, out="filters", filters=True)
    assert {row["ran"] for row in attempts} == {"filters"} and filters.report["reduce"]["host_kernel"] is False
    result, attempts = job(app)
    assert parts(result.output) == parts(filters.output) and result.warnings == ()
    assert [row["ran"] for row in attempts] == ["host kernel"] * 2
    assert result.report["reduce"] == {"host_kernel": True, "host_kernels": 2, "left_to_filters": []}
    assert result.report["counters"] == filters.report["counters"]
    (off, attempts) = job(app, out="off", settings=["heterodoop.host.kernels=false"])
    assert {row["ran"] for row in attempts} == {"filters"} and parts(off.output) == parts(filters.output)


def test_a_partition_without_a_pair_is_the_filters(app: Path, job: Job) -> None:
    result, attempts = job(app, b"one\n", reducers=3)
    assert sorted(row["ran"] for row in attempts) == ["filters", "filters", "host kernel"]
    assert sorted(parts(result.output)) == [b"", b"", b"word\tcount\none\t1\n"]
    assert result.warnings == ()


def test_a_task_that_is_left_is_done_by_the_filter(app: Path, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = job(app, out="filters", filters=True)
    monkeypatch.setenv("HETERODOOP_HOST_KERNEL_BYTES", "100")
    result, attempts = job(app)
    assert parts(result.output) == parts(expected.output)
    reason = attempts[0]["left"]
    assert "memory" in reason and [row["ran"] for row in attempts] == ["filters"] * 2
    assert all(row["stages"]["left"] > 0 for row in attempts)
    assert [(w.code, w.message) for w in result.warnings] == [
        ("HD432", f"2 of 2 reduce tasks ran as filters, not as the host kernel: {reason}")]
    assert result.report["counters"] == expected.report["counters"]


def test_one_that_crashes_three_times_is_not_tried_again(bundle, filters, job: Job) -> None:
    app = with_host_reducer(bundle(WORDS, SUM, SUM, fold=True), filters("int main(void) { return *(volatile char *)8; }"))
    _, attempts = job(app, b" ".join(b"w%d" % n for n in range(200)), cpu_slots=1, reducers=5)
    why = "the host kernel failed: signal 11 (Segmentation fault)"
    assert [row.get("left") for row in attempts] == [why] * 3 + [f"not tried any more: {why}"] * 2


def test_a_map_output_that_is_damaged_is_made_again(
    app: Path, job: Job, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The host kernel leaves it, the merge names it."""
    from heterodoop.engine.run.shuffle import Shuffle

    expected, _ = job(app, out="whole", reducers=1)
    add, done = Shuffle.add, []

    def damaging(self: Shuffle, task: int, output: Any, tasks: int) -> None:
        if task == 0 and not done:
            done.append(task)
            data = bytearray(Path(output.data).read_bytes())
            data[-1] ^= 1
            Path(output.data).write_bytes(data)
        add(self, task, output, tasks)

    monkeypatch.setattr(Shuffle, "add", damaging)
    result, _ = job(app, reducers=1)
    assert parts(result.output) == parts(expected.output)
    assert "HD431" in [warning.code for warning in result.warnings]


def test_verify_holds_reducers(app: Path, bundle, filters, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(TEXT)
    found = verify(app, [str(tmp_path / "in.txt")], RunOptions(reducers=2, split_size=500), host=True)
    reduced = [verdict for verdict in found.verdicts if verdict.kind == "reduce"]
    assert [verdict.outcome for verdict in reduced] == ["equal"] * 2
    assert sum(verdict.pairs for verdict in reduced) == 6 + 2  # words and headers
    wrong = """#include <string.h>
#include <unistd.h>
int main(void) {
  const char *report = "records 6\\npairs 6\\nbytes 0\\nkeys 6\\npartial 0\\nlongest 0\\n";
  write(1, "word\\tcount\\ndog\\t41\\n", 18); write(3, report, strlen(report)); return 0;
}"""
    other = with_host_reducer(bundle(WORDS, SUM, HEADED, fold=True), filters(wrong))
    done = cli_here("verify", other, tmp_path / "in.txt", "--host", status=1)
    assert "1 of 1 reduce tasks have another result as the host kernel" in done.message
    lines = done.out.decode().splitlines()
    assert "  where:   line 2, key 'dog'" in lines and "  filters: 'dog\\t40'" in lines and "  host:    'dog\\t41'" in lines
    assert lines[-1] == "reduce tasks: 0 equal, 0 by filters only, 1 different"
