#include "compiler/emitter.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "compiler/movement.h"
#include "ir/aliases.h"

namespace opentrn::compiler {

namespace {

using ir::Op;
using ir::Value;
using ir::View;

constexpr int64_t kNever = -1;
constexpr int64_t kAtTheEnd = std::numeric_limits<int64_t>::max();

size_t index_of(Value value) { return static_cast<size_t>(value.id); }

View view_of(const ir::Layout& layout) { return {layout.type.dtype, layout.type.shape, layout.strides, 0}; }

int64_t buffer_elements(const ir::Layout& layout) {
  return span_in_bytes(layout.type.shape, layout.strides, size_of(layout.type.dtype)) / size_of(layout.type.dtype);
}

}  // namespace

Emitter::Emitter(const ir::Module& module, const neuroncore::Machine& machine, LibraryMaker library)
    : module_(module),
      graph_(module.graph),
      machine_(machine),
      library_(library),
      program_(module.graph.name, std::string(machine.name)),
      locations_(module.graph.types.size()) {
  check_layouts();
  place_parameters();
  find_uses();
  find_roots();
  find_pins();
}

void Emitter::check_layouts() const {
  const auto same = [&](const std::vector<ir::Layout>& layouts, const std::vector<Value>& values) {
    return std::equal(layouts.begin(), layouts.end(), values.begin(), values.end(),
                      [&](const ir::Layout& layout, Value value) {
                        return layout.type == graph_.type(value) && layout.strides.size() == layout.type.shape.size();
                      });
  };
  if (same(module_.parameters, graph_.parameters) && same(module_.results, graph_.results)) return;
  raise(ErrorKind::Internal, {.where = "core engine", .what = "the layouts do not belong to the graph's types"});
}

void Emitter::place_parameters() {
  for (size_t i = 0; i < graph_.parameters.size(); ++i) {
    const ir::Layout& layout = module_.parameters[i];
    const int32_t buffer = program_.parameter(static_cast<int32_t>(i), layout.type.dtype, buffer_elements(layout));
    parameter_buffers_.push_back(buffer);
    locations_[index_of(graph_.parameters[i])] = {buffer, view_of(layout)};
  }
  for (size_t i = 0; i < graph_.results.size(); ++i) {
    const ir::Layout& layout = module_.results[i];
    result_buffers_.push_back(program_.result(static_cast<int32_t>(i), layout.type.dtype, buffer_elements(layout)));
  }
  for (const ir::Overlap& overlap : module_.overlaps) {
    if (overlap.identical) program_.share(overlap.result, overlap.parameter);
  }
}

void Emitter::find_uses() {
  producers_.assign(graph_.types.size(), nullptr);
  uses_.assign(graph_.types.size(), 0);
  last_use_.assign(graph_.types.size(), kNever);
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const ir::Node& node = graph_.nodes[i];
    for (const Value result : node.results) producers_[index_of(result)] = &node;
    for (const Value operand : node.operands) {
      ++uses_[index_of(operand)];
      last_use_[index_of(operand)] = static_cast<int64_t>(i);
    }
  }
  for (const Value result : graph_.results) {
    ++uses_[index_of(result)];
    last_use_[index_of(result)] = kAtTheEnd;
  }
}

bool Emitter::needed_after(Value value, size_t position) const {
  return last_use_[index_of(value)] >= static_cast<int64_t>(position);
}

// For every value the parameter whose memory it may be a view of, and for every parameter the last node that may read
// it. A reshape counts as a reader and as an alias, because the strides are not known yet.
void Emitter::find_roots() {
  roots_.assign(graph_.types.size(), kNever);
  last_reads_.assign(graph_.parameters.size(), kNever);
  for (size_t i = 0; i < graph_.parameters.size(); ++i) {
    roots_[index_of(graph_.parameters[i])] = static_cast<int64_t>(i);
  }
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const ir::Node& node = graph_.nodes[i];
    const bool aliases = ir::may_alias(node);
    if (aliases) roots_[index_of(node.results[0])] = roots_[index_of(ir::aliased_operand(node))];
    const bool reads = !aliases || node.op == Op::Reshape || node.op == Op::BitcastConvert || ir::is_check(node);
    if (!reads) continue;
    for (const Value operand : node.operands) note_read(operand, static_cast<int64_t>(i));
  }
  for (const Value result : graph_.results) note_read(result, kAtTheEnd);
}

