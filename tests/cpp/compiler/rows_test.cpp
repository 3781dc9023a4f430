// Element-wise work and reductions: programs, and their results against the reference.
#include "neuroncore/text.h"
#include "tests/cpp/compiler/harness.h"

namespace opentrn::compiler {

namespace {

using ir::Op;
using ir::TensorType;
using neuroncore::Opcode;
using Values = std::vector<ir::Value>;

double ramp(size_t p, int64_t i) { return static_cast<double>((i * 7 + static_cast<int64_t>(p) * 3) % 101) * 0.25 - 9; }

TEST(Rows, Additions) {
  for (const int64_t size : {1, 8, 127, 128, 129, 511, 512, 513, 1000, 100003}) {
    for (const DType dtype : {DType::F32, DType::BF16, DType::I32, DType::U8, DType::I64}) {
      const TensorType type{dtype, {size}};
      const Case test({type, type}, [](ir::Builder& b, const Values& v) { return Values{b.add(v[0], v[1])}; }, ramp);
      expect_same_bytes(test, concat(name(dtype), " ", size));
    }
  }
}

ir::Value softmax(ir::Builder& b, ir::Value x, int64_t dim) {
  const Dims shape = b.shape(x);
  Dims kept;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    if (d != dim) kept.push_back(d);
  }
  const auto zero = b.splat({b.dtype(x), {}}, 0);
  const auto low = b.splat({b.dtype(x), {}}, -std::numeric_limits<double>::infinity());
  const auto largest = b.broadcast_in_dim(b.reduce(x, low, Op::Maximum, {dim}), shape, kept);
  const auto powers = b.exponential(b.subtract(x, largest));
  return b.divide(powers, b.broadcast_in_dim(b.reduce(powers, zero, Op::Add, {dim}), shape, kept));
}

// --- element-wise

TEST(Rows, ProgramsDoNotGrowWithSizes) {
  const auto statements = [](int64_t rows, int64_t columns) {
    const TensorType type{DType::F32, {rows, columns}};
    const Case test({type, type}, [](ir::Builder& b, const Values& v) { return Values{b.multiply(v[0], v[1])}; }, ramp);
    return compiled(test.module).instructions.size();
  };
  EXPECT_EQ(statements(2, 4), 4u);
  EXPECT_EQ(statements(128, 2048), 4u);
  EXPECT_EQ(statements(4096, 4096), 4u);
  EXPECT_EQ(statements(1000, 1000), 4u);
  EXPECT_EQ(statements(1, 1000003), 8u);  // and what is left over
}

TEST(Rows, AFewElementsAreOneTile) {
  const TensorType type{DType::F32, {8}};
  const Case test({type}, [](ir::Builder& b, const Values& v) { return Values{b.exponential(v[0])}; }, ramp);
  const neuroncore::Program program = compiled(test.module);
  EXPECT_EQ(program.instructions.size(), 3u) << neuroncore::print(program);
  EXPECT_TRUE(program.loops.empty());
}

TEST(Rows, BroadcastsAreSteps) {
  for (const Dims& shape : {Dims{1, 1}, Dims{5, 3}, Dims{127, 129}, Dims{513, 128}, Dims{3, 5000}, Dims{5000, 3}}) {
    const Case test(
        {TensorType{DType::F32, shape}, TensorType{DType::F32, {shape[1]}}, TensorType{DType::F32, {shape[0]}},
         TensorType{DType::F32, {}}},
        [&](ir::Builder& b, const Values& v) {
          const auto columns = b.broadcast_in_dim(v[1], shape, {1});
          const auto rows = b.broadcast_in_dim(v[2], shape, {0});
          const auto number = b.broadcast_in_dim(v[3], shape, {});
          return Values{b.subtract(b.multiply(number, b.add(v[0], columns)), rows)};
        },
        ramp);
    expect_same_bytes(test, to_string(shape));
    EXPECT_EQ(count(compiled(test.module), Opcode::LibraryCall), 0);
  }
}

TEST(Rows, StridedAndTransposedOperands) {
  const TensorType type{DType::F32, {130, 70, 5}};
  const ir::Layout transposed{type, {1, 130, 130 * 70}};
  const ir::Layout spread{type, {3 * 70 * 5, 3 * 5, 3}};
  Case test(
      {row_major(type), transposed, spread},
      [](ir::Builder& b, const Values& v) { return Values{b.add(v[0], b.maximum(v[1], v[2]))}; }, ramp);
  expect_same_bytes(test, "row-major result");
  test.strides_of_result(0, transposed.strides);
  expect_same_bytes(test, "transposed result");
}

TEST(Rows, ViewsOfResults) {
  const Case test(
      {TensorType{DType::F32, {5, 7, 9}}},
      [](ir::Builder& b, const Values& v) {
        const auto twice = b.transpose(b.transpose(b.exponential(v[0]), {2, 0, 1}), {1, 0, 2});
        return Values{twice, b.negate(v[0]), b.transpose(twice, {1, 2, 0})};
      },
      ramp);
  expect_close(test, 1e-6, "transposed twice");
}

TEST(Rows, ManyDimensions) {
  const Dims shape{2, 3, 2, 3, 2, 3, 2};
  const TensorType type{DType::F32, shape};
  const ir::Layout other{type, {1, 2, 6, 12, 36, 72, 216}};
  const Case test(
      {row_major(type), other}, [](ir::Builder& b, const Values& v) { return Values{b.add(v[0], v[1])}; }, ramp);
  expect_same_bytes(test, "seven dimensions, the other way round");
}

TEST(Rows, EmptyTensors) {
  const TensorType type{DType::F32, {3, 0}};
  const Case test(
      {type},
      [](ir::Builder& b, const Values& v) {
        const auto seven = b.splat({DType::F32, {}}, 7);
        return Values{b.exponential(v[0]), b.negate(b.reduce(v[0], seven, Op::Add, {1})),
                      b.reduce(v[0], seven, Op::Add, {0})};
      },
      ramp);
  expect_same_bytes(test, "empty");
}

TEST(Rows, InPlace) {
  const TensorType type{DType::F32, {300, 700}};
  Case test(
      {type, type}, [](ir::Builder& b, const Values& v) { return Values{b.add(b.multiply(v[0], v[1]), v[0])}; }, ramp);
  test.in_place(0, 0);
  expect_same_bytes(test, "x = x * y + x");
}

TEST(Rows, InPlaceOfAnotherShape) {
  const TensorType square{DType::F32, {200, 200}};
  Case transposed(
      {square, square},
      [](ir::Builder& b, const Values& v) {
        const auto next = b.add(v[0], v[1]);
        return Values{b.subtract(b.transpose(next, {1, 0}), v[1])};
      },
      ramp);
  transposed.in_place(0, 0);
  expect_same_bytes(transposed, "x = transpose(x + y) - y");
  Case rows(
      {square, TensorType{DType::F32, {200}}},
      [](ir::Builder& b, const Values& v) {
        const auto zero = b.splat({DType::F32, {}}, 0);
        const auto twice = b.add(v[1], v[1]);
        const auto sum = b.reduce(b.multiply(v[0], b.broadcast_in_dim(twice, {200, 200}, {1})), zero, Op::Add, {1});
        return Values{b.add(sum, v[1])};
      },
      small_whole);
  rows.in_place(0, 1);
  expect_same_bytes(rows, "y = sum(x * 2y) + y");
}

TEST(Rows, NumbersInInstructions) {
  const TensorType type{DType::BF16, {3, 50}};
  const Case test(
      {type, TensorType{DType::I64, {3, 50}}},
      [&](ir::Builder& b, const Values& v) {
        const auto low = b.splat({DType::BF16, {}}, -2);
        const auto three = b.splat(type, 3);
        const auto big = b.splat({DType::I64, {3, 50}}, 1e15);
        const auto is_big = b.compare(ir::ComparisonDirection::GT, v[0], three);
        return Values{b.clamp(low, v[0], b.splat({DType::BF16, {}}, 4)),
                      b.select(is_big, three, v[0]),
                      b.select(is_big, v[0], three),
                      b.subtract(three, v[0]),
                      b.add(v[1], big),
                      b.divide(three, b.splat(type, 2))};
      },
      ramp);
  expect_same_bytes(test, "numbers");
}

TEST(Rows, Conversions) {
  const std::vector<DType> types = {DType::Bool, DType::U8,  DType::I8,  DType::U16, DType::I16,
                                    DType::U32,  DType::I32, DType::U64, DType::I64, DType::F16,
                                    DType::BF16, DType::F32, DType::F64, DType::C64, DType::F8E4M3FN};
  for (const DType from : types) {
    const Case test(
        {TensorType{from, {211}}},
        [&](ir::Builder& b, const Values& v) {
          Values results;
          for (const DType to : types) {
            if (to != from) results.push_back(b.convert(v[0], to));
          }
          return results;
        },
        [](size_t, int64_t i) {
          const double magnitude[] = {0.4, 1.6, 2.5, 250, 300.5, 70000.5, 3e9, 1e19, 1e38};
          return (i % 2 == 0 ? 1 : -1) * magnitude[i % 9] * (1 + static_cast<double>(i) / 300);
        });
    expect_same_bytes(test, std::string("from ") + std::string(name(from)));
  }
}

TEST(Rows, CoordinatesOfLargeTensors) {
  for (const DType dtype : {DType::I32, DType::I64, DType::F32, DType::BF16}) {
    const Case test(
        {TensorType{dtype, {3, 140, 900}}},
        [&](ir::Builder& b, const Values& v) {
          Values results;
          for (const int64_t d : {0, 1, 2}) results.push_back(b.add(b.iota(b.type(v[0]), d), v[0]));
          return results;
        },
        small_whole);
    expect_same_bytes(test, std::string(name(dtype)));
  }
}

TEST(Rows, ComplexNumbers) {
  const TensorType type{DType::C64, {40, 33}};
  const Case test(
      {type, type},
      [](ir::Builder& b, const Values& v) {
        const auto product = b.multiply(v[0], v[1]);
        return Values{b.real(product), b.imag(product), b.negate(product), b.complex(b.imag(v[0]), b.real(product)),
                      b.compare(ir::ComparisonDirection::EQ, v[0], v[1])};
      },
      ramp);
  expect_same_bytes(test, "complex");
}

// --- reductions

TEST(Rows, ReductionsOverAnyDimensions) {
  for (const Dims& shape : {Dims{5, 7, 3}, Dims{129, 2, 130}, Dims{3, 600, 9}, Dims{1, 1, 5}}) {
    for (const Dims& over : {Dims{0}, Dims{1}, Dims{2}, Dims{0, 1}, Dims{0, 2}, Dims{1, 2}, Dims{0, 1, 2}}) {
      for (const DType dtype : {DType::F32, DType::I64}) {
        const Case test(
            {TensorType{dtype, shape}},
            [&](ir::Builder& b, const Values& v) {
              const auto zero = b.splat({dtype, {}}, 0);
              const auto three = b.splat({dtype, {}}, 3);
              return Values{b.reduce(v[0], zero, Op::Add, over), b.reduce(v[0], three, Op::Maximum, over)};
            },
            small_whole);
        expect_same_bytes(test, concat(to_string(shape), " over ", to_string(over), " of ", name(dtype)));
      }
    }
  }
}

TEST(Rows, EveryReducer) {
  const auto reduce_all = [](DType dtype, const std::vector<Op>& reducers) {
    const Case test(
        {TensorType{dtype, {7, 130}}, TensorType{dtype, {}}},
        [&](ir::Builder& b, const Values& v) {
          Values results;
          for (const Op op : reducers) results.push_back(b.reduce(v[0], v[1], op, {1}));
          return results;
        },
        small_whole);
    expect_same_bytes(test, std::string(name(dtype)));
    EXPECT_EQ(count(compiled(test.module), Opcode::LibraryCall), 0) << name(dtype);
  };
  const std::vector<Op> bits{Op::And, Op::Or, Op::Xor};
  const std::vector<Op> numbers{Op::Add, Op::Multiply, Op::Maximum, Op::Minimum};
  std::vector<Op> all = bits;
  all.insert(all.end(), numbers.begin(), numbers.end());
  for (const DType dtype : {DType::U8, DType::I16, DType::I32, DType::U32, DType::I64, DType::Bool}) {
    reduce_all(dtype, dtype == DType::Bool ? std::vector<Op>{Op::And, Op::Or, Op::Xor, Op::Add, Op::Maximum} : all);
  }
  for (const DType dtype : {DType::F32, DType::BF16, DType::F64})
    reduce_all(dtype, {Op::Add, Op::Maximum, Op::Minimum});
}

TEST(Rows, LongReductions) {
  for (const Dims& shape : {Dims{1000003}, Dims{2, 300000}, Dims{66, 30000}, Dims{30000, 66}, Dims{1 << 17, 3}}) {
    for (const int64_t dim : {int64_t{0}, static_cast<int64_t>(shape.size()) - 1}) {
      const Case test(
          {TensorType{DType::F32, shape}, TensorType{DType::F32, {}}},
          [&](ir::Builder& b, const Values& v) {
            const auto one = b.splat({DType::F32, {}}, 1);
            const auto sum = b.reduce(b.multiply(v[0], v[0]), one, Op::Add, {dim});
            const auto most = b.reduce(v[0], v[1], Op::Maximum, {dim});
            return Values{b.add(sum, most), most};
          },
          [](size_t, int64_t i) { return static_cast<double>(i % 3); });
      expect_same_bytes(test, concat(to_string(shape), " over ", dim));
    }
  }
}

TEST(Rows, LongReductionsOverDimensionsApart) {
  const TensorType type{DType::F32, {30, 2, 30, 2, 31}};
  const ir::Layout apart{type, {1, 30, 60, 1800, 3600}};
  const Case test(
      {row_major(type), apart},
      [&](ir::Builder& b, const Values& v) {
        const auto zero = b.splat({DType::F32, {}}, 0);
        return Values{b.reduce(b.multiply(v[0], v[1]), zero, Op::Add, {0, 2, 4})};
      },
      small_whole);
  expect_same_bytes(test, "three dimensions of thirty");
}

// More dimensions than a tile has.
TEST(Rows, ReductionsOverFiveDimensionsApart) {
  const Dims shape{4, 3, 2, 5, 3, 2};
  const TensorType type{DType::F32, shape};
  const ir::Layout other{type, {1, 4, 12, 24, 120, 360}};
  const Case sums(
      {row_major(type), other},
      [](ir::Builder& b, const Values& v) {
        const auto one = b.splat({DType::F32, {}}, 1);
        const auto twice = b.add(v[0], v[1]);
        return Values{b.reduce(twice, one, Op::Add, {1, 2, 3, 4, 5}), b.iota(b.type(twice), 3)};
      },
      small_whole);
  expect_same_bytes(sums, "sum");
  const Case differences(
      {row_major(type), other},
      [&](ir::Builder& b, const Values& v) {
        const auto one = b.splat({DType::F32, {}}, 1);
        const auto twice = b.add(v[0], v[1]);
        const auto sum = b.reduce(twice, one, Op::Add, {1, 2, 3, 4, 5});
        return Values{b.subtract(twice, b.broadcast_in_dim(sum, shape, {0}))};
      },
      small_whole);
  expect_same_bytes(differences, "difference from the sum");
}

TEST(Rows, ReductionsOfSingleElements) {
  const Case test(
      {TensorType{DType::BF16, {1, 5, 31}}, TensorType{DType::BF16, {5, 129, 31}}, TensorType{DType::BF16, {}}},
      [](ir::Builder& b, const Values& v) {
        const auto least = b.reduce(v[0], v[2], Op::Minimum, {0});
        return Values{b.add(b.broadcast_in_dim(least, {5, 129, 31}, {0, 2}), v[1])};
      },
      small_whole);
  expect_same_bytes(test, "broadcast afterwards");
}

TEST(Rows, NarrowSumsAreRoundedOnce) {
  const Case test(
      {TensorType{DType::BF16, {3, 5000}}},
      [](ir::Builder& b, const Values& v) {
        const auto half = b.splat({DType::BF16, {}}, 0.5);
        return Values{b.reduce(v[0], half, Op::Add, {1}), b.reduce(v[0], half, Op::Add, {0, 1})};
      },
      small_whole);
  expect_same_bytes(test, "bf16");
}

// --- rows in one pass

TEST(Rows, Softmax) {
  for (const Dims& shape :
       {Dims{3, 5}, Dims{128, 128}, Dims{129, 513}, Dims{2, 7, 130}, Dims{3, 20000}, Dims{2, 60000}}) {
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim) {
      const Case test(
          {TensorType{DType::F32, shape}},
          [&](ir::Builder& b, const Values& v) { return Values{softmax(b, v[0], dim)}; }, ramp);
      expect_close(test, 1e-6, concat(to_string(shape), " along ", dim));
    }
  }
}

