"""Where outer variables live in a kernel: the effect of every clause, what the compiler finds itself, what it refuses."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from heterodoop.compiler.analysis.objects import Local
from heterodoop.compiler.decide import decisions, optimisations, placement
from heterodoop.compiler.decide.decisions import Decisions

from ..regions import MAPPER, analyse, combiner, mapper

USE = 'printf("%s\\t%d\\n", k, v);'
SUM = (
    'if (strcmp(prev, word)) { if (count) printf("%s\\t%d\\n", prev, count); strcpy(prev, word); count = 0; } '
    "count += val;"
)
FLUSH = 'if (count) printf("%s\\t%d\\n", prev, count);'


@dataclass(frozen=True)
class Found:
    decisions: Decisions
    codes: set[str]
    messages: str

    def space(self, name: str) -> str:
        place = self.decisions.place(name)
        return place.space if place is not None else ""

    def reason(self, name: str) -> str:
        place = self.decisions.place(name)
        return place.reason if place is not None else ""

    def field(self, name: str) -> tuple[str, int, int]:
        """(kind, offset, nbytes) of what the prologue hands over."""
        return next((f.kind, f.offset, f.nbytes) for f in self.decisions.shared if f.name == name)


def decide(source: str, *options: str) -> Found:
    """Decisions of a program; `options` that are on, default: the default set."""
    analysis, errors = analyse(source)
    assert not errors
    scope = {s.original: s.storage for s in analysis.program.globals if not s.owner}
    facts = analysis.facts
    found = placement.decide(
        analysis.program, analysis.uses, facts.known, facts.launch, scope, options or optimisations.chosen())
    reasons = found.reasons
    return Found(found.decisions, {r.code for r in reasons}, "; ".join(r.message for r in reasons))


# ------------------------------------------------------------------------------------------ clauses


def test_shared_scalars_become_parameters() -> None:
    before = "int a = atoi(\"1\"); double b = a; char c = (char)a; struct { int x, y; } s = {a, a};"
    found = decide(mapper(f"v = a + (int)b + c + s.y; {USE}", before=before, pragma=MAPPER + " sharedRO(a, b, c, s)"))
    assert [found.space(n) for n in "abcs"] == ["parameter"] * 4 and not found.codes
    assert found.field("a") == ("scalar", 36, 4) and found.field("b") == ("scalar", 40, 8)
    assert found.field("c") == ("scalar", 48, 1) and found.field("s") == ("scalar", 52, 8)
    assert found.decisions.shared_bytes == 64 and found.field("k") == ("array", 0, 32)


def test_arrays_by_size_and_use() -> None:
    before = "int small[8], big[1000], even[1000], huge[20000]; small[0] = big[0] = even[0] = huge[0] = atoi(\"1\");"
    body = f"v = small[line[0] & 7] + big[line[0] & 7] + huge[line[0]]; for (int i = 0; i < 9; i++) v += even[i]; {USE}"
    found = decide(mapper(body, before=before))
    assert [found.space(n) for n in ("small", "big", "even", "huge")] == ["parameter-array", "shared", "global", "global"]
    assert found.field("small")[0] == "array" and found.field("big")[0] == found.field("huge")[0] == "object"
    plain = decide(mapper(body, before=before), "block-cursor")
    assert plain.space("big") == "global", "shared-tables is off"


def test_shared_memory_is_not_given_away_twice() -> None:
    before = "int a[6000], b[6000]; a[0] = b[0] = atoi(\"1\");"
    found = decide(mapper(f"v = a[line[0]] + b[line[0]]; {USE}", before=before))
    assert sorted([found.space("a"), found.space("b")]) == ["global", "shared"]


def test_small_arrays_share_one_budget() -> None:
    before = "int a[300], b[300]; a[0] = b[0] = atoi(\"1\");"
    found = decide(mapper(f"v = a[line[0]] + b[line[0]]; {USE}", before=before))
    assert [found.space("a"), found.space("b")] == ["parameter-array", "shared"]


def test_texture_is_obeyed_and_called_slow() -> None:
    before = 'double t[300]; t[0] = atof("1");'
    source = mapper(f"v = (int)t[line[0]]; {USE}", before=before, pragma=MAPPER + " texture(t)")
    found = decide(source)
    assert found.space("t") == "texture" and "measured slower" in found.reason("t")
    assert found.field("t") == ("texture", 40, 2400) and found.decisions.shared_bytes == 56
    assert decide(source.replace("double t[300]", "static double t[3]")).space("t") == "texture", "of any size"


@pytest.mark.parametrize(("before", "read", "why"), [
    ("double t[30][30]; t[0][0] = atof(\"1\");", "t[1][line[0]]", "more than one dimension"),
    ("double t[900]; t[0] = atof(\"1\");", "*(t + line[0])", "other than by name"),
    ("__int128 t[90]; t[0] = atoi(\"1\");", "t[line[0]]", "16 bytes have no texture form"),
])
def test_what_has_no_texture_form_is_named(before: str, read: str, why: str) -> None:
    found = decide(mapper(f"v = (int){read}; {USE}", before=before, pragma=MAPPER + " texture(t)"))
    assert found.space("t") in ("shared", "global", "parameter-array") and why in found.reason("t")


def test_texture_of_a_pointer_is_global_memory_and_says_so() -> None:
    source = mapper(f"v = t[line[0]]; {USE}", before="int *t = malloc(4000); t[0] = 1;", pragma=MAPPER + " texture(t)")
    found = decide(source)
    assert found.space("t") == "parameter" and found.space("*t") == "global" and "no" in found.reason("t")


def test_the_papers_set_takes_textures_by_itself() -> None:
    source = mapper(f"v = t[line[0]]; {USE}", before="int t[300]; t[0] = atoi(\"1\");")
    paper = decide(source, *optimisations.chosen("paper"))
    assert paper.space("t") == "texture" and paper.decisions.plan.sink == "ThreadArea"
    assert decide(source).decisions.plan.sink == "BlockCursor"
    assert decide(source, *optimisations.chosen("paper", ["texture"])).space("t") == "parameter-array"


def test_firstprivate_is_copied_for_each_thread() -> None:
    before = 'char prev[32], word[32], big[400]; int count = atoi("0"), val; prev[0] = 0; big[0] = 0;'
    found = decide(combiner(SUM + " count += big[0]; big[0] = 0;", before=before, flush=FLUSH))
    places = {n: found.decisions.place(n) for n in ("prev", "count", "big")}
    assert all(p is not None and p.space == "private" and p.live_in and p.cls == "firstprivate" for p in places.values())
    assert found.field("prev")[0] == "array" and found.field("count")[0] == "scalar"
    assert found.field("big")[0] == "object", "a large one is copied from device memory"


def test_a_known_start_needs_no_prologue() -> None:
    before = 'char prev[32] = "", word[32]; int count = 0, val;'
    found = decide(combiner(SUM, before=before, flush=FLUSH))
    assert found.decisions.shared == () and found.decisions.shared_bytes == 1
    count = found.decisions.place("count")
    assert count is not None and not count.live_in and str(getattr(count.init, "value", None)) == "0"


@pytest.mark.parametrize("change", [
    "if (k[0]) count = 1;", "count++;", 'sscanf("1", "%d", &count);', "int *p = &count; *p = 7;",
])
def test_a_start_that_is_not_known_comes_from_the_prologue(change: str) -> None:
    before = f'char prev[32] = "", word[32], k[2] = ""; int count = 0, val; {change}'
    found = decide(combiner(SUM, before=before, flush=FLUSH))
    count = found.decisions.place("count")
    assert count is not None and count.live_in and count.init is None


# ------------------------------------------------------------------------------------------ constants


@pytest.mark.parametrize("table", [
    "static const int t[3] = {1, 2, 3};", "static int t[3] = {1, 2, 3};", "const int t[3] = {1, 2, 3};", "static int t[3];",
    "static int u, *const t[3] = {&u, &u};", 'static const char *t[3] = {"a", "b"};', "int t[3] = {1};",
])
def test_tables_that_nobody_writes_are_constants(table: str) -> None:
    found = decide(mapper(f"v = t[line[0] & 1] != 0; {USE}", helpers=table))
    assert found.space("t") == "constant" and not found.codes


@pytest.mark.parametrize(("table", "before"), [
    ("static int t[3] = {1, 2, 3};", "t[0] = 5;"), ("static int t[3];", "int *p = t; p++; *p = 1;"),
    ("static int t[3];", "memset(t, 1, sizeof t);"), ("static int t[3];", 'sscanf("1", "%d", &t[1]);'),
    ("static int t[3]; static void set(int *p) { p[1] = 2; }", "set(t);"), ("int t[3]; void other(void);", "other();"),
    ("static int t[3]; void other(void *);", "other(t);"), ("static int t[3];", "*(int *)n = 1;"),
    ("static int t[3];", "FILE *f = fopen(\"x\", \"r\"); fgets((char *)t, 9, f);"),
    ("static int t[3]; static int less(const void *a, const void *b) { return a < b; }", "qsort(t, 3, 4, less);"),
    ("static int t[3]; static int *keep;", "keep = t; int **pp = &keep; **pp = 4;"),
    ("static struct { int a[3]; } s; static int t[3];", "memcpy(t, s.a, sizeof t);"),
])
def test_tables_that_somebody_writes_are_handed_over(table: str, before: str) -> None:
    found = decide(mapper(f"v = t[line[0] & 1]; {USE}", helpers=table, before=before))
    assert found.space("t") in ("parameter-array", "global") and found.field("t")[0] in ("array", "object")


def test_constants_stand_behind_what_they_name() -> None:
    helpers = "static int unread; static int w[2] = {1, 2}, *const t[2] = {&unread, w};"
    before = "static int s[2] = {3, 4}; int *q = s;"
    found = decide(mapper(f"v = q[line[0] & 1] + *t[1]; {USE}", helpers=helpers, before=before))
    names = [p.name for p in found.decisions.places if p.space == "constant"]
    assert set(names) == {"unread", "w", "t", "s", "q"} and not found.codes
    assert names.index("s") < names.index("q") and max(names.index("unread"), names.index("w")) < names.index("t")


def test_locals_with_a_known_value_are_constants() -> None:
    before = 'int a = 5; const double b = 2; const char *s = "x"; int c; c = 3; int d = 1; if (a) d = 2; int e[2] = {1, 2};'
    found = decide(mapper(f"v = a + (int)b + *s + c + d + e[line[0] & 1]; {USE}", before=before))
    assert {n: found.space(n) for n in "abscde"} == {
        "a": "constant", "b": "constant", "s": "constant", "c": "constant", "d": "parameter", "e": "constant",
    }


def test_a_jump_over_a_declaration_leaves_nothing_known() -> None:
    before = "if (k[0] == 1) goto later; int a = 5; later: ;"
    assert decide(mapper(f"v = a; {USE}", before=before)).space("a") == "parameter"


# ------------------------------------------------------------------------------------------ pointers and memory


def test_memory_comes_with_its_pointer() -> None:
    before = "double *c = malloc(n * 8), *inner = c + 2; c[0] = 1;"
    found = decide(mapper(f"v = (int)(c[line[0]] + *inner); {USE}", before=before))
    assert not found.codes and found.space("*c") == "global" and found.space("inner") == found.space("c") == "parameter"
    assert [(f.name, f.kind, f.value) for f in found.decisions.shared if f.kind != "array"] == [
        ("c", "pointer", "c"), ("inner", "pointer", "inner"), ("*c", "heap", "c"),
    ]


def test_memory_that_grew_is_one_object() -> None:
    before = "int *c = malloc(4); if (n) c = realloc(c, 400); c[0] = 1;"
    found = decide(mapper(f"v = c[line[0]]; {USE}", before=before))
    assert not found.codes and [f.name for f in found.decisions.shared if f.kind == "heap"] == ["*c"]


def test_arguments_and_environment_are_strings() -> None:
    before = 'const char *p = getenv("P"), *q = n ? "x" : NULL;'
    found = decide(mapper(f"v = strcmp(line, p) + (q ? q[0] : 0); {USE}", before=before))
    assert not found.codes and [f.name for f in found.decisions.shared if f.kind == "string"] == ["*p", "*q"]
    pointers = max(f.offset for f in found.decisions.shared if f.kind == "pointer")
    assert [f.offset for f in found.decisions.shared if f.kind == "string"] == [pointers + 8, pointers + 24]  # begin, size
    assert found.decisions.shared_bytes == pointers + 40


def test_a_handed_string_leaves_tables_of_strings_constant() -> None:
    before, helpers = 'const char *p = n ? "x" : "y", *q = "z";', 'static const char *t[2] = {"a", "b"};'
    found = decide(mapper(f"v = *p + *t[line[0] & 1] + *q; {USE}", helpers=helpers, before=before))
    assert found.space("t") == found.space("q") == "constant" and found.space("p") == "parameter" and not found.codes


def test_what_a_pointer_leads_to_lies_in_memory_of_its_own() -> None:
    found = decide(mapper(f"v = t[line[0] & 1] + *p; {USE}", before='int t[2] = {1, 2}, *p = t; if (n) p = t + 1;'))
    assert found.space("t") == "global" and found.field("t")[0] == "object" and found.field("p")[0] == "pointer"
    assert "pointer" in found.reason("t")


def test_scratch_memory_is_each_threads_own() -> None:
    found = decide(mapper(f"b[0] = line[0]; p[1] = b[0]; v = p[1]; {USE}", before="char *b = malloc(64), *p = k;"))
    assert not found.codes and [found.space(n) for n in ("b", "*b", "p")] == ["private"] * 3
    assert [f.name for f in found.decisions.shared] == [] and found.decisions.place("*b").nbytes == 64  # type: ignore[union-attr]


def test_a_second_pointer_to_scratch_memory_starts_as_the_first() -> None:
    found = decide(mapper(f"q[0] = line[0]; v = b[0]; {USE}", before="char *b = malloc(64), *q; q = b;"))
    places = [found.decisions.place(n) for n in ("b", "q")]
    assert not found.codes and places[0] is not None and places[1] is not None
    assert places[0].init == places[1].init and found.space("*b") == "private"


def test_globals_that_the_loop_writes_are_the_lanes() -> None:
    helpers = "static int g; static char *w; static void set(int x) { g = x; }"
    found = decide(mapper(f"set(line[0]); w = k; w[0] = 1; w[1] = 0; v = g; {USE}", helpers=helpers))
    assert found.space("g") == found.space("w") == "lane"


@pytest.mark.parametrize(("code", "source"), [
    ("HD247", mapper(f"b[0] = line[0]; v = b[0]; {USE}", before="char *b = malloc(n);")),
    ("HD247", mapper(f"k[0] = k[1] = line[0]; v = *p; {USE}", before="char *p = k; if (n) p = k + 1;")),
    ("HD247", mapper(f"k[0] = 0; v = *p; {USE}", before="char *p = n ? k : \"x\";")),
    ("HD247", mapper(f"k[0] = line[0]; v = p != NULL; {USE}", before="char *p = NULL; if (n) p = k;")),
    ("HD248", mapper(f"v = *slot(); {USE}", helpers="static int *slot(void) { static int n; return &n; }",
                     before="*slot() = 5;")),
    ("HD248", mapper(f"v = p[line[0] & 1]; {USE}", before="int *p = (int[]){1, 2}; p[0] = 2;")),
    ("HD248", mapper(f"v = p[line[0] & 1]; {USE}", before="int *p = malloc(8); *p = 1; p++;")),
    ("HD247", mapper(f"b[0] = line[0]; v = b[0]; {USE}", before="char b[cap + 1];")),
    ("HD249", mapper(f"v = *names[line[0] & 1] + *p; {USE}", helpers="static char a[2], b[2], *const names[2] = {a, b};",
                     before="char *p = a; if (n) p = b;")),
    ("HD249", mapper(f"v = t[0][0]; {USE}", before='char *t[2]; t[0] = t[1] = getenv("X");')),
    ("HD249", mapper(f"v = s.p[0]; {USE}", before='struct { char *p; } s; s.p = getenv("X");')),
    ("HD249", mapper(f"v = m[0][1]; {USE}", before="int **m = malloc(80); for (v = 0; v < 10; v++) m[v] = malloc(8);")),
    ("HD249", mapper(f"v = p[2]; {USE}", before='const char *p = n ? "a\\0b" : "c";')),
])
def test_what_cannot_be_handed_over_is_refused_by_name(code: str, source: str) -> None:
    assert code in decide(source).codes


def test_arguments_are_refused_by_name() -> None:
    source = mapper(f"v = strcmp(argv[1], line); {USE}").replace("int main(void)", "int main(int argc, char **argv)")
    found = decide(source)
    assert found.codes == {"HD249"} and "'argv' (char * *) points to memory of the system" in found.messages


def test_names_must_mean_the_object_where_the_region_begins() -> None:
    helper = "static int twice(int x) { return x * factor; }"
    source = mapper(f"v = twice(line[0]); {USE}", helpers=f"static int factor; {helper}", before="factor = atoi(\"2\");")
    assert decide(source).space("factor") == "parameter" and not decide(source).codes
    hidden = source.replace('factor = atoi("2");', 'factor = atoi("2"); int factor = 1; v = factor;')
    found = decide(hidden)
    assert found.codes == {"HD248"} and "'factor' is not visible" in found.messages
    reads = "static int get(void) { static int seen; int *p = &seen; return seen + (p == 0); }"
    assert decide(mapper(f"v = get(); {USE}", helpers=reads)).space("seen") == "constant"


def test_two_variables_of_one_name() -> None:
    inner = "int t[3]; t[0] = 1; v = t[0]; int *p = t; { static int t[3]; t[1] = cap; p = t; }"
    found = decide(mapper(f"v = t[line[0] & 1] + *p; {USE}", before=inner))
    assert found.codes == {"HD248"} and found.space("t") == "global", "the static one cannot be named where the region is"


def test_an_array_of_variable_length_is_handed_over() -> None:
    found = decide(mapper(f"v = t[line[0] & 1]; {USE}", before="int t[cap + 2]; t[0] = 1;"))
    assert not found.codes and found.space("t") == "global" and found.field("t")[::2] == ("object", 0)


def test_a_texture_that_a_pointer_leads_to_is_plain_memory() -> None:
    source = mapper(f"v = t[line[0] & 1] + *p; {USE}", helpers="static int t[300] = {1}, *const p = t;",
                    pragma=MAPPER + " texture(t)")
    found = decide(source)
    assert found.space("t") == "global" and found.space("p") == "parameter" and "pointer" in found.reason("t")


# ------------------------------------------------------------------------------------------ as a value


def test_decisions_print_and_compare() -> None:
    source = mapper(f"v = a; {USE}", before="int a = atoi(\"1\");", pragma=MAPPER + " threads(64) blocks(9)")
    found, again = decide(source).decisions, decide(source).decisions
    text = decisions.text(found)
    assert found == again and "threads 64, blocks 9" in text and "parameter" in text and len(text.splitlines()) >= 7
    assert found.by_key(Local("main", "a")) == found.place("a") and found.place("nobody") is None
    assert set(decisions.SPACES) >= {p.space for p in found.places} and all(p.reason for p in found.places)
