// Operators whose result's size depends on the data: one program counts, the host reads the count, a second program
// writes.
#include <ATen/ExpandUtils.h>
#include <ATen/ops/index.h>
#include <torch/library.h>

#include "torch/dispatcher.h"
#include "torch/errors.h"
#include "torch/preparation.h"
#include "torch/transfer.h"
#include "torch/types.h"

namespace opentrn::torch_backend {
namespace {

at::Tensor find_nonzero(const at::Tensor& self) {
  const at::Tensor count = run_internal("opentrn::count_nonzero(Tensor self) -> Tensor", {self});
  const int64_t elements = read_scalar(count, "nonzero").toLong();
  return run_internal("opentrn::nonzero(Tensor self, int count) -> Tensor", {self, elements});
}

at::Tensor& nonzero_out(const at::Tensor& self, at::Tensor& out) {
  const at::Tensor result = find_nonzero(self);
  out.resize_(result.sizes());
  out.copy_(result);
  return out;
}

bool is_mask(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBool || tensor.scalar_type() == at::kByte;
}

void check_mask(const Operator& op, const at::Tensor& self, const at::Tensor& mask, int64_t at) {
  for (int64_t i = 0; i < mask.dim(); ++i) {
    if (at + i < self.dim() && mask.size(i) == self.size(at + i)) continue;
    raise(ErrorKind::Index,
          {.where = std::string(op.rule->name),
           .what = concat("The shape of the mask ", mask.sizes(), " at index ", i,
                          " does not match the shape of the indexed tensor ", self.sizes(), " at index ", at + i),
           .action = "use a mask with the sizes of the dimensions it indexes"});
  }
}

/// Replaces each mask by the coordinates of its true elements and brings CPU indices to the device.
void expand_indices(const Operator& op, torch::jit::Stack* stack) {
  const size_t first = stack->size() - op.arguments.size();
  const at::Tensor self = (*stack)[first].toTensor();
  const auto indices = (*stack)[first + 1].toListRef();
  const auto needs_work = [&](const c10::IValue& index) {
    if (index.isNone() || !index.toTensor().defined()) return false;
    return is_mask(index.toTensor()) || index.toTensor().is_cpu();
  };
  if (self.device().type() != kDeviceType || std::none_of(indices.begin(), indices.end(), needs_work)) return;
  translate_errors([&] {
    c10::List<std::optional<at::Tensor>> expanded;
    for (const c10::IValue& entry : indices) {
      if (entry.isNone() || !entry.toTensor().defined()) {
        expanded.push_back(std::nullopt);
        continue;
      }
      const at::Tensor index = entry.toTensor().is_cpu() ? entry.toTensor().to(self.device()) : entry.toTensor();
      if (!is_mask(index)) {
        expanded.push_back(index);
        continue;
      }
      check_mask(op, self, index, static_cast<int64_t>(expanded.size()));
      const at::Tensor coordinates = find_nonzero(index);
      for (int64_t i = 0; i < index.dim(); ++i) expanded.push_back(coordinates.select(1, i));
    }
    (*stack)[first + 1] = c10::IValue(expanded);
  });
}

at::Tensor select_masked(const at::Tensor& self, const at::Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, "masked_select: expected BoolTensor for mask");
  const auto expanded = at::expand_outplace(mask, self);
  const auto in_a_row = [](const at::Tensor& tensor) { return tensor.dim() == 0 ? tensor.unsqueeze(0) : tensor; };
  return at::index(in_a_row(*std::get<1>(expanded)), {in_a_row(*std::get<0>(expanded))});
}

at::Tensor& masked_select_out(const at::Tensor& self, const at::Tensor& mask, at::Tensor& out) {
  const at::Tensor result = select_masked(self, mask);
  out.resize_(result.sizes());
  out.copy_(result);
  return out;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("nonzero", find_nonzero);
  m.impl("nonzero.out", nonzero_out);
  m.impl("masked_select", select_masked);
  m.impl("masked_select.out", masked_select_out);
}

}  // namespace

Preparation preparation_for(std::string_view rule_name) {
  const bool indexes = rule_name == "index.Tensor" || rule_name.starts_with("index_put") ||
                       rule_name.starts_with("_index_put_impl") || rule_name.starts_with("_unsafe_index");
  return indexes ? expand_indices : nullptr;
}

}  // namespace opentrn::torch_backend
