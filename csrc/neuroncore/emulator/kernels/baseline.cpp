// The instruction set every machine of its architecture has.
#include "neuroncore/emulator/kernels/prelude.h"

namespace opentrn::neuroncore::emulator {

namespace {

// clang-format off
#include "neuroncore/emulator/kernels/vectors_plain.inl"
#include "neuroncore/emulator/kernels/all.inl"
// clang-format on

}  // namespace

const KernelTable& baseline_kernels() {
#if defined(__x86_64__)
  static constexpr KernelTable table = table_named("baseline");
#else
  static constexpr KernelTable table = table_named("portable");
#endif
  return table;
}

}  // namespace opentrn::neuroncore::emulator
