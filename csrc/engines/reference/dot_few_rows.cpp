// Matrix products with few rows: limited by reading the large operand, which is read once, in the order it lies in
// memory.
#include <algorithm>
#include <cstring>

#include "base/convert_rows.h"
#include "base/half.h"
#include "engines/reference/buffer.h"
#include "engines/reference/matrix_product.h"
#include "engines/reference/target.h"

namespace opentrn::engines::reference {

namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kColumns = 1024;  // outputs of a row that are computed together, at most
constexpr int64_t kWork = 32768;    // multiplications worth a thread

typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));
typedef uint16_t HalfLanes __attribute__((vector_size(kLanes * sizeof(uint16_t)), aligned(2), may_alias));
typedef uint32_t WordLanes __attribute__((vector_size(kLanes * sizeof(uint32_t))));

OPENTRN_INLINE void load(const float* from, Lanes& to) { to = *reinterpret_cast<const Lanes*>(from); }

OPENTRN_INLINE void load(const BFloat16* from, Lanes& to) {
  const auto bits = __builtin_convertvector(*reinterpret_cast<const HalfLanes*>(from), WordLanes) << 16;
  std::memcpy(&to, &bits, sizeof(to));
}

OPENTRN_INLINE void load(const Half* from, Lanes& to) {
  float values[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) values[i] = from[i];
  std::memcpy(&to, values, sizeof(to));
}

OPENTRN_INLINE float sum_of(const Lanes& lanes) {
  float sums[kLanes];
  std::memcpy(sums, &lanes, sizeof(sums));
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

// out[r * kColumns + c] = dot(x[r], b[c]) for `rows` rows of x, k elements apart, and `columns` rows of b, b_n elements
// apart.
template <int rows, int columns, typename T>
OPENTRN_INLINE void dot_tile(int64_t k, const T* b, int64_t b_n, const float* x, float* out) {
  Lanes sums[rows][columns] = {};
  int64_t i = 0;
  for (; i + kLanes <= k; i += kLanes) {
    Lanes right[columns];
    for (int c = 0; c < columns; ++c) load(b + c * b_n + i, right[c]);
    for (int r = 0; r < rows; ++r) {
      Lanes left;
      load(x + r * k + i, left);
      for (int c = 0; c < columns; ++c) sums[r][c] += left * right[c];
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      float sum = sum_of(sums[r][c]);
      for (int64_t j = i; j < k; ++j) sum += static_cast<float>(b[c * b_n + j]) * x[r * k + j];
      out[r * kColumns + c] = sum;
    }
  }
}

// dot(x, b): one stream of memory, several sums under way.
template <typename T>
OPENTRN_INLINE float dot(int64_t k, const T* b, const float* x) {
  constexpr int kSums = 4;
  Lanes sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums * kLanes <= k; i += kSums * kLanes) {
    for (int s = 0; s < kSums; ++s) {
      Lanes left, right;
      load(x + i + s * kLanes, left);
      load(b + i + s * kLanes, right);
      sums[s] += left * right;
    }
  }
  for (; i + kLanes <= k; i += kLanes) {
    Lanes left, right;
    load(x + i, left);
    load(b + i, right);
    sums[0] += left * right;
  }
  float sum = sum_of((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; i < k; ++i) sum += static_cast<float>(b[i]) * x[i];
  return sum;
}

// sums[j] += sum over up to four steps of k of x[step] * b[step][j]
template <typename T>
OPENTRN_INLINE void add_rows(int64_t columns, int64_t steps, const T* b, int64_t b_k, const float* x, float* sums) {
  if (steps == 4) {
    for (int64_t j = 0; j < columns; ++j) {
      const float near = x[0] * static_cast<float>(b[j]) + x[1] * static_cast<float>(b[b_k + j]);
      const float far = x[2] * static_cast<float>(b[2 * b_k + j]) + x[3] * static_cast<float>(b[3 * b_k + j]);
      sums[j] += near + far;
    }
    return;
  }
  for (int64_t s = 0; s < steps; ++s) {
    for (int64_t j = 0; j < columns; ++j) sums[j] += x[s] * static_cast<float>(b[s * b_k + j]);
  }
}

template <int rows, typename T>
OPENTRN_INLINE void dot_rows(int64_t count, int64_t k, const T* b, int64_t b_n, const float* x, float* out) {
  int64_t j = 0;
  for (; j + 2 <= count; j += 2) dot_tile<rows, 2>(k, b + j * b_n, b_n, x, out + j);
  if (j < count) dot_tile<rows, 1>(k, b + j * b_n, b_n, x, out + j);
}

// `count` outputs for each of `rows` rows of x. Output j of row r goes to out[r * kColumns + j].
template <typename T>
OPENTRN_INLINE void contiguous_outputs(int64_t rows, int64_t count, int64_t k, const T* b, int64_t b_n, const float* x,
                                       float* out) {
  // A few columns at a time, so that they stay in the first cache while all rows pass over them.
  constexpr int64_t kGroup = 4;
  for (int64_t first = 0; first < count; first += kGroup) {
    const int64_t columns = std::min(kGroup, count - first);
    const T* from = b + first * b_n;
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) dot_rows<4>(columns, k, from, b_n, x + r * k, out + r * kColumns + first);
    for (; r + 2 <= rows; r += 2) dot_rows<2>(columns, k, from, b_n, x + r * k, out + r * kColumns + first);
    if (r == rows) continue;
    for (int64_t j = 0; j < columns; ++j) out[r * kColumns + first + j] = dot(k, from + j * b_n, x + r * k);
  }
}

