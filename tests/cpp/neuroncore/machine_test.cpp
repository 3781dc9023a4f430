#include "neuroncore/machine.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace opentrn::neuroncore {
namespace {

TEST(Machine, DefaultIsTrn2) {
  EXPECT_EQ(machines().front().name, "trn2");
  EXPECT_EQ(machines().size(), 3u);
}

TEST(Machine, LogicalCoresAndMemory) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  EXPECT_EQ(machine("trn2").logical_cores_per_chip(), 4);
  EXPECT_EQ(machine("trn2").hbm_bytes_per_logical_core(), 24 * kGiB);
  EXPECT_EQ(machine("trn1").logical_cores_per_chip(), 2);
  EXPECT_EQ(machine("trn1").hbm_bytes_per_logical_core(), 16 * kGiB);
  EXPECT_EQ(machine("trn3").logical_cores_per_chip(), 4);
  EXPECT_EQ(machine("trn3").hbm_bytes_per_logical_core(), 36 * kGiB);
}

TEST(Machine, UnknownNamesListTheValidOnes) {
  try {
    machine("xyz");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Value);
    const std::string text = error.what();
    for (const char* part : {"OPENTRN_TARGET", "xyz", "trn1", "trn2", "trn3"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace opentrn::neuroncore
