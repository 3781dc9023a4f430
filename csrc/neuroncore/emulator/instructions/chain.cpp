// Chains of element-wise instructions: their pipelines are joined into one, so that a chunk of every tile between them
// stays in the first cache, and such a tile is never written. The numbers are those of one instruction after the other.
#include <algorithm>
#include <optional>
#include <utility>

#include "neuroncore/emulator/instructions/pipeline.h"

namespace opentrn::neuroncore::emulator {

namespace {

// What an instruction of the chain wrote.
struct Result {
  Operand out;
  uint8_t value = 0;
  bool rounded = false;  // its type is not the one that is computed in
};

class JoinedPipeline {
 public:
  /// False, and nothing is changed, when the instruction cannot be joined.
  bool add(const Request& request) {
    JoinedPipeline joined = *this;
    if (!joined.append(request)) return false;
    *this = std::move(joined);
    return true;
  }

  Kernel kernel(bool whole) const {
    PipelinePlan plan = plan_;
    const Operand& out = results_.back().out;
    if (results_.back().value != plan.pipeline.last_value() || plan.pipeline.operations.empty()) return {};
    if (!assign_places(plan.pipeline) || overwrites_what_it_reads(out)) return {};
    return kernel_of(std::move(plan), out, whole, false);
  }

 private:
  bool append(const Request& request) {
    if (!is_element_wise(request)) return false;
    PipelinePlan plan = plan_pipeline(request);
    const Operand& out = request.outputs[0];
    if (results_.empty()) {
      plan_.pipeline.type = plan.pipeline.type;
      plan_.pipeline.item = plan.pipeline.item;
      plan_.pipeline.chunk = plan.pipeline.chunk;
    } else if (plan.pipeline.type != plan_.pipeline.type || out.partitions != results_[0].out.partitions ||
               out.free_elements() != results_[0].out.free_elements()) {
      return false;
    }
    std::array<uint8_t, kMostValues> values{};  // of the instruction's own numbers
    if (!append_tiles(plan, values) || !append_immediates(plan.pipeline, values)) return false;
    uint8_t value = values[0];
    for (size_t i = 0; i < plan.pipeline.operations.size(); ++i) {
      if (plan_.pipeline.operations.size() == kMostOperations) return false;
      Operation operation = plan.pipeline.operations[i];
      operation.a = values[operation.a];
      operation.b = values[operation.b];
      plan_.pipeline.operations.push_back(operation);
      value = values[kFirstResult + i] = plan_.pipeline.last_value();
    }
    plan_.pipeline.store = plan.pipeline.store;
    plan_.pipeline.copy = plan.pipeline.copy;
    plan_.pipeline.out_item = plan.pipeline.out_item;
    results_.push_back({.out = out, .value = value, .rounded = plan.pipeline.store != nullptr});
    return true;
  }

  bool append_tiles(const PipelinePlan& plan, std::array<uint8_t, kMostValues>& values) {
    for (size_t i = 0; i < plan.tiles.size(); ++i) {
      const auto wrote = [&](const Result& result) { return result.out.slot == plan.tiles[i].slot; };
      const auto result = std::find_if(results_.rbegin(), results_.rend(), wrote);
      if (result == results_.rend()) {
        const std::optional<uint8_t> tile = tile_number(plan.tiles[i], plan.pipeline.tiles[i]);
        if (!tile) return false;
        values[i] = *tile;
        continue;
      }
      if (result->rounded || plan.pipeline.tiles[i].load != nullptr) return false;
      if (!same_elements(result->out, plan.tiles[i])) return false;
      values[i] = result->value;
    }
    return true;
  }

  std::optional<uint8_t> tile_number(const Operand& operand, const Pipeline::Tile& tile) {
    for (size_t i = 0; i < plan_.tiles.size(); ++i) {
      if (same_elements(plan_.tiles[i], operand) && plan_.pipeline.tiles[i].load == tile.load)
        return static_cast<uint8_t>(i);
    }
    if (plan_.tiles.size() == kMostTiles) return std::nullopt;
    plan_.tiles.push_back(operand);
    plan_.pipeline.tiles.push_back(tile);
    return static_cast<uint8_t>(plan_.tiles.size() - 1);
  }

  bool append_immediates(const Pipeline& pipeline, std::array<uint8_t, kMostValues>& values) {
    for (size_t i = 0; i < pipeline.immediate_count; ++i) {
      if (plan_.pipeline.immediate_count == kMostImmediates) return false;
      plan_.pipeline.immediates[plan_.pipeline.immediate_count] = pipeline.immediates[i];
      values[kFirstImmediate + i] = static_cast<uint8_t>(kFirstImmediate + plan_.pipeline.immediate_count++);
    }
    return true;
  }

  // Chunks are written before later ones are read.
  bool overwrites_what_it_reads(const Operand& out) const {
    return std::any_of(plan_.tiles.begin(), plan_.tiles.end(),
                       [&](const Operand& tile) { return tile.slot == out.slot && !same_elements(tile, out); });
  }

  PipelinePlan plan_;
  std::vector<Result> results_;
};

bool reads(const Request& request, int32_t slot) {
  const auto is_it = [slot](const Operand& operand) { return operand.slot == slot; };
  return std::any_of(request.inputs.begin(), request.inputs.end(), is_it);
}

bool writes(const Request& request, int32_t slot) {
  const auto is_it = [slot](const Operand& operand) { return operand.slot == slot; };
  return std::any_of(request.outputs.begin(), request.outputs.end(), is_it);
}

}  // namespace

bool is_element_wise(const Request& request) {
  const Instruction& instruction = request.instruction;
  if (instruction.accumulate || request.outputs.size() != 1) return false;
  const Operand& out = request.outputs[0];
  if (out.partitions == 0 || out.free_elements() == 0) return false;
  switch (instruction.opcode) {
    case Opcode::TensorTensor:
    case Opcode::TensorScalar:
    case Opcode::ScalarTensorTensor:
    case Opcode::Activation: return true;
    case Opcode::TensorCopy: return out.dtype != request.inputs[0].dtype;
    default: return false;
  }
}

bool StripValues::is_dead(size_t writer, size_t end) const {
  const Operand& value = requests_[writer].outputs[0];
  if (std::find(local_.begin(), local_.end(), requests_[writer].instruction.outputs[0].buffer) == local_.end())
    return false;
  for (const Request& later : requests_.subspan(end)) {
    if (reads(later, value.slot)) return false;
    if (!writes(later, value.slot)) continue;
    // Other instructions may keep some of what is there.
    return is_element_wise(later) && same_elements(later.outputs[0], value);
  }
  return true;
}

Chain prepare_chain(std::span<const Request> requests, size_t first, size_t end, const StripValues& values) {
  if (end - first < 2 || !is_element_wise(requests[first]) || !is_element_wise(requests[first + 1])) return {};
  JoinedPipeline joined;
  Chain longest;
  for (size_t next = first; next < end && joined.add(requests[next]);) {
    ++next;
    const size_t count = next - first;
    bool closed = count > 1;  // nothing but the last result is read by others
    for (size_t writer = first; closed && writer + 1 < next; ++writer) closed = values.is_dead(writer, next);
    if (!closed) continue;
    if (Kernel kernel = joined.kernel(requests[first].whole)) longest = {std::move(kernel), count};
  }
  return longest;
}

}  // namespace opentrn::neuroncore::emulator
