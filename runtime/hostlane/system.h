// The few calls of the C library that a host kernel makes, declared here: the system's headers have macros, which would stand
// in the user's text. Linux on x86-64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hd {
namespace sys {

extern "C" {
long read(int descriptor, void *to, size_t n);
long write(int descriptor, const void *from, size_t n);
[[noreturn]] void _exit(int status);
void *mmap(void *at, size_t size, int protection, int flags, int descriptor, long offset);
int munmap(void *at, size_t size);
int madvise(void *at, size_t size, int advice);
int mprotect(void *at, size_t size, int protection);
int *__errno_location();
char *getenv(const char *name);
}

constexpr int interrupted = 4;  // EINTR
constexpr int read_and_write = 3;  // PROT_READ | PROT_WRITE

inline bool again() { return *__errno_location() == interrupted; }

// Address space that nothing may touch yet; null where there is none.
inline char *reserve(size_t size) {
    void *const made = mmap(nullptr, size, 0, 0x4022, -1, 0);  // PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    return made == reinterpret_cast<void *>(-1) ? nullptr : static_cast<char *>(made);
}

// Memory of zeros, whole pages; null where there is none.
inline char *pages(size_t size) {
    void *const made = mmap(nullptr, size, read_and_write, 0x22, -1, 0);
    return made == reinterpret_cast<void *>(-1) ? nullptr : static_cast<char *>(made);
}

// The same, in huge pages where the system has them: of memory that is looked at here and there each small page costs a fault when
// it is first touched, and most looks a walk through the page tables.
inline char *large_pages(size_t size) {
    constexpr size_t huge = size_t{1} << 21;
    constexpr int in_huge_pages = 14;  // MADV_HUGEPAGE
    char *const made = size < huge ? pages(size) : pages(size + huge);
    if (size < huge || !made) return made;
    const size_t before = -reinterpret_cast<uintptr_t>(made) & (huge - 1);
    if (before) munmap(made, before);
    if (before != huge) munmap(made + before + size, huge - before);
    madvise(made + before, size, in_huge_pages);
    return made + before;
}

// Everything that a descriptor still gives, into [to, to + n): the number of bytes, -1 where it cannot be read.
inline long read_all(int descriptor, char *to, size_t n) {
    size_t done = 0;
    while (done < n) {
        const long got = read(descriptor, to + done, n - done);
        if (got < 0 && again()) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += static_cast<size_t>(got);
    }
    return static_cast<long>(done);
}

}  // namespace sys
}  // namespace hd
