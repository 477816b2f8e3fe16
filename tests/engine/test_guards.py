"""What a record has not written: the task's bytes are the filter's, or it is left to the CPU, with the record and the line.

A line's first letter says what is done with it, so that one program shows many forms.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

from ..support import Bundles, cli_here

pytestmark = pytest.mark.usefixtures("kernel_cache")
FORMS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct head { char tag[4]; short number[8]; };
struct pair { int first; char second; int third; };
static int column(const char *text, int at) { return text[at]; }
static int local(int n) { int x; if (n > 4) x = n; return x + 1; }
static void fill(int *to, int n) { if (n > 4) *to = n; }
static int through(int n) { int x; fill(&x, n); return x; }
int main(void) {
  char *line = NULL, own[100], year[5] = "";
  size_t cap = 0;
  int n, at, value;
#pragma mapreduce mapper key(own) value(value)
  while ((n = (int)getline(&line, &cap, stdin)) != -1) {
    int f[4], best, i = 0;
    char word[80], *p = line;
    struct pair one, two;
    value = 0;
    own[99] = 0;
    at = atoi(line + 1);
    switch (line[0]) {
    case 'a': value = column(line, 22); break;
    case 'b': for (i = 0; i < 24; i++) value += line[i]; break;
    case 'c': p += at; value = *p; break;
    case 'd': value = ((struct head *)line)->number[at]; break;
    case 'e': value = memchr(line, 'z', 40) != NULL; break;
    case 'f': fwrite(line, 1, (size_t)at, stdout); puts("\t1"); break;
    case 'g': printf("%.*s\t1\n", 3, line + at); break;
    case 'h': memcpy(word, line, 30); value = word[2]; break;
    case 'i': strncpy(word, line + at, 4); value = word[0]; break;
    case 'j': value = sscanf(line + 1, "%d %d", &f[0], &f[1]); value = f[1]; break;
    case 'k': for (p = strtok(line + 1, ","); p && i < 4; p = strtok(NULL, ",")) f[i++] = atoi(p); value = f[2]; break;
    case 'l': if (n > 4) best = at; value = best; break;
    case 'm': value = local(n); break;
    case 'n': value = through(n); break;
    case 'o': for (i = 1; i < n - 1; i++) word[i - 1] = line[i]; if (n > 4) word[i - 1] = 0; printf("%s\t1\n", word); break;
    case 'p': one.first = 1; if (n > 4) one.third = 2; value = one.third; break;
    case 'q': one.first = 1; one.second = 2; if (n > 4) one.third = 3; two = one; value = two.first; break;
    case 'r': strncpy(year, line + 1, 4); printf("%s\t1\n", year); break;
    case 's': own[at] = 's'; value = own[at]; break;
    case 't': value = own[at]; break;
    }
    printf("%c\t%d\n", line[0], value);
  }
  return 0;
}
"""
LINE = "the program reads or writes behind the end of a line"
OWN = "the program reads what it has not written for this record"
LONG = "............................"  # of which a short line behind it finds something in getline's buffer


def line_of(letter: str) -> int:
    return next(number for number, text in enumerate(FORMS.splitlines(), 1) if f"case '{letter}':" in text)


@pytest.fixture(scope="module")
def forms(bundles: Bundles) -> Path:
    return bundles.get(FORMS)


@pytest.mark.parametrize(("record", "why", "line"), [
    ("a", LINE, 7), ("b", LINE, 0), ("c30", LINE, 0), ("d7", LINE, 0), ("e", LINE, 0), ("f9", LINE, 0), ("g9", LINE, 0),
    ("h", LINE, 0), ("i9", LINE, 0), ("j7", OWN, 0), ("k1,2", OWN, 0), ("l1", OWN, 0), ("m1", OWN, 8), ("n1", OWN, 10),
    ("o1", OWN, 0), ("p1", OWN, 0), ("q1", OWN, 0), ("t7", OWN, 0),
])
def test_what_was_not_written_is_left_to_the_cpu(forms: Path, tmp_path: Path, record: str, why: str, line: int) -> None:
    (tmp_path / "in").write_text(f"r2021\na5,6,7,8 zz {LONG}\n{record}\nr1999\n")
    (verdict,) = verify(forms, [str(tmp_path / "in")], RunOptions(device="emulated", reducers=0)).verdicts
    assert verdict.outcome == "cpu-only"
    assert verdict.reason == f"record 3: {why} (source line {line or line_of(record[0])})"


def test_what_was_written_stays_on_the_device(forms: Path, tmp_path: Path) -> None:
    """`year` ends in a NUL from before the loop, over which no record writes."""
    records = [
        f"a{LONG}", f"b{LONG}", f"c20 {LONG}", f"d1 {LONG}", f"e {LONG}{LONG}", "e z", "f3 x", f"g1 {LONG}", f"h{LONG}",
        "i2 abc", "j3 4", "k1,2,3", "l5678", "m5678", "n5678", "o5678", "p5678", "q5678", "r2021", "s7", "r1",
    ]
    (tmp_path / "in").write_text("\n".join(records))
    (verdict,) = verify(forms, [str(tmp_path / "in")], RunOptions(device="emulated", reducers=0)).verdicts
    assert (verdict.outcome, verdict.reason) == ("equal", "")


STALE = r"""
#include <stdio.h>
int main(void) {
  char line[300], word[64];
  int one = 1;
#pragma mapreduce mapper key(word) value(one)
  while (fgets(line, sizeof line, stdin)) {
    int j = 0;
    for (int i = 0; line[i] && line[i] != '\n' && j < 60; i++)
      if (line[i] > ' ') word[j++] = line[i];
    if (j > 20) word[j] = 0;
    word[63] = 0;
    printf("%.60s\t%d\n", word, one);
  }
  return 0;
}
"""


@pytest.mark.parametrize("short", [b"", b"short\n"])
def test_a_record_far_behind_any_sample(bundles: Bundles, tmp_path: Path, short: bytes) -> None:
    """Without any check of results: of 7,000 records the last but one forgets the end of its word."""
    bundle = bundles.get(STALE)
    usual = b"a word of more than twenty letters %d\n" * 7000
    (tmp_path / "in").write_bytes(usual + short + b"the last word of this input here\n")
    for name, device in (("device", ["--device", "emulated", "--policy", "gpu-only", "--check", "none"]), ("cpu", [])):
        done = cli_here("run", bundle, tmp_path / "in", "-o", tmp_path / name, "--reducers", "0", *device)
        if name == "device":
            assert ("[HD410]" in done.message) == bool(short)
            assert not short or f"record 7001: {OWN} (source line 13)" in done.message
    assert (tmp_path / "device" / "part-00000").read_bytes() == (tmp_path / "cpu" / "part-00000").read_bytes()
