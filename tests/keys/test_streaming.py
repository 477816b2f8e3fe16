"""Jobs with keys of several fields and with input formats give Hadoop's own bytes: its map and reduce tasks run here, in one
JVM for all jobs, and its own classes write the SequenceFiles."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from heterodoop.hadoop.embedded import class_data, jars, java

from ..support import Bundles, cli_here, parts

HERE = Path(__file__).parent
CAT = "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }"
LIBRARY = "org.apache.hadoop.mapred.lib.KeyFieldBased"
FIELDS = ("stream.num.map.output.key.fields=3", "stream.map.output.field.separator=,")
# Numbers as people write them, each once in a group, so that no sort has a choice.
NUMBERS = (("12", "a"), ("-3.5", ""), ("0.25", "b,c"), ("7", "x\ty"), ("100", "z"), ("-12", ""))
CITIES = [f"{city},{number},{id},{text}\n" for city in ("Ulm", "Graz", "Äänekoski")
          for id, (number, text) in enumerate(NUMBERS)]
DATA = "".join([*CITIES, "Bern\n", "\n", "Bonn,"]).encode()
# Every end of a line, a mark, lines without a tab and with several, and no end at the end.
ODD = b"\xef\xbb\xbfone\t1\r\ntwo\n\nthree\r\r\nfour\t4\tiv\rfive=5\n=\n\\1\t\\g<1>\n" + b"long" * 30 + b"\nend\t"


class Job(NamedTuple):
    """combines: there is a combiner. form: a class for -inputformat. split: bytes."""

    reducers: int
    combines: bool
    settings: tuple[str, ...]
    form: str = ""
    inputs: tuple[str, ...] = ("lines",)
    split: int = 1 << 20


KEYS = {
    "text": Job(0, False, (*FIELDS, "mapreduce.output.textoutputformat.separator=|")),
    "sorted": Job(1, False, (
        *FIELDS, "stream.reduce.input.field.separator=;", "stream.reduce.output.field.separator=,",
        "stream.num.reduce.output.key.fields=2", f"mapred.output.key.comparator.class={LIBRARY}Comparator",
        "map.output.key.field.separator=,", "mapred.text.key.comparator.options=-k1,1r -k2,2nr",
        f"mapred.output.value.groupfn.class={LIBRARY}Comparator")),
    "partitioned": Job(3, False, (
        *FIELDS, f"mapred.partitioner.class={LIBRARY}Partitioner", "map.output.key.field.separator=,",
        "mapred.text.key.partitioner.options=-k1,1 -k3.1,3.1")),
    # A combiner whose keys are shorter than the map's.
    "combined": Job(2, True, (
        *FIELDS, "stream.reduce.input.field.separator=,", "stream.reduce.output.field.separator=,",
        f"mapred.output.key.comparator.class={LIBRARY}Comparator", f"mapred.partitioner.class={LIBRARY}Partitioner",
        "map.output.key.field.separator=,")),
}
NLINE = "org.apache.hadoop.mapred.lib.NLineInputFormat"
LONGEST = "mapreduce.input.linerecordreader.line.maxlength=100"
SEQUENCES = ("plain.seq", "records.gz", "blocks.seq", "bzip2.seq", "snappy.seq")
FORMATS = {
    "key-value": Job(0, False, (), "KeyValueTextInputFormat", ("odd",), 55),
    "equals": Job(0, False, ("key.value.separator.in.input.line==", "stream.map.input.field.separator=<\\1>", LONGEST),
                  "KeyValueTextInputFormat", ("odd",), 17),
    "value": Job(0, False, ("stream.map.input.ignoreKey=true", "textinputformat.record.delimiter=o"),
                 "KeyValueTextInputFormat", ("odd", "lines")),
    "three-lines": Job(0, False, ("mapred.line.input.format.linespermap=7", LONGEST), NLINE, ("odd", "empty", "lines")),
    "lines-alone": Job(0, False, ("mapred.line.input.format.linespermap=8", "stream.map.input.ignoreKey=true"), NLINE,
                       ("odd", "lines")),
    "offsets": Job(0, False, ("stream.map.input.ignoreKey=false",), "", ("odd",), 60),
    "sequence-text": Job(0, False, (), "SequenceFileAsTextInputFormat",
                         (*SEQUENCES, "numbers.seq", "integers.seq", "booleans.seq"), 7_000),
    "sequence-raw": Job(0, False, ("stream.map.input.field.separator=::",), "SequenceFileInputFormat",
                        (*SEQUENCES, "booleans.seq")),
}


def words(settings: tuple[str, ...]) -> list[str]:
    return [word for setting in settings for word in ("-D", setting)]


def streaming(name: str, job: Job, folder: Path) -> list[str]:
    """Words of the job's command, for HadoopJobs."""
    local = (f"hadoop.tmp.dir={folder}/tmp", f"mapreduce.job.reduces={job.reducers}", "mapreduce.task.io.sort.mb=1",
             f"fs.local.block.size={job.split}")
    filters = ["-mapper", "/bin/cat", *(["-reducer", "/bin/cat"] if job.reducers else []),
               *(["-combiner", "/bin/cat"] if job.combines else []), *(["-inputformat", job.form] if job.form else [])]
    return [*words((*local, *job.settings)), "-input", ",".join(f"{folder}/{one}" for one in job.inputs),
            "-output", f"{folder}/{name}", *filters, "--"]


@pytest.fixture(scope="module")
def hadoop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the inputs, and Hadoop's output of each job."""
    folder = tmp_path_factory.mktemp("hadoop")
    for name, data in {"lines": DATA, "odd": ODD, "empty": b""}.items():
        (folder / name).write_bytes(data)
    found = java.find()
    release = jars.release(jars.DEFAULT)
    lib = jars.get(release, found, print)
    shared = class_data.get(release, lib, found, print)
    command = [found.home / "bin/java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
               *(class_data.options(shared).split() if shared else []), "-cp", f"{lib}/*", HERE / "HadoopJobs.java"]
    jobs = [word for name, job in {**KEYS, **FORMATS}.items() for word in streaming(name, job, folder)]
    subprocess.run([*command, folder, *jobs], check=True, capture_output=True)
    return folder


def test_keys_are_hadoop_s(hadoop: Path, bundles: Bundles, tmp_path: Path) -> None:
    for name, (reducers, combines, settings, *_) in KEYS.items():
        bundle = bundles.get(CAT, combine=CAT if combines else "", reduce=CAT)
        out = tmp_path / name
        cli_here("run", bundle, hadoop / "lines", "-o", out, "-r", reducers, "--quiet", *words(settings))
        made = parts(out)
        assert made == parts(hadoop / name), name
        assert len(made) == max(reducers, 1) and sum(part.count(b"\n") for part in made) == DATA.count(b"\n") + 1


def test_input_formats_are_hadoop_s(hadoop: Path, bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(CAT)
    for name, job in FORMATS.items():
        inputs, form = [hadoop / one for one in job.inputs], ["-inputformat", job.form] if job.form else []
        cli_here("run", bundle, *inputs, "-o", tmp_path / name, "-r", 0, "--quiet", *form, *words(job.settings),
                 "--split-size", job.split)
        made = sorted(parts(tmp_path / name))  # Hadoop numbers splits by their lengths
        assert made == sorted(parts(hadoop / name)) and len(made) > 1, name
