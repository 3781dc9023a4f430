#include "engines/reference/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/error.h"

namespace opentrn::engines::reference {

namespace {

// Buffers nobody borrows now. Programs nest at most a few levels, each with its own buffer.
std::vector<Buffer>& idle_buffers() {
  thread_local std::vector<Buffer> buffers;
  return buffers;
}

constexpr size_t kMaxIdleBuffers = 8;

Buffer take_buffer(int64_t bytes) {
  std::vector<Buffer>& idle = idle_buffers();
  if (idle.empty()) return Buffer(bytes);
  Buffer buffer = std::move(idle.back());
  idle.pop_back();
  if (buffer.bytes() >= bytes) return buffer;
  const int64_t grown = std::max(bytes, buffer.bytes() + buffer.bytes() / 2);
  buffer = Buffer();  // frees the old one before the new one is taken
  return Buffer(grown);
}

}  // namespace

void Buffer::Free::operator()(std::byte* memory) const { std::free(memory); }

Buffer::Buffer(int64_t bytes) : bytes_(aligned(std::max<int64_t>(bytes, 1))) {
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, static_cast<size_t>(bytes_))));
  if (memory_ != nullptr) return;
  raise(ErrorKind::OutOfMemory, {.where = "reference engine",
                                 .what = "no host memory for temporaries",
                                 .got = concat("a request of ", bytes_, " bytes"),
                                 .action = "use smaller tensors"});
}

Workspace::Workspace(int64_t bytes) : buffer_(take_buffer(bytes)) {}

Workspace::~Workspace() {
  std::vector<Buffer>& idle = idle_buffers();
  if (idle.size() < kMaxIdleBuffers) idle.push_back(std::move(buffer_));
}

}  // namespace opentrn::engines::reference
