// DMA: direct copies are the element-wise pipeline or plain copies; gathering and scattering adds an index to the
// address of one side.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "neuroncore/emulator/instructions/types.h"
#include "neuroncore/emulator/nest.h"

namespace opentrn::neuroncore::emulator {

namespace {

constexpr size_t kOut = 0, kIn = 1, kIndex = 2;
constexpr int64_t kChunk = 512;

struct Indirect {
  std::array<Operand, 3> operands;
  Nest nest;
  size_t side = kIn;  // whose address the index moves
  int64_t index_bytes = 0;
  int64_t index_limit = 0;
  bool skip = false;
  LoadKernel load_index = nullptr;
  CopyKernel copy = nullptr;  // null: elements are converted or accumulated
  ComputeType type = ComputeType::F32;
  LoadKernel load_in = nullptr, load_out = nullptr;
  BinaryKernel add = nullptr;  // null unless accumulating
  StoreKernel store = nullptr;
  std::string where;
};

[[noreturn]] void raise_out_of_range(const Indirect& work, int64_t index) {
  raise(ErrorKind::Index, {.where = work.where,
                           .what = "index out of range",
                           .got = concat(index),
                           .expected = concat("0 to ", work.index_limit - 1)});
}

// Bytes that the index at `from` adds, or nothing when this part is left out.
std::optional<int64_t> index_displacement(const Indirect& work, const std::byte* from) {
  int64_t index = 0;
  work.load_index(1, reinterpret_cast<std::byte*>(&index), from, 0);
  if (index >= 0 && index < work.index_limit) return index * work.index_bytes;
  if (!work.skip) raise_out_of_range(work, index);
  return std::nullopt;
}

// `n` elements whose addresses step evenly. Places that repeat are taken one at a time, in order.
void move(const Indirect& work, int64_t n, std::byte* out, int64_t out_step, const std::byte* in, int64_t in_step) {
  if (work.copy != nullptr) return work.copy(1, n, out, 0, out_step, in, 0, in_step);
  alignas(64) std::array<std::byte, kChunk * 16> fresh, old;
  const int64_t at_once = work.add != nullptr && out_step == 0 ? 1 : kChunk;
  for (int64_t done = 0; done < n; done += at_once) {
    const int64_t count = std::min(at_once, n - done);
    std::byte* to = out + done * out_step;
    work.load_in(count, fresh.data(), in + done * in_step, in_step);
    if (work.add != nullptr) {
      work.load_out(count, old.data(), to, out_step);
      work.add(count, fresh.data(), old.data(), 1, fresh.data(), 1);
    }
    work.store(count, to, out_step, fresh.data());
  }
}

void run_row(const Indirect& work, int64_t n, Addresses at, const Addresses& steps) {
  if (steps[kIndex] == 0) {
    const std::optional<int64_t> moved = index_displacement(work, pointer(at[kIndex]));
    if (!moved) return;
    at[work.side] += *moved;
    return move(work, n, pointer(at[kOut]), steps[kOut], pointer(at[kIn]), steps[kIn]);
  }
  for (int64_t done = 0; done < n; done += kChunk) {
    const int64_t count = std::min(kChunk, n - done);
    alignas(64) std::array<int64_t, kChunk> indices;
    work.load_index(count, reinterpret_cast<std::byte*>(indices.data()), pointer(at[kIndex]), steps[kIndex]);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = indices[static_cast<size_t>(i)];
      if (index < 0 || index >= work.index_limit) {
        if (!work.skip) raise_out_of_range(work, index);
        continue;
      }
      Addresses one = at;
      advance(one, steps, i);
      one[work.side] += index * work.index_bytes;
      move(work, 1, pointer(one[kOut]), 0, pointer(one[kIn]), 0);
    }
    advance(at, steps, count);
  }
}

void run(const Indirect& work, const Frame& frame) {
  Addresses addresses{};
  for (size_t i = 0; i < work.operands.size(); ++i) addresses[i] = address(work.operands[i].at(frame));
  const Addresses& row_steps = work.nest.dimensions[1].steps;
  const Addresses& steps = work.nest.dimensions[0].steps;
  for_each_plane(work.nest, frame, addresses, [&](int64_t rows, int64_t columns, Addresses at) {
    for (int64_t row = 0; row < rows; ++row) {
      run_row(work, columns, at, steps);
      advance(at, row_steps, 1);
    }
  });
}

// The index tile as an operand with one element for every element that is moved.
Operand expanded_index(const Request& request, const Operand& index, int64_t elements) {
  Operand result = index;
  const int64_t indices = index.free_elements();
  if (indices == 0 || elements % indices != 0) refuse(request, "the index tile does not divide the moved elements");
  result.free.push_back({0, elements / indices});
  return result;
}

Kernel prepare_indirect(const Request& request) {
  const Instruction& instruction = request.instruction;
  const Access& to = instruction.outputs[0];
  const Access& from = instruction.inputs[0];
  if (to.index_operand >= 0 && from.index_operand >= 0) refuse(request, "only one side of a DMA may be indirect");
  const Access& indirect = to.index_operand >= 0 ? to : from;
  auto work = std::make_shared<Indirect>();
  work->side = to.index_operand >= 0 ? kOut : kIn;
  const Operand& out = request.outputs[0];
  const Operand& in = request.inputs[0];
  const Operand& index = request.inputs.at(static_cast<size_t>(indirect.index_operand));
  work->operands = {out, in, expanded_index(request, index, out.free_elements())};
  work->index_bytes = indirect.index_step * size_of(indirect.dtype);
  work->index_limit = indirect.index_limit;
  work->skip = instruction.out_of_bounds == OutOfBounds::Skip;
  work->load_index = kernels().load(index.dtype, ComputeType::I64);
  work->where = where(request);
  Request moved = request;
  moved.inputs.resize(1);
  work->type = compute_type(moved);
  if (in.dtype == out.dtype && !instruction.accumulate) work->copy = kernels().copy(out.item());
  work->load_in = kernels().load(in.dtype, work->type);
  work->load_out = kernels().load(out.dtype, work->type);
  work->store = kernels().store(work->type, out.dtype);
  if (instruction.accumulate) work->add = kernels().binary(AluOp::Add, work->type);
  const std::array<const Operand*, 3> operands{&work->operands[0], &work->operands[1], &work->operands[2]};
  auto nest = make_nest(operands, {.whole = request.whole, .reorder = false});
  if (!nest) return {};
  work->nest = std::move(*nest);
  return [work](const Frame& frame) { run(*work, frame); };
}

}  // namespace

Kernel prepare_dma(const Request& request) {
  const Instruction& instruction = request.instruction;
  if (instruction.outputs[0].index_operand >= 0 || instruction.inputs[0].index_operand >= 0)
    return prepare_indirect(request);
  if (instruction.accumulate || request.outputs[0].dtype != request.inputs[0].dtype)
    return prepare_elementwise(request);
  return prepare_copy(request.outputs[0], request.inputs[0], request.whole);
}

}  // namespace opentrn::neuroncore::emulator
