"""Separators, keys of several fields, partitions by fields and secondary sort, against the model of Hadoop's."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cmp_to_key
from pathlib import Path

import pytest

from heterodoop.executor.native.pair_form import KeyRange, PairForm
from heterodoop.executor.native.runtime import FilterCommand, MapSpec, Native, ReduceSpec, TaskResult, TaskStatus
from heterodoop.executor.task.map_output import read_index
from heterodoop.job.keys import parse_ranges

from ..keys import model

CAT = FilterCommand(["/bin/cat"])
Pair = tuple[bytes, bytes]
# Numbers that a numeric part puts into an order, with each other.
NUMBERS = (
    (b"0", b"7", b"-7", b"12", b"100", b"-0", b"007", b"07", b"-012", b"00", b"12345678901234567890"),
    (b"0", b"7", b"-7", b"12", b"7.", b"7.0", b".5", b"-.5", b"7.25", b"-7.250", b"0.0", b"07.5", b"10.5", b"-0.01"),
)
TEXTS = (b"", b"a", b"b", b"ab", b"a\0", b"\xff", b"\xc3\xa9", b"\xed\xa0", b"\0", b"abc")


class Job:
    """Map tasks of /bin/cat and reduce tasks in one folder."""

    def __init__(self, native: Native, folder: Path, form: PairForm, reducers: int = 1, **options: object) -> None:
        self.native, self.folder, self.form, self.reducers, self.options = native, folder, form, reducers, options
        self.maps = 0

    def map(self, text: bytes) -> TaskResult:
        name = self.folder / f"map{self.maps}"
        self.maps += 1
        name.write_bytes(text)
        out = name.with_suffix(".out")
        spec = MapSpec(CAT, name, out, out.with_suffix(".index"), work_dir=self.folder, log_path=self.folder / "log",
                       reducers=self.reducers, form=self.form, **self.options)  # type: ignore[arg-type]
        return self.native.map_task(spec)

    def reduce(self, number: int, command: FilterCommand | None) -> tuple[TaskResult, bytes]:
        outs = [self.folder / f"map{n}.out" for n in range(self.maps)]
        segments = [read_index(out, out.with_suffix(".index"), self.reducers)[number] for out in outs]
        part = self.folder / "part"
        part.unlink(missing_ok=True)
        spec = ReduceSpec(command, segments, part, work_dir=self.folder, log_path=self.folder / "log", form=self.form)
        result = self.native.reduce_task(spec)
        return result, part.read_bytes() if result.ok else b""

    def parts(self, command: FilterCommand | None) -> list[bytes]:
        ended = [self.reduce(number, command) for number in range(self.reducers)]
        assert all(result.ok for result, _ in ended), [result.message for result, _ in ended]
        return [part for _, part in ended]


def ranges(options: str | None) -> Sequence[KeyRange] | None:
    return None if options is None else parse_ranges(options)


class Case:
    """A random job: what its lines are, and what its settings say."""

    def __init__(self, chance: random.Random) -> None:
        self.numeric = chance.choice([None, *NUMBERS])
        # Of longer ones Hadoop takes the rest for a part of the next field.
        self.separator = chance.choice([b"\t", b","] if self.numeric else [b"\t", b",", b"::", b"--"])
        self.fields = chance.randrange(1, 4)
        self.reducers = chance.choice([1, 2, 5])
        self.partition = chance.choice([None, "", "-k1,1", "-k2,2 -k1.2,1.3", "-k2"])
        flag = chance.choice(["", "r"])
        self.order = chance.choice([None, f"-k1,1 -k2,2{flag}", f"-k2.2{flag},3.1", "-r", f"-k3,3 -k1{flag}", "-k2.3,2"])
        if self.numeric:
            flags = chance.choice(["n", "nr"])
            self.order = chance.choice([f"-k2,2{flags}", f"-k1,1 -k2,2{flags}", f"-k3r -k2,2 -{flags}"])
        self.form = PairForm(
            map_out=self.separator, map_fields=self.fields, reduce_in=b"|", reduce_out=b"|",
            out=chance.choice([b"\t", b"=>"]), key_fields=self.separator, partition=ranges(self.partition),
            order=ranges(self.order),
        )
        self.texts = [[self.line(chance) for _ in range(chance.randrange(1, 60))] for _ in range(3)]

    def line(self, chance: random.Random) -> bytes:
        fields = [chance.choice(TEXTS) for _ in range(chance.randrange(1, 5))]
        if self.numeric and len(fields) > 1:
            fields[1] = chance.choice(self.numeric)
        if self.numeric and self.order and "-k3" in self.order:
            fields = [chance.choice(self.numeric) for _ in fields]
        return self.separator.join(fields)

    def partition_of(self, key: bytes) -> int:
        if self.partition is None:
            return model.hash_partition(key, self.reducers)
        return model.partition(key, self.separator, self.partition, self.reducers)

    def compare(self, one: Pair, other: Pair) -> int:
        a, b = one[0], other[0]
        if self.order is None:
            return (a > b) - (a < b)
        result = model.compare(a, b, self.separator, self.order)
        return result if result == -model.compare(b, a, self.separator, self.order) else 0  # both lack the part

    def parts(self) -> list[bytes]:
        pairs = [model.split(line, self.separator, self.fields) for text in self.texts for line in text]
        found = []
        for number in range(self.reducers):
            mine = sorted((pair for pair in pairs if self.partition_of(pair[0]) == number), key=cmp_to_key(self.compare))
            found.append(b"".join(key + self.form.out + value + b"\n" for key, value in mine))
        return found


@pytest.mark.parametrize("seed", range(16))
def test_a_job_is_one_stable_sort_of_each_partition(native: Native, tmp_path: Path, seed: int) -> None:
    """Whatever is spilled; a combiner and a reduce filter that give back what they read change nothing."""
    case = Case(random.Random(seed))
    spilling = {"sort_bytes": 40_000} if seed % 3 == 0 else {}
    combining = {"combine": CAT} if seed % 2 else {}
    job = Job(native, tmp_path, case.form, case.reducers, **spilling, **combining)
    for text in case.texts:
        result = job.map(b"".join(line + b"\n" for line in text))
        assert result.ok, result.message
    assert job.parts(CAT if seed % 4 < 2 else None) == case.parts()


def test_spills_do_not_change_the_order(native: Native, tmp_path: Path) -> None:
    lines = [b"%d\t%d\t%d\n" % (n % 3, n * 7919 % 100, n) for n in range(20_000)]
    job = Job(native, tmp_path, PairForm(map_fields=2, order=parse_ranges("-k2,2nr")), sort_bytes=64 << 10)
    result = job.map(b"".join(lines))
    assert result.ok and result.counters["SPILLS"] > 5
    assert job.parts(None) == [b"".join(sorted(lines, key=lambda line: -int(line.split(b"\t")[1])))]


def test_text_of_a_job_without_reducers(native: Native, tmp_path: Path) -> None:
    job = Job(native, tmp_path, PairForm(map_out=b", ", map_fields=2, out=b"|"), reducers=0)
    assert job.map(b"a, b, c, d\r\na, b\na\n, , \n").ok
    assert (tmp_path / "map0.out").read_bytes() == b"a, b|c, d\na, b|\na|\n, |\n"


def test_combiner_and_reducer_have_settings_of_their_own(native: Native, tmp_path: Path) -> None:
    """sed's key is two fields behind the combiner, one in the reducer's output; it reads other separators than it writes."""
    form = PairForm(map_fields=2, reduce_in=b"=", reduce_out=b";", reduce_fields=1)
    job = Job(native, tmp_path, form, combine=FilterCommand(["/bin/sed", "s/=/;c/"]))
    assert job.map(b"a\tb\t1\na\ta\t2\n").ok
    assert job.parts(FilterCommand(["/bin/sed", "s/=/;r/"])) == [b"a\ta\trc2\na\tb\trc1\n"]


def test_groups_are_of_equal_keys(native: Native, tmp_path: Path) -> None:
    """As in Hadoop, whose comparator groups objects, which are Texts, by their bytes."""
    job = Job(native, tmp_path, PairForm(map_fields=2, order=parse_ranges("-k1,1")))
    assert job.map(b"a\t1\tx\na\t2\tx\na\t2\tx\nb\t1\tx\na\t1\tx\n").ok
    for command in (None, CAT):
        result, part = job.reduce(0, command)
        assert result.counters["REDUCE_INPUT_GROUPS"] == 4 and part.startswith(b"a\t1\tx\na\t2\tx\na\t2\tx\na\t1\tx\nb")


def test_a_combiner_keeps_the_order_of_the_comparator(native: Native, tmp_path: Path) -> None:
    job = Job(native, tmp_path, PairForm(order=parse_ranges("-nr")), combine=FilterCommand(["/usr/bin/sort", "-n"]))
    result = job.map(b"7\n12\n")
    assert result.status is TaskStatus.COMBINER_DISORDER and '"12" is out of order' in result.message
    assert 'the key before it was "7"' in result.message


@pytest.mark.parametrize("form", [PairForm(map_fields=2), PairForm(map_fields=2, partition=parse_ranges("-k2,2"))])
def test_what_a_combiner_prints_stays_in_its_partition(native: Native, tmp_path: Path, form: PairForm) -> None:
    """As in Hadoop: with a shorter key than the map's, where a job has set the map's number of fields alone."""
    job = Job(native, tmp_path, form, 2, combine=CAT)
    assert job.map(b"k\ta\t1\nk\tb\t2\nk\tc\t3\n").ok
    parts = job.parts(None)
    assert all(parts) and sorted(b"".join(parts).splitlines()) == [b"k\ta\t1", b"k\tb\t2", b"k\tc\t3"]


@pytest.mark.parametrize(("options", "text", "said"), [
    ("-k2,2n", b"a\tx\n", '"a\\x09x": by -k2,2n it has no number'),
    ("-k2,2nr", b"a\t\tb\n", '"a\\x09\\x09b": by -k2,2nr it has no number'),
    ("-n", b"1e5\n", '"1e5": by -k1n it has no number'),
    ("-n", b"7\n7.5\n07\n", '"07": by -k1n it is a number of another form than others'),
    ("-k1n", b"7\tx\n8\n", '"8": by -k1n it is a number of another form'),
    ("-k1.2,1.3n", b"a-\n", "by -k1.2,1.3n it has no number"),
])
def test_keys_that_have_no_order_in_hadoop_fail_the_task(
    native: Native, tmp_path: Path, options: str, text: bytes, said: str,
) -> None:
    result = Job(native, tmp_path, PairForm(map_fields=3, order=parse_ranges(options))).map(text)
    assert result.status is TaskStatus.KEY_ORDER and said in result.message


def test_keys_of_several_tasks_have_to_be_of_one_form_too(native: Native, tmp_path: Path) -> None:
    job = Job(native, tmp_path, PairForm(order=parse_ranges("-n")))
    assert job.map(b"07\n").ok and job.map(b"7.5\n").ok
    for command in (None, CAT):
        result, _ = job.reduce(0, command)
        assert result.status is TaskStatus.KEY_ORDER and "another form" in result.message


def test_a_part_of_a_key_alone_may_be_cut_off(native: Native, tmp_path: Path) -> None:
    job = Job(native, tmp_path, PairForm(map_fields=2, order=parse_ranges("-k1n")))
    assert job.map(b"12\tb\n07\tz\n7\ta\n-3\tc\n").ok
    assert job.parts(None) == [b"-3\tc\t\n07\tz\t\n7\ta\t\n12\tb\t\n"]


def test_where_numbers_have_an_order_it_is_hadoop_s(native: Native, tmp_path: Path) -> None:
    """Every two of them: the sorted keys say how each compares with the next, and the model that it is an order."""
    for number, texts in enumerate(NUMBERS):
        folder = tmp_path / str(number)
        folder.mkdir()
        job = Job(native, folder, PairForm(order=parse_ranges("-n")))
        assert job.map(b"".join(text + b"\n" for text in texts)).ok
        found = [line.rstrip(b"\t") for line in job.parts(None)[0].splitlines()]
        assert_sorted(found)


def assert_sorted(keys: Sequence[bytes]) -> None:
    for n, key in enumerate(keys):
        assert all(model.compare(key, later, b"\t", "-n") <= 0 for later in keys[n + 1:]), key


def test_a_separator_is_not_empty() -> None:
    with pytest.raises(ValueError, match="empty"):
        Native.load().map_task(MapSpec(CAT, "", "", form=PairForm(out=b"")))
    assert PairForm(order=(KeyRange(),)) == PairForm(order=parse_ranges("-k1"))
