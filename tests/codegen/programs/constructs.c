/* Names that C++ keeps for itself, structs, tables, initialisers, switch, recursion, statics, shadowing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 64

struct point {
    short x;
    double y;
    union {
        int whole;
        char bytes[4];
    };
    const char *label;
};

typedef struct node {
    struct node *next;
    int new, class;
} node;

union word {
    float f;
    unsigned u;
};

enum colour { RED, GREEN = 5, BLUE };

static const char *const names[] = {"zero", "one", [3] = "three"};
static const struct { char code; int score; } scores[] = {{'a', 10}, {.score = 30, .code = 'c'}, {'z'}};
static int primes[2][3] = {{2, 3}, {5, 7, 11}};
static const char letters[3] = "xyz";
static long total;
static char scratch[SIZE];
int template = 3;

static int this(const char *try, int delete)
{
    int catch = 0;
    for (int i = 0; i < delete; i++)
        for (int i = 0; try[i] != '\0' && i < 3; i++)
            catch += try[i];
    return catch;
}

static int depth(const char *text)
{
    return *text == '(' ? 1 + depth(text + 1) : 0;
}

static struct point make(int x, const char *label)
{
    struct point made = {.y = x / 2.0, .x = (short)x, .label = label};
    made.whole = x << 8 | 1;
    return made;
}

static int choose(int what)
{
    switch (what % 7) {
    case 0:;
        int early = what + 1;
        return early;
    case 1:
    case -1: {
        char text[8] = "ab";
        return text[0] + (int)sizeof text;
    }
    case GREEN:
        what++;
        /* fall through */
    case 3:
        return what * 2;
    default:
        if (what > 100)
            break;
        return -what;
    }
    return what / 2;
}

static void count(const char *text)
{
    static int calls;
    static char last[16];

    calls = 0;
    last[0] = '\0';
    do {
        calls++;
        if (*text == ';')
            continue;
        strncpy(last, text, sizeof last - 1);
        last[sizeof last - 1] = '\0';
    } while (*text++ && calls < 5);
    printf("count\t%d %s\n", calls, last);
}

static int emit(FILE *out, const char *key, int value)
{
    return fprintf(out, "%s\t%d\n", key, value);
}

int main(void)
{
    char buffer[200], key[SIZE];
    int length, step = 2, hd, shared = 0;
    enum colour colour = BLUE;

#pragma mapreduce mapper key(key) value(length) keylength(SIZE)
    while (fgets(buffer, sizeof buffer, stdin)) {
        int numbers[4] = {[1] = 7, 9}, i;
        union word word = {.u = 0x3f800000u};
        node first = {NULL, 1, 2}, second = {&first, 3}, *walk;
        struct point p, *q = &p;

        length = (int)strcspn(buffer, "\n");
        buffer[length] = '\0';
        snprintf(key, sizeof key, "%.*s", step * 4, buffer);
        p = make(length, names[1]);
        q->bytes[0] += 1;
        printf("point\t%d %.2f %d %s %d\n", p.x, q->y, q->whole, q->label, (int)sizeof *q);
        p = (struct point){.x = 3, .label = key};
        printf("literal\t%d %.1f %d %s\n", p.x, p.y, p.whole, p.label);
        for (walk = &second, hd = 0; walk; walk = walk->next)
            hd += walk->new * 10 + walk->class;
        printf("list\t%d %.1f %d %d %d %d\n", hd, word.f, numbers[0], numbers[1], numbers[2], numbers[3]);
        printf("tables\t%s %s %d %c%d %d %c\n", names[0], names[2] ? names[2] : "none", primes[1][length % 3],
               scores[1].code, scores[1].score, scores[2].score, letters[length % 3]);
        printf("names\t%d %d %d %d\n", this(key, template), depth(buffer), choose(length), choose(-length));
        total = 0;
        for (i = 0; i < length; i++) {
            if (buffer[i] == ' ')
                continue;
            if (buffer[i] == '!')
                break;
            total += buffer[i] * (long)(i + 1);
        }
        memset(scratch, 0, sizeof scratch);
        memcpy(scratch, buffer, length < SIZE ? length : SIZE - 1);
        count(scratch);
        printf("colour\t%d %ld %d\n", colour, total, shared);
        if (emit(stdout, key, length) > 20)
            puts("long");
        else if (length == 0)
            puts("empty");
        else
            puts("short");
        { int key = 5, length = key * 2; printf("inner\t%d %d\n", key, length); }
    }
    return 0;
}
