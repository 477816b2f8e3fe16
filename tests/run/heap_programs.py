"""A map program whose records allocate, each line by the function that its first letter names. Not a test module.

EQUAL  what a device and a host kernel do as the filter does. LEFT: what they leave to it -> why (both, or the device alone).
"""

from __future__ import annotations

HEAD = r"""#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; char *word; int count; };
struct tree { struct tree *left, *right; int count; char word[16]; };
struct text { int length; char bytes[]; };
struct pair { long a; double b; char c[4]; };
static void *need(size_t n) { void *p = malloc(n); if (p == NULL) { fprintf(stderr, "no memory\n"); exit(1); } return p; }
static struct tree *insert(struct tree *t, const char *w)
{
    int order;
    if (t == NULL) {
        t = need(sizeof *t);
        t->left = t->right = NULL; t->count = 1; strncpy(t->word, w, 15); t->word[15] = 0;
        return t;
    }
    order = strncmp(w, t->word, 15);
    if (order < 0) t->left = insert(t->left, w);
    else if (order > 0) t->right = insert(t->right, w);
    else t->count++;
    return t;
}
static void show(const struct tree *t) { if (t) { show(t->left); printf("%s\t%d\n", t->word, t->count); show(t->right); } }
static void drop(struct tree *t) { if (t) { drop(t->left); drop(t->right); free(t); } }
"""

EQUAL = {
    "tokens of a copy": r"""
    char *copy = strdup(line), *tok;
    for (tok = strtok(copy, " \n"); tok; tok = strtok(NULL, " \n")) printf("%s\t%d\n", tok, n);
    free(copy);""",
    "a list, freed from its head on": r"""
    struct node *head = NULL, *p, *next; char *tok;
    for (tok = strtok(line, " \n"); tok; tok = strtok(NULL, " \n")) {
        for (p = head; p && strcmp(p->word, tok); p = p->next) ;
        if (p) { p->count++; continue; }
        p = malloc(sizeof *p);
        if (!p) exit(1);
        p->word = malloc(strlen(tok) + 1); strcpy(p->word, tok); p->count = 1; p->next = head; head = p;
    }
    for (p = head; p; p = next) { next = p->next; printf("%s\t%d\n", p->word, p->count); free(p->word); free(p); }""",
    "a tree that is never freed": r"""
    struct tree *root = NULL; char *tok;
    for (tok = strtok(line, " \n"); tok; tok = strtok(NULL, " \n")) root = insert(root, tok);
    show(root);""",
    "a tree that is": r"""
    struct tree *root = NULL; char *tok;
    for (tok = strtok(line, " \n"); tok; tok = strtok(NULL, " \n")) root = insert(root, tok);
    show(root); drop(root);""",
    "a hash table of chains": r"""
    struct node **table = calloc(13, sizeof *table), *p; char *tok; unsigned h; int i;
    for (tok = strtok(line, " \n"); tok; tok = strtok(NULL, " \n")) {
        for (h = 0, i = 0; tok[i]; i++) h = h * 31 + (unsigned char)tok[i];
        for (p = table[h % 13]; p && strcmp(p->word, tok); p = p->next) ;
        if (!p) { p = calloc(1, sizeof *p); p->word = tok; p->next = table[h % 13]; table[h % 13] = p; }
        p->count++;
    }
    for (i = 0; i < 13; i++) for (p = table[i]; p; p = p->next) printf("%s\t%d\n", p->word, p->count);
    free(table);""",
    "a buffer that grows": r"""
    size_t room = 4, used = 0; char *text = malloc(room); int i;
    for (i = 0; i < n; i++) {
        if (used + 3 > room) { room *= 2; text = realloc(text, room); }
        if (line[i] > ' ') { text[used++] = line[i]; text[used++] = '.'; }
    }
    text[used] = 0;
    printf("%s\t%lu\n", text, (unsigned long)room);
    free(text);""",
    "pointers in an array that grows": r"""
    char **words = NULL, *tok; int count = 0, i, j;
    for (tok = strtok(line, " \n"); tok; tok = strtok(NULL, " \n")) {
        words = reallocarray(words, count + 1, sizeof *words);
        words[count++] = strndup(tok, 5);
    }
    for (i = 1; i < count; i++) {
        char *w = words[i];
        for (j = i; j > 0 && strcmp(words[j - 1], w) > 0; j--) words[j] = words[j - 1];
        words[j] = w;
    }
    for (i = 0; i < count; i++) { printf("%s\t%d\n", words[i], i); free(words[i]); }
    free(words);""",
    "an array at the end of a struct": r"""
    struct text *t = malloc(sizeof *t + n); int i;
    t->length = 0;
    for (i = n - 1; i >= 0; i--) if (line[i] > ' ') t->bytes[t->length++] = line[i];
    printf("%.*s\t%d\n", t->length, t->bytes, t->length);
    free(t);""",
    "ends of blocks, none and NULL": r"""
    char *a = malloc(16), *b = malloc(0), *p; int sum = 0;
    memset(a, n & 127, 16);
    for (p = a; p != a + 16; p++) sum += *p;
    for (p = a + 16; p > a; ) sum += *--p;
    printf("k%d\t%d %d\n", sum, b != NULL, a == b);
    free(NULL); free(b); free(a); a = realloc(NULL, 3); a[0] = 'x'; a[1] = 0; printf("%s\t0\n", a);""",
    "blocks that are copied": r"""
    char *a = malloc(n + 1), *b = malloc(n + 4); long *numbers = malloc(3 * sizeof *numbers);
    strcpy(a, line); memcpy(b, a, n + 1); memmove(b + 1, b, n); b[n] = 0; strcat(a + n - 1, "");
    sprintf(a, "%d", n); sscanf(a, "%ld", &numbers[0]); numbers[1] = numbers[0] * 2; numbers[2] = 1;
    printf("%.5s\t%ld %ld %d\n", b, numbers[0], numbers[1], memcmp(a, b, 1) < 0);""",
    "structs that are assigned": r"""
    struct pair *a = malloc(sizeof *a), *b = calloc(2, sizeof *b), local;
    a->a = n; a->b = n / 2.0; memcpy(a->c, "abc", 4);
    b[1] = *a; local = b[1]; b[0].a = local.a + 1; *a = b[0];
    printf("k%ld\t%ld %g %s %d\n", a->a, local.a, local.b, b[1].c, b[0].c[2]);""",
}

