"""Host kernels, run as programs: the lines of the map filter, or of it and the combiner, or left with a reason."""

from __future__ import annotations

import math
import os
import random
import signal
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.spine import emit
from heterodoop.toolchain import cc

from ..support import Bundles, cli_here
from .host_program import BROKEN, LEFT, WANTS_PIPE, Done, filter_output, filters, on_file, run_host

pytestmark = pytest.mark.usefixtures("kernel_cache")
APPS = Path(__file__).resolve().parents[2] / "apps"
# Numbers of hd::Status (runtime/device/steps/abi.h).
EXIT_CALLED, DIVISION, UNTERMINATED, CARRIAGE_RETURN, UNSUPPORTED, OUTSIDE_LINE = 3, 4, 5, 6, 8, 12
UNREADABLE, NO_ROOM = 16, 17

COMBINE = """#include <stdio.h>
#include <string.h>
int main(void)
{
    char key[32], previous[32] = "";
    TYPE value, sum = 0;
#pragma mapreduce combiner key(previous) value(sum) keyin(key) valuein(value) keylength(32)
    while (scanf("%31s SPEC", key, &value) == 2) {
        if (strcmp(key, previous) == 0) {
            STEP;
        } else {
            if (previous[0] != 0)
                printf("%s\\tSPEC\\n", previous, sum);
            strcpy(previous, key);
            sum = value;
        }
    }
    if (previous[0] != 0)
        printf("%s\\tSPEC\\n", previous, sum);
    return 0;
}
"""
MAP = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t read;
#pragma mapreduce mapper key(line) value(read) keylength(64)
    while ((read = getline(&line, &size, stdin)) != -1) {
        BODY
    }
    return 0;
}
"""



def shortened(data: bytes) -> str:
    """A test's name is an environment variable of what it starts: megabytes fit none."""
    return repr(data[:20])


def combine(kind: str = "int", spec: str = "%d", step: str = "sum += value") -> str:
    return COMBINE.replace("TYPE", kind).replace("SPEC", spec).replace("STEP", step)


def made(bundles: Bundles, body: str, combiner: str) -> Path:
    return bundles.get(MAP.replace("BODY", body), combiner)


def same(bundle: Path, data: bytes, scratch: Path) -> Done:
    """Runs it: it must do what the filters do."""
    done = run_host(bundle, data, scratch)
    assert done.status == 0, done
    assert done.lines == filters(bundle, data)
    assert done.report["keys"] == len(done.lines) and done.report["partial"] == 0
    return done


def left(bundle: Path, data: bytes, scratch: Path, status: int, record: int) -> Done:
    """Runs it: it must give up, and print nothing."""
    done = run_host(bundle, data, scratch)
    assert (done.status, done.out, done.err) == (LEFT, b"", b""), done
    assert (done.report["left"], done.report["record"]) == (status, record)
    return done


@pytest.mark.parametrize("name", [
    "histmovies", "histratings", "linear_regression", "logistic_regression", "pagerank", "ssb_q11", "wordcount",
])
def test_an_app(name: str, bundles: Bundles, tmp_path: Path) -> None:
    bundle, data = bundles.app(APPS / name), (APPS / name / "sample.txt").read_bytes()
    done = run_host(bundle, data, tmp_path, cwd=APPS / name)
    assert done.status == 0 and not done.err
    assert done.lines == filters(bundle, data, cwd=APPS / name)
    assert done.report["keys"] == len(done.lines) <= done.report["pairs"]


@pytest.mark.parametrize("name", ["wordcount", "kmeans"])
def test_an_app_optimised_as_users_have_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX")
    cli_here("compile", APPS / name, "-o", tmp_path / "x.hdp")
    data, folds = (APPS / name / "sample.txt").read_bytes(), name == "wordcount"
    done = run_host(tmp_path / "x.hdp", data, tmp_path, cwd=APPS / name, as_text=not folds)
    expected = filters(tmp_path / "x.hdp", data) if folds else [filter_output(tmp_path / "x.hdp/bin/map", data, APPS / name)]
    assert done.status == 0 and (done.lines if folds else [done.out]) == expected


