// Scatter and sort whose functions are regions.
#include <algorithm>
#include <numeric>

#include "engines/reference/copy.h"
#include "engines/reference/region_function.h"

namespace opentrn::engines::reference {

namespace {

bool contains(const Dims& list, int64_t value) { return std::find(list.begin(), list.end(), value) != list.end(); }

/// Where an element of the updates goes.
class Target {
 public:
  Target(const ir::ScatterAttributes& attributes, const View& input, const View& indices)
      : a_(attributes), input_(input), indices_(indices) {
    for (int64_t i = 0; i < input.rank(); ++i) {
      const bool dropped = contains(a_.inserted_window_dims, i) || contains(a_.input_batching_dims, i);
      if (!dropped) window_dimensions_.push_back(static_cast<size_t>(i));
    }
  }

  /// False when it lies outside the input.
  bool find(const Dims& update, const std::byte* indices, Dims& place) const {
    std::fill(place.begin(), place.end(), 0);
    Dims batch;
    size_t next_window = 0;
    for (size_t i = 0; i < update.size(); ++i) {
      if (contains(a_.update_window_dims, static_cast<int64_t>(i))) {
        place[window_dimensions_[next_window++]] += update[i];
      } else {
        batch.push_back(update[i]);
      }
    }
    add_start(batch, indices, place);
    for (size_t i = 0; i < place.size(); ++i) {
      if (place[i] < 0 || place[i] >= input_.shape[i]) return false;
    }
    return true;
  }

 private:
  void add_start(const Dims& batch, const std::byte* indices, Dims& place) const {
    Dims at(indices_.shape.size(), 0);
    size_t next = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      if (static_cast<int64_t>(i) != a_.index_vector_dim) at[i] = batch[next++];
    }
    for (size_t i = 0; i < a_.input_batching_dims.size(); ++i) {
      place[static_cast<size_t>(a_.input_batching_dims[i])] +=
          at[static_cast<size_t>(a_.scatter_indices_batching_dims[i])];
    }
    const bool is_vector = a_.index_vector_dim < indices_.rank();
    for (size_t i = 0; i < a_.scatter_dims_to_operand_dims.size(); ++i) {
      if (is_vector) at[static_cast<size_t>(a_.index_vector_dim)] = static_cast<int64_t>(i);
      place[static_cast<size_t>(a_.scatter_dims_to_operand_dims[i])] +=
          read_integer(indices + byte_offset(indices_, at), indices_.dtype);
    }
  }

  ir::ScatterAttributes a_;
  View input_, indices_;
  std::vector<size_t> window_dimensions_;  // of the input, in order
};

/// The order of one line: positions, sorted by a comparator that need not be an order. Merges neighbouring runs, so
/// that it ends whatever the comparator says, and keeps the order of elements neither of which comes first.
template <typename Before>
void merge_sort(std::vector<int64_t>& positions, const Before& before) {
  std::vector<int64_t> merged(positions.size());
  for (size_t run = 1; run < positions.size(); run *= 2) {
    for (size_t begin = 0; begin < positions.size(); begin += 2 * run) {
      const size_t middle = std::min(begin + run, positions.size());
      const size_t end = std::min(begin + 2 * run, positions.size());
      size_t left = begin;
      size_t right = middle;
      for (size_t i = begin; i < end; ++i) {
        const bool take_right = right < end && (left >= middle || before(positions[right], positions[left]));
        merged[i] = positions[take_right ? right++ : left++];
      }
    }
    positions.swap(merged);
  }
}

}  // namespace

Kernel region_scatter_kernel(const Problem& problem) {
  const auto& attributes = problem.node.as<ir::ScatterAttributes>();
  const size_t inputs = problem.results.size();
  const size_t own = 2 * inputs + 1;
  const std::vector<View> operands_of(problem.operands.begin(), problem.operands.end());
  const std::vector<View> results_of(problem.results.begin(), problem.results.end());
  const Target target(attributes, operands_of[0], operands_of[inputs]);
  const RegionFunction function(attributes.body, problem.operands.subspan(own));
  std::vector<StridedCopy> keep;
  for (size_t i = 0; i < inputs; ++i) keep.emplace_back(operands_of[i], results_of[i]);
  return [=](std::byte* const* operands, std::byte* const* results) {
    for (size_t i = 0; i < inputs; ++i) {
      if (operands[i] != results[i]) keep[i](operands[i], results[i]);
    }
    Accumulators elements(function, {results_of.data(), inputs}, {operands + own, operands_of.size() - own});
    std::vector<std::byte*> old(inputs), updates(inputs);
    Dims place(results_of[0].shape.size());
    for_each_index(operands_of[inputs + 1].shape, [&](const Dims& index) {
      if (!target.find(index, operands[inputs], place)) return;
      for (size_t i = 0; i < inputs; ++i) {
        old[i] = results[i] + byte_offset(results_of[i], place);
        updates[i] = operands[inputs + 1 + i] + byte_offset(operands_of[inputs + 1 + i], index);
      }
      elements.start(old);
      elements.combine(updates);
      for (size_t i = 0; i < inputs; ++i) elements.store(i, old[i]);
    });
  };
}

Kernel region_sort_kernel(const Problem& problem) {
  const auto& attributes = problem.node.as<ir::SortAttributes>();
  const size_t inputs = problem.results.size();
  const auto dimension = static_cast<size_t>(attributes.dimension);
  const std::vector<View> operands_of(problem.operands.begin(), problem.operands.end());
  const std::vector<View> results_of(problem.results.begin(), problem.results.end());
  const RegionFunction comparator(attributes.comparator, problem.operands.subspan(inputs));
  Dims lines = operands_of[0].shape;
  const int64_t length = lines[dimension];
  lines[dimension] = 1;
  return [=](std::byte* const* operands, std::byte* const* results) {
    parallel_for(0, length == 0 ? 0 : element_count(lines), 1, [&](int64_t begin, int64_t end) {
      std::vector<const void*> parameters(2 * inputs);
      parameters.insert(parameters.end(), operands + inputs, operands + operands_of.size());
      std::vector<int64_t> positions(static_cast<size_t>(length));
      std::vector<int64_t> starts(inputs), steps(inputs);
      Dims index(lines.size());
      for (int64_t line = begin; line < end; ++line) {
        set_index(lines, line, index);
        for (size_t i = 0; i < inputs; ++i) {
          starts[i] = byte_offset(operands_of[i], index);
          steps[i] = operands_of[i].strides[dimension] * operands_of[i].item_size();
        }
        const auto element = [&](size_t i, int64_t position) { return operands[i] + starts[i] + position * steps[i]; };
        std::iota(positions.begin(), positions.end(), 0);
        merge_sort(positions, [&](int64_t left, int64_t right) {
          for (size_t i = 0; i < inputs; ++i) {
            parameters[2 * i] = element(i, left);
            parameters[2 * i + 1] = element(i, right);
          }
          bool before = false;
          void* const answer[] = {&before};
          comparator(parameters, answer);
          return before;
        });
        for (size_t i = 0; i < inputs; ++i) {
          std::byte* to = results[i] + byte_offset(results_of[i], index);
          for (const int64_t position : positions) {
            std::copy_n(element(i, position), results_of[i].item_size(), to);
            to += results_of[i].strides[dimension] * results_of[i].item_size();
          }
        }
      }
    });
  };
}

}  // namespace opentrn::engines::reference
