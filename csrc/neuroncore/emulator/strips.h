// Strips: consecutive instructions that compute each partition from the same partition only. They are executed for one
// block of partitions after the other, so that the tiles between them stay in the cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "neuroncore/program.h"

namespace opentrn::neuroncore::emulator {

struct StripShape {
  std::vector<int32_t> instructions;
  int64_t partitions = 1;              // of full tiles
  int64_t block = 1;                   // partitions executed at once
  std::vector<int32_t> used_buffers;   // sorted, each once
  std::vector<int32_t> local_buffers;  // tiles that nothing else uses: one block of them is enough
  bool by_partition = false;           // partitions may be given to different threads
};

/// Cuts runs of instructions.
class StripCutter {
 public:
  /// `uses`: by buffer, how many operands of the program are accesses to it.
  StripCutter(const Program& program, const std::vector<int32_t>& uses) : program_(program), uses_(uses) {}

  std::vector<StripShape> cut(std::span<const int32_t> run) const;

 private:
  bool fits(const std::vector<int32_t>& strip, int32_t next) const;
  bool agree(const Access& left, const Access& right) const;
  void finish(StripShape& strip) const;

  const Program& program_;
  const std::vector<int32_t>& uses_;
};

/// True when partition p of one access touches no memory that another partition of the other one touches.
bool same_partitions(const Access& left, const Access& right);

}  // namespace opentrn::neuroncore::emulator