template <typename T>
OPENTRN_INLINE void strided_outputs(int64_t rows, int64_t count, int64_t k, const T* b, int64_t b_k, const float* x,
                                    float* out) {
  for (int64_t r = 0; r < rows; ++r) std::fill_n(out + r * kColumns, count, 0.0f);
  for (int64_t i = 0; i < k; i += 4) {
    for (int64_t r = 0; r < rows; ++r) {
      add_rows(count, std::min<int64_t>(4, k - i), b + i * b_k, b_k, x + r * k + i, out + r * kColumns);
    }
  }
}

// Plain functions, so that each can be compiled for several instruction sets.
OPENTRN_VECTOR_CLONES void contiguous_f32(int64_t rows, int64_t count, int64_t k, const float* b, int64_t b_n,
                                          const float* x, float* out) {
  contiguous_outputs(rows, count, k, b, b_n, x, out);
}
OPENTRN_VECTOR_CLONES void contiguous_bf16(int64_t rows, int64_t count, int64_t k, const BFloat16* b, int64_t b_n,
                                           const float* x, float* out) {
  contiguous_outputs(rows, count, k, b, b_n, x, out);
}
OPENTRN_VECTOR_CLONES void contiguous_f16(int64_t rows, int64_t count, int64_t k, const Half* b, int64_t b_n,
                                          const float* x, float* out) {
  contiguous_outputs(rows, count, k, b, b_n, x, out);
}
OPENTRN_VECTOR_CLONES void strided_f32(int64_t rows, int64_t count, int64_t k, const float* b, int64_t b_k,
                                       const float* x, float* out) {
  strided_outputs(rows, count, k, b, b_k, x, out);
}
OPENTRN_VECTOR_CLONES void strided_bf16(int64_t rows, int64_t count, int64_t k, const BFloat16* b, int64_t b_k,
                                        const float* x, float* out) {
  strided_outputs(rows, count, k, b, b_k, x, out);
}
OPENTRN_VECTOR_CLONES void strided_f16(int64_t rows, int64_t count, int64_t k, const Half* b, int64_t b_k,
                                       const float* x, float* out) {
  strided_outputs(rows, count, k, b, b_k, x, out);
}

void compute_outputs(const MatrixProduct& product, int64_t count, const std::byte* b, const float* x, float* out) {
  const bool contiguous = product.b_k == 1;
  const int64_t stride = contiguous ? product.b_n : product.b_k;
  const auto call = [&](auto on_contiguous, auto on_strided, auto* typed) {
    (contiguous ? on_contiguous : on_strided)(product.m, count, product.k, typed, stride, x, out);
  };
  switch (product.b) {
    case DType::BF16: return call(contiguous_bf16, strided_bf16, reinterpret_cast<const BFloat16*>(b));
    case DType::F16: return call(contiguous_f16, strided_f16, reinterpret_cast<const Half*>(b));
    default: return call(contiguous_f32, strided_f32, reinterpret_cast<const float*>(b));
  }
}

void widen_rows(const MatrixProduct& product, const std::byte* a, float* x) {
  const ConvertRow widen = convert_row(product.a, DType::F32);
  for (int64_t r = 0; r < product.m; ++r) {
    widen(a + r * product.a_m * size_of(product.a), product.a_k, x + r * product.k, 1, product.k);
  }
}

// Outputs [first, first + count) of one product of the batch.
void compute_block(const MatrixProduct& product, const MatrixAddresses& at, int64_t first, int64_t count,
                   const float* x) {
  const Workspace space(product.m * kColumns * static_cast<int64_t>(sizeof(float)));
  auto* out = space.as<float>();
  compute_outputs(product, count, at.b + first * product.b_n * size_of(product.b), x, out);
  const ConvertRow narrow = convert_row(DType::F32, product.c);
  for (int64_t r = 0; r < product.m; ++r) {
    std::byte* to = at.c + (r * product.c_m + first * product.c_n) * size_of(product.c);
    narrow(out + r * kColumns, 1, to, product.c_n, count);
  }
}

// Contiguous columns want long blocks, as memory is read in pieces of one; rows of B can be cut finely.
int64_t block_size(const MatrixProduct& product) {
  if (product.b_k != 1) {
    const int64_t share = product.n / (int64_t{2} * thread_count()) + 1;
    return std::clamp<int64_t>((share + 63) / 64 * 64, 64, kColumns);
  }
  return std::clamp<int64_t>(kWork / std::max<int64_t>(1, product.k * product.m), 8, kColumns);
}

}  // namespace

bool few_rows_apply(const MatrixProduct& product) {
  const bool type_known = product.b == DType::F32 || product.b == DType::BF16 || product.b == DType::F16;
  if (!type_known) return false;
  return (product.b_k == 1 && product.m <= kFewRows) || (product.b_n == 1 && product.m <= kFewRowsAcross);
}

void few_rows_product(const MatrixProduct& product, const MatrixAddresses& addresses) {
  const int64_t block = block_size(product);
  const int64_t blocks = (product.n + block - 1) / block;
  const int64_t work = std::max<int64_t>(1, std::min(block, product.n) * product.k * product.m);
  const int64_t grain = std::max<int64_t>(1, kWork / work);
  parallel_for(0, product.batches.elements * blocks, grain, [&](int64_t begin, int64_t end) {
    const Workspace rows(product.m * product.k * static_cast<int64_t>(sizeof(float)));
    auto* x = rows.as<float>();
    int64_t widened = -1;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t batch = task / blocks;
      const int64_t first = task % blocks * block;
      const MatrixAddresses at = batch_addresses(product, addresses, batch);
      if (batch != widened) widen_rows(product, at.a, x);
      widened = batch;
      compute_block(product, at, first, std::min(block, product.n - first), x);
    }
  });
}

}  // namespace opentrn::engines::reference
