// The element-wise pipeline: elements are loaded into the compute type in chunks that stay in the first cache,
// operations run on dense chunks, and the last one's values are rounded once on their way out. Memory that is already
// dense and of the compute type is worked on where it lies.
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "neuroncore/emulator/instructions/prepare.h"
#include "neuroncore/emulator/nest.h"

namespace opentrn::neuroncore::emulator {

inline constexpr int64_t kChunkBytes = 4096;

/// Numbers name values: tiles (operands 1 and on of the nest), immediates, then the results of the operations.
inline constexpr size_t kMostTiles = kMaxOperands - 1;
inline constexpr size_t kMostImmediates = 8;
inline constexpr size_t kMostOperations = 16;
inline constexpr uint8_t kFirstImmediate = kMostTiles;
inline constexpr uint8_t kFirstResult = kFirstImmediate + kMostImmediates;
inline constexpr size_t kMostValues = kFirstResult + kMostOperations;
inline constexpr size_t kMostPlaces = 6;

struct Operation {
  BinaryKernel binary = nullptr;
  UnaryKernel unary = nullptr;
  uint8_t a = 0, b = 0;
  uint8_t place = 0;  // of ChunkMemory, where the result waits for other operations
};

/// What is computed, whatever the layout of the operands.
struct Pipeline {
  ComputeType type = ComputeType::F32;
  int64_t item = 4;  // bytes of the compute type
  int64_t chunk = kChunkBytes / 4;
  struct Tile {
    LoadKernel load = nullptr;  // null: the elements are of the compute type
    CopyKernel copy = nullptr;
    int64_t item = 4;
  };
  std::vector<Tile> tiles;
  alignas(16) std::array<std::array<std::byte, 16>, kMostImmediates> immediates{};
  size_t immediate_count = 0;
  std::vector<Operation> operations;
  StoreKernel store = nullptr;  // null: the elements are of the compute type
  CopyKernel copy = nullptr;    // of one element of the compute type
  int64_t out_item = 4;

  uint8_t last_value() const {
    return operations.empty() ? uint8_t{0} : static_cast<uint8_t>(kFirstResult + operations.size() - 1);
  }
};

/// The pipeline of an instruction, and the operands it reads, in the order of its tiles.
struct PipelinePlan {
  Pipeline pipeline;
  std::vector<Operand> tiles;
};
PipelinePlan plan_pipeline(const Request& request);

/// The kernel that runs a pipeline over all elements of `out`; empty when the operands' patterns cannot be cut alike.
/// `whole`: every frame asks for all partitions. `accumulates`: the pipeline reads `out` too.
Kernel kernel_of(PipelinePlan plan, const Operand& out, bool whole, bool accumulates);

/// Gives every result but the last a place that no other one needs at the time. False when there are too few.
bool assign_places(Pipeline& pipeline);

/// One row of a pipeline: `n` elements no more than a chunk. Tile i starts at addresses[i + 1] with `steps[i + 1]`.
/// `out` receives values of the compute type, dense. Returns where they are: `out` itself, or elsewhere when nothing
/// had to be computed.
struct ChunkMemory {
  using Chunk = std::array<std::byte, kChunkBytes>;
  alignas(64) Chunk out;
  alignas(64) std::array<Chunk, kMostTiles> tiles;
  alignas(64) std::array<Chunk, kMostPlaces> places;
};
const std::byte* compute_chunk(const Pipeline& pipeline, ChunkMemory& memory, int64_t n, const Addresses& addresses,
                               const Addresses& steps, std::byte* out);

}  // namespace opentrn::neuroncore::emulator
