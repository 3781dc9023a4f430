// nc_matmul: one call of the matmul kernel on operands as they lie, whatever their steps. Operands whose free
// dimensions do not step evenly, or of two different types, are laid out densely first.
#include <memory>
#include <optional>

#include "base/workspace.h"
#include "neuroncore/emulator/instructions/dense.h"
#include "neuroncore/emulator/instructions/prepare.h"

namespace opentrn::neuroncore::emulator {

namespace {

// The one step, in bytes, of a tile's free dimensions.
std::optional<int64_t> even_step(const Operand& operand) {
  const std::vector<Dimension> dimensions = merged(operand.free);
  if (dimensions.empty()) return operand.item();
  if (dimensions.size() > 1 || dimensions[0].step % operand.item() != 0) return std::nullopt;
  return dimensions[0].step;
}

// One side of the product: where it lies, or a dense copy of it.
struct Side {
  Operand operand;
  std::optional<DenseTile> dense;
  int64_t partition_step = 0, free_step = 0;  // elements

  int64_t bytes() const { return dense ? aligned(dense->bytes()) : 0; }
};

Side make_side(const Operand& operand, DType wanted) {
  Side side{.operand = operand, .dense = {}};
  const auto step = even_step(operand);
  if (operand.dtype == wanted && step && operand.partition_step % operand.item() == 0) {
    side.partition_step = operand.partition_step / operand.item();
    side.free_step = *step / operand.item();
    return side;
  }
  if (operand.dtype == wanted) {
    side.dense.emplace(operand);
  } else {
    side.dense.emplace(operand, wanted == DType::F64 ? ComputeType::F64 : ComputeType::F32);
  }
  side.partition_step = operand.free_elements();
  side.free_step = 1;
  return side;
}

struct Matmul {
  Side stationary, moving, out;
  MatmulKernel kernel = nullptr;
  int64_t k = 0, m = 0, n = 0;
  bool accumulate = false;
  int64_t scratch = 0;
};

const std::byte* source(const Side& side, const Frame& frame, std::byte* memory) {
  if (!side.dense) return side.operand.at(frame);
  side.dense->read(frame, memory);
  return memory;
}

void multiply(const Matmul& work, const Frame& frame, std::byte* memory) {
  std::byte* moving_memory = memory + work.stationary.bytes();
  std::byte* out_memory = moving_memory + work.moving.bytes();
  MatmulProblem problem{.k = work.k, .m = work.m, .n = work.n};
  problem.stationary = source(work.stationary, frame, memory);
  problem.stationary_k = work.stationary.partition_step;
  problem.stationary_m = work.stationary.free_step;
  problem.moving = source(work.moving, frame, moving_memory);
  problem.moving_k = work.moving.partition_step;
  problem.moving_n = work.moving.free_step;
  std::byte* out = work.out.dense ? out_memory : work.out.operand.at(frame);
  if (work.out.dense && work.accumulate) work.out.dense->read(frame, out);
  problem.out = reinterpret_cast<float*>(out);
  problem.out_m = work.out.partition_step;
  problem.out_n = work.out.free_step;
  problem.accumulate = work.accumulate;
  work.kernel(problem);
  if (work.out.dense) work.out.dense->write(frame, out);
}

void run(const Matmul& work, const Frame& frame) {
  if (work.scratch == 0) return multiply(work, frame, nullptr);
  const Workspace memory(work.scratch);
  multiply(work, frame, memory.data());
}

// out[m][n] = stationary[n][m], bit for bit: the transposition that a product with the identity stands for.
Kernel prepare_pass_through(const Request& request) {
  Request transposition = request;
  transposition.inputs.resize(1);
  return prepare_transpose(transposition);
}

}  // namespace

Kernel prepare_matmul(const Request& request) {
  const Operand& stationary = request.inputs[0];
  const Operand& moving = request.inputs[1];
  const Operand& out = request.outputs[0];
  if (request.instruction.is_transpose) return prepare_pass_through(request);
  if (is_integral(stationary.dtype) || is_integral(moving.dtype) || is_complex(stationary.dtype) ||
      is_complex(moving.dtype))
    refuse(request, "the Tensor engine multiplies floating point numbers only");
  const bool wide = stationary.dtype == DType::F64 || moving.dtype == DType::F64;
  const DType both = stationary.dtype == moving.dtype ? stationary.dtype : wide ? DType::F64 : DType::F32;
  Matmul work;
  work.stationary = make_side(stationary, both);
  work.moving = make_side(moving, both);
  work.out = make_side(out, wide ? DType::F64 : DType::F32);
  work.kernel = kernels().matmul(both);
  work.k = stationary.partitions;
  work.m = stationary.free_elements();
  work.n = moving.free_elements();
  work.accumulate = request.instruction.accumulate;
  work.scratch = work.stationary.bytes() + work.moving.bytes() + work.out.bytes();
  if (work.kernel == nullptr) refuse(request, "a type that the Tensor engine does not multiply");
  return [work = std::make_shared<const Matmul>(std::move(work))](const Frame& frame) { run(*work, frame); };
}

}  // namespace opentrn::neuroncore::emulator
