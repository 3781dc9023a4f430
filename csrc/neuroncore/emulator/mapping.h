// What a DMA between a tile and HBM says about places: which element of HBM an element of the tile is. Accesses to the
// tile can then be made accesses to HBM, so that nothing has to be moved.
#pragma once

#include <optional>
#include <vector>

#include "neuroncore/program.h"

namespace opentrn::neuroncore::emulator {

class TileMapping {
 public:
  /// The mapping of a direct copy between a tile and HBM of the same type. Nothing when the two sides are cut in ways
  /// that do not go together.
  static std::optional<TileMapping> make(const Program& program, const Access& tile, const Access& hbm);

  /// The same elements in HBM. Nothing when the access may leave what the DMA moved, or cannot be written as one
  /// access.
  std::optional<Access> translate(const Access& access) const;

 private:
  /// One dimension that steps evenly on both sides.
  struct Pair {
    int64_t tile_step = 0, hbm_step = 0;
    int64_t size = 1;
    int32_t tail_loop = -1;
    int64_t tail = 0;
    int64_t reach = 0;  // while translating: the highest index so far
    bool has_tail() const { return tail_loop >= 0 && tail < size; }
  };
  class Translation;

  bool pair_free_dimensions(std::vector<PatternDimension> tile, std::vector<PatternDimension> hbm);

  const Program* program_ = nullptr;
  Access tile_, hbm_;
  Pair partition_;
  std::vector<Pair> pairs_;  // innermost first
};

}  // namespace opentrn::neuroncore::emulator