LEFT = {
    "bytes that nobody wrote": ("has not written", "both", r"""
    char *a = malloc(40); memset(a, 'x', 39); a[0] = line[0]; printf("k\t%d\n", a[39] == a[39] + (n & 1));"""),
    "a byte behind a block": ("has not written", "both", r"""
    char *a = malloc(n); memset(a, 'x', n); printf("k\t%d\n", a[n] * 0);"""),
    "a write behind a block": ("outside of an array", "both", r"""
    char *a = malloc(24), *b = malloc(24); a[n & 31] = 1; b[0] = 0; printf("k\t%d\n", b[0]);"""),
    "from one block into the next": ("outside of an array", "both", r"""
    char *a = malloc(24), *b = malloc(24), *p; memset(a, 1, 24); memset(b, 2, 24); p = a + (n & 1 ? 20 : 32); b[0] = 0;
    printf("k\t%d\n", *p * 0);"""),
    "into the next by the address of an element": ("outside of an array", "both", r"""
    char *a = malloc(24), *b = malloc(24), *p; memset(a, 1, 24); memset(b, 2, 24); p = &a[n & 1 ? 20 : 32]; b[0] = 0;
    printf("k\t%d\n", *p * 0);"""),
    "beyond an open array": ("outside of an array", "both", r"""
    struct text *t = malloc(sizeof *t + 4), *u = malloc(60); memset(t->bytes, 1, 4); memset(u, 2, 60);
    printf("k\t%d\n", t->bytes[n & 1 ? 3 : 40] * 0);"""),
    "a read of what was freed": ("has not written", "both", r"""
    char *a = malloc(24); memset(a, 1, 24); free(a); printf("k\t%d\n", a[20] * 0);"""),
    "a write to what was freed": ("outside of an array", "both", r"""
    char *a = malloc(24); a[0] = 1; free(a); a[20] = 1; printf("k\t%d\n", n);"""),
    "a string that was freed": ("has not written", "both", r"""
    char *a = strdup(line); free(a); printf("k\t%d\n", (int)strlen(a + 1) * 0);"""),
    "the new end of a block that has grown": ("has not written", "both", r"""
    char *a = malloc(8); memset(a, 1, 8); a = realloc(a, 64); printf("k\t%d\n", a[40] * 0);"""),
    "where a block was before it grew": ("has not written", "both", r"""
    char *a = malloc(24), *b = a; memset(a, 1, 24); a = realloc(a, 3000); printf("k\t%d\n", b[20] * 0 + a[0]);"""),
    "a string too long for its block": ("outside of an array", "both", r"""
    char *a = malloc(20), *b = malloc(4); b[0] = 0; strcpy(a, "a text of more than twenty"); printf("k\t%d\n", b[0]);"""),
    "a size of nothing": ("does not treat exactly", "both", r"""
    char *a = malloc(8); a = realloc(a, n & 1 ? 0 : 9); printf("k\t%d\n", a == NULL);"""),
    "more than there is": ("allocates more memory", "device", r"""
    char *a = malloc((size_t)n * 4000); a[0] = line[0]; printf("k\t%d\n", a[0]);"""),
    "more than there can be": ("allocates more memory", "both", r"""
    char *a = malloc((size_t)-1 - n); printf("k\t%d\n", a == NULL);"""),
}


def program() -> str:
    """Lines of a function begin with its letter: those of EQUAL from 'a' on, then those of LEFT from 'A' on."""
    bodies = {**{chr(97 + i): body for i, body in enumerate(EQUAL.values())},
              **{chr(65 + i): body for i, (_, _, body) in enumerate(LEFT.values())}}
    functions = "".join(f"static void f_{c}(char *line, int n)\n{{{body}\n}}\n" for c, body in bodies.items())
    cases = "".join(f"        case '{c}': f_{c}(line, n); break;\n" for c in bodies)
    return f"""{HEAD}{functions}
int main(void)
{{
    char *line = NULL; size_t size = 0; int n;
#pragma mapreduce mapper key(line) value(n) keylength(64)
    while ((n = getline(&line, &size, stdin)) != -1) {{
        switch (line[0]) {{
{cases}        }}
    }}
    return 0;
}}
"""
