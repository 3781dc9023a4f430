// The blocked matrix product: both operands are packed into panels of the computed type, whatever their strides and
// element types, and multiplied tile by tile. The order of the sums does not depend on the number of threads.
#include <algorithm>
#include <cstdlib>

#include "base/convert_rows.h"
#include "engines/reference/buffer.h"
#include "engines/reference/dot_tiles.h"
#include "engines/reference/matrix_product.h"

namespace opentrn::engines::reference {

namespace {

constexpr int64_t kBlockK = 256;             // steps summed in registers
constexpr int64_t kBlockRows = 96;           // rows of A packed at once: a multiple of every tile's rows
constexpr int64_t kMostColumns = 512;        // columns of B a task packs
constexpr int64_t kPanelElements = 2 << 20;  // of B, packed for all of k

int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// Rows of an operand, counted along m or n, as panels are packed from them.
struct Source {
  const std::byte* address;
  DType dtype;
  int64_t outer_stride;  // between rows
  int64_t k_stride;
};

// Packs `count` rows over k steps into panels of `width` rows: panel by panel, k by k, row by row. Missing rows become
// zero.
template <typename T>
void pack(const Source& source, int64_t count, int64_t k, int64_t width, T* panels) {
  constexpr DType kComputed = sizeof(T) == sizeof(double) ? DType::F64 : DType::F32;
  constexpr int64_t kChunk = 64;  // a chunk of a panel stays in the first cache while rows are written across it
  const ConvertRow convert = convert_row(source.dtype, kComputed);
  const int64_t item = size_of(source.dtype);
  for (int64_t first = 0; first < count; first += width, panels += width * k) {
    const int64_t rows = std::min(width, count - first);
    const std::byte* from = source.address + first * source.outer_stride * item;
    if (rows < width) std::fill_n(panels, width * k, T{});
    if (std::abs(source.outer_stride) <= std::abs(source.k_stride)) {
      for (int64_t i = 0; i < k; ++i) {
        convert(from + i * source.k_stride * item, source.outer_stride, panels + i * width, 1, rows);
      }
      continue;
    }
    for (int64_t begin = 0; begin < k; begin += kChunk) {
      const int64_t steps = std::min(kChunk, k - begin);
      for (int64_t r = 0; r < rows; ++r) {
        convert(from + (r * source.outer_stride + begin * source.k_stride) * item, source.k_stride,
                panels + begin * width + r, width, steps);
      }
    }
  }
}

template <typename T>
class BlockedProduct {
 public:
  explicit BlockedProduct(const MatrixProduct& product)
      : product_(product), tile_(tile_kernel<T>()), columns_(task_columns()) {}

  void run(const MatrixAddresses& addresses) const {
    const int64_t blocks = (product_.n + columns_ - 1) / columns_;
    const int64_t work = std::max<int64_t>(1, product_.m * std::min(columns_, product_.n) * product_.k);
    const int64_t grain = std::max<int64_t>(1, kGrain / work);
    parallel_for(0, product_.batches.elements * blocks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task % blocks * columns_;
        run_task(batch_addresses(product_, addresses, task / blocks), first, std::min(columns_, product_.n - first));
      }
    });
  }

 private:
  // Columns of a task: enough tasks for the threads, panels that fit the cache.
  int64_t task_columns() const {
    const int64_t wanted = product_.n * product_.batches.elements / (int64_t{2} * thread_count()) + 1;
    const int64_t fitting = kPanelElements / std::max<int64_t>(1, product_.k);
    const int64_t columns = std::min({wanted, fitting, kMostColumns, product_.n});
    return std::min(round_up(std::max(columns, 2 * tile_.columns), tile_.columns), round_up(product_.n, tile_.columns));
  }

  void run_task(const MatrixAddresses& at, int64_t first_column, int64_t columns) const {
    const int64_t padded = round_up(columns, tile_.columns);
    const int64_t rows = std::min(kBlockRows, round_up(product_.m, tile_.rows));
    const int64_t b_bytes = aligned(padded * product_.k * kItem);
    const int64_t a_bytes = aligned(rows * kBlockK * kItem);
    const Workspace space(b_bytes + a_bytes + rows * padded * kItem);
    T* b = space.as<T>();
    T* a = reinterpret_cast<T*>(space.data() + b_bytes);
    T* sums = reinterpret_cast<T*>(space.data() + b_bytes + a_bytes);
    pack_columns(at, first_column, columns, padded, b);
    for (int64_t row = 0; row < product_.m; row += kBlockRows) {
      const int64_t count = std::min(kBlockRows, product_.m - row);
      multiply_rows(at, row, count, padded, a, b, sums);
      store(at, row, count, first_column, columns, padded, sums);
    }
  }

  // B's panels, one group for each block of k.
  void pack_columns(const MatrixAddresses& at, int64_t first, int64_t count, int64_t padded, T* b) const {
    const int64_t item = size_of(product_.b);
    for (int64_t k = 0; k < product_.k; k += kBlockK) {
      const int64_t steps = std::min(kBlockK, product_.k - k);
      const Source source{at.b + (first * product_.b_n + k * product_.b_k) * item, product_.b, product_.b_n,
                          product_.b_k};
      pack(source, count, steps, tile_.columns, b + k * padded);
    }
  }

  void multiply_rows(const MatrixAddresses& at, int64_t row, int64_t count, int64_t padded, T* a, const T* b,
                     T* sums) const {
    const int64_t rows = round_up(count, tile_.rows);
    if (product_.k == 0) std::fill_n(sums, rows * padded, T{});
    for (int64_t k = 0; k < product_.k; k += kBlockK) {
      const int64_t steps = std::min(kBlockK, product_.k - k);
      const std::byte* from = at.a + (row * product_.a_m + k * product_.a_k) * size_of(product_.a);
      pack(Source{from, product_.a, product_.a_m, product_.a_k}, count, steps, tile_.rows, a);
      for (int64_t column = 0; column < padded; column += tile_.columns) {
        const T* right = b + k * padded + column * steps;
        for (int64_t r = 0; r < rows; r += tile_.rows) {
          tile_.multiply(steps, a + r * steps, right, sums + r * padded + column, padded, k > 0);
        }
      }
    }
  }

  void store(const MatrixAddresses& at, int64_t row, int64_t rows, int64_t first_column, int64_t columns,
             int64_t padded, const T* sums) const {
    const ConvertRow narrow = convert_row(product_.accumulator, product_.c);
    std::byte* to = at.c + (row * product_.c_m + first_column * product_.c_n) * size_of(product_.c);
    const int64_t item = size_of(product_.c);
    if (std::abs(product_.c_n) <= std::abs(product_.c_m) || rows == 1) {
      for (int64_t r = 0; r < rows; ++r)
        narrow(sums + r * padded, 1, to + r * product_.c_m * item, product_.c_n, columns);
      return;
    }
    for (int64_t j = 0; j < columns; ++j) narrow(sums + j, padded, to + j * product_.c_n * item, product_.c_m, rows);
  }

  static constexpr int64_t kItem = sizeof(T);
  const MatrixProduct& product_;
  const TileKernel<T>& tile_;
  int64_t columns_;
};

}  // namespace

void blocked_product(const MatrixProduct& product, const MatrixAddresses& addresses) {
  if (product.accumulator == DType::F64) return BlockedProduct<double>(product).run(addresses);
  BlockedProduct<float>(product).run(addresses);
}

}  // namespace opentrn::engines::reference
