"""Whole jobs on a real cluster: the same bytes and counters whatever ran them, GPUs (emulated), CPUs or both.

The reference is the embedded engine, and one plain streaming job that Hadoop runs from the printed command line.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ...support import ROOT, Bundles, cli_here, parts
from .site import CONTAINERS, UBER, Book, Drivers, Result, Site, drivers, text

# A container is a JVM of 3 s of processor time: no more of them than a test needs to say what it says.
MAPS = 2
GZIP = "org.apache.hadoop.io.compress.GzipCodec"
ZLIB = "org.apache.hadoop.io.compress.DefaultCodec"
COMPARED = (
    "MAP_INPUT_RECORDS", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "COMBINE_INPUT_RECORDS", "COMBINE_OUTPUT_RECORDS",
    "REDUCE_INPUT_GROUPS", "REDUCE_INPUT_RECORDS", "REDUCE_OUTPUT_RECORDS", "SPILLED_RECORDS",
)


@pytest.fixture(scope="module")
def on_all_nodes(site: Site) -> Iterator[Drivers]:
    with drivers(site.node_ports()) as started:
        yield started


def many(reducers: int, codec: str = "") -> list[object]:
    options = ["-r", reducers, "-D", f"mapreduce.job.maps={MAPS}"]
    if codec:
        options += ["-D", "mapreduce.map.output.compress=true", "-D", f"mapreduce.map.output.compress.codec={codec}"]
    return options


def same_counters(one: Result, other: Result) -> None:
    assert {name: one.tasks(name) for name in COMPARED} == {name: other.tasks(name) for name in COMPARED}


@pytest.fixture(scope="module")
def cpu(site: Site, words: Path, book: Book) -> Result:
    """A job with the plug-in and no driver anywhere."""
    return site.submit(words, [book.path], *many(1, ZLIB), *CONTAINERS, "-D", "heterodoop.driver.dir=/none")


def test_without_a_driver_every_map_runs_on_the_cpu(cpu: Result, book: Book):
    assert cpu.parts == book.wanted(1)
    assert cpu.sides == (0, cpu.report["maps"]) and cpu.report["maps"] >= MAPS
    assert cpu.plugin("DECLINED_NO_DRIVER") == cpu.report["maps"]


def test_the_printed_line_run_by_hand_is_a_plain_streaming_job(site: Site, words: Path, book: Book):
    output = site.output()
    line = cli_here("submit", words, "-i", book.path, "-o", output, *many(2), "--cpu-only", "--dry-run").out.decode()
    assert "heterodoop-mr" not in line and "org.heterodoop" not in line
    subprocess.run(["bash", "-c", line], env=site.environment, check=True, capture_output=True)
    assert site.parts(output) == book.wanted(2)


@pytest.mark.parametrize(("reducers", "codec", "where"), [(1, "", ()), (2, GZIP, CONTAINERS)])
def test_every_map_on_a_gpu(
    site: Site, words: Path, book: Book, on_all_nodes: Drivers, cpu: Result, reducers: int, codec: str,
    where: tuple[str, ...],
):
    policy = ("--policy", "gpu-only", "-D", "heterodoop.verify=true", *where)
    done = site.submit(words, [book.path], *many(reducers, codec), *policy, *on_all_nodes.options)
    assert done.parts == book.wanted(reducers)
    assert done.sides == (done.report["maps"], 0) and done.plugin("GPU_READ_BYTES") > 300_000
    assert (cpu.report["uber"], done.report["uber"]) == (False, reducers == 1)
    if reducers == 1:
        same_counters(done, cpu)


def test_a_mixed_job(site: Site, words: Path, book: Book):
    """The driver of the job's node gives its first attempt back, when it is about to run. test_hadoop_342.py has the
    same in containers."""
    ports = site.node_ports()
    with drivers(ports, faults=dict.fromkeys(ports, "error@running*1")) as started:
        done = site.submit(words, [book.path], *many(1, ZLIB), *UBER, "--policy", "gpu-only", *started.options)
    assert done.parts == book.wanted(1)
    gpu, cpu = done.sides
    assert gpu and cpu == 1 and gpu + cpu == done.report["maps"]


def test_maps_as_host_kernels(site: Site, words: Path, book: Book, cpu: Result):
    """Drivers without a GPU. The first attempt is given back, and runs the filter."""
    ports = site.node_ports()
    with drivers(ports, "--gpus", "none", "--cpu", faults=dict.fromkeys(ports, "error@running*1")) as started:
        done = site.submit(words, [book.path], *many(1, ZLIB), *UBER, "-D", "heterodoop.verify=true", *started.options)
    maps = done.report["maps"]
    assert done.parts == book.wanted(1) and done.sides == (0, maps)
    assert (done.plugin("HOST_KERNEL_MAPS"), done.plugin("FALLBACKS")) == (maps - 1, 1)
    assert done.plugin("DECLINES") == 0 and done.report["host_kernel_maps"] == maps - 1 > 0
    same_counters(done, cpu)


NAMES = ["50%.txt", "a+b", "a b", "a#b", "a?b", "year=2015", "Übung", "it's"]


def test_small_files_with_odd_names_in_one_small_job(site: Site, words: Path, on_all_nodes: Drivers, tmp_path: Path):
    folder = tmp_path / "names"
    folder.mkdir()
    for number, name in enumerate(NAMES):
        data = b"" if number == 2 else text(300 * number, number)
        (folder / name).write_bytes(data)
        site.put(f"names/{name}", data)
    site.put("names/_hidden", b"no\n")
    inputs = [f"{site.base}/names/{name}" for name in NAMES]
    done = site.submit(words, inputs, *UBER, "-D", "mapreduce.job.maps=1", "--policy", "gpu-only", *on_all_nodes.options)
    assert done.sides[0] + done.sides[1] == done.report["maps"] == len(NAMES) and done.sides[0] >= len(NAMES) - 1
    cli_here("run", words, folder, "-o", tmp_path / "out", "--cpu-only", "--quiet")
    assert done.parts == parts(tmp_path / "out")
    # And all of them in one map, on a GPU and on a CPU, named by a pattern.
    for where, sides in ((on_all_nodes.options, (1, 0)), (("-D", "heterodoop.driver.dir=/none"), (0, 1))):
        one = site.submit(words, [f"{site.base}/nam*"], *UBER, "--policy", "gpu-only", *where)
        assert one.parts == done.parts and one.sides == sides and one.report["grouped_splits"] == len(NAMES)


GREP = (ROOT / "apps" / "grep" / "map.c").read_text()


@pytest.mark.parametrize("gpu", [True, False])
def test_without_reducers_the_map_output_is_the_result(
    site: Site, bundles: Bundles, on_all_nodes: Drivers, tmp_path: Path, gpu: bool,
):
    """One file of CRLF lines, so that there is one order."""
    data = b"".join(b"line %d of many\r\n" % number for number in range(3000))
    path = site.put(f"crlf-{gpu}", data)
    (tmp_path / "in").write_bytes(data)
    bundle = bundles.get(GREP)
    options = ["-r", 0, *UBER, "-D", "grep.pattern=7 of", "-D", "mapreduce.job.maps=2"]
    folder = on_all_nodes.options if gpu else ("-D", "heterodoop.driver.dir=/none")
    done = site.submit(bundle, [path], *options, "--policy", "gpu-only", *folder)
    cli_here("run", bundle, tmp_path / "in", "-o", tmp_path / "out", "-r", 0, "-D", "grep.pattern=7 of", "--cpu-only")
    assert b"".join(done.parts) == b"".join(parts(tmp_path / "out")) != b""
    assert done.sides == ((2, 0) if gpu else (0, 2))


FAILING = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char k[8] = "k", *line = NULL; size_t cap = 0; int v = 1;
  #pragma mapreduce mapper key(k) value(v) keylength(8) vallength(1)
  while (getline(&line, &cap, stdin) != -1) {
    if (line[0] == '!') { fprintf(stderr, "bad record\n"); exit(3); }
    printf("%s\t%d\n", k, v);
  }
  return 0;
}
"""


