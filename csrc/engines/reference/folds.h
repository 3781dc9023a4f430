// Folding many elements into one accumulator with a reducer: the heart of reductions, windows and scans.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "ir/opcode.h"

namespace opentrn::engines::reference {

inline constexpr int64_t kMaxAccumulator = 16;  // bytes

/// The functions of one reducer on one type arithmetic is done in. Accumulators are wider than elements where that
/// keeps digits: sums and products of floats in double, sums of doubles with compensation. Elements are `step` bytes
/// apart.
struct Fold {
  int64_t accumulator_size = 0;
  int64_t element_size = 0;
  /// Accumulators from elements, and back, rounded once.
  void (*start)(const std::byte* element, std::byte* accumulator) = nullptr;
  void (*finish)(int64_t n, const std::byte* accumulators, std::byte* elements) = nullptr;
  /// The accumulator that changes nothing.
  void (*neutral)(std::byte* accumulator) = nullptr;
  /// accumulator = accumulator o element[0] o element[1] ...
  void (*fold)(int64_t n, const std::byte* elements, int64_t step, std::byte* accumulator) = nullptr;
  /// The same, with the accumulator after each element stored to `running`.
  void (*scan)(int64_t n, const std::byte* elements, int64_t step, std::byte* accumulator,
               std::byte* running) = nullptr;
  /// accumulator[i] = accumulator[i] o element[i]
  void (*fold_each)(int64_t n, const std::byte* elements, int64_t step, std::byte* accumulators) = nullptr;
  /// accumulator[i] = accumulator[i] o other[i]
  void (*merge)(int64_t n, const std::byte* others, std::byte* accumulators) = nullptr;
};

/// Raises when the reducer is not defined for the type. `dtype` is one that arithmetic is done in.
const Fold& fold_for(ir::Op reducer, DType dtype);

}  // namespace opentrn::engines::reference
