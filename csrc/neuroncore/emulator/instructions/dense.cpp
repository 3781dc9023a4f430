#include "neuroncore/emulator/instructions/dense.h"

#include <array>

namespace opentrn::neuroncore::emulator {

DenseTile::DenseTile(const Operand& operand, bool whole)
    : item_(operand.item()), copy_(kernels().copy(operand.item())) {
  make(operand, whole);
}

DenseTile::DenseTile(const Operand& operand, ComputeType type) : item_(size_of(type)) {
  if (operand.dtype == dtype_of(type)) {
    copy_ = kernels().copy(item_);
  } else {
    load_ = kernels().load(operand.dtype, type);
    store_ = kernels().store(type, operand.dtype);
  }
  make(operand, true);
}

void DenseTile::make(const Operand& operand, bool whole) {
  operand_ = operand;
  Operand dense = operand;
  dense.partition_step = operand.free_elements() * item_;
  dense.free = {{item_, operand.free_elements()}};
  const std::array<const Operand*, 2> operands{&dense, &operand_};
  nest_ = *make_nest(operands, {.whole = whole});  // a dense pattern can be cut as any other
}

void DenseTile::read(const Frame& frame, std::byte* to) const {
  const Addresses& row = nest_.dimensions[1].steps;
  const Addresses& column = nest_.dimensions[0].steps;
  const Addresses addresses{address(to), address(operand_.at(frame))};
  for_each_plane(nest_, frame, addresses, [&](int64_t rows, int64_t columns, const Addresses& at) {
    if (load_ == nullptr)
      return copy_(rows, columns, pointer(at[0]), row[0], column[0], pointer(at[1]), row[1], column[1]);
    for (int64_t r = 0; r < rows; ++r) {
      std::byte* out = pointer(at[0] + r * row[0]);
      const std::byte* in = pointer(at[1] + r * row[1]);
      if (column[0] == item_) {
        load_(columns, out, in, column[1]);
        continue;
      }
      for (int64_t c = 0; c < columns; ++c) load_(1, out + c * column[0], in + c * column[1], 0);
    }
  });
}

void DenseTile::write(const Frame& frame, const std::byte* from) const {
  const Addresses& row = nest_.dimensions[1].steps;
  const Addresses& column = nest_.dimensions[0].steps;
  const Addresses addresses{address(from), address(operand_.at(frame))};
  for_each_plane(nest_, frame, addresses, [&](int64_t rows, int64_t columns, const Addresses& at) {
    if (store_ == nullptr)
      return copy_(rows, columns, pointer(at[1]), row[1], column[1], pointer(at[0]), row[0], column[0]);
    for (int64_t r = 0; r < rows; ++r) {
      const std::byte* in = pointer(at[0] + r * row[0]);
      std::byte* out = pointer(at[1] + r * row[1]);
      if (column[0] == item_) {
        store_(columns, out, column[1], in);
        continue;
      }
      for (int64_t c = 0; c < columns; ++c) store_(1, out + c * column[1], 0, in + c * column[0]);
    }
  });
}

}  // namespace opentrn::neuroncore::emulator