def test_a_failing_filter_fails_the_job_and_says_where(site: Site, bundles: Bundles, on_all_nodes: Drivers):
    path = site.put("failing", b"a\n!\nb\n")
    attempts = ("-D", "mapreduce.map.maxattempts=1", "-D", "mapreduce.job.maps=1")
    done = site.submit(bundles.get(FAILING), [path], *UBER, *attempts, *on_all_nodes.options, status=1)
    cause = done.report["cause"]
    assert done.report["state"] == "FAILED" and cause["stderr"].endswith("bad record") and "exit status 3" in cause["error"]
    assert cause["split"].endswith(f"{path}:0+6") and cause["command"].endswith("/bin/map") and cause["node"]
    assert site.space.status(f"{done.output}/_SUCCESS") is None and "HD628" in done.message


def test_settings_reach_the_filter_as_they_are(site: Site, bundles: Bundles):
    """What the filter sees of -D and -cmdenv, through Hadoop's job file, its XML and a shell."""
    program = r"""
    #include <stdio.h>
    #include <stdlib.h>
    extern char **environ;
    int main(void) {
      char **e; int c;
      while ((c = getchar()) != EOF) {}
      for (e = environ; *e; e++) {
        const char *p = *e;
        if (p[0] != 'z' || p[1] != '_') continue;
        for (; *p; p++) printf(*p == '\n' ? "\\n" : "%c", *p);
        printf("\t\n");
      }
      return 0;
    }
    """
    path = site.put("settings", b"x\n")
    values = {
        "z.a": "$(touch PWNED)", "z.b": "`id`", "z.c": 'x"; touch PWNED; "', "z.d": "a&b<c>]]>", "z.e": "1\n2",
        "z.f": "it's ü",
    }
    named = [word for key, value in values.items() for word in ("-D", f"{key}={value}")]
    output = site.output()
    line = cli_here("submit", bundles.get(program), "-i", path, "-o", output, "-r", 0, *UBER, *named, "-cmdenv", "z_g=$(id)",
                    "--cpu-only", "-D", "mapreduce.job.maps=1", "--dry-run").out.decode()
    subprocess.run(["bash", "-c", line], env=site.environment, check=True, capture_output=True)
    seen = sorted(b"".join(site.parts(output)).decode().replace("\t", "").splitlines())
    wanted = [f"{key.replace('.', '_')}={value}".replace("\n", "\\n") for key, value in values.items()]
    assert seen == sorted([*wanted, "z_g=$(id)"])


