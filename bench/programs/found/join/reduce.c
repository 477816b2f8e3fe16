#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct order {
    char *text;
    struct order *next;
};

static void flush(const char *id, const char *name, struct order *list)
{
    while (list) {
        struct order *next = list->next;
        printf("%s\t%s,%s\n", id, name[0] ? name : "?", list->text);
        free(list->text);
        free(list);
        list = next;
    }
}

int main(void)
{
    char line[512], id[32] = "", name[64] = "";
    struct order *list = NULL, **tail = &list;

    while (fgets(line, sizeof line, stdin)) {
        char *v;
        line[strcspn(line, "\n")] = 0;
        v = strchr(line, '\t');
        if (!v)
            continue;
        *v++ = 0;
        if (strcmp(id, line)) {
            flush(id, name, list);
            list = NULL;
            tail = &list;
            snprintf(id, sizeof id, "%s", line);
            name[0] = 0;
        }
        if (v[0] == 'A') {
            snprintf(name, sizeof name, "%s", v + 2);
        } else {
            struct order *o = malloc(sizeof *o);
            o->text = strdup(v + 2);
            o->next = NULL;
            *tail = o;
            tail = &o->next;
        }
    }
    flush(id, name, list);
    return 0;
}
