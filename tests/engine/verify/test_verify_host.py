"""`heterodoop verify --host`: the host kernel against filters, task by task."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import Verification, verify

from ...host_programs import HOST, SUM, WORDS, with_host_kernel
from ...support import cli_here

TEXT = b"the quick fox\nthe lazy dog jumps\n" * 10
# As HOST, but counts a line's last word twice where it holds "lazy".
WRONG = HOST.replace("for (char *word", 'if (strstr(line, "lazy")) add("jumps");\n    for (char *word')
Check = Callable[..., Verification]


@pytest.fixture
def host_app(bundle, filters) -> Callable[[str], Path]:
    return lambda program: with_host_kernel(bundle(WORDS, SUM, SUM, fold=True), filters(program))


@pytest.fixture
def check(tmp_path: Path) -> Check:
    def run(bundle: Path, data: bytes = TEXT, **options: object) -> Verification:
        (tmp_path / "in.txt").write_bytes(data)
        return verify(bundle, [str(tmp_path / "in.txt")], RunOptions(**options), host=True)  # type: ignore[arg-type]

    return run


@pytest.mark.parametrize("options", [{}, {"split_size": 60, "reducers": 3}])
def test_equal_outputs(host_app, check: Check, options: dict[str, object]) -> None:
    found = check(host_app(HOST), **options)
    assert found.count("equal") == len(found.verdicts) and found.device == "host kernel"
    assert (sum(v.records for v in found.verdicts), sum(v.pairs for v in found.verdicts)) == (20, 70)


def test_a_combiner_runs_without_a_reducer_too(bundle, filters, check: Check) -> None:
    made = with_host_kernel(bundle(WORDS, SUM, fold=True), filters(HOST))
    assert [(v.outcome, v.pairs) for v in check(made).verdicts] == [("equal", 70)]
    assert [(v.outcome, v.pairs) for v in check(made, settings=["mapreduce.job.reduces=0"]).verdicts] == [("equal", 70)]


def test_a_wrong_host_kernel_is_found_with_its_record(host_app, check: Check) -> None:
    (verdict,) = check(host_app(WRONG)).verdicts
    difference = verdict.difference
    assert verdict.outcome == "different" and difference is not None
    assert (difference.where, difference.key) == ("partition 0, pair 3", "jumps")
    assert (difference.cpu, difference.device) == ("jumps\t10", "jumps\t20")
    assert (difference.record, difference.record_text) == (2, "the lazy dog jumps")
    assert difference.note == "it gives 'jumps\\t1' by filters and 'jumps\\t2' as host kernel"


def test_a_counter_that_differs(host_app, check: Check) -> None:
    (verdict,) = check(host_app(HOST.replace("++pairs;", "pairs += 2;"))).verdicts
    assert verdict.difference is not None and verdict.difference.where == "counter MAP_OUTPUT_RECORDS"
    assert verdict.difference.note == "both sides have the same pairs"


def test_user_counters_that_differ(host_app, check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODE", "errors")
    (verdict,) = check(host_app(HOST)).verdicts
    assert verdict.difference is not None and verdict.difference.where == "counter group,lines"


def test_a_task_that_is_left_to_filters_is_no_difference(host_app, check: Check) -> None:
    found = check(host_app(HOST), TEXT + b"poison\n", split_size=165)
    assert [verdict.outcome for verdict in found.verdicts] == ["equal", "cpu-only"]
    assert "reads or writes behind the end of a line" in found.verdicts[1].reason


def test_the_record_stays_unknown_where_beginnings_are_left_to_filters(host_app, check: Check) -> None:
    program = WRONG.replace('  if (is("twice"))', '  if (pairs < 40) exit(3);\n  if (is("twice"))')
    (verdict,) = check(host_app(program)).verdicts
    assert verdict.outcome == "different" and verdict.difference is not None
    assert (verdict.difference.key, verdict.difference.record) == ("jumps", None)


def test_one_that_prints_the_map_s_pairs(bundle, filters, check: Check) -> None:
    for program, outcome in ((HOST, "equal"), (WRONG, "different")):
        made = with_host_kernel(bundle(WORDS, "", SUM), filters(program), folds=False)
        for reducers in (0, 2):
            (verdict,) = check(made, reducers=reducers).verdicts
            assert (verdict.outcome, verdict.pairs) == (outcome, 70)
            assert verdict.difference is None or verdict.difference.record_text == "the lazy dog jumps"


def test_a_job_without_a_host_kernel(bundle, check: Check) -> None:
    (verdict,) = check(bundle(WORDS, SUM, SUM), reducers=1).verdicts
    assert (verdict.outcome, verdict.reason) == ("cpu-only", "the bundle holds no host kernel")


def test_the_reason_of_the_compiler_is_told(bundle, check: Check) -> None:
    made = bundle(WORDS, SUM, SUM)
    data = json.loads((made / "manifest.json").read_text())
    data["programs"][0]["no_host"] = [{
        "code": "HD250", "message": "it is odd", "text": "", "fix": None,
        "span": {"file": "map.c", "line": 3, "col": 1, "end": 2}}]
    (made / "manifest.json").write_text(json.dumps(data))
    assert check(made).verdicts[0].reason == "it is odd (map.c:3:1) [HD250]"


def test_the_command_line(host_app, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(TEXT)
    done = cli_here("verify", host_app(HOST), tmp_path / "in.txt", "--host")
    assert done.out.decode() == (
        f"task 0: {tmp_path / 'in.txt'}, bytes 0 to {len(TEXT)}: 20 records, 70 pairs: equal\n"
        "map tasks: 1 equal, 0 by filters only, 0 different\n")
    done = cli_here("verify", host_app(WRONG), tmp_path / "in.txt", "--host", status=1)
    assert "error[HD433]: 1 of 1 map tasks have another result as the host kernel" in done.message
    assert done.out.decode().splitlines()[1:] == [
        "  where:   partition 0, pair 3, key 'jumps'", "  filters: 'jumps\\t10'", "  host:    'jumps\\t20'",
        "  record:  2 of the split: 'the lazy dog jumps'",
        "  note:    it gives 'jumps\\t1' by filters and 'jumps\\t2' as host kernel",
        "map tasks: 0 equal, 0 by filters only, 1 different"]
    done = cli_here("verify", host_app(HOST), tmp_path / "in.txt", "--host", "--device", "emulated", status=2)
    assert "error[HD032]" in done.message and "--host" in done.message
    done = cli_here("verify", host_app(HOST), tmp_path / "in.txt", "--host", "-r0")
    assert "20 records, 70 pairs: equal" in done.out.decode()
    found = json.loads(cli_here("verify", host_app(HOST), tmp_path / "in.txt", "--host", "--json").out)
    assert (found["device"], found["equal"]) == ("host kernel", 1)
