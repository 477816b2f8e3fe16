"""The C programs whose kernels gpu_programs.cu holds, and a device to run those on. Not a test module."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass, field
from pathlib import Path

from heterodoop.executor.native import gpu_abi as abi
from heterodoop.executor.native.runtime import MapSpec, Native, Progress, TaskResult, map_block

from ... import kept

WORDS = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *line = NULL; size_t capacity = 0; ssize_t length;
  while ((length = getline(&line, &capacity, stdin)) != -1)
    for (long from = 0, at = 0; at < length; ++at) {
      if (line[at] != ' ' && line[at] != '\n') continue;
      if (at > from) { fwrite(line + from, 1, at - from, stdout); fputs("\t1\n", stdout); }
      from = at + 1;
    }
}
"""
SUM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *line = NULL, *key = NULL; size_t capacity = 0; long total = 0;
  while (getline(&line, &capacity, stdin) != -1) {
    char *value = strchr(line, '\t');
    *value++ = 0;
    if (key && strcmp(key, line) != 0) { printf("%s\t%ld\n", key, total); total = 0; }
    free(key);
    key = strdup(line);
    total += atol(value);
  }
  if (key) printf("%s\t%ld\n", key, total);
}
"""
STATS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *line = NULL, *key = NULL; size_t capacity = 0; int least = 0, most = 0; long total = 0; unsigned count = 0;
  while (getline(&line, &capacity, stdin) != -1) {
    char *at = strchr(line, '\t');
    *at++ = 0;
    int low = strtol(at, &at, 10), high = strtol(at + 1, &at, 10);
    long sum = strtol(at + 1, &at, 10);
    unsigned n = strtoul(at + 1, &at, 10);
    if (key && strcmp(key, line) == 0) {
      if (low < least) least = low;
      if (high > most) most = high;
      total += sum; count += n;
      continue;
    }
    if (key) printf("%s\t%d,%d,%ld,%u\n", key, least, most, total, count);
    free(key);
    key = strdup(line);
    least = low; most = high; total = sum; count = n;
  }
  if (key) printf("%s\t%d,%d,%ld,%u\n", key, least, most, total, count);
}
"""
NUMBERS_STATS = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *line = NULL; size_t capacity = 0; ssize_t length;
  while ((length = getline(&line, &capacity, stdin)) != -1) {
    line[length - 1] = 0;
    char *key; long n = strtol(line, &key, 10);
    if (*key == '?') fputs("reporter:counter:stats,asked,1\n", stderr);
    if (*key == '!') printf("%s\t%ld,7,7,7\n", key, n);
    else printf("%s\t%ld,%d,%ld,1\n", key, n, (int)n, n);
  }
}
"""
NUMBERS = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *line = NULL; size_t capacity = 0;
  while (getline(&line, &capacity, stdin) != -1) {
    char *rest; long key = strtol(line, &rest, 10), n = strtol(rest, &rest, 10);
    printf("%ld\t%ld\n", key, n);
  }
}
"""
IDENTITY = r"""
#include <stdio.h>
int main(void) { int c; while ((c = getchar()) != EOF) putchar(c); }
"""
COPIES = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *line = NULL; size_t capacity = 0;
  while (getline(&line, &capacity, stdin) != -1) {
    char *rest; long n = strtol(line, &rest, 10);
    if (n < 0) { fprintf(stderr, "reporter:counter:copies,negative,1\nnegative: %ld", n); fputs("\n", stderr); }
    for (long i = 0; i < n; ++i) printf("%ld\t%s", i, rest);
  }
}
"""
# kernel -> its C program
SOURCES = {"words_cursor": WORDS, "words_area": WORDS, "words_block_area": WORDS, "sum_cursor": SUM, "sum_area": SUM,
           "sum_warp_area": SUM, "sum_warp": SUM, "stats_cursor": STATS,
           "words_folded": WORDS, "stats_folded": NUMBERS_STATS, "numbers_folded": NUMBERS,
           "identity": IDENTITY, "copies_cursor": COPIES, "copies_area": COPIES}


def compiled() -> dict[str, str]:
    """Kernel name -> path of the C program's filter."""
    argv = ["gcc", "-O1", "-w", "-D_GNU_SOURCE", "-x", "c", "-"]
    return {name: str(kept.program(argv, text=source)) for name, source in SOURCES.items()}


@dataclass(frozen=True)
class Kernel:
    """A kernel of gpu_programs.cu. `objects` and `relocations` (object, at, delta) as in task/gpu_api.h."""

    entry: str
    shared: bytes = b"\0"
    objects: tuple[bytes, ...] = ()
    relocations: tuple[tuple[int, int, int], ...] = ()
    threads: int = 32
    blocks: int = 0
    kvpairs: int = 0
    key_bytes: int = 0
    value_bytes: int = 0
    flags: int = 0

    def block(self, module: Path) -> abi.KernelBlock:
        rows = [abi.RelocationBlock(row[0], 0, *row[1:]) for row in self.relocations]
        return abi.KernelBlock(
            module=str(module).encode(), entry=self.entry.encode(), threads=self.threads, blocks=self.blocks,
            shared=_blob(self.shared), objects=(abi.Blob * len(self.objects))(*map(_blob, self.objects)),
            n_objects=len(self.objects), relocations=(abi.RelocationBlock * len(rows))(*rows), n_relocations=len(rows),
            kvpairs=self.kvpairs, sink=int(self.entry.endswith("_area")), key_bytes=self.key_bytes,
            value_bytes=self.value_bytes, flags=self.flags,
        )


def texts(chosen: int) -> Kernel:
    """The kernel `touchy`, with "one:" as its first text and "two:" as its second, both in one object."""
    return Kernel("touchy", struct.pack("<QQi4x", 0, 0, chosen), (b"one:\0two:\0",), ((0, 0, 0), (0, 8, 5)))


@dataclass(frozen=True)
class Modules:
    programs: Path
    runtime: Path


@dataclass
class Device:
    """An emulated device. `options` of hd_gpu_options apply to all tasks, those of `run` to one."""

    native: Native
    modules: Modules
    options: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        abi.declare(self.native.library)
        error = ctypes.create_string_buffer(1024)
        self.handle = self.native.library.hd_device_open(b"emulated", 0, None, error, len(error))
        assert self.handle, error.value

    def run(self, spec: MapSpec, map: Kernel, combine: Kernel | None = None, progress: Progress | None = None,
            **options: int) -> TaskResult:
        chosen = abi.OptionsBlock(runtime_module=str(self.modules.runtime).encode(), **self.options | options)
        task, first = map_block(spec), map.block(self.modules.programs)
        second = ctypes.byref(combine.block(self.modules.programs)) if combine else None
        blocks = (ctypes.byref(task), ctypes.byref(first), second, ctypes.byref(chosen))
        call = self.native.library.hd_gpu_map_task
        return self.native.call(lambda seen, result: call(self.handle, *blocks, seen, result), progress)

    def stats(self) -> dict[str, int]:
        block = abi.StatsBlock()
        self.native.library.hd_device_stats(self.handle, ctypes.byref(block))
        return {name: int(getattr(block, name)) for name in abi.STATS}

    def close(self) -> None:
        self.native.library.hd_device_close(self.handle)


def _blob(data: bytes) -> abi.Blob:
    return abi.Blob(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data))
