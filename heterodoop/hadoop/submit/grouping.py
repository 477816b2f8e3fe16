"""Whether map attempts of a job may do several splits each: then the plug-in's input format groups them by node.

Each part of such an attempt has a filter process of its own, in the environment of its split, unless the compiler has proven
that the filter makes the same of a record whatever it read before (`joined`). What is one for all is the task's name and
number, and what the combiner meets. Not here: which splits are a group (runtime/hadoop, Grouping).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...diag import Diagnostic
from ...job import regroup
from ...job import settings as names
from ...job.jobconf import JobConf
from ...job.setting import Party
from ...manifest import Manifest

_SPLITS = (names.MAX_SPLIT, names.MIN_SPLIT, names.MAPS)  # of a user who says himself how many maps there are
_OFF = "0"
_OF_PAIRS = {key: refusal for key, refusal in names.refused_by(Party.PLUGIN).items() if key != names.IGNORE_KEY}


def settings(given: Mapping[str, str], what: Manifest, reducers: int) -> tuple[dict[str, str], list[Diagnostic]]:
    """heterodoop.group.bytes for a job of the bundle `what`, and a warning (HD662) where the user's wish cannot be."""
    wish = given.get(names.GROUP_BYTES, "").strip()
    why = _why_not(given, what, reducers)
    if why and wish not in ("", _OFF):
        text = f"-D {names.GROUP_BYTES}={wish}: each split has an attempt of its own, since {why}"
        return {names.GROUP_BYTES: _OFF}, [Diagnostic("warning", "HD662", text)]
    if why or (not wish and any(key in given for key in _SPLITS)):
        return {names.GROUP_BYTES: _OFF}, []
    return {names.GROUP_BYTES: wish or names.SETTINGS[names.GROUP_BYTES].default_for(Party.SUBMIT)}, []


def joined(what: Manifest) -> bool:
    """May one process of the map filter read all splits of an attempt? For other filters each has its own."""
    program = what.program("map")
    return program is not None and program.kernel is not None and program.kernel.alone


def _why_not(given: Mapping[str, str], what: Manifest, reducers: int) -> str:
    of_records = {key: given[key] for key in (names.MAX_LENGTH, names.RECORD_DELIMITER) if key in given}
    conf = JobConf(of_records, party=Party.SUBMIT)
    found = (regroup.of_records(conf, reducers) or regroup.of_the_map(what) or regroup.of_the_combiner(what)
             or regroup.of_the_environment(what))
    if found:
        return found
    for key, refusal in _OF_PAIRS.items():  # with which pairs, or records, are not what the compiler took them for
        if key in given and given[key] not in refusal.allowed:
            return f"-D {key}={given[key]}: {refusal.why}"
    return ""
