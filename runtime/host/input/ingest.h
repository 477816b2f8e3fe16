// The input of a task on a device: its split in sub-splits of whole records, each brought into the device's memory.
#pragma once
#include <cstdint>
#include <memory>

#include "device/device_buffer.h"
#include "input/ingest_readers.h"
#include "input/kept_texts.h"
#include "input/records.h"

namespace hd {

// The longest text of one sub-split: lengths of records are 32 bit.
constexpr uint64_t kMostSubSplit = uint64_t(1) << 31;

constexpr uint64_t kTextMargin = 16;  // zeros behind a text: the index reads in words of 16

// A range of the input: of the file, or of what was read last where it is no file with lines. Size 0: the input's end.
struct SubSplit {
  uint64_t at = 0, size = 0;
  bool operator==(const SubSplit &) const = default;
};

// Text in the device's memory; can be read up to the next multiple of 16 behind its end. Its records end as `delimiter`
// says (IndexText), the last one also with the text.
struct DeviceText {
  const char *data = nullptr;
  uint64_t size = 0;
  int32_t delimiter = '\n';
};

// How to read; 0 = chosen.
struct IngestOptions {
  uint32_t threads = 0;          // that read a file
  uint32_t workers = 0;          // devices that are fed at the same time from this host
  uint64_t piece = 0;            // bytes of a read and its copy
  uint64_t sub_split = 1 << 20;  // bytes
  uint64_t keep_percent = 0;     // of the device's memory, for texts that stay for later tasks
  uint64_t first = 0;            // bytes of the first sub-split, where shorter: they grow from it, and shrink to about that at the end
};

// What stays from task to task: texts in the device's memory, one for kernels, those that are being filled; the readers.
struct IngestRoom {
  Device &device;
  DeviceBuffer<char> text[kCopyLanes];
  std::unique_ptr<Readers> readers;
  std::shared_ptr<KeptTexts> kept;
  uint32_t wanted_threads = 0;

  explicit IngestRoom(Device &opened) : device(opened), text{DeviceBuffer<char>(opened), DeviceBuffer<char>(opened), DeviceBuffer<char>(opened)}, kept(KeptTexts::of(opened)) {}
  ~IngestRoom() { kept->release(device); }  // also what other sessions of the GPU kept: they read it again, if they go on
};

class Ingest {
 public:
  virtual ~Ingest() = default;

  // The next sub-split: about as long as wanted, or one record that is longer. Throws what RecordSource throws.
  virtual SubSplit next() = 0;
  // Nothing follows what next() has given.
  virtual bool ended() const = 0;
  // Sub-splits of the future are of `bytes` at most, as far as records allow.
  virtual void limit(uint64_t bytes) = 0;
  // Where to cut what next() gave, or a part of it, in two of whole records, about as long as each other; 0: it is one.
  virtual uint64_t middle(const SubSplit &sub_split) = 0;

  // read, then bring, what next() gave or a part of it, also more than once. `read` waits until it is on its way to the
  // device, and may begin to read what follows. Both throw OutOfDeviceMemory.
  virtual void read(const SubSplit &sub_split) = 0;
  // For launches from now on; valid until the next `read` or `release`.
  virtual DeviceText bring(const SubSplit &sub_split) = 0;
  // Nothing is read ahead any more before the next next(), and nothing of the device's memory is held.
  virtual void release() = 0;

  // The task is done: what it read may stay for a later one.
  virtual void keep() {}
  // What is brought comes from what an earlier task kept.
  virtual bool kept() const { return false; }

  // What next() has given so far, or more, as RecordSource counts. `lines`: records that the device found in it.
  virtual uint64_t records(uint64_t lines) const = 0;
  virtual uint64_t bytes() const = 0;
};

// Files of lines are read by several threads. Pipes, records of a custom delimiter, and lines of which the long ones are
// passed over, go through RecordSource.
// Throws what RecordSource throws, and OutOfDeviceMemory where the host has no memory for the transfers.
std::unique_ptr<Ingest> open_ingest(IngestRoom &room, const RecordOptions &records, const IngestOptions &options,
                                    const Cancel &cancel);

}  // namespace hd
