// Checks of how a device's output gets into files, run by test_output.py: the bytes, and where it must fail.
// output_checks FOLDER ROUNDS. Prints what fails; exit status 1 then.
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/crc32.h"
#include "base/text_output.h"
#include "output/run_file.h"
#include "check.h"
#include "watched_device.h"

namespace {

using namespace hd;
using Random = std::mt19937;

std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string random_bytes(Random &random, size_t n) {
  std::string text(n, '\0');
  for (char &c : text) c = char(random());
  return text;
}

void joined_checksums(Random &random) {
  where = "checksums";
  for (int round = 0; round < 300; ++round) {
    const std::string text = random_bytes(random, random() % 3000);
    const size_t cut = random() % (text.size() + 1);
    const uint32_t first = crc32_portable(0, text.data(), cut), second = crc32_portable(0, text.data() + cut, text.size() - cut);
    CHECK(crc32_joined(first, second, text.size() - cut) == crc32_portable(0, text.data(), text.size()));
  }
}

// Ranges between plain writes, filled by several threads in any order, mapped and not.
void file_ranges(const std::string &folder, Random &random, int rounds) {
  int mapped = 0;
  for (int round = 0; round < rounds; ++round) {
    where = "range " + std::to_string(round);
    const std::string path = folder + "/range";
    std::string expected;
    OutputFile file(path);
    for (int part = 0; part < 4; ++part) {
      const std::string plain = random_bytes(random, random() % 5000), text = random_bytes(random, random() % 40000);
      file.write(plain.data(), plain.size());
      expected += plain + text;
      FileRange range(file, text.size(), random() % 3, random() % 3 ? 1 : UINT64_MAX);
      CHECK(range.bytes() == text.size());
      mapped += range.mapped();
      const uint64_t piece = 1 + random() % 9000;
      std::vector<std::thread> threads;
      for (uint64_t i = 0; i < 3; ++i)
        threads.emplace_back([&, i] {
          for (uint64_t at = i * piece; at < text.size(); at += 3 * piece)
            range.write(text.data() + at, std::min(piece, text.size() - at), at);
        });
      for (std::thread &thread : threads) thread.join();
    }
    file.commit();
    CHECK(read_file(path) == expected);
  }
  printf("%d ranges were mapped\n", mapped);
}

// As kernels write it: launches so far come before.
void put_on_device(OutputRoom &room, const std::string &text, char *&at) {
  room.turn();
  at = room.text(text.size());
  std::memcpy(at, text.data(), text.size());
}

void texts(Device &device, const std::string &folder, Random &random, int rounds) {
  OutputRoom room(device);
  for (int round = 0; round < rounds; ++round) {
    where = "texts " + std::to_string(round);
    room.begin_task({1 + uint32_t(random() % 4), 1 + random() % 3000});
    std::string expected;
    TextOutput file(folder + "/text");
    for (int part = int(random() % 8); part >= 0; --part) {
      const std::string text = random_bytes(random, random() % 4 ? random() % 20000 : 0);
      char *at;
      put_on_device(room, text, at);
      room.begin({at, file.range(text.size(), round % 2), nullptr, {}});
      expected += text;
      if (random() % 4 == 0) file.add("behind", "x"), expected += "behind\tx\n";
      if (random() % 8 == 0) room.release();
    }
    file.add("last", "");
    room.finish();
    file.commit();
    CHECK(read_file(folder + "/text") == expected + "last\t\n");
  }
}

struct Run {
  std::string bytes, file;
  std::vector<uint64_t> start{0};
  std::vector<IndexEntry> index;
  void add(const std::string &records) {
    const std::string sealed = records + "\xff\xff";
    const uint32_t sum = crc32_portable(0, sealed.data(), sealed.size());
    index.push_back({file.size(), sealed.size(), sealed.size() + 4});
    file += sealed;
    for (int shift = 24; shift >= 0; shift -= 8) file += char(sum >> shift);
    bytes += records;
    start.push_back(bytes.size());
  }
};

void check_run(OutputRoom &room, const Run &run, const std::string &path) {
  char *at;
  put_on_device(room, run.bytes, at);
  RunFile file(path, at, run.start, room, {});
  CHECK(file.bytes() == run.file.size());
  room.finish();
  file.commit(path + ".index");
  CHECK(read_file(path) == run.file);
  CHECK(read_file(path + ".index") == encode_index(run.index));
}

void runs(Device &device, const std::string &folder, Random &random, int rounds) {
  OutputRoom room(device);
  for (int round = 0; round < rounds; ++round) {
    where = "run " + std::to_string(round);
    room.begin_task({1 + uint32_t(random() % 4), 1 + random() % (random() % 2 ? 40 : 3000)});
    Run run;
    const int usual = 1 << random() % 12;
    for (int p = int(random() % 30); p >= 0; --p) run.add(random_bytes(random, random() % 3 ? random() % usual : 0));
    check_run(room, run, folder + "/run");
  }
  for (const uint32_t threads : {2u, 5u}) {
    where = "a large run by " + std::to_string(threads);
    room.begin_task({threads, 1 << 20});
    Run large;
    for (const size_t n : {size_t(2) << 20, size_t(0), size_t(3333333), size_t(7), size_t(0)}) large.add(random_bytes(random, n));
    check_run(room, large, folder + "/run");
  }
}

// Writes a text of 300000 bytes and one more; returns the message of the error that ends it.
std::string failing(OutputRoom &room, const std::string &path, TaskStatus status, const Cancel &cancel, uint64_t large) {
  const std::string text(300000, 'x');
  std::string said;
  try {
    OutputFile file(path);
    struct Stop {
      OutputRoom &room;
      ~Stop() { room.stop(); }
    } stop{room};
    for (int part = 0; part < 2; ++part) {
      char *at;
      put_on_device(room, text, at);
      room.begin({at, std::make_shared<FileRange>(file, text.size(), true, large), nullptr, cancel});
    }
    room.finish();
  } catch (const Error &e) {
    CHECK(e.status == status);
    said = e.what();
  } catch (const std::runtime_error &e) {
    CHECK(status == kDeviceFailed);
    said = e.what();
  }
  CHECK(!std::filesystem::exists(path) && !std::filesystem::exists(path + ".tmp"));
  return said;
}

void good_as_new(OutputRoom &room, const std::string &folder, Random &random) {
  where += ", and then";
  Run run;
  for (int p = 0; p < 5; ++p) run.add(random_bytes(random, 60000));
  check_run(room, run, folder + "/again");
}

void failures_are_told(const std::string &folder, Random &random) {
  const std::string path = folder + "/failing";
  int32_t cancelled = 0;
  int last = INT32_MAX;
  std::function<void()> strike;
  WatchedDevice device([&](int copy) {
    if (copy == last) strike();
    if (copy > last) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  OutputRoom room(device);
  room.begin_task({3, 1000});

  where = "a device that fails";
  last = device.copies() + 20;
  strike = [] { throw std::runtime_error("the link is down"); };
  CHECK(failing(room, path, kDeviceFailed, {}, UINT64_MAX) == "the link is down");
  CHECK(device.copies() < 500);
  good_as_new(room, folder, random);

  where = "a task that is stopped";
  last = device.copies() + 20;
  strike = [&] { __atomic_store_n(&cancelled, 1, __ATOMIC_RELAXED); };
  const int before = device.copies();
  CHECK(failing(room, path, kCancelled, {&cancelled}, UINT64_MAX) == "cancelled");
  CHECK(device.copies() < before + 500);
  good_as_new(room, folder, random);

  for (const uint64_t large : {UINT64_MAX, uint64_t(1)}) {
    where = "a file that may not grow, allocated from " + std::to_string(large);
    rlimit limit;
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{400000, limit.rlim_max};
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    const std::string said = failing(room, path, kIoError, {}, large);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    CHECK(said == "cannot write " + path + ".tmp: File too large");
    good_as_new(room, folder, random);
  }

  where = "a task that ends while it is written";
  {
    OutputFile file(path);
    char *at;
    put_on_device(room, std::string(300000, 'x'), at);
    room.begin({at, std::make_shared<FileRange>(file, 300000, true), nullptr, {}});
    room.stop();
  }
  good_as_new(room, folder, random);
}

// Where there is no memory for two texts the first is waited for and given back.
void short_memory(const std::string &folder) {
  const std::unique_ptr<Device> device(emulated_device());
  device->emulate({0, 0, 0, 60000});
  where = "memory for one text";
  OutputRoom room(*device);
  room.begin_task({2, 1000});
  TextOutput file(folder + "/memory");
  std::string expected;
  for (const char c : {'a', 'b', 'c'}) {
    char *at;
    put_on_device(room, std::string(45000, c), at);
    room.begin({at, file.range(45000, false), nullptr, {}});
    expected += std::string(45000, c);
  }
  room.turn();
  bool lacking = false;
  try {
    room.text(70000);
  } catch (const OutOfDeviceMemory &) {
    lacking = true;
  }
  CHECK(lacking);
  room.finish();
  file.commit();
  CHECK(read_file(folder + "/memory") == expected);
}

}  // namespace

int main(int, char **argv) {
  const std::string folder = argv[1];
  const int rounds = std::atoi(argv[2]);
  Random random(5);
  joined_checksums(random);
  file_ranges(folder, random, rounds / 4);
  const std::unique_ptr<Device> device(emulated_device());
  texts(*device, folder, random, rounds);
  WatchedDevice slow([](int copy) { if (copy % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200)); });
  texts(slow, folder, random, rounds / 10);
  runs(*device, folder, random, rounds);
  failures_are_told(folder, random);
  short_memory(folder);
  printf("%d failures\n", failures);
  return failures != 0;
}
