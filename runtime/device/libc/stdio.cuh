// Output and scanf calls for their values: what glibc's calls return, with what the lane needs around them.
#pragma once

#include "libc/format_text.cuh"
#include "libc/overlap.cuh"
#include "libc/room.cuh"
#include "libc/scan.cuh"

namespace hd {

// putchar, fputc
template <class Lane> HD_DEVICE int put(Lane &lane, int c) {
    lane.print(chr(c));
    return static_cast<unsigned char>(c);
}
template <class Lane> HD_DEVICE int put_error(Lane &lane, int c) {
    lane.warn(chr(c));
    return static_cast<unsigned char>(c);
}

// fwrite: the number of items
template <class Lane> HD_DEVICE size_t put_items(Lane &lane, const void *from, size_t size, size_t count) {
    lane.print(bytes(from, size * count));
    return size ? count : 0;
}
template <class Lane> HD_DEVICE size_t put_items_error(Lane &lane, const void *from, size_t size, size_t count) {
    lane.warn(bytes(from, size * count));
    return size ? count : 0;
}

// A target of scanf: a pointer, or one with its room (Roomy).
template <class T> HD_DEVICE T *place_of(T *target) { return target; }
template <class T> HD_DEVICE T *place_of(const Roomy<T> &target) { return target.at; }
template <class T> HD_DEVICE uint64_t room_of(T *) { return ~uint64_t{0}; }
template <class T> HD_DEVICE uint64_t room_of(const Roomy<T> &target) { return target.room; }
template <class T> constexpr bool is_roomy = false;
template <class T> constexpr bool is_roomy<Roomy<T>> = true;

template <class Source, class Lane, class... Target>
HD_DEVICE int scan_from(Source &source, Lane &lane, uint32_t line, const char *format, Target... targets) {
    void *const list[] = {place_of(targets)..., nullptr};
    int result;
    if constexpr ((is_roomy<Target> || ...)) {
        const uint64_t rooms[] = {room_of(targets)...};
        result = scan(source, lane.err, format, list, rooms);
    } else {
        result = scan(source, lane.err, format, list);
    }
    if (result == scan_unsupported) lane.fail(Status::unsupported, line);
    if (result == scan_outside) lane.fail(Status::outside_object, line);
    return result;
}

// scanf and sscanf; input that is not treated as glibc does ends the lane.
template <class Lane, class... Target>
HD_DEVICE int scanf(Lane &lane, uint32_t line, const char *format, Target... targets) {
    return lane.in.scanned(scan_from(lane.in, lane, line, format, targets...), format);
}
template <class Lane, class... Target>
HD_DEVICE int sscanf(Lane &lane, uint32_t line, const char *text, const char *format, Target... targets) {
    StringSource source{text};
    return scan_from(source, lane, line, format, targets...);
}

// The same where a target may lie in the text.
template <class Lane, class... Target>
HD_DEVICE int sscanf_apart(Lane &lane, uint32_t line, const char *text, const char *format, Target... targets) {
    check_scan_apart(lane, line, text, place_of(targets)...);
    return hd::sscanf(lane, line, text, format, targets...);
}

}  // namespace hd
