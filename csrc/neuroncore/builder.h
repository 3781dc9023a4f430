// Builds programs: one method per instruction, destination first, as in NKI. The compiler uses it, and so will the NKI
// front end. Methods only record; the checker judges.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/index_check.h"
#include "neuroncore/program.h"

namespace opentrn::neuroncore {

Immediate immediate(DType dtype, double value);
Immediate immediate(DType dtype, int64_t value);

/// A scalar operand: absent, a number in the instruction, or a [P,1] tile. An absent scale is 1, an absent bias 0.
using ScalarOperand = std::variant<std::monostate, Immediate, Access>;

class Builder {
 public:
  explicit Builder(std::string name, std::string target);

  /// The result may lie in the memory of the parameter.
  void share(int32_t result, int32_t parameter) { program_.shared.push_back({result, parameter}); }
  int32_t parameter(int32_t index, DType dtype, int64_t elements);
  int32_t result(int32_t index, DType dtype, int64_t elements);
  int32_t constant(DType dtype, std::vector<std::byte> data);
  int32_t hbm(DType dtype, int64_t elements, std::string name = "");
  int32_t sbuf(DType dtype, int64_t partitions, int64_t elements, int copies = 1, std::string name = "");
  int32_t psum(DType dtype, int64_t partitions, int64_t elements, int copies = 1, std::string name = "");

  /// The whole tile, contiguous: [partitions, elements].
  Access tile(int32_t buffer) const;
  /// The first `partitions` partitions and `elements` elements of a tile.
  Access tile(int32_t buffer, PatternDimension partitions, PatternDimension elements) const;
  /// An access to HBM: outermost dimension (the partitions) first.
  Access hbm_access(int32_t buffer, int64_t offset, std::vector<Term> terms,
                    std::vector<PatternDimension> pattern) const;

  /// Opens a loop; statements go into it until `end_loop`. Returns its number, for terms and tails.
  int32_t begin_loop(int64_t count, bool independent);
  void end_loop();
  int32_t new_register() { return program_.registers++; }

  Instruction& nc_matmul(Access dst, Access stationary, Access moving, bool accumulate);
  Instruction& nc_transpose(Access dst, Access data, Engine engine);
  Instruction& tensor_tensor(Access dst, Access data1, Access data2, AluOp op, Engine engine = Engine::Vector);
  Instruction& tensor_scalar(Access dst, Access data, AluOp op0, ScalarOperand operand0, bool reverse0 = false,
                             AluOp op1 = AluOp::Bypass, ScalarOperand operand1 = {}, bool reverse1 = false,
                             Engine engine = Engine::Vector);
  Instruction& scalar_tensor_tensor(Access dst, Access data, AluOp op0, ScalarOperand operand0, AluOp op1,
                                    Access operand1, bool reverse0 = false, bool reverse1 = false);
  /// On Scalar, or on GpSimd when the function is a custom operator.
  Instruction& activation(Access dst, ActivationFunction function, Access data, ScalarOperand scale = {},
                          ScalarOperand bias = {});
  Instruction& activation_reduce(Access dst, Access sum, ActivationFunction function, Access data,
                                 ScalarOperand scale = {}, ScalarOperand bias = {});
  Instruction& tensor_reduce(Access dst, AluOp op, Access data, int reduced_dimensions, Engine engine = Engine::Vector);
  Instruction& tensor_partition_reduce(Access dst, AluOp op, Access data);
  Instruction& tensor_tensor_scan(Access dst, Access data0, Access data1, ScalarOperand initial, AluOp op0, AluOp op1);
  Instruction& tensor_copy(Access dst, Access src, Engine engine = Engine::Vector);
  Instruction& tensor_copy_predicated(Access dst, Access predicate, Access src);
  Instruction& select_reduce(Access dst, Access predicate, Access on_true, ScalarOperand on_false);
  Instruction& memset(Access dst, Immediate value, Engine engine = Engine::Vector);
  Instruction& iota(Access dst, int64_t base, int64_t channel_multiplier, std::vector<int64_t> steps);
  Instruction& affine_select(Access dst, Access on_true, Immediate on_false, AluOp compare, int64_t base,
                             int64_t channel_multiplier, std::vector<int64_t> steps);
  Instruction& max8(Access dst, Access src);
  Instruction& nc_find_index8(Access dst, Access data, Access values);
  Instruction& nc_match_replace8(Access dst, Access data, Access values, Immediate replacement);
  Instruction& nc_stream_shuffle(Access dst, Access src, std::vector<int64_t> mask);
  Instruction& dma_copy(Access dst, Access src, Engine engine = Engine::Sync);
  Instruction& register_load(int32_t register_index, Access src);
  Instruction& checked_index(Access dst, Access index, IndexCheck check);
  Instruction& check(Access predicate, std::string message);
  Instruction& library_call(LibraryCall call, std::vector<Access> outputs, std::vector<Access> inputs);

  const Buffer& buffer(int32_t id) const { return program_.buffers[static_cast<size_t>(id)]; }
  Program finish();

 private:
  int32_t add_buffer(Buffer buffer);
  int32_t add_text(std::string text);
  Instruction& append(Opcode opcode, Engine engine, std::vector<Access> outputs, std::vector<Access> inputs);
  static void set_scalar(Instruction& instruction, int position, ScalarOperand scalar);

  Program program_;
  std::vector<int32_t> open_loops_;
};

}  // namespace opentrn::neuroncore
