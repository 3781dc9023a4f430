// Methods for primitives with regions, and for matrices and signals.
#include "ir/builder.h"

namespace opentrn::ir {

namespace {

void extend(std::vector<Value>& values, std::span<const Value> more) {
  values.insert(values.end(), more.begin(), more.end());
}

std::vector<Value> joined(std::initializer_list<std::span<const Value>> lists) {
  std::vector<Value> values;
  for (const std::span<const Value> list : lists) extend(values, list);
  return values;
}

}  // namespace

Value Builder::reduce_precision(Value operand, ReducePrecisionAttributes attributes) {
  return append(Op::ReducePrecision, {operand}, attributes);
}

Value Builder::convolution(Value lhs, Value rhs, ConvolutionAttributes attributes, DType result_dtype) {
  const TensorType declared{result_dtype, {}};
  return append(Op::Convolution, {lhs, rhs}, std::move(attributes), &declared);
}

Value Builder::cholesky(Value a, bool lower) { return append(Op::Cholesky, {a}, CholeskyAttributes{lower}); }

Value Builder::triangular_solve(Value a, Value b, TriangularSolveAttributes attributes) {
  return append(Op::TriangularSolve, {a, b}, attributes);
}

Value Builder::fft(Value operand, FftAttributes attributes) {
  return append(Op::Fft, {operand}, std::move(attributes));
}

std::vector<Value> Builder::reduce(Values operands, Values initial_values, Region body, const Dims& dimensions,
                                   Values captured) {
  return append_all(Op::Reduce, joined({operands, initial_values, captured}),
                    ReduceAttributes{Op::Map, dimensions, std::move(body)}, nullptr);
}

std::vector<Value> Builder::reduce_window(Values operands, Values initial_values, ReduceWindowAttributes attributes,
                                          Values captured) {
  return append_all(Op::ReduceWindow, joined({operands, initial_values, captured}), std::move(attributes), nullptr);
}

std::vector<Value> Builder::scatter(Values operands, Value scatter_indices, Values updates,
                                    ScatterAttributes attributes, Values captured) {
  return append_all(Op::Scatter, joined({operands, {&scatter_indices, 1}, updates, captured}), std::move(attributes),
                    nullptr);
}

std::vector<Value> Builder::sort(Values operands, SortAttributes attributes, Values captured) {
  return append_all(Op::Sort, joined({operands, captured}), std::move(attributes), nullptr);
}

Value Builder::select_and_scatter(Value operand, Value source, Value initial_value,
                                  SelectAndScatterAttributes attributes, Values captured) {
  std::vector<Value> operands{operand, source, initial_value};
  extend(operands, captured);
  return append(Op::SelectAndScatter, std::move(operands), std::move(attributes));
}

Value Builder::map(Values operands, Region computation, Values captured) {
  MapAttributes attributes{{}, std::move(computation), static_cast<int64_t>(captured.size())};
  for (int64_t i = 0; !operands.empty() && i < rank(operands[0]); ++i) attributes.dimensions.push_back(i);
  return append(Op::Map, joined({operands, captured}), std::move(attributes));
}

std::vector<Value> Builder::while_(Values carried, Region condition, Region body, Values captured) {
  return append_all(Op::While, joined({carried, captured}), WhileAttributes{std::move(condition), std::move(body)},
                    nullptr);
}

std::vector<Value> Builder::if_(Value predicate, Region true_branch, Region false_branch, Values captured) {
  std::vector<Region> branches{std::move(true_branch), std::move(false_branch)};
  return append_all(Op::If, joined({{&predicate, 1}, captured}), BranchAttributes{std::move(branches)}, nullptr);
}

std::vector<Value> Builder::case_(Value index, std::vector<Region> branches, Values captured) {
  return append_all(Op::Case, joined({{&index, 1}, captured}), BranchAttributes{std::move(branches)}, nullptr);
}

}  // namespace opentrn::ir
