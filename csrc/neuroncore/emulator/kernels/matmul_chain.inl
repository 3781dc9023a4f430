// A matrix product that one accumulating instruction after the other computes, in one go: columns are packed once for
// all rows, rows are read as they lie where they can be. Each instruction's sums start from zero and are added to those
// before them, so that the result is bit for bit what the instructions give one by one.

inline constexpr int64_t kChainK = 1024;  // steps of k that are packed at a time: the panel stays in the L2 cache

/// Rows whose elements are multiplied as they lie in memory.
template <typename Product, typename T>
inline constexpr bool has_elements_in_place =
    std::is_same_v<typename Product::Element, T> || (Product::kSteps == 2 && std::is_same_v<T, BFloat16>);

template <typename Element>
OPENTRN_INLINE Element element_at(const std::byte* from) {
  Element element;
  std::memcpy(&element, from, sizeof(element));
  return element;
}

/// Where a tile's rows begin; steps in bytes.
struct ChainRows {
  const std::byte* first;
  int64_t row_step;
};

/// `count` elements along k, in chunks of `chunk`, of `rows` rows and a packed panel of columns. Rows in place have
/// their elements next to each other; packed ones those of one step of k.
template <typename Product, int rows, bool in_place>
void chain_tile(int64_t count, int64_t chunk, ChainRows a, const typename Product::Element* b,
                typename Product::Sum* out, bool accumulate) {
  using Element = typename Product::Element;
  using Vector = typename Product::Vector;
  constexpr int64_t kColumns = kPanelColumns<Product>;
  constexpr auto kItem = static_cast<int64_t>(sizeof(Element));
  constexpr int64_t kStep = in_place ? kItem : rows * kItem;
  const int64_t row_step = in_place ? a.row_step : kItem;
  const std::byte* left = a.first;
  for (int64_t done = 0; done < count; done += chunk, accumulate = true) {
    const int64_t steps = std::min(chunk, count - done);
    Vector sums[rows][kTileVectors] = {};
    for (int64_t i = 0; i < steps; ++i, left += kStep, b += kColumns) {
      typename Product::Operand right[kTileVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kTileVectors; ++v) right[v] = Product::load(b + v * Product::kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        const auto x = Product::repeat(element_at<Element>(left + r * row_step));
#pragma GCC unroll 8
        for (int v = 0; v < kTileVectors; ++v) sums[r][v] = Product::add_product(sums[r][v], x, right[v]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kTileVectors; ++v) {
        auto* to = out + r * kColumns + v * Product::kLanes;
        store_vector(to, accumulate ? load_vector<Vector>(to) + sums[r][v] : sums[r][v]);
      }
    }
  }
}

template <typename Product>
using ChainTile = void (*)(int64_t count, int64_t chunk, ChainRows a, const typename Product::Element* b,
                           typename Product::Sum* out, bool accumulate);

template <typename Product, bool in_place, size_t... index>
constexpr auto chain_tiles(std::index_sequence<index...>) {
  return std::array<ChainTile<Product>, sizeof...(index)>{
      chain_tile<Product, static_cast<int>(index) + 1, in_place>...};
}
/// By the number of rows less one.
template <typename Product, bool in_place>
inline constexpr auto kChainTiles = chain_tiles<Product, in_place>(std::make_index_sequence<kTileRows>());

template <typename Product, typename T>
class Chain {
 public:
  using Element = typename Product::Element;
  using Sum = typename Product::Sum;

  explicit Chain(const ChainProblem& problem)
      : p_(problem),
        rows_{as<T>(problem.stationary), problem.stationary_m, problem.stationary_k},
        columns_{as<T>(problem.moving), problem.moving_n, problem.moving_k},
        in_place_(has_elements_in_place<Product, T> && rows_.k_step == 1 && problem.k % Product::kSteps == 0) {}

  void multiply() {
    if (!in_place_) pack_rows();
    b_ = as<Element>(scratch(ScratchUse::Moving, kColumns * elements(std::min(kChainK, p_.k)) * kItem));
    sums_ = as<Sum>(scratch(ScratchUse::Sums, p_.m * kColumns * static_cast<int64_t>(sizeof(Sum))));
    for (int64_t column = 0; column < p_.n; column += kColumns) {
      for (int64_t k = 0; k < p_.k; k += kChainK) multiply_panel(column, k);
    }
  }

 private:
  static constexpr int64_t kColumns = kPanelColumns<Product>;
  static constexpr auto kItem = static_cast<int64_t>(sizeof(Element));

  static constexpr int64_t elements(int64_t k) { return (k + Product::kSteps - 1) / Product::kSteps; }

  void pack_rows() {
    const int64_t length = elements(p_.k);
    a_ = as<Element>(scratch(ScratchUse::Stationary, p_.m * length * kItem));
    for (int64_t r = 0; r < p_.m; r += kTileRows) {
      const int64_t count = std::min<int64_t>(kTileRows, p_.m - r);
      pack<Product>(rows_.from(r, 0), count, p_.k, count, a_ + r * length);
    }
  }

  ChainRows rows_at(int64_t r, int64_t count, int64_t k) const {
    if (in_place_) {
      return {reinterpret_cast<const std::byte*>(rows_.at(r, k)), rows_.line_step * static_cast<int64_t>(sizeof(T))};
    }
    return {reinterpret_cast<const std::byte*>(a_ + r * elements(p_.k) + count * elements(k)), kItem};
  }

  void multiply_panel(int64_t column, int64_t k) {
    const int64_t steps = std::min(kChainK, p_.k - k);
    const int64_t count = std::min(kColumns, p_.n - column);
    pack<Product>(columns_.from(column, k), count, steps, kColumns, b_);
    const auto& tiles = in_place_ ? kChainTiles<Product, true> : kChainTiles<Product, false>;
    for (int64_t r = 0; r < p_.m; r += kTileRows) {
      const int64_t rows = std::min<int64_t>(kTileRows, p_.m - r);
      Sum* sums = sums_ + r * kColumns;
      tiles[static_cast<size_t>(rows - 1)](elements(steps), elements(p_.chunk), rows_at(r, rows, k), b_, sums, k > 0);
      if (k + steps == p_.k) store(r, rows, column, count, sums);
    }
  }

  void store(int64_t r, int64_t rows, int64_t column, int64_t count, const Sum* sums) const {
    std::byte* out = p_.out + r * p_.out_m + column * p_.out_n;
    for (int64_t i = 0; i < rows; ++i) {
      p_.store(count, out + i * p_.out_m, p_.out_n, reinterpret_cast<const std::byte*>(sums + i * kColumns));
    }
  }

  const ChainProblem& p_;
  const Lines<T> rows_, columns_;
  const bool in_place_;
  Element* a_ = nullptr;  // packed rows
  Element* b_ = nullptr;
  Sum* sums_ = nullptr;  // of one panel of columns
};

template <typename Product, typename T>
void multiply_chain(const ChainProblem& problem) {
  Chain<Product, T>(problem).multiply();
}
