"""-D settings: honoured, refused, passed on."""

from __future__ import annotations

import pytest

from heterodoop.errors import UsageError
from heterodoop.executor.task.split import SplitSize
from heterodoop.executor.task.streaming_env import OLD_NAMES
from heterodoop.job.jobconf import JobConf, parse, parse_count, parse_size, unescape
from heterodoop.job.setting import Party
from heterodoop.job.settings import MAP_MEMORY, REDUCE_MEMORY, refused_by

REFUSED = refused_by(Party.RUN)


def conf(*definitions: str, **options: tuple[str, str]) -> JobConf:
    return parse(definitions, options)


def test_defaults():
    empty = conf()
    assert empty.sort_bytes == 100 << 20
    assert empty.get("mapreduce.map.maxattempts") == 4
    assert empty.get("mapreduce.job.reduces") is None
    assert empty.get("stream.non.zero.exit.is.failure") is True
    assert empty.get("stream.jobconf.truncate.limit") == 20000
    assert empty.split_size == SplitSize(0), "from the input"
    assert conf("heterodoop.iterate.until=").get("heterodoop.iterate.until") is None, "no criterion"


def test_the_last_definition_wins_and_values_may_hold_anything():
    assert conf("a=1", "a=x=y $(touch PWNED) \n").text["a"] == "x=y $(touch PWNED) \n"


def test_old_names_stand_for_the_new_ones():
    assert conf("mapred.reduce.tasks=3").get("mapreduce.job.reduces") == 3
    assert conf("mapred.output.compression.codec=X").get("mapreduce.output.fileoutputformat.compress.codec") == "X"
    with pytest.raises(UsageError, match="HashPartitioner"):
        conf("mapred.partitioner.class=My")


def test_sizes_of_sort_memory():
    assert conf("mapreduce.task.io.sort.mb=7").sort_bytes == 7 << 20
    assert conf("mapreduce.task.io.sort.mb=7", "heterodoop.sort.bytes=4096").sort_bytes == 4096


def test_split_settings():
    size = conf("mapreduce.input.fileinputformat.split.minsize=5", "mapreduce.job.maps=3").split_size
    assert (size.minimum, size.maps) == (5, 3)


def test_an_option_wins_and_says_so():
    key = "mapreduce.job.reduces"
    both = parse([f"{key}=3"], {key: ("--reducers", "2")})
    assert both.get(key) == 2 and [w.code for w in both.warnings] == ["HD034"]
    assert parse([f"{key}=2"], {key: ("--reducers", "2")}).warnings == ()


def test_limits_of_memory_are_those_of_run():
    given = conf("mapreduce.map.memory.mb=2048", "mapred.job.reduce.memory.mb=0")
    assert (given.memory(MAP_MEMORY), given.memory(REDUCE_MEMORY), conf().memory(MAP_MEMORY)) == (2048 << 20, 0, 0)
    assert given._replace(party=Party.DRIVER).memory(MAP_MEMORY) == 0 and not given.warnings


def test_what_has_no_effect_is_told():
    assert conf().get("mapreduce.task.timeout") == 600_000 and not conf("mapreduce.task.timeout=0").warnings
    assert conf("mapreduce.task.timeout=0").warnings == ()


@pytest.mark.parametrize(("definitions", "of_a_small_input"), [
    ((), 4 << 20), (("split.maxsize=7",), 7), (("split.minsize=9",), 64 << 20), (("split.minsize=100000000",), 100_000_000),
    (("split.minsize=1", "split.maxsize=7"), 7),
])
def test_a_split_size_that_is_given_is_not_looked_for_in_the_input(definitions: tuple[str, ...], of_a_small_input: int):
    settings = [f"mapreduce.input.fileinputformat.{text}" for text in definitions]
    assert conf(*settings).split_size.of(1000) == of_a_small_input


def test_maps_make_splits_of_at_most_64_mib():
    assert conf("mapreduce.job.maps=2").split_size.of(1 << 40) == 64 << 20
    assert conf("mapreduce.job.maps=2").split_size.of(1000) == 500


@pytest.mark.parametrize("definition", ["", "key", "=value", " =x", "a\0=b", "a=b\0"])
def test_a_definition_needs_key_and_value(definition: str):
    with pytest.raises(UsageError) as caught:
        conf(definition)
    assert caught.value.code == "HD030"


@pytest.mark.parametrize("definition", [
    "mapreduce.job.reduces=-1", "mapreduce.job.reduces=1.5", "mapreduce.job.reduces=abc", "mapreduce.job.reduces=",
    "mapreduce.job.reduces=100001", "mapreduce.job.reduces=1_0", "mapreduce.job.reduces=\u0661",
    "mapreduce.map.maxattempts=0", "mapreduce.task.io.sort.mb=2048", "mapreduce.task.io.sort.mb=0",
    "stream.non.zero.exit.is.failure=maybe", "stream.jobconf.truncate.limit=-2", "textinputformat.record.delimiter=",
    "mapreduce.input.fileinputformat.split.maxsize=0", "stream.stderr.reporter.prefix=", "mapreduce.task.timeout=soon",
])
def test_values_that_cannot_be(definition: str):
    with pytest.raises(UsageError) as caught:
        conf(definition)
    assert caught.value.code == "HD030" and definition.partition("=")[0] in caught.value.message


@pytest.mark.parametrize("key", sorted(REFUSED))
def test_what_would_change_the_result_is_refused_with_the_reason(key: str):
    with pytest.raises(UsageError, match="not supported") as caught:
        conf(f"{key}=something-else")
    assert caught.value.code == "HD031" and REFUSED[key].why in caught.value.message
    for value in REFUSED[key].allowed:
        assert conf(f"{key}={value}").text[key] == value


def test_old_names_are_unambiguous():
    assert len(set(OLD_NAMES.values())) == len(OLD_NAMES)


@pytest.mark.parametrize(("text", "nbytes"), [("1", 1), ("4096", 4096), ("64m", 64 << 20), ("2K", 2048), ("1GiB", 1 << 30)])
def test_sizes(text: str, nbytes: int):
    assert parse_size(text, "--split-size") == nbytes


@pytest.mark.parametrize("text", ["0", "", "-1", "1.5m", "m", "1x", "9" * 30, "\u0661"])
def test_sizes_that_cannot_be(text: str):
    with pytest.raises(UsageError, match="--split-size") as caught:
        parse_size(text, "--split-size")
    assert caught.value.code == "HD032"


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "abc", "", "11"])
def test_counts_that_cannot_be(text: str):
    with pytest.raises(UsageError, match="--cpu-slots") as caught:
        parse_count(text, "--cpu-slots", 1, 10)
    assert caught.value.code == "HD032"


@pytest.mark.parametrize(("text", "delimiter"), [
    (r"\n", "\n"), (r"\r\n", "\r\n"), (r"\t\0\\", "\t\0\\"), (r"\x01|", "\x01|"), (r"\xff", "\udcff"), ("END", "END"),
    (r"\\n", r"\n"), ("ä", "ä"),
])
def test_escapes(text: str, delimiter: str):
    assert unescape(text, "--record-delimiter") == delimiter


@pytest.mark.parametrize("text", ["", "\\", r"\q", r"\x1", r"a\xg0"])
def test_escapes_that_cannot_be(text: str):
    with pytest.raises(UsageError, match="--record-delimiter") as caught:
        unescape(text, "--record-delimiter")
    assert caught.value.code == "HD032"
