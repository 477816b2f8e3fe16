// combine.cu: made by HeteroDoop from apps/wordcount/combine.c; changes here are lost
//   apps/wordcount/combine.c:17:1: combiner key(previous) value(count) keyin(line) valuein(value) keylength(256) vallength(1) firstprivate(previous, count)
//   128 threads per block (default), as many blocks as are resident; output by BlockCursor
//   optimisations: block-cursor, shared-tables, hash-fold, word-output, search-ahead
//   fold: sum of int64 per key, runs may be cut

#include "lane/base.cuh"
#include "lane/lane.cuh"
#include "libc/format.cuh"
#include "libc/arith.cuh"
#include "libc/wrap.cuh"
#include "lane/extent.cuh"
#include "libc/numbers.cuh"
#include "libc/strings.cuh"

namespace app {

// ---- what a thread knows

// What the program computed before its loop; the same for all threads.
struct Shared {
    char previous[256]; char previous_end;
};
static_assert(sizeof(Shared) == 257, "as the host fills it in");

using Lane = hd::Lane<hd::BlockCursor>;

struct Ctx : Lane {
    const Shared &shared;
    __device__ Ctx(const hd::Task &task, const Shared &shared) : Lane(task), shared(shared) {}
};

// ---- the kernel: one work item per run of sorted pairs

extern "C" __global__ void __launch_bounds__(128)
hd_combine(const HD_PARAMETER hd::Task task, const HD_PARAMETER Shared shared) {
    Ctx hd(task, shared);
    while (hd.next()) {
        char *line = {};
        char *tab; HD_FILL(tab);
        char previous[256];
        unsigned long nbytes = {};
        long value; HD_FILL(value);
        long count;
        hd::copy(previous, shared.previous);
        count = 0L;

#line 20 "apps/wordcount/combine.c"
        while (hd.in.getline(&line, &nbytes) != -1L) {
            tab = hd::strchr(line, 9);
            if (tab == nullptr || tab - line >= 256L) {
                hd.warn(hd::text("wordcount: not a pair of this program: ", 39), hd::str(line), hd::text("\n", 1));
                hd.fail(hd::Status::exit_called, 24);
            }
            hd::in_line(hd, *tab, 26) = '\0';
            value = hd::atol(tab + 1);
            if (hd::strcmp(line, previous) == 0) {
                hd::add_to(count, value);
            } else {
                if (previous[0] != '\0')
                    hd.print(hd::str(previous), hd::text("\t", 1), hd::dec(count), hd::text("\n", 1));
                [&] { char *hd_0 = previous; const char *hd_1 = line; hd::fits(hd, hd::strlen(hd_1) + 1, 256UL, 33); char *hd_r = hd::strcpy(hd_0, hd_1); return hd_r; }();
                count = value;
            }
        }
        if (previous[0] != '\0')
            hd.print(hd::str(previous), hd::text("\t", 1), hd::dec(count), hd::text("\n", 1));
#line 69 "combine.cu"
    }
    hd.finish();
}
HD_KERNEL(hd_combine, hd::Task, Shared)

}  // namespace app
