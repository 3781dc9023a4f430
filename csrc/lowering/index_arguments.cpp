#include "lowering/index_arguments.h"

#include "lowering/arguments.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {

void require_index_type(const Context& context, std::string_view name, IndexTypes types, ErrorKind kind) {
  const DType dtype = context.tensor(name).type.dtype;
  if (dtype == DType::I64 || (dtype == DType::I32 && types == IndexTypes::Int32OrInt64)) return;
  const bool both = types == IndexTypes::Int32OrInt64;
  context.refuse(kind, {.what = concat("Expected dtype ", both ? "int32/int64" : "int64", " for ", name),
                        .got = concat(scalar_type_name(dtype)),
                        .action = "convert the indices with .long()"});
}

ir::Value checked(Context& context, ir::Value index, const Dims& shape, int64_t dim, ir::IndexRule rule) {
  const int64_t size = shape.at(static_cast<size_t>(dim));
  if (size == 0 && context.b.type(index).elements() > 0) {
    const bool runtime = rule == ir::IndexRule::NonNegativeRuntime;
    context.refuse(runtime ? ErrorKind::Runtime : ErrorKind::Index,
                   {.what = concat("index is out of bounds for dimension ", dim, " with size 0"),
                    .action = "index only dimensions that have elements"});
  }
  return context.b.checked_index(index, size, dim, context.call.operator_name, rule);
}

Dims at_least_1d(const Dims& shape) { return shape.empty() ? Dims{1} : shape; }

ir::Value at_least_1d(ir::Builder& b, ir::Value value) { return b.reshape(value, at_least_1d(b.shape(value))); }

ir::Value flattened(ir::Builder& b, ir::Value value) { return b.reshape(value, {b.type(value).elements()}); }

}  // namespace opentrn::lowering
