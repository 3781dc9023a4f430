// Graphs that between them hold every primitive, for tests that must not forget one.
#pragma once

#include <utility>
#include <vector>

#include "base/error.h"
#include "ir/builder.h"

namespace opentrn::ir {

namespace samples {

constexpr DType F32 = DType::F32;

inline Graph of(Builder& builder, std::vector<Value> results) { return builder.finish(std::move(results)); }

inline void add_data(std::vector<Graph>& graphs) {
  Builder b;
  const auto parameter = [&b](DType dtype, Dims shape) { return b.parameter(TensorType{dtype, std::move(shape)}); };
  graphs.push_back(of(b, {b.broadcast_in_dim(parameter(F32, {3}), {2, 3, 4}, {1})}));
  graphs.push_back(of(b, {b.broadcast_in_dim(parameter(F32, {}), {2, 3}, {})}));
  graphs.push_back(of(b, {b.broadcast_in_dim(parameter(F32, {1, 2}), {2, 5}, {1, 0})}));
  const Value left = parameter(F32, {2, 3});
  const Value right = parameter(F32, {2, 1});
  graphs.push_back(of(b, {b.concatenate(std::vector<Value>{left, right, left}, 1)}));
  graphs.push_back(of(b, {b.splat({F32, {2, 2}}, 0.1)}));
  const Value operand = parameter(F32, {4, 5});
  const std::vector<Value> starts{parameter(DType::I64, {}), parameter(DType::I64, {})};
  graphs.push_back(of(b, {b.dynamic_slice(operand, starts, {1, 5})}));
  const Value whole = parameter(F32, {4, 5});
  const Value part = parameter(F32, {2, 5});
  const std::vector<Value> corner{parameter(DType::I32, {}), parameter(DType::I32, {})};
  graphs.push_back(of(b, {b.dynamic_update_slice(whole, part, corner)}));
  graphs.push_back(of(b, {b.iota({DType::I64, {2, 3}}, 1)}));
  const Value padded = parameter(F32, {2, 3});
  graphs.push_back(of(b, {b.pad(padded, parameter(F32, {}), {1, -1}, {0, 2}, {0, 3})}));
  graphs.push_back(of(b, {b.reshape(parameter(F32, {2, 6}), {3, 4})}));
  graphs.push_back(of(b, {b.reshape(parameter(F32, {1, 1}), {})}));
  graphs.push_back(of(b, {b.reverse(parameter(F32, {2, 3}), {1, 0})}));
  graphs.push_back(of(b, {b.slice(parameter(F32, {4, 9}), {1, 0}, {4, 8}, {1, 3})}));
  graphs.push_back(of(b, {b.transpose(parameter(F32, {2, 3, 4}), {2, 0, 1})}));
}

inline void add_indexing(std::vector<Graph>& graphs) {
  Builder b;
  const auto parameter = [&b](DType dtype, Dims shape) { return b.parameter(TensorType{dtype, std::move(shape)}); };
  const Value table = parameter(F32, {10, 4});
  GatherAttributes rows;
  rows.offset_dims = {1};
  rows.collapsed_slice_dims = {0};
  rows.start_index_map = {0};
  rows.index_vector_dim = 1;
  rows.slice_sizes = {1, 4};
  graphs.push_back(of(b, {b.gather(table, parameter(DType::I64, {3}), rows)}));
  const Value batched = parameter(F32, {2, 5, 6});
  GatherAttributes batch;
  batch.collapsed_slice_dims = {1, 2};
  batch.operand_batching_dims = {0};
  batch.start_indices_batching_dims = {0};
  batch.start_index_map = {2, 1};
  batch.collapsed_slice_dims = {1, 2};
  batch.index_vector_dim = 2;
  batch.slice_sizes = {1, 1, 1};
  batch.indices_are_sorted = true;
  graphs.push_back(of(b, {b.gather(batched, parameter(DType::I32, {2, 7, 2}), batch)}));
  for (const Op update : {Op::Select, Op::Add, Op::Maximum}) {
    const Value operand = parameter(F32, {10, 4});
    const Value indices = parameter(DType::I64, {3, 1});
    ScatterAttributes scatter;
    scatter.update_window_dims = {1};
    scatter.inserted_window_dims = {0};
    scatter.scatter_dims_to_operand_dims = {0};
    scatter.index_vector_dim = 1;
    scatter.update = update;
    scatter.unique_indices = update == Op::Add;
    graphs.push_back(of(b, {b.scatter(operand, indices, parameter(F32, {3, 4}), scatter)}));
  }
}

inline void add_compute(std::vector<Graph>& graphs) {
  Builder b;
  const auto parameter = [&b](DType dtype, Dims shape) { return b.parameter(TensorType{dtype, std::move(shape)}); };
  const Value lhs = parameter(F32, {2, 3, 4});
  graphs.push_back(of(b, {b.dot_general(lhs, parameter(F32, {2, 4, 5}), {{0}, {0}, {2}, {1}}, F32)}));
  const Value vector = parameter(DType::BF16, {4});
  graphs.push_back(of(b, {b.dot_general(vector, parameter(DType::BF16, {4}), {{}, {}, {0}, {0}}, F32)}));
  for (const Op reducer : {Op::Add, Op::Multiply, Op::Maximum, Op::Minimum, Op::And, Op::Or, Op::Xor}) {
    graphs.push_back(of(b, {b.reduce(parameter(DType::I32, {2, 3, 4}), reducer, {2, 0})}));
  }
  const Value windowed = parameter(F32, {6, 8});
  ReduceWindowAttributes window{Op::Maximum, {2, 3}, {1, 2}, {1, 2}, {2, 1}, {0, 1}, {1, -1}};
  graphs.push_back(of(b, {b.reduce_window(windowed, b.scalar(F32, -1e30), window)}));
  const Value scanned = parameter(DType::I64, {5});
  ReduceWindowAttributes scan{Op::Add, {5}, {1}, {1}, {1}, {4}, {0}};
  graphs.push_back(of(b, {b.reduce_window(scanned, b.scalar(DType::I64, 0), scan)}));
  const auto [state, bits] = b.rng_bit_generator(parameter(DType::U64, {2}), {DType::U32, {3, 5}});
  graphs.push_back(of(b, {bits, state}));
  for (const DType dtype : {F32, DType::I32, DType::Bool}) {
    for (const bool descending : {false, true}) {
      const std::vector<Value> operands{parameter(dtype, {3, 4}), parameter(DType::I64, {3, 4})};
      graphs.push_back(of(b, {b.sort(operands, {1, !descending, descending})}));
    }
  }
  graphs.push_back(of(b, {b.checked_index(parameter(DType::I64, {3}), 10, 1, "aten.\"index\"\n")}));
  const Value condition = parameter(DType::Bool, {});
  graphs.push_back(of(b, {b.check(condition, parameter(F32, {2}), "the condition is false")}));
}

// Regions of scalar functions.
inline Region combination(Op op, DType dtype) {
  Builder b("region");
  const Value x = b.parameter({dtype, {}});
  return Region(b.finish({b.binary(op, x, b.parameter({dtype, {}}))}));
}

inline Region comparison(ComparisonDirection direction, DType dtype) {
  Builder b("region");
  const Value x = b.parameter({dtype, {}});
  return Region(b.finish({b.compare(direction, x, b.parameter({dtype, {}}))}));
}

// (value, index, other value, other index) -> the greater value and its index
inline Region greatest(DType dtype) {
  Builder b("region");
  const Value x = b.parameter({dtype, {}});
  const Value i = b.parameter({DType::I64, {}});
  const Value y = b.parameter({dtype, {}});
  const Value j = b.parameter({DType::I64, {}});
  const Value first = b.compare(ComparisonDirection::GE, x, y);
  return Region(b.finish({b.select(first, x, y), b.select(first, i, j)}));
}

inline void add_numeric(std::vector<Graph>& graphs) {
  Builder b;
  const auto parameter = [&b](DType dtype, Dims shape) { return b.parameter(TensorType{dtype, std::move(shape)}); };
  ConvolutionAttributes a;
  a.window_strides = {2, 1};
  a.padding_low = {1, 0};
  a.padding_high = {0, -1};
  a.lhs_dilation = {1, 2};
  a.rhs_dilation = {2, 1};
  a.window_reversal = {true, false};
  a.input_batch_dimension = 3;
  a.input_feature_dimension = 0;
  a.input_spatial_dimensions = {2, 1};
  a.kernel_input_feature_dimension = 1;
  a.kernel_output_feature_dimension = 0;
  a.kernel_spatial_dimensions = {2, 3};
  a.output_batch_dimension = 0;
  a.output_feature_dimension = 2;
  a.output_spatial_dimensions = {1, 3};
  a.feature_group_count = 2;
  const Value input = parameter(F32, {4, 7, 8, 3});
  graphs.push_back(of(b, {b.convolution(input, parameter(F32, {6, 2, 3, 2}), a, F32)}));
  ConvolutionAttributes none;  // without space: a product of matrices
  none.input_feature_dimension = none.kernel_output_feature_dimension = none.output_feature_dimension = 1;
  const Value rows = parameter(DType::I8, {5, 4});
  graphs.push_back(of(b, {b.convolution(rows, parameter(DType::I8, {4, 6}), none, DType::I32)}));
  graphs.push_back(of(b, {b.cholesky(parameter(F32, {2, 3, 3}), true)}));
  const Value triangle = parameter(DType::C64, {3, 3});
  graphs.push_back(
      of(b, {b.triangular_solve(triangle, parameter(DType::C64, {3, 2}), {true, false, true, TransposeA::Adjoint})}));
  graphs.push_back(of(b, {b.fft(parameter(DType::C64, {2, 4, 6}), {FftType::Ifft, {4, 6}})}));
  graphs.push_back(of(b, {b.fft(parameter(F32, {2, 6}), {FftType::Rfft, {6}})}));
  graphs.push_back(of(b, {b.fft(parameter(DType::C128, {2, 4}), {FftType::Irfft, {7}})}));
  graphs.push_back(of(b, {b.reduce_precision(parameter(F32, {2, 3}), {5, 10})}));
}

inline void add_regions(std::vector<Graph>& graphs) {
  Builder b;
  const auto parameter = [&b](DType dtype, Dims shape) { return b.parameter(TensorType{dtype, std::move(shape)}); };
  const std::vector<Value> pair{parameter(F32, {3, 4}), parameter(DType::I64, {3, 4})};
  const std::vector<Value> start{parameter(F32, {}), parameter(DType::I64, {})};
  graphs.push_back(of(b, b.reduce(pair, start, greatest(F32), {1})));
  const std::vector<Value> line{parameter(F32, {5}), parameter(DType::I64, {5})};
  const std::vector<Value> first{parameter(F32, {}), parameter(DType::I64, {})};
  ReduceWindowAttributes window{Op::Map, {2}, {1}, {1}, {1}, {1}, {0}, greatest(F32)};
  graphs.push_back(of(b, b.reduce_window(line, first, window)));
  const Value table = parameter(F32, {6});
  const Value places = parameter(DType::I32, {2, 1});
  ScatterAttributes scatter;
  scatter.inserted_window_dims = scatter.scatter_dims_to_operand_dims = {0};
  scatter.index_vector_dim = 1;
  scatter.update = Op::Map;
  scatter.body = combination(Op::Subtract, F32);
  graphs.push_back(of(b, b.scatter(std::vector{table}, places, std::vector{parameter(F32, {2})}, scatter)));
  const Value keys = parameter(F32, {4});
  const SortAttributes order{0, false, false, comparison(ComparisonDirection::GE, F32)};
  graphs.push_back(of(b, b.sort(std::vector{keys}, order, {})));
  const Value image = parameter(F32, {4, 6});
  const Value source = parameter(F32, {2, 3});
  graphs.push_back(of(
      b, {b.select_and_scatter(
             image, source, parameter(F32, {}),
             {{2, 2}, {2, 2}, {0, 0}, {0, 0}, comparison(ComparisonDirection::GE, F32), combination(Op::Add, F32)})}));
  Builder scaled("region");
  const Value element = scaled.parameter({F32, {}});
  const Region product(scaled.finish({scaled.multiply(element, scaled.parameter({F32, {}}))}));
  const Value mapped = parameter(F32, {2, 3});
  graphs.push_back(of(b, {b.map(std::vector{mapped}, product, std::vector{parameter(F32, {})})}));
}

// A loop whose condition and body read values from outside, one of them a branch's.
inline void add_control_flow(std::vector<Graph>& graphs) {
  const TensorType count{DType::I64, {}};
  const TensorType vector{F32, {3}};
  Builder condition("region");
  const Value i = condition.parameter(count);
  condition.parameter(vector);
  const Value limit = condition.parameter(count);
  condition.parameter(vector);
  const Region below(condition.finish({condition.compare(ComparisonDirection::LT, i, limit)}));
  Builder inner("region");
  const Value x = inner.parameter(vector);
  const Value step = inner.parameter(vector);
  const Region add(inner.finish({inner.add(x, step)}));
  Builder other("region");
  const Value unchanged = other.parameter(vector);
  other.parameter(vector);
  const Region keep(other.finish({unchanged}));
  Builder body("region");
  const Value j = body.parameter(count);
  const Value sum = body.parameter(vector);
  body.parameter(count);
  const Value addend = body.parameter(vector);
  const Value is_zero = body.compare(ComparisonDirection::EQ, j, body.splat(count, 0));
  const std::vector<Value> next = body.if_(is_zero, keep, add, std::vector{sum, addend});
  const Region step_on(body.finish({body.add(j, body.splat(count, 1)), next[0]}));
  Builder b;
  const std::vector<Value> carried{b.parameter(count), b.parameter(vector)};
  const std::vector<Value> captured{b.parameter(count), b.parameter(vector)};
  graphs.push_back(b.finish(b.while_(carried, below, step_on, captured)));
  const Value predicate = b.parameter({DType::Bool, {}});
  const std::vector<Value> two{b.parameter(vector), b.parameter(vector)};
  graphs.push_back(b.finish(b.if_(predicate, add, keep, two)));
  const Value which = b.parameter({DType::I32, {}});
  const std::vector<Value> both{b.parameter(vector), b.parameter(vector)};
  graphs.push_back(b.finish(b.case_(which, {add, keep, add}, both)));
}

// A graph of one element-wise primitive on operands of one type, or nothing when it refuses the type.
inline void add_elementwise(std::vector<Graph>& graphs, Op op, DType dtype) {
  Builder b;
  const TensorType type{dtype, {2, 3}};
  try {
    const Value x = b.parameter(type);
    switch (op) {
      case Op::Convert: {
        std::vector<Value> results;
        for (const DTypeInfo& row : dtype_table()) results.push_back(b.convert(x, row.dtype));
        graphs.push_back(b.finish(results));
        return;
      }
      case Op::BitcastConvert:
        graphs.push_back(of(b, {b.bitcast_convert(x, is_complex(dtype) ? DType::C64 : DType::U8)}));
        return;
      case Op::Compare: {
        const auto direction = is_complex(dtype) ? ComparisonDirection::NE : ComparisonDirection::GE;
        graphs.push_back(of(b, {b.compare(direction, x, b.parameter(type))}));
        return;
      }
      case Op::Clamp: {
        const Value low = b.parameter({dtype, {}});
        graphs.push_back(of(b, {b.clamp(low, x, b.parameter({dtype, {}})), b.clamp(x, x, x)}));
        return;
      }
      case Op::Select: {
        const Value predicate = b.parameter({DType::Bool, {2, 3}});
        const Value scalar = b.parameter({DType::Bool, {}});
        const Value y = b.parameter(type);
        graphs.push_back(of(b, {b.select(predicate, x, y), b.select(scalar, x, y)}));
        return;
      }
      default: break;
    }
    const Value y = info(op).operands == 1 ? b.unary(op, x) : b.binary(op, x, b.parameter(type));
    graphs.push_back(of(b, {y}));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Runtime) throw;
  }
}

}  // namespace samples

