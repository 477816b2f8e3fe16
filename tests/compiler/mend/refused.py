"""Programs that are refused and that a small change mends: code -> the programs, with what the change has to say."""

from __future__ import annotations

from ..regions import combiner, mapper

PRINT = 'strcpy(k, "x"); printf("%s\\t%d\\n", k, v);'
LOOP = "while ((n = getline(&line, &cap, stdin)) != -1)"
FREE = ("static int twice(char *s, int d) {\n  int best;\n  if (*s) best = d;\n"
        "  if (d) twice(s + 1, d - 1);\n  return best;\n}")
ORDERED = combiner(
    "if (strcmp(word, prev) == 0) { count = count * 2 + val; } else {\n"
    'if (prev[0]) printf("%s\\t%d\\n", prev, count); strcpy(prev, word); count = val; }',
    before="char prev[32], word[32]; int count = 0, val; prev[0] = 0;")
BEHIND = ORDERED.replace("\n  {\n    while", "\n    while").replace(
    "    }\n\n  }\n", '    }\n  if (prev[0]) printf("%s\\t%d\\n", prev, count);\n')


def feof() -> str:
    head = LOOP + " {\n"
    return mapper(f"v = 1; {PRINT}").replace(head, "while (!feof(stdin)) {\nfgets(k, sizeof k, stdin);\n")


# (code, the change's new text in part, the program)
MENDED: list[tuple[str, str, str]] = [
    ("HD210", "v = 0;", mapper(f"if (line[0] == 'q') v = 1;\n{PRINT}")),
    ("HD210", "memset(k, 0, sizeof k);", mapper("v = strlen(k);\nstrcpy(k, line); printf(\"%s\\t%d\\n\", k, v);")),
    ("HD210", "if (buf == NULL) continue;", mapper(
        f'char *w;\nstrcpy(buf, line);\nw = strtok(buf, " ");\nif (!w) continue;\nv = *w; {PRINT}',
        before="char *buf = malloc(1000);")),
    ("HD212", "continue;", mapper(f"if (line[0] == 'q') break;\nv = 1; {PRINT}")),
    ("HD213", "exit(1);", mapper(f"if (line[0] == 'q') return 1;\nv = 1; {PRINT}")),
    ("HD213", "continue;", mapper(f"if (line[0] == 'q') return 0;\nv = 1; {PRINT}")),
    ("HD214", "continue;", mapper(f"if (line[0] == 'q') exit(0);\nv = 1; {PRINT}")),
    ("HD214", "exit(1);", mapper(f"v = bad(line); {PRINT}", helpers="static int bad(char *s) {\nexit(s[0]);\n}")),
    ("HD218", "= copy;", mapper(
        f"char copy[n + 1];\nvoid *whole = &copy;\nstrcpy(copy, line); v = copy[0] + (whole == k); {PRINT}")),
    ("HD219", "malloc(64)", mapper(f"char *p = aligned_alloc(64, 64);\nv = p != NULL; {PRINT}",
                                   helpers="void *aligned_alloc(size_t, size_t);")),
    ("HD221", "rand_r(&seed)", mapper(f"v = rand();\n{PRINT}", helpers="int rand_r(unsigned *);")),
    ("HD221", "started", mapper(f"v = (int)time(NULL);\n{PRINT}")),
    ("HD222", "", mapper(f"v = 1; {PRINT}", before='setlocale(LC_ALL, "");')),
    ("HD226", "}", BEHIND),
    ("HD227", "v = 0;", mapper(f"v = 1; {PRINT}", after='fprintf(stderr, "%d", v);')),
    ("HD228", "!= NULL)", feof()),
    ("HD228", "== 1", mapper(f"{PRINT}").replace(LOOP, 'while (scanf("%d", &v) != EOF)')),
    ("HD229", 'printf("%s", line)', mapper(f"v = 1;\nprintf(line);\n{PRINT}")),
    ("HD229", "", mapper(f"v = 1;\nfflush(stdin);\n{PRINT}")),
    ("HD232", 'fprintf(stderr, "long\\n")', mapper(f'v = 1;\nif (n > 9) perror("long");\n{PRINT}',
                                                   helpers="void perror(const char *);")),
    ("HD233", '%d\\n", v', mapper(f'v = 1;\nprintf("%ld\\n", v);\n{PRINT}')),
    ("HD233", "%-5d", mapper(f'v = 1;\nprintf("%d %-5ld\\n", v, v);\n{PRINT}')),
    ("HD234", "", mapper(f"v = 1; {PRINT}\nfree(line);")),
    ("HD234", "malloc(n)", mapper(f"char *p = alloca(n);\n*p = 1; v = *p; {PRINT}", helpers="void *alloca(size_t);")),
    ("HD236", "%hd", mapper(f'short s = 0;\nsscanf(line, "%d", &s);\nv = s; {PRINT}')),
    ("HD237", "unsigned long long x", mapper(f"unsigned __int128 x = n;\nv = x > 1; {PRINT}")),
    ("HD238", "int x; int y;", mapper(
        f"struct b b = {{.y = 1}}; v = b.y; {PRINT}", helpers="struct b { int x : 3; int y; };")),
    ("HD239", "char *p = line", mapper(f"void *p = line;\np += 1;\nv = *(char *)p; {PRINT}")),
    ("HD239", "abort();", mapper(f"v = 1;\nif (n > 99) *(int *)0 = 1;\n{PRINT}")),
    ("HD251", "best = 0;", mapper(f"v = twice(line, 3);\n{PRINT}", helpers=FREE)),
    ("HD261", "return 0;", mapper(f"v = f(line); {PRINT}", helpers="static int f(char *s) {\n  if (*s) return 1;\n}")),
    ("HD262", "k + strlen(k)", mapper(f'v = 1; strcpy(k, "x");\nsprintf(k, "%sy", k);\n{PRINT}')),
    ("HD330", "double x", mapper(f"long double x = n;\nv = (int)x; {PRINT}")),
    ("HD330", "int a;", mapper(f"s.a = 1; v = s.a; {PRINT}", helpers="struct b { int a : 3; };", before="struct b s;")),
]
