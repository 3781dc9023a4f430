// Random numbers of several distributions, of any shape, in the type they are computed in.
#pragma once

#include "lowering/rule.h"

namespace opentrn::lowering {

/// The type in which random numbers for a tensor of `dtype` are drawn: float64 for float64, else float32.
DType drawing_dtype(DType dtype);

/// Uniform in [0, 1), with as many digits as `dtype` holds, so that rounding to it never gives 1.
ir::Value unit_interval(Context& context, const Dims& shape, DType dtype);

/// Uniform in (0, 1].
ir::Value positive_unit_interval(Context& context, const Dims& shape, DType drawing);

/// Standard normal numbers.
ir::Value standard_normal(Context& context, const Dims& shape, DType drawing);

/// Exponential numbers of rate 1, never 0.
ir::Value standard_exponential(Context& context, const Dims& shape, DType drawing);

/// Integers in [low, low + range) of type int64; a range of 0 stands for 2^64.
ir::Value random_integers(Context& context, const Dims& shape, int64_t low, uint64_t range);

}  // namespace opentrn::lowering
