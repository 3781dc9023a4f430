// Writing whole slices by index along one dimension, and elements by mask.
#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/index_arguments.h"
#include "lowering/reducers.h"
#include "lowering/running.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

using ir::IndexRule;
using ir::Op;

struct Slices {
  const TensorArgument& self;
  int64_t dim;
  ir::Value operand;  // at least 1-dimensional
  ir::Value indices;  // checked, 1-dimensional
};

Slices slices_of(Context& context, IndexRule rule) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const int64_t dim = context.dimension(context.integer("dim"), self.type.rank());
  const ir::Value operand = at_least_1d(b, self.value);
  const ir::Value index = at_least_1d(b, context.value("index"));
  return {self, dim, operand, checked(context, index, b.shape(operand), dim, rule)};
}

void require_vector_index(const Context& context, ErrorKind kind) {
  const Dims& shape = context.tensor("index").type.shape;
  require(shape.size() <= 1, context, kind,
          {.what = "Index has to be a vector/scalar: index should have dimension 1 or 0",
           .got = "shape " + to_string(shape),
           .action = "flatten it"});
}

void require_same_dtype(const Context& context) {
  const DType self = context.tensor("self").type.dtype;
  const DType source = context.tensor("source").type.dtype;
  require(self == source, context, ErrorKind::Runtime,
          {.what = "self and source must have the same scalar type",
           .got = concat(scalar_type_name(self), " and ", scalar_type_name(source)),
           .action = "convert the source"});
}

void require_index_count(const Context& context, ErrorKind kind, int64_t dim) {
  const Dims source = at_least_1d(context.tensor("source").type.shape);
  const int64_t count = context.tensor("index").type.elements();
  const bool fits = dim < static_cast<int64_t>(source.size()) && source[static_cast<size_t>(dim)] == count;
  require(fits, context, kind,
          {.what = concat("Number of indices (", count, ") should be equal to source.size(dim), for dim: ", dim),
           .got = "source of shape " + to_string(source),
           .action = "give one slice per index"});
}

/// The source must have the shape of `self` except along `dim`.
void require_slice_shape(const Context& context, int64_t dim) {
  Dims self = at_least_1d(context.tensor("self").type.shape);
  Dims source = at_least_1d(context.tensor("source").type.shape);
  const std::string got = concat("self of shape ", to_string(self), ", source of shape ", to_string(source));
  bool fits = self.size() == source.size();
  if (fits) self[static_cast<size_t>(dim)] = source[static_cast<size_t>(dim)];
  fits = fits && self == source;
  require(fits, context, ErrorKind::Runtime,
          {.what = "source tensor shape must match self tensor shape, excluding the specified dimension",
           .got = got,
           .action = "reshape the source"});
}

Results write_slices(Context& context, const Slices& slices, ir::Value updates, Op update) {
  const ir::Value result = scatter_slices(context.b, slices.operand, slices.dim, slices.indices, updates, update);
  return {context.b.reshape(result, slices.self.type.shape)};
}

ir::Value source_slices(Context& context) { return at_least_1d(context.b, context.value("source")); }

Results index_copy(Context& context) {
  const int64_t rank = context.tensor("self").type.rank();
  const int64_t source_rank = context.tensor("source").type.rank();
  const int64_t dim = context.dimension(context.integer("dim"), rank);
  require_vector_index(context, ErrorKind::Index);
  require_index_type(context, "index", IndexTypes::Int64);
  require_same_dtype(context);
  require(rank == source_rank || rank == 0 || source_rank == 0, context, ErrorKind::Index,
          {.what = "When source and destination are not scalars, their dimensionality must match",
           .got = concat("source dimensionality (", source_rank, "), destination dimensionality (", rank, ")"),
           .action = "reshape the source"});
  require_slice_shape(context, dim);
  require_index_count(context, ErrorKind::Index, dim);
  return write_slices(context, slices_of(context, IndexRule::NonNegative), source_slices(context), Op::Select);
}

