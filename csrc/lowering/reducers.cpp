#include "lowering/reducers.h"

#include <array>

#include "lowering/arguments.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {

using ir::Op;

Op reducer(const Context& context, std::string_view reduce, DType dtype) {
  struct Row {
    std::string_view name;
    Op op, on_bools;
  };
  static constexpr std::array<Row, 7> kRows{{{"sum", Op::Add, Op::Or},
                                             {"add", Op::Add, Op::Or},
                                             {"mean", Op::Add, Op::Or},
                                             {"prod", Op::Multiply, Op::And},
                                             {"multiply", Op::Multiply, Op::And},
                                             {"amax", Op::Maximum, Op::Or},
                                             {"amin", Op::Minimum, Op::And}}};
  for (const Row& row : kRows) {
    if (row.name == reduce) return is_bool(dtype) ? row.on_bools : row.op;
  }
  context.refuse(ErrorKind::Runtime, {.what = "unknown reduce argument",
                                      .got = std::string(reduce),
                                      .expected = "one of sum, prod, mean, amax, amin",
                                      .action = "name one of these"});
}

ir::Value neutral(ir::Builder& b, Op op, ir::TensorType type) {
  const ir::Value nothing = b.splat({type.dtype, {0}}, 0);
  return b.broadcast_to(b.reduce(nothing, op, {0}), type.shape);
}

ir::Value mean_of(ir::Builder& b, ir::Value sum, ir::Value count) {
  const ir::Value quotient = b.divide(sum, count);
  if (!is_integer(b.dtype(sum)) || category(b.dtype(sum)) == Category::Unsigned) return quotient;
  const ir::Value remainder = b.subtract(sum, b.multiply(quotient, count));
  const ir::Value below = is_less(b, remainder, 0);
  return b.subtract(quotient, b.convert(below, b.dtype(sum)));
}

}  // namespace opentrn::lowering
