#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

#include "base/convert.h"
#include "base/error.h"
#include "ir/builder.h"
#include "ir/constants.h"

namespace opentrn::ir {
namespace {

class BuilderCompute : public testing::Test {
 protected:
  Value of(Dims shape, DType dtype = DType::F32) { return builder.parameter({dtype, std::move(shape)}); }
  std::string type(Value value) { return to_string(builder.type(value)); }

  void refuses(const std::string& part, const std::function<void()>& action) {
    try {
      action();
      ADD_FAILURE() << "nothing was raised, expected: " << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Runtime);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  Builder builder;
};

TEST_F(BuilderCompute, DotGeneral) {
  const Value lhs = of({2, 3, 4}, DType::BF16);
  const Value rhs = of({5, 4, 2}, DType::BF16);
  EXPECT_EQ(type(builder.dot_general(lhs, rhs, {{0}, {2}, {2}, {1}}, DType::F32)), "tensor<2x3x5xf32>");
  EXPECT_EQ(type(builder.dot_general(lhs, rhs, {{}, {}, {}, {}}, DType::BF16)), "tensor<2x3x4x5x4x2xbf16>");
  refuses("contracting_dimensions 0 has two sizes",
          [&] { builder.dot_general(lhs, rhs, {{}, {}, {2}, {0}}, DType::F32); });
  refuses("rhs_batching_dimensions", [&] { builder.dot_general(lhs, rhs, {{0}, {}, {2}, {1}}, DType::F32); });
  refuses("twice", [&] { builder.dot_general(lhs, rhs, {{2}, {1}, {2}, {1}}, DType::F32); });
  refuses("out of range", [&] { builder.dot_general(lhs, rhs, {{}, {}, {3}, {1}}, DType::F32); });
  refuses("operand 1 has another element type",
          [&] { builder.dot_general(lhs, of({5, 4, 2}), {{0}, {2}, {2}, {1}}, DType::F32); });
  for (const DType wrong : {DType::F16, DType::I32, DType::F8E5M2, DType::C64}) {
    refuses("wrong element type", [&] { builder.dot_general(lhs, rhs, {{0}, {2}, {2}, {1}}, wrong); });
  }
  const Value bools = of({2}, DType::Bool);
  refuses("wrong element type", [&] { builder.dot_general(bools, bools, {{}, {}, {0}, {0}}, DType::Bool); });
}

TEST_F(BuilderCompute, Reduce) {
  EXPECT_EQ(type(builder.reduce(of({2, 3, 4}), of({}), Op::Add, {2, 0})), "tensor<3xf32>");
  EXPECT_EQ(type(builder.reduce(of({2, 3}, DType::Bool), Op::Or, {0, 1})), "tensor<i1>");
  EXPECT_EQ(type(builder.reduce(of({2}), Op::Maximum, {})), "tensor<2xf32>");
  refuses("operand 1", [&] { builder.reduce(of({2}), of({1}), Op::Add, {0}); });
  refuses("operand 1", [&] { builder.reduce(of({2}), of({}, DType::F64), Op::Add, {0}); });
  refuses("reducer", [&] { builder.reduce(of({2}), of({}), Op::And, {0}); });
  refuses("reducer", [&] { builder.reduce(of({2}), of({}), Op::Subtract, {0}); });
  refuses("reducer", [&] { builder.reduce(of({2}, DType::C64), of({}, DType::C64), Op::Maximum, {0}); });
  refuses("twice", [&] { builder.reduce(of({2, 2}), of({}), Op::Add, {0, 0}); });
  refuses("out of range", [&] { builder.reduce(of({2}), of({}), Op::Add, {1}); });
}

// e is neutral when reducing it with any element gives that element.
template <typename T>
void check_neutral(DType dtype, const std::vector<T>& values) {
  const auto neutral = [dtype](Op op) {
    T value;
    std::memcpy(static_cast<void*>(&value), neutral_element(op, dtype).data(), sizeof(T));
    return value;
  };
  for (const T value : values) {
    EXPECT_EQ(static_cast<T>(neutral(Op::Add) + value), value);
    EXPECT_EQ(static_cast<T>(neutral(Op::Multiply) * value), value);
    EXPECT_FALSE(value < neutral(Op::Maximum));
    EXPECT_FALSE(neutral(Op::Minimum) < value);
    if constexpr (std::is_integral_v<T>) {
      EXPECT_EQ(static_cast<T>(neutral(Op::And) & value), value);
      EXPECT_EQ(static_cast<T>(neutral(Op::Or) | value), value);
      EXPECT_EQ(static_cast<T>(neutral(Op::Xor) ^ value), value);
    }
  }
}

TEST_F(BuilderCompute, NeutralElements) {
  check_neutral<int64_t>(DType::I64, {INT64_MIN, -1, 0, 1, INT64_MAX});
  check_neutral<int8_t>(DType::I8, {-128, 0, 127});
  check_neutral<uint64_t>(DType::U64, {0, 1, UINT64_MAX});
  check_neutral<uint8_t>(DType::U8, {0, 255});
  const float infinity = std::numeric_limits<float>::infinity();
  check_neutral<float>(DType::F32, {-infinity, 0, infinity});
  check_neutral<double>(DType::F64, {-1e308, 0, 1e308});
  check_neutral<Half>(DType::F16, {Half(-infinity), Half(1.0f), Half(infinity)});
  check_neutral<Float8E4M3FN>(DType::F8E4M3FN, {Float8E4M3FN(-448.0f), Float8E4M3FN(448.0f)});
  check_neutral<Float8E4M3FNUZ>(DType::F8E4M3FNUZ, {Float8E4M3FNUZ(-240.0f), Float8E4M3FNUZ(240.0f)});
  check_neutral<Float8E5M2FNUZ>(DType::F8E5M2FNUZ, {Float8E5M2FNUZ(-57344.0f), Float8E5M2FNUZ(57344.0f)});
  check_neutral<Float8E5M2>(DType::F8E5M2, {Float8E5M2(-infinity), Float8E5M2(infinity)});
  EXPECT_EQ(neutral_element(Op::And, DType::Bool), std::vector{std::byte{1}});
  EXPECT_EQ(neutral_element(Op::Minimum, DType::Bool), std::vector{std::byte{1}});
  EXPECT_EQ(neutral_element(Op::Maximum, DType::Bool), std::vector{std::byte{0}});
  EXPECT_THROW(neutral_element(Op::Add, DType::F8E8M0FNU), Error);
  EXPECT_THROW(neutral_element(Op::Subtract, DType::F32), Error);
}

TEST_F(BuilderCompute, ReduceWindow) {
  const ReduceWindowAttributes window{Op::Maximum, {2, 3}, {1, 2}, {1, 2}, {2, 1}, {0, 1}, {1, -1}};
  EXPECT_EQ(type(builder.reduce_window(of({6, 8}), of({}), window)), "tensor<5x7xf32>");
  const ReduceWindowAttributes scan{Op::Add, {5}, {1}, {1}, {1}, {4}, {0}};
  EXPECT_EQ(type(builder.reduce_window(of({5}), of({}), scan)), "tensor<5xf32>");
  EXPECT_EQ(type(builder.reduce_window(of({0}), of({}), {Op::Add, {2}, {1}, {1}, {1}, {0}, {0}})), "tensor<0xf32>");
  refuses("window_strides", [&] { builder.reduce_window(of({5}), of({}), {Op::Add, {5}, {0}, {1}, {1}, {4}, {0}}); });
  refuses("window_dimensions", [&] { builder.reduce_window(of({5}), of({}), {Op::Add, {}, {1}, {1}, {1}, {4}, {0}}); });
  refuses("padding_high", [&] { builder.reduce_window(of({5}), of({}), {Op::Add, {5}, {1}, {1}, {1}, {4}, {}}); });
  refuses("reducer", [&] { builder.reduce_window(of({5}), of({}), {Op::Select, {5}, {1}, {1}, {1}, {4}, {0}}); });
}

TEST_F(BuilderCompute, Sort) {
  const std::vector<Value> operands{of({2, 3}), of({2, 3}, DType::C64)};
  const std::vector<Value> sorted = builder.sort(operands, {.dimension = 1});
  ASSERT_EQ(sorted.size(), 2u);
  EXPECT_EQ(type(sorted[1]), "tensor<2x3xcomplex<f32>>");
  refuses("out of range", [&] { builder.sort(operands, {.dimension = 2}); });
  refuses("out of range", [&] { builder.sort(std::vector<Value>{of({})}, {.dimension = 0}); });
  refuses("operand 1 has another shape", [&] { builder.sort(std::vector<Value>{of({2}), of({3})}, {}); });
  refuses("no order", [&] { builder.sort(std::vector<Value>{of({2}, DType::C64)}, {}); });
  refuses("no operands", [&] { builder.sort({}, {}); });
}

TEST_F(BuilderCompute, RandomBits) {
  const auto [state, bits] = builder.rng_bit_generator(of({2}, DType::U64), {DType::U32, {3, 5}});
  EXPECT_EQ(type(state), "tensor<2xui64>");
  EXPECT_EQ(type(bits), "tensor<3x5xui32>");
  refuses("operand 0", [&] { builder.rng_bit_generator(of({3}, DType::U64), {DType::U32, {3}}); });
  refuses("result", [&] { builder.rng_bit_generator(of({2}, DType::U64), {DType::F32, {3}}); });
}

TEST_F(BuilderCompute, CustomCalls) {
  EXPECT_EQ(type(builder.checked_index(of({3}, DType::I32), 10, 1, "aten.index")), "tensor<3xi32>");
  refuses("operand 0 is no index", [&] { builder.checked_index(of({3}), 10, 1, "aten.index"); });
  refuses("negative", [&] { builder.checked_index(of({3}, DType::I32), -1, 1, "aten.index"); });
  EXPECT_EQ(type(builder.check(of({}, DType::Bool), of({3}), "no")), "tensor<3xf32>");
  refuses("operand 0", [&] { builder.check(of({1}, DType::Bool), of({3}), "no"); });
}

TEST_F(BuilderCompute, ParametersHaveNoNegativeSizes) {
  refuses("negative", [&] { of({2, -1}); });
}

}  // namespace
}  // namespace opentrn::ir
