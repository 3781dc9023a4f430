// Element-wise primitives: picks the loop for the types, wraps it in conversions for the types that are stored narrower than they
// are computed, and runs it over the nest of all operands.
#include <algorithm>
#include <array>
#include <utility>

#include "base/convert_rows.h"
#include "engines/reference/kernel.h"
#include "engines/reference/loops.h"

namespace opentrn::engines::reference {

namespace {

using ir::Op;

bool is_narrow(DType dtype) { return compute_dtype(dtype) != dtype; }

// A loop whose operands or result are stored narrower than they are computed: done block by block through buffers that stay in the
// first cache.
struct WidenedLoop {
  struct Operand {
    ConvertRow convert = nullptr;  // null when computed as stored
    int64_t stored_size = 0;
    int64_t computed_size = 0;
  };

  Loop loop = nullptr;
  size_t pointers = 0;
  std::array<Operand, kMaxPointers> operands{};  // the result first

  void operator()(int64_t n, std::byte* const* addresses, const int64_t* steps) const {
    constexpr int64_t kBlock = 256;
    constexpr size_t kWidest = 16;
    alignas(64) std::byte buffers[kMaxPointers][kBlock * kWidest];
    for (int64_t begin = 0; begin < n; begin += kBlock) {
      const int64_t count = std::min(kBlock, n - begin);
      Pointers block{};
      Steps block_steps{};
      for (size_t i = 0; i < pointers; ++i) {
        const Operand& operand = operands[i];
        std::byte* stored = addresses[i] + begin * steps[i];
        const bool buffered = operand.convert != nullptr;
        block[i] = buffered ? buffers[i] : stored;
        block_steps[i] = buffered ? operand.computed_size : steps[i];
        if (!buffered || i == 0) continue;
        if (steps[i] == 0) block_steps[i] = 0;
        operand.convert(stored, steps[i] / operand.stored_size, block[i], 1, steps[i] == 0 ? 1 : count);
      }
      loop(count, block.data(), block_steps.data());
      const Operand& result = operands[0];
      if (result.convert == nullptr) continue;
      result.convert(block[0], 1, addresses[0] + begin * steps[0], steps[0] / result.stored_size, count);
    }
  }
};

WidenedLoop::Operand widen(DType dtype) {
  const DType wide = compute_dtype(dtype);
  return {is_narrow(dtype) ? convert_row(dtype, wide) : nullptr, size_of(dtype), size_of(wide)};
}

WidenedLoop::Operand narrow(DType dtype) {
  const DType wide = compute_dtype(dtype);
  return {is_narrow(dtype) ? convert_row(wide, dtype) : nullptr, size_of(dtype), size_of(wide)};
}

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
  if (op == Op::NextAfter && is_narrow(stored)) return {};
  return {binary_loop_for(op, computed)};
}

// The views a nest is made of, the result first. Predicates and bounds of no dimension are repeated.
std::vector<View> nest_views(const Problem& problem, bool exchanged) {
  std::vector<View> views{problem.results[0]};
  const Dims& shape = views[0].shape;
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

Kernel elementwise_kernel(const Problem& problem) {
  const Chosen chosen = choose(problem);
  if (chosen.loop == nullptr) raise_unsupported(ir::name(problem.node.op), problem.operands[0].dtype);
  const std::vector<View> views = nest_views(problem, chosen.exchanged);
  Nest nest = nest_over(views);
  const int64_t grain = is_costly(problem.node.op) ? kGrain / 8 : kGrain;
  const bool any_narrow = std::any_of(views.begin(), views.end(), [](const View& view) { return is_narrow(view.dtype); });
  if (chosen.as_stored || !any_narrow) {
    return nest_kernel(std::move(nest), problem.operands.size(), chosen.exchanged, grain, chosen.loop);
  }
  WidenedLoop widened{chosen.loop, views.size(), {}};
  widened.operands[0] = narrow(views[0].dtype);
  for (size_t i = 1; i < views.size(); ++i) widened.operands[i] = widen(views[i].dtype);
  return nest_kernel(std::move(nest), problem.operands.size(), chosen.exchanged, grain / 2, widened);
}

}  // namespace opentrn::engines::reference