TEST(Rows, SoftmaxIsOnePass) {
  const Case test(
      {TensorType{DType::F32, {1000, 512}}},
      [&](ir::Builder& b, const Values& v) { return Values{softmax(b, v[0], 1)}; }, ramp);
  const neuroncore::Program program = compiled(test.module);
  EXPECT_EQ(count(program, Opcode::DmaCopy), 2) << neuroncore::print(program);
  EXPECT_EQ(program.loops.size(), 1u);
}

Values layer_norm(ir::Builder& b, const Values& v) {
  const Dims shape = b.shape(v[0]);
  const auto zero = b.splat({DType::F32, {}}, 0);
  const auto wide = b.convert(v[0], DType::F32);
  const TensorType row{DType::F32, {shape[0]}};
  const auto size = b.splat(row, static_cast<double>(shape[1]));
  const auto mean = b.divide(b.reduce(wide, zero, Op::Add, {1}), size);
  const auto centred = b.subtract(wide, b.broadcast_in_dim(mean, shape, {0}));
  const auto variance = b.divide(b.reduce(b.multiply(centred, centred), zero, Op::Add, {1}), size);
  const auto rstd = b.rsqrt(b.add(variance, b.splat(row, 1e-5)));
  const auto normalised = b.multiply(centred, b.broadcast_in_dim(rstd, shape, {0}));
  const auto weight = b.broadcast_in_dim(b.convert(v[1], DType::F32), shape, {1});
  const auto result = b.convert(b.multiply(normalised, weight), b.dtype(v[0]));
  return {result, b.reshape(mean, {shape[0], 1}), b.reshape(rstd, {shape[0], 1})};
}

