// Device memory: host memory behind an allocator that enforces the HBM size of the chosen chip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace opentrn::runtime {

struct MemoryStatistics {
  int64_t allocated = 0;       // bytes in blocks that are in use
  int64_t peak_allocated = 0;  // their maximum since the last reset
  int64_t reserved = 0;        // bytes in use or cached for reuse
  int64_t peak_reserved = 0;
  int64_t total_allocated = 0;  // bytes ever allocated since the last reset
  int64_t total_freed = 0;
  int64_t live_blocks = 0;  // blocks in use
  int64_t allocations = 0;  // blocks allocated since the last reset
  int64_t frees = 0;
  int64_t out_of_memory_errors = 0;
};

/// A block of at least `bytes` bytes, aligned to 64, on `device`; nullptr when `bytes` is 0. Raises an Error of kind
/// OutOfMemory that says requested, used, free and the largest holders; the device stays usable. Small blocks come from
/// free lists of the calling thread.
void* allocate(int device, size_t bytes);

/// Gives a block back. Accepts nullptr. Any thread may free any block.
void deallocate(void* block) noexcept;

/// The device a live block belongs to, or -1 when the address is not the start of a block this allocator handed out and
/// is larger than the small classes. Used for error messages only.
int device_of_block(const void* block) noexcept;

/// Names what the calling thread allocates for, shown among the largest holders. `label` must live forever.
void set_allocation_label(const char* label) noexcept;

MemoryStatistics memory_statistics(int device);
void reset_peak_memory(int device);
void reset_accumulated_memory(int device);

/// {free, total} bytes of the device's HBM.
std::pair<int64_t, int64_t> memory_info(int device);

/// Gives cached blocks back to the operating system. Blocks in other threads' free lists stay there.
void empty_cache();

}  // namespace opentrn::runtime
