// Steps that become one instruction, and those that must not.
#include "neuroncore/text.h"
#include "tests/cpp/compiler/harness.h"

namespace opentrn::compiler {

namespace {

using ir::Op;
using ir::TensorType;
using neuroncore::ActivationFunction;
using neuroncore::Instruction;
using neuroncore::Opcode;
using neuroncore::Program;
using Values = std::vector<ir::Value>;
using Function = std::function<ir::Value(ir::Builder&, const Values&)>;

double ramp(size_t p, int64_t i) { return static_cast<double>((i * 7 + static_cast<int64_t>(p) * 3) % 101) * 0.07 - 3; }

// What a program computes: everything but data movement.
std::vector<Opcode> work(const Program& program) {
  std::vector<Opcode> result;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.opcode != Opcode::DmaCopy) result.push_back(instruction.opcode);
  }
  return result;
}

const Instruction& first(const Program& program, Opcode opcode) {
  return *std::find_if(program.instructions.begin(), program.instructions.end(),
                       [&](const Instruction& instruction) { return instruction.opcode == opcode; });
}

// `function` of parameters that are converted to float32, converted back.
Case of_type(DType dtype, const Dims& shape, size_t parameters, const Function& function) {
  return Case(
      std::vector<TensorType>(parameters, TensorType{dtype, shape}),
      [&](ir::Builder& b, const Values& v) {
        Values wide;
        for (const ir::Value value : v) wide.push_back(b.convert(value, DType::F32));
        return Values{b.convert(function(b, wide), dtype)};
      },
      ramp);
}

void expect_work(const Case& test, const std::vector<Opcode>& expected, const std::string& what) {
  const Program program = compiled(test.module);
  EXPECT_EQ(work(program), expected) << what << "\n" << neuroncore::print(program);
}

ir::Value times(ir::Builder& b, ir::Value x, double number) { return b.multiply(x, b.splat_like(x, number)); }
ir::Value plus(ir::Builder& b, ir::Value x, double number) { return b.add(x, b.splat_like(x, number)); }

constexpr std::array kFloats{DType::F32, DType::BF16, DType::F16};

TEST(RowsCombine, ConversionsAreNoInstructions) {
  for (const DType dtype : {DType::BF16, DType::F16}) {
    const Case sum = of_type(dtype, {130, 600}, 2, [](ir::Builder& b, const Values& v) { return b.add(v[0], v[1]); });
    expect_work(sum, {Opcode::TensorTensor}, "sum");
    expect_same_bytes(sum, "sum");
    const Case clamped = of_type(dtype, {130, 600}, 1, [](ir::Builder& b, const Values& v) {
      return b.clamp(b.scalar(DType::F32, -1), v[0], b.scalar(DType::F32, 2));
    });
    expect_work(clamped, {Opcode::TensorScalar}, "clamp");
    expect_same_bytes(clamped, "clamp");
  }
}

TEST(RowsCombine, ManyReadersShareOneConversion) {
  const Case test = of_type(DType::BF16, {130, 600}, 1, [](ir::Builder& b, const Values& v) {
    return b.add(b.add(b.floor(v[0]), b.ceil(v[0])), b.divide(v[0], b.splat_like(v[0], 3)));
  });
  EXPECT_EQ(count(compiled(test.module), Opcode::TensorCopy), 1);
  expect_same_bytes(test, "three readers");
}

