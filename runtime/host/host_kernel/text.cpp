#include "host_kernel/text.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "task/map_spec.h"

namespace hd {
namespace {

// A host kernel does not measure records; it wants a pipe for those that do not fit its buffer of a MiB.
constexpr uint64_t kLeastLineMax = 1 << 20;
constexpr size_t kLook = 64 << 10;

}  // namespace

Fd above_childs(int fd, const char *what) {
  Fd moved(::fcntl(fd, F_DUPFD_CLOEXEC, kAboveChilds));
  if (!moved) throw Error(kSpawnFailed, std::string("no descriptor for ") + what + ": " + std::strerror(errno), errno);
  return moved;
}

bool HostText::may_be(const hd_map_spec &spec) {
  return spec.input_fd < 0 && spec.delimiter_len == 0 && spec.skip_from == 0 &&
         (spec.line_max == 0 || spec.line_max >= kLeastLineMax);
}

HostText::HostText(const hd_map_spec &spec, TaskRun &task)
    : task_(task), file_(text_of(spec.input_path), spec.start, spec.length), cuts_(file_, true, task.cancel),
      fd_(above_childs(file_.fd(), "a host kernel's input")) {
  if (::lseek(fd_.get(), static_cast<off_t>(cuts_.begin()), SEEK_SET) < 0)
    throw Error(kIoError, "cannot read " + file_.path() + ": " + std::strerror(errno), errno);
}

bool HostText::plain() const {
  if (size() == 0) return false;
  char last = 0;
  file_.read_all(&last, 1, cuts_.end() - 1);
  if (last != '\n') return false;
  std::string first(std::min<uint64_t>(size(), kLook), '\0');
  file_.read_all(first.data(), first.size(), cuts_.begin());
  return first.find('\r') == first.npos;
}

uint64_t HostText::unread() const {
  const auto place = static_cast<uint64_t>(::lseek(fd_.get(), 0, SEEK_CUR));
  return cuts_.end() - std::min(cuts_.end(), place);
}

void HostText::reached(int64_t offset) { task_.progress.bytes_in = static_cast<uint64_t>(offset) - cuts_.begin(); }

}  // namespace hd
