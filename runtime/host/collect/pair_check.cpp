#include "collect/pair_check.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

namespace hd {
namespace {

// White space of C's isspace in the "C" locale, and the NUL that would cut the string read.
bool ends_token(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

// A sign and the digits of the longest number: more of them are zeros, and a combiner that reads lines of a limited length
// (compiler/keyloop/reader.py) counts on no more.
constexpr size_t kMostBytes = 20;

template <class T>
bool reads_as(std::string_view s, T &number) {
  if (s.size() > kMostBytes) return false;
  if constexpr (std::is_unsigned_v<T>) {
    if (s.starts_with('-')) return false;
  }
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), number);  // takes -?digits, nothing else
  return error == std::errc() && end == s.data() + s.size();
}

template <class T>
bool reads_as(std::string_view s) {
  T number;
  return reads_as(s, number);
}

// Two texts of one number are two keys to the sort, and one to a combiner that reads numbers: only printf's form will do.
template <class T>
bool key_reads_as(const PairCheck &check, std::string_view key) {
  T number;
  if (!reads_as(key, number)) return false;
  const bool leading_zero = key.starts_with("0") ? key.size() > 1 : key.starts_with("-0");
  return !leading_zero && !(check.has_none && static_cast<uint64_t>(number) == check.none);
}

bool number_reads_back(PairCheck::Value kind, std::string_view text) {
  switch (kind) {
    case PairCheck::kAny: return true;
    case PairCheck::kInt32: return reads_as<int32_t>(text);
    case PairCheck::kInt64: return reads_as<int64_t>(text);
    case PairCheck::kUint32: return reads_as<uint32_t>(text);
    case PairCheck::kUint64: return reads_as<uint64_t>(text);
  }
  return false;
}

// Of the sign and the digits that a text begins with.
size_t number_size(std::string_view text) {
  const size_t sign = text.starts_with('-') ? 1 : 0;
  const size_t end = text.find_first_not_of("0123456789", sign);
  return end == text.npos ? text.size() : end;
}

}  // namespace

bool key_reads_back(const PairCheck &check, std::string_view key) {
  if (check.key != PairCheck::kNoCheck && check.key_max && key.size() > check.key_max) return false;
  switch (check.key) {
    case PairCheck::kNoCheck: return true;
    case PairCheck::kField: return key.find('\0') == key.npos;
    case PairCheck::kToken: return !key.empty() && std::none_of(key.begin(), key.end(), ends_token);
    case PairCheck::kKeyInt32: return key_reads_as<int32_t>(check, key);
    case PairCheck::kKeyInt64: return key_reads_as<int64_t>(check, key);
    case PairCheck::kKeyUint32: return key_reads_as<uint32_t>(check, key);
    case PairCheck::kKeyUint64: return key_reads_as<uint64_t>(check, key);
  }
  return false;
}

bool value_reads_back(const PairCheck &check, std::string_view value) {
  for (uint32_t i = 0; i < check.values; ++i) {
    const bool last = i + 1 == check.values;
    const std::string_view number = last ? value : value.substr(0, number_size(value));
    if (!number_reads_back(check.value[i], number)) return false;
    value.remove_prefix(number.size());
    const std::string_view between(check.between[i], last ? 0 : check.between_size[i]);
    if (!value.starts_with(between)) return false;
    value.remove_prefix(between.size());
  }
  return true;
}

bool PairCheck::accepts(std::string_view key_bytes, std::string_view value_bytes) const {
  return key_reads_back(*this, key_bytes) && value_reads_back(*this, value_bytes);
}

uint64_t unreadable_pairs(const PairCheck &check, const GroupTable &table) {
  if (check.key == PairCheck::kNoCheck && check.values == 0) return 0;
  uint64_t pairs = 0;
  std::vector<bool> bad_keys(table.groups().size());  // one bit a key, for its runs
  for (size_t i = 0; i < bad_keys.size(); ++i) {
    const Group &g = table.groups()[i];
    bad_keys[i] = !key_reads_back(check, table.key(g));
    if (bad_keys[i] || !value_reads_back(check, table.value(g))) pairs += g.count;
  }
  for (const Run &r : table.runs())
    if (bad_keys[r.group] || !value_reads_back(check, table.value(r))) pairs += r.count;
  return pairs;
}

}  // namespace hd
