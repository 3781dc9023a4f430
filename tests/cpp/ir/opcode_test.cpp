#include "ir/opcode.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/cpp/ir/samples.h"

namespace opentrn::ir {
namespace {

TEST(Opcode, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const OpInfo& row : catalogue()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(op_from_name(row.name), row.op);
    EXPECT_EQ(&info(row.op), &row);
  }
  EXPECT_EQ(op_from_name("stablehlo.nothing"), std::nullopt);
  EXPECT_EQ(name(Op::Erf), "chlo.erf");
  EXPECT_EQ(name(Op::PopulationCount), "stablehlo.popcnt");
  EXPECT_TRUE(is_elementwise(Op::Select));
  EXPECT_FALSE(is_elementwise(Op::Reshape));
}

TEST(Opcode, TheSamplesHoldEveryPrimitive) {
  std::set<Op> seen;
  for (const Graph& graph : sample_graphs()) {
    for (const Node& node : graph.nodes) seen.insert(node.op);
  }
  for (const OpInfo& row : catalogue()) EXPECT_TRUE(seen.contains(row.op)) << row.name;
}

}  // namespace
}  // namespace opentrn::ir
