// The heart of the matrix products: a tile of sums that stays in registers, one outer product per step of k.

/// Products of numbers as they are: float32 and float64.
template <typename T, typename V>
struct PlainProduct {
  using Element = T;  // of the panels
  using Sum = T;
  using Vector = V;
  using Operand = V;                    // a vector of elements
  static constexpr int64_t kSteps = 1;  // of k in one element
  static constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(T));
  OPENTRN_INLINE static Operand load(const Element* from) { return load_vector<V>(from); }
  OPENTRN_INLINE static Operand repeat(Element x) { return broadcast(x); }
  OPENTRN_INLINE static Vector add_product(Vector sum, Operand a, Operand b) { return multiply_add(a, b, sum); }
};
using FloatProduct = PlainProduct<float, Floats>;
using DoubleProduct = PlainProduct<double, Doubles>;

template <typename Product>
inline constexpr int64_t kPanelColumns = kTileVectors * Product::kLanes;

/// Columns as they were packed, or as they lie in memory and are widened on the way.
template <typename Product, typename Stored>
OPENTRN_INLINE typename Product::Operand load_columns(const Stored* from) {
  if constexpr (std::is_same_v<Stored, typename Product::Element>)
    return Product::load(from);
  else
    return widen(from);
}

/// The innermost loop. A panel of rows: k by k, `rows` elements each. A panel of columns: k by k, `b_step` elements
/// apart. Lines of columns that lie far apart are fetched some steps ahead.
template <typename Product, typename Stored, int rows, int vectors, bool fetch>
OPENTRN_INLINE void multiply_tile(int64_t k, const typename Product::Element* a, const Stored* b, int64_t b_step,
                                  typename Product::Sum* out, int64_t out_step, bool accumulate) {
  constexpr int64_t kStepsAhead = 12;
  using Vector = typename Product::Vector;
  using Sum = typename Product::Sum;
  Vector sums[rows][vectors] = {};
  for (int64_t i = 0; i < k; ++i, a += rows, b += b_step) {
    typename Product::Operand right[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      if constexpr (fetch) {
        if (i + kStepsAhead < k) __builtin_prefetch(b + kStepsAhead * b_step + v * Product::kLanes);
      }
      right[v] = load_columns<Product>(b + v * Product::kLanes);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const auto left = Product::repeat(a[r]);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sums[r][v] = Product::add_product(sums[r][v], left, right[v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      Sum* to = out + r * out_step + v * Product::kLanes;
      store_vector(to, accumulate ? load_vector<Vector>(to) + sums[r][v] : sums[r][v]);
    }
  }
}

/// A tile for one number of rows, over columns stored as `Stored`.
template <typename Product, typename Stored>
struct Tile {
  void (*multiply)(int64_t k, const typename Product::Element* a, const Stored* b, int64_t b_step,
                   typename Product::Sum* out, int64_t out_step, bool accumulate);
  int64_t columns;
};

template <typename Product, typename Stored, int rows, int vectors, bool fetch>
void tile_of(int64_t k, const typename Product::Element* a, const Stored* b, int64_t b_step, typename Product::Sum* out,
             int64_t out_step, bool accumulate) {
  multiply_tile<Product, Stored, rows, vectors, fetch>(k, a, b, b_step, out, out_step, accumulate);
}

template <typename Product, typename Stored, int vectors, bool fetch, int rows>
constexpr Tile<Product, Stored> tile_of_rows() {
  return {tile_of<Product, Stored, rows, vectors, fetch>, vectors * Product::kLanes};
}

template <typename Product, size_t... index>
constexpr auto packed_tiles(std::index_sequence<index...>) {
  using Element = typename Product::Element;
  return std::array{tile_of_rows<Product, Element, kTileVectors, false, static_cast<int>(index) + 1>()...};
}
/// Over packed columns, by the number of rows less one.
template <typename Product>
inline constexpr auto kPackedTiles = packed_tiles<Product>(std::make_index_sequence<kTileRows>());

// Fewer rows leave registers for more columns, and so for longer runs of memory.
constexpr int wide_vectors(int rows) { return 2 * rows <= kTileRows ? 2 * kTileVectors : kTileVectors; }

template <typename Product, typename Stored, size_t... index>
constexpr auto unpacked_tiles(std::index_sequence<index...>) {
  return std::array{
      tile_of_rows<Product, Stored, wide_vectors(static_cast<int>(index) + 1), true, static_cast<int>(index) + 1>()...};
}
/// Over columns as they lie in memory, by the number of rows less one.
template <typename Product, typename Stored>
inline constexpr auto kUnpackedTiles = unpacked_tiles<Product, Stored>(std::make_index_sequence<kTileRows>());
