// Windowed reductions, and among them running scans: a window of the full size with full padding on one side.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "engines/reference/buffer.h"
#include "engines/reference/folder.h"
#include "engines/reference/kernel.h"

namespace opentrn::engines::reference {

namespace {

using Attributes = ir::ReduceWindowAttributes;

/// The dimension a scan runs along, and its direction.
struct Scan {
  size_t dimension = 0;
  bool reverse = false;
};

bool is_plain(const Attributes& window, size_t i) {
  return window.window_strides[i] == 1 && window.base_dilations[i] == 1 && window.window_dilations[i] == 1;
}

std::optional<Scan> recognise_scan(const Attributes& window, const Dims& shape) {
  std::optional<Scan> scan;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!is_plain(window, i)) return std::nullopt;
    const int64_t low = window.padding_low[i];
    const int64_t high = window.padding_high[i];
    if (window.window_dimensions[i] == 1 && low == 0 && high == 0) continue;
    const int64_t rest = shape[i] - 1;
    const bool full = window.window_dimensions[i] == shape[i];
    const bool one_sided = (low == rest && high == 0) || (low == 0 && high == rest);
    if (scan || !full || !one_sided) return std::nullopt;
    scan = Scan{i, low == 0};
  }
  return scan;
}

// Where padding counts once or many times alike.
bool is_idempotent(ir::Op reducer) {
  return reducer == ir::Op::Maximum || reducer == ir::Op::Minimum || reducer == ir::Op::And || reducer == ir::Op::Or;
}

View without_dimension(const View& view, size_t dimension) {
  View rest = view;
  rest.shape.erase(rest.shape.begin() + static_cast<std::ptrdiff_t>(dimension));
  rest.strides.erase(rest.strides.begin() + static_cast<std::ptrdiff_t>(dimension));
  return rest;
}

/// A scan along one dimension for every line of the others.
struct ScanLines {
  Folder folder;
  Nest lines;        // steps of the operand, then of the result
  int64_t size = 0;  // elements along a line
  int64_t from = 0;  // bytes to the element a line begins with
  int64_t to = 0;
  int64_t from_step = 0;  // bytes
  int64_t to_step = 0;
};

ScanLines make_scan(const Problem& problem, const Scan& scan) {
  const auto& attributes = problem.node.as<Attributes>();
  const View& operand = problem.operands[0];
  const View& result = problem.results[0];
  const View operand_lines = without_dimension(operand, scan.dimension);
  const View result_lines = without_dimension(result, scan.dimension);
  const std::array<const View*, 2> views{&operand_lines, &result_lines};
  ScanLines lines{
      Folder(attributes.reducer, operand.dtype), make_nest(views), operand.shape[scan.dimension], 0, 0, 0, 0};
  lines.from_step = operand.strides[scan.dimension] * operand.item_size();
  lines.to_step = result.strides[scan.dimension] * result.item_size();
  if (!scan.reverse) return lines;
  lines.from = lines.from_step * (lines.size - 1);
  lines.to = lines.to_step * (lines.size - 1);
  lines.from_step = -lines.from_step;
  lines.to_step = -lines.to_step;
  return lines;
}

void scan_along(const ScanLines& scan, std::byte* operand, const std::byte* initial, std::byte* result) {
  const int64_t grain = std::max<int64_t>(1, kGrain / scan.size);
  run_parallel(scan.lines, {operand + scan.from, result + scan.to}, grain,
               [&](int64_t n, std::byte* const* pointers, const int64_t* steps) {
                 for (int64_t i = 0; i < n; ++i) {
                   alignas(16) std::byte accumulator[kMaxAccumulator];
                   scan.folder.start(initial, accumulator);
                   scan.folder.scan(scan.size, pointers[0] + i * steps[0], scan.from_step, accumulator,
                                    pointers[1] + i * steps[1], scan.to_step);
                 }
               });
}

