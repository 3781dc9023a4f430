// Element-wise primitives: picks the loop for the types, wraps it in conversions for the types that are stored narrower
// than they are computed, and runs it over the nest of all operands.
#include <algorithm>
#include <array>
#include <utility>

#include "engines/reference/kernel.h"
#include "engines/reference/widened_loop.h"

namespace opentrn::engines::reference {

namespace {

using ir::Op;

// Transcendental functions are worth a second thread sooner than additions.
bool is_costly(Op op) {
  switch (op) {
    case Op::Abs:
    case Op::Negate:
    case Op::Not:
    case Op::Ceil:
    case Op::Floor:
    case Op::Sign:
    case Op::Sqrt:
    case Op::Compare:
    case Op::Select:
    case Op::Clamp: return false;
    case Op::Power:
    case Op::Atan2:
    case Op::Remainder: return true;
    default: return ir::info(op).operands == 1;
  }
}

Loop unary_loop_for(Op op, DType dtype) {
  if (is_complex(dtype)) return complex_unary(op, dtype);
  return is_float(dtype) ? float_unary(op, dtype) : integer_unary(op, dtype);
}

struct Chosen {
  Loop loop = nullptr;
  bool as_stored = false;  // the loop works on the stored types, however narrow
  bool exchanged = false;  // the two operands change places
};

Chosen choose(const Problem& problem) {
  const Op op = problem.node.op;
  const DType stored = problem.operands[0].dtype;
  const DType computed = compute_dtype(stored);
  if (op == Op::Compare) {
    const auto direction = problem.node.as<ir::CompareAttributes>().direction;
    const bool exchanged = direction == ir::ComparisonDirection::GE || direction == ir::ComparisonDirection::GT;
    return {compare_loop(direction, computed), false, exchanged};
  }
  if (op == Op::Select) return {select_loop(problem.results[0].item_size()), true};
  if (op == Op::Clamp) return {clamp_loop(computed)};
  if (op == Op::Complex) return {complex_from_parts(computed)};
  if (problem.operands.size() == 1) return {unary_loop_for(op, computed)};
  if (const Loop loop = narrow_binary(op, stored)) return {loop, true};
  return {binary_loop_for(op, computed)};
}

// The views a nest is made of, the result first. Predicates and bounds of no dimension are repeated.
std::vector<View> nest_views(const Problem& problem, bool exchanged) {
  std::vector<View> views{problem.results[0]};
  const Dims& shape = problem.results[0].shape;
  for (const View& operand : problem.operands) {
    views.push_back(operand.rank() == 0 ? broadcast_view(operand, shape, {}) : operand);
  }
  if (exchanged) std::swap(views[1], views[2]);
  return views;
}

Nest nest_over(const std::vector<View>& views) {
  std::array<const View*, kMaxPointers> pointers{};
  for (size_t i = 0; i < views.size(); ++i) pointers[i] = &views[i];
  return make_nest(std::span(pointers.data(), views.size()));
}

template <typename Body>
Kernel nest_kernel(Nest nest, size_t operands, bool exchanged, int64_t grain, Body body) {
  return [nest = std::move(nest), operands, exchanged, grain, body](std::byte* const* in, std::byte* const* out) {
    Pointers pointers{out[0]};
    for (size_t i = 0; i < operands; ++i) pointers[i + 1] = in[i];
    if (exchanged) std::swap(pointers[1], pointers[2]);
    run_parallel(nest, pointers, grain, body);
  };
}

}  // namespace

Loop binary_loop_for(Op op, DType dtype) {
  if (is_complex(dtype)) return complex_binary(op, dtype);
  return is_float(dtype) ? float_binary(op, dtype) : integer_binary(op, dtype);
}

WidenedLoop widen_loop(Loop loop, std::span<const DType> dtypes) {
  WidenedLoop widened{loop, dtypes.size(), {}};
  for (size_t i = 0; i < dtypes.size(); ++i) {
    const DType stored = dtypes[i];
    const DType computed = compute_dtype(stored);
    WidenedLoop::Operand& operand = widened.operands[i];
    operand.stored_size = size_of(stored);
    operand.computed_size = size_of(computed);
    if (!is_narrow(stored)) continue;
    operand.convert = i == 0 ? convert_row(computed, stored) : convert_row(stored, computed);
  }
  return widened;
}

Kernel elementwise_kernel(const Problem& problem) {
  const Chosen chosen = choose(problem);
  if (chosen.loop == nullptr) raise_unsupported(ir::name(problem.node.op), problem.operands[0].dtype);
  const std::vector<View> views = nest_views(problem, chosen.exchanged);
  Nest nest = nest_over(views);
  const int64_t grain = is_costly(problem.node.op) ? kGrain / 8 : kGrain;
  const bool any_narrow =
      std::any_of(views.begin(), views.end(), [](const View& view) { return is_narrow(view.dtype); });
  if (chosen.as_stored || !any_narrow) {
    return nest_kernel(std::move(nest), problem.operands.size(), chosen.exchanged, grain, chosen.loop);
  }
  std::vector<DType> dtypes;
  for (const View& view : views) dtypes.push_back(view.dtype);
  const WidenedLoop widened = widen_loop(chosen.loop, dtypes);
  return nest_kernel(std::move(nest), problem.operands.size(), chosen.exchanged, grain / 2, widened);
}

}  // namespace opentrn::engines::reference
