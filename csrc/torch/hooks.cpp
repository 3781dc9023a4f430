// The hooks torch calls for a private-use device.
#include <ATen/detail/PrivateUse1HooksInterface.h>

#include "runtime/allocator.h"
#include "runtime/configuration.h"
#include "runtime/stream.h"
#include "torch/errors.h"
#include "torch/generator.h"
#include "torch/tensors.h"
#include "torch/types.h"

namespace opentrn::torch_backend {
namespace {

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return runtime::device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return runtime::is_initialized(); }
  void init() const override {
    translate_errors([] { runtime::configuration(); });
  }

  c10::DeviceIndex deviceCount() const override { return static_cast<c10::DeviceIndex>(runtime::device_count()); }
  c10::DeviceIndex getCurrentDevice() const override {
    return static_cast<c10::DeviceIndex>(runtime::current_device());
  }
  void setCurrentDevice(c10::DeviceIndex device) const override { exchangeDevice(device); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    translate_errors([&] { runtime::check_device(device, "set_device"); });
    return static_cast<c10::DeviceIndex>(runtime::exchange_device(device));
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return device < 0 ? getCurrentDevice() : exchangeDevice(device);
  }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(device < 0 ? getCurrentDevice() : device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return at::make_generator<PhiloxGenerator>(device < 0 ? getCurrentDevice() : device);
  }
  at::Device getDeviceFromPtr(void* data) const override {
    const int device = runtime::device_of_block(data);
    return {kDeviceType, device < 0 ? getCurrentDevice() : static_cast<c10::DeviceIndex>(device)};
  }
  bool isPinnedPtr(const void*) const override { return false; }
  at::Allocator* getPinnedMemoryAllocator() const override {
    return translate_errors([]() -> at::Allocator* {
      raise(ErrorKind::NotImplemented, {.where = "pin_memory",
                                        .what = "pinned host memory is not available for this device",
                                        .action = "leave pin_memory off: copies are as fast without it"});
    });
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    resize_storage(storage.unsafeGetStorageImpl(), bytes);
  }
};

const bool registered = [] {
  static auto* const hooks = new Hooks;
  at::RegisterPrivateUse1HooksInterface(hooks);
  return true;
}();

}  // namespace
}  // namespace opentrn::torch_backend
