#include "neuroncore/emulator/nest.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"

namespace opentrn::neuroncore::emulator {

namespace {

bool merges(const NestDimension& inner, const NestDimension& outer) {
  for (size_t i = 0; i < kMaxOperands; ++i) {
    if (outer.steps[i] != inner.steps[i] * inner.size) return false;
  }
  return true;
}

// How far apart the elements of a dimension are: a cache line touches nobody's neighbour any more.
int64_t cost(const NestDimension& dimension, size_t operands) {
  int64_t sum = 0;
  for (size_t i = 0; i < operands; ++i) sum += std::min<int64_t>(std::abs(dimension.steps[i]), 64) * (i == 0 ? 2 : 1);
  return sum;
}

struct Cut {
  NestDimension dimension;
  bool partition = false;
};

void order_by_density(std::vector<Cut>& cuts, size_t operands, const NestOptions& options) {
  std::stable_sort(cuts.begin(), cuts.end(), [&](const Cut& left, const Cut& right) {
    if (options.repeats) {
      const bool left_repeats = left.dimension.steps[0] == 0 && left.dimension.size > 1;
      const bool right_repeats = right.dimension.steps[0] == 0 && right.dimension.size > 1;
      if (left_repeats != right_repeats) return right_repeats;
    }
    return cost(left.dimension, operands) < cost(right.dimension, operands);
  });
  // A short inner dimension costs more in calls than a few strides do.
  const auto longer = std::find_if(cuts.begin(), cuts.end(), [](const Cut& cut) { return cut.dimension.size >= 4; });
  if (longer == cuts.end() || longer == cuts.begin() || options.repeats) return;
  const int64_t inner_size = cuts.front().dimension.size;
  if (inner_size * 16 < longer->dimension.size) std::rotate(cuts.begin(), longer, longer + 1);
}

}  // namespace

std::vector<Dimension> merged(const std::vector<Dimension>& outermost_first) {
  std::vector<Dimension> result;
  for (auto dimension = outermost_first.rbegin(); dimension != outermost_first.rend(); ++dimension) {
    if (dimension->size == 1) continue;
    if (!result.empty() && dimension->step == result.back().step * result.back().size) {
      result.back().size *= dimension->size;
    } else {
      result.push_back(*dimension);
    }
  }
  return result;
}

bool same_elements(const Operand& left, const Operand& right) {
  if (left.slot != right.slot || left.offset != right.offset || left.dtype != right.dtype) return false;
  if (left.partitions != right.partitions || left.partition_advance != right.partition_advance) return false;
  if (left.partitions > 1 && left.partition_step != right.partition_step) return false;
  const auto same_term = [](const CounterTerm& a, const CounterTerm& b) {
    return a.counter == b.counter && a.bytes == b.bytes;
  };
  const auto same_dimension = [](const Dimension& a, const Dimension& b) {
    return a.step == b.step && a.size == b.size;
  };
  const std::vector<Dimension> one = merged(left.free);
  const std::vector<Dimension> other = merged(right.free);
  return std::equal(left.terms.begin(), left.terms.end(), right.terms.begin(), right.terms.end(), same_term) &&
         std::equal(one.begin(), one.end(), other.begin(), other.end(), same_dimension);
}

std::optional<std::vector<NestDimension>> common_dimensions(std::span<const std::vector<Dimension>> patterns) {
  std::array<size_t, kMaxOperands> at{};
  std::array<int64_t, kMaxOperands> left{};  // size of the current dimension that is not cut off yet
  std::array<int64_t, kMaxOperands> step{};
  const auto open = [&](size_t i) {
    if (at[i] == patterns[i].size()) return false;
    left[i] = patterns[i][at[i]].size;
    step[i] = patterns[i][at[i]].step;
    return true;
  };
  std::vector<NestDimension> result;
  bool any = false;
  for (size_t i = 0; i < patterns.size(); ++i) any = open(i) || any;
  while (any) {
    int64_t size = 0;
    for (size_t i = 0; i < patterns.size(); ++i) {
      if (left[i] <= 1) return std::nullopt;  // another operand has elements left
      size = size == 0 ? left[i] : std::min(size, left[i]);
    }
    NestDimension dimension{.size = size, .steps = {}};
    any = false;
    for (size_t i = 0; i < patterns.size(); ++i) {
      if (left[i] % size != 0) return std::nullopt;
      dimension.steps[i] = step[i];
      left[i] /= size;
      step[i] *= size;
      if (left[i] == 1) {
        left[i] = 0;
        ++at[i];
        open(i);
      }
      any = any || left[i] > 1;
    }
    result.push_back(dimension);
  }
  return result;
}

void merge_dimensions(Nest& nest, const NestOptions& options) {
  std::vector<NestDimension>& dimensions = nest.dimensions;
  size_t kept = 0;
  int partition = nest.partition == 0 ? 0 : -1;
  for (size_t i = 1; i < dimensions.size(); ++i) {
    const bool is_partition = nest.partition == static_cast<int>(i);
    const bool blocked = (is_partition && options.separate) || partition == static_cast<int>(kept);
    if (!blocked && merges(dimensions[kept], dimensions[i])) {
      if (is_partition) {
        partition = static_cast<int>(kept);
        nest.partition_scale = dimensions[kept].size;
      }
      dimensions[kept].size *= dimensions[i].size;
      continue;
    }
    dimensions[++kept] = dimensions[i];
    if (is_partition) partition = static_cast<int>(kept);
  }
  dimensions.resize(dimensions.empty() ? 0 : kept + 1);
  nest.partition = partition;
}

std::optional<Nest> make_nest(std::span<const Operand* const> operands, const NestOptions& options) {
  std::array<std::vector<Dimension>, kMaxOperands> patterns;
  NestDimension partition{.size = operands[0]->partitions, .steps = {}};
  for (size_t i = 0; i < operands.size(); ++i) {
    patterns[i] = merged(operands[i]->free);
    partition.steps[i] = operands[i]->partition_step;
  }
  const int64_t free = operands[0]->free_elements();
  Nest nest;
  nest.elements = free * partition.size;
  std::vector<Cut> cuts;
  if (nest.elements > 0) {
    const auto common = common_dimensions(std::span(patterns).first(operands.size()));
    if (!common) return std::nullopt;
    for (const NestDimension& dimension : *common) cuts.push_back({dimension, false});
  }
  cuts.push_back({partition, true});
  if (options.reorder) order_by_density(cuts, operands.size(), options);
  if (options.separate) {
    std::stable_partition(cuts.begin(), cuts.end(), [](const Cut& cut) { return !cut.partition; });
  }
  for (size_t i = 0; i < cuts.size(); ++i) {
    nest.dimensions.push_back(cuts[i].dimension);
    if (cuts[i].partition && !options.whole) nest.partition = static_cast<int>(i);
  }
  merge_dimensions(nest, options);
  // Planes have two dimensions. A separate partition dimension stays the last of at least three.
  const size_t least = options.separate ? 3 : 2;
  while (nest.dimensions.size() < least) {
    const auto place = options.separate ? nest.dimensions.end() - 1 : nest.dimensions.end();
    nest.dimensions.insert(place, NestDimension{});
    if (options.separate && nest.partition >= 0) ++nest.partition;
  }
  if (nest.dimensions.size() > kMaxRank)
    raise(ErrorKind::Internal, {.where = "emulator",
                                .what = "too many dimensions in an access pattern",
                                .got = concat(nest.dimensions.size()),
                                .expected = concat("at most ", kMaxRank)});
  return nest;
}

}  // namespace opentrn::neuroncore::emulator
