"""From the command line to a job: what is checked, shipped and warned of."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from heterodoop.errors import HeteroDoopError, Limitation, UsageError
from heterodoop.hadoop.job import client
from heterodoop.hadoop.submit.job_options import SubmitOptions, build, hadoop_path
from heterodoop.hadoop.submit.streaming import StreamingJob, arguments, settings
from heterodoop.job.spec import JobSpec

from ..support import ROOT, Bundles
from .fake_cluster import FakeCluster

MAP = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char word[30], *line = NULL; size_t cap = 0; int one = 1;
  #pragma mapreduce mapper key(word) value(one) keylength(30) vallength(1)
  while (getline(&line, &cap, stdin) != -1) {
    word[0] = 0;
    sscanf(line, "%29s", word);
    printf("%s\\t%d\\n", word, one);
  }
  return 0;
}
"""
PLAIN = "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }\n"


class Made:
    def __init__(self, fake: FakeCluster, bundles: Bundles) -> None:
        self.conf = client.configuration()
        self.bundle = bundles.get(MAP, reduce=PLAIN)
        self.bundles = bundles

    def __call__(self, *, inputs: tuple[str, ...] = ("/in",), bundle: Path | None = None, **options: object) -> StreamingJob:
        given = SubmitOptions(**options)  # type: ignore[arg-type]
        spec = JobSpec.of(bundle or self.bundle, inputs, "/out", given)
        self.job, warnings = build(spec, given, self.conf, lambda name: "here" in name, print)
        self.warnings = [(warning.code, warning.message) for warning in warnings]
        return self.job


@pytest.fixture
def made(fake: FakeCluster, bundles: Bundles) -> Made:
    return Made(fake, bundles)


def code(make: object, *args: object, **options: object) -> str:
    with pytest.raises(HeteroDoopError) as caught:
        make(*args, **options)  # type: ignore[operator]
    return caught.value.code


def test_a_bundle_with_a_reducer_gets_the_clusters_number_of_reducers(made: Made, fake: FakeCluster):
    assert made().reducers == 1 and made(reducers="7").reducers == 7
    assert made(settings=("mapred.reduce.tasks=2",)).reducers == 2
    assert made(bundle=made.bundles.get(MAP)).reducers == 0
    site = fake.folder / "conf" / "mapred-site.xml"
    row = "<property><name>mapreduce.job.reduces</name><value>5</value></property>"
    site.write_text(site.read_text().replace("<configuration>", f"<configuration>{row}"))
    made.conf = client.configuration()
    assert made().reducers == 5


def test_an_option_wins_over_a_setting_with_a_warning(made: Made):
    job = made(name="a", settings=("mapreduce.job.name=b", "mapreduce.job.queuename=q"), queue="p", policy="gpu-first")
    assert (job.name, job.queue, job.policy) == ("a", "p", "gpu-first")
    assert [c for c, _ in made.warnings] == ["HD034", "HD034"]


def test_the_settings_that_make_the_job_are_not_the_users(made: Made):
    for key in ("mapred.map.runner.class", "stream.map.streamprocessor", "heterodoop.bundle", "mapred.input.dir"):
        assert code(made, settings=(f"{key}=x",)) == "HD623"
    job = made(settings=("mapred.map.runner.class=my.Runner",), cpu_only=True)
    assert settings(job)["mapred.map.runner.class"] == "my.Runner" and job.plugin is None
    assert code(made, settings=("stream.map.streamprocessor=x",), cpu_only=True) == "HD623"


def test_values_are_checked_before_a_cluster_sees_them(made: Made):
    assert code(made, settings=("a",)) == "HD030" and code(made, settings=("mapreduce.map.maxattempts=0",)) == "HD030"
    assert code(made, policy="tail", cpu_only=True) == "HD032" and made(policy="cpu-only", cpu_only=True).plugin is None
    assert code(made, policy="fastest") == "HD032" and code(made, reducers="-1") == "HD032"
    assert code(made, settings=("a=\x01",)) == "HD624" and code(made, record_delimiter=r"\x01") == "HD624"
    assert code(made, environment=("X",)) == "HD030" and code(made, environment=("X=a b",)) == "HD624"
    assert settings(made(record_delimiter=r"\n\n"))["textinputformat.record.delimiter"] == "\n\n"


def test_a_misspelt_setting_of_ours_is_pointed_out(made: Made):
    made(settings=("heterodoop.polcy=tail", "heterodoop.gpu.wait.max.ms=1", "other.key=1"))
    assert [c for c, _ in made.warnings] == ["HD627"] and "heterodoop.policy" in made.warnings[0][1]


