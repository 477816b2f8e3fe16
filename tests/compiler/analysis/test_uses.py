"""The class of each outside variable, construct by construct."""

from __future__ import annotations

import pytest

from ..regions import COMBINER, LINES, MAPPER, analyse, classes, codes, combiner, mapper

EMIT = 'printf("%s\\t%d\\n", k, v);'
LAST = " strcpy(k, line);" + EMIT
RECORD = {"line": "record", "cap": "record", "n": "record"}


def own(source: str) -> dict[str, str]:
    """Classes without the reader's variables."""
    return {name: cls for name, cls in classes(source).items() if name not in RECORD}


# name -> (helpers, before, body, expected classes of what the case is about)
CASES: dict[str, tuple[str, str, str, dict[str, str]]] = {
    # scalars
    "set on every path": ("", "", "if (n > 3) v = 1; else v = 2;" + EMIT, {"v": "private"}),
    "set on one path": ("", "", "if (n > 3) v = 1;" + LAST, {"v": "carried", "k": "private"}),
    "counter over records": ("", "v = 0;", "v++;" + LAST, {"v": "carried"}),
    "sum over records": ("", "long sum = 0;", "sum += n; v = 1;" + LAST, {"sum": "accumulator"}),
    "sum so far": ("", "long sum = 0;", "sum += n; v = sum;" + LAST, {"sum": "carried"}),
    "reset in the record": ("", "int i;", "i = 0; while (i < n) i++; v = i;" + LAST, {"i": "private"}),
    "only read": ("", "int limit = 5;", "v = n > limit;" + LAST, {"limit": "sharedRO"}),
    "only written": ("", "int last;", "last = (int)n; v = 1;" + LAST, {"last": "private"}),
    "continue before the write": ("", "", "if (n < 2) continue; v = 1;" + LAST, {"v": "private"}),
    "read behind a continue that skips the write": (
        "", "", "int i; for (i = 0; i < n; i++) { if (line[i] == 'x') continue; v = i; }" + LAST,
        {"v": "carried"}),
    "break inside an inner loop": (
        "", "int i;", "for (i = 0; i < n; i++) if (line[i] == ' ') break; v = i;" + LAST, {"i": "private"}),
    "a loop that surely runs": (
        "", "int i, last;", "for (i = 0; i < 3; i++) last = i; v = last;" + LAST, {"last": "private"}),
    "a loop that may not run": (
        "", "int i, last;", "for (i = 0; i < n; i++) last = i; v = last;" + LAST, {"last": "carried"}),
    "do while runs once": (
        "", "int i = 0, last;", "i = 0; do { last = i; } while (++i < n); v = last;" + LAST,
        {"last": "private"}),
    "switch with default": (
        "", "", "switch (line[0]) { case 'a': v = 1; break; case 'b': default: v = 2; }" + LAST,
        {"v": "private"}),
    "switch without default": (
        "", "", "switch (line[0]) { case 'a': v = 1; break; case 'b': v = 2; }" + LAST, {"v": "carried"}),
    "short circuit": ("", "", "if (n > 1 && (v = line[0])) {" + LAST + "}", {"v": "private"}),
    "short circuit not taken": ("", "", "if (n > 1 || (v = line[0])) {" + LAST + "}", {"v": "carried"}),
    "conditional expression": ("", "", "n > 2 ? (v = 1) : (v = 2);" + LAST, {"v": "private"}),
    "address taken and written by a helper": (
        "static void set(int *p) { *p = 3; }", "", "set(&v);" + LAST, {"v": "private"}),
    "address taken and written on one path of a helper": (
        "static void set(int *p, int on) { if (on) *p = 3; }", "", "set(&v, n > 2);" + LAST,
        {"v": "carried"}),
    "a helper's constant argument decides": (
        "static void set(int *p, int on) { if (on) *p = 3; }", "", "set(&v, 1);" + LAST, {"v": "private"}),
    "result of a helper tells of the write": (
        "static int find(const char *s, int *p) { if (!s[0]) return 0; *p = s[0]; return 1; }", "",
        "if (!find(line, &v)) continue;" + LAST, {"v": "private"}),
    "result of a helper not tested": (
        "static int find(const char *s, int *p) { if (!s[0]) return 0; *p = s[0]; return 1; }", "",
        "find(line, &v);" + LAST, {"v": "carried"}),
    "result kept and tested later": (
        "static int find(const char *s, int *p) { if (!s[0]) return -1; *p = s[0]; return s[1]; }", "int r;",
        "r = find(line, &v); strcpy(k, line); if (r == -1) continue;" + EMIT, {"v": "private", "r": "private"}),
    "a flag that guards": (
        "", "int found, i;",
        "found = 0; for (i = 0; i < n; i++) if (line[i] == 'x') { v = i; found = 1; } if (!found) continue; strcpy(k, line);"
        + EMIT, {"v": "private", "found": "private"}),
    "a flag that guards the wrong way": (
        "", "int found, i;",
        "found = 0; for (i = 0; i < n; i++) if (line[i] == 'x') { v = i; found = 1; } if (found) continue; strcpy(k, line);"
        + EMIT, {"v": "carried"}),
    "a flag of the record before": (
        "", "int have = 0;", "if (have) { v = 1;" + LAST + "} have = n > 3;", {"have": "carried"}),
    "the number of a second declaration": (
        "", "int i = 5;", "{ int i = 1; v = i; } v += i;" + LAST, {"i": "sharedRO", "v": "private"}),
    "switch falls into a nested label": (
        "", "", "v = 0; switch (line[0]) { case 'a': if (n > 2) { v = 1; case 'b': v += 2; } }" + LAST,
        {"v": "private"}),
    # arrays and strings
    "string copied whole": ("", "", "strcpy(k, line); v = 1;" + EMIT, {"k": "private"}),
    "first elements set one by one": ("", "", "k[0] = line[0]; k[1] = 0; v = 1;" + EMIT, {"k": "private"}),
    "element behind a gap": ("", "", "k[1] = 0; v = k[0];", {"k": "guarded"}),
    "characters then NUL": (
        "", "int j;", "int i; j = 0; for (i = 0; i < n; i++) if (j < 31) k[j++] = line[i]; k[j] = 0; v = 1;" + EMIT,
        {"k": "private"}),
    "characters only": (
        "", "int j;", "int i; j = 0; for (i = 0; i < n; i++) if (j < 31) k[j++] = line[i]; v = 1;" + EMIT, {"k": "carried"}),
    "strncpy and its NUL": ("", "", "strncpy(k, line, 31); k[31] = 0; v = 1;" + EMIT, {"k": "private"}),
    "strncpy alone": ("", "", "strncpy(k, line, 31); v = 1;" + EMIT, {"k": "guarded"}),
    "memcpy of a part": ("", "", "memcpy(k, line, n); k[n] = 0; v = 1;" + EMIT, {"k": "guarded"}),
    "overwritten end of a string": ("", "", "strcpy(k, \"abc\"); k[3] = 'd'; v = 1;" + EMIT, {"k": "guarded"}),
    "append to what was": ("", "k[0] = 0;", "strcat(k, line); v = 1;" + EMIT, {"k": "carried"}),
    "append after a copy": ("", "", "strcpy(k, \"x\"); strcat(k, line); v = 1;" + EMIT, {"k": "private"}),
    "sprintf": ("", "", "sprintf(k, \"n%d\", (int)n); v = 1;" + EMIT, {"k": "private"}),
    "snprintf": ("", "", "snprintf(k, sizeof k, \"n%d\", (int)n); v = 1;" + EMIT, {"k": "private"}),
    "snprintf of itself": ("", "", "snprintf(k, sizeof k, \"%s%d\", k, (int)n); v = 1;" + EMIT, {"k": "carried"}),
    "histogram cleared by memset": (
        "", "int h[256], i;", "memset(h, 0, sizeof h); for (i = 0; i < n; i++) h[(unsigned char)line[i]]++; v = h['a'];"
        + LAST, {"h": "private"}),
    "histogram cleared by a loop": (
        "", "int h[256], i;", "for (i = 0; i < 256; i++) h[i] = 0; for (i = 0; i < n; i++) h[(unsigned char)line[i]]++;"
        "v = h['a'];" + LAST, {"h": "private", "i": "private"}),
    "histogram cleared in part": (
        "", "int h[256], i;", "for (i = 0; i < 200; i++) h[i] = 0; for (i = 0; i < n; i++) h[(unsigned char)line[i]]++;"
        "v = h['a'];" + LAST, {"h": "guarded"}),
    "histogram not cleared": (
        "", "int h[256] = {0}, i;", "for (i = 0; i < n; i++) h[(unsigned char)line[i]]++; v = h['a'];" + LAST,
        {"h": "carried"}),
    "table filled before": (
        "static int weight[256];", "int i; for (i = 0; i < 256; i++) weight[i] = i;", "v = weight[(unsigned char)line[0]];"
        + LAST, {"weight": "sharedRO"}),
    "table written through a pointer": (
        "static int weight[256];", "int *w = weight;", "v = w[0]; w[0] = 1;" + LAST,
        {"weight": "carried", "w": "sharedRO"}),
    "two arrays by a helper": (
        "static void put(char *to, const char *from) { int i = 0; while (from[i]) { to[i] = from[i]; i++; } to[i] = 0; }",
        "char other[32];", "put(k, line); put(other, line); v = other[0];" + EMIT,
        {"k": "private", "other": "private"}),
    "one of two arrays": (
        "", "char other[32], *p;", "p = n > 3 ? k : other; strcpy(p, line); v = 1;" + EMIT,
        {"k": "carried", "other": "private"}),
    "array of pointers into the line": (
        "", "char *fields[4]; int m;", "m = 0; fields[m++] = line; strcpy(k, fields[0]); v = 1;" + EMIT,
        {"fields": "guarded", "k": "private"}),
    "matrix": (
        "", "int a[3][3], i, j;", "for (i = 0; i < 3; i++) for (j = 0; j < 3; j++) a[i][j] = i; v = a[1][1];"
        + LAST, {"a": "guarded"}),
    # structs, unions
    "members one by one": (
        "struct s { int a, b; };", "struct s s;", "s.a = 1; s.b = 2; v = s.a + s.b;" + LAST, {"s": "private"}),
    "member not set": (
        "struct s { int a, b; };", "struct s s = {0, 0};", "s.a = 1; v = s.a + s.b;" + LAST, {"s": "carried"}),
    "struct copied whole": (
        "struct s { int a, b; };", "struct s s, t = {1, 2};", "s = t; v = s.b;" + LAST,
        {"s": "private", "t": "sharedRO"}),
    "struct filled member by member, read whole": (
        "struct s { int a, b; }; static int sum(struct s x) { return x.a + x.b; }", "struct s s;",
        "s.a = 1; s.b = 2; v = sum(s);" + LAST, {"s": "private"}),
    "struct filled in part, read whole": (
        "struct s { int a, b; }; static int sum(struct s x) { return x.a; }", "struct s s;",
        "s.a = 1; v = sum(s);" + LAST, {"s": "carried"}),
    "struct cleared by memset": (
        "struct s { int a, b; };", "struct s s;", "memset(&s, 0, sizeof s); s.a++; v = s.b;" + LAST, {"s": "private"}),
    "scalar copied by memcpy": ("", "", "memcpy(&v, line, sizeof v);" + LAST, {"v": "private"}),
    "scalar copied in part": ("", "", "memcpy(&v, line, 2);" + LAST, {"v": "guarded"}),
    "member string": (
        "struct s { char name[8]; int n; };", "struct s s;", "strncpy(s.name, line, 8); s.n = 1; v = s.name[7];"
        + LAST, {"s": "private"}),
    "through a pointer to a struct": (
        "struct s { int a, b; }; static void fill(struct s *p) { p->a = 1; p->b = 2; }", "struct s s;",
        "fill(&s); v = s.a + s.b;" + LAST, {"s": "private"}),
    "union by one member": (
        "union u { int i; float f; };", "union u u;", "u.i = 3; v = u.i;" + LAST, {"u": "private"}),
    "union: half of it written": (
        "union u { long l; int i; };", "union u u;", "u.i = 3; v = (int)u.l;" + LAST, {"u": "guarded"}),
    # memory
    "word from malloc": (
        "", "char *w = malloc(32);", "strcpy(w, line); v = w[0]; strcpy(k, w);" + EMIT,
        {"w": "sharedRO", "*w": "guarded"}),
    "malloc in the loop": (
        "", "", "int *t = malloc(4 * sizeof *t); t[0] = 1; v = t[0]; free(t);" + LAST, {"v": "private"}),
    "list kept in memory": (
        "struct e { struct e *next; }; static struct e *head;", "",
        "struct e *e = malloc(sizeof *e); e->next = head; head = e; v = 1;" + LAST, {"head": "carried"}),
    # statics, hidden state
    "static counter in a helper": (
        "static int next(void) { static int count; return ++count; }", "", "v = next();" + LAST,
        {"count": "carried"}),
    "own strtok": (
        "static char *tok(char *s) { static char *save; char *b; if (s) save = s; while (*save == ' ') save++;"
        " if (!*save) return NULL; b = save; while (*save && *save != ' ') save++; if (*save) *save++ = 0; return b; }",
        "char *t;", "v = 1; for (t = tok(line); t; t = tok(NULL)) { strncpy(k, t, 31); k[31] = 0;" + EMIT + "}",
        {"save": "private", "k": "private", "t": "private"}),
    "own strtok begun in the wrong place": (
        "static char *tok(char *s) { static char *save; if (s) save = s; return save++; }", "char *t;",
        "t = tok(NULL); v = 1; tok(line);" + LAST, {"save": "carried"}),
    "strtok": (
        "", "char *t;", "v = 1; for (t = strtok(line, \" \"); t; t = strtok(NULL, \" \")) { strcpy(k, t);" + EMIT + "}",
        {"*strtok": "private", "t": "private", "k": "private"}),
    "strtok(NULL) first": (
        "", "char *t;", "t = strtok(NULL, \" \"); v = t != NULL; strtok(line, \" \");" + LAST,
        {"*strtok": "carried"}),
    "strtok of one path": (
        "", "", "if (n > 3) strtok(line, \" \"); v = strtok(NULL, \" \") != NULL;" + LAST,
        {"*strtok": "carried"}),
    "strtok_r": (
        "", "char *t, *save;", "v = 1; for (t = strtok_r(line, \" \", &save); t; t = strtok_r(NULL, \" \", &save)) {"
        " strcpy(k, t);" + EMIT + "}", {"save": "private"}),
    "strtok_r goes on": (
        "", "char *t, *save = NULL;", "t = strtok_r(NULL, \" \", &save); v = t != NULL;" + LAST,
        {"save": "carried"}),
    "strsep": (
        "", "char *t, *rest;", "rest = line; v = 0; while ((t = strsep(&rest, \",\")) != NULL) v++;" + LAST,
        {"rest": "private", "t": "private"}),
    "errno cleared first": (
        "", "", "errno = 0; v = (int)strtol(line, NULL, 10); if (errno) v = 0;" + LAST, {"errno": "private"}),
    "errno not cleared": (
        "", "", "v = (int)strtol(line, NULL, 10); if (errno) v = 0;" + LAST, {"errno": "carried"}),
    # reads that may fail
    "sscanf tested": ("", "", "if (sscanf(line, \"%31s %d\", k, &v) == 2)" + EMIT, {"k": "private", "v": "private"}),
    "sscanf of a wider variable": (
        "", "long w;", "if (sscanf(line, \"%31s %d\", k, (int *)&w) == 2) { v = (int)w;" + EMIT + "}",
        {"w": "guarded"}),
    "sscanf tested for less": (
        "", "", "if (sscanf(line, \"%31s %d\", k, &v) >= 1)" + EMIT, {"k": "private", "v": "carried"}),
    "sscanf not tested": ("", "", "sscanf(line, \"%31s %d\", k, &v);" + EMIT, {"k": "carried", "v": "carried"}),
    "sscanf result kept": (
        "", "int r;", "r = sscanf(line, \"%31s %d\", k, &v); if (r != 2) continue;" + EMIT,
        {"k": "private", "v": "private"}),
    "strtol's end pointer": (
        "", "char *end;", "v = (int)strtol(line, &end, 10); if (*end) v = 0;" + LAST, {"end": "private"}),
    # recursion
    "recursion that only reads": (
        "static int depth(const char *s, int d) { return *s == '(' ? depth(s + 1, d + 1) : d; }", "",
        "v = depth(line, 0);" + LAST, {"v": "private"}),
    "function pointer that is known": (
        "static int one(int x) { return x + 1; }", "int (*f)(int) = one;", "v = f((int)n);" + LAST,
        {"v": "private", "f": "sharedRO"}),
}


