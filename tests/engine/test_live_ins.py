"""What a loop reads from before it reaches the kernels: whole map tasks on the emulated device against the CPU filters."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop import manifest

from ..support import cli_here, write_app

pytestmark = pytest.mark.usefixtures("kernel_cache")

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
MAP = HEAD + r"""
struct rule { int weight; double share; };
static double table[700];
static const char *const endings[] = {"", "s", "ing"};
static char *letters;
static int score(const char *word) { return (int)(table[(unsigned char)word[0]] * 8) + letters[2]; }
int main(int argc, char **argv)
{
    char word[40], *line = NULL, *scratch = malloc(64), *into = scratch;
    size_t cap = 0, length;
    int value, *heap, *inner, *none = argc > 5 ? &argc : NULL, limit;
    const char *name = strrchr(argv[0], '/') + 1, *home = getenv("HD_LIVE_IN"), *text = argc > 3 ? "long" : "short";
    struct rule rules[3] = {{argc, 0.5}, {2, 1.5}, {3, -1}};
    register int hidden = argc + 41;

    heap = malloc(16 * sizeof *heap);
    for (int i = 0; i < 16; i++)
        heap[i] = i * i - argc;
    heap = realloc(heap, 64 * sizeof *heap);
    inner = heap + 3;
    for (int i = 0; i < 700; i++)
        table[i] = i / (argc + 2.0);
    letters = strdup("abc");
    limit = (int)strlen(text);
#pragma mapreduce mapper key(word) value(value) kvpairs(2) threads(64)
    while (getline(&line, &cap, stdin) != -1) {
        length = strcspn(line, " \n");
        if (length == 0)
            continue;
        if (length > 30)
            length = 30;
        memcpy(into, line, length);
        into[length] = 0;
        strcpy(word, scratch);
        strcat(word, endings[length % 3]);
        value = score(scratch) + heap[length % 16] + *inner + inner[1] + (none != NULL) + limit + hidden;
        value += rules[length % 3].weight + (int)(rules[1].share * 10) + name[0] + (home != NULL ? home[1] : 0) + text[1];
        printf("%s\t%d\n", word, value);
        printf("total\t%d\n", value);
    }
    return 0;
}
"""
SUM = HEAD + r"""
int main(void)
{
    char last[48], word[48];
    int sum = 0, value;
    last[0] = '\0';
#pragma mapreduce combiner key(last) value(sum) keyin(word) valuein(value) keylength(48) firstprivate(last, sum)
    {
        while (scanf("%47s %d", word, &value) == 2) {
            if (strcmp(word, last) == 0) {
                sum += value;
            } else {
                if (last[0] != '\0')
                    printf("%s\t%d\n", last, sum);
                strcpy(last, word);
                sum = value;
            }
        }
        if (last[0] != '\0')
            printf("%s\t%d\n", last, sum);
    }
    return 0;
}
"""


@pytest.mark.parametrize("options", [[], ["--opt", "paper"]])
def test_kernels_see_what_the_filter_computed_before_its_loop(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HD_LIVE_IN", "value")
    app = tmp_path / "app.hdp"
    cli_here("compile", write_app(tmp_path / "app", {"map": MAP, "combine": SUM}), "-o", app, *options)
    found = manifest.load(app)
    kinds = {v.kind for p in found.programs if p.kernel is not None for v in p.kernel.shared}
    assert kinds == {"scalar", "array", "pointer", "heap", "string", "texture" if options else "object"}
    assert all(p.kernel is not None and p.kernel.prologue for p in found.programs)
    (tmp_path / "in").write_text("".join(f"{'word' * (i % 9)}{i % 7} rest of the line {i}\n" for i in range(300)) + "\nend")
    done = cli_here("verify", app, tmp_path / "in", "--split-size", "3000", "-r", "2")
    assert b"0 on the CPU only, 0 different" in done.out + done.err and b"task 0" in done.out + done.err