@pytest.mark.parametrize(("options", "why"), [
    ({"partitioner": "my.Part", "reducers": "2"}, "partitioner"),
    ({"settings": ("mapreduce.map.output.compress.codec=my.Codec",)}, "codec"),
    ({"settings": ("mapreduce.job.output.key.comparator.class=x.Y",)}, "comparator"),
    ({"settings": ("stream.num.map.output.key.fields=2",)}, "fields"),
    ({"output_format": "my.Format", "reducers": "0"}, "-outputformat"),
])
def test_what_only_hadoop_can_do_is_submitted_with_a_warning(made: Made, options: dict[str, object], why: str):
    job = made(**options)
    assert job.plugin and [c for c, _ in made.warnings] == ["HD626"] and why in made.warnings[0][1]
    made(**options, cpu_only=True)
    assert not made.warnings


FORMATS = (
    "KeyValueTextInputFormat", "org.apache.hadoop.mapred.KeyValueTextInputFormat", "SequenceFileAsTextInputFormat",
    "SequenceFileInputFormat", "org.apache.hadoop.mapred.SequenceFileAsBinaryInputFormat", "my.Format",
    "org.apache.hadoop.mapred.lib.NLineInputFormat", "org.apache.hadoop.mapred.lib.CombineTextInputFormat",
    "org.apache.hadoop.mapreduce.lib.input.TextInputFormat",
)


@pytest.mark.parametrize("options", [
    *({"input_format": name} for name in FORMATS), {"settings": ("stream.map.input.ignoreKey=false",)},
    {"settings": ("stream.map.input.ignoreKey=true",), "input_format": "KeyValueTextInputFormat"},
])
def test_what_are_no_lines_of_a_file_is_left_to_streaming(made: Made, options: dict[str, object]):
    options["settings"] = (*options.get("settings", ()), "mapreduce.job.ubertask.enable=false")  # type: ignore[misc]
    job = made(**options)
    assert [c for c, _ in made.warnings] == ["HD626"] and "plain streaming job" in made.warnings[0][1]
    assert arguments(job) == arguments(made(**options, cpu_only=True)) and not made.warnings


UBER, UBER_BYTES = "mapreduce.job.ubertask.enable", "mapreduce.job.ubertask.maxbytes"


def test_small_jobs_may_run_in_their_application_master(made: Made, fake: FakeCluster):
    """Unless somebody says otherwise, or wants what only tasks in containers have."""
    found = settings(made())
    assert (found[UBER], found[UBER_BYTES]) == ("true", str(32 << 20))
    assert settings(made(settings=(f"{UBER_BYTES}=7",)))[UBER_BYTES] == "7"
    assert settings(made(settings=("mapred.job.name=x", "mapreduce.task.io.sort.mb=7")))[UBER] == "true"
    for wish in ("mapred.map.max.attempts=2", "mapreduce.reduce.env=A=b", "mapred.child.java.opts=-Xmx1g",
                 "mapreduce.map.resource.yarn.io/gpu=1", "mapreduce.map.memory.mb=900"):
        assert UBER not in settings(made(settings=(wish,)))
    assert UBER not in settings(made(cpu_only=True)) and settings(made(settings=(f"{UBER}=false",)))[UBER] == "false"
    site = fake.folder / "conf" / "mapred-site.xml"
    for rows, wanted in (({UBER_BYTES: "99"}, ("true", "99")), ({UBER_BYTES: "99999999999"}, ("true", str(32 << 20))),
                         ({UBER: "false"}, (None, None))):
        text = "".join(f"<property><name>{key}</name><value>{value}</value></property>" for key, value in rows.items())
        site.write_text(f"<configuration>{text}</configuration>")
        made.conf = client.configuration()
        found = settings(made())
        assert (found.get(UBER), found.get(UBER_BYTES)) == wanted


@pytest.mark.parametrize("name", ["", "TextInputFormat", "org.apache.hadoop.mapred.TextInputFormat"])
@pytest.mark.parametrize("definitions", [(), ("stream.map.input.ignoreKey=true",), ("stream.map.input.ignoreKey=True",)])
def test_lines_may_go_to_gpus_under_every_name_of_their_format(made: Made, name: str, definitions: tuple[str, ...]):
    job = made(input_format=name, settings=definitions)
    assert job.plugin and not job.input_format and not made.warnings
    assert ("stream.map.input.ignoreKey" in settings(job)) == bool(definitions)  # streaming's own default is not ours to set


GROUP = "heterodoop.group.bytes"
FOLD = (ROOT / "apps/wordcount/map.c", ROOT / "apps/wordcount/combine.c", ROOT / "apps/wordcount/reduce.c")


