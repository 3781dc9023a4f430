// What the tests of the emulator's kernels share: numbers that reach the edges of their types, and a loop over the
// instruction sets of this machine.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "neuroncore/emulator/kernels.h"

namespace opentrn::neuroncore::emulator {

inline constexpr int64_t kLengths[] = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000};

/// Runs a test for one table at a time.
class Kernels : public ::testing::TestWithParam<const KernelTable*> {
 protected:
  const KernelTable& table() const { return *GetParam(); }
};

inline std::string set_name(const ::testing::TestParamInfo<const KernelTable*>& info) {
  return std::string(info.param->instruction_set);
}

#define OPENTRN_FOR_EVERY_INSTRUCTION_SET(suite)                                                                     \
  INSTANTIATE_TEST_SUITE_P(Sets, suite, ::testing::ValuesIn(available_kernels().begin(), available_kernels().end()), \
                           set_name)

template <typename T>
struct ComputeTypeOf;
template <>
struct ComputeTypeOf<float> : std::integral_constant<ComputeType, ComputeType::F32> {};
template <>
struct ComputeTypeOf<double> : std::integral_constant<ComputeType, ComputeType::F64> {};
template <>
struct ComputeTypeOf<int32_t> : std::integral_constant<ComputeType, ComputeType::I32> {};
template <>
struct ComputeTypeOf<uint32_t> : std::integral_constant<ComputeType, ComputeType::U32> {};
template <>
struct ComputeTypeOf<int64_t> : std::integral_constant<ComputeType, ComputeType::I64> {};
template <>
struct ComputeTypeOf<uint64_t> : std::integral_constant<ComputeType, ComputeType::U64> {};
template <>
struct ComputeTypeOf<std::complex<float>> : std::integral_constant<ComputeType, ComputeType::C64> {};
template <>
struct ComputeTypeOf<std::complex<double>> : std::integral_constant<ComputeType, ComputeType::C128> {};

template <typename T>
const std::byte* bytes(const T* values) {
  return reinterpret_cast<const std::byte*>(values);
}
template <typename T>
std::byte* bytes(T* values) {
  return reinterpret_cast<std::byte*>(values);
}

/// The numbers at which implementations go wrong.
template <typename T>
std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    const T inf = Limits::infinity();
    return {T(0),
            -T(0),
            T(1),
            -T(1),
            T(2),
            -T(2),
            T(3),
            T(0.5),
            -T(0.5),
            T(1.5),
            T(2.5),
            -T(2.5),
            Limits::quiet_NaN(),
            inf,
            -inf,
            Limits::max(),
            Limits::lowest(),
            Limits::min(),
            -Limits::min(),
            Limits::denorm_min(),
            -Limits::denorm_min(),
            T(255.5),
            T(-128.5),
            T(65535.5),
            T(2147483648.0),
            T(-2147483904.0),
            T(4294967296.0),
            T(9.3e18),
            T(-9.3e18),
            T(1.9e19),
            T(1e-5)};
  } else if constexpr (std::is_integral_v<T>) {
    return {T(0),
            T(1),
            static_cast<T>(-1),
            T(2),
            static_cast<T>(-2),
            T(3),
            T(5),
            T(31),
            T(32),
            T(33),
            T(63),
            T(64),
            T(127),
            T(255),
            T(256),
            T(65535),
            Limits::max(),
            Limits::min(),
            static_cast<T>(Limits::max() - 1),
            static_cast<T>(Limits::min() + 1),
            T(0x12345678)};
  } else {
    using Part = typename T::value_type;
    return {T(0, 0), T(1, 0), T(0, 1), T(-1, 2), T(Part(0.5), Part(-1.5)), T(3, 4), T(-2, -2), T(Part(1e10), 1)};
  }
}

/// `n` numbers: the edges in every combination with themselves, then random ones of all sizes.
template <typename T>
std::vector<T> sample(int64_t n, uint32_t seed) {
  const std::vector<T> special = edges<T>();
  std::mt19937_64 random(seed);
  std::vector<T> values;
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    const bool edge = random() % 2 == 0 || at < special.size();
    const auto draw = [&] { return static_cast<double>(random() % 20001) / 1000.0 - 10.0; };
    if (edge) {
      values.push_back(special[at < special.size() ? (at * seed + seed) % special.size() : random() % special.size()]);
    } else if constexpr (std::is_integral_v<T>) {
      values.push_back(static_cast<T>(random() >> (random() % 64)));
    } else if constexpr (std::is_floating_point_v<T>) {
      values.push_back(static_cast<T>(draw()));
    } else {
      values.push_back(T(static_cast<typename T::value_type>(draw()), static_cast<typename T::value_type>(draw())));
    }
  }
  return values;
}

/// The same bits, but that any NaN equals any other.
template <typename T>
bool same(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
  } else if constexpr (std::is_integral_v<T>) {
    return x == y;
  } else {
    return same(x.real(), y.real()) && same(x.imag(), y.imag());
  }
}

/// Memory for `n` elements that starts where no vector is aligned and whose rims must stay untouched.
template <typename T>
class Guarded {
 public:
  explicit Guarded(int64_t n, size_t alignment = alignof(T))
      : memory_(static_cast<size_t>(n) * sizeof(T) + 3 * kRim, kGuard), n_(n), alignment_(alignment) {}
  T* data() { return reinterpret_cast<T*>(start()); }
  std::byte* start() {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    return memory_.data() + (kRim - address % kRim) + alignment_;
  }
  bool intact() {
    const std::byte* end = start() + static_cast<size_t>(n_) * sizeof(T);
    for (const std::byte* at = memory_.data(); at < start(); ++at) {
      if (*at != kGuard) return false;
    }
    for (const std::byte* at = end; at < memory_.data() + memory_.size(); ++at) {
      if (*at != kGuard) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kRim = 64;
  static constexpr std::byte kGuard{0xA7};
  std::vector<std::byte> memory_;
  int64_t n_;
  size_t alignment_;
};

}  // namespace opentrn::neuroncore::emulator
