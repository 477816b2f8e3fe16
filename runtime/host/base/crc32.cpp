#include "base/crc32.h"

#include "../../hostlane/reduce/crc32.h"

namespace hd {

uint32_t crc32_portable(uint32_t crc, const void *data, size_t n) {
  return crc_portable(crc, static_cast<const char *>(data), n);
}

uint32_t crc32(uint32_t crc, const void *data, size_t n) { return crc_continued(crc, static_cast<const char *>(data), n); }

}  // namespace hd