/// A graph for every element-wise primitive and every element type it takes.
inline std::vector<Graph> elementwise_graphs() {
  std::vector<Graph> graphs;
  for (const OpInfo& row : catalogue()) {
    if (row.op_class != OpClass::Elementwise) continue;
    for (const DTypeInfo& dtype : dtype_table()) samples::add_elementwise(graphs, row.op, dtype.dtype);
  }
  return graphs;
}

/// One graph or more for every primitive of the catalogue; several where attributes have more than one form.
inline std::vector<Graph> sample_graphs() {
  std::vector<Graph> graphs = elementwise_graphs();
  samples::add_data(graphs);
  samples::add_indexing(graphs);
  samples::add_compute(graphs);
  samples::add_numeric(graphs);
  samples::add_regions(graphs);
  samples::add_control_flow(graphs);
  return graphs;
}

/// True when both graphs are the same but for the numbering of their values.
inline bool same_graph(const Graph& left, const Graph& right) {
  if (left.name != right.name || left.nodes.size() != right.nodes.size()) return false;
  std::vector<Value> twin(left.types.size());
  const auto pair_up = [&](const std::vector<Value>& from, const std::vector<Value>& to) {
    if (from.size() != to.size()) return false;
    for (size_t i = 0; i < from.size(); ++i) {
      if (!(left.type(from[i]) == right.type(to[i]))) return false;
      twin[static_cast<size_t>(from[i].id)] = to[i];
    }
    return true;
  };
  const auto same = [&](const std::vector<Value>& from, const std::vector<Value>& to) {
    if (from.size() != to.size()) return false;
    for (size_t i = 0; i < from.size(); ++i) {
      if (!(twin[static_cast<size_t>(from[i].id)] == to[i])) return false;
    }
    return true;
  };
  if (!pair_up(left.parameters, right.parameters)) return false;
  for (size_t i = 0; i < left.nodes.size(); ++i) {
    const Node& a = left.nodes[i];
    const Node& b = right.nodes[i];
    if (a.op != b.op || !(a.attributes == b.attributes) || !same(a.operands, b.operands)) return false;
    if (!pair_up(a.results, b.results)) return false;
  }
  return same(left.results, right.results);
}

}  // namespace opentrn::ir