@pytest.mark.parametrize("name", CASES)
def test_class(name: str) -> None:
    helpers, before, body, expected = CASES[name]
    found = own(mapper(body, before=before, helpers=helpers))
    assert {n: found.get(n) for n in expected} == expected


@pytest.mark.parametrize("name", CASES)
def test_carried_state_is_refused_and_nothing_else_of_these(name: str) -> None:
    helpers, before, body, expected = CASES[name]
    assert ("HD210" in codes(mapper(body, before=before, helpers=helpers))) == ("carried" in expected.values())


def test_reader_variables() -> None:
    found = classes(mapper("v = (int)n;" + LAST))
    assert found == {"k": "private", "v": "private", **RECORD}


def test_reader_variable_changed_by_the_program() -> None:
    found = classes(mapper("line++; v = 1;" + LAST))
    assert found["line"] == "carried"


def test_reason_names_variable_read_and_write() -> None:
    analysis, _ = analyse(mapper("if (v > 3) strcpy(k, line);\n v = (int)n;" + LAST))
    [reason] = [r for r in analysis.refusals if r.code == "HD210"]
    text = f"'v' is read at {LINES + 7}:5 before it is written in the same record; written at {LINES + 8}:2"
    assert text in reason.message
    assert reason.place.endswith(f":{LINES + 7}:5")


