// The custom calls of ir/custom_calls.h.
#include <array>
#include <cstring>

#include "engines/reference/kernel.h"
#include "engines/reference/loops.h"
#include "ir/custom_calls.h"

namespace opentrn::engines::reference {

namespace {

ir::IndexRule rule_of(const ir::CustomCallAttributes& call) {
  return call.integers.size() > 2 ? static_cast<ir::IndexRule>(call.integers[2]) : ir::IndexRule::WrapNegative;
}

[[noreturn]] void raise_index_error(const ir::CustomCallAttributes& call, int64_t index) {
  const bool runtime = rule_of(call) == ir::IndexRule::NonNegativeRuntime;
  raise(runtime ? ErrorKind::Runtime : ErrorKind::Index,
        {.where = call.text,
         .what = concat("index ", index, " is out of bounds for dimension ", call.integers[1], " with size ",
                        call.integers[0])});
}

template <typename T>
Kernel checked_index(const Problem& problem) {
  const std::array<const View*, 2> views{&problem.results[0], &problem.operands[0]};
  const auto& call = problem.node.as<ir::CustomCallAttributes>();
  return [nest = make_nest(views), call](std::byte* const* operands, std::byte* const* results) {
    const int64_t size = call.integers[0];
    const int64_t lowest = rule_of(call) == ir::IndexRule::WrapNegative ? -size : 0;
    run_sequential(nest, {results[0], operands[0]}, [&](int64_t n, std::byte* const* pointers, const int64_t* steps) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t index = *as<T>(pointers[1] + i * steps[1]);
        if (index < lowest || index >= size) raise_index_error(call, index);
        *as<T>(pointers[0] + i * steps[0]) = static_cast<T>(index < 0 ? index + size : index);
      }
    });
  };
}

Kernel check(const Problem& problem) {
  const std::string message = problem.node.as<ir::CustomCallAttributes>().text;
  return [message](std::byte* const* operands, std::byte* const*) {
    if (*operands[0] == std::byte{0}) throw Error(ErrorKind::Runtime, message);
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
