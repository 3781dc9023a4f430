// From a run of the graph to slots, steps and tiles.
#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/rows.h"
#include "ir/aliases.h"
#include "ir/constants.h"

namespace opentrn::compiler::rows {

namespace {

using ir::Op;
using ir::Value;

class Describer {
 public:
  Describer(Emitter& emitter, const passes::Run& run) : emitter_(emitter), run_(run) {
    description_.space = run.space;
    description_.reduced = run.reduced;
  }

  Description describe() {
    for (size_t i = run_.first; i < run_.last; ++i) take(emitter_.node(i));
    find_results();
    combine(emitter_.machine(), description_);
    assign_tiles();
    return std::move(description_);
  }

 private:
  struct Known {
    Value value;
    Use use;
  };

  const Use* find(Value value) const {
    const auto found =
        std::find_if(known_.rbegin(), known_.rend(), [&](const Known& known) { return known.value == value; });
    return found == known_.rend() ? nullptr : &found->use;
  }

  Slot& slot(const Use& use) { return description_.slots[static_cast<size_t>(use.slot)]; }

  void take(const ir::Node& node) {
    if (node.op == Op::Constant) return;
    const bool of_made = !node.operands.empty() && run_.find(node.operands[0]) != nullptr;
    if (of_made && passes::is_view_in_run(node)) return take_view(node, *find(node.operands[0]));
    if (!of_made && ir::may_alias(node) && emitter_.alias(node)) return;
    add_step(node);
  }

  void take_view(const ir::Node& node, Use operand) {
    description_.views.push_back({&node, operand.slot});
    operand.dtype = emitter_.type(node.results[0]).dtype;
    known_.push_back({node.results[0], operand});
  }

  void add_step(const ir::Node& node) {
    Step step;
    step.node = &node;
    const Value result = node.results[0];
    const passes::SpaceValue& made = *run_.find(result);
    uint64_t varies = 0;
    int stage = 0;
    const bool all_numbers = std::all_of(node.operands.begin(), node.operands.end(),
                                         [&](Value operand) { return splat(operand) != nullptr; });
    for (const Value operand : node.operands) {
      const bool as_tile = splat(operand) != nullptr && needs_tile(node, step.count, all_numbers);
      const Use use = as_tile ? number_tile(operand) : operand_use(node, operand, made.dimensions);
      const Slot& slot = description_.slot(use);
      step.operands[step.count++] = use;
      varies |= slot.varies;
      stage = std::max(stage, slot.stage);
    }
    if (node.op == Op::Iota) {
      const auto d = static_cast<size_t>(node.as<ir::IotaAttributes>().iota_dimension);
      if (made.dimensions[d] >= 0) varies |= uint64_t{1} << made.dimensions[d];
    }
    if (node.op == Op::Reduce && reduces(node)) {
      varies &= ~run_.reduced;
      ++stage;
    }
    Slot slot;
    slot.value = result;
    slot.dtype = emitter_.type(result).dtype;
    slot.dimensions = made.dimensions;
    slot.varies = varies;
    slot.stage = stage;
    step.result = add(std::move(slot));
    description_.steps.push_back(std::move(step));
  }

  bool reduces(const ir::Node& node) const {
    const Dims& sizes = emitter_.type(node.operands[0]).shape;
    const Dims& dimensions = node.as<ir::ReduceAttributes>().dimensions;
    return std::any_of(dimensions.begin(), dimensions.end(),
                       [&](int64_t d) { return sizes[static_cast<size_t>(d)] != 1; });
  }

  int32_t add(Slot slot) {
    const auto number = static_cast<int32_t>(description_.slots.size());
    known_.push_back({slot.value, {number, slot.dtype}});
    description_.slots.push_back(std::move(slot));
    return number;
  }

