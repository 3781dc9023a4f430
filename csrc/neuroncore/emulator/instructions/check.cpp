// checked_index and check: custom operators of GpSimd that end the program with an error.
#include <array>
#include <memory>

#include "base/index_check.h"
#include "neuroncore/emulator/instructions/prepare.h"
#include "neuroncore/emulator/nest.h"

namespace opentrn::neuroncore::emulator {

namespace {

const std::string& text_of(const Request& request) {
  const int32_t text = request.instruction.text;
  if (text < 0 || static_cast<size_t>(text) >= request.program.texts.size()) refuse(request, "it has no text");
  return request.program.texts[static_cast<size_t>(text)];
}

struct Indices {
  Operand out, in;
  Nest nest;
  IndexCheck check;
};

template <typename T>
void run(const Indices& indices, const Frame& frame) {
  const Addresses& row = indices.nest.dimensions[1].steps;
  const Addresses& column = indices.nest.dimensions[0].steps;
  const Addresses addresses{address(indices.out.at(frame)), address(indices.in.at(frame))};
  for_each_plane(indices.nest, frame, addresses, [&](int64_t rows, int64_t columns, const Addresses& at) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        const T index = *reinterpret_cast<const T*>(pointer(at[1] + r * row[1] + c * column[1]));
        *reinterpret_cast<T*>(pointer(at[0] + r * row[0] + c * column[0])) =
            static_cast<T>(checked(indices.check, index));
      }
    }
  });
}

struct Predicate {
  Operand in;
  Nest nest;
  std::string message;
};

void run(const Predicate& predicate, const Frame& frame) {
  const int64_t row = predicate.nest.dimensions[1].steps[0];
  const int64_t column = predicate.nest.dimensions[0].steps[0];
  for_each_plane(predicate.nest, frame, {address(predicate.in.at(frame))},
                 [&](int64_t rows, int64_t columns, const Addresses& at) {
                   for (int64_t r = 0; r < rows; ++r) {
                     for (int64_t c = 0; c < columns; ++c) {
                       if (*pointer(at[0] + r * row + c * column) == std::byte{0})
                         raise_failed_check(predicate.message);
                     }
                   }
                 });
}

}  // namespace

Kernel prepare_checked_index(const Request& request) {
  const Operand& out = request.outputs[0];
  const Operand& in = request.inputs[0];
  const DType dtype = in.dtype;
  const bool is_index = dtype == DType::I32 || dtype == DType::I64;
  if (!is_index || out.dtype != dtype) refuse(request, "an index is an int32 or int64, and stays one");
  if (request.instruction.integers.size() != 3) refuse(request, "size, dimension and rule are missing");
  const std::array<const Operand*, 2> operands{&out, &in};
  // In order: the error names the first index that is wrong.
  auto nest = make_nest(operands, {.whole = request.whole, .reorder = false});
  if (!nest) return {};
  const auto work = std::make_shared<const Indices>(
      Indices{out, in, std::move(*nest), make_index_check(request.instruction.integers, text_of(request))});
  if (dtype == DType::I32) return [work](const Frame& frame) { run<int32_t>(*work, frame); };
  return [work](const Frame& frame) { run<int64_t>(*work, frame); };
}

Kernel prepare_check(const Request& request) {
  const Operand& in = request.inputs[0];
  if (in.item() != 1) refuse(request, "a predicate has one byte");
  const std::array<const Operand*, 1> operands{&in};
  auto nest = make_nest(operands, {.whole = request.whole});
  if (!nest) refuse(request, "the predicate has too many dimensions");
  const auto work = std::make_shared<const Predicate>(Predicate{in, std::move(*nest), text_of(request)});
  return [work](const Frame& frame) { run(*work, frame); };
}

}  // namespace opentrn::neuroncore::emulator