def test_unused_clause_variable() -> None:
    assert classes(mapper('printf("%s\\n", line);')) == {"k": "unused", "v": "unused", **RECORD}


def test_shared_and_texture_clauses() -> None:
    pragma = MAPPER + " sharedRO(limit) texture(table)"
    found = own(mapper("v = table[n & 7] > limit;" + LAST, before="int limit = 3; static int table[8];", pragma=pragma))
    assert (found["limit"], found["table"]) == ("sharedRO", "texture")


@pytest.mark.parametrize(
    ("clause", "body"),
    [("sharedRO(limit)", "limit = 3;"), ("texture(table)", "table[n & 7] = 1;"), ("sharedRO(p)", "*p = 1;")])
def test_read_only_variable_written(clause: str, body: str) -> None:
    before = "int limit = 3, table[8] = {0}, *p = malloc(sizeof(int));"
    source = mapper(body + "v = limit + table[0] + *p;" + LAST, before=before, pragma=f"{MAPPER} {clause}")
    _, [error] = analyse(source)
    assert error.code == "HD211" and error.span is not None and error.span.line == LINES + 7
    assert error.notes[0].span is not None and error.notes[0].span.line == LINES + 4


def test_firstprivate_in_a_mapper() -> None:
    pragma = MAPPER + " firstprivate(seed)"
    written_first = mapper("seed = (int)n; v = seed;" + LAST, before="int seed = 1;", pragma=pragma)
    only_read = mapper("v = seed;" + LAST, before="int seed = 1;", pragma=pragma)
    kept = mapper("v = seed; seed = (int)n;" + LAST, before="int seed = 1;", pragma=pragma)
    assert [own(s)["seed"] for s in (written_first, only_read, kept)] == ["firstprivate", "firstprivate", "carried"]
    assert "HD210" in codes(kept)


