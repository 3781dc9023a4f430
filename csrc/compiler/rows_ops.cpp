#include "compiler/rows_ops.h"

#include <algorithm>
#include <utility>

namespace opentrn::compiler::rows {

namespace {

using ir::Op;
using neuroncore::Access;
using neuroncore::ActivationFunction;
using neuroncore::AluOp;
using neuroncore::Engine;
using neuroncore::Immediate;
using neuroncore::ScalarOperand;

bool is_given(const ScalarOperand& scalar) { return !std::holds_alternative<std::monostate>(scalar); }

bool is_splat(const Description& description, const Use& use) {
  return description.slot(use).kind == Slot::Kind::Splat;
}

DType with_sign(DType dtype, bool is_signed) {
  switch (size_of(dtype)) {
    case 1: return is_signed ? DType::I8 : DType::U8;
    case 2: return is_signed ? DType::I16 : DType::U16;
    case 4: return is_signed ? DType::I32 : DType::U32;
    default: return is_signed ? DType::I64 : DType::U64;
  }
}

Access as_type(Access access, DType dtype) {
  access.dtype = dtype;
  return access;
}

/// The real or the imaginary parts of a tile of complex numbers.
Access part(Access access, int64_t which) {
  access.dtype = real_dtype(access.dtype);
  access.offset = 2 * access.offset + which;
  for (size_t i = 1; i < access.pattern.size(); ++i) access.pattern[i].step *= 2;
  return access;
}

/// Emits the instructions of one step.
class StepEmitter {
 public:
  StepEmitter(Tiles& tiles, const Step& step)
      : tiles_(tiles),
        description_(tiles.description()),
        step_(step),
        over_(description_.slots[static_cast<size_t>(step.result)].varies) {}

  void emit(const Line* iota) {
    if (step_.chain) return emit_chain(*step_.chain);
    const DType dtype = step_.count > 0 ? step_.operands[0].dtype : result_dtype();
    switch (op()) {
      case Op::Iota: return emit_iota(*iota);
      case Op::Constant: return emit_number();
      case Op::Select: return emit_select();
      case Op::Clamp: return emit_clamp();
      case Op::Compare: return emit_compare();
      case Op::Convert: return emit_convert();
      case Op::Complex: return emit_complex();
      case Op::Real: return copy(output(), operand(0));
      case Op::CustomCall: return emit_checked_index();
      case Op::Imag: return emit_imag();
      case Op::BroadcastInDim:
      case Op::Reshape:
      case Op::Transpose:
      case Op::BitcastConvert: return copy(output(), operand(0));
      default: break;
    }
    if (step_.count == 2)
      return emit_binary(tiles_, output(), *binary_unit(op(), dtype), step_.operands[0], step_.operands[1], over_);
    if (is_integral(dtype)) return emit_integer_function(dtype);
    if (op() == Op::Negate) return emit_negate(dtype);
    program().activation(output(), *function_of(op(), dtype), operand(0));
  }

 private:
  neuroncore::Builder& program() { return tiles_.program(); }
  Op op() const { return step_.node->op; }
  DType result_dtype() const { return description_.slots[static_cast<size_t>(step_.result)].dtype; }
  Access output() const { return tiles_.write(step_.result); }
  Access temporary(size_t number) const { return tiles_.temporary(step_, number); }

  Access operand(size_t number) const { return tiles_.read(step_.operands[number], over_); }

  void copy(Access out, Access in) {
    const bool integers = is_integral(out.dtype) && is_integral(in.dtype) && out.dtype != in.dtype;
    program().tensor_copy(std::move(out), std::move(in), integers ? Engine::GpSimd : Engine::Vector);
  }

  void emit_chain(const Chain& chain) {
    std::array<ScalarOperand, 2> scalars;
    bool all = true;
    for (size_t k = 0; k < chain.count; ++k) {
      scalars[k] = tiles_.scalar(step_.operands[k + 1]);
      all = all && is_given(scalars[k]);
    }
    const Link& first = chain.links[0];
    const Link& second = chain.links[1];
    if (chain.function != ActivationFunction::Copy) {
      if (!all) return emit_links(chain);
      ScalarOperand scale, bias;
      for (size_t k = 0; k < chain.count; ++k) (chain.links[k].op == AluOp::Multiply ? scale : bias) = scalars[k];
      program().activation(output(), chain.function, operand(0), scale, bias);
    } else if (all) {
      program().tensor_scalar(output(), operand(0), first.op, scalars[0], first.reverse, second.op, scalars[1],
                              second.reverse);
    } else if (is_given(scalars[0])) {
      program().scalar_tensor_tensor(output(), operand(0), first.op, scalars[0], second.op, operand(2), first.reverse,
                                     second.reverse);
    } else {
      emit_links(chain);
    }
  }

