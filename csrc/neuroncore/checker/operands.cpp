// Rules of every operand: it exists, lies where the engine reaches, and its pattern is one the engine can follow.
#include <algorithm>
#include <array>

#include "neuroncore/checker/instruction_check.h"

namespace opentrn::neuroncore::checker {

namespace {

constexpr uint32_t kHbm = 1u << static_cast<uint32_t>(Space::Hbm);
constexpr uint32_t kSbuf = 1u << static_cast<uint32_t>(Space::Sbuf);
constexpr uint32_t kPsum = 1u << static_cast<uint32_t>(Space::Psum);

struct Places {
  uint32_t reads, writes;
  std::string_view what;
};

// AWS Neuron documentation, "NKI: Trainium architecture guides", connectivity; DMA from PSUM is refused since NKI 0.3.
constexpr std::array<Places, 5> kEnginePlaces{{{kSbuf, kPsum, "tensor reads SBUF and writes PSUM"},
                                               {kSbuf | kPsum, kSbuf | kPsum, "vector reaches SBUF and PSUM"},
                                               {kSbuf | kPsum, kSbuf | kPsum, "scalar reaches SBUF and PSUM"},
                                               {kSbuf, kSbuf, "gpsimd reaches SBUF only"},
                                               {0, 0, "sync does no work on tiles"}}};
constexpr Places kDmaPlaces{kHbm | kSbuf, kHbm | kSbuf, "DMA reaches HBM and SBUF"};
constexpr Places kRegisterPlaces{kHbm | kSbuf, 0, "registers are loaded from HBM or SBUF"};
constexpr Places kLibraryPlaces{kHbm, kHbm, "library calls work on HBM"};

constexpr std::array<std::string_view, 3> kSpaceNames{"HBM", "SBUF", "PSUM"};

const Places& places(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::DmaCopy: return kDmaPlaces;
    case Opcode::RegisterLoad: return kRegisterPlaces;
    case Opcode::LibraryCall: return kLibraryPlaces;
    default: return kEnginePlaces[static_cast<size_t>(instruction.engine)];
  }
}

class OperandCheck {
 public:
  OperandCheck(InstructionCheck& check, const Access& access, bool is_output, size_t position)
      : check_(check), access_(access), is_output_(is_output), position_(position) {}

  bool exists() {
    if (access_.buffer < 0 || static_cast<size_t>(access_.buffer) >= check_.program().buffers.size())
      return broken("buffer", "there is no such buffer", concat(access_.buffer));
    if (access_.pattern.empty()) return broken("pattern", "the access pattern is empty", "");
    for (const PatternDimension& dimension : access_.pattern) {
      if (dimension.size < 1) return broken("pattern", "a dimension has no elements", concat(dimension.size));
      if (dimension.tail_loop < 0) continue;
      if (!in_scope(dimension.tail_loop)) return out_of_scope(dimension.tail_loop);
      if (dimension.tail < 1 || dimension.tail > dimension.size)
        return broken("pattern", "the tail of a dimension is not between 1 and its size", concat(dimension.tail));
    }
    return terms_exist(access_.terms) && index_exists();
  }

  void place() {
    const Places& reached = places(check_.instruction());
    const Space space = check_.space(access_);
    if (((is_output_ ? reached.writes : reached.reads) >> static_cast<uint32_t>(space) & 1u) == 0)
      check_.fail("operand-place", concat(what(), " lies where the instruction cannot ", is_output_ ? "write" : "read"),
                  std::string(kSpaceNames[static_cast<size_t>(space)]),
                  concat(reached.what, " on ", check_.machine().name));
    const Role role = check_.buffer(access_).role;
    if (is_output_ && (role == Role::Parameter || role == Role::Constant))
      check_.fail("operand-place", concat(what(), " is a parameter or a constant of the program"),
                  check_.buffer(access_).name, "a result or internal memory");
  }

