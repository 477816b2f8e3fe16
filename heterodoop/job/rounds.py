"""Whose the rounds are that an earlier command left in OUT.rounds, on disk or in HDFS."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import UsageError


def check_same(where: str, there: Mapping[str, Any], identity: Mapping[str, Any], anew: str) -> None:
    """Whether these rounds are of the job that is about to go on with them.

    there     what they say of their job, read from JSON; identity: what decides a job's results, as JSON can have it.
    anew      how to begin anew, for the message.
    Raises UsageError HD042: they are another job's.
    """
    here = json.loads(json.dumps(identity))
    differ = [key for key in here if there.get(key) != here[key]]
    if differ:
        raise UsageError(
            f"the rounds in {where} are of another job: {', '.join(differ)} differ", code="HD042",
            help=f"run the job as it was to go on with it; {anew}",
        )


def not_ours(where: str) -> UsageError:
    """HD042: something else has the folder's name."""
    return UsageError(
        f"{where}, where the rounds are kept, exists and is not of HeteroDoop", code="HD042",
        help="move it away, or name another output",
    )
