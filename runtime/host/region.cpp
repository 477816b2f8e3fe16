#include "region.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace hd {
namespace {

constexpr size_t kFirst = 64 << 10;
constexpr size_t kHuge = 16 << 20;  // from here on fewer page faults and TLB misses outweigh 2 MiB pages

}  // namespace

Region::~Region() {
  if (data_) munmap(data_, mapped_);
}

void Region::grow(size_t bytes) {
  const size_t page = 4096;
  const size_t want = std::max({kFirst, 2 * mapped_, (bytes + page - 1) / page * page});
  void *p = data_ ? mremap(data_, mapped_, want, MREMAP_MAYMOVE)
                  : mmap(nullptr, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<char *>(p);
  mapped_ = want;
  if (want >= kHuge) madvise(data_, mapped_, MADV_HUGEPAGE);  // advice only: a kernel without it is as right
}

void Region::release() noexcept {
  if (data_) munmap(data_, mapped_);
  data_ = nullptr;
  mapped_ = 0;
}

}  // namespace hd