Results index_add(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const int64_t dim = context.dimension(context.integer("dim"), self.type.rank());
  require_vector_index(context, ErrorKind::Index);
  require_index_type(context, "index", IndexTypes::Int32OrInt64);
  require_same_dtype(context);
  check_types(context, self.type.dtype, kAllTypes);
  require_index_count(context, ErrorKind::Runtime, dim);
  require(self.type.rank() == context.tensor("source").type.rank(), context, ErrorKind::Runtime,
          {.what = "source tensor shape must match self tensor shape, excluding the specified dimension",
           .got = concat("self of rank ", self.type.rank(), ", source of rank ", context.tensor("source").type.rank()),
           .action = "reshape the source"});
  require_slice_shape(context, dim);
  // CPU PyTorch raises IndexError for a vector, RuntimeError for more dimensions.
  const IndexRule rule = self.type.rank() <= 1 ? IndexRule::NonNegative : IndexRule::NonNegativeRuntime;
  const Slices slices = slices_of(context, rule);
  const DType dtype = self.type.dtype;
  const ir::Value source = source_slices(context);
  const int64_t alpha = context.call.derived.at(0);
  if (is_bool(dtype)) {
    const ir::Value kept = b.broadcast_to(context.scalar_value("alpha", dtype), b.shape(source));
    return write_slices(context, slices, b.and_(source, kept), Op::Or);
  }
  const ir::Value addend = b.convert(scaled(context, b.convert(source, compute_dtype(dtype)), "alpha", alpha), dtype);
  return write_slices(context, slices, addend, Op::Add);
}

Op index_reducer(const Context& context, DType dtype) {
  const std::string& reduce = context.text("reduce");
  require(reduce != "sum" && reduce != "add" && reduce != "multiply", context, ErrorKind::Runtime,
          {.what = "Expected reduce to be one of prod, mean, amax or amin",
           .got = reduce,
           .action = reduce == "multiply" ? "use prod" : "use index_add"});
  const Op op = reducer(context, reduce, dtype);
  const bool mean = reduce == "mean";
  const bool ordered = reduce == "amax" || reduce == "amin";
  const bool fresh = !context.flag("include_self");
  check_types(context, dtype, fresh ? "if" : ordered ? "bif" : mean ? "ifc" : kAllTypes);
  return op;
}

/// How many values were combined in each slice of the operand; at least 1.
ir::Value contributions(Context& context, const Slices& slices, DType dtype) {
  ir::Builder& b = context.b;
  const DType counting = real_dtype(dtype);
  const Dims& shape = b.shape(slices.operand);
  const Dims line = {shape[static_cast<size_t>(slices.dim)]};
  const ir::Value start = b.splat({counting, line}, context.flag("include_self") ? 1 : 0);
  const ir::Value ones = b.splat({counting, b.shape(slices.indices)}, 1);
  const ir::Value counts = scatter_slices(b, start, 0, slices.indices, ones, Op::Add);
  return along(b, b.convert(b.maximum(counts, b.splat_like(counts, 1)), dtype), shape, slices.dim);
}

Results index_reduce(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const DType dtype = self.type.dtype;
  const int64_t dim = context.dimension(context.integer("dim"), self.type.rank());
  require_vector_index(context, ErrorKind::Index);
  require_index_type(context, "index", IndexTypes::Int32OrInt64);
  require_same_dtype(context);
  require_index_count(context, ErrorKind::Runtime, dim);
  require(self.type.rank() == context.tensor("source").type.rank(), context, ErrorKind::Runtime,
          {.what = "source tensor shape must match self tensor shape, excluding the specified dimension",
           .action = "reshape the source"});
  require_slice_shape(context, dim);
  const Op op = index_reducer(context, dtype);
  const DType compute = compute_dtype(dtype);
  Slices slices = slices_of(context, IndexRule::NonNegative);
  slices.operand = b.convert(slices.operand, compute);
  const ir::Value source = b.convert(source_slices(context), compute);
  if (!context.flag("include_self")) {
    const ir::Value fresh = neutral(b, op, b.type(source));
    slices.operand = scatter_slices(b, slices.operand, dim, slices.indices, fresh, Op::Select);
  }
  ir::Value result = write_slices(context, slices, source, op)[0];
  if (context.text("reduce") == "mean") {
    result = mean_of(b, result, b.reshape(contributions(context, slices, compute), self.type.shape));
  }
  return {b.convert(result, dtype)};
}

