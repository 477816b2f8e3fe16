"""A host kernel for tests, written by hand: the word count of WORDS and SUM in one program, or WORDS, and ways to go wrong.

It speaks the protocol of runtime/host/host_kernel/map.cpp. `MODE` in its environment says what it does beside counting.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

from heterodoop.kernel_plan import KernelPlan
from heterodoop.manifest import FILE, HostKernel, Kernel, sha256

# Words of a line end at white space; each gives the pair WORD TAB 1.
WORDS = r"""
#include <ctype.h>
#include <stdio.h>
int main(void) {
  int c, in = 0;
  while ((c = getchar()) != EOF) {
    if (isspace(c)) { if (in) printf("\t1\n"); in = 0; } else { putchar(c); in = 1; }
  }
}
"""
SUM = r"""
#include <stdio.h>
#include <string.h>
int main(void) {
  char key[100], last[100] = ""; long n, sum = 0;
  while (scanf("%99s %ld", key, &n) == 2) {
    if (*last && strcmp(key, last)) { printf("%s\t%ld\n", last, sum); sum = 0; }
    strcpy(last, key); sum += n;
  }
  if (*last) printf("%s\t%ld\n", last, sum);
}
"""
HOST = r"""
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { ROOM = 1 << 16 };
static struct { char key[100]; long n; } table[ROOM];
static long pairs, bytes, keys, as_text, text;
static const char *mode = "";
static int is(const char *name) { return strcmp(mode, name) == 0; }
static void add(const char *word) {
  if (as_text) { text += printf("%s\t1\n", word); return; }
  unsigned long h = 5381;
  for (const char *p = word; *p; ++p) h = h * 33 + (unsigned char)*p;
  while (table[h % ROOM].n && strcmp(table[h % ROOM].key, word)) ++h;
  strcpy(table[h % ROOM].key, word);
  ++table[h % ROOM].n;
  ++pairs;
  bytes += strlen(word) + 3;
}
static void flush_table(void) {
  for (int i = 0; i < ROOM; ++i)
    if (table[i].n) { printf("%s\t%ld\n", table[i].key, table[i].n); ++keys; table[i].n = 0; }
}
static void say(const char *text) {
  int left = write(3, text, strlen(text));
  (void)left;
}
static void live_ins(void) {
  static char data[1 << 20];
  long n, all = 0;
  while ((n = read(4, data + all, sizeof data - all)) > 0) all += n;
  printf("live-ins:");
  for (long i = 0; i < all; ++i) printf("%02x", (unsigned char)data[i]);
  printf("\t1\n");
  ++keys;
}
static void descriptors(void) {
  for (int fd = 0; fd < 100; ++fd)
    if (fcntl(fd, F_GETFD) >= 0) { char word[20]; sprintf(word, "fd%d", fd); add(word); }
}
static FILE *part_of_file(long size) {
  char *data = malloc(size + 1);
  for (long all = 0, n; all < size; all += n)
    if ((n = read(0, data + all, size - all)) <= 0) exit(91);
  if (memchr(data, '\r', size) || is("pipe")) exit(92);
  return fmemopen(data, size, "r");
}
int main(int argc, char **argv) {
  char line[1 << 16];
  long record = 0;
  if (getenv("MODE")) mode = getenv("MODE");
  if (argc > 1 && strcmp(argv[1], "text") == 0) { as_text = 1; --argc; ++argv; }
  if (is("unread")) { say("records 0\npairs 0\nbytes 0\nkeys 0\npartial 0\nlongest 0\n"); return 0; }
  if (is("silent")) sleep(60);
  FILE *in = argc > 1 ? part_of_file(atol(argv[1])) : stdin;
  if (is("how")) { printf("%s\t1\n", argc > 1 ? "file" : "pipe"); ++keys; }
  if (is("live-ins")) live_ins();
  if (is("descriptors")) descriptors();
  for (; fgets(line, sizeof line, in); ++record) {
    if (is("partial") && record % 7 == 6) flush_table();
    if (is("errors")) fprintf(stderr, "reporter:counter:group,lines,1\nline %ld\n", record);
    if (is("left") && record == 4) { say("left 6\nrecord 4\nline 17\n"); return 90; }
    if (is("unknown") && record == 4) { say("left 52\nrecord 4\nline 0\n"); return 90; }
    if (is("killed") && record == 4) raise(SIGKILL);
    if (is("exits") && record == 4) exit(3);
    if (strstr(line, "poison")) {
      fprintf(stderr, "reporter:counter:bad,lines,1\n");
      say("left 12\nrecord 0\nline 3\n");
      return 90;
    }
    for (char *word = strtok(line, " \t\r\n\v\f"); word; word = strtok(NULL, " \t\r\n\v\f")) add(word);
  }
  flush_table();
  if (is("twice")) { printf("the\t0\n"); ++keys; }
  if (is("wrong")) { printf("zzz\t1\n"); ++keys; }
  if (is("long")) { for (int i = 0; i < 70000; ++i) putchar('x'); putchar('\n'); ++keys; }
  if (is("silent-report")) return 0;
  if (is("no-reason")) return 90;
  char report[200];
  const char *form = "records %ld\npairs %ld\nbytes %ld\nkeys %ld\npartial %d\nlongest %d\n";
  sprintf(report, form, record - is("short"), pairs, bytes, keys, is("partial"), is("long-line") ? 65537 : 65536);
  if (as_text) sprintf(report, "records %ld\ntext %ld\n", record - is("short"), text + is("miscounted"));
  if (is("odd")) strcat(report, "colour 7\n");
  if (is("cut")) report[strlen(report) - 1] = 0;
  if (is("again")) strcat(report, "keys 7\n");
  if (is("no-number")) strcpy(report, "pairs -1\n");
  if (is("totals")) { strcat(report, "totals 4\nabcd"); fprintf(stderr, "half a"); }
  if (is("totals-cut")) strcat(report, "totals 5\nabcd");
  if (is("reason")) strcat(report, "left 52\n");
  if (is("miscounted") && !as_text) sprintf(report, form, record, pairs, bytes, keys + 1, 0, 0);
  say(report);
  if (is("endless")) for (int i = 0; i < 500; ++i) say("pairs 100\n");
  return 0;
}
"""


def with_host_kernel(bundle: Path, program: Path, *, folds: bool = True, regroup: bool = True, **kernel: object) -> Path:
    """The bundle, its map with a host kernel. `kernel`: fields of its kernel that are not the usual ones."""
    text, binary = bundle / "cuda" / "map.cu", bundle / "bin" / "map.host"
    text.parent.mkdir()
    text.write_text("// text\n")
    shutil.copyfile(program, binary)
    binary.chmod(0o755)
    made = Kernel("cuda/map.cu", "hd_map", 128, 0, 0, 0, 0, 1, 0, (), "", "once", KernelPlan(), ())
    data = json.loads((bundle / FILE).read_text())
    (map,) = (one for one in data["programs"] if one["role"] == "map")
    map["kernel"] = asdict(made) | kernel
    map["host"] = asdict(HostKernel("bin/map.host", folds, folds and regroup))
    added = ["cuda/map.cu", "bin/map.host", *([str(kernel["prologue"])] if "prologue" in kernel else [])]
    data["binaries"] += [{"path": path, "sha256": sha256(bundle / path)} for path in added]
    (bundle / FILE).write_text(json.dumps(data))
    return bundle


def with_host_reducer(bundle: Path, program: Path) -> Path:
    """The bundle, its reducer with a host kernel."""
    binary = bundle / "bin" / "reduce.host"
    shutil.copyfile(program, binary)
    binary.chmod(0o755)
    data = json.loads((bundle / FILE).read_text())
    (reduce,) = (one for one in data["programs"] if one["role"] == "reduce")
    reduce["host"] = asdict(HostKernel("bin/reduce.host", False, False))
    data["binaries"] += [{"path": "bin/reduce.host", "sha256": sha256(binary)}]
    (bundle / FILE).write_text(json.dumps(data))
    return bundle
