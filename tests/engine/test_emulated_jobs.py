"""Whole jobs on the emulated device: compiled by HeteroDoop, run by its kernels, and the same bytes as from the CPU."""

from __future__ import annotations

import bz2
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.engine.devices import job_slots
from heterodoop.engine.devices.devices import DeviceSource
from heterodoop.engine.run import speedups
from heterodoop.engine.run.local import JobResult, run_local
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify
from heterodoop.toolchain.speeds import Speeds

from ..support import ROOT, Bundles, changed_kernel, cli_here
from .conftest import SUM, parts

NEAREST = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  int centroids[16], n = 0, *weights, *first_weight, x, i, best, weight;
  char *line = NULL;
  size_t cap = 0;
  FILE *table = fopen("table", "r");
  if (table == NULL) return 1;
  weights = malloc(16 * sizeof *weights);
  while (n < 16 && fscanf(table, "%d %d", &centroids[n], &weights[n]) == 2) n++;
  fclose(table);
  first_weight = weights;
#pragma mapreduce mapper key(best) value(weight)
  while (getline(&line, &cap, stdin) != -1) {
    x = atoi(line);
    best = 0;
    for (i = 1; i < n; i++)
      if (abs(centroids[i] - x) < abs(centroids[best] - x)) best = i;
    weight = weights[best] + first_weight[0];
    printf("%d\t%d\n", best, weight);
  }
  return 0;
}
"""
# Wrong on purpose: what a short line leaves in `first` is from the lines before it.
LEFTOVER = r"""
#include <stdio.h>
#include <string.h>
int main(void) {
  char line[64], first[2000]; /* too large to be copied for each record */
  int i, one;
  memset(first, 0, sizeof first);
#pragma mapreduce mapper key(first) value(one)
  while (fgets(line, sizeof line, stdin) != NULL) {
    for (i = 0; i < 4 && line[i] != '\n'; i++) first[i] = line[i];
    first[4] = '\0';
    one = 1;
    printf("%s\t%d\n", first, one);
  }
  return 0;
}
"""
STOPS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *line = NULL;
  size_t cap = 0;
  int one;
#pragma mapreduce mapper key(line) value(one) keylength(100)
  while (getline(&line, &cap, stdin) != -1) {
    if (strncmp(line, "stop", 4) == 0) exit(3);
    line[strcspn(line, "\n")] = '\0';
    one = 1;
    fprintf(stderr, "reporter:counter:lines,seen,1\n");
    printf("%s\t%d\n", line, one);
  }
  return 0;
}
"""
LOUD = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *line = NULL;
  size_t cap = 0;
  int n = atoi(getenv("loud_n")), value;
  if (n == 2) fprintf(stderr, "n is two\n");
#pragma mapreduce mapper key(line) value(value) keylength(100)
  while (getline(&line, &cap, stdin) != -1) {
    value = atoi(line) * n;
    printf("%d\t%d\n", value, value);
  }
  return 0;
}
"""
CARRIED = r"""
#include <stdio.h>
int main(void) {
  char line[64];
  int count = 0;
#pragma mapreduce mapper key(line) value(count)
  while (fgets(line, sizeof line, stdin) != NULL) {
    count++;
    printf("x\t%d\n", count);
  }
  return 0;
}
"""
# Wrong on purpose: at[1] is never written.
ASTRAY = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char line[64];
  int at[400], table[4] = {5, 6, 7, 8}, value; /* as `first` above */
  at[1] = 0;
#pragma mapreduce mapper key(line) value(value)
  while (fgets(line, sizeof line, stdin) != NULL) {
    at[atoi(line)] = 0;
    value = table[at[1]];
    printf("x\t%d\n", value);
  }
  return 0;
}
"""
SAMPLE = (ROOT / "apps" / "wordcount" / "sample.txt").read_bytes()
SETTINGS = {"wordcount": [], "grep": ["grep.pattern=Light"]}
Job = Callable[..., JobResult]
pytestmark = pytest.mark.usefixtures("kernel_cache")


@pytest.fixture
def app(bundles: Bundles) -> Callable[[str], Path]:
    def get(name: str) -> Path:
        roles = ("map", "combine", "reduce")
        return bundles.get(*((ROOT / "apps" / name / f"{role}.c").read_text() for role in roles))

    return get


@pytest.fixture
def job(tmp_path: Path) -> Job:
    def run(bundle: Path, data: bytes | Path, device: str = "emulated", settings: tuple[str, ...] | list[str] = (),
            **options: object) -> JobResult:
        source = data if isinstance(data, Path) else tmp_path / "in.txt"
        if isinstance(data, bytes):
            source.write_bytes(data)
        out = tmp_path / f"out{len(list(tmp_path.glob('out*')))}"
        return run_local(bundle, [str(source)], str(out), RunOptions(
            quiet=True, device=device, settings=settings, **options), devices=DeviceSource())  # type: ignore[arg-type]

    return run


