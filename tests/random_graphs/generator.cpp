#include "tests/random_graphs/generator.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace opentrn::random_graphs {

namespace {

using ir::Op;
using ir::Value;

constexpr int64_t kMostElements = 40000;
constexpr double kParameterBound = 4;
constexpr double kMostRelativeError = 0.02;

double spacing(DType dtype) {
  switch (dtype) {
    case DType::F32: return 0x1p-23;
    case DType::F64: return 0x1p-52;
    case DType::F16: return 0x1p-10;
    case DType::BF16: return 0x1p-7;
    default: return 0;
  }
}

// Integers up to this magnitude are exact and do not overflow.
double exact_limit(DType dtype) {
  switch (dtype) {
    case DType::Bool: return 1;
    case DType::I8:
    case DType::U8: return 127;
    case DType::BF16: return 256;
    case DType::F16: return 2048;
    case DType::F32: return 0x1p24;
    case DType::I32: return 0x1p31 - 1;
    default: return 0x1p52;
  }
}

double largest(DType dtype) {
  if (dtype == DType::F16) return 60000;
  return is_float(dtype) ? 1e30 : exact_limit(dtype);
}

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

void Generator::reduce() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  Dims dimensions;
  double count = 1;
  for (int64_t i = 0; i < type(x).rank(); ++i) {
    if (!chance(0.5)) continue;
    dimensions.push_back(i);
    count *= static_cast<double>(type(x).shape[static_cast<size_t>(i)]);
  }
  static const std::vector<Op> kOps = {Op::Add, Op::Maximum, Op::Minimum};
  static const std::vector<Op> kLogic = {Op::And, Op::Or};
  const Op op = dtype == DType::Bool ? pick(kLogic) : pick(kOps);
  if (count == 0 && op != Op::Add) return;  // neutral elements are infinite
  note_read(x);
  const Value value = builder_.reduce(x.value, op, dimensions);
  if (op != Op::Add) return keep(value, x.bound, x.error);
  const double bound = std::max(1.0, x.bound * count);
  const bool exact = x.error == 0 && bound <= exact_limit(dtype);
  keep(value, bound, exact ? 0 : x.error * count + spacing(dtype) * bound * std::max(1.0, std::sqrt(count)));
}

void Generator::scan() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  if (type(x).rank() == 0 || type(x).elements() == 0 || dtype == DType::Bool) return;
  const auto dimension = static_cast<size_t>(between(0, type(x).rank() - 1));
  const auto rank = static_cast<size_t>(type(x).rank());
  const int64_t size = type(x).shape[dimension];
  ir::ReduceWindowAttributes window{Op::Add,       Dims(rank, 1), Dims(rank, 1), Dims(rank, 1),
                                    Dims(rank, 1), Dims(rank, 0), Dims(rank, 0)};
  window.window_dimensions[dimension] = size;
  window.padding_low[dimension] = size - 1;
  const double bound = x.bound * static_cast<double>(size);
  const bool exact = x.error == 0 && bound <= exact_limit(dtype);
  if (is_float(dtype) && !exact && dtype != DType::F32 && dtype != DType::F64) return;
  note_read(x);
  const double count = static_cast<double>(size);
  keep(builder_.reduce_window(x.value, builder_.scalar(dtype, 0), window), bound,
       exact ? 0 : x.error * count + spacing(dtype) * bound * count);
}

void Generator::pool() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  if (dtype == DType::Bool || type(x).elements() == 0) return;
  const auto rank = static_cast<size_t>(type(x).rank());
  ir::ReduceWindowAttributes window{Op::Maximum,   Dims(rank, 1), Dims(rank, 1), Dims(rank, 1),
                                    Dims(rank, 1), Dims(rank, 0), Dims(rank, 0)};
  for (size_t i = 0; i < rank; ++i) {
    window.window_dimensions[i] = std::min<int64_t>(between(1, 3), type(x).shape[i]);
    window.window_strides[i] = between(1, 2);
    window.padding_high[i] = between(0, 1);
  }
  note_read(x);
  const double lowest = category(dtype) == Category::Unsigned ? 0 : -kParameterBound;
  keep(builder_.reduce_window(x.value, builder_.scalar(dtype, lowest), window), std::max(x.bound, kParameterBound),
       x.error);
}

