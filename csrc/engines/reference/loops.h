// Innermost loops of the element-wise primitives. A loop is a plain function over n elements; operands that lie densely
// or are one repeated element take loops the compiler vectorises.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "engines/reference/target.h"
#include "ir/attributes.h"
#include "ir/opcode.h"

namespace opentrn::engines::reference {

/// pointers[0] is the result, the operands follow; steps are in bytes.
using Loop = void (*)(int64_t n, std::byte* const* pointers, const int64_t* steps);

template <typename T>
T* as(std::byte* address) {
  return reinterpret_cast<T*>(address);
}

template <typename Out, typename In, typename Function>
void unary_loop(int64_t n, std::byte* const* pointers, const int64_t* steps) {
  const Function function{};
  if (steps[0] == sizeof(Out) && steps[1] == sizeof(In)) {
    Out* out = as<Out>(pointers[0]);
    const In* in = as<In>(pointers[1]);
    OPENTRN_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(function(in[i]));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    *as<Out>(pointers[0] + i * steps[0]) = static_cast<Out>(function(*as<In>(pointers[1] + i * steps[1])));
  }
}

template <typename Out, typename Left, typename Right, typename Function>
void binary_loop(int64_t n, std::byte* const* pointers, const int64_t* steps) {
  const Function function{};
  Out* out = as<Out>(pointers[0]);
  const Left* left = as<Left>(pointers[1]);
  const Right* right = as<Right>(pointers[2]);
  const bool left_dense = steps[1] == sizeof(Left);
  const bool right_dense = steps[2] == sizeof(Right);
  if (steps[0] == sizeof(Out) && left_dense && right_dense) {
    OPENTRN_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(function(left[i], right[i]));
    return;
  }
  if (steps[0] == sizeof(Out) && left_dense && steps[2] == 0) {
    const Right value = *right;
    OPENTRN_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(function(left[i], value));
    return;
  }
  if (steps[0] == sizeof(Out) && steps[1] == 0 && right_dense) {
    const Left value = *left;
    OPENTRN_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(function(value, right[i]));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    *as<Out>(pointers[0] + i * steps[0]) =
        static_cast<Out>(function(*as<Left>(pointers[1] + i * steps[1]), *as<Right>(pointers[2] + i * steps[2])));
  }
}

/// The loop of a primitive on a type arithmetic is done in (`compute_dtype`), or null when it is not defined for the
/// type. `dtype` is that of the first operand (of the branches for Select).
Loop float_unary(ir::Op op, DType dtype);
Loop float_binary(ir::Op op, DType dtype);
Loop integer_unary(ir::Op op, DType dtype);
Loop integer_binary(ir::Op op, DType dtype);
Loop complex_unary(ir::Op op, DType dtype);
Loop complex_binary(ir::Op op, DType dtype);
Loop complex_from_parts(DType part);
/// GE and GT are LE and LT with the operands exchanged.
Loop compare_loop(ir::ComparisonDirection direction, DType dtype);
Loop clamp_loop(DType dtype);
/// Moves elements of `item_size` bytes: operands are the predicate and two branches.
Loop select_loop(int64_t item_size);
/// Copies elements of `item_size` bytes.
Loop copy_loop(int64_t item_size);
/// Primitives whose result depends on the stored width itself (next_after on 16-bit floats), or null.
Loop narrow_binary(ir::Op op, DType dtype);

/// Any element-wise primitive with two operands, on types arithmetic is done in.
Loop binary_loop_for(ir::Op op, DType dtype);

}  // namespace opentrn::engines::reference
