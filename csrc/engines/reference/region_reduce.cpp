// Reduce, reduce_window, map and select_and_scatter whose functions are regions: called element by element.
#include <algorithm>
#include <optional>

#include "engines/reference/region_function.h"

namespace opentrn::engines::reference {

namespace {

constexpr int64_t kCalls = 256;  // fewer calls of a region are not worth a second thread

/// What all kernels here are made of, copied out of the problem, whose spans do not outlive it.
struct Parts {
  std::vector<View> operands, results;
  size_t inputs = 0;  // operands before the initial values
  size_t own = 0;     // operands before the captured values
  RegionFunction function;

  std::span<const View> elements() const { return {operands.data(), inputs}; }
  std::span<std::byte* const> captured(std::byte* const* addresses) const {
    return {addresses + own, operands.size() - own};
  }
};

Parts make_parts(const Problem& problem, const ir::Region& region, size_t inputs, size_t own) {
  return {{problem.operands.begin(), problem.operands.end()},
          {problem.results.begin(), problem.results.end()},
          inputs,
          own,
          RegionFunction(region, problem.operands.subspan(own))};
}

// Calls `one(accumulators, index)` for every index of the results, whose elements it leaves in the accumulators.
template <typename One>
void for_each_result(const Parts& parts, std::byte* const* operands, std::byte* const* results, int64_t work,
                     const One& one) {
  const Dims& shape = parts.results[0].shape;
  const int64_t grain = std::max<int64_t>(1, kCalls / std::max<int64_t>(1, work));
  parallel_for(0, element_count(shape), grain, [&](int64_t begin, int64_t end) {
    Accumulators accumulators(parts.function, parts.elements(), parts.captured(operands));
    Dims index(shape.size());
    for (int64_t linear = begin; linear < end; ++linear) {
      set_index(shape, linear, index);
      accumulators.start({operands + parts.inputs, parts.inputs});
      one(accumulators, index);
      for (size_t i = 0; i < parts.inputs; ++i) {
        accumulators.store(i, results[i] + byte_offset(parts.results[i], index));
      }
    }
  });
}

std::optional<int64_t> window_element(const ir::ReduceWindowAttributes& window, size_t i, int64_t result,
                                      int64_t position, int64_t size) {
  const int64_t padded =
      result * window.window_strides[i] + position * window.window_dilations[i] - window.padding_low[i];
  const int64_t element = padded / window.base_dilations[i];
  const bool inside = padded >= 0 && padded % window.base_dilations[i] == 0 && element < size;
  return inside ? std::optional(element) : std::nullopt;
}

}  // namespace

Kernel region_reduce_kernel(const Problem& problem) {
  const auto& attributes = problem.node.as<ir::ReduceAttributes>();
  const size_t inputs = problem.results.size();
  Parts parts = make_parts(problem, attributes.body, inputs, 2 * inputs);
  std::vector<size_t> kept, reduced;
  Dims reduced_shape;
  for (size_t i = 0; i < parts.operands[0].shape.size(); ++i) {
    const auto& dimensions = attributes.dimensions;
    const bool is_reduced =
        std::find(dimensions.begin(), dimensions.end(), static_cast<int64_t>(i)) != dimensions.end();
    (is_reduced ? reduced : kept).push_back(i);
    if (is_reduced) reduced_shape.push_back(parts.operands[0].shape[i]);
  }
  return [=](std::byte* const* operands, std::byte* const* results) {
    for_each_result(parts, operands, results, element_count(reduced_shape),
                    [&](Accumulators& accumulators, const Dims& index) {
                      Dims whole(kept.size() + reduced.size());
                      for (size_t i = 0; i < kept.size(); ++i) whole[kept[i]] = index[i];
                      std::vector<std::byte*> elements(parts.inputs);
                      for_each_index(reduced_shape, [&](const Dims& inner) {
                        for (size_t i = 0; i < reduced.size(); ++i) whole[reduced[i]] = inner[i];
                        for (size_t i = 0; i < parts.inputs; ++i) {
                          elements[i] = operands[i] + byte_offset(parts.operands[i], whole);
                        }
                        accumulators.combine(elements);
                      });
                    });
  };
}

Kernel region_reduce_window_kernel(const Problem& problem) {
  const auto& attributes = problem.node.as<ir::ReduceWindowAttributes>();
  const size_t inputs = problem.results.size();
  Parts parts = make_parts(problem, attributes.body, inputs, 2 * inputs);
  return [parts, window = attributes](std::byte* const* operands, std::byte* const* results) {
    const Dims& shape = parts.operands[0].shape;
    for_each_result(parts, operands, results, element_count(window.window_dimensions),
                    [&](Accumulators& accumulators, const Dims& index) {
                      Dims place(shape.size());
                      std::vector<std::byte*> elements(parts.inputs);
                      for_each_index(window.window_dimensions, [&](const Dims& position) {
                        bool inside = true;
                        for (size_t i = 0; i < shape.size() && inside; ++i) {
                          const auto element = window_element(window, i, index[i], position[i], shape[i]);
                          inside = element.has_value();
                          place[i] = element.value_or(0);
                        }
                        for (size_t i = 0; i < parts.inputs; ++i) {  // padding holds the initial values
                          elements[i] =
                              inside ? operands[i] + byte_offset(parts.operands[i], place) : operands[parts.inputs + i];
                        }
                        accumulators.combine(elements);
                      });
                    });
  };
}

Kernel map_kernel(const Problem& problem) {
  const auto& attributes = problem.node.as<ir::MapAttributes>();
  const size_t inputs = problem.operands.size() - static_cast<size_t>(attributes.captured);
  Parts parts = make_parts(problem, attributes.computation, inputs, inputs);
  return [parts](std::byte* const* operands, std::byte* const* results) {
    const View& result = parts.results[0];
    parallel_for(0, result.elements(), kCalls, [&](int64_t begin, int64_t end) {
      std::vector<const void*> parameters(operands, operands + parts.operands.size());
      Dims index(result.shape.size());
      for (int64_t linear = begin; linear < end; ++linear) {
        set_index(result.shape, linear, index);
        for (size_t i = 0; i < parts.inputs; ++i) parameters[i] = operands[i] + byte_offset(parts.operands[i], index);
        void* const to[] = {results[0] + byte_offset(result, index)};
        parts.function(parameters, to);
      }
    });
  };
}

Kernel select_and_scatter_kernel(const Problem& problem) {
  constexpr size_t kOwn = 3;
  const auto& a = problem.node.as<ir::SelectAndScatterAttributes>();
  const Dims ones(a.window_dimensions.size(), 1);
  const ir::ReduceWindowAttributes window{ir::Op::Map, a.window_dimensions, a.window_strides, ones,
                                          ones,        a.padding_low,       a.padding_high};
  const Parts scatter = make_parts(problem, a.scatter, 1, kOwn);
  const RegionFunction select(a.select, problem.operands.subspan(kOwn));
  return [=](std::byte* const* operands, std::byte* const* results) {
    const View& operand = scatter.operands[0];
    const View& source = scatter.operands[1];
    const View& result = scatter.results[0];
    for_each_index(result.shape, [&](const Dims& index) {
      std::copy_n(operands[2], result.item_size(), results[0] + byte_offset(result, index));
    });
    Accumulators sum(scatter.function, scatter.elements(), scatter.captured(operands));
    std::vector<const void*> candidates(2);
    const std::span<std::byte* const> captured = scatter.captured(operands);
    candidates.insert(candidates.end(), captured.begin(), captured.end());
    Dims place(operand.shape.size());
    for_each_index(source.shape, [&](const Dims& index) {
      std::optional<Dims> selected;
      for_each_index(window.window_dimensions, [&](const Dims& position) {
        for (size_t i = 0; i < place.size(); ++i) {
          const auto element = window_element(window, i, index[i], position[i], operand.shape[i]);
          if (!element) return;
          place[i] = *element;
        }
        if (selected) {
          bool stays = false;
          candidates[0] = operands[0] + byte_offset(operand, *selected);
          candidates[1] = operands[0] + byte_offset(operand, place);
          void* const answer[] = {&stays};
          select(candidates, answer);
          if (stays) return;
        }
        selected = place;
      });
      if (!selected) return;  // a window of padding alone
      std::byte* to = results[0] + byte_offset(result, *selected);
      std::byte* const from = operands[1] + byte_offset(source, index);
      sum.start({&to, 1});
      sum.combine({&from, 1});
      sum.store(0, to);
    });
  };
}

}  // namespace opentrn::engines::reference
