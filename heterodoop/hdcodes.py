"""The error index: every HDnnn the product can print, with what it means and what to do.

`heterodoop explain HD104` prints one entry; docs/errors.md is generated from this table
(`python -m heterodoop.hdcodes > docs/errors.md`) and a test keeps the two equal. Ranges: HD0xx command line, input
and output; HD1xx directives; HD2xx why a region stays on the CPU; HD3xx C that cannot be analysed, bundles;
HD4xx tasks at run time; HD5xx this machine (compilers, libraries).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """`title` is one line; `text` says what was found and why it matters; `fix` what the user does."""

    title: str
    text: str
    fix: str


CODES: dict[str, Entry] = {
    "HD501": Entry(
        "a data file of the installation is missing",
        "HeteroDoop carries files beside its Python code (native sources, headers, templates); one was not found, so the"
        " installation is incomplete.",
        "Install HeteroDoop again: pip install .",
    ),
    "HD510": Entry(
        "the native runtime could not be built",
        "Local runs need a small C++ library. `pip install .` builds it where g++ is present and goes on without it where"
        " g++ is not; `python -m heterodoop.build_native` builds it later. The message holds the C++ compiler's own words.",
        "Install g++ (Debian and Ubuntu: apt install g++), or name another compiler in CXX, and run"
        " python -m heterodoop.build_native with the Python that HeteroDoop is installed in.",
    ),
    "HD511": Entry(
        "the native runtime is missing",
        "HeteroDoop was installed on a machine without g++, so the library that runs tasks, sorts and merges was not built."
        " Compiling and explaining programs works without it; `heterodoop run` needs it.",
        "Install g++ (Debian and Ubuntu: apt install g++) and run python -m heterodoop.build_native with the Python that"
        " HeteroDoop is installed in.",
    ),
}
