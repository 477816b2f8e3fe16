// Checks a finished map output the way its readers will: lengths, end marks, checksums, key order, partitions.
#pragma once
#include <cstdint>
#include <string>

#include "base/common.h"

namespace hd {

// Reads all of `data_path` and `index_path` (IFile without a codec, ifile.h), which must hold exactly `reducers`
// partitions, one behind the other, each key where HashPartitioner puts it. Returns the number of pairs.
// Throws Error kIoError that says what is wrong.
uint64_t check_map_output(const std::string &data_path, const std::string &index_path, uint32_t reducers, const Cancel &cancel);

}  // namespace hd
