// Inner products of rows, fused so that nothing is written between the multiplication and the sum, whose orders are
// those of the two kernels they stand for.

template <typename A, typename B>
void dot_rows(int64_t rows, int64_t n, std::byte* out, int64_t out_row, const std::byte* a, int64_t a_row,
              const std::byte* b) {
  using Sum = SumOf<float>;
  const B* right = as<B>(b);
  for (int64_t r = 0; r < rows; ++r) {
    const A* left = as<A>(a + r * a_row);
    double lanes[kReduceLanes] = {};
    int64_t i = 0;
    for (; i + kReduceLanes <= n; i += kReduceLanes) {
      for (int64_t j = 0; j < kReduceLanes; ++j) {
        lanes[j] += Sum::widen(convert<float>(left[i + j]) * convert<float>(right[i + j]));
      }
    }
    for (int64_t j = 0; i + j < n; ++j) {
      lanes[j] += Sum::widen(convert<float>(left[i + j]) * convert<float>(right[i + j]));
    }
    float* to = as<float>(out + r * out_row);
    *to = Sum::narrow(Sum::widen(*to) + fold_lanes<Sum>(lanes));
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
