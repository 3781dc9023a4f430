// Tensor types of the IR: an element type and a static shape.
#pragma once

#include <string>

#include "base/dtype.h"
#include "base/shape.h"

namespace opentrn::ir {

struct TensorType {
  DType dtype = DType::F32;
  Dims shape;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t elements() const { return element_count(shape); }
  int64_t bytes() const { return elements() * size_of(dtype); }
  bool operator==(const TensorType&) const = default;
};

using opentrn::to_string;

/// StableHLO's spelling: "tensor<2x3xf32>".
std::string to_string(const TensorType& type);

/// A handle to one SSA value of a graph. Cheap to copy; valid only with the graph that made it.
struct Value {
  int32_t id = -1;
  bool valid() const { return id >= 0; }
  bool operator==(const Value&) const = default;
};

}  // namespace opentrn::ir
