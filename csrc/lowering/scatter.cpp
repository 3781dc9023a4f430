// Writing single elements by index along one dimension, with or without a reduction.
#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/index_arguments.h"
#include "lowering/reducers.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

using ir::ComparisonDirection;
using ir::IndexRule;
using ir::Op;

/// What torch.scatter and its kin share. 0-dimensional tensors count as 1-dimensional.
struct Scatter {
  const TensorArgument& self;
  int64_t dim;
  ir::Value operand;  // at least 1-dimensional
  ir::Value indices;  // checked, at least 1-dimensional
  bool empty;         // no index: the result is self
};

void require_sizes(const Context& context, const Dims& self, const Dims& index, int64_t dim) {
  require(self.size() == index.size(), context, ErrorKind::Runtime,
          {.what = "Index tensor must have the same number of dimensions as self tensor",
           .got = concat(index.size(), " and ", self.size()),
           .action = "unsqueeze or expand the index"});
  for (size_t i = 0; i < index.size(); ++i) {
    require(static_cast<int64_t>(i) == dim || index[i] <= self[i], context, ErrorKind::Runtime,
            {.what = concat("Expected index ", to_string(index), " to be no larger than self ", to_string(self),
                            " apart from dimension ", dim),
             .action = "cut the index"});
  }
}

Scatter scatter_of(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const TensorArgument& index = context.tensor("index");
  const int64_t dim = context.dimension(context.integer("dim"), self.type.rank());
  const ir::Value operand = at_least_1d(b, self.value);
  if (index.type.elements() == 0) return {self, dim, operand, index.value, true};
  require_index_type(context, "index", IndexTypes::Int32OrInt64);
  const Dims shape = b.shape(operand);
  require_sizes(context, shape, at_least_1d(index.type.shape), dim);
  const ir::Value positions = checked(context, at_least_1d(b, index.value), shape, dim, IndexRule::NonNegativeRuntime);
  return {self, dim, operand, positions, false};
}

/// The part of `src` that the indices address.
ir::Value source(Context& context, const Scatter& scatter) {
  ir::Builder& b = context.b;
  const TensorArgument& src = context.tensor("src");
  require(src.type.dtype == scatter.self.type.dtype, context, ErrorKind::Runtime,
          {.what = "Expected self.dtype to be equal to src.dtype",
           .got = concat(scalar_type_name(scatter.self.type.dtype), " and ", scalar_type_name(src.type.dtype)),
           .action = "convert src"});
  if (scatter.empty) return src.value;
  const Dims shape = at_least_1d(src.type.shape);
  const Dims& sizes = b.shape(scatter.indices);
  bool fits = shape.size() == sizes.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i) fits = sizes[i] <= shape[i];
  require(fits, context, ErrorKind::Runtime,
          {.what = concat("Expected index ", to_string(sizes), " to be no larger size than src ", to_string(shape)),
           .action = "cut the index or expand src"});
  return head(b, at_least_1d(b, src.value), sizes);
}

Results finish(Context& context, const Scatter& scatter, ir::Value result) {
  return {context.b.reshape(result, scatter.self.type.shape)};
}

Results apply(Context& context, const Scatter& scatter, ir::Value updates, Op update) {
  if (scatter.empty) return {scatter.self.value};
  const ir::Value result = scatter_elements(context.b, scatter.operand, scatter.dim, scatter.indices, updates, update);
  return finish(context, scatter, result);
}

ir::Value value_updates(Context& context, const Scatter& scatter) {
  const ir::Value value = checked_scalar(context, "value", scatter.self.type.dtype);
  return context.b.broadcast_to(value, context.b.shape(scatter.indices));
}

Op add_or_multiply(const Context& context, DType dtype) {
  const std::string& reduce = context.text("reduce");
  require(reduce == "add" || reduce == "multiply", context, ErrorKind::Runtime,
          {.what = "reduce argument must be either add or multiply", .got = reduce, .action = "use scatter_reduce"});
  check_types(context, dtype, kAllTypes);
  return reducer(context, reduce, dtype);
}

Results scatter_src(Context& context) {
  const Scatter scatter = scatter_of(context);
  return apply(context, scatter, source(context, scatter), Op::Select);
}

Results scatter_value(Context& context) {
  const Scatter scatter = scatter_of(context);
  if (scatter.empty) return {scatter.self.value};
  return apply(context, scatter, value_updates(context, scatter), Op::Select);
}

Results scatter_with_reduce(Context& context) {
  const Scatter scatter = scatter_of(context);
  const Op update = add_or_multiply(context, scatter.self.type.dtype);
  return apply(context, scatter, source(context, scatter), update);
}

Results scatter_value_with_reduce(Context& context) {
  const Scatter scatter = scatter_of(context);
  const Op update = add_or_multiply(context, scatter.self.type.dtype);
  if (scatter.empty) return {scatter.self.value};
  return apply(context, scatter, value_updates(context, scatter), update);
}

Results scatter_add(Context& context) {
  const Scatter scatter = scatter_of(context);
  const DType dtype = scatter.self.type.dtype;
  check_types(context, dtype, kAllTypes);
  return apply(context, scatter, source(context, scatter), is_bool(dtype) ? Op::Or : Op::Add);
}

/// How many values were combined at each place of the operand; at least 1.
ir::Value contributions(Context& context, const Scatter& scatter, DType dtype, bool include_self) {
  ir::Builder& b = context.b;
  const DType counting = real_dtype(dtype);
  const ir::Value start = b.splat({counting, b.shape(scatter.operand)}, include_self ? 1 : 0);
  const ir::Value ones = b.splat({counting, b.shape(scatter.indices)}, 1);
  const ir::Value counts = scatter_elements(b, start, scatter.dim, scatter.indices, ones, Op::Add);
  return b.convert(b.maximum(counts, b.splat_like(counts, 1)), dtype);
}

Results scatter_reduce(Context& context) {
  ir::Builder& b = context.b;
  const Scatter scatter = scatter_of(context);
  const DType dtype = scatter.self.type.dtype;
  const std::string& reduce = context.text("reduce");
  const bool mean = reduce == "mean";
  const bool ordered = reduce == "amax" || reduce == "amin";
  const Op op = reducer(context, reduce, dtype);
  check_types(context, dtype, mean ? "ifc" : ordered ? "bif" : kAllTypes);
  const ir::Value src = source(context, scatter);
  if (scatter.empty) return {scatter.self.value};
  const bool include_self = context.flag("include_self");
  const DType compute = compute_dtype(dtype);
  ir::Value start = b.convert(scatter.operand, compute);
  if (!include_self) {
    const ir::Value fresh = neutral(b, op, {compute, b.shape(scatter.indices)});
    start = scatter_elements(b, start, scatter.dim, scatter.indices, fresh, Op::Select);
  }
  ir::Value result = scatter_elements(b, start, scatter.dim, scatter.indices, b.convert(src, compute), op);
  if (mean) result = mean_of(b, result, contributions(context, scatter, compute, include_self));
  return finish(context, scatter, b.convert(result, dtype));
}

}  // namespace

std::span<const Rule> scatter_rules() {
  static const Rule rules[] = {
      general("scatter.reduce", scatter_with_reduce),
      general("scatter.src", scatter_src),
      general("scatter.value", scatter_value),
      general("scatter.value_reduce", scatter_value_with_reduce),
      general("scatter_add", scatter_add),
      general("scatter_reduce.two", scatter_reduce),
  };
  return rules;
}

}  // namespace opentrn::lowering
