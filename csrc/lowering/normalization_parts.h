// What the normalisations share.
#pragma once

#include "lowering/helpers.h"
#include "lowering/memory_format.h"

namespace opentrn::lowering {

/// The type of parameters and statistics: float32 when a 16-bit float input comes with float32 parameters, else the
/// input's. Refuses other mixtures. `names` are the parameter arguments, those that are None do not count.
DType parameter_dtype(const Context& context, DType input, std::span<const std::string_view> names);

/// 1 / sqrt(variance + eps)
ir::Value inverse_deviation(Context& context, ir::Value variance);

/// Sum over `dims` divided by the count, repeated over them again.
ir::Value broadcast_mean(ir::Builder& b, ir::Value x, const Dims& dims);

/// The gradient of y = (x - mean) * rstd over `dims`, where mean and rstd depend on x. `gradient` is that of y,
/// `normalised` is y, `rstd` has the full shape.
ir::Value normalised_gradient(ir::Builder& b, ir::Value gradient, ir::Value normalised, ir::Value rstd,
                              const Dims& dims);

/// Refuses inputs that are not floats.
void check_float_input(const Context& context, DType dtype);

}  // namespace opentrn::lowering
