// Which family prepares which instruction, and the detour for operands whose patterns cannot be cut alike.
#include "neuroncore/emulator/instructions/prepare.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/workspace.h"
#include "neuroncore/emulator/instructions/dense.h"

namespace opentrn::neuroncore::emulator {

namespace {

Kernel prepare_copy_or_convert(const Request& request) {
  if (request.outputs[0].dtype != request.inputs[0].dtype) return prepare_elementwise(request);
  return prepare_copy(request.outputs[0], request.inputs[0], request.whole);
}

Kernel by_family(const Request& request) {
  switch (request.instruction.opcode) {
    case Opcode::NcMatmul: return prepare_matmul(request);
    case Opcode::NcTranspose: return prepare_transpose(request);
    case Opcode::TensorTensor:
    case Opcode::TensorScalar:
    case Opcode::ScalarTensorTensor:
    case Opcode::Activation: return prepare_elementwise(request);
    case Opcode::ActivationReduce: return prepare_activation_reduce(request);
    case Opcode::TensorReduce: return prepare_reduce(request);
    case Opcode::TensorPartitionReduce: return prepare_partition_reduce(request);
    case Opcode::TensorTensorScan: return prepare_scan(request);
    case Opcode::TensorCopy: return prepare_copy_or_convert(request);
    case Opcode::TensorCopyPredicated:
    case Opcode::SelectReduce:
    case Opcode::AffineSelect: return prepare_select(request);
    case Opcode::Memset: return prepare_memset(request);
    case Opcode::Iota: return prepare_iota(request);
    case Opcode::Max8: return prepare_max8(request);
    case Opcode::NcFindIndex8: return prepare_find_index8(request);
    case Opcode::NcMatchReplace8: return prepare_match_replace8(request);
    case Opcode::NcStreamShuffle: return prepare_shuffle(request);
    case Opcode::DmaCopy: return prepare_dma(request);
    case Opcode::RegisterLoad: return prepare_register_load(request);
    case Opcode::CheckedIndex: return prepare_checked_index(request);
    case Opcode::Check: return prepare_check(request);
    case Opcode::LibraryCall: return prepare_library_call(request);
  }
  __builtin_unreachable();
}

// Nothing is written. Reductions of nothing still give their neutral element, products of nothing zeros.
bool is_empty(const Request& request) {
  if (request.instruction.opcode == Opcode::LibraryCall || request.outputs.empty()) return false;
  return std::all_of(request.outputs.begin(), request.outputs.end(),
                     [](const Operand& operand) { return operand.partitions == 0 || operand.free_elements() == 0; });
}

// The instruction on dense copies of its operands.
struct Detour {
  std::vector<DenseTile> inputs, outputs;
  Kernel kernel;  // on a table of the copies alone, inputs first
};

void run_detour(const Detour& detour, const Frame& frame) {
  std::vector<std::byte*> bases;
  int64_t bytes = 0;
  for (const DenseTile& tile : detour.inputs) bytes += aligned(tile.bytes());
  for (const DenseTile& tile : detour.outputs) bytes += aligned(tile.bytes());
  const Workspace memory(bytes);
  std::byte* next = memory.data();
  const auto place = [&](const DenseTile& tile) {
    std::byte* at = next;
    next += aligned(tile.bytes());
    tile.read(frame, at);
    bases.push_back(at);
    return at;
  };
  for (const DenseTile& tile : detour.inputs) place(tile);
  std::vector<std::byte*> results;
  for (const DenseTile& tile : detour.outputs) results.push_back(place(tile));
  Frame inner = frame;
  inner.bases = bases.data();
  detour.kernel(inner);
  for (size_t i = 0; i < detour.outputs.size(); ++i) detour.outputs[i].write(frame, results[i]);
}

void make_dense(Operand& operand, size_t slot) {
  operand.slot = static_cast<int32_t>(slot);
  operand.offset = 0;
  operand.terms.clear();
  operand.partition_advance = 0;
  // Dimensions keep their sizes: a reduction counts them.
  int64_t step = operand.item();
  for (auto dimension = operand.free.rbegin(); dimension != operand.free.rend(); ++dimension) {
    dimension->step = step;
    step *= dimension->size;
  }
  operand.partition_step = step;
}

Kernel prepare_detour(Request request) {
  auto detour = std::make_shared<Detour>();
  size_t slot = 0;
  for (Operand& operand : request.inputs) {
    detour->inputs.emplace_back(operand, request.whole);
    make_dense(operand, slot++);
  }
  for (Operand& operand : request.outputs) {
    detour->outputs.emplace_back(operand, request.whole);
    make_dense(operand, slot++);
  }
  detour->kernel = by_family(request);
  if (!detour->kernel) refuse(request, "the operands do not have the same number of elements");
  return [detour](const Frame& frame) { run_detour(*detour, frame); };
}

}  // namespace

Kernel prepare(Request request) {
  if (is_empty(request)) return [](const Frame&) {};
  if (Kernel kernel = by_family(request)) return kernel;
  return prepare_detour(std::move(request));
}

bool works_by_partition(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::NcMatmul:
    case Opcode::NcTranspose:
    case Opcode::TensorPartitionReduce:
    case Opcode::NcStreamShuffle:
    case Opcode::RegisterLoad:
    // What stands before and behind a check stays there for all partitions.
    case Opcode::CheckedIndex:
    case Opcode::Check:
    case Opcode::LibraryCall: return false;
    case Opcode::DmaCopy:
      return !instruction.accumulate && instruction.outputs[0].index_operand < 0 &&
             instruction.inputs[0].index_operand < 0;
    case Opcode::TensorTensor:
    case Opcode::TensorScalar:
    case Opcode::ScalarTensorTensor:
    case Opcode::Activation:
    case Opcode::ActivationReduce:
    case Opcode::TensorReduce:
    case Opcode::TensorTensorScan:
    case Opcode::TensorCopy:
    case Opcode::TensorCopyPredicated:
    case Opcode::SelectReduce:
    case Opcode::AffineSelect:
    case Opcode::Memset:
    case Opcode::Iota:
    case Opcode::Max8:
    case Opcode::NcFindIndex8:
    case Opcode::NcMatchReplace8: return true;
  }
  __builtin_unreachable();
}

std::string where(const Request& request) {
  return concat(info(request.instruction.opcode).name, " #", request.number);
}

void refuse(const Request& request, const char* what) {
  raise(ErrorKind::Internal, {.where = where(request), .what = what});
}

}  // namespace opentrn::neuroncore::emulator
