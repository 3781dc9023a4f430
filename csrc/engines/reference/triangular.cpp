// Cholesky decomposition and triangular systems, matrix by matrix.
#include <algorithm>
#include <cmath>

#include "engines/reference/wide.h"

namespace opentrn::engines::reference {

namespace {

double conjugate(double value) { return value; }
std::complex<double> conjugate(std::complex<double> value) { return std::conj(value); }
double real_part(double value) { return value; }
double real_part(std::complex<double> value) { return value.real(); }

// Calls `function.operator()<T>()` with double or complex<double>.
template <typename Function>
void visit_inexact(DType dtype, Function&& function) {
  is_complex(dtype) ? function.template operator()<std::complex<double>>() : function.template operator()<double>();
}

// A = L L^H, in place, L in the lower triangle. Reads that triangle alone. NaN where A is not positive definite.
template <typename T>
void decompose(T* a, int64_t n) {
  for (int64_t column = 0; column < n; ++column) {
    for (int64_t row = column; row < n; ++row) {
      T sum = a[row * n + column];
      for (int64_t k = 0; k < column; ++k) sum -= a[row * n + k] * conjugate(a[column * n + k]);
      if (row == column) {
        a[row * n + column] = T(std::sqrt(real_part(sum)));
      } else {
        a[row * n + column] = sum / a[column * n + column];
      }
    }
    for (int64_t row = 0; row < column; ++row) a[row * n + column] = T(0);
  }
}

template <typename T>
void transpose(T* a, int64_t n, bool conjugated) {
  for (int64_t row = 0; row < n; ++row) {
    for (int64_t column = row; column < n; ++column) {
      std::swap(a[row * n + column], a[column * n + row]);
      if (!conjugated) continue;
      a[row * n + column] = conjugate(a[row * n + column]);
      if (row != column) a[column * n + row] = conjugate(a[column * n + row]);
    }
  }
}

// Solves T x = b for one column, `step` elements between its entries.
template <typename T>
void solve(const T* a, int64_t n, bool lower, bool unit_diagonal, T* b, int64_t step) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = lower ? i : n - 1 - i;
    T sum = b[row * step];
    for (int64_t k = lower ? 0 : row + 1; k < (lower ? row : n); ++k) sum -= a[row * n + k] * b[k * step];
    b[row * step] = unit_diagonal ? sum : sum / a[row * n + row];
  }
}

int64_t matrices(const View& view, int64_t n) {
  return n == 0 ? 0 : view.elements() / std::max<int64_t>(1, n * view.shape.back());
}

template <typename T>
void solve_all(const ir::TriangularSolveAttributes& a, std::vector<T>& left, std::vector<T>& right, int64_t n,
               int64_t rows, int64_t columns) {
  const int64_t count = n == 0 ? 0 : static_cast<int64_t>(left.size()) / (n * n);
  // X A = B is A^T X^T = B^T: a row of B is a column of that system.
  const bool transposed = (a.transpose_a != ir::TransposeA::NoTranspose) == a.left_side;
  const bool lower = a.lower != transposed;
  const bool adjoint = a.transpose_a == ir::TransposeA::Adjoint;
  for (int64_t matrix = 0; matrix < count; ++matrix) {
    T* t = left.data() + matrix * n * n;
    if (adjoint) std::transform(t, t + n * n, t, [](T value) { return conjugate(value); });
    if (transposed) transpose(t, n, false);
    T* b = right.data() + matrix * rows * columns;
    for (int64_t i = 0; i < (a.left_side ? columns : rows); ++i) {
      solve(t, n, lower, a.unit_diagonal, a.left_side ? b + i : b + i * columns, a.left_side ? columns : 1);
    }
  }
}

}  // namespace

Kernel cholesky_kernel(const Problem& problem) {
  const View& operand = problem.operands[0];
  const bool lower = problem.node.as<ir::CholeskyAttributes>().lower;
  const int64_t n = operand.shape.back();
  const int64_t count = matrices(operand, n);
  return [=, in = WideCopy(operand), out = WideCopy(problem.results[0]), dtype = operand.dtype](
             std::byte* const* operands, std::byte* const* results) {
    visit_inexact(dtype, [&]<typename T>() {
      std::vector<T> a = in.load<T>(operands[0]);
      for (int64_t matrix = 0; matrix < count; ++matrix) {
        T* one = a.data() + matrix * n * n;
        if (!lower) transpose(one, n, true);
        decompose(one, n);
        if (!lower) transpose(one, n, true);
      }
      out.store(a, results[0]);
    });
  };
}

Kernel triangular_solve_kernel(const Problem& problem) {
  const View& a = problem.operands[0];
  const View& b = problem.operands[1];
  const int64_t n = a.shape.back();
  const int64_t rows = b.shape[b.shape.size() - 2];
  const int64_t columns = b.shape.back();
  return [=, attributes = problem.node.as<ir::TriangularSolveAttributes>(), left = WideCopy(a), right = WideCopy(b),
          out = WideCopy(problem.results[0]), dtype = a.dtype](std::byte* const* operands, std::byte* const* results) {
    visit_inexact(dtype, [&]<typename T>() {
      std::vector<T> matrix = left.load<T>(operands[0]);
      std::vector<T> solution = right.load<T>(operands[1]);
      solve_all(attributes, matrix, solution, n, rows, columns);
      out.store(solution, results[0]);
    });
  };
}

}  // namespace opentrn::engines::reference
