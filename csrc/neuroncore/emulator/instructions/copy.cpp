// Copies between equal types: bit patterns, moved in planes of two dimensions.
#include <array>

#include "neuroncore/emulator/instructions/prepare.h"
#include "neuroncore/emulator/nest.h"

namespace opentrn::neuroncore::emulator {

namespace {

struct Copy {
  Operand out, in;
  Nest nest;
  CopyKernel kernel = nullptr;
};

void run(const Copy& copy, const Frame& frame) {
  const Addresses& row = copy.nest.dimensions[1].steps;
  const Addresses& column = copy.nest.dimensions[0].steps;
  const Addresses addresses{address(copy.out.at(frame)), address(copy.in.at(frame))};
  for_each_plane(copy.nest, frame, addresses, [&](int64_t rows, int64_t columns, const Addresses& at) {
    copy.kernel(rows, columns, pointer(at[0]), row[0], column[0], pointer(at[1]), row[1], column[1]);
  });
}

}  // namespace

Kernel prepare_copy(const Operand& out, const Operand& in, bool whole) {
  const std::array<const Operand*, 2> operands{&out, &in};
  auto nest = make_nest(operands, {.whole = whole});
  if (!nest) return {};
  return [copy = Copy{out, in, std::move(*nest), kernels().copy(out.item())}](const Frame& frame) { run(copy, frame); };
}

}  // namespace opentrn::neuroncore::emulator
