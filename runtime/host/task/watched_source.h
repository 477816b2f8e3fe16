// Feeds a filter record by record from some place on, so that one can tell which record it fails on.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "filter/process.h"
#include "input/records.h"
#include "base/printable.h"

namespace hd {

// Hands out what `source` gives: up to byte `from` in its pieces, then each line alone. Places are those of all runs.
class WatchedSource final : public Source {
 public:
  WatchedSource(Source &source, const Watch &watch) : source_(source), watch_(watch) {}

  std::string_view next() override {
    if (rest_.empty()) rest_ = source_.next();
    if (rest_.empty()) {
      ended_ = true;
      return {};
    }
    alone_ = watch_.given >= watch_.from;
    const uint64_t least = alone_ ? 1 : watch_.from - watch_.given;
    const size_t end = least > rest_.size() ? rest_.npos : rest_.find('\n', least - 1);
    const std::string_view piece = rest_.substr(0, end == rest_.npos ? rest_.size() : end + 1);
    rest_.remove_prefix(piece.size());
    note(piece);
    return piece;
  }
  bool alone() const override { return alone_; }

  // The number, from 1, of the record that holds the last of the first `read` bytes; 0: it was not handed out alone.
  uint64_t record(uint64_t read) const { return line(read) ? line(read)->number : 0; }
  // Where that is, for a message.
  std::string described(uint64_t read) const {
    const Line *const one = line(read);
    std::string_view text = one->text;
    if (text.ends_with('\n')) text.remove_suffix(1);
    const std::string where = "record " + std::to_string(one->number) + " of " + watch_.of + ", " + printable(text);
    return ended_ && one == &last_ ? where + ", or behind it, the last one" : where;
  }
  // With what this run was given.
  const Watch &watch() const { return watch_; }

 private:
  struct Line {
    uint64_t begin = 0, number = 0;
    std::string text;  // its beginning
    bool whole = false;
  };
  static constexpr size_t kShown = 256;

  const Line *line(uint64_t read) const {
    for (const Line *one : {&last_, &before_})
      if (one->number && read > one->begin) return one;
    return nullptr;
  }

  void note(std::string_view piece) {
    if (alone_) {
      if (last_.whole || !last_.number) before_ = std::exchange(last_, Line{watch_.given, watch_.records + 1, {}, false});
      last_.text += piece.substr(0, kShown - std::min(kShown, last_.text.size()));
      last_.whole = piece.back() == '\n';
    }
    watch_.given += piece.size();
    if (watch_.from != UINT64_MAX) watch_.records += count_newlines(piece.data(), piece.size());
  }

  Source &source_;
  Watch watch_;
  std::string_view rest_;  // of a piece, not given yet
  bool alone_ = false, ended_ = false;
  Line last_, before_;
};

}  // namespace hd
