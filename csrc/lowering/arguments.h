// Arguments that need more than a look: scalars that must fit a type, types of factories, classes of coefficients.
#pragma once

#include "lowering/rule.h"

namespace opentrn::lowering {

/// Whether the schema that was called has an argument of this name and it is not None. `out=` overloads of factories
/// have no `dtype`.
bool is_given(const Context& context, std::string_view name);

/// The type of a factory's result: that of `out=`, else the `dtype` argument, else `inferred`.
DType factory_dtype(const Context& context, DType inferred);

/// A runtime scalar as a 0-dimensional value of type `dtype`. Raises RuntimeError at run time when it does not fit, as
/// PyTorch's checked conversion of numbers does.
ir::Value checked_scalar(Context& context, std::string_view name, DType dtype);

/// The same for a 0-dimensional value.
ir::Value checked_convert(Context& context, ir::Value number, DType dtype);

/// A splat of an integer that need not be exact in float64.
ir::Value integer_splat(ir::Builder& b, ir::TensorType type, int64_t value);

/// `value`, passed through a check that every element of the boolean `condition` is true. RuntimeError otherwise.
ir::Value check_all(Context& context, ir::Value condition, ir::Value value, std::string_view message);

/// Comparisons against a number, element by element.
ir::Value is_less(ir::Builder& b, ir::Value x, double bound);
ir::Value is_greater(ir::Builder& b, ir::Value x, double bound);

/// What a coefficient such as `alpha` does to its factor. Only this enters the graph of a coefficient of 0 or 1.
enum CoefficientClass : int64_t { kZero = 0, kOne = 1, kAny = 2 };

/// A DeriveFunction: the class of each runtime scalar, in schema order.
Dims coefficient_classes(std::span<const ScalarValue> scalars);

/// `factor` times the runtime scalar `name`, where `coefficient` is its class and not kZero.
ir::Value scaled(Context& context, ir::Value factor, std::string_view name, int64_t coefficient);

/// Refuses the call unless the condition holds.
void require(bool condition, const Context& context, ErrorKind kind, Complaint complaint);

}  // namespace opentrn::lowering
