// Turns a graph into a program: decides where every value lives, makes the kernels, and copies what could not be
// computed in place.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "engines/reference/program.h"
#include "engines/reference/storage.h"
#include "ir/aliases.h"

namespace opentrn::engines::reference {

namespace {

using ir::alias_of;
using ir::aliased_operand;
using ir::is_check;
using ir::may_alias;
using ir::Op;
using ir::operand_for;
using ir::Value;

constexpr int64_t kNever = -1;
constexpr int64_t kAtTheEnd = std::numeric_limits<int64_t>::max();

size_t index_of(Value value) { return static_cast<size_t>(value.id); }

// Operands that a result may lie upon: each of their elements is read before the result's is written there.
uint64_t overwritable_operands(const ir::Node& node) {
  if (node.op == Op::Scatter || node.op == Op::DynamicUpdateSlice) return 1;
  const bool per_element = ir::is_elementwise(node.op) && node.op != Op::BitcastConvert;
  return per_element ? ~uint64_t{0} : 0;
}

class Planner {
 public:
  explicit Planner(const Module& module) : module_(module), graph_(module.graph), places_(module.graph.types.size()) {}

  Program run() {
    check_layouts();
    place_parameters();
    find_roots();
    find_pins();
    for (node_ = 0; node_ < graph_.nodes.size(); ++node_) plan_node(graph_.nodes[node_]);
    copy_results();
    return assemble();
  }

 private:
  struct Pin {
    int32_t result = -1;
    View view;
  };

  struct PlannedStep {
    Kernel kernel;
    Access access;
  };

  void check_layouts() const {
    const auto same = [&](const std::vector<Layout>& layouts, const std::vector<Value>& values) {
      return std::equal(layouts.begin(), layouts.end(), values.begin(), values.end(),
                        [&](const Layout& layout, Value value) {
                          return layout.type == graph_.type(value) && layout.strides.size() == layout.type.shape.size();
                        });
    };
    if (same(module_.parameters, graph_.parameters) && same(module_.results, graph_.results)) return;
    raise(ErrorKind::Internal, {.where = "reference engine", .what = "the layouts do not belong to the graph's types"});
  }

  int32_t add_storage(Storage storage) {
    storages_.push_back(storage);
    return static_cast<int32_t>(storages_.size()) - 1;
  }

  void place_parameters() {
    for (size_t i = 0; i < graph_.parameters.size(); ++i) {
      const Layout& layout = module_.parameters[i];
      const int32_t storage = add_storage({Home::Parameter, static_cast<int32_t>(i)});
      places_[index_of(graph_.parameters[i])] = {storage, {layout.type.dtype, layout.type.shape, layout.strides, 0}};
    }
    first_result_storage_ = static_cast<int32_t>(storages_.size());
    for (size_t i = 0; i < graph_.results.size(); ++i) add_storage({Home::Result, static_cast<int32_t>(i)});
  }

  // For every value the parameter whose memory it may be a view of, and for every parameter the last node that may read
  // it. A reshape counts as a reader and as an alias, because the strides are not known yet.
  void find_roots() {
    roots_.assign(graph_.types.size(), kNever);
    last_reads_.assign(graph_.parameters.size(), kNever);
    for (size_t i = 0; i < graph_.parameters.size(); ++i) {
      roots_[index_of(graph_.parameters[i])] = static_cast<int64_t>(i);
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const ir::Node& node = graph_.nodes[i];
      if (may_alias(node)) roots_[index_of(node.results[0])] = roots_[index_of(aliased_operand(node))];
      const bool reads = !may_alias(node) || node.op == Op::Reshape || node.op == Op::BitcastConvert || is_check(node);
      if (!reads) continue;
      for (const Value operand : node.operands) note_read(operand, static_cast<int64_t>(i));
    }
    for (const Value result : graph_.results) note_read(result, kAtTheEnd);
  }

  void note_read(Value value, int64_t when) {
    const int64_t root = roots_[index_of(value)];
    if (root != kNever) last_reads_[static_cast<size_t>(root)] = when;
  }

