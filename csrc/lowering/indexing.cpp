// Reading by index: each operator is one gather of whole slices or of single elements.
#include <algorithm>

#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/index_arguments.h"
#include "lowering/multi_index.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

using ir::ComparisonDirection;
using ir::IndexRule;

Results index_select(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const TensorArgument& index = context.tensor("index");
  const int64_t dim = context.dimension(context.integer("dim"), self.type.rank());
  require(index.type.rank() <= 1, context, ErrorKind::Index,
          {.what = "Index is supposed to be a vector",
           .got = "shape " + to_string(index.type.shape),
           .action = "flatten it, or use advanced indexing"});
  require_index_type(context, "index", IndexTypes::Int32OrInt64);
  require(self.type.rank() > 0 || index.type.elements() == 1, context, ErrorKind::Runtime,
          {.what = "Index to scalar can have only 1 value",
           .got = concat(index.type.elements(), " value(s)"),
           .action = "give one index"});
  const Dims shape = at_least_1d(self.type.shape);
  require(shape[static_cast<size_t>(dim)] > 0 || index.type.elements() == 0, context, ErrorKind::Runtime,
          {.what = "self indexing axis dim should be positive",
           .got = "shape " + to_string(shape),
           .action = "select from a dimension that has elements"});
  const ir::Value positions = checked(context, at_least_1d(b, index.value), shape, dim, IndexRule::NonNegative);
  const ir::Value slices = gather_slices(b, at_least_1d(b, self.value), dim, positions);
  return {self.type.rank() == 0 ? b.reshape(slices, {}) : slices};
}

Results embedding(Context& context) {
  const TensorArgument& weight = context.tensor("weight");
  require(weight.type.rank() == 2, context, ErrorKind::Runtime,
          {.what = "'weight' must be 2-D",
           .got = "shape " + to_string(weight.type.shape),
           .action = "give a matrix of one row per index"});
  require_index_type(context, "indices", IndexTypes::Int32OrInt64);
  const ir::Value rows = checked(context, context.value("indices"), weight.type.shape, 0, IndexRule::NonNegative);
  return {gather_slices(context.b, weight.value, 0, rows)};
}

/// One over how often each index occurs, for each occurrence.
ir::Value reciprocal_frequencies(ir::Builder& b, ir::Value rows, int64_t count, DType dtype) {
  const ir::Value zeros = b.splat({DType::F64, {count}}, 0);
  const ir::Value ones = b.splat({DType::F64, b.shape(rows)}, 1);
  const ir::Value counts = scatter_slices(b, zeros, 0, rows, ones, ir::Op::Add);
  // Rows outside the table take part in nothing: the gather may read any count for them.
  const ir::Value frequencies = gather_slices(b, counts, 0, rows);
  return b.convert(b.divide(ones, frequencies), dtype);
}

Results embedding_dense_backward(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& gradient = context.tensor("grad_output");
  require_index_type(context, "indices", IndexTypes::Int32OrInt64);
  check_types(context, gradient.type.dtype, "f");
  const int64_t count = context.integer("num_weights");
  const int64_t padding = context.integer("padding_idx");
  const DType compute = compute_dtype(gradient.type.dtype);
  const int64_t width = gradient.type.shape.empty() ? 1 : gradient.type.shape.back();
  ir::Value rows = flattened(b, context.value("indices"));
  // The scatter leaves out rows outside the table, and so the padding row once it is one of these.
  if (padding >= 0) {
    const ir::Value is_padding = b.compare(ComparisonDirection::EQ, rows, integer_splat(b, b.type(rows), padding));
    rows = select_constant(b, is_padding, -1, rows);
  }
  const Dims shape = {b.shape(rows)[0], width};
  ir::Value updates = b.convert(b.reshape(gradient.value, shape), compute);
  if (context.flag("scale_grad_by_freq") && count > 0 && shape[0] > 0) {
    updates = b.multiply(updates, along(b, reciprocal_frequencies(b, rows, count, compute), shape, 0));
  }
  const ir::Value zeros = b.splat({compute, {count, width}}, 0);
  return {b.convert(scatter_slices(b, zeros, 0, rows, updates, ir::Op::Add), gradient.type.dtype)};
}

Results index(Context& context) {
  const TensorArgument& self = context.tensor("self");
  const MultiIndex plan = multi_index(context, self);
  context.result_strides = {multi_index_strides(context, self, plan)};
  return {gather_multi(context.b, self.value, plan)};
}

