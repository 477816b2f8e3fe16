#include "pairs/partition.h"

#include "pairs/java_text.h"

namespace hd {
namespace {

uint32_t within(uint32_t hash, uint32_t n) { return (hash & 0x7fffffff) % n; }

uint32_t hash_bytes_of(std::string_view bytes, uint32_t hash) {
  for (char c : bytes) hash = 31 * hash + uint32_t(int32_t(static_cast<signed char>(c)));
  return hash;
}

}  // namespace

uint32_t partition_of(std::string_view key, uint32_t n) { return n <= 1 ? 0 : within(hash_bytes_of(key, 1), n); }

uint32_t partition_by_fields(std::string_view key, const KeyFields &fields, uint32_t n) {
  if (n <= 1) return 0;
  const std::string clean = java_text(key);
  if (fields.ranges().empty()) return within(java_hash(clean), n);
  KeyFields::Cut cut;
  cut.set(fields, clean);
  uint32_t hash = 0;
  for (const KeyRange &range : fields.ranges())
    if (KeyPart part; cut.part(range, part) && part.end > part.first)
      hash = hash_bytes_of(std::string_view(clean).substr(size_t(part.first), size_t(part.end - part.first)), hash);
  return within(hash, n);
}

}  // namespace hd
