#include "engines/engine.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "ir/builder.h"

namespace opentrn::engines {
namespace {

Module make_module(ir::Graph graph, const std::vector<ir::TensorType>& parameters, const ir::TensorType& result) {
  Module module{std::move(graph), {}, {}, {}};
  for (const ir::TensorType& type : parameters) module.parameters.push_back({type, contiguous_strides(type.shape)});
  module.results.push_back({result, contiguous_strides(result.shape)});
  return module;
}

TEST(Engine, ReferenceIsListed) {
  EXPECT_EQ(engine("reference").name, "reference");
  EXPECT_FALSE(engines().empty());
}

TEST(Engine, UnknownNamesListTheValidOnes) {
  try {
    engine("xyz");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Value);
    const std::string text = error.what();
    for (const char* part : {"OPENTRN_ENGINE", "xyz", "reference"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(Engine, LayoutsMustBelongToTheGraph) {
  ir::Builder b;
  const ir::Value x = b.parameter({DType::F32, {2}});
  const Module module = make_module(b.finish({b.negate(x)}), {{DType::F32, {3}}}, {DType::F32, {2}});
  EXPECT_THROW(engine("reference").compile(module, neuroncore::machines()[0]), Error);
}

// One executable, many threads at once, each with memory of its own.
TEST(Engine, ExecutablesRunConcurrently) {
  ir::Builder b;
  const ir::TensorType type{DType::F32, {64, 64}};
  const ir::Value x = b.parameter(type);
  const ir::Value product = b.dot_general(x, x, {{}, {}, {1}, {0}}, DType::F32);
  const ir::Value sum = b.add(b.exponential(b.negate(product)), b.reverse(x, {0}));
  const Module module = make_module(b.finish({sum}), {type}, type);
  const auto executable = engine("reference").compile(module, neuroncore::machines()[0]);
  const auto run = [&](float value) {
    const std::vector<float> input(64 * 64, value);
    std::vector<float> result(64 * 64);
    const void* parameters[] = {input.data()};
    void* results[] = {result.data()};
    executable->run(parameters, results);
    return result;
  };
  std::vector<std::vector<float>> expected;
  for (int i = 0; i < 4; ++i) expected.push_back(run(0.1f * static_cast<float>(i)));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round)
        EXPECT_EQ(run(0.1f * static_cast<float>(i)), expected[static_cast<size_t>(i)]);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Engine, UsableAfterAnError) {
  ir::Builder b;
  const ir::TensorType type{DType::I64, {3}};
  const ir::Value x = b.parameter(type);
  const ir::Value y = b.parameter(type);
  const ir::Value quotient = b.add(b.divide(b.add(x, x), y), x);
  const Module module = make_module(b.finish({quotient}), {type, type}, type);
  const auto executable = engine("reference").compile(module, neuroncore::machines()[0]);
  const std::vector<int64_t> left{3, 4, 5}, zeros{1, 0, 1}, ones{1, 1, 1};
  std::vector<int64_t> result(3);
  void* results[] = {result.data()};
  const void* wrong[] = {left.data(), zeros.data()};
  const void* right[] = {left.data(), ones.data()};
  EXPECT_THROW(executable->run(wrong, results), Error);
  executable->run(right, results);
  EXPECT_EQ(result, (std::vector<int64_t>{9, 12, 15}));
}

}  // namespace
}  // namespace opentrn::engines
