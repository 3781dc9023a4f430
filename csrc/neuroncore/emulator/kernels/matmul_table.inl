// Which matrix product is which kernel.

inline MatmulKernel find_matmul(DType dtype) {
  switch (dtype) {
    case DType::F32: return matmul<FloatProduct, float>;
    case DType::F64: return matmul<DoubleProduct, double>;
    case DType::BF16: return matmul<FloatProduct, BFloat16>;
    case DType::F16: return matmul<FloatProduct, Half>;
    case DType::F8E4M3FN: return matmul<FloatProduct, Float8E4M3FN>;
    case DType::F8E5M2: return matmul<FloatProduct, Float8E5M2>;
    case DType::F8E4M3FNUZ: return matmul<FloatProduct, Float8E4M3FNUZ>;
    case DType::F8E5M2FNUZ: return matmul<FloatProduct, Float8E5M2FNUZ>;
    case DType::F8E8M0FNU: return matmul<FloatProduct, Float8E8M0FNU>;
    default: return nullptr;
  }
}

inline ChainKernel find_chain(DType dtype) {
  switch (dtype) {
    case DType::F32: return multiply_chain<FloatProduct, float>;
    case DType::BF16: return multiply_chain<FloatProduct, BFloat16>;
    case DType::F16: return multiply_chain<FloatProduct, Half>;
    default: return nullptr;
  }
}
