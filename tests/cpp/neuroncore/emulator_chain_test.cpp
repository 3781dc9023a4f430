// Element-wise instructions that run as one kernel: bit for bit what they give one by one, in every way they can be
// connected.
#include "tests/cpp/neuroncore/emulator_samples.h"

namespace opentrn::neuroncore {
namespace {

using Tiles = std::vector<Access>;
const TileShape kShape{DType::F32, 100, 700};  // longer than a chunk, and not a multiple of one
const TileShape kColumn{DType::F32, 100, 1};

// A tile of its own for what is between two instructions.
Access between(Builder& b, const TileShape& shape) {
  return b.tile(b.sbuf(shape.dtype, shape.partitions, shape.elements));
}

std::vector<Memory> run_chain(const std::vector<TileShape>& outs, const std::vector<TileShape>& ins,
                              const std::function<void(Builder&, const Tiles&, const Tiles&)>& emit) {
  std::vector<Memory> memories, kept;
  uint32_t seed = 1;
  for (const TileShape& shape : ins) memories.push_back(numbers(shape.dtype, shape.size(), seed++));
  for (const TileShape& shape : outs) kept.push_back(numbers(shape.dtype, shape.size(), seed++));
  return run_on_tiles(on_tiles(outs, ins, emit), memories, kept);
}

TEST(EmulatorChain, ComputesEveryStep) {
  const auto results =
      run_chain({kShape}, {kShape, kShape, kColumn}, [](Builder& b, const Tiles& out, const Tiles& in) {
        const Access sum = between(b, kShape), scaled = between(b, kShape);
        b.tensor_tensor(sum, in[0], in[1], AluOp::Add);
        b.tensor_scalar(scaled, sum, AluOp::Multiply, in[2], false, AluOp::Subtract, immediate(DType::F32, 1.0));
        b.tensor_tensor(out[0], scaled, in[0], AluOp::Max);
      });
  const Memory a = numbers(DType::F32, kShape.size(), 1), c = numbers(DType::F32, kShape.size(), 2),
               s = numbers(DType::F32, kColumn.size(), 3);
  for (int64_t i = 0; i < kShape.size(); ++i) {
    const double scaled = (a.at(i) + c.at(i)) * s.at(i / kShape.elements) - 1;
    ASSERT_EQ(results[0].at(i), std::max(scaled, a.at(i))) << i;
  }
}

TEST(EmulatorChain, MoreOperandsAndStepsThanOneKernelTakes) {
  const std::vector<TileShape> ins(10, kShape);
  run_chain({kShape}, ins, [](Builder& b, const Tiles& out, const Tiles& in) {
    Access value = in[0];
    for (int step = 0; step < 40; ++step) {
      const Access next = between(b, kShape);
      b.tensor_scalar(next, value, AluOp::Add, immediate(DType::F32, 0.25 * step), step % 2 == 0, AluOp::Min,
                      immediate(DType::F32, 50.0));
      value = next;
      if (step % 4 != 0) continue;
      const Access sum = between(b, kShape);
      b.tensor_tensor(sum, value, in[static_cast<size_t>(step) / 4], AluOp::Subtract);
      value = sum;
    }
    b.activation(out[0], ActivationFunction::Copy, value, immediate(DType::F32, 0.5));
  });
}

TEST(EmulatorChain, ManyValuesAtOnce) {
  run_chain({kShape}, {kShape}, [](Builder& b, const Tiles& out, const Tiles& in) {
    Tiles values;
    for (int i = 0; i < 8; ++i) {
      values.push_back(between(b, kShape));
      b.tensor_scalar(values.back(), in[0], AluOp::Multiply, immediate(DType::F32, 1.0 + i));
    }
    Access sum = values[0];
    for (size_t i = 1; i < values.size(); ++i) {
      const Access next = i + 1 == values.size() ? out[0] : between(b, kShape);
      b.tensor_tensor(next, values[i], sum, AluOp::Subtract);
      sum = next;
    }
  });
}

TEST(EmulatorChain, ValuesThatOthersReadTooAreWritten) {
  run_chain({kShape, kShape, kColumn}, {kShape, kShape}, [](Builder& b, const Tiles& out, const Tiles& in) {
    const Access shared = between(b, kShape);
    b.tensor_tensor(shared, in[0], in[1], AluOp::Multiply);
    b.tensor_tensor(out[0], shared, in[0], AluOp::Add);
    b.tensor_reduce(out[2], AluOp::Add, shared, 1);
    b.tensor_tensor(out[1], out[0], shared, AluOp::Subtract);
  });
}

TEST(EmulatorChain, NarrowTilesRoundInBetween) {
  for (const DType narrow : {DType::BF16, DType::F16, DType::I32}) {
    const TileShape shape{narrow, kShape.partitions, kShape.elements};
    run_chain({kShape}, {kShape, shape}, [&](Builder& b, const Tiles& out, const Tiles& in) {
      const Access rounded = between(b, shape), sum = between(b, kShape);
      b.tensor_scalar(rounded, in[0], AluOp::Multiply, immediate(DType::F32, 1.0 / 3));
      b.tensor_tensor(sum, rounded, in[1], AluOp::Add);
      b.tensor_scalar(out[0], sum, AluOp::Multiply, immediate(DType::F32, 1.0 / 7));
    });
  }
}

TEST(EmulatorChain, OverwritesWhatItReads) {
  for (const int64_t shift : {0, 1, 3}) {
    const TileShape wide{DType::F32, kShape.partitions, kShape.elements + 3};
    run_chain({wide}, {kShape}, [&](Builder& b, const Tiles& out, const Tiles& in) {
      // Reads elements that the last step writes, some of them at other places.
      const auto part = [&](int64_t first) {
        Access access = out[0];
        access.offset += first;
        access.pattern[1].size = kShape.elements;
        return access;
      };
      const Access sum = between(b, kShape);
      b.tensor_tensor(sum, part(0), in[0], AluOp::Add);
      b.tensor_scalar(part(shift), sum, AluOp::Multiply, immediate(DType::F32, 2.0));
    });
  }
}

TEST(EmulatorChain, ReadsPartsOfWhatItHasComputed) {
  const TileShape half{DType::F32, kShape.partitions, kShape.elements / 2};
  run_chain({half}, {kShape, half}, [&](Builder& b, const Tiles& out, const Tiles& in) {
    const Access doubled = between(b, kShape);
    b.tensor_scalar(doubled, in[0], AluOp::Multiply, immediate(DType::F32, 2.0));
    Access every_second = doubled;
    every_second.pattern[1] = {.step = 2, .size = half.elements};
    b.tensor_tensor(out[0], every_second, in[1], AluOp::Add);
  });
}

TEST(EmulatorChain, ATileIsWrittenTwice) {
  run_chain({kShape}, {kShape, kShape}, [](Builder& b, const Tiles& out, const Tiles& in) {
    const Access value = between(b, kShape);
    b.tensor_tensor(value, in[0], in[1], AluOp::Add);
    b.tensor_scalar(value, value, AluOp::Multiply, immediate(DType::F32, 3.0));
    b.tensor_tensor(out[0], value, in[1], AluOp::Subtract);
  });
}

TEST(EmulatorChain, TransposedOperands) {
  const TileShape square{DType::F32, 96, 96 * 8};
  run_chain({square}, {square, square}, [&](Builder& b, const Tiles& out, const Tiles& in) {
    const auto turned = [](Access access) {
      access.pattern = {access.pattern[0], {.step = 1, .size = 8}, {.step = 8, .size = 96}};
      return access;
    };
    const Access sum = between(b, square);
    b.tensor_tensor(turned(sum), turned(in[0]), in[1], AluOp::Add);
    b.tensor_tensor(out[0], turned(sum), in[0], AluOp::Subtract);
  });
}

}  // namespace
}  // namespace opentrn::neuroncore
