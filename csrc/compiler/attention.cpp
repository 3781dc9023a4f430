// Attention as one program: for each tile of queries the blocks of keys go by, and the softmax is kept up to date. Only
// the tile's largest score, the sum of its powers and its weighted sum of values are carried from block to block; the
// scores never reach HBM.
#include "passes/attention.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/convert.h"
#include "compiler/families.h"
#include "compiler/tiling.h"

namespace opentrn::compiler {

namespace {

using ir::Op;
using ir::View;
using neuroncore::Access;
using neuroncore::ActivationFunction;
using neuroncore::AluOp;
using neuroncore::Builder;
using neuroncore::Engine;
using neuroncore::immediate;

constexpr size_t kFurthestProduct = 64;  // nodes from the first product to the second

/// What a step between scores and softmax reads: a number, or a value of the shape of the scores.
struct Step {
  passes::ScoreStep kind;
  std::optional<double> number;
  Location other, predicate;
};

/// Locations of shape [batch..., rows, columns], the batch being that of the scores.
struct Parts {
  Location queries, keys, values, out;  // keys and values: one row for each key
  std::vector<Step> steps;
  Dims batch;
  int64_t query_count = 0, key_count = 0, depth = 0, width = 0;  // depth: of queries and keys; width: of values
};

std::optional<passes::Attention> attention_at(const Emitter& emitter, size_t first) {
  const ir::Graph& graph = emitter.graph();
  if (graph.nodes[first].op != Op::DotGeneral) return std::nullopt;
  bool exponential = false;
  const size_t end = std::min(graph.nodes.size(), first + kFurthestProduct);
  for (size_t i = first + 1; i < end; ++i) {
    exponential = exponential || graph.nodes[i].op == Op::Exponential;
    if (graph.nodes[i].op != Op::DotGeneral) continue;
    if (!exponential) return std::nullopt;
    std::optional<passes::Attention> found = passes::find_attention(graph, i);
    const bool together = found && found->nodes.front() == first && found->key_product == first &&
                          found->nodes.back() == first + found->nodes.size() - 1;
    return together ? found : std::nullopt;
  }
  return std::nullopt;
}

Dims joined(Dims left, const Dims& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Dims free_dimension(int64_t rank, const Dims& batching, const Dims& contracting) {
  for (int64_t i = 0; i < rank; ++i) {
    if (std::count(batching.begin(), batching.end(), i) + std::count(contracting.begin(), contracting.end(), i) == 0) {
      return {i};
    }
  }
  return {};
}

// `operand` with its dimensions in the order batch, rows, columns, the batch cut as that of the scores is.
std::optional<Location> as_rows(const Location& operand, const Dims& batching, const Dims& rows, const Dims& columns,
                                const Dims& batch) {
  const View ordered = ir::transpose_view(operand.view, joined(joined(batching, rows), columns));
  const Dims shape = joined(batch, {ordered.shape.end() - 2, ordered.shape.end()});
  const std::optional<View> view = ir::reshape_view(ordered, shape);
  if (!view) return std::nullopt;
  return Location{operand.buffer, *view};
}

std::optional<double> splat_number(const Emitter& emitter, ir::Value value) {
  const ir::Node* maker = emitter.producer(value);
  while (maker != nullptr && (maker->op == Op::BroadcastInDim || maker->op == Op::Reshape)) {
    maker = emitter.producer(maker->operands[0]);
  }
  if (maker == nullptr || maker->op != Op::Constant) return std::nullopt;
  const auto& data = maker->as<ir::ConstantAttributes>().data;
  const DType dtype = emitter.type(maker->results[0]).dtype;
  if (static_cast<int64_t>(data.size()) != size_of(dtype)) return std::nullopt;
  if (is_complex(dtype)) return std::nullopt;
  double number = 0;
  visit_dtype(dtype, [&]<typename T>() {
    T element;
    std::memcpy(&element, data.data(), sizeof(T));
    number = convert_element<double>(element);
  });
  return number;
}

std::optional<std::vector<Step>> steps_of(Emitter& emitter, const passes::Attention& attention) {
  std::vector<Step> steps;
  for (const passes::ScoreStep& kind : attention.steps) {
    Step step{kind, splat_number(emitter, kind.other), {}, {}};
    if (!is_float(emitter.type(kind.other).dtype) || emitter.type(kind.other).dtype == DType::F64) return std::nullopt;
    if (!step.number) step.other = emitter.location(kind.other);
    if (kind.op == Op::Select) step.predicate = emitter.location(kind.predicate);
    steps.push_back(std::move(step));
  }
  return steps;
}

bool takes(DType dtype) { return dtype == DType::F32 || dtype == DType::BF16 || dtype == DType::F16; }

std::optional<Parts> parts_of(Emitter& emitter, const passes::Attention& attention) {
  const ir::Node& key_product = emitter.node(attention.key_product);
  const ir::Node& value_product = emitter.node(attention.value_product);
  const auto& first = key_product.as<ir::DotAttributes>();
  const auto& second = value_product.as<ir::DotAttributes>();
  const Location query = emitter.location(key_product.operands[0]);
  const Location key = emitter.location(key_product.operands[1]);
  const Location value = emitter.location(value_product.operands[1]);
  Parts parts;
  parts.batch = Dims(attention.score_shape.begin(), attention.score_shape.end() - 2);
  const auto queries =
      as_rows(query, first.lhs_batching_dimensions,
              free_dimension(query.view.rank(), first.lhs_batching_dimensions, first.lhs_contracting_dimensions),
              first.lhs_contracting_dimensions, parts.batch);
  const auto keys =
      as_rows(key, first.rhs_batching_dimensions,
              free_dimension(key.view.rank(), first.rhs_batching_dimensions, first.rhs_contracting_dimensions),
              first.rhs_contracting_dimensions, parts.batch);
  const auto values =
      as_rows(value, second.rhs_batching_dimensions, second.rhs_contracting_dimensions,
              free_dimension(value.view.rank(), second.rhs_batching_dimensions, second.rhs_contracting_dimensions),
              parts.batch);
  auto steps = steps_of(emitter, attention);
  if (!queries || !keys || !values || !steps) return std::nullopt;
  parts.queries = *queries;
  parts.keys = *keys;
  parts.values = *values;
  parts.steps = std::move(*steps);
  const size_t rank = parts.batch.size();
  parts.query_count = queries->view.shape[rank];
  parts.depth = queries->view.shape[rank + 1];
  parts.key_count = keys->view.shape[rank];
  parts.width = values->view.shape[rank + 1];
  return parts;
}

bool fits(const Parts& parts, const neuroncore::Machine& machine) {
  const bool types = takes(parts.queries.view.dtype) && parts.keys.view.dtype == parts.queries.view.dtype &&
                     parts.values.view.dtype == parts.queries.view.dtype;
  const int64_t bank = machine.psum_bank_bytes / size_of(DType::F32);
  return types && parts.depth > 0 && parts.key_count > 0 && parts.query_count > 0 && element_count(parts.batch) > 0 &&
         parts.depth <= machine.partitions && parts.width > 0 &&
         parts.width <= std::min<int64_t>(bank, machine.moving_free_size);
}

class Attention {
 public:
  Attention(Emitter& emitter, const Parts& parts)
      : program_(emitter.program()),
        parts_(parts),
        tile_size_(std::min(emitter.machine().partitions, emitter.machine().stationary_free_size)),
        dtype_(parts.queries.view.dtype),
        depth_(Axis{parts.depth, {1, 1, 0}}, parts.depth),
        width_(Axis{parts.width, {1, 1, 0}}, parts.width),
        one_(Axis{}, 1) {}

  void emit() {
    LoopNest nest(program_);
    for (const int64_t size : parts_.batch) {
      Tiling& loop = batch_.emplace_back(Axis{size, {}}, 1);
      nest.open(loop, true);
    }
    Tiling queries(Axis{parts_.query_count, {}}, tile_size_);
    nest.open(queries, true);
    const Access query = load(parts_.queries, depth_, queries, Transposed::Yes);
    State state{column(queries, "largest"), column(queries, "total"),
                tile(DType::F32, queries, width_, "weighted values"), column(queries, "shrink")};
    // Lower than any score but minus infinity: a block without a key to attend to leaves everything as it is.
    program_.memset(state.largest, immediate(DType::F32, double{std::numeric_limits<float>::lowest()}));
    program_.memset(state.total, immediate(DType::F32, 0.0));
    program_.memset(state.weighted, immediate(DType::F32, 0.0));
    emit_blocks(query, queries, state);
    const Access result = tile(parts_.out.view.dtype, queries, width_, "result");
    program_.tensor_scalar(result, state.weighted, AluOp::Divide, state.total, false, AluOp::Bypass, {}, false,
                           Engine::GpSimd);
    program_.dma_copy(at(parts_.out, queries, width_, Transposed::No), result);
  }

 private:
  enum class Transposed { No, Yes };

  /// What is carried from block to block: [queries, 1], [queries, 1], [queries, width].
  struct State {
    Access largest, total, weighted;
    Access shrink;  // [queries, 1]: what earlier sums are multiplied by when a block raises the largest score
  };

  // The current tile of a location: rows and columns in that order, or the other way round.
  Access at(const Location& location, const Tiling& partitions, const Tiling& free, Transposed transposed) const {
    Access access;
    access.buffer = location.buffer;
    access.dtype = location.view.dtype;
    access.offset = location.view.offset / location.view.item_size();
    for (size_t i = 0; i < batch_.size(); ++i) batch_[i].add_term(access.terms, location.view.strides[i]);
    const int64_t row = location.view.strides[batch_.size()], column = location.view.strides[batch_.size() + 1];
    const int64_t across = transposed == Transposed::Yes ? column : row;
    const int64_t along = transposed == Transposed::Yes ? row : column;
    partitions.add_term(access.terms, across);
    free.add_term(access.terms, along);
    access.pattern = {partitions.dimension(across), free.dimension(along)};
    return access;
  }

  Access tile(DType dtype, const Tiling& partitions, const Tiling& free, const char* name) {
    return tile_of(program_, program_.sbuf(dtype, partitions.tile(), free.tile(), 1, name), partitions, free);
  }
  Access sums(DType dtype, const Tiling& partitions, const Tiling& free, const char* name) {
    return tile_of(program_, program_.psum(dtype, partitions.tile(), free.tile(), 2, name), partitions, free);
  }
  Access column(const Tiling& queries, const char* name) { return tile(DType::F32, queries, one_, name); }

  Access load(const Location& location, const Tiling& partitions, const Tiling& free, Transposed transposed) {
    const int32_t buffer = program_.sbuf(location.view.dtype, partitions.tile(), free.tile(), 2);
    const Access loaded = tile_of(program_, buffer, partitions, free);
    program_.dma_copy(loaded, at(location, partitions, free, transposed));
    return loaded;
  }

  void emit_blocks(const Access& query, const Tiling& queries, const State& state) {
    LoopNest nest(program_);
    Tiling keys(Axis{parts_.key_count, {}}, tile_size_);
    nest.open(keys, false);
    const Access key = load(parts_.keys, depth_, keys, Transposed::Yes);
    const Access products = sums(DType::F32, queries, keys, "products");
    program_.nc_matmul(products, query, key, false);
    const Access scores = emit_steps(products, queries, keys);
    const Access powers = emit_softmax(scores, queries, keys, state);
    emit_weighted(powers, queries, keys, state);
  }

  // Scales and masks. The first step takes the scores out of PSUM.
  Access emit_steps(const Access& products, const Tiling& queries, const Tiling& keys) {
    Access scores = products;
    for (const Step& step : parts_.steps) {
      const Access next = tile(DType::F32, queries, keys, "scores");
      if (step.kind.op == Op::Select) {
        emit_select(next, scores, step, queries, keys);
      } else {
        emit_arithmetic(next, scores, step, queries, keys);
      }
      scores = next;
    }
    return scores;
  }

  void emit_arithmetic(const Access& next, const Access& scores, const Step& step, const Tiling& queries,
                       const Tiling& keys) {
    if (step.number && step.kind.op == Op::Divide) {
      return emit_quotient(next, scores, immediate(DType::F32, *step.number), queries, keys);
    }
    if (step.number) {
      program_.tensor_scalar(next, scores, alu_op(step.kind.op), immediate(DType::F32, *step.number));
      return;
    }
    const Access other = load(step.other, queries, keys, Transposed::No);
    if (step.kind.op != Op::Divide) {
      program_.tensor_tensor(next, scores, other, alu_op(step.kind.op));
      return;
    }
    program_.tensor_tensor(next, in_sbuf(scores, queries, keys), other, AluOp::Divide, Engine::GpSimd);
  }

  void emit_quotient(const Access& next, const Access& scores, neuroncore::Immediate divisor, const Tiling& queries,
                     const Tiling& keys) {
    program_.tensor_scalar(next, in_sbuf(scores, queries, keys), AluOp::Divide, divisor, false, AluOp::Bypass, {},
                           false, Engine::GpSimd);
  }

  // GpSimd cannot reach PSUM.
  Access in_sbuf(const Access& scores, const Tiling& queries, const Tiling& keys) {
    if (program_.buffer(scores.buffer).space != neuroncore::Space::Psum) return scores;
    const Access copied = tile(DType::F32, queries, keys, "products");
    program_.tensor_copy(copied, scores);
    return copied;
  }

  static AluOp alu_op(Op op) {
    if (op == Op::Multiply) return AluOp::Multiply;
    return op == Op::Add ? AluOp::Add : AluOp::Subtract;
  }

  // The scores where the predicate keeps them, else the other value.
  void emit_select(const Access& next, const Access& scores, const Step& step, const Tiling& queries,
                   const Tiling& keys) {
    const Access predicate = load(step.predicate, queries, keys, Transposed::No);
    const bool keeps_true = step.kind.keeps_true;
    if (step.number && keeps_true) {
      program_.select_reduce(next, predicate, scores, immediate(DType::F32, *step.number));
      return;
    }
    const Access other = other_tile(step, queries, keys);
    program_.tensor_copy(next, keeps_true ? other : scores);
    program_.tensor_copy_predicated(next, predicate, keeps_true ? scores : other);
  }

  Access other_tile(const Step& step, const Tiling& queries, const Tiling& keys) {
    if (step.number) {
      const Access filled = tile(DType::F32, queries, keys, "other");
      program_.memset(filled, immediate(DType::F32, *step.number));
      return filled;
    }
    const Access loaded = load(step.other, queries, keys, Transposed::No);
    if (loaded.dtype == DType::F32) return loaded;
    const Access converted = tile(DType::F32, queries, keys, "other");
    program_.tensor_copy(converted, loaded);
    return converted;
  }

  // Powers of the block, relative to the largest score so far; what was summed before is scaled to that.
  Access emit_softmax(const Access& scores, const Tiling& queries, const Tiling& keys, const State& state) {
    const Access block_largest = column(queries, "largest of block");
    const Access new_largest = column(queries, "new largest");
    const Access negated = column(queries, "negated");
    const Access block_total = column(queries, "total of block");
    program_.tensor_reduce(block_largest, AluOp::Max, scores, 1);
    program_.tensor_tensor(new_largest, state.largest, block_largest, AluOp::Max);
    program_.tensor_scalar(negated, new_largest, AluOp::Multiply, immediate(DType::F32, -1.0));
    program_.activation(state.shrink, ActivationFunction::Exp, state.largest, {}, negated);
    const Access powers = tile(dtype_, queries, keys, "powers");
    program_.activation_reduce(powers, block_total, ActivationFunction::Exp, scores, {}, negated);
    program_.scalar_tensor_tensor(state.total, state.total, AluOp::Multiply, state.shrink, AluOp::Add, block_total);
    program_.tensor_copy(state.largest, new_largest);
    return powers;
  }

  void emit_weighted(const Access& powers, const Tiling& queries, const Tiling& keys, const State& state) {
    const Access turned = sums(dtype_, keys, queries, "powers transposed");
    program_.nc_transpose(turned, powers, Engine::Tensor);
    const Access stationary = tile(dtype_, keys, queries, "powers transposed");
    program_.tensor_copy(stationary, turned);
    const Access value = load(parts_.values, keys, width_, Transposed::No);
    const Access products = sums(DType::F32, queries, width_, "weighted values of block");
    program_.nc_matmul(products, stationary, value, false);
    program_.scalar_tensor_tensor(state.weighted, state.weighted, AluOp::Multiply, state.shrink, AluOp::Add, products);
  }

  Builder& program_;
  const Parts& parts_;
  const int64_t tile_size_;
  const DType dtype_;
  std::vector<Tiling> batch_;
  const Tiling depth_, width_, one_;
};

}  // namespace

size_t emit_attention(Emitter& emitter, size_t first) {
  const std::optional<passes::Attention> found = attention_at(emitter, first);
  if (!found) return 0;
  std::optional<Parts> parts = parts_of(emitter, *found);
  if (!parts || !fits(*parts, emitter.machine())) return 0;
  const Range range{first, found->nodes.back() + 1};
  const Dims& shape = emitter.type(found->result).shape;
  const bool same_batch = Dims(shape.begin(), shape.end() - 2) == parts->batch;
  const Location out =
      same_batch ? emitter.place(found->result, range, false) : emitter.place_row_major(found->result, range);
  Dims order(shape.size() - 2);
  std::iota(order.begin(), order.end(), 0);
  const auto rank = static_cast<int64_t>(shape.size());
  parts->out = *as_rows(out, order, {rank - 2}, {rank - 1}, parts->batch);
  Attention(emitter, *parts).emit();
  return found->nodes.size();
}

}  // namespace opentrn::compiler
