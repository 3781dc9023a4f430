// Whatever the builder accepts, every engine computes: each element-wise primitive on each element type, held against
// the same primitive on the widest type of the kind.
#include <cmath>

#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

using ir::Op;

class EveryType : public Conformance {
 protected:
  // The result of `op` on operands that are all `value`, or nothing when the builder refuses the type.
  std::optional<Tensor> result_of(Op op, DType dtype, double value) const {
    const auto count = static_cast<size_t>(ir::info(op).operands);
    std::vector<Tensor> operands;
    for (size_t i = 0; i < count; ++i) {
      operands.emplace_back(op == Op::Select && i == 0 ? DType::Bool : dtype, Dims{3}, Arrangement::Strided);
      operands.back().fill(std::vector<double>(3, value));
    }
    std::vector<const Tensor*> parameters;
    for (const Tensor& operand : operands) parameters.push_back(&operand);
    ir::Graph graph;
    try {
      graph = build(parameters,
                    [&](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{apply(b, op, p)}; });
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Runtime) << error.what();
      return std::nullopt;
    }
    const ir::TensorType& type = graph.type(graph.results[0]);
    Tensor result(type.dtype, type.shape);
    run(graph, {parameters, {&result}, {}});
    return result;
  }

  static ir::Value apply(ir::Builder& b, Op op, const std::vector<ir::Value>& p) {
    if (op == Op::Select) return b.select(p[0], p[1], p[2]);
    if (op == Op::Clamp) return b.clamp(p[0], p[1], p[2]);
    if (op == Op::Compare) return b.compare(ir::ComparisonDirection::EQ, p[0], p[1]);
    return ir::info(op).operands == 1 ? b.unary(op, p[0]) : b.binary(op, p[0], p[1]);
  }
};

DType widest(DType dtype) {
  switch (category(dtype)) {
    case Category::Float: return DType::F64;
    case Category::Complex: return DType::C128;
    case Category::Signed: return DType::I64;
    case Category::Unsigned: return DType::U64;
    case Category::Bool: break;
  }
  return dtype;
}

TEST_P(EveryType, ElementwiseAgreesWithTheWidestType) {
  int combinations = 0;
  for (const ir::OpInfo& op : ir::catalogue()) {
    // Those that count in the stored type itself have tests of their own.
    const bool by_width = op.op == Op::BitcastConvert || op.op == Op::Convert || op.op == Op::CountLeadingZeros ||
                          op.op == Op::NextAfter || op.op == Op::Not || op.op == Op::ReducePrecision;
    if (op.op_class != ir::OpClass::Elementwise || by_width) continue;
    for (const DTypeInfo& type : dtype_table()) {
      const double value = is_float(type.dtype) || is_complex(type.dtype) ? 0.5 : 1;
      const std::optional<Tensor> result = result_of(op.op, type.dtype, value);
      const std::optional<Tensor> wide = result_of(op.op, widest(type.dtype), value);
      EXPECT_TRUE(!result || wide) << op.name << " " << type.name;
      if (!result || type.dtype == DType::F8E8M0FNU) continue;  // which has neither zero nor sign
      if (op.op == Op::Negate && category(type.dtype) == Category::Unsigned) continue;  // wraps at its width
      ++combinations;
      const std::vector<std::complex<double>> got = result->values<std::complex<double>>();
      const std::vector<std::complex<double>> expected = wide->values<std::complex<double>>();
      for (size_t i = 0; i < got.size(); ++i) {
        if (std::isnan(expected[i].real())) {
          EXPECT_TRUE(std::isnan(got[i].real())) << op.name << " " << type.name;
          continue;
        }
        const double spacing = std::max(epsilon(type.dtype), epsilon(result->dtype()));
        EXPECT_LE(std::abs(got[i] - expected[i]), spacing * (std::abs(expected[i]) + 1e-3))
            << op.name << " " << type.name << ": " << got[i] << ", expected " << expected[i];
      }
    }
  }
  EXPECT_GT(combinations, 500);
}

TEST_P(EveryType, NextAfterOfEightBitFloats) {
  for (const DType dtype : {DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ}) {
    Tensor x(dtype, {4}), y(dtype, {4});
    x.fill(std::vector<double>{1, 1, -1, 2});
    y.fill(std::vector<double>{2, 0.5, -2, 2});
    const Tensor result = evaluate({&x, &y}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.binary(Op::NextAfter, p[0], p[1])};
    });
    const double e = epsilon(dtype);
    EXPECT_EQ(result.values<double>(), (std::vector<double>{1 + e, 1 - e / 2, -1 - e, 2})) << name(dtype);
  }
}

TEST_P(EveryType, RealNumbersHaveParts) {
  Tensor x(DType::F32, {2}), real(DType::F32, {2}), imag(DType::F32, {2});
  x.fill(std::vector<double>{3, -4});
  run({{&x}, {&real, &imag}, {}},
      [](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.real(p[0]), b.imag(p[0])}; });
  EXPECT_EQ(real.values<double>(), (std::vector<double>{3, -4}));
  EXPECT_EQ(imag.values<double>(), (std::vector<double>{0, 0}));
}

TEST_P(EveryType, EmptyOperandsMayBeNull) {
  ir::Builder b;
  const ir::TensorType type{DType::F32, {0, 4}};
  const ir::Value x = b.parameter(type);
  const ir::Value sliced = b.slice(x, {0, 1}, {0, 3}, {1, 1});
  engines::Module module{b.finish({b.add(sliced, sliced)}), {}, {}, {}};
  module.parameters.push_back({type, {4, 1}});
  const ir::TensorType result_type{DType::F32, {0, 2}};
  module.results.push_back({result_type, {2, 1}});
  const auto executable = engines::engine(GetParam()).compile(module, neuroncore::machines()[0]);
  const void* parameters[] = {nullptr};
  void* results[] = {nullptr};
  EXPECT_NO_THROW(executable->run(parameters, results));
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(EveryType);

}  // namespace opentrn::conformance
