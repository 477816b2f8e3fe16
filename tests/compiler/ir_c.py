"""Printed IR as a C program: with a few macros for the nodes of our own a C compiler runs it. Not a test module."""

from __future__ import annotations

import subprocess
from pathlib import Path

from heterodoop.compiler.ir import ir
from heterodoop.compiler.ir.text import print_ir

_MACROS = """
struct _IO_FILE; extern struct _IO_FILE *stdin, *stdout, *stderr;
int printf(const char *, ...); int fprintf(struct _IO_FILE *, const char *, ...); int scanf(const char *, ...);
long getline(char **, unsigned long *, struct _IO_FILE *); char *fgets(char *, int, struct _IO_FILE *);
void exit(int); void abort(void);
#define __emit(call, ...) printf(__VA_ARGS__)
#define __stderr(call, ...) fprintf(stderr, __VA_ARGS__)
#define __read_getline(line, capacity) (*(line) = (void *)0, *(capacity) = 0, getline(line, capacity, stdin))
#define __read_fgets(buffer, size) fgets(buffer, size, stdin)
#define __read_pair(...) scanf(__VA_ARGS__)
static void hd_exit(const char *call, ...) {
  __builtin_va_list args; __builtin_va_start(args, call);
  if (__builtin_strcmp(call, "exit") == 0) exit(__builtin_va_arg(args, int));
  abort();
}
#define __exit(...) hd_exit(__VA_ARGS__)
"""


def build(text: str, binary: Path, *, std: str = "gnu2x") -> Path:
    """Compile C text as the CPU filters are compiled."""
    source = binary.with_suffix(".c")
    source.write_text(text)
    flags = [f"-std={std}", "-w", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off"]
    subprocess.run(["gcc", *flags, "-o", binary, source, "-lm"], check=True)
    return binary


def build_ir(program: ir.Program, binary: Path) -> Path:
    """Compile the printed form of a program."""
    text = print_ir(program).replace("static int main(", "int main(")
    text = text.replace("extern int errno;", "extern __thread int errno;")
    return build(_MACROS + text, binary)


def output(binary: Path, data: bytes) -> tuple[int, bytes]:
    done = subprocess.run([binary], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20)
    return done.returncode, done.stdout