  // Follows each result back through aliases to the value that is computed, and notes how that value has to lie so that
  // the result needs no copy.
  void find_pins() {
    pins_.assign(graph_.types.size(), {});
    std::vector<const ir::Node*> producers(graph_.types.size(), nullptr);
    for (const ir::Node& node : graph_.nodes) {
      for (const Value result : node.results) producers[index_of(result)] = &node;
    }
    for (size_t i = 0; i < graph_.results.size(); ++i) {
      const Layout& layout = module_.results[i];
      Value value = graph_.results[i];
      std::optional<View> view = View{layout.type.dtype, layout.type.shape, layout.strides, 0};
      const ir::Node* producer = producers[index_of(value)];
      while (view && producer != nullptr && may_alias(*producer) && !is_check(*producer)) {
        if (producer->op == Op::Reshape) pin(value, i, *view);  // in case it has to copy
        view = operand_for(graph_, *producer, *view);
        value = producer->operands[0];
        producer = producers[index_of(value)];
      }
      const bool computed = producer != nullptr && !may_alias(*producer) && producer->op != Op::Constant;
      if (view && computed) pin(value, i, *view);
    }
    pin_taken_.assign(graph_.results.size(), false);
  }

  void pin(Value value, size_t result, const View& view) {
    Pin& pin = pins_[index_of(value)];
    if (pin.result < 0) pin = {static_cast<int32_t>(result), view};
  }

  // May node `node_` write its result straight to where `pin` says? Not while a parameter that lies there is still
  // needed, except by this very node, element for element.
  bool may_write_to(const Pin& pin, const ir::Node& node) const {
    const Place result{first_result_storage_ + pin.result, pin.view};
    const uint64_t overwritable = node.operands.size() > 64 ? 0 : overwritable_operands(node);
    for (const Overlap& overlap : module_.overlaps) {
      if (overlap.result != pin.result) continue;
      const int64_t last_read = last_reads_[static_cast<size_t>(overlap.parameter)];
      if (last_read < static_cast<int64_t>(node_)) continue;
      if (last_read > static_cast<int64_t>(node_) || !overlap.identical) return false;
      for (size_t i = 0; i < node.operands.size(); ++i) {
        if (roots_[index_of(node.operands[i])] != overlap.parameter) continue;
        const Place& operand = places_[index_of(node.operands[i])];
        if ((overwritable >> i & 1) == 0 || !same_places(operand.view, result.view)) return false;
      }
    }
    return true;
  }

  void plan_node(const ir::Node& node) {
    if (node.op == Op::Constant) return place_constant(node);
    if (is_check(node)) add_step(node);
    if (may_alias(node)) {
      const Place& operand = places_[index_of(aliased_operand(node))];
      if (const std::optional<View> view = alias_of(graph_, node, operand.view)) {
        places_[index_of(node.results[0])] = {operand.storage, *view};
        return;
      }
    }
    add_step(node);
  }

  void place_constant(const ir::Node& node) {
    const auto& data = node.as<ir::ConstantAttributes>().data;
    const ir::TensorType& type = graph_.type(node.results[0]);
    View view = ir::contiguous_view(type);
    const bool splat = static_cast<int64_t>(data.size()) == size_of(type.dtype);
    if (splat) view.strides.assign(view.shape.size(), 0);
    const Storage storage{Home::Constant, 0, constant_bytes_, static_cast<int64_t>(data.size())};
    constants_.push_back(&data);
    constant_bytes_ += aligned(storage.bytes);
    places_[index_of(node.results[0])] = {add_storage(storage), std::move(view)};
  }

  Place new_scratch(const ir::TensorType& type) {
    return {add_storage({Home::Scratch, 0, 0, type.bytes()}), ir::contiguous_view(type)};
  }

  Place choose_place(const ir::Node& node, Value value) {
    const Pin& pin = pins_[index_of(value)];
    const bool reshapes = node.op == Op::Reshape;
    const bool pinned = pin.result >= 0 && !pin_taken_[static_cast<size_t>(pin.result)] && may_write_to(pin, node) &&
                        (!reshapes || reshape_view(pin.view, graph_.type(node.operands[0]).shape));
    if (!pinned) return new_scratch(graph_.type(value));
    pin_taken_[static_cast<size_t>(pin.result)] = true;
    return {first_result_storage_ + pin.result, pin.view};
  }

  void add_step(const ir::Node& node) {
    Access access;
    for (const Value operand : node.operands) access.operands.push_back(places_[index_of(operand)]);
    const bool writes = !is_check(node);
    for (const Value result : node.results) {
      if (writes) access.results.push_back(choose_place(node, result));
    }
    for (size_t i = 0; i < access.results.size(); ++i) places_[index_of(node.results[i])] = access.results[i];
    access.overwritable = overwritable_operands(node);
    std::vector<View> operands, results;
    for (const Place& place : access.operands) operands.push_back(place.view);
    for (const Place& place : access.results) results.push_back(place.view);
    steps_.push_back({make_kernel({node, operands, results}), std::move(access)});
  }

