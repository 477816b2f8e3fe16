"""When a job that runs again and again is done: a comparison of one of the last round's counters with a number.

`GROUP:COUNTER<1000`, a counter of the program, or `COUNTER==0`, one of the engine's own (MAP_OUTPUT_RECORDS).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import JobFailed, UsageError

_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, ">=": operator.ge, ">": operator.gt,
}
_FORM = re.compile(r"\s*(?:([^:<>=]*[^:<>=\s])\s*:)?\s*([^:<>=]*[^:<>=\s])\s*(<=|>=|==|<|>)\s*(-?[0-9]{1,18})\s*")


class Criterion(NamedTuple):
    """`group` "" = a counter of the engine."""

    group: str
    counter: str
    sign: str
    number: int

    def __str__(self) -> str:
        return f"{self.name}{self.sign}{self.number}"

    @property
    def name(self) -> str:
        return f"{self.group}:{self.counter}" if self.group else self.counter

    def value(self, report: Mapping[str, Any]) -> int | None:
        """The counter in a round's report; None where the round has none of this name."""
        counters = report["user_counters"].get(self.group, {}) if self.group else report["counters"]
        found: int | None = counters.get(self.counter)
        return found

    def met(self, reports: Sequence[Mapping[str, Any]]) -> bool:
        """Whether the last round was the last. As in Hadoop, a counter that nobody raised in a round is 0.

        Raises JobFailed HD044 where that would end the job, and no round has ever had such a counter: a wrong name.
        """
        value = self.value(reports[-1])
        done = _COMPARE[self.sign](value or 0, self.number)
        if done and all(self.value(report) is None for report in reports):
            raise JobFailed(
                f"--until {self}: no round has had a counter {self.name!r}, so nobody knows whether the job is done",
                code="HD044", help=f"the counters are {', '.join(_names(reports[-1]))}",
            )
        return done


def parse(text: str) -> Criterion:
    """Raises UsageError HD041."""
    match = _FORM.fullmatch(text)
    if not match:
        raise UsageError(
            f"--until {text!r}: must be GROUP:COUNTER or COUNTER, one of < <= == >= >, and a whole number", code="HD041",
            help="for example --until 'kmeans:change<10000'",
        )
    return Criterion(match[1] or "", match[2], match[3], int(match[4]))


def _names(report: Mapping[str, Any]) -> list[str]:
    own = [f"{group}:{name}" for group, counters in report["user_counters"].items() for name in counters]
    return own + list(report["counters"])