def both(
    job: Job, bundle: Path, data: bytes | Path, settings: list[str], on_device: list[str], **options: object,
) -> JobResult:
    """The job on the device, after a check that all of it ran there and the CPU has the same bytes."""
    device = job(bundle, data, settings=[*settings, *on_device], **options)
    cpu = job(bundle, data, "cpu", settings=settings, **options)
    assert parts(device.output) == parts(cpu.output) and any(parts(cpu.output))
    assert set(device.report["device"]["map_tasks"]) == {"emulated"} and device.warnings == cpu.warnings
    for counter in ("MAP_INPUT_RECORDS", "MAP_INPUT_BYTES", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES"):
        assert device.report["counters"][counter] == cpu.report["counters"][counter], counter
    assert device.report["user_counters"] == cpu.report["user_counters"]
    return device


@pytest.mark.parametrize("name", ["wordcount", "grep"])
def test_an_apps_sample_gives_the_expected_output(app, job, name: str) -> None:
    folder = ROOT / "apps" / name
    result = job(app(name), folder / "sample.txt", settings=SETTINGS[name])
    assert parts(result.output) == [(folder / "expected.txt").read_bytes()]
    assert result.report["device"]["map_tasks"] == {"emulated": 1} and result.warnings == ()
    assert result.report["stages"]["map"]["map"] > 0


@pytest.mark.parametrize("name", ["wordcount", "grep"])
@pytest.mark.parametrize("options", [
    {"reducers": 3, "split_size": 7000}, {"reducers": 0}, {"reducers": 1, "record_delimiter": " "},
])
def test_reducers_splits_and_delimiters(app, job, name: str, options: dict[str, object]) -> None:
    both(job, app(name), SAMPLE[:30_000], SETTINGS[name], [], **options)


@pytest.mark.parametrize("setting", [
    "emulated.order=reverse", "emulated.order=random", "emulated.pattern=165", "gpu.sub-split.bytes=500",
    "gpu.arena.bytes=1", "emulated.memory.bytes=8000000",
])
@pytest.mark.parametrize("reducers", [0, 2])
def test_the_devices_settings_do_not_change_the_result(app, job, setting: str, reducers: int) -> None:
    result = both(job, app("wordcount"), SAMPLE[:20_000], [], [f"heterodoop.{setting}"], reducers=reducers)
    device = result.report["device"]
    assert (device["sub_splits"] >= 20) == setting.startswith("gpu.sub")
    assert device["retries"] >= setting.startswith("gpu.arena")


def test_several_devices_at_a_time_share_modules(app, job) -> None:
    result = both(job, app("wordcount"), SAMPLE[:40_000], [], [], reducers=2, split_size=2500, cpu_slots=4)
    assert result.report["device"]["map_tasks"] == {"emulated": 16}


@pytest.mark.parametrize("policy", ["gpu-first", "tail"])
@pytest.mark.parametrize("settings", [[], ["heterodoop.emulated.workers=1"]])
def test_kernels_and_filters_share_a_job(app, job, policy: str, settings: list[str]) -> None:
    """The worker's slots open while the job runs, perhaps when the CPU has done it all."""
    options = {"reducers": 2, "split_size": 1000, "cpu_slots": 1}
    mixed = job(app("wordcount"), SAMPLE[:60_000], policy=policy, settings=settings, **options)
    cpu = job(app("wordcount"), SAMPLE[:60_000], "cpu", **options)
    assert parts(mixed.output) == parts(cpu.output) and mixed.warnings == ()
    assert mixed.report["counters"]["MAP_OUTPUT_RECORDS"] == cpu.report["counters"]["MAP_OUTPUT_RECORDS"]
    ran = mixed.report["device"]["map_tasks"]
    assert sum(ran.values()) == 60 and set(ran) <= {"cpu", "emulated"} and (settings or ran["emulated"] > 0)


def test_slots_that_read_for_a_device_share_a_job_too(app, job, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a GPU is used the default number of CPU slots has spare ones; here three, and two of them spare."""
    cpu = job(app("wordcount"), SAMPLE[:60_000], "cpu", reducers=3, split_size=1000)
    monkeypatch.setattr(job_slots, "_cpu_slots", lambda *given: (3, 2))
    mixed = job(app("wordcount"), SAMPLE[:60_000], policy="tail", settings=["heterodoop.emulated.workers=1"], reducers=3,
                split_size=1000)
    assert parts(mixed.output) == parts(cpu.output) and mixed.warnings == ()
    ran = mixed.report["map"]
    assert (ran["cpu_slots"], ran["spare_slots"], ran["remembered"]) == (3, 2, None)
    assert sum(mixed.report["device"]["map_tasks"].values()) == 60


def test_a_job_begins_with_what_the_last_one_measured(app, job, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with GPUs: here the emulated device's worker goes by the name of one. S says that it is not worth a task."""
    monkeypatch.setattr(speedups, "EMULATED", "another")
    monkeypatch.setattr(speedups.speeds, "recall", lambda name: Speeds(0.001, 1e6, 0.5, 0.25))
    ran = job(app("wordcount"), SAMPLE[:20_000], policy="tail", settings=["heterodoop.emulated.workers=1"], reducers=1,
              split_size=1000, cpu_slots=2).report["map"]
    assert ran["cpu"]["tasks"] == 20 and ran["speedup"] == ran["remembered"]["speedup"] == 0.001
    assert ran["remembered"]["wakes"] == 0.5 and ran["remembered"]["cpu"] == pytest.approx(1e3 / (1 << 20))


def test_a_compressed_input_and_odd_bytes(app, job, tmp_path: Path) -> None:
    (tmp_path / "x.bz2").write_bytes(bz2.compress(SAMPLE[:5000] + b"\xff\xfe \0a\r\nlast"))
    both(job, app("wordcount"), tmp_path / "x.bz2", [], [], reducers=2)


@pytest.mark.parametrize("data", [b"\n\n\n", b"one"])
def test_small_inputs(app, job, data: bytes) -> None:
    result = job(app("wordcount"), data)
    assert parts(result.output) == [b"one\t1\n" if data == b"one" else b""]


def test_an_empty_input(app, job) -> None:
    result = job(app("wordcount"), b"")
    assert parts(result.output) == [b""] and result.warnings == ()


def test_a_combiner_that_is_no_fold_runs_on_the_cpu_over_the_devices_pairs(app, bundles, job) -> None:
    words = (ROOT / "apps" / "wordcount" / "map.c").read_text()
    small = ["heterodoop.gpu.sub-split.bytes=2000"]
    result = both(job, bundles.get(words, SUM, SUM), SAMPLE[:10_000], [], small, reducers=2)
    assert result.report["stages"]["map"]["combine"] > 0 and result.report["stages"]["map"]["device_combine"] == 0


def test_a_table_that_the_program_read_before_its_loop_reaches_the_kernel(bundles, job, tmp_path: Path) -> None:
    """An array in the kernel's parameters, memory from malloc, and two pointers into it."""
    (tmp_path / "centroids").write_text("10 100\n50 200\n90 300\n")
    numbers = b"".join(b"%d\n" % (7 * i % 101) for i in range(500))
    files = [f"{tmp_path / 'centroids'}#table"]
    result = both(job, bundles.get(NEAREST), numbers, [], [], files=files, reducers=2, split_size=600)
    pairs = sorted(b"".join(parts(result.output)).splitlines())
    assert sorted(set(pairs)) == [b"0\t200", b"1\t300", b"2\t400"] and len(pairs) == 500


def test_a_program_that_ends_early_is_left_to_the_cpu_with_the_reason(bundles, job) -> None:
    data = b"a\nb\nstop\nc\n" + b"d\n" * 4
    options = {"split_size": 11, "reducers": 1, "settings": ["stream.non.zero.exit.is.failure=false"]}
    result, cpu = job(bundles.get(STOPS), data, **options), job(bundles.get(STOPS), data, "cpu", **options)
    assert parts(result.output) == parts(cpu.output) == [b"a\t1\nb\t1\n" + b"d\t1\n" * 3], "the first d is the first split's"
    assert result.report["device"]["map_tasks"] == {"emulated": 1, "cpu": 1}
    (warning,) = result.warnings
    assert warning.code == "HD410" and warning.message.startswith("1 of 2 map tasks ran on the CPU")
    assert result.report["user_counters"] == cpu.report["user_counters"] == {"lines": {"seen": 5}}
    rows = [json.loads(line) for line in (result.report_folder / "attempts.jsonl").read_text().splitlines()]
    assert [bool(row.get("reason")) for row in sorted(rows, key=lambda row: row["attempt"])[:2]] == [True, False]


@pytest.mark.parametrize("n", [1, 2])
def test_a_prologue_that_says_something_leaves_the_task_to_the_cpu(bundles, job, n: int) -> None:
    result = job(bundles.get(LOUD), b"1\n2\n3\n", settings=[f"loud.n={n}"], reducers=1)
    assert parts(result.output) == [b"".join(b"%d\t%d\n" % (i * n, i * n) for i in (1, 2, 3))]
    assert result.report["device"]["map_tasks"] == ({"emulated": 1} if n == 1 else {"cpu": 1})
    assert [w.code for w in result.warnings] == (["HD410"] if n == 2 else [])
    assert n == 1 or "stderr" in result.warnings[0].message


def test_a_refused_program_runs_on_the_cpu_and_the_reason_is_said_once(bundles, job) -> None:
    result = job(bundles.get(CARRIED), b"a\nb\nc\nd\n", split_size=4, reducers=1)
    assert parts(result.output) == [b"x\t1\nx\t2\nx\t3\nx\t1\n"]
    (warning,) = result.warnings
    assert warning.code == "HD411" and "count" in warning.message and "map.c:" in warning.message


def checked(bundle: Path, source: Path, **options: object):
    """The verdict on a job of one map task."""
    (verdict,) = verify(bundle, [str(source)], RunOptions(device="emulated", **options)).verdicts  # type: ignore[arg-type]
    return verdict


@pytest.mark.parametrize("name", ["wordcount", "grep"])
@pytest.mark.parametrize("reducers", [0, 2])
def test_verify_finds_the_apps_equal(app, tmp_path: Path, name: str, reducers: int) -> None:
    (tmp_path / "in").write_bytes(SAMPLE[:20_000])
    verdict = checked(app(name), tmp_path / "in", reducers=reducers, settings=SETTINGS[name])
    assert verdict.outcome == "equal" and verdict.records == SAMPLE[:20_000].count(b"\n") + 1


def unguarded(text: str) -> str:
    """A kernel that reads whatever is there."""
    text = re.sub(r"hd::guarded\w*<\w+>\(hd, ([\w\[\]]+)(?:, hd::whole_text)?, \d+, hd\.guards\.\w+\)", r"\1", text)
    return re.sub(r"hd::named<\d+>\(hd, hd\.guards\.\w+, ([\w\[\]]+), \d+\)", r"\1", text)


def test_verify_finds_a_wrong_kernel(app, tmp_path: Path) -> None:
    wrong = lambda text: text.replace("hd::dec(one)", "hd::dec(word[0] == 'q' ? 2 : one)")  # noqa: E731
    bundle = changed_kernel(app("wordcount"), tmp_path / "wrong.hdp", wrong)
    (tmp_path / "in").write_bytes(b"some words\nwithout it\nand quick ones\nquick\n")
    difference = checked(bundle, tmp_path / "in").difference
    assert difference and (difference.key, difference.cpu, difference.device) == ("quick", "quick\t2", "quick\t4")
    assert (difference.record, difference.record_text) == (3, "and quick ones")
    assert difference.configuration.startswith("lanes forward")
    assert "[HD412]" in cli_here("verify", bundle, tmp_path / "in", status=1).message


def test_a_kernel_leaves_what_an_earlier_record_left_to_the_cpu(bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"abcd\nefgh\nx\nijkl\n")
    verdict = checked(bundles.get(LEFTOVER), tmp_path / "in", reducers=0)
    assert verdict.outcome == "cpu-only"
    assert verdict.reason == "record 3: the program reads what it has not written for this record (source line 13)"


def test_verify_finds_what_an_earlier_record_left(bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"abcd\nefgh\nx\nijkl\n")
    bundle = changed_kernel(bundles.get(LEFTOVER), tmp_path / "made.hdp", unguarded)
    difference = checked(bundle, tmp_path / "in", reducers=0).difference
    assert difference and (difference.cpu, difference.record, difference.record_text) == ("xfgh\t1", 3, "x")


def test_verify_finds_reads_of_memory_that_nobody_wrote(bundles, tmp_path: Path) -> None:
    """Zeros from before the loop look the same as fresh memory, as long as that holds zeros."""
    (tmp_path / "in").write_bytes(b"ab\n" * 10)
    bundle = changed_kernel(bundles.get(LEFTOVER), tmp_path / "made.hdp", unguarded)
    difference = checked(bundle, tmp_path / "in", reducers=1).difference
    assert difference and difference.configuration == "unwritten memory 0xA5"
    assert (difference.cpu, difference.device, difference.record) == ("ab\t1", "ab\\xa5\\xa5\t1", 1)


def test_verify_finds_a_kernel_that_goes_astray_only_with_other_memory(bundles, tmp_path: Path) -> None:
    """The index that this program reads is from the record before; here always 0, and so is fresh memory."""
    (tmp_path / "in").write_bytes(b"0\n" * 10)
    bundle = changed_kernel(bundles.get(ASTRAY), tmp_path / "made.hdp", unguarded)
    difference = checked(bundle, tmp_path / "in", reducers=0).difference
    assert difference and difference.configuration == "unwritten memory 0xA5"