  void add_copy(const Place& source, const Place& destination) {
    steps_.push_back({copy_kernel(source.view, destination.view), {{source}, {destination}, 0}});
  }

  bool already_there(const Place& source, const Place& destination) const {
    if (!same_places(source.view, destination.view)) return false;
    if (source.storage == destination.storage) return true;
    const Storage& from = storages_[static_cast<size_t>(source.storage)];
    const int32_t result = storages_[static_cast<size_t>(destination.storage)].index;
    return from.home == Home::Parameter &&
           std::any_of(module_.overlaps.begin(), module_.overlaps.end(), [&](const Overlap& overlap) {
             return overlap.identical && overlap.result == result && overlap.parameter == from.index;
           });
  }

  bool is_overwritten(const Storage& storage) const {
    return storage.home == Home::Parameter &&
           std::any_of(module_.overlaps.begin(), module_.overlaps.end(),
                       [&](const Overlap& overlap) { return overlap.parameter == storage.index; });
  }

  // Results that are parameters, views of something, or were computed aside. What a copy may overwrite is saved before
  // the first.
  void copy_results() {
    std::vector<std::pair<Place, Place>> copies;
    for (size_t i = 0; i < graph_.results.size(); ++i) {
      const Layout& layout = module_.results[i];
      Place source = places_[index_of(graph_.results[i])];
      const Place destination{first_result_storage_ + static_cast<int32_t>(i),
                              {layout.type.dtype, layout.type.shape, layout.strides, 0}};
      if (already_there(source, destination)) continue;
      if (is_overwritten(storages_[static_cast<size_t>(source.storage)])) {
        const Place saved = new_scratch(layout.type);
        add_copy(source, saved);
        source = saved;
      }
      copies.emplace_back(std::move(source), destination);
    }
    for (const auto& [source, destination] : copies) add_copy(source, destination);
  }

  // Addresses of nothing are not moved: they may be null.
  Argument argument(const Place& place) const {
    const Storage& storage = storages_[static_cast<size_t>(place.storage)];
    const int64_t offset = place.view.elements() == 0 ? 0 : place.view.offset;
    const auto parameters = static_cast<int32_t>(graph_.parameters.size());
    switch (storage.home) {
      case Home::Parameter: return {kFirstParameterBase + storage.index, offset};
      case Home::Result: return {kFirstParameterBase + parameters + storage.index, offset};
      case Home::Constant: return {kConstantBase, storage.offset + offset};
      case Home::Scratch: break;
    }
    return {kScratchBase, storage.offset + offset};
  }

  Program assemble() {
    Program program;
    program.parameters = graph_.parameters.size();
    program.results = graph_.results.size();
    std::vector<Access> accesses;
    accesses.reserve(steps_.size());
    for (PlannedStep& step : steps_) accesses.push_back(std::move(step.access));
    program.scratch_bytes = assign_scratch(storages_, accesses);
    program.steps.reserve(steps_.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      Step step{std::move(steps_[i].kernel), {}, accesses[i].operands.size()};
      for (const Place& place : accesses[i].operands) step.arguments.push_back(argument(place));
      for (const Place& place : accesses[i].results) step.arguments.push_back(argument(place));
      program.most_arguments = std::max(program.most_arguments, step.arguments.size());
      program.steps.push_back(std::move(step));
    }
    program.constants = Buffer(constant_bytes_);
    int64_t offset = 0;
    for (const std::vector<std::byte>* data : constants_) {
      if (!data->empty()) std::memcpy(program.constants.data() + offset, data->data(), data->size());
      offset += aligned(static_cast<int64_t>(data->size()));
    }
    return program;
  }

  const Module& module_;
  const ir::Graph& graph_;
  std::vector<Place> places_;        // by value
  std::vector<Storage> storages_;    // parameters, results, then the rest
  std::vector<int64_t> roots_;       // by value: the parameter it may be a view of
  std::vector<int64_t> last_reads_;  // by parameter: the last node that may read it
  std::vector<Pin> pins_;            // by value
  std::vector<bool> pin_taken_;      // by result
  std::vector<PlannedStep> steps_;
  std::vector<const std::vector<std::byte>*> constants_;
  int64_t constant_bytes_ = 0;
  int32_t first_result_storage_ = 0;
  size_t node_ = 0;
};

}  // namespace

Program compile_program(const Module& module) { return Planner(module).run(); }

}  // namespace opentrn::engines::reference
