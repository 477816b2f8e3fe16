/* qsort: which elements it compares, in which order, and what comes of it, also where the comparator gives no order. bsearch. */
#include "probe.h"

static size_t element;
static int kind;

static int compare(const void *a, const void *b)
{
    const unsigned char *left = a, *right = b;

    add(left, element);
    add(right, element);
    if (kind == 0)
        return left[0] - right[0];
    if (kind == 1)
        return left[0] > right[0];
    if (kind == 2)
        return memcmp(left, right, element);
    return (int)((left[0] * 31u + right[0] * 17u) % 5) - 2;
}

static void sort(unsigned most, size_t size)
{
    static unsigned char all[20000];
    unsigned n = below(most + 1);

    element = size;
    kind = (int)below(4);
    for (size_t i = 0; i < n * size; i++)
        all[i] = (unsigned char)below(below(2) ? 7 : 256);
    qsort(all, n, size, compare);
    add(all, n * size);
}

static void search(void)
{
    static unsigned char all[64];
    unsigned char key = (unsigned char)below(40);
    unsigned n = below(64);
    const unsigned char *found;

    element = 1;
    kind = (int)below(3);
    for (unsigned i = 0; i < n; i++)
        all[i] = (unsigned char)(i / 2 + below(2));
    found = bsearch(&key, all, n, 1, compare);
    add_number(found == NULL ? -1 : (long)(found - all));
}

void probe_sorts(void)
{
    static const size_t sizes[] = {1, 2, 3, 4, 8, 12, 16, 24, 32, 33, 40, 64, 100};

    begin();
    for (unsigned i = 0; i < 4 * sizeof sizes / sizeof *sizes; i++)
        sort(40, sizes[i / 4]);
    sort(20000, 1);
    sort(5000, 4);
    sort(2500, 8);
    sort(500, 40);
    end("qsort");
    begin();
    for (unsigned i = 0; i < 500; i++)
        search();
    end("bsearch");
}
