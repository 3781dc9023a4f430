#include "engines/reference/folds.h"

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "engines/reference/kernel.h"
#include "engines/reference/target.h"

namespace opentrn::engines::reference {

namespace {

using ir::Op;

// A reducer is a type with the accumulator, its neutral value, and the ways in, together and out.

/// A sum that carries the digits lost so far (Neumaier).
struct CompensatedSum {
  double sum = 0, lost = 0;
};

struct SumDouble {
  using Element = double;
  using Accumulator = CompensatedSum;
  static Accumulator neutral() { return {}; }
  static Accumulator from(double x) { return {x, 0}; }
  static Accumulator combine(Accumulator x, Accumulator y) {
    const double sum = x.sum + y.sum;
    const double lost = std::abs(x.sum) >= std::abs(y.sum) ? (x.sum - sum) + y.sum : (y.sum - sum) + x.sum;
    return {sum, x.lost + y.lost + lost};
  }
  // Infinities and NaN leave NaN behind as the lost digits.
  static double result(Accumulator x) { return std::isfinite(x.sum) ? x.sum + x.lost : x.sum; }
};

template <typename T, typename Wide>
struct Sum {
  using Element = T;
  using Accumulator = Wide;
  static Wide neutral() { return Wide{}; }
  static Wide from(T x) { return static_cast<Wide>(x); }
  static Wide combine(Wide x, Wide y) { return static_cast<Wide>(x + y); }
  static T result(Wide x) { return static_cast<T>(x); }
};

template <typename T, typename Wide>
struct Product {
  using Element = T;
  using Accumulator = Wide;
  static Wide neutral() { return Wide{1}; }
  static Wide from(T x) { return static_cast<Wide>(x); }
  static Wide combine(Wide x, Wide y) { return multiply(x, y); }
  static T result(Wide x) { return static_cast<T>(x); }

 private:
  template <typename Part>
  static std::complex<Part> multiply(std::complex<Part> x, std::complex<Part> y) {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  }
  template <typename Number>
  static Number multiply(Number x, Number y) {
    return static_cast<Number>(x * y);
  }
};

// A NaN on either side is the result.
template <typename T>
struct Maximum {
  using Element = T;
  using Accumulator = T;
  static T neutral() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  static T from(T x) { return x; }
  static T combine(T x, T y) { return y > x || y != y ? y : x; }
  static T result(T x) { return x; }
};

template <typename T>
struct Minimum {
  using Element = T;
  using Accumulator = T;
  static T neutral() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  static T from(T x) { return x; }
  static T combine(T x, T y) { return y < x || y != y ? y : x; }
  static T result(T x) { return x; }
};

enum class Bits { And, Or, Xor };

template <typename T, Bits bits>
struct Bitwise {
  using Element = T;
  using Accumulator = T;
  static T neutral() { return bits == Bits::And ? static_cast<T>(~T{0}) : T{0}; }
  static T from(T x) { return x; }
  static T combine(T x, T y) {
    if constexpr (bits == Bits::And) return static_cast<T>(x & y);
    if constexpr (bits == Bits::Or) return static_cast<T>(x | y);
    return static_cast<T>(x ^ y);
  }
  static T result(T x) { return x; }
};

// Any byte but 0 is true; results are 0 or 1.
template <Bits bits>
struct Logical : Bitwise<uint8_t, bits> {
  static uint8_t neutral() { return bits == Bits::And ? 1 : 0; }
  static uint8_t from(uint8_t x) { return x != 0; }
};

template <typename Reducer>
struct Functions {
  using Element = typename Reducer::Element;
  using Accumulator = typename Reducer::Accumulator;
  static_assert(sizeof(Accumulator) <= kMaxAccumulator);

  static Accumulator& accumulator(std::byte* address, int64_t i = 0) {
    return reinterpret_cast<Accumulator*>(address)[i];
  }
  static Element element(const std::byte* address, int64_t step, int64_t i) {
    return *reinterpret_cast<const Element*>(address + i * step);
  }

  static void start(const std::byte* from, std::byte* to) { accumulator(to) = Reducer::from(element(from, 0, 0)); }
  static void neutral(std::byte* to) { accumulator(to) = Reducer::neutral(); }
  static void finish(int64_t n, const std::byte* from, std::byte* to) {
    for (int64_t i = 0; i < n; ++i) {
      reinterpret_cast<Element*>(to)[i] = Reducer::result(reinterpret_cast<const Accumulator*>(from)[i]);
    }
  }

