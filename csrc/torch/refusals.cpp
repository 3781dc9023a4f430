// Operators that can run neither here nor as a fallback, each with a sentence that says so and what to do instead.
#include <torch/library.h>

#include <array>
#include <string>

#include "torch/errors.h"

namespace opentrn::torch_backend {
namespace {

struct Refusal {
  const char* operator_name;
  const char* user_name;
  const char* action;
};

// These have no CPU kernel under this name, so the boxed fallback cannot help.
constexpr std::array<Refusal, 2> kRefusals{{
    {"_cudnn_rnn", "cuDNN RNN", "run the RNN on the CPU"},
    {"_cudnn_rnn_backward", "backward of the cuDNN RNN", "run the RNN on the CPU"},
}};

[[noreturn]] void refuse(const std::string& where, const std::string& what, const std::string& action) {
  throw_as_torch_error(Error(ErrorKind::NotImplemented, to_string({.where = where, .what = what, .action = action})));
}

class RefusingKernel final : public c10::OperatorKernel {
 public:
  explicit RefusingKernel(Refusal refusal) : refusal_(refusal) {}
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack*) {
    refuse(refusal_.operator_name, std::string("the device 'neuron' has no ") + refusal_.user_name + " yet",
           refusal_.action);
  }

 private:
  Refusal refusal_;
};

void refuse_sparse(const c10::OperatorHandle& handle, torch::jit::Stack*) {
  refuse(handle.operator_name().name, "the device 'neuron' holds dense strided tensors only, got a sparse one",
         "keep sparse tensors on the CPU, or convert with to_dense()");
}

void refuse_quantized(const c10::OperatorHandle& handle, torch::jit::Stack*) {
  refuse(handle.operator_name().name, "the device 'neuron' holds no quantized tensors",
         "keep quantized tensors on the CPU, or convert with dequantize()");
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  for (const Refusal& refusal : kRefusals) {
    m.impl(refusal.operator_name, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<RefusingKernel>(refusal)));
  }
}

TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_sparse>()); }
TORCH_LIBRARY_IMPL(_, SparseCsrPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_sparse>());
}
TORCH_LIBRARY_IMPL(_, QuantizedPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_quantized>());
}

}  // namespace
}  // namespace opentrn::torch_backend
