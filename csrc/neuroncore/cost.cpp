#include "neuroncore/cost.h"

#include <algorithm>

namespace opentrn::neuroncore {

namespace {

constexpr double kCopy4x = 4;
constexpr double kTwice = 2;

double elements(const Access& access) {
  double product = 1;
  for (size_t d = 1; d < access.pattern.size(); ++d) product *= static_cast<double>(access.pattern[d].size);
  return product;
}
double partitions(const Access& access) { return static_cast<double>(access.pattern.front().size); }

/// The stream an instruction works through: its largest operand.
double stream(const Instruction& instruction) {
  double most = 1;
  for (const Access& access : instruction.outputs) most = std::max(most, elements(access));
  for (const Access& access : instruction.inputs) most = std::max(most, elements(access));
  return most;
}

bool is_16bit_float(const Access& access) { return is_float(access.dtype) && size_of(access.dtype) == 2; }
bool is_contiguous(const Access& access) {
  return access.pattern.size() < 2 || access.pattern.back().size == 1 || access.pattern.back().step == 1;
}
bool is_in(const Program& program, const Access& access, Space space) {
  return program.buffers[static_cast<size_t>(access.buffer)].space == space;
}

// AWS Neuron documentation, "Trainium2 Architecture Guide for NKI": performance modes of copies and tensor_scalar.
double copy_mode(const Program& program, const Instruction& instruction, const Machine& machine) {
  const Access& src = instruction.inputs.front();
  const Access& dst = instruction.outputs.front();
  if (!is_16bit_float(src) || !is_16bit_float(dst)) return 1;
  if (instruction.engine == Engine::Scalar) return machine.scalar_elements_per_cycle_16bit;
  if (instruction.engine != Engine::Vector) return 1;
  const int on_sbuf = is_in(program, src, Space::Sbuf) + is_in(program, dst, Space::Sbuf);
  const bool dense = is_contiguous(src) && is_contiguous(dst);
  if (on_sbuf == 2) return std::min(machine.vector_elements_per_cycle_16bit, dense ? kCopy4x : kTwice);
  return std::min(machine.vector_elements_per_cycle_16bit, on_sbuf == 1 && dense ? kTwice : 1);
}

double on_engine(const Instruction& instruction, const Machine& machine, double work) {
  if (instruction.engine == Engine::GpSimd) return machine.start_up(Engine::GpSimd) + work;
  return std::max(machine.least(instruction.engine), work);
}

/// Two streams from SBUF take turns; one of them from PSUM costs nothing.
double two_inputs(const Program& program, const Instruction& instruction) {
  const bool psum = std::any_of(instruction.inputs.begin(), instruction.inputs.end(),
                                [&](const Access& input) { return is_in(program, input, Space::Psum); });
  return psum ? 1 : 2;
}

// AWS Neuron documentation, NKI ISA reference: 16-bit floats in SBUF throughout stream at full rate on Vector.
bool all_16bit(const Program& program, const Instruction& instruction) {
  const auto fits = [&](const Access& access) { return is_16bit_float(access) && is_in(program, access, Space::Sbuf); };
  return std::all_of(instruction.inputs.begin(), instruction.inputs.end(), fits) &&
         is_16bit_float(instruction.outputs.front());
}

}  // namespace

namespace cost {

double matmul(const Program&, const Instruction& instruction, const Machine& machine) {
  const double n = elements(instruction.inputs[1]);
  const double m = elements(instruction.inputs[0]);
  const double passes = size_of(instruction.inputs[0].dtype) >= 4 ? machine.matmul_passes_f32 : 1;
  return passes * std::max(n, std::min(machine.least(Engine::Tensor), m));
}

double transpose(const Program&, const Instruction& instruction, const Machine& machine) {
  const Access& data = instruction.inputs.front();
  if (instruction.engine != Engine::Tensor) return on_engine(instruction, machine, elements(data));
  // From v3 on a transpose of float32 runs at twice the rate of a float32 matmul (Trainium2 architecture guide).
  const double f32 = machine.nki_generation >= 3 ? machine.matmul_passes_f32 / kTwice : machine.matmul_passes_f32;
  const double passes = size_of(data.dtype) >= 4 ? f32 : 1;
  return passes * std::max(partitions(data), std::min(machine.least(Engine::Tensor), elements(data)));
}

double one_stream(const Program& program, const Instruction& instruction, const Machine& machine) {
  return on_engine(instruction, machine, stream(instruction) / copy_mode(program, instruction, machine));
}

double two_streams(const Program& program, const Instruction& instruction, const Machine& machine) {
  const bool fast = instruction.engine == Engine::Vector && all_16bit(program, instruction);
  return on_engine(instruction, machine, stream(instruction) * (fast ? 1 : two_inputs(program, instruction)));
}

double predicated(const Program& program, const Instruction& instruction, const Machine& machine) {
  return on_engine(instruction, machine, stream(instruction) * two_inputs(program, instruction));
}

double fill(const Program&, const Instruction& instruction, const Machine& machine) {
  const Immediate& value = instruction.scalars[0];
  const bool zero =
      std::all_of(value.bytes.begin(), value.bytes.end(), [](std::byte one) { return one == std::byte{}; });
  const bool fast = zero && is_16bit_float(instruction.outputs.front()) && instruction.engine == Engine::Vector;
  return on_engine(instruction, machine, stream(instruction) / (fast ? kTwice : 1));
}

// A custom operator of GpSimd: an estimate, 16 operations on each of 8 vectors of 16 float32 a cycle for 128
// partitions.
double activation(const Program&, const Instruction& instruction, const Machine& machine) {
  constexpr double kCustomCyclesPerElement = 16;
  const double n = stream(instruction);
  if (instruction.engine == Engine::GpSimd) return on_engine(instruction, machine, kCustomCyclesPerElement * n);
  const Access& src = instruction.inputs.front();
  const bool narrow = size_of(src.dtype) <= 2 && size_of(instruction.outputs.front().dtype) <= 2;
  return on_engine(instruction, machine, n / (narrow ? machine.scalar_elements_per_cycle_16bit : 1));
}

double activation_reduce(const Program& program, const Instruction& instruction, const Machine& machine) {
  return activation(program, instruction, machine) + machine.least(instruction.engine);
}

double reduce(const Program&, const Instruction& instruction, const Machine& machine) {
  const bool narrow = instruction.inputs[0].dtype == DType::BF16 && instruction.outputs[0].dtype == DType::BF16;
  const bool fast = narrow && instruction.engine == Engine::Vector &&
                    (instruction.op0 == AluOp::Add || instruction.op0 == AluOp::Max);
  return on_engine(instruction, machine, stream(instruction) / (fast ? kTwice : 1));
}

// An estimate: each GpSimd core adds up its 16 partitions one by one.
double partition_reduce(const Program&, const Instruction& instruction, const Machine& machine) {
  constexpr double kPartitionsPerCore = 16;
  return on_engine(instruction, machine, kPartitionsPerCore * stream(instruction));
}

double scan(const Program&, const Instruction& instruction, const Machine& machine) {
  return on_engine(instruction, machine, kTwice * stream(instruction));
}

double plain(const Program&, const Instruction& instruction, const Machine& machine) {
  return on_engine(instruction, machine, stream(instruction));
}

// An estimate: one instruction of the sequencer.
double one_register(const Program&, const Instruction& instruction, const Machine& machine) {
  return machine.least(instruction.engine);
}

double library(const Program& program, const Instruction& instruction, const Machine&) {
  return program.library[static_cast<size_t>(instruction.library)].cost_cycles;
}

}  // namespace cost

double cycles(const Program& program, const Instruction& instruction, const Machine& machine) {
  const OpcodeInfo& row = info(instruction.opcode);
  return row.cycles == nullptr ? 0 : row.cycles(program, instruction, machine);
}

double engine_seconds(const Program& program, const Instruction& instruction, const Machine& machine) {
  return cycles(program, instruction, machine) / machine.clock(instruction.engine);
}

namespace {

struct Pieces {
  double number = 1;
  double bytes = 0;
};

/// The contiguous runs that one side of a DMA consists of.
Pieces pieces(const Access& access, bool on_chip) {
  int64_t run = 1;
  bool contiguous = true;
  double all = 1;
  for (size_t d = access.pattern.size(); d-- > 0;) {
    const PatternDimension& dimension = access.pattern[d];
    all *= static_cast<double>(dimension.size);
    contiguous = contiguous && !(on_chip && d == 0) && (dimension.size == 1 || dimension.step == run);
    if (contiguous) run *= dimension.size;
  }
  const auto length = static_cast<double>(run);
  return {all / length, length * static_cast<double>(size_of(access.dtype))};
}

}  // namespace

// One engine takes dma_element_seconds for a piece and its bytes at the achievable rate; the pieces of the shorter-cut
// side are spread over all engines of the core, at most one for each piece.
double dma_seconds(const Program& program, const Instruction& instruction, const Machine& machine) {
  const Access& src = instruction.inputs.front();
  const Access& dst = instruction.outputs.front();
  const Pieces from = pieces(src, !is_in(program, src, Space::Hbm));
  const Pieces to = pieces(dst, !is_in(program, dst, Space::Hbm));
  const Pieces& shorter = from.number > to.number ? from : to;
  const double engines = std::min<double>(machine.dma_engines, shorter.number);
  const double rate =
      machine.dma_engine_bytes_per_second * (instruction.accumulate ? machine.dma_read_modify_write_rate : 1);
  return shorter.number / engines * (machine.dma_element_seconds + shorter.bytes / rate);
}

}  // namespace opentrn::neuroncore