Results fill_slices(Context& context, ir::Value value) {
  ir::Builder& b = context.b;
  const Slices slices = slices_of(context, IndexRule::WrapNegative);
  Dims shape = b.shape(slices.operand);
  shape[static_cast<size_t>(slices.dim)] = b.shape(slices.indices)[0];
  return write_slices(context, slices, b.broadcast_to(value, shape), Op::Select);
}

void require_fill(const Context& context, DType value) {
  require_index_type(context, "index", IndexTypes::Int64, ErrorKind::Index);
  require_vector_index(context, ErrorKind::Runtime);
  require(!is_complex(value) || is_complex(context.tensor("self").type.dtype), context, ErrorKind::Runtime,
          {.what = "Converting complex Scalar to non-complex type is not supported", .action = "give a real value"});
}

Results index_fill_scalar(Context& context) {
  require_fill(context, context.scalar("value").dtype);
  return fill_slices(context, checked_scalar(context, "value", context.tensor("self").type.dtype));
}

Results index_fill_tensor(Context& context) {
  const TensorArgument& value = context.tensor("value");
  require_fill(context, value.type.dtype);
  require(value.type.rank() == 0, context, ErrorKind::Runtime,
          {.what = concat("only supports a 0-dimensional value tensor, but got tensor with ", value.type.rank(),
                          " dimension(s)"),
           .action = "give a number"});
  return fill_slices(context, context.value("value", context.tensor("self").type.dtype));
}

Results masked_scatter(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const TensorArgument& mask = context.tensor("mask");
  const TensorArgument& source = context.tensor("source");
  require(self.type.dtype == source.type.dtype, context, ErrorKind::Runtime,
          {.what = "expected self and source to have same dtypes",
           .got = concat(scalar_type_name(self.type.dtype), " and ", scalar_type_name(source.type.dtype)),
           .action = "convert the source"});
  require(mask.type.dtype == DType::Bool, context, ErrorKind::Runtime,
          {.what = "only supports boolean masks",
           .got = concat("mask with dtype ", scalar_type_name(mask.type.dtype)),
           .action = "convert the mask with .bool()"});
  Dims shape;
  require(broadcast_shapes(self.type.shape, mask.type.shape, shape), context, ErrorKind::Runtime,
          {.what = "the shapes of self and mask do not broadcast",
           .got = to_string(self.type.shape) + " and " + to_string(mask.type.shape),
           .action = "reshape the mask"});
  const ir::Value chosen = flattened(b, b.broadcast_to(mask.value, shape));
  const ir::Value old = flattened(b, b.broadcast_to(self.value, shape));
  if (element_count(shape) == 0) return {b.reshape(old, shape)};
  const ir::Value counts = running_sum(b, b.convert(chosen, DType::I64), 0);
  const int64_t available = source.type.elements();
  const ir::Value enough = b.not_(is_greater(b, counts, static_cast<double>(available)));
  const std::string_view message = "Number of elements of source < number of ones in mask";
  if (available == 0) return {b.reshape(check_all(context, enough, old, message), shape)};
  const ir::Value positions = check_all(context, enough, b.subtract(counts, b.splat_like(counts, 1)), message);
  const ir::Value taken = gather_slices(b, flattened(b, source.value), 0, positions);
  return {b.reshape(b.select(chosen, taken, old), shape)};
}

}  // namespace

std::span<const Rule> index_update_rules() {
  static const Rule rules[] = {
      Rule{.name = "index_add", .function = index_add, .derive = coefficient_classes},
      general("index_copy", index_copy),
      general("index_fill.int_Scalar", index_fill_scalar, StrideRule::LikeSelf),
      general("index_fill.int_Tensor", index_fill_tensor, StrideRule::LikeSelf),
      general("index_reduce", index_reduce),
      general("masked_scatter", masked_scatter),
  };
  return rules;
}

}  // namespace opentrn::lowering
