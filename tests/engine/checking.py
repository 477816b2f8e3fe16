"""What the tests of the check of device results share: programs, right and wrong; what reports say. No test module."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from heterodoop.engine.devices import first_check
from heterodoop.engine.run.local import JobResult
from heterodoop.executor.kernel.emulated import DeviceOptions
from heterodoop.manifest import FILE, Region, Variable

from .conftest import WORDS
from .fake_device import Behaviour

TEXT = b"b a b\na\tb\n" * 20
COUNTS = b"a\t40\nb\t60\n"
WRONG = WORDS.replace('"%s\\t1\\n"', '"%s\\t2\\n"')
WRONG_COUNTS = b"a\t80\nb\t120\n"
TIDY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) { int c; char path[4096];
  snprintf(path, sizeof path, "%s/side%s", getenv("mapreduce_task_output_dir"), getenv("mapreduce_task_partition"));
  if (access(path, F_OK) == 0 || access("mark", F_OK) == 0 || access("data", R_OK) != 0) return 9;
  fclose(fopen(path, "w")); fclose(fopen("mark", "w")); fprintf(stderr, "SIDE ran\n");
  while ((c = getchar()) != EOF) putchar(c); return 0; }
"""


def assuming(bundle: Path, role: str = "map", cls: str = "guarded") -> Path:
    """The bundle, with a variable of a class in the region of a program."""
    data = json.loads((bundle / FILE).read_text())
    variable = Variable("word", "char [8]", 8, cls, "because", "map.c:1:1")  # type: ignore[arg-type]
    region = Region("mapper", "main", "m.c:1:1", "getline", "k", "v", "", "", 1, 1, 0, 0, 0, (variable,), (), None, None)
    for program in data["programs"]:
        if program["role"] == role:
            program["region"] = {**asdict(region), **(program["region"] or {}), "variables": [asdict(variable)]}
    (bundle / FILE).write_text(json.dumps(data))
    return bundle


def samples(fake: Behaviour) -> list[tuple[int, int | None]]:
    """(start, length) of what the device was asked to do as a sample."""
    return [(spec.start, spec.length) for spec, *_ in fake.tasks if spec.length == first_check.SAMPLE_BYTES]


def always(program: Path) -> Callable[[DeviceOptions], Path]:
    """A device with this filter in the kernel's place (built here: slots would build it several times at once)."""
    return lambda options: program


def rows(result: JobResult) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in (result.report_folder / "attempts.jsonl").read_text().splitlines()]
    return [row for row in lines if row["attempt"].startswith("m_")]


def checked(result: JobResult) -> dict[str, object]:
    found: dict[str, object] = result.report["device"]["check"]
    return found
