"""Commands as the programs of a job: with their files, beside programs in C, and like other filters where they fail."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.compiler.app import BuildOptions
from heterodoop.errors import UsageError
from heterodoop.hadoop.job.logs import KNOWN

from ...support import ROOT, cli_here, parts

BOOK = ROOT / "apps" / "wordcount" / "sample.txt"
MAP = """\
import sys
from helper import words
stop = open("stop.txt").read().split()
for line in sys.stdin:
    for word in words(line):
        if word not in stop:
            print(word + "\\t1")
"""
COMBINE = """\
#!/usr/bin/awk -f
BEGIN { FS = "\\t" }
NR > 1 && $1 "" != key { print key "\\t" sum; sum = 0 }
{ key = $1; sum += $2 }
END { if (NR) print key "\\t" sum }
"""
ENVIRON = """\
#!/bin/sh
cat > /dev/null
env | tr = '\\t'
pwd
echo reporter:counter:x,y,3 >&2
"""
ENVIRONMENT = "mapreduce_job_id mapreduce_task_partition mapreduce_map_input_file a_b PYTHONDONTWRITEBYTECODE PATH".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a job that has not moved yet but for its reducer."""
    made = tmp_path_factory.mktemp("commands")
    (made / "app").mkdir()
    for name, text in {"map.py": MAP, "combine.awk": COMBINE, "stop.txt": "the of\n", "app/map.c": "not C",
                       "lib/helper.py": "def words(line):\n    return line.split()\n"}.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text)
    (made / "app" / "reduce.c").write_bytes((ROOT / "apps" / "wordcount" / "reduce.c").read_bytes())
    return made


