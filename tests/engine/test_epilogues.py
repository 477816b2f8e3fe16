"""The code behind a map's loop on a device and as a host kernel: where its output goes, and what follows when it fails.
Against the filters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heterodoop import manifest
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify
from heterodoop.errors import JobFailed

from ..support import ROOT, Bundles
from .conftest import SUM, parts

pytestmark = pytest.mark.usefixtures("kernel_cache")

MAP = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static long letters[26], lines = 1000;
int main(int argc, char **argv) {
  char word[40], *line = NULL;
  size_t cap = 0;
  int one, i, n;
  const char *name = argv[0];
  FILE *side = fopen("side", "r");
  int scale = 1;
  if (side != NULL) { if (fscanf(side, "%d", &scale) != 1) return 9; fclose(side); }
#pragma mapreduce mapper key(word) value(one) keylength(40)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    lines++;
    for (i = 0; i < n; i++)
      if (line[i] >= 'a' && line[i] <= 'z') letters[line[i] - 'a'] += scale;
    snprintf(word, sizeof word, "%.20s", line);
    word[strcspn(word, " \n")] = '\0';
    one = 1;
    if (line[0] == '!') fprintf(stderr, "loop %d\n", (int)line[1]);
    PAIR
  }
  free(line);
  BEHIND
  return 0;
}
"""
COMBINE = (ROOT / "apps" / "wordcount" / "combine.c").read_text()
PAIR = r'printf("%s\t%d\n", word, one);'
SHOWN = r"""
  for (i = 0; i < 26; i++) if (letters[i]) printf("%c\t%ld\n", 'a' + i, letters[i]);
  fprintf(stderr, "behind %s\nreporter:counter:g,lines,%ld\nreporter:status:done", strrchr(name, '/'), lines);
"""
TEXT = b"one two one\n!A\nzebra\n!B\na a\n" * 30 + b"z"


def program(behind: str = SHOWN, pair: str = PAIR) -> str:
    return MAP.replace("PAIR", pair).replace("BEHIND", behind)


def attempts(tmp_path: Path) -> list[dict[str, Any]]:
    lines = (tmp_path / "out.report" / "attempts.jsonl").read_text().splitlines()
    return [entry for line in lines if (entry := json.loads(line))["attempt"].startswith("m_")]


@pytest.mark.parametrize("options", [
    {"reducers": 0}, {"reducers": 1}, {"reducers": 3, "settings": ["heterodoop.gpu.sub-split.bytes=20"]},
])
@pytest.mark.parametrize("combine", [None, COMBINE])
@pytest.mark.parametrize("pair", [PAIR, ""])
def test_what_it_prints_joins_the_task_s_output(
    bundles: Bundles, tmp_path: Path, options: dict[str, Any], combine: str | None, pair: str,
) -> None:
    """Output, counters, status and stderr, in every order of the lanes."""
    (tmp_path / "in").write_bytes(TEXT)
    (tmp_path / "side").write_text("3")
    if options["reducers"] == 0:
        combine = None
    bundle = bundles.get(program(pair=pair), combine, SUM)
    found = verify(bundle, [str(tmp_path / "in")], RunOptions(device="emulated", files=[str(tmp_path / "side")], **options))
    assert [(v.outcome, v.difference) for v in found.verdicts] == [("equal", None)], found.verdicts
    host = verify(bundle, [str(tmp_path / "in")], RunOptions(
        files=[str(tmp_path / "side")], split_size=50, reducers=options["reducers"]), host=True)
    assert {(v.outcome, v.difference) for v in host.verdicts} == {("equal", None)}, host.verdicts


