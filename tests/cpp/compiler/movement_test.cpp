// Moving data: pads, slices, concatenations, reshapes, updates in place.
#include <numeric>

#include "tests/cpp/compiler/harness.h"

namespace opentrn::compiler {

namespace {

using ir::TensorType;
using neuroncore::Opcode;
using Values = std::vector<ir::Value>;

double ramp(size_t p, int64_t i) { return static_cast<double>((i * 7 + static_cast<int64_t>(p)) % 101); }

const std::vector<DType> kTypes = {DType::U8, DType::BF16, DType::F32, DType::I64, DType::C128};

TEST(Movement, Transposes) {
  for (const DType dtype : kTypes) {
    for (const Dims& shape : {Dims{3, 5, 7}, Dims{130, 3, 260}, Dims{300, 1, 513}, Dims{2, 700, 3}}) {
      Dims order = {0, 1, 2};
      do {
        const Case test(
            {TensorType{dtype, shape}},
            [&](ir::Builder& b, const Values& v) { return Values{b.transpose(v[0], order)}; }, ramp);
        expect_same_bytes(test, concat(name(dtype), " ", to_string(shape), " by ", to_string(order)));
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
}

TEST(Movement, ReshapesThatMoveData) {
  const Case test(
      {TensorType{DType::F32, {6, 10, 7}}},
      [](ir::Builder& b, const Values& v) { return Values{b.reshape(b.transpose(v[0], {2, 0, 1}), {21, 20})}; }, ramp);
  expect_same_bytes(test, "transposed, then reshaped");
}

TEST(Movement, ManyDimensions) {
  const Case test(
      {TensorType{DType::I32, {2, 3, 2, 3, 2, 3, 2}}},
      [](ir::Builder& b, const Values& v) { return Values{b.transpose(v[0], {6, 0, 5, 1, 4, 2, 3})}; }, ramp);
  expect_same_bytes(test, "seven dimensions");
}

TEST(Movement, Reversed) {
  const Case test(
      {TensorType{DType::F32, {5, 300}}},
      [](ir::Builder& b, const Values& v) { return Values{b.reverse(v[0], {0, 1}), b.reverse(v[0], {1})}; }, ramp);
  expect_same_bytes(test, "reversed");
}

// More start indices than there are registers.
TEST(Movement, ManyDynamicSlices) {
  const Case test(
      {TensorType{DType::F32, {100, 3}}, TensorType{DType::I64, {}}},
      [](ir::Builder& b, const Values& v) {
        const std::vector<ir::Value> starts = {v[1], v[1]};
        ir::Value sum = b.dynamic_slice(v[0], starts, {2, 2});
        for (int i = 0; i < 70; ++i) sum = b.add(sum, b.dynamic_slice(b.add(v[0], v[0]), starts, {2, 2}));
        return Values{b.dynamic_update_slice(v[0], sum, starts)};
      },
      [](size_t p, int64_t i) { return p == 1 ? 1 : ramp(p, i); });
  expect_same_bytes(test, "seventy slices");
}

TEST(Movement, Pads) {
  struct Pad {
    Dims low, high, interior;
  };
  for (const Pad& p : {Pad{{1, 2}, {3, 0}, {0, 0}}, Pad{{0, 0}, {0, 0}, {2, 1}}, Pad{{-1, -2}, {-1, 4}, {0, 0}},
                       Pad{{-2, 3}, {1, -3}, {1, 3}}, Pad{{-4, 0}, {0, 0}, {0, 0}}, Pad{{0, 0}, {0, 0}, {0, 0}}}) {
    for (const DType dtype : kTypes) {
      const Case test(
          {TensorType{dtype, {4, 9}}, TensorType{dtype, {}}},
          [&](ir::Builder& b, const Values& v) { return Values{b.pad(v[0], v[1], p.low, p.high, p.interior)}; }, ramp);
      expect_same_bytes(test, concat(name(dtype), " pad ", to_string(p.low), to_string(p.high), to_string(p.interior)));
    }
  }
}

TEST(Movement, Concatenates) {
  for (const int64_t dimension : {0, 1}) {
    std::vector<TensorType> types;
    for (const int64_t size : {1, 0, 200}) {
      types.push_back({DType::BF16, dimension == 0 ? Dims{size, 130} : Dims{130, size}});
    }
    const Case test(types, [&](ir::Builder& b, const Values& v) { return Values{b.concatenate(v, dimension)}; }, ramp);
    expect_same_bytes(test, concat("along ", dimension));
  }
}

TEST(Movement, BitcastsBetweenWidths) {
  const Case test(
      {TensorType{DType::F32, {3, 5}}, TensorType{DType::U8, {6, 8}}},
      [](ir::Builder& b, const Values& v) {
        return Values{b.bitcast_convert(v[0], DType::U8), b.bitcast_convert(v[1], DType::I64)};
      },
      ramp);
  expect_same_bytes(test, "bit casts");
}

// Start indices outside of the operand are moved to where the window fits.
TEST(Movement, DynamicSlices) {
  for (const DType index : {DType::I64, DType::I32}) {
    for (const int64_t start : {0, 3, 200}) {
      const Case test(
          {TensorType{DType::F32, {9, 300, 4}}, TensorType{index, {}}, TensorType{index, {}}},
          [&](ir::Builder& b, const Values& v) {
            const Values starts{v[1], v[2], v[1]};
            return Values{b.dynamic_slice(v[0], starts, {2, 290, 4})};
          },
          [&](size_t p, int64_t i) { return p == 0 ? ramp(p, i) : static_cast<double>(start); });
      expect_same_bytes(test, concat(name(index), " start ", start));
    }
  }
}

TEST(Movement, NegativeStartsAreZero) {
  for (const DType index : {DType::I64, DType::I32}) {
    const Case test(
        {TensorType{DType::F32, {9}}, TensorType{index, {}}},
        [&](ir::Builder& b, const Values& v) { return Values{b.dynamic_slice(v[0], Values{v[1]}, {4})}; },
        [](size_t p, int64_t i) { return p == 0 ? ramp(p, i) : -3.0; });
    expect_same_bytes(test, concat(name(index)));
  }
}

Case update_of_cache() {
  return Case(
      {TensorType{DType::BF16, {4, 1000, 8}}, TensorType{DType::BF16, {4, 2, 8}}, TensorType{DType::I64, {}}},
      [](ir::Builder& b, const Values& v) {
        const ir::Value zero = b.scalar(DType::I64, 0);
        return Values{b.dynamic_update_slice(v[0], v[1], Values{zero, v[2], zero})};
      },
      [](size_t p, int64_t i) { return p == 2 ? 17.0 : ramp(p, i); });
}

TEST(Movement, DynamicUpdates) {
  expect_same_bytes(update_of_cache(), "to another place");
  Case test = update_of_cache();
  expect_same_bytes(test.in_place(0, 0), "in place");
}

TEST(Movement, UpdatesInPlaceMoveOnlyTheUpdate) {
  Case test = update_of_cache();
  test.in_place(0, 0);
  const neuroncore::Program program = compiled(test.module);
  for (const neuroncore::Instruction& instruction : program.instructions) {
    if (instruction.opcode != Opcode::DmaCopy) continue;
    int64_t elements = 1;
    for (const neuroncore::PatternDimension& dimension : instruction.inputs[0].pattern) elements *= dimension.size;
    EXPECT_LE(elements, 4 * 2 * 8);
  }
}

TEST(Movement, AnUpdateThatReadsItsOwnMemoryElsewhereIsNotInPlace) {
  Case test(
      {TensorType{DType::F32, {8, 16}}},
      [](ir::Builder& b, const Values& v) {
        const ir::Value zero = b.scalar(DType::I64, 0);
        const ir::Value update = b.slice(v[0], {0, 0}, {6, 16}, {1, 1});
        return Values{b.dynamic_update_slice(v[0], update, Values{b.scalar(DType::I64, 1), zero})};
      },
      ramp);
  expect_same_bytes(test.in_place(0, 0), "shifted by a row");
}

TEST(Movement, AnUpdateInTheMemoryOfTheUpdate) {
  Case test(
      {TensorType{DType::F32, {8, 16}}, TensorType{DType::F32, {8, 16}}},
      [](ir::Builder& b, const Values& v) {
        const ir::Value one = b.scalar(DType::I64, 1);
        return Values{b.dynamic_update_slice(v[0], v[1], Values{one, one})};
      },
      ramp);
  expect_same_bytes(test.in_place(0, 1), "the update's memory");
}

TEST(Movement, ProgramsDoNotGrowWithSizes) {
  const auto instructions = [](int64_t size) {
    const Case test(
        {TensorType{DType::F32, {size, size}}},
        [](ir::Builder& b, const Values& v) {
          return Values{b.concatenate(Values{b.transpose(v[0], {1, 0}), v[0]}, 0)};
        },
        ramp);
    return compiled(test.module).instructions.size();
  };
  EXPECT_EQ(instructions(4), size_t{2});
  EXPECT_EQ(instructions(1000), size_t{2});
}

}  // namespace

}  // namespace opentrn::compiler
