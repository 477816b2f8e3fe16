#include "host_kernel/report.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "../../device/steps/abi.h"
#include "task/failure_text.h"
#include "host_kernel/text.h"
#include "base/printable.h"

namespace hd {
namespace {

constexpr size_t kMostReport = 4096;          // of its lines
constexpr off_t kMostBytes = off_t{1} << 32;  // with totals

// The numbers of a report by name, and the totals behind them.
class Fields {
 public:
  explicit Fields(std::string_view text) {
    if (text.size() > kMostReport && text.substr(0, kMostReport).find("\ntotals ") == text.npos) malformed_report("is too long");
    for (; !text.empty() && !has("totals"); text.remove_prefix(text.find('\n') + 1)) {
      const size_t end = text.find('\n');
      if (end == text.npos) malformed_report("ends in the middle of a line");
      take(text.substr(0, end));
    }
    totals_ = text;
    if (has("totals") && number("totals") != text.size())
      malformed_report("has totals of " + std::to_string(text.size()) + " bytes");
  }

  std::string_view totals() const { return totals_; }

  bool has(std::string_view name) const { return find(name).has_value(); }

  uint64_t number(std::string_view name, uint64_t most = UINT64_MAX) const {
    const std::optional<uint64_t> found = find(name);
    if (!found) malformed_report("says no " + std::string(name));
    if (*found > most) malformed_report("says " + std::string(name) + " " + std::to_string(*found));
    return *found;
  }

 private:
  static constexpr std::array<std::string_view, 11> kNames = {"records", "pairs", "bytes", "keys",   "partial", "longest",
                                                              "text",    "left",  "record", "line",  "totals"};

  std::optional<uint64_t> find(std::string_view name) const {
    for (size_t i = 0; i < kNames.size(); ++i)
      if (kNames[i] == name) return values_[i];
    return {};
  }

  void take(std::string_view line) {
    const size_t blank = std::min(line.find(' '), line.size());
    const std::string_view digits = line.substr(std::min(blank + 1, line.size()));
    for (size_t i = 0; i < kNames.size(); ++i) {
      if (kNames[i] != line.substr(0, blank)) continue;
      uint64_t value = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc() || end != digits.data() + digits.size() || values_[i]) break;
      values_[i] = value;
      return;
    }
    malformed_report("has the line " + printable(line));
  }

  std::array<std::optional<uint64_t>, kNames.size()> values_;
  std::string_view totals_;
};

std::string text_in(const Fd &file) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || status.st_size > kMostBytes) malformed_report("is too long");
  std::string text(static_cast<size_t>(status.st_size), '\0');
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::pread(file.get(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) malformed_report(std::string("cannot be read: ") + std::strerror(errno));
    done += static_cast<size_t>(n);
  }
  return text;
}

// What says nothing of the task, but of the host kernel only.
bool is_its_own(TaskStatus status) {
  return status == kFilterFailed || status == kSpawnFailed || status == kCombinerFailed || status == kCombinerDisorder ||
         status == kOutputLine || status == kMemory;
}

}  // namespace

void malformed_report(const std::string &what) { throw Error(kHostLeft, "the host kernel's report " + what); }

Fd needed_fd(int fd, const char *what) {
  if (fd < 0) throw Error(kSpawnFailed, std::string("no ") + what + ": " + std::strerror(errno), errno);
  return Fd(fd);
}

HostReport read_report(std::string_view text, bool gave_up, bool folds) {
  const Fields fields(text);
  HostReport report;
  if (fields.has("left") != gave_up) malformed_report(gave_up ? "has no reason" : "has a reason to give up");
  if (gave_up) {
    report.left = static_cast<uint32_t>(fields.number("left", UINT32_MAX));
    report.record = fields.number("record");
    report.line = static_cast<uint32_t>(fields.number("line", UINT32_MAX));
    return report;
  }
  report.records = fields.number("records");
  report.totals = fields.totals();
  if (!folds) {
    report.text = fields.number("text");
    return report;
  }
  report.pairs = fields.number("pairs");
  report.bytes = fields.number("bytes");
  report.keys = fields.number("keys");
  report.partial = fields.number("partial", 1) != 0;
  report.longest = fields.number("longest");
  return report;
}

ReportFile::ReportFile()
    : file_(above_childs(needed_fd(::memfd_create("report", MFD_CLOEXEC), "file for a host kernel's report").get(),
                         "a host kernel's report")) {}

HostReport ReportFile::judge(const FilterEnd &end, const std::function<std::string(const HostReport &)> &place,
                             bool folds) const {
  const bool gave_up = end.signal == 0 && end.exit_code == kHostGaveUp;
  if (!end.ok() && !gave_up) throw Error(kHostLeft, "the host kernel failed: " + describe(end));
  const HostReport report = read_report(text_in(file_), gave_up, folds);
  if (gave_up) throw Error(kHostLeft, describe(Failure{report.left, 0, report.line, 0}, place(report)));
  return report;
}

void leaving_what_fails(const std::function<void()> &run) {
  try {
    run();
  } catch (const Error &e) {
    if (e.status == kTimedOut) throw Error(kHostSilent, e.what());
    if (!is_its_own(e.status)) throw;
    throw Error(kHostLeft, e.what());
  }
}

}  // namespace hd
