"""What has no CUDA text is refused by name and place, and everything else is not."""

from __future__ import annotations

import pytest

from heterodoop.hdcodes import CODES

from ..regions import LINES, analyse, codes, mapper

EMIT = 'k[0] = 0; v = 1; printf("%s\\t%d\\n", k, v);'

# name -> (helpers, body, code, what the message says)
REFUSED: dict[str, tuple[str, str, str, str]] = {
    "tgamma": ("double tgamma(double);", "v = tgamma(n);", "HD232", "tgamma() may give other bits"),
    "errno that a GPU leaves": ("", "errno = 0; v = sqrt(n - 9.0) > 1; v += errno;", "HD232", "sqrt() may set errno"),
    "errno in a helper": ("double ldexp(double, int); static int worked(void) { return errno == 0; }",
                          "errno = 0; v = ldexp(n, 99) > 1; v += worked();", "HD232", "ldexp() may set errno"),
    "an unknown row": ("char *strerror(int);", "sprintf(k, \"%s\", strerror(v));", "HD232", "strerror() has no device form"),
    "a library variable": ("extern char *optarg;", "v = optarg != NULL;", "HD232", "'optarg'"),
    "perror": ("void perror(const char *);", 'if (n > 9) perror("long");', "HD232", "perror()"),
    "a pointer printed": ("", 'printf("%p\\n", (void *)line);', "HD233", "'%p'"),
    "an int as long": ("", 'printf("%ld\\n", v);', "HD233", "'%ld' is given a value of type 'int'"),
    "a string from an int": ("", 'sprintf(k, "%s", v);', "HD233", "'%s' is given"),
    "the line given back": ("", "free(line); v = 1;", "HD234", "free() is called in the record loop with the line's buffer"),
    "alloca for a record": (
        "void *alloca(size_t);", "char *p = alloca(n); *p = 1; v = *p;", "HD234", "call it in a function"),
    "a variable given back": ("", "free(k); v = 1;", "HD234", "free() is called in the record loop with k"),
    "a variadic helper": ("static int pick(int n, ...) { return n; }", "v = pick(1, 2);", "HD235", "pick()"),
    "a pointer that steps in its call": (
        "static int one(int x) { return x; } static int (*const all[])(int) = {one, one};",
        "int (*const *f)(int) = all; v = (*f++)(1);", "HD235", "that the call itself changes"),
    "a short read as int": ("", 'short s; sscanf(line, "%d", &s); v = s;', "HD236", "'%d' is given a target of type"),
    "an allocating scan": ("", 'char *p; if (sscanf(line, "%ms", &p) == 1) v = *p;', "HD236", "'%ms'"),
    "128 bits": ("", "unsigned __int128 x = n; v = x > 1;", "HD237", "__int128"),
    "a bit-field": ("struct b { int x : 3; int y; };", "struct b b = {.y = 1}; v = b.y;", "HD238", "bit-field 'x'"),
    "an unnamed array": ("", "v = n > 3 && ((int[]){1, 2, 3})[n & 1];", "HD239", "unnamed array"),
    "an unnamed object's address": (
        "struct s { int x; }; static int get(struct s *s) { return s->x; }", "v = n > 3 && get(&(struct s){2});", "HD239",
        "address"),
    "a later member in a table": (
        "union u { int i; float f; }; static const union u table[] = {{.f = 1}};", "v = table[n & 1].i;", "HD239",
        "'table'"),
    "arithmetic on a void pointer": ("", "void *p = line; p += 1; v = *(char *)p;", "HD239", "'+=' of a void pointer"),
    "what NULL points to": ("", "if (n > 99) *(int *)0 = 1;", "HD239", "a constant address"),
    "an element at NULL": ("", "if (n > 99) v = ((int *)0)[3];", "HD239", "a constant address"),
    "a member at NULL": ("struct q { int x; };", "if (n > 99) v = ((struct q *)0)->x;", "HD239", "a constant address"),
    "the capacity": ("", "v = (int)cap;", "HD241", "'cap'"),
    "a longer line": ("", 'strcat(line, "x"); v = line[0];', "HD241", "strcat()"),
    "a line printed into itself": ("", 'sprintf(line, "%d", v = 3);', "HD241", "sprintf()"),
}

ACCEPTED = {
    "a number cut as the registers would": 'printf("%d\\n", (long)n);',
    "a line moved within itself": "memmove(line, line + 1, n);",
    "a root without errno": "v = sqrt(n) > 1;",
    "errno without a root": 'errno = 0; v = (int)strtol(line, NULL, 10); v += errno; v += floor(n) > 2;',
    "tokens": 'char *t = strtok(line, " "); v = t != NULL;',
    "a perror before a failure": 'if (n > 9) { perror("long"); exit(1); }',
    "free of nothing": "free(NULL);",
    "fields": 'sscanf(line, "%*d %31s", k);',
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_name_and_place(case: str) -> None:
    helpers, body, code, said = REFUSED[case]
    source = mapper(f"v = 0;\n{body}\n{EMIT}", helpers=helpers)
    found = [r for r in analyse(source)[0].refusals if r.code == code]
    assert found and any(said in r.message for r in found), analyse(source)[0].refusals
    line = LINES + source.split("\n").index(body) + 1
    places = {int(r.place.split(":")[-2]) for r in found if said in r.message}
    outside = case in ("a variadic helper", "a bit-field", "a later member in a table")
    assert outside or line in places, (places, line)


@pytest.mark.parametrize(("body", "helpers", "said"), [
    ("sscanf(line, line, &v);", "", ["HD229: the format of sscanf is not a literal"]),
    ('sscanf(line, "%y", &v);', "", ["HD229: '%y' in the format of sscanf is not analysed"]),
    ("sprintf(k, line, v);", "", ["HD229: the format of sprintf is not a literal"]),
    ("v = f(1);", "extern int (*f)(int);", [
        "HD224: it calls a function through a pointer that cannot be followed",
        "HD232: the library's variable 'f' is not on the device"]),
    ('short s; char *p; long l; sscanf(line, "%hd %d %ms %d %d", &s, &l, &p, &v);', "", [
        "HD236: scanf's conversion '%d' is given a target of type 'long *'",
        "HD236: scanf's conversion '%ms' has no device form",
        "HD236: scanf has fewer targets than conversions"]),
])
def test_each_thing_is_told_once_and_all_of_a_call(body: str, helpers: str, said: list[str]) -> None:
    refusals = analyse(mapper(f"v = 0;\n{body}\n{EMIT}", helpers=helpers))[0].refusals
    assert [f"{r.code}: {r.message}" for r in refusals] == said


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case: str) -> None:
    assert codes(mapper(f"v = 0;\n{ACCEPTED[case]}\n{EMIT}", helpers="void perror(const char *);" + MOVE)) == set()


MOVE = "void *memmove(void *, const void *, size_t);"


def test_every_code_of_this_part_is_triggered() -> None:
    mine = {code for code in CODES if "HD232" <= code <= "HD244"}
    assert mine == {row[2] for row in REFUSED.values()}
