// Discrete Fourier transforms, dimension by dimension, in double.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engines/reference/wide.h"

namespace opentrn::engines::reference {

namespace {

using Complex = std::complex<double>;

/// Transforms of one length: by its smallest prime factor, over and over.
class Transform {
 public:
  Transform(int64_t length, bool inverse) : length_(length), roots_(static_cast<size_t>(length)) {
    for (int64_t i = 0; i < length; ++i) roots_[static_cast<size_t>(i)] = root(i, length, inverse);
  }

  // Reads `length` elements `step` apart.
  std::vector<Complex> operator()(const Complex* from, int64_t step) const {
    std::vector<Complex> result(static_cast<size_t>(length_));
    transform(from, step, length_, result.data());
    return result;
  }

 private:
  // e^(-+2 pi i k / n), from the nearest eighth of the circle, where sine and cosine are most exact.
  static Complex root(int64_t k, int64_t n, bool inverse) {
    const int64_t eighth = (8 * k + n / 2) / n % 8;
    const auto rest = static_cast<double>(8 * k - (8 * k + n / 2) / n * n);
    const double angle = 2 * std::numbers::pi * rest / (8 * static_cast<double>(n));
    const double half = std::numbers::sqrt2 / 2;
    const Complex corners[] = {{1, 0},  {half, half},   {0, 1},  {-half, half},
                               {-1, 0}, {-half, -half}, {0, -1}, {half, -half}};
    const Complex exact = corners[eighth] * Complex(std::cos(angle), std::sin(angle));
    return inverse ? exact : std::conj(exact);
  }

  static int64_t smallest_factor(int64_t n) {
    for (int64_t factor = 2; factor * factor <= n; ++factor) {
      if (n % factor == 0) return factor;
    }
    return n;
  }

  void transform(const Complex* from, int64_t step, int64_t n, Complex* to) const {
    if (n == 1) {
      *to = *from;
      return;
    }
    const int64_t factor = smallest_factor(n);
    const int64_t part = n / factor;
    std::vector<Complex> parts(static_cast<size_t>(n));
    for (int64_t i = 0; i < factor; ++i) transform(from + i * step, step * factor, part, parts.data() + i * part);
    const int64_t turn = length_ / n;
    for (int64_t k = 0; k < n; ++k) {
      Complex sum = 0;
      for (int64_t i = 0; i < factor; ++i) {
        sum += parts[static_cast<size_t>(i * part + k % part)] * roots_[static_cast<size_t>(i * k % n * turn)];
      }
      to[k] = sum;
    }
  }

  int64_t length_;
  std::vector<Complex> roots_;
};

int64_t product(const Dims& shape, size_t begin, size_t end) {
  int64_t result = 1;
  for (size_t i = begin; i < end; ++i) result *= shape[i];
  return result;
}

// In place, along one dimension of an array that lies row by row.
void transform_dimension(std::vector<Complex>& data, const Dims& shape, size_t dimension, bool inverse) {
  const int64_t size = shape[dimension];
  if (data.empty() || size == 0) return;
  const int64_t step = product(shape, dimension + 1, shape.size());
  const int64_t lines = static_cast<int64_t>(data.size()) / size;
  const Transform transform(size, inverse);
  const double scale = inverse ? 1 / static_cast<double>(size) : 1;
  parallel_for(0, lines, std::max<int64_t>(1, kGrain / 16 / size), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      Complex* first = data.data() + line / step * step * size + line % step;
      const std::vector<Complex> result = transform(first, step);
      for (int64_t i = 0; i < size; ++i) first[i * step] = result[static_cast<size_t>(i)] * scale;
    }
  });
}

// The last dimension from `from` to `to` elements a line; what a real signal's second half would be is its first half's
// conjugate, mirrored.
std::vector<Complex> resize_lines(const std::vector<Complex>& data, int64_t from, int64_t to) {
  if (from == 0) return {};
  const int64_t lines = static_cast<int64_t>(data.size()) / from;
  std::vector<Complex> result(static_cast<size_t>(lines * to));
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t i = 0; i < to; ++i) {
      const Complex value = data[static_cast<size_t>(line * from + (i < from ? i : to - i))];
      result[static_cast<size_t>(line * to + i)] = i < from ? value : std::conj(value);
    }
  }
  return result;
}

void run(const ir::FftAttributes& attributes, std::vector<Complex>& data, Dims shape) {
  const bool inverse = attributes.type == ir::FftType::Ifft || attributes.type == ir::FftType::Irfft;
  const size_t last = shape.size() - 1;
  const size_t first = shape.size() - attributes.fft_length.size();
  const int64_t length = attributes.fft_length.back();
  if (attributes.type == ir::FftType::Rfft) {
    transform_dimension(data, shape, last, false);
    data = resize_lines(data, shape[last], length / 2 + 1);
    shape[last] = length / 2 + 1;
  }
  const bool last_differs = attributes.type == ir::FftType::Rfft || attributes.type == ir::FftType::Irfft;
  for (size_t i = first; i < (last_differs ? last : shape.size()); ++i) transform_dimension(data, shape, i, inverse);
  if (attributes.type != ir::FftType::Irfft) return;
  data = resize_lines(data, shape[last], length);
  shape[last] = length;
  transform_dimension(data, shape, last, true);
}

}  // namespace

Kernel fft_kernel(const Problem& problem) {
  const View& operand = problem.operands[0];
  const View& result = problem.results[0];
  if (result.elements() == 0) return [](std::byte* const*, std::byte* const*) {};
  const View wide_operand = ir::contiguous_view({DType::C128, operand.shape});
  const View wide_result = ir::contiguous_view({DType::C128, result.shape});
  return [attributes = problem.node.as<ir::FftAttributes>(), shape = operand.shape,
          widen = StridedCopy(operand, wide_operand), narrow = StridedCopy(wide_result, result),
          elements = operand.elements()](std::byte* const* operands, std::byte* const* results) {
    std::vector<Complex> data(static_cast<size_t>(elements));
    widen(operands[0], reinterpret_cast<std::byte*>(data.data()));
    run(attributes, data, shape);
    narrow(reinterpret_cast<const std::byte*>(data.data()), results[0]);
  };
}

}  // namespace opentrn::engines::reference
