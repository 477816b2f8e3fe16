#include "base/region.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace hd {
namespace {

constexpr size_t kFirst = 64 << 10;
constexpr size_t kHuge = 2 << 20;  // random access over megabytes is bound by TLB misses: huge pages from here on

char *checked(void *p) {
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char *>(p);
}

// Address space of `bytes`, a multiple of kHuge and aligned to it: moving a mapping there keeps its huge pages whole.
char *aligned_space(size_t bytes) {
  char *p = checked(mmap(nullptr, bytes + kHuge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  const size_t before = (kHuge - reinterpret_cast<uintptr_t>(p) % kHuge) % kHuge;
  if (before) munmap(p, before);
  munmap(p + before + bytes, kHuge - before);
  return p + before;
}

}  // namespace

Region::~Region() { release(); }

void Region::grow(size_t bytes) {
  const size_t least = std::max({kFirst, 2 * mapped_, bytes}), unit = least < kHuge ? kFirst : kHuge;
  const size_t want = (least + unit - 1) / unit * unit;
  char *place = want < kHuge ? nullptr : aligned_space(want);
  const int fixed = place ? MAP_FIXED : 0;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed;
  data_ = data_ ? checked(place ? mremap(data_, mapped_, want, MREMAP_MAYMOVE | MREMAP_FIXED, place)
                                : mremap(data_, mapped_, want, MREMAP_MAYMOVE))
                : checked(mmap(place, want, PROT_READ | PROT_WRITE, flags, -1, 0));
  mapped_ = want;
  if (place) madvise(data_, mapped_, MADV_HUGEPAGE);  // advice only: a kernel without it is as right
}

void Region::release() noexcept {
  if (data_) munmap(data_, mapped_);
  data_ = nullptr;
  mapped_ = 0;
}

}  // namespace hd
