#include <gtest/gtest.h>

#include "lowering/rule.h"

namespace opentrn::lowering {
namespace {

TEST(Table, IsSortedAndEachRuleHasOneFunction) {
  const auto all = rules();
  ASSERT_FALSE(all.empty());
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(all[i - 1].name, all[i].name);
    }
    EXPECT_NE(all[i].function == nullptr, all[i].elementwise == nullptr) << all[i].name;
    EXPECT_EQ(find_rule(all[i].name), &all[i]);
  }
}

TEST(Table, HasNoRuleOfAnUnknownName) { EXPECT_EQ(find_rule("no_such_operator"), nullptr); }

}  // namespace
}  // namespace opentrn::lowering
