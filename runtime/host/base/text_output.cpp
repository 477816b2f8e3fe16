#include "base/text_output.h"

#include <algorithm>

namespace hd {

// Mode 0666: what the user's umask says, as for any file a program writes for him.
TextOutput::TextOutput(const std::string &path, std::string separator)
    : separator_(std::move(separator)), file_(path, 0666), buffer_(new char[kBuffer]) {}

void TextOutput::put(std::string_view bytes) {
  if (bytes.size() >= kBuffer) {  // as it is: it is not copied twice
    flush();
    return file_.write(bytes.data(), bytes.size());
  }
  while (!bytes.empty()) {
    if (used_ == kBuffer) flush();
    const size_t n = std::min(bytes.size(), kBuffer - used_);
    bytes.copy(buffer_.get() + used_, n);
    used_ += n;
    bytes.remove_prefix(n);
  }
}

void TextOutput::add_slowly(std::string_view key, std::string_view value) {
  put(key);
  put(separator_);
  put(value);
  put("\n");
}

void TextOutput::flush() {
  file_.write(buffer_.get(), used_);
  used_ = 0;
}

std::shared_ptr<FileRange> TextOutput::range(uint64_t bytes, bool many_threads) {
  flush();
  return std::make_shared<FileRange>(file_, bytes, many_threads);
}

void TextOutput::commit() {
  flush();
  file_.commit();
}

}  // namespace hd
