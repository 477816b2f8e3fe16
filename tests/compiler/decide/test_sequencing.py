"""Expressions whose parts C may evaluate in any order: those that show it are refused with their place, no others.

Functions that may end without a return likewise.
"""

from __future__ import annotations

from collections.abc import Iterable

from heterodoop.manifest import Reason

from ..regions import LINES, analyse, combiner, mapper

HELPERS = " ".join("""
static int next(char **p) { int x = (int)strtol(*p, p, 10); if (**p == ',') ++*p; return x; }
static int two(int a, int b) { return a * 2 + b; }
static int seen; static int bump(int by) { seen += by; return by; } static int look(void) { return seen; }
static int say(int x) { return printf("%d\\n", x); }
static int number(const char *s) { errno = 0; long x = strtol(s, NULL, 10); return errno ? -1 : (int)x; }
static char *shown(int x) { static char text[16]; sprintf(text, "%d", x); return text; }
static void swap(int *a, int *b) { int c = *a; *a = *b; *b = c; }
static int deep(int n) { if (n) { deep(n - 1); bump(n); } return seen; }
struct row { int n; char data[8]; int *to; }; union both { int i; short s[2]; };
static int push(struct row *r, int x) { r->data[r->n++ & 7] = (char)x; return r->n; }
""".split("\n"))
BEFORE = """int i = 0, x = 0, y = 0, a[8] = {0};
char *p = line, *q = line, *r[2] = {line, line}, **pp = &p, t[32] = "";
struct row w = {0}, o = {0}, *z = &w; union both u = {0}; k[0] = 0; v = 0;
q = *pp; p = r[0]; y = a[0] + z->n + o.n + u.i + x;"""
STRTOK = "the position that strtok keeps"
OPEN = {
    "arguments that move one pointer": ("v = two(next(&p), next(&p));", "'p'"),
    "strtok twice": ('v = atoi(strtok(line, " ")) - atoi(strtok(NULL, " "));', STRTOK),
    "strtok twice in printf": ('printf("%s %s\\n", strtok(NULL, " "), strtok(NULL, " "));', STRTOK),
    "strtok and its string": ('printf("%s %c\\n", strtok(line, " "), line[0]);', "the line"),
    "strsep twice": ('v = strcmp(strsep(&p, " "), strsep(&p, " "));', ""),
    "strtok_r twice": ('v = strcmp(strtok_r(line, " ", &p), strtok_r(NULL, " ", &p));', ""),
    "digits of one text": ("v = (*p++ - '0') * 10 + (*p++ - '0');", "'p'"),
    "compound assignment": ("seen += bump(5);", "'seen'"),
    "a read beside a call": ("v = seen * 3 + bump(2) + seen;", "'seen'"),
    "a call that reads beside one that writes": ("v = look() + bump(1);", "'seen'"),
    "a recursive call": ("v = deep(3) - deep(2);", "'seen'"),
    "index and value": ("a[next(&p) & 7] = next(&p);", "'p'"),
    "i = i++": ("i = i++;", "'i'"), "i += i++": ("i += i++;", "'i'"), "i + i++": ("v = i + i++;", "'i'"),
    "a[i] = i++": ("a[i] = i++;", "'i'"), "a[i++] = i": ("a[i++] = i;", "'i'"),
    "an assignment": ("v = (x = 3) + x;", "'x'"),
    "arguments": ("v = two(i++, i);", "'i'"), "printed arguments": ('printf("%d%d\\n", i, i++);', "'i'"),
    "two that print": ("v = say(1) + say(2);", "the output"),
    "one of them printf": ('v = say(1) + printf("\\n");', "the output"),
    "errno": ("v = strtol(line, NULL, 10) + errno;", "errno"),
    "an initialiser": ("int b[2] = {i++, i++}; v = b[0];", "'i'"),
    "an initialiser of a struct": ("struct row b = {i++, {(char)i}, 0}; v = b.n;", "'i'"),
    "by a pointer": ("int *m = &i; v = i++ + *m;", "'i'"), "a member by a pointer": ("v = z->n++ + w.n;", "'w.n'"),
    "elements that may be one": ("v = a[0]++ + a[i];", "'a'"), "a union's members": ("v = (u.i = 70000) + u.s[1];", "'u'"),
    "one text in two buffers": ('v = strcmp(shown(1), shown(2));', "'text'"),
    "a chosen pointer": ("v = next(i ? &p : &q) + next(&p);", ""),
    "behind a pointer to a pointer": ("v = next(pp) + *p;", "'p'"),
    "of a struct": ("v = push(&w, 1) * push(z, 2);", "'w.n'"),
    "a text that is made": ('v = sprintf(t, "%d", x) + t[0];', "'t'"), "a scan": ('v = sscanf(line, "%d", &x) + x;', "'x'"),
    "a chain of two values": ("a[i] = a[x] += 2;", "'a'"), "a chain with a step": ("a[i] = a[x] = a[y]++;", "'a'"),
    "before the loop of a ?:": ("v = (x ? i++ : 2) + i;", "'i'"), "behind a comma": ("v = (x, i++) + i;", "'i'"),
    "a pointer into itself": ("v = *p++ + *p;", "'p'"), "a copy": ("v = *strcpy(t, line) + t[1];", "'t'"),
}

