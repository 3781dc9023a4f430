#include "lowering/normalization_parts.h"

namespace opentrn::lowering {

DType parameter_dtype(const Context& context, DType input, std::span<const std::string_view> names) {
  std::optional<DType> found;
  for (const std::string_view name : names) {
    if (!context.has(name)) continue;
    const DType dtype = context.tensor(name).type.dtype;
    if (found.value_or(dtype) != dtype) {
      context.refuse(ErrorKind::Runtime,
                     {.what = concat("expected scalar type ", scalar_type_name(*found), " of '", name, "'"),
                      .got = std::string(scalar_type_name(dtype)),
                      .action = "give all parameters one type"});
    }
    found = dtype;
  }
  const DType parameters = found.value_or(input);
  const bool mixed = size_of(input) == 2 && parameters == DType::F32;
  if (parameters == input || mixed) return parameters;
  context.refuse(ErrorKind::Runtime,
                 {.what = "mixed dtype: expect parameter to have scalar type of the input, or Float with "
                          "a 16-bit input",
                  .got = concat("input ", scalar_type_name(input), ", parameters ", scalar_type_name(parameters)),
                  .action = "convert the module or the input"});
}

ir::Value inverse_deviation(Context& context, ir::Value variance) {
  ir::Builder& b = context.b;
  const ir::Value root = b.sqrt(b.add(variance, scalar_like(context, "eps", variance)));
  return b.divide(b.splat_like(root, 1.0), root);
}

ir::Value broadcast_mean(ir::Builder& b, ir::Value x, const Dims& dims) {
  return expand_reduced(b, mean_over(b, x, dims), b.shape(x), dims);
}

ir::Value normalised_gradient(ir::Builder& b, ir::Value gradient, ir::Value normalised, ir::Value rstd,
                              const Dims& dims) {
  const ir::Value projection = broadcast_mean(b, b.multiply(gradient, normalised), dims);
  const ir::Value centred = b.subtract(gradient, broadcast_mean(b, gradient, dims));
  return b.multiply(rstd, b.subtract(centred, b.multiply(normalised, projection)));
}

void check_float_input(const Context& context, DType dtype) { check_types(context, dtype, "f"); }

}  // namespace opentrn::lowering
