// max8, nc_find_index8, nc_match_replace8.
#include <algorithm>
#include <cmath>

#include "tests/cpp/neuroncore/emulator_samples.h"

namespace opentrn::neuroncore {
namespace {

TEST(EmulatorEights, Max8SortsTheLargest) {
  for (const int64_t n : {8, 9, 100, 1000}) {
    const TileShape in{DType::F32, 5, n};
    const Memory a = numbers(DType::F32, in.size(), 1);
    const Program program =
        on_tiles({{DType::F32, 5, 8}}, {in}, [&](Builder& builder, auto& o, auto& i) { builder.max8(o[0], i[0]); });
    const auto results = run_on_tiles(program, {a}, {Memory(DType::F32, 40)});
    for (int64_t p = 0; p < 5; ++p) {
      std::vector<double> row;
      for (int64_t i = 0; i < n; ++i) row.push_back(a.at(p * n + i));
      std::sort(row.begin(), row.end(), std::greater<>());
      for (int64_t i = 0; i < 8; ++i) ASSERT_EQ(results[0].at(p * 8 + i), row[static_cast<size_t>(i)]);
    }
  }
}

TEST(EmulatorEights, FindIndexGivesLaterOccurrencesToRepeatedValues) {
  Memory data(DType::F32, 10), values(DType::F32, 8);
  const double row[] = {3, 1, 3, 7, 1, 3, 0, 2, 9, 9};
  for (int64_t i = 0; i < 10; ++i) data.set(i, row[i]);
  const double wanted[] = {3, 3, 1, 42, 9, 3, 3, 0};
  for (int64_t i = 0; i < 8; ++i) values.set(i, wanted[i]);
  const Program program =
      on_tiles({{DType::U16, 1, 8}}, {{DType::F32, 1, 10}, {DType::F32, 1, 8}},
               [&](Builder& builder, auto& o, auto& i) { builder.nc_find_index8(o[0], i[0], i[1]); });
  const auto results = run_on_tiles(program, {data, values}, {Memory(DType::U16, 8)});
  const double expected[] = {0, 2, 1, 65535, 8, 5, 65535, 6};
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(results[0].at(i), expected[i]) << i;
}

TEST(EmulatorEights, MatchReplaceTakesEachOccurrenceOnce) {
  Memory data(DType::F32, 9), values(DType::F32, 8);
  const double row[] = {5, 4, 5, 3, 5, 2, 1, 0, 4};
  for (int64_t i = 0; i < 9; ++i) data.set(i, row[i]);
  const double wanted[] = {5, 5, 4, 77, 78, 79, 80, 3};
  for (int64_t i = 0; i < 8; ++i) values.set(i, wanted[i]);
  const Program program =
      on_tiles({{DType::F32, 1, 9}}, {{DType::F32, 1, 9}, {DType::F32, 1, 8}}, [&](Builder& builder, auto& o, auto& i) {
        builder.nc_match_replace8(o[0], i[0], i[1], immediate(DType::F32, -INFINITY));
      });
  const auto results = run_on_tiles(program, {data, values}, {Memory(DType::F32, 9)});
  const double expected[] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, 5, 2, 1, 0, 4};
  for (int64_t i = 0; i < 9; ++i) EXPECT_EQ(results[0].at(i), expected[i]) << i;
}

}  // namespace
}  // namespace opentrn::neuroncore
