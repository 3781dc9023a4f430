// Addresses of what programs keep for themselves.
#include "compiler/allocate.h"

#include "base/error.h"
#include "neuroncore/builder.h"
#include "tests/cpp/compiler/harness.h"

namespace opentrn::compiler {

namespace {

using neuroncore::Buffer;
using neuroncore::Builder;
using neuroncore::Program;

const neuroncore::Machine& any_machine() { return neuroncore::machines()[0]; }

// A chain of copies through HBM; by way of a tile where `through_tiles`.
Program chain(size_t length, bool through_tiles) {
  Builder builder("main", std::string(any_machine().name));
  int32_t from = builder.parameter(0, DType::F32, 256);
  for (size_t i = 0; i < length; ++i) {
    const int32_t to = builder.hbm(DType::F32, 256);
    const auto whole = [&](int32_t buffer) { return builder.hbm_access(buffer, 0, {}, {{1, 1}, {1, 256}}); };
    if (through_tiles) {
      const neuroncore::Access tile = builder.tile(builder.sbuf(DType::F32, 1, 256));
      builder.dma_copy(tile, whole(from));
      builder.dma_copy(whole(to), tile);
    } else {
      builder.dma_copy(whole(to), whole(from));
    }
    from = to;
  }
  return builder.finish();
}

std::vector<Buffer> internal(const Program& program) {
  std::vector<Buffer> result;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.space == neuroncore::Space::Hbm && buffer.role == neuroncore::Role::Internal) result.push_back(buffer);
  }
  return result;
}

int64_t end_of(const std::vector<Buffer>& buffers) {
  int64_t end = 0;
  for (const Buffer& buffer : buffers) end = std::max(end, buffer.address + buffer.elements * size_of(buffer.dtype));
  return end;
}

TEST(Allocate, MemoryIsUsedAgain) {
  Program program = chain(10, false);
  allocate(program, any_machine());
  const std::vector<Buffer> buffers = internal(program);
  EXPECT_EQ(end_of(buffers), 2 * 1024);
  for (size_t i = 1; i < buffers.size(); ++i) EXPECT_NE(buffers[i].address, buffers[i - 1].address);
}

TEST(Allocate, ATileKeepsTheMemoryItWasLoadedFrom) {
  Program program = chain(10, true);
  allocate(program, any_machine());
  const std::vector<Buffer> buffers = internal(program);
  for (size_t i = 1; i < buffers.size(); ++i) EXPECT_NE(buffers[i].address, buffers[i - 1].address);
}

TEST(Allocate, RefusesTilesThatDoNotFit) {
  for (const neuroncore::Machine& machine : neuroncore::machines()) {
    for (const int64_t more : {0, 1}) {
      Builder builder("main", std::string(machine.name));
      const int64_t bytes = machine.sbuf_bytes_per_partition + more;
      builder.memset(builder.tile(builder.sbuf(DType::U8, 128, bytes)), neuroncore::immediate(DType::U8, int64_t{0}));
      Program program = builder.finish();
      if (more == 0) {
        EXPECT_NO_THROW(allocate(program, machine));
      } else {
        EXPECT_THROW(allocate(program, machine), Error);
      }
    }
  }
}

}  // namespace

}  // namespace opentrn::compiler
