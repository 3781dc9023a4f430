#include "lowering/places.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "lowering/helpers.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;

constexpr size_t kMostPieces = 4;  // slices joined together; beyond, one gather is less work

/// Places at even steps: first, first + step, ...
struct Piece {
  int64_t first, step, count;

  int64_t last() const { return first + step * (count - 1); }
  int64_t lowest() const { return std::min(first, last()); }
};

std::vector<Piece> pieces_of(const Dims& places) {
  std::vector<Piece> pieces;
  for (const int64_t place : places) {
    if (!pieces.empty()) {
      Piece& piece = pieces.back();
      if (piece.count == 1) piece.step = place - piece.first;
      if (place == piece.last() + piece.step) {
        ++piece.count;
        continue;
      }
    }
    pieces.push_back({place, 1, 1});
  }
  return pieces;
}

Dims with_size(Dims shape, int64_t dim, int64_t size) {
  shape[static_cast<size_t>(dim)] = size;
  return shape;
}

Value slice_along(Builder& b, Value x, int64_t dim, int64_t start, int64_t limit, int64_t step) {
  const Dims shape = b.shape(x);
  if (start == 0 && step == 1 && limit == shape[static_cast<size_t>(dim)]) return x;
  return b.slice(x, with_size(Dims(shape.size(), 0), dim, start), with_size(shape, dim, limit),
                 with_size(Dims(shape.size(), 1), dim, step));
}

Dims all_dims(int64_t rank) {
  Dims dims;
  for (int64_t dim = 0; dim < rank; ++dim) dims.push_back(dim);
  return dims;
}

/// Each element along `dim` `count` times, one after the other.
Value repeat_each(Builder& b, Value x, int64_t dim, int64_t count) {
  if (count == 1) return x;
  const Dims shape = b.shape(x);
  Dims spread = shape, sources = all_dims(b.rank(x));
  spread.insert(spread.begin() + dim + 1, count);
  for (int64_t& source : sources) source += source > dim ? 1 : 0;
  const int64_t size = shape[static_cast<size_t>(dim)] * count;
  return b.reshape(b.broadcast_in_dim(x, spread, sources), with_size(shape, dim, size));
}

Value take_piece(Builder& b, Value x, int64_t dim, const Piece& piece) {
  if (piece.step == 0) {
    return repeat_each(b, slice_along(b, x, dim, piece.first, piece.first + 1, 1), dim, piece.count);
  }
  const int64_t step = std::abs(piece.step);
  const Value part = slice_along(b, x, dim, piece.lowest(), std::max(piece.first, piece.last()) + 1, step);
  return piece.step < 0 ? b.reverse(part, {dim}) : part;
}

/// How often each place is repeated before the next one when that is the same for all; else 1.
int64_t repetitions(const Dims& places) {
  const auto other = std::find_if(places.begin(), places.end(), [&](int64_t place) { return place != places.front(); });
  const int64_t count = other - places.begin();
  const auto size = static_cast<int64_t>(places.size());
  if (size % count != 0) return 1;
  for (int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<size_t>(i);
    if (i % count != 0 && places[at] != places[at - 1]) return 1;
    if (i % count == 0 && i > 0 && places[at] == places[at - 1]) return 1;
  }
  return count;
}

Value zeros_like(Builder& b, Value x, const Dims& shape) { return b.splat({b.dtype(x), shape}, 0.0); }

/// Zeros around `x` along `dim`, and `gap` of them between its elements.
Value surround(Builder& b, Value x, int64_t dim, int64_t low, int64_t high, int64_t gap) {
  if (low == 0 && high == 0 && gap == 0) return x;
  const Dims none(b.shape(x).size(), 0);
  return b.pad(x, b.scalar(b.dtype(x), 0.0), with_size(none, dim, low), with_size(none, dim, high),
               with_size(none, dim, gap));
}

/// The elements of `x` from `start` on, added up or moved to the places of a piece; zeros elsewhere.
Value put_piece(Builder& b, Value x, int64_t dim, int64_t start, const Piece& piece, int64_t size) {
  Value part = slice_along(b, x, dim, start, start + piece.count, 1);
  int64_t count = piece.count;
  if (piece.step == 0) {
    const Dims shape = with_size(b.shape(part), dim, 1);
    part = b.reshape(b.reduce(part, Op::Add, {dim}), shape);
    count = 1;
  } else if (piece.step < 0) {
    part = b.reverse(part, {dim});
  }
  const int64_t gap = count == 1 ? 0 : std::abs(piece.step) - 1;
  const int64_t extent = count + (count - 1) * gap;
  return surround(b, part, dim, piece.lowest(), size - piece.lowest() - extent, gap);
}

