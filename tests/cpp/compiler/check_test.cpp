// Index checks and conditions: instructions on tiles, and programs that stop before they write.
#include "tests/cpp/compiler/harness.h"

namespace opentrn::compiler {

namespace {

using ir::IndexRule;
using ir::TensorType;
using neuroncore::Opcode;
using Values = std::vector<ir::Value>;

void expect_instructions(const Case& test, int64_t indices, int64_t conditions) {
  const neuroncore::Program program = compiled(test.module);
  EXPECT_TRUE(program.library.empty()) << program.library[0].name;
  EXPECT_EQ(count(program, Opcode::CheckedIndex), indices);
  EXPECT_EQ(count(program, Opcode::Check), conditions);
}

/// Indices in [-size, size).
std::function<double(size_t, int64_t)> around_zero(int64_t size) {
  return [size](size_t, int64_t i) { return static_cast<double>((i * 37 + 5) % (2 * size) - size); };
}

ir::Layout strided(const Dims& strides) {
  ir::Layout layout = row_major({DType::I64, {40, 70}});
  layout.strides = strides;
  return layout;
}

Case checked_index(const ir::Layout& layout, int64_t size) {
  return Case(
      std::vector{layout},
      [&](ir::Builder& b, const Values& v) { return Values{b.checked_index(v[0], size, 0, "aten.index")}; },
      around_zero(size));
}

TEST(CheckedIndex, SizesAndTypes) {
  for (const DType dtype : {DType::I32, DType::I64}) {
    for (const Dims& shape : {Dims{}, Dims{0}, Dims{1}, Dims{127}, Dims{1000}, Dims{3, 50}, Dims{130, 3000}}) {
      const TensorType type{dtype, shape};
      expect_same_bytes(checked_index(row_major(type), 90), ir::to_string(type));
    }
  }
  expect_same_bytes(checked_index(strided({1, 40}), 90), "transposed");
  expect_same_bytes(checked_index(strided({0, 1}), 90), "repeated");
  expect_instructions(checked_index(row_major({DType::I64, {300}}), 9), 1, 0);
}

TEST(CheckedIndex, ProgramsDoNotGrowWithSizes) {
  const auto instructions = [](int64_t size) {
    return compiled(checked_index(row_major({DType::I64, {size}}), 9).module).instructions.size();
  };
  EXPECT_EQ(instructions(1 << 19), instructions(1 << 21));
}

TEST(CheckedIndex, OfComputedIndicesStaysOnTheChip) {
  const Case test(
      {TensorType{DType::I32, {500}}},
      [](ir::Builder& b, const Values& v) {
        return Values{b.checked_index(b.convert(v[0], DType::I64), 20, 0, "aten.index")};
      },
      around_zero(20));
  expect_same_bytes(test, "converted");
  expect_instructions(test, 1, 0);
  EXPECT_EQ(count(compiled(test.module), Opcode::DmaCopy), 3) << "load, store aside, copy to the result";
}

TEST(CheckedIndex, TheFirstWrongIndexIsNamed) {
  for (const IndexRule rule : {IndexRule::WrapNegative, IndexRule::NonNegative, IndexRule::NonNegativeRuntime}) {
    for (const int64_t wrong : {int64_t{0}, int64_t{1}, int64_t{700'000}}) {
      const Case test(
          {TensorType{DType::I64, {1 << 20}}},
          [&](ir::Builder& b, const Values& v) { return Values{b.checked_index(v[0], 10, 3, "aten.take", rule)}; },
          [&](size_t, int64_t i) { return i < wrong ? 9.0 : static_cast<double>(-11 - i); });
      expect_same_error(test, concat("index ", wrong));
    }
  }
}

// Rows are added in place; nothing is lost when an index is wrong, not even when it is the last.
TEST(CheckedIndex, NothingIsWrittenInPlace) {
  constexpr int64_t kRows = 600'000;
  const auto added = [](int64_t last) {
    Case test(
        {TensorType{DType::I64, {kRows}}, TensorType{DType::I64, {kRows}}},
        [](ir::Builder& b, const Values& v) {
          const ir::Value index = b.checked_index(v[1], kRows, 0, "aten.add");
          return Values{b.binary(ir::Op::Add, v[0], index)};
        },
        [&](size_t p, int64_t i) { return p == 1 && i == kRows - 1 ? static_cast<double>(last) : 7.0; });
    return test.in_place(0, 0);
  };
  expect_same_bytes(added(-3), "in place");
  expect_same_error(added(kRows), "in place");
}

Case guarded(bool holds) {
  Case test(
      {TensorType{DType::F32, {300, 70}}, TensorType{DType::F32, {300, 70}}},
      [](ir::Builder& b, const Values& v) {
        const ir::Value all = b.reduce(b.compare(ir::ComparisonDirection::EQ, v[1], v[0]), ir::Op::And, {0, 1});
        return Values{b.binary(ir::Op::Multiply, b.check(all, v[0], "a \"check\"\nfailed"), v[0])};
      },
      [&](size_t p, int64_t i) { return p == 1 && i == 300 * 70 - 1 && !holds ? 9.0 : static_cast<double>(i % 8); });
  return test.in_place(0, 0);
}

TEST(Check, PassesTheValueOrStops) {
  expect_same_bytes(guarded(true), "holds");
  expect_same_error(guarded(false), "does not hold");
  expect_instructions(guarded(true), 0, 1);
}

}  // namespace

}  // namespace opentrn::compiler
