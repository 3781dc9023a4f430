// Result types from operand types and attributes, by the rules of the StableHLO specification. The one place that knows
// them: the builder asks it for types, the verifier compares with it.
#pragma once

#include <span>
#include <vector>

#include "ir/attributes.h"
#include "ir/opcode.h"
#include "ir/types.h"

namespace opentrn::ir {

struct InferenceQuery {
  Op op = Op::Add;
  std::span<const TensorType* const> operands;
  const Attributes& attributes;
  /// The type asked for the result. Only read by the primitives whose operands do not determine it: the element type by
  /// convert, bitcast_convert, convolution and dot_general; the shape by reshape and broadcast_in_dim; both by
  /// constant, iota and rng_bit_generator. May be null for all others.
  const TensorType* declared = nullptr;
};

/// The types of all results. Raises an Error of kind Runtime that names operator and operand when an operand, an
/// attribute or the declared type breaks a rule.
std::vector<TensorType> infer(const InferenceQuery& query);

/// True when `reducer` may combine elements of `dtype` in reduce, reduce_window and scatter.
bool is_reducer(Op reducer, DType dtype);

}  // namespace opentrn::ir
