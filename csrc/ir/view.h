// How a value lies in memory, and the operations that only change how memory is looked at.
#pragma once

#include <cstdint>
#include <optional>

#include "base/dtype.h"
#include "base/shape.h"
#include "ir/attributes.h"
#include "ir/types.h"

namespace opentrn::ir {

/// Element type, shape and strides of a value. `offset` is in bytes from the start of the storage; strides count
/// elements.
struct View {
  DType dtype = DType::F32;
  Dims shape;
  Dims strides;
  int64_t offset = 0;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t elements() const { return element_count(shape); }
  int64_t item_size() const { return size_of(dtype); }
  bool contiguous() const { return is_contiguous(shape, strides); }
  bool operator==(const View&) const = default;
};

/// A row-major view of `type` at offset 0.
View contiguous_view(const TensorType& type);

/// True when both views name the same elements in the same places. Strides of dimensions of size 1 do not matter.
bool same_places(const View& left, const View& right);

View broadcast_view(const View& operand, const Dims& shape, const Dims& broadcast_dimensions);
View transpose_view(const View& operand, const Dims& permutation);
View slice_view(const View& operand, const SliceAttributes& slice);
/// Strides become negative.
View reverse_view(const View& operand, const Dims& dimensions);
/// Nothing when the elements cannot be renumbered without moving them.
std::optional<View> reshape_view(const View& operand, const Dims& shape);
/// The window of `sizes` elements at the origin.
View window_view(const View& operand, const Dims& sizes);

}  // namespace opentrn::ir
