// Products with few rows whose columns are contiguous in k: inner products, that read the large operand once, as it
// lies.

inline constexpr int64_t kDotRows =
    kFewLines;  // most rows: beyond, packing the columns costs less than reading them again
inline constexpr int64_t kShortLine = 1024;  // the processor fetches longer lines ahead by itself

/// How a line in memory is read as vectors of float32, without being packed.
template <typename Stored>
struct WidenedLine {
  using Vector = Floats;
  static constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(float));
  OPENTRN_INLINE static Vector load(const Stored* from) { return widen(from); }
};
template <>
struct WidenedLine<float> {
  using Vector = Floats;
  static constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(float));
  OPENTRN_INLINE static Vector load(const float* from) { return load_vector<Floats>(from); }
};

// The sums of as many vectors as a vector has lanes, in their order.
template <size_t side, typename V, size_t lanes>
OPENTRN_INLINE V sums_across(V (&vectors)[lanes]) {
  if constexpr (side == 0) {
    return vectors[0];
  } else {
    for (size_t i = 0; i < side; ++i) {
      exchange(vectors[i], vectors[i + side], std::integral_constant<size_t, side>(),
               std::make_index_sequence<lanes>());
      vectors[i] += vectors[i + side];
    }
    return sums_across<side / 2>(vectors);
  }
}

// `rows` lines of floats, a_step apart, times lanes / rows lines of columns.
template <int rows, typename Stored>
OPENTRN_INLINE void dot_tile(int64_t k, const float* a, int64_t a_step, const Stored* b, int64_t b_step, bool fetch,
                             float* sums) {
  using Line = WidenedLine<Stored>;
  constexpr auto kLanes = Line::kLanes;
  constexpr int kColumns = static_cast<int>(kLanes) / rows;
  Floats partial[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= k; i += kLanes) {
    Floats left[rows];
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) left[r] = load_vector<Floats>(a + r * a_step + i);
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) {
      if (fetch) __builtin_prefetch(b + (kColumns + c) * b_step + i);
      const Floats right = Line::load(b + c * b_step + i);
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r)
        partial[r * kColumns + c] = multiply_add(left[r], right, partial[r * kColumns + c]);
    }
  }
  store_vector(sums, sums_across<static_cast<size_t>(kLanes) / 2>(partial));
  for (; i < k; ++i) {
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < kColumns; ++c) {
        float& sum = sums[r * kColumns + c];
        sum = multiply_add(a[r * a_step + i], static_cast<float>(b[c * b_step + i]), sum);
      }
    }
  }
}

// One row of rows and one column of columns, for what is left over.
template <typename Stored>
OPENTRN_INLINE float dot_single(int64_t k, const float* a, const Stored* b) {
  using Line = WidenedLine<Stored>;
  Floats partial[static_cast<size_t>(Line::kLanes)] = {};
  int64_t i = 0;
  for (; i + Line::kLanes <= k; i += Line::kLanes) {
    partial[0] = multiply_add(load_vector<Floats>(a + i), Line::load(b + i), partial[0]);
  }
  alignas(64) float sums[Line::kLanes];
  store_vector(sums, sums_across<static_cast<size_t>(Line::kLanes) / 2>(partial));
  for (; i < k; ++i) sums[0] = multiply_add(a[i], static_cast<float>(b[i]), sums[0]);
  return sums[0];
}

template <typename Stored>
using DotSides = Sides<Stored, float>;

template <int rows, typename Stored>
void dot_columns(const DotSides<Stored>& s, const float* a, int64_t a_step) {
  constexpr int64_t kColumns = WidenedLine<Stored>::kLanes / rows;
  const Lines<Stored>& lines = s.column_lines;
  const auto put = [&](int64_t r, int64_t c, float sum) {
    float& to = s.out[r * s.out_row + c * s.out_column];
    to = s.accumulate ? to + sum : sum;
  };
  alignas(64) float sums[WidenedLine<Stored>::kLanes];
  int64_t c = 0;
  for (; c + kColumns <= s.columns; c += kColumns) {
    const bool fetch = s.k <= kShortLine && c + 2 * kColumns <= s.columns;
    for (int64_t r = 0; r < s.rows; r += rows) {
      dot_tile<rows>(s.k, a + r * a_step, a_step, lines.at(c, 0), lines.line_step, fetch, sums);
      for (int64_t i = 0; i < std::min<int64_t>(rows, s.rows - r); ++i) {
        for (int64_t j = 0; j < kColumns; ++j) put(r + i, c + j, sums[i * kColumns + j]);
      }
    }
  }
  for (; c < s.columns; ++c) {
    for (int64_t r = 0; r < s.rows; ++r) put(r, c, dot_single(s.k, a + r * a_step, lines.at(c, 0)));
  }
}

