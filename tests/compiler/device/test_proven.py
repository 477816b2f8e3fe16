"""Maps whose filter prints for each record what it would print alone, and those of which that is only checked, or not so."""

from __future__ import annotations

import pytest

from heterodoop.compiler.device import proven

from ...support import ROOT
from ..regions import analyse

MAP = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
int main(void) {
    char *line = NULL, key[40], *at; size_t size = 0; ssize_t read; int one, i, n;
#pragma mapreduce mapper key(key) value(one) keylength(40) vallength(1)
    while ((read = getline(&line, &size, stdin)) != -1) {
        BODY
        printf("%s\\t%d\\n", key, one);
    }
    return 0;
}
"""
ALONE = 'strcpy(key, "k"); one = 0; for (i = 0; i < read; i++) if (line[i] == 97) one++;'


def alone(text: str) -> bool:
    analysis, errors = analyse(text)
    assert not errors and not analysis.refusals, (errors, analysis.refusals)
    return proven.of_each_record(analysis.facts.device)


@pytest.mark.parametrize("body", [
    ALONE, "key[0] = 'k'; key[1] = 0; one = (int)read;", ALONE + "one = (int)strlen(line);",
])
def test_what_a_record_prints_depends_on_it_alone(body: str) -> None:
    assert alone(MAP.replace("BODY", body))


@pytest.mark.parametrize("body", [
    ALONE + "n = line[7];",  # perhaps of a longer record before
    ALONE + "n = line[read + 1];",
    "if (line[0] == 'k') strcpy(key, \"k\"); one = 1;",  # else it is the last one's
    "for (n = 0; n < 3 && line[n] != 32; n++) key[n] = line[n]; one = 1;",  # without its end
    ALONE + "if (line[0] == 'k') n = 1; one = n;",
    ALONE + "one = errno; atol(line);",
    ALONE + 'at = strtok(line, " "); if (at) one = 2;',
    ALONE + 'if (sscanf(line, "%39s", key) != 1) continue;',
    "sprintf(key, \"%.9s\", line + 3); one = 1;",
])
def test_what_is_checked_or_left_by_earlier_records_is_not_proven(body: str) -> None:
    analysis, errors = analyse(MAP.replace("BODY", body))
    assert not errors
    assert analysis.refusals or not proven.of_each_record(analysis.facts.device)


def test_apps() -> None:
    assert alone((ROOT / "apps" / "wordcount" / "map.c").read_text())
    assert not alone((ROOT / "apps" / "station_temperatures" / "map.c").read_text())
