// Matrix products of integers, exact in the result's width, and of complex numbers, summed in complex128.
#include <algorithm>
#include <complex>

#include "base/convert_rows.h"
#include "engines/reference/buffer.h"
#include "engines/reference/matrix_product.h"

namespace opentrn::engines::reference {

namespace {

template <typename T>
T product_of(T x, T y) {
  return x * y;
}

template <typename T>
std::complex<T> product_of(std::complex<T> x, std::complex<T> y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

// Rows of an operand, converted and with k contiguous.
template <typename T>
void pack_rows(const std::byte* from, DType dtype, DType computed, int64_t rows, int64_t row_stride, int64_t k,
               int64_t k_stride, T* to) {
  const ConvertRow convert = convert_row(dtype, computed);
  for (int64_t r = 0; r < rows; ++r) convert(from + r * row_stride * size_of(dtype), k_stride, to + r * k, 1, k);
}

template <typename T>
void multiply(const MatrixProduct& product, const MatrixAddresses& at) {
  const int64_t k = product.k;
  const auto item = static_cast<int64_t>(sizeof(T));
  const Workspace space((product.m + product.n + 1) * k * item + product.n * item);
  T* a = space.as<T>();
  T* b = a + product.m * k;
  T* sums = b + product.n * k;
  pack_rows(at.a, product.a, product.accumulator, product.m, product.a_m, k, product.a_k, a);
  pack_rows(at.b, product.b, product.accumulator, product.n, product.b_n, k, product.b_k, b);
  const ConvertRow narrow = convert_row(product.accumulator, product.c);
  for (int64_t m = 0; m < product.m; ++m) {
    for (int64_t n = 0; n < product.n; ++n) {
      T sum{};
      for (int64_t i = 0; i < k; ++i) sum += product_of(a[m * k + i], b[n * k + i]);
      sums[n] = sum;
    }
    narrow(sums, 1, at.c + m * product.c_m * size_of(product.c), product.c_n, product.n);
  }
}

}  // namespace

void plain_product(const MatrixProduct& product, const MatrixAddresses& addresses) {
  const int64_t work = std::max<int64_t>(1, product.m * product.n * product.k);
  parallel_for(0, product.batches.elements, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
    for (int64_t batch = begin; batch < end; ++batch) {
      const MatrixAddresses at = batch_addresses(product, addresses, batch);
      switch (product.accumulator) {
        case DType::C128: multiply<std::complex<double>>(product, at); break;
        case DType::U64: multiply<uint64_t>(product, at); break;
        default: multiply<uint32_t>(product, at); break;
      }
    }
  });
}

}  // namespace opentrn::engines::reference
