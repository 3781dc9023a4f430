// Gather and scatter: windows of an operand at places that index values name.
#include <algorithm>
#include <array>
#include <optional>

#include "engines/reference/copy.h"
#include "engines/reference/kernel.h"
#include "engines/reference/widened_loop.h"

namespace opentrn::engines::reference {

namespace {

bool contains(const Dims& list, int64_t value) { return std::find(list.begin(), list.end(), value) != list.end(); }

/// A dimension of the operand that an index chooses a start in.
struct IndexedDimension {
  int64_t size;      // of the operand
  int64_t window;    // elements the window covers
  int64_t step;      // bytes of the operand per index
  int64_t position;  // of this dimension among the window's, or -1
};

/// What gather and scatter share, resolved: `batch` is a nest over the index vectors, its steps those of the windows'
/// side (the gather's result, the scatter's updates), of the operand (through batching dimensions), and of the indices.
struct Windows {
  Nest batch;
  std::vector<IndexedDimension> indexed;
  DType index_dtype = DType::I64;
  int64_t index_step = 0;  // bytes between the components of an index vector
  View operand_window;     // the window as it lies in the operand
  View other_window;       // and on the other side

  int64_t start(const std::byte* indices, size_t i) const {
    return read_integer(indices + static_cast<int64_t>(i) * index_step, index_dtype);
  }
};

/// The names of gather; scatter has other words for the same things.
struct WindowNumbers {
  const Dims& window_dims;       // of the other side
  const Dims& collapsed;         // of the operand
  const Dims& operand_batching;  // of the operand
  const Dims& index_batching;    // of the indices
  const Dims& index_map;         // operand dimension for each component of an index vector
  int64_t index_vector_dim;
};

void add_window_dimension(View& window, int64_t size, int64_t stride) {
  window.shape.push_back(size);
  window.strides.push_back(stride);
}

Windows resolve(const View& operand, const View& indices, const View& other, const WindowNumbers& numbers) {
  Windows windows;
  windows.index_dtype = indices.dtype;
  windows.operand_window.dtype = windows.other_window.dtype = operand.dtype;
  std::vector<int64_t> window_position(operand.shape.size(), -1);
  size_t next = 0;
  for (int64_t i = 0; i < operand.rank(); ++i) {
    if (contains(numbers.collapsed, i) || contains(numbers.operand_batching, i)) continue;
    const auto there = static_cast<size_t>(numbers.window_dims[next]);
    window_position[static_cast<size_t>(i)] = static_cast<int64_t>(next++);
    add_window_dimension(windows.operand_window, other.shape[there], operand.strides[static_cast<size_t>(i)]);
    add_window_dimension(windows.other_window, other.shape[there], other.strides[there]);
  }
  for (const int64_t dimension : numbers.index_map) {
    const auto i = static_cast<size_t>(dimension);
    const int64_t position = window_position[i];
    const int64_t covered = position < 0 ? 1 : windows.operand_window.shape[static_cast<size_t>(position)];
    windows.indexed.push_back({operand.shape[i], covered, operand.strides[i] * operand.item_size(), position});
  }
  if (numbers.index_vector_dim < indices.rank()) {
    windows.index_step = indices.strides[static_cast<size_t>(numbers.index_vector_dim)] * indices.item_size();
  }
  std::vector<LoopDimension> batch;
  int64_t there = 0;
  for (int64_t i = 0; i < indices.rank(); ++i) {
    if (i == numbers.index_vector_dim) continue;
    while (contains(numbers.window_dims, there)) ++there;
    const auto in_indices = static_cast<size_t>(i);
    LoopDimension dimension{indices.shape[in_indices], {}};
    dimension.steps[0] = other.strides[static_cast<size_t>(there++)] * other.item_size();
    dimension.steps[2] = indices.strides[in_indices] * indices.item_size();
    const auto batching = std::find(numbers.index_batching.begin(), numbers.index_batching.end(), i);
    if (batching != numbers.index_batching.end()) {
      const auto which = static_cast<size_t>(batching - numbers.index_batching.begin());
      dimension.steps[1] = operand.strides[static_cast<size_t>(numbers.operand_batching[which])] * operand.item_size();
    }
    batch.push_back(dimension);
  }
  windows.batch = make_ordered_nest(batch);
  return windows;
}

// The byte offset of a window that is moved, where needed, to fit into the operand.
int64_t clamped_offset(const Windows& windows, const std::byte* indices) {
  int64_t offset = 0;
  for (size_t i = 0; i < windows.indexed.size(); ++i) {
    const IndexedDimension& dimension = windows.indexed[i];
    const int64_t start = windows.start(indices, i);
    offset += std::clamp<int64_t>(start, 0, dimension.size - dimension.window) * dimension.step;
  }
  return offset;
}

void refuse_empty_dimensions(const Windows& windows) {
  for (const IndexedDimension& dimension : windows.indexed) {
    if (dimension.size >= dimension.window || windows.batch.elements == 0) continue;
    raise(ErrorKind::Index, {.where = "stablehlo.gather", .what = "cannot take elements of a dimension of size 0"});
  }
}

Nest window_nest(const View& first, const View& second, const View& third) {
  const std::array<const View*, 3> views{&first, &second, &third};
  return make_nest(views);
}

/// How an update enters the operand: the body of a loop over window elements. Steps: operand, operand, update.
class Update {
 public:
  Update(ir::Op update, DType dtype) {
    if (update == ir::Op::Select) {
      copy_ = copy_loop(size_of(dtype));
      return;
    }
    const Loop loop = binary_loop_for(update, compute_dtype(dtype));
    if (loop == nullptr) raise_unsupported(concat("scatter with ", ir::name(update)), dtype);
    const std::array<DType, 3> dtypes{dtype, dtype, dtype};
    narrow_ = is_narrow(dtype);
    combine_ = widen_loop(loop, dtypes);
  }

