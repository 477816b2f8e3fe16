// Growable arrays over anonymous mappings: growing moves page tables, never bytes, so it needs no second copy;
// only what has been used takes memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace hd {

class Region {
 public:
  Region() = default;
  ~Region();
  Region(Region &&other) noexcept
      : data_(std::exchange(other.data_, nullptr)), mapped_(std::exchange(other.mapped_, 0)) {}
  Region &operator=(Region &&other) noexcept {
    std::swap(data_, other.data_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }
  // Makes at least `bytes` addressable; new bytes are zero. Throws std::bad_alloc.
  void reserve(size_t bytes) {
    if (bytes > mapped_) grow(bytes);
  }
  // Gives all memory back; the contents are zero again.
  void release() noexcept;
  char *data() const { return data_; }

 private:
  void grow(size_t bytes);
  char *data_ = nullptr;
  size_t mapped_ = 0;
};

// A vector of plain values in a Region.
template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  void push_back(const T &v) {
    region_.reserve((size_ + 1) * sizeof(T));
    data()[size_++] = v;
  }
  void resize(size_t n) {
    region_.reserve(n * sizeof(T));
    size_ = n;
  }
  void clear() noexcept {
    region_.release();
    size_ = 0;
  }
  // Appends n elements, returns the index of the first.
  size_t append(const T *from, size_t n) {
    region_.reserve((size_ + n) * sizeof(T));
    if (n) memcpy(data() + size_, from, n * sizeof(T));
    return std::exchange(size_, size_ + n);
  }

  T *data() const { return reinterpret_cast<T *>(region_.data()); }
  T &operator[](size_t i) const { return data()[i]; }
  size_t size() const { return size_; }
  T *begin() const { return data(); }
  T *end() const { return data() + size_; }

 private:
  Region region_;
  size_t size_ = 0;
};

}  // namespace hd
