// x86-64-v4: 512-bit vectors with masks.
#include "neuroncore/emulator/kernels/prelude.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c,bmi2,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c,bmi2,popcnt,prefer-vector-width=512")
#endif

namespace opentrn::neuroncore::emulator {

namespace {

// clang-format off
#include "neuroncore/emulator/kernels/vectors_avx512.inl"
#include "neuroncore/emulator/kernels/all.inl"
#include "neuroncore/emulator/kernels/transpose_avx2.inl"
#include "neuroncore/emulator/kernels/functions_avx512.inl"
// clang-format on

}  // namespace

const KernelTable& avx512_kernels() {
  static const KernelTable table = [] {
    KernelTable result = table_named("avx512");
    result.activation = find_vector_activation;
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
