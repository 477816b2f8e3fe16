"""Sentences of README and documents are short: a reader who looks something up does not unwind them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .test_docs import ROOT

MOST_WORDS = 30
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_NO_PROSE = re.compile(r"```.*?```|<!-- (.*?): begin -->.*?<!-- \1: end -->|^(?:    |\|).*?$", re.DOTALL | re.MULTILINE)
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*#>]|\d+\.) )")
_SENTENCE = re.compile(r"(?<=[.!?:;])[\s*]+")


def sentences(text: str) -> Iterator[str]:
    """Of prose: no code, table or heading. A link is its words, code in a line is one."""
    for paragraph in _PARAGRAPH.split(_NO_PROSE.sub("", text)):
        if not paragraph.lstrip().startswith("#"):
            plain = re.sub(r"`[^`]*`", "`code`", re.sub(r"\]\([^)]*\)", "]", paragraph))
            yield from _SENTENCE.split(" ".join(plain.split()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_sentence_has_more_words(page: Path) -> None:
    long = [one for one in sentences(page.read_text(encoding="utf-8")) if len(one.split()) > MOST_WORDS]
    assert not long, "\n".join(f"{len(one.split())} words: {one}" for one in long)


def test_they_are_counted() -> None:
    words = " ".join("w" * 31)
    text = f"A b. {words}: c\n\n- d `e f` [g h](i j)\n\n```\n{words}\n```\n| {words} |\n"
    assert [len(one.split()) for one in sentences(text) if one] == [2, 31, 1, 5]
