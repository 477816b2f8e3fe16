// C's arithmetic where C++ leaves it undefined or has no operator: signed results wrap (the CPU filters are built with
// -fwrapv), compound assignment computes in C's type and evaluates its target once. Also what generated text needs of
// initialisers and of output calls' values.
#pragma once

#include <type_traits>

#include "steps/abi.h"
#include "libc/arith.cuh"
#include "lane/base.cuh"

namespace hd {

#define HD_WRAPPING(type, wide)                                                                    \
    HD_DEVICE type add(type a, type b) { return static_cast<type>(static_cast<wide>(a) + static_cast<wide>(b)); } \
    HD_DEVICE type sub(type a, type b) { return static_cast<type>(static_cast<wide>(a) - static_cast<wide>(b)); } \
    HD_DEVICE type mul(type a, type b) { return static_cast<type>(static_cast<wide>(a) * static_cast<wide>(b)); } \
    HD_DEVICE type neg(type a) { return static_cast<type>(0 - static_cast<wide>(a)); }
HD_WRAPPING(int, unsigned)
HD_WRAPPING(long, unsigned long)
HD_WRAPPING(long long, unsigned long long)
HD_WRAPPING(unsigned, unsigned)
HD_WRAPPING(unsigned long, unsigned long)
HD_WRAPPING(unsigned long long, unsigned long long)
HD_WRAPPING(float, float)
HD_WRAPPING(double, double)
#undef HD_WRAPPING

// A computed value as an object of type T holds it: C's conversion, x86's from floating point to integers.
template <class T, class C> HD_DEVICE T stored(C value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value != 0;
    } else if constexpr (std::is_floating_point_v<C> && std::is_integral_v<T>) {
        if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) return static_cast<T>(to_u64(value));
        if constexpr (std::is_unsigned_v<T> && sizeof(T) == 4) return to_u32(value);
        if constexpr (std::is_signed_v<T> && sizeof(T) == 8) return static_cast<T>(to_i64(value));
        return static_cast<T>(to_i32(value));
    } else {
        return static_cast<T>(value);
    }
}

// target op= value, where the value has the type that C computes in.
template <class T, class C> HD_DEVICE T &add_to(T &target, C value) {
    return target = stored<T>(add(static_cast<C>(target), value));
}
template <class T, class C> HD_DEVICE T &sub_to(T &target, C value) {
    return target = stored<T>(sub(static_cast<C>(target), value));
}
template <class T, class C> HD_DEVICE T &mul_to(T &target, C value) {
    return target = stored<T>(mul(static_cast<C>(target), value));
}
template <class T, class C> HD_DEVICE T &div_to(T &target, C value) {
    return target = stored<T>(static_cast<C>(target) / value);
}
template <class T> HD_DEVICE T &shl_to(T &target, long count) { return target = stored<T>(shl(+target, count)); }
template <class T> HD_DEVICE T &shr_to(T &target, long count) { return target = stored<T>(shr(+target, count)); }

template <class Lane, class T, class C> HD_DEVICE T &divide_to(Lane &lane, T &target, C value, uint32_t line) {
    return target = stored<T>(divide(lane, static_cast<C>(target), value, line));
}
template <class Lane, class T, class C> HD_DEVICE T &remainder_to(Lane &lane, T &target, C value, uint32_t line) {
    return target = stored<T>(remainder(lane, static_cast<C>(target), value, line));
}

// ++ and -- of signed integers and of bool.
template <class T> HD_DEVICE T &increment(T &target) { return add_to(target, static_cast<decltype(+target)>(1)); }
template <class T> HD_DEVICE T &decrement(T &target) { return sub_to(target, static_cast<decltype(+target)>(1)); }
template <class T> HD_DEVICE T post_inc(T &target) {
    const T old = target;
    increment(target);
    return old;
}
template <class T> HD_DEVICE T post_dec(T &target) {
    const T old = target;
    decrement(target);
    return old;
}

// Initialisers that are written out as statements.
template <class T> HD_DEVICE void zero(T &object) {
    char *bytes = reinterpret_cast<char *>(&object);
    for (size_t i = 0; i < sizeof(T); i++) bytes[i] = 0;
}
template <class T, class From> HD_DEVICE void copy(T &object, const From *from) {
    const char *source = reinterpret_cast<const char *>(from);
    char *bytes = reinterpret_cast<char *>(&object);
    for (size_t i = 0; i < sizeof(T); i++) bytes[i] = source[i];
}
HD_DEVICE void copy_text(void *to, const char *from, size_t size) {
    for (size_t i = 0; i < size; i++) static_cast<char *>(to)[i] = from[i];
}

// A block's copy of a read-only array, made by all its threads; they wait for each other afterwards.
template <class T> struct Box { T value; };
template <class T, class From> HD_DEVICE void copy_by_block(Box<T> &box, const From *from) {
    const char *source = reinterpret_cast<const char *>(from);
    char *bytes = reinterpret_cast<char *>(&box);
    for (size_t i = threadIdx.x; i < sizeof(T); i += blockDim.x) bytes[i] = source[i];
}

// An element of an array that has a texture object (0: there is none, the array is read itself). An 8-byte element is
// fetched as two words.
template <class T> HD_DEVICE T fetch(const T *array, unsigned long long texture, long index) {
#ifdef __CUDACC__
    if constexpr (sizeof(T) == 8) {
        if (texture != 0) {
            const int2 words = tex1Dfetch<int2>(texture, static_cast<int>(index));
            const unsigned long long bits =
                static_cast<unsigned long long>(static_cast<unsigned>(words.y)) << 32 | static_cast<unsigned>(words.x);
            if constexpr (std::is_floating_point_v<T>) return __longlong_as_double(static_cast<long long>(bits));
            else return static_cast<T>(bits);
        }
    } else if (texture != 0) {
        return static_cast<T>(tex1Dfetch<T>(texture, static_cast<int>(index)));
    }
#endif
    return array[index];
}

// Counts the calls of a recursive function: beyond `most` of them a lane's stack may be at its end.
template <class Lane> struct Depth {
    Lane &lane;
    HD_DEVICE Depth(Lane &of, unsigned most, uint32_t line) : lane(of) {
        if (++lane.depth > most) lane.fail(Status::recursion, line);
    }
    HD_DEVICE ~Depth() { --lane.depth; }
    Depth(const Depth &) = delete;
    Depth &operator=(const Depth &) = delete;
};

// A number that is going to be printed: the sign of a NaN is the CPU's to say.
template <class Lane> HD_DEVICE double checked(Lane &lane, double value, uint32_t line) {
    if (value != value) lane.fail(Status::nan_sign, line);
    return value;
}

}  // namespace hd