TEST(RowsCombine, ConversionsThatRoundTwiceStay) {
  const Case from_f64(
      {TensorType{DType::F64, {1000}}},
      [](ir::Builder& b, const Values& v) {
        return Values{b.convert(b.convert(b.add(v[0], v[0]), DType::F32), DType::BF16)};
      },
      [](size_t, int64_t i) { return 1 + 0x1p-9 + static_cast<double>(i) * 0x1p-40; });
  EXPECT_EQ(count(compiled(from_f64.module), Opcode::TensorCopy), 2);
  expect_same_bytes(from_f64, "float64 to float32 to bfloat16");
  const Case from_integers(
      {TensorType{DType::I64, {1000}}},
      [](ir::Builder& b, const Values& v) { return Values{b.convert(b.convert(v[0], DType::F32), DType::BF16)}; },
      [](size_t, int64_t i) { return static_cast<double>((int64_t{257} << 30) + i); });
  EXPECT_EQ(count(compiled(from_integers.module), Opcode::TensorCopy), 2);
  expect_same_bytes(from_integers, "int64 to float32 to bfloat16");
  const Case sum(
      {TensorType{DType::BF16, {130, 600}}},
      [](ir::Builder& b, const Values& v) {
        const auto wide = b.convert(v[0], DType::F32);
        return Values{b.convert(b.reduce(wide, b.scalar(DType::F32, 0), Op::Add, {1}), DType::BF16)};
      },
      small_whole);
  expect_work(sum, {Opcode::TensorReduce, Opcode::TensorCopy}, "sum");
  expect_same_bytes(sum, "sum");
}

TEST(RowsCombine, ConvertedValuesThatAreNeededStay) {
  const Case test(
      {TensorType{DType::BF16, {130, 600}}},
      [](ir::Builder& b, const Values& v) {
        const auto wide = b.convert(v[0], DType::F32);
        const auto sum = b.add(wide, wide);
        return Values{wide, sum, b.convert(sum, DType::BF16)};
      },
      ramp);
  expect_work(test, {Opcode::TensorCopy, Opcode::TensorTensor, Opcode::TensorCopy}, "results");
  expect_same_bytes(test, "results");
}

TEST(RowsCombine, Silu) {
  for (const DType dtype : kFloats) {
    for (const bool left : {false, true}) {
      const Case test = of_type(dtype, {130, 600}, 1, [left](ir::Builder& b, const Values& v) {
        const auto gate = b.logistic(v[0]);
        return left ? b.multiply(gate, v[0]) : b.multiply(v[0], gate);
      });
      expect_work(test, {Opcode::Activation}, "silu");
      EXPECT_EQ(first(compiled(test.module), Opcode::Activation).function, ActivationFunction::Silu);
      expect_close(test, dtype == DType::F32 ? 1e-6 : 1e-2, "silu");
    }
  }
}

TEST(RowsCombine, LogisticThatIsNeededIsNoSilu) {
  const Case twice = of_type(DType::F32, {130, 600}, 1, [](ir::Builder& b, const Values& v) {
    const auto gate = b.logistic(v[0]);
    return b.add(b.multiply(v[0], gate), gate);
  });
  EXPECT_EQ(first(compiled(twice.module), Opcode::Activation).function, ActivationFunction::Sigmoid);
  const Case other = of_type(DType::F32, {130, 600}, 2,
                             [](ir::Builder& b, const Values& v) { return b.multiply(v[0], b.logistic(v[1])); });
  EXPECT_EQ(first(compiled(other.module), Opcode::Activation).function, ActivationFunction::Sigmoid);
}

TEST(RowsCombine, TwoOperationsWithNumbers) {
  for (const DType dtype : kFloats) {
    const Case test = of_type(dtype, {130, 600}, 1, [](ir::Builder& b, const Values& v) {
      return b.subtract(b.splat_like(v[0], 0.3), times(b, v[0], 1.1));
    });
    expect_work(test, {Opcode::TensorScalar}, "0.3 - x * 1.1");
    expect_same_bytes(test, "0.3 - x * 1.1");
  }
}

