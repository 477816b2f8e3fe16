"""docs/c-taken.md: each row of its tables names a program that a test compiles and runs everywhere."""

from __future__ import annotations

from ..language import forms
from ..pages import ROOT
from ..run.test_taken import MODULES

PROGRAMS = {  # what a row may begin its last column with -> the programs that the test of that name runs
    **{kind: {**module.EQUAL, **module.LEFT} for kind, module in MODULES.items()},
    "language": dict.fromkeys(forms.everywhere() | forms.on_the_cpu()),
    "reader": {path.stem: path for path in (ROOT / "tests" / "taken" / "programs").glob("*.c")},
}
RUNS = {"everywhere", "CPU"}


def rows() -> list[list[str]]:
    lines = (ROOT / "docs" / "c-taken.md").read_text().splitlines()
    found = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]
    return [row for row in found if row[0] != "form"]


def test_every_row_names_a_program_that_is_run() -> None:
    found = rows()
    assert found and all(len(row) == 4 and row[0] and row[1] in RUNS for row in found), found
    for row in found:
        kind, _, name = row[3].partition(": ")
        assert name in PROGRAMS[kind], row


def test_what_is_left_to_the_cpu_is_so_in_the_programs() -> None:
    """The note of a program that is left says the same as the table."""
    left = {name for module in MODULES.values() for name in module.LEFT}
    for row in rows():
        kind, _, name = row[3].partition(": ")
        if kind in MODULES:
            assert (name in left) == (row[1] == "CPU"), row


def test_every_form_of_the_language_has_a_row() -> None:
    found = [(row[3].partition(": ")[2], row[1]) for row in rows() if row[3].startswith("language: ")]
    assert sorted(found) == sorted(
        [(name, "everywhere") for name in forms.everywhere()] + [(name, "CPU") for name in forms.on_the_cpu()])
