/* The value of "lang" in JSON objects, one a line, by a small scanner. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* p stands on a quote; copies the string and returns what follows it, NULL if it never ends */
static const char *read_string(const char *p, char *out, size_t size)
{
    size_t n = 0;

    for (p++; *p != '"'; p++) {
        char c = *p;
        if (c == '\0')
            return NULL;
        if (c == '\\') {
            c = *++p;
            switch (c) {
            case 'n': c = '\n'; break;
            case 't': c = ' '; break;
            case 'u': c = '?'; p += 4; break;
            case '\0': return NULL;
            }
        }
        if (n + 1 < size)
            out[n++] = c;
    }
    out[n] = '\0';
    return p + 1;
}

static int get_field(const char *p, const char *name, char *value, size_t size)
{
    char key[64];
    int depth = 0;

    while (*p) {
        if (*p == '{') {
            depth++;
            p++;
        } else if (*p == '}') {
            depth--;
            p++;
        } else if (*p == '"') {
            p = read_string(p, key, sizeof key);
            if (p == NULL)
                return 0;
            p = skip_space(p);
            if (*p == ':' && depth == 1 && strcmp(key, name) == 0) {
                p = skip_space(p + 1);
                return *p == '"' && read_string(p, value, size) != NULL;
            }
        } else {
            p++;
        }
    }
    return 0;
}

int main(void)
{
    char *line = NULL, lang[32];
    size_t len = 0;

#pragma mapreduce mapper key(lang)
    while (getline(&line, &len, stdin) != -1) {
        if (get_field(line, "lang", lang, sizeof lang))
            printf("%s\t1\n", lang);
    }
    free(line);
    return 0;
}
