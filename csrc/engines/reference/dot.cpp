// DotGeneral: brings any contraction to a batched matrix product and picks the way to compute it.
#include <algorithm>
#include <optional>
#include <utility>

#include "engines/reference/buffer.h"
#include "engines/reference/copy.h"
#include "engines/reference/kernel.h"
#include "engines/reference/matrix_product.h"

namespace opentrn::engines::reference {

namespace {

/// A range of dimensions that stands for one.
struct Group {
  int64_t size = 1;
  std::optional<int64_t> stride;  // nothing when the dimensions do not step evenly
};

Group merge_group(const View& view, size_t begin, size_t end) {
  Group group{1, 0};
  if (std::count(view.shape.begin() + static_cast<std::ptrdiff_t>(begin),
                 view.shape.begin() + static_cast<std::ptrdiff_t>(end), 0) > 0) {
    return {0, 0};
  }
  for (size_t i = end; i-- > begin;) {
    if (view.shape[i] == 1) continue;
    const bool first = group.size == 1;
    if (first) group.stride = view.strides[i];
    const bool even = first || (group.stride && view.strides[i] == *group.stride * group.size);
    if (!even) group.stride = std::nullopt;
    group.size *= view.shape[i];
  }
  return group;
}

/// An operand or the result as batch x rows x columns, with a copy where its own strides do not allow that.
struct MatrixOperand {
  View view;  // dimensions in the order batch, rows, columns
  StridedCopy copy;
  bool copied = false;
  Group rows, columns;

  int64_t bytes() const { return copied ? view.elements() * view.item_size() : 0; }
};

MatrixOperand matrix_operand(const View& grouped, size_t batch_rank, size_t row_rank, bool is_result) {
  MatrixOperand operand{grouped, {}, false, {}, {}};
  const auto merge = [&] {
    operand.rows = merge_group(operand.view, batch_rank, batch_rank + row_rank);
    operand.columns = merge_group(operand.view, batch_rank + row_rank, operand.view.shape.size());
  };
  merge();
  if (operand.rows.stride && operand.columns.stride) return operand;
  operand.copied = true;
  operand.view = ir::contiguous_view({grouped.dtype, grouped.shape});
  operand.copy = is_result ? StridedCopy(operand.view, grouped) : StridedCopy(grouped, operand.view);
  merge();
  return operand;
}

/// Dimensions of `rank` that are in neither list, ascending.
Dims other_dimensions(int64_t rank, const Dims& left, const Dims& right) {
  Dims others;
  for (int64_t i = 0; i < rank; ++i) {
    const bool named = std::count(left.begin(), left.end(), i) + std::count(right.begin(), right.end(), i) > 0;
    if (!named) others.push_back(i);
  }
  return others;
}

MatrixOperand grouped_operand(const View& operand, const Dims& batching, const Dims& contracting) {
  const Dims free = other_dimensions(operand.rank(), batching, contracting);
  Dims permutation = batching;
  permutation.insert(permutation.end(), free.begin(), free.end());
  permutation.insert(permutation.end(), contracting.begin(), contracting.end());
  return matrix_operand(transpose_view(operand, permutation), batching.size(), free.size(), false);
}

Nest batch_nest(const View& c, const View& a, const View& b, size_t batch_rank) {
  std::vector<LoopDimension> dimensions;
  for (size_t i = 0; i < batch_rank; ++i) {
    dimensions.push_back(
        {c.shape[i], {c.strides[i] * c.item_size(), a.strides[i] * a.item_size(), b.strides[i] * b.item_size()}});
  }
  return make_ordered_nest(dimensions);
}

DType accumulator_for(DType a, DType b, DType c) {
  if (is_complex(a) || is_complex(b) || is_complex(c)) return DType::C128;
  if (a == DType::F64 || b == DType::F64 || c == DType::F64) return DType::F64;
  if (is_float(a) || is_float(b) || is_float(c)) return DType::F32;
  return is_bool(c) || size_of(c) == 8 ? DType::U64 : DType::U32;
}

void run_product(const MatrixProduct& product, const MatrixAddresses& addresses) {
  if (product.accumulator == DType::F32 && few_rows_apply(product)) return few_rows_product(product, addresses);
  if (is_float(product.accumulator)) return blocked_product(product, addresses);
  plain_product(product, addresses);
}

}  // namespace

void transpose_product(MatrixProduct& product, MatrixAddresses& addresses) {
  std::swap(product.m, product.n);
  std::swap(product.a, product.b);
  std::swap(product.a_m, product.b_n);
  std::swap(product.a_k, product.b_k);
  std::swap(product.c_m, product.c_n);
  for (LoopDimension& dimension : product.batches.dimensions) std::swap(dimension.steps[1], dimension.steps[2]);
  std::swap(addresses.a, addresses.b);
}

MatrixAddresses batch_addresses(const MatrixProduct& product, const MatrixAddresses& first, int64_t batch) {
  const Steps offset = offset_at(product.batches, batch);
  return {first.c + offset[0], first.a + offset[1], first.b + offset[2]};
}

Kernel dot_kernel(const Problem& problem) {
  const auto& attributes = problem.node.as<ir::DotAttributes>();
  const View& result = problem.results[0];
  const size_t batch_rank = attributes.lhs_batching_dimensions.size();
  const size_t row_rank = problem.operands[0].shape.size() - batch_rank - attributes.lhs_contracting_dimensions.size();
  MatrixOperand lhs =
      grouped_operand(problem.operands[0], attributes.lhs_batching_dimensions, attributes.lhs_contracting_dimensions);
  MatrixOperand rhs =
      grouped_operand(problem.operands[1], attributes.rhs_batching_dimensions, attributes.rhs_contracting_dimensions);
  MatrixOperand out = matrix_operand(result, batch_rank, row_rank, true);

  MatrixProduct product;
  product.m = out.rows.size;
  product.n = out.columns.size;
  product.k = lhs.columns.size;
  product.a = lhs.view.dtype;
  product.b = rhs.view.dtype;
  product.c = result.dtype;
  product.a_m = *lhs.rows.stride;
  product.a_k = *lhs.columns.stride;
  product.b_n = *rhs.rows.stride;
  product.b_k = *rhs.columns.stride;
  product.c_m = *out.rows.stride;
  product.c_n = *out.columns.stride;
  product.batches = batch_nest(out.view, lhs.view, rhs.view, batch_rank);
  product.accumulator = accumulator_for(product.a, product.b, product.c);
  MatrixAddresses none{};
  if (product.m > product.n) transpose_product(product, none);
  const bool transposed = out.rows.size > out.columns.size;

  return [=, empty = result.elements() == 0](std::byte* const* operands, std::byte* const* results) {
    if (empty) return;
    const Workspace space(aligned(lhs.bytes()) + aligned(rhs.bytes()) + out.bytes());
    MatrixAddresses addresses{results[0], operands[0], operands[1]};
    std::byte* free = space.data();
    if (lhs.copied) {
      lhs.copy(operands[0], free);
      addresses.a = free;
      free += aligned(lhs.bytes());
    }
    if (rhs.copied) {
      rhs.copy(operands[1], free);
      addresses.b = free;
      free += aligned(rhs.bytes());
    }
    if (out.copied) addresses.c = free;
    if (transposed) std::swap(addresses.a, addresses.b);
    run_product(product, addresses);
    if (out.copied) out.copy(free, results[0]);
  };
}

}  // namespace opentrn::engines::reference
