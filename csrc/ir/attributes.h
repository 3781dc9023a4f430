// Attributes of the primitives: one plain struct per primitive that has any, with the names of the StableHLO
// specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/shape.h"
#include "ir/opcode.h"

namespace opentrn::ir {

enum class ComparisonDirection { EQ, NE, GE, GT, LE, LT };

struct CompareAttributes {
  ComparisonDirection direction = ComparisonDirection::EQ;
  bool operator==(const CompareAttributes&) const = default;
};

struct BroadcastAttributes {
  Dims broadcast_dimensions;
  bool operator==(const BroadcastAttributes&) const = default;
};

struct ConcatenateAttributes {
  int64_t dimension = 0;
  bool operator==(const ConcatenateAttributes&) const = default;
};

/// Elements in row-major order; exactly one element when every element of the tensor is the same (a splat).
struct ConstantAttributes {
  std::vector<std::byte> data;
  bool operator==(const ConstantAttributes&) const = default;
};

struct DynamicSliceAttributes {
  Dims slice_sizes;
  bool operator==(const DynamicSliceAttributes&) const = default;
};

struct GatherAttributes {
  Dims offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, start_index_map;
  int64_t index_vector_dim = 0;
  Dims slice_sizes;
  bool indices_are_sorted = false;
  bool operator==(const GatherAttributes&) const = default;
};

/// `update` combines the old element (left) with the update (right); Op::Select stands for "the update replaces it".
struct ScatterAttributes {
  Dims update_window_dims, inserted_window_dims, input_batching_dims, scatter_indices_batching_dims,
      scatter_dims_to_operand_dims;
  int64_t index_vector_dim = 0;
  Op update = Op::Select;
  bool indices_are_sorted = false;
  bool unique_indices = false;
  bool operator==(const ScatterAttributes&) const = default;
};

struct IotaAttributes {
  int64_t iota_dimension = 0;
  bool operator==(const IotaAttributes&) const = default;
};

struct PadAttributes {
  Dims edge_padding_low, edge_padding_high, interior_padding;
  bool operator==(const PadAttributes&) const = default;
};

struct ReverseAttributes {
  Dims dimensions;
  bool operator==(const ReverseAttributes&) const = default;
};

struct SliceAttributes {
  Dims start_indices, limit_indices, strides;
  bool operator==(const SliceAttributes&) const = default;
};

struct TransposeAttributes {
  Dims permutation;
  bool operator==(const TransposeAttributes&) const = default;
};

struct DotAttributes {
  Dims lhs_batching_dimensions, rhs_batching_dimensions, lhs_contracting_dimensions, rhs_contracting_dimensions;
  bool operator==(const DotAttributes&) const = default;
};

/// `reducer` is Add, Multiply, Maximum, Minimum, And, Or or Xor.
struct ReduceAttributes {
  Op reducer = Op::Add;
  Dims dimensions;
  bool operator==(const ReduceAttributes&) const = default;
};

/// A window of the full size with full low padding is a running scan; engines recognise it.
struct ReduceWindowAttributes {
  Op reducer = Op::Add;
  Dims window_dimensions, window_strides, base_dilations, window_dilations, padding_low, padding_high;
  bool operator==(const ReduceWindowAttributes&) const = default;
};

/// Sorts all operands by the first one. NaN counts as greater than everything else (first when descending).
struct SortAttributes {
  int64_t dimension = 0;
  bool is_stable = true;
  bool descending = false;
  bool operator==(const SortAttributes&) const = default;
};

/// What StableHLO cannot say. `target` names the function (see ir/custom_calls.h), `integers` are its static arguments.
struct CustomCallAttributes {
  std::string target;
  Dims integers;
  std::string text;
  bool operator==(const CustomCallAttributes&) const = default;
};

using Attributes =
    std::variant<std::monostate, CompareAttributes, BroadcastAttributes, ConcatenateAttributes, ConstantAttributes,
                 DynamicSliceAttributes, GatherAttributes, ScatterAttributes, IotaAttributes, PadAttributes,
                 ReverseAttributes, SliceAttributes, TransposeAttributes, DotAttributes, ReduceAttributes,
                 ReduceWindowAttributes, SortAttributes, CustomCallAttributes>;

}  // namespace opentrn::ir
