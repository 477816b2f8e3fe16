"""What a program is told that stays off the GPU, or whose combiner is no fold: the construct, its place, what to write."""

from __future__ import annotations

import pytest

from .regions import LINES, analyse, combiner, mapper

PRINT = 'printf("%s\\t%d\\n", k, v);'


def tokens(condition: str) -> str:
    """A mapper whose loop reads words."""
    source = mapper(f"v = 1; {PRINT}")
    return source.replace("while ((n = getline(&line, &cap, stdin)) != -1) {", f"while ({condition}) {{")


def told(source: str) -> list[tuple[str, str]]:
    return [(reason.code, reason.message) for reason in analyse(source)[0].refusals]


@pytest.mark.parametrize("condition", [
    'scanf("%31s", k) != EOF', 'scanf("%s", k) != -1', 'scanf(" %31s", k) > 0', '~scanf("%31s", k)', 'scanf("%31s", k) == 1',
])
def test_every_way_to_read_words_to_the_end(condition: str) -> None:
    assert told(tokens(condition)) == []


def test_a_pair_that_may_be_read_in_part_is_told_so() -> None:
    source = combiner("count += val;", before="char prev[32], word[32]; int count = 0, val; prev[0] = 0;",
                      loop='while (scanf("%31s %d", word, &val) != EOF)')
    ((code, message),) = told(source)
    assert code == "HD210" and "'val', filled by the reader" in message
    assert "let the loop go on only where scanf gives the number of its conversions" in message


def test_strtok_of_memory_that_may_not_be_there() -> None:
    body = f'char *w; GUARD strcpy(buf, line); w = strtok(buf, " "); if (!w) continue; strcpy(k, w); v = 1; {PRINT}'
    ((code, message),) = told(mapper(body.replace("GUARD", ""), before="char *buf = malloc(1000);"))
    assert code == "HD210" and "may get NULL and go on with an earlier record: test the pointer first" in message
    assert told(mapper(body.replace("GUARD", "if (buf == NULL) continue;"), before="char *buf = malloc(1000);")) == []


@pytest.mark.parametrize("call", ["fflush(stdout);", "fflush(NULL);", "(void)fflush(stderr);", "if (v) fflush(stdout);"])
def test_flushing_changes_no_output(call: str) -> None:
    assert told(mapper(f'strcpy(k, "x"); v = 1; {PRINT} {call}')) == []


@pytest.mark.parametrize("call", ["if (fflush(stdout) != 0) continue;", "fflush(stdin);"])
def test_flushing_that_may_change_something(call: str) -> None:
    ((code, message),) = told(mapper(f'strcpy(k, "x"); v = 1; {PRINT} {call}'))
    assert code == "HD229" and message.startswith("fflush() is called: only fflush(stdout)")


def test_files_in_the_loop_are_named() -> None:
    ((code, message), _) = told(mapper(f'FILE *f = fopen("x", "r"); if (f) fclose(f); strcpy(k, "x"); v = 1; {PRINT}'))
    assert code == "HD229" and message.startswith("fopen() is called: files are opened")


@pytest.mark.parametrize(("call", "found"), [
    ('v = sscanf(line, "%2$d %1$d", &v, &x);', "'%2$d' in the format of sscanf is not analysed"),
    ('v = sscanf(line, "%d %\'d", &v, &x);', "'%'d' in the format of sscanf is not analysed"),
    ('v = sscanf(line, "a%bc", &x);', "'%b' in the format of sscanf is not analysed"),
    ('v = sscanf(line, "100%", &x);', "'%' in the format of sscanf is not analysed"),
    ('v = snprintf(k, 9, "%d%%|%1$*2$d", 1, 2);', "'%1$*2$d' in the format of snprintf is not analysed"),
    ('v = snprintf(k, 9, "%b", x);', "'%b' in the format of snprintf is not analysed"),
    ('v = snprintf(k, 9, "%d %d", x);', "the arguments of snprintf do not fit its format"),
    ('v = sprintf(k, line, x);', "the format of sprintf is not a literal"),
    ('v = 1; printf("%2$s %1$d", v, k);', "printf() is called: write to stdout or stderr, with a literal format"),
    ('v = 1; printf(line);', "printf() is called: write to stdout or stderr, with a literal format"),
    ('v = 1; fputs(k, fopen("x", "w"));', "fputs() is called: it writes to another stream"),
])
def test_a_format_that_is_not_known_is_told_as_it_stands(call: str, found: str) -> None:
    reasons = told(mapper(f'int x = 2; strcpy(k, "x"); {call} {PRINT}'))
    assert any(code == "HD229" and message.startswith(found) for code, message in reasons), reasons
    assert "sprintf(k, line" in call or not any("not a literal" in message for _, message in reasons), reasons


