#include "neuroncore/emulator/mapping.h"

#include <algorithm>

namespace opentrn::neuroncore::emulator {

namespace {

bool has_tail(const PatternDimension& dimension) {
  return dimension.tail_loop >= 0 && dimension.tail != dimension.size;
}

// Cuts the innermost `inner` steps off a dimension, leaving the rest. A tail stays with the rest.
bool cut(PatternDimension& rest, int64_t inner) {
  if (inner == 0 || rest.size % inner != 0) return false;
  if (has_tail(rest) && rest.tail % inner != 0) return false;
  rest.size /= inner;
  rest.tail /= inner;
  rest.step *= inner;
  return true;
}

void drop_single(std::vector<PatternDimension>& dimensions) {
  std::erase_if(dimensions, [](const PatternDimension& one) { return one.size == 1 && !has_tail(one); });
}

bool same_terms(const std::vector<Term>& left, const std::vector<Term>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const Term& one, const Term& other) {
    return one.index == other.index && one.coefficient == other.coefficient && one.is_register == other.is_register;
  });
}

}  // namespace

bool TileMapping::pair_free_dimensions(std::vector<PatternDimension> tile, std::vector<PatternDimension> hbm) {
  drop_single(tile);
  drop_single(hbm);
  while (!tile.empty() && !hbm.empty()) {
    PatternDimension& left = tile.back();
    PatternDimension& right = hbm.back();
    if (left.step < 0) return false;
    Pair pair{.tile_step = left.step, .hbm_step = right.step};
    const bool same_tails = has_tail(left) == has_tail(right) &&
                            (!has_tail(left) || (left.tail_loop == right.tail_loop && left.tail == right.tail));
    if (left.size == right.size && same_tails) {
      pair.size = left.size;
      if (has_tail(left)) {
        pair.tail_loop = left.tail_loop;
        pair.tail = left.tail;
      }
      tile.pop_back();
      hbm.pop_back();
    } else {
      const bool cut_left = left.size > right.size;
      PatternDimension& longer = cut_left ? left : right;
      const PatternDimension& shorter = cut_left ? right : left;
      if (has_tail(shorter)) return false;
      pair.size = shorter.size;
      if (!cut(longer, shorter.size)) return false;
      (cut_left ? hbm : tile).pop_back();
    }
    // Dimensions that go on evenly on both sides are one.
    if (!pairs_.empty()) {
      Pair& inner = pairs_.back();
      const bool even = !inner.has_tail() && pair.tile_step == inner.tile_step * inner.size &&
                        pair.hbm_step == inner.hbm_step * inner.size;
      if (even) {
        inner.tail_loop = pair.tail_loop;
        inner.tail = pair.tail * inner.size;
        inner.size *= pair.size;
        continue;
      }
    }
    pairs_.push_back(pair);
  }
  if (!tile.empty() || !hbm.empty()) return false;
  // Each dimension of the tile begins where the ones inside it end: a place then has one index in every dimension.
  int64_t extent = 0;
  for (const Pair& pair : pairs_) {
    if (pair.tile_step <= extent) return false;
    extent += pair.tile_step * (pair.size - 1);
  }
  return true;
}

std::optional<TileMapping> TileMapping::make(const Program& program, const Access& tile, const Access& hbm) {
  if (tile.dtype != hbm.dtype || tile.index_operand >= 0 || hbm.index_operand >= 0) return std::nullopt;
  if (tile.pattern.empty() || hbm.pattern.empty()) return std::nullopt;
  const PatternDimension& left = tile.pattern[0];
  const PatternDimension& right = hbm.pattern[0];
  if (left.step != 1 || left.size != right.size || has_tail(left) != has_tail(right)) return std::nullopt;
  if (has_tail(left) && (left.tail_loop != right.tail_loop || left.tail != right.tail)) return std::nullopt;
  TileMapping mapping;
  mapping.program_ = &program;
  mapping.tile_ = tile;
  mapping.hbm_ = hbm;
  mapping.partition_ = {.tile_step = 1, .hbm_step = right.step, .size = left.size};
  if (has_tail(left)) {
    mapping.partition_.tail_loop = left.tail_loop;
    mapping.partition_.tail = left.tail;
  }
  if (!mapping.pair_free_dimensions({tile.pattern.begin() + 1, tile.pattern.end()},
                                    {hbm.pattern.begin() + 1, hbm.pattern.end()}))
    return std::nullopt;
  return mapping;
}

// One access on its way to HBM.
class TileMapping::Translation {
 public:
  Translation(const TileMapping& mapping, const Access& access)
      : mapping_(mapping), pairs_(mapping.pairs_), partition_(mapping.partition_), access_(access) {}

