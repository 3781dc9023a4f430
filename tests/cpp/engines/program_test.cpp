// What compilation makes of a graph: which steps, which memory.
#include "engines/reference/program.h"

#include <gtest/gtest.h>

#include <functional>

#include "engines/reference/storage.h"
#include "ir/builder.h"

namespace opentrn::engines::reference {
namespace {

using ir::Builder;
using ir::Value;
using Values = std::vector<Value>;

Program program(const std::vector<ir::TensorType>& types, const std::function<Values(Builder&, const Values&)>& build,
                const std::vector<Overlap>& overlaps = {}) {
  Builder b;
  Values parameters;
  for (const ir::TensorType& type : types) parameters.push_back(b.parameter(type));
  Module module{b.finish(build(b, parameters)), {}, {}, overlaps};
  for (const ir::TensorType& type : types) module.parameters.push_back({type, contiguous_strides(type.shape)});
  for (const Value result : module.graph.results) {
    const ir::TensorType& type = module.graph.type(result);
    module.results.push_back({type, contiguous_strides(type.shape)});
  }
  return compile_program(module);
}

const ir::TensorType kMatrix{DType::F32, {4, 6}};

TEST(Program, OneOperatorIsOneStepWithoutTemporaries) {
  const Program add =
      program({kMatrix, kMatrix}, [](Builder& b, const Values& p) { return Values{b.add(p[0], p[1])}; });
  EXPECT_EQ(add.steps.size(), 1u);
  EXPECT_EQ(add.scratch_bytes, 0);
  const Program in_place = program(
      {kMatrix, kMatrix}, [](Builder& b, const Values& p) { return Values{b.add(p[0], p[1])}; }, {{0, 0, true}});
  EXPECT_EQ(in_place.steps.size(), 1u);
  EXPECT_EQ(in_place.scratch_bytes, 0);
}

TEST(Program, StridesAreChangedWithoutSteps) {
  const Program keepdim = program({kMatrix}, [](Builder& b, const Values& p) {
    return Values{b.reshape(b.reduce(p[0], ir::Op::Add, {1}), {4, 1})};
  });
  EXPECT_EQ(keepdim.steps.size(), 1u);
  EXPECT_EQ(keepdim.scratch_bytes, 0);
  const Program views = program({kMatrix, {DType::F32, {4}}}, [](Builder& b, const Values& p) {
    const Value column = b.broadcast_in_dim(p[1], {6, 4}, {1});
    return Values{b.transpose(b.multiply(b.transpose(p[0], {1, 0}), column), {1, 0})};
  });
  EXPECT_EQ(views.steps.size(), 1u);
  EXPECT_EQ(views.scratch_bytes, 0);
  const Program reshaped = program(
      {kMatrix}, [](Builder& b, const Values& p) { return Values{b.reshape(b.transpose(p[0], {1, 0}), {24})}; });
  EXPECT_EQ(reshaped.steps.size(), 1u);
  EXPECT_EQ(reshaped.scratch_bytes, 0);
}

TEST(Program, ParametersInPlaceNeedNoCopy) {
  const Program nothing = program({kMatrix}, [](Builder&, const Values& p) { return p; }, {{0, 0, true}});
  EXPECT_TRUE(nothing.steps.empty());
  const Program update = program(
      {kMatrix, {DType::F32, {1, 6}}, {DType::I64, {}}},
      [](Builder& b, const Values& p) { return Values{b.dynamic_update_slice(p[0], p[1], std::vector{p[2], p[2]})}; },
      {{0, 0, true}});
  EXPECT_EQ(update.steps.size(), 1u);
  EXPECT_EQ(update.scratch_bytes, 0);
}

TEST(Program, ChainsNeedTheMemoryOfOneTemporary) {
  const Program chain = program({{DType::F32, {1000}}}, [](Builder& b, const Values& p) {
    Value x = p[0];
    for (int i = 0; i < 20; ++i) x = b.negate(x);
    return Values{b.slice(x, {1}, {999}, {1})};
  });
  EXPECT_EQ(chain.scratch_bytes, aligned(4000));
}

// Whatever the order of lifetimes, no two storages that live at once share a byte.
TEST(Storage, LivingStoragesNeverOverlap) {
  uint32_t random = 12345;
  const auto next = [&](uint32_t limit) {
    return (random = random * 1664525u + 1013904223u) >> 8 & 0xFFFFu ? (random >> 8) % limit : 0;
  };
  std::vector<Storage> storages;
  std::vector<Access> steps;
  for (int32_t i = 0; i < 300; ++i) {
    Access access;
    const int64_t elements = 1 + next(2000);
    const ir::View view = ir::contiguous_view({DType::F32, {elements}});
    for (uint32_t j = 0; i > 0 && j < 1 + next(3); ++j) {
      const int32_t operand = std::max(0, i - 1 - static_cast<int32_t>(next(20)));
      const int64_t count = storages[static_cast<size_t>(operand)].bytes / 4;
      access.operands.push_back({operand, ir::contiguous_view({DType::F32, {count}})});
    }
    access.results.push_back({i, view});
    access.overwritable = 0;
    storages.push_back({Home::Scratch, 0, 0, elements * 4});
    steps.push_back(access);
  }
  int64_t total = 0;
  for (const Storage& storage : storages) total += aligned(storage.bytes);
  const int64_t bytes = assign_scratch(storages, steps);
  EXPECT_LT(bytes, total / 4);
  std::vector<size_t> last_use(storages.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    last_use[i] = std::max(last_use[i], i);
    for (const Place& place : steps[i].operands) last_use[static_cast<size_t>(place.storage)] = i;
  }
  for (size_t i = 0; i < storages.size(); ++i) {
    EXPECT_LE(storages[i].offset + storages[i].bytes, bytes);
    for (size_t j = i + 1; j <= last_use[i] && j < storages.size(); ++j) {
      const bool apart = storages[i].offset + storages[i].bytes <= storages[j].offset ||
                         storages[j].offset + storages[j].bytes <= storages[i].offset;
      EXPECT_TRUE(apart) << i << " and " << j;
    }
  }
}

}  // namespace
}  // namespace opentrn::engines::reference