@pytest.fixture(scope="module")
def bundle(folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = cli_here(
            "compile", "app", "--map-command", "python3 map.py", "--combine-command", "./combine.awk", "--file", "stop.txt",
            "--file", "lib/helper.py", "-o", "job.hdp")
    assert "map     CPU only (it is a command (python3 map.py), and kernels are made of C [HD271])" in done.err.decode()
    assert "carries stop.txt, helper.py, map.py, combine.awk" in done.err.decode()
    return folder / "job.hdp"


def lines(output: Path) -> list[bytes]:
    return sorted(b"".join(parts(output)).splitlines())


def expected(*stop: bytes) -> list[bytes]:
    counts = Counter(word for word in BOOK.read_bytes().split() if word not in stop)
    return sorted(b"%s\t%d" % pair for pair in counts.items())


def test_python_awk_and_c_make_one_job(bundle: Path, tmp_path: Path) -> None:
    (bundle.parent / "map.py").rename(tmp_path / "elsewhere.py")  # the bundle has all that it needs
    try:
        for options in ([], ["--filters", "--split-size", "200k", "--reducers", "2"]):
            out = tmp_path / f"out{len(options)}"
            cli_here("run", bundle, BOOK, "-o", out, *options)
            assert lines(out) == expected(b"the", b"of")
    finally:
        (tmp_path / "elsewhere.py").rename(bundle.parent / "map.py")
    report = json.loads((tmp_path / "out0.report" / "report.json").read_text())
    assert report["counters"]["COMBINE_INPUT_RECORDS"] > report["counters"]["COMBINE_OUTPUT_RECORDS"] > 0
    manifest.load(bundle)
    assert sorted(os.listdir(bundle / "files")) == ["combine.awk", "helper.py", "map.py", "stop.txt"]


def test_a_file_of_the_job_comes_before_the_carried_one(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "stop.txt").write_text("and")
    cli_here("run", bundle, BOOK, "-o", tmp_path / "out", "--file", tmp_path / "stop.txt")
    assert lines(tmp_path / "out") == expected(b"and")


def test_a_bundle_tells_its_commands(bundle: Path) -> None:
    found = manifest.load(bundle)
    assert [(p.role, p.command, p.sources) for p in found.programs] == [
        ("map", ("python3", "map.py"), ()), ("combine", ("./combine.awk",), ()), ("reduce", (), ("src/reduce.c",))]
    assert found.programs[2].host is not None
    text = cli_here("explain", bundle).out.decode()
    assert "map (python3 map.py)\n" in text and "carried: stop.txt, helper.py, map.py, combine.awk\n" in text
    assert json.loads(cli_here("explain", "--json", bundle).out)["programs"]["combine"]["command"] == ["./combine.awk"]


def test_a_changed_file_makes_a_new_bundle(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "map.awk").write_text("{ print }")
    made = []
    for _ in range(2):
        cli_here("compile", "--map-command", "awk -f map.awk", "-o", "x.hdp")
        made.append(os.stat("x.hdp/manifest.json").st_ino)
    (tmp_path / "map.awk").write_text("{ print 1 }")
    with pytest.raises(UsageError, match="is not the file that was built"):
        (tmp_path / "x.hdp" / "files" / "map.awk").write_text("{ print 2 }")
        manifest.load(tmp_path / "x.hdp")
    cli_here("compile", "--map-command", "awk -f map.awk", "-o", "x.hdp")
    assert made[0] == made[1] != os.stat("x.hdp/manifest.json").st_ino
    cli_here("run", "x.hdp", "map.awk", "-o", "out")
    assert parts(tmp_path / "out") == [b"1\t\n"]


def test_a_command_has_the_environment_of_a_filter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_text("one\n")
    (tmp_path / "map.sh").write_text(ENVIRON)
    cli_here("compile", "--map-command", "./map.sh", "-o", "x.hdp")
    report = json.loads(cli_here("run", "x.hdp", "in", "-o", "out", "-D", "a.b=c d", "--json").out)
    found = dict(line.split(b"\t", 1) for line in lines(tmp_path / "out"))
    assert {name.encode() for name in ENVIRONMENT} <= set(found)
    assert found[b"a_b"] == b"c d" and found[b"mapreduce_task_partition"] == b"0"
    assert any(b"/attempts/m_000000_0/work" in key for key in found)
    assert report["user_counters"] == {"x": {"y": 3}}


@pytest.mark.parametrize(("command", "said"), [
    ("sh -c 'echo what it says >&2; exit 3'", [r"exit status 3", r"stderr:\n    what it says", r"which starts sh -c 'echo"]),
    ("sh -c 'kill -9 $$'", [r"signal 9 \(Killed\)"]),
    ("sleep 9", [r"HD430", r"made no progress"]),
])
def test_a_command_fails_as_a_filter_does(
    command: str, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_text("one\n")
    cli_here("compile", "--map-command", command, "-o", "x.hdp")
    limits = ("-D", "mapreduce.task.timeout=300", "--max-attempts", "1")
    text = cli_here("run", "x.hdp", "in", "-o", "out", *limits, status=1).err.decode()
    assert all(re.search(one, text) for one in said), text


REFUSED = [
    ({"map_command": "cat | sort"}, "HD007", "no shell reads"),
    ({"map_command": "cat 'x"}, "HD007", "quotation"),
    ({"map_command": " "}, "HD007", "names no program"),
    ({"map_command": "bin/absent x"}, "HD007", "there is no file bin/absent"),
    ({"map_command": "./plain.py"}, "HD007", "has no line #!"),
    ({"map_command": "cat plain.py sub/plain.py"}, "HD007", "two files would be 'plain.py'"),
    ({"map_command": "cat", "files": ["absent"]}, "HD033", "no such file"),
    ({"map_command": "cat", "files": ["sub"]}, "HD033", "a bundle carries files"),
    ({"map_command": "cat", "reduce_command": "cat", "reduce": "plain.py"}, "HD007", "gives another"),
    ({"map_command": "cat", "source": ["plain.py"]}, "HD007", "gives another"),
    ({"reduce_command": "cat", "source": ["sub"]}, "HD001", "holds no map.c"),
    ({"source": ["plain.py"]}, "HD001", "plain.py is a script, no C"),
]


@pytest.mark.parametrize(("options", "code", "said"), REFUSED)
def test_what_no_command_can_be(
    options: dict[str, object], code: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("plain.py", "sub/plain.py"):
        (tmp_path / name).write_text("print(1)\n")
    with pytest.raises(UsageError, match=said) as caught:
        BuildOptions.make(**{"source": [], **options})  # type: ignore[arg-type]
    assert caught.value.code == code


@pytest.mark.parametrize("command", ["no-such-interpreter script", "./script"])
def test_a_machine_without_the_interpreter(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script").write_text("#!/usr/bin/env -S no-such-interpreter\n")
    done = cli_here("compile", "--map-command", command, "-o", "x.hdp")
    assert "warning[HD008]: the map command needs no-such-interpreter" in done.err.decode()
    said = cli_here("run", "x.hdp", "script", "-o", "out", status=5).err.decode()
    assert "error[HD008]: the map command of x.hdp needs no-such-interpreter, which is not on this machine" in said
    assert not (tmp_path / "out").exists()


def test_a_node_without_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Hadoop shows of the attempt there."""
    monkeypatch.chdir(tmp_path)
    cli_here("compile", "--map-command", "python3 -c 'print(1)'", "-o", "x.hdp")
    done = subprocess.run([tmp_path / "x.hdp/bin/map"], env={"PATH": ""}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (127, "heterodoop: HD008: there is no program python3 on this machine\n")
    assert any(re.search(known.pattern, done.stderr) and known.code == "HD008" for known in KNOWN)