@pytest.mark.parametrize("size", [0, 2, 8, 700_000, 3_000_000])
def test_a_part_of_a_file_is_read_to_its_end_and_no_further(bundles: Bundles, tmp_path: Path, size: int) -> None:
    data = b"a\n" * (size // 2) + b"b b\n" * 100_000
    (tmp_path / "file").write_bytes(data)
    done = on_file(bundles.app(APPS / "wordcount") / "bin" / "map.host", tmp_path / "file", size, tmp_path)
    assert (done.status, done.out) == (0, b"a\t%d\n" % (size // 2) if size else b"")
    assert done.report["records"] == done.report["pairs"] == size // 2


@pytest.mark.parametrize(
    "data", [b"a\r\n", b"a\n" * 500_000 + b"\r\n", b"a\n" + b"x" * (1 << 20) + b"\n"], ids=shortened)
def test_a_file_with_carriage_returns_or_a_huge_record_has_to_come_by_a_pipe(
    bundles: Bundles, tmp_path: Path, data: bytes,
) -> None:
    (tmp_path / "file").write_bytes(data)
    program = bundles.app(APPS / "wordcount") / "bin" / "map.host"
    assert on_file(program, tmp_path / "file", len(data), tmp_path).status == WANTS_PIPE


def test_a_file_that_ends_too_early_ends_the_program(bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\n")
    program = bundles.app(APPS / "wordcount") / "bin" / "map.host"
    assert on_file(program, tmp_path / "file", 4, tmp_path).status == BROKEN


def test_the_counts_are_those_of_the_maps_output(bundles: Bundles, tmp_path: Path) -> None:
    done = run_host(bundles.app(APPS / "wordcount"), b"a bc a\n" + b"x" * 200 + b" a\n", tmp_path)
    assert done.lines == [b"a\t3\n", b"bc\t1\n", b"x" * 200 + b"\t1\n"]
    # A vint of one byte before a text of up to 127 bytes, else of two.
    nbytes = 3 * (2 + 2) + (3 + 2) + (202 + 2)
    assert done.report == {"records": 2, "pairs": 5, "bytes": nbytes, "keys": 3, "partial": 0, "longest": 202}


@pytest.mark.parametrize("data", [
    b"", b"\n", b"\n\n", b"a\n", b"a\n\n", b" a  b\n", b"a" * 255 + b"\n", b"a\0b\n", b"a\rb\r\n", b"\xff\xfe \x80\n",
    (b"abcdefgh" * 3)[:17] + b" " + (b"abcdefgh" * 3)[:16] + b" abcdefghabcdefgh\n", b"a " * 600_000 + b"\n",
    b"".join(b"%d " % n for n in range(300_000)) + b"\n", b"x\n" * 70_000, b"ab\n" * 349_525 + b"cd\n",
], ids=shortened)
def test_words(data: bytes, bundles: Bundles, tmp_path: Path) -> None:
    same(bundles.app(APPS / "wordcount"), data, tmp_path)


def test_a_buffer_that_ends_anywhere_in_a_record(bundles: Bundles, tmp_path: Path) -> None:
    """The input's buffer has a mebibyte and is filled a quarter of it at a time."""
    bundle = bundles.app(APPS / "wordcount")
    for length in (*range((1 << 18) - 70, (1 << 18) + 4), (1 << 20) - 66, (1 << 20) - 65, (1 << 20) - 64, 1 << 20, 5 << 20):
        data = b"a" * 9 + b" " * (length - 10) + b"\nbcd\n\ne\n"
        assert run_host(bundle, data, tmp_path).lines == [b"a" * 9 + b"\t1\n", b"bcd\t1\n", b"e\t1\n"], length


def test_a_last_line_without_an_end_is_no_record(bundles: Bundles, tmp_path: Path) -> None:
    left(bundles.app(APPS / "wordcount"), b"a b\nc", tmp_path, UNSUPPORTED, 1)


def test_a_program_that_ends_itself(bundles: Bundles, tmp_path: Path) -> None:
    done = left(bundles.app(APPS / "wordcount"), b"a\nb\n" + b"x" * 256 + b"\n", tmp_path, EXIT_CALLED, 2)
    text = (APPS / "wordcount" / "map.c").read_text().splitlines()
    assert "exit(1)" in text[done.report["line"] - 1]


# ------------------------------------------------------------------------------------------ pairs in every spelling

KEYS = b"one two\nthree\nfour\nfive six seven\n1\nabcdefghijklmnop\nabcdefghijklmnopq\nabcdefghijklmnopqrstuvwxy\none\n"
CUT = "line[strcspn(line, \" \\n\")] = 0; "


@pytest.mark.parametrize("body", [
    'printf("%s\\t%d\\n", line, 3);',
    'printf("%s\\t3\\n", line);',
    'printf("%s", line); printf("\\t%d", 3); printf("\\n");',
    'putchar(line[0]); fputs("_", stdout); printf("%s\\t%ld\\n", line, read);',
    'printf("k%d\\t%d\\n", (int)read, -1);',
    'printf("%d:%s:%c\\t%zd\\n", 7, line, line[0], read);',
    'printf("%.4s\\t%d\\n", line, 3);',
    'printf("%.1f\\t%u\\n", read / 2.0, 4u);',
    'printf("all\\t%d\\n", 1);',
    'printf("%s\\t%d\\n%s_\\t%d\\n", line, 1, line, 2);',
    'printf("%s\\t%03d\\n", line, 3);',
    'printf("%s\\t%lld\\n", line, -2147483648LL);',
    'if (read > 5) printf("%s\\t%d\\n", line, 2147483647);',
])
def test_pairs(body: str, bundles: Bundles, tmp_path: Path) -> None:
    same(made(bundles, CUT + body, combine()), KEYS, tmp_path)


@pytest.mark.parametrize(("body", "status", "record"), [
    ('printf("%s\\t%5d\\n", line, 3);', UNREADABLE, 0),
    ('printf("%s\\t+%d\\n", line, 3);', UNREADABLE, 0),
    ('printf("%s\\t%d \\n", line, 3);', UNREADABLE, 0),
    ('printf("%s\\t%lld\\n", line, read > 5 ? 2147483648LL : 1LL);', UNREADABLE, 0),
    ('printf("%s\\t%u\\n", line, read == 2 ? 4294967295u : 1u);', UNREADABLE, 4),
    ('printf("%s \\t%d\\n", line, 1);', UNREADABLE, 0),
    ('printf("%s\\t\\t%d\\n", line, 1);', UNREADABLE, 0),
    ('printf("\\t%d\\n", 1);', UNREADABLE, 0),
    ('printf("%s\\n", line);', UNREADABLE, 0),
    ('printf("%s%s%s\\t%d\\n", line, line, line, 1);', UNREADABLE, 5),
    ('if (read > 6) printf("%s\\t%d", line, 1);', UNTERMINATED, 0),
    ('printf("%s\\t%d\\r\\n", line, 1);', CARRIAGE_RETURN, 0),
    ('printf("%c\\t%d\\n", 13, 1);', CARRIAGE_RETURN, 0),
    ('printf("%c\\t%d\\n", 0, 1);', UNREADABLE, 0),
    ('printf("%s\\t%d\\n", line, 6 / (int)(read - 6));', DIVISION, 1),
    ('printf("%c\\t%d\\n", line[read], line[read + 1] == 0);', OUTSIDE_LINE, 0),
])
def test_what_does_not_read_back_is_left(body: str, status: int, record: int, bundles: Bundles, tmp_path: Path) -> None:
    left(made(bundles, CUT + body, combine()), KEYS, tmp_path, status, record)


@pytest.mark.parametrize(("kind", "spec", "step"), [
    ("int", "%d", "sum += value"), ("unsigned", "%u", "sum += value"), ("long", "%ld", "sum += value"),
    ("unsigned long", "%lu", "sum += value"), ("long", "%ld", "if (value < sum) sum = value"),
    ("int", "%d", "if (value > sum) sum = value"), ("unsigned long", "%lu", "if (value > sum) sum = value"),
])
def test_overflow_and_order_are_the_combiners(kind: str, spec: str, step: str, bundles: Bundles, tmp_path: Path) -> None:
    bits, signed = (64 if "long" in kind else 32), "unsigned" not in kind
    most = (1 << (bits - signed)) - 1
    numbers = [most, 1, 7, most - 5, 0, *([-1, -most - 1, -most] if signed else [])]
    body = "char *end = strchr(line, ' '); *end = 0; "
    body += 'printf("%s\\t%ld\\n", line, atol(end + 1));' if signed else \
            'printf("%s\\t%lu\\n", line, strtoul(end + 1, NULL, 10));'
    data = b"".join(b"k%d %d\n" % (n % 3, numbers[n * n % len(numbers)]) for n in range(60))
    same(made(bundles, body, combine(kind, spec, step)), data, tmp_path)


# ------------------------------------------------------------------------------------------ pairs that wait for their slots

MANY = b"".join(b"k%d\n" % n for n in range(20_000))  # the table is a large one long before the last of them


@pytest.mark.parametrize("odd", [
    "", 'if (read > 5) { printf("%s\\t", line); printf("%ld\\n", read); }', 'printf("%s\\t%03ld\\n", line, read % 7);',
])
def test_steps_happen_in_their_order_in_a_large_table(odd: str, bundles: Bundles, tmp_path: Path) -> None:
    """Of keys in their slots, longer ones, pairs that are put together as text between typed ones."""
    rng = random.Random(7)
    data = MANY + b"".join(b"k%0*d\n" % (rng.choice([1, 2, 14, 15, 16, 22]), rng.randrange(30)) for _ in range(40_000))
    body = f'{CUT}printf("%s\\t%ld\\n", line, (long)(line[read - 2] - 48) * read); {odd}'
    same(made(bundles, body, combine("long", "%ld", "sum = sum * 31 + value")), data, tmp_path)


@pytest.mark.parametrize(("key", "status"), [("a\\tb", UNREADABLE), ("a\\rb", CARRIAGE_RETURN), ("a b", UNREADABLE)])
def test_a_key_that_does_not_read_back_in_a_large_table(key: str, status: int, bundles: Bundles, tmp_path: Path) -> None:
    body = f'{CUT}printf("%s\\t%d\\n", line[0] == 33 ? "{key}" : line, 1);'
    left(made(bundles, body, combine()), MANY + b"!\n" + b"k1\n" * 9, tmp_path, status, 20_000)


# ------------------------------------------------------------------------------------------ doubles to the last digit

def numbers(rng: random.Random, count: int) -> list[float]:
    """Of all sizes, whole ones, short decimals, ties of seventeen digits, and those around powers of ten and of two."""
    ends = [0.0, -0.0, 5e-324, 2.0**53, 2.0**53 - 1, 1e15, 1e16, 1e17, 0.1, 1e-3, 1e-4, 1e-5, 1.7976931348623157e308]
    drawn: list[Callable[[], float]] = [
        lambda: from_bits(rng.getrandbits(64) & ~(0x7ff << 52) | rng.randrange(2047) << 52), lambda: rng.choice(ends),
        lambda: rng.uniform(-100, 100), lambda: round(rng.uniform(-100, 100), rng.randrange(12)),
        lambda: float(rng.randrange(-(1 << rng.randrange(1, 62)), 1 << 62)), lambda: -rng.getrandbits(20) / 8,
        lambda: rng.getrandbits(53) * 2.0 ** -rng.randrange(70), lambda: 10.0 ** rng.randrange(-30, 30),
        lambda: math.nextafter(10.0 ** rng.randrange(-30, 30), rng.choice([0.0, 1e300])),
    ]
    return [rng.choice(drawn)() for _ in range(count)]


def from_bits(bits: int) -> float:
    (number,) = struct.unpack("<d", struct.pack("<Q", bits))
    return float(number)


def counted(bundle: Path, data: bytes) -> tuple[int, int, int]:
    """Pairs of the map filter, their bytes as Hadoop counts them (short ones), and those of its longest line."""
    lines = filter_output(bundle / "bin" / "map", data).splitlines()
    return len(lines), sum(len(line) + 1 for line in lines), max(map(len, lines))


@pytest.mark.parametrize(("kind", "spec", "printed"), [
    ("double", "%lf", "%.17g"), ("double", "%lf", "%.16e"), ("double", "%lf", "%.20g"),
    ("double", "%lf", "%.16g"), ("float", "%f", "%.17g"),
])
def test_a_double_that_reads_back_is_taken_as_it_is(
    kind: str, spec: str, printed: str, bundles: Bundles, tmp_path: Path,
) -> None:
    """The last pair of each key prints what was read of it; the counters are those of the text that is not made."""
    combiner = combine(kind, spec, "sum = value").replace(f'printf("%s\\t{spec}', 'printf("%s\\t%.17g')
    body = f'{CUT}printf("%s\\t{printed}\\n", line, strtod(line + strlen(line) + 1, NULL));'
    bundle, rng = made(bundles, body, combiner), random.Random(f"{kind} {printed}")
    assert ("hd::significant(" in emit(BuildOptions.make([str(bundle / "src")]), "host")) == (printed != "%.16g")
    drawn = [n for n in numbers(rng, 3000) if abs(n) < 1.7976931348623157e308 or printed != "%.16g"]
    if kind == "float":
        drawn = [n for n in drawn if abs(n) < 3e38]
        drawn = [*drawn, *(struct.unpack("<f", struct.pack("<f", n))[0] for n in drawn)]
    data = b"".join(b"k%d %.17g\n" % (n % 2000, number) for n, number in enumerate(drawn))
    done = same(bundle, data, tmp_path)
    assert (done.report["pairs"], done.report["bytes"], done.report["longest"]) == counted(bundle, data)


@pytest.mark.parametrize(("kind", "spec", "printed"), [
    *(("double", "%lf", printed) for printed in ("%f", "%.1f", "%.12f", "%.0f", "%g", "%.10g", "%.3e")),
    ("float", "%f", "%.2f"), ("float", "%f", "%g"), ("long", "%ld", "%.0f"),
])
def test_a_double_of_few_digits_is_what_is_read(
    kind: str, spec: str, printed: str, bundles: Bundles, tmp_path: Path,
) -> None:
    shown = "%.17g" if kind != "long" else spec
    combiner = combine(kind, spec, "sum = value").replace(f'printf("%s\\t{spec}', f'printf("%s\\t{shown}')
    body = f'{CUT}printf("%s\\t{printed}\\n", line, strtod(line + strlen(line) + 1, NULL));'
    bundle, rng = made(bundles, body, combiner), random.Random(f"{kind} {printed}")
    most = {"double": 1e70, "float": 1e30, "long": 1e18}[kind]  # more bytes than are read, or another number than is printed
    drawn = [n for n in numbers(rng, 4000) if abs(n) < most]
    data = b"".join(b"k%d %.17g\n" % (n % 2000, number) for n, number in enumerate(drawn))
    done = same(bundle, data, tmp_path)
    assert (done.report["pairs"], done.report["bytes"], done.report["longest"]) == counted(bundle, data)


@pytest.mark.parametrize("printed", ["%+.1f", "%6.1f", "%06.1f", "%#.0f", "% .1f", "%F", "%.1E", "%a"])
def test_a_double_that_is_printed_in_another_way(printed: str, bundles: Bundles, tmp_path: Path) -> None:
    """It is left where its text is not what is read, and that is found out by its text."""
    combiner = combine("double", "%lf", "sum = value").replace('printf("%s\\t%lf', 'printf("%s\\t%.17g')
    body = f'{CUT}printf("%s\\t{printed}\\n", line, strtod(line + strlen(line) + 1, NULL));'
    bundle, data = made(bundles, body, combiner), b"a 12345.25\nb -12345.75\na 99999.95\n"
    if printed in ("%6.1f", "%06.1f", "%F"):
        same(bundle, data, tmp_path)
    else:
        left(bundle, data, tmp_path, UNREADABLE, 0)


@pytest.mark.parametrize("text", ["inf", "-inf", "1e999", "nan"])
def test_an_infinity_is_left(text: str, bundles: Bundles, tmp_path: Path) -> None:
    combiner = combine("double", "%lf", "sum = value").replace('printf("%s\\t%lf', 'printf("%s\\t%.17g')
    body = f'{CUT}printf("%s\\t%.17g\\n", line, strtod(line + strlen(line) + 1, NULL));'
    left(made(bundles, body, combiner), b"a 1\na %s\n" % text.encode(), tmp_path, UNREADABLE, 1)


@pytest.mark.parametrize("text", [
    "1", "-1", "1.", ".5", "-.5", ".", "-", "-.", "1.2.3", "0x1p3", "0x", "1e3", "1e", "1E-3", "1e+", "+1.5", " 1.5", "-0",
    "-0.0", "00001.5", "9007199254740992", "9007199254740993", "0.9007199254740993", "123456789012345678", "1x", "1.5f",
    "inf",
    "1234567890123456789", "0.123456789012345678", "99999999999999999999999", "1.5e400", "", "--1", "1,5",
])
def test_where_a_short_decimal_ends(text: str, bundles: Bundles, tmp_path: Path) -> None:
    body = f"""{CUT}char *end, *from = line + strlen(line) + 1; double d = strtod(from, &end);
        printf("%s%ld\\t%d\\n", line, (long)(end - from), (int)(d * 8) % 1000 + (d < 0) + (1 / d < 0) * 2000);"""
    same(made(bundles, body, combine()), b"a %s\n" % text.encode(), tmp_path)


# ------------------------------------------------------------------------------------------ the process

def test_stderr_is_printed_when_all_is_done(bundles: Bundles, tmp_path: Path) -> None:
    body = 'fprintf(stderr, "reporter:counter:g,%s,1\\n", line); printf("%s\\t1\\n", line); if (line[0] == 33) exit(3);'
    bundle = made(bundles, CUT + body, combine())
    assert run_host(bundle, b"a\nb\n", tmp_path).err == b"reporter:counter:g,a,1\nreporter:counter:g,b,1\n"
    left(bundle, b"a\n!\n", tmp_path, EXIT_CALLED, 1)


def test_too_much_stderr_is_left(bundles: Bundles, tmp_path: Path) -> None:
    bundle = made(bundles, CUT + 'fprintf(stderr, "%1000d\\n", 1); printf("%s\\t1\\n", line);', combine())
    assert len(run_host(bundle, b"a\n" * 1000, tmp_path).err) == 1001 * 1000
    left(bundle, b"a\n" * 1100, tmp_path, NO_ROOM, 1047)


def test_a_crash_is_a_signal(bundles: Bundles, tmp_path: Path) -> None:
    bundle = made(bundles, 'char *blank = strchr(line, \' \'); printf("k\\t%d\\n", *blank);', combine())
    done = run_host(bundle, b"a b\nab\n", tmp_path)
    assert done.status == -signal.SIGSEGV, done
    assert done.out == b""


def test_more_keys_than_memory(bundles: Bundles, tmp_path: Path) -> None:
    """A sum's lines may be combined again: they are printed early. A count's may not."""
    few = {"HETERODOOP_HOST_KERNEL_BYTES": str(400_000)}
    data = b"".join(b"w%d some-longer-word-%d\n" % (n % 9000, n % 7000) for n in range(30_000))
    bundle = bundles.app(APPS / "wordcount")
    done = run_host(bundle, data, tmp_path, env=few)
    assert done.status == 0 and done.report["partial"] == 1 and done.report["keys"] == len(done.lines) > 16_000
    counts: dict[bytes, int] = {}
    for line in done.lines:
        key, _, value = line.partition(b"\t")
        counts[key] = counts.get(key, 0) + int(value)
    assert sorted(b"%s\t%d\n" % item for item in counts.items()) == filters(bundle, data)
    counting = combine(step="sum++").replace("sum = value;", "sum = 1;")
    bundle = made(bundles, CUT + 'printf("%s\\t1\\n", line);', counting)
    assert run_host(bundle, data, tmp_path).status == 0
    done = run_host(bundle, data, tmp_path, env=few)
    assert (done.status, done.out, done.report["left"]) == (LEFT, b"", NO_ROOM)


def test_it_is_a_static_program_of_the_bundle(bundles: Bundles) -> None:
    bundle = bundles.app(APPS / "wordcount")
    program = manifest.load(bundle).program("map")
    assert program is not None and program.host is not None and program.host.regroup
    binary = bundle / program.host.binary
    assert os.access(binary, os.X_OK)
    static = os.path.exists(cc.library_file(cc.find_cc(), "libc.a"))
    assert (b"/ld-linux" not in binary.read_bytes()[:4096]) == static


def test_a_closed_output_ends_it(bundles: Bundles) -> None:
    import subprocess

    bundle = bundles.app(APPS / "wordcount")
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as out:
        done = subprocess.run([bundle / "bin" / "map.host"], input=b"a\n", stdout=out, check=False, timeout=60)
    assert done.returncode in (-signal.SIGPIPE, 91)


# ------------------------------------------------------------------------------------------ records passed over

SEARCH = """#include <stdio.h>
#include <string.h>
int main(void)
{
    char *line = NULL, *at;
    size_t size = 0;
    ssize_t read;
#pragma mapreduce mapper key(line) value(read) keylength(64)
    while ((read = getline(&line, &size, stdin)) != -1) {
        if (strstr(line, "needle") == NULL)
            continue;
        for (at = line; (at = strchr(at, 'n')) != NULL; at++)
            printf("%ld\\t%ld\\n", (long)read, (long)(at - line));
        line[read - 1] = 'n';
    }
    return 0;
}
"""


@pytest.mark.parametrize("often", [0, 1, 20, 700])
@pytest.mark.parametrize("odd", [b"", b"\0", b"needl\n", b"x" * 2_500_000], ids=shortened)
def test_records_without_a_text_are_passed_over(often: int, odd: bytes, bundles: Bundles, tmp_path: Path) -> None:
    """Wherever buffers end: few records hold it, or most; NULs, records that are longer than buffers."""
    rng = random.Random(often)
    pieces = [b"needle", b"needl", b"n", b"e", b"\n", b"words of a line", b"needle needle", b" "]
    weights = [often, 30, 5, 5, 200, 100, often // 7, 60]
    data = b"".join(rng.choices(pieces, weights, k=60_000)) + odd + b"".join(rng.choices(pieces, weights, k=9_000)) + b"\n"
    bundle = bundles.get(SEARCH)
    assert "hd.next_holding(" in emit(BuildOptions.make([str(bundle / "src" / "map.c")]), "host")
    (tmp_path / "file").write_bytes(data)
    expected = filter_output(bundle / "bin" / "map", data)
    by_file = on_file(bundle / "bin" / "map.host", tmp_path / "file", len(data), tmp_path, as_text=True)
    assert len(odd) > 1 << 20 or (by_file.status, by_file.out) == (0, expected)
    done = run_host(bundle, data, tmp_path, as_text=True)
    assert (done.status, done.out) == (0, expected)
    assert done.report == {"records": data.count(b"\n"), "text": len(expected)}


# ------------------------------------------------------------------------------------------ pairs as text

PRINTS = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t read;
#pragma mapreduce mapper key(line) value(read) keylength(64) vallength(64)
    while ((read = getline(&line, &size, stdin)) != -1) {
        int i;
        if (line[0] == 'w')
            fprintf(stderr, "warned\\n");
        if (line[0] == '!')
            exit(3);
        printf("%s", line[0] == 'n' ? "no line end " : line);
        putchar(line[0] == 'z' ? 0 : 13);
        for (i = 0; line[0] == 'm' && i < 3000; i++)
            printf("%*d\\t%.3f\\n", 60, i, i / 7.0);
    }
    return 0;
}
"""


@pytest.mark.parametrize("name", ["blackscholes", "kmeans", "classification", "wordcount"])
def test_what_an_app_s_map_prints(name: str, bundles: Bundles, tmp_path: Path) -> None:
    bundle, data = bundles.app(APPS / name), (APPS / name / "sample.txt").read_bytes()
    done = run_host(bundle, data, tmp_path, cwd=APPS / name, as_text=True)
    assert (done.status, done.out) == (0, filter_output(bundle / "bin" / "map", data, APPS / name))
    assert done.report == {"records": data.count(b"\n"), "text": len(done.out)}


def test_arrays_that_are_textures_on_a_gpu(bundles: Bundles, tmp_path: Path) -> None:
    bundle, data = bundles.app(APPS / "kmeans", "-D", "TEXTURE"), (APPS / "kmeans" / "sample.txt").read_bytes()
    assert b"hd::fetch(" in (bundle / "cuda" / "map.cu").read_bytes()
    done = run_host(bundle, data, tmp_path, cwd=APPS / "kmeans", as_text=True)
    assert (done.status, done.out) == (0, filter_output(bundle / "bin" / "map", data, APPS / "kmeans"))


@pytest.mark.parametrize("data", [
    b"", b"a\n", b"n\nn\n", b"z\nz\nabc\nz\n", b"m\nn\nm\n" * 3, b"w\nx\nw\n", b"x" * 200_000 + b"\nabc\n", b"a\0b\n",
], ids=shortened)
def test_pairs_are_printed_as_the_map_prints_them(data: bytes, bundles: Bundles, tmp_path: Path) -> None:
    """Lines that end in a later record, carriage returns, NUL bytes, texts that are longer than any buffer."""
    bundle = bundles.get(PRINTS)
    done = run_host(bundle, data, tmp_path, as_text=True)
    assert (done.status, done.out) == (0, filter_output(bundle / "bin" / "map", data))
    assert done.err == b"warned\n" * data.count(b"w")
    assert done.report == {"records": data.count(b"\n"), "text": len(done.out)}


def test_one_that_ends_itself_is_left_whatever_it_has_printed(bundles: Bundles, tmp_path: Path) -> None:
    done = run_host(bundles.get(PRINTS), b"m\nw\n!\n", tmp_path, as_text=True)
    assert (done.status, done.report["left"], done.report["record"], done.err) == (LEFT, EXIT_CALLED, 2, b"")
