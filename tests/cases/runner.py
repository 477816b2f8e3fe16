"""Runs the field cases of cases.toml: each program through the command line, several ways, against its expected bytes."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..support import Bundles, cli_here, partition, parts

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
ROWS: dict[str, dict[str, object]] = tomllib.loads((HERE / "cases.toml").read_text())

GENERATORS: dict[str, Callable[[], bytes]] = {
    "long_line": lambda: b"a" * 100000 + b" b\nc\n",
    "brackets": lambda: b"(((\n" + b"(" * 50 + b"\n" + b"(" * 20000 + b"\n",
    "fifty_words": lambda: b"".join(b"w%d\n" % (i % 50) for i in range(3000)),
    "ten_thousand_letters": lambda: b"abc\n" + b"x" * 10000 + b"\n",
    "one_key": lambda: b"k\n" * 100003 + b"k j\n",
    "cancelling_sum": lambda: b"1e8\n0.1\n-1e8\n3e-9\n" * 1000,
    "unread_lines": lambda: b"roses.are.red\n" * 30000,
    "comments": lambda: b"#\na\n#\nb\n" * 5000,
}

TINY_SORT = ("-D", "heterodoop.sort.bytes={sort}")
WHOLE = {  # every input file is one split
    "plain": (),
    "one reducer, tiny sort": ("--reducers=1", *TINY_SORT),
    "three reducers": ("--reducers=3",),
}
CUT = {  # for programs without state from record to record
    "small splits": ("--split-size={split}",),
    "small splits, one slot, three reducers": ("--split-size={split}", "--reducers=3", "--cpu-slots=1"),
    "small splits, two reducers, tiny sort": ("--split-size={split}", "--reducers=2", *TINY_SORT),
}


@dataclass(frozen=True)
class Case:
    """One row of cases.toml, its texts read. `expect` is "" where only the hash of the output is known."""

    name: str
    title: str
    programs: dict[str, str]
    input: str
    carried: bool
    order: bool
    gpu: str
    why: str
    sha256: str

    @property
    def folder(self) -> Path:
        return folder(self.name)

    def variants(self) -> dict[str, tuple[str, ...]]:
        """How often and how the case runs. A combiner's own output is final only in one task."""
        found = {**WHOLE, "no reducer": ("--reducers=0",)} if not self.programs["combine"] else dict(WHOLE)
        if not self.programs["reduce"] and self.programs["combine"]:
            found["plain"] = ("--reducers=1",)
            return found
        return found if self.carried else {**found, **CUT}


def load(letter: str) -> list[Case]:
    """The cases whose names start with a letter, without those that tests of their own run."""
    return [_case(name, row) for name, row in ROWS.items() if name.startswith(letter) and not row.get("alone")]


def folder(name: str) -> Path:
    """The folder of a case: its title with hyphens."""
    return HERE / re.sub(r"\W+", "-", str(ROWS[name]["title"]).lower()).strip("-")


def _case(name: str, row: dict[str, object]) -> Case:
    programs = {role: program(name, role, row.get(role)) for role in ("map", "combine", "reduce")}
    known = {"title", "map", "combine", "reduce", "input", "carried", "order", "gpu", "why", "sha256"}
    assert set(row) <= known, f"{name}: {set(row) - known}"
    return Case(
        name, str(row["title"]), programs, str(row.get("input", "")), bool(row.get("carried")), bool(row.get("order")),
        str(row.get("gpu", "")), str(row.get("why", "")), str(row.get("sha256", "")),
    )


def program(name: str, role: str, shared: object = None) -> str:
    """The text of a case's program: a shared one by its name, else its own file, else ""."""
    path = PROGRAMS / f"{shared}.c" if shared else folder(name) / f"{role}.c"
    return path.read_text() if shared or path.exists() else ""


def place_input(case: Case, target: Path) -> Path:
    """The case's input as a file or a folder of files below `target`."""
    if case.input:
        (target / "in").write_bytes(GENERATORS[case.input]())
    elif (case.folder / "files").is_dir():
        shutil.copytree(case.folder / "files", target / "in")
    else:
        shutil.copyfile(case.folder / "input", target / "in")
    return target / "in"


def check(case: Case, bundles: Bundles, tmp_path: Path) -> None:
    """Run a case in all its variants."""
    bundle = bundles.get(**case.programs)
    source = place_input(case, tmp_path)
    size = sum(path.stat().st_size for path in (source.iterdir() if source.is_dir() else [source]))
    values = {"split": max(7, size // 40), "sort": 1 if size < 1000 else 20000}
    for number, (name, options) in enumerate(case.variants().items()):
        output = tmp_path / f"out{number}"
        ways = ("--filters",) if number == 1 else ()  # else as host kernels, where there are any
        cli_here("run", bundle, source, "-o", output, "--quiet", *ways, *(o.format(**values) for o in options))
        assert (output / "_SUCCESS").exists()
        check_output(case, parts(output), name)


def check_output(case: Case, found: list[bytes], variant: str) -> None:
    what = f"{case.name} ({case.title}), {variant}"
    if variant != "no reducer" and "reducer" in variant:
        check_parts(found, what)
    expected = None if case.sha256 else final_lines((case.folder / "expect").read_bytes())
    if expected is not None and case.order and len(found) == 1 and "one reducer" in variant:
        assert found[0].splitlines(keepends=True) == expected, what
    lines = sorted(line for part in found for line in part.splitlines(keepends=True))
    if expected is None:
        assert hashlib.sha256(b"".join(lines)).hexdigest() == case.sha256, f"{what}: {len(lines)} lines"
    else:
        assert lines == sorted(expected), what


def final_lines(expected: bytes) -> list[bytes]:
    """As they stand in part files: a line without a tab has one at its end (Hadoop's TextOutputFormat)."""
    return [(line if b"\t" in line else line + b"\t") + b"\n" for line in expected.split(b"\n")[:-1]]


def check_parts(found: list[bytes], what: str) -> None:
    """Every key lies in its partition, and a partition is in key order."""
    for number, part in enumerate(found):
        keys = [line.partition(b"\t")[0] for line in part.split(b"\n")[:-1]]
        assert keys == sorted(keys), f"{what}: part {number} is not in key order"
        assert all(partition(key, len(found)) == number for key in keys), f"{what}: a key is in the wrong part"


def check_verdict(case: Case, bundles: Bundles) -> None:
    """What the compiler says about the GPU: nothing against it, or the reason, with a place."""
    programs = json.loads(cli_here("explain", bundles.get(**case.programs), "--json").out)["programs"]
    refusals = programs["map"]["gpu_refusals"]
    assert programs["map"]["gpu"] == (not refusals)
    for refusal in refusals:
        assert refusal["message"] and re.fullmatch(r"HD[23]\d\d", refusal["code"])
        assert refusal["code"] == "HD202" or re.search(r":[1-9]\d*", refusal["place"]), "no directive has no line"
    if case.gpu == "yes":
        assert not refusals, refusals
    if case.gpu == "no":
        assert any(re.search(case.why, refusal["message"]) for refusal in refusals), refusals