TEST(Rows, LayerNorm) {
  for (const DType dtype : {DType::F32, DType::BF16}) {
    for (const int64_t columns : {1, 127, 513, 20000, 80000}) {
      const int64_t rows = columns > 1000 ? 3 : 130;
      const Case test({TensorType{dtype, {rows, columns}}, TensorType{dtype, {columns}}}, layer_norm, small_whole);
      expect_close(test, dtype == DType::F32 ? 1e-6 : 8e-3, concat(name(dtype), " ", columns));
    }
  }
}

TEST(Rows, LayerNormIsOnePass) {
  const Case test({TensorType{DType::BF16, {1000, 768}}, TensorType{DType::BF16, {768}}}, layer_norm, small_whole);
  const neuroncore::Program program = compiled(test.module);
  EXPECT_EQ(count(program, Opcode::DmaCopy), 5) << neuroncore::print(program);
  EXPECT_EQ(program.loops.size(), 1u);
}

TEST(Rows, LargestElementAndItsPlace) {
  for (const Dims& shape : {Dims{1, 50000}, Dims{300, 700}}) {
    const Case test(
        {TensorType{DType::F32, shape}},
        [&](ir::Builder& b, const Values& v) {
          const auto low = b.splat({DType::F32, {}}, -std::numeric_limits<double>::infinity());
          const auto most = b.reduce(v[0], low, Op::Maximum, {1});
          const TensorType places{DType::I64, shape};
          const auto same = b.compare(ir::ComparisonDirection::EQ, v[0], b.broadcast_in_dim(most, shape, {0}));
          const auto place = b.select(same, b.iota(places, 1), b.splat(places, 1e18));
          const auto none = b.splat({DType::I64, {}}, 1e18);
          return Values{most, b.reduce(place, none, Op::Minimum, {1})};
        },
        ramp);
    expect_same_bytes(test, to_string(shape));
    EXPECT_EQ(count(compiled(test.module), Opcode::LibraryCall), 0);
  }
}

