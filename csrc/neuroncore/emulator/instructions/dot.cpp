// A multiplication whose products go into a sum and nowhere else, as one kernel: inner products of rows.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "neuroncore/emulator/instructions/prepare.h"
#include "neuroncore/emulator/nest.h"

namespace opentrn::neuroncore::emulator {

namespace {

// As many as a reduction takes at once, so that both round alike.
constexpr int64_t kChunk = 1024;

struct Dot {
  Operand out, left, right;
  int64_t elements = 0;
  DotKernel kernel = nullptr;
  StoreKernel store = nullptr;
};

void run(const Dot& work, const Frame& frame) {
  std::byte* out = work.out.at(frame);
  const std::byte* left = work.left.at(frame);
  const std::byte* right = work.right.at(frame);
  const int64_t left_item = work.left.item();
  const int64_t right_item = work.right.item();
  for (int64_t p = 0; p < frame.count; ++p) {
    float sum = 0;
    auto* to = reinterpret_cast<std::byte*>(&sum);
    for (int64_t done = 0; done < work.elements; done += kChunk) {
      const int64_t n = std::min(kChunk, work.elements - done);
      work.kernel(1, n, to, 0, left + done * left_item, 0, right + done * right_item);
    }
    work.store(1, out, 0, to);
    out += work.out.partition_step;
    left += work.left.partition_step;
    right += work.right.partition_step;
  }
}

bool is_dense(const Operand& operand) {
  const std::vector<Dimension> dimensions = merged(operand.free);
  return dimensions.size() == 1 && dimensions[0].step == operand.item();
}

bool same_elements(const Operand& left, const Operand& right) {
  const std::vector<Dimension> one = merged(left.free);
  const std::vector<Dimension> other = merged(right.free);
  return left.slot == right.slot && left.offset == right.offset && left.dtype == right.dtype &&
         left.partitions == right.partitions &&
         std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const Dimension& a, const Dimension& b) { return a.step == b.step && a.size == b.size; });
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
  Dot work{.out = out, .left = product.inputs[0], .right = product.inputs[1]};
  work.elements = values.free_elements();
  if (work.elements < 2 || !is_dense(values) || !is_dense(work.left) || !is_dense(work.right)) return {};
  work.kernel = kernels().dot(work.left.dtype, work.right.dtype);
  work.store = kernels().store(ComputeType::F32, out.dtype);
  if (work.kernel == nullptr) return {};
  return [work = std::make_shared<const Dot>(std::move(work))](const Frame& frame) { run(*work, frame); };
}

}  // namespace opentrn::neuroncore::emulator