  std::optional<Access> run() {
    if (access_.index_operand >= 0 || access_.pattern.empty()) return std::nullopt;
    if (size_of(access_.dtype) != size_of(mapping_.tile_.dtype)) return std::nullopt;
    result_ = mapping_.hbm_;
    result_.dtype = access_.dtype;
    result_.pattern.clear();
    if (!add_partitions() || !add_offset() || !add_terms()) return std::nullopt;
    for (size_t i = 1; i < access_.pattern.size(); ++i) {
      if (!add_dimension(access_.pattern[i])) return std::nullopt;
    }
    return result_;
  }

 private:
  static bool stays_inside(const Pair& pair) { return pair.reach < (pair.has_tail() ? pair.tail : pair.size); }

  // A dimension that has the very size and tail of the pair, or one that stays inside whatever the tail.
  static bool covers(Pair& pair, const PatternDimension& dimension, int64_t multiple) {
    const bool all = multiple == 1 && pair.reach == 0 && dimension.size == pair.size &&
                     has_tail(dimension) == pair.has_tail() &&
                     (!pair.has_tail() || (dimension.tail_loop == pair.tail_loop && dimension.tail == pair.tail));
    if (all) {
      pair.reach = pair.size;  // nothing else may move along this pair
      return true;
    }
    pair.reach += multiple * (dimension.size - 1);
    return stays_inside(pair);
  }

  bool add_partitions() {
    const PatternDimension& dimension = access_.pattern[0];
    if (dimension.step < 1) return false;
    const int64_t first = access_.partition - mapping_.tile_.partition;
    if (first < 0) return false;
    partition_.reach = first;
    if (!covers(partition_, dimension, dimension.step)) return false;
    result_.offset += first * partition_.hbm_step;
    PatternDimension moved = dimension;
    moved.step = dimension.step * partition_.hbm_step;
    result_.pattern.push_back(moved);
    return true;
  }

  // The pair along which a distance on the tile moves evenly: the one with the largest step that divides it.
  Pair* pair_for(int64_t distance) {
    for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
      if (pair->tile_step <= distance && distance % pair->tile_step == 0) return &*pair;
    }
    return nullptr;
  }

  bool add_offset() {
    int64_t rest = access_.offset - mapping_.tile_.offset;
    if (rest < 0) return false;
    for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
      const int64_t index = rest / pair->tile_step;
      rest -= index * pair->tile_step;
      pair->reach = index;
      result_.offset += index * pair->hbm_step;
      if (!stays_inside(*pair)) return false;
    }
    return rest == 0;
  }

  // Terms that both have cancel out: the same iteration moved the tile and looks at it.
  bool add_terms() {
    const std::vector<Term>& moved = mapping_.tile_.terms;
    if (!moved.empty()) return same_terms(moved, access_.terms);
    for (const Term& term : access_.terms) {
      if (term.is_register || term.coefficient < 0) return false;
      const int64_t count = mapping_.program_->loops[static_cast<size_t>(term.index)].count;
      if (term.coefficient == 0 || count <= 1) continue;
      Pair* pair = pair_for(term.coefficient);
      if (pair == nullptr) return false;
      const int64_t multiple = term.coefficient / pair->tile_step;
      pair->reach += multiple * (count - 1);
      if (!stays_inside(*pair)) return false;
      result_.terms.push_back({.index = term.index, .coefficient = multiple * pair->hbm_step});
    }
    return true;
  }

  bool add_dimension(const PatternDimension& dimension) {
    if (dimension.step < 0) return false;
    if (dimension.step == 0 || (dimension.size == 1 && !has_tail(dimension))) {
      result_.pattern.push_back(dimension);
      result_.pattern.back().step = 0;
      return true;
    }
    // Innermost part first; parts are put in front of each other.
    std::vector<PatternDimension> parts;
    PatternDimension rest = dimension;
    for (;;) {
      Pair* pair = pair_for(rest.step);
      if (pair == nullptr) return false;
      const int64_t multiple = rest.step / pair->tile_step;
      PatternDimension part = rest;
      part.step = multiple * pair->hbm_step;
      Pair tried = *pair;
      if (covers(tried, rest, multiple)) {
        *pair = tried;
        parts.push_back(part);
        break;
      }
      // The dimension runs through this pair and on along the next one.
      if (pair->has_tail() || pair->reach != 0 || pair->size % multiple != 0) return false;
      const int64_t inner = pair->size / multiple;
      if (inner >= rest.size || !cut(rest, inner)) return false;
      part.size = inner;
      part.tail_loop = -1;
      part.tail = 0;
      pair->reach = pair->size;
      parts.push_back(part);
    }
    result_.pattern.insert(result_.pattern.end(), parts.rbegin(), parts.rend());
    return true;
  }

  const TileMapping& mapping_;
  std::vector<Pair> pairs_;
  Pair partition_;
  const Access& access_;
  Access result_;
};

std::optional<Access> TileMapping::translate(const Access& access) const { return Translation(*this, access).run(); }

}  // namespace opentrn::neuroncore::emulator
