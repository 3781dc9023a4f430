// Operators that answer on the host, or whose result's size is a number on the device: they are other operators, put
// together, that wait once for that number.
#include <ATen/ops/arange.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "torch/transfer.h"

namespace opentrn::torch_backend {
namespace {

bool equal(const at::Tensor& self, const at::Tensor& other) {
  TORCH_CHECK(self.device() == other.device(), "Cannot compare two tensors on different devices. Got: ", self.device(),
              " and ", other.device());
  if (self.sizes() != other.sizes()) return false;
  if (self.numel() == 0) return true;
  return read_scalar(at::eq(self, other).all(), "equal").toBool();
}

at::Tensor bincount(const at::Tensor& self, const std::optional<at::Tensor>& weights, c10::SymInt minlength) {
  const int64_t least = minlength.expect_int();
  TORCH_CHECK(least >= 0, "minlength should be >= 0");
  TORCH_CHECK_NOT_IMPLEMENTED(at::isIntegralType(self.scalar_type(), false), "\"bincount\" not implemented for '",
                              self.scalar_type(), "'");
  TORCH_CHECK(self.dim() == 1, "bincount only supports 1-d non-negative integral inputs.");
  const bool weighted = weights && weights->defined();
  TORCH_CHECK(!weighted || (weights->dim() == 1 && weights->numel() == self.numel()),
              "weights should be 1-d and have the same length as input");
  const bool single = weighted && weights->scalar_type() == at::kFloat;
  const at::TensorOptions options = self.options().dtype(!weighted ? at::kLong : single ? at::kFloat : at::kDouble);
  if (self.numel() == 0) return at::zeros({least}, self.options().dtype(at::kLong));
  TORCH_CHECK(read_scalar(self.min(), "bincount").toLong() >= 0,
              "bincount only supports 1-d non-negative integral inputs.");
  const int64_t bins = std::max(least, read_scalar(self.max(), "bincount").toLong() + 1);
  const at::Tensor counted = weighted ? weights->to(options.dtype().toScalarType()) : at::ones({self.numel()}, options);
  return at::zeros({bins}, options).scatter_add(0, self.to(at::kLong), counted);
}

at::Tensor repeat_interleave(const at::Tensor& repeats, std::optional<c10::SymInt> output_size) {
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK_NOT_IMPLEMENTED(repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt,
                              "\"repeat_interleave\" not implemented for '", repeats.scalar_type(), "'");
  if (repeats.numel() == 0) return at::empty_like(repeats);
  TORCH_CHECK(read_scalar(repeats.min(), "repeat_interleave").toLong() >= 0, "repeats can not be negative");
  const at::Tensor ends = at::cumsum(repeats, 0);
  const int64_t total = read_scalar(ends.select(0, -1), "repeat_interleave").toLong();
  TORCH_CHECK(!output_size || output_size->expect_int() == total, "allocated size does not match required size");
  const at::Tensor places = at::arange(total, ends.options());
  return at::searchsorted(ends, places, false, true).to(repeats.scalar_type());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("equal", equal);
  m.impl("bincount", bincount);
  m.impl("repeat_interleave.Tensor", repeat_interleave);
}

}  // namespace
}  // namespace opentrn::torch_backend
