// Loops over types that are stored narrower than they are computed.
#pragma once

#include <algorithm>
#include <span>

#include "base/convert_rows.h"
#include "engines/reference/loops.h"
#include "engines/reference/nest.h"

namespace opentrn::engines::reference {

inline bool is_narrow(DType dtype) { return compute_dtype(dtype) != dtype; }

/// A loop whose operands or result are stored narrower than they are computed: done block by block through buffers that
/// stay in the first cache.
struct WidenedLoop {
  struct Operand {
    ConvertRow convert = nullptr;  // null when computed as stored
    int64_t stored_size = 0;
    int64_t computed_size = 0;
  };

  Loop loop = nullptr;
  size_t pointers = 0;
  std::array<Operand, kMaxPointers> operands{};  // the result first

  void operator()(int64_t n, std::byte* const* addresses, const int64_t* steps) const {
    constexpr int64_t kBlock = 256;
    constexpr size_t kWidest = 16;
    alignas(64) std::byte buffers[kMaxPointers][kBlock * kWidest];
    for (int64_t begin = 0; begin < n; begin += kBlock) {
      const int64_t count = std::min(kBlock, n - begin);
      Pointers block{};
      Steps block_steps{};
      for (size_t i = 0; i < pointers; ++i) {
        const Operand& operand = operands[i];
        std::byte* stored = addresses[i] + begin * steps[i];
        const bool buffered = operand.convert != nullptr;
        block[i] = buffered ? buffers[i] : stored;
        block_steps[i] = buffered ? operand.computed_size : steps[i];
        if (!buffered || i == 0) continue;
        if (steps[i] == 0) block_steps[i] = 0;
        operand.convert(stored, steps[i] / operand.stored_size, block[i], 1, steps[i] == 0 ? 1 : count);
      }
      loop(count, block.data(), block_steps.data());
      const Operand& result = operands[0];
      if (result.convert == nullptr) continue;
      result.convert(block[0], 1, addresses[0] + begin * steps[0], steps[0] / result.stored_size, count);
    }
  }
};

/// `loop` works on the types arithmetic is done in; `dtypes` are those stored, the result's first.
WidenedLoop widen_loop(Loop loop, std::span<const DType> dtypes);

}  // namespace opentrn::engines::reference
