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


@pytest.mark.parametrize(("declared", "call"), [
    ("int fork(void);", "fork()"), ("int system(const char *);", "system(k)"),
    ("FILE *popen(char *, char *);", 'popen(k, "r") != 0'),
])
def test_programs_that_the_loop_starts_are_no_files(declared: str, call: str) -> None:
    name = call.partition("(")[0]
    reasons = told(mapper(f'strcpy(k, "x"); v = {call}; {PRINT}', helpers=declared))
    assert ("HD229", f"{name}() is called: programs are started on the CPU only") in reasons
    assert not any("files" in message for _, message in reasons)


def test_a_variable_number_of_arguments_is_told_as_that() -> None:
    helper = ("#include <stdarg.h>\nstatic int sum(int n, ...) { va_list a; int s = 0; va_start(a, n); "
              "while (n--) s += va_arg(a, int); va_end(a); return s; }")
    reasons = told(mapper(f'strcpy(k, "x"); v = sum(2, line[0], line[1]); {PRINT}', helpers=helper))
    assert ("HD235", "sum() takes a variable number of arguments") in reasons
    assert ("HD330", "va_arg, of a function that takes a variable number of arguments, cannot be analysed") in reasons
    assert ("HD235", "va_start() is called: the function takes a variable number of arguments") in reasons
    assert not any("__builtin" in message or "not known" in message for _, message in reasons), reasons


def test_a_helper_with_a_variable_number_of_arguments_before_the_loop() -> None:
    helper = "#include <stdarg.h>\nstatic void die(const char *f, ...) { va_list a; va_start(a, f); va_end(a); exit(1); }"
    before = 'if (!getenv("X")) die("no %s", "x");'
    assert told(mapper(f'strcpy(k, "x"); v = 1; {PRINT}', helpers=helper, before=before)) == []


def test_a_jump_that_has_no_other_form_is_told_once() -> None:
    body = "v = 1; if (line[0]) goto end; if (line[1]) goto in; if (line[2]) goto in; if (v) { in: v = 3; } end: ;"
    found = [r for r in analyse(mapper(f'strcpy(k, "x");\n{body} {PRINT}'))[0].refusals if r.code == "HD216"]
    text = ("goto in jumps into a block or loop: put the label behind it, or the code in a function that both places call")
    assert [(r.message, r.span.line - LINES) for r in found] == [(text, 8)]
    assert found[0].place.endswith(f":{LINES + 8}:{body.index('goto in') + 1}")


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
    helper = "static int next(char **text, size_t *size) { while (getline(text, size, stdin) != -1) return 1; return 0; }"
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
    (("int count = 0, val", "double count = 0; int val"), "is of another type than its conversion"),
    (("== 2", "!= EOF"), "read less than a whole pair: write == 2"),
    (("count += val", "count *= val"), "what it makes of 'count' with another pair of the same key is no sum"),
    (("count += val;", 'count += val; puts("x");'), "it prints before the key changes"),
    (("%s\\t%d\\n", "%s %d\\n"), "is not the key, a tab, the number and a newline"),
    (("%s\\t%d\\n", "%s\\t%05d\\n"), "it does not print 'count' by the plain conversion"),
    (("count += val", "count += rand()"), "what it does with another pair of the same key is not understood"),
    (("\\n\", prev, count", "\\n\", prev + 1, count"), "it does not print the key that it keeps"),
])
def test_a_combiner_that_is_no_fold_is_told_why(change: tuple[str, str], why: str) -> None:
    region = analyse(SUM.replace(*change))[0].region
    assert region.fold is None and region.no_fold is not None and why in region.no_fold.message


def test_a_fold_needs_no_reason() -> None:
    region = analyse(SUM)[0].region
    assert region.fold is not None and region.no_fold is None
