// Fills, searches, movement between partitions and memories, control.
#include <array>

#include "base/index_check.h"
#include "neuroncore/checker/rules.h"

namespace opentrn::neuroncore::checker {

namespace {

void immediate_only(InstructionCheck& check, std::string_view what) {
  const Instruction& instruction = check.instruction();
  if (!instruction.has_scalar0 || instruction.scalar_operand[0] >= 0)
    check.fail("scalar-operand", concat(what, " is missing"), {}, "a number in the instruction");
}

bool is_comparison(AluOp op) { return op >= AluOp::IsEqual && op <= AluOp::LessThan; }

/// Base, multiplier and one step for each free dimension.
void affine(InstructionCheck& check) {
  const Instruction& instruction = check.instruction();
  const size_t expected = 2 + free_of(check.out()).size();
  if (instruction.integers.size() != expected)
    check.fail("affine-steps", "base, multiplier and steps do not match the destination's free dimensions",
               concat(instruction.integers.size(), " numbers"), concat(expected));
  for (const Term& term : instruction.terms) {
    const bool exists = !term.is_register && term.index >= 0 &&
                        static_cast<size_t>(term.index) < check.program().loops.size() &&
                        check.structure().depth[static_cast<size_t>(term.index)] >= 0 &&
                        check.structure().has_loop(check.number(), term.index);
    if (!exists)
      check.fail("loop-scope", "a loop that is not around the instruction is used", concat("%i", term.index));
  }
}

void searched(InstructionCheck& check) {
  const int64_t elements = count(free_of(check.in(0)));
  if (elements < kFewestSearched || elements > kMostSearched)
    check.fail("search-size", "the instruction cannot search so many elements per partition", concat(elements),
               concat(kFewestSearched, " .. ", kMostSearched, " on ", check.machine().name));
}

void index_tile(InstructionCheck& check, const Access& access) {
  if (access.index_operand < 0) return;
  const Access& index = check.in(static_cast<size_t>(access.index_operand));
  if (!check.is_on(Engine::GpSimd))
    check.fail("indirect-engine", "only GpSimd writes the descriptors of an indirect access",
               std::string(name(check.instruction().engine)), "gpsimd");
  if (check.space(access) != Space::Hbm)
    check.fail("indirect-place", "an indirect access must go to HBM", check.buffer(access).name, "a buffer in HBM");
  if (check.space(index) != Space::Sbuf)
    check.fail("index-place", "the indices do not lie in SBUF", check.buffer(index).name, "a tile in SBUF");
  if (!is_integer(index.dtype) || size_of(index.dtype) < 2)
    check.fail("index-dtype", "the indices are no integers that a DMA takes", std::string(name(index.dtype)),
               "an integer of 16 bits or more");
  check.same_partitions(index, "the index tile", access);
  const int64_t elements = count(free_of(access));
  const int64_t indices = count(free_of(index));
  if (elements % indices != 0)
    check.fail("index-count", "the elements of a partition do not divide among its indices",
               concat(elements, " elements, ", indices, " indices"), "a multiple");
}

/// What an instruction that traps says.
void text_exists(InstructionCheck& check) {
  const int32_t text = check.instruction().text;
  if (text < 0 || static_cast<size_t>(text) >= check.program().texts.size())
    check.fail("text", "there is no such text", concat(text), concat(check.program().texts.size(), " texts"));
}

}  // namespace

void tensor_partition_reduce(InstructionCheck& check) {
  check.alu(check.instruction().op0);
  const AluOp op = check.instruction().op0;
  if (op != AluOp::Add && op != AluOp::Max && op != AluOp::BitwiseAnd && op != AluOp::BitwiseOr)
    check.fail("reduce-op", "the operation cannot reduce partitions", std::string(info(op).name),
               "add, max, bitwise_and or bitwise_or");
  if (count(partitions_of(check.out())) != 1)
    check.fail("partition-count", "the destination has more than one partition",
               concat(count(partitions_of(check.out()))), "1");
  if (!same_count(free_of(check.in(0)), free_of(check.out())))
    check.fail("element-count", "the destination has another number of elements per partition than the data",
               concat(count(free_of(check.out()))), concat(count(free_of(check.in(0)))));
}

void memset(InstructionCheck& check) {
  immediate_only(check, "the value");
  const DType dtype = check.instruction().scalars[0].dtype;
  if (dtype != check.out().dtype)
    check.fail("dtype", "the value has another type than the destination", std::string(name(dtype)),
               std::string(name(check.out().dtype)));
}

void iota(InstructionCheck& check) { affine(check); }

void affine_select(InstructionCheck& check) {
  affine(check);
  check.same_extent(check.in(0), "on_true", check.out());
  immediate_only(check, "on_false");
  if (!is_comparison(check.instruction().op0))
    check.fail("alu-class", "the operation is no comparison", std::string(info(check.instruction().op0).name),
               "is_equal, greater_equal, ...");
}

void max8(InstructionCheck& check) {
  searched(check);
  check.fixed_extent(check.out(), "the destination", check.in(0), kFewestSearched);
}

void nc_find_index8(InstructionCheck& check) {
  constexpr std::array kTypes{DType::U16, DType::U32};
  searched(check);
  check.fixed_extent(check.out(), "the destination", check.in(0), kFewestSearched);
  check.fixed_extent(check.in(1), "the values", check.in(0), kFewestSearched);
  check.dtype_is(check.out(), "the destination", kTypes);
}

void nc_match_replace8(InstructionCheck& check) {
  searched(check);
  check.same_extent(check.in(0), "the data", check.out());
  check.fixed_extent(check.in(1), "the values", check.out(), kFewestSearched);
  immediate_only(check, "the replacement");
}

void nc_stream_shuffle(InstructionCheck& check) {
  const std::vector<int64_t>& mask = check.instruction().integers;
  check.same_extent(check.in(0), "the source", check.out());
  check.same_dtype(check.in(0), "the source", check.out());
  if (static_cast<int64_t>(mask.size()) != kShuffleMask)
    check.fail("shuffle-mask", "the mask has the wrong length", concat(mask.size()), concat(kShuffleMask));
  for (const int64_t entry : mask) {
    if ((entry >= 0 && entry < kShuffleMask) || entry == kShuffleKeeps) continue;
    check.fail("shuffle-mask", "an entry of the mask is no partition of a quadrant", concat(entry),
               concat("0 .. ", kShuffleMask - 1, ", or ", kShuffleKeeps));
    return;
  }
}

void dma_copy(InstructionCheck& check) {
  check.same_extent(check.in(0), "the source", check.out());
  const bool indirect = check.in(0).index_operand >= 0 || check.out().index_operand >= 0;
  if (!indirect && check.instruction().inputs.size() > 1)
    check.fail("operand-count", "a direct DMA takes one input", concat(check.instruction().inputs.size()), "1");
  index_tile(check, check.in(0));
  index_tile(check, check.out());
}

void register_load(InstructionCheck& check) {
  const int64_t elements = count(partitions_of(check.in(0))) * count(free_of(check.in(0)));
  if (elements != 1) check.fail("element-count", "a register takes one element", concat(elements), "1");
  if (!is_integer(check.in(0).dtype))
    check.fail("dtype", "a register takes an integer", std::string(name(check.in(0).dtype)), "an integer");
}

void checked_index(InstructionCheck& check) {
  constexpr std::array kTypes{DType::I32, DType::I64};
  constexpr auto kLastRule = static_cast<int64_t>(IndexRule::NonNegativeRuntime);
  check.same_extent(check.in(0), "the index", check.out());
  check.same_dtype(check.in(0), "the index", check.out());
  check.dtype_is(check.in(0), "the index", kTypes);
  const std::vector<int64_t>& integers = check.instruction().integers;
  if (integers.size() != 3 || integers[0] < 0 || integers[2] < 0 || integers[2] > kLastRule)
    check.fail("index-check", "size, dimension and rule of the check are missing or make no sense",
               concat(integers.size(), " numbers"), concat("a size, a dimension and a rule of 0 .. ", kLastRule));
  text_exists(check);
}

void check_predicate(InstructionCheck& check) {
  constexpr std::array kTypes{DType::Bool, DType::U8};
  check.dtype_is(check.in(0), "the predicate", kTypes);
  text_exists(check);
}

void library_call(InstructionCheck& check) {
  const int32_t index = check.instruction().library;
  if (index < 0 || static_cast<size_t>(index) >= check.program().library.size())
    check.fail("library", "there is no such library call", concat(index));
}

}  // namespace opentrn::neuroncore::checker
