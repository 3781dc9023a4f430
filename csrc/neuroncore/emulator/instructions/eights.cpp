// The instructions that look for eight values in every partition: max8, nc_find_index8, nc_match_replace8.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "base/workspace.h"
#include "neuroncore/emulator/instructions/types.h"
#include "neuroncore/emulator/nest.h"

namespace opentrn::neuroncore::emulator {

namespace {

constexpr size_t kEight = 8;

// A tile read or written one whole partition at a time.
struct Row {
  Operand operand;
  std::vector<Dimension> dimensions;  // innermost first, one at least
  int64_t elements = 0;
  LoadKernel load = nullptr;
  StoreKernel store = nullptr;
};

Row make_row(const Operand& operand, ComputeType type) {
  Row row{.operand = operand, .dimensions = merged(operand.free), .elements = operand.free_elements()};
  if (row.dimensions.empty()) row.dimensions.push_back({operand.item(), 1});
  row.load = kernels().load(operand.dtype, type);
  row.store = kernels().store(type, operand.dtype);
  return row;
}

template <typename Body>
void for_each_line(const Row& row, std::byte* at, const Body& body) {
  const int64_t line = row.dimensions[0].size;
  for (int64_t done = 0; done < row.elements; done += line) {
    int64_t rest = done / line;
    std::byte* start = at;
    for (size_t i = 1; i < row.dimensions.size(); ++i) {
      start += rest % row.dimensions[i].size * row.dimensions[i].step;
      rest /= row.dimensions[i].size;
    }
    body(done, line, start, row.dimensions[0].step);
  }
}

void read(const Row& row, const Frame& frame, int64_t partition, int64_t item, std::byte* to) {
  std::byte* at = row.operand.at(frame) + partition * row.operand.partition_step;
  for_each_line(row, at, [&](int64_t done, int64_t n, std::byte* from, int64_t step) {
    row.load(n, to + done * item, from, step);
  });
}

void write(const Row& row, const Frame& frame, int64_t partition, int64_t item, const std::byte* from) {
  std::byte* at = row.operand.at(frame) + partition * row.operand.partition_step;
  for_each_line(row, at, [&](int64_t done, int64_t n, std::byte* to, int64_t step) {
    row.store(n, to, step, from + done * item);
  });
}

// Calls `function.operator()<T>()` with the C++ type of an ordered compute type.
template <typename Function>
Kernel visit_ordered(const Request& request, ComputeType type, Function&& function) {
  switch (type) {
    case ComputeType::F32: return function.template operator()<float>();
    case ComputeType::F64: return function.template operator()<double>();
    case ComputeType::I32: return function.template operator()<int32_t>();
    case ComputeType::U32: return function.template operator()<uint32_t>();
    case ComputeType::I64: return function.template operator()<int64_t>();
    case ComputeType::U64: return function.template operator()<uint64_t>();
    default: refuse(request, "complex numbers have no order");
  }
}

// NaN counts as larger than everything, as in PyTorch.
template <typename T>
bool larger(T left, T right) {
  return left > right || (left != left && right == right);
}

template <typename T>
bool same(T left, T right) {
  return left == right || (left != left && right != right);
}

template <typename T>
std::array<T, kEight> eight_largest(const T* values, int64_t n) {
  std::array<T, kEight> best{};
  size_t held = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (held == kEight && !larger(values[i], best[kEight - 1])) continue;
    size_t at = held < kEight ? held++ : kEight - 1;
    for (; at > 0 && larger(values[i], best[at - 1]); --at) best[at] = best[at - 1];
    best[at] = values[i];
  }
  return best;
}

// The k-th slot with a value finds its k-th occurrence.
template <typename T>
std::array<int64_t, kEight> first_indices(const T* data, int64_t n, const T* values) {
  std::array<int64_t, kEight> found;
  found.fill(-1);
  for (int64_t i = 0; i < n; ++i) {
    for (size_t slot = 0; slot < kEight; ++slot) {
      if (found[slot] >= 0 || !same(data[i], values[slot])) continue;
      found[slot] = i;
      break;
    }
  }
  return found;
}

// Slots are processed from the last to the first; each takes the first occurrence that no other slot took.
template <typename T>
void replace_matches(T* data, int64_t n, const T* values, T replacement) {
  std::array<int64_t, kEight> taken;
  size_t count = 0;
  for (size_t slot = kEight; slot-- > 0;) {
    for (int64_t i = 0; i < n; ++i) {
      const auto end = taken.begin() + static_cast<std::ptrdiff_t>(count);
      if (!same(data[i], values[slot]) || std::find(taken.begin(), end, i) != end) continue;
      taken[count++] = i;
      break;
    }
  }
  for (size_t i = 0; i < count; ++i) data[taken[i]] = replacement;
}

void require_eight(const Request& request, const Operand& operand) {
  if (operand.free_elements() != static_cast<int64_t>(kEight)) refuse(request, "a tile of eight values is needed");
}

ComputeType type_of_data(const Request& request) {
  Request data = request;
  data.outputs.clear();
  return compute_type(data);
}

}  // namespace