  // Independent partial results, so that the next element need not wait for the last.
  static void fold(int64_t n, const std::byte* from, int64_t step, std::byte* to) {
    constexpr int64_t kLanes = 8;
    Accumulator lanes[kLanes];
    for (Accumulator& lane : lanes) lane = Reducer::neutral();
    int64_t i = 0;
    if (step == sizeof(Element)) {
      for (; i + kLanes <= n; i += kLanes) {
        for (int64_t j = 0; j < kLanes; ++j) {
          lanes[j] = Reducer::combine(lanes[j], Reducer::from(reinterpret_cast<const Element*>(from)[i + j]));
        }
      }
    }
    for (; i < n; ++i) lanes[0] = Reducer::combine(lanes[0], Reducer::from(element(from, step, i)));
    for (const Accumulator& lane : lanes) accumulator(to) = Reducer::combine(accumulator(to), lane);
  }

  static void scan(int64_t n, const std::byte* from, int64_t step, std::byte* to, std::byte* running) {
    Accumulator sum = accumulator(to);
    for (int64_t i = 0; i < n; ++i) {
      sum = Reducer::combine(sum, Reducer::from(element(from, step, i)));
      accumulator(running, i) = sum;
    }
    accumulator(to) = sum;
  }

  static void fold_each(int64_t n, const std::byte* from, int64_t step, std::byte* to) {
    if (step == sizeof(Element)) {
      const auto* elements = reinterpret_cast<const Element*>(from);
      auto* accumulators = reinterpret_cast<Accumulator*>(to);
      OPENTRN_INDEPENDENT_LOOP
      for (int64_t i = 0; i < n; ++i) accumulators[i] = Reducer::combine(accumulators[i], Reducer::from(elements[i]));
      return;
    }
    for (int64_t i = 0; i < n; ++i)
      accumulator(to, i) = Reducer::combine(accumulator(to, i), Reducer::from(element(from, step, i)));
  }

  static void merge(int64_t n, const std::byte* from, std::byte* to) {
    const auto* others = reinterpret_cast<const Accumulator*>(from);
    for (int64_t i = 0; i < n; ++i) accumulator(to, i) = Reducer::combine(accumulator(to, i), others[i]);
  }

  static constexpr Fold table{
      sizeof(Accumulator), sizeof(Element), start, finish, neutral, fold, scan, fold_each, merge};
};

template <typename Reducer>
const Fold* table() {
  return &Functions<Reducer>::table;
}

// Wrapping sums and products do not depend on the sign; small ones are done in 32 bits, where nothing overflows
// undefined.
template <typename T>
const Fold* integer_fold(Op reducer) {
  using Unsigned = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  switch (reducer) {
    case Op::Add: return table<Sum<Unsigned, Wide>>();
    case Op::Multiply: return table<Product<Unsigned, Wide>>();
    case Op::Maximum: return table<Maximum<T>>();
    case Op::Minimum: return table<Minimum<T>>();
    case Op::And: return table<Bitwise<Unsigned, Bits::And>>();
    case Op::Or: return table<Bitwise<Unsigned, Bits::Or>>();
    case Op::Xor: return table<Bitwise<Unsigned, Bits::Xor>>();
    default: return nullptr;
  }
}

const Fold* bool_fold(Op reducer) {
  switch (reducer) {
    case Op::Multiply:
    case Op::Minimum:
    case Op::And: return table<Logical<Bits::And>>();
    case Op::Add:
    case Op::Maximum:
    case Op::Or: return table<Logical<Bits::Or>>();
    case Op::Xor: return table<Logical<Bits::Xor>>();
    default: return nullptr;
  }
}

OPENTRN_VECTOR_CLONES double sum_dense(int64_t n, const float* from) {
  constexpr int64_t kLanes = 32;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] += static_cast<double>(from[i + j]);
  }
  for (; i < n; ++i) lanes[0] += static_cast<double>(from[i]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

OPENTRN_VECTOR_CLONES void add_each(int64_t n, const float* from, double* to) {
  OPENTRN_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) to[i] += static_cast<double>(from[i]);
}

/// The float32 sum is the reduction models spend their time in: compiled for every instruction set.
struct FastSum {
  using Plain = Functions<Sum<float, double>>;

  static void fold(int64_t n, const std::byte* from, int64_t step, std::byte* to) {
    if (step != sizeof(float)) return Plain::fold(n, from, step, to);
    *reinterpret_cast<double*>(to) += sum_dense(n, reinterpret_cast<const float*>(from));
  }
  static void fold_each(int64_t n, const std::byte* from, int64_t step, std::byte* to) {
    if (step != sizeof(float)) return Plain::fold_each(n, from, step, to);
    add_each(n, reinterpret_cast<const float*>(from), reinterpret_cast<double*>(to));
  }

