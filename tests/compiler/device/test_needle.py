"""The text that a record must hold for its map to do anything: where one is found, and what prevents it."""

from __future__ import annotations

import pytest

from heterodoop.compiler.device import needle, nodes
from heterodoop.compiler.ir import ir

from ..regions import analyse

MAP = """int main(void) {
    char *line = NULL, pattern[40], *at, *end, key[40] = ""; size_t size = 0, length; ssize_t read; int one = 1, i, n;
    strcpy(pattern, "from before"); length = strlen(pattern);
#pragma mapreduce mapper key(line) value(one) keylength(40) vallength(1)
    while ((read = getline(&line, &size, stdin)) != -1) {
        BODY
        printf("%s\\t%d\\n", line, one);
    }
    return 0;
}
"""


def found(body: str, program: str = MAP) -> object:
    """The text, a variable by its name."""
    analysis, errors = analyse(program.replace("BODY", body))
    assert not errors and not analysis.refusals, (errors, analysis.refusals)
    text = needle.needle(analysis.facts.device)
    return text.data if isinstance(text, ir.Str) else text.name if isinstance(text, nodes.Var) else text


@pytest.mark.parametrize("body", [
    'if (strstr(line, "ERROR") == NULL) continue;',
    'if (!strstr(line, "ERROR")) continue;',
    'at = strstr(line, "ERROR"); if (at) one = 2; else continue;',
    'if (line[0] == 35 || !strstr(line, "ERROR") || !strchr(line, 9)) continue;',
    'if (line[0] == 35) continue; if (line[read] == 0) n = 2; if (strstr(line, "ERROR") == NULL) continue;',
    'n = 0; at = line; while ((at = strstr(at, "ERROR")) != NULL) { n++; at += 5; } if (n == 0) continue;',
    'n = 0; for (at = line; (at = strstr(at, "ERROR")); at += 5) n++; if (n < 1) continue;',
    'char *other = strstr(line, "ERROR"); one = 3; if (other == NULL) { one = 1; continue; }',
    'if (strlen(line) > 3 && read < 100) n = 1; if (strstr(line + 1, "ERROR") == NULL) continue;',
    'for (i = 0; i < 3; i++) if (!strstr(line, "ERROR")) break; if (i < 3) continue;',
])
def test_a_text_that_is_searched_for_first(body: str) -> None:
    assert found(body) == b"ERROR"


def test_a_variable_that_the_code_before_the_loop_made() -> None:
    body = """at = line; end = line + read;
        while (at < end) {
            char *here = strstr(at, pattern);
            if (here != NULL) { printf("%s\\t%d\\n", pattern, one); at = here + length; } else at += strlen(at) + 1;
        }
        continue;"""
    assert found(body) == "pattern"
    assert found(body.replace("+ 1;", "- 1;")) is None  # would go round for ever


def test_a_character() -> None:
    assert found("if (!strchr(line, ':')) continue;") == b":"
    assert found("if (!strchr(line, 0)) continue;") is None


def test_lines_that_come_in_pieces() -> None:
    program = MAP.replace("char *line = NULL,", "char line[100],")
    program = program.replace("(read = getline(&line, &size, stdin)) != -1", "fgets(line, 100, stdin)")
    assert found("read = 1; if (!strstr(line, \"ERROR\")) continue;", program) == b"ERROR"
    assert found("line[0] = 'x'; if (!strstr(line, \"ERROR\")) continue;", program) is None


@pytest.mark.parametrize("body", [
    "",
    'printf("a\\t1\\n"); if (strstr(line, "ERROR") == NULL) continue;',
    'fprintf(stderr, "a\\n"); if (strstr(line, "ERROR") == NULL) continue;',
    'if (strstr(line, "ERROR") != NULL) continue;',
    'if (strstr(line, "ERROR") == NULL && strstr(line, "WARNING") == NULL) continue;',
    'if (read > 80 && strstr(line, "ERROR") == NULL) continue;',
    'if (line[0] != 35 && strstr(line, "ERROR") == NULL) continue;',
    'line[0] = 46; if (strstr(line, "ERROR") == NULL) continue;',
    'line[read - 1] = 0; if (strstr(line, "ERROR") == NULL) continue;',
    'if (strstr(line + 2, "ERROR") == NULL) continue;',
    'strcpy(key, "x"); if (strstr(line, key) == NULL) continue;',
    'if (line[0] == 33) exit(1); if (strstr(line, "ERROR") == NULL) continue;',
    'if (strstr(line, "ERROR") == NULL) { n = atoi(line); if (n) continue; }',
    'if ((char)(read + 1) && strstr(line, "ERROR") == NULL) continue;',
    'at = strstr(line, "ERROR"); if (at == line) continue;',
    'one = 100 / (int)read; if (strstr(line, "ERROR") == NULL) continue;',
    'for (i = 0; i < read; i++) ; if (strstr(line, "ERROR") == NULL) continue;',
    'if (strtol(line, NULL, 10) && strstr(line, "ERROR") == NULL) continue;',
])
def test_what_might_do_something(body: str) -> None:
    assert found(body) is None
