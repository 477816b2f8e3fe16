"""Building the Hadoop plug-in: what is said where Java or Maven is missing, and that a failed build leaves the old jar.

Maven itself is replaced by a script here: the real build, with its JUnit tests, is `make test`'s own step.
"""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

import pytest

from heterodoop.errors import ToolError
from heterodoop.hadoop.job import plugin_counters
from heterodoop.toolchain import plugin

MAVEN = """#!/bin/sh
for word in "$@"; do case $word in -Dbuild.dir=*) out=${word#-Dbuild.dir=};; esac; done
echo "$@" > "$RECORD"
%s
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with a javac and a mvn that makes a jar; JAVA_HOME is unset."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, body in (("javac", "#!/bin/sh\n"), ("mvn", MAVEN % 'echo made > "$out/heterodoop-mr.jar"')):
        (folder / name).write_text(body)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.defpath}")
    monkeypatch.setenv("RECORD", str(tmp_path / "argv"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return folder


def failure(target: Path) -> ToolError:
    with pytest.raises(ToolError) as caught:
        plugin.build(target)
    return caught.value


def test_a_jar_is_made_without_tests_unless_they_are_asked_for(tools: Path, tmp_path: Path) -> None:
    target = tmp_path / "new" / "x.jar"
    assert plugin.build(target) == target and target.read_text() == "made\n"
    assert os.listdir(target.parent) == ["x.jar"]
    assert "-Dmaven.test.skip=true" in (tmp_path / "argv").read_text().split()
    plugin.build(target, test=True, hadoop_version="3.4.2")
    words = (tmp_path / "argv").read_text().split()
    assert "-Dmaven.test.skip=true" not in words and "-Dhadoop.version=3.4.2" in words


def test_no_java_compiler_is_one_message_with_the_package(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jre"))
    error = failure(tmp_path / "x.jar")
    assert error.code == "HD651" and str(tmp_path) in error.message and "openjdk-17-jdk-headless" in error.help
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert failure(tmp_path / "x.jar").code == "HD651"


def test_no_maven_is_one_message_with_the_package(tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tools / "mvn").unlink()
    monkeypatch.setenv("PATH", str(tools))
    error = failure(tmp_path / "x.jar")
    assert error.code == "HD652" and "apt install maven" in error.help


def test_a_failed_build_keeps_the_old_jar_and_shows_maven_s_words(tools: Path, tmp_path: Path) -> None:
    target = tmp_path / "x.jar"
    target.write_text("old")
    (tools / "mvn").write_text(MAVEN % 'echo "[ERROR] no such repository"; exit 1')
    error = failure(target)
    assert error.code == "HD653" and "[ERROR] no such repository" in error.message
    assert target.read_text() == "old" and not list(tmp_path.glob(".x.jar*"))


def test_the_jar_is_found_or_its_build_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETERODOOP_MR_JAR", str(tmp_path / "x.jar"))
    with pytest.raises(ToolError, match="is not built") as caught:
        plugin.find_jar()
    assert caught.value.code == "HD650" and plugin.BUILD_HADOOP in caught.value.help
    (tmp_path / "x.jar").write_text("jar")
    assert plugin.find_jar() == tmp_path / "x.jar"
    monkeypatch.delenv("HETERODOOP_MR_JAR")
    monkeypatch.setattr(plugin, "JAR", tmp_path / "x.jar")
    assert plugin.find_jar() == tmp_path / "x.jar"


def test_the_first_job_builds_the_jar(tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HETERODOOP_MR_JAR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(plugin, "JAR", tmp_path / "none" / "heterodoop-mr.jar")
    (tools / "mvn").write_text(MAVEN % f"cp {made(tmp_path)} $out/heterodoop-mr.jar")
    said: list[str] = []
    assert plugin.existing() is None
    jar = plugin.provide(said.append)
    assert zipfile.is_zipfile(jar) and jar.is_relative_to(tmp_path / "cache") and len(said) == 1 and "Maven" in said[0]
    (tools / "mvn").unlink()
    assert plugin.provide(said.append) == plugin.existing() == jar and len(said) == 1
    jar.write_bytes(jar.read_bytes() + b"x")  # still an archive
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(ToolError) as caught:
        plugin.provide(said.append)
    assert caught.value.code == "HD650" and "apt install maven" in caught.value.help and len(said) == 1


def made(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "made.jar", "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
    return folder / "made.jar"


def test_the_command_reports_a_failure_as_every_command_does(
    tools: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    (tools / "javac").unlink()
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setattr("sys.argv", ["plugin"])
    with pytest.raises(SystemExit) as caught:
        plugin.main()
    assert caught.value.code == 5 and "error[HD651]" in capsys.readouterr().err


def test_the_page_lists_every_setting_and_counter() -> None:
    root = Path(__file__).resolve().parents[2]
    page = (root / "docs" / "hadoop-plugin.md").read_text(encoding="utf-8")
    sources = root / "runtime" / "hadoop" / "src" / "main" / "java" / "org" / "heterodoop" / "mr"
    declines = (sources / "Decline.java").read_text() + (sources / "MapAttempt.java").read_text()
    reasons = {f"DECLINED_{name}" for name in re.findall(r'new Decline\("([A-Z_]+)"', declines)}
    fallbacks = {f"FALLBACK_{name}" for name in re.findall(
        r'"([A-Z_]{4,})"', (sources / "Fallback.java").read_text() + (sources / "PatienceException.java").read_text())}
    assert reasons | fallbacks == set(plugin_counters.REASONS)
    counters = set(re.findall(r' = "([A-Z_]+[A-Z])";', (sources / "HeteroCounters.java").read_text()))
    totals = re.findall(r'return "(HETERODOOP-[A-Z_]+)";', (sources / "HeteroCounters.java").read_text())
    assert sorted(totals) == sorted(plugin_counters._TOTALS)
    settings = set(re.findall(r'"(heterodoop\.[a-z0-9.]+[a-z0-9])"', (sources / "Settings.java").read_text()))
    times = set(re.findall(r"counters\.time\(\w+, HeteroCounters\.(\w+)", (sources / "MapAttempt.java").read_text()))
    assert times == {"QUEUE", "INSTALL", "ATTEMPT"}
    counters = counters - times | {f"GPU_{name}_MS" for name in times}
    assert len(reasons) > 15 and len(counters) > 7 and len(settings) > 9
    assert not {name for name in (*reasons, *fallbacks, *counters, *settings, *totals) if f"`{name}`" not in page}
    assert set(re.findall(r"`(DECLINED_[A-Z_]+)`", page)) == reasons
