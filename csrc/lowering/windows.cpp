#include "lowering/windows.h"

#include <algorithm>
#include <numeric>

namespace opentrn::lowering {
namespace {

Dims range(int64_t begin, int64_t end) {
  Dims dims(static_cast<size_t>(std::max<int64_t>(end - begin, 0)));
  std::iota(dims.begin(), dims.end(), begin);
  return dims;
}

Dims range_without(int64_t rank, int64_t dim) {
  Dims dims = range(0, rank);
  dims.erase(dims.begin() + dim);
  return dims;
}

bool contains(const Dims& dims, int64_t dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

/// Dimensions of the result that come from the operand.
Dims window_dims(const MultiIndex& index, int64_t rank) {
  const int64_t position = index.batch_position();
  const auto batch_rank = static_cast<int64_t>(index.batch.size());
  Dims dims;
  for (int64_t dim = 0; dim < rank - static_cast<int64_t>(index.dims.size()); ++dim) {
    dims.push_back(dim < position ? dim : dim + batch_rank);
  }
  return dims;
}

ir::Value index_vectors(ir::Builder& b, const MultiIndex& index) {
  if (index.indices.size() == 1) return index.indices.front();
  Dims column = index.batch;
  column.push_back(1);
  std::vector<ir::Value> columns;
  for (const ir::Value value : index.indices) columns.push_back(b.reshape(value, column));
  return b.concatenate(columns, static_cast<int64_t>(index.batch.size()));
}

}  // namespace

int64_t MultiIndex::batch_position() const {
  const bool neighbours = dims.back() - dims.front() + 1 == static_cast<int64_t>(dims.size());
  return neighbours ? dims.front() : 0;
}

Dims MultiIndex::result_shape(const Dims& operand) const {
  Dims shape;
  for (int64_t dim = 0; dim < static_cast<int64_t>(operand.size()); ++dim) {
    if (!contains(dims, dim)) shape.push_back(operand[static_cast<size_t>(dim)]);
  }
  shape.insert(shape.begin() + batch_position(), batch.begin(), batch.end());
  return shape;
}

ir::Value gather_multi(ir::Builder& b, ir::Value operand, const MultiIndex& index) {
  const ir::TensorType result{b.dtype(operand), index.result_shape(b.shape(operand))};
  if (result.elements() == 0) return b.splat(result, 0);
  ir::GatherAttributes attributes;
  attributes.offset_dims = window_dims(index, b.rank(operand));
  attributes.collapsed_slice_dims = index.dims;
  attributes.start_index_map = index.dims;
  attributes.index_vector_dim = static_cast<int64_t>(index.batch.size());
  attributes.slice_sizes = b.shape(operand);
  for (const int64_t dim : index.dims) attributes.slice_sizes[static_cast<size_t>(dim)] = 1;
  return b.gather(operand, index_vectors(b, index), std::move(attributes));
}

ir::Value scatter_multi(ir::Builder& b, ir::Value operand, const MultiIndex& index, ir::Value updates, ir::Op update) {
  if (b.type(updates).elements() == 0) return operand;
  ir::ScatterAttributes attributes;
  attributes.update_window_dims = window_dims(index, b.rank(operand));
  attributes.inserted_window_dims = index.dims;
  attributes.scatter_dims_to_operand_dims = index.dims;
  attributes.index_vector_dim = static_cast<int64_t>(index.batch.size());
  attributes.update = update;
  return b.scatter(operand, index_vectors(b, index), updates, std::move(attributes));
}

ir::Value gather_slices(ir::Builder& b, ir::Value operand, int64_t dim, ir::Value indices) {
  return gather_multi(b, operand, {{dim}, {indices}, b.shape(indices)});
}

ir::Value scatter_slices(ir::Builder& b, ir::Value operand, int64_t dim, ir::Value indices, ir::Value updates,
                         ir::Op update) {
  return scatter_multi(b, operand, {{dim}, {indices}, b.shape(indices)}, updates, update);
}

ir::Value head(ir::Builder& b, ir::Value operand, const Dims& sizes) {
  return b.slice(operand, Dims(sizes.size(), 0), sizes, Dims(sizes.size(), 1));
}

ir::Value gather_elements(ir::Builder& b, ir::Value operand, int64_t dim, ir::Value indices) {
  const Dims shape = b.shape(indices);
  if (element_count(shape) == 0) return b.splat({b.dtype(operand), shape}, 0);
  const auto rank = static_cast<int64_t>(shape.size());
  Dims sizes = shape;
  sizes[static_cast<size_t>(dim)] = b.shape(operand)[static_cast<size_t>(dim)];
  ir::GatherAttributes attributes;
  attributes.collapsed_slice_dims = {dim};
  attributes.operand_batching_dims = range_without(rank, dim);
  attributes.start_indices_batching_dims = attributes.operand_batching_dims;
  attributes.start_index_map = {dim};
  attributes.index_vector_dim = rank;
  attributes.slice_sizes = Dims(shape.size(), 1);
  return b.gather(head(b, operand, sizes), indices, std::move(attributes));
}

namespace {

ir::Value scatter_elements_same_sizes(ir::Builder& b, ir::Value operand, int64_t dim, ir::Value indices,
                                      ir::Value updates, ir::Op update) {
  ir::ScatterAttributes attributes;
  attributes.inserted_window_dims = {dim};
  attributes.input_batching_dims = range_without(b.rank(indices), dim);
  attributes.scatter_indices_batching_dims = attributes.input_batching_dims;
  attributes.scatter_dims_to_operand_dims = {dim};
  attributes.index_vector_dim = b.rank(indices);
  attributes.update = update;
  return b.scatter(operand, indices, updates, std::move(attributes));
}

/// Writes `part` back to the start of every dimension of `operand`.
ir::Value put_head(ir::Builder& b, ir::Value operand, ir::Value part) {
  const std::vector<ir::Value> zeros(static_cast<size_t>(b.rank(operand)), b.scalar(DType::I64, 0));
  return b.dynamic_update_slice(operand, part, zeros);
}

}  // namespace

ir::Value scatter_elements(ir::Builder& b, ir::Value operand, int64_t dim, ir::Value indices, ir::Value updates,
                           ir::Op update) {
  if (b.type(indices).elements() == 0) return operand;
  Dims sizes = b.shape(indices);
  sizes[static_cast<size_t>(dim)] = b.shape(operand)[static_cast<size_t>(dim)];
  if (sizes == b.shape(operand)) return scatter_elements_same_sizes(b, operand, dim, indices, updates, update);
  const ir::Value part = scatter_elements_same_sizes(b, head(b, operand, sizes), dim, indices, updates, update);
  return put_head(b, operand, part);
}

}  // namespace opentrn::lowering
