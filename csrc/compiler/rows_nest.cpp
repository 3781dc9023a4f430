#include "compiler/rows_nest.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace opentrn::compiler::rows {

namespace {

constexpr int64_t kShortRow = 512;     // elements: not worth more than one partition
constexpr int64_t kFewElements = 128;  // in the free dimensions: instructions would spend their time starting

void swap_dimensions(Nest& nest, size_t i, size_t j) {
  std::swap(nest.dimensions[i], nest.dimensions[j]);
  for (Line& line : nest.lines) std::swap(line.strides[i], line.strides[j]);
}

// True when `inner` steps farther than `outer` in the first line that has an opinion.
bool out_of_order(const Nest& nest, size_t outer, size_t inner) {
  for (const Line& line : nest.lines) {
    const int64_t far = std::abs(line.strides[outer]);
    const int64_t near = std::abs(line.strides[inner]);
    if (far != 0 && near != 0 && far != near) return far < near;
  }
  return false;
}

void order(Nest& nest) {
  const size_t rank = nest.dimensions.size();
  for (size_t i = 1; i < rank; ++i) {
    for (size_t j = i; j > 0; --j) {
      const NestDimension& outer = nest.dimensions[j - 1];
      const NestDimension& inner = nest.dimensions[j];
      const bool wrong = outer.reduced != inner.reduced ? outer.reduced : out_of_order(nest, j - 1, j);
      if (!wrong) break;
      swap_dimensions(nest, j - 1, j);
    }
  }
}

bool act_as_one(const Nest& nest, size_t outer, size_t inner) {
  if (nest.dimensions[outer].reduced != nest.dimensions[inner].reduced) return false;
  const int64_t size = nest.dimensions[inner].size;
  return std::all_of(nest.lines.begin(), nest.lines.end(),
                     [&](const Line& line) { return line.strides[outer] == line.strides[inner] * size; });
}

void drop(Nest& nest, size_t d) {
  const auto at = static_cast<std::ptrdiff_t>(d);
  nest.dimensions.erase(nest.dimensions.begin() + at);
  for (Line& line : nest.lines) line.strides.erase(line.strides.begin() + at);
}

void merge(Nest& nest) {
  for (size_t d = nest.dimensions.size(); d-- > 1;) {
    if (!act_as_one(nest, d - 1, d)) continue;
    nest.dimensions[d].size *= nest.dimensions[d - 1].size;
    nest.dimensions[d].sources |= nest.dimensions[d - 1].sources;
    drop(nest, d - 1);
  }
}

// The row length at which a long dimension is cut for the partitions: one that leaves nothing over if possible.
int64_t row_length(int64_t size, const TileLimits& limits) {
  constexpr int64_t kGranule = 8;  // elements
  for (int64_t rows = limits.partitions; rows > limits.partitions / 4 && size <= rows * limits.most_elements; --rows) {
    if (size % rows == 0 && size / rows >= kFewElements / 4) return size / rows;
  }
  const int64_t wanted = std::clamp<int64_t>(size / limits.partitions, kFewElements, limits.most_elements);
  for (int64_t length = wanted / kGranule * kGranule; length > wanted / 4; length -= kGranule) {
    if (size % length == 0) return length;
  }
  return std::min(wanted, limits.most_elements);
}

class Cutter {
 public:
  Cutter(Nest nest, const TileLimits& limits) : nest_(std::move(nest)), limits_(limits) {}

  std::vector<Nest> cut() {
    take_reduced();
    take_kept();
    choose_partition();
    std::vector<Nest> nests{std::move(nest_)};
    if (has_remainder_) nests.push_back(std::move(remainder_));
    return nests;
  }

 private:
  std::vector<NestDimension>& dimensions() { return nest_.dimensions; }
  bool is_full() const { return free_ == limits_.most_free_dimensions; }
  int64_t room() const { return std::max<int64_t>(1, limits_.most_elements / elements_); }

  void take(NestDimension& dimension, int64_t tile) {
    dimension.role = Role::Free;
    dimension.tile = tile;
    elements_ *= tile;
    ++free_;
  }

  void take_reduced() {
    for (size_t d = dimensions().size(); d-- > 0;) {
      NestDimension& dimension = dimensions()[d];
      if (!dimension.reduced || dimension.size == 1 || is_full() || room() < 2) continue;
      take(dimension, std::min(dimension.size, room()));
    }
  }

  int64_t other_kept(size_t but) const {
    int64_t product = 1;
    for (size_t d = 0; d < nest_.dimensions.size(); ++d) {
      const NestDimension& dimension = nest_.dimensions[d];
      if (d != but && !dimension.reduced && dimension.role == Role::Loop) product *= dimension.size;
    }
    return product;
  }

