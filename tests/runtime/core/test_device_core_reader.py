"""The reader: what getline, fgets, getc and scanf return on the device is what glibc returns on the same bytes."""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Callable

import pytest

from .core_module import ORDERS, Module, Order, Task, i32, put, struct, u8, u64

OK, UNSUPPORTED, READER_STOPPED = 0, 8, 11

# The loops of read_all and scan_all in device_core.cu, over a FILE. Returns the length of the output, -1 for a loop that
# does not end.
GLIBC = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void hex(FILE *to, const char *s, long n) {
    for (long i = 0; i < n; i++) fprintf(to, "%02x", (unsigned char)s[i]);
    fprintf(to, "\n");
}
static int scan_all(FILE *in, FILE *to, const char *form, int wanted, int numbers) {
    char word[2][256];
    int number[2];
    for (int turn = 0; turn < 1000; turn++) {
        memset(word, 0, sizeof word);
        memset(number, 0, sizeof number);
        int n = fscanf(in, form, numbers & 1 ? (void *)&number[0] : word[0], numbers & 2 ? (void *)&number[1] : word[1]);
        if (wanted == -1 ? n == -1 : n != wanted) return 1;
        fprintf(to, "%s %d|%s %d\n", word[0], number[0], word[1], number[1]);
    }
    return 0;
}
static void read_all(FILE *in, FILE *to, int size) {
    char *line = NULL, buffer[600];
    size_t capacity = 0;
    if (size == 0)
        for (long n; (n = getline(&line, &capacity, in)) != -1;) { fprintf(to, "%zu ", capacity); hex(to, line, n + 1); }
    else if (size == 1)
        for (int c; (c = getc(in)) != -1;) fprintf(to, "%d\n", c);
    else
        while (fgets(buffer, size, in)) hex(to, buffer, strlen(buffer) + 1);
    free(line);
}
long run(int size, const char *form, int wanted, int numbers, char *data, long n, char *out, long room) {
    FILE *in = fmemopen(data, n, "r"), *to = fmemopen(out, room, "w");
    int ended = 1;
    if (form) ended = scan_all(in, to, form, wanted, numbers);
    else read_all(in, to, size);
    fclose(in);
    long written = ftell(to);
    fclose(to);
    return ended ? written : -1;
}
"""

Glibc = Callable[..., "bytes | None"]


@pytest.fixture(scope="module")
def glibc(tmp_path_factory: pytest.TempPathFactory) -> Glibc:
    """What the loops print; None if they do not end."""
    library = tmp_path_factory.mktemp("glibc") / "reader.so"
    command = ["gcc", "-O1", "-w", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=GLIBC.encode(), check=True)
    loop = ctypes.CDLL(str(library)).run
    loop.restype = ctypes.c_long

    def run(data: bytes, size: int = 0, form: bytes | None = None, wanted: int = 0, numbers: int = 0) -> bytes | None:
        if not data:
            return b""  # fmemopen has no empty files
        out = ctypes.create_string_buffer(1 << 19)
        n = loop(size, form, wanted, numbers, ctypes.create_string_buffer(data, len(data)), ctypes.c_long(len(data)), out,
                 ctypes.c_long(len(out)))
        assert n < len(out)
        return None if n < 0 else out.raw[:n]

    return run


def read(
    core: Module, records: list[bytes], size: int, begin: list[int] | None, order: Order = ORDERS[0],
) -> list[list[bytes]]:
    """The lines that each item prints."""
    task = Task(records, begin=begin, arena_bytes=8 << 20, pair_slots=1 << 16)
    core.launch("read_all", task.argument(), struct((i32, size)), order=order)
    task.check_memory()
    assert task.status == OK
    printed: list[list[bytes]] = [[] for _ in range(len(begin) - 1 if begin else len(records))]
    for written in task.written():
        printed[written.item].append(written.line)
    return printed


def lines(text: bytes | None) -> list[bytes]:
    assert text is not None
    return text.splitlines()


def random_records(rng: random.Random, longest: int) -> list[bytes]:
    alphabet = rng.choice([b"a\0", b"\0", b"xyz \t", bytes(b for b in range(256) if b != 10)])
    return [bytes(rng.choices(alphabet, k=rng.choice([0, 1, rng.randrange(longest)]))) for _ in range(25)]


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 17, 200, 600])
def test_a_range_reads_as_a_stream(core: Module, glibc: Glibc, size: int, order: Order) -> None:
    rng = random.Random(f"{size}{order}")
    records = random_records(rng, 500)
    begin = [0, 0, 1, 9, 9, 25]
    found = read(core, records, size, begin, order)
    for item, (first, last) in enumerate(zip(begin, begin[1:], strict=False)):
        data = b"".join(record + b"\n" for record in records[first:last])
        assert found[item] == lines(glibc(data, size)), (item, records[first:last])


@pytest.mark.parametrize("length", [0, 1, 117, 118, 119, 120, 237, 238, 239, 240, 1000, 4000])
def test_getline_grows_the_capacity_as_glibc_does(core: Module, glibc: Glibc, length: int) -> None:
    record = b"q" * length
    assert read(core, [record], 0, None) == [lines(glibc(record + b"\n"))]


def test_fgets_of_one_byte_would_never_end(core: Module) -> None:
    buffer_of_one = Task([b"x"])
    core.launch("read_all", buffer_of_one.argument(), struct((i32, 1)))
    assert buffer_of_one.status == OK  # size 1 is getc here
    nothing = Task([b"x"])
    core.launch("read_all", nothing.argument(), struct((i32, -5)))
    assert nothing.status == READER_STOPPED  # fgets returns NULL, and the program's loop ends with input left
    stuck = Task([b"x"])
    core.launch("read_by_ones", stuck.argument())
    assert stuck.status == UNSUPPORTED


def scan(core: Module, records: list[bytes], form: bytes, wanted: int, numbers: int, begin: list[int] | None = None,
         order: Order = ORDERS[0]) -> tuple[int, bytes]:
    task, text = Task(records, begin=begin, arena_bytes=1 << 18, pair_slots=512), put(u8, form + b"\0")
    how = struct((u64, text), (i32, wanted), (i32, numbers))
    core.launch("scan_all", task.argument(), how, blocks=2, threads=4, order=order)
    task.check_memory()
    return task.status, b"".join(w.line + b"\n" for w in task.written())


# Format, result that the loop wants (-1: anything but EOF), which targets are numbers.
FORMS = [
    (b"%s", 1, 0), (b"%s %d", 2, 2), (b"%s\t%d\n", 2, 2), (b"%d%d", 2, 3), (b" %[^\n]", 1, 0), (b"%[^\n]", 1, 0),
    (b"%c", 1, 0), (b"%[^\n]%c", 2, 0), (b"%s %[^\n]\n", 2, 0), (b"%s", -1, 0), (b"%s %d", -1, 2),
    (b"%*s %s", 1, 0), (b"%*c%s", 1, 0),
    (b"%5c", 1, 0), (b"%c ", 1, 0), (b"x%s", 1, 0), (b"%d,", 1, 1), (b"%[^x]", 1, 0), (b"\n%s", 1, 0), (b"%*[ ]%s", 1, 0),
    (b"%[a-z]%*[ \n]", 1, 0),
]
RARELY_KEPT = (b"%[^\n]", b"%[^x]", b"%*c%s", b"%5c", b"%c ", b"x%s", b"%*[ ]%s", b"%[a-z]%*[ \n]")
LINES = [b"foo 12", b"a 1 b 2", b"", b"  ", b"bar", b"12 13", b"7", b" x", b"x1 2,", b"xfoo", b"1,2,3,", b"q\t5", b" q 6 ",
         b"abcde", b"\t", b"ab12", b"foo", b"8 ,"]


@pytest.mark.parametrize(("form", "wanted", "numbers"), FORMS, ids=lambda v: repr(v))
def test_scanf_loops_are_the_program_or_are_left_to_the_cpu(
    core: Module, glibc: Glibc, form: bytes, wanted: int, numbers: int,
) -> None:
    rng, kept = random.Random(repr(form)), 0
    for trial in range(60):
        records = rng.choices(LINES, k=rng.randrange(1, 5))
        data = b"".join(record + b"\n" for record in records)
        wished = glibc(data, form=form, wanted=wanted, numbers=numbers)
        if wished is None:
            continue
        status, found = scan(core, records, form, wanted, numbers, order=ORDERS[trial % len(ORDERS)])
        assert status in (OK, READER_STOPPED)
        if status == OK:
            kept += 1
            assert found == wished, records
    assert kept or form in RARELY_KEPT


@pytest.mark.parametrize(("form", "wanted", "numbers", "record", "status"), [
    (b"%s", 1, 0, b"some words here ", OK),
    (b"%s %d", 2, 2, b"a 1 b 2", OK),
    (b"%s\t%d\n", 2, 2, b"a\t1", OK),
    (b"%c", 1, 0, b"abc", OK),
    (b"%s %d", 2, 2, b"a", READER_STOPPED),       # the number is taken from the next record
    (b"%s %d", 2, 2, b"a b", READER_STOPPED),     # the loop ends here
    (b"%[^\n]", 1, 0, b"abc", READER_STOPPED),    # never passes the newline
    (b"%[^\n]%c", 2, 0, b"abc", OK),
    (b"%[^x]", 1, 0, b"abc", READER_STOPPED),     # goes on in the next record
    (b"%*c%s", 1, 0, b"", READER_STOPPED),        # took the newline, wants a word
    (b"%c ", 1, 0, b"a", READER_STOPPED),         # would skip the next record's leading white space
    (b"x%s", 1, 0, b"xab", READER_STOPPED),       # the newline does not match
    (b"%s", -1, 0, b"a b c", OK),
])
def test_how_a_scanf_loop_may_end(core: Module, form: bytes, wanted: int, numbers: int, record: bytes, status: int) -> None:
    assert scan(core, [record], form, wanted, numbers)[0] == status
    assert scan(core, [record] * 2, form, wanted, numbers)[0] == status


def test_white_space_may_cover_several_records_of_a_range(core: Module) -> None:
    records = [b"a", b"", b" ", b"\t", b"b", b"", b""]
    assert scan(core, records, b"%s", 1, 0, begin=[0, 7]) == (OK, b"a 0| 0\nb 0| 0\n")
    assert scan(core, [b"a", b"", b"b"], b"%s %d", 2, 2, begin=[0, 3])[0] == READER_STOPPED


@pytest.mark.parametrize(("kernel", "begin", "status", "printed"), [
    ("read_two", None, READER_STOPPED, None),       # the second line is the next record's
    ("read_one", None, READER_STOPPED, None),       # the program ends with the first record
    ("read_two", [0, 2, 4], OK, [b"b", b"d"]),      # in a combine item both lines are there
    ("read_two", [0, 1, 4], OK, [b"c"]),
    ("read_one", [0, 2, 4], READER_STOPPED, None),
    ("read_one", [0, 1, 2, 3, 4], READER_STOPPED, None),
])
def test_loops_that_read_otherwise(
    core: Module, kernel: str, begin: list[int] | None, status: int, printed: list[bytes] | None,
) -> None:
    task = Task([b"a", b"b", b"c", b"d"], begin=begin)
    core.launch(kernel, task.argument())
    assert task.status == status
    assert printed is None or [w.line for w in task.written()] == printed