Results index_put(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const TensorArgument& values = context.tensor("values");
  require(self.type.dtype == values.type.dtype, context, ErrorKind::Runtime,
          {.what = "Index put requires the source and destination dtypes match",
           .got = concat(scalar_type_name(self.type.dtype), " for the destination and ",
                         scalar_type_name(values.type.dtype), " for the source"),
           .action = "convert the values"});
  const MultiIndex plan = multi_index(context, self);
  const Dims shape = plan.result_shape(self.type.shape);
  Dims expanded;
  require(broadcast_shapes(values.type.shape, shape, expanded) && expanded == shape, context, ErrorKind::Runtime,
          {.what = concat("shape mismatch: value tensor of shape ", to_string(values.type.shape),
                          " cannot be broadcast to indexing result of shape ", to_string(shape)),
           .action = "reshape the values"});
  const ir::Value updates = b.broadcast_to(values.value, shape);
  const ir::Op sum = is_bool(self.type.dtype) ? ir::Op::Or : ir::Op::Add;
  return {scatter_multi(b, self.value, plan, updates, context.flag("accumulate") ? sum : ir::Op::Select)};
}

Results take(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  require_index_type(context, "index", IndexTypes::Int64);
  require(self.type.elements() > 0 || context.tensor("index").type.elements() == 0, context, ErrorKind::Index,
          {.what = "tried to take from an empty tensor", .action = "check that the tensor has elements"});
  const Dims shape = {self.type.elements()};
  const ir::Value positions = checked(context, context.value("index"), shape, 0, IndexRule::WrapNegative);
  return {gather_slices(b, flattened(b, self.value), 0, positions)};
}

Results put(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const TensorArgument& source = context.tensor("source");
  const TensorArgument& index = context.tensor("index");
  require_index_type(context, "index", IndexTypes::Int64);
  require(self.type.dtype == source.type.dtype, context, ErrorKind::Runtime,
          {.what = "self and source expected to have the same dtype",
           .got = concat(scalar_type_name(self.type.dtype), " and ", scalar_type_name(source.type.dtype)),
           .action = "convert the source"});
  require(index.type.elements() == source.type.elements(), context, ErrorKind::Index,
          {.what = "Expected source and index to have the same number of elements",
           .got = concat("source.numel() = ", source.type.elements(), ", index.numel() = ", index.type.elements()),
           .action = "give one value per index"});
  const Dims shape = {self.type.elements()};
  const ir::Value positions = checked(context, flattened(b, index.value), shape, 0, IndexRule::WrapNegative);
  const ir::Op sum = is_bool(self.type.dtype) ? ir::Op::Or : ir::Op::Add;
  const ir::Op update = context.flag("accumulate") ? sum : ir::Op::Select;
  const ir::Value result =
      scatter_slices(b, flattened(b, self.value), 0, positions, flattened(b, source.value), update);
  return {b.reshape(result, self.type.shape)};
}

Results gather(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const TensorArgument& index = context.tensor("index");
  const int64_t dim = context.dimension(context.integer("dim"), self.type.rank());
  if (index.type.elements() == 0) return {b.splat({self.type.dtype, index.type.shape}, 0)};
  require_index_type(context, "index", IndexTypes::Int32OrInt64);
  const Dims shape = at_least_1d(self.type.shape);
  const Dims sizes = at_least_1d(index.type.shape);
  require(shape.size() == sizes.size(), context, ErrorKind::Runtime,
          {.what = "Index tensor must have the same number of dimensions as input tensor",
           .got = concat(index.type.rank(), " and ", self.type.rank()),
           .action = "unsqueeze or expand the index"});
  for (size_t i = 0; i < sizes.size(); ++i) {
    require(static_cast<int64_t>(i) == dim || sizes[i] <= shape[i], context, ErrorKind::Runtime,
            {.what = concat("Size does not match at dimension ", i, " expected index ", to_string(sizes),
                            " to be no larger than self ", to_string(shape), " apart from dimension ", dim),
             .action = "expand self or cut the index"});
  }
  const ir::Value positions = checked(context, at_least_1d(b, index.value), shape, dim, IndexRule::NonNegativeRuntime);
  const ir::Value elements = gather_elements(b, at_least_1d(b, self.value), dim, positions);
  return {b.reshape(elements, index.type.shape)};
}

}  // namespace

std::span<const Rule> indexing_rules() {
  static const Rule rules[] = {
      general("_index_put_impl", index_put, StrideRule::LikeSelf),
      general("embedding", embedding),
      general("embedding_dense_backward", embedding_dense_backward),
      general("gather", gather),
      general("index.Tensor", index),
      general("index_put", index_put, StrideRule::LikeSelf),
      general("index_select", index_select),
      general("put", put, StrideRule::LikeSelf),
      general("take", take),
  };
  return rules;
}

}  // namespace opentrn::lowering
