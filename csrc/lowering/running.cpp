#include "lowering/running.h"

#include "lowering/helpers.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

using ir::ComparisonDirection;

ir::Value elements_at(ir::Builder& b, ir::Value sequences, ir::Value positions) {
  if (b.rank(sequences) == 1) return gather_slices(b, sequences, 0, positions);
  return gather_elements(b, sequences, b.rank(sequences) - 1, positions);
}

ir::Value running(ir::Builder& b, ir::Value x, ir::Op op, int64_t dim) {
  const auto rank = static_cast<size_t>(b.rank(x));
  const int64_t size = b.shape(x)[static_cast<size_t>(dim)];
  if (b.type(x).elements() == 0) return x;
  const Dims ones(rank, 1);
  Dims window = ones;
  window[static_cast<size_t>(dim)] = size;
  Dims low(rank, 0);
  low[static_cast<size_t>(dim)] = size - 1;
  return b.reduce_window(x, b.scalar(b.dtype(x), 0),
                         {op, std::move(window), ones, ones, ones, std::move(low), Dims(rank, 0)});
}

}  // namespace

ir::Value running_sum(ir::Builder& b, ir::Value x, int64_t dim) { return running(b, x, ir::Op::Add, dim); }
ir::Value running_maximum(ir::Builder& b, ir::Value x, int64_t dim) { return running(b, x, ir::Op::Maximum, dim); }

ir::Value search_sorted(ir::Builder& b, ir::Value sequences, ir::Value values, bool right) {
  const ir::TensorType type{DType::I64, b.shape(values)};
  const int64_t size = b.shape(sequences).back();
  ir::Value low = b.splat(type, 0);
  if (size == 0 || type.elements() == 0) return low;
  ir::Value high = b.splat(type, static_cast<double>(size));
  const ir::Value one = b.splat(type, 1);
  const ComparisonDirection stays = right ? ComparisonDirection::GT : ComparisonDirection::GE;
  for (int64_t remaining = size; remaining > 0; remaining /= 2) {
    const ir::Value middle = b.binary(ir::Op::ShiftRightArithmetic, b.add(low, high), one);
    const ir::Value inside = b.minimum(middle, b.splat(type, static_cast<double>(size - 1)));
    const ir::Value open = b.compare(ComparisonDirection::LT, low, high);
    const ir::Value left_half = b.compare(stays, elements_at(b, sequences, inside), values);
    low = b.select(b.and_(open, b.not_(left_half)), b.add(middle, one), low);
    high = b.select(b.and_(open, left_half), middle, high);
  }
  return low;
}

}  // namespace opentrn::lowering
