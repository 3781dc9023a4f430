// Primitives that only move data: each is one or a few copies between locations.
#include "compiler/movement.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/dynamic_offset.h"
#include "compiler/families.h"

namespace opentrn::compiler {

namespace {

using ir::Op;
using ir::View;

size_t at(int64_t index) { return static_cast<size_t>(index); }

// The part of a view with indices [begin, begin + length) in one dimension.
View part(View view, size_t dimension, int64_t begin, int64_t length) {
  view.offset += begin * view.strides[dimension] * view.item_size();
  view.shape[dimension] = length;
  return view;
}

// A reshape whose operand lies so that it has to be moved: the operand is copied to where the result will lie.
void emit_reshape(Emitter& emitter, const ir::Node& node, Range range) {
  const Location operand = emitter.location(node.operands[0]);
  const Location result = emitter.place_row_major(node.results[0], range);
  const std::optional<View> target = ir::reshape_view(result.view, operand.view.shape);
  emitter.copy(operand, {result.buffer, *target});
}

// Elements of the wider type as rows of the narrower one.
View as_rows(const View& wide, DType narrow) {
  const int64_t count = wide.item_size() / size_of(narrow);
  View rows = wide;
  rows.dtype = narrow;
  for (int64_t& stride : rows.strides) stride *= count;
  rows.shape.push_back(count);
  rows.strides.push_back(1);
  return rows;
}

// Between types of different widths: of the two, the wider one is looked at as the narrower one.
void emit_bitcast(Emitter& emitter, const ir::Node& node, Range range) {
  Location operand = emitter.location(node.operands[0]);
  Location result = emitter.place(node.results[0], range, false);
  if (operand.view.item_size() > result.view.item_size()) {
    operand.view = as_rows(operand.view, result.view.dtype);
  } else {
    result.view = as_rows(result.view, operand.view.dtype);
  }
  emitter.copy(operand, result);
}

void emit_concatenate(Emitter& emitter, const ir::Node& node, Range range) {
  const size_t dimension = at(node.as<ir::ConcatenateAttributes>().dimension);
  const Location result = emitter.place(node.results[0], range, false);
  int64_t begin = 0;
  for (const ir::Value value : node.operands) {
    const Location operand = emitter.location(value);
    const int64_t length = operand.view.shape[dimension];
    if (operand.view.elements() > 0) {
      emitter.copy(operand, {result.buffer, part(result.view, dimension, begin, length)});
    }
    begin += length;
  }
}

int64_t ceil_divide(int64_t numerator, int64_t denominator) {
  return numerator <= 0 ? 0 : (numerator + denominator - 1) / denominator;
}

/// Where the elements of a padded operand go: `from` of the operand to `to` of the result.
struct Interior {
  View from, to;
  Dims begin, end;  // the part of the result that holds elements of the operand, with the gaps between them
};

Interior interior_of(const View& operand, const View& result, const ir::PadAttributes& pad) {
  Interior interior{operand, result, {}, {}};
  for (size_t i = 0; i < operand.shape.size(); ++i) {
    const int64_t step = pad.interior_padding[i] + 1;
    const int64_t low = pad.edge_padding_low[i];
    const int64_t first = ceil_divide(-low, step);
    const int64_t last = std::min(operand.shape[i], ceil_divide(result.shape[i] - low, step));
    const int64_t count = std::max<int64_t>(0, last - first);
    interior.from = part(interior.from, i, first, count);
    interior.to = part(interior.to, i, low + first * step, count);
    interior.to.strides[i] *= step;
    interior.begin.push_back(low + first * step);
    interior.end.push_back(low + first * step + (count - 1) * step + 1);
  }
  return interior;
}

void fill(Emitter& emitter, const Location& value, const Location& destination) {
  if (destination.view.elements() > 0) emitter.copy(expanded(value, destination.view.shape), destination);
}

// What lies outside of [begin, end) in any dimension, as two slabs per dimension.
void fill_around(Emitter& emitter, const Location& value, Location rest, const Interior& interior) {
  for (size_t i = 0; i < interior.begin.size(); ++i) {
    const int64_t size = rest.view.shape[i];
    fill(emitter, value, {rest.buffer, part(rest.view, i, 0, interior.begin[i])});
    fill(emitter, value, {rest.buffer, part(rest.view, i, interior.end[i], size - interior.end[i])});
    rest.view = part(rest.view, i, interior.begin[i], interior.end[i] - interior.begin[i]);
  }
}

void emit_pad(Emitter& emitter, const ir::Node& node, Range range) {
  const Location operand = emitter.location(node.operands[0]);
  const Location value = emitter.location(node.operands[1]);
  emit_padded(emitter, operand, value, node.as<ir::PadAttributes>(), emitter.place(node.results[0], range, false));
}

void emit_dynamic_slice(Emitter& emitter, const ir::Node& node, Range range) {
  const Location operand = emitter.location(node.operands[0]);
  const Location result = emitter.place(node.results[0], range, false);
  if (result.view.elements() == 0) return;
  const auto terms =
      emit_dynamic_offset(emitter, {node.operands.begin() + 1, node.operands.end()}, operand.view, result.view.shape);
  const Location window{operand.buffer, ir::window_view(operand.view, result.view.shape)};
  emit_copy(emitter.program(), emitter.machine(), window, result, terms, {});
}

void emit_dynamic_update_slice(Emitter& emitter, const ir::Node& node, Range range) {
  const Location operand = emitter.location(node.operands[0]);
  const Location result = emitter.place(node.results[0], range, true);
  if (result.view.elements() == 0) return;
  const Location update = emitter.kept_from(emitter.location(node.operands[1]), result);
  if (!emitter.same_memory(operand, result)) emitter.copy(operand, result);
  if (update.view.elements() == 0) return;
  const auto terms =
      emit_dynamic_offset(emitter, {node.operands.begin() + 2, node.operands.end()}, result.view, update.view.shape);
  const Location window{result.buffer, ir::window_view(result.view, update.view.shape)};
  emit_copy(emitter.program(), emitter.machine(), update, window, {}, terms);
}

}  // namespace

void emit_padded(Emitter& emitter, const Location& operand, const Location& value, const ir::PadAttributes& pad,
                 const Location& result) {
  if (result.view.elements() == 0) return;
  const Interior interior = interior_of(operand.view, result.view, pad);
  const bool empty = interior.from.elements() == 0;
  const bool gaps =
      std::any_of(pad.interior_padding.begin(), pad.interior_padding.end(), [](int64_t p) { return p > 0; });
  if (empty || gaps) {
    fill(emitter, value, result);
  } else {
    fill_around(emitter, value, result, interior);
  }
  if (!empty) emitter.copy({operand.buffer, interior.from}, {result.buffer, interior.to});
}

neuroncore::Access whole(const Location& location) {
  neuroncore::Access access;
  access.buffer = location.buffer;
  access.dtype = location.view.dtype;
  access.offset = location.view.elements() == 0 ? 0 : location.view.offset / location.view.item_size();
  for (size_t i = 0; i < location.view.shape.size(); ++i) {
    access.pattern.push_back({location.view.strides[i], location.view.shape[i]});
  }
  if (access.pattern.empty()) access.pattern.push_back({1, 1});
  return access;
}

size_t emit_movement(Emitter& emitter, size_t first) {
  const ir::Node& node = emitter.node(first);
  const Range range{first, first + 1};
  switch (node.op) {
    case Op::Reshape: emit_reshape(emitter, node, range); return 1;
    case Op::BitcastConvert: emit_bitcast(emitter, node, range); return 1;
    case Op::Concatenate: emit_concatenate(emitter, node, range); return 1;
    case Op::Pad: emit_pad(emitter, node, range); return 1;
    case Op::DynamicSlice: emit_dynamic_slice(emitter, node, range); return 1;
    case Op::DynamicUpdateSlice: emit_dynamic_update_slice(emitter, node, range); return 1;
    default: return 0;
  }
}

}  // namespace opentrn::compiler
