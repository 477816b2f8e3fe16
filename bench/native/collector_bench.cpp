// Micro benchmark of the collector: nanoseconds of processor time a pair, from a filter's stdout to file.out, and peak memory.
//
//   g++ -std=c++20 -O3 -fwrapv -pthread -Iruntime/host bench/native/collector_bench.cpp runtime/host/*/*.cpp -o collector_bench
//   ./collector_bench WORKLOAD [PAIRS] [SORT_MIB] [PARTITIONS] [WORK_DIR]
//
// WORKLOAD: zipf (words, value 1), unique (all keys distinct), lists (many values for each key), scan (no collector:
// the splitter alone). Text is made in pieces outside the clock, so only the collector's work is timed.
#include <sys/resource.h>
#include <time.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "collect/collector.h"
#include "filter/pair_splitter.h"

namespace {

constexpr double kVocabulary = 200e3;

// Processor time of this thread: the machine may be busy with other things.
double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

uint64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return uint64_t(usage.ru_maxrss);
}

// Ranks with probability proportional to 1/rank (by inversion of the continuous law), as words of 1 to 12 letters.
std::string zipf_word(std::mt19937_64 &random) {
  const double words = kVocabulary, u = double(random() >> 11) * 0x1p-53;
  uint64_t rank = uint64_t(std::exp(u * std::log(words)));
  rank *= 0x9e3779b97f4a7c15;
  const size_t length = 1 + size_t(std::exp(u * std::log(12.0)));
  std::string word;
  for (size_t i = 0; i < length; ++i, rank = rank >> 5 | rank << 59) word += char('a' + (rank & 31) % 26);
  return word;
}

using MakeLine = std::function<std::string(uint64_t i, std::mt19937_64 &)>;

MakeLine line_maker(const std::string &workload) {
  if (workload == "zipf" || workload == "scan") return [](uint64_t, std::mt19937_64 &r) { return zipf_word(r) + "\t1\n"; };
  if (workload == "unique")
    return [](uint64_t i, std::mt19937_64 &) { return "k" + std::to_string(i * 0x9e3779b97f4a7c15 >> 24) + "\t1\n"; };
  if (workload == "lists")
    return [](uint64_t i, std::mt19937_64 &r) { return zipf_word(r) + "\tdoc" + std::to_string(i) + "\n"; };
  fprintf(stderr, "unknown workload %s\n", workload.c_str());
  exit(2);
}

// Writes `pairs` lines to the sink in 64 KiB pieces; returns the seconds spent in it.
double feed(hd::Sink &sink, const MakeLine &line, uint64_t pairs) {
  std::mt19937_64 random(42);
  double spent = 0;
  std::string piece;
  for (uint64_t i = 0; i < pairs;) {
    piece.clear();
    for (; piece.size() < (4 << 20) && i < pairs; ++i) piece += line(i, random);
    const double start = now();
    for (size_t at = 0; at < piece.size(); at += 64 << 10)
      sink.write(piece.data() + at, std::min<size_t>(64 << 10, piece.size() - at));
    spent += now() - start;
  }
  return spent;
}

}  // namespace

int main(int argc, char **argv) {
  const std::string workload = argc > 1 ? argv[1] : "zipf";
  const uint64_t pairs = argc > 2 ? strtoull(argv[2], nullptr, 10) : 10'000'000;
  hd::CollectorOptions options;
  options.sort_bytes = (argc > 3 ? strtoull(argv[3], nullptr, 10) : 100) << 20;
  options.partitions = argc > 4 ? uint32_t(strtoul(argv[4], nullptr, 10)) : 4;
  options.work_dir = argc > 5 ? argv[5] : ".";
  options.out_path = options.work_dir + "/file.out";
  options.index_path = options.work_dir + "/file.out.index";
  hd::Counters counters;
  const hd::Cancel cancel;
  const MakeLine line = line_maker(workload);
  const uint64_t before = peak_kib();
  hd::Collector collector(options, counters, cancel);
  uint64_t sum = 0;
  const bool scan = workload == "scan";
  auto on_pair = [&](std::string_view key, std::string_view value) {
    if (scan) {
      sum += key.size() + value.size();
    } else {
      collector.add(key, value);
    }
  };
  hd::PairSplitter splitter(on_pair, counters, hd::kMapOutputRecords, hd::kMapOutputBytes);
  const double add = feed(splitter, line, pairs);
  const double start = now();
  collector.finish();
  const double finish = now() - start;
  printf("%-7s %llu pairs  add %.1f  finish %.1f  total %.1f ns/pair  spills %llu  peak +%.1f MiB  file.out %.1f MB\n",
         workload.c_str(), static_cast<unsigned long long>(pairs), add / double(pairs) * 1e9, finish / double(pairs) * 1e9,
         (add + finish) / double(pairs) * 1e9, static_cast<unsigned long long>(counters.value[hd::kSpills]),
         double(peak_kib() - before) / 1024, double(counters.value[hd::kMapOutputMaterializedBytes]) / 1e6);
  std::remove(options.out_path.c_str());
  std::remove(options.index_path.c_str());
  return scan && sum == 0;
}
