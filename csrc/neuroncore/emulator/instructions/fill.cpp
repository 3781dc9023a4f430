// Instructions without inputs: memset and iota.
#include <algorithm>
#include <array>
#include <memory>

#include "neuroncore/emulator/instructions/types.h"
#include "neuroncore/emulator/nest.h"

namespace opentrn::neuroncore::emulator {

namespace {

struct Memset {
  Operand out;
  Nest nest;
  CopyKernel copy = nullptr;
  alignas(16) std::array<std::byte, 16> value{};
};

void run_memset(const Memset& work, const Frame& frame) {
  const Addresses addresses{address(work.out.at(frame))};
  const int64_t row = work.nest.dimensions[1].steps[0];
  const int64_t column = work.nest.dimensions[0].steps[0];
  for_each_plane(work.nest, frame, addresses, [&](int64_t rows, int64_t columns, const Addresses& at) {
    work.copy(rows, columns, pointer(at[0]), row, column, work.value.data(), 0, 0);
  });
}

struct Iota {
  Operand out, affine;
  Nest nest;
  bool narrow = true;  // 32-bit integers, as the chip has them
  StoreKernel store = nullptr;
};

constexpr int64_t kChunk = 512;

void run_iota(const Iota& work, const Frame& frame) {
  const Addresses addresses{address(work.out.at(frame)), work.affine.displacement(frame)};
  const Addresses& row_steps = work.nest.dimensions[1].steps;
  const Addresses& steps = work.nest.dimensions[0].steps;
  const auto fill = [&](int64_t n, const Addresses& at) {
    alignas(64) std::array<int64_t, kChunk> values;
    if (work.narrow) {
      auto* narrow = reinterpret_cast<int32_t*>(values.data());
      for (int64_t i = 0; i < n; ++i) narrow[i] = static_cast<int32_t>(at[1] + i * steps[1]);
    } else {
      for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = at[1] + i * steps[1];
    }
    work.store(n, pointer(at[0]), steps[0], reinterpret_cast<const std::byte*>(values.data()));
  };
  for_each_plane(work.nest, frame, addresses, [&](int64_t rows, int64_t columns, Addresses at) {
    for (int64_t row = 0; row < rows; ++row) {
      Addresses chunk = at;
      for (int64_t done = 0; done < columns; done += kChunk) {
        fill(std::min(kChunk, columns - done), chunk);
        advance(chunk, steps, kChunk);
      }
      advance(at, row_steps, 1);
    }
  });
}

Immediate as_element(const Immediate& value, DType dtype) {
  if (value.dtype == dtype) return value;
  const ComputeType type = is_complex(dtype)    ? ComputeType::C128
                           : is_integral(dtype) ? ComputeType::I64
                                                : ComputeType::F64;
  // The bytes of an immediate are not aligned.
  alignas(16) const std::array<std::byte, 16> wide = converted(value, type).bytes;
  alignas(16) std::array<std::byte, 16> result{};
  kernels().store(type, dtype)(1, result.data(), 0, wide.data());
  return {.dtype = dtype, .bytes = result};
}

}  // namespace

Kernel prepare_memset(const Request& request) {
  if (!request.instruction.has_scalar0) refuse(request, "a scalar is missing");
  const Operand& out = request.outputs[0];
  const std::array<const Operand*, 1> operands{&out};
  Memset work{.out = out, .nest = *make_nest(operands, {.whole = request.whole})};
  work.copy = kernels().copy(out.item());
  work.value = as_element(request.instruction.scalars[0], out.dtype).bytes;
  return [work = std::make_shared<const Memset>(std::move(work))](const Frame& frame) { run_memset(*work, frame); };
}

Kernel prepare_iota(const Request& request) {
  const Operand& out = request.outputs[0];
  const Operand affine = affine_operand(request);
  const std::array<const Operand*, 2> operands{&out, &affine};
  Iota work{.out = out, .affine = affine, .nest = *make_nest(operands, {.whole = request.whole})};
  work.narrow = is_integral(out.dtype) ? out.item() < 8 : out.item() < 8 || out.dtype == DType::C64;
  work.store = kernels().store(work.narrow ? ComputeType::I32 : ComputeType::I64, out.dtype);
  return [work = std::make_shared<const Iota>(std::move(work))](const Frame& frame) { run_iota(*work, frame); };
}

}  // namespace opentrn::neuroncore::emulator
