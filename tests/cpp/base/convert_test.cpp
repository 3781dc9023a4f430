#include "base/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

namespace opentrn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Convert, FloatsBeyondAnIntegerGiveWhatX86Gives) {
  EXPECT_EQ(convert_element<int64_t>(1e30), INT64_MIN);
  EXPECT_EQ(convert_element<int64_t>(0x1p63), INT64_MIN);
  EXPECT_EQ(convert_element<int64_t>(-0x1p63), INT64_MIN);
  EXPECT_EQ(convert_element<int64_t>(0x1p63 - 1024), INT64_MAX - 1023);
  EXPECT_EQ(convert_element<int64_t>(kNaN), INT64_MIN);
  EXPECT_EQ(convert_element<int32_t>(2147483647.9), INT32_MAX);
  EXPECT_EQ(convert_element<int32_t>(2147483648.0), INT32_MIN);
  EXPECT_EQ(convert_element<int32_t>(-2147483648.9), INT32_MIN);
  EXPECT_EQ(convert_element<int32_t>(-1.9f), -1);
  EXPECT_EQ(convert_element<int8_t>(300.0f), 44);
  EXPECT_EQ(convert_element<int8_t>(1e30f), 0);
  EXPECT_EQ(convert_element<int16_t>(-32769.0), 32767);
  EXPECT_EQ(convert_element<uint8_t>(-1.0f), 255);
  EXPECT_EQ(convert_element<uint8_t>(4294967295.0), 255);
  EXPECT_EQ(convert_element<uint16_t>(70000.0), 4464);
  EXPECT_EQ(convert_element<uint16_t>(4294967295.0), 0);
  EXPECT_EQ(convert_element<uint32_t>(4294967295.0), 4294967295u);
  EXPECT_EQ(convert_element<uint64_t>(0x1p63), uint64_t{1} << 63);
  EXPECT_EQ(convert_element<uint64_t>(-1.0), ~uint64_t{0});
  EXPECT_EQ(convert_element<uint64_t>(0x1p64), 0u);
  EXPECT_EQ(convert_element<uint64_t>(kNaN), uint64_t{1} << 63);
}

TEST(Convert, IntegersWrap) {
  EXPECT_EQ(convert_element<int8_t>(int64_t{200}), -56);
  EXPECT_EQ(convert_element<uint32_t>(int64_t{-1}), 4294967295u);
  EXPECT_EQ(convert_element<int64_t>(~uint64_t{0}), -1);
}

TEST(Convert, WhateverIsNotZeroIsTrue) {
  EXPECT_TRUE(convert_element<bool>(kNaN));
  EXPECT_TRUE(convert_element<bool>(0.5f));
  EXPECT_FALSE(convert_element<bool>(-0.0));
  EXPECT_TRUE(convert_element<bool>(int64_t{256}));
  EXPECT_TRUE(convert_element<bool>(std::complex<float>(0, 1)));
  EXPECT_FALSE(convert_element<bool>(std::complex<float>(0, 0)));
  EXPECT_TRUE(convert_element<bool>(Half(0x1p-24f)));
}

TEST(Convert, ComplexToRealDropsTheImaginaryPart) {
  EXPECT_EQ(convert_element<float>(std::complex<double>(1.5, 9)), 1.5f);
  EXPECT_EQ(convert_element<int32_t>(std::complex<float>(-2.5f, 9)), -2);
  EXPECT_EQ(convert_element<std::complex<double>>(int64_t{3}), std::complex<double>(3, 0));
  Float8E8M0FNU one(1.0f);
  EXPECT_EQ(convert_element<std::complex<float>>(one), std::complex<float>(1, 0));
  const ComplexHalf half = convert_element<ComplexHalf>(std::complex<double>(0.1, kInfinity));
  EXPECT_EQ(half.real.bits, Half(0.1f).bits);
  EXPECT_EQ(half.imag.bits, 0x7C00);
}

// Numbers as an array of a type, and back.
std::vector<std::byte> array_of(DType dtype, const std::vector<double>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * static_cast<size_t>(size_of(dtype)));
  visit_dtype(dtype, [&]<typename T>() {
    for (size_t i = 0; i < numbers.size(); ++i) {
      const T element = convert_element<T>(numbers[i]);
      std::memcpy(bytes.data() + i * sizeof(T), static_cast<const void*>(&element), sizeof(T));
    }
  });
  return bytes;
}

std::vector<double> numbers_of(DType dtype, const std::vector<std::byte>& bytes) {
  std::vector<double> numbers;
  visit_dtype(dtype, [&]<typename T>() {
    for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T element;
      std::memcpy(static_cast<void*>(&element), bytes.data() + at, sizeof(T));
      numbers.push_back(convert_element<double>(element));
    }
  });
  return numbers;
}

// Small powers of two exist in every type, and a bool keeps only whether they are zero.
std::vector<double> expected(DType from, DType to, std::vector<double> numbers) {
  if (is_bool(from) || is_bool(to)) {
    for (double& number : numbers) number = number != 0 ? 1 : 0;
  }
  return numbers;
}

