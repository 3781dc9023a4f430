// Attributes of the primitives: one plain struct per primitive that has any, with the names of the StableHLO
// specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/shape.h"
#include "ir/opcode.h"

namespace opentrn::ir {

struct Graph;

/// A function that a primitive carries. Never changed once it is made, and hence shared between copies. A value of the
/// surrounding graph that it reads is an operand of the primitive: these follow the primitive's own operands, and the
/// parameters that stand for them follow the function's own parameters.
class Region {
 public:
  Region() = default;
  explicit Region(Graph graph);

  explicit operator bool() const { return graph_ != nullptr; }
  const Graph& graph() const { return *graph_; }
  /// The same function, whatever its name.
  bool operator==(const Region& other) const;

 private:
  std::shared_ptr<const Graph> graph_;
};

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

/// `update` combines the old element (left) with the update (right); Op::Select stands for "the update replaces it",
/// Op::Map for "`body` says": (old elements of all inputs, updates of all inputs) -> new elements.
struct ScatterAttributes {
  Dims update_window_dims, inserted_window_dims, input_batching_dims, scatter_indices_batching_dims,
      scatter_dims_to_operand_dims;
  int64_t index_vector_dim = 0;
  Op update = Op::Select;
  bool indices_are_sorted = false;
  bool unique_indices = false;
  Region body = {};
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

/// `reducer` is Add, Multiply, Maximum, Minimum, And, Or or Xor; or Op::Map, which stands for "`body` says": (elements
/// of all inputs, others of all inputs) -> their combination, over as many inputs as initial values.
struct ReduceAttributes {
  Op reducer = Op::Add;
  Dims dimensions;
  Region body = {};
  bool operator==(const ReduceAttributes&) const = default;
};

/// A window of the full size with full low padding is a running scan; engines recognise it. `reducer` and `body` are as
/// in ReduceAttributes.
struct ReduceWindowAttributes {
  Op reducer = Op::Add;
  Dims window_dimensions, window_strides, base_dilations, window_dilations, padding_low, padding_high;
  Region body = {};
  bool operator==(const ReduceWindowAttributes&) const = default;
};

/// Sorts all operands by the first one. NaN counts as greater than everything else (first when descending). With a
/// `comparator`, that decides instead: (left and right element of operand 0, of operand 1, ...) -> left comes first.
struct SortAttributes {
  int64_t dimension = 0;
  bool is_stable = true;
  bool descending = false;
  Region comparator = {};
  bool operator==(const SortAttributes&) const = default;
};

/// What StableHLO cannot say. `target` names the function (see ir/custom_calls.h), `integers` are its static arguments.
struct CustomCallAttributes {
  std::string target;
  Dims integers;
  std::string text;
  bool operator==(const CustomCallAttributes&) const = default;
};

struct ReducePrecisionAttributes {
  int64_t exponent_bits = 8;
  int64_t mantissa_bits = 23;
  bool operator==(const ReducePrecisionAttributes&) const = default;
};

/// `lower` chooses the triangle that is read and returned; the other one is 0.
struct CholeskyAttributes {
  bool lower = false;
  bool operator==(const CholeskyAttributes&) const = default;
};

enum class TransposeA { NoTranspose, Transpose, Adjoint };

struct TriangularSolveAttributes {
  bool left_side = false;
  bool lower = false;
  bool unit_diagonal = false;
  TransposeA transpose_a = TransposeA::NoTranspose;
  bool operator==(const TriangularSolveAttributes&) const = default;
};

enum class FftType { Fft, Ifft, Rfft, Irfft };

struct FftAttributes {
  FftType type = FftType::Fft;
  Dims fft_length;
  bool operator==(const FftAttributes&) const = default;
};

/// Spatial dimensions are listed in the order the window's lists count them.
struct ConvolutionAttributes {
  Dims window_strides, padding_low, padding_high, lhs_dilation, rhs_dilation;
  std::vector<bool> window_reversal;
  int64_t input_batch_dimension = 0, input_feature_dimension = 0;
  Dims input_spatial_dimensions;
  int64_t kernel_input_feature_dimension = 0, kernel_output_feature_dimension = 0;
  Dims kernel_spatial_dimensions;
  int64_t output_batch_dimension = 0, output_feature_dimension = 0;
  Dims output_spatial_dimensions;
  int64_t feature_group_count = 1, batch_group_count = 1;
  bool operator==(const ConvolutionAttributes&) const = default;
};

/// `computation`: (one element of each operand) -> one element. The last `captured` operands are captured values.
struct MapAttributes {
  Dims dimensions;
  Region computation;
  int64_t captured = 0;
  bool operator==(const MapAttributes&) const = default;
};

/// Both take the values that are carried round, then the captured ones.
struct WhileAttributes {
  Region condition, body;
  bool operator==(const WhileAttributes&) const = default;
};

/// Of `if` (the true branch first) and `case`. Operand 0 chooses; the branches take the captured values alone.
struct BranchAttributes {
  std::vector<Region> branches;
  bool operator==(const BranchAttributes&) const = default;
};

/// `select`: (left, right) -> left stays selected. `scatter`: (old element, source element) -> new element.
struct SelectAndScatterAttributes {
  Dims window_dimensions, window_strides, padding_low, padding_high;
  Region select, scatter;
  bool operator==(const SelectAndScatterAttributes&) const = default;
};

using Attributes =
    std::variant<std::monostate, CompareAttributes, BroadcastAttributes, ConcatenateAttributes, ConstantAttributes,
                 DynamicSliceAttributes, GatherAttributes, ScatterAttributes, IotaAttributes, PadAttributes,
                 ReverseAttributes, SliceAttributes, TransposeAttributes, DotAttributes, ReduceAttributes,
                 ReduceWindowAttributes, SortAttributes, CustomCallAttributes, ReducePrecisionAttributes,
                 CholeskyAttributes, TriangularSolveAttributes, FftAttributes, ConvolutionAttributes, MapAttributes,
                 WhileAttributes, BranchAttributes, SelectAndScatterAttributes>;

}  // namespace opentrn::ir
