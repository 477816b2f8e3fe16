"""Which combiners are folds: every usual spelling, near misses, and what each recognised one really computes."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from heterodoop.manifest import Fold, PairReader

from .regions import COMBINER, PRELUDE, analyse, combiner

BEFORE = "char word[32], prev[32]; int count = 0, val; prev[0] = 0;"
EMIT = 'printf("%s\\t%d\\n", prev, count);'
FLUSH = f"if (prev[0]) {EMIT}"
BODY = f"if (strcmp(word, prev) == 0) count += val; else {{ if (prev[0]) {EMIT} strcpy(prev, word); count = val; }}"
LINE_BEFORE = "char *line = NULL, *word, prev[32] = \"\"; size_t cap = 0; int count = 0, val;"
LINE_LOOP = "while (getline(&line, &cap, stdin) != -1)"
CUT = 'word = strtok(line, "\\t"); val = atoi(strtok(NULL, "\\n"));'


def flagged(test: str) -> str:
    return f"if ({test} && strcmp(word, prev) == 0) count += val; else {{ if ({test}) {EMIT} strcpy(prev, word); count = val; FLAG }}"


# name -> (program, operation, kind of value, how keys are read, longest key)
FOLDS: dict[str, tuple[str, str, str, str, int]] = {
    "the paper's": (combiner(BODY, before=BEFORE, flush=FLUSH), "sum", "int32", "token", 31),
    "not strcmp": (combiner(BODY.replace("strcmp(word, prev) == 0", "!strcmp(prev, word)"), before=BEFORE, flush=FLUSH),
                   "sum", "int32", "token", 31),
    "strcmp first": (combiner(f"if (strcmp(word, prev)) {{ if (*prev) {EMIT} strcpy(prev, word); count = val; }} else count = count + val;",
                              before=BEFORE, flush=FLUSH), "sum", "int32", "token", 31),
    "early continue": (combiner(f"if (strcmp(word, prev) == 0) {{ count = val + count; continue; }} if (prev[0] != '\\0') {EMIT}"
                                " strcpy(prev, word); count = val;", before=BEFORE, flush=FLUSH), "sum", "int32", "token", 31),
    "reset, then always add": (combiner(f"if (strcmp(word, prev) != 0) {{ if (strlen(prev) > 0) {EMIT} strcpy(prev, word); count = 0; }}"
                                        " count += val;", before=BEFORE, flush=FLUSH), "sum", "int32", "token", 31),
    "a flag": (combiner(flagged("have").replace("FLAG", "have = 1;"), before=BEFORE.replace("val;", "val, have = 0;"),
                        flush=f"if (have) {EMIT}"), "sum", "int32", "token", 31),
    "first time": (combiner(f"if (first) {{ first = 0; strcpy(prev, word); count = val; continue; }} if (strcmp(word, prev) == 0) count += val;"
                            f" else {{ {EMIT} strcpy(prev, word); count = val; }}",
                            before=BEFORE.replace("val;", "val, first = 1;"), flush=f"if (!first) {EMIT}"), "sum", "int32", "token", 31),
    "strncpy": (combiner(BODY.replace("strcpy(prev, word)", "strncpy(prev, word, sizeof prev)"), before=BEFORE, flush=FLUSH),
                "sum", "int32", "token", 31),
    "strncpy and NUL": (combiner(BODY.replace("strcpy(prev, word);", "strncpy(prev, word, sizeof(prev) - 1); prev[sizeof(prev) - 1] = 0;"),
                                 before=BEFORE, flush=FLUSH), "sum", "int32", "token", 31),
    "strncpy into zeros": (combiner(BODY.replace("strcpy(prev, word)", "strncpy(prev, word, 31)"),
                                    before=BEFORE.replace("prev[32]", "prev[32] = {0}").replace(" prev[0] = 0;", ""), flush=FLUSH),
                           "sum", "int32", "token", 31),
    "snprintf": (combiner(BODY.replace("strcpy(prev, word)", 'snprintf(prev, sizeof prev, "%s", word)'), before=BEFORE, flush=FLUSH),
                 "sum", "int32", "token", 31),
    "a shorter copy": (combiner(BODY.replace("strcpy(prev, word)", 'snprintf(prev, 16, "%s", word)'), before=BEFORE, flush=FLUSH),
                       "sum", "int32", "token", 15),
    "strncmp": (combiner(BODY.replace("strcmp(word, prev)", "strncmp(word, prev, sizeof prev)"), before=BEFORE, flush=FLUSH),
                "sum", "int32", "token", 31),
    "no width": (combiner(BODY, before=BEFORE.replace("word[32]", "word[30]"), flush=FLUSH,
                          loop='while (scanf("%s %d", word, &val) == 2)'), "sum", "int32", "token", 29),
    "result kept": (combiner(BODY, before=BEFORE.replace("val;", "val, r;"), flush=FLUSH,
                             loop='while ((r = scanf("%31s\\t%d\\n", word, &val)) == 2)'), "sum", "int32", "token", 31),
    "endless loop and break": (combiner('if (scanf("%31s %d", word, &val) != 2) break;' + BODY, before=BEFORE, flush=FLUSH,
                                        loop="for (;;)"), "sum", "int32", "token", 31),
    "long": (combiner(BODY.replace("%d", "%ld"), before=BEFORE.replace("int", "long"), flush=FLUSH.replace("%d", "%ld"),
                      loop='while (scanf("%31s %ld", word, &val) == 2)'), "sum", "int64", "token", 31),
    "unsigned": (combiner(BODY.replace("%d", "%u"), before=BEFORE.replace("int", "unsigned"), flush=FLUSH.replace("%d", "%u"),
                          loop='while (scanf("%31s %u", word, &val) == 2)'), "sum", "uint32", "token", 31),
    "global state": (combiner(BODY, before="char word[32]; int val;", flush=FLUSH,
                              helpers="static char prev[32]; static int count;"), "sum", "int32", "token", 31),
    "output in pieces": (combiner(BODY.replace(EMIT, '{ fputs(prev, stdout); putchar(\'\\t\'); printf("%d", count); puts(""); }'),
                                  before=BEFORE, flush=FLUSH), "sum", "int32", "token", 31),
    "output by a helper": (combiner(BODY.replace(EMIT, "put(prev, count);"), before=BEFORE, flush=FLUSH.replace(EMIT, "put(prev, count);"),
                                    helpers='static void put(const char *k, int n) { printf("%s\\t%d\\n", k, n); }'),
                           "sum", "int32", "token", 31),
    "maximum": (combiner(BODY.replace("count += val;", "{ if (val > count) count = val; }"), before=BEFORE, flush=FLUSH),
                "max", "int32", "token", 31),
    "minimum by ?:": (combiner(BODY.replace("count += val;", "count = val < count ? val : count;"), before=BEFORE, flush=FLUSH),
                      "min", "int32", "token", 31),
    "maximum the other way round": (combiner(BODY.replace("count += val;", "count = count >= val ? count : val;"), before=BEFORE, flush=FLUSH),
                                    "max", "int32", "token", 31),
    "minimum from the largest": (
        combiner(f"if (strcmp(word, prev) != 0) {{ if (prev[0]) {EMIT} strcpy(prev, word); count = 2147483647; }} if (val < count) count = val;",
                 before=BEFORE, flush=FLUSH), "min", "int32", "token", 31),
    "count": (combiner(BODY.replace("count += val", "count++").replace("count = val", "count = 1"), before=BEFORE, flush=FLUSH),
              "count", "int32", "token", 31),
    "strtok": (combiner(CUT + BODY, before=LINE_BEFORE, flush=FLUSH, loop=LINE_LOOP), "sum", "int32", "field", 31),
    "strtok at blanks": (combiner(CUT.replace('"\\t"', '" \\t"') + BODY, before=LINE_BEFORE, flush=FLUSH, loop=LINE_LOOP),
                         "sum", "int32", "token", 31),
    "strchr": (combiner("tab = strchr(line, '\\t'); if (tab == NULL) continue; *tab++ = 0; val = atoi(tab); word = line;" + BODY,
                        before=LINE_BEFORE + " char *tab;", flush=FLUSH, loop=LINE_LOOP), "sum", "int32", "field", 31),
    "strchr, error exit": (
        combiner("if ((tab = strchr(line, '\\t')) == NULL) { fprintf(stderr, \"bad\\n\"); exit(1); } *tab = '\\0'; val = atoi(tab + 1);"
                 "word = line;" + BODY, before=LINE_BEFORE + " char *tab;", flush=FLUSH, loop=LINE_LOOP), "sum", "int32", "field", 31),
    "fgets and chomp": (
        combiner("line[strcspn(line, \"\\n\")] = 0;" + CUT.replace('"\\n"', '"\\t"') + BODY,
                 before=LINE_BEFORE.replace("*line = NULL", "line[256]").replace(" size_t cap = 0;", ""), flush=FLUSH,
                 loop="while (fgets(line, sizeof line, stdin))"), "sum", "int32", "field", 31),
    "fgets into little": (
        combiner(CUT + BODY, before=LINE_BEFORE.replace("*line = NULL", "line[40]").replace(" size_t cap = 0;", ""), flush=FLUSH,
                 loop="while (fgets(line, 40, stdin) != NULL)"), "sum", "int32", "field", 17),
    "sscanf of the line": (
        combiner('if (sscanf(line, "%31[^\\t]\\t%d", word, &val) != 2) continue;' + BODY,
                 before=LINE_BEFORE.replace("*word", "word[32]"), flush=FLUSH, loop=LINE_LOOP), "sum", "int32", "field", 31),
    "strtol": (combiner(CUT.replace("atoi(strtok(NULL, \"\\n\"))", 'strtol(strtok(NULL, "\\n"), NULL, 10)') + BODY.replace("%d", "%ld"),
                        before=LINE_BEFORE.replace("int count", "long count"), flush=FLUSH.replace("%d", "%ld"), loop=LINE_LOOP),
               "sum", "int64", "field", 31),
}
REPEATS = {name for name in FOLDS if name != "count"}


@pytest.mark.parametrize("name", FOLDS)
def test_recognised(name: str) -> None:
    source, op, value, key, longest = FOLDS[name]
    region = analyse(source)[0].region
    assert region.fold == Fold(op, value, "prev", "count", name in REPEATS)  # type: ignore[arg-type]
    assert region.pairs == PairReader(key, longest, value)  # type: ignore[arg-type]


def run(binary: Path, lines: list[bytes]) -> list[bytes]:
    done = subprocess.run([binary], input=b"".join(lines), stdout=subprocess.PIPE, check=True)
    return done.stdout.splitlines(keepends=True)


def pairs(rng: random.Random) -> list[bytes]:
    keys = [b"k%d" % n for n in range(6)]
    return [b"%s\t%d\n" % (rng.choice(keys), rng.randrange(1, 1000)) for _ in range(rng.randrange(40))]


def by_key(lines: list[bytes]) -> list[bytes]:
    return sorted(lines, key=lambda line: line.partition(b"\t")[0])


REFERENCE = {"sum": sum, "min": min, "max": max, "count": len}


@pytest.mark.parametrize("name", FOLDS)
def test_does_what_it_is_recognised_as(name: str, tmp_path: Path) -> None:
    """The filter's own output is the fold's, and (where it says so) the same however the pairs were grouped before."""
    source, op, *_ = FOLDS[name]
    (tmp_path / "c.c").write_text(PRELUDE + source)
    binary = tmp_path / "c"
    subprocess.run(["gcc", "-w", "-O1", "-fwrapv", "-o", binary, tmp_path / "c.c"], check=True)
    rng = random.Random(name)
    for _ in range(4):
        parts = [by_key(pairs(rng)) for _ in range(3)]
        whole = by_key([line for part in parts for line in part])
        values: dict[bytes, list[int]] = {}
        for line in whole:
            key, _, value = line.partition(b"\t")
            values.setdefault(key, []).append(int(value))
        expected = [b"%s\t%d\n" % (key, REFERENCE[op](found)) for key, found in values.items()]
        assert run(binary, whole) == expected
        if name in REPEATS:
            assert run(binary, by_key([line for part in parts for line in run(binary, part)])) == expected


def changed(old: str, new: str, *, body: str = BODY, before: str = BEFORE, flush: str = FLUSH, loop: str | None = None) -> str:
    """The paper's combiner with one thing changed, wherever it stands."""
    assert old in body + before + flush
    parts = {"before": before.replace(old, new), "flush": flush.replace(old, new)}
    more = {"loop": loop} if loop else {}
    return combiner(body.replace(old, new), **parts, **more)


