// Types wide enough to compute in once and round once at the end.
#pragma once

#include <complex>
#include <vector>

#include "engines/reference/copy.h"
#include "engines/reference/kernel.h"

namespace opentrn::engines::reference {

/// float64 for floats, complex128 for complex numbers, int64 or uint64 for integers.
inline DType wide_dtype(DType dtype) {
  switch (category(dtype)) {
    case Category::Float: return DType::F64;
    case Category::Complex: return DType::C128;
    case Category::Signed: return DType::I64;
    case Category::Unsigned:
    case Category::Bool: break;
  }
  return DType::U64;
}

/// Calls `function.operator()<T>()` with double, complex<double> or uint64_t, whose arithmetic wraps, for all integers.
template <typename Function>
decltype(auto) visit_wide(DType dtype, Function&& function) {
  if (is_float(dtype)) return function.template operator()<double>();
  if (is_complex(dtype)) return function.template operator()<std::complex<double>>();
  return function.template operator()<uint64_t>();
}

/// Elements of a view, widened and moved to lie row by row in the order of `permutation`; and back.
class WideCopy {
 public:
  WideCopy() = default;
  WideCopy(const View& view, const Dims& permutation) {
    const View permuted = transpose_view(view, permutation);
    const View rows = ir::contiguous_view({wide_dtype(view.dtype), permuted.shape});
    elements_ = rows.elements();
    widen_ = StridedCopy(permuted, rows);
    narrow_ = StridedCopy(rows, permuted);
  }
  explicit WideCopy(const View& view) : WideCopy(view, identity(view.shape.size())) {}

  template <typename T>
  std::vector<T> load(const std::byte* from) const {
    std::vector<T> wide(static_cast<size_t>(elements_));
    widen_(from, reinterpret_cast<std::byte*>(wide.data()));
    return wide;
  }
  template <typename T>
  void store(const std::vector<T>& wide, std::byte* to) const {
    narrow_(reinterpret_cast<const std::byte*>(wide.data()), to);
  }

 private:
  static Dims identity(size_t rank) {
    Dims permutation(rank);
    for (size_t i = 0; i < rank; ++i) permutation[i] = static_cast<int64_t>(i);
    return permutation;
  }

  int64_t elements_ = 0;
  StridedCopy widen_, narrow_;
};

}  // namespace opentrn::engines::reference
