// Where a library function writes, and how many bytes have room there.
#pragma once

#include "lane/base.cuh"

namespace hd {

template <class T> struct Roomy {
    T *at;
    uint64_t room;
};

}  // namespace hd
