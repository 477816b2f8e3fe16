"""Combiners for test_fold: the usual spellings of a fold, and near misses. EMIT in their text is the output statement.

Not a test module.
"""

from __future__ import annotations

from dataclasses import dataclass

from .regions import combiner

EMIT = 'printf("%s\\t%d\\n", prev, count);'
BEFORE = "char word[32], prev[32]; int count = 0, val; prev[0] = 0;"
FLUSH = "if (prev[0]) EMIT"
BODY = "if (strcmp(word, prev) == 0) count += val; else { if (prev[0]) EMIT strcpy(prev, word); count = val; }"
LINE_BEFORE = 'char *line = NULL, *word, *tab, prev[32] = ""; size_t cap = 0; int count = 0, val;'
LINE_LOOP = "while (getline(&line, &cap, stdin) != -1)"
SCANF = 'while (scanf("%31s %d", word, &val) == 2)'
CUT = 'word = strtok(line, "\\t"); val = atoi(strtok(NULL, "\\n"));'


def usual(
    body: str = BODY, *, before: str = BEFORE, flush: str = FLUSH, loop: str = SCANF, emit: str = EMIT, helpers: str = "",
    after: str = "",
) -> str:
    """A combiner that differs from the paper's in what is given."""
    body, flush = body.replace("EMIT", emit), flush.replace("EMIT", emit)
    return combiner(body, before=before, flush=flush, loop=loop, helpers=helpers, after=after)


def lines(body: str, *, before: str = LINE_BEFORE, loop: str = LINE_LOOP, emit: str = EMIT) -> str:
    """One that reads lines."""
    return usual(body, before=before, loop=loop, emit=emit)


def changed(*pairs: tuple[str, str], before: str = BEFORE, flush: str = FLUSH, loop: str = SCANF, emit: str = EMIT) -> str:
    """The paper's with some text changed, wherever it stands."""
    body = BODY
    for old, new in pairs:
        assert old in body + before + flush + emit + loop, old
        body, before, flush = body.replace(old, new), before.replace(old, new), flush.replace(old, new)
        emit, loop = emit.replace(old, new), loop.replace(old, new)
    return usual(body, before=before, flush=flush, loop=loop, emit=emit)


def flagged(test: str, set_flag: str, first: str) -> str:
    """One with a flag for "there is a key"."""
    body = f"if ({test} && strcmp(word, prev) == 0) count += val; else {{ if ({test}) EMIT strcpy(prev, word); count = val;"
    return usual(f"{body} {set_flag} }}", before=f"{BEFORE} int {first};", flush=f"if ({test}) EMIT")


@dataclass(frozen=True)
class Spelling:
    """A fold and what has to be found: operation, type, how keys are read and the longest of them."""

    source: str
    op: str = "sum"
    value: str = "int32"
    key: str = "token"
    longest: int = 31


def field(body: str, value: str = "int32", longest: int = 31, **changes: str) -> Spelling:
    return Spelling(lines(body, **changes), "sum", value, "field", longest)


PIECES = '{ fputs(prev, stdout); putchar(\'\\t\'); printf("%d", count); puts(""); }'
HELPER = 'static void put(const char *k, int n) { printf("%s\\t%d\\n", k, n); }'
IN_ARRAY = LINE_BEFORE.replace("*line = NULL", "line[256]").replace(" size_t cap = 0;", "")

