#include "torch/fallback.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <cstring>
#include <unordered_map>

#include "runtime/allocator.h"
#include "runtime/configuration.h"
#include "runtime/counters.h"
#include "runtime/stream.h"
#include "torch/errors.h"
#include "torch/generator.h"
#include "torch/source_line.h"
#include "torch/tensors.h"
#include "torch/types.h"

namespace opentrn::torch_backend {
namespace {

int64_t bytes_of(const at::Tensor& tensor) { return tensor.numel() * static_cast<int64_t>(tensor.itemsize()); }

std::string overload_name(const c10::OperatorHandle& handle) {
  const auto& name = handle.operator_name();
  return name.name + (name.overload_name.empty() ? "" : "." + name.overload_name);
}

/// One fallback call: replaces device tensors by CPU tensors over the same memory, runs, and turns the results back.
/// One CPU storage per device storage keeps aliases aliases.
class FallbackCall {
 public:
  FallbackCall(const c10::OperatorHandle& handle, torch::jit::Stack* stack) : handle_(handle), stack_(stack) {}

  void run() {
    const auto& schema = handle_.schema();
    const size_t count = schema.arguments().size();
    const size_t first = stack_->size() - count;
    find_device(schema, first);
    for (size_t i = 0; i < count; ++i) {
      c10::IValue& value = (*stack_)[first + i];
      value = to_host(schema.arguments()[i], value);
    }
    const at::AutoDispatchBelowADInplaceOrView below;
    handle_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack_);
    write_back();
    const size_t returns = schema.returns().size();
    for (size_t i = stack_->size() - returns; i < stack_->size(); ++i) (*stack_)[i] = to_device((*stack_)[i]);
  }

  int64_t bytes_to_host() const { return bytes_to_host_; }
  int64_t bytes_to_device() const { return bytes_to_device_; }

 private:
  struct Pair {
    at::Tensor device;
    at::Tensor host;
    bool written;
    bool destination;
  };

  void find_device(const c10::FunctionSchema& schema, size_t first) {
    const at::Tensor* host = nullptr;
    const auto visit = [&](const at::Tensor& tensor) {
      if (!tensor.defined()) return;
      if (!on_device(tensor)) {
        if (tensor.dim() > 0) host = &tensor;
        return;
      }
      if (device_.type() == kDeviceType && device_ != tensor.device()) refuse_devices(device_, tensor);
      device_ = tensor.device();
    };
    for (size_t i = 0; i < schema.arguments().size(); ++i) for_each_tensor((*stack_)[first + i], visit);
    if (device_.type() != kDeviceType) {
      device_ = c10::Device(kDeviceType, static_cast<c10::DeviceIndex>(runtime::current_device()));
    } else if (host != nullptr) {
      refuse_devices(device_, *host);
    }
  }

  template <typename Visit>
  static void for_each_tensor(const c10::IValue& value, Visit&& visit) {
    if (value.isTensor()) return visit(value.toTensor());
    if (!value.isList()) return;
    for (const c10::IValue& element : value.toListRef()) {
      if (element.isTensor()) visit(element.toTensor());
    }
  }

  [[noreturn]] void refuse_devices(c10::Device device, const at::Tensor& other) const {
    raise(ErrorKind::Runtime, {.where = overload_name(handle_),
                               .what = concat("Expected all tensors to be on the same device, but found at least two "
                                              "devices, ",
                                              device.str(), " and ", other.device().str()),
                               .got = concat("a tensor of shape ", other.sizes(), " on ", other.device().str()),
                               .action = "move it with .to(\"neuron\")"});
  }

