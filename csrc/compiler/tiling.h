// Iteration spaces: dimensions that several operands step through together, and how they are cut into tiles and loops.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include "compiler/emitter.h"
#include "neuroncore/builder.h"

namespace opentrn::compiler {

/// Elements that each operand of a family steps per unit of an axis. What the positions mean, the family says.
using Steps = std::array<int64_t, 3>;

struct Axis {
  int64_t size = 1;
  Steps steps{};
};

/// Ordered by the steps of operand 0, largest first; axes of size 1 are gone, and neighbours that every operand steps
/// through evenly are one.
std::vector<Axis> merged(std::vector<Axis> axes);

/// Takes out the longest axis; one of size 1 when there is none.
Axis take_longest(std::vector<Axis>& axes);

int64_t elements(std::span<const Axis> axes);

/// An axis cut into tiles, with a loop over them once it is open; a single tile needs no loop.
class Tiling {
 public:
  Tiling(const Axis& axis, int64_t tile);

  const Axis& axis() const { return axis_; }
  int64_t tile() const { return tile_; }
  int64_t count() const { return (axis_.size + tile_ - 1) / tile_; }
  int32_t loop() const { return loop_; }

  /// One tile as a dimension of an access pattern, the last one ending where the axis ends.
  neuroncore::PatternDimension dimension(int64_t step) const;
  /// Moves on by a tile with every iteration.
  void add_term(std::vector<neuroncore::Term>& terms, int64_t step) const;

 private:
  friend class LoopNest;
  Axis axis_;
  int64_t tile_ = 1;
  int32_t loop_ = -1;
};

/// Loops that close when the nest goes out of scope.
class LoopNest {
 public:
  explicit LoopNest(neuroncore::Builder& program) : program_(program) {}
  ~LoopNest() {
    for (; open_ > 0; --open_) program_.end_loop();
  }
  LoopNest(const LoopNest&) = delete;
  LoopNest& operator=(const LoopNest&) = delete;

  void open(Tiling& tiling, bool independent);
  /// One loop for each axis, element by element.
  std::vector<Tiling> open_each(std::span<const Axis> axes, bool independent);

 private:
  neuroncore::Builder& program_;
  int open_ = 0;
};

/// The elements of a location at the current iteration of `loops`, as a pattern with one dimension per tiling of
/// `pattern`. `operand` is the location's position in the steps.
neuroncore::Access access_at(const Location& location, size_t operand, std::span<const Tiling> loops,
                             std::initializer_list<const Tiling*> pattern);

/// Moves an access by the current tile of a tiling.
void advance(neuroncore::Access& access, size_t operand, const Tiling& tiling);

/// The location some elements further on.
Location moved(Location location, int64_t elements);

/// A piece of a tile: as many partitions and elements as the current tiles of the two have.
neuroncore::Access tile_of(const neuroncore::Builder& program, int32_t buffer, const Tiling& partitions,
                           const Tiling& elements);

}  // namespace opentrn::compiler