@pytest.mark.parametrize(("asks", "why"), [
    ("", ""), ('getenv("z_a")', ""), ('getenv("mapreduce_map_input_start")', "asks for mapreduce_map_input_start"),
    ('getenv("mapred_tip_id")', "the task's own"), ("getenv(word)", "not known before it runs"),
    ("time(NULL)", "each split"),
    ('fopen("/proc/self/environ", "r")', "not known before it runs"),
])
def test_splits_are_grouped_where_a_filter_asks_for_nothing_of_its_task(made: Made, asks: str, why: str):
    source = MAP.replace("int one = 1;", f'int one = 1; strcpy(word, "x"); if ({asks}) one = 2;' if asks else "int one = 1;")
    bundle = made.bundles.get(f"#include <string.h>\n#include <time.h>\n{source}", reduce=PLAIN)
    assert settings(made(bundle=bundle))[GROUP] == ("0" if why else "auto") and not made.warnings
    assert settings(made(bundle=bundle, settings=(f"{GROUP}=77",)))[GROUP] == ("0" if why else "77")
    assert [c for c, _ in made.warnings] == (["HD662"] if why else []) and all(why in text for _, text in made.warnings)


def test_splits_are_grouped_where_combiner_and_job_allow_it(made: Made):
    words = made.bundles.get(*(path.read_text() for path in FOLD))
    plain = made.bundles.get(FOLD[0].read_text(), FOLD[1].read_text(), PLAIN)
    assert settings(made(bundle=words))[GROUP] == "auto" and settings(made(bundle=plain))[GROUP] == "0"
    joined = "heterodoop.group.joined"  # word count asks for no byte that its record does not have; MAP's line is checked
    assert settings(made(bundle=words))[joined] == "true" and joined not in settings(made(bundle=plain))
    assert joined not in settings(made()) and joined not in settings(made(bundle=words, settings=(f"{GROUP}=0",)))
    fields = "stream.num.map.output.key.fields=2"
    for more in ({"reducers": "0"}, {"record_delimiter": "|"}, {"settings": ("mapreduce.job.maps=9",)},
                 {"settings": ("mapreduce.input.fileinputformat.split.maxsize=1000",)}, {"settings": (fields,)},
                 {"settings": (f"{GROUP}=0",)}, {"settings": ("mapreduce.map.skip.maxrecords=1",)}):
        assert settings(made(bundle=words, **more))[GROUP] == "0", more
    assert code(made, bundle=words, settings=(f"{GROUP}=5m",)) == "HD030"
    wish = (f"{GROUP}=5", "mapreduce.job.maps=9")
    assert settings(made(bundle=words, settings=wish))[GROUP] == "5" and not made.warnings
    assert GROUP not in settings(made(bundle=words, cpu_only=True))
    made(bundle=words, settings=(f"{GROUP}=5", fields))
    assert {c for c, _ in made.warnings} == {"HD626", "HD662"}


LIMIT = "mapreduce.input.fileinputformat.split.maxsize=1000"


def test_a_largest_split_is_for_the_plug_in(made: Made):
    for definition in (LIMIT, LIMIT.replace("mapreduce.input.fileinputformat.split.maxsize", "mapred.max.split.size")):
        assert LIMIT.partition("=")[0] in settings(made(settings=(definition,))) and not made.warnings
        made(settings=(definition,), cpu_only=True)
        assert [c for c, _ in made.warnings] == ["HD656"]
    made(settings=(LIMIT,), input_format="KeyValueTextInputFormat")
    assert [c for c, _ in made.warnings] == ["HD626", "HD656"]
    for name in ("my.Format", "org.apache.hadoop.mapred.lib.CombineTextInputFormat"):
        made(settings=(LIMIT,), input_format=name, cpu_only=True)
        assert not made.warnings


def test_details_of_the_plug_in_are_not_counted_where_reducers_may_count_much(made: Made):
    assert "heterodoop.counters.details" not in settings(made())
    counting = PLAIN.replace("int c;", 'int c; fprintf(stderr, "reporter:counter:a,b,1\\n");')
    bundle = made.bundles.get(MAP, reduce=counting)
    assert settings(made(bundle=bundle))["heterodoop.counters.details"] == "false"
    wish = "heterodoop.counters.details=true"
    assert settings(made(bundle=bundle, settings=(wish,)))["heterodoop.counters.details"] == "true" and not made.warnings
    assert "heterodoop.counters.details" not in settings(made(bundle=bundle, cpu_only=True))


def test_what_changes_nothing_is_not_warned_of(made: Made):
    codec = "mapreduce.map.output.compress.codec=org.apache.hadoop.io.compress.GzipCodec"
    made(partitioner="my.Part", reducers="1", settings=(codec, "stream.num.map.output.key.fields=1"))
    assert not made.warnings


