#include "neuroncore/emulator/aliases.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "neuroncore/emulator/instructions/prepare.h"
#include "neuroncore/emulator/mapping.h"
#include "neuroncore/emulator/sharing.h"
#include "neuroncore/structure.h"

namespace opentrn::neuroncore::emulator {

namespace {

// An access of an instruction to a buffer.
struct Use {
  int32_t instruction = -1;
  int32_t position = 0;
  bool write = false;
  size_t operand = 0;
};

// Positions at which memory is touched, both included.
struct Span {
  int32_t first = 0, last = 0;
};

struct Replacement {
  Use use;
  Access access;
};

// A tile that may be left out, with the DMA that moves it.
struct Candidate {
  int32_t tile = -1;
  int32_t dma = -1;
  int32_t hbm = -1;
  Span span;  // from the load to the last reader, or from the first writer to the store
  std::vector<Replacement> replacements;
  bool accepted = true;
};

bool moves_directly(const Instruction& instruction) {
  return instruction.opcode == Opcode::DmaCopy && !instruction.accumulate && instruction.outputs[0].index_operand < 0 &&
         instruction.inputs[0].index_operand < 0;
}

bool is_elementwise(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::TensorTensor:
    case Opcode::TensorScalar:
    case Opcode::ScalarTensorTensor:
    case Opcode::Activation:
    case Opcode::TensorCopy:
    case Opcode::SelectReduce:
    case Opcode::AffineSelect: return true;
    default: return false;
  }
}

// The smallest step of the free dimensions, in elements.
int64_t free_step(const Access& access) {
  int64_t smallest = 0;
  for (size_t i = 1; i < access.pattern.size(); ++i) {
    const PatternDimension& dimension = access.pattern[i];
    if (dimension.size <= 1 || dimension.step == 0) continue;
    const int64_t step = std::abs(dimension.step);
    smallest = smallest == 0 ? step : std::min(smallest, step);
  }
  return smallest == 0 ? 1 : smallest;
}

// Elements lie next to each other along the partitions instead of the free dimensions.
bool is_transposed(const Access& hbm) {
  return hbm.pattern[0].size > 1 && std::abs(hbm.pattern[0].step) == 1 && free_step(hbm) > 1;
}

bool overlaps(const Span& left, const Span& right) { return left.first <= right.last && right.first <= left.last; }

class Analysis {
 public:
  explicit Analysis(const Program& program)
      : program_(program), structure_(program), uses_(program.buffers.size()), shared_(program.buffers.size()) {
    for (const int32_t number : structure_.order) note(number);
    find_shared_memory();
  }

  Shortened run() {
    for (size_t i = 0; i < uses_.size(); ++i) {
      if (program_.buffers[i].space != Space::Sbuf || uses_[i].empty()) continue;
      if (auto candidate = load_candidate(static_cast<int32_t>(i))) {
        loads_.push_back(std::move(*candidate));
      } else if (auto other = store_candidate(static_cast<int32_t>(i))) {
        stores_.push_back(std::move(*other));
      }
    }
    drop_conflicts();
    note_assumptions();
    return rewrite();
  }

 private:
  void note(int32_t number) {
    const Instruction& instruction = program_.instructions[static_cast<size_t>(number)];
    const int32_t position = structure_.position[static_cast<size_t>(number)];
    const auto add = [&](const Access& access, bool write, size_t operand) {
      uses_[static_cast<size_t>(access.buffer)].push_back({number, position, write, operand});
    };
    for (size_t i = 0; i < instruction.inputs.size(); ++i) add(instruction.inputs[i], false, i);
    for (size_t i = 0; i < instruction.outputs.size(); ++i) add(instruction.outputs[i], true, i);
    if (instruction.opcode == Opcode::RegisterLoad) register_loads_.push_back(position);
    if (traps(instruction.opcode)) traps_.push_back(position);
  }

