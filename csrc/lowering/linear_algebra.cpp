// Cross products. Triangular systems, solved by substitution on blocks: half of the unknowns, then the rest with those
// put in.
#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

constexpr int64_t kLargestSystem = 512;  // the graph grows with it

/// Rows [row, row + rows) and columns [column, column + columns) of a batch of matrices.
ir::Value block(ir::Builder& b, ir::Value x, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  Dims start(b.shape(x).size(), 0);
  Dims limit = b.shape(x);
  const size_t last = start.size() - 1;
  start[last - 1] = row;
  limit[last - 1] = row + rows;
  start[last] = column;
  limit[last] = column + columns;
  return b.slice(x, start, limit, Dims(limit.size(), 1));
}

ir::Value multiplied(ir::Builder& b, ir::Value left, ir::Value right) {
  return b.dot_general(left, right, {{0}, {0}, {2}, {1}}, b.dtype(left));
}

struct Triangle {
  ir::Value matrix;  // [batch, n, n]
  bool upper, unit_diagonal;
};

/// The rows [begin, begin + size) of X in triangle X = right, where `right` holds just these rows.
ir::Value solve(ir::Builder& b, const Triangle& triangle, ir::Value right, int64_t begin, int64_t size) {
  if (size == 1) {
    if (triangle.unit_diagonal) return right;
    const ir::Value pivot = block(b, triangle.matrix, begin, 1, begin, 1);
    return b.divide(right, b.broadcast_in_dim(pivot, b.shape(right), {0, 1, 2}));
  }
  const int64_t top = size / 2;
  const int64_t bottom = size - top;
  const int64_t width = b.shape(right)[2];
  const int64_t middle = begin + top;
  const ir::Value above = block(b, right, 0, top, 0, width);
  const ir::Value below = block(b, right, top, bottom, 0, width);
  if (triangle.upper) {
    const ir::Value x_below = solve(b, triangle, below, middle, bottom);
    const ir::Value known = multiplied(b, block(b, triangle.matrix, begin, top, middle, bottom), x_below);
    const ir::Value parts[] = {solve(b, triangle, b.subtract(above, known), begin, top), x_below};
    return b.concatenate(parts, 1);
  }
  const ir::Value x_above = solve(b, triangle, above, begin, top);
  const ir::Value known = multiplied(b, block(b, triangle.matrix, middle, bottom, begin, top), x_above);
  const ir::Value parts[] = {x_above, solve(b, triangle, b.subtract(below, known), middle, bottom)};
  return b.concatenate(parts, 1);
}

Dims batch_of(const Dims& shape) { return Dims(shape.begin(), shape.end() - 2); }

