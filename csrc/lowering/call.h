// What a lowering rule sees of an operator call: names, types, layouts and static arguments, never a tensor's content.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "ir/types.h"

namespace opentrn::lowering {

/// A tensor operand. `operand` numbers all tensors and runtime scalars of the call in schema order; the graph has one
/// parameter for each of them, in that order.
struct TensorArgument {
  int operand = -1;
  ir::Value value = {};  // the graph parameter
  ir::TensorType type = {};
  Dims strides = {};
  bool wrapped_number = false;  // made from a Python number: weak in type promotion
};

/// A runtime number: its value is a 0-dimensional graph parameter of type i1, i64, f64 or complex<f64>.
struct ScalarArgument {
  int operand = -1;
  ir::Value value = {};
  DType dtype = DType::F64;
};

/// A random generator. Rules draw through Context::random_bits.
struct GeneratorArgument {};

using TensorList = std::vector<std::optional<TensorArgument>>;
using ScalarList = std::vector<ScalarArgument>;

using Argument = std::variant<std::monostate, TensorArgument, TensorList, ScalarArgument, ScalarList, GeneratorArgument,
                              int64_t, bool, double, Dims, std::vector<bool>, DType, std::string>;

struct NamedArgument {
  std::string name;
  Argument value;
};

/// One operator call. Arguments carry the names of the ATen schema.
struct Call {
  std::string operator_name;  // "add.Tensor": the functional overload, whichever variant was called
  std::vector<NamedArgument> arguments;
  std::vector<TensorArgument> destinations;  // memory the results go to: of `self` (in-place) or of `out=`; else empty
  bool in_place = false;
  Dims derived;  // static integers computed from runtime scalars by the rule's `derive`
  DType default_dtype = DType::F32;

  /// The argument of that name. Raises an Internal error when the schema has none of that name.
  const Argument& argument(std::string_view name) const;
};

}  // namespace opentrn::lowering
