// The device's random generator: Philox, counter based, with a state of 16 bytes (seed and offset).
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

namespace opentrn::torch_backend {

class PhiloxGenerator final : public c10::GeneratorImpl {
 public:
  explicit PhiloxGenerator(c10::DeviceIndex device, uint64_t seed = c10::default_rng_seed_val);

  /// What one program run draws from: the state before, after which the offset has moved on by `blocks`.
  struct State {
    uint64_t seed;
    uint64_t offset;
  };
  State take(int64_t blocks);

  void set_current_seed(uint64_t seed) override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  uint64_t current_seed() const override;
  uint64_t seed() override;
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

 private:
  PhiloxGenerator* clone_impl() const override;

  uint64_t seed_;
  uint64_t offset_ = 0;
};

/// The default generator of a device.
const at::Generator& default_generator(c10::DeviceIndex device);

/// The generator an operator was given, or the device's default. Raises when it belongs to another kind of device.
PhiloxGenerator& generator_for(const std::optional<at::Generator>& generator, c10::DeviceIndex device);

}  // namespace opentrn::torch_backend
