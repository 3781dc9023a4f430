#include "tests/random_graphs/generator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/random_graphs/limits.h"

namespace opentrn::random_graphs {

namespace {

using ir::Op;
using ir::Value;

constexpr double kMostRelativeError = 0.02;

}  // namespace

int64_t Generator::between(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(engine_);
}

bool Generator::chance(double probability) { return std::uniform_real_distribution<>(0, 1)(engine_) < probability; }

Dims Generator::shape() {
  static const std::vector<int64_t> kSizes = {1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 64, 127, 128, 129, 511, 512, 513};
  Dims result;
  const int64_t rank = between(0, 4);
  int64_t elements = 1;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t size = chance(0.02) ? 0 : pick(kSizes);
    if (elements * size > kMostElements) size = 1;
    elements *= std::max<int64_t>(size, 1);
    result.push_back(size);
  }
  return result;
}

DType Generator::dtype() {
  static const std::vector<DType> kTypes = {DType::F32,  DType::F32, DType::F32,  DType::F32, DType::BF16,
                                            DType::BF16, DType::F16, DType::F64,  DType::I64, DType::I64,
                                            DType::I32,  DType::U8,  DType::Bool, DType::I8};
  return pick(kTypes);
}

const Known& Generator::any() { return pick(pool_); }

void Generator::note_read(const Known& known) {
  read_.resize(std::max(read_.size(), static_cast<size_t>(known.value.id) + 1));
  read_[static_cast<size_t>(known.value.id)] = true;
}

Known Generator::parameter(const ir::TensorType& type) {
  const Known known{builder_.parameter(type), type.dtype == DType::Bool ? 1 : kParameterBound, 0};
  pool_.push_back(known);
  return known;
}

Known Generator::like(const ir::TensorType& type) {
  std::vector<Known> suitable;
  for (const Known& known : pool_) {
    if (this->type(known) == type) suitable.push_back(known);
  }
  return suitable.empty() || chance(0.2) ? parameter(type) : pick(suitable);
}

// A value whose type rounds: the rounding is part of its error unless everything is a small integer.
void Generator::keep_rounded(Value value, double bound, double error) {
  const DType dtype = builder_.dtype(value);
  if (is_float(dtype) && (error > 0 || bound > exact_limit(dtype))) error += spacing(dtype) * bound;
  keep(value, bound, error);
}

void Generator::keep(Value value, double bound, double error) {
  const DType dtype = builder_.dtype(value);
  if (bound > largest(dtype) && is_float(dtype)) return;
  if (!is_float(dtype)) bound = std::min(bound, largest(dtype));
  if (error > kMostRelativeError * std::max(bound, 1.0)) return;
  pool_.push_back({value, bound, error});
}

void Generator::unary() {
  const Known x = any();
  static const std::vector<Op> kFloat = {
      Op::Negate, Op::Abs, Op::Sign, Op::Floor, Op::Ceil, Op::Negate, Op::RoundNearestEven, Op::RoundNearestAfz};
  static const std::vector<Op> kInteger = {Op::Negate, Op::Abs, Op::Sign, Op::Not};
  const DType dtype = type(x).dtype;
  const Op op = is_float(dtype) ? pick(kFloat) : dtype == DType::Bool ? Op::Not : pick(kInteger);
  const bool continuous = op == Op::Negate || op == Op::Abs;
  const bool is_unsigned = category(dtype) == Category::Unsigned;
  if ((x.error > 0 && !continuous) || (is_unsigned && op != Op::Not)) return;
  note_read(x);
  keep(builder_.unary(op, x.value), op == Op::Not ? largest(dtype) : std::max(1.0, x.bound), x.error);
}

// Functions whose slope is at most 1 where they are used; arguments are made to fit first.
void Generator::smooth() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  if (!is_float(dtype)) return;
  static const std::vector<Op> kBounded = {Op::Tanh, Op::Logistic, Op::Sine, Op::Cosine, Op::Erf};
  static const std::vector<Op> kOfPositive = {Op::Log, Op::Sqrt, Op::Rsqrt, Op::LogPlusOne};
  const double eps = spacing(dtype);
  note_read(x);
  const int64_t kind = between(0, 2);
  if (kind == 0) {
    if (x.bound > 1000) return;
    return keep_rounded(builder_.unary(pick(kBounded), x.value), 1, 1.2 * x.error + 4 * eps);
  }
  if (kind == 1) {
    const Value one = builder_.splat_like(x.value, 1);
    const Value positive = builder_.add(builder_.abs(x.value), one);
    const double bound = x.bound + 1;
    return keep_rounded(builder_.unary(pick(kOfPositive), positive), bound, x.error + 2 * eps * bound);
  }
  if (x.bound > 4) return;
  const double bound = std::exp(x.bound);
  keep_rounded(builder_.unary(chance(0.5) ? Op::Exponential : Op::ExponentialMinusOne, x.value), bound,
               bound * x.error + 4 * eps * bound);
}

void Generator::binary() {
  const Known x = any();
  const Known y = like(type(x));
  const DType dtype = type(x).dtype;
  static const std::vector<Op> kOps = {Op::Add, Op::Subtract, Op::Multiply, Op::Maximum, Op::Minimum};
  static const std::vector<Op> kLogic = {Op::And, Op::Or, Op::Xor};
  const Op op = dtype == DType::Bool ? pick(kLogic) : pick(kOps);
  note_read(x);
  note_read(y);
  const Value value = builder_.binary(op, x.value, y.value);
  if (op == Op::Multiply) {
    return keep_rounded(value, x.bound * y.bound, x.error * y.bound + y.error * x.bound + x.error * y.error);
  }
  if (op == Op::Add || op == Op::Subtract) return keep_rounded(value, x.bound + y.bound, x.error + y.error);
  keep(value, std::max(x.bound, y.bound), std::max(x.error, y.error));
}

