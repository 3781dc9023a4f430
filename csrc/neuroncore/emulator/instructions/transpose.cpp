// Movement across partitions: nc_transpose and nc_stream_shuffle.
#include <algorithm>
#include <array>
#include <memory>

#include "base/workspace.h"
#include "neuroncore/emulator/instructions/dense.h"
#include "neuroncore/emulator/instructions/prepare.h"

namespace opentrn::neuroncore::emulator {

namespace {

constexpr int64_t kQuadrant = 32;
constexpr int64_t kKeep = 255;

// All dimensions of an operand as free ones, the partition dimension at `position`.
Operand flattened(const Operand& operand, bool partition_last) {
  Operand flat = operand;
  const Dimension partition{operand.partition_step, operand.partitions};
  flat.free.insert(partition_last ? flat.free.end() : flat.free.begin(), partition);
  flat.partitions = 1;
  flat.partition_step = 0;
  return flat;
}

}  // namespace

Kernel prepare_transpose(const Request& request) {
  if (request.outputs[0].item() != request.inputs[0].item()) refuse(request, "a transposition keeps the type");
  const Operand out = flattened(request.outputs[0], true);
  const Operand in = flattened(request.inputs[0], false);
  if (Kernel direct = prepare_copy(out, in, true)) return direct;
  // Both patterns are cut in ways that do not go together: by way of a dense tile.
  const auto from = std::make_shared<const DenseTile>(in);
  const auto to = std::make_shared<const DenseTile>(out);
  return [from, to](const Frame& frame) {
    const Workspace memory(from->bytes());
    from->read(frame, memory.data());
    to->write(frame, memory.data());
  };
}

Kernel prepare_shuffle(const Request& request) {
  const std::vector<int64_t>& mask = request.instruction.integers;
  const auto valid = [](int64_t source) { return source == kKeep || (source >= 0 && source < kQuadrant); };
  if (mask.size() != static_cast<size_t>(kQuadrant) || !std::all_of(mask.begin(), mask.end(), valid))
    refuse(request, "a shuffle needs a mask of 32 numbers, 0 to 31 or 255");
  if (request.outputs[0].item() != request.inputs[0].item()) refuse(request, "a shuffle keeps the type");
  const auto from = std::make_shared<const DenseTile>(request.inputs[0]);
  const auto to = std::make_shared<const DenseTile>(request.outputs[0]);
  const int64_t partitions = request.inputs[0].partitions;
  const int64_t row = request.inputs[0].free_elements() * request.inputs[0].item();
  return [from, to, mask, partitions, row](const Frame& frame) {
    const Workspace memory(2 * aligned(from->bytes()));
    std::byte* in = memory.data();
    std::byte* out = in + aligned(from->bytes());
    from->read(frame, in);
    to->read(frame, out);
    for (int64_t p = 0; p < partitions; ++p) {
      const int64_t source = mask[static_cast<size_t>(p % kQuadrant)];
      const int64_t from_partition = p / kQuadrant * kQuadrant + source;
      if (source == kKeep || from_partition >= partitions) continue;
      std::copy_n(in + from_partition * row, row, out + p * row);
    }
    to->write(frame, out);
  };
}

}  // namespace opentrn::neuroncore::emulator
