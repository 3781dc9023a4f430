// Matrix products with few rows: limited by reading the large operand, which is read once, in the order it lies in memory.
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
constexpr int64_t kColumns = 256;  // outputs that accumulate together when B's rows are strided
constexpr int64_t kWork = 32768;   // multiplications worth a thread

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

// out[r] = dot(row, x[r]) for `rows` rows of x, which lie k elements apart.
template <int rows, typename T>
OPENTRN_INLINE void dot_row(int64_t k, const T* row, const float* x, float* out) {
  Lanes sums[rows][2] = {};
  int64_t i = 0;
  for (; i + 2 * kLanes <= k; i += 2 * kLanes) {
    Lanes first, second;
    load(row + i, first);
    load(row + i + kLanes, second);
    for (int r = 0; r < rows; ++r) {
      sums[r][0] += first * *reinterpret_cast<const Lanes*>(x + r * k + i);
      sums[r][1] += second * *reinterpret_cast<const Lanes*>(x + r * k + i + kLanes);
    }
  }
  for (int r = 0; r < rows; ++r) {
    float sum = sum_of(sums[r][0] + sums[r][1]);
    for (int64_t j = i; j < k; ++j) sum += static_cast<float>(row[j]) * x[r * k + j];
    out[r] = sum;
  }
}

// out[r * kColumns + j] += sum over four steps of k of x[r] * b[j]
template <int rows, typename T>
OPENTRN_INLINE void add_rows(int64_t columns, int64_t steps, const T* b, int64_t b_k, const float* x, int64_t k, float* out) {
  for (int r = 0; r < rows; ++r) {
    float* sums = out + r * kColumns;
    const float* factor = x + r * k;
    if (steps == 4) {
      for (int64_t j = 0; j < columns; ++j) {
        const float near = factor[0] * static_cast<float>(b[j]) + factor[1] * static_cast<float>(b[b_k + j]);
        const float far = factor[2] * static_cast<float>(b[2 * b_k + j]) + factor[3] * static_cast<float>(b[3 * b_k + j]);
        sums[j] += near + far;
      }
      continue;
    }
    for (int64_t s = 0; s < steps; ++s) {
      for (int64_t j = 0; j < columns; ++j) sums[j] += factor[s] * static_cast<float>(b[s * b_k + j]);
    }
  }
}

/// `count` outputs for each of `rows` rows of x. Output j of row r goes to out[r * kColumns + j].
template <typename T>
using Outputs = void (*)(int64_t count, int64_t k, const T* b, int64_t stride, const float* x, float* out);

template <int rows, typename T>
OPENTRN_INLINE void contiguous_outputs(int64_t count, int64_t k, const T* b, int64_t b_n, const float* x, float* out) {
  for (int64_t j = 0; j < count; ++j) {
    float sums[rows];
    dot_row<rows>(k, b + j * b_n, x, sums);
    for (int r = 0; r < rows; ++r) out[r * kColumns + j] = sums[r];
  }
}

template <int rows, typename T>
OPENTRN_INLINE void strided_outputs(int64_t count, int64_t k, const T* b, int64_t b_k, const float* x, float* out) {
  for (int r = 0; r < rows; ++r) std::fill_n(out + r * kColumns, count, 0.0f);
  for (int64_t i = 0; i < k; i += 4) {
    add_rows<rows>(count, std::min<int64_t>(4, k - i), b + i * b_k, b_k, x + i, k, out);
  }
}

// One function for each count of rows and element type, so that each can be compiled for several instruction sets.
#define OPENTRN_OUTPUTS(name, type, body)                                                                            \
  OPENTRN_VECTOR_CLONES void name(int64_t rows, int64_t count, int64_t k, const type* b, int64_t stride, const float* x, \
                                  float* out) {                                                                      \
    switch (rows) {                                                                                                  \
      case 1: return body<1>(count, k, b, stride, x, out);                                                           \
      case 2: return body<2>(count, k, b, stride, x, out);                                                           \
      case 3: return body<3>(count, k, b, stride, x, out);                                                           \
      default: return body<4>(count, k, b, stride, x, out);                                                          \
    }                                                                                                                \
  }
OPENTRN_OUTPUTS(contiguous_f32, float, contiguous_outputs)
OPENTRN_OUTPUTS(contiguous_bf16, BFloat16, contiguous_outputs)
OPENTRN_OUTPUTS(contiguous_f16, Half, contiguous_outputs)
OPENTRN_OUTPUTS(strided_f32, float, strided_outputs)
OPENTRN_OUTPUTS(strided_bf16, BFloat16, strided_outputs)
OPENTRN_OUTPUTS(strided_f16, Half, strided_outputs)
#undef OPENTRN_OUTPUTS

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
void compute_block(const MatrixProduct& product, const MatrixAddresses& at, int64_t first, int64_t count, const float* x) {
  float out[kFewRows * kColumns];
  compute_outputs(product, count, at.b + first * product.b_n * size_of(product.b), x, out);
  const ConvertRow narrow = convert_row(DType::F32, product.c);
  for (int64_t r = 0; r < product.m; ++r) {
    std::byte* to = at.c + (r * product.c_m + first * product.c_n) * size_of(product.c);
    narrow(out + r * kColumns, 1, to, product.c_n, count);
  }
}

// Contiguous columns want long blocks; rows of B can be cut as finely as the threads like.
int64_t block_size(const MatrixProduct& product) {
  if (product.b_k != 1) return kColumns;
  return std::clamp<int64_t>(kWork / std::max<int64_t>(1, product.k * product.m), 8, kColumns);
}

}  // namespace

bool few_rows_apply(const MatrixProduct& product) {
  const bool type_known = product.b == DType::F32 || product.b == DType::BF16 || product.b == DType::F16;
  return product.m <= kFewRows && type_known && (product.b_k == 1 || product.b_n == 1);
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
