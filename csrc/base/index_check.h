// Checks of indices and conditions, and the errors they raise. The words are those of PyTorch's CPU operators; whatever
// checks on the device uses them too.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace opentrn {

/// What a checked index accepts and which error it raises otherwise; PyTorch's operators differ in this.
enum class IndexRule {
  WrapNegative,        // [-size, size), IndexError
  NonNegative,         // [0, size), IndexError
  NonNegativeRuntime,  // [0, size), RuntimeError
};

/// What indices into one dimension are checked against.
struct IndexCheck {
  int64_t size = 0;
  int64_t dimension = 0;  // shown in the error
  IndexRule rule = IndexRule::WrapNegative;
  std::string where;  // the operator shown in the error
};

/// The check that custom calls and instructions write as {size, dimension, rule}; the rule may be left out.
IndexCheck make_index_check(std::span<const int64_t> integers, std::string where);

[[noreturn]] void raise_index_error(const IndexCheck& check, int64_t index);

/// The index from the front of the dimension. Raises the check's error when it lies outside.
inline int64_t checked(const IndexCheck& check, int64_t index) {
  const int64_t lowest = check.rule == IndexRule::WrapNegative ? -check.size : 0;
  if (index < lowest || index >= check.size) raise_index_error(check, index);
  return index < 0 ? index + check.size : index;
}

/// A condition that an operator demands does not hold: RuntimeError, in the operator's own words.
[[noreturn]] void raise_failed_check(const std::string& message);

}  // namespace opentrn
