// Few rows are limited by memory, not by multiplications: they read the large operand as it lies, and widen it. Whether
// they do must not depend on how it lies, for the order of the additions is another.

inline void matmul_bf16(const MatmulProblem& p) {
  if (std::min(p.m, p.n) <= kDotRows) return matmul<FloatProduct, BFloat16>(p);
  matmul<PairProduct, BFloat16>(p);
}

inline MatmulKernel find_matmul(DType dtype) {
  return dtype == DType::BF16 ? matmul_bf16 : avx512_kernels().matmul(dtype);
}

inline ChainKernel find_pair_chain(DType dtype) {
  return dtype == DType::BF16 ? multiply_chain<PairProduct, BFloat16> : avx512_kernels().chain(dtype);
}
