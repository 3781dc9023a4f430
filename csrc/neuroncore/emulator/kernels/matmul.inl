// Matrix products: out = rows x columns, where the columns, along which the vectors lie, are those of `moving`, or
// those of `stationary` when `moving` has only a few. Both operands are packed into panels, a block of k and a panel of
// columns at a time.

inline constexpr int64_t kBlockK = 256;  // steps of k that are packed at a time

template <typename T>
inline constexpr bool is_dotted = std::is_same_v<T, float> || std::is_same_v<T, BFloat16> || std::is_same_v<T, Half>;

/// Columns that a tile can read as they lie in memory, which pays when it is the only one to read them.
template <typename Product, typename T>
inline constexpr bool is_unpacked =
    std::is_same_v<typename Product::Element, T> && !std::is_same_v<Product, FloatProduct>;

template <typename T, typename Sum>
void clear(const Sides<T, Sum>& s) {
  if (s.accumulate) return;
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t c = 0; c < s.columns; ++c) s.out[r * s.out_row + c * s.out_column] = Sum{};
  }
}

/// A block of columns, laid out to be multiplied.
template <typename Stored>
struct Columns {
  const Stored* first;
  int64_t step;   // between steps of k
  int64_t count;  // those that belong to the result
};

template <typename Product, typename Stored>
void multiply_tile_at(const Tile<Product, Stored>& tile, int64_t k, int64_t rows, const typename Product::Element* a,
                      const Columns<Stored>& b, typename Product::Sum* out, int64_t out_row, int64_t out_column,
                      bool accumulate) {
  if (out_column == 1 && b.count == tile.columns) {
    return tile.multiply(k, a, b.first, b.step, out, out_row, accumulate);
  }
  alignas(64) typename Product::Sum sums[kTileRows * kPanelColumns<Product>];
  tile.multiply(k, a, b.first, b.step, sums, tile.columns, false);
  write_tile(sums, tile.columns, rows, b.count, out, out_row, out_column, accumulate);
}

/// One block of k, its rows packed.
template <typename Product, typename T>
class Block {
 public:
  using Element = typename Product::Element;
  using Sum = typename Product::Sum;

  Block(const Sides<T, Sum>& sides, int64_t first_k, int64_t k)
      : s_(sides), first_k_(first_k), k_(k), elements_((k + Product::kSteps - 1) / Product::kSteps) {
    a_ = as<Element>(scratch(ScratchUse::Stationary, s_.rows * elements_ * kItem));
    for (int64_t r = 0; r < s_.rows; r += kTileRows) {
      const int64_t count = std::min<int64_t>(kTileRows, s_.rows - r);
      pack<Product>(s_.row_lines.from(r, first_k), count, k, count, a_ + r * elements_);
    }
  }

  void multiply() const {
    constexpr int64_t kColumns = kPanelColumns<Product>;
    const int64_t first = multiply_unpacked();
    Element* b = as<Element>(scratch(ScratchUse::Moving, kColumns * elements_ * kItem));
    for (int64_t column = first; column < s_.columns; column += kColumns) {
      const int64_t count = std::min(kColumns, s_.columns - column);
      pack<Product>(s_.column_lines.from(column, first_k_), count, k_, kColumns, b);
      for (int64_t r = 0; r < s_.rows; r += kTileRows) {
        multiply_at(kPackedTiles<Product>, r, column, Columns<Element>{b, kColumns, count});
      }
    }
  }

 private:
  static constexpr auto kItem = static_cast<int64_t>(sizeof(Element));

  // With few rows all the columns that fill whole tiles; returns their number.
  int64_t multiply_unpacked() const {
    if constexpr (is_unpacked<Product, T>) {
      if (s_.rows > kTileRows || s_.column_lines.line_step != 1) return 0;
      const auto& tiles = kUnpackedTiles<Product, T>;
      const int64_t width = tiles[static_cast<size_t>(s_.rows - 1)].columns;
      const int64_t whole = s_.columns / width * width;
      for (int64_t column = 0; column < whole; column += width) {
        const Lines<T> lines = s_.column_lines.from(column, first_k_);
        multiply_at(tiles, 0, column, Columns<T>{lines.first, lines.k_step, width});
      }
      return whole;
    }
    return 0;
  }

  template <typename Tiles, typename Stored>
  void multiply_at(const Tiles& tiles, int64_t r, int64_t column, const Columns<Stored>& columns) const {
    const int64_t count = std::min<int64_t>(kTileRows, s_.rows - r);
    Sum* out = s_.out + r * s_.out_row + column * s_.out_column;
    multiply_tile_at<Product, Stored>(tiles[static_cast<size_t>(count - 1)], elements_, count, a_ + r * elements_,
                                      columns, out, s_.out_row, s_.out_column, s_.accumulate || first_k_ > 0);
  }

  const Sides<T, Sum>& s_;
  int64_t first_k_, k_;
  int64_t elements_;  // along k
  Element* a_;
};

template <typename Product, typename T>
void matmul_packed(const Sides<T, typename Product::Sum>& sides) {
  for (int64_t k = 0; k < sides.k; k += kBlockK) Block<Product, T>(sides, k, std::min(kBlockK, sides.k - k)).multiply();
}

template <typename Product, typename T>
void matmul(const MatmulProblem& p) {
  const bool exchanged = p.n < kPanelColumns<Product> && p.m > p.n;
  const auto sides = sides_of<T, typename Product::Sum>(p, exchanged);
  if (sides.k == 0) return clear(sides);
  if constexpr (is_dotted<T>) {
    if (std::is_same_v<Product, FloatProduct> && sides.rows <= kDotRows) return multiply_dots<T>(sides);
  }
  matmul_packed<Product, T>(sides);
}
