// Host kernels of the emulator: dense inner loops, compiled once per instruction set of the host and chosen at run
// time. Everything here works on plain arrays; what an instruction means is decided by its callers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/dtype.h"
#include "neuroncore/alu.h"

namespace opentrn::neuroncore::emulator {

/// The types arithmetic is done in. Narrow floats, and integers on engines that compute in float32, use F32.
enum class ComputeType : uint8_t { F32, I32, U32, I64, U64, F64, C64, C128 };

int64_t size_of(ComputeType type);
DType dtype_of(ComputeType type);

/// What a reduction's value is kept in until it is complete.
inline ComputeType carry_of(AluOp op, ComputeType type) {
  return op == AluOp::Add && type == ComputeType::F32 ? ComputeType::F64 : type;
}

/// Sums of float32 are made in blocks. Within one, element i goes to lane i % kSumLanes. What comes to a lane is added
/// in float32 up to kSumGroup elements (two roundings of a few numbers, where converting each costs more than adding
/// it), and those groups in double.
inline constexpr int64_t kSumBlock = 1024;
inline constexpr int64_t kSumLanes = 16;
inline constexpr int64_t kSumGroup = 4;

/// n elements of `in`, `in_step` bytes apart (0: one element repeated), to a dense array of the compute type.
using LoadKernel = void (*)(int64_t n, std::byte* out, const std::byte* in, int64_t in_step);
/// A dense array of the compute type to n elements `out_step` bytes apart, rounded once.
using StoreKernel = void (*)(int64_t n, std::byte* out, int64_t out_step, const std::byte* in);
/// out[i] = a[i] op b[i] on dense arrays; `a_step`, `b_step` are 1, or 0 for one element repeated. `out` may be `a` or
/// `b`. Comparisons and logical operations give 1 and 0 in the compute type.
using BinaryKernel = void (*)(int64_t n, std::byte* out, const std::byte* a, int64_t a_step, const std::byte* b,
                              int64_t b_step);
using UnaryKernel = void (*)(int64_t n, std::byte* out, const std::byte* in);
/// *out = *out op in[0] op in[1] ..., where *out has the type carry_of(op, type). Sums are as accurate as in twice the
/// digits, but for the groups of float32.
using ReduceKernel = void (*)(int64_t n, std::byte* out, const std::byte* in);
/// out[r] = out[r] + a[r][0] * b[0] + a[r][1] * b[1] ... of doubles: bit for bit what Multiply and a reduction with Add
/// give one after the other. Lines are dense; steps between rows are in bytes.
using DotKernel = void (*)(int64_t rows, int64_t n, std::byte* out, int64_t out_row, const std::byte* a, int64_t a_row,
                           const std::byte* b);
/// A [rows, columns] block of items of the same size, each side with any steps in bytes; out[r][c] = in[r][c].
using CopyKernel = void (*)(int64_t rows, int64_t columns, std::byte* out, int64_t out_row, int64_t out_column,
                            const std::byte* in, int64_t in_row, int64_t in_column);

/// out[m][n] (+)= sum over k of stationary[k][m] * moving[k][n], accumulated in float32. Steps count elements.
struct MatmulProblem {
  int64_t k = 0, m = 0, n = 0;
  const std::byte* stationary = nullptr;
  int64_t stationary_k = 0, stationary_m = 0;
  const std::byte* moving = nullptr;
  int64_t moving_k = 0, moving_n = 0;
  float* out = nullptr;
  int64_t out_m = 0, out_n = 1;
  bool accumulate = false;
};
using MatmulKernel = void (*)(const MatmulProblem& problem);

/// Products of `chunk` steps of k, the first one overwriting and each other one accumulating, whose sums are stored as
/// another type: bit for bit what MatmulKernel gives for every chunk one after the other, on tiles of more than
/// kFewLines rows and columns, and `store` for every row. `chunk` is even and divides 1024; a single one may be odd,
/// and up to 1024.
struct ChainProblem {
  int64_t k = 0, m = 0, n = 0;
  int64_t chunk = 0;
  const std::byte* stationary = nullptr;
  int64_t stationary_k = 0, stationary_m = 0;
  const std::byte* moving = nullptr;
  int64_t moving_k = 0, moving_n = 0;
  StoreKernel store = nullptr;  // from float32
  std::byte* out = nullptr;
  int64_t out_m = 0, out_n = 0;  // bytes
};
using ChainKernel = void (*)(const ChainProblem& problem);

/// Tiles with as many rows or columns, or fewer, may be summed in another order.
inline constexpr int64_t kFewLines = 16;

/// The kernels of one instruction set. Entries are null where an operation has no meaning for a type.
struct KernelTable {
  std::string_view instruction_set;  // "baseline", "avx2", "avx512", "avx512bf16", "portable"
  LoadKernel (*load)(DType from, ComputeType to);
  StoreKernel (*store)(ComputeType from, DType to);
  BinaryKernel (*binary)(AluOp op, ComputeType type);
  UnaryKernel (*unary)(AluOp op, ComputeType type);
  UnaryKernel (*activation)(ActivationFunction function, ComputeType type);
  ReduceKernel (*reduce)(AluOp op, ComputeType type);
  /// Of float32 sums; F32, BF16 and F16.
  DotKernel (*dot)(DType a, DType b);
  CopyKernel (*copy)(int64_t item_size);
  /// Element type of both operands: F32, BF16, F16, F8*, F64 (out is then double, passed as float*).
  MatmulKernel (*matmul)(DType dtype);
  /// Element type of both operands: F32, BF16, F16.
  ChainKernel (*chain)(DType dtype);
};

/// The tables this machine can execute, slowest first.
std::span<const KernelTable* const> available_kernels();

/// The fastest, or the one that OPENTRN_INSTRUCTION_SET names (an Error of kind Value lists the valid ones).
const KernelTable& kernels();

}  // namespace opentrn::neuroncore::emulator