void Generator::dot() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  const int64_t rank = type(x).rank();
  if (dtype == DType::Bool || rank == 0 || rank > 3) return;
  const int64_t contracted = between(0, rank - 1);
  const int64_t batch = rank == 3 && chance(0.6) ? (contracted + 1) % rank : -1;
  const int64_t k = type(x).shape[static_cast<size_t>(contracted)];
  static const std::vector<int64_t> kColumns = {1, 2, 5, 17, 64, 128, 130};
  const int64_t n = pick(kColumns);
  const int64_t rows = k == 0 ? 1 : type(x).elements() / k;
  if (rows * n > kMostElements || k * n > kMostElements || type(x).elements() * n > 50 * kMostElements) return;
  ir::DotAttributes attributes;
  Dims right = chance(0.5) ? Dims{n, k} : Dims{k, n};
  attributes.lhs_contracting_dimensions = {contracted};
  attributes.rhs_contracting_dimensions = {right[0] == k && right.size() == 2 && right[1] == n ? 0 : 1};
  if (batch >= 0) {
    if (type(x).shape[static_cast<size_t>(batch)] * k * n > kMostElements) return;
    right.insert(right.begin(), type(x).shape[static_cast<size_t>(batch)]);
    attributes.rhs_contracting_dimensions[0] += 1;
    attributes.lhs_batching_dimensions = {batch};
    attributes.rhs_batching_dimensions = {0};
  }
  const Known y = like({dtype, right});
  const double count = static_cast<double>(k);
  const double bound = std::max(1.0, x.bound * y.bound * count);
  const bool exact = x.error == 0 && y.error == 0 && bound <= exact_limit(dtype);
  const double inherited = count * (x.error * y.bound + y.error * x.bound + x.error * y.error);
  note_read(x);
  note_read(y);
  keep(builder_.dot_general(x.value, y.value, attributes, dtype), bound,
       exact ? 0 : inherited + spacing(dtype) * bound * std::max(1.0, std::sqrt(count)));
}

// Rows of x by index.
void Generator::gather() {
  const Known x = any();
  if (type(x).rank() == 0 || type(x).shape[0] == 0) return;
  const int64_t count = between(0, 40);
  const int64_t row = type(x).elements() / type(x).shape[0];
  if (count * row > kMostElements) return;
  const Known indices = like({chance(0.5) ? DType::I64 : DType::I32, {count, 1}});
  ir::GatherAttributes attributes;
  attributes.collapsed_slice_dims = {0};
  attributes.start_index_map = {0};
  attributes.index_vector_dim = 1;
  attributes.slice_sizes = type(x).shape;
  attributes.slice_sizes[0] = 1;
  for (int64_t i = 1; i < type(x).rank(); ++i) attributes.offset_dims.push_back(i);
  note_read(x);
  note_read(indices);
  keep(builder_.gather(x.value, indices.value, attributes), x.bound, x.error);
}

void Generator::scatter() {
  const Known x = any();
  const DType dtype = type(x).dtype;
  if (type(x).rank() == 0 || type(x).elements() == 0) return;
  const int64_t count = between(0, 20);
  Dims update_shape = type(x).shape;
  update_shape[0] = count;
  if (element_count(update_shape) > kMostElements) return;
  const Known indices = like({DType::I64, {count, 1}});
  const Known updates = like({dtype, update_shape});
  ir::ScatterAttributes attributes;
  for (int64_t i = 1; i < type(x).rank(); ++i) attributes.update_window_dims.push_back(i);
  attributes.inserted_window_dims = {0};
  attributes.scatter_dims_to_operand_dims = {0};
  attributes.index_vector_dim = 1;
  const bool adds = dtype != DType::Bool && chance(0.5);
  attributes.update = adds ? Op::Add : Op::Select;
  for (const Known& known : {x, indices, updates}) note_read(known);
  const Value value = builder_.scatter(x.value, indices.value, updates.value, attributes);
  if (!adds) return keep(value, std::max(x.bound, updates.bound), std::max(x.error, updates.error));
  const double n = static_cast<double>(count);
  const double bound = x.bound + n * updates.bound;
  const bool exact = x.error == 0 && updates.error == 0 && bound <= exact_limit(dtype);
  keep(value, bound, exact ? 0 : x.error + n * updates.error + spacing(dtype) * bound * std::max(1.0, n));
}

void Generator::dynamic_slice() {
  const Known x = any();
  std::vector<Value> starts;
  Dims sizes;
  for (const int64_t size : type(x).shape) {
    const Known start = like({DType::I64, {}});
    note_read(start);
    starts.push_back(start.value);
    sizes.push_back(between(std::min<int64_t>(size, 1), size));
  }
  note_read(x);
  if (chance(0.5)) return keep(builder_.dynamic_slice(x.value, starts, sizes), x.bound, x.error);
  const Known update = like({type(x).dtype, sizes});
  note_read(update);
  keep(builder_.dynamic_update_slice(x.value, update.value, starts), std::max(x.bound, update.bound),
       std::max(x.error, update.error));
}

void Generator::sort() {
  const Known x = any();
  if (x.error > 0 || type(x).rank() == 0) return;
  const int64_t dimension = between(0, type(x).rank() - 1);
  const Value order = builder_.iota({DType::I64, type(x).shape}, dimension);
  const std::vector<Value> operands = {x.value, order};
  const std::vector<Value> sorted = builder_.sort(operands, {dimension, true, chance(0.5)});
  note_read(x);
  keep(sorted[0], x.bound, 0);
  keep(sorted[1], 1e4, 0);
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
