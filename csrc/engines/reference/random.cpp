// Random bits: Philox 4x32 with ten rounds, a block of four words for each value of the counter.
#include <algorithm>
#include <array>
#include <cstring>

#include "engines/reference/buffer.h"
#include "engines/reference/copy.h"
#include "engines/reference/kernel.h"

namespace opentrn::engines::reference {

namespace {

using Block = std::array<uint32_t, 4>;

Block philox(uint64_t seed, uint64_t counter) {
  constexpr uint64_t kMultipliers[] = {0xD2511F53u, 0xCD9E8D57u};
  constexpr uint32_t kWeyl[] = {0x9E3779B9u, 0xBB67AE85u};
  Block block{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  std::array<uint32_t, 2> key{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = kMultipliers[0] * block[0];
    const uint64_t second = kMultipliers[1] * block[2];
    block = {static_cast<uint32_t>(second >> 32) ^ block[1] ^ key[0], static_cast<uint32_t>(second),
             static_cast<uint32_t>(first >> 32) ^ block[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += kWeyl[0];
    key[1] += kWeyl[1];
  }
  return block;
}

// `words` words from the block at `offset` on.
void fill(uint64_t seed, uint64_t offset, int64_t words, std::byte* to) {
  constexpr int64_t kWords = 4;
  parallel_for(0, (words + kWords - 1) / kWords, kGrain / 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Block block = philox(seed, offset + static_cast<uint64_t>(i));
      const int64_t count = std::min(kWords, words - i * kWords);
      std::memcpy(to + i * static_cast<int64_t>(sizeof(Block)), block.data(),
                  static_cast<size_t>(count) * sizeof(uint32_t));
    }
  });
}

uint64_t read_word(const std::byte* from) {
  uint64_t word = 0;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

}  // namespace

Kernel rng_kernel(const Problem& problem) {
  const View& state = problem.operands[0];
  const View& next = problem.results[0];
  const View& bits = problem.results[1];
  const int64_t state_step = state.strides[0] * state.item_size();
  const int64_t next_step = next.strides[0] * next.item_size();
  const int64_t words = bits.elements() * bits.item_size() / static_cast<int64_t>(sizeof(uint32_t));
  const StridedCopy spread(ir::contiguous_view({bits.dtype, bits.shape}), bits);
  const bool dense = bits.contiguous();
  return [=](std::byte* const* operands, std::byte* const* results) {
    const uint64_t seed = read_word(operands[0]);
    const uint64_t offset = read_word(operands[0] + state_step);
    const uint64_t advanced = offset + static_cast<uint64_t>((words + 3) / 4);
    std::memcpy(results[0], &seed, sizeof(seed));
    std::memcpy(results[0] + next_step, &advanced, sizeof(advanced));
    if (dense) return fill(seed, offset, words, results[1]);
    const Workspace space(words * static_cast<int64_t>(sizeof(uint32_t)));
    fill(seed, offset, words, space.data());
    spread(space.data(), results[1]);
  };
}

}  // namespace opentrn::engines::reference
