// Products of bfloat16 by the instruction that multiplies pairs and adds them to a float32: exact products, sums
// rounded to nearest. It takes denormal operands as zero and flushes denormal sums to zero, whatever the processor's
// mode; all else is as in the other tables, but for the order of the additions.

struct PairProduct {
  using Element = uint32_t;  // steps 2 i (low half) and 2 i + 1 of k
  using Sum = float;
  using Vector = Floats;
  using Operand = __m512i;
  static constexpr int64_t kSteps = 2;
  static constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(Element));
  OPENTRN_INLINE static Operand load(const Element* from) { return load_vector<Operand>(from); }
  OPENTRN_INLINE static Operand repeat(Element x) { return _mm512_set1_epi32(static_cast<int>(x)); }
  OPENTRN_INLINE static Vector add_product(Vector sum, Operand a, Operand b) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }
};

OPENTRN_INLINE uint32_t pair_of(const Lines<BFloat16>& lines, int64_t line, int64_t k, int64_t i) {
  const uint32_t low = lines.at(line, 2 * i)->bits;
  const uint32_t high = 2 * i + 1 < k ? lines.at(line, 2 * i + 1)->bits : 0;
  return low | high << 16;
}

// Whole pairs of lines that are contiguous in k, in squares; returns the number of lines done.
inline int64_t pack_pairs_across(const Lines<BFloat16>& lines, int64_t count, int64_t k, int64_t width,
                                 uint32_t* panel) {
  constexpr int64_t kSide = kBlockSide<uint32_t>;
  typedef uint32_t Words __attribute__((vector_size(kVectorBytes)));
  const int64_t pairs = (k + 1) / 2;
  const int64_t whole = k / 2 / kSide * kSide;
  int64_t line = 0;
  for (; line + kSide <= count; line += kSide) {
    for (int64_t i = 0; i < whole; i += kSide) {
      transpose_square<uint32_t, Words>(reinterpret_cast<const std::byte*>(lines.at(line, 2 * i)),
                                        lines.line_step * static_cast<int64_t>(sizeof(BFloat16)),
                                        panel + i * width + line, width);
    }
    for (int64_t i = whole; i < pairs; ++i) {
      for (int64_t j = line; j < line + kSide; ++j) panel[i * width + j] = pair_of(lines, j, k, i);
    }
  }
  return line;
}

inline void pack_pairs(const Lines<BFloat16>& lines, int64_t count, int64_t k, int64_t width, uint32_t* panel) {
  const int64_t pairs = (k + 1) / 2;
  if (count < width) std::fill_n(panel, width * pairs, 0u);
  if (lines.line_step == 1) {
    for (int64_t i = 0; i < k / 2; ++i) {
      const BFloat16* low = lines.at(0, 2 * i);
      const BFloat16* high = lines.at(0, 2 * i + 1);
      uint32_t* to = panel + i * width;
      OPENTRN_INDEPENDENT_LOOP
      for (int64_t j = 0; j < count; ++j)
        to[j] = static_cast<uint32_t>(low[j].bits) | static_cast<uint32_t>(high[j].bits) << 16;
    }
    for (int64_t j = 0; k % 2 != 0 && j < count; ++j) panel[(pairs - 1) * width + j] = pair_of(lines, j, k, pairs - 1);
    return;
  }
  const int64_t done = lines.k_step == 1 ? pack_pairs_across(lines, count, k, width, panel) : 0;
  for (int64_t j = done; j < count; ++j) {
    for (int64_t i = 0; i < pairs; ++i) panel[i * width + j] = pair_of(lines, j, k, i);
  }
}

template <>
inline void pack<PairProduct, BFloat16>(const Lines<BFloat16>& lines, int64_t count, int64_t k, int64_t width,
                                        uint32_t* panel) {
  pack_pairs(lines, count, k, width, panel);
}
