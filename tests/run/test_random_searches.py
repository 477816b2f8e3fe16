"""Random maps that search their lines: host kernels that pass over records print what filters print.

HETERODOOP_SEARCHES=N makes it N programs instead of a handful.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from heterodoop import manifest

from ..support import Bundles
from .host_program import LEFT, filter_output, on_file, run_host

COUNT = int(os.environ.get("HETERODOOP_SEARCHES", "5"))
WORDS = ("ab", "b", "cab", "aa", "ba\\n")
HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    READER
    char pattern[20], *at, *end, *found;
    long n, length, count, i;
    strcpy(pattern, "cab");
    length = strlen(pattern);
#pragma mapreduce mapper key(line) value(n) keylength(300) vallength(1) kvpairs(300)
    while (READ) {
        n = (long)strlen(line); count = 0; at = found = line; end = line + n; i = 0;
"""
READERS = (
    ("char *line = NULL; size_t size = 0;", "getline(&line, &size, stdin) != -1"),
    ("char line[400];", "fgets(line, sizeof line, stdin)"),
    ("char line[24];", "fgets(line, 24, stdin)"),
)


def program(seed: int) -> str:
    rng = random.Random(seed)
    declared, read = rng.choice(READERS)
    body = [_statement(rng) for _ in range(rng.randrange(1, 4))]
    last = rng.choice(["", 'printf("%ld\\t%ld\\n", n, count);', 'if (count) printf("%ld\\t%ld\\n", n, count);',
                       'if (count > 0 && n > 3) printf("%.3s\\t%ld\\n", "end", count);'])
    text = HEAD.replace("READER", declared).replace("READ)", f"{read})")
    return text + "".join(f"        {line}\n" for line in [*body, last]) + "    }\n    return 0;\n}\n"


def _text(rng: random.Random) -> str:
    return rng.choice(["pattern", *(f'"{word}"' for word in WORDS)])


def _search(rng: random.Random, where: str = "line") -> str:
    return rng.choice([f"strstr({where}, {_text(rng)})", f"strstr({where}, {_text(rng)})", f"strchr({where}, 'c')"])


def _statement(rng: random.Random) -> str:
    found, shown = _search(rng), 'printf("%ld\\t%ld\\n", n, count);'
    return rng.choice([
        f"if ({found} == NULL) continue;",
        f"if (!{found} || line[0] == 'a') continue;",
        f"if (line[0] == 'a' || {found} == NULL) continue;",
        f"if (n > 9 && {found} == NULL) continue;",
        f"found = {found}; if (found != NULL) {{ count++; {shown} }}",
        f"found = {found}; if (found == line) continue;",
        f"for (at = line; (at = {_search(rng, 'at')}) != NULL; at++) count++;",
        f"while (at < end) {{ found = {_search(rng, 'at')}; if (found) {{ {shown} at = found + length; }}"
        " else at += strlen(at) + 1; }",
        f"while (at < end && (at = {_search(rng, 'at')})) {{ count += 2; at += 2; }}",
        f"for (i = 0; i < 3; i++) if ({found}) {{ count += i; {shown} }}",
        f"if ({found} && {_search(rng)}) {shown}",
        f"if ({found} || {_search(rng)}) {shown}",
        "if (strlen(line) > 20) count = n;",
        "n -= 1; end = line + n;",
        f"if ({found} != NULL) {{ line[0] = 'c'; count = n; }} else {{ count = 0; i = n + 1; }}",
        f"if (!{_search(rng, 'line + 1')}) continue;",
    ])


def lines(rng: random.Random) -> bytes:
    letters = rng.choice([b"abc\n", b"abcdefghij\n", b"bbbbbbbbc \n", b"xyzxyzxyzxyzxyzc\n", b"xyzuvwxyzuvwxyzuvwabc\n"])
    data = bytes(rng.choices(letters, k=rng.choice([0, 3, 50, 3000, 30_000])))
    if rng.random() < 0.3:
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice([b"\0", b"cab", b"\0cab\n\0", b"x" * 300 + b"cab"]) + data[at:]
    return data + b"\n"


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_search_finds_what_the_filter_finds(seed: int, bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(program(seed))
    found = manifest.load(bundle).program("map")
    assert found is not None
    if found.host is None:  # records depend on each other
        assert found.gpu_refusals, program(seed)
        return
    rng, whole = random.Random(seed), 0
    for _ in range(8):
        data = lines(rng)
        expected = filter_output(bundle / "bin" / "map", data)
        (tmp_path / "file").write_bytes(data)
        ways = [run_host(bundle, data, tmp_path, as_text=True)]
        if found.kernel is not None and not found.kernel.shared:
            ways.append(on_file(bundle / "bin" / "map.host", tmp_path / "file", len(data), tmp_path, as_text=True))
        for done in ways:
            assert done.status == LEFT or (done.status, done.out) == (0, expected), program(seed)
            whole += done.status == 0
            assert done.status == LEFT or done.report == {"records": data.count(b"\n"), "text": len(expected)}
    assert whole > 4, "most are done"
