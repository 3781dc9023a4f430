// Copies of blocks of items, as they are. A block that is dense along different dimensions on the two sides is moved in
// tiles that stay in the first cache.

struct Item16 {
  uint64_t low, high;
};

template <typename T>
OPENTRN_INLINE void copy_strided(int64_t n, std::byte* out, int64_t out_step, const std::byte* in, int64_t in_step) {
  for (int64_t i = 0; i < n; ++i) *as<T>(out + i * out_step) = *as<T>(in + i * in_step);
}

template <typename T>
OPENTRN_INLINE void copy_line(int64_t n, std::byte* out, int64_t out_step, const std::byte* in, int64_t in_step) {
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  if (out_step == kItem && in_step == kItem) {
    std::memcpy(out, in, static_cast<size_t>(n * kItem));
  } else if (out_step == kItem && in_step == 0) {
    std::fill_n(as<T>(out), n, *as<T>(in));
  } else {
    copy_strided<T>(n, out, out_step, in, in_step);
  }
}

template <typename T>
void copy_transposed(int64_t rows, int64_t columns, std::byte* out, int64_t out_row, int64_t out_column,
                     const std::byte* in, int64_t in_row, int64_t in_column) {
  constexpr int64_t kTile = 64 / static_cast<int64_t>(sizeof(T)) * 2;
  for (int64_t c = 0; c < columns; c += kTile) {
    const int64_t across = std::min(kTile, columns - c);
    for (int64_t r = 0; r < rows; r += kTile) {
      const int64_t down = std::min(kTile, rows - r);
      for (int64_t i = 0; i < down; ++i) {
        copy_strided<T>(across, out + (r + i) * out_row + c * out_column, out_column,
                        in + (r + i) * in_row + c * in_column, in_column);
      }
    }
  }
}

template <typename T>
void copy_block(int64_t rows, int64_t columns, std::byte* out, int64_t out_row, int64_t out_column, const std::byte* in,
                int64_t in_row, int64_t in_column) {
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  if (rows <= 0 || columns <= 0 || (in == out && in_row == out_row && in_column == out_column)) return;
  // Lines run along the dimension that `out` is dense in.
  if (columns == 1 || (rows > 1 && std::abs(out_row) < std::abs(out_column))) {
    std::swap(rows, columns);
    std::swap(out_row, out_column);
    std::swap(in_row, in_column);
  }
  if (rows > 1 && out_row == out_column * columns && in_row == in_column * columns) {
    columns *= rows;
    rows = 1;
  }
  if (rows > 1 && columns > 1 && std::abs(in_row) < std::abs(in_column) && in_row != 0) {
    return copy_transposed<T>(rows, columns, out, out_row, out_column, in, in_row, in_column);
  }
  if (out_column == kItem && rows > 1 && in_row == 0) {
    // A repeated line is laid out once and then copied as it lies.
    copy_line<T>(columns, out, out_column, in, in_column);
    for (int64_t r = 1; r < rows; ++r) std::memcpy(out + r * out_row, out, static_cast<size_t>(columns * kItem));
    return;
  }
  for (int64_t r = 0; r < rows; ++r) copy_line<T>(columns, out + r * out_row, out_column, in + r * in_row, in_column);
}

inline CopyKernel find_copy(int64_t item_size) {
  switch (item_size) {
    case 1: return copy_block<uint8_t>;
    case 2: return copy_block<uint16_t>;
    case 4: return copy_block<uint32_t>;
    case 8: return copy_block<uint64_t>;
    case 16: return copy_block<Item16>;
    default: return nullptr;
  }
}
