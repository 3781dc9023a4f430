#include "neuroncore/builder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "neuroncore/text.h"

namespace opentrn::neuroncore {
namespace {

template <typename T>
T value_of(const Immediate& immediate) {
  T value;
  std::memcpy(&value, immediate.bytes.data(), sizeof value);
  return value;
}

TEST(BuilderTest, Immediates) {
  EXPECT_EQ(value_of<float>(immediate(DType::F32, 1.5)), 1.5f);
  EXPECT_EQ(value_of<uint16_t>(immediate(DType::BF16, 1.0)), 0x3F80);
  EXPECT_EQ(value_of<int64_t>(immediate(DType::I64, int64_t{1} << 60)), int64_t{1} << 60);
  EXPECT_EQ(value_of<int8_t>(immediate(DType::I8, int64_t{-3})), -3);
  EXPECT_EQ(value_of<uint8_t>(immediate(DType::Bool, 0.5)), 1);
  EXPECT_EQ(value_of<double>(immediate(DType::C128, 2.0)), 2.0);
}

TEST(BuilderTest, StatementsGoIntoTheInnermostOpenLoop) {
  Builder b("nest", "trn2");
  const Access tile = b.tile(b.sbuf(DType::F32, 4, 4));
  const Immediate zero = immediate(DType::F32, 0.0);
  b.memset(tile, zero);
  b.begin_loop(2, true);
  b.memset(tile, zero);
  b.begin_loop(3, false);
  b.memset(tile, zero);
  b.end_loop();
  b.memset(tile, zero);
  b.end_loop();
  b.memset(tile, zero);
  const Program program = b.finish();
  ASSERT_EQ(program.body.size(), 3u);
  EXPECT_EQ(program.body[0].instruction, 0);
  EXPECT_EQ(program.body[1].loop, 0);
  EXPECT_EQ(program.body[2].instruction, 4);
  ASSERT_EQ(program.loops[0].body.size(), 3u);
  EXPECT_EQ(program.loops[0].body[1].loop, 1);
  EXPECT_TRUE(program.loops[0].independent);
  EXPECT_EQ(program.loops[1].count, 3);
  EXPECT_EQ(program.loops[1].body[0].instruction, 2);
}

TEST(BuilderTest, LoopsMustBeClosed) {
  Builder open("open", "trn2");
  open.begin_loop(2, false);
  EXPECT_THROW(open.finish(), Error);
  Builder closed("closed", "trn2");
  EXPECT_THROW(closed.end_loop(), Error);
}

TEST(BuilderTest, ScalarsAreAbsentNumbersOrTiles) {
  Builder b("scalars", "trn2");
  const Access tile = b.tile(b.sbuf(DType::F32, 4, 4));
  const Access scalar = b.tile(b.sbuf(DType::F32, 4, 1));
  const Instruction plain = b.activation(tile, ActivationFunction::Exp, tile);
  EXPECT_FALSE(plain.has_scalar0 || plain.has_scalar1);
  const Instruction zero = b.activation(tile, ActivationFunction::Exp, tile, immediate(DType::F32, 0.0), scalar);
  EXPECT_TRUE(zero.has_scalar0) << "a scale of zero is a scale";
  EXPECT_EQ(zero.scalar_operand[0], -1);
  EXPECT_TRUE(zero.has_scalar1);
  EXPECT_EQ(zero.scalar_operand[1], 1);
  EXPECT_EQ(zero.inputs.size(), 2u);
}

TEST(BuilderTest, ActivationsWithoutATableGoToGpSimd) {
  Builder b("activations", "trn2");
  const Access tile = b.tile(b.sbuf(DType::F32, 4, 4));
  EXPECT_EQ(b.activation(tile, ActivationFunction::Exp, tile).engine, Engine::Scalar);
  EXPECT_EQ(b.activation(tile, ActivationFunction::Tan, tile).engine, Engine::GpSimd);
}

TEST(BuilderTest, EveryInstructionPrints) {
  Builder b("all", "trn2");
  const Access x = b.tile(b.sbuf(DType::F32, 32, 8, 1, "x"));
  const Access y = b.tile(b.sbuf(DType::F32, 32, 8, 1, "y"));
  const Access s = b.tile(b.sbuf(DType::F32, 32, 1, 1, "s"));
  const Access m = b.tile(b.psum(DType::F32, 8, 8, 1, "m"));
  const Immediate one = immediate(DType::F32, 1.0);
  b.nc_matmul(m, x, y, true);
  b.nc_transpose(x, y, Engine::Vector);
  b.tensor_tensor(x, x, y, AluOp::Add);
  b.tensor_scalar(x, y, AluOp::Subtract, one, true, AluOp::Multiply, s);
  b.scalar_tensor_tensor(x, y, AluOp::Multiply, s, AluOp::Add, x);
  b.activation_reduce(x, s, ActivationFunction::Exp, y, one, s);
  b.tensor_reduce(s, AluOp::Max, x, 1);
  b.tensor_partition_reduce(s, AluOp::Add, x);
  b.tensor_tensor_scan(x, y, y, one, AluOp::Multiply, AluOp::Add);
  b.tensor_copy(x, y);
  b.tensor_copy_predicated(x, y, y);
  b.select_reduce(x, y, y, one);
  b.memset(x, one);
  b.iota(x, 3, 8, {1});
  b.affine_select(x, y, one, AluOp::GreaterEqual, 0, 1, {-1});
  b.max8(x, y);
  b.nc_find_index8(x, y, x);
  b.nc_match_replace8(x, y, x, one);
  b.nc_stream_shuffle(x, y, {1, 0});
  b.dma_copy(x, y);
  b.register_load(b.new_register(), s);
  b.library_call({.name = "f", .text = "g", .cost_cycles = 5, .function = nullptr}, {x}, {y});
  const Program program = b.finish();
  const std::vector<std::string> expected{
      "#0 nc_matmul.tensor %m[1 x 8, 1 x 8] <- %x[1 x 32, 1 x 8], %y[1 x 32, 1 x 8] {accumulate}",
      "#1 nc_transpose.vector %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8]",
      "#2 tensor_tensor.vector %x[1 x 32, 1 x 8] <- %x[1 x 32, 1 x 8], %y[1 x 32, 1 x 8] {op0 = add}",
      "#3 tensor_scalar.vector %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8], %s[1 x 32, 1 x 1] "
      "{op0 = subtract, op1 = multiply, reverse0, scalar0 = f32 1, scalar1 = input 1}",
      "#4 scalar_tensor_tensor.vector %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8], %x[1 x 32, 1 x 8], %s[1 x 32, 1 x 1] "
      "{op0 = multiply, op1 = add, scalar0 = input 2}",
      "#5 activation_reduce.scalar %x[1 x 32, 1 x 8], %s[1 x 32, 1 x 1] <- %y[1 x 32, 1 x 8], %s[1 x 32, 1 x 1] "
      "{function = exp, scalar0 = f32 1, scalar1 = input 1}",
      "#6 tensor_reduce.vector %s[1 x 32, 1 x 1] <- %x[1 x 32, 1 x 8] {op0 = max, integers = [1]}",
      "#7 tensor_partition_reduce.gpsimd %s[1 x 32, 1 x 1] <- %x[1 x 32, 1 x 8] {op0 = add}",
      "#8 tensor_tensor_scan.vector %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8], %y[1 x 32, 1 x 8] "
      "{op0 = multiply, op1 = add, scalar0 = f32 1}",
      "#9 tensor_copy.vector %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8]",
      "#10 tensor_copy_predicated.vector %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8], %y[1 x 32, 1 x 8]",
      "#11 select_reduce.vector %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8], %y[1 x 32, 1 x 8] {scalar0 = f32 1}",
      "#12 memset.vector %x[1 x 32, 1 x 8] {scalar0 = f32 1}",
      "#13 iota.gpsimd %x[1 x 32, 1 x 8] {integers = [3, 8, 1]}",
      "#14 affine_select.gpsimd %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8] "
      "{op0 = greater_equal, scalar0 = f32 1, integers = [0, 1, -1]}",
      "#15 max8.vector %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8]",
      "#16 nc_find_index8.vector %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8], %x[1 x 32, 1 x 8]",
      "#17 nc_match_replace8.vector %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8], %x[1 x 32, 1 x 8] {scalar0 = f32 1}",
      "#18 nc_stream_shuffle.vector %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8] {integers = [1, 0]}",
      "#19 dma_copy.sync %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8]",
      "#20 register_load.sync <- %s[1 x 32, 1 x 1] {register = %r0}",
      "#21 library_call.gpsimd %x[1 x 32, 1 x 8] <- %y[1 x 32, 1 x 8] {library = 0}"};
  ASSERT_EQ(program.instructions.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(print(program, static_cast<int32_t>(i)), expected[i]);
}

}  // namespace
}  // namespace opentrn::neuroncore
