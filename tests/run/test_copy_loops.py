"""Loops that a host kernel does sixteen bytes at a time leave what the filter's leave, wherever they stop."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.spine import emit

from ..support import Bundles
from .host_program import filters, run_host
from .test_host_kernels import combine

pytestmark = pytest.mark.usefixtures("kernel_cache")
# Prints each word as it was copied, what is left of the array around it, and the word after it, or the line, was changed.
MAP = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>
static int is_blank(char c) { return c == ' ' || (c >= '\\t' && c <= '\\r') || c == 0; }
static int many(char c)
{ return c == 'a' || c == 'c' || c == 'e' || c == 'g' || c == ' ' || (c >= '\\t' && c <= '\\r') || c == 0; }
int main(void)
{
    char *line = NULL, word[SIZE], around[2 * SIZE + 1], before[16] = "before", copy[16];
    size_t capacity = 0;
    ssize_t read;
#pragma mapreduce mapper key(word) value(read) keylength(200)
    while ((read = getline(&line, &capacity, stdin)) != -1) {
        int i = 0, n, j, at, size = SIZE;
        strcpy(copy, before);
        while (i < read) {
            for (j = 0; j < SIZE; j++)
                word[j] = '#';
            while (i < read && is_blank(line[i]))
                i++;
            at = i;
            n = 0;
            LOOP
            for (j = 0; j < SIZE; j++) {
                around[2 * j] = 'a' + ((unsigned char)word[j] >> 4);
                around[2 * j + 1] = 'a' + (word[j] & 15);
            }
            around[2 * SIZE] = 0;
            printf("%s\\t%d\\n", around, n);
            word[n] = 0;
            printf("w%s\\t%d\\n", word, i);
            if (word[0] != 0 && word[0] != '\\r')
                printf("%s\\t%d\\n", word, i);
            if (n > 2 && at % 3 == 0) {
                word[1] = at % 2 ? 'Z' : 0;
                printf("%s\\t%d\\n", word, n);
            }
            if (n > 2 && i > 2 && at % 3 == 1) {
                line[i - 2] = 'Q';
                printf("%s_\\t%d\\n%s\\t%d\\n", word, n, word, n);
            }
            if (i == at)
                i++;
        }
        printf("%s\\t1\\n", copy);
    }
    return 0;
}
"""
LOOPS = {
    "two indexes": "while (i < read && !is_blank(line[i])) { if (n == size - 1) break; word[n++] = line[i++]; }",
    "many ranges": "while (i < read && n < size - 1 && !many(line[i])) { word[n] = line[i]; n++; i++; }",
    "up to": "for (; n <= size - 2 && isalnum((unsigned char)line[i]); n++) word[n] = line[i++];",
    "a guard": "while (line[i] > ' ') { if (line[i] == 'x' || n >= size - 1) break; word[n++] = line[i++]; }",
    "an index far away": "n = i % 3 ? 0 : 1 << 29; while (n < size - 1 && line[i] > ' ') word[n++] = line[i++];"
                         " if (n > size) n = 0;",
    "longs": "{ long m = 0; while (i < (long)read && m < SIZE - 1 && line[i] > 32)"
             " { word[m] = line[i]; ++m; i += 1; } n = (int)m; }",
}


def texts(rng: random.Random, size: int) -> bytes:
    """Words of all lengths, often about those where sixteen bytes, or the array, end."""
    def word() -> bytes:
        length = rng.choice([1, 2, 3, 7, 15, 16, 17, 31, 32, 33, size - 2, size - 1, size, size + 1, rng.randrange(1, 80)])
        return bytes(rng.choice(b"abcdefghxyz0189\x80\xff") for _ in range(max(length, 1)))

    blanks = [b" ", b" ", b" ", b"  ", b"\t", b"\v"]
    return b"".join(b"".join(rng.choice(blanks) + word() for _ in range(rng.randrange(12))) + b"\n" for _ in range(300))


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("size", [13, 40])
def test_a_copy_loop_leaves_what_it_leaves_in_the_filter(name: str, size: int, bundles: Bundles, tmp_path: Path) -> None:
    rng = random.Random(f"{name} {size}")
    source = MAP.replace("LOOP", LOOPS[name]).replace("SIZE", str(size))
    bundle = bundles.get(source, combine(step="sum = sum * 31 + value").replace("32", "199").replace("31s", "198s"))
    made = emit(BuildOptions.make([str(bundle / "src")]), "host")
    assert "hd::copy_ahead(" in made and "hd::copied(word)" in made
    for data in (texts(rng, size), b"", b"\n", b"a\n" * 3, b"abcdefghijklmnopqrstuvwxyz\n" * 5):
        done = run_host(bundle, data, tmp_path)
        assert done.status == 0, done
        assert done.lines == filters(bundle, data)
