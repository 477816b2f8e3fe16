/* Names by their Soundex code. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char codes[] = "01230120022455012623010202"; /* a to z */

static void soundex(const char *name, char *out)
{
    char last;
    int n = 1;

    memset(out, '0', 4);
    out[4] = '\0';
    out[0] = toupper((unsigned char)*name);
    last = codes[tolower((unsigned char)*name) - 'a'];
    while (*++name && n < 4) {
        char c = tolower((unsigned char)*name), d;
        if (!islower((unsigned char)c))
            continue;
        d = codes[c - 'a'];
        if (d != '0' && d != last)
            out[n++] = d;
        if (c != 'h' && c != 'w')
            last = d;
    }
}

int main(void)
{
    char name[100], code[5];

#pragma mapreduce mapper key(code) value(name)
    while (scanf("%99s", name) == 1) {
        if (!isalpha((unsigned char)name[0]))
            continue;
        soundex(name, code);
        printf("%s\t%s\n", code, name);
    }
    return 0;
}
