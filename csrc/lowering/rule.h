// Lowering rules and the table that holds them. A simple operator is one row; see docs/adding-an-operator.md.
#pragma once

#include <complex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/builder.h"
#include "lowering/call.h"

namespace opentrn::lowering {

/// One value per result of the schema; an invalid value stands for an undefined tensor (None).
using Results = std::vector<ir::Value>;

/// Thrown by a rule that does not cover a call; the operator then runs as a fallback, with this reason in the report.
struct Declined {
  std::string reason;
};
[[noreturn]] void decline(std::string reason);

/// A value to be written into an argument's memory although the schema does not return it (running statistics,
/// optimizer state).
struct Write {
  int operand;
  ir::Value value;
};

/// What a rule works with: the builder, the call, and typed access to its arguments by schema name.
class Context {
 public:
  Context(ir::Builder& builder, const Call& call) : b(builder), call(call) {}

  ir::Builder& b;
  const Call& call;

  bool has(std::string_view name) const;  // the argument is not None
  const TensorArgument& tensor(std::string_view name) const;
  const TensorList& tensors(std::string_view name) const;
  const ScalarArgument& scalar(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  bool flag(std::string_view name) const;
  double number(std::string_view name) const;  // a structural Scalar or float
  const Dims& integers(std::string_view name) const;
  const std::vector<bool>& mask(std::string_view name) const;
  DType dtype(std::string_view name) const;
  const std::string& text(std::string_view name) const;

  /// The tensor's value converted to `dtype` (its own type when omitted).
  ir::Value value(std::string_view name) const { return tensor(name).value; }
  ir::Value value(std::string_view name, DType dtype) const { return b.convert(tensor(name).value, dtype); }
  /// The runtime scalar converted to `dtype`, 0-dimensional.
  /// Raises RuntimeError at run time when an imaginary part would be lost.
  ir::Value scalar_value(std::string_view name, DType dtype) const;

  /// `dim` wrapped into [0, rank). Raises IndexError with PyTorch's range when it lies outside. A 0-dimensional tensor
  /// counts as 1-dimensional, as in PyTorch.
  int64_t dimension(int64_t dim, int64_t rank) const;
  /// Sorted, wrapped, distinct dimensions of an `int[]?` argument; all dimensions when it is None or (if
  /// `empty_is_all`) empty.
  Dims dimensions(std::string_view name, int64_t rank, bool empty_is_all = true) const;

  /// Random words of type ui32 or ui64; consecutive calls draw consecutive parts of the generator's stream.
  ir::Value random_bits(ir::TensorType type);
  /// Uniform numbers in [0, 1) of type f32 or f64.
  ir::Value random_uniform(ir::TensorType type);

  /// Has `value` written into the memory of `destination` after conversion to its type.
  void write(const TensorArgument& destination, ir::Value value) { writes.push_back({destination.operand, value}); }

  [[noreturn]] void refuse(ErrorKind kind, Complaint complaint) const;  // fills in `where`

  std::vector<Write> writes;
  std::vector<Dims> result_strides;  // of fresh results, by result; those missing or empty follow the rule's StrideRule
  int64_t random_blocks = 0;         // blocks of four 32-bit words drawn
  ir::Value random_state;            // the parameter, once used
  ir::Value random_cursor;           // the state after the draws so far
};

/// How an element-wise operator finds its types from its tensor arguments and its promoting scalars (those named other,
/// exponent or self; others, like alpha, only follow).
enum class Promotion {
  Common,         // result has the promoted type; computed in compute_dtype of it
  Float,          // as Common, but integers and bools become the default dtype first
  Compare,        // computed in the promoted type, result is bool
  ComplexToReal,  // as Common, result is the real type of a complex type (abs)
};

/// Strides of a fresh result.
enum class StrideRule {
  Elementwise,  // the permutation of the operands' memory order, as TensorIterator chooses it
  Contiguous,   // row-major
  LikeSelf,     // `self`'s strides when it is dense and non-overlapping, else as Elementwise
};

/// Operands of an element-wise function: all tensors and scalars in schema order, converted to the computation's type
/// and broadcast to the result's shape.
using ElementwiseFunction = ir::Value (*)(ir::Builder&, std::span<const ir::Value>);
using RuleFunction = Results (*)(Context&);

struct ScalarValue {
  std::string_view name;
  DType dtype;  // Bool, I64, F64 or C128
  int64_t integer = 0;
  std::complex<double> number;  // the value in any case
};
/// Computes Call::derived from the runtime scalars, so that only it, not their values, enters the cache key.
using DeriveFunction = Dims (*)(std::span<const ScalarValue>);

/// Categories of element types, one letter each: b(ool), i(nteger), f(loat), c(omplex); complex32, which few PyTorch
/// operators take, has a letter of its own, h(alf). `x` adds float8 and the unsigned integers beyond 8 bits.
inline constexpr std::string_view kAllTypes = "bifc";

struct Rule {
  std::string_view name;  // functional overload without "aten::"; in-place and out= variants are found from the schemas
  RuleFunction function = nullptr;
  ElementwiseFunction elementwise = nullptr;  // exactly one of the two is set
  Promotion promotion = Promotion::Common;
  StrideRule strides = StrideRule::Contiguous;
  std::string_view structural = {};    // names of Scalar or float arguments that shape the graph, separated by spaces
  std::string_view types = kAllTypes;  // element-wise rules: the categories the common type may have
  bool wide_scalars = false;  // 0-dimensional operands after the first keep float32 precision among 16-bit floats
  DeriveFunction derive = nullptr;
  bool converts_output =
      false;  // `out=` may have another type that the result can be cast to, as element-wise rules allow
  std::string_view note = {};  // exceptions a user should know, for docs/operators.md
};

inline Rule elementwise(std::string_view name, ElementwiseFunction function, Promotion promotion = Promotion::Common,
                        std::string_view types = kAllTypes) {
  return Rule{.name = name,
              .elementwise = function,
              .promotion = promotion,
              .strides = StrideRule::Elementwise,
              .types = types};
}
inline Rule general(std::string_view name, RuleFunction function, StrideRule strides = StrideRule::Contiguous) {
  return Rule{.name = name, .function = function, .strides = strides};
}

/// A rule whose result is converted to the type of `out=`, where others refuse another type.
inline Rule converting(Rule rule) {
  rule.converts_output = true;
  return rule;
}

/// Every rule, sorted by name.
std::span<const Rule> rules();

/// The rule of that functional overload, or nullptr.
const Rule* find_rule(std::string_view name);

}  // namespace opentrn::lowering
