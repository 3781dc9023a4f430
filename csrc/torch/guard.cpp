// The device guard: current device, streams and events as torch asks for them.
#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "runtime/configuration.h"
#include "runtime/counters.h"
#include "runtime/stream.h"
#include "torch/errors.h"
#include "torch/source_line.h"
#include "torch/types.h"

namespace opentrn::torch_backend {
namespace {

c10::Device device_at(int index) { return {kDeviceType, static_cast<c10::DeviceIndex>(index)}; }

c10::Stream stream_at(c10::DeviceIndex device, int64_t id) {
  return c10::Stream(c10::Stream::UNSAFE, device_at(device), static_cast<c10::StreamId>(id));
}

runtime::Event& event_of(void* event) { return *static_cast<runtime::Event*>(event); }

void count_wait(const char* kind) { runtime::count_synchronisation(user_line(), kind, 0); }

class DeviceGuard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kDeviceType; }
  c10::Device exchangeDevice(c10::Device device) const override {
    setDeviceChecked(device);
    return device_at(runtime::exchange_device(device.index()));
  }
  c10::Device getDevice() const override { return device_at(runtime::current_device()); }
  void setDevice(c10::Device device) const override {
    setDeviceChecked(device);
    runtime::exchange_device(device.index());
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override { runtime::exchange_device(device.index()); }
  c10::DeviceIndex deviceCount() const noexcept override {
    return static_cast<c10::DeviceIndex>(runtime::device_count());
  }

  c10::Stream getStream(c10::Device device) const override {
    return stream_at(index_of(device), runtime::current_stream(index_of(device)));
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return stream_at(index_of(device), 0); }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return stream_at(index_of(device), runtime::stream_from_pool(index_of(device)));
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override { return getNewStream(device, 0); }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return stream_at(stream.device_index(), runtime::exchange_stream(stream.device_index(), stream.id()));
  }
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return reinterpret_cast<void*>(static_cast<intptr_t>(stream.id()));
  }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override { count_wait("synchronize"); }
  void synchronizeDevice(const c10::DeviceIndex) const override { count_wait("synchronize"); }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex, const c10::EventFlag) const override {
    if (*event == nullptr) *event = new runtime::Event;
    event_of(*event).record(stream.device_index(), stream.id());
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<runtime::Event*>(event);
  }
  // Work has finished when it was enqueued, so there is nothing to wait for (runtime/stream.h).
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void* event) const override { return event == nullptr || event_of(event).query(); }
  void synchronizeEvent(void*) const override { count_wait("synchronize"); }
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    return translate_errors([&] {
      static const runtime::Event unrecorded;
      const runtime::Event& first = start == nullptr ? unrecorded : event_of(start);
      return first.elapsed_milliseconds(end == nullptr ? unrecorded : event_of(end));
    });
  }
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}

 private:
  static c10::DeviceIndex index_of(c10::Device device) {
    return device.has_index() ? device.index() : static_cast<c10::DeviceIndex>(runtime::current_device());
  }
  static void setDeviceChecked(c10::Device device) {
    translate_errors([&] { runtime::check_device(device.index(), "set_device"); });
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, DeviceGuard);

}  // namespace
}  // namespace opentrn::torch_backend
