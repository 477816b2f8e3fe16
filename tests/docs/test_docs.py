"""Documentation that is printed from the code's tables is up to date, and links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

from heterodoop.compiler.source.clauses import BY_NAME
from heterodoop.hdcodes import CODES, TABLES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "apps").rglob("*.md"))]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date() -> None:
    stale = [path.name for path, text in generator().generated().items() if path.read_text(encoding="utf-8") != text]
    assert not stale, f"run `make docs`: {stale}"


def test_the_clause_table_has_every_clause_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "directives.md").read_text(), re.MULTILINE)
    assert rows == list(BY_NAME)


def test_links_lead_to_files() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in PAGES
        for link in re.findall(r"\]\(([^)#:\s]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert not broken, "\n".join(broken)


def test_the_readme_s_figures_are_the_recorded_ones() -> None:
    page = (ROOT / "docs" / "paper-figures.md").read_text(encoding="utf-8")
    mean = r"^(?:Geometric mean of tail against the CPU|Against filters) alone.*?: ([\d.]+) x"
    means = re.findall(mean, page, re.MULTILINE)
    said = re.findall(r"([\d.]+) times as fast", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(means) == 2 and said == means


def codes_in(folder: Path, leave_out: str = "") -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.suffix in (".py", ".c", ".h", ".stderr")
             and leave_out not in (path.name, path.parent.name)]
    return set(re.findall(r"\bHD\d{3}\b", "\n".join(texts)))


def test_every_code_has_an_entry_a_use_and_a_test() -> None:
    used = codes_in(ROOT / "heterodoop", leave_out="hdcodes")
    examples = {"HD104"}  # stands for "some code" in help texts, and is one besides
    assert used - examples <= set(CODES), f"without an entry: {sorted(used - examples - set(CODES))}"
    assert set(CODES) <= used, f"never raised: {sorted(set(CODES) - used)}"
    tested = codes_in(ROOT / "tests", leave_out="test_docs.py")
    assert set(CODES) <= tested, f"never triggered by a test: {sorted(set(CODES) - tested)}"


def test_a_table_of_codes_has_a_hundred_of_its_own() -> None:
    hundreds = [sorted({code[2] for code in table.CODES}) for table in TABLES]
    assert hundreds == [["0"], ["1"], ["2"], ["3"], ["4"], ["5"], ["6"], ["6", "7"]]
    assert len(CODES) == sum(len(table.CODES) for table in TABLES), "one code is in two tables"


def test_pages_name_only_codes_that_exist() -> None:
    named = {code for page in PAGES for code in re.findall(r"\bHD\d{3}\b", page.read_text(encoding="utf-8"))}
    assert named <= set(CODES), sorted(named - set(CODES))


def test_a_decision_has_a_number_of_its_own_and_links_say_it() -> None:
    numbers = [path.name[:4] for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    assert numbers == [f"{number:04d}" for number in range(1, len(numbers) + 1)]
    for path in (ROOT / "docs" / "decisions").glob("*.md"):
        assert path.read_text(encoding="utf-8").startswith(f"# {path.name[:4]}: "), path.name
    for page in PAGES:
        for said, meant in re.findall(r"\[(?:decision )?(\d{4})\]\((?:[\w./]*/)?(\d{4})-", page.read_text(encoding="utf-8")):
            assert said == meant, f"{page}: {said} is {meant}"


def test_pages_name_only_files_that_exist() -> None:
    folders = "heterodoop|runtime|apps|tests|bench|docs|templates"
    missing = {
        f"{page.relative_to(ROOT)}: {path}"
        for page in PAGES
        for path in re.findall(rf"`((?:{folders})/[\w./-]+\w/?)`", page.read_text(encoding="utf-8"))
        if "NAME" not in path and not (ROOT / path).exists()
    }
    assert not missing, "\n".join(sorted(missing))
