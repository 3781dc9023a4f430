#include "neuroncore/emulator/instructions/types.h"

#include <algorithm>
#include <array>

namespace opentrn::neuroncore::emulator {

namespace {

// Which kinds of elements a list of operands has.
struct Kinds {
  bool complex = false, complex128 = false, f64 = false, floating = false;
  bool i64 = false, u64 = false, wide_signed = false, u32 = false;
  bool only_integers = true;
};

void add(Kinds& kinds, DType dtype) {
  kinds.complex = kinds.complex || is_complex(dtype);
  kinds.complex128 = kinds.complex128 || dtype == DType::C128;
  kinds.f64 = kinds.f64 || dtype == DType::F64;
  kinds.floating = kinds.floating || is_float(dtype);
  kinds.i64 = kinds.i64 || dtype == DType::I64;
  kinds.u64 = kinds.u64 || dtype == DType::U64;
  kinds.wide_signed = kinds.wide_signed || dtype == DType::I32 || dtype == DType::I16 || dtype == DType::I8;
  kinds.u32 = kinds.u32 || dtype == DType::U32;
  kinds.only_integers = kinds.only_integers && is_integral(dtype);
}

}  // namespace

ComputeType compute_type(const Request& request) {
  Kinds in, all;
  for (const Operand& operand : request.inputs) add(in, operand.dtype);
  for (const Operand& operand : request.outputs) add(all, operand.dtype);
  for (const Operand& operand : request.inputs) add(all, operand.dtype);
  if (all.complex) return all.complex128 || all.f64 ? ComputeType::C128 : ComputeType::C64;
  if (all.f64) return ComputeType::F64;
  if (in.i64 || in.u64) {
    if (in.floating) return ComputeType::F64;
    return in.i64 ? ComputeType::I64 : ComputeType::U64;
  }
  if ((all.i64 || all.u64) && !in.floating) return ComputeType::I64;
  if (all.only_integers && request.instruction.engine == Engine::GpSimd)
    return in.u32 && !in.wide_signed ? ComputeType::U32 : ComputeType::I32;
  return ComputeType::F32;
}

DType unsigned_of(DType dtype) {
  switch (size_of(dtype)) {
    case 1: return DType::U8;
    case 2: return DType::U16;
    case 4: return DType::U32;
    default: return DType::U64;
  }
}

ComputeType pattern_type(const Request& request) {
  int64_t widest = 0;
  for (const Operand& operand : request.inputs) widest = std::max(widest, operand.item());
  return widest <= 4 ? ComputeType::U32 : ComputeType::U64;
}

Immediate converted(const Immediate& value, ComputeType type) {
  // The bytes of an immediate are not aligned.
  alignas(16) const std::array<std::byte, 16> from = value.bytes;
  alignas(16) std::array<std::byte, 16> to{};
  kernels().load(value.dtype, type)(1, to.data(), from.data(), 0);
  return {.dtype = dtype_of(type), .bytes = to};
}

std::optional<Immediate> immediate_scalar(const Instruction& instruction, size_t position) {
  const bool present = position == 0 ? instruction.has_scalar0 : instruction.has_scalar1;
  if (!present || instruction.scalar_operand[position] >= 0) return std::nullopt;
  return instruction.scalars[position];
}

Operand affine_operand(const Request& request) {
  const Instruction& instruction = request.instruction;
  // Base, multiplier of the partition, one step for each free dimension.
  if (instruction.integers.size() < request.outputs[0].free.size() + 2) refuse(request, "steps are missing");
  Operand affine = request.outputs[0];
  affine.slot = -1;
  affine.offset = instruction.integers[0];
  affine.terms.clear();
  for (const Term& term : instruction.terms) {
    const size_t counter = term.is_register ? request.program.loops.size() : 0;
    affine.terms.push_back({static_cast<int32_t>(counter) + term.index, term.coefficient});
  }
  affine.partition_step = instruction.integers[1];
  affine.partition_advance = affine.partition_step;
  for (size_t i = 0; i < affine.free.size(); ++i) affine.free[i].step = instruction.integers[i + 2];
  return affine;
}

}  // namespace opentrn::neuroncore::emulator
