// Transposing copies of items of 2 and 4 bytes: blocks of 8 x 8 in registers. Whoever includes this has included
// copy.inl.

OPENTRN_INLINE void transpose_8x8(std::byte* out, int64_t out_row, const std::byte* in, int64_t in_column, uint32_t) {
  __m256 line[8];
  for (int i = 0; i < 8; ++i) line[i] = _mm256_loadu_ps(as<float>(in + i * in_column));
  __m256 pair[8];
  for (int i = 0; i < 8; i += 2) {
    pair[i] = _mm256_unpacklo_ps(line[i], line[i + 1]);
    pair[i + 1] = _mm256_unpackhi_ps(line[i], line[i + 1]);
  }
  __m256 four[8];
  for (int i = 0; i < 8; i += 4) {
    four[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
    four[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xEE);
    four[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
    four[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xEE);
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(as<float>(out + i * out_row), _mm256_permute2f128_ps(four[i], four[i + 4], 0x20));
    _mm256_storeu_ps(as<float>(out + (i + 4) * out_row), _mm256_permute2f128_ps(four[i], four[i + 4], 0x31));
  }
}

OPENTRN_INLINE void transpose_8x8(std::byte* out, int64_t out_row, const std::byte* in, int64_t in_column, uint16_t) {
  __m128i line[8];
  for (int i = 0; i < 8; ++i) line[i] = _mm_loadu_si128(as<__m128i>(in + i * in_column));
  __m128i pair[8];
  for (int i = 0; i < 8; i += 2) {
    pair[i] = _mm_unpacklo_epi16(line[i], line[i + 1]);
    pair[i + 1] = _mm_unpackhi_epi16(line[i], line[i + 1]);
  }
  __m128i four[8];
  for (int i = 0; i < 8; i += 4) {
    four[i] = _mm_unpacklo_epi32(pair[i], pair[i + 2]);
    four[i + 1] = _mm_unpackhi_epi32(pair[i], pair[i + 2]);
    four[i + 2] = _mm_unpacklo_epi32(pair[i + 1], pair[i + 3]);
    four[i + 3] = _mm_unpackhi_epi32(pair[i + 1], pair[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    _mm_storeu_si128(as<__m128i>(out + 2 * i * out_row), _mm_unpacklo_epi64(four[i], four[i + 4]));
    _mm_storeu_si128(as<__m128i>(out + (2 * i + 1) * out_row), _mm_unpackhi_epi64(four[i], four[i + 4]));
  }
}

// `out` is dense along columns, `in` along rows. Whole cache lines on both sides, one strip of rows after the other.
template <typename T>
void transpose_dense(int64_t rows, int64_t columns, std::byte* out, int64_t out_row, const std::byte* in,
                     int64_t in_column) {
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kTile = 64 / kItem;
  const int64_t whole_rows = rows / 8 * 8;
  const int64_t whole_columns = columns / 8 * 8;
  for (int64_t r = 0; r < whole_rows; r += kTile) {
    const int64_t last_row = std::min(r + kTile, whole_rows);
    for (int64_t c = 0; c < whole_columns; c += kTile) {
      const int64_t last_column = std::min(c + kTile, whole_columns);
      for (int64_t i = r; i < last_row; i += 8) {
        for (int64_t j = c; j < last_column; j += 8) {
          transpose_8x8(out + i * out_row + j * kItem, out_row, in + i * kItem + j * in_column, in_column, T{});
        }
      }
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t first = r < whole_rows ? whole_columns : 0;
    copy_strided<T>(columns - first, out + r * out_row + first * kItem, kItem, in + r * kItem + first * in_column,
                    in_column);
  }
}

template <typename T>
void copy_or_transpose(int64_t rows, int64_t columns, std::byte* out, int64_t out_row, int64_t out_column,
                       const std::byte* in, int64_t in_row, int64_t in_column) {
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  if (rows >= 8 && columns >= 8) {
    if (out_column == kItem && in_row == kItem) {
      return transpose_dense<T>(rows, columns, out, out_row, in, in_column);
    }
    if (out_row == kItem && in_column == kItem) {
      return transpose_dense<T>(columns, rows, out, out_column, in, in_row);
    }
  }
  copy_block<T>(rows, columns, out, out_row, out_column, in, in_row, in_column);
}

inline CopyKernel find_transposing_copy(int64_t item_size) {
  switch (item_size) {
    case 2: return copy_or_transpose<uint16_t>;
    case 4: return copy_or_transpose<uint32_t>;
    default: return find_copy(item_size);
  }
}