NO_FOLDS: dict[str, str] = {
    "floating point": combiner(BODY.replace("%d", "%f"), before=BEFORE.replace("int", "double"), flush=FLUSH.replace("%d", "%f"),
                               loop='while (scanf("%31s %lf", word, &val) == 2)'),
    "no flush": combiner(BODY, before=BEFORE),
    "flush without test": combiner(BODY, before=BEFORE, flush=EMIT),
    "flush of something else": combiner(BODY, before=BEFORE, flush=FLUSH.replace("prev, count", "prev, count + 1")),
    "accumulator not reset": changed("count = val;", ""),
    "accumulator reset to something else": changed("count = val;", "count = 0;"),
    "key not kept": changed("strcpy(prev, word);", ""),
    "printed after the copy": changed(f"if (prev[0]) {EMIT} strcpy(prev, word);", f"strcpy(prev, word); if (prev[0]) {EMIT}"),
    "printed every time": changed("count += val;", f"{{ count += val; {EMIT} }}"),
    "printed twice": changed(f"if (prev[0]) {EMIT} strcpy", f"if (prev[0]) {{ {EMIT} {EMIT} }} strcpy"),
    "only large sums": changed(f"if (prev[0]) {EMIT}", f"if (prev[0] && count > 5) {EMIT}"),
    "space for the tab": changed("\\t", " "),
    "no newline": changed("\\n", ""),
    "width": changed("%d\\n", "%5d\\n"),
    "hexadecimal": changed("%d\\n", "%x\\n"),
    "other type printed": changed("prev, count)", "prev, (short)count)"),
    "key decorated": changed('"%s\\t', '"%s!\\t'),
    "key upper case": changed("strcmp(word, prev)", "strcasecmp(word, prev)"),
    "prefix compared": changed("strcmp(word, prev)", "strncmp(word, prev, 4)"),
    "compared the wrong way": changed("strcmp(word, prev) == 0", "strcmp(word, prev) != 0"),
    "ordering used": changed("strcmp(word, prev) == 0", "strcmp(word, prev) <= 0"),
    "key cut": changed("strcpy(prev, word)", "strncpy(prev, word, 4)"),
    "difference": changed("count += val", "count -= val"),
    "product": changed("count += val", "count *= val"),
    "twice": changed("count += val", "count += 2 * val"),
    "last value": changed("count += val", "count = val"),
    "first value": changed("count += val", "count = count"),
    "weighted by a second variable": changed("count += val", "count += val + extra", before=BEFORE.replace("val;", "val, extra = 1;")),
    "total kept too": changed("count += val;", "{ count += val; total += val; }", before=BEFORE.replace("val;", "val, total = 0;"),
                              flush=FLUSH + ' printf("all\\t%d\\n", total);'),
    "largest of absolute values": changed("count += val;", "{ if (abs(val) > count) count = abs(val); }"),
    "maximum of one, minimum of the other": changed("count += val;", "{ if (val > count) count = val; else if (val < count) count = 1; }"),
    "swapped maximum": changed("count += val;", "count = val > count ? count : count;"),
    "second largest": changed("count += val;", "{ if (val > count) { second = count; count = val; } }",
                              before=BEFORE.replace("val;", "val, second = 0;"), flush=FLUSH.replace("count)", "second)")),
    "half-read pairs used": combiner(BODY, before=BEFORE, flush=FLUSH, loop='while (scanf("%31s %d", word, &val) != EOF)'),
    "half-read pairs used, 1": combiner(BODY, before=BEFORE, flush=FLUSH, loop='while (scanf("%31s %d", word, &val) >= 1)'),
    "octal numbers read": combiner(BODY, before=BEFORE, flush=FLUSH, loop='while (scanf("%31s %i", word, &val) == 2)'),
    "three columns": combiner(BODY, before=BEFORE + " int more;", flush=FLUSH, loop='while (scanf("%31s %d %d", word, &val, &more) == 3)'),
    "value cut": combiner(BODY, before=BEFORE, flush=FLUSH, loop='while (scanf("%31s %3d", word, &val) == 2)'),
    "starts with a key": combiner(BODY, before=BEFORE.replace("prev[0] = 0", 'strcpy(prev, "zero")'), flush=FLUSH),
    "start not known": combiner(BODY, before=BEFORE.replace(" prev[0] = 0;", ""), flush=FLUSH),
    "prints a header": combiner(BODY, before=BEFORE + ' printf("head\\t0\\n");', flush=FLUSH),
    "prints a footer": combiner(BODY, before=BEFORE, flush=FLUSH, after='puts("end");'),
    "flag never set": combiner(flagged("have").replace("FLAG", ""), before=BEFORE.replace("val;", "val, have = 0;"), flush=f"if (have) {EMIT}"),
    "flag from the data": combiner(flagged("have").replace("FLAG", "have = val;"), before=BEFORE.replace("val;", "val, have = 0;"),
                                   flush=f"if (have) {EMIT}"),
    "sum tested instead of the key": combiner(BODY.replace("if (prev[0])", "if (count)"), before=BEFORE, flush=FLUSH.replace("prev[0]", "count")),
    "pairs skipped": combiner("if (val < 0) continue;" + BODY, before=BEFORE, flush=FLUSH),
    "stops early": combiner("if (val < 0) break;" + BODY, before=BEFORE, flush=FLUSH),
    "fails on twice the sum": combiner(BODY + " twice = count * 2; if (twice > 1000) exit(1);",
                                       before=BEFORE.replace("val;", "val, twice;"), flush=FLUSH),
    "fails on the sum": combiner(BODY + " if (count > 1000) exit(1);", before=BEFORE, flush=FLUSH),
    "line not cut": combiner("word = line; val = atoi(line);" + BODY, before=LINE_BEFORE, flush=FLUSH, loop=LINE_LOOP),
    "cut at a colon": combiner(CUT.replace('"\\t"', '":"') + BODY, before=LINE_BEFORE, flush=FLUSH, loop=LINE_LOOP),
    "number by base 0": combiner(CUT.replace('atoi(strtok(NULL, "\\n"))', '(int)strtol(strtok(NULL, "\\n"), NULL, 0)') + BODY,
                                 before=LINE_BEFORE, flush=FLUSH, loop=LINE_LOOP),
    "narrowed number": combiner(CUT.replace("atoi(", "(int)atol(") + BODY, before=LINE_BEFORE, flush=FLUSH, loop=LINE_LOOP),
    "inner loop": changed("count += val;", "while (val--) count++;"),
    "state in a helper": changed("count += val;", "count = add(val);", body=BODY).replace(
        "int main", "static int add(int v) { static int s; s += v; return s; }\nint main", 1),
    "exit status from the sum": combiner(BODY, before=BEFORE, flush=FLUSH, after="return count > 0;"),
    "count by two": combiner(BODY.replace("count += val", "count += 2").replace("count = val", "count = 2"), before=BEFORE, flush=FLUSH),
    "count that starts at nothing": combiner(BODY.replace("count += val", "count++").replace("count = val", "count = 0"), before=BEFORE, flush=FLUSH),
}