@pytest.mark.parametrize("key", ["mapred.partitioner.class", "mapreduce.job.partitioner.class"])
def test_a_partitioner_that_a_setting_names_is_streaming_s_option(made: Made, key: str):
    """Hadoop refuses a job of the old API with the setting's present name."""
    job = made(settings=(f"{key}=my.Part",), reducers="2")
    assert arguments(job)[arguments(job).index("-partitioner") + 1] == "my.Part"
    assert "mapreduce.job.partitioner.class" not in settings(job) and [c for c, _ in made.warnings] == ["HD626"]
    assert made(settings=(f"{key}=my.Part",), partitioner="x.Y").partitioner == "x.Y"


def test_a_program_without_a_kernel_is_submitted_with_a_warning(made: Made):
    made(bundle=made.bundles.get(PLAIN))
    assert [c for c, _ in made.warnings] == ["HD626"] and "stays on the CPU" in made.warnings[0][1]


def test_a_driver_s_folder_of_the_environment_is_told_to_the_tasks(made: Made, monkeypatch: pytest.MonkeyPatch):
    assert "heterodoop.driver.dir" not in settings(made())
    monkeypatch.setenv("HETERODOOP_DRIVER_DIR", "/run/drivers")
    assert settings(made())["heterodoop.driver.dir"] == "/run/drivers"
    assert settings(made(settings=("heterodoop.driver.dir=/x",)))["heterodoop.driver.dir"] == "/x"
    assert "heterodoop.driver.dir" not in settings(made(cpu_only=True))


def test_files_are_shipped_under_their_names(made: Made, tmp_path: Path):
    (tmp_path / "list.txt").write_text("x")
    (tmp_path / "my list").write_text("y")
    job = made(files=(f"{tmp_path}/list.txt", f"{tmp_path}/my list#other"), hadoop_files=("hdfs:///a,hdfs:///b#c",))
    assert [file.name for file in job.files] == ["list.txt", "other", "a", "c"]
    assert Path(job.files[1].address).read_text() == "y" and " " not in job.files[1].address
    assert job.files[0].sha256 == hashlib.sha256(b"x").hexdigest() and not job.files[2].sha256
    assert code(made, files=("/dev/null",)) == "HD033"
    assert code(made, files=(f"{tmp_path}/none",)) == "HD033" and code(made, files=(f"{tmp_path}/my list",)) == "HD624"
    assert code(made, files=(f"{tmp_path}/list.txt",) * 2) == "HD033"
    assert code(made, files=(f"{tmp_path}/list.txt#{job.bundle.name}",)) == "HD033"


def test_paths_say_to_hadoop_what_they_say_to_us():
    def no(name: str) -> bool | None:
        return False

    def yes(name: str) -> bool | None:
        return True

    for name in ("/50%.txt", "/a+b", "/a b", "/a#b", "/year=2015/x", "/Übung", "hdfs://host:8020/x", "/a{b,c}", "x;y"):
        assert hadoop_path(name, no) == name
    assert hadoop_path("/a?b", no) == "/a?b" and hadoop_path("/a?b", yes) == r"/a\?b"
    assert hadoop_path("/[x]{y}\\", yes) == r"/\[x\]\{y\}\\" and hadoop_path("-x", yes) == "./-x"
    for name in ("a:b", "/a,b", "/a\udcff", "/x\0"):
        with pytest.raises(Limitation) as caught:
            hadoop_path(name, no)
        assert caught.value.code == "HD624"
    with pytest.raises(UsageError) as wrong:
        hadoop_path("", no)
    assert wrong.value.code == "HD010"


def test_an_output_is_no_pattern(made: Made):
    spec = JobSpec.of(made.bundle, ("/in",), "/here/a?[b]", SubmitOptions())
    job, _ = build(spec, SubmitOptions(), made.conf, lambda name: True, print)
    assert job.output == "/here/a?[b]"


def test_every_input_is_named_by_itself(made: Made):
    argv = arguments(made(inputs=("/a", "/here?")))
    assert [argv[i + 1] for i, word in enumerate(argv) if word == "-input"] == ["/a", r"/here\?"]


def test_a_folder_that_is_no_bundle_is_refused(made: Made, tmp_path: Path):
    assert code(made, bundle=tmp_path) == "HD312"


def test_without_the_plug_ins_jar_the_message_says_how_to_build_it(made: Made, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HETERODOOP_MR_JAR", "/none.jar")
    with pytest.raises(HeteroDoopError) as caught:
        made()
    assert caught.value.code == "HD650" and "heterodoop.toolchain.plugin" in caught.value.help
    assert made(cpu_only=True).plugin is None
