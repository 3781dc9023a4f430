// The two halves of operators whose result size depends on values: first count, then fill a result of that size.
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/index_arguments.h"
#include "lowering/running.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

Results count_nonzero(Context& context) {
  ir::Builder& b = context.b;
  const ir::Value is_nonzero = flattened(b, context.value("self", DType::Bool));
  return {b.reduce(b.convert(is_nonzero, DType::I64), ir::Op::Add, {0})};
}

/// Row-major positions of the `count` elements that are not zero.
ir::Value nonzero_positions(ir::Builder& b, ir::Value self, int64_t count) {
  const ir::Value is_nonzero = flattened(b, b.convert(self, DType::Bool));
  const ir::Value ranks = running_sum(b, b.convert(is_nonzero, DType::I64), 0);
  // The scatter leaves out targets beyond its end: the zeros go there.
  const ir::Value beyond = b.splat_like(ranks, static_cast<double>(count));
  const ir::Value targets = b.select(is_nonzero, b.subtract(ranks, b.splat_like(ranks, 1)), beyond);
  const ir::Value positions = b.iota(b.type(ranks), 0);
  return scatter_slices(b, b.splat({DType::I64, {count}}, 0), 0, targets, positions, ir::Op::Select);
}

Results nonzero(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const int64_t count = context.integer("count");
  const int64_t rank = self.type.rank();
  const Dims shape = {count, rank};
  context.result_strides = {{1, std::max<int64_t>(count, 1)}};
  if (count == 0 || rank == 0) return {b.splat({DType::I64, shape}, 0)};
  const ir::Value positions = nonzero_positions(b, self.value, count);
  const Dims steps = contiguous_strides(self.type.shape);
  std::vector<ir::Value> rows;
  for (size_t dim = 0; dim < steps.size(); ++dim) {
    ir::Value index = positions;
    if (steps[dim] != 1) index = b.divide(index, b.splat_like(index, static_cast<double>(steps[dim])));
    if (dim > 0) {
      index = b.binary(ir::Op::Remainder, index, b.splat_like(index, static_cast<double>(self.type.shape[dim])));
    }
    rows.push_back(b.reshape(index, {1, count}));
  }
  return {b.transpose(b.concatenate(rows, 0), {1, 0})};
}

Rule internal(std::string_view name, RuleFunction function) {
  Rule rule = general(name, function);
  rule.note = "a part of nonzero, masked_select and masks as indices, which wait once for the number of elements";
  return rule;
}

}  // namespace

std::span<const Rule> data_dependent_rules() {
  static const Rule rules[] = {
      internal("opentrn.count_nonzero", count_nonzero),
      internal("opentrn.nonzero", nonzero),
  };
  return rules;
}

}  // namespace opentrn::lowering
