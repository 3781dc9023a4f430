// Making and moving data: everything that is not a mere change of strides.
#include <algorithm>
#include <cstring>

#include "engines/reference/buffer.h"
#include "engines/reference/copy.h"
#include "engines/reference/kernel.h"
#include "engines/reference/loops.h"

namespace opentrn::engines::reference {

namespace {

View fill_view(const View& destination, DType dtype) {
  return {dtype, destination.shape, Dims(destination.shape.size(), 0), 0};
}

int64_t byte_offset(const View& view, const Dims& index) {
  int64_t elements = 0;
  for (size_t i = 0; i < index.size(); ++i) elements += index[i] * view.strides[i];
  return elements * view.item_size();
}

// The offset in bytes of a window whose start indices are only known at run time; they are moved so that it fits.
struct WindowStart {
  View view;
  Dims window;
  std::vector<DType> index_dtypes;

  int64_t operator()(std::byte* const* indices) const {
    int64_t elements = 0;
    for (size_t i = 0; i < window.size(); ++i) {
      const int64_t start = read_integer(indices[i], index_dtypes[i]);
      elements += std::clamp<int64_t>(start, 0, view.shape[i] - window[i]) * view.strides[i];
    }
    return elements * view.item_size();
  }
};

WindowStart window_start(const View& view, const Dims& window, std::span<const View> indices) {
  WindowStart start{view, window, {}};
  for (const View& index : indices) start.index_dtypes.push_back(index.dtype);
  return start;
}

// Where the elements of a padded operand go: a strided window of the result, less what negative padding cuts off.
struct PaddedInterior {
  View source, destination;
};

int64_t ceil_divide(int64_t numerator, int64_t denominator) {
  return numerator <= 0 ? 0 : (numerator + denominator - 1) / denominator;
}

PaddedInterior padded_interior(const View& operand, const View& result, const ir::PadAttributes& pad) {
  PaddedInterior interior{operand, result};
  Dims first(operand.shape.size()), target(operand.shape.size());
  for (size_t i = 0; i < operand.shape.size(); ++i) {
    const int64_t step = pad.interior_padding[i] + 1;
    const int64_t low = pad.edge_padding_low[i];
    first[i] = ceil_divide(-low, step);
    target[i] = low + first[i] * step;
    const int64_t end = std::min(operand.shape[i], ceil_divide(result.shape[i] - low, step));
    interior.source.shape[i] = interior.destination.shape[i] = std::max<int64_t>(0, end - first[i]);
    interior.destination.strides[i] = result.strides[i] * step;
  }
  const bool empty = interior.source.elements() == 0;
  interior.source.offset = empty ? 0 : byte_offset(operand, first);
  interior.destination.offset = empty ? 0 : byte_offset(result, target);
  return interior;
}

template <typename T>
void iota_elements(int64_t size, int64_t step, std::byte* to, int64_t first) {
  for (int64_t i = 0; i < size; ++i) *as<T>(to + i * step) = static_cast<T>(first + i);
}

using IotaRow = void (*)(int64_t size, int64_t step, std::byte* to, int64_t first);

// Counts in the type itself, or in one that converts to it exactly where the type can hold the number at all.
IotaRow iota_row(DType dtype) {
  switch (dtype) {
    case DType::U8:
    case DType::I8: return iota_elements<uint8_t>;
    case DType::U16:
    case DType::I16: return iota_elements<uint16_t>;
    case DType::U32:
    case DType::I32: return iota_elements<uint32_t>;
    case DType::U64:
    case DType::I64: return iota_elements<uint64_t>;
    case DType::F32: return iota_elements<float>;
    case DType::F64: return iota_elements<double>;
    default: return nullptr;
  }
}

}  // namespace

void raise_unsupported(std::string_view primitive, DType dtype) {
  raise(ErrorKind::NotImplemented, {.where = std::string(primitive),
                                    .what = "not defined for this element type",
                                    .got = std::string(name(dtype)),
                                    .action = "convert the operand first"});
}

int64_t read_integer(const std::byte* address, DType dtype) {
  const auto read = [address]<typename T>() {
    T value;
    std::memcpy(&value, address, sizeof(T));
    return static_cast<int64_t>(value);
  };
  switch (dtype) {
    case DType::Bool:
    case DType::U8: return read.operator()<uint8_t>();
    case DType::I8: return read.operator()<int8_t>();
    case DType::U16: return read.operator()<uint16_t>();
    case DType::I16: return read.operator()<int16_t>();
    case DType::U32: return read.operator()<uint32_t>();
    case DType::I32: return read.operator()<int32_t>();
    case DType::U64:  // beyond int64 every index is out of range alike
      return static_cast<int64_t>(std::min<uint64_t>(static_cast<uint64_t>(read.operator()<uint64_t>()), INT64_MAX));
    default: return read.operator()<int64_t>();
  }
}

Kernel bitcast_kernel(const Problem& problem) {
  // Another width: the smaller type has one more dimension, whose elements make up one of the larger.
  const View& operand = problem.operands[0];
  const View& result = problem.results[0];
  const View packed_operand = ir::contiguous_view({operand.dtype, operand.shape});
  const View packed_result = ir::contiguous_view({result.dtype, result.shape});
  const int64_t bytes = operand.elements() * operand.item_size();
  return [pack = StridedCopy(operand, packed_operand), unpack = StridedCopy(packed_result, result), bytes](
             std::byte* const* operands, std::byte* const* results) {
    const Workspace packed(bytes);
    pack(operands[0], packed.data());
    unpack(packed.data(), results[0]);
  };
}

Kernel concatenate_kernel(const Problem& problem) {
  const auto dimension = static_cast<size_t>(problem.node.as<ir::ConcatenateAttributes>().dimension);
  struct Part {
    StridedCopy copy;
    int64_t offset;
  };
  std::vector<Part> parts;
  const View& result = problem.results[0];
  int64_t position = 0;
  for (const View& operand : problem.operands) {
    const int64_t offset = position * result.strides[dimension] * result.item_size();
    parts.push_back({StridedCopy(operand, window_view(result, operand.shape)), operand.elements() == 0 ? 0 : offset});
    position += operand.shape[dimension];
  }
  return [parts = std::move(parts)](std::byte* const* operands, std::byte* const* results) {
    for (size_t i = 0; i < parts.size(); ++i) parts[i].copy(operands[i], results[0] + parts[i].offset);
  };
}

Kernel dynamic_slice_kernel(const Problem& problem) {
  const View& operand = problem.operands[0];
  const View& result = problem.results[0];
  const StridedCopy copy(window_view(operand, result.shape), result);
  const WindowStart start = window_start(operand, result.shape, problem.operands.subspan(1));
  return [copy, start](std::byte* const* operands, std::byte* const* results) {
    copy(operands[0] + start(operands + 1), results[0]);
  };
}

Kernel dynamic_update_slice_kernel(const Problem& problem) {
  const View& operand = problem.operands[0];
  const View& update = problem.operands[1];
  const View& result = problem.results[0];
  const StridedCopy keep(operand, result);
  const StridedCopy write(update, window_view(result, update.shape));
  const WindowStart start = window_start(result, update.shape, problem.operands.subspan(2));
  View at_result = operand;
  at_result.offset = result.offset;
  const bool may_be_in_place = same_places(at_result, result);
  return [keep, write, start, may_be_in_place](std::byte* const* operands, std::byte* const* results) {
    const int64_t offset = start(operands + 2);
    if (!may_be_in_place || operands[0] != results[0]) keep(operands[0], results[0]);
    write(operands[1], results[0] + offset);
  };
}

Kernel iota_kernel(const Problem& problem) {
  const View& result = problem.results[0];
  const auto dimension = static_cast<size_t>(problem.node.as<ir::IotaAttributes>().iota_dimension);
  const int64_t size = result.shape[dimension];
  // Counts once into a row, then repeats it along the other dimensions with the conversion the element type needs.
  const bool by_float = iota_row(result.dtype) == nullptr && result.dtype != DType::C128;
  const DType counted = iota_row(result.dtype) != nullptr ? result.dtype : by_float ? DType::F32 : DType::F64;
  View row{counted, result.shape, Dims(result.shape.size(), 0), 0};
  row.strides[dimension] = 1;
  const int64_t item_size = size_of(counted);
  return [copy = StridedCopy(row, result), count = iota_row(counted), size, item_size](std::byte* const*,
                                                                                       std::byte* const* results) {
    const Workspace numbers(size * item_size);
    count(size, item_size, numbers.data(), 0);
    copy(numbers.data(), results[0]);
  };
}

Kernel pad_kernel(const Problem& problem) {
  const View& operand = problem.operands[0];
  const View& result = problem.results[0];
  const StridedCopy fill(fill_view(result, result.dtype), result);
  const PaddedInterior interior = padded_interior(operand, result, problem.node.as<ir::PadAttributes>());
  const StridedCopy copy(interior.source, interior.destination);
  const int64_t from = interior.source.offset;
  const int64_t to = interior.destination.offset;
  return [fill, copy, from, to](std::byte* const* operands, std::byte* const* results) {
    fill(operands[1], results[0]);
    copy(operands[0] + from, results[0] + to);
  };
}

}  // namespace opentrn::engines::reference
