#include "engines/reference/dot_tiles.h"

#include <cstddef>

#include "engines/reference/target.h"

// Multiply-adds are fused where the processor can: the one place where that is wanted, because it doubles the speed.
#if defined(__clang__)
#pragma clang fp contract(fast)
#else
#pragma GCC optimize("fp-contract=fast")
#endif

namespace opentrn::engines::reference {

namespace {

template <typename T, size_t width>
struct VectorOf {
  typedef T type __attribute__((vector_size(width), aligned(sizeof(T)), may_alias));
};

// An outer product per step: every accumulator stays in a register.
template <typename T, size_t width, int rows, int vectors>
OPENTRN_INLINE void multiply_tile(int64_t k, const T* a, const T* b, T* c, int64_t c_stride, bool add) {
  using Vector = typename VectorOf<T, width>::type;
  constexpr int lanes = static_cast<int>(width / sizeof(T));
  Vector sums[rows][vectors] = {};
  for (int64_t i = 0; i < k; ++i, a += rows, b += lanes * vectors) {
    Vector right[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) right[v] = *reinterpret_cast<const Vector*>(b + v * lanes);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] += a[r] * right[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      auto* to = reinterpret_cast<Vector*>(c + r * c_stride + v * lanes);
      *to = add ? *to + sums[r][v] : sums[r][v];
    }
  }
}

template <typename T>
void portable_tile(int64_t k, const T* a, const T* b, T* c, int64_t c_stride, bool add) {
  multiply_tile<T, 16, 4, 2>(k, a, b, c, c_stride, add);
}

#if defined(__x86_64__)
template <typename T>
__attribute__((target("avx2,fma"))) void avx2_tile(int64_t k, const T* a, const T* b, T* c, int64_t c_stride,
                                                   bool add) {
  multiply_tile<T, 32, 6, 2>(k, a, b, c, c_stride, add);
}

template <typename T>
__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq"))) void avx512_tile(int64_t k, const T* a, const T* b, T* c,
                                                                               int64_t c_stride, bool add) {
  multiply_tile<T, 64, 12, 2>(k, a, b, c, c_stride, add);
}
#endif

template <typename T>
TileKernel<T> choose() {
  constexpr auto lanes = static_cast<int64_t>(16 / sizeof(T));
#if defined(__x86_64__)
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  if (avx512) return {12, 8 * lanes, avx512_tile<T>};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {6, 4 * lanes, avx2_tile<T>};
#endif
  return {4, 2 * lanes, portable_tile<T>};
}

}  // namespace

template <typename T>
const TileKernel<T>& tile_kernel() {
  static const TileKernel<T> kernel = choose<T>();
  return kernel;
}

template const TileKernel<float>& tile_kernel<float>();
template const TileKernel<double>& tile_kernel<double>();

}  // namespace opentrn::engines::reference
