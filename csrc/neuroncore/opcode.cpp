#include "neuroncore/opcode.h"

#include <array>

#include "neuroncore/checker/rules.h"
#include "neuroncore/cost.h"

namespace opentrn::neuroncore {

namespace {

constexpr std::array<std::string_view, 5> kEngineNames{"tensor", "vector", "scalar", "gpsimd", "sync"};

// AWS Neuron documentation, "NKI ISA" (engines, operands, limits; costs from the reference of SDK 2.26). A custom
// operator of the GpSimd cores is a program, not a unit: its cost is an estimate. N elements per partition, MIN = 64
// cycles.
constexpr std::array<OpcodeInfo, 25> kOpcodes{{
    {Opcode::NcMatmul, "nc_matmul", "T", 2, 2, 1, 1, "dst[M,N] PSUM, stationary[K,M] SBUF, moving[K,N] SBUF",
     "dst (+)= stationary^T x moving, accumulated in float32",
     "K, M <= 128; N <= 512 (v4: 4096); float32 only with float32; dst float32 (v4: or bfloat16), in one PSUM bank "
     "(v4: any)",
     "max(N, min(64, M)), 4x for float32", checker::nc_matmul, cost::matmul},
    {Opcode::NcTranspose, "nc_transpose", "TV", 1, 1, 1, 1,
     "T: dst[F,P] PSUM, data[P,F] SBUF; V: dst, data SBUF or PSUM", "dst[f,p] = data[p,f]",
     "T: 128 x 128, 2 or 4 byte types; V: 32 x 32; same type", "T: max(P, min(64, F)); V: max(MIN, N)",
     checker::nc_transpose, cost::transpose},
    {Opcode::TensorTensor, "tensor_tensor", "VG", 2, 2, 1, 1, "dst, data1, data2; at most one input in PSUM",
     "dst = data1 op data2", "bit operations on integers of one size; G: no PSUM",
     "V: N with an input in PSUM or 16-bit floats, else 2N, at least MIN; G: 150 + 2N", checker::tensor_tensor,
     cost::two_streams},
    {Opcode::TensorScalar, "tensor_scalar", "VSG", 1, 3, 1, 1, "dst, data, operand0 [P,1], operand1 [P,1]",
     "dst = (data op0 operand0) op1 operand1", "both operations of one class; S (from v3): multiply and add only",
     "V, S: max(MIN, N) / performance mode; G: 150 + N", checker::tensor_scalar, cost::one_stream},
    {Opcode::ScalarTensorTensor, "scalar_tensor_tensor", "V", 2, 3, 1, 1,
     "dst, data, operand1, operand0 [P,1]; at most one input in PSUM", "dst = (data op0 operand0) op1 operand1",
     "arithmetic operations only", "max(MIN, 2N); N with an input in PSUM or 16-bit floats",
     checker::scalar_tensor_tensor, cost::two_streams},
    {Opcode::Activation, "activation", "SG", 1, 3, 1, 1, "dst, data, scale [P,1], bias [P,1]",
     "dst = function(data * scale + bias)", "S: functions of its tables; G: custom operators, SBUF only",
     "S: max(MIN, N), 1.3 us more when the table changes; G: estimate", checker::activation, cost::activation},
    {Opcode::ActivationReduce, "activation_reduce", "SG", 1, 3, 2, 2, "dst, sum [P,1], data, scale [P,1], bias [P,1]",
     "as activation; sum = sum of dst's float32 values over the free dimensions", "as activation",
     "S: max(MIN, N) + MIN; G: estimate", checker::activation_reduce, cost::activation_reduce},
    {Opcode::TensorReduce, "tensor_reduce", "VG", 1, 1, 1, 1, "dst[P,kept], data[P,kept,reduced]",
     "dst = op over the trailing free dimensions", "a reducing operation",
     "V: max(MIN, N), N/2 for bfloat16 add and max; G: 150 + N", checker::tensor_reduce, cost::reduce},
    {Opcode::TensorPartitionReduce, "tensor_partition_reduce", "G", 1, 1, 1, 1, "dst[1,F] SBUF, data[P,F] SBUF",
     "dst = op over the partitions", "add, max, bitwise_and, bitwise_or", "estimate: 150 + 16 N",
     checker::tensor_partition_reduce, cost::partition_reduce},
    {Opcode::TensorTensorScan, "tensor_tensor_scan", "VG", 2, 3, 1, 1,
     "dst, data0, data1, initial [P,1]; at most one input in PSUM",
     "dst[i] = (data0[i] op0 dst[i-1]) op1 data1[i], state in float32", "arithmetic operations; G: custom operator",
     "V: max(MIN, 2N); G: estimate", checker::tensor_tensor_scan, cost::scan},
    {Opcode::TensorCopy, "tensor_copy", "VSG", 1, 1, 1, 1, "dst, src",
     "dst = src, bit for bit when the types are the same", "S from v3; G: no PSUM",
     "V, S: max(MIN, N) / performance mode; G: 150 + N", checker::tensor_copy, cost::one_stream},
    {Opcode::TensorCopyPredicated, "tensor_copy_predicated", "V", 2, 2, 1, 1,
     "dst, predicate, src; at most one input in PSUM", "dst = predicate != 0 ? src : dst",
     "predicate bool, uint8, uint16 or uint32; src of dst's type", "max(MIN, 2N); N with an input in PSUM",
     checker::tensor_copy_predicated, cost::predicated},
    {Opcode::SelectReduce, "select_reduce", "V", 2, 3, 1, 1,
     "dst, predicate, on_true, on_false [P,1]; at most one input in PSUM", "dst = predicate != 0 ? on_true : on_false",
     "predicate bool, int8, uint8, int16 or uint16", "max(MIN, 2N), estimate; N with an input in PSUM",
     checker::select_reduce, cost::predicated},
    {Opcode::Memset, "memset", "VG", 0, 0, 1, 1, "dst", "dst = value", "value of dst's type",
     "V: max(MIN, N), N/2 for zero in 16-bit floats; G: 150 + N", checker::memset, cost::fill},
    {Opcode::Iota, "iota", "G", 0, 0, 1, 1, "dst SBUF",
     "dst = base + partition * multiplier + sum(step * index), in int32", "pattern of at most 4 dimensions", "150 + N",
     checker::iota, cost::plain},
    {Opcode::AffineSelect, "affine_select", "G", 1, 1, 1, 1, "dst SBUF, on_true SBUF",
     "dst = (base + partition * multiplier + sum(step * index)) compare 0 ? on_true : on_false", "compare a comparison",
     "150 + N", checker::affine_select, cost::plain},
    {Opcode::Max8, "max8", "V", 1, 1, 1, 1, "dst[P,8], src[P,N]", "the 8 largest values of src, descending",
     "8 <= N <= 16384", "max(MIN, N)", checker::max8, cost::plain},
    {Opcode::NcFindIndex8, "nc_find_index8", "V", 2, 2, 1, 1, "dst[P,8], data[P,N], values[P,8]",
     "index of the first occurrence of each value; all ones where there is none",
     "8 <= N <= 16384; dst uint16 or uint32", "max(MIN, N)", checker::nc_find_index8, cost::plain},
    {Opcode::NcMatchReplace8, "nc_match_replace8", "V", 2, 2, 1, 1, "dst[P,N], data[P,N], values[P,8]",
     "data with the first occurrence of each value replaced", "8 <= N <= 16384", "max(MIN, N)",
     checker::nc_match_replace8, cost::plain},
    {Opcode::NcStreamShuffle, "nc_stream_shuffle", "V", 1, 1, 1, 1, "dst, src",
     "partition p of every 32 = partition mask[p] of src; 255 keeps dst", "mask of 32 numbers, 0..31 or 255; same type",
     "max(MIN, N)", checker::nc_stream_shuffle, cost::plain},
    {Opcode::DmaCopy, "dma_copy", "D", 1, 2, 1, 1, "dst HBM or SBUF; src HBM or SBUF; index [P,I] SBUF",
     "dst = src; converts, broadcasts, transposes, gathers (src indirect), scatters (dst indirect)", "src not in PSUM",
     "DMA: 2 us + bytes / rate of the DMA engines and HBM", checker::dma_copy, nullptr},
    {Opcode::RegisterLoad, "register_load", "TVSGY", 1, 1, 0, 0, "src[1,1] HBM or SBUF, 32-bit integer",
     "register = src", "one element", "estimate: 64", checker::register_load, cost::one_register},
    {Opcode::CheckedIndex, "checked_index", "G", 1, 1, 1, 1, "dst SBUF, index SBUF, int32 or int64",
     "dst = index < 0 ? index + size : index; an index that lies outside ends the program with its error",
     "custom operator: integers are the size, the dimension shown in the error and the rule (0: negative indices count "
     "from the end, 1: IndexError, 2: RuntimeError)",
     "estimate: 150 + N", checker::checked_index, cost::plain},
    {Opcode::Check, "check", "G", 1, 1, 0, 0, "predicate SBUF, bool or uint8",
     "an element that is zero ends the program with RuntimeError", "custom operator", "estimate: 150 + N",
     checker::check_predicate, cost::plain},
    {Opcode::LibraryCall, "library_call", "G", 0, 1 << 20, 0, 1 << 20, "HBM", "outputs = function(inputs)",
     "none: a program of the GpSimd cores", "estimate of the call", checker::library_call, cost::library},
}};

constexpr bool in_order() {
  for (size_t i = 0; i < kOpcodes.size(); ++i) {
    if (static_cast<size_t>(kOpcodes[i].opcode) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::string_view name(Engine engine) { return kEngineNames[static_cast<size_t>(engine)]; }

std::optional<Engine> engine_from_name(std::string_view name) {
  for (size_t i = 0; i < kEngineNames.size(); ++i) {
    if (kEngineNames[i] == name) return static_cast<Engine>(i);
  }
  return std::nullopt;
}

std::span<const OpcodeInfo> opcodes() { return kOpcodes; }

const OpcodeInfo& info(Opcode opcode) { return kOpcodes[static_cast<size_t>(opcode)]; }

std::optional<Opcode> opcode_from_name(std::string_view name) {
  for (const OpcodeInfo& row : kOpcodes) {
    if (row.name == name) return row.opcode;
  }
  return std::nullopt;
}

}  // namespace opentrn::neuroncore