  // A row's value turned out to be more than one element of each partition: one instruction each.
  void emit_links(const Chain& chain) {
    const bool has_function = chain.function != ActivationFunction::Copy;
    const Access between = step_.temporaries.empty() ? output() : temporary(0);
    Access value = operand(0);
    for (size_t k = 0; k < chain.count; ++k) {
      const Link& link = chain.links[k];
      const ScalarOperand scalar = tiles_.scalar(step_.operands[k + 1]);
      const Access out = !has_function && k + 1 == chain.count ? output() : between;
      if (is_given(scalar)) {
        program().tensor_scalar(out, value, link.op, scalar, link.reverse);
      } else {
        const Access other = operand(k + 1);
        program().tensor_tensor(out, link.reverse ? other : value, link.reverse ? value : other, link.op);
      }
      value = out;
    }
    if (has_function) program().activation(output(), chain.function, value);
  }

  void emit_number() { program().memset(output(), description_.slots[static_cast<size_t>(step_.result)].number); }

  void emit_iota(const Line& line) {
    const Tiles::Iota numbers = tiles_.iota(line, over_);
    neuroncore::Instruction& instruction = program().iota(output(), numbers.base, numbers.per_partition, numbers.steps);
    instruction.terms = numbers.terms;
  }

  void emit_compare() {
    const Unit unit = *comparison_unit(step_.node->as<ir::CompareAttributes>().direction, step_.operands[0].dtype);
    emit_binary(tiles_, output(), unit, step_.operands[0], step_.operands[1], over_);
  }

  // The second branch, and over it the first where the predicate holds.
  void emit_select() {
    const Use& on_false = step_.operands[2];
    const Access out = output();
    if (is_splat(description_, on_false)) {
      program().memset(out, description_.slot(on_false).number);
    } else {
      const Access in = operand(2);
      if (in.buffer != out.buffer) program().tensor_copy(out, in);
    }
    program().tensor_copy_predicated(out, operand(0), operand(1));
  }

  void emit_clamp() {
    const DType dtype = step_.operands[1].dtype;
    const Unit lower = *binary_unit(Op::Maximum, dtype);
    const Unit upper = *binary_unit(Op::Minimum, dtype);
    const ScalarOperand low = tiles_.scalar(step_.operands[0]);
    const ScalarOperand high = tiles_.scalar(step_.operands[2]);
    if (is_given(low) && is_given(high)) {
      program().tensor_scalar(output(), operand(1), lower.op, low, false, upper.op, high, false, lower.engine);
      return;
    }
    const Access raised = temporary(0);
    binary(raised, lower, operand(1), 0);
    binary(output(), upper, raised, 2);
  }

  // out = in op operand
  void binary(Access out, const Unit& unit, Access in, size_t number) {
    const ScalarOperand scalar = tiles_.scalar(step_.operands[number]);
    if (is_given(scalar)) {
      program().tensor_scalar(std::move(out), std::move(in), unit.op, scalar, false, AluOp::Bypass, {}, false,
                              unit.engine);
    } else {
      program().tensor_tensor(std::move(out), std::move(in), tiles_.read(step_.operands[number], over_), unit.op,
                              unit.engine);
    }
  }

  // A float becomes an integer by way of a whole float, and a small integer by way of a wide one that wraps.
  void emit_convert() {
    const DType from = step_.operands[0].dtype;
    const DType to = result_dtype();
    if (!is_float(from) || !is_integer(to)) return copy(output(), operand(0));
    const bool wide = to == DType::I64 || to == DType::U8 || to == DType::U32;
    const Access whole = temporary(0);
    program().activation(whole, wide ? ActivationFunction::TruncateToInt64 : ActivationFunction::TruncateToInt32,
                         operand(0));
    if (to == DType::I32 || to == DType::I64) return copy(output(), whole);
    const Access number = temporary(1);
    copy(number, whole);
    copy(output(), number);
  }