FOLDS: dict[str, Spelling] = {
    "the paper's": Spelling(usual()),
    # comparing and deciding
    "not strcmp": Spelling(changed(("strcmp(word, prev) == 0", "!strcmp(prev, word)"))),
    "strcmp first": Spelling(usual(
        "if (strcmp(word, prev)) { if (*prev) EMIT strcpy(prev, word); count = val; } else count = count + val;")),
    "early continue": Spelling(usual(
        "if (strcmp(word, prev) == 0) { count = val + count; continue; } if (prev[0] != '\\0') EMIT"
        " strcpy(prev, word); count = val;")),
    "reset, then always add": Spelling(usual(
        "if (strcmp(word, prev) != 0) { if (strlen(prev) > 0) EMIT strcpy(prev, word); count = 0; } count += val;")),
    "a flag": Spelling(flagged("have", "have = 1;", "have = 0")),
    "first time": Spelling(usual(
        "if (first) { first = 0; strcpy(prev, word); count = val; continue; }"
        " if (strcmp(word, prev) == 0) count += val; else { EMIT strcpy(prev, word); count = val; }",
        before=BEFORE + " int first = 1;", flush="if (!first) EMIT")),
    "strncmp": Spelling(changed(("strcmp(word, prev)", "strncmp(word, prev, sizeof prev)"))),
    "a variable that is always 0": Spelling(changed(
        ("count += val", "count += val + none"), before=BEFORE + " int none = 0;")),
    # keeping the key
    "strncpy": Spelling(changed(("strcpy(prev, word)", "strncpy(prev, word, sizeof prev)"))),
    "strncpy and NUL": Spelling(changed(
        ("strcpy(prev, word)", "strncpy(prev, word, sizeof(prev) - 1); prev[sizeof(prev) - 1] = 0"))),
    "strncpy into zeros": Spelling(changed(
        ("strcpy(prev, word)", "strncpy(prev, word, 31)"), ("prev[32]", "prev[32] = {0}"), (" prev[0] = 0;", ""))),
    "snprintf": Spelling(changed(("strcpy(prev, word)", 'snprintf(prev, sizeof prev, "%s", word)'))),
    "a shorter copy": Spelling(changed(("strcpy(prev, word)", 'snprintf(prev, 16, "%s", word)')), longest=15),
    "global state": Spelling(usual(
        before="char word[32]; int val;", helpers="static char prev[32]; static int count;")),
    # reading
    "no width": Spelling(changed(("word[32]", "word[30]"), ("%31s", "%s")), longest=29),
    "result kept": Spelling(usual(before=BEFORE + " int r;", loop='while ((r = scanf("%31s\\t%d\\n", word, &val)) == 2)')),
    "endless loop and break": Spelling(usual('if (scanf("%31s %d", word, &val) != 2) break;' + BODY, loop="for (;;)")),
    "strtok": field(CUT + BODY),
    "strtok at blanks": Spelling(lines(CUT.replace('"\\t"', '" \\t"') + BODY)),
    "strchr": field(
        "tab = strchr(line, '\\t'); if (tab == NULL) continue; *tab++ = 0; val = atoi(tab); word = line;" + BODY),
    "strchr, error exit": field(
        "if ((tab = strchr(line, '\\t')) == NULL) { fprintf(stderr, \"bad\\n\"); exit(1); }"
        " *tab = '\\0'; val = atoi(tab + 1); word = line;" + BODY),
    "fgets and chomp": field(
        'line[strcspn(line, "\\n")] = 0;' + CUT.replace('"\\n"', '"\\t"') + BODY, before=IN_ARRAY,
        loop="while (fgets(line, sizeof line, stdin))"),
    "fgets into little": field(
        CUT + BODY, longest=17, before=IN_ARRAY.replace("256", "40"), loop="while (fgets(line, 40, stdin) != NULL)"),
    "sscanf of the line": field(
        'if (sscanf(line, "%31[^\\t]\\t%d", word, &val) != 2) continue;' + BODY,
        before=LINE_BEFORE.replace("*word", "word[32]")),
    "strtol": field(
        CUT.replace("atoi(strtok(NULL, \"\\n\"))", 'strtol(strtok(NULL, "\\n"), NULL, 10)') + BODY, "int64",
        before=LINE_BEFORE.replace("int count", "long count"), emit=EMIT.replace("%d", "%ld")),
    # types
    "narrowed number": field(CUT.replace("atoi(", "(int)atol(") + BODY),
    "long": Spelling(changed(("int", "long"), ("%d", "%ld"), ("prlongf", "printf")), value="int64"),
    "unsigned": Spelling(changed(("int count", "unsigned count"), ("%d", "%u")), value="uint32"),
    # output
    "output in pieces": Spelling(usual(emit=PIECES)),
    "output by a helper": Spelling(usual(emit="put(prev, count);", helpers=HELPER)),
    # other operations
    "maximum": Spelling(changed(("count += val;", "{ if (val > count) count = val; }")), "max"),
    "minimum by ?:": Spelling(changed(("count += val;", "count = val < count ? val : count;")), "min"),
    "maximum the other way round": Spelling(changed(("count += val;", "count = count >= val ? count : val;")), "max"),
    "minimum from the largest": Spelling(usual(
        "if (strcmp(word, prev) != 0) { if (prev[0]) EMIT strcpy(prev, word); count = 2147483647; }"
        " if (val < count) count = val;"), "min"),
    "count": Spelling(changed(("count += val", "count++"), ("count = val", "count = 1")), "count"),
}

