#include "torch/transfer.h"

#include <ATen/ExpandUtils.h>
#include <ATen/ops/_conj_physical.h>
#include <ATen/ops/_neg_view.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <torch/library.h>

#include <cstring>

#include "base/convert.h"
#include "runtime/configuration.h"
#include "runtime/counters.h"
#include "torch/dispatcher.h"
#include "torch/errors.h"
#include "torch/source_line.h"
#include "torch/tensors.h"
#include "torch/types.h"

namespace opentrn::torch_backend {
namespace {

/// Bytes that cross the link: the device side's elements, in the device side's type.
int64_t crossing_bytes(const at::Tensor& destination, const at::Tensor& source) {
  const at::Tensor& side = on_device(destination) ? destination : source;
  return side.numel() * static_cast<int64_t>(side.itemsize());
}

/// Operator("copy_") for copies within the device.
const Operator& copy_operator() {
  static const auto* const op = [] {
    const auto handle = c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
    return new Operator(plan_operator(*lowering::find_rule("copy"), handle.schema()));
  }();
  return *op;
}

void copy_within_device(const at::Tensor& destination, const at::Tensor& source, bool non_blocking) {
  static const auto handle = c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  if (destination.device() != source.device()) {
    // Between devices: the bytes move through the same strided copy, on memory both emulated devices can reach.
    return transfer(destination, source);
  }
  torch::jit::Stack stack{destination, source, non_blocking};
  run_operator(copy_operator(), handle, &stack);
}

/// The source with lazy conjugation and negation carried out.
at::Tensor resolved(const at::Tensor& source) {
  if (!on_device(source)) return source.resolve_conj().resolve_neg();
  if (source.is_conj()) return resolved(at::_conj_physical(source.conj()));
  return source.is_neg() ? source._neg_view().neg() : source;
}

at::Tensor& copy_(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  TORCH_CHECK(self.defined() && source.defined(), "[copy_] both tensors must be defined");
  if (self.is_same(source)) return self;
  if (source._is_zerotensor()) return self.zero_();
  if (self.is_conj() || self.is_neg()) {
    // Flipping the mark on both sides writes the same values to the memory as it lies.
    at::Tensor plain = self.is_conj() ? self.conj() : self._neg_view();
    // Converted first: a negated byte or bool would be another number.
    const at::Tensor converted = source.to(self.scalar_type());
    copy_(plain, self.is_conj() ? converted.conj() : converted._neg_view(), non_blocking);
    return self;
  }
  if (source.is_conj() || source.is_neg()) return copy_(self, resolved(source), non_blocking);
  if (self.numel() == 0 && source.numel() <= 1) return self;
  if (on_device(self) && on_device(source)) {
    copy_within_device(self, source, non_blocking);
  } else {
    transfer(self, source.expand_as(self));
  }
  return self;
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& destination, bool non_blocking) {
  at::Tensor target = destination;
  copy_(target, self, non_blocking);
  return destination;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& destination) {
  destination.resize_(self.sizes());
  return copy_from(self, destination, false);
}

at::Scalar local_scalar_dense(const at::Tensor& self) { return read_scalar(self, "item"); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("copy_", copy_);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", local_scalar_dense);
}

// Without these a copy of a lazily conjugated or negated tensor resolves, clones and copies without end.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }

}  // namespace

void transfer(const at::Tensor& destination, const at::Tensor& source) {
  const int64_t start = runtime::now_nanoseconds();
  translate_errors([&] {
    runtime::check_not_forked();
    convert_strided(element_address(source.unsafeGetTensorImpl()), require_dtype(source.scalar_type(), "copy_"),
                    to_dims(source.strides()), element_address(destination.unsafeGetTensorImpl()),
                    require_dtype(destination.scalar_type(), "copy_"), to_dims(destination.strides()),
                    to_dims(destination.sizes()));
  });
  const int64_t nanoseconds = runtime::now_nanoseconds() - start;
  const int64_t bytes = crossing_bytes(destination, source);
  if (on_device(destination)) {
    runtime::count_transfer(runtime::Direction::HostToDevice, bytes, nanoseconds);
    return;
  }
  runtime::count_transfer(runtime::Direction::DeviceToHost, bytes, nanoseconds);
  runtime::count_synchronisation(user_line(), "copy to host", nanoseconds);
}

at::Scalar read_scalar(const at::Tensor& tensor, const char* kind) {
  TORCH_CHECK(tensor.numel() == 1, "[item] a Tensor with ", tensor.numel(), " elements cannot be converted to Scalar");
  const int64_t start = runtime::now_nanoseconds();
  runtime::check_not_forked();
  alignas(16) std::byte value[16];
  std::memcpy(value, element_address(tensor.unsafeGetTensorImpl()), tensor.itemsize());
  const at::Tensor host = at::from_blob(value, {}, at::TensorOptions().dtype(tensor.scalar_type()));
  const at::Scalar result = host.item();
  runtime::count_transfer(runtime::Direction::DeviceToHost, static_cast<int64_t>(tensor.itemsize()),
                          runtime::now_nanoseconds() - start);
  runtime::count_synchronisation(user_line(), kind, runtime::now_nanoseconds() - start);
  return result;
}

}  // namespace opentrn::torch_backend
