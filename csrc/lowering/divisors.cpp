// Greatest common divisors and least common multiples, by Euclid's algorithm on all elements at once.
#include <array>

#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;
using Direction = ir::ComparisonDirection;
using Values = std::span<const Value>;

Value magnitude(Builder& b, Value x) { return category(b.dtype(x)) == Category::Unsigned ? x : b.abs(x); }

Value select_zero(Builder& b, Value x, double when_zero) {
  return select_constant(b, compare_with(b, Direction::EQ, x, 0.0), when_zero, x);
}

/// Whether any divisor is left.
ir::Region continues(const ir::TensorType& type) {
  Builder b("continues");
  const Value divisor = b.parameter(type);
  b.parameter(type);
  Dims all;
  for (int64_t dim = 0; dim < type.rank(); ++dim) all.push_back(dim);
  return ir::Region(b.finish({b.reduce(compare_with(b, Direction::NE, divisor, 0.0), Op::Or, all)}));
}

/// Divisor and dividend become the remainder and the divisor, where there is a divisor.
ir::Region step(const ir::TensorType& type) {
  Builder b("step");
  const Value divisor = b.parameter(type);
  const Value dividend = b.parameter(type);
  const Value done = compare_with(b, Direction::EQ, divisor, 0.0);
  const Value remainder = b.remainder(dividend, select_zero(b, divisor, 1.0));
  return ir::Region(b.finish({select_constant(b, done, 0.0, remainder), b.select(done, dividend, divisor)}));
}

Value greatest_common_divisor(Builder& b, Values v) {
  const ir::TensorType type = b.type(v[0]);
  if (type.elements() == 0) return v[0];
  const Value carried[] = {magnitude(b, v[0]), magnitude(b, v[1])};
  return b.while_(carried, continues(type), step(type))[1];
}

Value least_common_multiple(Builder& b, Values v) {
  const Value divisor = greatest_common_divisor(b, v);
  const Value multiple = magnitude(b, b.multiply(b.divide(v[0], select_zero(b, divisor, 1.0)), v[1]));
  return select_constant(b, compare_with(b, Direction::EQ, divisor, 0.0), 0.0, multiple);
}

const std::array kRules = {
    elementwise("gcd", greatest_common_divisor, Promotion::Common, "i"),
    elementwise("lcm", least_common_multiple, Promotion::Common, "i"),
};

}  // namespace

std::span<const Rule> divisor_rules() { return kRules; }

}  // namespace opentrn::lowering
