// Random graphs give the same results on every engine. A failure is shrunk and written to a file that reproduces it.
// OPENTRN_TEST_SEED and OPENTRN_TEST_GRAPHS choose other graphs and more of them.
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "ir/text.h"
#include "tests/random_graphs/comparison.h"

namespace opentrn::random_graphs {
namespace {

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class RandomGraphs : public ::testing::TestWithParam<std::string> {};

void report(const Case& failing, const std::string& what, const std::string& engine, uint64_t seed) {
  const Runner runner = engine_runner(engine);
  const Case small = shrink(failing, runner, seed);
  const std::string path = concat("random_graph_", engine, "_", seed, ".mlir");
  std::ofstream(path) << reproducer(small);
  std::cerr << ir::print(small.graph) << difference(small, runner, seed).value_or("") << "\n";
  ADD_FAILURE() << "seed " << seed << ": " << what << "\nshrunk to " << path << ", do: opentrn ir " << path
                << " --engine " << engine;
}

TEST_P(RandomGraphs, AgreeWithTheOracle) {
  const uint64_t first = setting("OPENTRN_TEST_SEED", 1);
  const uint64_t count = setting("OPENTRN_TEST_GRAPHS", 10000);
  std::cout << "seeds " << first << " to " << first + count - 1 << "\n";
  const Runner runner = engine_runner(GetParam());
  int failures = 0;
  for (uint64_t seed = first; seed < first + count && failures < 5; ++seed) {
    const Case tried = make_case(Generator(seed).draw(), seed);
    const auto found = difference(tried, runner, seed);
    if (!found) continue;
    ++failures;
    report(tried, *found, GetParam(), seed);
  }
}

std::vector<std::string> other_engines() {
  std::vector<std::string> names = conformance::engine_names();
  std::erase(names, "reference");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Engines, RandomGraphs, ::testing::ValuesIn(other_engines()),
                         [](const auto& info) { return info.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RandomGraphs);

// An engine that is wrong about one primitive.
std::vector<conformance::Tensor> wrong_about_tanh(const Case& tried, uint64_t seed) {
  Case changed = tried;
  for (ir::Node& node : changed.graph.nodes) {
    if (node.op == ir::Op::Tanh) node.op = ir::Op::Sine;
  }
  return engine_runner("reference")(changed, seed);
}

TEST(Shrinking, CutsAFailureDownToTheNodeThatMakesIt) {
  ir::Builder builder;
  const ir::Value x = builder.parameter({DType::F32, {4}});
  const ir::Value unused = builder.parameter({DType::F32, {4}});
  const ir::Value before = builder.add(builder.add(x, x), builder.splat_like(x, 1));
  const ir::Value wrong = builder.tanh(before);
  const ir::Value after = builder.negate(builder.multiply(wrong, x));
  const ir::Value innocent = builder.add(unused, x);
  const Case tried = make_case({builder.finish({innocent, after}), {{innocent, 8, 0}, {after, 4, 1e-6}}}, 3);
  EXPECT_FALSE(difference(tried, engine_runner("reference"), 3).has_value());
  ASSERT_TRUE(difference(tried, wrong_about_tanh, 3).has_value());
  const Case small = shrink(tried, wrong_about_tanh, 3);
  EXPECT_TRUE(difference(small, wrong_about_tanh, 3).has_value());
  EXPECT_LE(small.graph.nodes.size(), 3u);  // what follows the fault stays: only what feeds it can be cut off
  EXPECT_EQ(ir::parse(reproducer(small)).parameters.size(), 0u);
}

}  // namespace
}  // namespace opentrn::random_graphs
