#include "base/error.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/environment.h"
#include "base/log.h"

namespace opentrn {
namespace {

TEST(Error, NamesWhereWhatAndWhatToDo) {
  const Complaint full{.where = "aten.add", .what = "wrong size", .got = "2", .expected = "3", .action = "fix it"};
  EXPECT_EQ(to_string(full), "[aten.add] wrong size, got 2, expected 3, do: fix it");
  EXPECT_EQ(to_string({.what = "wrong size"}), "wrong size");
  EXPECT_EQ(to_string({.where = "x", .what = "bad", .action = "this"}), "[x] bad, do: this");
}

TEST(Error, KeepsItsKind) {
  try {
    raise(ErrorKind::Index, {.what = "no"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Index);
    EXPECT_STREQ(error.what(), "no");
  }
}

TEST(Environment, OnlyNamesOfTheTableAreRead) {
  setenv("OPENTRN_LOG", "debug", 1);
  EXPECT_EQ(environment("OPENTRN_LOG"), "debug");
  unsetenv("OPENTRN_LOG");
  EXPECT_EQ(environment("OPENTRN_LOG"), std::nullopt);
  EXPECT_THROW(environment("HOME"), Error);
  for (const EnvironmentVariable& row : environment_table()) EXPECT_NO_THROW(environment(row.name)) << row.name;
}

TEST(Log, FollowsTheLevel) {
  setenv("OPENTRN_LOG", "info", 1);
  testing::internal::CaptureStderr();
  log(LogLevel::Info, "count ", 3);
  log(LogLevel::Debug, "hidden");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "opentrn info: count 3\n");
  unsetenv("OPENTRN_LOG");
  EXPECT_TRUE(logs(LogLevel::Warning));
  EXPECT_FALSE(logs(LogLevel::Info));
}

}  // namespace
}  // namespace opentrn
