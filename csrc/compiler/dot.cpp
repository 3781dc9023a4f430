// DotGeneral: brings any contraction to loops over matrix products and picks the program that computes them.
#include "compiler/dot.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "compiler/families.h"
#include "compiler/movement.h"

namespace opentrn::compiler {

namespace {

using ir::Value;
using ir::View;

/// Dimensions of `rank` that are in neither list, ascending.
Dims other_dimensions(int64_t rank, const Dims& left, const Dims& right) {
  Dims others;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::count(left.begin(), left.end(), i) + std::count(right.begin(), right.end(), i) == 0) others.push_back(i);
  }
  return others;
}

int64_t step(const View& view, int64_t dimension) { return view.strides[static_cast<size_t>(dimension)]; }
int64_t size(const View& view, int64_t dimension) { return view.shape[static_cast<size_t>(dimension)]; }

std::vector<Axis> contracting_axes(const View& lhs, const View& rhs, const ir::DotAttributes& dot) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < dot.lhs_contracting_dimensions.size(); ++i) {
    const int64_t left = dot.lhs_contracting_dimensions[i];
    // Any order of summation will do: that of the left operand's memory.
    axes.push_back({size(lhs, left), {step(lhs, left), step(rhs, dot.rhs_contracting_dimensions[i]), 0}});
  }
  axes = merged(std::move(axes));
  for (Axis& axis : axes) axis.steps = {0, axis.steps[0], axis.steps[1]};
  return axes;
}

std::vector<Axis> free_axes(const View& operand, const Dims& free, const View& out, int64_t first, size_t position) {
  std::vector<Axis> axes;
  for (const int64_t dimension : free) {
    Axis axis{size(operand, dimension), {step(out, first++), 0, 0}};
    axis.steps[position] = step(operand, dimension);
    axes.push_back(axis);
  }
  return merged(std::move(axes));
}

// An operand whose contracting dimensions do not step evenly is moved to where they do.
Location with_even_contraction(Emitter& emitter, const Location& operand, const Dims& batching,
                               const Dims& contracting) {
  const Dims free = other_dimensions(operand.view.rank(), batching, contracting);
  Dims order = batching;
  order.insert(order.end(), free.begin(), free.end());
  order.insert(order.end(), contracting.begin(), contracting.end());
  const View permuted = ir::transpose_view(operand.view, order);
  const Location even = emitter.internal({permuted.dtype, permuted.shape});
  emitter.copy({operand.buffer, permuted}, even);
  Dims back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return {even.buffer, ir::transpose_view(even.view, back)};
}

DType accumulator_for(DType operand, DType result) {
  if (is_complex(result)) return result == DType::C128 ? DType::C128 : DType::C64;
  if (operand == DType::F64 || result == DType::F64) return DType::F64;
  if (is_float(result)) return DType::F32;
  if (size_of(result) == 8) return result;
  return category(result) == Category::Unsigned ? DType::U32 : DType::I32;
}

void append(std::vector<Axis>& to, const std::vector<Axis>& from) { to.insert(to.end(), from.begin(), from.end()); }

