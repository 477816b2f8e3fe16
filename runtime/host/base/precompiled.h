// What most sources of the library include, parsed once for all of them (heterodoop/toolchain/native.py). A source still
// includes what it uses: it is compiled without this file too.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