// What is added to lane after lane, for columns whose elements lie side by side. The order of the additions is that of
// dot_tile, so that a result does not depend on where its operands lie.
inline constexpr int64_t kWideVectors = 8;

template <typename Stored>
struct WideColumns {
  const Stored* first;
  int64_t k_step;
};

template <typename Stored>
OPENTRN_INLINE void add_across(int64_t k, const float* a, WideColumns<Stored> b, float* sums) {
  constexpr auto kLanes = WidenedLine<Stored>::kLanes;
  Floats lanes[static_cast<size_t>(kLanes)][kWideVectors] = {};
  const int64_t whole = k / kLanes * kLanes;
  for (int64_t i = 0; i < whole; ++i) {
    const Floats left = broadcast(a[i]);
    Floats* lane = lanes[i % kLanes];
    const Stored* right = b.first + i * b.k_step;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kWideVectors; ++v)
      lane[v] = multiply_add(left, WidenedLine<Stored>::load(right + v * kLanes), lane[v]);
  }
  for (int64_t side = kLanes / 2; side > 0; side /= 2) {
    for (int64_t j = 0; j < side; ++j) {
      for (int64_t v = 0; v < kWideVectors; ++v) lanes[j][v] += lanes[j + side][v];
    }
  }
  for (int64_t v = 0; v < kWideVectors; ++v) {
    Floats sum = lanes[0][v];
    for (int64_t i = whole; i < k; ++i)
      sum = multiply_add(broadcast(a[i]), WidenedLine<Stored>::load(b.first + i * b.k_step + v * kLanes), sum);
    store_vector(sums + v * kLanes, sum);
  }
}

template <typename Stored>
void add_columns_across(const DotSides<Stored>& s, const float* a, int64_t column, int64_t count,
                        WideColumns<Stored> b) {
  constexpr int64_t kColumns = kWideVectors * WidenedLine<Stored>::kLanes;
  for (int64_t r = 0; r < s.rows; ++r) {
    alignas(64) float sums[kColumns];
    add_across<Stored>(s.k, a + r * s.k, b, sums);
    write_tile(sums, kColumns, 1, count, s.out + r * s.out_row + column * s.out_column, s.out_row, s.out_column,
               s.accumulate);
  }
}

template <typename Stored>
void multiply_across(const DotSides<Stored>& s, const float* a) {
  constexpr int64_t kColumns = kWideVectors * WidenedLine<Stored>::kLanes;
  const Lines<Stored>& lines = s.column_lines;
  int64_t column = 0;
  if (lines.line_step == 1) {
    for (; column + kColumns <= s.columns; column += kColumns)
      add_columns_across<Stored>(s, a, column, kColumns, {lines.at(column, 0), lines.k_step});
  }
  if (column == s.columns) return;
  auto* dense = as<Stored>(scratch(ScratchUse::Moving, s.k * kColumns * static_cast<int64_t>(sizeof(Stored))));
  std::fill_n(dense, s.k * kColumns, Stored{});
  for (; column < s.columns; column += kColumns) {
    const int64_t count = std::min(kColumns, s.columns - column);
    for (int64_t i = 0; i < s.k; ++i) {
      for (int64_t j = 0; j < count; ++j) dense[i * kColumns + j] = *lines.at(column + j, i);
    }
    add_columns_across<Stored>(s, a, column, count, {dense, kColumns});
  }
}

template <typename Stored>
void multiply_dots(const DotSides<Stored>& s) {
  const int64_t padded = s.rows <= 2 ? s.rows : (s.rows + 3) / 4 * 4;
  float* a = as<float>(scratch(ScratchUse::Stationary, padded * s.k * static_cast<int64_t>(sizeof(float))));
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t i = 0; i < s.k; ++i) a[r * s.k + i] = static_cast<float>(*s.row_lines.at(r, i));
  }
  std::fill(a + s.rows * s.k, a + padded * s.k, 0.0f);
  if (s.column_lines.k_step != 1) return multiply_across<Stored>(s, a);
  if (padded == 1) return dot_columns<1>(s, a, s.k);
  if (padded == 2) return dot_columns<2>(s, a, s.k);
  dot_columns<4>(s, a, s.k);
}