NUMBER_EMIT = EMIT.replace("%s", "%d")
NUMBER_SCANF = 'while (scanf("%d %d", &word, &val) == 2)'
HAVE = "int word, prev, count = 0, val, have = 0;"
NUMBER_BODY = "if (have && word == prev) count += val; else { if (have) EMIT prev = word; count = val; have = 1; }"
NONE_BODY = "if (word == prev) count += val; else { if (prev != -1) EMIT prev = word; count = val; }"


def number(
    body: str = NUMBER_BODY, *, before: str = HAVE, flush: str = "if (have) EMIT", loop: str = NUMBER_SCANF,
    emit: str = NUMBER_EMIT,
) -> str:
    """A combiner whose key is a number."""
    return usual(body, before=before, flush=flush, loop=loop, emit=emit)


def number_of_line(body: str) -> str:
    """One that reads lines."""
    return number(body + NUMBER_BODY, before=f"char *line = NULL, *end; size_t cap = 0; {HAVE}", loop=LINE_LOOP)


def none(text: str, begin: str = "prev = -1") -> str:
    """One with a number for "there is no key yet"."""
    return number(NONE_BODY.replace("prev != -1", text), before=f"int word, {begin}, count = 0, val;",
                  flush=f"if ({text}) EMIT")


@dataclass(frozen=True)
class NumberSpelling:
    """A fold by numbers and what has to be found; `none`: the number that no key may be."""

    source: str
    op: str = "sum"
    key: str = "int32"
    value: str = "int32"
    none: int | None = None
    longest: int = 0


NUMBER_FOLDS: dict[str, NumberSpelling] = {
    "a flag": NumberSpelling(number()),
    "a key that is none": NumberSpelling(none("prev != -1"), none=-1),
    "the least key is none": NumberSpelling(none("prev != -2147483647 - 1", "prev = -2147483647 - 1"), none=-(1 << 31)),
    "first time": NumberSpelling(number(
        "if (first) { first = 0; prev = word; count = val; continue; }"
        " if (prev != word) { EMIT prev = word; count = 0; } count += val;",
        before="int first = 1, word, prev, count = 0, val;", flush="if (!first) EMIT")),
    "two types": NumberSpelling(number(
        before="long word, prev; int count = 0, val, have = 0;", loop='while (scanf("%ld\\t%d", &word, &val) == 2)',
        emit=EMIT.replace("%s", "%ld")), key="int64"),
    "kept in a wider type": NumberSpelling(number(
        before="int word; long prev; int count = 0, val, have = 0;", emit=EMIT.replace("%s", "%ld"))),
    "unsigned": NumberSpelling(number(
        before="unsigned word, prev; int count = 0, val, have = 0;", loop='while (scanf("%u %d", &word, &val) == 2)',
        emit=EMIT.replace("%s", "%u")), key="uint32"),
    "maximum": NumberSpelling(number(NUMBER_BODY.replace("count += val;", "{ if (val > count) count = val; }")), op="max"),
    "atoi": NumberSpelling(number_of_line("word = atoi(line); val = atoi(strchr(line, '\\t') + 1);")),
    "atoi of what is cut": NumberSpelling(number_of_line(
        'word = atoi(strtok(line, "\\t")); val = atoi(strtok(NULL, "\\n"));')),
    "strtol from number to number": NumberSpelling(number_of_line(
        "word = (int)strtol(line, &end, 10); val = (int)strtol(end, NULL, 10);")),
    "strtol behind the tab": NumberSpelling(number_of_line(
        "word = (int)strtol(line, &end, 10); val = (int)strtol(end + 1, NULL, 10);")),
    "sscanf of the line": NumberSpelling(number_of_line('if (sscanf(line, "%d\\t%d", &word, &val) != 2) continue;')),
}
NO_NUMBER_FOLDS: dict[str, str] = {
    "fails on the kept key": number("if (have && prev == 7) exit(1); " + NUMBER_BODY),
    "keys below 0 are none": none("prev >= 0"),
    "keys compared by size": number(NUMBER_BODY.replace("word == prev", "word <= prev")),
    "one key is special": none("prev != -1 && word != 7"),
    "half of the key": number(NUMBER_BODY.replace("word == prev", "word / 2 == prev / 2")),
    "a narrower key kept": number(before=HAVE.replace("word, prev,", "word,") + " short prev;"),
    "another sign": number(before=HAVE.replace("word, prev,", "word,") + " unsigned prev;", emit=EMIT.replace("%s", "%u")),
    "the key as a truth": none("prev", "prev = 0"),
    "the count as a flag": number(NUMBER_BODY.replace("have", "count"), before=HAVE, flush="if (count) EMIT"),
    "octal keys": number(loop='while (scanf("%i %d", &word, &val) == 2)'),
    "keys of three digits": number(loop='while (scanf("%3d %d", &word, &val) == 2)'),
    "key printed with a width": number(emit=EMIT.replace("%s", "%3d")),
    "key printed as hexadecimal": number(emit=EMIT.replace("%s", "%x")),
    "value printed as the key": number(emit=NUMBER_EMIT.replace("prev, count", "count, prev")),
    "the next key printed": number(emit=NUMBER_EMIT.replace("prev, count", "word, count")),
    "value at a tab that is gone": number_of_line(
        "end = strchr(line, '\\t'); *end = 0; word = atoi(line); val = atoi(end);"),
    "strtol by any base": number_of_line("word = (int)strtol(line, &end, 0); val = atoi(end);"),
    "a text that is also a number": lines(
        CUT.replace("word =", "n = atoi(line); word =") + BODY + " if (n == 3) exit(1);", before=LINE_BEFORE + " int n;"),
}

