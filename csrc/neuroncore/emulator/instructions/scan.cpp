// Instructions that walk each partition in order: tensor_tensor_scan, and the sum that activation_reduce carries.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/workspace.h"
#include "neuroncore/emulator/instructions/pipeline.h"
#include "neuroncore/emulator/instructions/types.h"

namespace opentrn::neuroncore::emulator {

namespace {

constexpr int64_t kChunk = 256;
constexpr int64_t kReducedChunk = kSumBlock;

/// n steps of out[i] = (in0[i] op0 state) op1 in1[i] on dense arrays; `state` is carried over. A step of 0 repeats.
using ScanRow = void (*)(int64_t n, std::byte* out, const std::byte* in0, const std::byte* in1, std::byte* state);

template <typename T>
T wrapped_add(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Bits>(x) + static_cast<Bits>(y));
  } else {
    return x + y;
  }
}

template <typename T>
T wrapped_multiply(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Bits>(x) * static_cast<Bits>(y));
  } else {
    return x * y;
  }
}

struct Plus {
  template <typename T>
  T operator()(T x, T y) const {
    return wrapped_add(x, y);
  }
};
struct Times {
  template <typename T>
  T operator()(T x, T y) const {
    return wrapped_multiply(x, y);
  }
};
struct Larger {  // NaN on either side wins
  template <typename T>
  T operator()(T x, T y) const {
    return x > y || x != x ? x : y;
  }
};
struct Smaller {
  template <typename T>
  T operator()(T x, T y) const {
    return x < y || x != x ? x : y;
  }
};
struct Left {
  template <typename T>
  T operator()(T x, T) const {
    return x;
  }
};

template <typename T, typename First, typename Second>
void scan_row(int64_t n, std::byte* out, const std::byte* in0, const std::byte* in1, std::byte* state) {
  T* to = reinterpret_cast<T*>(out);
  const T* a = reinterpret_cast<const T*>(in0);
  const T* b = reinterpret_cast<const T*>(in1);
  T carried = *reinterpret_cast<T*>(state);
  for (int64_t i = 0; i < n; ++i) {
    carried = Second{}(First{}(a[i], carried), b[i]);
    to[i] = carried;
  }
  *reinterpret_cast<T*>(state) = carried;
}

template <typename T, typename First>
ScanRow find_second(AluOp op) {
  switch (op) {
    case AluOp::Bypass: return scan_row<T, First, Left>;
    case AluOp::Add: return scan_row<T, First, Plus>;
    case AluOp::Multiply: return scan_row<T, First, Times>;
    case AluOp::Max: return scan_row<T, First, Larger>;
    case AluOp::Min: return scan_row<T, First, Smaller>;
    default: return nullptr;
  }
}

template <typename T>
ScanRow find_first(AluOp op0, AluOp op1) {
  switch (op0) {
    case AluOp::Add: return find_second<T, Plus>(op1);
    case AluOp::Multiply: return find_second<T, Times>(op1);
    case AluOp::Max: return find_second<T, Larger>(op1);
    case AluOp::Min: return find_second<T, Smaller>(op1);
    default: return nullptr;
  }
}

// Rows for the usual pairs of operations; others go one element at a time through the general kernels.
ScanRow find_row(ComputeType type, AluOp op0, AluOp op1) {
  switch (type) {
    case ComputeType::F32: return find_first<float>(op0, op1);
    case ComputeType::F64: return find_first<double>(op0, op1);
    case ComputeType::I32: return find_first<int32_t>(op0, op1);
    case ComputeType::I64: return find_first<int64_t>(op0, op1);
    default: return nullptr;
  }
}

struct Scan {
  Operand out;
  std::vector<Operand> tiles;  // in0, in1, and the initial value when it is a tile
  Nest nest;                   // one row for each partition, in order
  ComputeType type = ComputeType::F32;
  int64_t item = 4;
  std::array<LoadKernel, 3> load{};
  StoreKernel store = nullptr;
  ScanRow row = nullptr;
  BinaryKernel op0 = nullptr, op1 = nullptr;
  alignas(16) std::array<std::byte, 16> initial{};
};

void general_row(const Scan& scan, int64_t n, std::byte* out, const std::byte* in0, const std::byte* in1,
                 std::byte* state) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = i * scan.item;
    if (scan.op0 != nullptr) scan.op0(1, state, in0 + at, 0, state, 0);
    if (scan.op1 != nullptr) scan.op1(1, state, state, 0, in1 + at, 0);
    std::memcpy(out + at, state, static_cast<size_t>(scan.item));
  }
}

