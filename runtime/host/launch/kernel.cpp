#include "launch/kernel.h"

#include <algorithm>
#include <cstring>

#include "base/common.h"

namespace hd {

void ObjectCache::begin_task() {
  std::erase_if(entries_, [&](const auto &entry) { return entry.second.last_task < task_; });
  ++task_;
}

char *ObjectCache::copy_of(const hd_blob &object) {
  std::string content(static_cast<const char *>(object.data), object.size);
  auto found = entries_.find(content);
  if (found == entries_.end()) {
    DeviceBuffer<char> memory(device_);  // of whole words: kernels may read a text's last one (text_word)
    device_.upload(memory.reserve((object.size + 3) & ~uint64_t(3)), object.data, object.size);
    found = entries_.emplace(std::move(content), Entry{std::move(memory), task_}).first;
  }
  found->second.last_task = task_;
  return found->second.memory.data();
}

UserKernel::UserKernel(const hd_kernel_spec &spec, Device &device, ObjectCache &objects)
    : device_(device), spec_(spec), entry_(device.kernel(spec.module, spec.entry)), threads_(spec.threads ? spec.threads : 128) {
  if (spec.stack_bytes) device.need_stack(spec.stack_bytes);
  most_blocks_ = device.multiprocessors() * std::max(device.occupancy(entry_, threads_, 0), 1u);
  const auto *bytes = static_cast<const char *>(spec.shared.data);
  shared_.assign(bytes, bytes + spec.shared.size);
  if (shared_.empty()) shared_.push_back(0);
  std::vector<char *> addresses;
  for (uint64_t i = 0; i < spec.n_objects; ++i) addresses.push_back(objects.copy_of(spec.objects[i]));
  try {
    for (uint64_t i = 0; i < spec.n_relocations; ++i) relocate(spec.relocations[i], addresses);
  } catch (...) {
    release();
    throw;
  }
}

void UserKernel::release() noexcept {
  for (const uint64_t texture : textures_) device_.free_texture(texture);
  textures_.clear();
}

void UserKernel::relocate(const hd_relocation &r, const std::vector<char *> &objects) {
  if (r.object >= objects.size() || r.at > shared_.size() || shared_.size() - r.at < sizeof(uint64_t))
    throw Error(kBadInput, "a relocation of kernel " + std::string(spec_.entry) + " is outside of its arguments");
  uint64_t address = reinterpret_cast<uint64_t>(objects[r.object]) + r.delta;
  if (r.texture) {
    const auto kind = static_cast<Texel::Kind>(r.texture / HD_TEXEL_SIGNED - 1);
    address = device_.texture(objects[r.object], spec_.objects[r.object].size, {kind, r.texture & HD_TEXEL_BYTES});
    if (address) textures_.push_back(address);
  }
  std::memcpy(shared_.data() + r.at, &address, sizeof address);
}

uint32_t UserKernel::blocks(uint64_t items) const {
  if (spec_.blocks) return spec_.blocks;
  return uint32_t(std::clamp<uint64_t>((items + workers() - 1) / workers(), 1, most_blocks_));
}

}  // namespace hd
