"""Field cases C: keys, values and numbers as text, byte for byte what the C library makes of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ..support import Bundles, cli_here, cli_process, parts
from .runner import PROGRAMS, Case, check, check_verdict, load, program

CASES = load("C")

# Prints 1.5 the way of the caller's locale, if it asks for it.
LOCALE = r"""
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *line = NULL, k[8] = "k"; size_t cap = 0; ssize_t n; double v;
  setlocale(LC_ALL, "");
  #pragma mapreduce mapper key(k) value(v) keylength(8) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v = 1.5;
    printf("%s\t%.1f\n", k, v);
  }
  return 0;
}
"""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, bundles: Bundles, tmp_path: Path) -> None:
    check(case, bundles, tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdict(case: Case, bundles: Bundles) -> None:
    check_verdict(case, bundles)


def test_c10_the_length_that_does_not_fit_is_told(tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(program("C10", "map"))
    done = cli_here("explain", tmp_path / "map.c")
    assert "map.c:6:" in done.message and "warning[HD1" in done.message and "keylength" in done.message


def test_c13_both_halves_of_a_key_with_a_tab_go_to_one_reducer(bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\ty\nb\na\tx\n")
    cli_here("run", bundles.get(program("C13", "map")), tmp_path / "in", "-o", tmp_path / "out", "--reducers=5", "--quiet")
    found = [part for part in parts(tmp_path / "out") if part.startswith(b"a")]
    assert found == [b"a\ty\t1\na\tx\t1\n"], "key a, values in the order of their coming"


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which decimal fractions have a comma."""
    found = {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.lower().split()
    if "de_de.utf8" in listed or "de_de.utf-8" in listed:
        return found
    folder = tmp_path_factory.mktemp("locales")
    if shutil.which("localedef"):
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], capture_output=True, check=False)
    found["LOCPATH"] = str(folder)
    point = subprocess.run(["locale", "decimal_point"], env={**os.environ, **found}, capture_output=True, check=False).stdout
    if point != b",\n":  # localedef without its sources leaves an empty folder
        pytest.skip("no locale with a decimal comma, and none can be made here (Debian: apt install locales)")
    return found


def test_c15_a_decimal_comma_of_the_caller_changes_nothing(german: dict[str, str], bundles: Bundles, tmp_path: Path) -> None:
    expected = {"decimals": b"a\t1.5 used=3\nb\t2 used=1\n", "printing": None}
    (tmp_path / "in").write_bytes(b"a,1.5\nb,2,5\n")
    for name, lines in expected.items():
        app = bundles.get((PROGRAMS / f"{name}.c").read_text())
        cli_here("run", app, tmp_path / "in", "-o", tmp_path / f"{name}-c", "--quiet")
        done = cli_process("run", app, tmp_path / "in", "-o", tmp_path / name, "--quiet", env=german)
        assert (done.status, done.err) == (0, b"")
        assert parts(tmp_path / name) == parts(tmp_path / f"{name}-c")
        assert lines is None or parts(tmp_path / name) == [lines]


def test_c15_compiling_under_another_locale_gives_the_same_bundle(german: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text((PROGRAMS / "printing.c").read_text())
    manifests = []
    for number, env in enumerate(({}, german)):
        done = cli_process("compile", tmp_path / "map.c", "-o", tmp_path / f"{number}.hdp", env=env)
        assert done.status == 0, done.message
        manifests.append((tmp_path / f"{number}.hdp" / "manifest.json").read_bytes())
    assert manifests[0] == manifests[1]


def test_c15_a_program_that_asks_for_the_locale_gets_it_and_stays_off_the_gpu(
    german: dict[str, str], bundles: Bundles, tmp_path: Path,
) -> None:
    app = bundles.get(LOCALE)
    (tmp_path / "in").write_bytes(b"x\n")
    assert cli_process("run", app, tmp_path / "in", "-o", tmp_path / "out", "--quiet", env=german).status == 0
    assert parts(tmp_path / "out") == [b"k\t1,5\n"], "else the locale of these tests has no effect"
    found = json.loads(cli_here("explain", app, "--json").out)["programs"]["map"]
    assert any("setlocale" in refusal["message"] for refusal in found["gpu_refusals"]), found["gpu_refusals"]
    assert "LC_ALL" not in os.environ or os.environ["LC_ALL"] != german["LC_ALL"]
