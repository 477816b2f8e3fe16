"""Whole map attempts through a driver, against what the CPU filters make of the same split, byte for byte."""

from __future__ import annotations

import os
import struct
import zlib
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from ...support import Bundles
from ..client import CPU_DONE, FAILED, INSTALLED, RUN, Attempt, ClosedByDriver, Outcome, pack
from ..conftest import SAMPLE, OnCpu
from ..running import Driver, slow, wait_for

# Asks its environment and a file before its region, counts in Hadoop's way inside it.
ADDS = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char key[40], *line = NULL, *text; size_t cap = 0; ssize_t n; int v, add = 0, more = 0; FILE *f;
  text = getenv("ADD");
  if (text) add = atoi(text);
  f = fopen("table.txt", "r");
  if (!f) return 3;
  if (fscanf(f, "%d", &more) != 1) return 4;
  fclose(f);
  #pragma mapreduce mapper key(key) value(v) keylength(40) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v = (int)n + add + more;
    sprintf(key, "n%d", v % 7);
    fprintf(stderr, "reporter:counter:mine,lines,1\n");
    printf("%s\t%d\n", key, v);
  }
  free(line);
  return 0;
}
"""
NO_REGION = "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }\n"


@pytest.fixture
def adds(bundles: Bundles, sample: Path, tmp_path: Path) -> Attempt:
    (tmp_path / "table.txt").write_text("5")
    return Attempt(
        bundles.get(ADDS), f"file:{sample}", length=len(SAMPLE), reduces=2, combine=False, env={"ADD": "100"},
        extra={"table.txt": tmp_path / "table.txt"}, job="job_1_0002",
    )


def mapped(driver: Driver, attempt: Attempt) -> Outcome:
    with driver.client() as client:
        outcome = client.map(attempt)
        if outcome.kind == "result":
            client.send(INSTALLED)
        return outcome


def test_a_map_task_equals_the_cpus(driver: Driver, attempt: Attempt, sample: Path, on_cpu: OnCpu) -> None:
    outcome = mapped(driver, attempt)
    cpu, index, data = on_cpu(attempt, sample)
    assert (outcome.kind, outcome.index, outcome.data) == ("result", index, data)
    names = ("MAP_INPUT_RECORDS", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "MAP_OUTPUT_MATERIALIZED_BYTES")
    assert {n: outcome.pairs("counter")[n] for n in names} == {n: str(cpu.counters[n]) for n in names}
    assert outcome.text("read") == "driver" and int(outcome.text("read_bytes")) == len(SAMPLE)
    assert "emulated" in outcome.text("gpu") and float(outcome.pairs("seconds")["gpu"]) > 0
    (installed,) = wait_for(lambda: driver.events("installed"))
    assert installed["attempt"] == attempt.id and installed["seconds"] > 0


@pytest.mark.parametrize(("start", "length"), [(0, 20_000), (20_000, 20_000), (40_000, 20_000), (59_000, 1000)])
def test_splits_that_the_task_reads(
    driver: Driver, attempt: Attempt, sample: Path, on_cpu: OnCpu, start: int, length: int,
) -> None:
    """A file system that the driver does not know."""
    remote = replace(attempt, path="s3a://bucket/in.txt", start=start, length=length, content=SAMPLE)
    outcome = mapped(driver, remote)
    assert outcome.kind == "result", outcome.fields
    _, index, data = on_cpu(remote, sample)
    assert (outcome.kind, outcome.index, outcome.data) == ("result", index, data)
    assert outcome.text("read") == "task" and outcome.reads[0] == (start, length)
    assert int(outcome.text("read_bytes")) == len(SAMPLE[start:][: sum(n for _, n in outcome.reads)])


@pytest.mark.parametrize(("content", "delimiter"), [
    (b"\xef\xbb\xbfa b\r\nc a\rb\n\na", b""), (b"a b||b c|||d", b"||"), (b"\xff\xfe \x80\n" * 50, b""),
])
def test_records_of_every_kind(
    driver: Driver, attempt: Attempt, tmp_path: Path, on_cpu: OnCpu, content: bytes, delimiter: bytes,
) -> None:
    (tmp_path / "odd").write_bytes(content)
    odd = replace(attempt, path="s3a://b/odd", length=len(content), content=content, delimiter=delimiter, combine=False)
    outcome = mapped(driver, odd)
    _, index, data = on_cpu(odd, tmp_path / "odd")
    assert (outcome.kind, outcome.index, outcome.data) == ("result", index, data)


@pytest.mark.parametrize("reduces", [1, 40])
def test_map_output_of_a_codec(driver: Driver, attempt: Attempt, sample: Path, on_cpu: OnCpu, reduces: int) -> None:
    packed = replace(attempt, reduces=reduces, codec="org.apache.hadoop.io.compress.DefaultCodec")
    outcome = mapped(driver, packed)
    _, index, data = on_cpu(packed, sample)
    assert outcome.kind == "result" and len(outcome.index) == len(index) == 24 * reduces + 8
    plain = list(struct.iter_unpack(">qqq", index[:-8]))
    for (start, raw, length), (at, raw_too, size) in zip(
            plain, struct.iter_unpack(">qqq", outcome.index[:-8]), strict=True):
        body = outcome.data[at : at + size - 4]
        assert outcome.data[at + size - 4 : at + size] == zlib.crc32(body).to_bytes(4, "big")
        assert raw == raw_too and zlib.decompress(body) == data[start : start + length - 4]
    assert int(outcome.pairs("counter")["MAP_OUTPUT_MATERIALIZED_BYTES"]) == len(outcome.data)


def test_the_code_before_the_region_sees_the_tasks_environment_and_files(
    driver: Driver, adds: Attempt,
) -> None:
    outcome = mapped(driver, replace(adds, reduces=0))
    lines = SAMPLE.splitlines()
    want = b"".join(b"n%d\t%d\n" % ((len(line) + 106) % 7, len(line) + 106) for line in lines)
    assert outcome.kind == "result" and outcome.text("text") == "1" and outcome.text("index") == "0"
    assert outcome.data == want
    assert dict(outcome.fields)["user"] == b"mine\0lines\0%d" % len(lines)
    other = mapped(driver, replace(adds, reduces=0, env={}, task=1))
    assert other.data.startswith(b"n%d\t%d\n" % ((len(lines[0]) + 6) % 7, len(lines[0]) + 6))


def test_files_are_asked_for_once(driver: Driver, adds: Attempt, tmp_path: Path) -> None:
    job = replace(adds, job="job_1_0099", extra={**adds.extra, "more/of it": tmp_path / "of"})
    (tmp_path / "of").write_bytes(os.urandom(3 << 20))
    first = mapped(driver, job)
    again = mapped(driver, replace(job, task=1))
    assert "more/of it" in first.asked and again.asked == [] and (first.kind, again.kind) == ("result", "result")
    (tmp_path / "of").write_bytes(b"another")
    assert mapped(driver, replace(job, job="job_1_0100")).asked == ["more/of it"]


def test_a_file_that_is_another_one_is_refused(driver: Driver, adds: Attempt, tmp_path: Path) -> None:
    (tmp_path / "t2").write_text("6")
    job = replace(adds, job="job_1_0101", extra={**adds.extra, "t2": tmp_path / "t2"})
    with driver.client() as client:
        assert client.offer(job)["run"] == "gpu"
        client.send(RUN, *job.run())
        (tmp_path / "t2").write_text("7")
        outcome = client.rest(job)
        assert (outcome.kind, outcome.text("code")) == ("refused", "HD616")
        client.send(CPU_DONE, ("seconds", "1.5"))
        wait_for(lambda: [e for e in driver.events("cpu_done") if e["attempt"] == job.id])


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "app.hdp/../../evil", "a/../../evil"])
def test_names_that_lead_out_are_refused(driver: Driver, attempt: Attempt, name: str) -> None:
    with driver.client() as client:
        client.offer(attempt)
        client.send(RUN, *attempt.run(), ("file", f"{name}\0{'0' * 64}\0001\0-"))
        outcome = client.rest(attempt)
    assert (outcome.kind, outcome.text("code")) == ("refused", "HD616") and not Path("/tmp/evil").exists()


def test_another_bundle_than_the_jobs_is_refused(driver: Driver, attempt: Attempt) -> None:
    outcome = mapped(driver, replace(attempt, change={"bundle": "1" * 64}))
    assert (outcome.kind, outcome.text("code")) == ("refused", "HD616")


def test_a_program_without_a_kernel_is_refused_and_then_not_taken(
    driver: Driver, bundles: Bundles, attempt: Attempt,
) -> None:
    plain = replace(attempt, bundle=bundles.get(NO_REGION), combine=False, job="job_1_0007")
    first = mapped(driver, plain)
    assert (first.kind, first.text("code")) == ("refused", "HD615") and "kernel" in first.text("reason")
    second = mapped(driver, replace(plain, task=1))
    assert second.kind == "cpu" and second.text("code") == "HD615"


def test_a_prologue_that_fails_is_refused(driver: Driver, adds: Attempt) -> None:
    """Its file is missing: the CPU filter says what happens then."""
    outcome = mapped(driver, replace(adds, extra={}, job="job_1_0008"))
    assert outcome.kind == "refused" and "exit status 3" in outcome.text("reason")


def test_a_prologue_that_never_ends_is_stopped_and_holds_up_no_other_job(
    driver: Driver, bundles: Bundles, sample: Path, attempt: Attempt,
) -> None:
    spins = ADDS.replace("if (text) add = atoi(text);", "while (text) add ^= 2;")
    hangs = Attempt(
        bundles.get(spins), f"file:{sample}", length=len(SAMPLE), reduces=2, combine=False, job="job_1_0051",
        env={"ADD": "1", "mapreduce_task_timeout": "500"},
    )
    for _ in range(2):  # it is not tried again
        outcome = mapped(driver, hangs)
        assert outcome.kind == "refused" and "made no progress for 0.5 s" in outcome.text("reason")
    assert mapped(driver, attempt).kind == "result"


@pytest.mark.parametrize(("change", "reason"), [
    ({"codec": "org.apache.hadoop.io.compress.SnappyCodec"}, "SnappyCodec"), ({"version": "2"}, "version 2"),
    ({"retry": "1"}, "earlier attempt"),
    ({"policy": "fastest"}, "no policy"), ({"path": "hdfs://nn/in/x.gz"}, "compressed"), ({"reduces": "100001"}, "reducers"),
    ({"bundle": ""}, "names no bundle"), ({"policy": "cpu-only"}, "cpu-only"),
])
def test_attempts_that_are_not_taken(driver: Driver, attempt: Attempt, change: dict[str, str], reason: str) -> None:
    with driver.client() as client:
        answer = client.offer(replace(attempt, change=change))
        assert answer["run"] == "cpu" and reason in answer["reason"]
        client.send(CPU_DONE, ("seconds", "2"))
        with pytest.raises(ClosedByDriver):
            client.frame()


@pytest.mark.parametrize("setting", [
    "mapreduce.input.linerecordreader.line.maxlength=100", "heterodoop.line.max.bytes=-1",
    "mapreduce.task.io.sort.mb=0", "mapreduce.task.io.sort.mb=9999", "heterodoop.bundle=../x", "heterodoop.bundle=..",
    "heterodoop.line.max.bytes=x", "heterodoop.line.max.bytes=100", "heterodoop.emulated.order=sideways",
    "stream.stderr.reporter.prefix=", "heterodoop.gpu.arena.bytes=-1",
])
def test_settings_that_are_not_taken(driver: Driver, attempt: Attempt, setting: str) -> None:
    key, _, value = setting.partition("=")
    with driver.client() as client:
        answer = client.offer(replace(attempt, conf={key: value}))
    assert (answer["run"], answer["code"]) == ("cpu", "HD615")
    assert key in answer["reason"] or key in ("heterodoop.bundle", "mapreduce.input.linerecordreader.line.maxlength")


@pytest.mark.parametrize(("start", "length"), [(59_999, 1), (100, 0)])
def test_a_split_without_a_record_is_the_cpus(driver: Driver, attempt: Attempt, start: int, length: int) -> None:
    """Hadoop Streaming runs the filter all the same: its exit status counts."""
    outcome = mapped(driver, replace(attempt, path="s3a://b/x", start=start, length=length, content=SAMPLE))
    assert outcome.kind == "refused" and "no record" in outcome.text("reason")


@pytest.mark.parametrize("where", ["in", "behind"])
@pytest.mark.parametrize("by_task", [False, True])
def test_a_record_without_end_is_the_cpus(
    driver: Driver, attempt: Attempt, tmp_path: Path, where: str, by_task: bool,
) -> None:
    """Hadoop's own reader knows what to do with it (mapreduce.input.linerecordreader.line.maxlength); here it would be kept
    in memory and on the device. One that begins in the split, and one that goes on behind it."""
    content = b"a\nb\n" + b"x " * (35 << 10) + b"\nc\n"
    (tmp_path / "in").write_bytes(content)
    length = len(content) if where == "in" else 10
    path = "s3a://b/x" if by_task else f"file:{tmp_path / 'in'}"
    long = replace(attempt, path=path, start=0, length=length, content=content)
    outcome = mapped(driver, replace(long, conf={"heterodoop.line.max.bytes": str(64 << 10)}))
    assert (outcome.kind, outcome.text("code")) == ("refused", "HD051"), outcome.fields
    assert f"more than {64 << 10} bytes" in outcome.text("reason")
    assert mapped(driver, long).kind == "result"


def test_a_split_that_cannot_be_read(driver: Driver, attempt: Attempt) -> None:
    short = mapped(driver, replace(attempt, path="s3a://b/x", content=b"only this"))
    assert (short.kind, short.text("code")) == ("refused", "HD617")
    with driver.client() as client:
        client.offer(replace(attempt, path="s3a://b/x"))
        client.send(RUN, *attempt.run())
        for type, _ in client.frames():
            if type == 6:
                client.send(FAILED, ("reason", "no such key"))
            elif type == 8:
                break


def test_the_delay_is_said_and_kept(driver: Driver, attempt: Attempt) -> None:
    outcome = mapped(driver, slow(attempt, 2.2))
    texts = [row["text"] for row in outcome.progress]
    assert outcome.kind == "result" and len(texts) >= 2 and any("tests.gpu.delay" in text for text in texts)


def test_waiting_attempts_hear_how_many_are_ahead(driver: Driver, attempt: Attempt) -> None:
    """Two sessions: the third attempt of a job waits, and the fourth behind it."""
    quick = replace(attempt, policy="gpu-only", job="job_1_0044")
    delayed = slow(quick, 60)
    with ExitStack() as stack:
        running = [stack.enter_context(driver.client()) for _ in range(2)]
        waiting = [stack.enter_context(driver.client()) for _ in range(2)]
        for task, client in enumerate([*running, *waiting]):
            one = replace(delayed if client in running else quick, task=task)
            assert client.offer(one)["forced"] == str(int(client in waiting))
            client.send(RUN, *one.run())
            if client in running:
                client.until(one, lambda said: "delayed" in said["text"])
            else:
                ahead = str(waiting.index(client))
                client.until(one, lambda said, ahead=ahead: said["text"] == f"waiting for GPU, {ahead} ahead")  # type: ignore[misc]
        for client in running:
            client.socket.close()
        for client in waiting:
            assert client.rest(quick).kind == "result"
            client.send(INSTALLED)


def test_a_task_that_gives_its_lease_back(driver: Driver, attempt: Attempt) -> None:
    with driver.client() as client:
        client.offer(attempt)
        client.send(FAILED, ("reason", "the folder is unreadable"))
        assert client.rest(attempt).kind == "refused"
        client.send(CPU_DONE, ("seconds", "1"))


def test_a_result_that_cannot_be_installed(driver: Driver, attempt: Attempt) -> None:
    with driver.client() as client:
        assert client.map(replace(attempt, job="job_1_0055")).kind == "result"
        client.send(FAILED, ("reason", "disk full"))
        assert client.rest(attempt).kind == "refused"


def test_an_environment_that_is_none_is_malformed(driver: Driver, attempt: Attempt) -> None:
    with driver.client() as client:
        client.offer(attempt)
        client.raw(pack(RUN, [("env", "=x")]))
        with pytest.raises(ClosedByDriver):
            client.rest(attempt)
