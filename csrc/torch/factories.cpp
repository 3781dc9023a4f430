// Factories whose functional form has no composite for this device: an empty tensor, then the out= variant's lowering.
#include <ATen/ops/empty.h>
#include <ATen/ops/tril_indices.h>
#include <ATen/ops/triu_indices.h>
#include <torch/library.h>

namespace opentrn::torch_backend {
namespace {

at::Tensor empty_indices(std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
                         std::optional<c10::Device> device, std::optional<bool> pin_memory) {
  return at::empty({0}, dtype.value_or(at::kLong), layout, device, pin_memory, std::nullopt);
}

at::Tensor tril_indices(int64_t row, int64_t col, int64_t offset, std::optional<c10::ScalarType> dtype,
                        std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                        std::optional<bool> pin_memory) {
  at::Tensor out = empty_indices(dtype, layout, device, pin_memory);
  return at::tril_indices_out(out, row, col, offset);
}

at::Tensor triu_indices(int64_t row, int64_t col, int64_t offset, std::optional<c10::ScalarType> dtype,
                        std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                        std::optional<bool> pin_memory) {
  at::Tensor out = empty_indices(dtype, layout, device, pin_memory);
  return at::triu_indices_out(out, row, col, offset);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("tril_indices", tril_indices);
  m.impl("triu_indices", triu_indices);
}

}  // namespace
}  // namespace opentrn::torch_backend