// Neighbouring lines side by side.
void scan_across(const ScanLines& scan, std::byte* operand, const std::byte* initial, std::byte* result) {
  constexpr int64_t kLines = 256;
  const int64_t size = scan.folder.accumulator_size();
  run_parallel(scan.lines, {operand + scan.from, result + scan.to}, kLines,
               [&](int64_t n, std::byte* const* pointers, const int64_t* steps) {
                 alignas(64) std::byte accumulators[kLines * kMaxAccumulator];
                 for (int64_t first = 0; first < n; first += kLines) {
                   const int64_t count = std::min(kLines, n - first);
                   for (int64_t i = 0; i < count; ++i) scan.folder.start(initial, accumulators + i * size);
                   const std::byte* from = pointers[0] + first * steps[0];
                   std::byte* to = pointers[1] + first * steps[1];
                   for (int64_t i = 0; i < scan.size; ++i) {
                     scan.folder.fold_each(count, from + i * scan.from_step, steps[0], accumulators);
                     scan.folder.finish(count, accumulators, to + i * scan.to_step, steps[1]);
                   }
                 }
               });
}

/// A window at every position of the result. Positions in the padding and between dilated elements hold the initial
/// value.
struct Windows {
  Folder folder;
  Attributes attributes;
  View operand, result;

  // The element of the operand at window position `window` of result position `index` in dimension `i`, or nothing.
  std::optional<int64_t> position(size_t i, int64_t index, int64_t window) const {
    const int64_t padded =
        index * attributes.window_strides[i] + window * attributes.window_dilations[i] - attributes.padding_low[i];
    const int64_t element = padded / attributes.base_dilations[i];
    const bool inside = padded >= 0 && padded % attributes.base_dilations[i] == 0 && element < operand.shape[i];
    return inside ? std::optional(element) : std::nullopt;
  }

  void fold_window(const Dims& index, const std::byte* from, const std::byte* initial, std::byte* accumulator) const {
    Dims window(index.size(), 0);
    const int64_t positions = element_count(attributes.window_dimensions);
    for (int64_t count = 0; count < positions; ++count) {
      int64_t offset = 0;
      bool inside = true;
      for (size_t i = 0; i < index.size() && inside; ++i) {
        const std::optional<int64_t> element = position(i, index[i], window[i]);
        inside = element.has_value();
        if (inside) offset += *element * operand.strides[i];
      }
      folder.fold(1, inside ? from + offset * operand.item_size() : initial, 0, accumulator);
      for (size_t i = index.size(); i-- > 0;) {
        if (++window[i] < attributes.window_dimensions[i]) break;
        window[i] = 0;
      }
    }
  }

  void run(const std::byte* from, const std::byte* initial, std::byte* to) const {
    const int64_t work = std::max<int64_t>(1, element_count(attributes.window_dimensions));
    parallel_for(0, result.elements(), std::max<int64_t>(1, kGrain / 8 / work), [&](int64_t begin, int64_t end) {
      Dims index(result.shape.size());
      for (int64_t linear = begin; linear < end; ++linear) {
        int64_t rest = linear;
        int64_t offset = 0;
        for (size_t i = index.size(); i-- > 0; rest /= result.shape[i]) {
          index[i] = rest % result.shape[i];
          offset += index[i] * result.strides[i];
        }
        alignas(16) std::byte accumulator[kMaxAccumulator];
        folder.start(initial, accumulator);
        fold_window(index, from, initial, accumulator);
        folder.finish(1, accumulator, to + offset * result.item_size(), 0);
      }
    });
  }
};

}  // namespace

Kernel reduce_window_kernel(const Problem& problem) {
  const auto& attributes = problem.node.as<Attributes>();
  const View& operand = problem.operands[0];
  const Windows windows{Folder(attributes.reducer, operand.dtype), attributes, operand, problem.results[0]};
  const auto general = [windows](std::byte* const* operands, std::byte* const* results) {
    windows.run(operands[0], operands[1], results[0]);
  };
  const std::optional<Scan> scan = recognise_scan(attributes, operand.shape);
  if (!scan || operand.elements() == 0) return general;
  const ScanLines lines = make_scan(problem, *scan);
  const bool across =
      lines.lines.dimensions[0].size > 1 && std::abs(lines.lines.dimensions[0].steps[0]) < std::abs(lines.from_step);
  const bool idempotent = is_idempotent(attributes.reducer);
  return [=](std::byte* const* operands, std::byte* const* results) {
    if (!idempotent && !lines.folder.starts_neutral(operands[1])) return general(operands, results);
    if (across) return scan_across(lines, operands[0], operands[1], results[0]);
    scan_along(lines, operands[0], operands[1], results[0]);
  };
}

}  // namespace opentrn::engines::reference
