"""Key loops that keep texts of values, in many spellings; what is none; values that do not read back, and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.compiler.keyloop.loop_text import loop_text

from ...run.host_program import LEFT, spawn
from ..emit.test_key_loop import run
from ..regions import analyse
from .test_key_loops import BEFORE, COUNT, CUT, LINE, LINES, recognised, usual, written

ARRAYS = BEFORE.replace("double x", "char text[40], a[40], b[20]; double x") + " a[0] = b[0] = 0;"
IN_LINES = LINES.replace("double x", "char *text, a[40], b[20]; double x") + " a[0] = b[0] = 0;"
ONE = 'while (scanf("%31s %39s", word, text) == 2)'
TOKEN = 'value text of at most 39 without " \\t\\x0b\\x0c", not empty'
REST = CUT + 'text = tab + 1; text[strcspn(text, "\\n")] = 0;'
PRINT = 'printf("%s\\t%s\\n", prev, a);'
BOTH = 'printf("%s\\t%ld,%s\\n", prev, s, a);'


def scanned(first: str, same: str, emit: str = PRINT, loop: str = ONE, before: str = ARRAYS) -> str:
    return usual(first, same, emit, loop=loop, before=before)


def cut(how: str, first: str, same: str, emit: str = PRINT, loop: str = LINE, before: str = IN_LINES) -> str:
    body = f"if (strcmp(word, prev) == 0) {{ {same} }} else {{ if (prev[0]) EMIT strcpy(prev, word); {first} }}"
    return written(f"{how} {body}", emit, loop=loop, before=before)


KEPT = 'print KEY "\\t" %s:a "\\n"'
FIRST, LAST = ("strcpy(a, text);", ""), ("strcpy(a, text);", "strcpy(a, text);")
LOOPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "the first": (scanned(*FIRST), (TOKEN, "char[40] a = v0, then a", KEPT)),
    "the last": (scanned(*LAST), ("char[40] a = v0, then v0", KEPT)),
    "the least": (scanned("strcpy(a, text);", "if (strcmp(text, a) < 0) strcpy(a, text);"),
                  ("char[40] a = v0, then ((order(v0, a) < 0) ? v0 : a)",)),
    "how often it changes": (scanned("strcpy(a, text); n = 1;", "if (strcmp(a, text)) n++; strcpy(a, text);", COUNT),
                             ("then ((order(a, v0) != 0) ? (n + 1) : n)", "char[40] a = v0, then v0")),
    "the longest": (scanned("strcpy(a, text);", "if (strlen(text) > strlen(a)) strcpy(a, text);"),
                    ("then ((length(v0) > length(a)) ? v0 : a)",)),
    "number and text": (scanned("s = v; strcpy(a, text);", "s += v;", BOTH,
                                'while (scanf("%31s %d,%39[^\\n]", word, &v, text) == 3)'),
                        ('value int "," text of at most 39, not empty, no', "long s = (long)v0", "char[40] a = v1, then a",
                         'print KEY "\\t" %ld:s "," %s:a "\\n"')),
    "text and number of a line": (
        cut('if (sscanf(line, "%31[^\\t]\\t%d,%39s", key, &v, b) != 3) continue; word = key;', "strcpy(a, b);", "",
            before=IN_LINES.replace("b[20]", "b[40], key[32]")),
        ('value int "," text of at most 39 without', "char[40] a = v1, then a")),
    "snprintf cuts": (scanned('snprintf(a, 8, "%s", text);', 'snprintf(a, sizeof a, "%s", text);'),
                      ("char[40] a = v0[:7], then v0[:39]",)),
    "strncpy and its NUL": (scanned("strncpy(a, text, 39); a[sizeof a - 1] = 0;", "strncpy(a, text, 8); a[5] = 0;"),
                            ("char[40] a = v0[:39], then v0[:5]",)),
    "strncpy without a NUL": (scanned("strncpy(b, text, sizeof b);", "", PRINT.replace(", a", ", b")),
                              ("value text of at most 19 without", "char[20] b = v0, then b")),
    "memcpy": (scanned("memcpy(a, text, strlen(text) + 1);", "memcpy(a, text, 10);"), ("of at most 9 ", "a = v0, then v0")),
    "the last but one": (scanned("a[0] = 0; strcpy(b, text);", "strcpy(a, b); strcpy(b, text);"),
                         ('char[40] a = "", then b', "char[20] b = v0, then v0")),
    "a mark": (scanned('strcpy(a, "no");', 'if (text[0] == \'!\') strcpy(a, "yes");'),
               ('char[40] a = "no", then (((int)first(v0) == 33) ? "yes" : a)',)),
    "begins alike": (scanned("strcpy(a, text); n = 0;", "n += !strncmp(text, a, 2);", COUNT),
                     ("(order(v0[:2], a[:2]) != 0)",)),
    "a column": (scanned(*FIRST, PRINT.replace("t%s", "t%-9s")), ('%-9s:a',)),
    "memset begins it": (scanned("memset(a, 0, sizeof a); n = 1;", "if (n++ == 2) strcpy(a, text);"),
                         ('char[40] a = "", then ((n == 2) ? v0 : a)',)),
    "the rest of a line": (cut(REST, *FIRST), ("value text of at most 39, no empty key", "char[40] a = v0, then a")),
    "a line without its end": (cut('line[strcspn(line, "\\r\\n")] = 0;' + CUT + "text = tab + 1;", *FIRST),
                               ("value text of at most 39, no",)),
    "strchr finds the end": (cut("if ((end = strchr(line, '\\n')) != NULL) *end = 0;" + CUT + "text = tab + 1;", *FIRST),
                             ("value text of at most 39, no",)),
    "strtok": (cut('word = strtok(line, "\\t"); text = strtok(NULL, "\\n");', *FIRST), ("of at most 39, not empty",)),
    "strtok, more": (
        cut('word = strtok(line, "\\t"); text = strtok(NULL, ",;"); v = atoi(strtok(NULL, "\\n"));',
            "strcpy(a, text); s = v;", "s += v;", BOTH), ('without ",;", not empty "," int', "char[40] a = v0")),
    "strtok, more, and no newline": (
        cut('line[strcspn(line, "\\n")] = 0; word = strtok(line, "\\t"); v = atoi(strtok(NULL, ","));'
            ' text = strtok(NULL, ",");',
            "strcpy(a, text); s = v;", "s += v;", BOTH), ('value int "," text of at most 39 without ",", not empty',)),
    "strchr": (
        cut(CUT + "text = tab + 1; end = strchr(text, ':'); *end = 0; v = atoi(end + 1);", "strcpy(a, text); s = v;",
            "s += v;", BOTH), ('without ":" ":" int',)),
    "behind a number": (
        cut(CUT + 'v = strtol(tab + 1, &end, 10); text = end + 1; text[strcspn(text, "\\n")] = 0;',
            "strcpy(a, text); s = v;", "s += v;", BOTH), ('value int "," text of at most 39, no',)),
    "a field that nobody reads": (
        cut('word = strtok(line, "\\t"); strtok(NULL, ","); v = atoi(strtok(NULL, "\\n"));', "s = v;", "s += v;",
            'printf("%s\\t%ld\\n", prev, s);'), ('value text without ",", not empty "," int', "then (s + (long)v1)")),
    "put together, behind a test": (
        scanned("strcpy(a, text);", 'if (strlen(a) + strlen(text) + 2 < sizeof a) { strcat(a, ","); strcat(a, text); }'),
        ('then ((((length(a) + length(v0)) + 2) < 40) ? (a .. "," %s:v0) : a)', "then outside if")),
    "put together, a comma between": (
        scanned('strcpy(a, "");', 'if (a[0]) strcat(a, ","); strncat(a, text, 3);'),
        ('char[40] a = "", then ((first(a) != 0) ? (a .. "," %s:v0[:3]) : (a .. %s:v0[:3]))', "then outside if")),
    "put together by sprintf": (
        scanned("n = sprintf(a, \"%s \", text);", 'n += sprintf(a + n, "%s ", text);'),
        ('char[40] a = ("" .. %s:v0 " "), then (a[:(unsigned long)n] .. %s:v0 " ")',
         "first outside if ((length(v0) + 1) >= 40)",
         "then outside if (((unsigned long)n > length(a)) ? 1 : ((((unsigned long)n + length(v0)) + 1) >= 40))")),
    "numbers put together by snprintf": (
        scanned('n = 0; n += snprintf(a + n, sizeof a - n, "%d", v);', 'n += snprintf(&a[n], sizeof a - n, ",%03d", v);',
                loop=ONE.replace("%39s", "%d").replace(", text", ", &v")),
        ('char[40] a = ("" .. %d:v0), then (a[:(unsigned long)n] .. "," %03d:v0)', "long n = (long)(int)size(%d:v0), then")),
    "behind its end": (
        scanned('sprintf(a, "%d", v);', 'if (strlen(a) < 30) sprintf(a + strlen(a), ",%d", v);',
                loop=ONE.replace("%39s", "%d").replace(", text", ", &v")),
        ('then ((length(a) < 30) ? (a .. "," %d:v0) : a)',)),
    "one of two words": (
        scanned('const char *sep = ""; strcpy(a, text); n = 1;',
                'const char *sep = n > 3 ? "+" : ","; if (strlen(a) < 9) strcat(a, sep); n++;',
                'printf("%s\\t%s %s\\n", prev, a, n > 2 ? "many" : n == 1 ? "one" : "");'),
        ('(a .. %s:((n > 3) ? "+" : ","))', '%s:((n > 2) ? "many" : ((n == 1) ? "one" : ""))')),
    "in a struct, beside the key": (
        usual("strcpy(c.text, text); c.n = 1;", "c.n++;", 'printf("%s\\t%s %ld\\n", c.key, c.text, c.n);', loop=ONE,
              before="struct c c = {0}; char word[32], text[40]; int v;",
              helpers="struct c { char key[32], text[40]; long n; };", key="c", value="c",
              flush="if (c.n) EMIT").replace("prev[0]", "c.n").replace("prev", "c.key"),
        ("char[40] c.text = v0, then c.text", "long c.n = 1, then (c.n + 1)", 'print KEY "\\t" %s:c.text " " %ld:c.n')),
    "fgets leaves room": (
        cut(REST, 'snprintf(a, 9, "%s", text);', "", loop="while (fgets(line, sizeof line, stdin))",
            before=IN_LINES.replace("*line = NULL", "line[60]")), ("value text of at most 26, no",)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_spellings(name: str) -> None:
    assert recognised(*LOOPS[name]).fold is None


NONE = {
    "a text with its newline": cut(CUT + "text = tab + 1;", *FIRST),
    "by %s without a limit, in a smaller array": scanned("strcpy(a, text);", "strcpy(b, a);"),
    "a width that is too large": scanned(*FIRST, loop=ONE.replace("39", "40")),
    "a set behind the key, without white space": scanned(*FIRST, loop=ONE.replace(" %39s", "%39[^\\n]")),
    "a set that goes on in the next line": scanned(*FIRST, loop=ONE.replace("%39s", "%39[^,]")),
    "a set of what is in it": scanned(*FIRST, loop=ONE.replace("%39s", "%39[a-z]")),
    "how much less": scanned("s = 0;", "s += strcmp(text, a);", BOTH),
    "text and number at once": cut(REST + "v = atoi(text);", *FIRST),
    "two kinds of end": cut(CUT + "text = tab + 1; end = strchr(text, ','); strcpy(b, text); *end = 0;", *FIRST),
    "what the other key's pair brought": scanned(*FIRST, PRINT.replace(", a", ", text")),
    "a text that begins otherwise": scanned("", "strcpy(a, text);"),
    "the key as a text": scanned("strcpy(a, word);", ""),
    "in the middle of a text": scanned("strcpy(a, text + 1);", ""),
    "the second letter": scanned("n = text[1];", "", COUNT),
    "an end behind the array": scanned("strcpy(a, text); a[40] = 0;", ""),
    "a text behind itself": scanned("strcpy(a, text);", "strcat(a, a);"),
    "another behind it": scanned("strcpy(a, text); strcpy(b, text);", "strcat(a, b);"),
    "the key in it": scanned("strcpy(a, text);", "strcat(a, word);"),
    "put together and compared": scanned("strcpy(a, text); n = 0;", "strcat(a, text); n += strcmp(a, text) > 0;"),
    "a letter behind it": scanned("strcpy(a, text); n = 1;", "a[n++] = text[0]; a[n] = 0;"),
    "surely too long": scanned("strcpy(a, text);", 'a[0] = 0; strcat(a, "more than forty bytes of a text, which are");'),
    "a token with the newline": cut('word = strtok(line, "\\t"); text = strtok(NULL, ",");', *FIRST),
    "two lines in a text": scanned("strcpy(a, text);", 'strcpy(a, "x\\ny");'),
    "two lines of one of two words": scanned("n = 1;", "n++;", 'printf("%s\\t%s\\n", prev, n > 2 ? "a" : "b\\rc");'),
    "two ends": cut('word = strtok(line, "\\t"); text = strtok(NULL, "\\n"); text[strcspn(text, "\\n")] = 0;', *FIRST),
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_key_loop(name: str) -> None:
    found = analyse(NONE[name])[0].facts.fold
    assert found.loop is None and found.no_loop, loop_text(found.loop) if found.loop else ""


@pytest.mark.usefixtures("kernel_cache")
def test_values_that_do_not_read_back_and_memory(tmp_path: Path) -> None:
    found = analyse(cut(REST, "strcpy(a, text);", "if (strcmp(text, a) > 0) strcpy(a, text);"))[0].facts.fold
    assert found.loop is not None and found.pairs is not None
    lines = b"k\t\nk\t a b \nk\t\xff\xfe\xc3\nl\ta\tb\nk\t\nm\t" + b"x" * 39 + b"\n"
    done = run(found.loop, lines, tmp_path, found.pairs)
    assert done.lines == [b"k\t\xff\xfe\xc3\n", b"l\ta\tb\n", b"m\t" + b"x" * 39 + b"\n"]
    done = spawn(tmp_path / "map.host", lines + b"k\t" + b"x" * 40 + b"\n", tmp_path)
    assert (done.status, done.report["left"], done.report["record"]) == (LEFT, 16, 6)
    many = b"".join(b"key%d\t%s\n" % (n % 700, b"t" * (n // 700)) for n in range(700 * 38))
    done = spawn(tmp_path / "map.host", many, tmp_path, env={"HETERODOOP_HOST_KERNEL_BYTES": "2000000"})
    assert done.status == 0 and done.lines == sorted(b"key%d\t%s\n" % (n, b"t" * 37) for n in range(700))
    done = spawn(tmp_path / "map.host", many, tmp_path, env={"HETERODOOP_HOST_KERNEL_BYTES": "100000"})
    assert (done.status, done.out) == (LEFT, b"")


@pytest.mark.usefixtures("kernel_cache")
def test_a_text_that_is_put_together_and_too_long_leaves_the_task(tmp_path: Path) -> None:
    found = analyse(scanned("n = sprintf(b, \"%s \", text);", 'n += sprintf(b + n, "%s%ld ", text, n);',
                            PRINT.replace(", a", ", b")))[0].facts.fold
    assert found.loop is not None and found.pairs is not None
    lines = b"k\tab\nl\tc\nk\td\nk\tefghijk\nl\t" + b"x" * 15 + b"\n"
    done = run(found.loop, lines, tmp_path, found.pairs)
    assert done.lines == [b"k\tab d3 efghijk6 \n", b"l\tc " + b"x" * 15 + b"2 \n"]
    done = spawn(tmp_path / "map.host", lines + b"m\t" + b"x" * 18 + b"\n", tmp_path)
    assert done.status == 0 and b"m\t" + b"x" * 18 + b" \n" in done.lines
    for bad in (b"k\tabc\n", b"l\ty\n", b"m\t" + b"x" * 19 + b"\n"):
        done = spawn(tmp_path / "map.host", lines + bad, tmp_path)
        assert (done.status, done.report["left"]) == (LEFT, 15), bad