TEST(RowsCombine, OperationWithANumberAndATile) {
  for (const DType dtype : kFloats) {
    const Case left = of_type(dtype, {130, 600}, 2,
                              [](ir::Builder& b, const Values& v) { return b.subtract(times(b, v[0], 1.1), v[1]); });
    expect_work(left, {Opcode::ScalarTensorTensor}, "x * 1.1 - y");
    expect_same_bytes(left, "x * 1.1 - y");
    const Case right = of_type(dtype, {130, 600}, 2, [](ir::Builder& b, const Values& v) {
      return b.subtract(v[1], b.negate(plus(b, v[0], 0.1)));
    });
    expect_same_bytes(right, "y - -(x + 0.1)");
    const Case same =
        of_type(dtype, {130, 600}, 1, [](ir::Builder& b, const Values& v) { return b.add(times(b, v[0], 1.1), v[0]); });
    expect_work(same, {Opcode::ScalarTensorTensor}, "x * 1.1 + x");
    expect_same_bytes(same, "x * 1.1 + x");
  }
}

TEST(RowsCombine, WhatIsNeededTwiceStays) {
  const Case test = of_type(DType::F32, {130, 600}, 1, [](ir::Builder& b, const Values& v) {
    const auto scaled = times(b, v[0], 1.1);
    return b.add(plus(b, scaled, 0.1), b.maximum(scaled, v[0]));
  });
  EXPECT_EQ(count(compiled(test.module), Opcode::TensorScalar), 1);
  expect_same_bytes(test, "two uses");
  const Case result(
      {TensorType{DType::F32, {130, 600}}},
      [](ir::Builder& b, const Values& v) {
        const auto scaled = times(b, v[0], 1.1);
        return Values{scaled, plus(b, scaled, 0.1)};
      },
      ramp);
  expect_work(result, {Opcode::TensorScalar, Opcode::TensorScalar}, "a result");
}

TEST(RowsCombine, OtherTypesStay) {
  for (const DType dtype : {DType::F64, DType::I32, DType::I64, DType::BF16}) {
    const Case test(
        {TensorType{dtype, {130, 600}}},
        [](ir::Builder& b, const Values& v) { return Values{plus(b, times(b, v[0], 3), 1)}; }, ramp);
    expect_work(test, {Opcode::TensorScalar, Opcode::TensorScalar}, std::string(name(dtype)));
    expect_same_bytes(test, std::string(name(dtype)));
  }
}

TEST(RowsCombine, ScaleAndBiasOfFunctions) {
  const Case scaled =
      of_type(DType::BF16, {130, 600}, 1, [](ir::Builder& b, const Values& v) { return b.tanh(times(b, v[0], 0.7)); });
  expect_work(scaled, {Opcode::Activation}, "tanh(x * 0.7)");
  expect_close(scaled, 1e-2, "tanh(x * 0.7)");
  const Case both = of_type(DType::F32, {130, 600}, 1, [](ir::Builder& b, const Values& v) {
    return b.exponential(b.subtract(b.negate(v[0]), b.splat_like(v[0], 0.25)));
  });
  expect_work(both, {Opcode::Activation}, "exp(-x - 0.25)");
  expect_close(both, 1e-6, "exp(-x - 0.25)");
  const Case other_order = of_type(DType::F32, {130, 600}, 1, [](ir::Builder& b, const Values& v) {
    return b.exponential(times(b, plus(b, v[0], 0.25), 0.5));
  });
  expect_work(other_order, {Opcode::TensorScalar, Opcode::Activation}, "exp((x + 0.25) * 0.5)");
  expect_close(other_order, 1e-6, "exp((x + 0.25) * 0.5)");
}

