// Which tables this machine can execute, and which of them is used.
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "neuroncore/emulator/kernels/prelude.h"

namespace opentrn::neuroncore::emulator {

namespace {

std::vector<const KernelTable*> find_available() {
  std::vector<const KernelTable*> tables{&baseline_kernels()};
#if defined(__x86_64__)
  // Every processor with AVX2 converts float16.
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("popcnt");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  if (v3) tables.push_back(&avx2_kernels());
  if (v4) tables.push_back(&avx512_kernels());
  if (v4 && __builtin_cpu_supports("avx512bf16")) tables.push_back(&avx512bf16_kernels());
#endif
  return tables;
}

std::string names_of(std::span<const KernelTable* const> tables) {
  std::string names;
  for (const KernelTable* table : tables) {
    if (!names.empty()) names += ", ";
    names += table->instruction_set;
  }
  return names;
}

}  // namespace

std::span<const KernelTable* const> available_kernels() {
  static const std::vector<const KernelTable*> tables = find_available();
  return tables;
}

const KernelTable& kernels() {
  const std::span<const KernelTable* const> tables = available_kernels();
  const std::optional<std::string> wanted = environment("OPENTRN_INSTRUCTION_SET");
  if (!wanted.has_value()) return *tables.back();
  for (const KernelTable* table : tables) {
    if (table->instruction_set == *wanted) return *table;
  }
  raise(ErrorKind::Value, {.where = "OPENTRN_INSTRUCTION_SET",
                           .what = "this machine has no such instruction set",
                           .got = *wanted,
                           .expected = names_of(tables),
                           .action = "unset it to use the fastest"});
}

DType dtype_of(ComputeType type) {
  switch (type) {
    case ComputeType::F32: return DType::F32;
    case ComputeType::I32: return DType::I32;
    case ComputeType::U32: return DType::U32;
    case ComputeType::I64: return DType::I64;
    case ComputeType::U64: return DType::U64;
    case ComputeType::F64: return DType::F64;
    case ComputeType::C64: return DType::C64;
    case ComputeType::C128: return DType::C128;
  }
  __builtin_unreachable();
}

int64_t size_of(ComputeType type) { return opentrn::size_of(dtype_of(type)); }

}  // namespace opentrn::neuroncore::emulator
