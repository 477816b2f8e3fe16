// Copies of which the compiler cannot tell that source and target are apart, with the address ranges compared first. What
// happens where they overlap C leaves open: the C library copies blocks in an order of its own, so the task is the CPU's.
#pragma once

#include "steps/abi.h"
#include "libc/format.cuh"

namespace hd {

HD_DEVICE bool overlap(const void *to, size_t written, const void *from, size_t read) {
    const uintptr_t target = reinterpret_cast<uintptr_t>(to), source = reinterpret_cast<uintptr_t>(from);
    return written && read && (target - source < read || source - target < written);
}

template <class Lane>
HD_DEVICE void check_apart(Lane &lane, uint32_t line, const void *to, size_t written, const void *from, size_t read) {
    if (overlap(to, written, from, read)) lane.fail(Status::overlap, line);
}

// The bytes that a function reads which copies at most n of a string's.
HD_DEVICE size_t read_up_to(const char *from, size_t n) {
    const size_t length = hd::strnlen(from, n);
    return length + (length < n);
}

// A struct's assignment: onto itself it changes nothing, onto a part of itself each compiler copies in an order of its own.
template <class Lane, class T> HD_DEVICE T &assign_apart(Lane &lane, uint32_t line, T &to, const T &from) {
    if (&to != &from) check_apart(lane, line, &to, sizeof to, &from, sizeof from);
    return to = from;
}

// A copy onto itself changes nothing, whatever the order.
template <class Lane> HD_DEVICE void *memcpy_apart(Lane &lane, uint32_t line, void *to, const void *from, size_t n) {
    if (to != from) check_apart(lane, line, to, n, from, n);
    return hd::memcpy(to, from, n);
}
template <class Lane> HD_DEVICE void *mempcpy_apart(Lane &lane, uint32_t line, void *to, const void *from, size_t n) {
    return static_cast<char *>(memcpy_apart(lane, line, to, from, n)) + n;
}

template <class Lane> HD_DEVICE char *stpcpy_apart(Lane &lane, uint32_t line, char *to, const char *from) {
    const size_t size = hd::strlen(from) + 1;
    if (to != from) check_apart(lane, line, to, size, from, size);
    return hd::stpcpy(to, from);
}
template <class Lane> HD_DEVICE char *strcpy_apart(Lane &lane, uint32_t line, char *to, const char *from) {
    stpcpy_apart(lane, line, to, from);
    return to;
}

template <class Lane> HD_DEVICE char *stpncpy_apart(Lane &lane, uint32_t line, char *to, const char *from, size_t n) {
    check_apart(lane, line, to, n, from, read_up_to(from, n));
    return hd::stpncpy(to, from, n);
}
template <class Lane> HD_DEVICE char *strncpy_apart(Lane &lane, uint32_t line, char *to, const char *from, size_t n) {
    stpncpy_apart(lane, line, to, from, n);
    return to;
}

template <class Lane> HD_DEVICE char *strcat_apart(Lane &lane, uint32_t line, char *to, const char *from) {
    const size_t size = hd::strlen(from) + 1;
    check_apart(lane, line, to + hd::strlen(to), size, from, size);
    return hd::strcat(to, from);
}
template <class Lane> HD_DEVICE char *strncat_apart(Lane &lane, uint32_t line, char *to, const char *from, size_t n) {
    check_apart(lane, line, to + hd::strlen(to), hd::strnlen(from, n) + 1, from, read_up_to(from, n));
    return hd::strncat(to, from, n);
}

// A piece's text with the NUL behind it, which was looked for; a literal of the format is never where something is written.
template <class Piece> HD_DEVICE bool reads(const Piece &, const void *, size_t) { return false; }
HD_DEVICE bool reads(const Text &piece, const void *to, size_t written) {
    return overlap(to, written, piece.from, piece.n + 1);
}
HD_DEVICE bool reads(const PaddedText &piece, const void *to, size_t written) {
    return piece.from && overlap(to, written, piece.from, piece.n + 1);
}

template <class Lane, class... Piece> HD_DEVICE int sprint_apart(Lane &lane, uint32_t line, char *to, const Piece &...pieces) {
    const size_t written = (pieces.size() + ... + 1);
    if ((reads(pieces, to, written) || ...)) lane.fail(Status::overlap, line);
    return hd::sprint(to, pieces...);
}
template <class Lane, class... Piece>
HD_DEVICE int snprint_apart(Lane &lane, uint32_t line, char *to, size_t n, const Piece &...pieces) {
    const size_t wished = (pieces.size() + ... + 1), written = wished < n ? wished : n;
    if ((reads(pieces, to, written) || ...)) lane.fail(Status::overlap, line);
    return hd::snprint(to, n, pieces...);
}

// Where sscanf puts a number, or a text that is at most as long as what is scanned.
template <class T> HD_DEVICE size_t most_scanned(const T *, size_t) { return sizeof(T); }
HD_DEVICE size_t most_scanned(const char *, size_t size) { return size; }

template <class Lane, class... Target>
HD_DEVICE void check_scan_apart(Lane &lane, uint32_t line, const char *text, const Target *...targets) {
    const size_t size = hd::strlen(text) + 1;
    (check_apart(lane, line, targets, most_scanned(targets, size), text, size), ...);
}

}  // namespace hd
