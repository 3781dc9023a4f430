// The custom calls of ir/custom_calls.h.
#include <array>

#include "base/index_check.h"
#include "engines/reference/kernel.h"
#include "engines/reference/loops.h"
#include "ir/custom_calls.h"

namespace opentrn::engines::reference {

namespace {

template <typename T>
Kernel checked_index(const Problem& problem) {
  const std::array<const View*, 2> views{&problem.results[0], &problem.operands[0]};
  const auto& call = problem.node.as<ir::CustomCallAttributes>();
  return [nest = make_nest(views), check = make_index_check(call.integers, call.text)](std::byte* const* operands,
                                                                                       std::byte* const* results) {
    run_sequential(nest, {results[0], operands[0]}, [&](int64_t n, std::byte* const* pointers, const int64_t* steps) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t index = *as<T>(pointers[1] + i * steps[1]);
        *as<T>(pointers[0] + i * steps[0]) = static_cast<T>(checked(check, index));
      }
    });
  };
}

Kernel check(const Problem& problem) {
  const std::string message = problem.node.as<ir::CustomCallAttributes>().text;
  return [message](std::byte* const* operands, std::byte* const*) {
    if (*operands[0] == std::byte{0}) raise_failed_check(message);
  };
}

}  // namespace

Kernel custom_call_kernel(const Problem& problem) {
  const auto& call = problem.node.as<ir::CustomCallAttributes>();
  if (call.target == ir::kCheck) return check(problem);
  if (ir::is_expectation(call.target)) return expectation_kernel(problem);
  if (call.target == ir::kCheckedIndex) {
    const DType dtype = problem.operands[0].dtype;
    if (dtype == DType::I32) return checked_index<int32_t>(problem);
    if (dtype == DType::I64) return checked_index<int64_t>(problem);
    raise_unsupported(ir::kCheckedIndex, dtype);
  }
  raise(ErrorKind::NotImplemented, {.where = "stablehlo.custom_call",
                                    .what = "unknown target",
                                    .got = call.target,
                                    .expected = "a call of ir/custom_calls.h"});
}

}  // namespace opentrn::engines::reference
