#include "base/convert.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/convert_rows.h"
#include "base/thread_pool.h"

namespace opentrn {

namespace {

constexpr int64_t kTile = 32;                     // a tile of elements and the lines it touches stay in the first cache
constexpr int64_t kElementsPerRange = 64 * 1024;  // below this a second thread costs more than it brings

struct Dimension {
  int64_t size, source, destination;  // strides in elements
};

using Dimensions = std::vector<Dimension>;

struct Copy {
  ConvertRow row;
  int64_t source_size, destination_size;  // bytes of an element
};

// Outermost first, ordered by the destination's strides so that writing is sequential; neighbours that act as one are
// one.
Dimensions normalised(const Dims& shape, const Dims& source_strides, const Dims& destination_strides) {
  Dimensions all;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) all.push_back({shape[i], source_strides[i], destination_strides[i]});
  }
  std::stable_sort(all.begin(), all.end(), [](const Dimension& left, const Dimension& right) {
    return std::abs(left.destination) > std::abs(right.destination);
  });
  Dimensions merged;
  for (const Dimension& inner : all) {
    const bool fits = !merged.empty() && merged.back().source == inner.source * inner.size &&
                      merged.back().destination == inner.destination * inner.size;
    if (fits) {
      merged.back() = {merged.back().size * inner.size, inner.source, inner.destination};
    } else {
      merged.push_back(inner);
    }
  }
  return merged;
}

const char* shifted(const Copy& copy, const char* source, int64_t elements) {
  return source + elements * copy.source_size;
}

char* shifted(const Copy& copy, char* destination, int64_t elements) {
  return destination + elements * copy.destination_size;
}

// Tile by tile, because source and destination run along different dimensions.
void copy_plane(const Copy& copy, const char* source, char* destination, const Dimension& outer,
                const Dimension& inner) {
  const int64_t columns = std::abs(inner.source) > std::abs(outer.source) ? kTile : inner.size;
  for (int64_t column = 0; column < inner.size; column += columns) {
    const int64_t length = std::min(columns, inner.size - column);
    const char* from = shifted(copy, source, column * inner.source);
    char* to = shifted(copy, destination, column * inner.destination);
    for (int64_t i = 0; i < outer.size; ++i) {
      copy.row(shifted(copy, from, i * outer.source), inner.source, shifted(copy, to, i * outer.destination),
               inner.destination, length);
    }
  }
}

void copy_nest(const Copy& copy, const char* source, char* destination, const Dimension* first, const Dimension* last) {
  const auto rank = last - first;
  if (rank == 0) return copy.row(source, 0, destination, 0, 1);
  if (rank == 1) return copy.row(source, first->source, destination, first->destination, first->size);
  if (rank == 2) return copy_plane(copy, source, destination, first[0], first[1]);
  for (int64_t i = 0; i < first->size; ++i) {
    copy_nest(copy, shifted(copy, source, i * first->source), shifted(copy, destination, i * first->destination),
              first + 1, last);
  }
}

// Puts the dimension that the source runs along next to the innermost one, where copy_plane makes tiles of the two.
void pair_up(Dimensions& dimensions) {
  if (dimensions.size() < 3) return;
  const auto inner = dimensions.end() - 1;
  const auto fastest = std::min_element(dimensions.begin(), inner, [](const Dimension& left, const Dimension& right) {
    return std::abs(left.source) < std::abs(right.source);
  });
  if (std::abs(fastest->source) < std::abs(inner->source)) std::rotate(fastest, fastest + 1, inner);
}

// The outermost dimension with enough to share out; ranges of an inner one would interleave in memory.
Dimensions::const_iterator split_dimension(const Dimensions& dimensions) {
  const auto wide = std::find_if(dimensions.begin(), dimensions.end(), [](const auto& one) { return one.size >= 8; });
  if (wide != dimensions.end()) return wide;
  return std::max_element(dimensions.begin(), dimensions.end(),
                          [](const auto& left, const auto& right) { return left.size < right.size; });
}

void copy_parallel(const Copy& copy, const char* source, char* destination, const Dimensions& dimensions,
                   int64_t total) {
  const Dimensions::const_iterator split = split_dimension(dimensions);
  const auto index = static_cast<size_t>(split - dimensions.begin());
  const int64_t grain = std::max<int64_t>(1, kElementsPerRange / (total / split->size));
  parallel_for(0, split->size, grain, [&](int64_t first, int64_t last) {
    Dimensions part = dimensions;
    part[index].size = last - first;
    copy_nest(copy, shifted(copy, source, first * split->source),
              shifted(copy, destination, first * split->destination), part.data(), part.data() + part.size());
  });
}

}  // namespace

void convert_strided(const void* source, DType source_dtype, const Dims& source_strides, void* destination,
                     DType destination_dtype, const Dims& destination_strides, const Dims& shape) {
  const int64_t total = element_count(shape);
  if (total == 0) return;
  const Copy copy{convert_row(source_dtype, destination_dtype), size_of(source_dtype), size_of(destination_dtype)};
  Dimensions dimensions = normalised(shape, source_strides, destination_strides);
  pair_up(dimensions);
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(destination);
  if (total > kElementsPerRange) return copy_parallel(copy, from, to, dimensions, total);
  copy_nest(copy, from, to, dimensions.data(), dimensions.data() + dimensions.size());
}

}  // namespace opentrn
