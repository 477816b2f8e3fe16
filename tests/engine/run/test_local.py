"""Whole jobs that end well: what is in the output folder and the report, and what filters get to see."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from heterodoop.engine.run import attempts
from heterodoop.errors import Interrupted, JobFailed, ToolError, UsageError
from heterodoop.job.settings import COMPRESS
from heterodoop.manifest import PairReader
from heterodoop.storage.codecs import SUFFIXES, decompressed

from ..conftest import CAT, ENVIRONMENT, SCANF_SUM, SUM, WORDS, names, parts
from ..worker_jobs import children

UNREAD = r"""
#include <stdio.h>
int main(void) { for (int i = 0; i < 10000; i++) printf("key%d\t%d\n", i % 10, i); return 0; }
"""
REPORTER = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *line = NULL; size_t cap = 0;
  while (getline(&line, &cap, stdin) != -1)
    if (line[0] == '#') fprintf(stderr, "reporter:counter:rows,com\tment,1\nreporter:status:half \xff\n");
    else printf("k\t1\n");
  return 0;
}
"""
HEADER = '#include <stdio.h>\nint main(void) { puts("header"); while (getchar() != EOF); return 0; }'
SIDE_FILE = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char path[4096]; int c; FILE *f;
  snprintf(path, sizeof path, "%s/side-%s", getenv("mapreduce_task_output_dir"), getenv("mapreduce_task_partition"));
  f = fopen(path, "w"); fputs("side\n", f); fclose(f);
  while ((c = getchar()) != EOF) putchar(c);
  return 0;
}
"""
SHIPPED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>
int main(void) {
  char s[64]; int c; FILE *f = fopen("table", "r");
  while (getchar() != EOF);
  fgets(s, sizeof s, f); fputs(s, stdout);
  if (!(f = fopen("scratch", "w")) || access(getenv("TMPDIR"), W_OK)) return 1;
  mkdir("locked", 0700); mkdir("locked/in", 0700); chmod("locked", 0500);
  return 0;
}
"""
EXIT_3 = "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 3; }"


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_word_count(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in.txt", b"b a b\na\tb\n")
    result = run(bundle(WORDS, SUM, SUM, fold=True), source)
    assert parts(result.output) == [b"a\t2\nb\t3\n"]
    assert names(result.output) == ["_SUCCESS", "part-00000"] and (result.output / "_SUCCESS").read_bytes() == b""
    counters = result.report["counters"]
    assert (counters["MAP_INPUT_RECORDS"], counters["MAP_OUTPUT_RECORDS"], counters["REDUCE_INPUT_GROUPS"]) == (2, 5, 2)
    assert counters["COMBINE_INPUT_RECORDS"] == 5 and counters["REDUCE_OUTPUT_RECORDS"] == 2
    assert result.warnings == ()


def test_no_thread_and_no_child_outlives_a_job(bundle, run, tmp_path: Path):
    compiled = bundle(WORDS, "", SUM)
    threads, processes = threading.active_count(), set(children(b""))
    run(compiled, put(tmp_path / "in", b"a\n"))
    assert threading.active_count() == threads and set(children(b"")) <= processes


def test_map_only_gives_a_part_per_split_in_record_order(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in", b"b\tx\na\nc\t\n")
    result = run(bundle(CAT), source, split_size=4)
    assert parts(result.output) == [b"b\tx\na\t\n", b"c\t\n", b""], "a line without a tab has an empty value"
    assert run(bundle(CAT, SUM, SUM), source, out="out0", reducers="0").report["counters"]["COMBINE_INPUT_RECORDS"] == 0


def test_identity_reduce_sorts(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in", b"b 1\n\xff 2\na\x01 3\na 4\nb 5\na\t6\n")
    result = run(bundle(CAT), source, reducers=1)
    assert parts(result.output) == [b"a\t6\na\x01 3\t\na 4\t\nb 1\t\nb 5\t\n\xff 2\t\n"]


def test_more_reducers_than_keys(bundle, run, tmp_path: Path):
    result = run(bundle(WORDS, "", SUM), put(tmp_path / "in", b"a b a\n"), reducers="5")
    assert sorted(parts(result.output)) == [b"", b"", b"", b"a\t2\n", b"b\t1\n"]


def test_ten_thousand_reducers(bundle, run, tmp_path: Path):
    result = run(bundle(CAT), put(tmp_path / "in", b"a\nb\n"), reducers=10_000)
    found = parts(result.output)
    assert len(found) == 10_000 and sorted(filter(None, found)) == [b"a\t\n", b"b\t\n"]
    assert (result.output / "part-09999").exists()


def test_java_partitions(bundle, run, tmp_path: Path):
    words = [b"iwimanrr", b"wjjgbaiy", b"the", "café".encode(), b"\xff\xfe"]
    result = run(bundle(WORDS), put(tmp_path / "in", b" ".join(words)), reducers=7)
    where = {line[:-2]: p for p, text in enumerate(parts(result.output)) for line in text.split(b"\n") if line}
    assert [where[w] for w in words] == [0, 0, 0, 0, 4]


@pytest.mark.parametrize("reducers", [0, 1, 3])
def test_an_empty_file_is_one_task_whose_output_does_not_count(bundle, run, tmp_path: Path, reducers: int):
    result = run(bundle(HEADER, "", HEADER), put(tmp_path / "in", b""), reducers=reducers)
    assert parts(result.output) == [b""] * max(1, reducers)
    assert result.report["tasks"]["map"]["done"] == 1


@pytest.mark.parametrize(("reducers", "expected"), [(0, []), (2, [b"", b""])])
def test_a_folder_of_hidden_files_is_empty_input_with_a_warning(bundle, run, tmp_path: Path, reducers, expected):
    put(tmp_path / "in/_x", b"a\n")
    result = run(bundle(CAT), tmp_path / "in", reducers=reducers)
    assert parts(result.output) == expected and [w.code for w in result.warnings] == ["HD015"]
    assert (result.output / "_SUCCESS").exists()


def test_files_are_not_joined_and_reducers_see_maps_in_order(bundle, run, tmp_path: Path):
    files = [put(tmp_path / name, data) for name, data in (("b", b"k\tx y"), ("e", b""), ("a", b"k\tz\n"))]
    result = run(bundle(CAT), *files, reducers=1)
    assert parts(result.output) == [b"k\tx y\nk\tz\n"]


def test_many_small_splits_merge_in_order(bundle, run, tmp_path: Path):
    data = b"".join(b"k\t%d\n" % i for i in range(200))
    result = run(bundle(CAT), put(tmp_path / "in", data), reducers=1, split_size=9, cpu_slots=3)
    assert parts(result.output) == [data]


@pytest.mark.parametrize("split", range(1, 17))
def test_every_record_once_at_any_split_size(bundle, run, tmp_path: Path, split: int):
    result = run(bundle(CAT), put(tmp_path / "in", b"abc\ndef\r\nghi"), split_size=split)
    assert b"".join(parts(result.output)) == b"abc\t\ndef\t\nghi\t\n"


def test_compressed_inputs_one_task_each(bundle, run, tmp_path: Path):
    put(tmp_path / "in/a.gz", gzip.compress(b"one\n") + gzip.compress(b"two"))
    put(tmp_path / "in/b.bz2", bz2.compress(b"one\n") + bz2.compress(b"three\n"))
    result = run(bundle(WORDS, "", SUM), tmp_path / "in", split_size=3)
    assert parts(result.output) == [b"one\t2\nthree\t1\ntwo\t1\n"] and result.report["tasks"]["map"]["done"] == 2


def test_a_filter_that_does_not_read(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in", b"roses.are.red\n" * 30000)
    text = parts(run(bundle(UNREAD), source).output)[0]
    digest = hashlib.sha256(b"".join(sorted(text.splitlines(keepends=True)))).hexdigest()
    assert (len(text), digest) == (98890, "ad3686d5e1286673cc68b2a645cb96092134d4872a1d5a961dd10c4f985b9b1f")
    packed = put(tmp_path / "in.gz", gzip.compress(b"roses.are.red\n" * 300000))
    assert parts(run(bundle(UNREAD), packed, out="out2").output) == [text]


def test_counters_and_status_on_stderr(bundle, run, tmp_path: Path):
    result = run(bundle(REPORTER), put(tmp_path / "in", b"#\na\n#\nb\n" * 5000), cpu_slots=1)
    assert parts(result.output) == [b"k\t1\n" * 10000]
    assert result.report["user_counters"] == {"rows": {"com\tment": 10000}}
    assert names(result.report_folder) == ["attempts.jsonl", "report.json"], "reporter lines are no log"
    row = json.loads((result.report_folder / "attempts.jsonl").read_text())
    assert row["status"] == r"half \xff"


def environment(text: bytes) -> dict[bytes, bytes]:
    return dict(line.rstrip(b"\t").partition(b"=")[::2] for line in text.splitlines())


def test_what_a_filter_is_told(bundle, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    source = put(tmp_path / "größe (1).txt", b"01234\n6789\nabc\n")
    settings = ["my.own-key=v $x", f"long={'x' * 30000}", "mapred.job.name=night job"]
    result = run(bundle(ENVIRONMENT), source, split_size=10, settings=settings)
    env = environment(parts(result.output)[1])
    assert env[b"mapreduce_map_input_file"] == env[b"map_input_file"] == os.fsencode(f"file:{source}")
    assert (env[b"mapreduce_map_input_start"], env[b"mapreduce_map_input_length"]) == (b"10", b"5")
    assert env[b"mapreduce_job_maps"] == env[b"mapred_map_tasks"] == b"2"
    assert env[b"mapreduce_input_fileinputformat_split_maxsize"] == b"10"
    assert (env[b"mapreduce_job_reduces"], env[b"mapreduce_task_partition"]) == (b"0", b"1")
    assert env[b"mapreduce_job_name"] == env[b"mapred_job_name"] == b"night job"
    assert env[b"mapreduce_task_attempt_id"] == b"attempt" + env[b"mapreduce_job_id"][3:] + b"_m_000001_0"
    assert (env[b"my_own_key"], env[b"LC_ALL"], len(env[b"long"])) == (b"v $x", b"de_DE.UTF-8", 20000)
    assert env[b"mapreduce_task_io_sort_mb"] == env[b"io_sort_mb"] == b"100"
    reduced = run(bundle(CAT, "", ENVIRONMENT), source, out="out2", reducers=2)
    assert reduced.report["settings"]["mapreduce.input.fileinputformat.split.maxsize"] == str(4 << 20)
    env = environment(b"".join(parts(reduced.output)))
    assert env[b"mapreduce_task_ismap"] == b"false" and b"mapreduce_map_input_file" not in env


def test_a_huge_list_of_inputs_does_not_stop_filters_from_starting(bundle, run, tmp_path: Path):
    name = "a_rather_long_name_to_fill_the_environment_of_each_filter_" * 3
    files = [put(tmp_path / f"in/{name}{i}", b"w\n") for i in range(600)]
    assert sum(len(str(file)) for file in files) > 128 << 10, "one string of that size stops any program"
    result = run(bundle(WORDS, "", SUM), *files)
    assert parts(result.output) == [b"w\t600\n"]


def test_shipped_files_and_a_private_working_folder(bundle, run, tmp_path: Path):
    table = put(tmp_path / "data #1", b"seven\n")
    result = run(bundle(SHIPPED), put(tmp_path / "in", b"a\nb\nc\n"), split_size=3, files=[f"{table}#table"])
    assert parts(result.output) == [b"seven\t\n"] * 2
    assert names(result.output) == ["_SUCCESS", "part-00000", "part-00001"] and table.read_bytes() == b"seven\n"


def test_what_filters_leave_in_the_task_output_folder_becomes_output(bundle, run, tmp_path: Path):
    result = run(bundle(SIDE_FILE, "", CAT), put(tmp_path / "in", b"a\nb\n"), split_size=2)
    assert names(result.output) == ["_SUCCESS", "part-00000", "side-0", "side-1"]


def test_a_custom_delimiter(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in", b"a\r\nbENDcEND")
    assert parts(run(bundle(CAT), source, record_delimiter="END").output) == [b"a\t\nb\t\nc\t\n"]
    source = put(tmp_path / "in", b"ab\r\ncd")
    text = parts(run(bundle(ENVIRONMENT), source, out="out2", record_delimiter=r"\n").output)[0]
    assert b"textinputformat_record_delimiter= \t\n" in text


def test_any_exit_status_is_taken_when_asked_for(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in", b"a\n")
    result = run(bundle(EXIT_3), source, settings=["stream.non.zero.exit.is.failure=false"])
    assert parts(result.output) == [b"a\t\n"]


def test_pairs_that_do_not_read_back_are_a_warning_and_switch_the_fold_off(bundle, run, tmp_path: Path):
    words = b"".join(b"word%d\n" % (i % 3000) for i in range(30000)) + b"a" * 40 + b"\n"
    reader = PairReader("token", 31, ("int32",))
    app = bundle(WORDS, SCANF_SUM, SUM, fold=True, pairs=reader)
    result = run(app, put(tmp_path / "in", words), settings=["heterodoop.sort.bytes=65536"])
    assert [w.code for w in result.warnings][:1] == ["HD407"]
    once = run(bundle(WORDS, SCANF_SUM, SUM, pairs=reader), tmp_path / "in", out="once")
    assert parts(result.output) == parts(once.output)
    row = json.loads((result.report_folder / "attempts.jsonl").read_text().splitlines()[0])
    assert row["runs"] == 2


def test_a_combiner_that_stops_early_is_a_warning(bundle, run, tmp_path: Path):
    app = bundle(CAT, SCANF_SUM)
    text = b"boston\t1\nnew york\t1\n" + b"".join(b"p%d\t1\n" % i for i in range(50000))
    result = run(app, put(tmp_path / "in", text), reducers=1)
    assert [w.code for w in result.warnings] == ["HD408"] and parts(result.output)[0].startswith(b"boston\t1\n")
    assert json.loads((result.report_folder / "report.json").read_text())["warnings"][0]["code"] == "HD408"


@pytest.mark.parametrize("name", ["my map", "(1)", "it's", "größe", "a\nb", "x;touch PWNED;", "$(touch PWNED)", "n" * 200])
def test_odd_names_of_bundle_input_and_output(bundle, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.chdir(tmp_path)
    app = bundle(WORDS, "", SUM, name=f"{name}/app.hdp")
    result = run(app, put(tmp_path / f"{name}/in", b"a\n"), out=f"{name}/out")
    assert parts(result.output) == [b"a\t1\n"]
    assert not list(tmp_path.rglob("PWNED"))


def test_names_that_are_no_utf8(bundle, run, tmp_path: Path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")
    result = run(bundle(ENVIRONMENT), put(Path(folder) / "in", b"a\n"), out="\udcff/out")
    assert os.fsencode(f"mapreduce_map_input_file=file:{folder}/in\t\n") in parts(result.output)[0]
    assert "\\udcff" in (result.report_folder / "report.json").read_text()


def test_output_beside_its_input_and_parents_that_are_made(bundle, run, tmp_path: Path):
    put(tmp_path / "data/a", b"a\n")
    assert parts(run(bundle(CAT), tmp_path / "data", out="data/out").output) == [b"a\t\n"]
    assert parts(run(bundle(CAT), tmp_path / "data/a", out="x/y/out").output) == [b"a\t\n"]


def test_the_report(bundle, run, tmp_path: Path):
    result = run(bundle(WORDS, SUM, SUM), put(tmp_path / "in", b"a b\n" * 10), split_size=20, reducers=2, cpu_slots=2)
    saved = json.loads((result.report_folder / "report.json").read_text())
    assert saved == json.loads(json.dumps(result.report))
    assert (saved["format"], saved["state"], saved["error"]) == ("heterodoop-job-report-1", "succeeded", None)
    assert saved["tasks"]["map"] == {"planned": 2, "done": 2, "attempts": 2, "failed_attempts": 0}
    assert saved["tasks"]["reduce"]["done"] == 2
    assert sum(slot["attempts"] for slot in saved["slots"]) == 4 and {s["kind"] for s in saved["slots"]} == {"cpu"}
    assert saved["stages"]["map"]["total"] > 0 and saved["seconds"]["total"] > saved["seconds"]["map"] > 0
    assert saved["job"]["input_bytes"] == 40 and saved["settings"]["mapreduce.job.reduces"] == "2"
    rows = [json.loads(line) for line in (result.report_folder / "attempts.jsonl").read_text().splitlines()]
    assert sorted(row["attempt"] for row in rows) == ["m_000000_0", "m_000001_0", "r_000000_0", "r_000001_0"]
    assert rows[0]["outcome"] == "succeeded" and rows[0]["split"]["length"] == 20


def test_an_older_report_of_ours_is_replaced_and_strange_files_in_it_stay(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in", b"a\n")
    first = run(bundle(WORDS), source)
    put(first.report_folder / "logs/old.log", b"old")
    put(first.report_folder / "notes.txt", b"mine")
    first.output.rename(tmp_path / "kept")
    second = run(bundle(WORDS), source)
    assert names(second.report_folder) == ["attempts.jsonl", "notes.txt", "report.json"]
    assert second.report["job"]["id"] != first.report["job"]["id"]


def test_pipes_give_what_files_of_their_content_give(bundle, run, tmp_path: Path):
    app, text = bundle(WORDS, SUM, SUM, fold=True), b"".join(b"w%d w%d\n" % (n, n % 7) for n in range(2000))
    pipe, file = tmp_path / "pipe", put(tmp_path / "in/1", text)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[text], daemon=True)
    writer.start()
    result = run(app, pipe, file, split_size=1000)
    writer.join()
    expected = run(app, put(tmp_path / "copy", text), file, split_size=1000, out="expected")
    assert parts(result.output) == parts(expected.output)
    assert result.report["tasks"]["map"] == expected.report["tasks"]["map"] and expected.report["tasks"]["map"]["done"] > 20
    assert names(result.output) == ["_SUCCESS", "part-00000"]


@pytest.mark.parametrize(("codec", "suffix", "reducers"), [
    ("", ".deflate", 2), ("GzipCodec", ".gz", 2), ("GzipCodec", ".gz", 0), ("SnappyCodec", ".snappy", 2),
])
def test_part_files_are_compressed_as_hadoop_does(bundle, run, tmp_path: Path, codec: str, suffix: str, reducers: int):
    app, text = bundle(WORDS, "", SUM), put(tmp_path / "in", b"b a b\na c\n" * 50)
    said = [f"{COMPRESS}=true", *([f"{COMPRESS}.codec=org.apache.hadoop.io.compress.{codec}"] if codec else [])]
    expected = run(app, text, reducers=reducers, out="plain")
    result = run(app, text, reducers=reducers, settings=said)
    assert names(result.output) == ["_SUCCESS", *(f"part-0000{n}{suffix}" for n in range(max(1, reducers)))]
    found = [b"".join(decompressed(str(path), SUFFIXES[suffix])) for path in sorted(result.output.glob("part-*"))]
    assert found == parts(expected.output) and any(found)
    assert parts(run(bundle(CAT), result.output, out="again", reducers=1).output) == [b"".join(sorted(
        b"".join(found).splitlines(keepends=True)))]


def test_a_part_file_that_cannot_be_compressed_fails_its_attempt(bundle, run, tmp_path: Path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "part")

    monkeypatch.setattr(attempts, "compress", full)
    with pytest.raises(JobFailed, match="in 4 attempts: cannot use the task's files: part: No space left") as caught:
        run(bundle(CAT), put(tmp_path / "in", b"a\n"), settings=[f"{COMPRESS}=true"])
    assert caught.value.code == "HD405"


def test_an_attempt_that_is_stopped_while_it_compresses(bundle, run, tmp_path: Path, monkeypatch):
    def stopped(source: Path, target: Path, codec: str, check) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            check()
            time.sleep(0.01)

    monkeypatch.setattr(attempts, "compress", stopped)
    with pytest.raises(Interrupted):
        run(bundle(CAT), put(tmp_path / "in", b"a\n"), settings=[f"{COMPRESS}=true"])
    assert not (tmp_path / "out").exists()


def test_an_output_codec_that_is_not_here(bundle, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    app, text = bundle(CAT), put(tmp_path / "in", b"a\n")
    lz4 = "org.apache.hadoop.io.compress.Lz4Codec"
    for name, kind, code in (("my.Codec", UsageError, "HD031"), (lz4, ToolError, "HD054")):
        monkeypatch.setitem(sys.modules, "cramjam", None)
        with pytest.raises(kind, match="compress.codec") as caught:
            run(app, text, settings=[f"{COMPRESS}=true", f"{COMPRESS}.codec={name}"])
        assert caught.value.code == code and not (tmp_path / "out").exists()