  void bounds() {
    const Buffer& buffer = check_.buffer(access_);
    const bool on_chip = check_.on_chip(access_);
    if (on_chip) partition_bounds(buffer);
    if (has_register(access_)) return;  // the value is known at run time only
    const Interval elements = reach(check_.program(), access_, on_chip, [](int32_t) { return true; });
    const int64_t size = size_of(access_.dtype);
    const int64_t bytes = buffer.elements * size_of(buffer.dtype);
    if (elements.low >= 0 && (elements.high + 1) * size <= bytes) return;
    check_.fail("bounds", concat(what(), " reaches outside of buffer ", buffer.name),
                concat("elements ", elements.low, " .. ", elements.high),
                concat("within 0 .. ", bytes / size - 1, on_chip ? " of each partition" : ""));
  }

  /// Engines follow patterns of their own limits; DMAs are lists of pieces.
  void pattern() {
    if (!check_.on_chip(access_)) return;
    const PatternDimension& partitions = access_.pattern.front();
    if (partitions.step != 1 && partitions.size > 1)
      check_.fail("partition-step", concat(what(), " does not step partition by partition"), concat(partitions.step),
                  "1");
    if (check_.instruction().opcode == Opcode::DmaCopy) return;
    start_partition(partitions.size);
    free_dimensions();
  }

 private:
  std::string what() const { return concat(is_output_ ? "output " : "input ", position_); }

  bool broken(std::string_view rule, std::string_view complaint, std::string got) {
    check_.fail(rule, concat(what(), ": ", complaint), std::move(got));
    return false;
  }
  bool out_of_scope(int32_t loop) {
    return broken("loop-scope", "a loop that is not around the instruction is used", concat("%i", loop));
  }
  bool in_scope(int32_t loop) const {
    return loop >= 0 && static_cast<size_t>(loop) < check_.program().loops.size() &&
           check_.structure().depth[static_cast<size_t>(loop)] >= 0 &&
           check_.structure().has_loop(check_.number(), loop);
  }
  bool terms_exist(const std::vector<Term>& terms) {
    for (const Term& term : terms) {
      if (term.is_register && (term.index < 0 || term.index >= check_.program().registers))
        return broken("register", "there is no such register", concat("%r", term.index));
      if (!term.is_register && !in_scope(term.index)) return out_of_scope(term.index);
    }
    return true;
  }
  bool index_exists() {
    if (access_.index_operand < 0) return true;
    if (static_cast<size_t>(access_.index_operand) < check_.instruction().inputs.size()) return true;
    return broken("index-operand", "there is no such index operand", concat(access_.index_operand));
  }

  void partition_bounds(const Buffer& buffer) {
    const int64_t end = access_.partition + access_.pattern.front().size;
    if (access_.partition >= 0 && end <= buffer.partitions) return;
    check_.fail("bounds", concat(what(), " reaches outside of the partitions of buffer ", buffer.name),
                concat(access_.partition, " .. ", end - 1), concat("within 0 .. ", buffer.partitions - 1));
  }

  // AWS Neuron documentation, "NKI: Trainium architecture guides": more than 64 partitions start at 0, more than 32 at
  // 0 or 64, fewer at any quadrant.
  void start_partition(int64_t partitions) {
    const int64_t step = partitions > 2 * kPartitionQuadrant ? 4 * kPartitionQuadrant
                         : partitions > kPartitionQuadrant   ? 2 * kPartitionQuadrant
                                                             : kPartitionQuadrant;
    if (partitions > check_.machine().partitions) {
      check_.fail("partition-limit", concat(what(), " has too many partitions"), concat(partitions),
                  check_.at_most(check_.machine().partitions));
    } else if (access_.partition % step != 0) {
      check_.fail("start-partition", concat(what(), " begins at a partition where its ", partitions, " cannot"),
                  concat(access_.partition), concat("a multiple of ", step, " on ", check_.machine().name));
    }
  }

