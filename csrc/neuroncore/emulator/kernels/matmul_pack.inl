// Panels: operands of a matrix product laid out in the order the tiles read them, in the type they are multiplied in.

template <typename T>
inline constexpr int64_t kBlockSide = kVectorBytes / static_cast<int64_t>(sizeof(T));

// Transposes a square of vectors in registers: each round exchanges the halves of ever smaller blocks.
template <typename V, size_t side, size_t... index>
OPENTRN_INLINE void exchange(V& a, V& b, std::integral_constant<size_t, side>, std::index_sequence<index...>) {
  constexpr size_t lanes = sizeof...(index);
  const V low = __builtin_shufflevector(a, b, static_cast<int>((index & side) != 0 ? lanes + index - side : index)...);
  const V high = __builtin_shufflevector(a, b, static_cast<int>((index & side) != 0 ? lanes + index : index + side)...);
  a = low;
  b = high;
}

template <size_t side, typename V, size_t lanes>
OPENTRN_INLINE void transpose_rounds(V (&rows)[lanes]) {
  if constexpr (side > 0) {
#pragma GCC unroll 16
    for (size_t i = 0; i < lanes; ++i) {
      if ((i & side) == 0) {
        exchange(rows[i], rows[i | side], std::integral_constant<size_t, side>(), std::make_index_sequence<lanes>());
      }
    }
    transpose_rounds<side / 2>(rows);
  }
}

// A square of words whose lines are contiguous, written across.
template <typename Word, typename V>
OPENTRN_INLINE void transpose_square(const std::byte* from, int64_t line_bytes, Word* to, int64_t to_step) {
  constexpr auto lanes = static_cast<size_t>(kBlockSide<Word>);
  V rows[lanes];
#pragma GCC unroll 16
  for (size_t i = 0; i < lanes; ++i) rows[i] = load_vector<V>(from + static_cast<int64_t>(i) * line_bytes);
  transpose_rounds<lanes / 2>(rows);
#pragma GCC unroll 16
  for (size_t i = 0; i < lanes; ++i) store_vector(to + static_cast<int64_t>(i) * to_step, rows[i]);
}

/// Panels of elements of type `To`, one step of k each.
template <typename To, typename V, typename From>
void pack_plain(const Lines<From>& lines, int64_t count, int64_t k, int64_t width, To* panel) {
  const Reader<From> read{};
  if (count < width) std::fill_n(panel, width * k, To{});
  if (lines.line_step == 1) {
    for (int64_t i = 0; i < k; ++i) {
      const From* from = lines.at(0, i);
      To* to = panel + i * width;
      OPENTRN_INDEPENDENT_LOOP
      for (int64_t j = 0; j < count; ++j) to[j] = static_cast<To>(read(from[j]));
    }
    return;
  }
  int64_t done = 0;  // lines
  if constexpr (std::is_same_v<From, To>) {
    constexpr int64_t kSide = kBlockSide<To>;
    const int64_t whole = lines.k_step == 1 ? k / kSide * kSide : 0;
    for (; whole > 0 && done + kSide <= count; done += kSide) {
      for (int64_t i = 0; i < whole; i += kSide) {
        transpose_square<To, V>(reinterpret_cast<const std::byte*>(lines.at(done, i)),
                                lines.line_step * static_cast<int64_t>(sizeof(To)), panel + i * width + done, width);
      }
      for (int64_t i = whole; i < k; ++i) {
        for (int64_t j = done; j < done + kSide; ++j) panel[i * width + j] = *lines.at(j, i);
      }
    }
  }
  for (int64_t j = done; j < count; ++j) {
    for (int64_t i = 0; i < k; ++i) panel[i * width + j] = static_cast<To>(read(*lines.at(j, i)));
  }
}

/// Panels for a kind of product.
template <typename Product, typename From>
void pack(const Lines<From>& lines, int64_t count, int64_t k, int64_t width, typename Product::Element* panel) {
  pack_plain<typename Product::Element, typename Product::Operand>(lines, count, k, width, panel);
}
