// What many rules need: promotion of operands, checks of types, shapes of reductions, constants.
#pragma once

#include "lowering/promotion.h"
#include "lowering/rule.h"

namespace opentrn::lowering {

/// The operands of an element-wise computation, converted to one type and broadcast to one shape.
struct Operands {
  DType dtype;    // the promoted type: the result's type
  DType compute;  // the type of the values
  Dims shape;
  std::vector<ir::Value> values;  // tensors and runtime scalars in schema order
};

/// Promotes all tensors and scalars of the call as an element-wise rule of these properties does.
Operands promote_operands(Context& context, Promotion promotion, std::string_view types = kAllTypes,
                          bool wide_scalars = false);

/// Raises NotImplementedError, as CPU PyTorch's kernels do, unless `types` (letters as in Rule::types) admits the type.
/// Declines the rare types unless `types` admits them: what PyTorch does with these differs from operator to operator.
void check_types(const Context& context, DType dtype, std::string_view types);

/// The shape all tensor operands broadcast to.
Dims broadcast_of_tensors(const Call& call);

/// The floating type integers and bools compute in; other types are returned unchanged.
DType inexact_dtype(const Context& context, DType dtype);

/// The tensor's value in its computation type.
ir::Value compute_value(Context& context, std::string_view name);

/// A runtime scalar in the type and shape of `like`.
ir::Value scalar_like(Context& context, std::string_view name, ir::Value like);

/// A runtime scalar first rounded to `storage`, then in the type and shape of `like`.
ir::Value rounded_scalar_like(Context& context, std::string_view name, DType storage, ir::Value like);

/// Truncation towards zero of floats.
ir::Value truncate(ir::Builder& b, ir::Value x);

/// The strides TensorIterator gives a result whose operands come in this order; for operators that name them in another
/// order than the schema.
Dims strides_by(const Context& context, const Dims& shape, std::span<const std::string_view> operands);

/// Whether the elements are not zero; NaN is true.
inline ir::Value truthy(ir::Builder& b, ir::Value x) { return b.convert(x, DType::Bool); }

/// The derived integers {1} or {0}: whether the scalar of that name is 1. For rules that leave out a multiplication
/// then.
Dims is_one(std::span<const ScalarValue> scalars, std::string_view name);

/// Comparison with a constant.
ir::Value compare_with(ir::Builder& b, ir::ComparisonDirection direction, ir::Value x, double constant);

/// `select(condition, on_true, on_false)` with a constant branch.
ir::Value select_constant(ir::Builder& b, ir::Value condition, double on_true, ir::Value on_false);

/// The product of the sizes of `dims`.
int64_t count_of(const Dims& shape, const Dims& dims);

/// `shape` with `dims` (sorted) reduced: removed, or of size 1 with `keepdim`.
Dims reduced_shape(const Dims& shape, const Dims& dims, bool keepdim);

/// A reduced value brought to the shape with or without the reduced dimensions.
ir::Value keep_dims(ir::Builder& b, ir::Value reduced, const Dims& shape, const Dims& dims, bool keepdim);

/// A value of `shape` without `dims`, repeated along `dims`.
ir::Value expand_reduced(ir::Builder& b, ir::Value reduced, const Dims& shape, const Dims& dims);

/// A vector repeated so that its elements lie along dimension `dim` of `shape`.
ir::Value along(ir::Builder& b, ir::Value vector, const Dims& shape, int64_t dim);

/// Maximum and Minimum, which for bools are Or and And.
ir::Op extreme_op(ir::Op op, DType dtype);

/// Mean and sum of squared deviations over `dims`, in the shape without `dims`, and the deviations themselves. Accurate
/// also when the mean is large against the deviations, where `x - mean` would show the rounding of the mean.
struct Moments {
  ir::Value mean, squares, deviations;
};
Moments moments(ir::Builder& b, ir::Value x, const Dims& dims);

/// The mean over `dims`, without them.
ir::Value mean_over(ir::Builder& b, ir::Value x, const Dims& dims);

/// PyTorch's spelling of a type in error texts: "Float", "Long".
std::string_view scalar_type_name(DType dtype);

}  // namespace opentrn::lowering