Kernel prepare_max8(const Request& request) {
  require_eight(request, request.outputs[0]);
  const ComputeType type = compute_type(request);
  return visit_ordered(request, type, [&]<typename T>() -> Kernel {
    const auto in = std::make_shared<const Row>(make_row(request.inputs[0], type));
    const auto out = std::make_shared<const Row>(make_row(request.outputs[0], type));
    return [in, out](const Frame& frame) {
      constexpr auto kItem = static_cast<int64_t>(sizeof(T));
      const Workspace memory(in->elements * kItem);
      for (int64_t p = 0; p < frame.count; ++p) {
        read(*in, frame, p, kItem, memory.data());
        const std::array<T, kEight> best = eight_largest(memory.as<T>(), in->elements);
        write(*out, frame, p, kItem, reinterpret_cast<const std::byte*>(best.data()));
      }
    };
  });
}

Kernel prepare_find_index8(const Request& request) {
  require_eight(request, request.outputs[0]);
  require_eight(request, request.inputs[1]);
  const ComputeType type = type_of_data(request);
  return visit_ordered(request, type, [&]<typename T>() -> Kernel {
    const auto data = std::make_shared<const Row>(make_row(request.inputs[0], type));
    const auto values = std::make_shared<const Row>(make_row(request.inputs[1], type));
    const auto out = std::make_shared<const Row>(make_row(request.outputs[0], ComputeType::I64));
    return [data, values, out](const Frame& frame) {
      constexpr auto kItem = static_cast<int64_t>(sizeof(T));
      const Workspace memory(data->elements * kItem);
      for (int64_t p = 0; p < frame.count; ++p) {
        std::array<T, kEight> wanted;
        read(*data, frame, p, kItem, memory.data());
        read(*values, frame, p, kItem, reinterpret_cast<std::byte*>(wanted.data()));
        const auto found = first_indices(memory.as<T>(), data->elements, wanted.data());
        write(*out, frame, p, 8, reinterpret_cast<const std::byte*>(found.data()));
      }
    };
  });
}

Kernel prepare_match_replace8(const Request& request) {
  require_eight(request, request.inputs[1]);
  if (!request.instruction.has_scalar0) refuse(request, "a scalar is missing");
  const ComputeType type = compute_type(request);
  return visit_ordered(request, type, [&]<typename T>() -> Kernel {
    T replacement;
    std::memcpy(&replacement, converted(request.instruction.scalars[0], type).bytes.data(), sizeof(T));
    const auto data = std::make_shared<const Row>(make_row(request.inputs[0], type));
    const auto values = std::make_shared<const Row>(make_row(request.inputs[1], type));
    const auto out = std::make_shared<const Row>(make_row(request.outputs[0], type));
    return [data, values, out, replacement](const Frame& frame) {
      constexpr auto kItem = static_cast<int64_t>(sizeof(T));
      const Workspace memory(data->elements * kItem);
      for (int64_t p = 0; p < frame.count; ++p) {
        std::array<T, kEight> wanted;
        read(*data, frame, p, kItem, memory.data());
        read(*values, frame, p, kItem, reinterpret_cast<std::byte*>(wanted.data()));
        replace_matches(memory.as<T>(), data->elements, wanted.data(), replacement);
        write(*out, frame, p, kItem, memory.data());
      }
    };
  });
}

}  // namespace opentrn::neuroncore::emulator