void Generator::divide() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  const Known y = like(type(x));
  if (dtype == DType::Bool) return;
  note_read(x);
  note_read(y);
  if (is_float(dtype)) {
    const Value divisor = builder_.add(builder_.abs(y.value), builder_.splat_like(y.value, 1));
    const double error = x.error + x.bound * y.error + 2 * spacing(dtype) * (x.bound + x.bound * y.bound);
    return keep_rounded(builder_.divide(x.value, divisor), x.bound, error);
  }
  const Value divisor = builder_.or_(y.value, builder_.splat_like(y.value, 1));
  keep(builder_.binary(chance(0.5) ? Op::Divide : Op::Remainder, x.value, divisor), largest(dtype), 0);
}

void Generator::bitwise() {
  const Known x = any();
  if (is_float(type(x).dtype)) return;
  const Known y = like(type(x));
  static const std::vector<Op> kOps = {Op::And, Op::Or, Op::Xor};
  static const std::vector<Op> kShifts = {Op::ShiftLeft, Op::ShiftRightArithmetic, Op::ShiftRightLogical};
  note_read(x);
  note_read(y);
  const DType dtype = type(x).dtype;
  if (dtype == DType::Bool || chance(0.5)) {
    return keep(builder_.binary(pick(kOps), x.value, y.value), largest(dtype), 0);
  }
  const Value amount = builder_.and_(y.value, builder_.splat_like(y.value, 7));
  keep(builder_.binary(pick(kShifts), x.value, amount), largest(dtype), 0);
}

void Generator::compare() {
  const Known x = any();
  const Known y = like(type(x));
  if (x.error > 0 || y.error > 0) return;
  note_read(x);
  note_read(y);
  keep(builder_.compare(static_cast<ir::ComparisonDirection>(between(0, 5)), x.value, y.value), 1, 0);
}

void Generator::select() {
  const Known x = any();
  const Known y = like(type(x));
  const Known predicate = like({DType::Bool, type(x).shape});
  for (const Known& known : {x, y, predicate}) note_read(known);
  if (is_float(type(x).dtype) && chance(0.2)) {
    const Value low = builder_.scalar(type(x).dtype, -2);
    const Value high = builder_.scalar(type(x).dtype, 3);
    return keep(builder_.clamp(low, x.value, high), 3, x.error);
  }
  keep(builder_.select(predicate.value, x.value, y.value), std::max(x.bound, y.bound), std::max(x.error, y.error));
}

void Generator::convert() {
  const Known x = any();
  const DType to = dtype();
  if (to == type(x).dtype) return;
  const bool wide_enough = is_float(to) ? x.bound < largest(to) : x.bound <= exact_limit(to);
  const bool into_unsigned = category(to) == Category::Unsigned && category(type(x).dtype) != Category::Bool;
  if (!wide_enough || into_unsigned || (x.error > 0 && !is_float(to))) return;
  note_read(x);
  keep_rounded(builder_.convert(x.value, to), to == DType::Bool ? 1 : x.bound, x.error);
}

void Generator::step() {
  using Step = void (Generator::*)();
  static const std::vector<Step> kSteps = {
      &Generator::unary,     &Generator::smooth,        &Generator::smooth,      &Generator::binary,
      &Generator::binary,    &Generator::binary,        &Generator::divide,      &Generator::bitwise,
      &Generator::compare,   &Generator::select,        &Generator::convert,     &Generator::broadcast,
      &Generator::broadcast, &Generator::reshape,       &Generator::transpose,   &Generator::transpose,
      &Generator::slice,     &Generator::pad,           &Generator::concatenate, &Generator::reverse,
      &Generator::iota,      &Generator::reduce,        &Generator::reduce,      &Generator::scan,
      &Generator::pool,      &Generator::dot,           &Generator::dot,         &Generator::gather,
      &Generator::scatter,   &Generator::dynamic_slice, &Generator::sort};
  (this->*pick(kSteps))();
}

Drawn Generator::draw() {
  builder_ = ir::Builder();
  pool_.clear();
  read_.clear();
  const int64_t parameters = between(1, 3);
  for (int64_t i = 0; i < parameters; ++i) parameter({dtype(), shape()});
  const int64_t steps = between(1, 12);
  for (int64_t i = 0; i < steps; ++i) step();
  Drawn drawn;
  std::vector<Value> results;
  read_.resize(std::max<size_t>(read_.size(), static_cast<size_t>(pool_.back().value.id) + 1));
  for (const Known& known : pool_) {
    if (known.value.id < static_cast<int32_t>(read_.size()) && read_[static_cast<size_t>(known.value.id)] &&
        chance(0.8)) {
      continue;
    }
    results.push_back(known.value);
    drawn.known.push_back(known);
  }
  if (results.empty()) {
    results.push_back(pool_.back().value);
    drawn.known.push_back(pool_.back());
  }
  drawn.graph = builder_.finish(std::move(results));
  return drawn;
}

}  // namespace opentrn::random_graphs