  void free_dimensions() {
    int dimensions = 0;
    int64_t elements = 1;
    const PatternDimension* inner = nullptr;
    for (size_t d = access_.pattern.size(); d-- > 1;) {
      const PatternDimension& dimension = access_.pattern[d];
      elements *= dimension.size;
      if (dimension.size == 1) continue;
      if (std::abs(dimension.step) > kMostPatternStep)
        check_.fail("pattern-step", concat(what(), " has a step that is too long"), concat(dimension.step),
                    check_.at_most(kMostPatternStep));
      limit("pattern-size", " has a dimension that is too long", dimension.size, kMostPatternSize, "steps");
      const bool continues = inner != nullptr && inner->tail_loop < 0 && dimension.step == inner->step * inner->size;
      if (!continues) ++dimensions;
      inner = &dimension;
    }
    limit("pattern-dimensions", " has too many free dimensions", dimensions, kMostFreeDimensions, "dimensions");
    limit("free-size", " has too many elements per partition", elements, kMostFreeElements, "elements");
  }

  /// Puts words together only when there is something to say.
  void limit(std::string_view rule, std::string_view complaint, int64_t value, int64_t most, std::string_view unit) {
    if (value > most) check_.limit(rule, concat(what(), complaint), value, most, unit);
  }

  InstructionCheck& check_;
  const Access& access_;
  bool is_output_;
  size_t position_;
};

bool register_exists(InstructionCheck& check) {
  const Instruction& instruction = check.instruction();
  const bool loads = instruction.opcode == Opcode::RegisterLoad;
  const bool within = instruction.register_index >= 0 && instruction.register_index < check.program().registers;
  if (loads ? within : instruction.register_index < 0) return true;
  check.fail("register", "there is no such register, or the instruction loads none",
             concat("%r", instruction.register_index), concat(check.program().registers, " registers"));
  return false;
}

bool engine_is_legal(InstructionCheck& check) {
  const OpcodeInfo& row = info(check.instruction().opcode);
  constexpr std::string_view kLetters = "TVSGY";
  const char letter = kLetters[static_cast<size_t>(check.instruction().engine)];
  if (row.engines == "D" || row.engines.find(letter) != std::string_view::npos) return true;
  check.fail("engine", "the engine does not have this instruction", std::string(name(check.instruction().engine)),
             concat("one of the engines ", row.engines));
  return false;
}

bool operand_count_is_legal(InstructionCheck& check) {
  const Instruction& instruction = check.instruction();
  const OpcodeInfo& row = info(instruction.opcode);
  const auto inputs = static_cast<int>(instruction.inputs.size());
  const auto outputs = static_cast<int>(instruction.outputs.size());
  const std::array<bool, 2> present{instruction.has_scalar0, instruction.has_scalar1};
  for (size_t i = 0; i < present.size(); ++i) {
    if (!present[i] || instruction.scalar_operand[i] < inputs) continue;
    check.fail("scalar-operand", "a scalar is no operand of the instruction", concat(instruction.scalar_operand[i]));
    return false;
  }
  const bool fits = inputs >= row.fewest_inputs && inputs <= row.most_inputs && outputs >= row.fewest_outputs &&
                    outputs <= row.most_outputs && static_cast<int>(check.tile_inputs()) >= row.fewest_inputs;
  if (fits) return true;
  check.fail("operand-count", "wrong number of operands", concat(outputs, " outputs, ", inputs, " inputs"),
             concat(row.fewest_outputs, " to ", row.most_outputs, " outputs, ", row.fewest_inputs, " to ",
                    row.most_inputs, " inputs"));
  return false;
}

}  // namespace

bool check_operands(InstructionCheck& check) {
  if (!operand_count_is_legal(check)) return false;
  bool whole = register_exists(check);
  const Instruction& instruction = check.instruction();
  const auto each = [&](auto action) {
    for (size_t i = 0; i < instruction.outputs.size(); ++i)
      action(OperandCheck(check, instruction.outputs[i], true, i));
    for (size_t i = 0; i < instruction.inputs.size(); ++i) action(OperandCheck(check, instruction.inputs[i], false, i));
  };
  each([&](OperandCheck operand) { whole = operand.exists() && whole; });
  if (!whole) return false;
  each([&](OperandCheck operand) {
    operand.place();
    operand.bounds();
    operand.pattern();
  });
  return engine_is_legal(check);
}

}  // namespace opentrn::neuroncore::checker
