"""Which reads get a check when the kernel runs: none of those that are proven."""

from __future__ import annotations

import re

import pytest

from ..regions import MAPPER, codes, cuda, mapper

PROVEN = {
    "a copy loop and its NUL": "int j = 0; for (int i = 0; i < n; i++) if (j < 31 && line[i] > ' ') k[j++] = line[i]; "
                               "k[j] = 0;",
    "a pointer to the line's end": "char *p = line, *q = k; while (*p && q < k + 31) *q++ = *p++; *q = 0;",
    "tokens": "for (char *t = strtok(line, \" \\n\"); t; t = strtok(NULL, \" \\n\")) v += atoi(t); strcpy(k, \"k\");",
    "a tab, and what follows": "char *t = strchr(line, '\\t'); if (t == NULL) continue; *t = 0; v = atoi(t + 1); "
                               "strcpy(k, line);",
    "conversions that are counted": "int x; if (sscanf(line, \"%d\", &x) == 1) v = x; strcpy(k, \"k\");",
    "elements that are counted": "int f[4], m = 0; for (int i = 0; i < n && m < 4; i++) f[m++] = i; "
                                 "for (int i = 0; i < m; i++) v += f[i]; strcpy(k, \"k\");",
    "its last byte": "for (int i = (int)n - 1; i >= 0 && line[i] == '\\n'; i--) line[i] = 0; strcpy(k, line);",
}
GUARDED = {
    "behind the line": "v = line[n + 1]; strcpy(k, line);",
    "an end that is not always put": "int j = 0; k[31] = 0; while (line[j] && j < 31) { k[j] = line[j]; j++; } "
                                     "if (j > 3) k[j] = 0;",
    "the line without its end": "line[n] = 'x'; v = atoi(line); strcpy(k, \"k\");",
    "one of two": "int x; if (n > 3) x = 1; v = x; strcpy(k, \"k\");",
}
CHECK = re.compile(r"hd::(guarded|named|check_|in_line)")


def checks(body: str) -> int:
    text = cuda(mapper(f'v = 0; {body} printf("%s\\t%d\\n", k, v);'))
    writes = len(re.findall(r"hd::in_line\(hd, [^;]*?\) = ", text))  # the line's own: a write must lie in it
    return len(CHECK.findall(text)) - writes


@pytest.mark.parametrize("body", PROVEN.values(), ids=PROVEN)
def test_what_is_proven_costs_nothing(body: str) -> None:
    assert checks(body) == 0


@pytest.mark.parametrize("body", GUARDED.values(), ids=GUARDED)
def test_what_is_not_proven_is_checked(body: str) -> None:
    assert checks(body) > 0


def test_what_one_path_wrote_apart_is_no_string() -> None:
    """k[10] is written on that path, and nothing between it and the string's NUL."""
    assert checks('if (n > 3) k[10] = line[0]; strcpy(k, "ab"); int i = 10; if (n > 3) v = k[i]; i -= 5; v += k[i];') == 2


def test_a_label_that_jumps_over_a_declaration() -> None:
    body = 'v = 0; switch (n & 1) { case 0:; int x = 5; v = x; break; case 1: v = x; } strcpy(k, "k");'
    text = cuda(mapper(f'{body} printf("%s\\t%d\\n", k, v);'))
    assert text.count("hd.guards.x.begin();") == 3 and "hd.guards.x.add(0, 4);" in text


def test_memory_that_was_allocated_before_the_loop() -> None:
    body = 'if (n > 3) strcpy(w, line); w[31] = 0; strcpy(k, w); v = 1; printf("%s\\t%d\\n", k, v);'
    text = cuda(mapper(body, before="char *w = malloc(32);"))
    assert "hd::Guard<32> heap_" in text and "hd::guarded_text<" in text


def test_text_that_is_printed_into_a_buffer() -> None:
    body = 'char w[8]; if (n > 3) strcpy(w, "a"); sprintf(k, "%s", w); v = 1; printf("%s\\t%d\\n", k, v);'
    assert "hd::sprint(k, hd::str(hd::guarded_text<true>(hd, w, hd::whole_text" in cuda(mapper(body))


def test_a_local_of_a_function_that_calls_itself() -> None:
    helper = "static int deep(int n) { int x; if (n > 3) x = 1; return n ? deep(n - 1) + x : x; }"
    assert codes(mapper('v = deep(n); strcpy(k, "k"); printf("%s\\t%d\\n", k, v);', helpers=helper)) == {"HD251"}


def test_what_a_clause_hands_over_and_no_record_writes() -> None:
    text = cuda(mapper(
        'v = most; strcpy(k, "k"); printf("%s\\t%d\\n", k, v);', before="int most = (int)cap + 40;",
        pragma=MAPPER + " firstprivate(most)"))
    assert "guards" not in text
