// Steps that reduce, contract, look up and sort.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/random_graphs/generator.h"
#include "tests/random_graphs/limits.h"

namespace opentrn::random_graphs {

using ir::Op;
using ir::Value;

void Generator::reduce() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  Dims dimensions;
  double count = 1;
  for (int64_t i = 0; i < type(x).rank(); ++i) {
    if (!chance(0.5)) continue;
    dimensions.push_back(i);
    count *= static_cast<double>(type(x).shape[static_cast<size_t>(i)]);
  }
  static const std::vector<Op> kOps = {Op::Add, Op::Maximum, Op::Minimum};
  static const std::vector<Op> kLogic = {Op::And, Op::Or};
  const Op op = dtype == DType::Bool ? pick(kLogic) : pick(kOps);
  if (count == 0 && op != Op::Add) return;  // neutral elements are infinite
  note_read(x);
  const Value value = builder_.reduce(x.value, op, dimensions);
  if (op != Op::Add) return keep(value, x.bound, x.error);
  const double bound = std::max(1.0, x.bound * count);
  const bool exact = x.error == 0 && bound <= exact_limit(dtype);
  keep(value, bound, exact ? 0 : x.error * count + spacing(dtype) * bound * std::max(1.0, std::sqrt(count)));
}

void Generator::scan() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  if (type(x).rank() == 0 || type(x).elements() == 0 || dtype == DType::Bool) return;
  const auto dimension = static_cast<size_t>(between(0, type(x).rank() - 1));
  const auto rank = static_cast<size_t>(type(x).rank());
  const int64_t size = type(x).shape[dimension];
  ir::ReduceWindowAttributes window{Op::Add,       Dims(rank, 1), Dims(rank, 1), Dims(rank, 1),
                                    Dims(rank, 1), Dims(rank, 0), Dims(rank, 0)};
  window.window_dimensions[dimension] = size;
  window.padding_low[dimension] = size - 1;
  const double bound = x.bound * static_cast<double>(size);
  const bool exact = x.error == 0 && bound <= exact_limit(dtype);
  if (is_float(dtype) && !exact && dtype != DType::F32 && dtype != DType::F64) return;
  note_read(x);
  const double count = static_cast<double>(size);
  keep(builder_.reduce_window(x.value, builder_.scalar(dtype, 0), window), bound,
       exact ? 0 : x.error * count + spacing(dtype) * bound * count);
}

void Generator::pool() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  if (dtype == DType::Bool || type(x).elements() == 0) return;
  const auto rank = static_cast<size_t>(type(x).rank());
  ir::ReduceWindowAttributes window{Op::Maximum,   Dims(rank, 1), Dims(rank, 1), Dims(rank, 1),
                                    Dims(rank, 1), Dims(rank, 0), Dims(rank, 0)};
  for (size_t i = 0; i < rank; ++i) {
    window.window_dimensions[i] = std::min<int64_t>(between(1, 3), type(x).shape[i]);
    window.window_strides[i] = between(1, 2);
    window.padding_high[i] = between(0, 1);
  }
  note_read(x);
  const double lowest = category(dtype) == Category::Unsigned ? 0 : -kParameterBound;
  keep(builder_.reduce_window(x.value, builder_.scalar(dtype, lowest), window), std::max(x.bound, kParameterBound),
       x.error);
}

void Generator::dot() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  const int64_t rank = type(x).rank();
  if (dtype == DType::Bool || rank == 0 || rank > 3) return;
  const int64_t contracted = between(0, rank - 1);
  const int64_t batch = rank == 3 && chance(0.6) ? (contracted + 1) % rank : -1;
  const int64_t k = type(x).shape[static_cast<size_t>(contracted)];
  static const std::vector<int64_t> kColumns = {1, 2, 5, 17, 64, 128, 130};
  const int64_t n = pick(kColumns);
  const int64_t rows = k == 0 ? 1 : type(x).elements() / k;
  if (rows * n > kMostElements || k * n > kMostElements || type(x).elements() * n > 50 * kMostElements) return;
  ir::DotAttributes attributes;
  Dims right = chance(0.5) ? Dims{n, k} : Dims{k, n};
  attributes.lhs_contracting_dimensions = {contracted};
  attributes.rhs_contracting_dimensions = {right[0] == k && right.size() == 2 && right[1] == n ? 0 : 1};
  if (batch >= 0) {
    if (type(x).shape[static_cast<size_t>(batch)] * k * n > kMostElements) return;
    right.insert(right.begin(), type(x).shape[static_cast<size_t>(batch)]);
    attributes.rhs_contracting_dimensions[0] += 1;
    attributes.lhs_batching_dimensions = {batch};
    attributes.rhs_batching_dimensions = {0};
  }
  const Known y = like({dtype, right});
  const double count = static_cast<double>(k);
  const double bound = std::max(1.0, x.bound * y.bound * count);
  const bool exact = x.error == 0 && y.error == 0 && bound <= exact_limit(dtype);
  const double inherited = count * (x.error * y.bound + y.error * x.bound + x.error * y.error);
  note_read(x);
  note_read(y);
  keep(builder_.dot_general(x.value, y.value, attributes, dtype), bound,
       exact ? 0 : inherited + spacing(dtype) * bound * std::max(1.0, std::sqrt(count)));
}