  c10::Storage host_storage(const at::Tensor& tensor, bool read = true) {
    const c10::Storage& storage = tensor.storage();
    auto& slot = hosts_[storage.unsafeGetStorageImpl()];
    if (!slot) {
      // Not resizable and not owning: the device storage keeps the memory.
      slot = c10::Storage(c10::Storage::use_byte_size_t(), storage.nbytes(),
                          at::DataPtr(const_cast<void*>(storage.data()), c10::Device(c10::DeviceType::CPU)), nullptr,
                          false);
      devices_[slot.unsafeGetStorageImpl()] = storage;
      if (read) bytes_to_host_ += bytes_of(tensor);
    }
    return slot;
  }

  static at::Tensor tensor_over(c10::Storage storage, const at::Tensor& like, c10::DispatchKey key) {
    at::Tensor result =
        at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
    c10::TensorImpl* impl = result.unsafeGetTensorImpl();
    impl->set_storage_offset(like.storage_offset());
    impl->set_sizes_and_strides(like.sizes(), like.strides());
    if (like.is_conj()) impl->_set_conj(true);
    if (like.is_neg()) impl->_set_neg(true);
    return result;
  }

  at::Tensor host_tensor(const at::Tensor& tensor, const c10::Argument& argument) {
    if (!on_device(tensor)) return tensor;
    const bool written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    // A destination may be resized, which an alias cannot be.
    at::Tensor host = argument.is_out() ? at::empty({0}, tensor.options().device(c10::DeviceType::CPU))
                                        : tensor_over(host_storage(tensor), tensor, c10::DispatchKey::CPU);
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) host.unsafeGetTensorImpl()->set_wrapped_number(true);
    pairs_.push_back({tensor, host, written, argument.is_out()});
    return host;
  }

  c10::IValue to_host(const c10::Argument& argument, const c10::IValue& value) {
    if (value.isTensor()) return host_tensor(value.toTensor(), argument);
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(host_tensor(tensor, argument));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const auto& tensor : value.toOptionalTensorVector()) {
        list.push_back(tensor ? std::optional(host_tensor(*tensor, argument)) : std::nullopt);
      }
      return list;
    }
    if (value.isDevice()) return c10::Device(c10::DeviceType::CPU);
    return is_generator(argument) ? host_generator(value) : value;
  }

  static bool is_generator(const c10::Argument& argument) {
    const auto& type = argument.type();
    if (type->kind() == c10::TypeKind::GeneratorType) return true;
    const auto optional = type->cast<c10::OptionalType>();
    return optional && optional->getElementType()->kind() == c10::TypeKind::GeneratorType;
  }

  /// A CPU generator seeded from the device's stream, so that manual_seed decides these draws too.
  c10::IValue host_generator(const c10::IValue& value) {
    std::optional<at::Generator> generator;
    if (!value.isNone()) generator = value.toGenerator();
    const auto state = generator_for(generator, device_.index()).take(1);
    return at::detail::createCPUGenerator(state.seed ^ (state.offset + 1) * 0x9E3779B97F4A7C15ull);
  }

  void write_back() {
    for (const Pair& pair : pairs_) {
      if (pair.written) bytes_to_device_ += bytes_of(pair.host);
      if (!pair.destination) continue;
      if (at::native::resize_output(pair.device, pair.host.sizes()) && pair.host.is_non_overlapping_and_dense())
        pair.device.as_strided_(pair.host.sizes(), pair.host.strides());
      at::Tensor device = pair.device;
      tensor_over(host_storage(device, false), device, c10::DispatchKey::CPU).copy_(pair.host);
    }
  }

  at::Tensor device_tensor(const at::Tensor& host) {
    if (!host.defined() || !host.is_cpu()) return host;
    for (const Pair& pair : pairs_) {
      if (pair.host.is_same(host)) return pair.device;
    }
    if (host.layout() != c10::Layout::Strided) {
      raise(ErrorKind::NotImplemented, {.where = overload_name(handle_),
                                        .what = "the result is not a strided tensor, which the device cannot hold",
                                        .got = concat("layout ", host.layout()),
                                        .action = "run this operator on a CPU copy: tensor.cpu()"});
    }
    require_dtype(host.scalar_type(), overload_name(handle_).c_str());
    const auto known = devices_.find(host.storage().unsafeGetStorageImpl());
    if (known != devices_.end()) return tensor_over(known->second, host, c10::DispatchKey::PrivateUse1);
    if (host.is_conj() || host.is_neg()) return device_tensor(host.resolve_conj().resolve_neg());
    const c10::DeviceGuard guard(device_);
    runtime::set_allocation_label("result of a CPU fallback");
    const int64_t bytes = at::detail::computeStorageNbytes(host.sizes(), host.strides(), host.itemsize(), 0);
    at::Tensor result = make_tensor(host.sizes(), host.strides(), bytes, host.scalar_type());
    if (bytes > 0) {
      std::memcpy(element_address(result.unsafeGetTensorImpl()), element_address(host.unsafeGetTensorImpl()),
                  static_cast<size_t>(bytes));
    }
    bytes_to_device_ += bytes_of(host);
    return result;
  }

  c10::IValue to_device(const c10::IValue& value) {
    if (value.isTensor()) return device_tensor(value.toTensor());
    if (!value.isTensorList()) return value;
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(device_tensor(tensor));
    return list;
  }

  const c10::OperatorHandle& handle_;
  torch::jit::Stack* stack_;
  c10::Device device_{c10::DeviceType::CPU};
  std::unordered_map<const c10::StorageImpl*, c10::Storage> hosts_;    // by device storage
  std::unordered_map<const c10::StorageImpl*, c10::Storage> devices_;  // by host storage
  std::vector<Pair> pairs_;
  int64_t bytes_to_host_ = 0;
  int64_t bytes_to_device_ = 0;
};

