#include "engines/core/coverage.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "engines/core/core.h"
#include "ir/builder.h"

namespace opentrn::engines::core {

namespace {

using ir::Op;
using ir::Value;

constexpr std::array<DType, 12> kTypes{DType::F32, DType::BF16, DType::F16, DType::F64, DType::I64,  DType::I32,
                                       DType::I16, DType::I8,   DType::U8,  DType::U32, DType::Bool, DType::C64};

// The graph's operands: a matrix, another one, and small helpers of the types some primitives ask for.
struct Operands {
  Value x, y, index, scalar;
};

std::vector<Value> build_elementwise(ir::Builder& builder, Op op, const Operands& operands, DType dtype) {
  if (op == Op::Compare) return {builder.compare(ir::ComparisonDirection::LT, operands.x, operands.y)};
  if (op == Op::Clamp) return {builder.clamp(operands.scalar, operands.x, operands.scalar)};
  if (op == Op::Convert) return {builder.convert(operands.x, dtype == DType::F32 ? DType::BF16 : DType::F32)};
  if (op == Op::BitcastConvert) return {builder.bitcast_convert(operands.x, dtype == DType::F32 ? DType::I32 : dtype)};
  if (op == Op::ReducePrecision) return {builder.reduce_precision(operands.x, {5, 10})};
  if (op == Op::Select) {
    const Value predicate = builder.parameter({DType::Bool, builder.shape(operands.x)});
    return {builder.select(predicate, operands.x, operands.y)};
  }
  if (ir::info(op).operands == 1) return {builder.unary(op, operands.x)};
  return {builder.binary(op, operands.x, operands.y)};
}

ir::GatherAttributes rows_by_index() {
  ir::GatherAttributes attributes;
  attributes.offset_dims = {1};
  attributes.collapsed_slice_dims = {0};
  attributes.start_index_map = {0};
  attributes.index_vector_dim = 1;
  attributes.slice_sizes = {1, 24};
  return attributes;
}

ir::ScatterAttributes rows_to_index() {
  ir::ScatterAttributes attributes;
  attributes.update_window_dims = {1};
  attributes.inserted_window_dims = {0};
  attributes.scatter_dims_to_operand_dims = {0};
  attributes.index_vector_dim = 1;
  attributes.update = Op::Add;
  return attributes;
}

ir::ReduceWindowAttributes pairs() { return {Op::Add, {1, 2}, {1, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}; }

ir::ConvolutionAttributes windows_of_three() {
  ir::ConvolutionAttributes attributes;
  attributes.window_strides = attributes.lhs_dilation = attributes.rhs_dilation = {1};
  attributes.padding_low = attributes.padding_high = {1};
  attributes.window_reversal = {false};
  attributes.input_feature_dimension = attributes.output_feature_dimension = 1;
  attributes.kernel_input_feature_dimension = 1;
  attributes.input_spatial_dimensions = attributes.kernel_spatial_dimensions =
      attributes.output_spatial_dimensions = {2};
  return attributes;
}

// What is the same for all element types; empty for primitives with a representative.
std::string_view note_on(Op op) {
  switch (op) {
    case Op::Constant: return "data of the program";
    case Op::CustomCall: return "index and value checks on tiles; the others are a library call";
    case Op::Case:
    case Op::If:
    case Op::Map:
    case Op::SelectAndScatter:
    case Op::While: return "a library call with its regions, which the host interprets";
    default: return {};
  }
}

// Nothing for primitives that are not defined for the type, and those with a note.
std::optional<std::vector<Value>> build_other(ir::Builder& builder, Op op, const Operands& operands, DType dtype) {
  const Value x = operands.x;
  const std::vector<Value> starts = {operands.index, operands.index};
  const std::vector<Value> pair = {x, operands.y};
  switch (op) {
    case Op::BroadcastInDim: return {{builder.broadcast_in_dim(x, {2, 24, 24}, {1, 2})}};
    case Op::Concatenate: return {{builder.concatenate(pair, 0)}};
    case Op::DynamicSlice: return {{builder.dynamic_slice(x, starts, {2, 3})}};
    case Op::DynamicUpdateSlice: {
      const Value update = builder.parameter({dtype, {2, 3}});
      return {{builder.dynamic_update_slice(x, update, starts)}};
    }
    case Op::Gather: {
      const Value indices = builder.parameter({DType::I64, {7, 1}});
      return {{builder.gather(x, indices, rows_by_index())}};
    }
    case Op::Scatter: {
      const Value indices = builder.parameter({DType::I64, {7, 1}});
      const Value updates = builder.parameter({dtype, {7, 24}});
      return {{builder.scatter(x, indices, updates, rows_to_index())}};
    }
    case Op::Iota: return {{builder.iota({dtype, {24, 24}}, 1)}};
    case Op::Pad: return {{builder.pad(x, operands.scalar, {1, 0}, {0, 2}, {0, 1})}};
    case Op::Reshape: return {{builder.reshape(builder.transpose(x, {1, 0}), {24 * 24})}};
    case Op::Reverse: return {{builder.reverse(x, {1})}};
    case Op::Slice: return {{builder.slice(x, {1, 2}, {20, 22}, {2, 1})}};
    case Op::Transpose: return {{builder.transpose(x, {1, 0})}};
    case Op::DotGeneral: return {{builder.dot_general(x, operands.y, {{}, {}, {1}, {1}}, dtype)}};
    case Op::Reduce: return {{builder.reduce(x, operands.scalar, Op::Add, {1})}};
    case Op::ReduceWindow: return {{builder.reduce_window(x, operands.scalar, pairs())}};
    case Op::Cholesky: return {{builder.cholesky(x, true)}};
    case Op::Convolution: {
      const Value input = builder.parameter({dtype, {2, 3, 24}});
      const Value kernel = builder.parameter({dtype, {4, 3, 3}});
      return {{builder.convolution(input, kernel, windows_of_three(), dtype)}};
    }
    case Op::Fft: return {{builder.fft(x, {ir::FftType::Fft, {24}})}};
    case Op::TriangularSolve: return {{builder.triangular_solve(x, operands.y, {true, true, false})}};
    case Op::Sort: return builder.sort(std::vector<Value>{x}, {1, true, false});
    case Op::RngBitGenerator: {
      if (dtype != DType::U32) return std::nullopt;
      const Value state = builder.parameter({DType::U64, {2}});
      const auto [next, bits] = builder.rng_bit_generator(state, {dtype, {24, 24}});
      return {{next, bits}};
    }
    default: return std::nullopt;
  }
}

// Nothing when the primitive is not defined for the type.
std::optional<Module> representative(Op op, DType dtype) {
  if (op == Op::Constant) return std::nullopt;
  try {
    ir::Builder builder;
    const Operands operands{builder.parameter({dtype, {24, 24}}), builder.parameter({dtype, {24, 24}}),
                            builder.parameter({DType::I64, {}}), builder.parameter({dtype, {}})};
    auto results = ir::is_elementwise(op) ? std::optional(build_elementwise(builder, op, operands, dtype))
                                          : build_other(builder, op, operands, dtype);
    if (!results) return std::nullopt;
    Module module{builder.finish(*std::move(results)), {}, {}, {}};
    const auto layout = [&](Value value) {
      const ir::TensorType& type = module.graph.type(value);
      Layout result;
      result.type = type;
      result.strides = contiguous_strides(type.shape);
      return result;
    };
    for (const Value value : module.graph.parameters) module.parameters.push_back(layout(value));
    for (const Value value : module.graph.results) module.results.push_back(layout(value));
    return module;
  } catch (const Error&) {
    return std::nullopt;  // the builder refuses the type
  }
}

void add(CoverageRow& row, DType dtype, const ProgramFacts& facts) {
  (facts.library_calls.empty() ? row.tiles : row.library).push_back(dtype);
  if (!facts.without_native_unit.empty()) row.no_unit.push_back(dtype);
}

}  // namespace

std::vector<CoverageRow> coverage(const neuroncore::Machine& machine) {
  std::vector<CoverageRow> rows;
  for (const ir::OpInfo& info : ir::catalogue()) {
    CoverageRow row{info.name, {}, {}, {}, note_on(info.op)};
    for (const DType dtype : kTypes) {
      const std::optional<Module> module = representative(info.op, dtype);
      if (!module) continue;
      try {
        add(row, dtype, compile(*module, machine)->facts());
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::Internal) throw;  // anything else: the engines refuse the type
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace opentrn::engines::core
