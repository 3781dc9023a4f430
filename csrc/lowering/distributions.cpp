#include "lowering/distributions.h"

#include <cmath>
#include <numbers>

#include "lowering/arguments.h"
#include "lowering/helpers.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

ir::Value times(ir::Builder& b, ir::Value x, double factor) { return b.multiply(x, b.splat_like(x, factor)); }

ir::Value one_minus(ir::Builder& b, ir::Value x) { return b.subtract(b.splat_like(x, 1), x); }

}  // namespace

DType drawing_dtype(DType dtype) { return dtype == DType::F64 || dtype == DType::C128 ? DType::F64 : DType::F32; }

ir::Value unit_interval(Context& context, const Dims& shape, DType dtype) {
  ir::Builder& b = context.b;
  const ir::Value uniform = context.random_uniform({drawing_dtype(dtype), shape});
  if (dtype != DType::F16 && dtype != DType::BF16) return uniform;
  const double steps = dtype == DType::F16 ? 0x1p11 : 0x1p8;
  return times(b, b.floor(times(b, uniform, steps)), 1 / steps);
}

ir::Value positive_unit_interval(Context& context, const Dims& shape, DType drawing) {
  return one_minus(context.b, context.random_uniform({drawing, shape}));
}

/// Box and Muller: a radius and an angle give two independent numbers.
ir::Value standard_normal(Context& context, const Dims& shape, DType drawing) {
  ir::Builder& b = context.b;
  const int64_t count = element_count(shape);
  if (count == 0) return b.splat({drawing, shape}, 0);
  const Dims half = {(count + 1) / 2};
  const ir::Value radius = b.sqrt(times(b, b.log(positive_unit_interval(context, half, drawing)), -2));
  const ir::Value angle = times(b, context.random_uniform({drawing, half}), 2 * std::numbers::pi);
  const ir::Value parts[] = {b.multiply(radius, b.cosine(angle)), b.multiply(radius, b.sine(angle))};
  return b.reshape(head(b, b.concatenate(parts, 0), {count}), shape);
}

ir::Value standard_exponential(Context& context, const Dims& shape, DType drawing) {
  ir::Builder& b = context.b;
  const ir::Value number = b.negate(b.log(positive_unit_interval(context, shape, drawing)));
  const double smallest = drawing == DType::F64 ? 0x1p-54 : 0x1p-25;  // half a step: what a draw of 1 stands for
  return b.maximum(number, b.splat_like(number, smallest));
}

ir::Value random_integers(Context& context, const Dims& shape, int64_t low, uint64_t range) {
  ir::Builder& b = context.b;
  // As CPU PyTorch: the remainder of 32 random bits, or of 64 when the range needs them.
  const bool wide = range == 0 || range >= (uint64_t{1} << 32);
  const ir::TensorType type{wide ? DType::U64 : DType::U32, shape};
  ir::Value bits = context.random_bits(type);
  if (range != 0) bits = b.binary(ir::Op::Remainder, bits, integer_splat(b, type, static_cast<int64_t>(range)));
  const ir::Value offset = b.convert(bits, DType::I64);
  return b.add(offset, integer_splat(b, b.type(offset), low));
}

}  // namespace opentrn::lowering
