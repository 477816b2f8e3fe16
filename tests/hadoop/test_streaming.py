"""The `hadoop jar` command that submits a job."""

from __future__ import annotations

import dataclasses
import shlex
import subprocess
from pathlib import Path

import pytest

from heterodoop.hadoop.submit.streaming import Shipped, StreamingJob, arguments, settings, shell_line

JOB = StreamingJob(
    bundle=Shipped("/cache/abc/wc.hdp.tgz", "wc.hdp"), bundle_sha256="ab" * 32, plugin="/lib/heterodoop-mr.jar",
    combiner=True, reducer=True, inputs=("/in",), output="/out", reducers=3, name="words",
)


def test_the_form_that_unmodified_hadoop_takes():
    assert arguments(JOB) == [
        "-libjars", "/lib/heterodoop-mr.jar", "-archives", "/cache/abc/wc.hdp.tgz#wc.hdp",
        "-D", "mapreduce.job.name=words", "-D", "mapreduce.job.reduces=3", "-D", "stream.jobconf.truncate.limit=20000",
        "-D", "mapreduce.map.speculative=false", "-D", "mapred.map.runner.class=org.heterodoop.mr.HeteroMapRunner",
        "-D", "mapreduce.job.map.output.collector.class=org.heterodoop.mr.HeteroCollector,"
        "org.apache.hadoop.mapred.MapTask$MapOutputBuffer",
        "-D", "stream.map.output=text",
        "-D", "stream.map.streamprocessor=wc.hdp%2Fbin%2Fmap", "-D", "heterodoop.bundle=wc.hdp",
        "-D", "heterodoop.bundle.sha256=" + "ab" * 32,
        "-inputformat", "org.heterodoop.mr.HeteroInputFormat", "-mapper", "org.apache.hadoop.streaming.PipeMapper",
        "-combiner", "wc.hdp/bin/combine", "-reducer", "wc.hdp/bin/reduce", "-input", "/in", "-output", "/out",
    ]


def test_without_the_plug_in_it_is_a_plain_streaming_job():
    plain = dataclasses.replace(JOB, plugin=None)
    assert arguments(plain, background=True) == [
        "-archives", "/cache/abc/wc.hdp.tgz#wc.hdp",
        "-D", "mapreduce.job.name=words", "-D", "mapreduce.job.reduces=3", "-D", "stream.jobconf.truncate.limit=20000",
        "-mapper", "wc.hdp/bin/map", "-combiner", "wc.hdp/bin/combine", "-reducer", "wc.hdp/bin/reduce",
        "-input", "/in", "-output", "/out", "-background",
    ]


def test_a_job_without_reducers_writes_by_the_plug_ins_output_format_and_combines_nothing():
    argv = arguments(dataclasses.replace(JOB, reducers=0))
    assert argv[argv.index("-outputformat") + 1] == "org.heterodoop.mr.HeteroOutputFormat"
    assert argv[argv.index("-reducer") + 1] == "NONE" and "-combiner" not in argv
    argv = arguments(dataclasses.replace(JOB, reducers=0, output_format="my.Format"))
    assert argv[argv.index("-outputformat") + 1] == "my.Format"


def test_without_a_reducer_hadoops_identity_reduces():
    assert "-reducer" not in arguments(dataclasses.replace(JOB, reducer=False, reducers=2))


def test_another_input_format_is_streamings_own_and_a_partitioner_passed_on():
    argv = arguments(dataclasses.replace(JOB, partitioner="my.Part"))
    assert argv[argv.index("-partitioner") + 1] == "my.Part"
    plain = arguments(dataclasses.replace(JOB, input_format="my.Format", plugin=None))
    assert plain[plain.index("-inputformat") + 1] == "my.Format"


def test_settings_come_last_but_for_what_makes_the_plug_in_work():
    user = {"mapreduce.map.speculative": "true", "stream.jobconf.truncate.limit": "500", "a.b": "c"}
    found = settings(dataclasses.replace(JOB, settings=user, queue="q", policy="gpu-first"))
    assert found["mapreduce.map.speculative"] == "true" and found["stream.jobconf.truncate.limit"] == "500"
    assert found["a.b"] == "c" and found["mapreduce.job.queuename"] == "q" and found["heterodoop.policy"] == "gpu-first"
    assert found["stream.map.output"] == "text"


def test_shipped_files_are_named_and_their_hashes_told():
    files = (Shipped("/x/a.txt", "a.txt", "11"), Shipped("/x/b", "c", "22"), Shipped("hdfs:///d", "d"))
    job = dataclasses.replace(JOB, files=files, archives=(Shipped("/x/t.tgz", "t"),), libjars=("/my.jar",))
    argv = arguments(job)
    assert argv[argv.index("-files") + 1] == "/x/a.txt,/x/b#c,hdfs:///d"
    assert argv[argv.index("-archives") + 1] == "/cache/abc/wc.hdp.tgz#wc.hdp,/x/t.tgz#t"
    assert argv[argv.index("-libjars") + 1] == "/lib/heterodoop-mr.jar,/my.jar"
    assert "heterodoop.files.sha256=a.txt=11,c=22" in argv


ODD = ["$(touch PWNED)", "`id`", 'x"; touch PWNED; "', "a&b<c>", "1\n2", "it's", "${x}", "a  b", "-x"]


@pytest.mark.parametrize("value", ODD)
def test_the_printed_line_says_the_same_to_a_shell(value: str, tmp_path: Path):
    job = dataclasses.replace(JOB, settings={"a.b": value}, inputs=("/Übung/x y", "/a;b"), environment=("X=1",))
    line = shell_line("hadoop", Path("/lib/my streaming.jar"), arguments(job))
    (tmp_path / "hadoop").write_text('#!/bin/sh\nprintf "%s\\0" "$@"\n')
    (tmp_path / "hadoop").chmod(0o755)
    done = subprocess.run(["sh", "-c", line], env={"PATH": f"{tmp_path}:/bin:/usr/bin"}, cwd=tmp_path, capture_output=True)
    assert done.stdout.decode().split("\0")[:-1] == ["jar", "/lib/my streaming.jar", *arguments(job)]
    assert not (tmp_path / "PWNED").exists() and line.startswith("LC_ALL=C.UTF-8 hadoop jar ")


def test_an_ascii_line_needs_no_locale():
    line = shell_line("/opt/bin/hadoop", Path("/s.jar"), arguments(JOB))
    assert shlex.split(line)[:3] == ["/opt/bin/hadoop", "jar", "/s.jar"]
