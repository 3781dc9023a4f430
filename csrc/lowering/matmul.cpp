// Matrix products. Products accumulate in float32 for the narrow types and are rounded once, after `beta * self` was
// added.
#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::DotAttributes;

constexpr std::string_view kNumbers = "ifc";

const Dims& shape_of(const Context& context, std::string_view name) { return context.tensor(name).type.shape; }
DType dtype_of(const Context& context, std::string_view name) { return context.tensor(name).type.dtype; }

void require_rank(const Context& context, std::string_view name, size_t rank, std::string_view kind) {
  require(shape_of(context, name).size() == rank, context, ErrorKind::Runtime,
          {.what = concat(name, " must be ", kind),
           .got = "shape " + to_string(shape_of(context, name)),
           .action = "reshape it"});
}

/// All of one type, which must be one that products are defined for.
void require_dtypes(const Context& context, std::initializer_list<std::string_view> names) {
  const DType first = dtype_of(context, *names.begin());
  for (const std::string_view name : names) {
    require(dtype_of(context, name) == first, context, ErrorKind::Runtime,
            {.what = concat("expected ", *names.begin(), " and ", name, " to have the same dtype"),
             .got = concat(info(first).torch_name, " != ", info(dtype_of(context, name)).torch_name),
             .action = "convert one of them with .to()"});
  }
  check_types(context, first, kNumbers);
}

std::string by(const Dims& matrix) { return concat(matrix[0], "x", matrix[1]); }

void require_product(const Context& context, std::string_view left, std::string_view right) {
  const Dims& lhs = shape_of(context, left);
  const Dims& rhs = shape_of(context, right);
  require(lhs[1] == rhs[0], context, ErrorKind::Runtime,
          {.what = concat(left, " and ", right, " shapes cannot be multiplied (", by(lhs), " and ", by(rhs), ")"),
           .expected = "as many columns on the left as rows on the right",
           .action = "transpose one of them"});
}

void require_batches(const Context& context, std::string_view left, std::string_view right) {
  require_rank(context, left, 3, "a 3D tensor");
  require_rank(context, right, 3, "a 3D tensor");
  const Dims& lhs = shape_of(context, left);
  const Dims& rhs = shape_of(context, right);
  require(lhs[0] == rhs[0] && lhs[2] == rhs[1], context, ErrorKind::Runtime,
          {.what = concat("Expected size for first two dimensions of ", right, " tensor to be: [", lhs[0], ", ", lhs[2],
                          "] but got: [", rhs[0], ", ", rhs[1], "]"),
           .action = "transpose one of them or check the batch sizes"});
}

const DotAttributes kMatrixByMatrix{{}, {}, {1}, {0}};
const DotAttributes kBatchByBatch{{0}, {0}, {2}, {1}};
const DotAttributes kSumOfBatches{{}, {}, {0, 2}, {0, 1}};
const DotAttributes kInner{{}, {}, {0}, {0}};

/// The product in the computation type.
ir::Value product(Context& context, std::string_view left, std::string_view right, const DotAttributes& attributes) {
  const DType accumulator = compute_dtype(dtype_of(context, left));
  return context.b.dot_general(context.value(left), context.value(right), attributes, accumulator);
}

Results rounded(Context& context, ir::Value value, DType dtype) { return {context.b.convert(value, dtype)}; }

/// `beta * self + alpha * product`, where a coefficient of 0 drops its term whatever that holds.
Results combined(Context& context, std::string_view left, std::string_view right, const DotAttributes& attributes,
                 const Dims& shape) {
  ir::Builder& b = context.b;
  const int64_t beta = context.call.derived.at(0);
  const int64_t alpha = context.call.derived.at(1);
  const DType dtype = dtype_of(context, "self");
  const DType compute = compute_dtype(dtype);
  Dims expanded;
  require(broadcast_shapes(shape_of(context, "self"), shape, expanded) && expanded == shape, context,
          ErrorKind::Runtime,
          {.what = "The expanded size of the tensor self must match the existing size at non-singleton dimensions",
           .got = "shape " + to_string(shape_of(context, "self")),
           .expected = "one that broadcasts to " + to_string(shape),
           .action = "reshape self"});
  ir::Value sum;
  if (alpha != kZero) sum = scaled(context, product(context, left, right, attributes), "alpha", alpha);
  if (beta != kZero) {
    const ir::Value self = scaled(context, context.value("self", compute), "beta", beta);
    const ir::Value addend = b.broadcast_to(self, shape);
    sum = sum.valid() ? b.add(addend, sum) : addend;
  }
  return rounded(context, sum.valid() ? sum : b.splat({compute, shape}, 0), dtype);
}