void Emitter::note_read(Value value, int64_t when) {
  const int64_t root = roots_[index_of(value)];
  if (root != kNever) last_reads_[static_cast<size_t>(root)] = when;
}

// Follows each result back through aliases to the value that is computed, and notes how that value has to lie so that
// the result needs no copy.
void Emitter::find_pins() {
  pins_.assign(graph_.types.size(), {});
  for (size_t i = 0; i < graph_.results.size(); ++i) {
    Value value = graph_.results[i];
    std::optional<View> view = view_of(module_.results[i]);
    const ir::Node* maker = producer(value);
    while (view && maker != nullptr && ir::may_alias(*maker) && !ir::is_check(*maker)) {
      pin(value, i, *view);  // in case it has to be computed after all
      view = ir::operand_for(graph_, *maker, *view);
      value = maker->operands[0];
      maker = producer(value);
    }
    const bool computed = maker != nullptr && !ir::may_alias(*maker) && maker->op != Op::Constant;
    if (view && computed) pin(value, i, *view);
  }
  pin_taken_.assign(graph_.results.size(), false);
}

void Emitter::pin(Value value, size_t result, const View& view) {
  Pin& pin = pins_[index_of(value)];
  if (pin.result < 0) pin = {static_cast<int32_t>(result), view};
}

const Location& Emitter::location(Value value) {
  Location& location = locations_[index_of(value)];
  if (location.buffer >= 0) return location;
  const ir::Node* maker = producer(value);
  if (maker != nullptr && maker->op == Op::Constant) return location = constant(*maker);
  raise(ErrorKind::Internal, {.where = "core engine",
                              .what = "a value is read before it is computed",
                              .got = maker == nullptr ? "a parameter" : std::string(ir::name(maker->op))});
}

Location Emitter::constant(const ir::Node& node) {
  const auto& data = node.as<ir::ConstantAttributes>().data;
  const ir::TensorType& type = graph_.type(node.results[0]);
  View view = ir::contiguous_view(type);
  const bool splat = static_cast<int64_t>(data.size()) == size_of(type.dtype);
  if (splat) view.strides.assign(view.shape.size(), 0);
  return {program_.constant(type.dtype, data), std::move(view)};
}

int32_t Emitter::offset_register(size_t dimension) {
  while (offset_registers_.size() <= dimension) offset_registers_.push_back(program_.new_register());
  return offset_registers_[dimension];
}

Location Emitter::internal(const ir::TensorType& type) {
  return {program_.hbm(type.dtype, type.elements()), ir::contiguous_view(type)};
}

// The parameter is read by nodes of the range only through views that lie exactly as the result will.
bool Emitter::reads_only_same_places(int64_t parameter, const Pin& pin, Range range) const {
  for (size_t i = range.first; i < range.last; ++i) {
    for (const Value operand : graph_.nodes[i].operands) {
      if (roots_[index_of(operand)] != parameter) continue;
      const Location& location = locations_[index_of(operand)];
      if (location.buffer < 0) continue;  // made inside the range: its own operand has been looked at
      if (!ir::same_places(location.view, pin.view)) return false;
    }
  }
  return true;
}

// Not while a parameter that lies there is still needed, except by the range itself, element for element.
bool Emitter::may_write_to(const Pin& pin, Range range, bool per_element) const {
  for (const ir::Overlap& overlap : module_.overlaps) {
    if (overlap.result != pin.result) continue;
    const int64_t last_read = last_reads_[static_cast<size_t>(overlap.parameter)];
    if (last_read < static_cast<int64_t>(range.first)) continue;
    if (last_read >= static_cast<int64_t>(range.last) || !overlap.identical || !per_element) return false;
    if (!reads_only_same_places(overlap.parameter, pin, range)) return false;
  }
  return true;
}

