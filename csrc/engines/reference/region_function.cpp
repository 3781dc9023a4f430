#include "engines/reference/region_function.h"

#include <algorithm>

namespace opentrn::engines::reference {

namespace {

Layout layout_of(const ir::TensorType& type) { return {type, contiguous_strides(type.shape)}; }

Layout layout_of(const View& view) { return {{view.dtype, view.shape}, view.strides}; }

}  // namespace

RegionFunction::RegionFunction(const ir::Region& region, std::span<const View> captured,
                               std::span<const View> results) {
  Module module{region.graph(), {}, {}, {}};
  const ir::Graph& graph = module.graph;
  const size_t own = graph.parameters.size() - captured.size();
  for (size_t i = 0; i < own; ++i) module.parameters.push_back(layout_of(graph.type(graph.parameters[i])));
  for (const View& view : captured) module.parameters.push_back(layout_of(view));
  for (size_t i = 0; i < graph.results.size(); ++i) {
    module.results.push_back(results.empty() ? layout_of(graph.type(graph.results[i])) : layout_of(results[i]));
  }
  program_ = std::make_shared<const Program>(compile_program(module));
}

Accumulators::Accumulators(const RegionFunction& function, std::span<const View> elements,
                           std::span<std::byte* const> captured)
    : function_(function), parameters_(2 * elements.size()), results_(elements.size()) {
  for (const View& view : elements) sizes_.push_back(view.item_size());
  for (std::vector<Place>& places : places_) places.resize(elements.size());
  parameters_.insert(parameters_.end(), captured.begin(), captured.end());
}

void Accumulators::start(std::span<std::byte* const> initial) {
  for (size_t i = 0; i < sizes_.size(); ++i) std::copy_n(initial[i], sizes_[i], places_[current_][i].data());
}

void Accumulators::combine(std::span<std::byte* const> others) {
  const size_t count = sizes_.size();
  for (size_t i = 0; i < count; ++i) {
    parameters_[i] = places_[current_][i].data();
    parameters_[count + i] = others[i];
    results_[i] = places_[1 - current_][i].data();
  }
  function_(parameters_, results_);
  current_ = 1 - current_;
}

}  // namespace opentrn::engines::reference
