// tensor_tensor, tensor_scalar, scalar_tensor_tensor, activation: against plain loops.
#include <algorithm>
#include <cmath>

#include "tests/cpp/neuroncore/emulator_samples.h"

namespace opentrn::neuroncore {
namespace {

double apply(AluOp op, double a, double b) {
  switch (op) {
    case AluOp::Add: return a + b;
    case AluOp::Subtract: return a - b;
    case AluOp::Multiply: return a * b;
    case AluOp::Max: return std::max(a, b);
    case AluOp::Min: return std::min(a, b);
    case AluOp::IsEqual: return a == b ? 1 : 0;
    case AluOp::LessThan: return a < b ? 1 : 0;
    case AluOp::LogicalAnd: return a != 0 && b != 0 ? 1 : 0;
    default: ADD_FAILURE() << "not in this test"; return 0;
  }
}

const AluOp kOps[] = {AluOp::Add, AluOp::Subtract, AluOp::Multiply, AluOp::Max,
                      AluOp::Min, AluOp::IsEqual,  AluOp::LessThan, AluOp::LogicalAnd};
const DType kTypes[] = {DType::F32, DType::BF16, DType::F16, DType::I32,   DType::U8,
                        DType::I16, DType::I64,  DType::F64, DType::F8E5M2};

struct Size {
  int64_t partitions, elements;
};
const Size kSizes[] = {{1, 1}, {1, 8}, {3, 7}, {127, 5}, {128, 33}, {128, 513}, {2, 2000}};

// Values that every type but uint8 holds, which saturates: products of small halves and integers.
double written(DType dtype, double value) {
  if (dtype == DType::U8) value = std::clamp(value, 0.0, 255.0);
  Memory one(dtype, 1);
  one.set(0, value);
  return one.at(0);
}

class ElementwiseTypes : public testing::TestWithParam<DType> {};

TEST_P(ElementwiseTypes, TensorTensor) {
  const DType dtype = GetParam();
  for (const Size size : kSizes) {
    const TileShape shape{dtype, size.partitions, size.elements};
    const Memory a = numbers(dtype, shape.size(), 1);
    const Memory b = numbers(dtype, shape.size(), 2);
    for (const AluOp op : kOps) {
      const Program program = on_tiles({shape}, {shape, shape}, [&](Builder& builder, auto& out, auto& in) {
        builder.tensor_tensor(out[0], in[0], in[1], op);
      });
      const auto results = run_on_tiles(program, {a, b}, {Memory(dtype, shape.size())});
      for (int64_t i = 0; i < shape.size(); ++i)
        ASSERT_EQ(results[0].at(i), written(dtype, apply(op, a.at(i), b.at(i)))) << info(op).name << " " << i;
    }
  }
}

TEST_P(ElementwiseTypes, TensorScalarTakesImmediatesAndTiles) {
  const DType dtype = GetParam();
  if (dtype == DType::U8) return;  // two rounded steps saturate only at the end
  for (const Size size : kSizes) {
    const TileShape shape{dtype, size.partitions, size.elements};
    const TileShape column{dtype, size.partitions, 1};
    const Memory a = numbers(dtype, shape.size(), 3);
    const Memory s = numbers(dtype, column.size(), 4);
    const Program program = on_tiles({shape}, {shape, column}, [&](Builder& builder, auto& out, auto& in) {
      builder.tensor_scalar(out[0], in[0], AluOp::Subtract, in[1], true, AluOp::Add, immediate(dtype, 2.0));
    });
    const auto results = run_on_tiles(program, {a, s}, {Memory(dtype, shape.size())});
    for (int64_t i = 0; i < shape.size(); ++i)
      ASSERT_EQ(results[0].at(i), written(dtype, s.at(i / size.elements) - a.at(i) + 2)) << i;
  }
}

TEST_P(ElementwiseTypes, ScalarTensorTensor) {
  const DType dtype = GetParam();
  if (dtype == DType::U8) return;
  const TileShape shape{dtype, 128, 65};
  const TileShape column{dtype, 128, 1};
  const Memory a = numbers(dtype, shape.size(), 3);
  const Memory b = numbers(dtype, shape.size(), 5);
  const Memory s = numbers(dtype, column.size(), 4);
  const Program program = on_tiles({shape}, {shape, column, shape}, [&](Builder& builder, auto& out, auto& in) {
    builder.scalar_tensor_tensor(out[0], in[0], AluOp::Max, in[1], AluOp::Subtract, in[2], false, true);
  });
  const auto results = run_on_tiles(program, {a, s, b}, {Memory(dtype, shape.size())});
  for (int64_t i = 0; i < shape.size(); ++i)
    ASSERT_EQ(results[0].at(i), written(dtype, b.at(i) - std::max(a.at(i), s.at(i / 65)))) << i;
}

INSTANTIATE_TEST_SUITE_P(All, ElementwiseTypes, testing::ValuesIn(kTypes),
                         [](const auto& test) { return std::string(opentrn::info(test.param).torch_name); });

TEST(EmulatorElementwise, IntegersWrapOnGpSimdAndSaturateOnVector) {
  const TileShape shape{DType::U8, 1, 2};
  Memory a(DType::U8, 2);
  a.set(0, 250);
  a.set(1, 3);
  Memory b(DType::U8, 2);
  b.set(0, 10);
  b.set(1, 5);
  const auto sum_on = [&](AluOp op, Engine engine) {
    const Program program = on_tiles({shape}, {shape, shape}, [&](Builder& builder, auto& out, auto& in) {
      builder.tensor_tensor(out[0], in[0], in[1], op, engine);
    });
    return run_on_tiles(program, {a, b}, {Memory(DType::U8, 2)})[0];
  };
  EXPECT_EQ(sum_on(AluOp::Add, Engine::Vector).at(0), 255);
  EXPECT_EQ(sum_on(AluOp::Add, Engine::GpSimd).at(0), 4);
  EXPECT_EQ(sum_on(AluOp::Subtract, Engine::Vector).at(1), 0);
  EXPECT_EQ(sum_on(AluOp::Subtract, Engine::GpSimd).at(1), 254);
}

TEST(EmulatorElementwise, SixtyFourBitComparisonsAreExact) {
  const TileShape in{DType::I64, 1, 1};
  const TileShape out{DType::Bool, 1, 1};
  Memory a(DType::I64, 1), b(DType::I64, 1);
  a.as<int64_t>()[0] = (int64_t{1} << 62) + 1;
  b.as<int64_t>()[0] = int64_t{1} << 62;
  const Program program = on_tiles({out}, {in, in}, [&](Builder& builder, auto& o, auto& i) {
    builder.tensor_tensor(o[0], i[0], i[1], AluOp::GreaterThan);
  });
  EXPECT_EQ(run_on_tiles(program, {a, b}, {Memory(DType::Bool, 1)})[0].at(0), 1);
}

TEST(EmulatorElementwise, BitOperationsWorkOnPatternsOfTheTypesWidth) {
  const TileShape shape{DType::I8, 1, 3};
  Memory a(DType::I8, 3), b(DType::I8, 3);
  for (int64_t i = 0; i < 3; ++i) {
    a.set(i, -128 + static_cast<double>(i));
    b.set(i, 1);
  }
  const auto run_op = [&](AluOp op) {
    const Program program = on_tiles({shape}, {shape, shape}, [&](Builder& builder, auto& out, auto& in) {
      builder.tensor_tensor(out[0], in[0], in[1], op);
    });
    return run_on_tiles(program, {a, b}, {Memory(DType::I8, 3)})[0];
  };
  EXPECT_EQ(run_op(AluOp::LogicalShiftRight).at(0), 64);  // no copy of the sign
  EXPECT_EQ(run_op(AluOp::ShiftLeft).at(1), 2);
  EXPECT_EQ(run_op(AluOp::BitwiseXor).at(0), -127);
}

TEST(EmulatorElementwise, ActivationScalesAddsAndApplies) {
  for (const Size size : kSizes) {
    const TileShape shape{DType::F32, size.partitions, size.elements};
    const TileShape column{DType::F32, size.partitions, 1};
    const Memory a = numbers(DType::F32, shape.size(), 3);
    const Memory bias = numbers(DType::F32, column.size(), 4);
    const Program program = on_tiles({shape}, {shape, column}, [&](Builder& builder, auto& out, auto& in) {
      builder.activation(out[0], ActivationFunction::Square, in[0], immediate(DType::F32, 2.0), in[1]);
    });
    const auto results = run_on_tiles(program, {a, bias}, {Memory(DType::F32, shape.size())});
    for (int64_t i = 0; i < shape.size(); ++i) {
      const double value = a.at(i) * 2 + bias.at(i / size.elements);
      ASSERT_EQ(results[0].at(i), value * value) << i;
    }
  }
}

TEST(EmulatorElementwise, PopulationCountSeesTheTypesOwnBits) {
  const TileShape shape{DType::I8, 1, 1};
  Memory a(DType::I8, 1);
  a.set(0, -1);
  const Program program = on_tiles({shape}, {shape}, [&](Builder& builder, auto& out, auto& in) {
    builder.activation(out[0], ActivationFunction::PopulationCount, in[0]);
  });
  EXPECT_EQ(run_on_tiles(program, {a}, {Memory(DType::I8, 1)})[0].at(0), 8);
}

TEST(EmulatorElementwise, ConversionsRoundOnce) {
  const TileShape in{DType::F32, 1, 6};
  Memory a(DType::F32, 6);
  const double values[] = {0.5, 1.5, 2.5, -0.5, 300, -1e30};
  for (int64_t i = 0; i < 6; ++i) a.set(i, values[i]);
  const Program program = on_tiles({{DType::I8, 1, 6}}, {in}, [&](Builder& builder, auto& out, auto& tiles) {
    builder.tensor_copy(out[0], tiles[0]);
  });
  const auto results = run_on_tiles(program, {a}, {Memory(DType::I8, 6)});
  const double expected[] = {0, 2, 2, 0, 127, -128};
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(results[0].at(i), expected[i]) << i;
}

TEST(EmulatorElementwise, CopiesOfOneTypeKeepEveryBit) {
  const TileShape shape{DType::F32, 4, 9};
  Memory a(DType::F32, 36);
  for (int64_t i = 0; i < 36; ++i) a.as<uint32_t>()[i] = 0x7FA00000u + static_cast<uint32_t>(i);  // signalling NaN
  const Program program =
      on_tiles({shape}, {shape}, [&](Builder& builder, auto& out, auto& in) { builder.tensor_copy(out[0], in[0]); });
  EXPECT_EQ(run_on_tiles(program, {a}, {Memory(DType::F32, 36)})[0].bytes, a.bytes);
}

TEST(EmulatorElementwise, PatternsMayBeCutDifferently) {
  // out [4][6] = in, read as [2][3][4] with its inner dimensions swapped, added to a row read as [12][2].
  const TileShape shape{DType::F32, 2, 24};
  const Memory a = numbers(DType::F32, 48, 1);
  const Memory b = numbers(DType::F32, 48, 2);
  const Program program = on_tiles({shape}, {shape, shape}, [&](Builder& builder, auto& out, auto& in) {
    Access swapped = in[0];
    swapped.pattern = {{.step = 1, .size = 2}, {.step = 12, .size = 2}, {.step = 1, .size = 4}, {.step = 4, .size = 3}};
    Access reversed = in[1];
    reversed.offset = 23;
    reversed.pattern = {{.step = 1, .size = 2}, {.step = -1, .size = 24}};
    Access whole = out[0];
    whole.pattern = {{.step = 1, .size = 2}, {.step = 6, .size = 4}, {.step = 1, .size = 6}};
    builder.tensor_tensor(whole, swapped, reversed, AluOp::Add);
  });
  const auto results = run_on_tiles(program, {a, b}, {Memory(DType::F32, 48)});
  for (int64_t p = 0; p < 2; ++p) {
    for (int64_t i = 0; i < 24; ++i) {
      const int64_t block = i / 12, column = i / 3 % 4, row = i % 3;
      const double expected = a.at(p * 24 + block * 12 + row * 4 + column) + b.at(p * 24 + 23 - i);
      ASSERT_EQ(results[0].at(p * 24 + i), expected) << i;
    }
  }
}

TEST(EmulatorElementwise, PatternsThatCannotBeCutAlikeStillWork) {
  // 6 elements as [2][3] with a gap against [3][2] with a gap.
  const TileShape wide{DType::F32, 3, 12};
  const Memory a = numbers(DType::F32, 36, 1);
  const Memory kept = numbers(DType::F32, 36, 2);
  const Program program = on_tiles({wide}, {wide}, [&](Builder& builder, auto& out, auto& in) {
    Access from = in[0];
    from.pattern = {{.step = 1, .size = 3}, {.step = 5, .size = 2}, {.step = 1, .size = 3}};
    Access to = out[0];
    to.pattern = {{.step = 1, .size = 3}, {.step = 4, .size = 3}, {.step = 2, .size = 2}};
    builder.tensor_scalar(to, from, AluOp::Add, immediate(DType::F32, 1.0));
  });
  const auto results = run_on_tiles(program, {a}, {kept});
  Memory expected = kept;
  for (int64_t p = 0; p < 3; ++p) {
    for (int64_t i = 0; i < 6; ++i) expected.set(p * 12 + i / 2 * 4 + i % 2 * 2, a.at(p * 12 + i / 3 * 5 + i % 3) + 1);
  }
  EXPECT_EQ(results[0].bytes, expected.bytes);
}

}  // namespace
}  // namespace opentrn::neuroncore
