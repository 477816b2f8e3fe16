// Keys in messages.
#pragma once
#include <string>
#include <string_view>

namespace hd {

// "quoted", bytes outside printable ASCII escaped, cut after 80 bytes.
std::string printable(std::string_view key);

}  // namespace hd
