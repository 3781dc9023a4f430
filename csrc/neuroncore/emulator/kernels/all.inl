// The kernels of one instruction set, in the order they build on each other.

// clang-format off
#include "base/vector_math.inl"
#include "neuroncore/emulator/kernels/types.inl"
#include "neuroncore/emulator/kernels/convert.inl"
#include "neuroncore/emulator/kernels/alu.inl"
#include "neuroncore/emulator/kernels/power.inl"
#include "neuroncore/emulator/kernels/alu_table.inl"
#include "neuroncore/emulator/kernels/activation.inl"
#include "neuroncore/emulator/kernels/reduce.inl"
#include "neuroncore/emulator/kernels/dot.inl"
#include "neuroncore/emulator/kernels/copy.inl"
#include "neuroncore/emulator/kernels/matmul_tile.inl"
#include "neuroncore/emulator/kernels/matmul_sides.inl"
#include "neuroncore/emulator/kernels/matmul_pack.inl"
#include "neuroncore/emulator/kernels/matmul_dot.inl"
#include "neuroncore/emulator/kernels/matmul.inl"
#include "neuroncore/emulator/kernels/matmul_chain.inl"
#include "neuroncore/emulator/kernels/matmul_table.inl"
// clang-format on

inline constexpr KernelTable table_named(std::string_view name) {
  return {.instruction_set = name,
          .load = find_load,
          .store = find_store,
          .binary = find_binary,
          .unary = find_unary,
          .activation = find_activation,
          .reduce = find_reduce,
          .dot = find_dot,
          .copy = find_copy,
          .matmul = find_matmul,
          .chain = find_chain};
}
