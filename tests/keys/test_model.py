"""The model of Hadoop's keys says what Hadoop says."""

from __future__ import annotations

from collections import Counter

from . import model
from .golden import ROWS, TABLE, shown


def unshown(text: str) -> bytes:
    return b"" if text == "-" else bytes.fromhex(text)


def answer(question: str) -> str:
    kind, mark, *rest = question.split()
    separator = unshown(mark)
    if kind == "split":
        return " ".join(map(shown, model.split(unshown(rest[1]), separator, int(rest[0]))))
    if kind == "compare":
        options, a, b = map(unshown, rest)
        return str(model.compare(a, b, separator, options.decode()))
    options_text = f"-k1,{rest[0]}" if kind == "fields" else unshown(rest[0]).decode()
    return str(model.partition(unshown(rest[2]), separator, options_text, int(rest[1])))


def test_the_model_says_what_hadoop_says() -> None:
    rows = [line.split(" = ") for line in TABLE.read_text().splitlines()]
    assert [(question, answer(question)) for question, _ in rows] == [(question, said) for question, said in rows]
    kinds = Counter(question.split()[0] for question, _ in rows)
    assert len(kinds) == 4 and min(kinds.values()) > ROWS / 10
