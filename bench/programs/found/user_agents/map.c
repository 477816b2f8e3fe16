/* Which browser a line of a combined log is from. */
#include <stdio.h>
#include <string.h>

typedef enum { FIREFOX, CHROME, SAFARI, EDGE, BOT, OTHER } browser_t;

static const struct {
    const char *mark;
    browser_t browser;
} marks[] = {
    { "bot", BOT }, { "Bot", BOT }, { "spider", BOT }, { "Edg/", EDGE },
    { "Firefox/", FIREFOX }, { "Chrome/", CHROME }, { "Safari/", SAFARI },
};

static const char *names[] = {
    [FIREFOX] = "firefox", [CHROME] = "chrome", [SAFARI] = "safari", [EDGE] = "edge", [BOT] = "robot", [OTHER] = "other",
};

static browser_t classify(const char *agent)
{
    size_t i;
    for (i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (strstr(agent, marks[i].mark))
            return marks[i].browser;
    return OTHER;
}

int main(void)
{
    static char line[65536];

#pragma mapreduce mapper key(name) keylength(16)
    while (fgets(line, sizeof line, stdin)) {
        char *end = strrchr(line, '"');
        if (!end)
            continue;
        *end = '\0';
        char *agent = strrchr(line, '"');
        if (!agent)
            continue;
        const char *name = names[classify(agent + 1)];
        printf("%s\t%d\n", name, 1);
    }
    return 0;
}
