// Functions of one lane: every result as 64 bits, in the order that the test lists.
#include <type_traits>

struct Out {
    unsigned long long *at;

    template <class T> __device__ void put(T value) {
        static_assert(std::is_integral_v<T>);
        *at++ = static_cast<unsigned long long>(value);
    }
};

__constant__ const unsigned powers[3] = {1, 10, 100};

extern "C" __global__ void intrinsics(unsigned a, unsigned b, unsigned long long w, unsigned long long v,
                                      unsigned long long *to) {
    Out out{to};
    out.put(__popc(a));
    out.put(__popcll(w));
    out.put(__ffs(static_cast<int>(a)));
    out.put(__ffsll(static_cast<long long>(w)));
    out.put(__clz(static_cast<int>(a)));
    out.put(__clzll(static_cast<long long>(w)));
    out.put(__brev(a));
    out.put(__brevll(w));
    out.put(__byte_perm(a, b, 0x0123));
    out.put(__byte_perm(a, b, 0x7bf0));
    out.put(__vcmpeq4(a, b));
    out.put(__umulhi(a, b));
    out.put(__umul64hi(w, v));
    out.put(__mul64hi(static_cast<long long>(w), static_cast<long long>(v)));
    out.put(__funnelshift_l(a, b, 5));
    out.put(__funnelshift_r(a, b, 5));
    out.put(__double_as_longlong(1.5) == 0x3ff8000000000000ll && __longlong_as_double(0x3ff8000000000000ll) == 1.5);
    out.put(__float_as_uint(1.5f) == 0x3fc00000u && __int_as_float(0x3fc00000) == 1.5f);
    out.put(min(a, b));
    out.put(max(a, b));
    out.put(max(-1, 1u));  // as unsigned
    out.put(min(-1, 1));
    out.put(max(-1.5, 2.0) == 2.0 && min(-1.5f, __uint_as_float(0x7fc00000u)) == -1.5f);
    const uint4 four = make_uint4(a, b, 1, 2);
    out.put(four.x + four.y + four.z + four.w);
    out.put(alignof(uint4) + alignof(uint2) * 100 + alignof(char4) * 10000 + alignof(ulonglong2) * 1000000ull);
    out.put(powers[2] + dim3(7).y);
    out.put(__dadd_rn(0.1, 0.2) == 0.1 + 0.2 && __fma_rn(3.0, 5.0, 1.0) == 16.0);
}
HD_KERNEL(intrinsics, unsigned, unsigned, unsigned long long, unsigned long long, unsigned long long *)

// The atomics, of which `words` and `wide` hold one word each; `old` gets what they returned.
extern "C" __global__ void atomics(unsigned *words, unsigned long long *wide, int *old, double *sum) {
    old[0] = static_cast<int>(atomicAdd(words + 0, 5u));
    old[1] = static_cast<int>(atomicSub(words + 1, 5u));
    old[2] = static_cast<int>(atomicMax(words + 2, 50u));
    old[3] = static_cast<int>(atomicMin(words + 3, 5u));
    old[4] = static_cast<int>(atomicAnd(words + 4, 6u));
    old[5] = static_cast<int>(atomicOr(words + 5, 5u));
    old[6] = static_cast<int>(atomicXor(words + 6, 3u));
    old[7] = static_cast<int>(atomicExch(words + 7, 5u));
    old[8] = static_cast<int>(atomicCAS(words + 8, 10u, 5u));
    old[9] = static_cast<int>(atomicCAS(words + 9, 11u, 5u));
    int *const word = reinterpret_cast<int *>(words + 10);
    old[10] = atomicMin(word, -3);
    atomicAdd(wide + 0, 1ull << 40);
    atomicCAS(wide + 1, 10ull, 1ull << 50);
    atomicMax(wide + 2, 1ull << 60);
    atomicAdd(sum, 0.25);
}
HD_KERNEL(atomics, unsigned *, unsigned long long *, int *, double *)
