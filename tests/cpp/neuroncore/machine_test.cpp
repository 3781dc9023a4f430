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

TEST(Machine, MemoriesOfTheCore) {
  for (const Machine& one : machines()) {
    EXPECT_EQ(one.psum_bytes_per_partition() * one.partitions, 2 << 20) << one.name;
    EXPECT_LT(one.sbuf_bytes_per_partition * one.partitions, one.sbuf_bytes) << one.name;
    EXPECT_GT(one.sbuf_bytes_per_partition * one.partitions, one.sbuf_bytes * 9 / 10) << one.name;
  }
}

TEST(Machine, TensorEnginePeakIsTheDocumentedOne) {
  // 78.6 TFLOPS in bfloat16: 128 x 128 multiply-adds a cycle.
  for (const Machine& one : machines())
    EXPECT_NEAR(2.0 * one.partitions * one.stationary_free_size * one.clock(Engine::Tensor), 78.6e12, 0.1e12);
}

TEST(Machine, TypesByGeneration) {
  EXPECT_TRUE(is_native(machine("trn1"), DType::Bool));
  EXPECT_FALSE(is_native(machine("trn3"), DType::I64));
  EXPECT_FALSE(is_native(machine("trn2"), DType::F8E4M3FN));
  EXPECT_TRUE(is_native(machine("trn3"), DType::F8E4M3FN));
  EXPECT_FALSE(matmul_takes(machine("trn3"), DType::I8));
  EXPECT_TRUE(matmul_takes(machine("trn1"), DType::F32));
  EXPECT_FALSE(matmul_writes(machine("trn2"), DType::BF16));
  EXPECT_TRUE(matmul_writes(machine("trn3"), DType::BF16));
}

}  // namespace
}  // namespace opentrn::neuroncore
