"""Jobs with keys of several fields give Hadoop's own bytes: its map and reduce tasks run here, in one JVM for all jobs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from heterodoop.hadoop.embedded import class_data, jars, java

from ..support import Bundles, cli_here, parts

HERE = Path(__file__).parent
CAT = "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }"
LIBRARY = "org.apache.hadoop.mapred.lib.KeyFieldBased"
FIELDS = ("stream.num.map.output.key.fields=3", "stream.map.output.field.separator=,")
# Numbers as people write them, each once in a group, so that no sort has a choice.
NUMBERS = (("12", "a"), ("-3.5", ""), ("0.25", "b,c"), ("7", "x\ty"), ("100", "z"), ("-12", ""))
LINES = [f"{city},{number},{id},{text}\n" for city in ("Ulm", "Graz", "Äänekoski")
         for id, (number, text) in enumerate(NUMBERS)]
DATA = "".join([*LINES, "Bern\n", "\n", "Bonn,"]).encode()
# Name -> reducers, whether there is a combiner, settings.
JOBS = {
    "text": (0, False, (*FIELDS, "mapreduce.output.textoutputformat.separator=|")),
    "sorted": (1, False, (
        *FIELDS, "stream.reduce.input.field.separator=;", "stream.reduce.output.field.separator=,",
        "stream.num.reduce.output.key.fields=2", f"mapred.output.key.comparator.class={LIBRARY}Comparator",
        "map.output.key.field.separator=,", "mapred.text.key.comparator.options=-k1,1r -k2,2nr",
        f"mapred.output.value.groupfn.class={LIBRARY}Comparator")),
    "partitioned": (3, False, (
        *FIELDS, f"mapred.partitioner.class={LIBRARY}Partitioner", "map.output.key.field.separator=,",
        "mapred.text.key.partitioner.options=-k1,1 -k3.1,3.1")),
    # A combiner whose keys are shorter than the map's.
    "combined": (2, True, (
        *FIELDS, "stream.reduce.input.field.separator=,", "stream.reduce.output.field.separator=,",
        f"mapred.output.key.comparator.class={LIBRARY}Comparator", f"mapred.partitioner.class={LIBRARY}Partitioner",
        "map.output.key.field.separator=,")),
}


def words(settings: tuple[str, ...]) -> list[str]:
    return [word for setting in settings for word in ("-D", setting)]


def streaming(name: str, folder: Path) -> list[str]:
    """Words of the job's command, for HadoopJobs."""
    reducers, combines, settings = JOBS[name]
    local = (f"hadoop.tmp.dir={folder}/tmp", f"mapreduce.job.reduces={reducers}", "mapreduce.task.io.sort.mb=1")
    filters = ["-mapper", "/bin/cat", *(["-reducer", "/bin/cat"] if reducers else []),
               *(["-combiner", "/bin/cat"] if combines else [])]
    return [*words((*local, *settings)), "-input", f"{folder}/lines", "-output", f"{folder}/{name}", *filters, "--"]


def test_keys_are_hadoop_s(bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(DATA)
    found = java.find()
    release = jars.release(jars.DEFAULT)
    lib = jars.get(release, found, print)
    shared = class_data.get(release, lib, found, print)
    command = [found.home / "bin/java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
               *(class_data.options(shared).split() if shared else []), "-cp", f"{lib}/*", HERE / "HadoopJobs.java"]
    jobs = [word for name in JOBS for word in streaming(name, tmp_path)]
    subprocess.run([*command, *jobs], check=True, capture_output=True)
    for name, (reducers, combines, settings) in JOBS.items():
        bundle = bundles.get(CAT, combine=CAT if combines else "", reduce=CAT)
        out = tmp_path / f"{name}-here"
        cli_here("run", bundle, tmp_path / "lines", "-o", out, "-r", reducers, "--quiet", *words(settings))
        made = parts(out)
        assert made == parts(tmp_path / name), name
        assert len(made) == max(reducers, 1) and sum(part.count(b"\n") for part in made) == DATA.count(b"\n") + 1
