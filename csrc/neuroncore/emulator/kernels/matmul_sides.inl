// The two operands of a matrix product as rows and columns: vectors lie along the columns.

/// One operand, seen as lines (rows or columns of the product) by steps of k. Steps count elements.
template <typename T>
struct Lines {
  const T* first;
  int64_t line_step, k_step;
  const T* at(int64_t line, int64_t k) const { return first + line * line_step + k * k_step; }
  Lines from(int64_t line, int64_t k) const { return {at(line, k), line_step, k_step}; }
};

/// A product with its sides chosen. `out_column` is 1 where the result is written as it is computed.
template <typename T, typename Sum>
struct Sides {
  int64_t k, rows, columns;
  Lines<T> row_lines, column_lines;
  Sum* out;
  int64_t out_row, out_column;
  bool accumulate;
};

template <typename T, typename Sum>
OPENTRN_INLINE Sides<T, Sum> sides_of(const MatmulProblem& p, bool exchanged) {
  const Lines<T> stationary{as<T>(p.stationary), p.stationary_m, p.stationary_k};
  const Lines<T> moving{as<T>(p.moving), p.moving_n, p.moving_k};
  Sum* out = reinterpret_cast<Sum*>(p.out);
  if (exchanged) return {p.k, p.n, p.m, moving, stationary, out, p.out_n, p.out_m, p.accumulate};
  return {p.k, p.m, p.n, stationary, moving, out, p.out_m, p.out_n, p.accumulate};
}

// Writes a tile that does not lie in the result as it was computed.
template <typename Sum>
void write_tile(const Sum* tile, int64_t tile_step, int64_t rows, int64_t columns, Sum* out, int64_t out_row,
                int64_t out_column, bool accumulate) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      Sum& to = out[r * out_row + c * out_column];
      to = accumulate ? to + tile[r * tile_step + c] : tile[r * tile_step + c];
    }
  }
}
