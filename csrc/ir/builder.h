// Builds graphs. Every method checks its operands, infers the result's type and names operator and operand when it
// refuses (Error of kind Runtime). Method names are those of StableHLO. Operands of element-wise methods must have
// equal types: nothing is promoted or broadcast silently, except that the convenience methods at the end say so.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/custom_calls.h"
#include "ir/graph.h"

namespace opentrn::ir {

class Builder {
 public:
  explicit Builder(std::string name = "main") { graph_.name = std::move(name); }

  const TensorType& type(Value value) const { return graph_.type(value); }
  const Dims& shape(Value value) const { return type(value).shape; }
  DType dtype(Value value) const { return type(value).dtype; }
  int64_t rank(Value value) const { return type(value).rank(); }

  Value parameter(TensorType type);
  /// Ends building. The builder is empty afterwards.
  Graph finish(std::vector<Value> results);

  // Element-wise. `unary`, `binary` serve generic code; the named methods below read better.
  Value unary(Op op, Value operand);
  Value binary(Op op, Value lhs, Value rhs);
  Value abs(Value x) { return unary(Op::Abs, x); }
  Value ceil(Value x) { return unary(Op::Ceil, x); }
  Value cosine(Value x) { return unary(Op::Cosine, x); }
  Value erf(Value x) { return unary(Op::Erf, x); }
  Value exponential(Value x) { return unary(Op::Exponential, x); }
  Value exponential_minus_one(Value x) { return unary(Op::ExponentialMinusOne, x); }
  Value floor(Value x) { return unary(Op::Floor, x); }
  Value imag(Value x) { return unary(Op::Imag, x); }
  Value is_finite(Value x) { return unary(Op::IsFinite, x); }
  Value log(Value x) { return unary(Op::Log, x); }
  Value log_plus_one(Value x) { return unary(Op::LogPlusOne, x); }
  Value logistic(Value x) { return unary(Op::Logistic, x); }
  Value negate(Value x) { return unary(Op::Negate, x); }
  Value not_(Value x) { return unary(Op::Not, x); }
  Value real(Value x) { return unary(Op::Real, x); }
  Value round_nearest_even(Value x) { return unary(Op::RoundNearestEven, x); }
  Value rsqrt(Value x) { return unary(Op::Rsqrt, x); }
  Value sign(Value x) { return unary(Op::Sign, x); }
  Value sine(Value x) { return unary(Op::Sine, x); }
  Value sqrt(Value x) { return unary(Op::Sqrt, x); }
  Value tanh(Value x) { return unary(Op::Tanh, x); }
  Value add(Value x, Value y) { return binary(Op::Add, x, y); }
  Value and_(Value x, Value y) { return binary(Op::And, x, y); }
  Value atan2(Value x, Value y) { return binary(Op::Atan2, x, y); }
  Value complex(Value real, Value imag) { return binary(Op::Complex, real, imag); }
  Value divide(Value x, Value y) { return binary(Op::Divide, x, y); }
  Value maximum(Value x, Value y) { return binary(Op::Maximum, x, y); }
  Value minimum(Value x, Value y) { return binary(Op::Minimum, x, y); }
  Value multiply(Value x, Value y) { return binary(Op::Multiply, x, y); }
  Value or_(Value x, Value y) { return binary(Op::Or, x, y); }
  Value power(Value x, Value y) { return binary(Op::Power, x, y); }
  Value remainder(Value x, Value y) { return binary(Op::Remainder, x, y); }
  Value subtract(Value x, Value y) { return binary(Op::Subtract, x, y); }
  Value xor_(Value x, Value y) { return binary(Op::Xor, x, y); }
  Value compare(ComparisonDirection direction, Value x, Value y);
  /// `predicate` is i1 of the same shape as the branches, or 0-dimensional.
  Value select(Value predicate, Value on_true, Value on_false);
  /// `low` and `high` have the operand's shape or are 0-dimensional.
  Value clamp(Value low, Value operand, Value high);
  /// Element type conversion with PyTorch's rules (base/convert.h). No node when the type is already right.
  Value convert(Value operand, DType dtype);
  Value bitcast_convert(Value operand, DType dtype);
  /// Rounds to the numbers that a float of so many bits has.
  Value reduce_precision(Value operand, ReducePrecisionAttributes attributes);

