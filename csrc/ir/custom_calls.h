// The custom calls: operations StableHLO has no word for. Every engine implements each of them.
#pragma once

#include <string_view>

#include "base/index_check.h"

namespace opentrn::ir {

/// (index: int32 or int64, any shape) -> same type. Adds the size to negative indices and raises IndexError when one
/// lies outside [-size, size). integers = {size, dimension shown in the error, IndexRule}; the rule may be left out;
/// text = the operator shown in the error.
inline constexpr std::string_view kCheckedIndex = "opentrn.checked_index";

using opentrn::IndexRule;

/// (condition: i1, scalar; value: any) -> value's type. Passes `value` through; raises RuntimeError with `text` when
/// the condition is false. integers = {}.
inline constexpr std::string_view kCheck = "opentrn.check";

/// The checks of StableHLO's test modules, (actual, expected) -> nothing. Each raises RuntimeError that names the first
/// element that differs. A NaN is never equal; the other two take it as equal to a NaN.
inline constexpr std::string_view kExpectEqual = "check.expect_eq";
/// Of float or complex elements. text = the largest difference, in decimal digits.
inline constexpr std::string_view kExpectAlmostEqual = "check.expect_almost_eq";
/// Of float or complex elements. integers = {fewest, most} steps between neighbouring numbers.
inline constexpr std::string_view kExpectClose = "check.expect_close";

constexpr bool is_expectation(std::string_view target) {
  return target == kExpectEqual || target == kExpectAlmostEqual || target == kExpectClose;
}

}  // namespace opentrn::ir