ORDERED = (
    "a[i++] = v;", "char *d = t, *s = line; while (*s && d < t + 31) *d++ = *s++; *d = 0;",
    "v = v * 10 + (*p++ - '0');", "v = two(v, 3);", "v = v + two(v, v);",
    "v = (int)(strlen(line) + strlen(t));", 'printf("%s\\t%d\\n", strtok(line, " "), v);',
    "v = next(&p) + next(&q);", "v = two(next(&p), next(&q));", "v = next(&r[0]) - next(&r[1]);", "w.data[w.n++] = 1;",
    "z->data[z->n++] = 1;", 'z->n += snprintf(z->data + z->n, 8, "%d", 3);', "v = push(&w, 1) + push(&o, 2);",
    "v = number(line) + number(t);", "v = a[0]++ + a[1]++;", "x = (y = 3) + 1;", "x = y = v = 3;", "a[i] = a[x] = a[y] = 0;",
    "v = (i++, i);",
    "if (i++ && i++) v = i || i++;", "v = i++ ? i : i + 1;", "v += i++;",
    "v = seen + two(1, 2);", "v = look() + seen;",
    "for (i = 0, x = 1; i < 3; i++, x++) v = x;", "a[a[0] & 7] = a[1];", "a[i] = a[i] + 1;", "*p = *p + 1;",
    "v = *p++ << 8;", 'v = atoi(strtok(line, " ")) + x;', "v = isalpha(*p++) + tolower(*q++);",
    "int b = i++, c = i++; v = b + c;",
    "v = bump(1); v += seen;", "v = (i = 3, i) + x;", "v = two(bump(1), x);", "v = strtol(p, &p, 10) * 2;",
    "a[0] = a[0]++ ? 1 : 2;", "v = w.n++ + w.data[0];", "v = bump(bump(2));", "swap(&a[0], &a[1]); v = a[0];",
    "p += strspn(p, \" \"); v = *p;", "v = (int)(strchr(line, ' ') - line);", 'printf("%d %s\\n", say(1), line);',
    "v -= two(v, v);", "if ((q = strchr(p, ',')) != NULL) *q++ = 0;", 'v = sprintf(t, "%d", x) + x;', "v = deep(3);",
)


def _found(source: str, code: str = "HD260") -> list[Reason]:
    return [r for r in analyse(source)[0].refusals if r.code == code]


def _whole(texts: Iterable[str]) -> str:
    """A mapper with every text in a block on a line of its own."""
    blocks = "\n".join(f"{{ {text} }}" for text in texts)
    helpers = f"{HELPERS}\nsize_t strspn(const char *, const char *);"
    return mapper(f'{BEFORE}\n{blocks}\nprintf("%s\\t%d\\n", k, v);', helpers=helpers)


def _line(reason: Reason) -> int:
    return int(reason.place.split(":")[-2])


