// Element-wise instructions, reductions along the free dimensions, selections.
#include <array>

#include "neuroncore/checker/rules.h"

namespace opentrn::neuroncore::checker {

namespace {

/// Of two operations in one pass.
void one_class(InstructionCheck& check) {
  const Instruction& instruction = check.instruction();
  if (instruction.op0 == AluOp::Bypass || instruction.op1 == AluOp::Bypass) return;
  const AluOpInfo& first = info(instruction.op0);
  const AluOpInfo& second = info(instruction.op1);
  if ((first.alu_class == AluClass::Bitvec) != (second.alu_class == AluClass::Bitvec))
    check.fail("alu-class", "arithmetic and operations on bits are mixed in one instruction",
               concat(first.name, " and ", second.name), "two operations of one class");
}

void arithmetic_only(InstructionCheck& check, AluOp op) {
  if (info(op).alu_class == AluClass::Bitvec)
    check.fail("alu-class", "the instruction takes arithmetic operations only", std::string(info(op).name),
               "an arithmetic operation");
}

void two_operands(InstructionCheck& check, AluOp op) {
  if (info(op).operands != 2)
    check.fail("alu-operands", "the operation does not take two operands", std::string(info(op).name),
               "an operation of two operands");
}

bool takes_two(AluOp op) { return info(op).operands == 2; }

// AWS Neuron documentation, "nki.isa.tensor_scalar": Scalar has it from NeuronCore-v3, for multiply and add.
void scalar_engine_pass(InstructionCheck& check) {
  if (!check.is_on(Engine::Scalar)) return;
  if (check.machine().nki_generation < 3)
    check.fail("engine", "the Scalar engine has this instruction from NeuronCore-v3 on",
               std::string(check.machine().core_name), "the engine vector, or activation");
}

void predicate(InstructionCheck& check, std::span<const DType> types) {
  check.same_extent(check.in(0), "the predicate", check.out());
  check.dtype_is(check.in(0), "the predicate", types);
}

}  // namespace

void tensor_tensor(InstructionCheck& check) {
  check.same_extent(check.in(0), "data1", check.out());
  check.same_extent(check.in(1), "data2", check.out());
  check.one_psum_input();
  two_operands(check, check.instruction().op0);
  check.alu(check.instruction().op0);
}

void tensor_scalar(InstructionCheck& check) {
  const Instruction& instruction = check.instruction();
  const bool bits = check.uses_bits();
  check.same_extent(check.in(0), "the data", check.out());
  check.scalar(0, "operand0", check.out(), takes_two(instruction.op0), bits);
  check.scalar(1, "operand1", check.out(), takes_two(instruction.op1), bits);
  check.alu(instruction.op0);
  check.alu(instruction.op1);
  one_class(check);
  scalar_engine_pass(check);
}

void scalar_tensor_tensor(InstructionCheck& check) {
  const Instruction& instruction = check.instruction();
  check.same_extent(check.in(0), "the data", check.out());
  check.same_extent(check.in(1), "operand1", check.out());
  check.one_psum_input();
  check.scalar(0, "operand0", check.out(), takes_two(instruction.op0));
  two_operands(check, instruction.op1);
  for (const AluOp op : {instruction.op0, instruction.op1}) {
    arithmetic_only(check, op);
    check.alu(op);
  }
}

void activation(InstructionCheck& check) {
  const Instruction& instruction = check.instruction();
  const ActivationInfo& function = info(instruction.function);
  check.same_extent(check.in(0), "the data", check.out());
  check.scalar(0, "the scale", check.out(), false);
  check.scalar(1, "the bias", check.out(), false);
  if (function.custom && !check.is_on(Engine::GpSimd))
    check.fail("activation-engine", "the function is in no table of the Scalar engine", std::string(function.name),
               "the engine gpsimd");
  const bool has_bias = instruction.has_scalar1;
  if (check.machine().nki_generation >= 3 || !has_bias || check.is_on(Engine::GpSimd)) return;
  // AWS Neuron documentation, "nki.isa.activation": from NeuronCore-v3 on the bias may be a number.
  if (instruction.scalar_operand[1] < 0)
    check.fail("activation-bias", "the bias is a number", {}, concat("a [P,1] tile on ", check.machine().name));
  if (instruction.function == ActivationFunction::Reciprocal)
    check.fail("activation-bias", "reciprocal cannot take a bias", {}, concat("none on ", check.machine().name));
}

void activation_reduce(InstructionCheck& check) {
  activation(check);
  check.fixed_extent(check.out(1), "the sum", check.out(), 1);
}

void tensor_reduce(InstructionCheck& check) {
  const Instruction& instruction = check.instruction();
  const Dimensions data = free_of(check.in(0));
  const int64_t reduced = instruction.integers.size() == 1 ? instruction.integers[0] : 0;
  check.same_partitions(check.in(0), "the data", check.out());
  check.alu(instruction.op0);
  check.reduces(instruction.op0);
  if (reduced < 1 || reduced > static_cast<int64_t>(data.size())) {
    check.fail("reduced-dimensions", "the number of reduced dimensions does not fit the data", concat(reduced),
               concat("1 .. ", data.size()));
    return;
  }
  const Dimensions kept = data.first(data.size() - static_cast<size_t>(reduced));
  if (!same_count(kept, free_of(check.out())))
    check.fail("element-count", "the destination has other elements than the data keeps",
               concat(count(free_of(check.out()))), concat(count(kept), ", and the same at the edges"));
}

void tensor_tensor_scan(InstructionCheck& check) {
  const Instruction& instruction = check.instruction();
  check.same_extent(check.in(0), "data0", check.out());
  check.same_extent(check.in(1), "data1", check.out());
  check.one_psum_input();
  check.scalar(0, "the initial value", check.out(), true);
  for (const AluOp op : {instruction.op0, instruction.op1}) {
    two_operands(check, op);
    arithmetic_only(check, op);
    check.alu(op);
  }
}

void tensor_copy(InstructionCheck& check) {
  check.same_extent(check.in(0), "the source", check.out());
  scalar_engine_pass(check);
}

void tensor_copy_predicated(InstructionCheck& check) {
  constexpr std::array kTypes{DType::Bool, DType::U8, DType::U16, DType::U32};
  predicate(check, kTypes);
  check.same_extent(check.in(1), "the source", check.out());
  check.same_dtype(check.in(1), "the source", check.out());
  check.one_psum_input();
}

void select_reduce(InstructionCheck& check) {
  constexpr std::array kTypes{DType::Bool, DType::U8, DType::I8, DType::U16, DType::I16};
  predicate(check, kTypes);
  check.same_extent(check.in(1), "on_true", check.out());
  check.scalar(0, "on_false", check.out(), true);
  check.one_psum_input();
}

}  // namespace opentrn::neuroncore::checker
