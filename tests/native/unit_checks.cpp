// Checks of the native runtime's smallest parts, run by test_native_parts.py. Prints what fails; exit status 1 then.
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "base/printable.h"
#include "base/crc32.h"
#include "ifile/fan_in.h"
#include "ifile/ifile.h"
#include "base/key_words.h"
#include "collect/pair_check.h"
#include "filter/pair_splitter.h"
#include "base/region.h"
#include "collect/sorted_load.h"
#include "ifile/text_lines.h"

#include "check.h"

namespace {

std::string random_bytes(std::mt19937 &random, size_t n, std::string_view alphabet = {}) {
  std::string s(n, '\0');
  for (char &c : s) c = alphabet.empty() ? char(random()) : alphabet[random() % alphabet.size()];
  return s;
}

void crc_matches_its_definition() {
  CHECK(hd::crc32(0, "123456789", 9) == 0xCBF43926);
  CHECK(hd::crc32(0, "", 0) == 0);
  std::mt19937 random(1);
  const std::string data = random_bytes(random, 5000);
  for (size_t n = 0; n < 400; ++n)
    for (size_t at : {0, 1, 3, 15})
      CHECK(hd::crc32(7, data.data() + at, n) == hd::crc32_portable(7, data.data() + at, n));
  CHECK(hd::crc32(hd::crc32(0, data.data(), 1234), data.data() + 1234, 3766) == hd::crc32_portable(0, data.data(), 5000));
}

void vints_read_back() {
  for (int shift = 0; shift < 63; ++shift)
    for (int64_t around : {-2, -1, 0, 1}) {
      for (int64_t sign : {1, -1}) {
        const int64_t v = sign * ((int64_t(1) << shift) + around);
        char bytes[hd::kMaxVint];
        const char *end = hd::put_vint(bytes, v);
        int64_t back = 0;
        CHECK(hd::get_vint(bytes, end, back) == size_t(end - bytes) && back == v);
        CHECK(hd::get_vint(bytes, end - 1, back) == 0);
      }
    }
  char bytes[hd::kMaxVint];
  CHECK(hd::put_vint(bytes, 127) == bytes + 1 && bytes[0] == 127);
  CHECK(hd::put_vint(bytes, -112) == bytes + 1 && bytes[0] == -112);
  CHECK(hd::put_vint(bytes, 128) == bytes + 2 && bytes[0] == -113 && bytes[1] == char(128));
  CHECK(hd::put_vint(bytes, -113) == bytes + 2 && bytes[0] == -121 && bytes[1] == 112);
  CHECK(hd::text_size(0) == 1 && hd::text_size(127) == 128 && hd::text_size(128) == 130 && hd::text_size(255) == 257);
  CHECK(hd::text_size(256) == 259 && hd::text_size(65535) == 65538 && hd::text_size(65536) == 65540);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// The line rule, one byte at a time.
Pairs split_plainly(const std::string &text) {
  Pairs pairs;
  auto add = [&](const std::string &line) {
    const size_t tab = line.find('\t');
    pairs.emplace_back(line.substr(0, tab), tab == line.npos ? "" : line.substr(tab + 1));
  };
  std::string line;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n' && text[i] != '\r') {
      line += text[i];
      continue;
    }
    add(line);
    line.clear();
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  if (!line.empty()) add(line);
  return pairs;
}

void splitter_follows_the_line_rule() {
  std::mt19937 random(2);
  const std::string_view alphabets[] = {"ab\t\n", "abcdefgh\t\n\r", "\r\n", "abcdefghijklmnopqrstuvw\t\n", "a\tb\tc\r\n"};
  for (int round = 0; round < 3000; ++round) {
    const std::string text = random_bytes(random, random() % 300, alphabets[random() % 5]);
    const size_t most = round % 3 == 0 ? 3 : round % 3 == 1 ? 100 : 1000;
    Pairs got;
    hd::Counters counters;
    uint64_t bytes = 0;
    auto on_pair = [&](std::string_view k, std::string_view v) {
      got.emplace_back(k, v);
      bytes += hd::text_size(k.size()) + hd::text_size(v.size());
    };
    const uint64_t longest = random() % 2 ? 0 : 1 + random() % 40;
    bool too_long = false;
    for (size_t at = 0, end; at < text.size() && longest; at = end + 1) {
      end = std::min(text.find_first_of("\r\n", at), text.size());
      too_long |= end - at > longest;
    }
    hd::PairSplitter splitter(on_pair, hd::LineLimit{longest, "filter"}, counters, hd::kMapOutputRecords, hd::kMapOutputBytes);
    try {
      for (size_t at = 0, n; at < text.size(); at += n) {
        n = std::min(text.size() - at, 1 + random() % most);
        const std::vector<char> chunk(text.begin() + ptrdiff_t(at), text.begin() + ptrdiff_t(at + n));  // exact for ASan
        splitter.write(chunk.data(), n);
      }
      splitter.finish();
      splitter.finish();
    } catch (const hd::Error &e) {
      CHECK(too_long && e.status == hd::kOutputLine);
      continue;
    }
    CHECK(!too_long);
    CHECK(got == split_plainly(text));
    CHECK(counters.value[hd::kMapOutputRecords] == got.size() && counters.value[hd::kMapOutputBytes] == bytes);
  }
}

void partitions_are_hadoops() {
  const struct {
    const char *key;
    uint32_t of[4];  // for 2, 3, 5, 7 partitions
  } known[] = {{"iwimanrr", {0, 0, 0, 0}}, {"wjjgbaiy", {0, 0, 0, 0}}, {"the", {0, 1, 2, 0}},
               {"caf\xc3\xa9", {1, 1, 1, 0}}, {"\xff\xfe", {0, 1, 3, 4}}};
  const uint32_t counts[] = {2, 3, 5, 7};
  for (const auto &k : known)
    for (int i = 0; i < 4; ++i) CHECK(hd::partition_of(k.key, counts[i]) == k.of[i]);
  CHECK(hd::partition_of("anything", 1) == 0);
}

void words_hold_the_bytes_at_every_alignment() {
  std::mt19937 random(3);
  const std::string data = random_bytes(random, 3 * 4096);
  for (size_t at = 0; at + 16 <= data.size(); at += at % 64 == 0 ? 1 : 5)
    for (size_t n : {0, 1, 7, 8, 9, 15, 16}) {
      const hd::Words w = hd::load_words(data.data() + at, n);
      char expected[16] = {};
      memcpy(expected, data.data() + at, n);
      CHECK(memcmp(&w, expected, 16) == 0);
    }
  CHECK(hd::prefix_at("abcdefghij", 8) == (uint64_t('i') << 56 | uint64_t('j') << 48));
  CHECK(hd::prefix_at("abc", 3) == 0 && hd::prefix_at("", 0) == 0);
}

// A value of one number.
hd::PairCheck pair_check(hd::PairCheck::Key key, hd::PairCheck::Value value, uint64_t key_max) {
  hd::PairCheck check;
  check.key = key;
  check.values = 1;
  check.value[0] = value;
  check.key_max = key_max;
  return check;
}

void pair_checks() {
  const hd::PairCheck token = pair_check(hd::PairCheck::kToken, hd::PairCheck::kInt32, 4);
  CHECK(token.accepts("word", "-2147483648") && token.accepts("\xc3\xa9", "007"));
  for (const char *key : {"", "a b", "a\x0b", "words"}) CHECK(!token.accepts(key, "1"));
  CHECK(!token.accepts(std::string_view("a\0b", 3), "1"));
  for (const char *value : {"", "2147483648", "+1", " 1", "1 ", "1.0", "-", "1e3", "0x1"}) CHECK(!token.accepts("k", value));
  const hd::PairCheck field = pair_check(hd::PairCheck::kField, hd::PairCheck::kUint64, 0);
  CHECK(field.accepts("", "18446744073709551615") && field.accepts("two words", "0"));
  CHECK(!field.accepts("k", "18446744073709551616") && !field.accepts("k", "-1"));
  const hd::PairCheck wide = pair_check(hd::PairCheck::kNoCheck, hd::PairCheck::kInt64, 0);
  CHECK(wide.accepts("", "-9223372036854775808") && !wide.accepts("", "9223372036854775808"));
  CHECK(hd::PairCheck{}.accepts("", "") && hd::PairCheck{}.accepts("a b", "x"));
}

void keys_print_safely() {
  CHECK(hd::printable("a\"\\\n\xff") == "\"a\\\"\\\\\\x0a\\xff\"");
  CHECK(hd::printable(std::string(81, 'k')) == "\"" + std::string(80, 'k') + "...\"");
}

void columns_keep_their_contents() {
  hd::Column<uint64_t> column;
  for (uint64_t i = 0; i < 1'000'000; ++i) column.push_back(i * i);  // far past the first huge page
  bool same = true;
  for (uint64_t i = 0; i < column.size(); ++i) same = same && column[i] == i * i;
  CHECK(same);
  column.clear();
  CHECK(column.size() == 0);
  column.resize(10);
  CHECK(column[9] == 0);
}

// Fan-in arithmetic: passes end, and no pass merges more than there is.
void fan_in_ends() {
  for (size_t most : {2, 3, 10, 200})
    for (size_t n = 1; n < 2000; n += 7) {
      size_t left = n, passes = 0;
      for (; left > most && passes < 20; ++passes) {
        const size_t runs = hd::runs_needed(left, most);
        CHECK(runs >= 1 && runs * most <= left);
        left -= runs * (most - 1);
      }
      CHECK(left <= most);
    }
  CHECK(hd::runs_needed(10, 10) == 0 && hd::runs_needed(11, 10) == 1);
  CHECK(hd::fan_in(0).most == 2 && hd::fan_in(1 << 30).most <= 200);
}

void more_repeats_than_a_run_counts() {
  hd::GroupTable table(1 << 20);
  hd::HashedPair p;
  p.key_words = hd::load_words("k", 1);
  p.key_length = 1;
  const uint64_t repeats = uint64_t(hd::kMostCount) + 5;
  for (uint64_t i = 0; i < repeats; ++i) CHECK(table.add(p));
  const hd::SortedLoad load(table, 1);
  hd::RunCursor cursor = load.runs(0);
  std::string_view key, value;
  uint64_t total = 0, count = 0;
  while (cursor.next(key, value, count)) {
    CHECK(key == "k" && value.empty());
    total += count;
  }
  CHECK(total == repeats);
}

void lines_fill_pieces() {
  hd::LineBuffer lines;
  CHECK(lines.add("k", "v", 3) == 3 && lines.view() == "k\tv\nk\tv\nk\tv\n");
  const uint64_t more = lines.add("k", "v", 1'000'000);
  CHECK(more < 1'000'000 && lines.view().size() <= hd::LineBuffer::kPiece && lines.view().size() == 4 * (3 + more));
  CHECK(lines.add(std::string(100, 'x'), "", 1) == 0);
  lines.clear();
  const std::string huge(1 << 20, 'h');
  CHECK(lines.add(huge, "", 2) == 1 && lines.view() == huge + "\t\n");
}

}  // namespace

int main() {
  crc_matches_its_definition();
  vints_read_back();
  splitter_follows_the_line_rule();
  partitions_are_hadoops();
  words_hold_the_bytes_at_every_alignment();
  pair_checks();
  keys_print_safely();
  columns_keep_their_contents();
  fan_in_ends();
  more_repeats_than_a_run_counts();
  lines_fill_pieces();
  printf("%d failures\n", failures);
  return failures != 0;
}
