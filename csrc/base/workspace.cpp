#include "base/workspace.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/error.h"

namespace opentrn {

namespace {

// Memory nobody borrows now. Programs nest at most a few levels, each with its own.
std::vector<AlignedMemory>& idle_memory() {
  thread_local std::vector<AlignedMemory> memory;
  return memory;
}

constexpr size_t kMostIdle = 8;
constexpr int64_t kLargestIdle = int64_t{16} << 20;  // larger ones cost little to take, beside their use

AlignedMemory take(int64_t bytes) {
  std::vector<AlignedMemory>& idle = idle_memory();
  if (idle.empty()) return AlignedMemory(bytes);
  AlignedMemory memory = std::move(idle.back());
  idle.pop_back();
  if (memory.bytes() >= bytes) return memory;
  const int64_t grown = std::max(bytes, memory.bytes() + memory.bytes() / 2);
  memory = AlignedMemory();  // frees the old one before the new one is taken
  return AlignedMemory(grown);
}

}  // namespace

void AlignedMemory::Free::operator()(std::byte* memory) const { std::free(memory); }

AlignedMemory::AlignedMemory(int64_t bytes) : bytes_(aligned(std::max<int64_t>(bytes, 1))) {
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, static_cast<size_t>(bytes_))));
  if (memory_ != nullptr) return;
  raise(ErrorKind::OutOfMemory, {.where = "engine",
                                 .what = "no host memory for temporaries",
                                 .got = concat("a request of ", bytes_, " bytes"),
                                 .action = "use smaller tensors"});
}

Workspace::Workspace(int64_t bytes) : memory_(take(bytes + kPage)) {
  const auto address = reinterpret_cast<uintptr_t>(memory_.data());
  start_ = memory_.data() + (kPageOffset - address) % kPage;
}

Workspace::~Workspace() {
  std::vector<AlignedMemory>& idle = idle_memory();
  if (idle.size() < kMostIdle && memory_.bytes() <= kLargestIdle) idle.push_back(std::move(memory_));
}

}  // namespace opentrn
