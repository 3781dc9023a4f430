// x86-64-v3: 256-bit vectors, fused multiply-add, hardware float16 conversion.
#include "neuroncore/emulator/kernels/prelude.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi2,popcnt")
#endif

namespace opentrn::neuroncore::emulator {

namespace {

// clang-format off
#include "neuroncore/emulator/kernels/vectors_avx2.inl"
#include "neuroncore/emulator/kernels/all.inl"
#include "neuroncore/emulator/kernels/transpose_avx2.inl"
// clang-format on

}  // namespace

const KernelTable& avx2_kernels() {
  static const KernelTable table = [] {
    KernelTable result = table_named("avx2");
    result.copy = find_transposing_copy;
    return result;
  }();
  return table;
}

}  // namespace opentrn::neuroncore::emulator

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
