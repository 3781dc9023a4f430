#include "torch/generator.h"

#include <ATen/Utils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <deque>
#include <mutex>

#include "runtime/configuration.h"
#include "torch/errors.h"
#include "torch/types.h"

namespace opentrn::torch_backend {
namespace {

constexpr size_t kStateBytes = 2 * sizeof(uint64_t);

}  // namespace

PhiloxGenerator::PhiloxGenerator(c10::DeviceIndex device, uint64_t seed)
    : c10::GeneratorImpl(c10::Device(kDeviceType, device), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      seed_(seed) {}

PhiloxGenerator::State PhiloxGenerator::take(int64_t blocks) {
  const std::lock_guard lock(mutex_);
  const State state{seed_, offset_};
  offset_ += static_cast<uint64_t>(blocks);
  return state;
}

void PhiloxGenerator::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}
void PhiloxGenerator::set_offset(uint64_t offset) { offset_ = offset; }
uint64_t PhiloxGenerator::get_offset() const { return offset_; }
uint64_t PhiloxGenerator::current_seed() const { return seed_; }

uint64_t PhiloxGenerator::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return seed_;
}

void PhiloxGenerator::set_state(const c10::TensorImpl& state) {
  const bool usable = state.is_cpu() && state.dtype() == caffe2::TypeMeta::Make<uint8_t>() && state.is_contiguous() &&
                      static_cast<size_t>(state.numel()) == kStateBytes;
  if (!usable) {
    translate_errors([&] {
      raise(ErrorKind::Runtime, {.where = "Generator.set_state",
                                 .what = "the random state is not one of this generator",
                                 .got = concat(state.numel(), " elements on ", state.device().str()),
                                 .expected = "a contiguous CPU tensor of 16 bytes (uint8): seed and offset",
                                 .action = "pass what get_state() returned"});
    });
  }
  uint64_t words[2];
  std::memcpy(words, state.data(), kStateBytes);
  seed_ = words[0];
  offset_ = words[1];
}

c10::intrusive_ptr<c10::TensorImpl> PhiloxGenerator::get_state() const {
  const at::Tensor state = at::empty({static_cast<int64_t>(kStateBytes)}, at::kByte);
  const uint64_t words[2] = {seed_, offset_};
  std::memcpy(state.mutable_data_ptr(), words, kStateBytes);
  return state.getIntrusivePtr();
}

PhiloxGenerator* PhiloxGenerator::clone_impl() const {
  auto* copy = new PhiloxGenerator(device_.index(), seed_);
  copy->offset_ = offset_;
  return copy;
}

const at::Generator& default_generator(c10::DeviceIndex device) {
  static std::mutex mutex;
  static auto* const generators = new std::deque<at::Generator>;
  const std::lock_guard lock(mutex);
  const auto index = static_cast<size_t>(device < 0 ? 0 : device);
  while (generators->size() <= index) {
    const auto next = static_cast<c10::DeviceIndex>(generators->size());
    generators->push_back(at::make_generator<PhiloxGenerator>(next));
  }
  return (*generators)[index];
}

PhiloxGenerator& generator_for(const std::optional<at::Generator>& generator, c10::DeviceIndex device) {
  const at::Generator& chosen = generator && generator->defined() ? *generator : default_generator(device);
  if (chosen.device().type() != kDeviceType) {
    translate_errors([&] {
      raise(ErrorKind::Runtime, {.where = "generator",
                                 .what = "Expected a 'neuron' device type for generator",
                                 .got = chosen.device().str(),
                                 .action = "pass torch.Generator(device='neuron')"});
    });
  }
  return *chosen.get<PhiloxGenerator>();
}

}  // namespace opentrn::torch_backend
