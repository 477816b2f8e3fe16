"""What records gather and the code behind the loop prints: random programs on a device and as host kernels give the
filters' bytes.

HETERODOOP_GATHERING=N makes it N programs instead of a handful.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import Verification, verify

from ..support import ROOT, Bundles
from .gathering_programs import program, text

pytestmark = pytest.mark.usefixtures("kernel_cache")
DEVICE = os.environ.get("HETERODOOP_TEST_DEVICE", "emulated")  # cuda: the same on a GPU
COMBINE = (ROOT / "apps" / "wordcount" / "combine.c").read_text()  # reads ints; some of what is gathered is none
ZEROS = "a zero whose sign the order of the records says"
PROGRAMS = int(os.environ.get("HETERODOOP_GATHERING", "200" if "HETERODOOP_SLOW" in os.environ else "3"))


def verified(bundle: Path, data: bytes, folder: Path, settings: list[str], **options: int) -> Verification:
    (folder / "in").write_bytes(data)
    return verify(bundle, [str(folder / "in")], RunOptions(device=DEVICE, settings=settings, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_random_program_gives_the_filters_bytes(seed: int, bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(program(seed), COMBINE if seed % 2 and "puts(line)" not in program(seed) else None)
    kernel = manifest.load(bundle).programs[0].kernel
    assert kernel is not None and kernel.epilogue, manifest.load(bundle).programs[0].gpu_refusals
    for number in range(3):
        settings = [f"heterodoop.gpu.sub-split.bytes={(0, 64, 600)[number]}", f"heterodoop.emulated.seed={seed}"]
        found = verified(bundle, text(seed * 3 + number), tmp_path, settings, reducers=number)
        for verdict in found.verdicts:
            left = verdict.outcome == "cpu-only" and ZEROS in verdict.reason
            equal = (verdict.outcome, verdict.difference) == ("equal", None)
            assert left or equal, f"seed {seed}: {verdict}\n{program(seed)}"
        options = RunOptions(reducers=number, split_size=(5000, 70, 500)[number])
        host = verify(bundle, [str(tmp_path / "in")], options, host=True)
        for verdict in (v for v in host.verdicts if v.kind == "map"):
            left = verdict.outcome == "cpu-only" and "does not read back" in verdict.reason
            equal = (verdict.outcome, verdict.difference) == ("equal", None)
            assert left or equal, f"seed {seed}: {verdict}\n{program(seed)}"


@pytest.mark.parametrize("macros", [(), ("WIDE",)])
def test_bins(macros: tuple[str, ...], bundles: Bundles, tmp_path: Path) -> None:
    """Members of structs in a block's memory and in the device's."""
    defines = "".join(f"#define {name} 1\n" for name in macros)
    bundle = bundles.get(defines + (ROOT / "bench" / "programs" / "bins.c").read_text())
    data = b"".join(b"%s%d.%d\n" % ((b"-", b"", b"+", b"x")[n % 4], n * 7919 % 3001, n % 10) for n in range(3000))
    found = verified(bundle, data, tmp_path, ["heterodoop.gpu.sub-split.bytes=7000"])
    host = verify(bundle, [str(tmp_path / "in")], RunOptions(split_size=9000), host=True)
    assert {(v.outcome, v.difference) for v in (*found.verdicts, *host.verdicts)} == {("equal", None)}


COMPUTED = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  struct bin { int lines; unsigned char kinds; double most; } *bins;
  char line[80], *behind;
  long i, n = atol(getenv("BINS")), *ends = calloc(n, sizeof *ends);
  bins = malloc(n * sizeof *bins);
  behind = calloc(4096, 1);
  for (i = 0; i < n; i++) { bins[i].lines = i; bins[i].kinds = 0; bins[i].most = -0.5; }
#pragma mapreduce mapper key(line) value(i)
  while (fgets(line, sizeof line, stdin) != NULL) {
    int at = atoi(line);
    ends[0]++;
    bins[at].lines++;
    bins[at].kinds |= 1 << (at & 7);
    if (at * 0.5 >= bins[at].most) bins[at].most = at * 0.5;
  }
  for (i = 0; i < n; i++)
    if (bins[i].most > 0) printf("%ld\\t%ld %d %d %g\\n", i, ends[i], bins[i].lines, bins[i].kinds, bins[i].most);
  return behind == NULL;
}
"""


@pytest.mark.parametrize(("bins", "reason"), [
    (40, ""), (65000, ""), (1, "outside of an array"), (66000, "is larger than a kernel has room for"),
])
def test_memory_of_a_computed_size(
    bins: int, reason: str, bundles: Bundles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With one bin the program's 2 is in the memory behind it, where the filter does no harm."""
    monkeypatch.setenv("BINS", str(bins))
    bundle = bundles.get(COMPUTED)
    data = b"".join(b"%d\n" % (n * 7919 % 40 if bins > 1 else n // 80 * 2) for n in range(120))
    for device in (True, False):
        found = verified(bundle, data, tmp_path, ["heterodoop.gpu.sub-split.bytes=90"]) if device else verify(
            bundle, [str(tmp_path / "in")], RunOptions(split_size=150), host=True)
        for verdict in found.verdicts:
            assert verdict.difference is None and verdict.outcome in ("equal", "cpu-only"), verdict
        reasons = {verdict.reason for verdict in found.verdicts} - {""}
        assert bool(reasons) == bool(reason) and all(reason in one for one in reasons), reasons


EXTREMES = r"""
#include <stdio.h>
#include <stdlib.h>
static struct { float first, last; } least[2];
int main(void) {
  char line[80];
  double first = START, last = START, v;
  least[0].first = least[0].last = START;
#pragma mapreduce mapper key(line) value(v)
  while (fgets(line, sizeof line, stdin) != NULL) {
    v = atof(line);
    if (v > first) first = v;
    if (last <= v) last = v;
    if (least[0].first > (float)-v) least[0].first = (float)-v;
    least[line[0] == 'x'].last = (float)-v <= least[line[0] == 'x'].last ? (float)-v : least[line[0] == 'x'].last;
  }
  printf("%g %g %g %g\\n", first, last, least[0].first, least[0].last);
}
"""
# the value before the loop -> lines -> can a device know what is kept?
SIGNS = {
    "-1": {"0 -0": False, "-0 0": False, "-0 -0": True, "0 -0 2": True, "nan -nan": True},
    "0.0": {"-0 -0": True, "-0 -3": True}, "1e999": {"5 inf nan": True}, "-(1e999 - 1e999)": {"5 -0 0": True},
}


def test_zeros_of_two_signs_and_nans_are_kept_as_the_program_compares(bundles: Bundles, tmp_path: Path) -> None:
    for start, cases in SIGNS.items():
        bundle = bundles.get(EXTREMES.replace("START", start))
        for lines, known in cases.items():
            found = verified(bundle, "".join(f"{line}\n" for line in lines.split()).encode(), tmp_path, [])
            host = verify(bundle, [str(tmp_path / "in")], RunOptions(), host=True)
            assert [(v.outcome, v.difference) for v in host.verdicts] == [("equal", None)], (start, lines, host.verdicts)
            (verdict,) = found.verdicts
            if known:
                assert (verdict.outcome, verdict.difference) == ("equal", None), (start, lines, verdict)
            else:
                assert verdict.outcome == "cpu-only" and ZEROS in verdict.reason, (start, lines, verdict)
