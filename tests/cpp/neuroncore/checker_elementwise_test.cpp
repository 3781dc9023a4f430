#include "tests/cpp/neuroncore/checker_samples.h"

namespace opentrn::neuroncore {
namespace {

struct Types {
  DType dst = DType::F32, one = DType::F32, other = DType::F32;
};

Build binary(AluOp op, Types types = {}, Engine engine = Engine::Vector) {
  return [=](Builder& b) {
    b.tensor_tensor(sbuf(b, types.dst, 128, 8), sbuf(b, types.one, 128, 8), sbuf(b, types.other, 128, 8), op, engine);
  };
}

TEST(CheckerTensorTensor, Extents) {
  EXPECT_EQ(rules(binary(AluOp::Add)), kNone);
  EXPECT_EQ(rules([](Builder& b) {
              b.tensor_tensor(sbuf(b, DType::F32, 8, 8), sbuf(b, DType::F32, 8, 7), sbuf(b, DType::F32, 8, 8),
                              AluOp::Add);
            }),
            Rules{"element-count"});
  EXPECT_EQ(rules([](Builder& b) {
              b.tensor_tensor(sbuf(b, DType::F32, 8, 8), sbuf(b, DType::F32, 8, 8), sbuf(b, DType::F32, 9, 8),
                              AluOp::Add);
            }),
            Rules{"partition-count"});
  EXPECT_EQ(rules([](Builder& b) {
              const int32_t tile = b.sbuf(DType::F32, 8, 12);
              b.tensor_tensor(shaped(b, tile, 8, {{6, 2}, {1, 6}}), shaped(b, tile, 8, {{1, 12}}),
                              shaped(b, tile, 8, {{0, 3}, {1, 4}}), AluOp::Add);
            }),
            kNone)
      << "operands may be cut differently";
}

TEST(CheckerTensorTensor, AtMostOneInputInPsum) {
  const auto in_psum = [](bool both) {
    return rules([=](Builder& b) {
      const Access other = both ? psum(b, DType::F32, 8, 8) : sbuf(b, DType::F32, 8, 8);
      b.tensor_tensor(sbuf(b, DType::F32, 8, 8), psum(b, DType::F32, 8, 8), other, AluOp::Add);
    });
  };
  EXPECT_EQ(in_psum(false), kNone);
  EXPECT_EQ(in_psum(true), Rules{"psum-inputs"});
}

TEST(CheckerTensorTensor, OperationsNeedAUnit) {
  EXPECT_EQ(rules(binary(AluOp::Power)), Rules{"alu-engine"});
  EXPECT_EQ(rules(binary(AluOp::Power, {}, Engine::GpSimd)), kNone);
  for (const AluOp op : {AluOp::Divide, AluOp::Remainder, AluOp::Atan2, AluOp::NextAfter}) {
    EXPECT_EQ(rules(binary(op)), Rules{"alu-engine"}) << info(op).name;
    EXPECT_EQ(rules(binary(op, {}, Engine::GpSimd)), kNone) << info(op).name;
  }
  EXPECT_EQ(rules(binary(AluOp::Abs)), Rules{"alu-operands"});
  EXPECT_EQ(rules(binary(AluOp::Bypass)), Rules{"alu-operands"});
}

TEST(CheckerTensorTensor, OperationsByGeneration) {
  for (const AluOp op : {AluOp::AbsMax, AluOp::AbsMin}) {
    EXPECT_EQ(rules_on("trn1", binary(op)), Rules{"alu-generation"});
    EXPECT_EQ(rules_on("trn2", binary(op)), Rules{"alu-generation"});
    EXPECT_EQ(rules_on("trn3", binary(op)), kNone);
  }
}

TEST(CheckerTensorTensor, BitsOfIntegersOfOneSize) {
  EXPECT_EQ(rules(binary(AluOp::BitwiseAnd, {DType::I32, DType::I32, DType::U32})), kNone);
  EXPECT_EQ(rules(binary(AluOp::BitwiseAnd, {DType::I32, DType::F32, DType::I32})), Rules{"bitvec-dtype"});
  EXPECT_EQ(rules(binary(AluOp::BitwiseAnd, {DType::F32, DType::I32, DType::I32})), Rules{"bitvec-dtype"});
  EXPECT_EQ(rules(binary(AluOp::BitwiseAnd, {DType::I32, DType::I16, DType::I32})), Rules{"bitvec-dtype"});
}

Build with_scalars(AluOp op0, ScalarOperand s0, AluOp op1, ScalarOperand s1, DType dtype = DType::F32,
                   Engine engine = Engine::Vector) {
  return [=](Builder& b) {
    b.tensor_scalar(sbuf(b, dtype, 128, 8), sbuf(b, dtype, 128, 8), op0, s0, false, op1, s1, false, engine);
  };
}
const ScalarOperand kOne = immediate(DType::F32, 1.0);
const ScalarOperand kBits = immediate(DType::I32, int64_t{1});

TEST(CheckerTensorScalar, Scalars) {
  EXPECT_EQ(rules(with_scalars(AluOp::Multiply, kOne, AluOp::Add, kOne)), kNone);
  EXPECT_EQ(rules(with_scalars(AluOp::Multiply, {}, AluOp::Bypass, {})), Rules{"scalar-operand"});
  EXPECT_EQ(rules(with_scalars(AluOp::Multiply, kOne, AluOp::Add, {})), Rules{"scalar-operand"});
  EXPECT_EQ(rules(with_scalars(AluOp::Abs, {}, AluOp::Bypass, {})), kNone);
}

TEST(CheckerTensorScalar, TilesOfScalars) {
  const auto tile = [](DType data, DType scalar, int64_t partitions, int64_t elements, Engine engine = Engine::Vector) {
    return rules([=](Builder& b) {
      b.tensor_scalar(sbuf(b, data, 64, 8), sbuf(b, data, 64, 8), AluOp::Add, sbuf(b, scalar, partitions, elements),
                      false, AluOp::Bypass, {}, false, engine);
    });
  };
  EXPECT_EQ(tile(DType::BF16, DType::F32, 64, 1), kNone);
  EXPECT_EQ(tile(DType::BF16, DType::F32, 64, 2), Rules{"element-count"});
  EXPECT_EQ(tile(DType::BF16, DType::F32, 32, 1), Rules{"partition-count"});
  EXPECT_EQ(tile(DType::BF16, DType::BF16, 64, 1), Rules{"scalar-dtype"});
  EXPECT_EQ(tile(DType::F64, DType::F64, 64, 1), kNone) << "no unit: exact in its own type";
  EXPECT_EQ(tile(DType::I32, DType::I32, 64, 1, Engine::GpSimd), kNone);
}

TEST(CheckerTensorScalar, OneClassOfOperations) {
  EXPECT_EQ(rules(with_scalars(AluOp::BitwiseAnd, kBits, AluOp::ShiftLeft, kBits, DType::I32)), kNone);
  EXPECT_EQ(rules(with_scalars(AluOp::BitwiseAnd, kBits, AluOp::Add, kBits, DType::I32)), Rules{"alu-class"});
  EXPECT_EQ(rules(with_scalars(AluOp::BitwiseAnd, kOne, AluOp::Bypass, {}, DType::I32)), Rules{"bitvec-dtype"});
}

TEST(CheckerTensorScalar, ScalarEngine) {
  const Build build = with_scalars(AluOp::Multiply, kOne, AluOp::Add, kOne, DType::F32, Engine::Scalar);
  EXPECT_EQ(rules_on("trn1", build), Rules{"engine"});
  EXPECT_EQ(rules_on("trn2", build), kNone);
  EXPECT_EQ(rules(with_scalars(AluOp::Max, kOne, AluOp::Bypass, {}, DType::F32, Engine::Scalar)), Rules{"alu-engine"});
}

TEST(CheckerTensorScalar, UnaryOperationsByEngineAndGeneration) {
  EXPECT_EQ(rules(with_scalars(AluOp::Rsqrt, {}, AluOp::Bypass, {})), Rules{"alu-engine"});
  EXPECT_EQ(rules(with_scalars(AluOp::Rsqrt, {}, AluOp::Bypass, {}, DType::F32, Engine::GpSimd)), kNone);
  EXPECT_EQ(rules_on("trn2", with_scalars(AluOp::Square, {}, AluOp::Bypass, {})), Rules{"alu-generation"});
  EXPECT_EQ(rules_on("trn3", with_scalars(AluOp::Square, {}, AluOp::Bypass, {})), kNone);
}

TEST(CheckerScalarTensorTensor, ArithmeticOnly) {
  const auto build = [](AluOp op0, AluOp op1, DType dtype) {
    return rules([=](Builder& b) {
      b.scalar_tensor_tensor(sbuf(b, dtype, 8, 8), sbuf(b, dtype, 8, 8), op0, kOne, op1, sbuf(b, dtype, 8, 8));
    });
  };
  EXPECT_EQ(build(AluOp::Multiply, AluOp::Add, DType::BF16), kNone);
  EXPECT_EQ(build(AluOp::BitwiseAnd, AluOp::Add, DType::I32), Rules{"alu-class"});
  EXPECT_EQ(build(AluOp::Multiply, AluOp::BitwiseOr, DType::I32), Rules{"alu-class"});
  EXPECT_EQ(build(AluOp::Multiply, AluOp::Divide, DType::F32), Rules{"alu-engine"});
  EXPECT_EQ(build(AluOp::Multiply, AluOp::Abs, DType::F32), Rules{"alu-operands"});
}

TEST(CheckerScalarTensorTensor, PsumAndScalar) {
  EXPECT_EQ(rules([](Builder& b) {
              b.scalar_tensor_tensor(sbuf(b, DType::F32, 8, 8), psum(b, DType::F32, 8, 8), AluOp::Add, kOne, AluOp::Add,
                                     psum(b, DType::F32, 8, 8));
            }),
            Rules{"psum-inputs"});
  EXPECT_EQ(rules([](Builder& b) {
              b.scalar_tensor_tensor(sbuf(b, DType::F32, 8, 8), sbuf(b, DType::F32, 8, 8), AluOp::Add, {}, AluOp::Add,
                                     sbuf(b, DType::F32, 8, 8));
            }),
            Rules{"scalar-operand"});
}

TEST(CheckerActivation, FunctionsByEngine) {
  const auto build = [](ActivationFunction function, Engine engine) {
    return rules([=](Builder& b) {
      b.activation(sbuf(b, DType::F32, 8, 8), function, sbuf(b, DType::F32, 8, 8)).engine = engine;
    });
  };
  EXPECT_EQ(build(ActivationFunction::Exp, Engine::Scalar), kNone);
  EXPECT_EQ(build(ActivationFunction::Tan, Engine::GpSimd), kNone);
  EXPECT_EQ(build(ActivationFunction::Tan, Engine::Scalar), Rules{"activation-engine"});
  EXPECT_EQ(build(ActivationFunction::Exp, Engine::Vector), Rules{"engine"});
}

TEST(CheckerActivation, BiasOnV2) {
  const auto build = [](ActivationFunction function, bool tile) {
    return [=](Builder& b) {
      const Access dst = sbuf(b, DType::F32, 8, 8);
      const Access data = sbuf(b, DType::F32, 8, 8);
      if (tile)
        b.activation(dst, function, data, {}, sbuf(b, DType::F32, 8, 1));
      else
        b.activation(dst, function, data, {}, kOne);
    };
  };
  EXPECT_EQ(rules_on("trn2", build(ActivationFunction::Exp, false)), kNone);
  EXPECT_EQ(rules_on("trn1", build(ActivationFunction::Exp, false)), Rules{"activation-bias"});
  EXPECT_EQ(rules_on("trn1", build(ActivationFunction::Exp, true)), kNone);
  EXPECT_EQ(rules_on("trn1", build(ActivationFunction::Reciprocal, true)), Rules{"activation-bias"});
  EXPECT_EQ(rules_on("trn2", build(ActivationFunction::Reciprocal, true)), kNone);
}

TEST(CheckerActivation, SumHasOneElement) {
  const auto build = [](int64_t elements) {
    return rules([=](Builder& b) {
      b.activation_reduce(sbuf(b, DType::F32, 8, 8), sbuf(b, DType::F32, 8, elements), ActivationFunction::Exp,
                          sbuf(b, DType::F32, 8, 8));
    });
  };
  EXPECT_EQ(build(1), kNone);
  EXPECT_EQ(build(2), Rules{"element-count"});
}

TEST(CheckerTensorReduce, Dimensions) {
  const auto build = [](int reduced, int64_t kept, AluOp op = AluOp::Add) {
    return rules([=](Builder& b) {
      const int32_t data = b.sbuf(DType::F32, 8, 24);
      b.tensor_reduce(sbuf(b, DType::F32, 8, kept), op, shaped(b, data, 8, {{12, 2}, {4, 3}, {1, 4}}), reduced);
    });
  };
  EXPECT_EQ(build(1, 6), kNone);
  EXPECT_EQ(build(2, 2), kNone);
  EXPECT_EQ(build(3, 1), kNone);
  EXPECT_EQ(build(1, 5), Rules{"element-count"});
  EXPECT_EQ(build(0, 24), Rules{"reduced-dimensions"});
  EXPECT_EQ(build(4, 1), Rules{"reduced-dimensions"});
  EXPECT_EQ(build(3, 1, AluOp::IsEqual), Rules{"reduce-op"});
}

TEST(CheckerScan, OperandsAndOperations) {
  const auto build = [](ScalarOperand initial, AluOp op0, AluOp op1) {
    return rules([=](Builder& b) {
      b.tensor_tensor_scan(sbuf(b, DType::F32, 8, 8), sbuf(b, DType::F32, 8, 8), sbuf(b, DType::F32, 8, 8), initial,
                           op0, op1);
    });
  };
  EXPECT_EQ(build(kOne, AluOp::Multiply, AluOp::Add), kNone);
  EXPECT_EQ(build({}, AluOp::Multiply, AluOp::Add), Rules{"scalar-operand"});
  EXPECT_EQ(build(kOne, AluOp::Bypass, AluOp::Add), Rules{"alu-operands"});
  EXPECT_EQ(rules([](Builder& b) {
              b.tensor_tensor_scan(sbuf(b, DType::F32, 8, 8), psum(b, DType::F32, 8, 8), psum(b, DType::F32, 8, 8),
                                   kOne, AluOp::Multiply, AluOp::Add);
            }),
            Rules{"psum-inputs"});
}

TEST(CheckerCopy, ScalarEngineFromV3) {
  const auto build = [](Builder& b) {
    b.tensor_copy(sbuf(b, DType::F32, 8, 8), sbuf(b, DType::BF16, 8, 8), Engine::Scalar);
  };
  EXPECT_EQ(rules_on("trn1", build), Rules{"engine"});
  EXPECT_EQ(rules_on("trn2", build), kNone);
}

TEST(CheckerCopyPredicated, Types) {
  const auto build = [](DType predicate, DType src) {
    return rules([=](Builder& b) {
      b.tensor_copy_predicated(sbuf(b, DType::F32, 8, 8), sbuf(b, predicate, 8, 8), sbuf(b, src, 8, 8));
    });
  };
  for (const DType dtype : {DType::Bool, DType::U8, DType::U16, DType::U32})
    EXPECT_EQ(build(dtype, DType::F32), kNone) << name(dtype);
  for (const DType dtype : {DType::F32, DType::I64, DType::I32, DType::I8})
    EXPECT_EQ(build(dtype, DType::F32), Rules{"dtype"}) << name(dtype);
  EXPECT_EQ(build(DType::Bool, DType::BF16), Rules{"dtype"});
}

TEST(CheckerCopyPredicated, ReachesOnePsumInput) {
  EXPECT_EQ(rules([](Builder& b) {
              b.tensor_copy_predicated(sbuf(b, DType::F32, 8, 8), psum(b, DType::U32, 8, 8), psum(b, DType::F32, 8, 8));
            }),
            Rules{"psum-inputs"});
}

TEST(CheckerSelect, PredicateAndScalar) {
  const auto build = [](DType predicate, ScalarOperand on_false) {
    return rules([=](Builder& b) {
      b.select_reduce(sbuf(b, DType::F32, 8, 8), sbuf(b, predicate, 8, 8), sbuf(b, DType::F32, 8, 8), on_false);
    });
  };
  EXPECT_EQ(build(DType::Bool, kOne), kNone);
  EXPECT_EQ(build(DType::I16, kOne), kNone);
  EXPECT_EQ(build(DType::U32, kOne), Rules{"dtype"});
  EXPECT_EQ(build(DType::Bool, {}), Rules{"scalar-operand"});
  EXPECT_EQ(rules([](Builder& b) {
              b.select_reduce(sbuf(b, DType::F32, 8, 8), sbuf(b, DType::Bool, 8, 8), sbuf(b, DType::F32, 8, 8),
                              sbuf(b, DType::F32, 8, 8));
            }),
            Rules{"element-count"})
      << "on_false is no whole tile";
}

}  // namespace
}  // namespace opentrn::neuroncore