  void operator()(int64_t n, std::byte* const* pointers, const int64_t* steps) const {
    if (copy_ != nullptr) {
      std::byte* const copied[] = {pointers[0], pointers[2]};
      const int64_t copied_steps[] = {steps[0], steps[2]};
      return copy_(n, copied, copied_steps);
    }
    narrow_ ? combine_(n, pointers, steps) : combine_.loop(n, pointers, steps);
  }

 private:
  Loop copy_ = nullptr;
  bool narrow_ = false;
  WidenedLoop combine_;
};

struct Scatter {
  Windows windows;
  Nest window;  // steps of operand, operand, updates
  Update update;

  void apply(std::byte* operand, std::byte* updates, const std::byte* indices) const {
    int64_t offset = 0;
    bool inside = true;
    for (size_t i = 0; i < windows.indexed.size(); ++i) {
      const IndexedDimension& dimension = windows.indexed[i];
      const int64_t start = windows.start(indices, i);
      inside = inside && start >= 0 && start <= dimension.size - dimension.window;
      if (inside) offset += start * dimension.step;
    }
    if (!inside) return apply_partly(operand, updates, indices);
    std::byte* to = operand + offset;
    run_sequential(window, {to, to, updates}, update);
  }

  // The part of the window that lies inside the operand.
  void apply_partly(std::byte* operand, std::byte* updates, const std::byte* indices) const {
    View to = windows.operand_window;
    View from = windows.other_window;
    for (size_t i = 0; i < windows.indexed.size(); ++i) {
      const IndexedDimension& dimension = windows.indexed[i];
      const int64_t start = windows.start(indices, i);
      if (start >= dimension.size || start <= -dimension.window) return;
      const int64_t first = std::max<int64_t>(0, -start);
      const int64_t end = std::min(dimension.window, dimension.size - start);
      to.offset += (start + first) * dimension.step;
      if (dimension.position < 0) continue;  // a single element, and inside
      const auto position = static_cast<size_t>(dimension.position);
      to.shape[position] = from.shape[position] = end - first;
      from.offset += first * from.strides[position] * from.item_size();
    }
    std::byte* first = operand + to.offset;
    run_sequential(window_nest(to, to, from), {first, first, updates + from.offset}, update);
  }
};

}  // namespace

Kernel gather_kernel(const Problem& problem) {
  const auto& attributes = problem.node.as<ir::GatherAttributes>();
  const View& result = problem.results[0];
  const WindowNumbers numbers{attributes.offset_dims,           attributes.collapsed_slice_dims,
                              attributes.operand_batching_dims, attributes.start_indices_batching_dims,
                              attributes.start_index_map,       attributes.index_vector_dim};
  const Windows windows = resolve(problem.operands[0], problem.operands[1], result, numbers);
  refuse_empty_dimensions(windows);
  const std::array<const View*, 2> views{&windows.other_window, &windows.operand_window};
  const Nest window = make_nest(views);
  const Loop copy = copy_loop(result.item_size());
  const int64_t grain = std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(1, window.elements));
  return [=](std::byte* const* operands, std::byte* const* results) {
    run_parallel(windows.batch, {results[0], operands[0], operands[1]}, grain,
                 [&](int64_t n, std::byte* const* pointers, const int64_t* steps) {
                   for (int64_t i = 0; i < n; ++i) {
                     const std::byte* indices = pointers[2] + i * steps[2];
                     std::byte* from = pointers[1] + i * steps[1] + clamped_offset(windows, indices);
                     run_sequential(window, {pointers[0] + i * steps[0], from}, copy);
                   }
                 });
  };
}

Kernel scatter_kernel(const Problem& problem) {
  const auto& attributes = problem.node.as<ir::ScatterAttributes>();
  const View& operand = problem.operands[0];
  const View& result = problem.results[0];
  const WindowNumbers numbers{attributes.update_window_dims,           attributes.inserted_window_dims,
                              attributes.input_batching_dims,          attributes.scatter_indices_batching_dims,
                              attributes.scatter_dims_to_operand_dims, attributes.index_vector_dim};
  const Windows windows = resolve(result, problem.operands[1], problem.operands[2], numbers);
  const Scatter scatter{windows, window_nest(windows.operand_window, windows.operand_window, windows.other_window),
                        Update(attributes.update, result.dtype)};
  View at_result = operand;
  at_result.offset = result.offset;
  const bool may_be_in_place = same_places(at_result, result);
  return [scatter, keep = StridedCopy(operand, result), may_be_in_place](std::byte* const* operands,
                                                                         std::byte* const* results) {
    if (!may_be_in_place || operands[0] != results[0]) keep(operands[0], results[0]);
    run_sequential(scatter.windows.batch, {operands[2], results[0], operands[1]},
                   [&](int64_t n, std::byte* const* pointers, const int64_t* steps) {
                     for (int64_t i = 0; i < n; ++i) {
                       scatter.apply(pointers[1] + i * steps[1], pointers[0] + i * steps[0],
                                     pointers[2] + i * steps[2]);
                     }
                   });
  };
}

}  // namespace opentrn::engines::reference
