// Primitives that index with values: dynamic_slice, dynamic_update_slice, gather, scatter.
#include <algorithm>

#include "ir/inference_rules.h"

namespace opentrn::ir {

namespace {

Dims joined(const Dims& left, const Dims& right) {
  Dims both = left;
  both.insert(both.end(), right.begin(), right.end());
  return both;
}

// Start indices of dynamic_slice and dynamic_update_slice: one scalar per dimension, all of one type.
void require_starts(const InferenceQuery& query, size_t first, size_t rank) {
  const size_t count = query.operands.size() - first;
  if (count != rank) {
    refuse(query.op, "wrong number of start indices", std::to_string(count), concat("one per dimension, ", rank));
  }
  for (size_t i = first; i < query.operands.size(); ++i) {
    require_index(query.op, i, *query.operands[i]);
    require_scalar(query.op, i, *query.operands[i], query.operands[first]->dtype);
  }
}

TensorType infer_dynamic_slice(const InferenceQuery& query) {
  if (query.operands.empty()) refuse(query.op, "there are no operands", "", "at least one operand");
  const TensorType& operand = *query.operands[0];
  const Dims& sizes = attributes_of<DynamicSliceAttributes>(query).slice_sizes;
  require_length(query.op, "slice_sizes", sizes, operand.shape.size());
  require_starts(query, 1, operand.shape.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] >= 0 && sizes[i] <= operand.shape[i]) continue;
    refuse(query.op, "slice_sizes is out of range", to_string(sizes), concat("at most ", to_string(operand.shape)));
  }
  return {operand.dtype, sizes};
}

TensorType infer_dynamic_update_slice(const InferenceQuery& query) {
  if (query.operands.size() < 2) refuse(query.op, "operands are missing", "", "at least two operands");
  const TensorType& operand = *query.operands[0];
  const TensorType& update = *query.operands[1];
  bool fits = update.dtype == operand.dtype && update.rank() == operand.rank();
  for (size_t i = 0; fits && i < operand.shape.size(); ++i) fits = update.shape[i] <= operand.shape[i];
  if (!fits) {
    refuse(query.op, "operand 1 does not fit into operand 0", to_string(update),
           concat("the same element type and at most ", to_string(operand)));
  }
  require_starts(query, 2, operand.shape.size());
  return operand;
}

// What gather and scatter have in common: an operand, windows of it, and indices that say where the windows start. The
// names are gather's; `names` holds the words of the primitive at hand.
struct WindowNumbers {
  const Dims& window_dims;       // offset_dims, update_window_dims
  const Dims& collapsed;         // collapsed_slice_dims, inserted_window_dims
  const Dims& operand_batching;  // operand_batching_dims, input_batching_dims
  const Dims& index_batching;    // start_indices_batching_dims, scatter_indices_batching_dims
  const Dims& index_map;         // start_index_map, scatter_dims_to_operand_dims
  int64_t index_vector_dim;
};

struct WindowNames {
  std::string_view window_dims, collapsed, operand_batching, index_batching, index_map;
};

constexpr WindowNames kGatherNames{"offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                                   "start_indices_batching_dims", "start_index_map"};
constexpr WindowNames kScatterNames{"update_window_dims", "inserted_window_dims", "input_batching_dims",
                                    "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"};

void require_ascending(Op op, std::string_view list, const Dims& dimensions) {
  if (std::is_sorted(dimensions.begin(), dimensions.end())) return;
  refuse(op, concat(list, " is not sorted"), to_string(dimensions), "ascending dimensions");
}

void require_window_numbers(Op op, const WindowNumbers& numbers, const WindowNames& names, const TensorType& operand,
                            const TensorType& indices, size_t index_operand) {
  require_index(op, index_operand, indices);
  if (numbers.index_vector_dim < 0 || numbers.index_vector_dim > indices.rank()) {
    refuse(op, "index_vector_dim is out of range", std::to_string(numbers.index_vector_dim),
           concat("a dimension in [0, ", indices.rank(), "]"));
  }
  const bool vector = numbers.index_vector_dim < indices.rank();
  const int64_t length = vector ? at(indices.shape, numbers.index_vector_dim) : 1;
  require_length(op, names.index_map, numbers.index_map, static_cast<size_t>(length));
  require_dimensions(op, concat(names.collapsed, " with ", names.operand_batching),
                     joined(numbers.collapsed, numbers.operand_batching), operand.rank());
  require_dimensions(op, concat(names.index_map, " with ", names.operand_batching),
                     joined(numbers.index_map, numbers.operand_batching), operand.rank());
  require_dimensions(op, names.index_batching, numbers.index_batching, indices.rank());
  require_ascending(op, names.window_dims, numbers.window_dims);
  require_ascending(op, names.collapsed, numbers.collapsed);
  require_ascending(op, names.operand_batching, numbers.operand_batching);
  require_length(op, names.index_batching, numbers.index_batching, numbers.operand_batching.size());
  if (contains(numbers.index_batching, numbers.index_vector_dim)) {
    refuse(op, concat(names.index_batching, " names index_vector_dim"), to_string(numbers.index_batching),
           concat("dimensions other than ", numbers.index_vector_dim));
  }
  for (size_t i = 0; i < numbers.operand_batching.size(); ++i) {
    const int64_t size = at(operand.shape, numbers.operand_batching[i]);
    if (size == at(indices.shape, numbers.index_batching[i])) continue;
    refuse(op, concat("batching dimension ", i, " of operand 1 has another size than that of operand 0"),
           to_string(indices), concat("size ", size));
  }
}

// Sizes of the indices but for index_vector_dim, in order.
Dims index_sizes(const TensorType& indices, int64_t index_vector_dim) {
  Dims sizes = indices.shape;
  if (index_vector_dim < indices.rank()) sizes.erase(sizes.begin() + index_vector_dim);
  return sizes;
}

TensorType infer_gather(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  const TensorType& indices = *query.operands[1];
  const auto& attributes = attributes_of<GatherAttributes>(query);
  const WindowNumbers numbers{attributes.offset_dims,           attributes.collapsed_slice_dims,
                              attributes.operand_batching_dims, attributes.start_indices_batching_dims,
                              attributes.start_index_map,       attributes.index_vector_dim};
  require_window_numbers(query.op, numbers, kGatherNames, operand, indices, 1);
  require_length(query.op, "slice_sizes", attributes.slice_sizes, operand.shape.size());
  Dims window;
  for (int64_t i = 0; i < operand.rank(); ++i) {
    const int64_t size = at(attributes.slice_sizes, i);
    const bool dropped = contains(numbers.collapsed, i) || contains(numbers.operand_batching, i);
    if (size < 0 || size > at(operand.shape, i) || (dropped && size > 1)) {
      refuse(query.op, concat("slice_sizes is out of range in dimension ", i), to_string(attributes.slice_sizes),
             concat("at most ", to_string(operand.shape), ", and 1 for collapsed and batching dimensions"));
    }
    if (!dropped) window.push_back(size);
  }
  const Dims batch = index_sizes(indices, numbers.index_vector_dim);
  const auto rank = static_cast<int64_t>(batch.size() + window.size());
  require_length(query.op, "offset_dims", attributes.offset_dims, window.size());
  require_dimensions(query.op, "offset_dims", attributes.offset_dims, rank);
  TensorType result{operand.dtype, {}};
  auto next_window = window.begin();
  auto next_batch = batch.begin();
  for (int64_t i = 0; i < rank; ++i) {
    result.shape.push_back(contains(attributes.offset_dims, i) ? *next_window++ : *next_batch++);
  }
  return result;
}

}  // namespace