  // Operands that are made elsewhere lie in the space as the result of the node does.
  Use operand_use(const ir::Node& node, Value operand, const std::vector<int32_t>& result) {
    const auto now = static_cast<int32_t>(description_.steps.size());
    std::vector<int32_t> dimensions;
    if (run_.find(operand) == nullptr) {
      const passes::SpaceValue* own = node.op == Op::Reduce ? run_.find_operand(operand) : nullptr;
      if (own != nullptr)
        dimensions = own->dimensions;
      else if (emitter_.type(operand).rank() != 0)
        dimensions = result;
    } else {
      const Use use = *find(operand);
      slot(use).last_use = now;
      return use;
    }
    for (const Known& known : known_) {
      Slot& same = slot(known.use);
      if (known.value != operand || same.dimensions != dimensions) continue;
      same.last_use = now;
      return known.use;
    }
    const int32_t number = add(outside(operand, std::move(dimensions)));
    description_.slots.back().last_use = now;
    return {number, description_.slots.back().dtype};
  }

  const std::vector<std::byte>* splat(Value value) const {
    const ir::Node* maker = emitter_.producer(value);
    if (maker == nullptr || maker->op != Op::Constant) return nullptr;
    const auto& data = maker->as<ir::ConstantAttributes>().data;
    return static_cast<int64_t>(data.size()) == size_of(emitter_.type(value).dtype) ? &data : nullptr;
  }

  neuroncore::Immediate number(Value value) const {
    neuroncore::Immediate result;
    result.dtype = emitter_.type(value).dtype;
    const auto& data = *splat(value);
    std::memcpy(result.bytes.data(), data.data(), data.size());
    return result;
  }

  // A step of its own that writes the number to a tile.
  Use number_tile(Value value) {
    Step step;
    step.node = emitter_.producer(value);
    Slot slot;
    slot.dtype = emitter_.type(value).dtype;
    slot.number = number(value);
    step.result = static_cast<int32_t>(description_.slots.size());
    slot.last_use = static_cast<int32_t>(description_.steps.size()) + 1;
    description_.slots.push_back(std::move(slot));
    description_.steps.push_back(std::move(step));
    return {step.result, description_.slots.back().dtype};
  }

  Slot outside(Value value, std::vector<int32_t> dimensions) {
    Slot slot;
    slot.value = value;
    slot.dtype = emitter_.type(value).dtype;
    if (splat(value) != nullptr) {
      slot.kind = Slot::Kind::Splat;
      slot.number = number(value);
      slot.dimensions = std::move(dimensions);
      return slot;
    }
    slot.kind = Slot::Kind::Load;
    slot.location = emitter_.location(value);
    const ir::View& view = slot.location.view;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      if (dimensions[d] >= 0 && view.strides[d] != 0) slot.varies |= uint64_t{1} << dimensions[d];
    }
    slot.dimensions = std::move(dimensions);
    return slot;
  }

  bool is_whole(const std::vector<int32_t>& dimensions) const {
    uint64_t all = 0;
    for (size_t d = 0; d < run_.space.size(); ++d) {
      if (run_.space[d] != 1) all |= uint64_t{1} << d;
    }
    const uint64_t own = spanned(dimensions);
    return own == all || own == (all & ~run_.reduced);
  }

  // Values that are needed after the run. Of views the value they look at is stored, where it spans the space.
  void find_results() {
    for (size_t i = run_.first; i < run_.last; ++i) {
      const ir::Node& node = emitter_.node(i);
      if (node.results.empty() || !emitter_.needed_after(node.results[0], run_.last)) continue;
      const Use* use = find(node.results[0]);
      if (use == nullptr) continue;
      Slot& made = slot(*use);
      if (made.kind != Slot::Kind::Made) continue;
      if (made.value == node.results[0] || is_whole(made.dimensions)) {
        made.stored = true;
      } else {
        store_view(node, *use);
      }
    }
  }

  // A step of its own that copies the value a view looks at.
  void store_view(const ir::Node& node, Use use) {
    Step step;
    step.node = &node;
    step.operands[0] = use;
    step.count = 1;
    Slot copy;
    copy.value = node.results[0];
    copy.dtype = use.dtype;
    copy.dimensions = run_.find(copy.value)->dimensions;
    copy.varies = slot(use).varies;
    copy.stage = slot(use).stage;
    slot(use).last_use = static_cast<int32_t>(description_.steps.size());
    step.result = static_cast<int32_t>(description_.slots.size());
    copy.stored = true;
    description_.slots.push_back(std::move(copy));
    description_.steps.push_back(std::move(step));
  }

  // --- tiles

