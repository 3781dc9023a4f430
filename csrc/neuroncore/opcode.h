// The instruction set: one row per instruction, with what all readers of a program need to know about it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace opentrn::neuroncore {

enum class Engine : uint8_t { Tensor, Vector, Scalar, GpSimd, Sync };

std::string_view name(Engine engine);
std::optional<Engine> engine_from_name(std::string_view name);

/// NKI's instructions, in the order of NKI's reference: matrix, element-wise, reductions, data movement, control.
enum class Opcode : uint8_t {
  NcMatmul,               // out [M,N] PSUM (+)= stationary [K,M]^T x moving [K,N]
  NcTranspose,            // out [F,P] = in [P,F]; Tensor (to PSUM) or Vector (32x32 blocks)
  TensorTensor,           // out = in0 op0 in1
  TensorScalar,           // out = (in0 op0 scalar0) op1 scalar1
  ScalarTensorTensor,     // out = (in0 op0 scalar0) op1 in1
  Activation,             // out = function(in0 * scalar0 + scalar1)
  ActivationReduce,       // the same, and outputs[1] [P,1] = sum over the free dimensions of the result
  TensorReduce,           // out [P, kept...] = op0 over the trailing `integers[0]` free dimensions of in0
  TensorPartitionReduce,  // out [1,F] = op0 over the partitions of in0
  TensorTensorScan,       // out[i] = (in0[i] op0 out[i-1]) op1 in1[i]; out[-1] = scalar0
  TensorCopy,             // out = in0, bit for bit when the types are the same, else converted
  TensorCopyPredicated,   // out = in0 != 0 ? in1 : out
  SelectReduce,           // out = in0 != 0 ? in1 : (in2 or scalar0)
  Memset,                 // out = scalar0
  Iota,                   // out = integers[0] + partition * integers[1] + sum(step * index)
  AffineSelect,           // out = (integers[0] + partition * integers[1] + sum(step * index)) op0 0 ? in0 : scalar0
  Max8,                   // out [P,8] = the 8 largest of in0, descending
  NcFindIndex8,           // out [P,8] = index of the first occurrence of each of in1's 8 values in in0
  NcMatchReplace8,        // out = in0 with the first occurrence of each of in1's 8 values replaced by scalar0
  NcStreamShuffle,        // out = in0 with the partitions of every group of 32 permuted by `integers`; 255 keeps out
  DmaCopy,                // out = in0, casting, broadcasting, transposing, gathering (in) and scattering (out)
  RegisterLoad,           // register = the one integer in0
  CheckedIndex,           // out = in0, plus the size where negative; traps on an index that lies outside
  Check,                  // traps when an element of in0 is zero
  LibraryCall,            // outputs = library[...](inputs)
};

struct Program;
struct Instruction;
struct Machine;
namespace checker {
class InstructionCheck;
}

/// Everything about an instruction but the emulator's kernel.
struct OpcodeInfo {
  Opcode opcode;
  std::string_view name;
  /// Those that may execute it: letters T V S G, Y for Sync, D for DMA queues (any engine starts one).
  std::string_view engines;
  int fewest_inputs, most_inputs;  // tiles, scalar tiles included
  int fewest_outputs, most_outputs;
  std::string_view operands;  // and where they may lie, when that is more than the engine's own rule
  std::string_view meaning;
  std::string_view limits;
  std::string_view cost;  // engine cycles, N elements per partition; "estimate" where no source gives it
  /// What it demands beside the rules that hold for all instructions (checker/rules.h).
  void (*rules)(checker::InstructionCheck& check);
  /// Engine cycles of one execution (cost.h); null for DMA, whose time depends on bytes and pieces.
  double (*cycles)(const Program& program, const Instruction& instruction, const Machine& machine);
};

/// True for instructions that may end the program with an error. Results are written only behind those before them.
inline bool traps(Opcode opcode) { return opcode == Opcode::CheckedIndex || opcode == Opcode::Check; }

std::span<const OpcodeInfo> opcodes();
const OpcodeInfo& info(Opcode opcode);
std::optional<Opcode> opcode_from_name(std::string_view name);

}  // namespace opentrn::neuroncore
