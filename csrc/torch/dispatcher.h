// The eager dispatcher: one boxed kernel for every operator that has a lowering.
#pragma once

#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include <memory>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "runtime/program_key.h"
#include "torch/operator.h"

namespace opentrn::torch_backend {

/// A tensor or runtime scalar of one call, in schema order.
struct Operand {
  const at::Tensor* tensor = nullptr;  // null for a runtime scalar
  bool host = false;                   // the value lies in `scalar`, not in device memory
  bool written = false;                // the operator writes to it
  const void* data = nullptr;          // device address, for tensors on the device
  DType dtype = DType::F32;
  alignas(16) std::byte scalar[16];

  const void* address() const { return host ? scalar : data; }
};

/// What gathering a call's arguments gives: the key and the operands.
struct Gathered {
  runtime::ProgramKey key;
  c10::SmallVector<Operand, 8> operands;
  c10::Device device{c10::DeviceType::CPU};
  const c10::IValue* generator = nullptr;
  bool marked = false;  // some tensor is lazily conjugated or negated
  Dims derived;
};

struct OutputPlan {
  c10::ScalarType dtype = c10::ScalarType::Float;
  c10::SmallVector<int64_t, 5> sizes, strides;
  int64_t bytes = 0;
  int operand = -1;  // the operand whose memory is written; -1: a fresh tensor
  bool returned = true;
  bool defined = true;  // false: an undefined tensor is returned and the program has no result for it
};

/// What `out=` tensors of other shapes must become before the call is made again.
struct Resize {
  std::vector<Dims> shapes, strides;
};

struct Program {
  std::unique_ptr<engines::Executable> executable;  // null when the lowering declined
  std::string declined;                             // why
  std::vector<OutputPlan> outputs;
  int64_t random_blocks = 0;
};

enum class OverlapKind { None, Identical, Partial };

/// How the memory of two operands relates.
OverlapKind overlap(const Operand& left, const Operand& right);

/// Packs key and operands of the arguments on top of the stack. Raises for tensors on mixed devices.
void gather(const Operator& op, at::ArrayRef<c10::IValue> arguments, Gathered& gathered);

/// Builds, compiles and returns the program of a call. Leaves `resize` filled, and the program empty, when the
/// destinations must be resized first.
Program compile_call(const Operator& op, at::ArrayRef<c10::IValue> arguments, const Gathered& gathered, Resize& resize);

/// Runs a call: takes its arguments from the stack and leaves its results there.
void run_operator(const Operator& op, const c10::OperatorHandle& handle, torch::jit::Stack* stack);

/// Registers the boxed kernel for every overload the rules cover. Called once, after the hand-written kernels are
/// registered.
void register_lowerings();

/// Runs an internal rule ("opentrn.nonzero") that has no ATen overload. `schema` declares its arguments.
at::Tensor run_internal(const char* schema, std::vector<c10::IValue> arguments);

/// While paused, programs are found, outputs allocated and nothing is computed. For benchmarks of the dispatcher alone.
void set_engine_paused(bool paused) noexcept;

/// The overloads registered for each rule, for documentation: {rule name, overload}.
const std::vector<std::pair<std::string, std::string>>& registered_overloads();

}  // namespace opentrn::torch_backend
