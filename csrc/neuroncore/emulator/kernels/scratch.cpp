#include "neuroncore/emulator/kernels/scratch.h"

#include <array>
#include <memory>
#include <new>

#include "base/error.h"

namespace opentrn::neuroncore::emulator {

namespace {

constexpr std::align_val_t kAlignment{64};

struct Release {
  void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
};

struct Block {
  std::unique_ptr<std::byte, Release> memory;
  int64_t bytes = 0;
};

}  // namespace

std::byte* scratch(ScratchUse use, int64_t bytes) {
  thread_local std::array<Block, 3> blocks;
  Block& block = blocks[static_cast<size_t>(use)];
  if (bytes <= block.bytes) return block.memory.get();
  block.memory.reset();
  block.bytes = 0;
  block.memory.reset(static_cast<std::byte*>(::operator new(static_cast<size_t>(bytes), kAlignment)));
  block.bytes = bytes;
  return block.memory.get();
}

void raise_zero_division() { throw Error(ErrorKind::Runtime, "ZeroDivisionError"); }

}  // namespace opentrn::neuroncore::emulator
