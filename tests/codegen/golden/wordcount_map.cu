// map.cu: made by HeteroDoop from apps/wordcount/map.c; changes here are lost
//   apps/wordcount/map.c:44:1: mapper key(word) value(one) keylength(256) vallength(1)
//   128 threads per block (default), as many blocks as are resident; output by BlockCursor
//   optimisations: block-cursor, shared-tables, longest-first, radix-sort, word-output, search-ahead

#include "lane/base.cuh"
#include "lane/lane.cuh"
#include "libc/format.cuh"
#include "libc/arith.cuh"
#include "libc/wrap.cuh"

namespace app {

// ---- what a thread knows

// What the program computed before its loop; the same for all threads.
struct Shared {
    char nothing;
};
static_assert(sizeof(Shared) == 1, "as the host fills it in");

using Lane = hd::Lane<hd::BlockCursor>;

struct Ctx : Lane {
    const Shared &shared;
    __device__ Ctx(const hd::Task &task, const Shared &shared) : Lane(task), shared(shared) {}
};

// ---- functions of apps/wordcount/map.c

static __device__ int get_word(Ctx &hd, const char *line, int offset, char *word, int length, int size);
static __device__ int is_separator(char c);

#line 15 "apps/wordcount/map.c"
static __device__ int get_word(Ctx &hd, const char *line, int offset, char *word, int length, int size)
{
    int i = offset; int n = 0;
#line 19 "apps/wordcount/map.c"
    while (i < length && is_separator(line[i]))
        hd::increment(i);
    if (i == length)
        return -1;
    while (i < length && !is_separator(line[i])) {
        if (n == hd::sub(size, 1)) {
            hd.warn(hd::text("wordcount: a word is longer than ", 33), hd::dec(hd::sub(size, 1)),
                    hd::text(" bytes; raise WORD_SIZE\n", 24));
#line 26 "apps/wordcount/map.c"
            hd.fail(hd::Status::exit_called, 26);
        }
        word[hd::post_inc(n)] = line[hd::post_inc(i)];
    }
    word[n] = '\0';
    return hd::sub(i, offset);
}
#line 56 "map.cu"

#line 8 "apps/wordcount/map.c"
static __device__ int is_separator(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}
#line 63 "map.cu"

// ---- the kernel: one work item per record

extern "C" __global__ void __launch_bounds__(128)
hd_map(const HD_PARAMETER hd::Task task, const HD_PARAMETER Shared shared) {
    Ctx hd(task, shared);
    while (hd.next()) {
        char word[256]; HD_FILL(word);
        char *line = {};
        unsigned long nbytes = {};
        int read; HD_FILL(read);
        int offset; HD_FILL(offset);
        int step; HD_FILL(step);
        int one; HD_FILL(one);

#line 46 "apps/wordcount/map.c"
        while ((read = hd.in.getline(&line, &nbytes)) != -1) {
            offset = 0;
            one = 1;
            while ((step = get_word(hd, line, offset, word, read, 256)) != -1) {
                hd.print(hd::str(word), hd::text("\t", 1), hd::dec(one), hd::text("\n", 1));
                hd::add_to(offset, step);
            }
        }
#line 88 "map.cu"
    }
    hd.finish();
}
HD_KERNEL(hd_map, hd::Task, Shared)

}  // namespace app
