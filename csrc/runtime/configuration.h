// What the process runs on: chosen once, when the device is first used.
#pragma once

#include "engines/engine.h"
#include "neuroncore/machine.h"

namespace opentrn::runtime {

/// Far above what one host needs; more would only be a typing error.
inline constexpr int kMostDevices = 64;

struct Configuration {
  const engines::Engine* engine = nullptr;
  const neuroncore::Machine* machine = nullptr;
  int device_count = 1;
};

/// The number of devices, from OPENTRN_DEVICES. Never throws and initialises nothing; 0 when the variable is
/// unreadable.
int device_count() noexcept;

/// Reads OPENTRN_ENGINE, OPENTRN_TARGET and OPENTRN_DEVICES on the first call. Raises an Error of kind Value naming the
/// valid values, and again on the next call, until they are right. Raises in a forked child of a process that used the
/// device.
const Configuration& configuration();

/// Whether configuration() succeeded in this process or in the parent it was forked from.
bool is_initialized() noexcept;

/// Whether this process was forked from one that had initialised the device.
bool in_bad_fork() noexcept;

/// Raises an Error of kind Runtime when in_bad_fork().
void check_not_forked();

/// Raises an Error of kind Runtime when there is no device of that index.
void check_device(int device, std::string_view operator_name);

}  // namespace opentrn::runtime
