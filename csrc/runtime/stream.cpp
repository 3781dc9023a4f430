#include "runtime/stream.h"

#include <array>
#include <atomic>

#include "base/error.h"
#include "runtime/configuration.h"
#include "runtime/counters.h"

namespace opentrn::runtime {
namespace {

thread_local int device_of_thread = 0;
thread_local std::array<int64_t, kMostDevices> stream_of_thread{};

bool exists(int device) { return device >= 0 && device < kMostDevices; }

}  // namespace

int64_t current_stream(int device) noexcept {
  return exists(device) ? stream_of_thread[static_cast<size_t>(device)] : 0;
}

int64_t exchange_stream(int device, int64_t stream) noexcept {
  if (!exists(device)) return 0;
  const int64_t previous = stream_of_thread[static_cast<size_t>(device)];
  stream_of_thread[static_cast<size_t>(device)] = stream;
  return previous;
}

int64_t stream_from_pool(int device) noexcept {
  if (!exists(device)) return 0;
  static std::array<std::atomic<int64_t>, kMostDevices> next{};
  return next[static_cast<size_t>(device)].fetch_add(1) % kPoolStreams + 1;
}

int current_device() noexcept { return device_of_thread; }

int exchange_device(int device) noexcept {
  const int previous = device_of_thread;
  device_of_thread = device;
  return previous;
}

void Event::record(int device, int64_t) {
  device_ = device;
  nanoseconds_ = now_nanoseconds();
}

double Event::elapsed_milliseconds(const Event& end) const {
  if (!recorded() || !end.recorded()) {
    raise(ErrorKind::Runtime, {.where = "Event.elapsed_time",
                               .what = "both events must be recorded before their distance can be measured",
                               .action = "call record() on both"});
  }
  return static_cast<double>(end.nanoseconds_ - nanoseconds_) * 1e-6;
}

}  // namespace opentrn::runtime
