// PyTorch's type promotion.
#pragma once

#include <span>

#include "lowering/rule.h"

namespace opentrn::lowering {

/// Gathers operands and gives their common type as torch.result_type does: tensors with dimensions rank before
/// 0-dimensional tensors, those before Python numbers; a lower rank decides only when its category is higher.
class Promoter {
 public:
  explicit Promoter(DType default_dtype) : default_dtype_(default_dtype) {}
  void add(const TensorArgument& tensor);
  void add(const ScalarArgument& scalar);
  /// The common type. Raises an Error of kind Runtime when no operand was added.
  DType result() const;

 private:
  DType default_dtype_;
  std::optional<DType> dimensioned_, zero_dimensional_, wrapped_;
};

/// torch.promote_types.
DType promote_types(DType left, DType right);

/// torch.can_cast: complex -> non-complex, float -> integer and non-bool -> bool are refused.
bool can_cast(DType from, DType to);

/// Whether a Scalar argument of that name takes part in promotion.
bool is_promoting(std::string_view name);

/// The common type of all tensors of a call's argument list and its promoting scalars.
DType common_dtype(const Call& call);

}  // namespace opentrn::lowering