// Rows of x by index.
void Generator::gather() {
  const Known x = any();
  if (type(x).rank() == 0 || type(x).shape[0] == 0) return;
  const int64_t count = between(0, 40);
  const int64_t row = type(x).elements() / type(x).shape[0];
  if (count * row > kMostElements) return;
  const Known indices = like({chance(0.5) ? DType::I64 : DType::I32, {count, 1}});
  ir::GatherAttributes attributes;
  attributes.collapsed_slice_dims = {0};
  attributes.start_index_map = {0};
  attributes.index_vector_dim = 1;
  attributes.slice_sizes = type(x).shape;
  attributes.slice_sizes[0] = 1;
  for (int64_t i = 1; i < type(x).rank(); ++i) attributes.offset_dims.push_back(i);
  note_read(x);
  note_read(indices);
  keep(builder_.gather(x.value, indices.value, attributes), x.bound, x.error);
}

void Generator::scatter() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  if (type(x).rank() == 0 || type(x).elements() == 0) return;
  const int64_t count = between(0, 20);
  Dims update_shape = type(x).shape;
  update_shape[0] = count;
  if (element_count(update_shape) > kMostElements) return;
  const Known indices = like({DType::I64, {count, 1}});
  const Known updates = like({dtype, update_shape});
  ir::ScatterAttributes attributes;
  for (int64_t i = 1; i < type(x).rank(); ++i) attributes.update_window_dims.push_back(i);
  attributes.inserted_window_dims = {0};
  attributes.scatter_dims_to_operand_dims = {0};
  attributes.index_vector_dim = 1;
  const bool adds = dtype != DType::Bool && chance(0.5);
  attributes.update = adds ? Op::Add : Op::Select;
  for (const Known& known : {x, indices, updates}) note_read(known);
  const Value value = builder_.scatter(x.value, indices.value, updates.value, attributes);
  if (!adds) return keep(value, std::max(x.bound, updates.bound), std::max(x.error, updates.error));
  const double n = static_cast<double>(count);
  const double bound = x.bound + n * updates.bound;
  const bool exact = x.error == 0 && updates.error == 0 && bound <= exact_limit(dtype);
  keep(value, bound, exact ? 0 : x.error + n * updates.error + spacing(dtype) * bound * std::max(1.0, n));
}

void Generator::dynamic_slice() {
  const Known x = any();
  std::vector<Value> starts;
  Dims sizes;
  for (const int64_t size : type(x).shape) {
    const Known start = like({DType::I64, {}});
    note_read(start);
    starts.push_back(start.value);
    sizes.push_back(between(std::min<int64_t>(size, 1), size));
  }
  note_read(x);
  if (chance(0.5)) return keep(builder_.dynamic_slice(x.value, starts, sizes), x.bound, x.error);
  const Known update = like({type(x).dtype, sizes});
  note_read(update);
  keep(builder_.dynamic_update_slice(x.value, update.value, starts), std::max(x.bound, update.bound),
       std::max(x.error, update.error));
}

void Generator::sort() {
  const Known x = any();
  if (x.error > 0 || type(x).rank() == 0) return;
  const int64_t dimension = between(0, type(x).rank() - 1);
  const Value order = builder_.iota({DType::I64, type(x).shape}, dimension);
  const std::vector<Value> operands = {x.value, order};
  const std::vector<Value> sorted = builder_.sort(operands, {dimension, true, chance(0.5)});
  note_read(x);
  keep(sorted[0], x.bound, 0);
  keep(sorted[1], 1e4, 0);
}

}  // namespace opentrn::random_graphs
