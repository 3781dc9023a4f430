#include "neuroncore/checker/instruction_check.h"

#include <algorithm>

namespace opentrn::neuroncore::checker {

namespace {

constexpr size_t kMostTailLoops = 6;

void collect_tails(Dimensions dimensions, std::vector<int32_t>& loops) {
  for (const PatternDimension& dimension : dimensions) {
    if (dimension.tail_loop < 0) continue;
    if (std::find(loops.begin(), loops.end(), dimension.tail_loop) == loops.end()) loops.push_back(dimension.tail_loop);
  }
}

/// Elements when exactly the loops of the set bits of `last` are in their last iteration.
int64_t count_at(Dimensions dimensions, const std::vector<int32_t>& loops, uint32_t last) {
  int64_t product = 1;
  for (const PatternDimension& dimension : dimensions) {
    const auto found = std::find(loops.begin(), loops.end(), dimension.tail_loop);
    const bool in_tail = found != loops.end() && (last >> (found - loops.begin()) & 1u) != 0;
    product *= in_tail ? dimension.tail : dimension.size;
  }
  return product;
}

std::string names(std::span<const DType> dtypes) {
  std::string text;
  for (const DType dtype : dtypes) text += concat(text.empty() ? "" : ", ", name(dtype));
  return text;
}

}  // namespace

int64_t count(Dimensions dimensions) { return count_at(dimensions, {}, 0); }

bool same_count(Dimensions one, Dimensions other) {
  if (count(one) != count(other)) return false;
  std::vector<int32_t> loops;
  collect_tails(one, loops);
  collect_tails(other, loops);
  if (loops.size() > kMostTailLoops) return false;
  for (uint32_t last = 1; last < (1u << loops.size()); ++last) {
    if (count_at(one, loops, last) != count_at(other, loops, last)) return false;
  }
  return true;
}

std::string label(const Program& program, int32_t instruction) {
  return concat(info(program.instructions[static_cast<size_t>(instruction)].opcode).name, " #", instruction);
}

size_t InstructionCheck::tile_inputs() const {
  size_t tiles = instruction().inputs.size();
  if (instruction().has_scalar0 && instruction().scalar_operand[0] >= 0) --tiles;
  if (instruction().has_scalar1 && instruction().scalar_operand[1] >= 0) --tiles;
  return tiles;
}

void InstructionCheck::fail(std::string_view rule, std::string what, std::string got, std::string expected) {
  const Complaint complaint{.where = label(program_, number_),
                            .what = std::move(what),
                            .got = std::move(got),
                            .expected = std::move(expected)};
  found_.push_back({std::string(rule), number_, to_string(complaint)});
}

void InstructionCheck::limit(std::string_view rule, std::string_view what, int64_t value, int64_t most,
                             std::string_view unit) {
  if (value > most) fail(rule, std::string(what), concat(value, " ", unit), at_most(most));
}

void InstructionCheck::same_partitions(const Access& access, std::string_view what, const Access& reference) {
  if (same_count(partitions_of(access), partitions_of(reference))) return;
  fail("partition-count", concat(what, " has other partitions than the destination"),
       concat(count(partitions_of(access))), concat(count(partitions_of(reference)), ", and the same at the edges"));
}

void InstructionCheck::same_extent(const Access& access, std::string_view what, const Access& reference) {
  same_partitions(access, what, reference);
  if (same_count(free_of(access), free_of(reference))) return;
  fail("element-count", concat(what, " has another number of elements per partition than the destination"),
       concat(count(free_of(access))), concat(count(free_of(reference)), ", and the same at the edges"));
}

void InstructionCheck::fixed_extent(const Access& access, std::string_view what, const Access& reference,
                                    int64_t elements) {
  same_partitions(access, what, reference);
  const PatternDimension fixed{.step = 1, .size = elements};
  if (same_count(free_of(access), Dimensions(&fixed, 1))) return;
  fail("element-count", concat(what, " has the wrong number of elements per partition"), concat(count(free_of(access))),
       concat(elements));
}

void InstructionCheck::same_dtype(const Access& access, std::string_view what, const Access& reference) {
  if (access.dtype == reference.dtype) return;
  fail("dtype", concat(what, " has another type than it must"), std::string(name(access.dtype)),
       std::string(name(reference.dtype)));
}

void InstructionCheck::dtype_is(const Access& access, std::string_view what, std::span<const DType> allowed) {
  if (std::find(allowed.begin(), allowed.end(), access.dtype) != allowed.end()) return;
  fail("dtype", concat(what, " has a type that the instruction does not take"), std::string(name(access.dtype)),
       concat("one of ", names(allowed), " on ", machine_.name));
}

void InstructionCheck::one_psum_input() {
  if (space(in(0)) != Space::Psum || space(in(1)) != Space::Psum) return;
  fail("psum-inputs", "both input tiles lie in PSUM", {}, concat("at most one on ", machine_.name));
}

void InstructionCheck::scalar(size_t position, std::string_view what, const Access& reference, bool needed, bool bits) {
  const bool present = position == 0 ? instruction().has_scalar0 : instruction().has_scalar1;
  if (!present) {
    if (needed) fail("scalar-operand", concat(what, " is missing"), {}, "a number or a [P,1] tile");
    return;
  }
  const int32_t operand = instruction().scalar_operand[position];
  const DType dtype = operand < 0 ? instruction().scalars[position].dtype : in(static_cast<size_t>(operand)).dtype;
  if (bits && !is_integral(dtype))
    fail("bitvec-dtype", concat(what, " of an operation on bits is no integer"), std::string(name(dtype)),
         "an integer");
  if (operand < 0) return;
  fixed_extent(in(static_cast<size_t>(operand)), what, reference, 1);
  // Types without a unit are computed exactly, with scalars of their own type.
  const bool fits = bits || is_on(Engine::GpSimd) || dtype == DType::F32 || !is_native(machine_, dtype);
  if (!fits)
    fail("scalar-dtype", concat(what, " is a tile of the wrong type"), std::string(name(dtype)),
         concat("f32 on ", name(instruction().engine), " of ", machine_.name));
}

bool InstructionCheck::uses_bits() const {
  return info(instruction().op0).alu_class == AluClass::Bitvec || info(instruction().op1).alu_class == AluClass::Bitvec;
}

void InstructionCheck::alu(AluOp op) {
  const AluOpInfo& row = info(op);
  constexpr std::string_view kLetters = "TVSGY";
  const char letter = kLetters[static_cast<size_t>(instruction().engine)];
  if (row.engines.find(letter) == std::string_view::npos)
    fail("alu-engine", concat("the operation has no unit on this engine"),
         concat(row.name, " on ", name(instruction().engine)),
         row.engines == "G" ? "gpsimd" : concat("one of the engines ", row.engines));
  if (row.generation > machine_.nki_generation && !is_on(Engine::GpSimd))
    fail("alu-generation", "the operation is newer than the machine", std::string(row.name),
         concat("NeuronCore-v", row.generation, ", but ", machine_.name, " has ", machine_.core_name));
  if (row.alu_class != AluClass::Bitvec) return;
  for (size_t i = 0; i < tile_inputs(); ++i) {
    if (!is_integral(in(i).dtype) || size_of(in(i).dtype) != size_of(out().dtype))
      fail("bitvec-dtype", "operations on bits take integers of one size", std::string(name(in(i).dtype)),
           concat("an integer of ", size_of(out().dtype), " bytes"));
  }
  if (!is_integral(out().dtype))
    fail("bitvec-dtype", "operations on bits give integers", std::string(name(out().dtype)), "an integer");
}

void InstructionCheck::reduces(AluOp op) {
  if (!info(op).reduces) fail("reduce-op", "the operation cannot reduce", std::string(info(op).name), "add, max, ...");
}

}  // namespace opentrn::neuroncore::checker
