// Inner products of rows, fused so that nothing is written between the multiplication and the sum, whose orders are
// those of the two kernels they stand for.

OPENTRN_INLINE Floats floats_at(const float* from) { return load_vector<Floats>(from); }
template <typename T>
OPENTRN_INLINE Floats floats_at(const T* from) {
  return widen(from);
}

template <typename A, typename B>
void dot_rows(int64_t rows, int64_t n, std::byte* out, int64_t out_row, const std::byte* a, int64_t a_row,
              const std::byte* b) {
  for (int64_t r = 0; r < rows; ++r) {
    double* sum = as<double>(out + r * out_row);
    for (int64_t done = 0; done < n; done += kSumBlock) {
      const A* left = as<A>(a + r * a_row) + done;
      const B* right = as<B>(b) + done;
      *sum += sum_of_block(
          std::min(kSumBlock, n - done), [=](int64_t i) { return floats_at(left + i) * floats_at(right + i); },
          [=](int64_t i) { return convert<float>(left[i]) * convert<float>(right[i]); });
    }
  }
}

template <typename A>
DotKernel dot_with(DType b) {
  switch (b) {
    case DType::F32: return dot_rows<A, float>;
    case DType::BF16: return dot_rows<A, BFloat16>;
    case DType::F16: return dot_rows<A, Half>;
    default: return nullptr;
  }
}

inline DotKernel find_dot(DType a, DType b) {
  switch (a) {
    case DType::F32: return dot_with<float>(b);
    case DType::BF16: return dot_with<BFloat16>(b);
    case DType::F16: return dot_with<Half>(b);
    default: return nullptr;
  }
}
