#include "base/printable.h"

#include <cstdio>

namespace hd {

std::string printable(std::string_view key) {
  constexpr size_t kMost = 80;
  std::string s = "\"";
  for (unsigned char c : key.substr(0, kMost)) {
    char escaped[5];
    if (c < ' ' || c > '~') {
      snprintf(escaped, sizeof escaped, "\\x%02x", c);
      s += escaped;
    } else {
      if (c == '"' || c == '\\') s += '\\';
      s += char(c);
    }
  }
  return s + (key.size() > kMost ? "...\"" : "\"");
}

}  // namespace hd
