// Loads and stores, for every instruction set and pair of types, against plain C++.
#include <gtest/gtest.h>

#include "base/convert.h"
#include "tests/cpp/neuroncore/kernels_test_support.h"

namespace opentrn::neuroncore::emulator {
namespace {

class KernelsConvert : public Kernels {};
OPENTRN_FOR_EVERY_INSTRUCTION_SET(KernelsConvert);

constexpr ComputeType kComputeTypes[] = {ComputeType::F32, ComputeType::I32, ComputeType::U32, ComputeType::I64,
                                         ComputeType::U64, ComputeType::F64, ComputeType::C64, ComputeType::C128};

// Half to even and saturated, by the C library.
template <typename To>
To plain_round(double value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  if (rounded <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (rounded >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(rounded);
}

template <typename To, typename From>
To plain_convert(From value) {
  if constexpr (std::is_integral_v<To> && !std::is_same_v<To, bool> && is_narrow_float_type<From>) {
    return plain_round<To>(static_cast<double>(static_cast<float>(value)));
  } else if constexpr (std::is_integral_v<To> && !std::is_same_v<To, bool> && std::is_floating_point_v<From>) {
    return plain_round<To>(static_cast<double>(value));
  } else if constexpr (std::is_integral_v<To> && !std::is_same_v<To, bool> && is_complex_type<From>) {
    return plain_convert<To>(detail::real_part(value));
  } else {
    return convert_element<To>(value);
  }
}

template <typename T>
bool same_element(T x, T y) {
  if constexpr (std::is_same_v<T, bool>) {
    return x == y;
  } else if constexpr (is_narrow_float_type<T>) {
    return x.bits == y.bits || (std::isnan(static_cast<float>(x)) && std::isnan(static_cast<float>(y)));
  } else if constexpr (std::is_same_v<T, ComplexHalf>) {
    return same_element(x.real, y.real) && same_element(x.imag, y.imag);
  } else {
    return same(x, y);
  }
}

// Every bit pattern of the small types; the edges and random patterns of the others.
template <typename T>
std::vector<T> patterns(int64_t n) {
  std::vector<T> values(static_cast<size_t>(n));
  std::mt19937_64 random(1);
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t words[2] = {sizeof(T) <= 2 ? i : random(), random()};
    if constexpr (std::is_same_v<T, bool>) words[0] &= 1;
    std::memcpy(static_cast<void*>(&values[i]), words, sizeof(T));
  }
  if constexpr (std::is_floating_point_v<T> || (std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) >= 4)) {
    const std::vector<T> special = sample<T>(n / 2, 3);
    std::copy(special.begin(), special.end(), values.begin());
  }
  return values;
}

template <typename To, typename From>
void check_load(const KernelTable& table, DType from, ComputeType to, int64_t n) {
  const LoadKernel load = table.load(from, to);
  ASSERT_NE(load, nullptr);
  const std::vector<From> values = patterns<From>(n);
  Guarded<To> out(n);
  load(n, out.start(), reinterpret_cast<const std::byte*>(&values.front()), static_cast<int64_t>(sizeof(From)));
  for (int64_t i = 0; i < n; ++i) {
    const From value = values[static_cast<size_t>(i)];
    ASSERT_TRUE(same_element(out.data()[i], plain_convert<To>(value))) << name(from) << " " << i;
  }
  load(n, out.start(), reinterpret_cast<const std::byte*>(&values.back()), 0);
  for (int64_t i = 0; i < n; ++i) ASSERT_TRUE(same_element(out.data()[i], plain_convert<To>(From(values.back()))));
  load(n, out.start(), reinterpret_cast<const std::byte*>(&values.back()), -static_cast<int64_t>(sizeof(From)));
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_TRUE(same_element(out.data()[i], plain_convert<To>(From(values[static_cast<size_t>(n - 1 - i)]))));
  }
  ASSERT_TRUE(out.intact());
}

template <typename To, typename From>
void check_store(const KernelTable& table, ComputeType from, DType to, int64_t n) {
  const StoreKernel store = table.store(from, to);
  ASSERT_NE(store, nullptr);
  const std::vector<From> values = patterns<From>(n);
  Guarded<To> out(n), apart(2 * n);
  store(n, out.start(), sizeof(To), reinterpret_cast<const std::byte*>(values.data()));
  store(n, apart.start(), 2 * sizeof(To), reinterpret_cast<const std::byte*>(values.data()));
  for (int64_t i = 0; i < n; ++i) {
    const To expected = plain_convert<To>(values[static_cast<size_t>(i)]);
    ASSERT_TRUE(same_element(out.data()[i], expected)) << name(to) << " of " << values[static_cast<size_t>(i)];
    ASSERT_TRUE(same_element(apart.data()[2 * i], expected));
  }
  ASSERT_TRUE(out.intact());
}

template <typename Function>
void visit_compute(ComputeType type, Function function) {
  switch (type) {
    case ComputeType::F32: return function.template operator()<float>();
    case ComputeType::I32: return function.template operator()<int32_t>();
    case ComputeType::U32: return function.template operator()<uint32_t>();
    case ComputeType::I64: return function.template operator()<int64_t>();
    case ComputeType::U64: return function.template operator()<uint64_t>();
    case ComputeType::F64: return function.template operator()<double>();
    case ComputeType::C64: return function.template operator()<std::complex<float>>();
    case ComputeType::C128: return function.template operator()<std::complex<double>>();
  }
}

// A vector of bool has no elements in a row: bools are tested on their own.
template <typename Check>
void for_every_pair(Check check) {
  for (const DTypeInfo& row : dtype_table()) {
    if (row.dtype == DType::Bool) continue;
    for (const ComputeType type : kComputeTypes) {
      visit_dtype(row.dtype, [&]<typename T>() {
        if constexpr (!std::is_same_v<T, bool>)
          visit_compute(type, [&]<typename C>() { check.template operator()<T, C>(row.dtype, type); });
      });
    }
  }
}

TEST_P(KernelsConvert, LoadsOfEveryPairOfTypes) {
  for_every_pair([&]<typename T, typename C>(DType dtype, ComputeType type) {
    for (const int64_t n : {1, 17, 300}) check_load<C, T>(table(), dtype, type, n);
    if (sizeof(T) == 2 && type == ComputeType::F32) check_load<C, T>(table(), dtype, type, 65536);
  });
}

TEST_P(KernelsConvert, StoresOfEveryPairOfTypes) {
  for_every_pair([&]<typename T, typename C>(DType dtype, ComputeType type) {
    for (const int64_t n : {1, 17, 300}) check_store<T, C>(table(), type, dtype, n);
    if (sizeof(T) <= 2 && type == ComputeType::F32) check_store<T, C>(table(), type, dtype, 100000);
  });
}

TEST_P(KernelsConvert, AnyByteButZeroIsTrueAndTrueIsOne) {
  std::vector<uint8_t> in(100), out(100);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i % 3 == 0 ? 0 : i);
  std::vector<float> floats(100);
  table().load(DType::Bool, ComputeType::F32)(100, bytes(floats.data()), bytes(in.data()), 1);
  for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(floats[i], in[i] != 0 ? 1.0f : 0.0f);
  floats[0] = std::numeric_limits<float>::quiet_NaN();
  floats[3] = -0.0f;
  floats[6] = std::numeric_limits<float>::denorm_min();
  table().store(ComputeType::F32, DType::Bool)(100, bytes(out.data()), 1, bytes(floats.data()));
  for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], i == 0 || i == 6 || in[i] != 0 ? 1 : 0) << i;
}

TEST_P(KernelsConvert, FloatsRoundHalfToEvenAndSaturate) {
  const float in[] = {0.5f,
                      1.5f,
                      2.5f,
                      -0.5f,
                      -1.5f,
                      127.5f,
                      300.0f,
                      -300.0f,
                      std::numeric_limits<float>::infinity(),
                      std::numeric_limits<float>::quiet_NaN()};
  int8_t out[10];
  table().store(ComputeType::F32, DType::I8)(10, bytes(out), 1, bytes(in));
  EXPECT_EQ(std::vector<int8_t>(out, out + 10), (std::vector<int8_t>{0, 2, 2, 0, -2, 127, 127, -128, 127, 0}));
}

TEST_P(KernelsConvert, IntegersAreTruncated) {
  const int32_t in[] = {-1, 256, 511, -257};
  uint8_t out[4];
  table().store(ComputeType::I32, DType::U8)(4, bytes(out), 1, bytes(in));
  EXPECT_EQ(std::vector<uint8_t>(out, out + 4), (std::vector<uint8_t>{255, 0, 255, 255}));
}

}  // namespace
}  // namespace opentrn::neuroncore::emulator