// exp(x - largest) and the like: columns where rows are long, and more than that where they are short.
TEST(RowsCombine, ValuesOfRows) {
  for (const Dims& shape : {Dims{130, 600}, Dims{1000, 4}, Dims{3, 50, 5}}) {
    for (const DType dtype : kFloats) {
      const auto last = static_cast<int64_t>(shape.size()) - 1;
      Dims kept;
      for (int64_t d = 0; d < last; ++d) kept.push_back(d);
      const auto rows = [&](ir::Builder& b, ir::Value x, Op op) {
        const double start = op == Op::Maximum ? -std::numeric_limits<double>::infinity() : 1;
        return b.broadcast_in_dim(b.reduce(x, b.scalar(DType::F32, start), op, {last}), shape, kept);
      };
      const Case scaled = of_type(dtype, shape, 1, [&](ir::Builder& b, const Values& v) {
        return b.multiply(b.subtract(v[0], rows(b, v[0], Op::Maximum)), rows(b, v[0], Op::Minimum));
      });
      expect_same_bytes(scaled, concat("(x - max) * min ", to_string(shape)));
      const Case again = of_type(dtype, shape, 1, [&](ir::Builder& b, const Values& v) {
        return b.subtract(v[0], b.multiply(v[0], rows(b, v[0], Op::Maximum)));
      });
      expect_same_bytes(again, concat("x - x * max ", to_string(shape)));
      const Case powers = of_type(dtype, shape, 1, [&](ir::Builder& b, const Values& v) {
        return b.exponential(b.subtract(v[0], rows(b, v[0], Op::Maximum)));
      });
      expect_close(powers, dtype == DType::F32 ? 1e-6 : 1e-2, concat("exp(x - max) ", to_string(shape)));
      EXPECT_EQ(count(compiled(powers.module), Opcode::TensorTensor) > 0, shape[0] == 1000);
    }
  }
}

TEST(RowsCombine, InnerProductsStay) {
  const Case test(
      {TensorType{DType::F32, {130, 600}}, TensorType{DType::F32, {130, 600}}},
      [](ir::Builder& b, const Values& v) {
        return Values{b.reduce(b.multiply(times(b, v[0], 2), v[1]), b.scalar(DType::F32, 0), Op::Add, {1})};
      },
      small_whole);
  expect_work(test, {Opcode::TensorScalar, Opcode::TensorTensor, Opcode::TensorReduce}, "sum of x * 2 * y");
  expect_same_bytes(test, "sum of x * 2 * y");
}

// --- long rows

ir::Value log_softmax(ir::Builder& b, ir::Value x) {
  const Dims shape = b.shape(x);
  const auto low = b.scalar(DType::F32, -std::numeric_limits<double>::infinity());
  const auto lowered = b.subtract(x, b.broadcast_in_dim(b.reduce(x, low, Op::Maximum, {1}), shape, {0}));
  const auto sum = b.reduce(b.exponential(lowered), b.scalar(DType::F32, 0), Op::Add, {1});
  return b.subtract(lowered, b.broadcast_in_dim(b.log(sum), shape, {0}));
}

int64_t largest_internal(const Program& program) {
  int64_t most = 0;
  for (const neuroncore::Buffer& buffer : program.buffers) {
    const bool internal = buffer.space == neuroncore::Space::Hbm && buffer.role == neuroncore::Role::Internal;
    if (internal) most = std::max(most, buffer.elements);
  }
  return most;
}

TEST(RowsCombine, LongRowsAreComputedAnew) {
  for (const DType dtype : kFloats) {
    const Case test =
        of_type(dtype, {100, 30000}, 1, [](ir::Builder& b, const Values& v) { return log_softmax(b, v[0]); });
    const Program program = compiled(test.module);
    EXPECT_EQ(largest_internal(program), 100) << neuroncore::print(program);
    expect_close(test, dtype == DType::F32 ? 1e-6 : 1e-2, std::string(name(dtype)));
  }
}

TEST(RowsCombine, WhatLongRowsCannotRecomputeIsStored) {
  const Case of_product(
      {TensorType{DType::F32, {100, 30000}}, TensorType{DType::F32, {100, 30000}}},
      [](ir::Builder& b, const Values& v) { return Values{log_softmax(b, b.multiply(v[0], v[1]))}; }, ramp);
  EXPECT_EQ(largest_internal(compiled(of_product.module)), 3000000);
  expect_close(of_product, 1e-6, "of a product");
}

}  // namespace

}  // namespace opentrn::compiler
