// Aligned memory for constants and temporaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace opentrn {

inline constexpr int64_t kAlignment = 64;

inline int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Processors first compare the lowest 12 bits of the addresses of loads and stores. Arrays that are gone through
/// together never seem to touch each other if they begin at the same place in their pages: that of large tensors.
inline constexpr int64_t kPage = 4096;
inline constexpr int64_t kPageOffset = 64;

/// The first place from `offset` on where an array of `bytes` bytes may begin in a Workspace.
inline int64_t array_offset(int64_t offset, int64_t bytes) {
  return bytes < kPage ? aligned(offset) : (offset + kPage - 1) / kPage * kPage;
}

/// Uninitialised memory, aligned to `kAlignment`. Raises an Error of kind OutOfMemory.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  explicit AlignedMemory(int64_t bytes);

  std::byte* data() const { return memory_.get(); }
  int64_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  int64_t bytes_ = 0;
};

/// Temporary memory of this thread, kept for the next borrower when it goes out of scope unless it is large. Borrowings
/// nest. Begins kPageOffset bytes behind the beginning of a page.
class Workspace {
 public:
  explicit Workspace(int64_t bytes);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::byte* data() const { return start_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(start_);
  }

 private:
  AlignedMemory memory_;
  std::byte* start_;
};

}  // namespace opentrn
