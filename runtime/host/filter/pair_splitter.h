// Cuts a filter's stdout into pairs: lines by Hadoop's LineReader rule, key up to the first tab, or to where a PairCut says.
// The hottest loop of the runtime, hence a template over the callback and one pass over the bytes.
#pragma once
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/common.h"
#include "filter/process.h"
#include "pairs/pair_cut.h"

namespace hd {

// Bytes of a Text as Hadoop's Writable serialises it: vint length, then the bytes.
inline uint64_t text_size(uint64_t n) {
  return n + (n <= 127 ? 1 : 1 + (71 - std::countl_zero(n)) / 8);
}

// Positions of line ends and tabs in 64 bytes, bit i = byte i.
struct ByteMasks {
  uint64_t newline = 0, tab = 0, cr = 0;
};

inline ByteMasks scan64(const char *p) {
  ByteMasks m;
#if defined(__SSE2__)
  for (int i = 0; i < 4; ++i) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i *>(p) + i);
    auto bits = [&](char c) {
      return uint64_t(uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c))))) << (16 * i);
    };
    m.newline |= bits('\n');
    m.tab |= bits('\t');
    m.cr |= bits('\r');
  }
#else
  for (int i = 0; i < 64; ++i) {
    m.newline |= uint64_t(p[i] == '\n') << i;
    m.tab |= uint64_t(p[i] == '\t') << i;
    m.cr |= uint64_t(p[i] == '\r') << i;
  }
#endif
  return m;
}

// The longest line that may come, of whose output.
struct LineLimit {
  uint64_t longest = 0;  // bytes, the line's end left out; 0: any
  const char *whose = "filter";

  uint64_t most() const { return longest ? longest : UINT64_MAX; }
  [[noreturn]] void fail() const {
    throw Error(kOutputLine, std::string("the ") + whose + " printed a line of more than " + std::to_string(longest) +
                                 " bytes");
  }
};

// Calls `on_pair(std::string_view key, std::string_view value)` for every line written to it; the views are valid
// during the call only. Line ends are \n, \r\n and a lone \r; the last line may lack its end. A line without a tab
// is a key with an empty value. Adds the lines to `records` and, unless `bytes` is kCounters, the serialised size
// of key and value (Hadoop's MAP_OUTPUT_BYTES) to `bytes`. finish() may be called more than once. A line that becomes longer than
// `limit` throws Error kOutputLine as soon as it does.
template <class OnPair>
class PairSplitter final : public Sink {
 public:
  PairSplitter(OnPair on_pair, LineLimit limit, Counters &counters, Counter records, Counter bytes = kCounters,
               const PairCut &cut = {})
      : on_pair_(std::move(on_pair)), limit_(limit), longest_(limit.most()), counters_(counters), records_(records),
        bytes_(bytes), cut_(cut), plain_(cut.plain()) {}

  void write(const char *data, size_t n) override {
    const char *p = data, *const end = data + n;
    if (n == 0) return;
    if (swallow_lf_ && *p == '\n') ++p;
    swallow_lf_ = false;
    if (!carry_.empty()) p = end_carried_line(p, end);
    p = cut_lines(p, end);
    carry(p, end);
    flush_counts();
  }

  void finish() override {
    if (carry_.empty()) return;
    emit_carried();
    flush_counts();
  }

 private:
  void emit(const char *line, const char *tab, const char *end) {
    if (size_t(end - line) > longest_) [[unlikely]] limit_.fail();
    if (!plain_) [[unlikely]] return emit_cut({line, size_t(end - line)});
    const std::string_view key(line, size_t((tab ? tab : end) - line));
    const std::string_view value(tab ? tab + 1 : end, tab ? size_t(end - tab - 1) : 0);
    count(key, value);
    on_pair_(key, value);
  }

  [[gnu::noinline]] void emit_cut(std::string_view line) {
    const size_t at = cut_.key_end(line);
    const std::string_view key = line.substr(0, at);
    const std::string_view value = at == line.npos ? line.substr(line.size()) : line.substr(at + cut_.separator.size());
    count(key, value);
    on_pair_(key, value);
  }

  void count(std::string_view key, std::string_view value) {
    ++record_count_;
    byte_count_ += text_size(key.size()) + text_size(value.size());
  }

