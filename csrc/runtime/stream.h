// Streams and events. Work of a stream runs in the order it was enqueued; at present it has finished when the
// enqueueing call returns, so that waiting never blocks; csrc/torch/transfer.cpp and fallback.cpp read device memory
// without waiting.
#pragma once

#include <cstdint>

namespace opentrn::runtime {

/// Number of streams of one device's pool, beside the default stream 0.
inline constexpr int64_t kPoolStreams = 32;

/// The current stream's id on `device` for the calling thread.
int64_t current_stream(int device) noexcept;
/// Makes `stream` current and returns the one before.
int64_t exchange_stream(int device, int64_t stream) noexcept;
/// The next stream of the device's pool, in turn.
int64_t stream_from_pool(int device) noexcept;

/// The calling thread's current device; threads start at 0.
int current_device() noexcept;
int exchange_device(int device) noexcept;

/// A point in a stream's order.
class Event {
 public:
  /// Marks the stream's present end.
  void record(int device, int64_t stream);
  /// Whether all work before the mark is done; true when nothing was recorded.
  bool query() const noexcept { return true; }
  bool recorded() const noexcept { return nanoseconds_ != 0; }
  int device() const noexcept { return device_; }
  /// Milliseconds between the marks. Raises an Error of kind Runtime unless both events were recorded.
  double elapsed_milliseconds(const Event& end) const;

 private:
  int64_t nanoseconds_ = 0;
  int device_ = 0;
};

}  // namespace opentrn::runtime
