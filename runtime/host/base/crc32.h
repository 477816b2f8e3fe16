// CRC-32 (zlib, IEEE 802.3), as IFile and its index use it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hd {

// Continues `crc` (0 at the start) over n bytes; carry-less multiplication where the CPU has it.
uint32_t crc32(uint32_t crc, const void *data, size_t n);

// The checksum of two texts behind each other, of their checksums and the second one's length.
uint32_t crc32_joined(uint32_t first, uint32_t second, uint64_t second_bytes);

// `crc32` without special instructions; the reference for the tests.
uint32_t crc32_portable(uint32_t crc, const void *data, size_t n);

}  // namespace hd
