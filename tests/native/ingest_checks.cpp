// Checks of how a task on a device gets its input, run by test_ingest.py: against RecordSource, and where it must fail.
// ingest_checks FOLDER ROUNDS. Prints what fails; exit status 1 then.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "input/ingest.h"
#include "check.h"
#include "watched_device.h"

namespace {

using namespace hd;
using Records = std::vector<std::string>;
using Random = std::mt19937;

struct Case {
  RecordOptions records;
  IngestOptions ingest;
  int halving = 0;  // of a hundred pieces so many are given back and cut in two
  int32_t cancelled = 0;
  Cancel cancel() const { return {&cancelled}; }
};

std::string random_text(Random &random, size_t n) {
  static const std::string_view pieces[] = {"\n", "\r", "\r\n", "a", "bc", "longer text", "\xef\xbb\xbf", std::string_view("\0", 1)};
  const size_t kinds = 2 + random() % (std::size(pieces) - 1);
  std::string text = random() % 4 ? "" : "\xef\xbb\xbf";
  while (text.size() < n) text += pieces[random() % 3 ? std::size(pieces) - 1 - random() % kinds : random() % kinds];
  text.resize(n);
  return text;
}

void write_file(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// The records of a text, as the device's index finds them.
void cut_records(const DeviceText &text, Records &records) {
  const std::string_view all(text.data, text.size);
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(text.delimiter < 0 ? all.find_first_of("\r\n", at) : all.find('\n', at), all.size());
    records.emplace_back(all.substr(at, end - at));
    const bool both = text.delimiter < 0 && all.substr(end, 2) == "\r\n";
    at = end + 1 + both;
  }
}

struct Source {
  Records records;
  uint64_t bytes = 0;
};

Source records_of(const Case &c) {
  RecordSource source(c.records, c.cancel());
  std::string text;
  for (std::string_view piece; !(piece = source.next()).empty();) text += piece;
  Source found{{}, source.bytes()};
  for (size_t at = 0, end; at < text.size(); at = end + 1)
    found.records.push_back(text.substr(at, (end = text.find('\n', at)) - at));
  CHECK(found.records.size() == source.records());
  return found;
}

void take(Ingest &ingest, const SubSplit &part, const Case &c, Random &random, Records &records) {
  if (int(random() % 100) < c.halving) {
    if (random() % 2) ingest.read(part), ingest.bring(part);
    ingest.release();
    const uint64_t cut = ingest.middle(part);
    CHECK(cut < part.size);
    if (cut) {
      if (random() % 2) ingest.limit(cut);
      take(ingest, {part.at, cut}, c, random, records);
      return take(ingest, {part.at + cut, part.size - cut}, c, random, records);
    }
    Records one;
    ingest.read(part);
    cut_records(ingest.bring(part), one);
    CHECK(one.size() == 1);
  }
  ingest.read(part);
  const DeviceText text = ingest.bring(part);
  CHECK(text.size == part.size);
  for (uint64_t i = 0; i < 16; ++i) CHECK(text.data[text.size + i] == 0);
  cut_records(text, records);
}

void same_records(IngestRoom &room, const Case &c, Random &random) {
  const Source expected = records_of(c);
  Records records;
  const auto ingest = open_ingest(room, c.records, c.ingest, c.cancel());
  uint64_t most = 0;
  for (SubSplit s; (s = ingest->next()).size; most = std::max(most, s.size)) {
    const size_t before = records.size();
    take(*ingest, s, c, random, records);
    CHECK(records.size() > before);
    if (c.ingest.sub_split == 1 && c.records.delimiter != "|") CHECK(records.size() == before + 1);
    CHECK(ingest->bytes() <= expected.bytes);
  }
  CHECK(ingest->ended() && ingest->next().size == 0);
  CHECK(records == expected.records);
  CHECK(ingest->bytes() == expected.bytes);
  CHECK(ingest->records(records.size()) == expected.records.size());
}

void random_cases(const std::string &folder, int rounds) {
  const std::unique_ptr<Device> device(emulated_device());
  IngestRoom room(*device);
  Random random(7);
  Case c;
  c.records.path = folder + "/random";
  for (int round = 0; round < rounds; ++round) {
    const size_t n = random() % (round % 10 ? 60 : 3000);
    if (round % 4 == 0) write_file(c.records.path, random_text(random, n));
    const uint64_t size = std::filesystem::file_size(c.records.path);
    c.records.start = random() % 3 ? random() % (size + 1) : 0;
    c.records.length = random() % 3 ? random() % (size - c.records.start + 1) : kToEnd;
    c.records.delimiter = random() % 4 ? "" : "\n";
    if (round % 16 == 0) c.ingest.threads = 1 + random() % 8, c.ingest.piece = 1 + random() % 40;
    c.ingest.sub_split = 1 + random() % (random() % 2 ? 8 : size + 10);
    c.ingest.first = random() % 3 ? 0 : 1 + random() % 20;
    c.halving = random() % 2 * 30;
    where = "round " + std::to_string(round) + ", split " + std::to_string(c.records.start) + " " +
            std::to_string(c.records.length) + ", sub-splits of " + std::to_string(c.ingest.sub_split);
    same_records(room, c, random);
  }
}

// Records that are longer than the steps in which ends are looked for, with all line ends.
void long_records(const std::string &folder) {
  const std::unique_ptr<Device> device(emulated_device());
  IngestRoom room(*device);
  Random random(8);
  Case c;
  c.records.path = folder + "/long";
  std::string text;
  for (const char *end : {"\n", "\r\n", "\r", "\r", "\n"}) text += std::string(60000 + random() % 150000, 'x') + end + "s\r\n\r";
  write_file(c.records.path, text + std::string(70000, 'y'));
  c.ingest.threads = 4;
  c.ingest.piece = 3000;
  for (const uint64_t sub_split : {1u, 4096u, 100000u, 200000u, 1u << 20})
    for (c.records.start = 0; c.records.start < text.size(); c.records.start += 91357) {
      c.ingest.sub_split = sub_split;
      c.halving = sub_split > 4096 ? 50 : 0;
      where = "long records, split at " + std::to_string(c.records.start) + ", sub-splits of " + std::to_string(sub_split);
      same_records(room, c, random);
    }
}

// Reads all; returns the message of the error that ends it.
std::string failing(IngestRoom &room, const Case &c, TaskStatus status, const std::function<void(int)> &after) {
  try {
    const auto ingest = open_ingest(room, c.records, c.ingest, c.cancel());
    int rounds = 0;
    for (SubSplit s; (s = ingest->next()).size; after(++rounds)) ingest->read(s), ingest->bring(s);
  } catch (const Error &e) {
    CHECK(e.status == status);
    return e.what();
  } catch (const std::runtime_error &e) {
    CHECK(status == kDeviceFailed);
    return e.what();
  }
  return "";
}

// What RecordSource says of a file, "" if nothing is wrong with it.
std::string failing_source(const Case &c) {
  RecordSource source(c.records, c.cancel());
  try {
    while (!source.next().empty()) continue;
  } catch (const Error &e) {
    CHECK(e.status == kInputLine);
    return e.what();
  }
  return "";
}

void long_records_are_told(const std::string &folder, int rounds) {
  const std::unique_ptr<Device> device(emulated_device());
  IngestRoom room(*device);
  Random random(12);
  Case c;
  c.records.path = folder + "/lengths";
  int told = 0;
  for (int round = 0; round < rounds; ++round) {
    if (round % 4 == 0) write_file(c.records.path, random_text(random, random() % 300));
    const uint64_t size = std::filesystem::file_size(c.records.path);
    c.records.start = random() % 2 ? random() % (size + 1) : 0;
    c.records.delimiter = random() % 4 ? "" : "\n";
    c.records.longest = 1 + random() % 60;
    c.ingest = {2, 0, 50, 1 + random() % (size + 10), 0};
    where = "round " + std::to_string(round) + ", records of " + std::to_string(c.records.longest);
    const std::string expected = failing_source(c);
    CHECK(failing(room, c, kInputLine, [](int) {}) == expected);
    told += !expected.empty();
  }
  where = "enough of both";
  CHECK(told > rounds / 8 && told < rounds - rounds / 8);
}

void failures_are_told(const std::string &folder) {
  const std::unique_ptr<Device> device(emulated_device());
  IngestRoom room(*device);
  Case c;
  Random random(9);
  c.records.path = folder + "/failing";
  const std::string text = random_text(random, 200000);
  write_file(c.records.path, text);
  c.ingest = {4, 0, 1000, 20000, 0};

  where = "a file that has become shorter";
  std::string said = failing(room, c, kIoError, [&](int round) {
    if (round == 2) CHECK(::truncate(c.records.path.c_str(), 90000) == 0);
  });
  CHECK(said.starts_with(c.records.path + " ends at byte 90000, before the end of its split at byte 200000: it has been cut"));

  where = "a file that was too short from the beginning";
  c.records.length = 100000;
  said = failing(room, c, kIoError, [&](int) { CHECK(false); });
  CHECK(said.starts_with(c.records.path + " ends at byte 90000, before the end of its split at byte 100000: it has been cut"));
  RecordSource source(c.records, c.cancel());
  try {
    while (!source.next().empty()) continue;
    CHECK(false);
  } catch (const Error &e) {
    CHECK(said == e.what());
  }

  where = "a task that is stopped";
  c.records.length = kToEnd;
  int last = 0;
  said = failing(room, c, kCancelled, [&](int round) {
    last = round;
    if (round == 2) __atomic_store_n(&c.cancelled, 1, __ATOMIC_RELAXED);  // readers look at it
  });
  CHECK(said == "cancelled" && last <= 3);
  c.cancelled = 0;

  where = "the room is as good as new";
  same_records(room, c, random);
}

constexpr int kCopies = 300;  // of a file of 300000 bytes in pieces of 1000

// Gives a thread that has failed time to say so to the others, however busy the machine is.
void slow_after(int last, int copy) {
  if (copy > last) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// What happens while the readers are at work: the first sub-split is the whole file.
void failures_in_the_middle(const std::string &folder) {
  Case c;
  Random random(11);
  c.records.path = folder + "/middle";
  write_file(c.records.path, random_text(random, 300000));
  c.ingest = {3, 0, 1000, 1 << 20, 0};
  {
    WatchedDevice device([&](int copy) {
      if (copy == 20) throw std::runtime_error("the link is down");
      slow_after(20, copy);
    });
    IngestRoom room(device);
    where = "a device that fails";
    CHECK(failing(room, c, kDeviceFailed, [&](int) { CHECK(false); }) == "the link is down");
    CHECK(device.copies() < kCopies);
    where = "the readers after a failure";
    same_records(room, c, random);
  }
  WatchedDevice stopped([&](int copy) {
    if (copy == 20) __atomic_store_n(&c.cancelled, 1, __ATOMIC_RELAXED);
    slow_after(20, copy);
  });
  IngestRoom room(stopped);
  where = "a task that is stopped while it reads";
  CHECK(failing(room, c, kCancelled, [&](int) { CHECK(false); }) == "cancelled");
  CHECK(stopped.copies() < kCopies);
  c.cancelled = 0;
  same_records(room, c, random);
}

// A device of memory for one text and a half reads nothing ahead; one with less says so, and halves fit.
void short_memory(const std::string &folder) {
  const std::unique_ptr<Device> device(emulated_device());
  IngestRoom room(*device);
  Random random(10);
  Case c;
  c.records.path = folder + "/memory";
  write_file(c.records.path, random_text(random, 100000));
  c.ingest = {2, 0, 500, 10000, 0};
  where = "memory for one text";
  device->emulate({0, 0, 0, 16000});
  same_records(room, c, random);

  where = "memory for half a text";
  room.text[0].reset();
  room.text[1].reset();
  device->emulate({0, 0, 0, 6000});
  const auto ingest = open_ingest(room, c.records, c.ingest, c.cancel());
  const SubSplit s = ingest->next();
  bool lacking = false;
  try {
    ingest->read(s);
  } catch (const OutOfDeviceMemory &) {
    lacking = true;
  }
  CHECK(lacking);
  ingest->release();
  ingest->limit(4000);
  const uint64_t cut = ingest->middle(s);
  ingest->read({s.at, cut});
  CHECK(ingest->bring({s.at, cut}).size == cut);
  Records records;
  for (SubSplit next; (next = ingest->next()).size;) take(*ingest, next, c, random, records);
  CHECK(ingest->bytes() == records_of(c).bytes);
}

}  // namespace

int main(int, char **argv) {
  random_cases(argv[1], std::atoi(argv[2]));
  long_records(argv[1]);
  long_records_are_told(argv[1], std::atoi(argv[2]) / 4);
  failures_are_told(argv[1]);
  failures_in_the_middle(argv[1]);
  short_memory(argv[1]);
  printf("%d failures\n", failures);
  return failures != 0;
}
