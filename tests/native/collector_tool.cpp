// The collector and the merge as a program, for test_native_collector.py: pairs in, files and counters out.
//
//   collector_tool collect OPTION=VALUE...   a filter's stdout on stdin -> OUT, OUT.index
//   collector_tool merge OPTION=VALUE...     segments "path start raw part" a line on stdin -> merged text on stdout
//
// Combiners run in this process; each is a program whose whole input becomes its whole output.
#include <sys/resource.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include "collect/collector.h"
#include "ifile/ifile.h"
#include "ifile/merge.h"
#include "filter/pair_splitter.h"

namespace {

using Options = std::map<std::string, std::string>;

struct Line {
  std::string key, value;
};

std::vector<Line> lines_of(const std::string &text) {
  std::vector<Line> lines;
  hd::Counters unused;
  auto add = [&](std::string_view k, std::string_view v) { lines.push_back({std::string(k), std::string(v)}); };
  hd::PairSplitter splitter(add, hd::LineLimit{}, unused, hd::kMapOutputRecords);
  splitter.write(text.data(), text.size());
  splitter.finish();
  return lines;
}

std::string text_of(const std::vector<Line> &lines) {
  std::string text;
  for (const Line &l : lines) text += l.key + "\t" + l.value + "\n";
  return text;
}

// Adds up the numbers of each run of equal keys: a fold, so it may run over its own output.
std::string sum(const std::string &text) {
  std::vector<Line> sums;
  long long total = 0;
  for (const Line &l : lines_of(text)) {
    if (sums.empty() || sums.back().key != l.key) {
      sums.push_back({l.key, ""});
      total = 0;
    }
    sums.back().value = std::to_string(total += atoll(l.value.c_str()));
  }
  return text_of(sums);
}

// Numbers the lines of the whole input: depends on how the input was cut into runs, so it is no fold.
std::string number(const std::string &text) {
  std::vector<Line> lines = lines_of(text);
  for (size_t i = 0; i < lines.size(); ++i) lines[i].value += "#" + std::to_string(i);
  return text_of(lines);
}

std::string reversed(const std::string &text) {
  std::vector<Line> lines = lines_of(text);
  return text_of({lines.rbegin(), lines.rend()});
}

std::string foreign(const std::string &text) {
  std::vector<Line> lines = lines_of(text);
  lines.back().key += "\x7f\"elsewhere";
  return text_of(lines);
}

const std::map<std::string, std::function<std::string(const std::string &)>> kCombiners = {
    {"cat", [](const std::string &text) { return text; }},
    {"none", [](const std::string &) { return std::string(); }},
    {"sum", sum},
    {"number", number},
    {"reversed", reversed},
    {"foreign", foreign},
};

std::function<uint64_t(hd::Source &, hd::Sink &)> combiner(const std::string &name) {
  if (name.empty()) return {};
  if (name == "fails") return [](hd::Source &, hd::Sink &) -> uint64_t { throw hd::Error(hd::kCombinerFailed, "exit status 3"); };
  if (name == "half")  // reads one piece, copies its first line, leaves the rest
    return [](hd::Source &in, hd::Sink &out) -> uint64_t {
      const std::string_view piece = in.next();
      const size_t line = piece.find('\n') + 1;
      out.write(piece.data(), line);
      uint64_t unread = piece.size() - line;
      for (std::string_view more; !(more = in.next()).empty();) unread += more.size();
      return unread;
    };
  return [run = kCombiners.at(name)](hd::Source &in, hd::Sink &out) -> uint64_t {
    std::string text;
    for (std::string_view piece; !(piece = in.next()).empty();) text += piece;
    const std::string result = run(text);
    for (size_t at = 0; at < result.size(); at += 7) out.write(result.data() + at, std::min<size_t>(7, result.size() - at));
    return 0;
  };
}

uint64_t number_of(const Options &o, const std::string &name, uint64_t otherwise) {
  const auto at = o.find(name);
  return at == o.end() ? otherwise : std::stoull(at->second);
}

std::string text_of(const Options &o, const std::string &name) {
  const auto at = o.find(name);
  return at == o.end() ? "" : at->second;
}

hd::CollectorOptions collector_options(const Options &o) {
  hd::CollectorOptions c;
  c.partitions = uint32_t(number_of(o, "partitions", 1));
  c.sort_bytes = number_of(o, "sort_bytes", c.sort_bytes);
  c.work_dir = text_of(o, "work");
  c.out_path = text_of(o, "out");
  c.index_path = c.out_path + ".index";
  c.regroup = number_of(o, "regroup", 0) != 0;
  c.combine = combiner(text_of(o, "combiner"));
  c.check.key = hd::PairCheck::Key(number_of(o, "key_kind", 0));
  c.check.values = uint32_t(number_of(o, "values", o.count("value_kind")));  // all of one kind, a byte between two of them
  for (uint32_t i = 0; i < c.check.values; ++i) {
    c.check.value[i] = hd::PairCheck::Value(number_of(o, "value_kind", 0));
    c.check.between_size[i] = 1;
    c.check.between[i][0] = char(number_of(o, "between", ','));
  }
  c.check.key_max = number_of(o, "key_max", 0);
  c.check.none = number_of(o, "none", 0);
  c.check.has_none = number_of(o, "has_none", 0) != 0;
  return c;
}

uint64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return uint64_t(usage.ru_maxrss);
}

uint64_t growth_kib = 0;  // peak memory of the collector, beyond what the input took

void collect(const Options &o, hd::Counters &counters) {
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  const uint64_t before = peak_kib();
  const size_t chunk = number_of(o, "chunk", 1 << 16);
  hd::Collector collector(collector_options(o), counters, hd::Cancel{});
  hd::PairSplitter splitter([&](std::string_view k, std::string_view v) { collector.add(k, v); }, hd::LineLimit{}, counters,
                            hd::kMapOutputRecords, hd::kMapOutputBytes);
  for (size_t at = 0; at < input.size(); at += chunk)
    splitter.write(input.data() + at, std::min(chunk, input.size() - at));
  splitter.finish();
  collector.finish();
  growth_kib = peak_kib() - before;
}

void merge(const Options &o, hd::Counters &counters) {
  std::vector<hd::Segment> segments;
  for (hd::Segment s; std::cin >> s.path >> s.start >> s.raw_length >> s.part_length;) segments.push_back(s);
  const hd::Cancel cancel;
  hd::MergeReader reader(segments, number_of(o, "memory", 1 << 20), text_of(o, "work"), cancel);
  hd::MergeSource source(reader, counters.value[hd::kReduceInputRecords], counters.value[hd::kReduceInputGroups]);
  for (std::string_view piece; !(piece = source.next()).empty();) fwrite(piece.data(), 1, piece.size(), stdout);
}

}  // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    options[option.substr(0, option.find('='))] = option.substr(option.find('=') + 1);
  }
  hd::Counters counters;
  int status = hd::kOk;
  std::string message;
  try {
    argv[1] == std::string("merge") ? merge(options, counters) : collect(options, counters);
  } catch (const hd::Error &e) {
    status = e.status;
    message = e.what();
  }
  fprintf(stderr, "%d\n", status);
  for (uint64_t value : counters.value) fprintf(stderr, "%llu ", static_cast<unsigned long long>(value));
  fprintf(stderr, "%llu\n%s", static_cast<unsigned long long>(growth_kib), message.c_str());
  return 0;
}
