// Accesses to the open line, and moves of pointers that may lead into it, of a lane whose reader knows where the line lies.
#pragma once

#include "lane/reader.cuh"

namespace hd {

// An object of the line's, about to be written or read. In C the line's buffer goes on behind the line, and what a program or
// an earlier line put there can be read; here the next record lies there. So that is left to the CPU.
template <class L, class T> HD_DEVICE T &in_line(L &lane, T &target, uint32_t source_line) {
    if (!lane.in.in_record(&target, sizeof target)) lane.fail(Status::outside_line, source_line);
    return target;
}

// The same as in_line where the object may also be a variable of the thread's: those lie in local memory, or (WarpArea)
// shared. On the emulated device they lie on a stack, of which all that counts is that it is not among the staged records.
template <class L, class T> HD_DEVICE T &in_line_or_own(L &lane, T &target, uint32_t source_line) {
#ifdef __CUDA_ARCH__
    const bool own = __isLocal(&target) || __isShared(&target);
#else
    const bool own = !lane.in.in_text(&target);
#endif
    if (!own && !lane.in.in_record(&target, sizeof target)) lane.fail(Status::outside_line, source_line);
    return target;
}

// ---- Moves of pointers that may lead into the line. Where an access may be the line's or another object's, its address says
// which (in_line_or_own, guard.cuh), so a pointer into the line has to stay near it. C lets none go further than behind
// the line's buffer: one that goes far is left to the CPU. Half of the margin is left for a struct's members.

template <class T> constexpr uint64_t stride = sizeof(T);
template <> constexpr uint64_t stride<void> = 1;
template <> constexpr uint64_t stride<const void> = 1;

// `objects`: what else it may lead into and must not leave (extent.cuh), the line (lane.in) only if it is among them.
HD_DEVICE bool has_left(const Reader &in, const void *from, const void *to) {
    return in.in_text(from) && !in.in_text(to, text_margin / 2);
}
template <class E> HD_DEVICE bool has_left(const E &object, const void *from, const void *to) { return object.left(from, to); }

template <class L, class T> HD_DEVICE T *moved(L &lane, T *from, uint64_t by, uint32_t source_line) {
    T *const to = reinterpret_cast<T *>(reinterpret_cast<uint64_t>(from) + by * stride<T>);
    if (has_left(lane.in, from, to)) lane.fail(Status::outside_line, source_line);
    return to;
}
template <class L, class T, class E, class... More>
HD_DEVICE T *moved(L &lane, T *from, uint64_t by, uint32_t source_line, const E &object, const More &...objects) {
    T *const to = reinterpret_cast<T *>(reinterpret_cast<uint64_t>(from) + by * stride<T>);
    if (has_left(object, from, to) || (has_left(objects, from, to) || ...)) lane.fail(Status::outside_object, source_line);
    return to;
}
template <class L, class T, class... E>
HD_DEVICE T *moved_back(L &lane, T *from, uint64_t by, uint32_t source_line, const E &...objects) {
    return moved(lane, from, -by, source_line, objects...);
}
template <class L, class T, class... E>
HD_DEVICE T *&move(L &lane, T *&pointer, uint64_t by, uint32_t source_line, const E &...objects) {
    return pointer = moved(lane, pointer, by, source_line, objects...);
}
template <class L, class T, class... E>
HD_DEVICE T *&move_back(L &lane, T *&pointer, uint64_t by, uint32_t source_line, const E &...objects) {
    return pointer = moved_back(lane, pointer, by, source_line, objects...);
}
template <class L, class T, class... E>
HD_DEVICE T *move_after(L &lane, T *&pointer, uint64_t by, uint32_t source_line, const E &...objects) {
    T *const before = pointer;
    move(lane, pointer, by, source_line, objects...);
    return before;
}

// What a struct's member is taken of, that is larger than the margin: in the line it must lie as a whole.
template <class L, class T> HD_DEVICE T &whole(L &lane, T &object, uint32_t source_line) {
    if (lane.in.in_text(&object) && !lane.in.in_record(&object, sizeof object)) lane.fail(Status::outside_line, source_line);
    return object;
}

}  // namespace hd