Results mm(Context& context) {
  require_rank(context, "self", 2, "a matrix");
  require_rank(context, "mat2", 2, "a matrix");
  require_product(context, "self", "mat2");
  require_dtypes(context, {"self", "mat2"});
  return rounded(context, product(context, "self", "mat2", kMatrixByMatrix), dtype_of(context, "self"));
}

Results addmm(Context& context) {
  require_rank(context, "mat1", 2, "a matrix");
  require_rank(context, "mat2", 2, "a matrix");
  require_product(context, "mat1", "mat2");
  require_dtypes(context, {"self", "mat1", "mat2"});
  return combined(context, "mat1", "mat2", kMatrixByMatrix,
                  {shape_of(context, "mat1")[0], shape_of(context, "mat2")[1]});
}

Results int_mm(Context& context) {
  require_rank(context, "self", 2, "a matrix");
  require_rank(context, "mat2", 2, "a matrix");
  require_product(context, "self", "mat2");
  for (const std::string_view name : {"self", "mat2"}) {
    require(dtype_of(context, name) == DType::I8, context, ErrorKind::Runtime,
            {.what = concat("expected ", name, " dtype to be int8"),
             .got = std::string(info(dtype_of(context, name)).torch_name),
             .action = "quantise it first"});
  }
  return {context.b.dot_general(context.value("self"), context.value("mat2"), kMatrixByMatrix, DType::I32)};
}

Results bmm(Context& context) {
  require_batches(context, "self", "mat2");
  require_dtypes(context, {"self", "mat2"});
  return rounded(context, product(context, "self", "mat2", kBatchByBatch), dtype_of(context, "self"));
}

Results baddbmm(Context& context) {
  require_batches(context, "batch1", "batch2");
  require_dtypes(context, {"self", "batch1", "batch2"});
  const Dims& left = shape_of(context, "batch1");
  return combined(context, "batch1", "batch2", kBatchByBatch, {left[0], left[1], shape_of(context, "batch2")[2]});
}

Results addbmm(Context& context) {
  require_batches(context, "batch1", "batch2");
  require_dtypes(context, {"self", "batch1", "batch2"});
  return combined(context, "batch1", "batch2", kSumOfBatches,
                  {shape_of(context, "batch1")[1], shape_of(context, "batch2")[2]});
}

void require_matrix_by_vector(const Context& context, std::string_view matrix) {
  const Dims& mat = shape_of(context, matrix);
  const Dims& vec = shape_of(context, "vec");
  require(mat.size() == 2 && vec.size() == 1, context, ErrorKind::Runtime,
          {.what = "vector + matrix @ vector expected",
           .got = concat(mat.size(), "D and ", vec.size(), "D tensors"),
           .action = "reshape the operands"});
  require(mat[1] == vec[0], context, ErrorKind::Runtime,
          {.what = concat("size mismatch, got mat (", by(mat), "), vec (", vec[0], ")"),
           .expected = "as many elements in vec as columns in mat",
           .action = "transpose the matrix"});
}

Results mv(Context& context) {
  require_matrix_by_vector(context, "self");
  require_dtypes(context, {"self", "vec"});
  return rounded(context, product(context, "self", "vec", kMatrixByMatrix), dtype_of(context, "self"));
}

Results addmv(Context& context) {
  require_matrix_by_vector(context, "mat");
  require_dtypes(context, {"self", "mat", "vec"});
  const Dims shape = {shape_of(context, "mat")[0]};
  Dims expanded;
  require(broadcast_shapes(shape_of(context, "self"), shape, expanded) && expanded == shape, context,
          ErrorKind::Runtime,
          {.what = "size mismatch",
           .got = "self of shape " + to_string(shape_of(context, "self")),
           .expected = "one that broadcasts to " + to_string(shape),
           .action = "reshape self"});
  return combined(context, "mat", "vec", kMatrixByMatrix, shape);
}

