#include "collect/check_output.h"

#include <memory>

#include "collect/collector.h"
#include "base/file_io.h"
#include "ifile/ifile.h"
#include "ifile/segment_reader.h"

namespace hd {
namespace {

constexpr size_t kBuffer = 1 << 20;
constexpr uint64_t kLooks = 1 << 16;  // pairs between two looks for a request to stop

[[noreturn]] void wrong(const std::string &path, const std::string &what) {
  throw Error(kIoError, "map output is damaged: " + path + ": " + what);
}

// The segments lie one behind the other and are all there is in the file.
void check_layout(const std::vector<IndexEntry> &index, uint64_t size, uint32_t reducers, const std::string &path) {
  if (index.size() != reducers)
    wrong(path, "its index has " + std::to_string(index.size()) + " partitions, not " + std::to_string(reducers));
  uint64_t at = 0;
  for (const IndexEntry &entry : index) {
    if (entry.start != at || entry.part_length > size - at) wrong(path, "its index does not fit it");
    at += entry.part_length;
  }
  if (at != size) wrong(path, std::to_string(size - at) + " bytes follow the last partition");
}

std::string shown(std::string_view key) {
  constexpr size_t kMost = 40;
  static const char *const digits = "0123456789abcdef";
  std::string text;
  for (char c : key.substr(0, kMost)) {
    const uint8_t byte = uint8_t(c);
    if (byte >= 0x20 && byte < 0x7f && c != '\\')
      text += c;
    else
      text += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
  return key.size() > kMost ? text + "..." : text;
}

}  // namespace

uint64_t check_map_output(const std::string &data_path, const std::string &index_path, uint32_t reducers, const Cancel &cancel) {
  const std::vector<IndexEntry> index = read_index(index_path);
  const auto file = std::make_shared<const InputFile>(data_path);
  check_layout(index, file->size(), reducers, data_path);
  SegmentReader reader;
  uint64_t pairs = 0;
  for (uint32_t p = 0; p < reducers; ++p) {
    const IndexEntry &entry = index[p];
    reader.open(file, {data_path, entry.start, entry.raw_length, entry.part_length}, kBuffer, cancel);
    while (reader.next()) {
      if (++pairs % kLooks == 0) cancel.check();
      if (reader.same_key()) continue;
      const uint32_t right = partition_of(reader.key(), reducers);
      if (right != p)
        wrong(data_path, "key " + shown(reader.key()) + " is in partition " + std::to_string(p) + ", not " + std::to_string(right));
    }
  }
  return pairs;
}

}  // namespace hd