void check_runnable(const c10::OperatorHandle& handle, const std::string& reason) {
  if (handle.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU)) return;
  raise(ErrorKind::NotImplemented,
        {.where = overload_name(handle),
         .what = "the device cannot run this operator (" + reason + "), and the CPU has no kernel for it either",
         .action = "run this part of the model on the CPU, or express it with other operators"});
}

void refuse_fallback(const c10::OperatorHandle& handle, const std::string& reason, const std::string& line) {
  raise(ErrorKind::Runtime, {.where = overload_name(handle),
                             .what = "would run as a CPU fallback, which the mode 'error' forbids",
                             .got = reason + " at " + line,
                             .expected = "an operator with a native lowering",
                             .action = "set OPENTRN_FALLBACK=warn to allow it"});
}

void boxed_fallback(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  run_fallback(handle, stack, "no lowering");
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&boxed_fallback>()); }

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

}  // namespace

void run_fallback(const c10::OperatorHandle& handle, torch::jit::Stack* stack, const std::string& reason) {
  const std::string line = user_line();
  runtime::FallbackRecord record{overload_name(handle), reason, line};
  record.calls = 1;
  const FallbackMode mode = translate_errors([&] {
    runtime::check_not_forked();
    check_runnable(handle, reason);
    const FallbackMode chosen = fallback_mode();
    if (chosen == FallbackMode::Error) refuse_fallback(handle, reason, line);
    FallbackCall call(handle, stack);
    const int64_t start = runtime::now_nanoseconds();
    call.run();
    record.nanoseconds = runtime::now_nanoseconds() - start;
    record.bytes_to_host = call.bytes_to_host();
    record.bytes_to_device = call.bytes_to_device();
    return chosen;
  });
  const bool first = runtime::count_fallback(record);
  if (!first || mode == FallbackMode::Silent) return;
  warn(concat("[", record.operator_name, "] ran on the CPU (", reason, ") at ", line, ", moving ", record.bytes_to_host,
              " bytes to the host and ", record.bytes_to_device,
              " back, do: see torch.neuron.fallback_report() for all, set OPENTRN_FALLBACK=error to forbid it"));
}

}  // namespace opentrn::torch_backend