  void find_shared_memory() {
    std::vector<int32_t> hbm;
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      if (program_.buffers[i].space != Space::Hbm || uses_[i].empty()) continue;
      shared_[i].push_back(static_cast<int32_t>(i));
      const Buffer& buffer = program_.buffers[i];
      const bool placed = buffer.role == Role::Internal && buffer.address >= 0;
      if (placed) hbm.push_back(static_cast<int32_t>(i));
    }
    const auto address = [&](int32_t id) { return program_.buffers[static_cast<size_t>(id)].address; };
    std::sort(hbm.begin(), hbm.end(), [&](int32_t left, int32_t right) { return address(left) < address(right); });
    for (size_t i = 0; i < hbm.size(); ++i) {
      const Buffer& buffer = program_.buffers[static_cast<size_t>(hbm[i])];
      const int64_t end = buffer.address + buffer.elements * size_of(buffer.dtype);
      for (size_t j = i + 1; j < hbm.size() && address(hbm[j]) < end; ++j) {
        shared_[static_cast<size_t>(hbm[i])].push_back(hbm[j]);
        shared_[static_cast<size_t>(hbm[j])].push_back(hbm[i]);
      }
    }
    if (program_.shared.empty()) return;
    std::vector<int32_t> parameters, results;
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      const Buffer& buffer = program_.buffers[i];
      if (buffer.space != Space::Hbm || uses_[i].empty()) continue;
      auto* list = buffer.role == Role::Parameter ? &parameters : buffer.role == Role::Result ? &results : nullptr;
      if (list == nullptr) continue;
      const auto at = static_cast<size_t>(buffer.index);
      if (list->size() <= at) list->resize(at + 1, -1);
      (*list)[at] = static_cast<int32_t>(i);
    }
    for (const SharedMemory& pair : program_.shared) {
      const auto result = static_cast<size_t>(pair.result);
      const auto parameter = static_cast<size_t>(pair.parameter);
      if (result >= results.size() || parameter >= parameters.size()) continue;
      if (results[result] < 0 || parameters[parameter] < 0) continue;
      shared_[static_cast<size_t>(results[result])].push_back(parameters[parameter]);
      shared_[static_cast<size_t>(parameters[parameter])].push_back(results[result]);
    }
  }

  int32_t loop_of(int32_t instruction) const { return structure_.loop_of[static_cast<size_t>(instruction)]; }

  bool inside(int32_t loop, int32_t instruction) const { return loop < 0 || structure_.has_loop(instruction, loop); }

  // The outermost loop around `instruction` that is not around `loop`, or -1.
  int32_t loop_below(int32_t loop, int32_t instruction) const {
    int32_t below = -1;
    for (int32_t at = loop_of(instruction); at >= 0 && at != loop; at = structure_.parent[static_cast<size_t>(at)])
      below = at;
    return below;
  }

  // All positions at which `use` may happen while instructions of `loop` happen once.
  Span span_of(int32_t loop, const Use& use) const {
    const int32_t below = loop_below(loop, use.instruction);
    if (below < 0) return {use.position, use.position};
    return {structure_.first[static_cast<size_t>(below)], structure_.last[static_cast<size_t>(below)]};
  }

  const Access& access_of(const Use& use) const {
    const Instruction& instruction = program_.instructions[static_cast<size_t>(use.instruction)];
    return use.write ? instruction.outputs[use.operand] : instruction.inputs[use.operand];
  }

  const Instruction& instruction_of(const Use& use) const {
    return program_.instructions[static_cast<size_t>(use.instruction)];
  }

  bool registers_change(const Access& access, const Span& span) const {
    const bool uses_registers =
        std::any_of(access.terms.begin(), access.terms.end(), [](const Term& term) { return term.is_register; });
    return uses_registers && std::any_of(register_loads_.begin(), register_loads_.end(),
                                         [&](int32_t at) { return at >= span.first && at <= span.last; });
  }

  // A result is not written before a check that the program has put in front of it.
  bool may_trap(const Access& destination, const Span& span) const {
    if (program_.buffers[static_cast<size_t>(destination.buffer)].role != Role::Result) return false;
    return std::any_of(traps_.begin(), traps_.end(), [&](int32_t at) { return at >= span.first && at <= span.last; });
  }

  static Candidate make_candidate(const Use& dma, int32_t tile, int32_t hbm) {
    Candidate candidate;
    candidate.tile = tile;
    candidate.dma = dma.instruction;
    candidate.hbm = hbm;
    candidate.span = {dma.position, dma.position};
    return candidate;
  }

  std::optional<Candidate> load_candidate(int32_t tile) const {
    const std::vector<Use>& uses = uses_[static_cast<size_t>(tile)];
    const auto is_write = [](const Use& use) { return use.write; };
    const auto writer = std::find_if(uses.begin(), uses.end(), is_write);
    if (writer == uses.end() || std::count_if(uses.begin(), uses.end(), is_write) != 1) return std::nullopt;
    const Instruction& dma = instruction_of(*writer);
    if (!moves_directly(dma)) return std::nullopt;
    const Access& source = dma.inputs[0];
    if (program_.buffers[static_cast<size_t>(source.buffer)].space != Space::Hbm) return std::nullopt;
    const auto mapping = TileMapping::make(program_, dma.outputs[0], source);
    if (!mapping) return std::nullopt;
    Candidate candidate = make_candidate(*writer, tile, source.buffer);
    const int32_t loop = loop_of(writer->instruction);
    for (const Use& use : uses) {
      if (use.write) continue;
      if (use.position <= writer->position || !inside(loop, use.instruction)) return std::nullopt;
      const Instruction& reader = instruction_of(use);
      if (reader.opcode == Opcode::LibraryCall) return std::nullopt;
      auto translated = mapping->translate(access_of(use));
      if (!translated || !reads_well(use, *translated, uses.size() - 1, loop)) return std::nullopt;
      candidate.span.last = std::max(candidate.span.last, span_of(loop, use).last);
      candidate.replacements.push_back({use, std::move(*translated)});
    }
    if (candidate.replacements.empty() || registers_change(source, candidate.span)) return std::nullopt;
    return candidate;
  }

  // Some layouts are worth a copy: kernels then run along dense rows.
  bool reads_well(const Use& use, const Access& hbm, size_t readers, int32_t loop) const {
    const Instruction& reader = instruction_of(use);
    if (reader.opcode == Opcode::NcMatmul)
      return free_step(hbm) == 1 || std::abs(hbm.pattern[0].step) == 1 || !is_repeated(loop, use.instruction);
    if (reader.opcode == Opcode::TensorReduce || reader.opcode == Opcode::DmaCopy) return true;
    return !is_transposed(hbm) && (readers == 1 || free_step(hbm) <= 4);
  }

  bool is_repeated(int32_t loop, int32_t instruction) const {
    for (int32_t at = loop_of(instruction); at >= 0 && at != loop; at = structure_.parent[static_cast<size_t>(at)]) {
      if (program_.loops[static_cast<size_t>(at)].count > 1) return true;
    }
    return false;
  }

  std::optional<Candidate> store_candidate(int32_t tile) const {
    const std::vector<Use>& uses = uses_[static_cast<size_t>(tile)];
    const auto is_read = [](const Use& use) { return !use.write; };
    const auto reader = std::find_if(uses.begin(), uses.end(), is_read);
    if (reader == uses.end() || std::count_if(uses.begin(), uses.end(), is_read) != 1) return std::nullopt;
    const Instruction& dma = instruction_of(*reader);
    if (!moves_directly(dma) || reader->operand != 0) return std::nullopt;
    const Access& destination = dma.outputs[0];
    if (program_.buffers[static_cast<size_t>(destination.buffer)].space != Space::Hbm) return std::nullopt;
    const auto mapping = TileMapping::make(program_, dma.inputs[0], destination);
    if (!mapping) return std::nullopt;
    Candidate candidate = make_candidate(*reader, tile, destination.buffer);
    const int32_t loop = loop_of(reader->instruction);
    for (const Use& use : uses) {
      if (!use.write) continue;
      if (use.position >= reader->position || !inside(loop, use.instruction)) return std::nullopt;
      auto translated = mapping->translate(access_of(use));
      if (!translated || !writes_well(use, *translated)) return std::nullopt;
      candidate.span.first = std::min(candidate.span.first, span_of(loop, use).first);
      candidate.replacements.push_back({use, std::move(*translated)});
    }
    if (candidate.replacements.empty() || registers_change(destination, candidate.span)) return std::nullopt;
    if (may_trap(destination, candidate.span)) return std::nullopt;
    return candidate;
  }

  bool is_in_psum(const Access& access) const {
    return program_.buffers[static_cast<size_t>(access.buffer)].space == Space::Psum;
  }

  // A destination must not hold elements twice: the original store would settle which one stays.
  bool writes_well(const Use& use, const Access& hbm) const {
    const Instruction& writer = instruction_of(use);
    for (const PatternDimension& dimension : hbm.pattern) {
      if (dimension.step == 0 && dimension.size > 1) return false;
    }
    switch (writer.opcode) {
      case Opcode::NcMatmul:
      case Opcode::TensorCopyPredicated:
      case Opcode::NcStreamShuffle:
      case Opcode::LibraryCall: return false;
      case Opcode::DmaCopy: return moves_directly(writer);
      case Opcode::TensorCopy:
        // Sums of products are written as they are rounded, by the kernel of the whole product.
        if (writer.inputs[0].dtype == writer.outputs[0].dtype || is_in_psum(writer.inputs[0])) return true;
        break;
      case Opcode::NcTranspose: return true;
      default: break;
    }
    return !is_transposed(hbm);
  }

  // Every pair of a load and what is written to its memory meanwhile.
  void drop_conflicts() {
    by_dma_.assign(program_.instructions.size(), -1);
    for (size_t i = 0; i < stores_.size(); ++i) by_dma_[static_cast<size_t>(stores_[i].dma)] = static_cast<int32_t>(i);
    for (Candidate& store : stores_) {
      if (disturbs_others(store)) store.accepted = false;
    }
    for (Candidate& load : loads_) settle(load);
  }

  // Something else reads or writes the destination between the first early write and the store.
  bool disturbs_others(const Candidate& store) const {
    for (const int32_t hbm : shared_[static_cast<size_t>(store.hbm)]) {
      for (const Use& use : uses_[static_cast<size_t>(hbm)]) {
        if (use.instruction == store.dma && use.write) continue;
        if (use.position >= store.span.first && use.position <= store.span.last) return true;
      }
    }
    return false;
  }

  void settle(Candidate& load) {
    // After the load itself.
    const Span alive{load.span.first + 1, load.span.last};
    for (const int32_t hbm : shared_[static_cast<size_t>(load.hbm)]) {
      for (const Use& use : uses_[static_cast<size_t>(hbm)]) {
        if (!use.write) continue;
        const int32_t at = by_dma_[static_cast<size_t>(use.instruction)];
        Candidate* store = at >= 0 ? &stores_[static_cast<size_t>(at)] : nullptr;
        if (use.position >= alive.first && use.position <= alive.last) {
          load.accepted = false;
          return;
        }
        if (store != nullptr && store->accepted && overlaps(store->span, alive) && !meet_safely(load, *store))
          store->accepted = false;
      }
    }
  }

  // The only instruction in both spans reads and writes the same places, element by element.
  bool meet_safely(const Candidate& load, const Candidate& store) const {
    if (load.span.last != store.span.first || !same_start(program_, load.hbm, store.hbm)) return false;
    const auto is_here = [&](const Replacement& one) { return one.use.position == store.span.first; };
    const auto out = std::find_if(store.replacements.begin(), store.replacements.end(), is_here);
    if (out == store.replacements.end() || !is_elementwise(instruction_of(out->use))) return false;
    return std::all_of(load.replacements.begin(), load.replacements.end(), [&](const Replacement& one) {
      return !is_here(one) || (one.access.dtype == out->access.dtype && same_places(one.access, out->access));
    });
  }

  // Between statements of the program's body a result may lie in the memory of a parameter that is read before it is
  // written. Within a statement the program itself says which may.
  void note_assumptions() {
    std::vector<std::pair<Span, int32_t>> writes;  // of results
    for (size_t i = 0; i < uses_.size(); ++i) {
      const Buffer& buffer = program_.buffers[i];
      if (buffer.space != Space::Hbm || buffer.role != Role::Result) continue;
      for (const Use& use : uses_[i]) {
        if (!use.write) continue;
        const int32_t at = by_dma_[static_cast<size_t>(use.instruction)];
        Span span{use.position, use.position};
        if (at >= 0 && stores_[static_cast<size_t>(at)].accepted) span = stores_[static_cast<size_t>(at)].span;
        writes.emplace_back(span, static_cast<int32_t>(i));
      }
    }
    for (const Candidate& load : loads_) {
      const Buffer& buffer = program_.buffers[static_cast<size_t>(load.hbm)];
      if (load.accepted && buffer.role == Role::Parameter && loop_of(load.dma) < 0)
        assume(load.hbm, {load.span.first + 1, load.span.last}, writes);
    }
    for (const Candidate& store : stores_) {
      if (!store.accepted || loop_of(store.dma) >= 0) continue;
      assume_reads(store);
    }
  }

  void assume(int32_t hbm, const Span& alive, const std::vector<std::pair<Span, int32_t>>& writes) {
    for (const auto& [span, result] : writes) {
      if (overlaps(span, alive)) add_assumption(hbm, result);
    }
  }

  void assume_reads(const Candidate& store) {
    if (program_.buffers[static_cast<size_t>(store.hbm)].role != Role::Result) return;
    for (size_t i = 0; i < uses_.size(); ++i) {
      const Buffer& buffer = program_.buffers[i];
      if (buffer.space != Space::Hbm || buffer.role != Role::Parameter) continue;
      for (const Use& use : uses_[i]) {
        if (use.position >= store.span.first && use.position <= store.span.last)
          add_assumption(static_cast<int32_t>(i), store.hbm);
      }
    }
  }

  void add_assumption(int32_t parameter, int32_t result) {
    const std::vector<int32_t>& known = shared_[static_cast<size_t>(parameter)];
    if (std::find(known.begin(), known.end(), result) != known.end()) return;
    const Assumption assumption{program_.buffers[static_cast<size_t>(parameter)].index,
                                program_.buffers[static_cast<size_t>(result)].index};
    if (std::find(assumptions_.begin(), assumptions_.end(), assumption) == assumptions_.end())
      assumptions_.push_back(assumption);
  }

  Shortened rewrite() const {
    Shortened result{.program = without_constants(program_), .assumptions = assumptions_};
    std::vector<bool> left_out(program_.instructions.size(), false);
    for (const auto* list : {&loads_, &stores_}) {
      for (const Candidate& candidate : *list) {
        if (!candidate.accepted) continue;
        left_out[static_cast<size_t>(candidate.dma)] = true;
        for (const Replacement& one : candidate.replacements) {
          Instruction& instruction = result.program.instructions[static_cast<size_t>(one.use.instruction)];
          (one.use.write ? instruction.outputs : instruction.inputs)[one.use.operand] = one.access;
        }
      }
    }
    const auto shorten = [&](std::vector<Statement>& body) {
      std::erase_if(body, [&](const Statement& statement) {
        return statement.instruction >= 0 && left_out[static_cast<size_t>(statement.instruction)];
      });
    };
    shorten(result.program.body);
    for (Loop& loop : result.program.loops) shorten(loop.body);
    return result;
  }

  const Program& program_;
  Structure structure_;
  std::vector<std::vector<Use>> uses_;        // by buffer, in program order
  std::vector<std::vector<int32_t>> shared_;  // by HBM buffer: those that may be the same memory, itself included
  std::vector<int32_t> register_loads_;
  std::vector<int32_t> traps_;  // positions
  std::vector<Candidate> loads_, stores_;
  std::vector<int32_t> by_dma_;  // the store candidate of an instruction
  std::vector<Assumption> assumptions_;
};

}  // namespace

Shortened without_copies(const Program& program) { return Analysis(program).run(); }

Program without_constants(const Program& program) {
  Program copy;
  copy.name = program.name;
  copy.target = program.target;
  copy.buffers = program.buffers;
  copy.library = program.library;
  copy.texts = program.texts;
  copy.instructions = program.instructions;
  copy.loops = program.loops;
  copy.body = program.body;
  copy.shared = program.shared;
  copy.registers = program.registers;
  return copy;
}

}  // namespace opentrn::neuroncore::emulator