  int32_t new_tile(DType dtype, uint64_t varies, bool in_flight) {
    description_.tiles.push_back({dtype, varies, in_flight});
    return static_cast<int32_t>(description_.tiles.size()) - 1;
  }

  // Of a reduction only full values share tiles: rows are small, and may have to outlive a loop over the data.
  int32_t pooled_tile(DType dtype, uint64_t varies) {
    if (run_.reduced != 0 && (varies & run_.reduced) == 0) return new_tile(dtype, varies, false);
    const auto found = std::find_if(free_.begin(), free_.end(), [&](int32_t id) {
      const Tile& tile = description_.tiles[static_cast<size_t>(id)];
      return tile.dtype == dtype && tile.varies == varies;
    });
    if (found == free_.end()) return new_tile(dtype, varies, false);
    const int32_t tile = *found;
    free_.erase(found);
    return tile;
  }

  static bool is_pooled(const Slot& slot) { return slot.kind == Slot::Kind::Made && !slot.stored; }

  void release(Slot& slot, int32_t step) {
    if (!is_pooled(slot) || slot.last_use > step || slot.released) return;
    slot.released = true;
    free_.push_back(slot.tile);
  }

  void release_operands(const Step& step, int32_t number, uint32_t which) {
    for (size_t i = 0; i < step.count; ++i) {
      if ((which >> i & 1) != 0) release(slot(step.operands[i]), number);
    }
  }

  void assign_tiles() {
    for (Slot& slot : description_.slots) {
      if (slot.kind == Slot::Kind::Load || slot.stored) slot.tile = new_tile(slot.dtype, slot.varies, true);
    }
    for (size_t i = 0; i < description_.steps.size(); ++i) {
      Step& step = description_.steps[i];
      const auto number = static_cast<int32_t>(i);
      Slot& result = description_.slots[static_cast<size_t>(step.result)];
      const Needs needs = needs_of(description_, step);
      release_operands(step, number, needs.overwritable);
      if (result.tile < 0) result.tile = pooled_tile(result.dtype, result.varies);
      for (const DType dtype : needs.temporaries) step.temporaries.push_back(pooled_tile(dtype, result.varies));
      for (const int32_t tile : step.temporaries) free_.push_back(tile);
      release_operands(step, number, ~needs.overwritable);
      release(result, number);  // nobody reads it
    }
  }

  Emitter& emitter_;
  const passes::Run& run_;
  Description description_;
  std::vector<Known> known_;
  std::vector<int32_t> free_;
};

// An operand of the same shape runs through the space as the result does.
bool is_per_element(const Emitter& emitter, const Description& description, const Slot& made) {
  const Dims& shape = emitter.type(made.value).shape;
  return std::all_of(description.slots.begin(), description.slots.end(), [&](const Slot& load) {
    return load.kind != Slot::Kind::Load || load.location.view.shape != shape || load.dimensions == made.dimensions;
  });
}

}  // namespace

uint64_t spanned(const std::vector<int32_t>& dimensions) {
  uint64_t result = 0;
  for (const int32_t d : dimensions) {
    if (d >= 0) result |= uint64_t{1} << d;
  }
  return result;
}

bool Description::may_trap() const {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.node->op == Op::CustomCall; });
}

Description describe(Emitter& emitter, const passes::Run& run) { return Describer(emitter, run).describe(); }

void place_results(Emitter& emitter, const passes::Run& run, Description& description) {
  for (Slot& slot : description.slots) {
    if (!slot.stored) continue;
    if (description.may_trap()) {  // a tile is stored before the next one is checked
      slot.location = emitter.place_aside(slot.value);
      continue;
    }
    slot.location = emitter.place(slot.value, {run.first, run.last}, is_per_element(emitter, description, slot));
  }
  for (const View& view : description.views) {
    if (description.slots[static_cast<size_t>(view.slot)].stored) emitter.alias(*view.node);
  }
}

bool is_multi_stage(const Description& description) {
  return std::any_of(description.slots.begin(), description.slots.end(), [&](const Slot& slot) {
    const uint64_t used = slot.stored ? spanned(slot.dimensions) : slot.varies;
    return slot.stage > 0 && (used & description.reduced) != 0;
  });
}

}  // namespace opentrn::compiler::rows
