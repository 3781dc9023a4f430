// Between torch's types and ours.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>

#include <optional>

#include "base/dtype.h"
#include "base/shape.h"

namespace opentrn::torch_backend {

inline constexpr c10::DeviceType kDeviceType = c10::DeviceType::PrivateUse1;

/// Nothing for types the device does not hold (quantised types, bits, sub-byte types).
std::optional<DType> dtype_of(c10::ScalarType type) noexcept;

c10::ScalarType scalar_type_of(DType dtype) noexcept;

inline Dims to_dims(c10::IntArrayRef values) { return {values.begin(), values.end()}; }

/// dtype_of, or a TypeError that names the operator.
DType require_dtype(c10::ScalarType type, const char* operator_name);

}  // namespace opentrn::torch_backend