  static constexpr Fold table{sizeof(double), sizeof(float), Plain::start, Plain::finish, Plain::neutral,
                              fold,           Plain::scan,   fold_each,    Plain::merge};
};

template <typename Reducer>
OPENTRN_INLINE float extreme(int64_t n, const float* from) {
  constexpr int64_t kLanes = 32;
  float lanes[kLanes];
  for (float& lane : lanes) lane = Reducer::neutral();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] = Reducer::combine(lanes[j], from[i + j]);
  }
  for (; i < n; ++i) lanes[0] = Reducer::combine(lanes[0], from[i]);
  for (const float lane : lanes) lanes[0] = Reducer::combine(lanes[0], lane);
  return lanes[0];
}

template <typename Reducer>
OPENTRN_INLINE void extreme_each(int64_t n, const float* from, float* to) {
  OPENTRN_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) to[i] = Reducer::combine(to[i], from[i]);
}

OPENTRN_VECTOR_CLONES float maximum_dense(int64_t n, const float* from) { return extreme<Maximum<float>>(n, from); }
OPENTRN_VECTOR_CLONES float minimum_dense(int64_t n, const float* from) { return extreme<Minimum<float>>(n, from); }
OPENTRN_VECTOR_CLONES void maximum_each(int64_t n, const float* from, float* to) {
  extreme_each<Maximum<float>>(n, from, to);
}
OPENTRN_VECTOR_CLONES void minimum_each(int64_t n, const float* from, float* to) {
  extreme_each<Minimum<float>>(n, from, to);
}

/// Likewise the largest and smallest float32.
template <typename Reducer, float (*dense)(int64_t, const float*), void (*each)(int64_t, const float*, float*)>
struct FastExtreme {
  using Plain = Functions<Reducer>;

  static void fold(int64_t n, const std::byte* from, int64_t step, std::byte* to) {
    if (step != sizeof(float)) return Plain::fold(n, from, step, to);
    float& result = *reinterpret_cast<float*>(to);
    result = Reducer::combine(result, dense(n, reinterpret_cast<const float*>(from)));
  }
  static void fold_each(int64_t n, const std::byte* from, int64_t step, std::byte* to) {
    if (step != sizeof(float)) return Plain::fold_each(n, from, step, to);
    each(n, reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to));
  }

  static constexpr Fold table{sizeof(float), sizeof(float), Plain::start, Plain::finish, Plain::neutral,
                              fold,          Plain::scan,   fold_each,    Plain::merge};
};

const Fold* float_fold(Op reducer) {
  switch (reducer) {
    case Op::Add: return &FastSum::table;
    case Op::Multiply: return table<Product<float, double>>();
    case Op::Maximum: return &FastExtreme<Maximum<float>, maximum_dense, maximum_each>::table;
    case Op::Minimum: return &FastExtreme<Minimum<float>, minimum_dense, minimum_each>::table;
    default: return nullptr;
  }
}

const Fold* double_fold(Op reducer) {
  switch (reducer) {
    case Op::Add: return table<SumDouble>();
    case Op::Multiply: return table<Product<double, double>>();
    case Op::Maximum: return table<Maximum<double>>();
    case Op::Minimum: return table<Minimum<double>>();
    default: return nullptr;
  }
}

template <typename T>
const Fold* complex_fold(Op reducer) {
  using Wide = std::complex<double>;
  if (reducer == Op::Add) return table<Sum<T, Wide>>();
  return reducer == Op::Multiply ? table<Product<T, Wide>>() : nullptr;
}

const Fold* find_fold(Op reducer, DType dtype) {
  switch (dtype) {
    case DType::Bool: return bool_fold(reducer);
    case DType::U8: return integer_fold<uint8_t>(reducer);
    case DType::I8: return integer_fold<int8_t>(reducer);
    case DType::U16: return integer_fold<uint16_t>(reducer);
    case DType::I16: return integer_fold<int16_t>(reducer);
    case DType::U32: return integer_fold<uint32_t>(reducer);
    case DType::I32: return integer_fold<int32_t>(reducer);
    case DType::U64: return integer_fold<uint64_t>(reducer);
    case DType::I64: return integer_fold<int64_t>(reducer);
    case DType::F32: return float_fold(reducer);
    case DType::F64: return double_fold(reducer);
    case DType::C64: return complex_fold<std::complex<float>>(reducer);
    case DType::C128: return complex_fold<std::complex<double>>(reducer);
    default: return nullptr;
  }
}

}  // namespace

const Fold& fold_for(Op reducer, DType dtype) {
  const Fold* fold = find_fold(reducer, dtype);
  if (fold == nullptr) raise_unsupported(concat("reduce with ", ir::name(reducer)), dtype);
  return *fold;
}

}  // namespace opentrn::engines::reference