def test_an_open_order_is_refused_with_name_and_place() -> None:
    source = _whole(text for text, _ in OPEN.values())
    found = _found(source)
    first = LINES + source.split("\n").index("{ " + next(iter(OPEN.values()))[0] + " }") + 1
    for line, (case, (_, name)) in enumerate(OPEN.items(), start=first):
        said = [r.message for r in found if _line(r) == line]
        assert any(text.startswith(name) for text in said), (case, said)
    assert {_line(r) for r in found} == set(range(first, first + len(OPEN)))


def test_what_has_an_order_is_not_refused() -> None:
    assert not _found(_whole(ORDERED))


def test_the_code_before_the_region_and_combiners_are_looked_at() -> None:
    text = 'k[0] = 0; v = x; printf("%s\\t%d\\n", k, v);'
    before = "int x = 1, y;\ny = x++ + x;"
    assert len(_found(mapper(text, before=before))) == 1
    assert not _found(mapper(text, before="int x = 1;", after="x = x++ + x; v = x;"))
    before = 'char word[32] = "", prev[32] = ""; int count = 0, val = 0;'
    flush = 'if (prev[0]) printf("%s\\t%d\\n", prev, count);'
    body = f'if (strcmp(word, prev)) {{ {flush} strcpy(prev, word); count = 0; }} count += '
    plain = analyse(combiner(body + "val;", before=before, flush=flush))[0]
    assert plain.region.fold is not None and not plain.refusals
    found = analyse(combiner(body + "val++ - val + val;", before=before, flush=flush))[0]
    assert found.region.fold is None and {r.code for r in found.refusals} == {"HD260"}


NO_RETURN = {
    "an else is missing": "if (x > 3) return 1; else if (x < 0) return -1;",
    "a loop that may end": "while (x) { if (x == 3) return 1; x--; }",
    "a loop with a break": "for (;;) { if (x++ > 9) break; if (x == 3) return x; }",
    "a switch without default": "switch (x) { case 1: return 1; case 2: return 2; }",
    "a switch with a break": "switch (x) { case 1: return 1; default: break; }",
    "a do that goes on": "do { if (x > 3) continue; return 1; } while (x++ < 5);",
}
RETURNS = {
    "both": "if (x > 3) return 1; else return 2;", "at the end": "x++; return x;",
    "for ever": "while (1) { if (x++ > 5) return x; }",
    "a full switch": "switch (x) { case 1: return 1; case 2: x++; default: return x; }", "exit": "if (x) return 1; exit(1);",
    "once": "do { return x; } while (0);", "a helper that ends": "if (x) return 1; die();",
    "a block": "{ { if (x) { return 1; } else { return 2; } } }",
}


def _functions(bodies: Iterable[str]) -> str:
    """Functions f0, f1 ..., each on a line of its own behind that of die()."""
    lines = (f"static int f{number}(int x) {{ {body} }}" for number, body in enumerate(bodies))
    return "\n".join(["static void die(void) { exit(3); }", *lines])


def test_a_missing_return_is_refused_where_the_value_is_used() -> None:
    helpers, names = _functions(NO_RETURN.values()), [f"f{number}" for number in range(len(NO_RETURN))]
    used = " + ".join(f"{name}(3)" for name in names)
    found = _found(mapper(f'k[0] = 0; v = {used}; printf("%s\\t%d\\n", k, v);', helpers=helpers), "HD261")
    assert [(r.message.split(" may end without a return")[0], _line(r)) for r in found] == [
        (f"{name}()", LINES + 2 + number) for number, name in enumerate(names)]
    unused = " ".join(f"{name}(3); (void){name}(4);" for name in names)
    assert not _found(mapper(f'k[0] = 0; v = 1; {unused} printf("%s\\t%d\\n", k, v);', helpers=helpers), "HD261")


def test_a_function_that_returns_on_every_path_is_not_refused() -> None:
    used = " + ".join(f"f{number}(3)" for number in range(len(RETURNS)))
    source = mapper(f'k[0] = 0; v = {used}; printf("%s\\t%d\\n", k, v);', helpers=_functions(RETURNS.values()))
    assert not _found(source, "HD261")
