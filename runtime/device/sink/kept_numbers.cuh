// Arrays of numbers that are kept of a key. Of host kernels, and of a device's combine kernel that is a key loop.
#pragma once

namespace hd {

template <class T, unsigned n> struct Numbers {
    T at[n];
};

}  // namespace hd
