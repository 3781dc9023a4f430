#include "compiler/tiling.h"

#include <algorithm>
#include <cstdlib>

namespace opentrn::compiler {

namespace {

using neuroncore::Access;
using neuroncore::PatternDimension;

bool steps_evenly(const Axis& outer, const Axis& inner) {
  for (size_t i = 0; i < outer.steps.size(); ++i) {
    if (outer.steps[i] != inner.steps[i] * inner.size) return false;
  }
  return true;
}

bool before(const Axis& left, const Axis& right) {
  for (size_t i = 0; i < left.steps.size(); ++i) {
    const int64_t a = std::abs(left.steps[i]), b = std::abs(right.steps[i]);
    if (a != b) return a > b;
  }
  return false;
}

}  // namespace

std::vector<Axis> merged(std::vector<Axis> axes) {
  std::erase_if(axes, [](const Axis& axis) { return axis.size == 1; });
  std::stable_sort(axes.begin(), axes.end(), before);
  std::vector<Axis> result;
  for (const Axis& axis : axes) {
    if (!result.empty() && steps_evenly(result.back(), axis)) {
      result.back() = {result.back().size * axis.size, axis.steps};
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

Axis take_longest(std::vector<Axis>& axes) {
  if (axes.empty()) return {};
  const auto longest =
      std::max_element(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.size <= b.size; });
  const Axis taken = *longest;
  axes.erase(longest);
  return taken;
}

int64_t elements(std::span<const Axis> axes) {
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.size;
  return count;
}

Tiling::Tiling(const Axis& axis, int64_t tile) : axis_(axis), tile_(std::clamp<int64_t>(tile, 1, axis.size)) {}

PatternDimension Tiling::dimension(int64_t step) const {
  PatternDimension dimension{.step = step, .size = tile_};
  if (loop_ < 0 || axis_.size % tile_ == 0) return dimension;
  dimension.tail_loop = loop_;
  dimension.tail = axis_.size % tile_;
  return dimension;
}

void Tiling::add_term(std::vector<neuroncore::Term>& terms, int64_t step) const {
  if (loop_ >= 0 && step != 0) terms.push_back({.index = loop_, .coefficient = step * tile_});
}

void LoopNest::open(Tiling& tiling, bool independent) {
  if (tiling.count() == 1) return;
  tiling.loop_ = program_.begin_loop(tiling.count(), independent);
  ++open_;
}

std::vector<Tiling> LoopNest::open_each(std::span<const Axis> axes, bool independent) {
  std::vector<Tiling> tilings;
  for (const Axis& axis : axes) open(tilings.emplace_back(axis, 1), independent);
  return tilings;
}

Access access_at(const Location& location, size_t operand, std::span<const Tiling> loops,
                 std::initializer_list<const Tiling*> pattern) {
  Access access;
  access.buffer = location.buffer;
  access.dtype = location.view.dtype;
  access.offset = location.view.offset / location.view.item_size();
  for (const Tiling& loop : loops) advance(access, operand, loop);
  for (const Tiling* tiling : pattern) {
    advance(access, operand, *tiling);
    access.pattern.push_back(tiling->dimension(tiling->axis().steps[operand]));
  }
  return access;
}

void advance(Access& access, size_t operand, const Tiling& tiling) {
  tiling.add_term(access.terms, tiling.axis().steps[operand]);
}

Location moved(Location location, int64_t elements) {
  location.view.offset += elements * location.view.item_size();
  return location;
}

Access tile_of(const neuroncore::Builder& program, int32_t buffer, const Tiling& partitions, const Tiling& elements) {
  return program.tile(buffer, partitions.dimension(1), elements.dimension(1));
}

}  // namespace opentrn::compiler
