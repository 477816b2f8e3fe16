// Where a split of records with a delimiter of one's own begins to look for the first one.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/split_file.h"

namespace hd {

// `cut`, or the end of the delimiter that lies on both sides of it, as a reader of the whole file takes them from left to
// right. Only one that can overlap itself makes a difference: else a search from the cut finds the same ones. Reads backwards as far as
// delimiters overlap, since one that none before it overlaps is surely taken. Throws Error kIoError.
uint64_t behind_cut_delimiter(const SplitFile &file, uint64_t cut, std::string_view delimiter);

}  // namespace hd
