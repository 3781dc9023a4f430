// The AVX-512 kernels, with matrix products of bfloat16 by instructions of their own.
#include "neuroncore/emulator/kernels/prelude.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(                                                                           \
    __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c,bmi2,popcnt,avx512bf16"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c,bmi2,popcnt,avx512bf16,prefer-vector-width=512")
#endif

namespace opentrn::neuroncore::emulator {

namespace {

// clang-format off
#include "neuroncore/emulator/kernels/vectors_avx512.inl"
#include "neuroncore/emulator/kernels/types.inl"
#include "neuroncore/emulator/kernels/convert.inl"
#include "neuroncore/emulator/kernels/matmul_tile.inl"
#include "neuroncore/emulator/kernels/matmul_sides.inl"
#include "neuroncore/emulator/kernels/matmul_pack.inl"
#include "neuroncore/emulator/kernels/matmul_dot.inl"
#include "neuroncore/emulator/kernels/matmul_pairs.inl"
#include "neuroncore/emulator/kernels/matmul.inl"
#include "neuroncore/emulator/kernels/matmul_chain.inl"
#include "neuroncore/emulator/kernels/matmul_pairs_choice.inl"
// clang-format on

}  // namespace

const KernelTable& avx512bf16_kernels() {
  static const KernelTable table = [] {
    KernelTable result = avx512_kernels();
    result.instruction_set = "avx512bf16";
    result.matmul = find_matmul;
    result.chain = find_pair_chain;
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