TOTAL = BEFORE + " int total = 0;"
LARGEST = "{ if (val > count) { second = count; count = val; } }"
STATIC = "static int add(int v) { static int s; s += v; return s; }"

NO_FOLDS: dict[str, str] = {
    # what is computed
    "floating point": changed(("int", "double"), ("prdoublef", "printf"), ('"%31s %d', '"%31s %lf'), ("%d", "%f")),
    "difference": changed(("count += val", "count -= val")),
    "product": changed(("count += val", "count *= val")),
    "twice": changed(("count += val", "count += 2 * val")),
    "last value": changed(("count += val", "count = val")),
    "first value": changed(("count += val", "count = count")),
    "one more each": changed(("count += val", "count += val + extra"), before=BEFORE + " int extra = 1;"),
    "a total besides": usual(BODY + " total += val;", before=TOTAL, flush=FLUSH + ' printf("all\\t%d\\n", total);'),
    "largest of absolute values": changed(("count += val;", "{ if (abs(val) > count) count = abs(val); }")),
    "maximum, else one": changed(("count += val;", "{ if (val > count) count = val; else if (val < count) count = 1; }")),
    "maximum that is none": changed(("count += val;", "count = val > count ? count : count;")),
    "second largest": changed(("count += val;", LARGEST), ("count);", "second);"), before=BEFORE + " int second = 0;"),
    "count by two": changed(("count += val", "count += 2"), ("count = val", "count = 2")),
    "count from nothing": changed(("count += val", "count++"), ("count = val", "count = 0")),
    "inner loop": changed(("count += val;", "while (val--) count++;")),
    "state in a helper": usual(BODY.replace("count += val;", "count = add(val);"), helpers=STATIC),
    # what is kept, and when it is printed
    "no flush": usual(flush=""),
    "flush without test": usual(flush="EMIT"),
    "flush of something else": usual(flush="if (prev[0]) " + EMIT.replace("count)", "count + 1)")),
    "accumulator not reset": changed(("count = val;", "")),
    "accumulator reset to something else": changed(("count = val;", "count = 0;")),
    "key not kept": changed(("strcpy(prev, word);", "")),
    "printed after the copy": changed(("if (prev[0]) EMIT strcpy(prev, word);", "strcpy(prev, word); if (prev[0]) EMIT")),
    "printed every time": changed(("count += val;", "{ count += val; EMIT }")),
    "printed twice": changed(("if (prev[0]) EMIT strcpy", "if (prev[0]) { EMIT EMIT } strcpy")),
    "only large sums": changed(("if (prev[0]) EMIT", "if (prev[0] && count > 5) EMIT")),
    "starts with a key": changed(("prev[0] = 0", 'strcpy(prev, "zero")')),
    "start not known": changed((" prev[0] = 0;", "")),
    "flag never set": flagged("have", "", "have = 0"),
    "flag from the data": flagged("have", "have = val;", "have = 0"),
    "sum tested instead of the key": changed(("if (prev[0])", "if (count)")),
    "prints a header": usual(before=BEFORE + ' printf("head\\t0\\n");'),
    "prints a footer": usual(after='puts("end");'),
    "exit status not known": usual(after="return val;"),
    "exit status from the sum": usual(after="return count > 0;"),
    # the form of the output
    "space for the tab": changed(("\\t", " ")),
    "no newline": changed(("\\n", "")),
    "width": changed(("%d\\n", "%5d\\n")),
    "hexadecimal": changed(("%d\\n", "%x\\n")),
    "other type printed": changed(("prev, count)", "prev, (short)count)")),
    "key decorated": changed(('"%s\\t', '"%s!\\t')),
    # the comparison and the copy
    "key but for case": changed(("strcmp(word, prev)", "strcasecmp(word, prev)")),
    "prefix compared": changed(("strcmp(word, prev)", "strncmp(word, prev, 4)")),
    "compared the wrong way": changed(("strcmp(word, prev) == 0", "strcmp(word, prev) != 0")),
    "ordering used": changed(("strcmp(word, prev) == 0", "strcmp(word, prev) <= 0")),
    "key cut": changed(("strcpy(prev, word)", "strncpy(prev, word, 4)")),
    # reading
    "half-read pairs used": changed(("== 2)", "!= EOF)")),
    "half-read pairs used, 1": changed(("== 2)", ">= 1)")),
    "octal numbers read": changed(('"%31s %d', '"%31s %i')),
    "three columns": usual(before=BEFORE + " int more;", loop='while (scanf("%31s %d %d", word, &val, &more) == 3)'),
    "value into a wider variable": changed(("int count = 0, val;", "int count = 0; long val;"), ("+= val", "+= (int)val"),
                                           ("= val;", "= (int)val;")),
    "value into the key": lines(
        'if (sscanf(line, "%31[^\\t]\\t%d", word, (int *)prev) != 2) continue; val = 1;' + BODY,
        before=LINE_BEFORE.replace("*word", "word[32]")),
    "value cut": changed(('"%31s %d', '"%31s %3d')),
    "pairs skipped": usual("if (val < 0) continue;" + BODY),
    "stops early": usual("if (val < 0) break;" + BODY),
    "fails on the kept text": usual("if (prev[0] == 'q') exit(1); " + BODY),
    "fails on the order of keys": usual('if (strcmp(prev, word) > 0) exit(1); ' + BODY),
    "fails behind the key's end": usual("if (word[20] == 'x') exit(1); " + BODY),
    "fails on bytes behind the key's end": usual('if (memcmp(word, "stale", 5) == 0) exit(1); ' + BODY),
    "counts what stands behind the key's end": usual("if (word[20] == 'x') val++; " + BODY),
    "adds the value of the pair before": usual(
        BODY.replace("count += val", "count += last") + " last = val;", before=BEFORE + " int last = 0;"),
    "prints what the key before left": changed(('"%s\\t%d\\n", prev', '"%s\\t%d\\n", word')),
    "fails on the sum": usual(BODY + " if (count > 1000) exit(1);"),
    "fails on twice the sum": usual(BODY + " twice = count * 2; if (twice > 1000) exit(1);", before=BEFORE + " int twice;"),
    "line not cut": lines("word = line; val = atoi(line);" + BODY),
    "cut at a colon": lines(CUT.replace('"\\t"', '":"') + BODY),
    "number by base 0": lines(CUT.replace('atoi(strtok(NULL, "\\n"))', '(int)strtol(strtok(NULL, "\\n"), NULL, 0)') + BODY),
}
