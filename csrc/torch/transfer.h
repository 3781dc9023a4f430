// Copies between host and device, counted as the transfers a chip would make.
#pragma once

#include <ATen/core/Tensor.h>

namespace opentrn::torch_backend {

/// Reads a one-element tensor; the host waits for it. `kind` names the reason in the report.
at::Scalar read_scalar(const at::Tensor& tensor, const char* kind);

/// destination.copy_(source) when exactly one of the two lies on the device; shapes broadcast, dtypes convert.
void transfer(const at::Tensor& destination, const at::Tensor& source);

}  // namespace opentrn::torch_backend
