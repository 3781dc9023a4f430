// Aligned memory for constants and temporaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace opentrn {

inline constexpr int64_t kAlignment = 64;

inline int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

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

/// Temporary memory of this thread, kept for the next borrower when it goes out of scope. Borrowings nest.
class Workspace {
 public:
  explicit Workspace(int64_t bytes);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::byte* data() const { return memory_.data(); }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(memory_.data());
  }

 private:
  AlignedMemory memory_;
};

}  // namespace opentrn
