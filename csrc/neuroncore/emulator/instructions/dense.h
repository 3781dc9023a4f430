// Tiles laid out densely, [partitions][free elements] in logical order: for instructions whose kernels cannot follow
// the pattern of an operand.
#pragma once

#include <optional>

#include "neuroncore/emulator/kernels.h"
#include "neuroncore/emulator/nest.h"

namespace opentrn::neuroncore::emulator {

class DenseTile {
 public:
  /// Elements as they are; the partitions of the frame only unless `whole`.
  explicit DenseTile(const Operand& operand, bool whole = true);
  /// Elements converted to `type`.
  DenseTile(const Operand& operand, ComputeType type);

  int64_t bytes() const { return operand_.partitions * operand_.free_elements() * item_; }
  int64_t item() const { return item_; }
  void read(const Frame& frame, std::byte* to) const;
  void write(const Frame& frame, const std::byte* from) const;

 private:
  void make(const Operand& operand, bool whole);

  Operand operand_;
  Nest nest_;  // operands: the dense side, then the tile
  int64_t item_ = 0;
  CopyKernel copy_ = nullptr;
  LoadKernel load_ = nullptr;
  StoreKernel store_ = nullptr;
};

}  // namespace opentrn::neuroncore::emulator