TEST(Rows, RowsOfTwoKinds) {
  const Dims shape{60, 500};
  const Case test(
      {TensorType{DType::F32, shape}},
      [&](ir::Builder& b, const Values& v) {
        const auto zero = b.splat({DType::F32, {}}, 0);
        const auto twice = b.add(v[0], v[0]);
        return Values{b.reduce(twice, zero, Op::Add, {0}), b.reduce(twice, zero, Op::Add, {1})};
      },
      small_whole);
  expect_same_bytes(test, "sums over either dimension");
}

// --- scans

TEST(Scan, RunningSumsAndExtremes) {
  for (const Dims& shape : {Dims{1}, Dims{5000}, Dims{3, 129}, Dims{2, 70, 5}}) {
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      for (const bool reverse : {false, true}) {
        ir::ReduceWindowAttributes window;
        const Dims ones(shape.size(), 1);
        window.window_dimensions = window.window_strides = window.base_dilations = window.window_dilations = ones;
        window.padding_low = window.padding_high = Dims(shape.size(), 0);
        window.window_dimensions[dim] = shape[dim];
        (reverse ? window.padding_high : window.padding_low)[dim] = shape[dim] - 1;
        for (const DType dtype : {DType::F32, DType::BF16, DType::I32, DType::I64}) {
          const Case test(
              {TensorType{dtype, shape}},
              [&](ir::Builder& b, const Values& v) {
                auto sums = window, extremes = window;
                extremes.reducer = Op::Maximum;
                return Values{b.reduce_window(v[0], b.splat({dtype, {}}, 0), sums),
                              b.reduce_window(v[0], b.splat({dtype, {}}, 2), extremes)};
              },
              small_whole);
          expect_same_bytes(test, concat(to_string(shape), " along ", dim, reverse ? " back " : " ", name(dtype)));
          EXPECT_EQ(count(compiled(test.module), Opcode::LibraryCall), 0);
        }
      }
    }
  }
}

}  // namespace

}  // namespace opentrn::compiler
