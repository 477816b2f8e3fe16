"""From sdist to wheel to an empty environment to a run from another folder; and an install without a C++ compiler.

Field cases G02 (no hard dependency on a compiler), G03 (data files travel) and G01 (no GPU needed for anything here).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from heterodoop.errors import EXIT_ENVIRONMENT
from heterodoop.resources import BUILD_NATIVE

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char key[64], *line = NULL;
    size_t size = 0;
    int one = 1;
#pragma mapreduce mapper key(key) value(one)
    while (getline(&line, &size, stdin) != -1) {
        sscanf(line, "%63s", key);
        printf("%s\t%d\n", key, one);
    }
    return 0;
}
"""


@dataclass(frozen=True)
class Sandbox:
    """A virtual environment of its own, and the environment variables to use it with."""

    python: Path
    environment: dict[str, str]
    home: Path

    def call(self, *argv: object, status: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a command from / and check its exit status."""
        environment = {**self.environment, **env}
        done = subprocess.run([str(a) for a in argv], cwd="/", env=environment, capture_output=True, text=True)
        assert done.returncode == status, f"{argv}\n{done.stdout}{done.stderr}"
        return done

    def install(self, package: Path, **env: str) -> None:
        self.call(sys.executable, "-m", "pip", "--python", self.python, "install", "-q", package, **env)

    def heterodoop(self, *arguments: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        return self.call(self.python.with_name("heterodoop"), *arguments, status=status)

    def run_program(self) -> bytes:
        """Compile PROGRAM and run it on one line; the result's bytes."""
        app = self.home / "app"
        app.mkdir(exist_ok=True)
        (app / "map.c").write_text(PROGRAM)
        (app / "input.txt").write_bytes(b"a\n")
        self.heterodoop("compile", app, "-o", self.home / "app.hdp")
        self.heterodoop("run", self.home / "app.hdp", app / "input.txt", "-o", self.home / "out", "--quiet")
        return (self.home / "out" / "part-00000").read_bytes()


@pytest.fixture
def sandbox(tmp_path: Path, clean_environment: dict[str, str]) -> Sandbox:
    """Without a pip of its own, which takes seconds to install: the tests' one installs into it."""
    argv = [sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"]
    subprocess.run(argv, check=True, env=clean_environment)
    return Sandbox(tmp_path / "venv" / "bin" / "python", clean_environment, tmp_path)


@pytest.fixture(scope="module")
def packages(checkout: Path, quick_compiler: str, clean_environment: dict[str, str]) -> tuple[Path, Path]:
    """The sdist made from a clean checkout, and the wheel made from that sdist."""
    argv = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(checkout / "dist"), str(checkout)]
    done = subprocess.run(argv, env={**clean_environment, "CXX": quick_compiler}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,), (wheel,) = (checkout / "dist").glob("*.tar.gz"), (checkout / "dist").glob("*.whl")
    return sdist, wheel


def tree(root: Path, top: str) -> set[str]:
    """Files below root/top, relative to root, without what a build or an interpreter leaves."""
    files = (p for p in (root / top).rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {str(p.relative_to(root)) for p in files}


def test_the_sdist_holds_every_source(packages: tuple[Path, Path], checkout: Path) -> None:
    with tarfile.open(packages[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted: Sequence[str] = ("heterodoop", "runtime", "templates", "apps", "bench", "docs", "tests")
    assert not {name for top in wanted for name in tree(checkout, top) if "_native" not in name} - names
    assert {"README.md", "LICENSE", "Makefile", "CHANGELOG.md", ".ci/run", "setup.py", "pyproject.toml"} <= names


def test_the_wheel_holds_runtime_templates_and_the_native_library(packages: tuple[Path, Path], checkout: Path) -> None:
    assert packages[1].name.split("-", 2)[2].startswith("py3-none-linux")
    names = set(zipfile.ZipFile(packages[1]).namelist())
    for top in ("runtime", "templates"):
        assert {f"heterodoop/_{name}" for name in tree(checkout, top)} <= names
    assert {"heterodoop/_native/libhd_host.so", "heterodoop/py.typed", "heterodoop/cli/__init__.py"} <= names
    assert not [name for name in names if name.startswith(("tests/", "apps/", "bench/", "runtime/", "templates/"))]


def test_a_built_plug_in_travels_and_maven_s_leavings_do_not(
    checkout: Path, tmp_path: Path, clean_environment: dict[str, str],
) -> None:
    copy = Path(shutil.copytree(checkout, tmp_path / "copy"))
    for path in (copy / "heterodoop" / "_native" / "heterodoop-mr.jar", copy / "runtime" / "hadoop" / "target" / "x" / "y"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"built")
    argv = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(tmp_path), str(copy)]
    done = subprocess.run(argv, env={**clean_environment, "CXX": "no-such-compiler"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")  # without a library its modules lie in *.data/purelib
    names = {name.partition(".data/purelib/")[2] or name for name in zipfile.ZipFile(wheel).namelist()}
    assert {"heterodoop/_native/heterodoop-mr.jar", "heterodoop/_runtime/hadoop/pom.xml"} <= names
    assert not [name for name in names if "/target/" in name]


def test_the_wheel_works_in_an_empty_environment_from_another_folder(packages: tuple[Path, Path], sandbox: Sandbox) -> None:
    sandbox.install(packages[1])
    assert sandbox.run_program() == b"a\t1\n"
    assert "heterodoop" in sandbox.call(sandbox.python, "-m", "heterodoop", "--version").stdout


def test_an_install_without_cxx_succeeds_and_says_later_what_is_missing(
    checkout: Path, sandbox: Sandbox, quick_compiler: str,
) -> None:
    sandbox.install(checkout, CXX="no-such-compiler")
    for command in (["--help"], ["--version"], ["explain", "HD511"]):
        sandbox.heterodoop(*command)
    with pytest.raises(AssertionError, match=BUILD_NATIVE):
        sandbox.run_program()
    sandbox.heterodoop("run", sandbox.home / "app.hdp", __file__, "-o", sandbox.home / "out", status=EXIT_ENVIRONMENT)
    assert not (sandbox.home / "out").exists()
    sandbox.call(sandbox.python, *BUILD_NATIVE.split()[1:], CXX=quick_compiler)
    assert sandbox.run_program() == b"a\t1\n"


def test_building_the_native_runtime_without_cxx_says_what_to_install(sandbox: Sandbox, checkout: Path) -> None:
    env = {"PYTHONPATH": str(checkout), "CXX": "no-such-compiler"}
    done = sandbox.call(sandbox.python, *BUILD_NATIVE.split()[1:], status=EXIT_ENVIRONMENT, **env)
    assert "no-such-compiler" in done.stderr and "apt install g++" in done.stderr and "Traceback" not in done.stderr


def test_every_dependency_has_an_upper_bound() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    every = [*project["dependencies"], *(word for words in project["optional-dependencies"].values() for word in words)]
    assert every and [word for word in every if "<" not in word and "==" not in word] == []
