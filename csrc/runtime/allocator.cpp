#include "runtime/allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "runtime/configuration.h"

namespace opentrn::runtime {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSmallest = 64;
constexpr size_t kLargestSmall = size_t{64} << 10;  // larger blocks skip the thread's free lists
constexpr size_t kLargeGranularity = size_t{64} << 10;
constexpr size_t kMapped =
    size_t{1} << 20;  // from here on a block is its own mapping, returned when the cache is emptied
constexpr size_t kKeptPerClass = 32;

/// Stands before every block, so that freeing needs nothing but the address.
struct alignas(kAlignment) Header {
  size_t capacity;
  size_t size_class;
  const char* label;
  int32_t device;
};

struct DeviceCounters {
  std::atomic<int64_t> allocated{0}, peak_allocated{0}, cached{0}, peak_reserved{0};
  std::atomic<int64_t> live_blocks{0}, total_allocated{0}, total_freed{0}, allocations{0}, frees{0}, out_of_memory{0};
};

DeviceCounters& counters(int device) {
  static auto* const all = new std::array<DeviceCounters, kMostDevices>;
  return (*all)[static_cast<size_t>(device)];
}

void raise_to(std::atomic<int64_t>& peak, int64_t value) {
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

/// Four classes to each power of two: at most a fifth of a block is unused.
size_t small_class(size_t bytes) {
  const size_t units = (std::max(bytes, kSmallest) + kSmallest - 1) / kSmallest;
  if (units <= 4) return units - 1;
  const size_t exponent = static_cast<size_t>(std::bit_width(units - 1)) - 1;
  const size_t quarter = (units - 1) >> (exponent - 2);
  return (exponent - 2) * 4 + quarter;
}

size_t class_capacity(size_t size_class) {
  if (size_class < 4) return (size_class + 1) * kSmallest;
  const size_t exponent = size_class / 4 + 1;
  const size_t quarter = size_class % 4;
  return (((quarter + 4) << (exponent - 2)) + (size_t{1} << (exponent - 2))) * kSmallest;
}

const size_t kClasses = small_class(kLargestSmall) + 1;
constexpr size_t kNoClass = ~size_t{0};
thread_local const char* current_label = "tensor";

Header* header_of(void* block) { return static_cast<Header*>(block) - 1; }

void* map_block(size_t bytes) {
  // NORESERVE: emulated HBM may be larger than the host's memory; only touched pages count.
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

Header* obtain(size_t capacity, size_t size_class) {
  const size_t bytes = capacity + sizeof(Header);
  void* memory = capacity >= kMapped ? map_block(bytes) : std::aligned_alloc(kAlignment, bytes);
  if (memory == nullptr) return nullptr;
  return new (memory) Header{capacity, size_class, nullptr, 0};
}

void release(Header* header) {
  const size_t capacity = header->capacity;
  if (capacity >= kMapped) {
    munmap(header, capacity + sizeof(Header));
  } else {
    std::free(header);
  }
}

/// Blocks above the small classes: cached by capacity, and listed while they live for error messages.
class LargePool {
 public:
  Header* take(size_t capacity, int device) {
    const std::lock_guard lock(mutex_);
    const auto found = cache_.find({device, capacity});
    if (found == cache_.end() || found->second.empty()) return nullptr;
    Header* header = found->second.back();
    found->second.pop_back();
    counters(header->device).cached -= static_cast<int64_t>(capacity);
    return header;
  }
  void add_live(Header* header) {
    const std::lock_guard lock(mutex_);
    live_.insert(header);
  }
  void give(Header* header) {
    const std::lock_guard lock(mutex_);
    live_.erase(header);
    cache_[{header->device, header->capacity}].push_back(header);
    counters(header->device).cached += static_cast<int64_t>(header->capacity);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    for (auto& [key, blocks] : cache_) {
      for (Header* header : blocks) {
        counters(header->device).cached -= static_cast<int64_t>(header->capacity);
        release(header);
      }
    }
    cache_.clear();
  }
  int device_of(const void* block) {
    const std::lock_guard lock(mutex_);
    auto* header = header_of(const_cast<void*>(block));
    return live_.count(header) ? header->device : -1;
  }
  std::string largest_holders(int device) {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::pair<int64_t, int64_t>> by_label;
    for (const Header* header : live_) {
      if (header->device != device) continue;
      auto& [bytes, blocks] = by_label[header->label];
      bytes += static_cast<int64_t>(header->capacity);
      ++blocks;
    }
    std::vector<std::pair<int64_t, std::string>> sorted;
    for (const auto& [label, sum] : by_label) {
      sorted.emplace_back(sum.first, concat(label, " ", sum.first >> 20, " MiB in ", sum.second, " blocks"));
    }
    std::sort(sorted.rbegin(), sorted.rend());
    std::string text;
    for (size_t i = 0; i < std::min<size_t>(sorted.size(), 3); ++i) text += (i ? "; " : "") + sorted[i].second;
    return text.empty() ? "none" : text;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int, size_t>, std::vector<Header*>> cache_;  // by device and capacity
  std::set<const Header*> live_;
};

LargePool& large_pool() {
  static auto* const pool = new LargePool;  // outlives every tensor
  return *pool;
}

struct FreeLists {
  std::vector<std::vector<Header*>> lists;
  FreeLists() : lists(kClasses) {}
  ~FreeLists();
};

thread_local bool thread_ended = false;

FreeLists& free_lists() {
  thread_local FreeLists lists;
  return lists;
}

FreeLists::~FreeLists() {
  thread_ended = true;
  for (auto& list : lists) {
    for (Header* header : list) {
      counters(header->device).cached -= static_cast<int64_t>(header->capacity);
      release(header);
    }
  }
}

int64_t hbm_bytes() { return configuration().machine->hbm_bytes_per_logical_core(); }

[[noreturn]] void out_of_memory(int device, size_t requested, const char* cause) {
  DeviceCounters& counter = counters(device);
  counter.out_of_memory += 1;
  const int64_t used = counter.allocated;
  raise(ErrorKind::OutOfMemory,
        {.where = current_label,
         .what = concat("neuron:", device, " is out of memory: ", cause, "; requested ", requested, " bytes (",
                        requested >> 20, " MiB), used ", used >> 20, " MiB, free ", (hbm_bytes() - used) >> 20,
                        " MiB, largest holders: ", large_pool().largest_holders(device)),
         .expected = concat("at most ", hbm_bytes() >> 20, " MiB on ", configuration().machine->name),
         .action = "free tensors, use a smaller batch or a narrower dtype, or another OPENTRN_TARGET"});
}

void account_allocation(DeviceCounters& counter, size_t capacity) {
  const auto bytes = static_cast<int64_t>(capacity);
  const int64_t allocated = counter.allocated.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  raise_to(counter.peak_allocated, allocated);
  raise_to(counter.peak_reserved, allocated + counter.cached.load(std::memory_order_relaxed));
  counter.total_allocated.fetch_add(bytes, std::memory_order_relaxed);
  counter.allocations.fetch_add(1, std::memory_order_relaxed);
  counter.live_blocks.fetch_add(1, std::memory_order_relaxed);
}

void check_limit(int device, size_t capacity, size_t requested) {
  DeviceCounters& counter = counters(device);
  const auto bytes = static_cast<int64_t>(capacity);
  const int64_t limit = hbm_bytes();
  if (counter.allocated + counter.cached + bytes > limit) large_pool().clear();
  if (counter.allocated + bytes > limit) out_of_memory(device, requested, "the request exceeds the device's HBM");
}

void* hand_out(Header* header, int device) {
  header->device = device;
  header->label = current_label;
  account_allocation(counters(device), header->capacity);
  return header + 1;
}

void* allocate_small(int device, size_t bytes) {
  const size_t size_class = small_class(bytes);
  auto& list = free_lists().lists[size_class];
  if (!list.empty()) {
    Header* header = list.back();
    list.pop_back();
    counters(header->device).cached.fetch_sub(static_cast<int64_t>(header->capacity), std::memory_order_relaxed);
    return hand_out(header, device);
  }
  const size_t capacity = class_capacity(size_class);
  check_limit(device, capacity, bytes);
  Header* header = obtain(capacity, size_class);
  if (header == nullptr) out_of_memory(device, bytes, "the host has no memory left");
  return hand_out(header, device);
}

void* allocate_large(int device, size_t bytes) {
  if (bytes > static_cast<size_t>(hbm_bytes())) {
    out_of_memory(device, bytes, "the request exceeds the device's HBM");
  }
  const size_t capacity = (bytes + kLargeGranularity - 1) / kLargeGranularity * kLargeGranularity;
  Header* header = large_pool().take(capacity, device);
  if (header == nullptr) {
    check_limit(device, capacity, bytes);
    header = obtain(capacity, kNoClass);
  }
  if (header == nullptr) out_of_memory(device, bytes, "the host has no memory left");
  void* block = hand_out(header, device);
  large_pool().add_live(header);
  return block;
}

}  // namespace

void* allocate(int device, size_t bytes) {
  if (bytes == 0) return nullptr;
  if (in_bad_fork()) check_not_forked();
  return bytes <= kLargestSmall ? allocate_small(device, bytes) : allocate_large(device, bytes);
}

void deallocate(void* block) noexcept {
  if (block == nullptr) return;
  Header* header = header_of(block);
  DeviceCounters& counter = counters(header->device);
  const auto bytes = static_cast<int64_t>(header->capacity);
  counter.allocated.fetch_sub(bytes, std::memory_order_relaxed);
  counter.total_freed.fetch_add(bytes, std::memory_order_relaxed);
  counter.frees.fetch_add(1, std::memory_order_relaxed);
  counter.live_blocks.fetch_sub(1, std::memory_order_relaxed);
  if (header->size_class == kNoClass) return large_pool().give(header);
  if (thread_ended) return release(header);
  auto& list = free_lists().lists[header->size_class];
  if (list.size() >= kKeptPerClass) return release(header);
  list.push_back(header);
  counter.cached.fetch_add(bytes, std::memory_order_relaxed);
}

int device_of_block(const void* block) noexcept { return large_pool().device_of(block); }

void set_allocation_label(const char* label) noexcept { current_label = label; }

MemoryStatistics memory_statistics(int device) {
  const DeviceCounters& counter = counters(device);
  MemoryStatistics result;
  result.allocated = counter.allocated;
  result.peak_allocated = counter.peak_allocated;
  result.reserved = counter.allocated + counter.cached;
  result.peak_reserved = counter.peak_reserved;
  result.total_allocated = counter.total_allocated;
  result.total_freed = counter.total_freed;
  result.live_blocks = counter.live_blocks;
  result.allocations = counter.allocations;
  result.frees = counter.frees;
  result.out_of_memory_errors = counter.out_of_memory;
  return result;
}

void reset_peak_memory(int device) {
  DeviceCounters& counter = counters(device);
  counter.peak_allocated = counter.allocated.load();
  counter.peak_reserved = counter.allocated + counter.cached;
}

void reset_accumulated_memory(int device) {
  DeviceCounters& counter = counters(device);
  counter.total_allocated = 0;
  counter.total_freed = 0;
  counter.allocations = 0;
  counter.frees = 0;
  counter.out_of_memory = 0;
}

std::pair<int64_t, int64_t> memory_info(int device) {
  const int64_t total = hbm_bytes();
  return {total - counters(device).allocated, total};
}

void empty_cache() {
  for (auto& list : free_lists().lists) {
    for (Header* header : list) {
      counters(header->device).cached -= static_cast<int64_t>(header->capacity);
      release(header);
    }
    list.clear();
  }
  large_pool().clear();
}

}  // namespace opentrn::runtime