void require_vectors(const Context& context, std::string_view other) {
  const Dims& left = shape_of(context, "self");
  const Dims& right = shape_of(context, other);
  require(left.size() == 1 && right.size() == 1, context, ErrorKind::Runtime,
          {.what = concat("1D tensors expected, but got ", left.size(), "D and ", right.size(), "D tensors"),
           .action = "flatten them or use matmul"});
  require_dtypes(context, {"self", other});
  require(left == right, context, ErrorKind::Runtime,
          {.what = "inconsistent tensor size, expected both to have the same number of elements",
           .got = concat(left[0], " and ", right[0], " elements respectively"),
           .action = "slice the longer one"});
}

Results dot(Context& context) {
  require_vectors(context, "tensor");
  return rounded(context, product(context, "self", "tensor", kInner), dtype_of(context, "self"));
}

Results vdot(Context& context) {
  require_vectors(context, "other");
  ir::Builder& b = context.b;
  const DType dtype = dtype_of(context, "self");
  if (!is_complex(dtype)) return rounded(context, product(context, "self", "other", kInner), dtype);
  const ir::Value self = context.value("self");
  const ir::Value conjugate = b.complex(b.real(self), b.negate(b.imag(self)));
  return {b.dot_general(conjugate, context.value("other"), kInner, dtype)};
}

/// The outer product as CPU PyTorch orders it: `beta * self + (alpha * vec1) * vec2`.
Results addr(Context& context) {
  ir::Builder& b = context.b;
  require_rank(context, "vec1", 1, "a vector: addr: Expected 1-D argument");
  require_rank(context, "vec2", 1, "a vector: addr: Expected 1-D argument");
  const Dims shape = {shape_of(context, "vec1")[0], shape_of(context, "vec2")[0]};
  Dims expanded;
  require(broadcast_shapes(shape_of(context, "self"), shape, expanded) && expanded == shape, context,
          ErrorKind::Runtime,
          {.what = "The expanded size of the tensor self must match the existing size at non-singleton dimensions",
           .got = "shape " + to_string(shape_of(context, "self")),
           .expected = "one that broadcasts to " + to_string(shape),
           .action = "reshape self"});
  Promoter promoter(context.call.default_dtype);
  for (const std::string_view name : {"self", "vec1", "vec2"}) promoter.add(context.tensor(name));
  const DType dtype = promoter.result();
  check_types(context, dtype, kAllTypes);
  for (const std::string_view name : {"beta", "alpha"}) {
    require(!is_integral(dtype) || is_integral(context.scalar(name).dtype), context, ErrorKind::Runtime,
            {.what = concat("For integral input tensors, argument ", name, " must not be a floating point number"),
             .action = "give an integer"});
  }
  const DType compute = compute_dtype(dtype);
  const int64_t beta = context.call.derived.at(0);
  const int64_t alpha = context.call.derived.at(1);
  const ir::Op times = is_bool(dtype) ? ir::Op::And : ir::Op::Multiply;
  const auto factor = [&](ir::Value value, std::string_view name, int64_t coefficient) {
    if (coefficient == kOne) return value;
    return b.binary(times, value, scalar_like(context, name, value));
  };
  const ir::Value rows = b.broadcast_in_dim(factor(context.value("vec1", compute), "alpha", alpha), shape, {0});
  ir::Value sum = b.binary(times, rows, b.broadcast_in_dim(context.value("vec2", compute), shape, {1}));
  if (beta != kZero) {
    const ir::Value self = b.broadcast_to(factor(context.value("self", compute), "beta", beta), shape);
    sum = b.binary(is_bool(dtype) ? ir::Op::Or : ir::Op::Add, self, sum);
  }
  return rounded(context, sum, dtype);
}

Rule with_coefficients(std::string_view name, RuleFunction function, StrideRule strides = StrideRule::Contiguous) {
  return Rule{.name = name, .function = function, .strides = strides, .derive = coefficient_classes};
}

}  // namespace

std::span<const Rule> matmul_rules() {
  static const Rule rules[] = {
      general("_int_mm", int_mm),
      with_coefficients("addbmm", addbmm),
      with_coefficients("addmm", addmm),
      with_coefficients("addmv", addmv),
      with_coefficients("addr", addr, StrideRule::Elementwise),
      with_coefficients("baddbmm", baddbmm),
      general("bmm", bmm),
      general("dot", dot),
      general("mm", mm),
      general("mv", mv),
      general("vdot", vdot),
  };
  return rules;
}

}  // namespace opentrn::lowering