  void emit_complex() {
    for (const size_t which : {size_t{0}, size_t{1}}) {
      const Access out = part(output(), static_cast<int64_t>(which));
      const Use& use = step_.operands[which];
      if (is_splat(description_, use)) {
        program().memset(out, description_.slot(use).number);
      } else {
        program().tensor_copy(out, tiles_.read(use, over_));
      }
    }
  }

  void emit_checked_index() {
    const auto& call = step_.node->as<ir::CustomCallAttributes>();
    program().checked_index(output(), operand(0), make_index_check(call.integers, call.text));
  }

  void emit_imag() {
    if (is_complex(step_.operands[0].dtype)) return copy(output(), part(operand(0), 1));
    program().memset(output(), neuroncore::immediate(result_dtype(), 0.0));
  }

  void emit_negate(DType dtype) {
    const Immediate minus_one = neuroncore::immediate(real_dtype(dtype), -1.0);
    const Access in = operand(0);
    if (!is_complex(dtype)) {
      program().tensor_scalar(output(), in, AluOp::Multiply, minus_one);
      return;
    }
    for (const int64_t which : {0, 1}) {
      program().tensor_scalar(part(output(), which), part(in, which), AluOp::Multiply, minus_one);
    }
  }

  void scalar(Access out, Access in, AluOp op, Immediate number, Engine engine, bool reverse = false) {
    program().tensor_scalar(std::move(out), std::move(in), op, number, reverse, AluOp::Bypass, {}, false, engine);
  }

  void emit_integer_function(DType dtype) {
    const Immediate zero = neuroncore::immediate(dtype, int64_t{0});
    const Access in = operand(0);
    switch (op()) {
      case Op::Not:
        if (is_bool(dtype)) return scalar(output(), in, AluOp::IsEqual, zero, Engine::Vector);
        program().tensor_scalar(output(), in, AluOp::Invert, {});
        return;
      case Op::Negate: return scalar(output(), in, AluOp::Subtract, zero, Engine::GpSimd, true);
      case Op::Abs: {
        const Access negative = temporary(0);
        scalar(negative, in, AluOp::Subtract, zero, Engine::GpSimd, true);
        program().tensor_tensor(output(), in, negative, AluOp::Max, Engine::GpSimd);
        return;
      }
      case Op::Sign: {
        const Access above = temporary(0);
        const Access below = temporary(1);
        scalar(above, in, AluOp::GreaterThan, zero, Engine::GpSimd);
        scalar(below, in, AluOp::LessThan, zero, Engine::GpSimd);
        program().tensor_tensor(output(), above, below, AluOp::Subtract, Engine::GpSimd);
        return;
      }
      default: {
        const DType bits = with_sign(dtype, false);
        program().activation(as_type(output(), bits), ActivationFunction::PopulationCount, as_type(in, bits));
      }
    }
  }

