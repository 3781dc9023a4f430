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

/// What a test of one pair of types needs to know of them: the only part that is compiled for every pair.
struct Pair {
  int64_t from_size, to_size;
  size_t to_alignment;
  std::vector<std::byte> (*patterns)(int64_t n);
  void (*convert)(int64_t n, const std::byte* in, std::byte* out);
  int64_t (*first_difference)(int64_t n, const std::byte* x, const std::byte* y);  // n: there is none
};

template <typename T>
std::vector<std::byte> pattern_bytes(int64_t n) {
  const std::vector<T> values = patterns<T>(n);
  const std::byte* first = bytes(values.data());
  return {first, first + values.size() * sizeof(T)};
}

template <typename T>
T element(const std::byte* array, int64_t i) {
  T value;
  std::memcpy(static_cast<void*>(&value), array + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename From, typename To>
void convert_plainly(int64_t n, const std::byte* in, std::byte* out) {
  for (int64_t i = 0; i < n; ++i) {
    const To value = plain_convert<To>(element<From>(in, i));
    std::memcpy(out + i * static_cast<int64_t>(sizeof(To)), static_cast<const void*>(&value), sizeof(To));
  }
}

template <typename T>
int64_t first_difference(int64_t n, const std::byte* x, const std::byte* y) {
  int64_t i = 0;
  while (i < n && same_element(element<T>(x, i), element<T>(y, i))) ++i;
  return i;
}

template <typename From, typename To>
constexpr Pair kPair{sizeof(From),        sizeof(To), alignof(To), pattern_bytes<From>, convert_plainly<From, To>,
                     first_difference<To>};

/// Elements `step` places apart, as a dense array. A negative step counts from the end.
std::vector<std::byte> spread(const std::byte* array, int64_t n, int64_t size, int64_t step) {
  std::vector<std::byte> result;
  for (int64_t i = 0; i < n; ++i) {
    const std::byte* from = array + (step < 0 ? n - 1 - i : i * step) * size;
    result.insert(result.end(), from, from + size);
  }
  return result;
}

void check_load(LoadKernel load, const Pair& pair, int64_t n) {
  ASSERT_NE(load, nullptr);
  const std::vector<std::byte> values = pair.patterns(n);
  const std::byte* last = values.data() + (n - 1) * pair.from_size;
  const struct {
    const std::byte* start;
    int64_t step;
    std::vector<std::byte> dense;
  } cases[] = {{values.data(), 1, values},
               {last, 0, spread(last, n, pair.from_size, 0)},
               {last, -1, spread(values.data(), n, pair.from_size, -1)}};
  for (const auto& [start, step, dense] : cases) {
    std::vector<std::byte> expected(static_cast<size_t>(n * pair.to_size));
    pair.convert(n, dense.data(), expected.data());
    Guarded<std::byte> out(n * pair.to_size, pair.to_alignment);
    load(n, out.start(), start, step * pair.from_size);
    ASSERT_EQ(pair.first_difference(n, out.data(), expected.data()), n) << "step " << step;
    ASSERT_TRUE(out.intact());
  }
}

void check_store(StoreKernel store, const Pair& pair, int64_t n) {
  ASSERT_NE(store, nullptr);
  const std::vector<std::byte> values = pair.patterns(n);
  std::vector<std::byte> expected(static_cast<size_t>(n * pair.to_size));
  pair.convert(n, values.data(), expected.data());
  for (const int64_t step : {1, 2}) {
    Guarded<std::byte> out(step * n * pair.to_size, pair.to_alignment);
    store(n, out.start(), step * pair.to_size, values.data());
    const std::vector<std::byte> dense = spread(out.data(), n, pair.to_size, step);
    ASSERT_EQ(pair.first_difference(n, dense.data(), expected.data()), n) << "step " << step;
    ASSERT_TRUE(out.intact());
  }
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
void for_every_pair(bool load, const Check& check) {
  for (const DTypeInfo& row : dtype_table()) {
    for (const ComputeType type : kComputeTypes) {
      visit_dtype(row.dtype, [&]<typename T>() {
        if constexpr (!std::is_same_v<T, bool>) {
          visit_compute(type, [&]<typename C>() { check(row, type, load ? kPair<T, C> : kPair<C, T>); });
        }
      });
    }
  }
}

TEST_P(KernelsConvert, LoadsOfEveryPairOfTypes) {
  for_every_pair(true, [&](const DTypeInfo& from, ComputeType to, const Pair& pair) {
    SCOPED_TRACE(std::string(from.name) + " to " + std::string(name(dtype_of(to))));
    for (const int64_t n : {1, 17, 300}) check_load(table().load(from.dtype, to), pair, n);
    if (pair.from_size == 2 && to == ComputeType::F32) check_load(table().load(from.dtype, to), pair, 65536);
  });
}

TEST_P(KernelsConvert, StoresOfEveryPairOfTypes) {
  for_every_pair(false, [&](const DTypeInfo& to, ComputeType from, const Pair& pair) {
    SCOPED_TRACE(std::string(name(dtype_of(from))) + " to " + std::string(to.name));
    for (const int64_t n : {1, 17, 300}) check_store(table().store(from, to.dtype), pair, n);
    if (pair.to_size <= 2 && from == ComputeType::F32) check_store(table().store(from, to.dtype), pair, 100000);
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