  // Innermost first, until instructions have enough to do. What fills the partitions is left for them; the only
  // dimension there is is cut in two.
  void take_kept() {
    for (size_t d = dimensions().size(); d-- > 0 && elements_ < kFewElements && !is_full();) {
      if (dimensions()[d].reduced || dimensions()[d].size == 1) continue;
      const int64_t size = dimensions()[d].size;
      const bool only = other_kept(d) < limits_.partitions / 4;
      if (only && size > (free_ == 0 ? kShortRow : limits_.partitions / 4) && !has_remainder_) return fold(d);
      if (free_ > 0 && size > room()) return;
      take(dimensions()[d], std::min(size, room()));
    }
  }

  void fold(size_t d) {
    const int64_t size = dimensions()[d].size;
    TileLimits limits = limits_;
    limits.most_elements = room();
    const int64_t wanted = std::max<int64_t>(1, kShortRow / elements_);
    const int64_t length = free_ == 0 ? row_length(size, limits)
                                      : std::min({room(), wanted, std::max<int64_t>(1, size / limits_.partitions)});
    if (length == 1) return;
    if (size % length != 0) {
      remainder_ = remainder(nest_, d, length);
      has_remainder_ = true;
      finish_remainder(d);
    }
    nest_ = folded(nest_, d, length);
    take(dimensions()[d + 1], length);
  }

  // The left over piece is one tile in this dimension; the others are cut like those of the main nest.
  void finish_remainder(size_t d) {
    NestDimension& piece = remainder_.dimensions[d];
    piece.role = Role::Free;
    piece.tile = piece.size;
    assign_partition(remainder_);
  }

  void choose_partition() { assign_partition(nest_); }

  void assign_partition(Nest& nest) const {
    NestDimension* widest = nullptr;
    for (NestDimension& dimension : nest.dimensions) {
      const bool candidate = !dimension.reduced && dimension.role == Role::Loop;
      if (candidate && (widest == nullptr || dimension.size >= widest->size)) widest = &dimension;
    }
    if (widest == nullptr) return;
    widest->role = Role::Partition;
    widest->tile = std::min(widest->size, limits_.partitions);
  }

  Nest nest_;
  Nest remainder_;
  TileLimits limits_;
  bool has_remainder_ = false;
  int64_t elements_ = 1;
  size_t free_ = 0;
};

}  // namespace

int64_t Nest::kept() const {
  int64_t product = 1;
  for (const NestDimension& dimension : dimensions) product *= dimension.reduced ? 1 : dimension.size;
  return product;
}

int64_t Nest::reduced() const {
  int64_t product = 1;
  for (const NestDimension& dimension : dimensions) product *= dimension.reduced ? dimension.size : 1;
  return product;
}

uint64_t Nest::mask(uint64_t space_dimensions) const {
  uint64_t result = 0;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if ((dimensions[d].sources & space_dimensions) != 0) result |= uint64_t{1} << d;
  }
  return result;
}

void normalise(Nest& nest) {
  for (size_t d = nest.dimensions.size(); d-- > 0;) {
    if (nest.dimensions[d].size == 1) drop(nest, d);
  }
  order(nest);
  merge(nest);
}

Nest folded(const Nest& nest, size_t d, int64_t size) {
  Nest result = nest;
  NestDimension inner = nest.dimensions[d];
  inner.size = size;
  result.dimensions[d].size /= size;
  const auto after = static_cast<std::ptrdiff_t>(d) + 1;
  result.dimensions.insert(result.dimensions.begin() + after, inner);
  for (Line& line : result.lines) {
    const int64_t stride = line.strides[d];
    line.strides.insert(line.strides.begin() + after, stride);
    line.strides[d] = stride * size;
  }
  return result;
}

Nest remainder(const Nest& nest, size_t d, int64_t size) {
  Nest result = nest;
  NestDimension& dimension = result.dimensions[d];
  const int64_t begin = dimension.size / size * size;
  dimension.size -= begin;
  for (Line& line : result.lines) line.offset += line.strides[d] * begin;
  return result;
}

std::vector<Nest> cut(Nest nest, const TileLimits& limits) { return Cutter(std::move(nest), limits).cut(); }

bool is_chunked(const Nest& nest) {
  return std::any_of(nest.dimensions.begin(), nest.dimensions.end(),
                     [](const NestDimension& dimension) { return dimension.reduced && dimension.tiles() > 1; });
}

}  // namespace opentrn::compiler::rows
