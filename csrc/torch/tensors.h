// Making and viewing device tensors: ordinary strided tensors over byte memory.
#pragma once

#include <ATen/core/Tensor.h>

namespace opentrn::torch_backend {

/// A tensor with uninitialised memory on the calling thread's current device. `bytes` is what its storage needs.
at::Tensor make_tensor(at::IntArrayRef sizes, at::IntArrayRef strides, int64_t bytes, c10::ScalarType dtype);

/// Grows or shrinks a storage, keeping its content.
void resize_storage(c10::StorageImpl* storage, size_t bytes);

/// Whether a tensor lives on this device; false for undefined ones.
inline bool on_device(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == c10::DeviceType::PrivateUse1;
}

/// Address of the tensor's first element.
inline char* element_address(const c10::TensorImpl* tensor) {
  auto* base = static_cast<char*>(const_cast<void*>(tensor->unsafe_storage().data()));
  return base + static_cast<size_t>(tensor->storage_offset()) * tensor->itemsize();
}

}  // namespace opentrn::torch_backend
