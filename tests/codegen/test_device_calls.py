"""The table of library calls: every row is a function of the header that it names, and takes the lane's state it names."""

from __future__ import annotations

import subprocess
from pathlib import Path

from heterodoop.compiler.analysis.device_calls import BUILT_IN, CALLS, MEMORY, find, why_not
from heterodoop.compiler.analysis.points_to import known_call

from .kernels import HERE, ROOT


def test_every_row_is_declared_by_its_header(tmp_path: Path) -> None:
    headers = sorted({row.header for row in CALLS.values()})
    text = "".join(f'#include "{header}"\n' for header in headers)
    text += "".join(f"namespace row_{n} {{ using {row.spelling}; }}\n" for n, row in enumerate(CALLS.values()))
    text += 'int parsed(int &err, char *&token) { return hd::atoi(err, "1") + (hd::strtok(token, nullptr, " ") != nullptr) '
    text += '+ hd::atoi("1") + static_cast<int>(hd::strtol(err, "1", nullptr, 10)); }\n'
    source = tmp_path / "rows.cpp"
    source.write_text(text)
    include = ["-include", HERE / "lane.h", f"-I{ROOT / 'runtime' / 'device'}"]
    subprocess.run(["g++", "-std=c++17", "-w", "-fsyntax-only", *include, source], check=True)


def test_the_effects_of_every_row_are_known() -> None:
    """A call that the use analysis does not know is refused before the table is asked (strtok_r's other name it knows)."""
    assert [name for name in CALLS if not known_call(name)] == ["__strtok_r"]


def test_reasons() -> None:
    assert why_not("strlen") == "" and find("strlen") is not None
    assert all(why_not(name) == "" for name in BUILT_IN)
    assert all(why_not(name) == "" and find(name) is not None for name in MEMORY)
    assert why_not("__hd_signbit").startswith("signbit() has no device form"), "the name that the user wrote"
    assert why_not("tgamma").startswith("tgamma() may give other bits")
    assert why_not("exp", "own") == "" and "--libm=system" in why_not("exp", "system")
    assert why_not("qsort") == "qsort() has no device form, so it runs on the CPU"
