"""An attempt of several splits: its records are those of its parts, whatever the files hold, and so is its map output."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodoop.driver.job.fetch import OwnFiles, SplitRequest, TaskReader
from heterodoop.driver.job.group import fetched_group
from heterodoop.executor.native.runtime import Native
from heterodoop.storage.hadoop_conf import HadoopConf, hadoop_user

from ..client import Attempt
from ..conftest import SAMPLE, OnCpu
from ..running import Driver
from .test_tasks import mapped

MARK = b"\xef\xbb\xbf"


@settings(max_examples=100)
@given(data=st.data())
def test_records_are_those_of_the_parts(tmp_path: Path, data: st.DataObject) -> None:
    """Files are cut anywhere, also within \\r\\n, and read by Hadoop's rule; marks begin files, and are data elsewhere."""
    pieces = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b"\0", MARK]), max_size=12)
    native, parts = Native.load(), []
    text, count = b"", 0
    for number in range(data.draw(st.integers(2, 4))):
        content = b"".join(data.draw(pieces))
        path = tmp_path / str(number)
        path.write_bytes(content)
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, len(content)))
        parts.append(SplitRequest(f"file:{path}", start, end - start, b"", hadoop_user()))
        own, some = native.read_records(path, start, end - start, b"")
        text, count = text + own, count + some

    def nobody(offset: int, size: int, part: int) -> bytes:
        raise AssertionError("the task need not read")

    with fetched_group(parts, OwnFiles(HadoopConf(None, {}, {})), TaskReader(nobody).of, lambda: None) as found:
        assert native.read_records(found.path, 0, found.size, b"") == (text, count)


def test_a_map_output_is_that_of_all_parts(driver: Driver, attempt: Attempt, tmp_path: Path, on_cpu: OnCpu) -> None:
    """Of files that the driver reads, and of others, which the task does."""
    cut = len(SAMPLE) // 3
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(SAMPLE)
    second.write_bytes(MARK + b"the last without an end")
    whole = tmp_path / "whole"
    whole.write_bytes(SAMPLE + b"\nthe last without an end\n")
    split = [(cut, len(SAMPLE) - cut), (0, 26), (0, cut)]
    names = [first, second, first]
    both = replace(attempt, length=sum(length for _, length in split), combine=False)
    own = replace(both, parts=[(f"file:{name}", *part) for name, part in zip(names, split, strict=True)])
    sent = replace(both, task=1, parts=[(f"s3a://b/{name.name}", *part) for name, part in zip(names, split, strict=True)],
                   contents=[name.read_bytes() for name in names])
    outcomes = [mapped(driver, each) for each in (own, sent)]
    _, index, data = on_cpu(replace(both, length=len(whole.read_bytes())), whole)
    for outcome, read in zip(outcomes, ("driver", "task"), strict=True):
        assert outcome.kind == "result" and outcome.text("read") == read, outcome.fields
        assert (outcome.index, outcome.data) == (index, data)


@pytest.mark.parametrize(("parts", "more", "why"), [
    ([("file:/a.gz", 0, 1), ("file:/b", 0, 1)], {}, "compressed"), ([("file:/a", 0, 1)], {}, "lengths of the parts"),
    ([("file:/a", 0, 1), ("file:/b", 0, 1)], {"delimiter": "|"}, "delimiter"),
])
def test_what_a_driver_does_not_group(
    driver: Driver, attempt: Attempt, parts: list[tuple[str, int, int]], more: dict[str, str], why: str,
) -> None:
    with driver.client() as client:
        answer = client.offer(replace(attempt, length=2, parts=parts, change=more))
    assert (answer["run"], answer["code"]) == ("cpu", "HD615") and why in answer["reason"]
