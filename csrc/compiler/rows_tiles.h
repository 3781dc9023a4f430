// The tiles of one nest while its instructions are emitted: buffers, loops and access patterns.
#pragma once

#include <vector>

#include "compiler/rows_nest.h"
#include "neuroncore/builder.h"

namespace opentrn::compiler::rows {

class Tiles {
 public:
  Tiles(neuroncore::Builder& program, const Description& description, const Nest& nest, int copies);

  neuroncore::Builder& program() const { return program_; }
  const Description& description() const { return description_; }
  const Nest& nest() const { return nest_; }

  /// Opens the loop over the tiles of dimension `d`, if it has more than one.
  void open(size_t d, bool independent);
  /// Closes the loops opened last, until only `count` are open.
  void close_to(size_t count);
  size_t open_loops() const { return open_; }

  /// Memory that is no value of the description.
  neuroncore::Access extra(DType dtype, uint64_t varies);

  /// The tile of a slot, seen by an instruction that goes over dimensions `over` of the space: repeated along those
  /// along which it does not vary.
  neuroncore::Access read(const Use& use, uint64_t over) const;
  /// The tile of a slot or an intermediate result, as it is.
  neuroncore::Access write(int32_t slot) const;
  neuroncore::Access temporary(const Step& step, size_t number) const;
  /// The first element of each partition and, over the other dimensions, its repetition.
  neuroncore::Access seen(neuroncore::Access whole, uint64_t varies, uint64_t over) const;

  /// True when the tile is [P,1].
  bool is_column(uint64_t varies) const;
  /// A number, or a [P,1] tile, that an instruction takes as a scalar; absent when it cannot.
  neuroncore::ScalarOperand scalar(const Use& use) const;

  /// The access to HBM of a tile: over the dimensions `over` of the space.
  neuroncore::Access hbm(int32_t buffer, DType dtype, const Line& line, uint64_t over) const;

  /// Number of pattern dimensions that are reduced.
  int reduced_dimensions() const;

  struct Iota {
    int64_t base = 0;
    int64_t per_partition = 0;
    std::vector<int64_t> steps;
    std::vector<neuroncore::Term> terms;
  };
  /// The numbers of a line, by the pattern of a tile that varies along `over`.
  Iota iota(const Line& line, uint64_t over) const;

 private:
  neuroncore::Access on_chip(int32_t buffer, DType dtype, uint64_t varies, uint64_t over) const;
  neuroncore::PatternDimension pattern_dimension(size_t d, int64_t step) const;
  neuroncore::PatternDimension partitions(int64_t step) const;
  int64_t elements(uint64_t mask) const;
  int32_t buffer(int32_t tile) const;
  template <typename Function>
  void for_each_free(uint64_t mask, Function&& function) const;
  std::vector<neuroncore::Term> terms(const Line& line) const;

  neuroncore::Builder& program_;
  const Description& description_;
  const Nest& nest_;
  int copies_;
  int partition_ = -1;
  std::vector<size_t> free_;    // outermost first, the reduced ones last
  std::vector<int32_t> loops_;  // by dimension; -1: no loop
  size_t open_ = 0;
  mutable std::vector<int32_t> buffers_;  // by tile
};

}  // namespace opentrn::compiler::rows
