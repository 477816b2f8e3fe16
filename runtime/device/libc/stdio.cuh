// Output and scanf calls for their values: what glibc's calls return, with what the lane needs around them.
#pragma once

#include "libc/format_text.cuh"
#include "libc/overlap.cuh"
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

// scanf and sscanf; input that is not treated as glibc does ends the lane.
template <class Lane, class... Target>
HD_DEVICE int scanf(Lane &lane, uint32_t line, const char *format, Target *...targets) {
    void *const list[] = {targets..., nullptr};
    const int result = scan(lane.in, lane.err, format, list);
    if (result == scan_unsupported) lane.fail(Status::unsupported, line);
    return lane.in.scanned(result, format);
}
template <class Lane, class... Target>
HD_DEVICE int sscanf(Lane &lane, uint32_t line, const char *text, const char *format, Target *...targets) {
    void *const list[] = {targets..., nullptr};
    StringSource source{text};
    const int result = scan(source, lane.err, format, list);
    if (result == scan_unsupported) lane.fail(Status::unsupported, line);
    return result;
}

// The same where a target may lie in the text.
template <class Lane, class... Target>
HD_DEVICE int sscanf_apart(Lane &lane, uint32_t line, const char *text, const char *format, Target *...targets) {
    check_scan_apart(lane, line, text, targets...);
    return hd::sscanf(lane, line, text, format, targets...);
}

}  // namespace hd