/// Ones where range i has an element `number`.
Value has_element(Builder& b, const Ranges& ranges, int64_t number, const Dims& shape, int64_t dim) {
  Dims flags;
  for (const int64_t length : ranges.lengths) flags.push_back(number < length ? 1 : 0);
  return along(b, integer_vector(b, DType::Bool, flags), shape, dim);
}

}  // namespace

Value integer_vector(Builder& b, DType dtype, const Dims& values) {
  const auto item = static_cast<size_t>(size_of(dtype));
  std::vector<std::byte> bytes(item * values.size());
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(&bytes[i * item], &values[i], item);  // low bytes come first
  const ir::TensorType type{dtype, {static_cast<int64_t>(values.size())}};
  if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end()) bytes.resize(item);
  return b.constant(type, std::move(bytes));
}

Value take(Builder& b, Value x, int64_t dim, const Dims& places) {
  if (places.empty()) return zeros_like(b, x, with_size(b.shape(x), dim, 0));
  if (const int64_t count = repetitions(places); count > 1) {
    Dims once;
    for (size_t i = 0; i < places.size(); i += static_cast<size_t>(count)) once.push_back(places[i]);
    return repeat_each(b, take(b, x, dim, once), dim, count);
  }
  const std::vector<Piece> pieces = pieces_of(places);
  if (pieces.size() > kMostPieces) return gather_slices(b, x, dim, integer_vector(b, DType::I64, places));
  std::vector<Value> parts;
  for (const Piece& piece : pieces) parts.push_back(take_piece(b, x, dim, piece));
  return parts.size() == 1 ? parts.front() : b.concatenate(parts, dim);
}

Value add_at(Builder& b, Value x, int64_t dim, const Dims& places, int64_t size) {
  if (places.empty()) return zeros_like(b, x, with_size(b.shape(x), dim, size));
  Value sum;
  int64_t start = 0;
  for (const Piece& piece : pieces_of(places)) {
    const Value part = put_piece(b, x, dim, start, piece, size);
    sum = start == 0 ? part : b.add(sum, part);
    start += piece.count;
  }
  return sum;
}

Ranges ranges_holding(const Ranges& ranges, int64_t size) {
  Ranges result{Dims(static_cast<size_t>(size), 0), Dims(static_cast<size_t>(size), 0)};
  for (size_t number = 0; number < ranges.starts.size(); ++number) {
    for (int64_t i = 0; i < ranges.lengths[number]; ++i) {
      const auto element = static_cast<size_t>(ranges.starts[number] + i);
      if (result.lengths[element]++ == 0) result.starts[element] = static_cast<int64_t>(number);
    }
  }
  return result;
}

Value sum_ranges(Builder& b, Value x, int64_t dim, const Ranges& given) {
  Ranges ranges = given;
  while (!ranges.lengths.empty() && ranges.lengths.back() == 0) {
    ranges.starts.pop_back();
    ranges.lengths.pop_back();
  }
  const Dims shape = with_size(b.shape(x), dim, static_cast<int64_t>(ranges.starts.size()));
  const auto empty = static_cast<int64_t>(given.lengths.size() - ranges.lengths.size());
  if (ranges.lengths.empty()) return zeros_like(b, x, with_size(shape, dim, empty));
  const auto [shortest, longest] = std::minmax_element(ranges.lengths.begin(), ranges.lengths.end());
  // Places past the end are looked at, though not counted.
  const Value extended = surround(b, x, dim, 0, *longest - 1, 0);
  Value sum;
  for (int64_t number = 0; number < *longest; ++number) {
    Dims places = ranges.starts;
    for (int64_t& place : places) place += number;
    Value part = take(b, extended, dim, places);
    if (number >= *shortest) {
      part = b.select(has_element(b, ranges, number, shape, dim), part, zeros_like(b, part, shape));
    }
    sum = number == 0 ? part : b.add(sum, part);
  }
  return surround(b, sum, dim, 0, empty, 0);
}

}  // namespace opentrn::lowering
