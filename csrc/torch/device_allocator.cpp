// Device memory as torch asks for it.
#include "torch/device_allocator.h"

#include <c10/core/CachingDeviceAllocator.h>

#include <cstring>

#include "runtime/allocator.h"
#include "runtime/configuration.h"
#include "runtime/stream.h"
#include "torch/errors.h"
#include "torch/types.h"

namespace opentrn::torch_backend {
namespace {

c10::CachingAllocator::Stat stat(int64_t current, int64_t peak, int64_t allocated, int64_t freed) {
  c10::CachingAllocator::Stat result;
  result.current = current;
  result.peak = peak;
  result.allocated = allocated;
  result.freed = freed;
  return result;
}

void free_block(void* block) { runtime::deallocate(block); }

class DeviceAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const int device = runtime::current_device();
    void* block = translate_errors([&] { return runtime::allocate(device, bytes); });
    return {block, block, free_block, c10::Device(kDeviceType, static_cast<c10::DeviceIndex>(device))};
  }
  c10::DeleterFnPtr raw_deleter() const override { return free_block; }
  void copy_data(void* destination, const void* source, size_t bytes) const override {
    std::memcpy(destination, source, bytes);
  }

  bool initialized() override { return runtime::is_initialized(); }
  void emptyCache(c10::MempoolId_t) override { runtime::empty_cache(); }
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    check(device, "memory_stats");
    const runtime::MemoryStatistics memory = runtime::memory_statistics(device);
    const auto bytes = stat(memory.allocated, memory.peak_allocated, memory.total_allocated, memory.total_freed);
    c10::CachingDeviceAllocator::DeviceStats result;
    constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    result.allocated_bytes[kAll] = bytes;
    result.active_bytes[kAll] = bytes;
    result.requested_bytes[kAll] = bytes;
    result.reserved_bytes[kAll] = stat(memory.reserved, memory.peak_reserved, 0, 0);
    result.allocation[kAll] = stat(memory.live_blocks, 0, memory.allocations, memory.frees);
    result.num_ooms = memory.out_of_memory_errors;
    return result;
  }
  void resetAccumulatedStats(c10::DeviceIndex device) override {
    check(device, "reset_accumulated_memory_stats");
    runtime::reset_accumulated_memory(device);
  }
  void resetPeakStats(c10::DeviceIndex device) override {
    check(device, "reset_peak_memory_stats");
    runtime::reset_peak_memory(device);
  }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    check(device, "get_memory_info");
    return translate_errors([&] {
      const auto [free, total] = runtime::memory_info(device);
      return std::pair<size_t, size_t>(static_cast<size_t>(free), static_cast<size_t>(total));
    });
  }

 private:
  static void check(c10::DeviceIndex device, const char* function) {
    translate_errors([&] { runtime::check_device(device, function); });
  }
};

DeviceAllocator allocator;
REGISTER_ALLOCATOR(kDeviceType, &allocator);

}  // namespace

c10::Allocator* device_allocator() noexcept { return &allocator; }

}  // namespace opentrn::torch_backend
