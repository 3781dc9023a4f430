// Preparing instructions: each family turns an instruction with resolved operands into a kernel.
#pragma once

#include <span>
#include <vector>

#include "neuroncore/emulator/kernels.h"
#include "neuroncore/emulator/operand.h"
#include "neuroncore/program.h"

namespace opentrn::neuroncore::emulator {

/// An instruction for one case of the tails. Operands are in the order of the instruction; `whole` says that every
/// frame asks for all partitions.
struct Request {
  const Program& program;
  const Instruction& instruction;
  int32_t number = 0;  // of the instruction
  std::vector<Operand> outputs;
  std::vector<Operand> inputs;
  bool whole = true;
};

/// Any instruction. Instructions on nothing (a size is 0) give an empty kernel.
Kernel prepare(Request request);

/// Which values the instructions of a strip leave unread.
class StripValues {
 public:
  /// `local`: the tiles that nothing outside of the strip uses.
  StripValues(std::span<const Request> requests, std::span<const int32_t> local) : requests_(requests), local_(local) {}

  /// True when no instruction from number `end` on reads what instruction `writer` wrote to its only output.
  bool is_dead(size_t writer, size_t end) const;

 private:
  std::span<const Request> requests_;
  std::span<const int32_t> local_;
};

/// Instructions with one output, computed element by element from inputs alone, none of them a mere copy.
bool is_element_wise(const Request& request);

/// A multiplication and the sum of its products as one kernel; else an empty kernel. Nothing else may use the products.
Kernel prepare_dot(const Request& product, const Request& sum);

/// Consecutive element-wise instructions as one kernel: what only they read is never written.
struct Chain {
  Kernel kernel;            // empty when there is no chain
  size_t instructions = 0;  // how many it stands for
};

/// The longest chain of requests from number `first` on that ends before `end`.
Chain prepare_chain(std::span<const Request> requests, size_t first, size_t end, const StripValues& values);

/// True for instructions that compute each partition from the same partition of their operands.
bool works_by_partition(const Instruction& instruction);

// One function per family of instructions.
Kernel prepare_elementwise(const Request& request);  // tensor_tensor, tensor_scalar, ..., and converting copies
Kernel prepare_activation_reduce(const Request& request);
Kernel prepare_copy(const Operand& out, const Operand& in, bool whole);
Kernel prepare_select(const Request& request);  // tensor_copy_predicated, select_reduce, affine_select
Kernel prepare_memset(const Request& request);
Kernel prepare_iota(const Request& request);
Kernel prepare_reduce(const Request& request);
Kernel prepare_partition_reduce(const Request& request);
Kernel prepare_scan(const Request& request);
Kernel prepare_max8(const Request& request);
Kernel prepare_find_index8(const Request& request);
Kernel prepare_match_replace8(const Request& request);
Kernel prepare_matmul(const Request& request);
Kernel prepare_transpose(const Request& request);
Kernel prepare_shuffle(const Request& request);
Kernel prepare_dma(const Request& request);
Kernel prepare_register_load(const Request& request);
Kernel prepare_checked_index(const Request& request);
Kernel prepare_check(const Request& request);
Kernel prepare_library_call(const Request& request);

/// "nc_matmul #12", for errors.
std::string where(const Request& request);

/// A fault of the program that the checker should have refused.
[[noreturn]] void refuse(const Request& request, const char* what);

}  // namespace opentrn::neuroncore::emulator
