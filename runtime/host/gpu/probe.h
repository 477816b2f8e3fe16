// A look at a device after a fault: work whose results are known.
#pragma once
#include "device/device.h"

namespace hd {

// Copies to the device and back, fills, sorts, adds up and selects. Throws std::runtime_error: something failed, or gave another
// result than it must; OutOfDeviceMemory.
void probe_device(Device &device);

}  // namespace hd
