"""What settings say of keys: `-k` options, and what is refused or has no effect."""

from __future__ import annotations

import pytest

from heterodoop.errors import UsageError
from heterodoop.executor.native.pair_form import KeyRange, PairForm
from heterodoop.job import keys
from heterodoop.job.jobconf import JobConf, parse
from heterodoop.job.settings import FIELD_COMPARATORS, FIELD_PARTITIONER, HASH_PARTITIONER

PARTITIONER = f"mapred.partitioner.class={FIELD_PARTITIONER}"
COMPARATOR = f"mapred.output.key.comparator.class={FIELD_COMPARATORS[0]}"


def conf(*definitions: str) -> JobConf:
    return parse(definitions, {})


@pytest.mark.parametrize(("text", "ranges"), [
    ("", ()), ("-nr", (KeyRange(numeric=True, reverse=True),)),
    ("-k1,1 -k2.3,4.5nr", (KeyRange(1, 1, 1), KeyRange(2, 3, 4, 5, True, True))),
    ("-k 2n -r -k3", (KeyRange(2, numeric=True), KeyRange(3, reverse=True))),
    ("-k1n,2r", (KeyRange(1, 1, 2, 0, True, True),)),
    ("-k1.2,1.2", (KeyRange(1, 2, 1, 2),)), ("-k2.3,2.0", (KeyRange(2, 3, 2),)),
])
def test_options_of_keys(text: str, ranges: tuple[KeyRange, ...]) -> None:
    assert keys.parse_ranges(text) == ranges


@pytest.mark.parametrize("text", [
    "-k", "-kx", "-k1,", "-k1.", "-k1,2,3", "-k0", "-k1.0", "-k1,0", "-k2,1", "-k1.3,1.2", "-rn", "-u", "1,2", "-k1,1 x",
    "-k1234567890", "-k1,1f",
])
def test_options_that_hadoop_refuses_or_passes_over(text: str) -> None:
    for class_, kind in ((COMPARATOR, "comparator"), (PARTITIONER, "partitioner")):
        with pytest.raises(UsageError, match=f"-D mapreduce.partition.key{kind}.options") as caught:
            keys.pair_form(conf(class_, f"mapred.text.key.{kind}.options={text}"))
        assert caught.value.code == "HD030"


def test_a_job_that_says_what_is_done_anyway_says_nothing() -> None:
    plain = conf("stream.num.map.output.key.fields=1", "stream.map.output.field.separator=\t",
                 "map.output.key.field.separator=,", "stream.map.input.field.separator=,",
                 f"mapred.partitioner.class={HASH_PARTITIONER}")
    assert keys.pair_form(plain) is None and not keys.asked(plain) and not keys.warnings(plain)


def test_what_a_job_says() -> None:
    said = conf("stream.num.map.output.key.fields=2", "stream.reduce.input.field.separator=ä",
                "mapred.textoutputformat.separator==")
    assert keys.pair_form(said) == PairForm(map_fields=2, reduce_in="ä".encode(), out=b"=")
    assert keys.asked(said)[0] == "-D stream.num.map.output.key.fields=2" and len(keys.asked(said)) == 3
    by_fields = conf(PARTITIONER, COMPARATOR, "map.output.key.field.separator=.", "num.key.fields.for.partition=2",
                     "mapred.text.key.partitioner.options=-k5")
    assert keys.pair_form(by_fields) == PairForm(key_fields=b".", partition=(KeyRange(1, 1, 2),))
    assert keys.asked(by_fields) == [f"-D mapreduce.job.partitioner.class={FIELD_PARTITIONER}",
                                     f"-D mapreduce.job.output.key.comparator.class={FIELD_COMPARATORS[0]}"]


@pytest.mark.parametrize("definition", [
    "stream.map.output.field.separator=", "map.output.key.field.separator=", "stream.num.map.output.key.fields=0",
    "num.key.fields.for.partition=-1",
])
def test_values_that_cannot_be(definition: str) -> None:
    with pytest.raises(UsageError) as caught:
        conf(definition)
    assert caught.value.code == "HD030"


def test_options_of_a_class_that_is_not_used_are_warned_of() -> None:
    options = ("mapred.text.key.comparator.options=-rn", "num.key.fields.for.partition=1")
    warned = keys.warnings(conf(*options))
    assert [w.code for w in warned] == ["HD035"] * 2 and "KeyFieldBasedPartitioner" in warned[0].message
    assert not keys.warnings(conf(*options, PARTITIONER, COMPARATOR))
