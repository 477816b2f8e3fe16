"""Jobs with keys of several fields, and with a partitioner and a comparator of fields: what `run` says and leaves out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heterodoop.errors import JobFailed
from heterodoop.job.settings import FIELD_COMPARATORS, FIELD_PARTITIONER

from ..conftest import CAT, Run, parts

SECONDARY = (
    "stream.num.map.output.key.fields=2", f"mapred.partitioner.class={FIELD_PARTITIONER}",
    "mapred.text.key.partitioner.options=-k1,1", f"mapred.output.key.comparator.class={FIELD_COMPARATORS[1]}",
    "mapred.text.key.comparator.options=-k1,1 -k2,2nr",
)
TEXT = b"b\t9\tv\na\t2\tx\nb\t10\ty\na\t1\tz\na\t10\tw\n"



def test_secondary_sort(bundle, run, tmp_path: Path):
    """Whatever the splits, on no device and with no host kernel."""
    (tmp_path / "in").write_bytes(TEXT)
    app = bundle(CAT, reduce=CAT)
    for split_size in (4, 1000):
        result = run(app, tmp_path / "in", out=f"out{split_size}", reducers=2, settings=SECONDARY, split_size=split_size)
        assert parts(result.output) == [b"b\t10\ty\nb\t9\tv\n", b"a\t10\tw\na\t2\tx\na\t1\tz\n"]
    (told,) = result.warnings
    assert told.code == "HD435" and f"-D {SECONDARY[0]}, -D mapreduce.job.partitioner.class=" in told.message


@pytest.mark.parametrize(("setting", "device"), [
    ("mapred.textoutputformat.separator=, ", "emulated"), ("num.key.fields.for.partition=1", "cpu"),
])
def test_filters_do_the_tasks_that_settings_of_keys_concern(
    device_job: Run, expected: list[bytes], setting: str, device: str,
):
    """Part files' separators are the reducers' alone, and the partitioner is of the maps, too."""
    more = (SECONDARY[1],) if device == "cpu" else ()
    result = device_job(setting, *more, out="other")
    (told,) = result.warnings
    assert told.code == "HD435" and ("all tasks" if device == "cpu" else "all reduce tasks") in told.message
    lines = [line for part in parts(result.output) for line in part.replace(b", ", b"\t").splitlines()]
    assert sorted(lines) == sorted(line for part in expected for line in part.splitlines())
    report = result.report
    assert report["device"]["map_tasks"].keys() == {device} and report["reduce"]["host_kernel"] is False
    assert device == "emulated" or report["map"]["host_kernel"] is False


def test_keys_without_an_order_end_the_job_at_once(bundle, run, tmp_path: Path):
    (tmp_path / "in").write_bytes(b"7\nseven\n")
    settings = (SECONDARY[3], "mapred.text.key.comparator.options=-n", "num.key.fields.for.partition=1")
    with pytest.raises(JobFailed, match='the key "seven": by -k1n') as caught:
        run(bundle(CAT, reduce=CAT), tmp_path / "in", settings=settings)
    assert caught.value.code == "HD436" and not (tmp_path / "out").exists()
    report = json.loads((tmp_path / "out.report/report.json").read_text())
    assert report["tasks"]["map"]["attempts"] == 1
    assert [w["code"] for w in report["warnings"]] == ["HD035", "HD435"]
