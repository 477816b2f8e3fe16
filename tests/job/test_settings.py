"""The table of settings holds together, and what reads a setting by its name reads one of the table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from heterodoop.cli.driver import start
from heterodoop.driver.job.codec import CODECS
from heterodoop.executor.task.streaming_env import OLD_NAMES, task_timeout
from heterodoop.hadoop.submit.streaming import PLUGIN_SETTINGS
from heterodoop.job import settings
from heterodoop.job.jobconf import JobConf, parse
from heterodoop.job.setting import Party, Setting
from heterodoop.job.settings import SETTINGS, TOLD, heeded_by, misspelt, refused_by
from heterodoop.storage import hadoop_conf

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "runtime/hadoop/src/main/java/org/heterodoop/mr"
NAME = re.compile(r"(heterodoop|mapreduce|mapred|stream|textinputformat|io|map\.sort|map\.input)(\.[A-Za-z0-9_-]+)+")
LITERAL = re.compile(rf"""(["'])(?P<name>{NAME.pattern})\1""")
# What a cluster is made of or says of itself is none of a job's settings.
CLUSTERS = ("mapreduce.jobhistory.", "mapreduce.framework.", "mapreduce.job.counters.max")
NO_SETTINGS = {
    "heterodoop/hadoop/embedded": "the files of a cluster of its own",
    "heterodoop/hdcodes": "prose",
}
ROWS = (*SETTINGS.values(), *TOLD)


def literals(path: Path) -> Iterator[str]:
    """String literals that are a setting's name and nothing else; those of our modules are none."""
    for found in LITERAL.finditer(path.read_text(encoding="utf-8")):
        name = found["name"]
        if not (ROOT / name.replace(".", "/")).with_suffix(".py").exists():
            yield name


def test_no_setting_is_read_that_is_not_in_the_table() -> None:
    known = {row.key for row in ROWS} | OLD_NAMES.keys() | set(OLD_NAMES.values()) | hadoop_conf.DEFAULTS.keys()
    loggers = {"heterodoop.driver"}
    read = [
        (str(path.relative_to(ROOT)), name)
        for path in sorted((ROOT / "heterodoop").rglob("*.py"))
        if not any(str(path.relative_to(ROOT)).startswith(folder) for folder in NO_SETTINGS)
        for name in literals(path)
    ]
    assert len(read) > 100 and ("heterodoop/storage/inputs.py", "heterodoop.input.as.text") in read, "it sees nothing"
    wrong = [f"{where}: {name}" for where, name in read if name not in known | loggers and not name.startswith(CLUSTERS)]
    assert not wrong, "put these into heterodoop/job/settings.py:\n" + "\n".join(wrong)


def test_the_plug_in_has_names_of_settings_from_the_table_alone() -> None:
    text = {path.name: path.read_text(encoding="utf-8") for path in PLUGIN.glob("*.java")}
    names = {(name, found[0]) for name, java in text.items() for found in re.finditer(r'(?<=")[a-z]+(\.[\w-]+)+(?=")', java)}
    wrong = {(name, key) for name, key in names if name != "Settings.java" and NAME.fullmatch(key)}
    assert not wrong and ("Settings.java", settings.BUNDLE) in names


def test_what_the_plug_in_refuses_stands_in_its_decisions() -> None:
    code = (PLUGIN / "Decline.java").read_text(encoding="utf-8")
    # The others it asks Hadoop for, or streaming has made classes of them.
    asked = {"mapreduce.map.skip.maxrecords": "getMapperMaxSkipRecords", "stream.map.input": "MAP_INPUT_WRITER",
             "stream.io.identifier.resolver.class": "MAP_INPUT_WRITER"}
    for key in refused_by(Party.PLUGIN):
        assert asked.get(key) or SETTINGS[key].java, key
        assert re.search(rf"\b{asked.get(key) or f'Settings.{SETTINGS[key].java}'}", code), key


def test_every_constant_of_the_plug_in_is_used() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in PLUGIN.glob("*.java"))
    named = [row for row in ROWS if row.java and not row.told]
    unused = [row.key for row in named if not re.search(rf"Settings\.{row.java}(_TAKEN)?\b", code)]
    assert len(named) > 30 and not unused
    assert len({row.java for row in ROWS if row.java}) == sum(bool(row.java) for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_row_holds_together(row: Setting) -> None:
    assert row.doc.endswith(".") and (row.doc[0].isupper() or row.doc[0] == "`") and "|" not in row.doc
    for default in {row.default, *(other.default for other in row.others.values())} - {""}:
        row.kind.parse(default)
    for party in (Party.RUN, Party.DRIVER):
        if party in row.refused:
            assert party not in row.heeds, "it does the one or the other"
    if row.heeds == Party(0):
        assert row.refused or row in TOLD, "nobody heeds it and nobody says so"
    for refusal in row.refused.values():
        assert refusal.why
    assert row.key == row.key.strip() and row.key not in OLD_NAMES.values()
    assert not row.told or (row.java and not row.key.startswith(settings.PREFIX)), "all of ours is told"
    assert not row.java or Party.PLUGIN in row.heeds or Party.PLUGIN in row.refused or row.told


def test_rows_are_no_twins() -> None:
    assert len({row.key for row in ROWS}) == len(ROWS) == len(SETTINGS) + len(TOLD)


def test_what_submit_sets_is_what_the_table_keeps_from_users() -> None:
    own = refused_by(Party.SUBMIT)
    assert {key for key, refusal in own.items() if refusal.when} == PLUGIN_SETTINGS.keys()


def test_a_default_may_differ_where_the_table_says_so() -> None:
    def value(party: Party, key: str) -> object:
        return JobConf({}, party=party).get(key)

    assert [value(party, settings.SESSIONS) for party in (Party.RUN, Party.DRIVER)] == [4, 2]
    assert [value(party, settings.TRUNCATE) for party in (Party.RUN, Party.SUBMIT, Party.PLUGIN)] == [20000, 20000, -1]
    assert task_timeout(()) == JobConf({}).get("mapreduce.task.timeout") / 1000
    (option,) = [option for option in start.params if option.name == "sessions"]
    assert option.default == SETTINGS[settings.SESSIONS].default_for(Party.DRIVER)


def test_the_driver_is_told_what_it_heeds() -> None:
    """Or hears it otherwise: as a field of the offer, or from the task's environment."""
    otherwise = {
        settings.REDUCES, settings.RECORD_DELIMITER, "mapreduce.map.output.compress.codec", "mapreduce.task.timeout",
    }
    concerned = heeded_by(Party.DRIVER).keys() | refused_by(Party.DRIVER).keys()
    told = {row.key for row in ROWS if row.told}
    assert {key for key in concerned if not key.startswith(settings.PREFIX)} == told | otherwise


def test_the_driver_has_the_codecs_that_the_plug_in_takes() -> None:
    assert set(refused_by(Party.PLUGIN)["mapreduce.map.output.compress.codec"].allowed) <= set(CODECS)


def test_a_misspelt_name_of_ours() -> None:
    (found,) = parse(["heterodoop.gpu.sesions=2", "my.own=1", "heterodoop.verify=true"], {}).warnings
    assert found.code == "HD627" and found.message.endswith("did you mean heterodoop.gpu.sessions?")
    (other,) = misspelt(["heterodoop.x"], ["mapreduce.x"])
    assert other.message == "-D heterodoop.x: HeteroDoop has no such setting"
    assert not misspelt([settings.ROUND, settings.POLICY, "mapreduce.job.nam"], SETTINGS)


@pytest.mark.parametrize(("key", "value", "what"), [
    ("heterodoop.driver.silence.ms", "1.5", "whole number"),
    ("heterodoop.verify", "yes", "true or false"), ("heterodoop.emulated.order", "up", "forward, reverse or random"),
])
def test_values_that_cannot_be(key: str, value: str, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        JobConf({key: value}).get(key)
