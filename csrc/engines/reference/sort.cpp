// Stable sorting of any number of operands by the first.
#include <algorithm>
#include <array>
#include <vector>

#include "base/convert_rows.h"
#include "engines/reference/buffer.h"
#include "engines/reference/kernel.h"
#include "engines/reference/loops.h"

namespace opentrn::engines::reference {

namespace {

template <typename Key>
struct Entry {
  Key key;
  int64_t position;
};

// NaN counts as greater than everything else, and as equal to itself.
template <typename Key>
bool less(const Entry<Key>& left, const Entry<Key>& right) {
  if constexpr (std::is_floating_point_v<Key>) {
    return left.key < right.key || (right.key != right.key && left.key == left.key);
  } else {
    return left.key < right.key;
  }
}

struct Line {
  int64_t size = 0;
  int64_t source_step = 0, result_step = 0;  // bytes along the line
  int64_t item_size = 0;
  Nest lines;  // over the other dimensions: steps of the source, then of the result
};

Line make_line(View source, View result, size_t dimension) {
  Line line;
  line.size = source.shape[dimension];
  line.item_size = source.item_size();
  line.source_step = source.strides[dimension] * line.item_size;
  line.result_step = result.strides[dimension] * line.item_size;
  std::vector<LoopDimension> others;
  for (size_t i = 0; i < source.shape.size(); ++i) {
    if (i == dimension) continue;
    others.push_back({source.shape[i], {source.strides[i] * line.item_size, result.strides[i] * line.item_size}});
  }
  // Not merged over all operands alike, but element i of each nest is the same line.
  line.lines = make_ordered_nest(others);
  return line;
}

struct Sort {
  std::vector<Line> operands;
  bool descending = false;
  DType stored = DType::F32;
  DType compared = DType::F32;

  template <typename Key>
  void run(std::byte* const* sources, std::byte* const* results) const {
    const int64_t lines = operands[0].lines.elements;
    const int64_t size = operands[0].size;
    const int64_t grain = std::max<int64_t>(1, kGrain / 16 / std::max<int64_t>(1, size));
    parallel_for(0, lines, grain, [&](int64_t begin, int64_t end) {
      std::vector<Entry<Key>> entries(static_cast<size_t>(size));
      for (int64_t line = begin; line < end; ++line) {
        sort_line(sources[0] + offset_at(operands[0].lines, line)[0], entries);
        for (size_t i = 0; i < operands.size(); ++i) {
          const Steps offset = offset_at(operands[i].lines, line);
          permute(operands[i], sources[i] + offset[0], results[i] + offset[1], entries);
        }
      }
    });
  }

 private:
  template <typename Key>
  void sort_line(const std::byte* keys, std::vector<Entry<Key>>& entries) const {
    const Line& line = operands[0];
    const Workspace space(line.size * static_cast<int64_t>(sizeof(Key)));
    convert_row(stored, compared)(keys, line.source_step / line.item_size, space.data(), 1, line.size);
    for (int64_t i = 0; i < line.size; ++i) entries[static_cast<size_t>(i)] = {space.as<Key>()[i], i};
    if (descending) {
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto& left, const auto& right) { return less(right, left); });
    } else {
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto& left, const auto& right) { return less(left, right); });
    }
  }

  template <typename Key>
  static void permute(const Line& line, std::byte* source, std::byte* result, const std::vector<Entry<Key>>& entries) {
    for (const Entry<Key>& entry : entries) {
      std::copy_n(source + entry.position * line.source_step, line.item_size, result);
      result += line.result_step;
    }
  }
};

// The type keys are compared in: wide enough for every value of theirs.
DType comparison_type(DType dtype) {
  switch (category(dtype)) {
    case Category::Float: return dtype == DType::F64 ? DType::F64 : DType::F32;
    case Category::Signed: return DType::I64;
    case Category::Bool:
    case Category::Unsigned: return DType::U64;
    case Category::Complex: break;
  }
  raise_unsupported("stablehlo.sort", dtype);
}

}  // namespace

Kernel sort_kernel(const Problem& problem) {
  const auto& attributes = problem.node.as<ir::SortAttributes>();
  Sort sort;
  sort.descending = attributes.descending;
  sort.stored = problem.operands[0].dtype;
  sort.compared = comparison_type(sort.stored);
  for (size_t i = 0; i < problem.operands.size(); ++i) {
    sort.operands.push_back(
        make_line(problem.operands[i], problem.results[i], static_cast<size_t>(attributes.dimension)));
  }
  return [sort = std::move(sort)](std::byte* const* operands, std::byte* const* results) {
    switch (sort.compared) {
      case DType::F32: return sort.run<float>(operands, results);
      case DType::F64: return sort.run<double>(operands, results);
      case DType::I64: return sort.run<int64_t>(operands, results);
      default: return sort.run<uint64_t>(operands, results);
    }
  };
}

}  // namespace opentrn::engines::reference
