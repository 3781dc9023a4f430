// Raw bytes of constant elements.
#pragma once

#include <cstddef>
#include <vector>

#include "base/dtype.h"
#include "ir/opcode.h"
#include "ir/types.h"

namespace opentrn::ir {

/// One element of `dtype` that holds `value`, rounded to the type.
std::vector<std::byte> element_bytes(DType dtype, double value);

/// The element e for which `reducer(e, x) == x` for every x of `dtype`. `reducer` is Add, Multiply, Maximum, Minimum,
/// And, Or or Xor.
std::vector<std::byte> neutral_element(Op reducer, DType dtype);

/// The one form of a constant's data: a single element when all are equal, nothing when there are none. Data of a wrong
/// size is returned as it is.
std::vector<std::byte> normalised_data(const TensorType& type, std::vector<std::byte> data);

}  // namespace opentrn::ir
