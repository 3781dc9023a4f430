// A multiplication whose products go into a sum and nowhere else, as one kernel: inner products of rows.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "base/workspace.h"
#include "neuroncore/emulator/instructions/prepare.h"
#include "neuroncore/emulator/nest.h"

namespace opentrn::neuroncore::emulator {

namespace {

// Sums that are kept at a time.
constexpr int64_t kMostSums = 128;

/// Row p of `matrix` times row p of `vector`.
struct Dot {
  Operand out, matrix, vector;
  int64_t elements = 0;
  DotKernel kernel = nullptr;
  StoreKernel store = nullptr;
  LoadKernel widen = nullptr;  // of a vector that is the same for all rows
};

void run(const Dot& work, const Frame& frame) {
  std::byte* out = work.out.at(frame);
  const std::byte* matrix = work.matrix.at(frame);
  const std::byte* vector = work.vector.at(frame);
  const bool shared = work.vector.partition_step == 0;
  const Workspace memory(work.widen != nullptr ? work.elements * static_cast<int64_t>(sizeof(float)) : 0);
  if (work.widen != nullptr) {
    work.widen(work.elements, memory.data(), vector, work.vector.item());
    vector = memory.data();
  }
  std::array<double, kMostSums> wide;
  std::array<float, kMostSums> sums;
  const auto multiply = [&](int64_t rows, const std::byte* left, const std::byte* right, double* to) {
    work.kernel(rows, work.elements, reinterpret_cast<std::byte*>(to), sizeof(double), left, work.matrix.partition_step,
                right);
  };
  for (int64_t first = 0; first < frame.count; first += kMostSums) {
    const int64_t rows = std::min(kMostSums, frame.count - first);
    wide.fill(0);
    const std::byte* left = matrix + first * work.matrix.partition_step;
    if (shared) {
      multiply(rows, left, vector, wide.data());
    } else {
      for (int64_t r = 0; r < rows; ++r) {
        multiply(1, left + r * work.matrix.partition_step, vector + (first + r) * work.vector.partition_step,
                 &wide[static_cast<size_t>(r)]);
      }
    }
    for (size_t r = 0; r < static_cast<size_t>(rows); ++r) sums[r] = static_cast<float>(wide[r]);
    work.store(rows, out + first * work.out.partition_step, work.out.partition_step,
               reinterpret_cast<const std::byte*>(sums.data()));
  }
}

bool is_dense(const Operand& operand) {
  const std::vector<Dimension> dimensions = merged(operand.free);
  return dimensions.size() == 1 && dimensions[0].step == operand.item();
}

}  // namespace

Kernel prepare_dot(const Request& product, const Request& sum) {
  const Instruction& multiply = product.instruction;
  const Instruction& add = sum.instruction;
  if (multiply.opcode != Opcode::TensorTensor || multiply.op0 != AluOp::Multiply) return {};
  if (add.opcode != Opcode::TensorReduce || add.op0 != AluOp::Add || add.negate) return {};
  const Operand& values = product.outputs[0];
  const Operand& out = sum.outputs[0];
  if (values.dtype != DType::F32 || !same_elements(values, sum.inputs[0]) || out.free_elements() != 1) return {};
  if (size_of(out.dtype) > 4 || !is_float(out.dtype)) return {};
  Dot work{.out = out, .matrix = product.inputs[0], .vector = product.inputs[1]};
  if (work.matrix.partition_step == 0) std::swap(work.matrix, work.vector);
  work.elements = values.free_elements();
  if (work.elements < 2 || !is_dense(values) || !is_dense(work.matrix) || !is_dense(work.vector)) return {};
  const bool widens = work.vector.partition_step == 0 && work.vector.dtype != DType::F32;
  if (widens) work.widen = kernels().load(work.vector.dtype, ComputeType::F32);
  work.kernel = kernels().dot(work.matrix.dtype, widens ? DType::F32 : work.vector.dtype);
  work.store = kernels().store(ComputeType::F32, out.dtype);
  if (work.kernel == nullptr) return {};
  return [work = std::make_shared<const Dot>(std::move(work))](const Frame& frame) { run(*work, frame); };
}

}  // namespace opentrn::neuroncore::emulator