@pytest.mark.parametrize("name", NO_FOLDS)
def test_near_miss(name: str) -> None:
    assert analyse(NO_FOLDS[name])[0].region.fold is None


def test_sum_in_a_wider_type_is_a_fold_but_not_again() -> None:
    """Its output may not read back as %d."""
    source = combiner(BODY.replace("%d", "%ld"), before=BEFORE.replace("int count = 0, val;", "long count = 0; int val;"),
                      flush=FLUSH.replace("%d", "%ld"))
    assert analyse(source)[0].region.fold == Fold("sum", "int64", "prev", "count", False)


def test_flush_behind_a_loop_that_is_the_region_itself() -> None:
    source = f"int main(void) {{ {BEFORE}\n{COMBINER}\nwhile (scanf(\"%31s %d\", word, &val) == 2) {{ {BODY} }}\n{FLUSH} return 0; }}"
    analysis, _ = analyse(source)
    assert analysis.region.fold == Fold("sum", "int32", "prev", "count", True)
    assert [r.code for r in analysis.refusals].count("HD226") == 1  # the last pair is printed outside the region


@pytest.mark.parametrize(
    ("loop", "before", "expected"),
    [
        ('while (scanf("%s %lf", word, &x) == 2)', "char word[30]; double x;", PairReader("token", 29, "other")),
        ('while (scanf("%15s %lld", word, &x) == 2)', "char word[30]; long long x;", PairReader("token", 15, "int64")),
        ('while (scanf("%15s", word) == 1)', "char word[30];", PairReader("token", 15, "other")),
        ('while (scanf("%d %d", &i, &j) == 2)', "int i, j;", PairReader("other", 0, "other")),
    ])
def test_pair_reader(loop: str, before: str, expected: PairReader) -> None:
    source = combiner("puts(prev);", before=f"{before} char prev[30] = \"x\"; int count = 0, val = 0;", loop=loop)
    if "word" not in before:
        source = source.replace("keyin(word)", "keyin(i)")
    assert analyse(source)[0].region.pairs == expected