  Tiles& tiles_;
  const Description& description_;
  const Step& step_;
  uint64_t over_;
};

// Bit patterns count as unsigned, except where the sign is what is shifted in.
DType pattern_dtype(const Unit& unit, DType dtype) {
  const bool is_pattern = neuroncore::info(unit.op).alu_class == neuroncore::AluClass::Bitvec;
  if (is_pattern) return with_sign(dtype, false);
  return unit.op == AluOp::ArithmeticShiftRight ? with_sign(dtype, true) : dtype;
}

ScalarOperand scalar_as(ScalarOperand scalar, DType dtype) {
  if (auto* number = std::get_if<Immediate>(&scalar)) number->dtype = dtype;
  return scalar;
}

std::vector<DType> conversion_temporaries(DType from, DType to) {
  if (!is_float(from) || !is_integer(to)) return {};
  const DType whole = from == DType::F64 ? DType::F64 : DType::F32;
  if (to == DType::I32 || to == DType::I64) return {whole};
  return {whole, to == DType::U8 || to == DType::U32 ? DType::I64 : DType::I32};
}

// For what the first of several instructions computes, if a scalar turns out not to be one.
std::vector<DType> chain_temporaries(const Description& description, const Step& step, DType result) {
  const size_t scalars =
      step.chain->function != ActivationFunction::Copy ? step.count : std::min<size_t>(step.count, 2);
  const bool all_numbers =
      std::all_of(step.operands.begin() + 1, step.operands.begin() + static_cast<std::ptrdiff_t>(scalars),
                  [&](const Use& use) { return is_splat(description, use); });
  return all_numbers || result == DType::F32 ? std::vector<DType>{} : std::vector{DType::F32};
}

std::vector<DType> temporaries_of(const Step& step, DType result) {
  const DType dtype = step.count > 0 ? step.operands[0].dtype : result;
  switch (step.node->op) {
    case Op::Convert: return conversion_temporaries(dtype, result);
    case Op::Clamp: return {is_float(result) ? compute_dtype(result) : result};
    case Op::Abs: return is_integer(dtype) ? std::vector{dtype} : std::vector<DType>{};
    case Op::Sign: return is_integer(dtype) ? std::vector{dtype, dtype} : std::vector<DType>{};
    case Op::Reduce: return {accumulation_dtype(result)};
    default: return {};
  }
}

// Operands that are read before the first element of the result is written over them.
uint32_t overwritable(const Step& step, bool has_temporaries) {
  switch (step.node->op) {
    case Op::Select: return 4;
    case Op::Complex:
    case Op::Reduce: return 0;
    case Op::Negate: return is_complex(step.operands[0].dtype) ? 0 : 1;
    default: return has_temporaries ? 0 : 7;
  }
}

}  // namespace

void emit_step(Tiles& tiles, const Step& step, const Line* iota) { StepEmitter(tiles, step).emit(iota); }

void emit_binary(Tiles& tiles, Access out, const Unit& unit, const Use& left, const Use& right, uint64_t over) {
  const Description& description = tiles.description();
  neuroncore::Builder& program = tiles.program();
  const DType dtype = pattern_dtype(unit, left.dtype);
  const bool is_pattern = dtype != left.dtype;
  if (is_pattern) out.dtype = dtype;
  const auto scalar = [&](const Use& use) {
    return is_pattern ? scalar_as(tiles.scalar(use), dtype) : tiles.scalar(use);
  };
  const auto tile = [&](const Use& use) { return as_type(tiles.read(use, over), is_pattern ? dtype : use.dtype); };
  const ScalarOperand first = scalar(left);
  const ScalarOperand second = scalar(right);
  if (is_given(second) && !is_splat(description, left)) {
    program.tensor_scalar(out, tile(left), unit.op, second, false, AluOp::Bypass, {}, false, unit.engine);
  } else if (is_given(first)) {
    program.tensor_scalar(out, tile(right), unit.op, first, true, AluOp::Bypass, {}, false, unit.engine);
  } else {
    program.tensor_tensor(out, tile(left), tile(right), unit.op, unit.engine);
  }
}

Needs needs_of(const Description& description, const Step& step) {
  Needs needs;
  if (step.chain) {
    const auto other = step.operands.begin() + 1;
    const bool again = std::any_of(other, step.operands.begin() + static_cast<std::ptrdiff_t>(step.count),
                                   [&](const Use& use) { return use.slot == step.operands[0].slot; });
    needs.temporaries = chain_temporaries(description, step, description.slots[static_cast<size_t>(step.result)].dtype);
    needs.overwritable = again ? 0 : 1;
    return needs;
  }
  needs.temporaries = temporaries_of(step, description.slots[static_cast<size_t>(step.result)].dtype);
  needs.overwritable = overwritable(step, !needs.temporaries.empty());
  return needs;
}

bool needs_tile(const ir::Node& node, size_t operand, bool all_numbers) {
  switch (node.op) {
    case Op::Select: return operand < 2;
    case Op::Clamp: return operand == 1;
    case Op::Complex: return false;
    default: return operand == 0 && (all_numbers || node.operands.size() == 1 || node.op == Op::Reduce);
  }
}

DType accumulation_dtype(DType dtype) {
  if (dtype == DType::C32) return DType::C64;
  return is_float(dtype) ? compute_dtype(dtype) : dtype;
}

}  // namespace opentrn::compiler::rows