Location Emitter::place(Value value, Range range, bool per_element) {
  const Pin& pin = pins_[index_of(value)];
  Location& location = locations_[index_of(value)];
  const bool pinned =
      pin.result >= 0 && !pin_taken_[static_cast<size_t>(pin.result)] && may_write_to(pin, range, per_element);
  if (!pinned) return location = internal(graph_.type(value));
  pin_taken_[static_cast<size_t>(pin.result)] = true;
  return location = {result_buffers_[static_cast<size_t>(pin.result)], pin.view};
}

Location Emitter::place_row_major(Value value, Range range) {
  const Pin& pin = pins_[index_of(value)];
  if (pin.result >= 0 && pin.view.contiguous()) return place(value, range, false);
  return locations_[index_of(value)] = internal(graph_.type(value));
}

Location Emitter::place_aside(Value value) { return locations_[index_of(value)] = internal(graph_.type(value)); }

bool Emitter::alias(const ir::Node& node) {
  if (!ir::may_alias(node)) return false;
  const Location& operand = location(ir::aliased_operand(node));
  const std::optional<View> view = ir::alias_of(graph_, node, operand.view);
  if (view) locations_[index_of(node.results[0])] = {operand.buffer, *view};
  return view.has_value();
}

void Emitter::copy(const Location& source, const Location& destination) {
  emit_copy(program_, machine_, source, destination);
}

bool Emitter::already_there(const Location& source, size_t result) const {
  if (!ir::same_places(source.view, view_of(module_.results[result]))) return false;
  if (source.buffer == result_buffers_[result]) return true;
  return std::any_of(module_.overlaps.begin(), module_.overlaps.end(), [&](const ir::Overlap& overlap) {
    return overlap.identical && overlap.result == static_cast<int>(result) &&
           parameter_buffers_[static_cast<size_t>(overlap.parameter)] == source.buffer;
  });
}

bool Emitter::same_memory(const Location& left, const Location& right) const {
  if (!ir::same_places(left.view, right.view)) return false;
  if (left.buffer == right.buffer) return true;
  const auto memory = [&](int32_t buffer, const ir::Overlap& overlap) {
    return buffer == parameter_buffers_[static_cast<size_t>(overlap.parameter)] ||
           buffer == result_buffers_[static_cast<size_t>(overlap.result)];
  };
  return std::any_of(module_.overlaps.begin(), module_.overlaps.end(), [&](const ir::Overlap& overlap) {
    return overlap.identical && memory(left.buffer, overlap) && memory(right.buffer, overlap);
  });
}

// One is a parameter and the other a result in its memory, or they are one.
bool Emitter::overlaps(int32_t left, int32_t right) const {
  if (left == right) return true;
  return std::any_of(module_.overlaps.begin(), module_.overlaps.end(), [&](const ir::Overlap& overlap) {
    const int32_t parameter = parameter_buffers_[static_cast<size_t>(overlap.parameter)];
    const int32_t result = result_buffers_[static_cast<size_t>(overlap.result)];
    return (left == parameter && right == result) || (left == result && right == parameter);
  });
}

Location Emitter::kept_from(const Location& operand, const Location& result) {
  if (!overlaps(operand.buffer, result.buffer)) return operand;
  const Location kept = internal({operand.view.dtype, operand.view.shape});
  copy(operand, kept);
  return kept;
}

bool Emitter::is_overwritten(int32_t buffer) const {
  return std::any_of(module_.overlaps.begin(), module_.overlaps.end(), [&](const ir::Overlap& overlap) {
    return parameter_buffers_[static_cast<size_t>(overlap.parameter)] == buffer;
  });
}

// Results that are parameters, views of something, or were computed aside. What a copy may overwrite is saved before
// the first.
neuroncore::Program Emitter::finish() {
  std::vector<std::pair<Location, Location>> copies;
  for (size_t i = 0; i < graph_.results.size(); ++i) {
    Location source = location(graph_.results[i]);
    const Location destination{result_buffers_[i], view_of(module_.results[i])};
    if (already_there(source, i)) continue;
    if (is_overwritten(source.buffer)) {
      const Location saved = internal(module_.results[i].type);
      copy(source, saved);
      source = saved;
    }
    copies.emplace_back(std::move(source), destination);
  }
  for (const auto& [source, destination] : copies) copy(source, destination);
  return program_.finish();
}

}  // namespace opentrn::compiler