COMBINE_BODY = (
    'if (strcmp(word, prev) == 0) count += val; else { if (prev[0]) printf("%s\\t%d\\n", prev, count);'
    " strcpy(prev, word); count = val; }"
)
COMBINE_FLUSH = 'if (prev[0]) printf("%s\\t%d\\n", prev, count);'
COMBINE_BEFORE = "char word[32], prev[32]; int count = 0, val; prev[0] = 0;"


def test_combiner_classes() -> None:
    found = classes(combiner(COMBINE_BODY, before=COMBINE_BEFORE, flush=COMBINE_FLUSH))
    assert found == {"word": "record", "prev": "firstprivate", "count": "firstprivate", "val": "record"}


def test_combiner_finds_firstprivate_by_itself() -> None:
    pragma = COMBINER.split(" firstprivate")[0]
    analysis, _ = analyse(combiner(COMBINE_BODY, before=COMBINE_BEFORE, flush=COMBINE_FLUSH, pragma=pragma))
    [count] = [v for v in analysis.region.variables if v.name == "count"]
    assert count.cls == "firstprivate" and "found by the compiler" in count.reason


def test_combiner_that_uses_an_old_value_of_a_half_read_pair() -> None:
    loop = 'while (scanf("%31s %d", word, &val) != EOF)'
    assert classes(combiner(COMBINE_BODY, before=COMBINE_BEFORE, flush=COMBINE_FLUSH, loop=loop))["val"] == "carried"


def test_combiner_variables_set_in_the_block_are_private() -> None:
    source = combiner("count++; strcpy(prev, word);", before="char word[32], prev[32]; int count, val;",
                      loop='count = 0; strcpy(prev, "?"); while (scanf("%31s %d", word, &val) == 2)',
                      flush='printf("%s\\t%d\\n", prev, count);', pragma=COMBINER.split(" firstprivate")[0])
    assert classes(source) == {"word": "record", "val": "record", "prev": "private", "count": "private"}
