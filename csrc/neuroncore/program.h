// A NeuronCore program: buffers, loop nests and instructions with affine access patterns. Plain data; the builder makes
// it, the checker checks it, the emulator executes it, the timing model reads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "neuroncore/alu.h"
#include "neuroncore/opcode.h"

namespace opentrn::neuroncore {

enum class Space : uint8_t { Hbm, Sbuf, Psum };

/// What an HBM buffer is to the caller. Buffers on the chip are always Internal.
enum class Role : uint8_t { Parameter, Result, Constant, Internal };

/// HBM buffers are `elements` elements in a row. On-chip buffers have `partitions` partitions of `elements` elements
/// each (the free size).
struct Buffer {
  std::string name;
  Space space = Space::Hbm;
  Role role = Role::Internal;
  int32_t index = -1;  // of the parameter, result or constant
  DType dtype = DType::F32;
  int32_t partitions = 1;
  int64_t elements = 0;
  int32_t copies = 1;    // 2: double buffered, iterations of the enclosing loop alternate
  int64_t address = -1;  // bytes from the start of every partition (SBUF) or of PSUM; -1: not allocated yet
};

/// One dimension of an access pattern. In the last iteration of loop `tail_loop` the dimension has `tail` steps instead
/// of `size`: that is how a tile ends at an edge which is no multiple of its size.
struct PatternDimension {
  int64_t step = 0;  // elements; on chip the first dimension steps one partition and `step` is 1
  int64_t size = 1;
  int32_t tail_loop = -1;
  int64_t tail = 0;
};

/// `coefficient` elements for every iteration of a loop, or times the value of a register.
struct Term {
  int32_t index = -1;  // of the loop or register
  int64_t coefficient = 0;
  bool is_register = false;
};

/// Which elements of a buffer an operand is. Dimensions are outermost first; the first one is the partition dimension:
/// element p of it belongs to partition `partition + p` of the on-chip side. All operands of an instruction have the
/// same number of elements in the partition dimension and, together, in the free dimensions (they may be cut
/// differently), except where the instruction says otherwise.
struct Access {
  int32_t buffer = -1;
  DType dtype = DType::F32;  // of one element; need not be the buffer's (the real part of a complex number, ...)
  int64_t offset = 0;        // elements of `dtype`; on chip from the start of each partition
  int32_t partition = 0;     // first partition, on chip only
  std::vector<Term> terms;   // added to `offset`
  std::vector<PatternDimension> pattern;
  /// Indirect access of a DMA: operand number (in Instruction::inputs) of a tile of integers [P,I]; `index_step`
  /// elements are added to the offset per unit of an index. Of the F free elements that this access has in each
  /// partition, element f takes index f / (F / I) of that partition, so that I = 1 moves whole rows and I = F single
  /// elements. -1: direct.
  int32_t index_operand = -1;
  int64_t index_step = 0;
  int64_t index_limit = 0;  // valid indices are 0 .. index_limit - 1

  bool valid() const { return buffer >= 0; }
};

/// A scalar in the instruction itself, in the bytes of its type.
struct Immediate {
  DType dtype = DType::F32;
  std::array<std::byte, 16> bytes{};
};

enum class OutOfBounds : uint8_t { Error, Skip };

/// A semaphore: the instruction that has it starts only when `instruction` is finished. Its latest execution, or the
/// one so many iterations of the innermost loop around both before that of the waiting one; with none so far there is
/// nothing to wait for.
struct Wait {
  int32_t instruction = -1;
  int32_t iterations = 0;
};

/// One instruction. What `outputs` and `inputs` hold, and which of the other fields have a meaning, says the table of
/// instructions (opcode.h). Operands are destination first, as in NKI.
struct Instruction {
  Opcode opcode = Opcode::TensorCopy;
  Engine engine = Engine::Vector;
  std::vector<Access> outputs;
  std::vector<Access> inputs;

  AluOp op0 = AluOp::Bypass;
  AluOp op1 = AluOp::Bypass;
  bool reverse0 = false;  // scalar op data instead of data op scalar
  bool reverse1 = false;
  ActivationFunction function = ActivationFunction::Copy;
  /// Scalars by position (scalar0, scalar1, or scale and bias of `activation`). `has_scalar` says that the instruction
  /// has this scalar: a [P,1] tile, which is the entry of `inputs` at position `scalar_operand`, when that is not
  /// negative, else the immediate in `scalars`. An absent scale is 1, an absent bias 0.
  std::array<Immediate, 2> scalars{};
  std::array<int32_t, 2> scalar_operand{-1, -1};
  bool has_scalar0 = false;
  bool has_scalar1 = false;

  bool accumulate = false;  // nc_matmul: add to what PSUM holds; DMA: add to the destination
  bool is_transpose = false;
  bool negate = false;
  OutOfBounds out_of_bounds = OutOfBounds::Error;
  std::vector<int64_t> integers;  // shuffle mask, iota's base and multiplier, ...
  std::vector<Term> terms;        // added to the base of iota and affine_select: where a tile lies in the whole
  int32_t library = -1;           // library_call: index in Program::library
  int32_t register_index = -1;    // register_load: destination
  int32_t text = -1;              // checked_index, check: index in Program::texts

  std::vector<Wait> waits;
};

/// Either a loop or an instruction.
struct Statement {
  int32_t loop = -1;
  int32_t instruction = -1;
};

struct Loop {
  int64_t count = 0;
  bool independent = false;  // iterations touch disjoint results: they may run in any order and at the same time
  std::vector<Statement> body;
};

/// Host code of a library call: addresses of the first element of every input and output.
using HostFunction = std::function<void(std::byte* const* inputs, std::byte* const* outputs)>;

/// Work without a tile form: a host kernel that stands for a program of the GpSimd cores.
struct LibraryCall {
  std::string name;        // "stablehlo.sort"
  std::string text;        // what exactly, for readers and for `resolve`
  double cost_cycles = 0;  // GpSimd cycles: an estimate
  HostFunction function;   // null in a program that was read from text
};

/// A result buffer that may lie in the very memory of a parameter buffer, element on element. Every other pair of HBM
/// buffers is disjoint as far as the order of the program does not keep reads before writes: a program never writes a
/// result in another top-level statement before a parameter in that memory is read for the last time. In the statement
/// that does both, each element is written by the loop iteration that reads it.
struct SharedMemory {
  int32_t result = -1;     // Buffer::index
  int32_t parameter = -1;  // Buffer::index
};

struct Program {
  std::string name = "main";
  std::string target = "trn2";
  std::vector<Buffer> buffers;
  std::vector<std::vector<std::byte>> constants;  // by Buffer::index
  std::vector<LibraryCall> library;
  std::vector<std::string> texts;  // of errors: the operator of checked_index, the message of check
  std::vector<Instruction> instructions;
  std::vector<Loop> loops;
  std::vector<Statement> body;
  std::vector<SharedMemory> shared;
  int32_t registers = 0;
};

}  // namespace opentrn::neuroncore