COUNTING = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *line = NULL; size_t cap = 0; int n = 0;
  while (getline(&line, &cap, stdin) != -1) {
    fprintf(stderr, "reporter:counter:many,c%d,1\n", n++ % 112);
    printf("%s", line);
  }
  return 0;
}
"""


def test_keys_of_another_input_format_reach_the_filter(site: Site, bundles: Bundles, tmp_path: Path):
    """Lines make a SequenceFile, which is the next job's input, here and there. And with as many counters of its own as a
    job can have, none is lost: 112, since Hadoop has 8 itself."""
    rows = [f"k{n}\tv{n}\n".encode() for n in range(200)]
    path = site.put("pairs", b"".join(rows) + b"no tab\n")
    bundle = bundles.get(COUNTING, reduce=COUNTING)
    options = (*UBER, "-r", 1, "-D", "mapreduce.job.maps=1", "-D", "heterodoop.driver.dir=/none")
    form, sequence = ("-inputformat", "SequenceFileAsTextInputFormat"), "org.apache.hadoop.mapred.SequenceFileOutputFormat"
    made = site.submit(bundle, [path], *options, "-r", 0, "-inputformat", "KeyValueTextInputFormat", "-outputformat",
                       sequence)
    done = site.submit(bundle, [made.output], *options, *form)
    assert done.parts == [b"".join(sorted([*rows, b"no tab\t\n"]))] and "HD626" in done.message
    cli_here("run", bundle, f"hdfs://{made.output}", "-o", tmp_path / "out", *form, "--quiet")
    assert made.parts[0].startswith(b"SEQ") and parts(tmp_path / "out") == done.parts
    done = site.submit(bundle, [path], *options, "-D", "mapreduce.input.fileinputformat.split.maxsize=1000")
    assert done.parts == [b"".join(sorted([*rows, b"no tab\t\n"]))] and done.report["maps"] > 1
    assert len(done.report["counters"]["many"]) == 112 and done.sides == (0, done.report["maps"])


def test_many_inputs_do_not_burst_the_filters_environment(site: Site, words: Path, on_all_nodes: Drivers):
    """Two patterns of 100 KB each: together no variable of an environment could hold them."""
    nothing = ",".join(f"none-{number:03}-{'x' * 100}" for number in range(900))
    inputs = []
    for name in ("one", "two"):
        site.put(f"inputs/{name}", b"w\n")
        inputs.append(f"{site.base}/inputs/{{{name},{nothing}}}")
    done = site.submit(words, inputs, *UBER, "-D", "mapreduce.job.maps=1", *on_all_nodes.options)
    assert done.parts == [b"w\t2\n"]


def test_jobs_are_listed_with_their_counters_logs_and_pages(site: Site, cpu: Result, tmp_path: Path):
    job = cpu.report["job"]
    assert job in cli_here("job", "list", "--all").out.decode()
    assert json.loads(cli_here("job", "counters", job, "--json").out) == cpu.report["counters"]
    assert f"{job} SUCCEEDED: map {cpu.report['maps']}/{cpu.report['maps']}" in cli_here("job", "status", job).out.decode()
    cli_here("job", "report", job, "-o", tmp_path / "page.html", "--svg", tmp_path / "picture.svg")
    assert "reduce task" in (tmp_path / "picture.svg").read_text() and "m_000000_0" in (tmp_path / "page.html").read_text()
    logs = cli_here("job", "logs", job, "-n", "3").out.decode()
    assert "goes on on the CPU" in logs or "stderr <==" in logs or "syslog <==" in logs


def test_a_job_is_killed(site: Site, words: Path, book: Book):
    """By its ApplicationMaster: it has a history, and nothing is left in HDFS."""
    output = site.output()
    started = cli_here("submit", words, "-i", book.path, "-o", output, *many(1), "--cpu-only", "--detach")
    job = started.out.decode().strip()
    assert job in cli_here("job", "list").out.decode()
    while not site.space.status(f"{output}/_temporary"):
        time.sleep(0.2)
    assert f"{job} is killed" in cli_here("job", "kill", job).out.decode()
    done = cli_here("job", "status", job, status=1)
    assert " KILLED: map " in done.out.decode() and "map 0/0" not in done.out.decode()
    assert cli_here("job", "counters", job).out
    assert not site.space.status(f"{output}/_temporary")
    assert not site.space.status(f"/user/{site.cluster.state.user}/.staging/{job}")


def test_an_output_that_exists_is_left_alone(site: Site, words: Path, cpu: Result, book: Book):
    before = site.space.list(cpu.output)
    assert "HD020" in cli_here("submit", words, "-i", book.path, "-o", cpu.output, status=2).message
    assert site.space.list(cpu.output) == before
