// Memory that is given out and taken back by offset, before any of it exists.
#pragma once

#include <cstdint>
#include <vector>

namespace opentrn {

/// Offsets into one block: the smallest gap that fits is used first, neighbouring gaps join, and the block grows when
/// none fits.
class Arena {
 public:
  /// The offset of `bytes` bytes that nothing else has. Nothing is taken when `bytes` is 0.
  int64_t take(int64_t bytes);
  /// What `take` gave, in the same size.
  void give_back(int64_t offset, int64_t bytes);
  /// Bytes the block has to have.
  int64_t high_water() const { return end_; }

 private:
  struct Gap {
    int64_t offset, bytes;
  };

  std::vector<Gap>::iterator best_fit(int64_t bytes);
  int64_t take_at_end(int64_t bytes);

  std::vector<Gap> gaps_;  // in order of offsets
  int64_t end_ = 0;
};

}  // namespace opentrn
