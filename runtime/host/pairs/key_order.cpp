#include "pairs/key_order.h"

#include "base/common.h"
#include "base/printable.h"

namespace hd {
namespace {

// Kinds of numbers, of which not all are comparable with each other.
enum : uint8_t { kZeros = 1, kPoint = 2, kWhole = 4, kCut = 8 };

bool mixed(uint8_t kinds) { return (kinds & kZeros && kinds & kPoint) || (kinds & kCut && kinds & kWhole); }

std::string shown(const KeyRange &r) {
  std::string text = "-k" + std::to_string(r.first_field);
  if (r.first_char > 1) text += "." + std::to_string(r.first_char);
  if (r.last_field) text += "," + std::to_string(r.last_field);
  if (r.last_char) text += "." + std::to_string(r.last_char);
  return text + (r.numeric ? "n" : "") + (r.reverse ? "r" : "");
}

[[noreturn]] void fail(std::string_view key, const KeyRange &range, const char *what) {
  throw Error(kKeyOrder, "the key " + printable(key) + ": by " + shown(range) + " " + what);
}

void append_size(uint32_t n, std::string &form) {
  for (int shift = 24; shift >= 0; shift -= 8) form += char(n >> shift);
}

void append_text(std::string_view text, std::string &form) {
  form += '\2';
  for (char c : text) {
    form += c;
    if (c == 0) form += '\xff';
  }
  form.append(2, '\0');
}

void complement(std::string &form, size_t from) {
  for (size_t i = from; i < form.size(); ++i) form[i] = char(~form[i]);
}

std::string_view take_digits(std::string_view text, size_t &at) {
  const size_t from = at;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return text.substr(from, at - from);
}

struct Number {
  bool negative = false;
  std::string_view whole, fraction;
  uint8_t kind = 0;  // 0: none

  // `separator`: a number that it follows is cut off there.
  Number(std::string_view text, char separator) {
    size_t at = negative = !text.empty() && text[0] == '-';
    whole = take_digits(text, at);
    if (at == text.size() && !whole.empty()) {
      kind = kWhole | (whole.size() > 1 && whole[0] == '0' ? kZeros : 0);
    } else if (at < text.size() && text[at] == '.') {
      fraction = take_digits(text, ++at);
      if (at == text.size() && whole.size() + fraction.size() > 0) kind = kWhole | kPoint;
    } else if (at < text.size() && text[at] == separator && !whole.empty()) {
      kind = kCut;
    }
    padded = kind & kZeros;
    whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
    fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
  }
  bool padded = false;
  bool zero() const { return whole.empty() && fraction.empty(); }
};

}  // namespace

KeyOrder::KeyOrder(KeyFields fields, uint32_t partitions) : fields_(std::move(fields)) {
  for (const KeyRange &range : fields_.ranges()) numeric_ = numeric_ || range.numeric;
  if (numeric_) kinds_.resize(fields_.ranges().size() * size_t(std::max(partitions, 1u)));
}

void KeyOrder::append(std::string_view key, uint32_t partition, std::string &form) {
  cut_.set(fields_, key);
  const std::vector<KeyRange> &ranges = fields_.ranges();
  uint8_t unused = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const size_t from = form.size();
    KeyPart part;
    const bool there = cut_.part(ranges[i], part);
    if (there)
      append_part(key, ranges[i], part, numeric_ ? kinds_[partition * ranges.size() + i] : unused, form);
    else
      form += '\0';
    if (ranges[i].reverse) complement(form, from);
    if (!there) return;
  }
}

void KeyOrder::append_part(std::string_view key, const KeyRange &range, KeyPart part, uint8_t &kinds,
                           std::string &form) const {
  const int64_t size = part.end - part.first;
  const std::string_view text = key.substr(size_t(part.first), size_t(std::max<int64_t>(size, 0)));
  if (range.numeric) return append_number(key, range, text, kinds, form);
  if (size >= 0) return append_text(text, form);
  form += '\1';
  append_size(uint32_t(size + (int64_t(1) << 31)), form);
}

void KeyOrder::append_number(std::string_view key, const KeyRange &range, std::string_view text, uint8_t &kinds,
                             std::string &form) const {
  const Number number(text, fields_.separator()[0]);
  if (number.kind == 0) fail(key, range, "it has no number, and Hadoop's order of it depends on the keys around it");
  kinds |= number.kind;
  if (mixed(kinds))
    fail(key, range, "it is a number of another form than others, and Hadoop's order of both depends on the keys around them");
  if (number.zero()) {
    form += '\4';
    return;
  }
  form += number.negative ? '\3' : '\5';
  const size_t from = form.size();
  append_size(uint32_t(number.whole.size()), form);
  form += number.whole;
  form += number.fraction;
  form += '\0';
  form += number.negative || !number.padded;  // Hadoop: 07 comes before 7, and -07 is -7
  if (number.negative) complement(form, from);
}

}  // namespace hd
