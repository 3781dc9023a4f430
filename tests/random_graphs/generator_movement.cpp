// Steps that move data.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/random_graphs/generator.h"
#include "tests/random_graphs/limits.h"

namespace opentrn::random_graphs {

using ir::Op;
using ir::Value;

void Generator::broadcast() {
  const Known x = any();
  Dims wide = type(x).shape;
  int64_t elements = type(x).elements();
  Dims dimensions;
  for (size_t i = 0; i < wide.size(); ++i) {
    dimensions.push_back(static_cast<int64_t>(i));
    if (wide[i] == 1 && elements * 9 < kMostElements) {
      wide[i] = between(1, 9);
      elements *= wide[i];
    }
  }
  if (wide.size() < 5 && elements * 130 < kMostElements) {
    const int64_t place = between(0, static_cast<int64_t>(wide.size()));
    wide.insert(wide.begin() + place, chance(0.5) ? between(1, 5) : 129);
    for (int64_t& dimension : dimensions) dimension += dimension >= place ? 1 : 0;
  }
  note_read(x);
  keep(builder_.broadcast_in_dim(x.value, wide, dimensions), x.bound, x.error);
}

void Generator::reshape() {
  const Known x = any();
  Dims flat = {type(x).elements()};
  for (int64_t factor : {2, 3, 128, 7}) {
    if (flat[0] > 0 && flat[0] % factor == 0 && chance(0.5)) {
      flat[0] /= factor;
      flat.push_back(factor);
    }
  }
  note_read(x);
  keep(builder_.reshape(x.value, flat), x.bound, x.error);
}

void Generator::transpose() {
  const Known x = any();
  Dims permutation;
  for (int64_t i = 0; i < type(x).rank(); ++i) permutation.push_back(i);
  std::shuffle(permutation.begin(), permutation.end(), engine_);
  note_read(x);
  keep(builder_.transpose(x.value, permutation), x.bound, x.error);
}

void Generator::slice() {
  const Known x = any();
  Dims start, limit, stride;
  for (const int64_t size : type(x).shape) {
    start.push_back(between(0, size / 2));
    limit.push_back(between(start.back(), size));
    stride.push_back(between(1, 3));
  }
  note_read(x);
  keep(builder_.slice(x.value, start, limit, stride), x.bound, x.error);
}

void Generator::pad() {
  const Known x = any();
  Dims low, high, interior;
  int64_t elements = 1;
  for (const int64_t size : type(x).shape) {
    low.push_back(between(-std::min<int64_t>(size, 1), 3));
    high.push_back(between(0, 2));
    interior.push_back(size > 0 && chance(0.3) ? between(0, 2) : 0);
    elements *= std::max<int64_t>(0, low.back() + high.back() + size + (size > 0 ? (size - 1) * interior.back() : 0));
  }
  if (elements > kMostElements) return;
  const Known value = like({type(x).dtype, {}});
  note_read(x);
  note_read(value);
  keep(builder_.pad(x.value, value.value, low, high, interior), std::max(x.bound, value.bound),
       std::max(x.error, value.error));
}

void Generator::concatenate() {
  const Known x = any();
  if (type(x).rank() == 0 || type(x).elements() * 3 > kMostElements) return;
  const Known y = like(type(x));
  note_read(x);
  note_read(y);
  const std::vector<Value> operands =
      chance(0.3) ? std::vector{x.value, y.value, x.value} : std::vector{x.value, y.value};
  keep(builder_.concatenate(operands, between(0, type(x).rank() - 1)), std::max(x.bound, y.bound),
       std::max(x.error, y.error));
}

void Generator::reverse() {
  const Known x = any();
  Dims dimensions;
  for (int64_t i = 0; i < type(x).rank(); ++i) {
    if (chance(0.5)) dimensions.push_back(i);
  }
  note_read(x);
  keep(builder_.reverse(x.value, dimensions), x.bound, x.error);
}

void Generator::iota() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  if (type(x).rank() == 0 || dtype == DType::Bool) return;
  const int64_t dimension = between(0, type(x).rank() - 1);
  const auto size = static_cast<double>(type(x).shape[static_cast<size_t>(dimension)]);
  if (size > exact_limit(dtype)) return;
  keep(builder_.iota(type(x), dimension), size, 0);
}

}  // namespace opentrn::random_graphs
