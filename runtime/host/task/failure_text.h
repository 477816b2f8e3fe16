// Why a kernel, on a device or as a host kernel, gave a task up: for people.
#pragma once
#include <string>

#include "../../device/steps/abi.h"

namespace hd {

// "record 12: integer division by zero (source line 34)", with `where` = "record 12".
std::string describe(const Failure &failure, const std::string &where);

}  // namespace hd
