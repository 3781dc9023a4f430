// Chains of element-wise instructions: their pipelines are joined into one, so that a chunk of every tile between them
// stays in the first cache, and such a tile is never written. The numbers are those of one instruction after the other.
#include <algorithm>
#include <optional>
#include <utility>

#include "neuroncore/emulator/instructions/pipeline.h"

namespace opentrn::neuroncore::emulator {

namespace {

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

// What an instruction of the chain wrote.
struct Result {
  Operand out;
  int32_t buffer = -1;
  uint8_t value = 0;
  bool rounded = false;  // its type is not the one that is computed in
  int32_t reads = 0;     // by later instructions of the chain
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

  size_t instructions() const { return results_.size(); }

  // Nothing but the last result is used outside of the chain.
  bool is_closed(const Program& program, std::span<const int32_t> uses) const {
    return std::all_of(results_.begin(), results_.end() - 1, [&](const Result& result) {
      return program.buffers[static_cast<size_t>(result.buffer)].space != Space::Hbm &&
             uses[static_cast<size_t>(result.buffer)] == 1 + result.reads;
    });
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
    results_.push_back({.out = out,
                        .buffer = request.instruction.outputs[0].buffer,
                        .value = value,
                        .rounded = plan.pipeline.store != nullptr});
    return true;
  }

  bool append_tiles(const PipelinePlan& plan, std::array<uint8_t, kMostValues>& values) {
    for (size_t i = 0; i < plan.tiles.size(); ++i) {
      const auto wrote = [&](const Result& result) { return result.out.slot == plan.tiles[i].slot; };
      const auto result = std::find_if(results_.begin(), results_.end(), wrote);
      if (result == results_.end()) {
        const std::optional<uint8_t> tile = tile_number(plan.tiles[i], plan.pipeline.tiles[i]);
        if (!tile) return false;
        values[i] = *tile;
        continue;
      }
      const bool once = std::none_of(result + 1, results_.end(), wrote);
      if (!once || result->rounded || plan.pipeline.tiles[i].load != nullptr) return false;
      if (!same_elements(result->out, plan.tiles[i])) return false;
      ++result->reads;
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

}  // namespace

Chain prepare_chain(std::span<const Request> requests, std::span<const int32_t> uses) {
  if (requests.size() < 2 || !is_element_wise(requests[0]) || !is_element_wise(requests[1])) return {};
  JoinedPipeline joined;
  Chain longest;
  for (const Request& request : requests) {
    if (!joined.add(request)) break;
    if (joined.instructions() < 2 || !joined.is_closed(request.program, uses)) continue;
    if (Kernel kernel = joined.kernel(request.whole)) longest = {std::move(kernel), joined.instructions()};
  }
  return longest;
}

}  // namespace opentrn::neuroncore::emulator