  void carry(const char *p, const char *end) {
    if (carry_.size() + size_t(end - p) > longest_) limit_.fail();
    carry_.append(p, size_t(end - p));
  }

  void emit_carried() {
    const std::string line = std::exchange(carry_, {});  // moved out: the callback may throw
    const size_t tab = line.find('\t');
    emit(line.data(), tab == line.npos ? nullptr : line.data() + tab, line.data() + line.size());
  }

  // Completes the line begun in earlier chunks; returns where the next line starts (`end` if it goes on).
  const char *end_carried_line(const char *p, const char *end) {
    const char *stop = static_cast<const char *>(memchr(p, '\n', size_t(end - p)));
    if (!stop) stop = end;
    if (const void *cr = memchr(p, '\r', size_t(stop - p))) stop = static_cast<const char *>(cr);
    carry(p, stop);
    if (stop == end) return end;
    emit_carried();
    if (*stop == '\n') return stop + 1;
    swallow_lf_ = stop + 1 == end;  // the \n of a \r\n may open the next chunk
    return stop + 1 + (!swallow_lf_ && stop[1] == '\n');
  }

  // All complete lines of [p, end); returns the start of the incomplete one.
  const char *cut_lines(const char *p, const char *end) {
    Cut cut{p, nullptr, nullptr};
    for (; end - p >= 64; p += 64) cut_block(p, scan64(p), cut);
    if (p < end) {
      char tail[64] = {};  // never reads beyond the chunk; the padding matches nothing
      memcpy(tail, p, size_t(end - p));
      cut_block(p, scan64(tail), cut);
    }
    swallow_lf_ = swallow_lf_ || (cut.after_cr == end && cut.after_cr);
    return cut.line;
  }

  struct Cut {
    const char *line;      // start of the current line
    const char *tab;       // its first tab in an earlier block, if any
    const char *after_cr;  // a \n exactly here belongs to the \r before it
  };

  void cut_block(const char *block, ByteMasks m, Cut &cut) {
    if (m.cr != 0 || cut.after_cr == block) [[unlikely]] return cut_block_with_cr(block, m, cut);
    for (; m.newline; m.newline &= m.newline - 1) end_line(block, unsigned(std::countr_zero(m.newline)), m.tab, cut);
    if (!cut.tab && m.tab) cut.tab = block + std::countr_zero(m.tab);
  }

  void cut_block_with_cr(const char *block, ByteMasks m, Cut &cut) {
    for (uint64_t ends = m.newline | m.cr; ends; ends &= ends - 1) {
      const unsigned at = unsigned(std::countr_zero(ends));
      if (m.newline >> at & 1 && cut.after_cr == block + at) {
        cut.line = block + at + 1;
        continue;
      }
      end_line(block, at, m.tab, cut);
      if (m.cr >> at & 1) cut.after_cr = cut.line;
    }
    if (!cut.tab && m.tab) cut.tab = block + std::countr_zero(m.tab);
  }

  // The line ends at block[at]; `tabs` loses the tabs up to there.
  void end_line(const char *block, unsigned at, uint64_t &tabs, Cut &cut) {
    const uint64_t before = tabs & ((uint64_t(1) << at) - 1);
    if (!cut.tab && before) cut.tab = block + std::countr_zero(before);
    tabs &= uint64_t(0) - (uint64_t(2) << at);
    const char *line = std::exchange(cut.line, block + at + 1), *tab = std::exchange(cut.tab, nullptr);
    emit(line, tab, block + at);
  }

  void flush_counts() {
    counters_.add(records_, std::exchange(record_count_, 0));
    if (bytes_ != kCounters) counters_.add(bytes_, byte_count_);
    byte_count_ = 0;
  }

  OnPair on_pair_;
  const LineLimit limit_;
  const uint64_t longest_;
  Counters &counters_;
  Counter records_, bytes_;
  const PairCut cut_;
  const bool plain_;
  uint64_t record_count_ = 0, byte_count_ = 0;
  std::string carry_;        // an incomplete line
  bool swallow_lf_ = false;  // the last byte seen was a \r that ended a line
};

}  // namespace hd
