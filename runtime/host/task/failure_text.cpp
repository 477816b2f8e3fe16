#include "task/failure_text.h"

#include <algorithm>
#include <iterator>

namespace hd {
namespace {

struct StatusText {
  Status status;
  const char *text;
};

constexpr StatusText kStatusTexts[] = {
    {Status::exit_called, "the program ends itself (exit, abort or a failed assert)"},
    {Status::division, "integer division by zero, or one whose result does not fit"},
    {Status::unterminated, "the output does not end in a newline"},
    {Status::carriage_return, "the output holds a carriage return, at which Hadoop cuts lines"},
    {Status::recursion, "recursion deeper than the device's stack allows"},
    {Status::unsupported, "data that the device's C library does not treat exactly"},
    {Status::key_too_long, "a key is longer than its slot"},
    {Status::nan_sign, "a NaN is printed whose sign only the CPU knows"},
    {Status::reader_stopped, "scanf stops before the end of the record"},
    {Status::outside_line, "the program reads or writes behind the end of a line"},
    {Status::unwritten, "the program reads what it has not written for this record"},
    {Status::overlap, "the source and the target of a copy overlap"},
    {Status::outside_object, "the program reads or writes outside of an array"},
    {Status::unreadable, "a pair does not read back through the combiner as it was printed"},
    {Status::arena_used_up, "a record allocates more memory than there is for one"},
    {Status::no_function, "a pointer to a function is called that leads to none that the compiler has found"},
    {Status::not_allocated, "the program frees what it has not allocated for this record, or has freed"},
    {Status::left_early, "the program leaves its record loop before the end of the input"},
    {Status::reads_on, "the program reads on in the next line in the middle of what it does for one"},
    {Status::carried, "a record leaves a variable other than it found it, so that the next one depends on it"},
    {Status::no_room, "there is not enough memory for the keys, or for what is printed on stderr"},
};

}  // namespace

std::string describe(const Failure &failure, const std::string &where) {
  std::string text = where + ": ";
  const auto *found = std::find_if(std::begin(kStatusTexts), std::end(kStatusTexts),
                                   [&](const StatusText &s) { return uint32_t(s.status) == failure.status; });
  text += found == std::end(kStatusTexts) ? "status " + std::to_string(failure.status) + " of the kernel" : found->text;
  if (failure.detail) text += " (source line " + std::to_string(failure.detail) + ")";
  return text;
}

}  // namespace hd