void scan_columns(const Scan& scan, int64_t n, Addresses at, const Addresses& steps, std::byte* state) {
  alignas(64) std::array<std::array<std::byte, kChunk * 16>, 3> memory;
  for (int64_t done = 0; done < n; done += kChunk) {
    const int64_t count = std::min(kChunk, n - done);
    for (size_t i = 0; i < 2; ++i) scan.load[i](count, memory[i].data(), pointer(at[i + 1]), steps[i + 1]);
    if (scan.row != nullptr) {
      scan.row(count, memory[2].data(), memory[0].data(), memory[1].data(), state);
    } else {
      general_row(scan, count, memory[2].data(), memory[0].data(), memory[1].data(), state);
    }
    scan.store(count, pointer(at[0]), steps[0], memory[2].data());
    advance(at, steps, count);
  }
}

// The state starts anew with every partition: planes of one partition come one after the other.
void run_scan(const Scan& scan, const Frame& frame) {
  Addresses addresses{address(scan.out.at(frame))};
  for (size_t i = 0; i < scan.tiles.size(); ++i) addresses[i + 1] = address(scan.tiles[i].at(frame));
  Frame one = frame;
  one.count = 1;
  const Addresses& partition_steps = scan.nest.dimensions.back().steps;
  for (int64_t p = 0; p < frame.count; ++p) {
    alignas(16) std::array<std::byte, 16> state = scan.initial;
    if (scan.tiles.size() == 3) scan.load[2](1, state.data(), pointer(addresses[3]), 0);
    for_each_plane(scan.nest, one, addresses, [&](int64_t rows, int64_t columns, Addresses at) {
      for (int64_t row = 0; row < rows; ++row) {
        scan_columns(scan, columns, at, scan.nest.dimensions[0].steps, state.data());
        advance(at, scan.nest.dimensions[1].steps, 1);
      }
    });
    advance(addresses, partition_steps, 1);
  }
}

constexpr NestOptions kInOrder{.whole = false, .reorder = false, .separate = true, .repeats = false};

struct ActivationReduce {
  Pipeline pipeline;
  Operand out, sum;
  std::vector<Operand> tiles;
  Nest nest;
  ReduceKernel reduce = nullptr;
  ComputeType carry = ComputeType::F32;  // of the sum until it is complete
  LoadKernel narrow_sum = nullptr;
  StoreKernel store = nullptr;  // of the values
  StoreKernel store_sum = nullptr;
};

// Gathers the values of a partition until a chunk is reduced, so that the sum does not depend on the pattern's rows.
class RunningSum {
 public:
  explicit RunningSum(const ActivationReduce& work) : work_(work) {}

  void add(int64_t n, const std::byte* values) {
    const int64_t item = work_.pipeline.item;
    while (n > 0) {
      const int64_t count = std::min(n, kReducedChunk - held_);
      if (count == kReducedChunk) {  // nothing is held: where they lie
        work_.reduce(count, sum_.data(), values);
        values += count * item;
        n -= count;
        continue;
      }
      std::memcpy(memory_.data() + held_ * item, values, static_cast<size_t>(count * item));
      held_ += count;
      values += count * item;
      n -= count;
      if (held_ == kReducedChunk) flush();
    }
  }

  void finish(std::byte* out) {
    flush();
    if (work_.carry == work_.pipeline.type) return work_.store_sum(1, out, 0, sum_.data());
    alignas(16) std::array<std::byte, 16> sum;
    work_.narrow_sum(1, sum.data(), sum_.data(), 0);
    work_.store_sum(1, out, 0, sum.data());
  }

 private:
  void flush() {
    if (held_ > 0) work_.reduce(held_, sum_.data(), memory_.data());
    held_ = 0;
  }

  const ActivationReduce& work_;
  int64_t held_ = 0;
  alignas(64) std::array<std::byte, kReducedChunk * 16> memory_;
  alignas(16) std::array<std::byte, 16> sum_{};
};

