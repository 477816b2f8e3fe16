#include "ifile/merge.h"

#include <unistd.h>

#include <atomic>
#include <map>

#include "ifile/fan_in.h"
#include "ifile/ifile.h"
#include "ifile/segment_merger.h"
#include "ifile/text_lines.h"

namespace hd {
namespace {

// A name for an intermediate run.
std::string run_path(const std::string &work_dir) {
  static std::atomic<uint64_t> made{0};  // readers of one process may share a folder
  return work_dir + "/merge-" + std::to_string(getpid()) + "-" + std::to_string(made++) + ".run";
}

}  // namespace

struct MergeReader::State {
  const Cancel cancel;
  std::vector<Segment> segments;
  std::vector<std::string> run_files;  // intermediate runs of ours, removed at the end
  std::vector<SegmentReader> readers;
  SegmentMerger merger;

  State(std::vector<Segment> all, const Cancel &c) : cancel(c), segments(std::move(all)) {
    std::erase_if(segments, [](const Segment &s) { return s.raw_length == 2 && s.part_length == 6; });
  }
  ~State() {
    for (const std::string &path : run_files) ::unlink(path.c_str());
  }

  // Opens `n` segments from `first` on and begins their merge.
  void open(size_t first, size_t n, const FanIn &limits) {
    std::map<std::string, std::shared_ptr<const InputFile>> files;
    readers.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const Segment &segment = segments[first + i];
      std::shared_ptr<const InputFile> &file = files[segment.path];
      if (!file) file = std::make_shared<InputFile>(segment.path);
      readers[i].open(file, segment, limits.buffer(n), cancel);
    }
    merger.start(readers.data(), n);
  }

  Segment merge_run(size_t first, size_t n, const FanIn &limits, const std::string &work_dir) {
    open(first, n, limits);
    const std::string path = run_path(work_dir);
    IFileWriter writer(path, limits.buffer(n), cancel);
    for (std::string_view key, value; merger.next(key, value);) writer.append(key, value);
    writer.end_partition();
    writer.commit();
    run_files.push_back(path);
    return {path, 0, writer.index()[0].raw_length, writer.index()[0].part_length};
  }

  // One pass over consecutive groups; order among equal keys stays that of the segments.
  void reduce(const FanIn &limits, const std::string &work_dir) {
    const size_t runs = runs_needed(segments.size(), limits.most);
    std::vector<Segment> merged;
    for (size_t r = 0; r < runs; ++r) merged.push_back(merge_run(r * limits.most, limits.most, limits, work_dir));
    merged.insert(merged.end(), segments.begin() + ptrdiff_t(runs * limits.most), segments.end());
    drop_merged_runs(runs * limits.most);
    segments = std::move(merged);
  }

  // Runs of an earlier pass that are now part of a longer one need not keep their disk space.
  void drop_merged_runs(size_t merged) {
    for (size_t i = 0; i < merged; ++i)
      if (std::erase(run_files, segments[i].path)) ::unlink(segments[i].path.c_str());
  }
};

MergeReader::MergeReader(std::vector<Segment> segments, uint64_t memory, std::string work_dir, const Cancel &cancel)
    : state_(std::make_unique<State>(std::move(segments), cancel)) {
  const FanIn limits = fan_in(memory);
  while (state_->segments.size() > limits.most) state_->reduce(limits, work_dir);
  state_->open(0, state_->segments.size(), limits);
}

MergeReader::~MergeReader() = default;

bool MergeReader::next(std::string_view &key, std::string_view &value) { return state_->merger.next(key, value); }

bool next_pair(MergeReader &reader, PairKeeper *keeper, std::string_view &key, std::string_view &value) {
  if (!reader.next(key, value)) return false;
  if (keeper) {
    const TextPair pair = keeper->give(key, value);
    key = pair.key;
    value = pair.value;
    keeper->look(key);
  }
  return true;
}

struct MergeSource::State {
  MergeReader &reader;
  uint64_t &records, &groups;
  LineBuffer lines;
  PairKeeper *keeper;
  std::string_view key, value;
  std::string group;  // the current one's key
  bool any = false, waiting = false;

  bool advance() {
    if (waiting) return true;
    if (!next_pair(reader, keeper, key, value)) return false;
    if (!any || key != group) {
      group.assign(key);
      any = true;
      ++groups;
    }
    return waiting = true;
  }
};

MergeSource::MergeSource(MergeReader &reader, uint64_t &records, uint64_t &groups, std::string_view separator,
                         PairKeeper *keeper)
    : state_(new State{reader, records, groups, LineBuffer(separator), keeper, {}, {}, {}}) {}

MergeSource::~MergeSource() = default;

std::string_view MergeSource::next() {
  State &s = *state_;
  s.lines.clear();
  while (s.advance() && s.lines.add(s.key, s.value, 1)) {
    s.waiting = false;
    ++s.records;
  }
  return s.lines.view();
}

}  // namespace hd
