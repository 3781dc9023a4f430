#pragma once

#include <c10/core/Allocator.h>

namespace opentrn::torch_backend {

/// Allocates on the calling thread's current device.
c10::Allocator* device_allocator() noexcept;

}  // namespace opentrn::torch_backend