Contraction contraction_of(Emitter& emitter, const ir::DotAttributes& dot, Location lhs, Location rhs,
                           const Location& out) {
  Contraction result;
  result.accumulator = accumulator_for(lhs.view.dtype, out.view.dtype);
  std::vector<Axis> k = contracting_axes(lhs.view, rhs.view, dot);
  if (k.size() > 1) {
    lhs = with_even_contraction(emitter, lhs, dot.lhs_batching_dimensions, dot.lhs_contracting_dimensions);
    rhs = with_even_contraction(emitter, rhs, dot.rhs_batching_dimensions, dot.rhs_contracting_dimensions);
    k = contracting_axes(lhs.view, rhs.view, dot);
  }
  result.k = take_longest(k);
  std::vector<Axis> batch;
  for (size_t i = 0; i < dot.lhs_batching_dimensions.size(); ++i) {
    batch.push_back({out.view.shape[i],
                     {out.view.strides[i], step(lhs.view, dot.lhs_batching_dimensions[i]),
                      step(rhs.view, dot.rhs_batching_dimensions[i])}});
  }
  const auto batches = static_cast<int64_t>(batch.size());
  const Dims rows = other_dimensions(lhs.view.rank(), dot.lhs_batching_dimensions, dot.lhs_contracting_dimensions);
  const Dims columns = other_dimensions(rhs.view.rank(), dot.rhs_batching_dimensions, dot.rhs_contracting_dimensions);
  std::vector<Axis> m = free_axes(lhs.view, rows, out.view, batches, Contraction::kLhs);
  std::vector<Axis> n =
      free_axes(rhs.view, columns, out.view, batches + static_cast<int64_t>(rows.size()), Contraction::kRhs);
  result.m = take_longest(m);
  result.n = take_longest(n);
  result.loops = merged(std::move(batch));
  append(result.loops, m);
  append(result.loops, n);
  result.lhs = std::move(lhs);
  result.rhs = std::move(rhs);
  result.out = out;
  return result;
}

// A product with a vector reads every element of the matrix once: rows of the matrix lie on partitions as they are.
// When its columns are what is dense, the Tensor engine takes the matrix as the moving side.
bool is_row_dots(const Contraction& contraction) {
  if (!is_float(contraction.accumulator)) return true;
  if (contraction.m.size > 1 && contraction.n.size > 1) return false;
  if (contraction.m.size == 1 && contraction.n.size == 1) return true;
  const size_t matrix = contraction.m.size > 1 ? Contraction::kLhs : Contraction::kRhs;
  return contraction.k.size == 1 || std::abs(contraction.k.steps[matrix]) == 1;
}

}  // namespace

void swap_operands(Contraction& contraction) {
  std::swap(contraction.lhs, contraction.rhs);
  std::swap(contraction.m, contraction.n);
  const auto swap_steps = [](Axis& axis) { std::swap(axis.steps[Contraction::kLhs], axis.steps[Contraction::kRhs]); };
  for (Axis& axis : contraction.loops) swap_steps(axis);
  for (Axis& axis : contraction.more) swap_steps(axis);
  for (Axis* axis : {&contraction.m, &contraction.n, &contraction.k}) swap_steps(*axis);
}

size_t emit_dot(Emitter& emitter, size_t first) {
  const ir::Node& node = emitter.node(first);
  if (node.op != ir::Op::DotGeneral) return 0;
  const auto& dot = node.as<ir::DotAttributes>();
  const Location lhs = emitter.location(node.operands[0]);
  const Location rhs = emitter.location(node.operands[1]);
  size_t last = first + 1;
  Value result = node.results[0];
  // The sums are rounded as they leave PSUM, so that a conversion right after costs nothing.
  if (last < emitter.graph().nodes.size() && is_float(emitter.type(result).dtype) && emitter.uses(result) == 1) {
    const ir::Node& next = emitter.node(last);
    const bool converts = next.op == ir::Op::Convert && next.operands[0] == result;
    if (converts &&
        accumulator_for(emitter.type(node.operands[0]).dtype, emitter.type(result).dtype) ==
            emitter.type(result).dtype &&
        is_float(emitter.type(next.results[0]).dtype)) {
      result = next.results[0];
      ++last;
    }
  }
  const Location out = emitter.place(result, {first, last}, false);
  if (out.view.elements() == 0) return last - first;
  if (lhs.view.elements() == 0) {
    emitter.copy(splat(emitter.program(), {out.view.dtype, out.view.shape}, 0), out);
    return last - first;
  }
  Contraction contraction = contraction_of(emitter, dot, lhs, rhs, out);
  contraction.accumulator = accumulator_for(lhs.view.dtype, emitter.type(node.results[0]).dtype);
  is_row_dots(contraction) ? emit_row_dots(emitter, std::move(contraction))
                           : emit_matmul(emitter, std::move(contraction));
  return last - first;
}

}  // namespace opentrn::compiler