Dims joined(Dims batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

ir::Value transposed(ir::Builder& b, ir::Value x) { return b.transpose(x, {0, 2, 1}); }

/// Column-major matrices, as LAPACK leaves them.
Dims column_major(const Dims& shape) {
  Dims strides = contiguous_strides(shape);
  const size_t last = shape.size() - 1;
  strides[last] = std::max<int64_t>(shape[last - 1], 1);
  strides[last - 1] = 1;
  return strides;
}

Results solve_triangular(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& matrix = context.tensor("self");
  const TensorArgument& right = context.tensor("B");
  const bool left = context.flag("left");
  require(matrix.type.rank() >= 2 && right.type.rank() >= 2, context, ErrorKind::Runtime,
          {.what = "The input tensor must have at least 2 dimensions", .action = "unsqueeze it"});
  if (matrix.type.dtype != right.type.dtype) decline("operands of different types");
  check_types(context, matrix.type.dtype, "fc");
  if (size_of(matrix.type.dtype) < 4) decline(concat("dtype ", info(matrix.type.dtype).torch_name));
  const Dims& a = matrix.type.shape;
  const Dims& r = right.type.shape;
  const int64_t n = a.back();
  require(
      a[a.size() - 2] == n, context, ErrorKind::Runtime,
      {.what = concat("A must be batches of square matrices, but they are ", a[a.size() - 2], " by ", n, " matrices"),
       .action = "give square matrices"});
  require((left ? r[r.size() - 2] : r.back()) == n, context, ErrorKind::Runtime,
          {.what = concat("Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B"),
           .got = to_string(a) + " and " + to_string(r),
           .action = "transpose B"});
  if (n > kLargestSystem) decline(concat("a system of more than ", kLargestSystem, " unknowns"));
  Dims batch;
  require(broadcast_shapes(batch_of(a), batch_of(r), batch), context, ErrorKind::Runtime,
          {.what = "the batch dimensions of A and B do not broadcast",
           .got = to_string(a) + " and " + to_string(r),
           .action = "expand one of them"});
  const Dims shape = joined(batch, r[r.size() - 2], r.back());
  context.result_strides = {column_major(shape)};
  if (element_count(shape) == 0) return {b.splat({right.type.dtype, shape}, 0)};
  const int64_t batches = element_count(batch);
  Triangle triangle{b.reshape(b.broadcast_to(matrix.value, joined(batch, n, n)), {batches, n, n}),
                    context.flag("upper"), context.flag("unitriangular")};
  ir::Value unknown = b.reshape(b.broadcast_to(right.value, shape), {batches, r[r.size() - 2], r.back()});
  if (left) return {b.reshape(solve(b, triangle, unknown, 0, n), shape)};
  triangle = {transposed(b, triangle.matrix), !triangle.upper, triangle.unit_diagonal};
  return {b.reshape(transposed(b, solve(b, triangle, transposed(b, unknown), 0, n)), shape)};
}

/// One entry of the vectors that lie along `dim`.
ir::Value entry(ir::Builder& b, ir::Value x, int64_t dim, int64_t i) {
  Dims start(b.shape(x).size(), 0);
  Dims limit = b.shape(x);
  start[static_cast<size_t>(dim)] = i;
  limit[static_cast<size_t>(dim)] = i + 1;
  return b.slice(x, start, limit, Dims(limit.size(), 1));
}

Results cross(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const TensorArgument& other = context.tensor("other");
  require(self.type.rank() == other.type.rank(), context, ErrorKind::Runtime,
          {.what = "inputs must have the same number of dimensions",
           .got = to_string(self.type.shape) + " and " + to_string(other.type.shape),
           .action = "unsqueeze one of them"});
  const int64_t dim = context.dimension(context.integer("dim"), self.type.rank());
  const auto place = static_cast<size_t>(dim);
  require(self.type.rank() > 0, context, ErrorKind::Index,
          {.what = concat("Dimension specified as ", context.integer("dim"), " but tensor has no dimensions"),
           .action = "give vectors of 3 numbers"});
  require(self.type.shape[place] == 3 && other.type.shape[place] == 3, context, ErrorKind::Runtime,
          {.what = concat("inputs dimension ", dim, " must have length 3"),
           .got = to_string(self.type.shape) + " and " + to_string(other.type.shape)});
  require(self.type.dtype == other.type.dtype, context, ErrorKind::Runtime,
          {.what = concat("expected scalar type ", scalar_type_name(self.type.dtype), " but found ",
                          scalar_type_name(other.type.dtype)),
           .action = "convert one of them"});
  check_types(context, self.type.dtype, "ifc");
  const Dims shape = broadcast_of_tensors(context.call);
  const DType compute = compute_dtype(self.type.dtype);
  const ir::Value x = b.broadcast_to(context.value("self", compute), shape);
  const ir::Value y = b.broadcast_to(context.value("other", compute), shape);
  std::vector<ir::Value> entries;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t next = (i + 1) % 3, last = (i + 2) % 3;
    entries.push_back(b.subtract(b.multiply(entry(b, x, dim, next), entry(b, y, dim, last)),
                                 b.multiply(entry(b, x, dim, last), entry(b, y, dim, next))));
  }
  return {b.convert(b.concatenate(entries, dim), self.type.dtype)};
}

}  // namespace

std::span<const Rule> linear_algebra_rules() {
  static const Rule rules[] = {
      general("linalg_cross", cross),
      general("linalg_solve_triangular", solve_triangular),
  };
  return rules;
}

}  // namespace opentrn::lowering