def test_the_whole_job(bundles: Bundles, run, tmp_path: Path) -> None:
    """Three splits, of which the last holds no record: it prints its totals for no one, as Hadoop has it."""
    (tmp_path / "in").write_bytes(TEXT)
    (tmp_path / "none").write_bytes(b"")
    bundle = bundles.get(program(), COMBINE, SUM)
    for name, device in (("cpu", "cpu"), ("out", "emulated")):
        run(bundle, tmp_path / "in", tmp_path / "none", out=tmp_path / name, device=device, reducers=2,
            **({"policy": "gpu-only"} if device == "emulated" else {}))
    assert parts(tmp_path / "out") == parts(tmp_path / "cpu") and b"z\t32" in b"".join(parts(tmp_path / "out"))
    report = json.loads((tmp_path / "out.report" / "report.json").read_text())
    assert report["user_counters"]["g"]["lines"] == 1151 + 1000
    ran = [entry for entry in attempts(tmp_path) if not entry.get("reason")]
    assert [entry["device"] for entry in ran] == ["emulated"], attempts(tmp_path)


# what stands behind the loop -> what the reason says
FAILURES = {
    "exit status": ("if (letters[0]) return 3;" + SHOWN, "exit status 3"),
    "exit": ("if (letters[0]) exit(4);" + SHOWN, "exit status 4"),
    "crash": ("if (letters[0]) { volatile int *p = NULL; *p = 1; } printf(\"x\\n\");", "signal 11"),
    "silence": ("volatile long spun = 0; while (letters[0]) spun++; printf(\"x\\n\");", "made no progress for 1.5 s"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_the_filter_s_to_decide(bundles: Bundles, run, tmp_path: Path, name: str) -> None:
    """The filter fails as well, and says what it says; nothing of the device's output is there."""
    behind, reason = FAILURES[name]
    (tmp_path / "in").write_bytes(TEXT)
    bundle = bundles.get(program(behind), None, SUM)
    kernel = manifest.load(bundle).programs[0].kernel
    assert kernel is not None and kernel.epilogue, manifest.load(bundle).programs[0].gpu_refusals
    with pytest.raises(JobFailed) as failed:
        run(bundle, tmp_path / "in", device="emulated", policy="gpu-only", max_attempts=1,
            settings=["mapreduce.task.timeout=1500"])
    assert reason in failed.value.message and "bin/map" in failed.value.message
    (entry,) = attempts(tmp_path)
    assert "the code behind the region could not be run alone" in entry["reason"] and reason in entry["reason"], entry
    assert not (tmp_path / "out").exists()


NO_MEMORY = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char line[40];
  int one = 1, *count = NULL;
  if (getenv("COUNTS")) count = calloc(40, sizeof *count);
#pragma mapreduce mapper key(line) value(one)
  while (fgets(line, sizeof line, stdin) != NULL) count[line[0] % 40]++;
  return 0;
}
"""


@pytest.mark.parametrize("device", ["emulated", "cpu"])
def test_a_pointer_that_is_null_is_the_filter_s_to_follow(bundles: Bundles, run, tmp_path: Path, device: str) -> None:
    (tmp_path / "in").write_bytes(TEXT)
    bundle = bundles.get(NO_MEMORY)
    kernel = manifest.load(bundle).programs[0].kernel
    assert kernel is not None and kernel.epilogue and [total.name for total in kernel.totals] == ["*count"]
    with pytest.raises(JobFailed, match="signal 11"):
        run(bundle, tmp_path / "in", device=device, reducers=0, max_attempts=1,
            **({"policy": "gpu-only"} if device == "emulated" else {}))
    (entry,) = attempts(tmp_path)
    assert "could not be run alone: exit status 125" in entry["reason" if device == "emulated" else "left"], entry


def test_what_the_combiner_does_not_read_back_is_combined_once(bundles: Bundles, tmp_path: Path) -> None:
    """A pair of the epilogue ends the fold: all of the task is done again without it."""
    (tmp_path / "in").write_bytes(TEXT)
    bundle = bundles.get(program(r'printf("one\t7x\nlines\t%ld\n", lines);'), COMBINE, SUM)
    for settings in ([], ["heterodoop.gpu.sub-split.bytes=200"]):
        (verdict,) = verify(bundle, [str(tmp_path / "in")], RunOptions(device="emulated", settings=settings)).verdicts
        assert (verdict.outcome, verdict.difference) == ("equal", None), verdict
    (verdict, *_) = verify(bundle, [str(tmp_path / "in")], RunOptions(), host=True).verdicts
    assert verdict.outcome == "cpu-only" and "does not read back through the combiner's reader" in verdict.reason