void require_scatter(const InferenceQuery& query, size_t index, size_t inputs) {
  const TensorType& operand = *query.operands[index];
  const TensorType& indices = *query.operands[inputs];
  const TensorType& updates = *query.operands[inputs + 1 + index];
  const std::string which = operand_name(inputs + 1 + index);
  const auto& attributes = attributes_of<ScatterAttributes>(query);
  const WindowNumbers numbers{attributes.update_window_dims,           attributes.inserted_window_dims,
                              attributes.input_batching_dims,          attributes.scatter_indices_batching_dims,
                              attributes.scatter_dims_to_operand_dims, attributes.index_vector_dim};
  require_window_numbers(query.op, numbers, kScatterNames, operand, indices, inputs);
  if (updates.dtype != operand.dtype) {
    refuse(query.op, concat(which, " has another element type than ", operand_name(index)), to_string(updates),
           concat("element type ", name(operand.dtype)));
  }
  Dims window;  // the largest window the operand has room for
  for (int64_t i = 0; i < operand.rank(); ++i) {
    const bool dropped = contains(numbers.collapsed, i) || contains(numbers.operand_batching, i);
    if (!dropped) window.push_back(at(operand.shape, i));
  }
  const Dims batch = index_sizes(indices, numbers.index_vector_dim);
  const size_t rank = batch.size() + window.size();
  require_length(query.op, "update_window_dims", attributes.update_window_dims, window.size());
  require_length(query.op, "the shape of " + which, updates.shape, rank);
  require_dimensions(query.op, "update_window_dims", attributes.update_window_dims, updates.rank());
  auto next_window = window.begin();
  auto next_batch = batch.begin();
  for (int64_t i = 0; i < updates.rank(); ++i) {
    const bool in_window = contains(attributes.update_window_dims, i);
    const int64_t limit = in_window ? *next_window++ : *next_batch++;
    const int64_t size = at(updates.shape, i);
    if (in_window ? size <= limit : size == limit) continue;
    refuse(query.op, concat(which, " has a wrong size in dimension ", i), to_string(updates),
           concat(in_window ? "at most " : "", limit));
  }
}

namespace {

TensorType infer_scatter(const InferenceQuery& query) {
  if (query.operands.size() != 3) {
    refuse(query.op, "wrong number of operands", std::to_string(query.operands.size()), "3");
  }
  const TensorType& operand = *query.operands[0];
  const auto& attributes = attributes_of<ScatterAttributes>(query);
  if (attributes.update != Op::Select && !is_reducer(attributes.update, operand.dtype)) {
    refuse(query.op, "the update function does not work on the element type",
           concat(name(attributes.update), " on ", name(operand.dtype)), "a reducer of that type, or select");
  }
  require_scatter(query, 0, 1);
  return operand;
}

}  // namespace

std::vector<TensorType> infer_indexing(const InferenceQuery& query) {
  switch (query.op) {
    case Op::DynamicSlice: return {infer_dynamic_slice(query)};
    case Op::DynamicUpdateSlice: return {infer_dynamic_update_slice(query)};
    case Op::Gather: return {infer_gather(query)};
    default: break;
  }
  if (attributes_of<ScatterAttributes>(query).update == Op::Map) return infer_with_regions(query);
  return {infer_scatter(query)};
}

}  // namespace opentrn::ir