void run_activation_reduce(const ActivationReduce& work, const Frame& frame) {
  ChunkMemory memory;
  Addresses addresses{address(work.out.at(frame))};
  for (size_t i = 0; i < work.tiles.size(); ++i) addresses[i + 1] = address(work.tiles[i].at(frame));
  std::byte* sum_at = work.sum.at(frame);
  Frame one = frame;
  one.count = 1;
  const Addresses& steps = work.nest.dimensions[0].steps;
  for (int64_t p = 0; p < frame.count; ++p) {
    RunningSum sum(work);
    for_each_plane(work.nest, one, addresses, [&](int64_t rows, int64_t columns, Addresses at) {
      for (int64_t row = 0; row < rows; ++row) {
        Addresses chunk = at;
        for (int64_t done = 0; done < columns;) {
          const int64_t n = std::min(work.pipeline.chunk, columns - done);
          std::byte* out = pointer(chunk[0]);
          const bool direct = work.pipeline.store == nullptr && (steps[0] == work.pipeline.item || n == 1);
          std::byte* to = direct ? out : memory.out.data();
          const std::byte* values = compute_chunk(work.pipeline, memory, n, chunk, steps, to);
          sum.add(n, values);
          if (values != out) work.store(n, out, steps[0], values);
          done += n;
          advance(chunk, steps, n);
        }
        advance(at, work.nest.dimensions[1].steps, 1);
      }
    });
    sum.finish(sum_at);
    sum_at += work.sum.partition_step;
    advance(addresses, work.nest.dimensions.back().steps, 1);
  }
}

}  // namespace

Kernel prepare_scan(const Request& request) {
  const Instruction& instruction = request.instruction;
  const auto scan = std::make_shared<Scan>();
  scan->out = request.outputs[0];
  scan->tiles = {request.inputs[0], request.inputs[1]};
  scan->type = compute_type(request);
  scan->item = size_of(scan->type);
  scan->store = kernels().store(scan->type, scan->out.dtype);
  if (const auto number = immediate_scalar(instruction, 0)) {
    scan->initial = converted(*number, scan->type).bytes;
  } else if (instruction.has_scalar0) {
    Operand initial = request.inputs[static_cast<size_t>(instruction.scalar_operand[0])];
    initial.free = {{0, scan->out.free_elements()}};
    scan->tiles.push_back(std::move(initial));
  }
  for (size_t i = 0; i < scan->tiles.size(); ++i) scan->load[i] = kernels().load(scan->tiles[i].dtype, scan->type);
  scan->row = find_row(scan->type, instruction.op0, instruction.op1);
  if (instruction.op0 != AluOp::Bypass) scan->op0 = kernels().binary(instruction.op0, scan->type);
  if (instruction.op1 != AluOp::Bypass) scan->op1 = kernels().binary(instruction.op1, scan->type);
  if (scan->row == nullptr && (instruction.op0 == AluOp::Bypass || scan->op0 == nullptr))
    refuse(request, "a scan needs a first operation with two operands");
  std::array<const Operand*, kMaxOperands> operands{&scan->out};
  for (size_t i = 0; i < scan->tiles.size(); ++i) operands[i + 1] = &scan->tiles[i];
  auto nest = make_nest(std::span(operands).first(scan->tiles.size() + 1), kInOrder);
  if (!nest) return {};
  scan->nest = std::move(*nest);
  return [scan](const Frame& frame) { run_scan(*scan, frame); };
}

Kernel prepare_activation_reduce(const Request& request) {
  const auto work = std::make_shared<ActivationReduce>();
  Request values = request;
  values.outputs.resize(1);
  PipelinePlan plan = plan_pipeline(values);
  work->pipeline = std::move(plan.pipeline);
  work->tiles = std::move(plan.tiles);
  work->out = request.outputs[0];
  work->sum = request.outputs[1];
  work->reduce = kernels().reduce(AluOp::Add, work->pipeline.type);
  work->carry = carry_of(AluOp::Add, work->pipeline.type);
  work->narrow_sum = kernels().load(dtype_of(work->carry), work->pipeline.type);
  work->store = kernels().store(work->pipeline.type, work->out.dtype);
  work->store_sum = kernels().store(work->pipeline.type, work->sum.dtype);
  std::array<const Operand*, kMaxOperands> operands{&work->out};
  for (size_t i = 0; i < work->tiles.size(); ++i) operands[i + 1] = &work->tiles[i];
  auto nest = make_nest(std::span(operands).first(work->tiles.size() + 1), kInOrder);
  if (!nest) return {};
  work->nest = std::move(*nest);
  return [work](const Frame& frame) { run_activation_reduce(*work, frame); };
}

}  // namespace opentrn::neuroncore::emulator