@pytest.mark.parametrize(("call", "found"), [
    ("v = sin(2.0) > 0;", "'sin', not declared here (write #include <math.h>), cannot be analysed"),
    ("char s[200]; v = stat(k, &s);", "'stat', not declared here (write #include <sys/stat.h>), cannot be analysed"),
    ("v = strchrnul(k, 'x') != 0;",
     "'strchrnul', not declared here (write #define _GNU_SOURCE before #include <string.h>), cannot be analysed"),
    ("v = gets(k) != 0;", "'gets', declared in no header that HeteroDoop knows, cannot be analysed"),
])
def test_a_function_that_nothing_declares_is_told_with_its_header(call: str, found: str) -> None:
    source = mapper(f'strcpy(k, "x"); v = 1; {call} {PRINT}')
    assert ("HD330", found) in told(source)


def test_records_that_a_helper_reads_are_found() -> None:
    helper = "static int next(char **text, size_t *size) { return getline(text, size, stdin) != -1; }"
    source = mapper(f"strcpy(k, line); v = 1; {PRINT}", helpers=helper)
    (reason,) = analyse(source.replace("(n = getline(&line, &cap, stdin)) != -1", "next(&line, &cap)"))[0].refusals
    assert reason.code == "HD228"
    assert "the records are read in next(): call getline, fgets or scanf in the loop" in reason.message
    assert reason.place.rpartition("/")[2].startswith(f"program.c:{LINES + 1}:")


@pytest.mark.parametrize("table", [
    "static const char t[256] = {['A'] = 'T', ['C'] = 'G'};", "static const char t[256] = {[250] = 1, [3] = 2, 5};",
    "static const char t[256] = {[200] = 'x', ['a'] = 1};",
])
def test_tables_of_a_few_named_elements(table: str) -> None:
    body = f"int i; for (i = 0; line[i] && i < 31; i++) k[i] = t[(unsigned char)line[i]]; k[i] = 0; v = 1; {PRINT}"
    assert told(mapper(body, helpers=table)) == []
    assert told(mapper(table + body)) == []


SUM = combiner(
    'if (strcmp(word, prev) == 0) { count += val; } else { if (prev[0]) printf("%s\\t%d\\n", prev, count); '
    "strcpy(prev, word); count = val; }",
    before="char prev[32], word[32]; int count = 0, val; prev[0] = 0;",
    flush='if (prev[0]) printf("%s\\t%d\\n", prev, count);',
)


@pytest.mark.parametrize(("change", "why"), [
    (("int count = 0, val", "double count = 0; int val"), "one integer of 32 or 64 bits: 'count' is double"),
    (("== 2", "!= EOF"), "read less than a whole pair: write == 2"),
    (("count += val", "count *= val"), "what it makes of 'count' with another pair of the same key is no sum"),
    (("count += val;", 'count += val; puts("x");'), "it prints before the key changes"),
    (("%s\\t%d\\n", "%s %d\\n"), "is not the key, a tab, the number and a newline"),
    (("%s\\t%d\\n", "%s\\t%05d\\n"), "it does not print 'count' by the plain conversion"),
    (("count += val", "count += abs(val)"), "what it does with another pair of the same key is not that of a sum"),
    (("\\n\", prev, count", "\\n\", prev + 1, count"), "it does not print the key that it keeps in 'prev'"),
])
def test_a_combiner_that_is_no_fold_is_told_why(change: tuple[str, str], why: str) -> None:
    region = analyse(SUM.replace(*change))[0].region
    assert region.fold is None and why in region.no_fold


def test_a_fold_needs_no_reason() -> None:
    region = analyse(SUM)[0].region
    assert region.fold is not None and region.no_fold == ""