  // Making and moving data.
  Value constant(TensorType type, std::vector<std::byte> data);
  /// A splat. `value` is rounded to the element type; integers beyond 2^53 need `constant`.
  Value splat(TensorType type, double value);
  Value iota(TensorType type, int64_t dimension);
  Value broadcast_in_dim(Value operand, const Dims& shape, const Dims& broadcast_dimensions);
  Value reshape(Value operand, const Dims& shape);
  Value transpose(Value operand, const Dims& permutation);
  Value slice(Value operand, const Dims& start, const Dims& limit, const Dims& strides);
  Value pad(Value operand, Value padding_value, const Dims& low, const Dims& high, const Dims& interior);
  Value concatenate(std::span<const Value> operands, int64_t dimension);
  Value reverse(Value operand, const Dims& dimensions);
  Value dynamic_slice(Value operand, std::span<const Value> starts, const Dims& slice_sizes);
  Value dynamic_update_slice(Value operand, Value update, std::span<const Value> starts);
  Value gather(Value operand, Value start_indices, GatherAttributes attributes);
  Value scatter(Value operand, Value scatter_indices, Value updates, ScatterAttributes attributes);

  // Contractions, reductions, the rest.
  /// The result has element type `result_dtype`; products are exact in it and accumulate in it.
  Value dot_general(Value lhs, Value rhs, DotAttributes attributes, DType result_dtype);
  Value reduce(Value operand, Value initial_value, Op reducer, const Dims& dimensions);
  Value reduce_window(Value operand, Value initial_value, ReduceWindowAttributes attributes);
  std::vector<Value> sort(std::span<const Value> operands, SortAttributes attributes);
  /// Philox 4x32-10. `state` is ui64[2] = {seed, offset}; the offset counts blocks of four 32-bit words. Returns {new
  /// state, bits}; `type` is ui32 or ui64. Element i of a ui32 result is word i % 4 of block offset + i / 4.
  std::pair<Value, Value> rng_bit_generator(Value state, TensorType type);
  Value checked_index(Value index, int64_t size, int64_t dimension, std::string_view operator_name,
                      IndexRule rule = IndexRule::WrapNegative);
  Value check(Value condition, Value value, std::string_view message);

  // Matrices and signals.
  Value convolution(Value lhs, Value rhs, ConvolutionAttributes attributes, DType result_dtype);
  /// `lower`: which triangle is read and returned.
  Value cholesky(Value a, bool lower);
  Value triangular_solve(Value a, Value b, TriangularSolveAttributes attributes);
  Value fft(Value operand, FftAttributes attributes);

  // Primitives with regions. `captured` are the values the regions read besides their own parameters: the last
  // parameters of each region stand for them.
  using Values = std::span<const Value>;
  std::vector<Value> reduce(Values operands, Values initial_values, Region body, const Dims& dimensions,
                            Values captured = {});
  /// `attributes.body` says how elements combine; the same for scatter and sort.
  std::vector<Value> reduce_window(Values operands, Values initial_values, ReduceWindowAttributes attributes,
                                   Values captured = {});
  std::vector<Value> scatter(Values operands, Value scatter_indices, Values updates, ScatterAttributes attributes,
                             Values captured = {});
  std::vector<Value> sort(Values operands, SortAttributes attributes, Values captured);
  Value select_and_scatter(Value operand, Value source, Value initial_value, SelectAndScatterAttributes attributes,
                           Values captured = {});
  /// Over all dimensions.
  Value map(Values operands, Region computation, Values captured = {});
  std::vector<Value> while_(Values carried, Region condition, Region body, Values captured = {});
  std::vector<Value> if_(Value predicate, Region true_branch, Region false_branch, Values captured = {});
  std::vector<Value> case_(Value index, std::vector<Region> branches, Values captured = {});

  // Convenience: spelled with the primitives above.
  /// NumPy-style broadcast of a value to `shape` (dimensions aligned at the right).
  Value broadcast_to(Value operand, const Dims& shape);
  /// A 0-dimensional splat.
  Value scalar(DType dtype, double value) { return splat(TensorType{dtype, {}}, value); }
  /// A splat of the type of `like`.
  Value splat_like(Value like, double value) { return splat(type(like), value); }
  /// Reduces with the reducer's neutral element as initial value.
  Value reduce(Value operand, Op reducer, const Dims& dimensions);
  /// x != x
  Value is_nan(Value x);

 private:
  /// `declared`: see InferenceQuery.
  Value append(Op op, std::vector<Value> operands, Attributes attributes = {}, const TensorType* declared = nullptr);
  std::vector<Value> append_all(Op op, std::vector<Value> operands, Attributes attributes, const TensorType* declared);

  Graph graph_;
};

}  // namespace opentrn::ir
