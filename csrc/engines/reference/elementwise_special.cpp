// Element-wise primitives that work on the bits of a number, or are too rare for a loop of their own.
#include <cmath>
#include <cstring>
#include <numbers>

#include "engines/reference/wide.h"

namespace opentrn::engines::reference {

namespace {

struct FloatFormat {
  int exponent_bits = 0;
  int mantissa_bits = 0;
};

FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::F16: return {5, 10};
    case DType::BF16: return {8, 7};
    case DType::F32: return {8, 23};
    case DType::F64: return {11, 52};
    default: raise_unsupported("stablehlo.reduce_precision", dtype);
  }
}

/// Rounds bits of `from` to what `to` can hold: to nearest, ties to even; what is too large becomes infinity, what is
/// too small zero.
struct Reduce {
  FloatFormat from;
  ir::ReducePrecisionAttributes to;

  uint64_t operator()(uint64_t bits) const {
    const uint64_t exponent_mask = ((uint64_t{1} << from.exponent_bits) - 1) << from.mantissa_bits;
    const uint64_t sign = bits & uint64_t{1} << (from.exponent_bits + from.mantissa_bits);
    uint64_t magnitude = bits ^ sign;
    // NaN stays NaN, but a format without mantissa has none.
    if (magnitude > exponent_mask) return to.mantissa_bits > 0 ? bits : sign | exponent_mask;
    if (to.mantissa_bits < from.mantissa_bits) {
      const auto dropped = static_cast<int>(from.mantissa_bits - to.mantissa_bits);
      const uint64_t last = uint64_t{1} << dropped;
      magnitude += (last >> 1) - 1 + ((magnitude & last) >> dropped);
      magnitude &= ~(last - 1);
    }
    if (to.exponent_bits < from.exponent_bits) {
      const uint64_t from_bias = (uint64_t{1} << (from.exponent_bits - 1)) - 1;
      const uint64_t to_bias = (uint64_t{1} << (to.exponent_bits - 1)) - 1;
      const uint64_t exponent = magnitude >> from.mantissa_bits;
      if (exponent > from_bias + to_bias) magnitude = exponent_mask;
      if (exponent <= from_bias - to_bias) magnitude = 0;
    }
    return sign | magnitude;
  }
};

template <typename Word, typename Function>
Kernel bits_kernel(const Problem& problem, Function function) {
  const std::array<const View*, 2> views{&problem.results[0], &problem.operands[0]};
  return [nest = make_nest(views), function](std::byte* const* operands, std::byte* const* results) {
    run_parallel(nest, {results[0], operands[0]}, kGrain / 4,
                 [&](int64_t n, std::byte* const* pointers, const int64_t* steps) {
                   for (int64_t i = 0; i < n; ++i) {
                     Word word;
                     std::memcpy(&word, pointers[1] + i * steps[1], sizeof(Word));
                     const auto changed = static_cast<Word>(function(word));
                     std::memcpy(pointers[0] + i * steps[0], &changed, sizeof(Word));
                   }
                 });
  };
}

template <typename Function>
Kernel bits_kernel_for(const Problem& problem, Function function) {
  switch (problem.results[0].item_size()) {
    case 1: return bits_kernel<uint8_t>(problem, function);
    case 2: return bits_kernel<uint16_t>(problem, function);
    case 4: return bits_kernel<uint32_t>(problem, function);
    default: return bits_kernel<uint64_t>(problem, function);
  }
}

// e^-|x| I_1(x): the power series, whose terms are all positive, or for large x the asymptotic one.
double bessel_i1e(double value) {
  const long double x = std::fabs(static_cast<long double>(value));
  if (std::isnan(value) || x == 0) return value;
  if (std::isinf(value)) return std::copysign(0.0, value);
  constexpr long double kSwitch = 40;  // beyond, the smallest term of the asymptotic series is below e^-80
  long double sum = 0;
  if (x < kSwitch) {
    long double term = x / 2;
    for (int k = 1; term > sum * 1e-21L; ++k) {
      sum += term;
      term *= x * x / (4 * static_cast<long double>(k) * static_cast<long double>(k + 1));
    }
    sum *= std::exp(-x);
  } else {
    long double term = 1;
    for (int k = 1; k < 80 && std::fabs(term) > 1e-21L; ++k) {
      sum += term;
      const long double odd = 2 * k - 1;
      term *= (odd * odd - 4) / (8 * x * static_cast<long double>(k));
    }
    sum /= std::sqrt(2 * std::numbers::pi_v<long double> * x);
  }
  return static_cast<double>(std::copysign(sum, static_cast<long double>(value)));
}

}  // namespace

Kernel reduce_precision_kernel(const Problem& problem) {
  const FloatFormat from = format_of(problem.operands[0].dtype);
  return bits_kernel_for(problem, Reduce{from, problem.node.as<ir::ReducePrecisionAttributes>()});
}

Kernel count_leading_zeros_kernel(const Problem& problem) {
  const auto unused = static_cast<int>(64 - 8 * problem.results[0].item_size());
  return bits_kernel_for(problem, [unused](uint64_t word) -> uint64_t {
    return static_cast<uint64_t>((word == 0 ? 64 : __builtin_clzll(word)) - unused);
  });
}

Kernel bessel_i1e_kernel(const Problem& problem) {
  return [in = WideCopy(problem.operands[0]), out = WideCopy(problem.results[0])](std::byte* const* operands,
                                                                                  std::byte* const* results) {
    std::vector<double> values = in.load<double>(operands[0]);
    for (double& value : values) value = bessel_i1e(value);
    out.store(values, results[0]);
  };
}

}  // namespace opentrn::engines::reference
