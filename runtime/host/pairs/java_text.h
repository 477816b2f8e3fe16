// Bytes as a Java String that was decoded from UTF-8: what some classes of Hadoop compute with.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hd {

// The bytes, with U+FFFD for what is no UTF-8, as often as Java's decoder has it.
std::string java_text(std::string_view bytes);

// String.hashCode of it; `text` is UTF-8.
uint32_t java_hash(std::string_view text);

}  // namespace hd
