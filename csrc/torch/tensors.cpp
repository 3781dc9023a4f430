#include "torch/tensors.h"

#include <ATen/EmptyTensor.h>
#include <ATen/InferSize.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TensorShape.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <cstring>

#include "base/shape.h"
#include "runtime/allocator.h"
#include "runtime/configuration.h"
#include "runtime/stream.h"
#include "torch/device_allocator.h"
#include "torch/errors.h"
#include "torch/types.h"

namespace opentrn::torch_backend {
namespace {

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

c10::Device checked_device(std::optional<c10::Device> device, const char* operator_name) {
  const int index = device && device->has_index() ? device->index() : runtime::current_device();
  translate_errors([&] { runtime::check_device(index, operator_name); });
  return {kDeviceType, static_cast<c10::DeviceIndex>(index)};
}

c10::ScalarType checked_dtype(std::optional<c10::ScalarType> dtype, const char* operator_name) {
  const c10::ScalarType type = c10::dtype_or_default(dtype);
  translate_errors([&] { require_dtype(type, operator_name); });
  return type;
}

void check_options(std::optional<c10::Layout> layout, std::optional<bool> pin_memory, const char* operator_name) {
  TORCH_CHECK(c10::layout_or_default(layout) == c10::Layout::Strided, "[", operator_name,
              "] only strided tensors live on this device, got layout ", *layout, ", build sparse tensors on the CPU");
  TORCH_CHECK(!pin_memory.value_or(false), "[", operator_name, "] Only dense CPU tensors can be pinned");
}

at::Tensor empty(at::IntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
                 std::optional<c10::Device> device, std::optional<bool> pin_memory,
                 std::optional<c10::MemoryFormat> memory_format) {
  check_options(layout, pin_memory, "empty");
  const c10::DeviceGuard guard(checked_device(device, "empty"));
  runtime::set_allocation_label("aten::empty");
  return at::detail::empty_generic(size, device_allocator(), kKeys, checked_dtype(dtype, "empty"), memory_format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<c10::ScalarType> dtype,
                         std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                         std::optional<bool> pin_memory) {
  check_options(layout, pin_memory, "empty_strided");
  const c10::DeviceGuard guard(checked_device(device, "empty_strided"));
  runtime::set_allocation_label("aten::empty_strided");
  return at::detail::empty_strided_generic(size, stride, device_allocator(), kKeys,
                                           checked_dtype(dtype, "empty_strided"));
}

at::Tensor efficient_zero_tensor(at::IntArrayRef size, std::optional<c10::ScalarType> dtype,
                                 std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                                 std::optional<bool> pin_memory) {
  check_options(layout, pin_memory, "_efficientzerotensor");
  const c10::Device where = checked_device(device, "_efficientzerotensor");
  at::native::ZeroTensorAllocator zeros(where);
  return at::detail::empty_generic(size, &zeros, kKeys | c10::DispatchKeySet(c10::DispatchKey::ZeroTensor),
                                   checked_dtype(dtype, "_efficientzerotensor"), std::nullopt);
}

size_t bytes_for(const at::Tensor& tensor, at::IntArrayRef size, at::IntArrayRef stride, int64_t offset) {
  return at::detail::computeStorageNbytes(size, stride, tensor.itemsize(), static_cast<size_t>(offset));
}

void grow_storage(const at::Tensor& tensor, size_t bytes) {
  c10::StorageImpl* storage = tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
  if (tensor.numel() != 0 && storage->nbytes() < bytes) resize_storage(storage, bytes);
}

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size,
                          std::optional<c10::MemoryFormat> memory_format) {
  if (self.sizes() != size) {
    self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
    grow_storage(self, bytes_for(self, self.sizes(), self.strides(), self.storage_offset()));
  }
  if (memory_format && *memory_format != c10::MemoryFormat::Preserve) {
    self.unsafeGetTensorImpl()->empty_tensor_restride(*memory_format);
  }
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source, int64_t offset, at::IntArrayRef size,
                        at::IntArrayRef stride) {
  at::native::checkSetStorage(self, std::move(source), offset, size, stride);
  self.unsafeGetTensorImpl()->set_storage_offset(offset);
  if (stride.data() != nullptr) {
    self.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride);
  } else {
    self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  }
  grow_storage(self, bytes_for(self, self.sizes(), self.strides(), offset));
  return self;
}

at::Tensor& set_whole_storage(at::Tensor& self, at::Storage source) {
  const auto elements = static_cast<int64_t>(source.nbytes() / self.itemsize());
  return set_storage(self, std::move(source), 0, elements, {});
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source) {
  if (self.unsafeGetTensorImpl() == source.unsafeGetTensorImpl()) return self;
  return set_storage(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

at::Tensor& set_empty(at::Tensor& self) {
  const c10::DeviceGuard guard(self.device());
  at::Storage fresh(c10::Storage::use_byte_size_t(), 0, device_allocator()->allocate(0), device_allocator(), true);
  return set_storage(self, std::move(fresh), 0, {0}, {});
}

void record_stream(at::Tensor&, c10::Stream) {}

/// Lets `module.to("neuron")` keep its Parameter objects, as it does for CUDA: both sides are plain strided tensors.
bool has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from) {
  const auto plain = [](const at::Tensor& tensor) {
    return tensor.layout() == c10::Layout::Strided && (tensor.is_cpu() || tensor.device().type() == kDeviceType);
  };
  return plain(self) && plain(from);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("_efficientzerotensor", efficient_zero_tensor);
  m.impl("resize_", resize_);
  m.impl("set_.source_Storage", set_whole_storage);
  m.impl("set_.source_Storage_storage_offset", set_storage);
  m.impl("set_.source_Tensor", set_tensor);
  m.impl("set_", set_empty);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("view_as_real", at::native::view_as_real);
  m.impl("view_as_complex", at::native::view_as_complex);
  m.impl("record_stream", record_stream);
  m.impl("_has_compatible_shallow_copy_type", has_compatible_shallow_copy_type);
}

}  // namespace

at::Tensor make_tensor(at::IntArrayRef sizes, at::IntArrayRef strides, int64_t bytes, c10::ScalarType dtype) {
  c10::Allocator* const allocator = device_allocator();
  auto storage =
      c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), static_cast<size_t>(bytes),
                                            allocator->allocate(static_cast<size_t>(bytes)), allocator, true);
  auto tensor =
      at::detail::make_tensor_base<c10::TensorImpl>(std::move(storage), kKeys, c10::scalarTypeToTypeMeta(dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return at::Tensor(std::move(tensor));
}

void resize_storage(c10::StorageImpl* storage, size_t bytes) {
  TORCH_CHECK(storage->resizable(), "Trying to resize storage that is not resizable");
  const c10::DeviceGuard guard(storage->device());
  runtime::set_allocation_label("aten::resize_");
  c10::DataPtr fresh = device_allocator()->allocate(bytes);
  const size_t kept = std::min(bytes, storage->nbytes());
  if (kept > 0) std::memcpy(fresh.get(), storage->data(), kept);
  storage->set_data_ptr_noswap(std::move(fresh));
  storage->set_nbytes(bytes);
}

}  // namespace opentrn::torch_backend
