// Where an operand lies in host memory, and what a prepared instruction sees when it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/dtype.h"

namespace opentrn::neuroncore::emulator {

/// What changes between executions of an instruction: where buffers lie, the counters of loops (then the registers),
/// and which partitions are asked for.
struct Frame {
  std::byte* const* bases = nullptr;  // by buffer
  int64_t* counters = nullptr;
  int64_t first = 0;  // partitions [first, first + count)
  int64_t count = 0;
};

/// A prepared instruction.
using Kernel = std::function<void(const Frame&)>;

/// Steps count bytes.
struct Dimension {
  int64_t step = 0;
  int64_t size = 1;
};

struct CounterTerm {
  int32_t counter = 0;
  int64_t bytes = 0;
};

/// An access with everything resolved that does not depend on a frame.
struct Operand {
  int32_t slot = -1;  // of Frame::bases
  DType dtype = DType::F32;
  int64_t offset = 0;  // bytes
  std::vector<CounterTerm> terms;
  int64_t partitions = 1;
  int64_t partition_step = 0;     // bytes from one partition to the next
  int64_t partition_advance = 0;  // bytes a frame's first partition adds: 0 for tiles that hold one block only
  std::vector<Dimension> free;    // outermost first

  int64_t item() const { return size_of(dtype); }

  int64_t free_elements() const {
    int64_t count = 1;
    for (const Dimension& dimension : free) count *= dimension.size;
    return count;
  }

  /// Bytes from the buffer's start to the first element of the frame's partitions.
  int64_t displacement(const Frame& frame) const {
    int64_t bytes = offset + frame.first * partition_advance;
    for (const CounterTerm& term : terms) bytes += frame.counters[term.counter] * term.bytes;
    return bytes;
  }

  std::byte* at(const Frame& frame) const { return frame.bases[slot] + displacement(frame); }
};

}  // namespace opentrn::neuroncore::emulator