TEST(Convert, EveryPairOfTypesKeepsSmallIntegers) {
  std::vector<double> row;
  for (int i = 0; i < 37; ++i) row.push_back(1 << (i % 4));
  for (const DTypeInfo& from : dtype_table()) {
    for (const DTypeInfo& to : dtype_table()) {
      const bool no_zero = from.dtype == DType::F8E8M0FNU || to.dtype == DType::F8E8M0FNU;
      for (const std::vector<double>& numbers : {std::vector<double>{2}, {no_zero ? 1.0 : 0.0}, row}) {
        const auto n = static_cast<int64_t>(numbers.size());
        const std::vector<std::byte> source = array_of(from.dtype, numbers);
        std::vector<std::byte> destination(numbers.size() * static_cast<size_t>(size_of(to.dtype)));
        convert_strided(source.data(), from.dtype, {1}, destination.data(), to.dtype, {1}, {n});
        EXPECT_EQ(numbers_of(to.dtype, destination), expected(from.dtype, to.dtype, numbers))
            << from.name << " to " << to.name;
      }
    }
  }
}

TEST(Convert, AByteThatIsNoBoolCountsAsTrue) {
  const uint8_t source[3] = {0, 1, 7};
  float destination[3] = {};
  convert_strided(source, DType::Bool, {1}, destination, DType::F32, {1}, {3});
  EXPECT_EQ(destination[0], 0.0f);
  EXPECT_EQ(destination[1], 1.0f);
  EXPECT_EQ(destination[2], 1.0f);
}

struct Layout {
  Dims shape, strides;
  int64_t elements = 1;
};

// A random dense layout: the strides of the shape in a random order of dimensions, with room for gaps.
Layout random_layout(const Dims& shape, std::mt19937& random) {
  std::vector<size_t> order(shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  Layout layout{shape, Dims(shape.size()), 1};
  for (const size_t dimension : order) {
    layout.strides[dimension] = layout.elements;
    layout.elements *= shape[dimension] + static_cast<int64_t>(random() % 2);
  }
  return layout;
}

int64_t offset(const Dims& strides, const Dims& index) {
  int64_t result = 0;
  for (size_t i = 0; i < index.size(); ++i) result += strides[i] * index[i];
  return result;
}

bool advance(Dims& index, const Dims& shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return true;
    index[i] = 0;
  }
  return false;
}

template <typename From, typename To>
void check_layouts(DType from, DType to, const Dims& shape, std::mt19937& random) {
  const Layout source = random_layout(shape, random);
  const Layout destination = random_layout(shape, random);
  std::vector<From> input(static_cast<size_t>(source.elements));
  for (From& value : input) value = static_cast<From>(random() % 1000);
  std::vector<To> output(static_cast<size_t>(destination.elements), To(-1));
  convert_strided(input.data(), from, source.strides, output.data(), to, destination.strides, shape);
  std::vector<To> naive(output.size(), To(-1));
  Dims index(shape.size(), 0);
  do {
    naive[static_cast<size_t>(offset(destination.strides, index))] =
        static_cast<To>(input[static_cast<size_t>(offset(source.strides, index))]);
  } while (advance(index, shape));
  ASSERT_EQ(output, naive) << to_string(shape) << to_string(source.strides) << to_string(destination.strides);
}

TEST(Convert, EveryLayoutGivesTheSameElementsAndTouchesNoOther) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    Dims shape(random() % 6);
    for (int64_t& size : shape) size = 1 + static_cast<int64_t>(random() % 7);
    check_layouts<float, float>(DType::F32, DType::F32, shape, random);
    check_layouts<float, double>(DType::F32, DType::F64, shape, random);
    check_layouts<int64_t, int16_t>(DType::I64, DType::I16, shape, random);
  }
}

TEST(Convert, LargeTensorsAreSharedOut) {
  std::mt19937 random(2);
  for (const Dims& shape : {Dims{300000}, Dims{500, 700}, Dims{2, 200000}, Dims{3, 100, 7, 200}}) {
    for (int round = 0; round < 4; ++round) {
      check_layouts<float, float>(DType::F32, DType::F32, shape, random);
      check_layouts<int32_t, float>(DType::I32, DType::F32, shape, random);
    }
  }
}

TEST(Convert, ExpandedAndReversedSources) {
  const float source[3] = {1, 2, 3};
  float expanded[6] = {};
  convert_strided(source, DType::F32, {0, 1}, expanded, DType::F32, {3, 1}, {2, 3});
  EXPECT_EQ(std::vector<float>(expanded, expanded + 6), (std::vector<float>{1, 2, 3, 1, 2, 3}));
  float reversed[3] = {};
  convert_strided(source + 2, DType::F32, {-1}, reversed, DType::F32, {1}, {3});
  EXPECT_EQ(std::vector<float>(reversed, reversed + 3), (std::vector<float>{3, 2, 1}));
}

TEST(Convert, NothingIsReadOrWrittenWithoutElements) {
  convert_strided(nullptr, DType::F32, {1, 1}, nullptr, DType::I64, {1, 1}, {3, 0});
}

}  // namespace
}  // namespace opentrn
