// A sorted run on its way from the device to an IFile with its index.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "output/room.h"

namespace hd {

class RunFile {
 public:
  // Of a run on the device, partition p in its bytes [start[p], start[p + 1]). Its writing begins; `room` gave it its place.
  RunFile(const std::string &path, const char *run, std::vector<uint64_t> start, OutputRoom &room, const Cancel &cancel)
      : file_(path), segments_(std::make_shared<RunSegments>(std::move(start), room.piece())) {
    room.begin({run, std::make_shared<FileRange>(file_, segments_->bytes(), room.many_threads()), segments_, cancel});
  }
  uint64_t bytes() const { return segments_->bytes(); }
  // When all is written: the ends that were left, names, the index.
  void commit(const std::string &index_path) {
    segments_->finish(file_);
    commit_with_index(file_, segments_->index(), index_path);
  }

 private:
  OutputFile file_;
  const std::shared_ptr<RunSegments> segments_;
};

}  // namespace hd
