// Functions that primitives carry, compiled once and called for elements or for whole tensors.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engines/reference/program.h"

namespace opentrn::engines::reference {

class RegionFunction {
 public:
  /// `captured`: how the values lie that the last parameters stand for. All other parameters, and the results where
  /// `results` is empty, lie row by row.
  explicit RegionFunction(const ir::Region& region, std::span<const View> captured, std::span<const View> results = {});

  void operator()(std::span<const void* const> parameters, std::span<void* const> results) const {
    run_program(*program_, parameters, results);
  }

 private:
  std::shared_ptr<const Program> program_;
};

/// Calls `body(index)` for every index of `shape` in row-major order.
template <typename Body>
void for_each_index(const Dims& shape, const Body& body) {
  if (element_count(shape) == 0) return;
  Dims index(shape.size(), 0);
  for (;;) {
    body(static_cast<const Dims&>(index));
    size_t i = shape.size();
    for (; i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
    if (i == static_cast<size_t>(-1)) return;
  }
}

/// The index of element `linear` in row-major order.
inline void set_index(const Dims& shape, int64_t linear, Dims& index) {
  for (size_t i = shape.size(); i-- > 0; linear /= shape[i]) index[i] = linear % shape[i];
}

/// Bytes from the first element of `view` to the one at `index`.
inline int64_t byte_offset(const View& view, const Dims& index) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) offset += index[i] * view.strides[i];
  return offset * view.item_size();
}

/// Elements that one call gives and the next takes: each call writes where the one before it did not.
class Accumulators {
 public:
  Accumulators(const RegionFunction& function, std::span<const View> elements, std::span<std::byte* const> captured);

  void start(std::span<std::byte* const> initial);
  /// accumulators = function(accumulators, others, captured)
  void combine(std::span<std::byte* const> others);
  /// The element of input `i`.
  const std::byte* operator[](size_t i) const { return places_[current_][i].data(); }
  void store(size_t i, std::byte* to) const { std::copy_n(places_[current_][i].data(), sizes_[i], to); }

 private:
  struct alignas(16) Place {
    std::byte bytes[16];
    std::byte* data() { return bytes; }
    const std::byte* data() const { return bytes; }
  };

  const RegionFunction& function_;
  std::vector<int64_t> sizes_;
  std::vector<Place> places_[2];
  size_t current_ = 0;
  std::vector<const void*> parameters_;  // accumulators, others, captured
  std::vector<void*> results_;
};

}  // namespace opentrn::engines::reference
