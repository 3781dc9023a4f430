// Reductions over free dimensions or over partitions. Elements are taken in logical order, a chunk at a time: the
// result does not depend on how the operand lies in memory, and whether rows or columns of it are reduced at once.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "base/convert.h"
#include "neuroncore/builder.h"
#include "neuroncore/emulator/instructions/columns.h"
#include "neuroncore/emulator/instructions/pipeline.h"
#include "neuroncore/emulator/instructions/types.h"

namespace opentrn::neuroncore::emulator {

namespace {

// Elements that are reduced by one call of the kernel.
constexpr int64_t kChunk = kSumBlock;

struct Reduce {
  Operand out, in;
  Nest kept;                       // operands: out, in
  std::vector<Dimension> reduced;  // innermost first, one at least
  int64_t count = 1;               // elements that make one result
  ComputeType type = ComputeType::F32;
  ComputeType carry = ComputeType::F32;  // of a value until it is complete
  int64_t item = 4;
  LoadKernel load = nullptr;  // null: the elements are of the compute type
  CopyKernel gather = nullptr;
  StoreKernel store = nullptr;
  ReduceKernel reduce = nullptr;
  BinaryKernel subtract = nullptr;   // the first element less all others
  BinaryKernel any_order = nullptr;  // set when the result does not depend on the order of the elements
  bool sums_floats = false;
  BinaryKernel multiply = nullptr;  // set when the result is negated
  alignas(16) std::array<std::byte, 16> minus_one{};
  alignas(16) std::array<std::byte, 16> neutral{};
};

// The elements that make one result, in order.
class ReducedRow {
 public:
  ReducedRow(const Reduce& work, const std::byte* start) : work_(work), at_(start) {}

  // The next `n` elements, dense and of the compute type.
  const std::byte* next(int64_t n, std::byte* memory) {
    const Dimension& inner = work_.reduced[0];
    const bool direct = work_.load == nullptr && inner.step == work_.item && position_[0] + n <= inner.size;
    if (direct) {
      const std::byte* result = at_;
      skip(n);
      return result;
    }
    for (int64_t done = 0; done < n;) {
      const int64_t count = std::min(n - done, inner.size - position_[0]);
      std::byte* to = memory + done * work_.item;
      if (work_.load != nullptr) {
        work_.load(count, to, at_, inner.step);
      } else {
        work_.gather(1, count, to, 0, work_.item, at_, 0, inner.step);
      }
      skip(count);
      done += count;
    }
    return memory;
  }

 private:
  // Moves on by `n` elements that end in the same innermost row.
  void skip(int64_t n) {
    at_ += n * work_.reduced[0].step;
    position_[0] += n;
    for (size_t i = 0; i < work_.reduced.size() && position_[i] == work_.reduced[i].size; ++i) {
      at_ -= work_.reduced[i].step * work_.reduced[i].size;
      position_[i] = 0;
      if (i + 1 == work_.reduced.size()) return;
      at_ += work_.reduced[i + 1].step;
      ++position_[i + 1];
    }
  }

  const Reduce& work_;
  const std::byte* at_;
  std::array<int64_t, kMaxRank> position_{};
};

// Complete sums, from the doubles they were carried in to as many floats at the same place.
void narrow(int64_t n, std::byte* sums) {
  for (int64_t i = 0; i < n; ++i) {
    double wide;
    std::memcpy(&wide, sums + i * static_cast<int64_t>(sizeof(double)), sizeof(double));
    const auto sum = static_cast<float>(wide);
    std::memcpy(sums + i * static_cast<int64_t>(sizeof(float)), &sum, sizeof(float));
  }
}

void reduce_one(const Reduce& work, std::byte* out, const std::byte* in) {
  alignas(64) std::array<std::byte, kChunk * 16> memory;
  alignas(16) std::array<std::byte, 16> result = work.neutral;
  alignas(16) std::array<std::byte, 16> first{};
  ReducedRow row(work, in);
  int64_t done = 0;
  if (work.subtract != nullptr && work.count > 0) {
    std::memcpy(first.data(), row.next(1, memory.data()), static_cast<size_t>(work.item));
    done = 1;
  }
  for (; done < work.count; done += kChunk) {
    const int64_t n = std::min(kChunk, work.count - done);
    work.reduce(n, result.data(), row.next(n, memory.data()));
  }
  if (work.sums_floats) narrow(1, result.data());
  if (work.subtract != nullptr) work.subtract(1, result.data(), first.data(), 0, result.data(), 0);
  if (work.multiply != nullptr) work.multiply(1, result.data(), result.data(), 0, work.minus_one.data(), 0);
  work.store(1, out, 0, result.data());
}

// The results of neighbours whose elements lie next to each other: up to kMostColumns of sums, else up to kWidest.
class ReducedColumns {
 public:
  static constexpr int64_t kWidest = 256;

  explicit ReducedColumns(const Reduce& work) : work_(work) {
    if (work.sums_floats) sums_.emplace();
  }

  void run(int64_t columns, std::byte* out, int64_t out_step, const std::byte* in) {
    const int64_t item = size_of(work_.carry);
    for (int64_t c = 0; c < columns; ++c) std::copy_n(work_.neutral.data(), item, results_.data() + c * item);
    const Dimension& inner = work_.reduced[0];
    int64_t pending = 0;  // rows since the last fold
    for_each_line(in, [&](const std::byte* line) {
      for (int64_t done = 0; done < inner.size;) {
        const int64_t n = std::min(inner.size - done, kChunk - pending);
        add(n, columns, line + done * inner.step, inner.step);
        pending += n;
        done += n;
        if (pending == kChunk) {
          fold(columns);
          pending = 0;
        }
      }
    });
    if (pending > 0) fold(columns);
    if (work_.sums_floats) narrow(columns, results_.data());
    if (work_.multiply != nullptr)
      work_.multiply(columns, results_.data(), results_.data(), 1, work_.minus_one.data(), 0);
    work_.store(columns, out, out_step, results_.data());
  }

 private:
  template <typename Body>
  void for_each_line(const std::byte* in, const Body& body) const {
    const int64_t lines = work_.count / work_.reduced[0].size;
    for (int64_t line = 0; line < lines; ++line) {
      const std::byte* at = in;
      int64_t rest = line;
      for (size_t i = 1; i < work_.reduced.size(); ++i) {
        at += rest % work_.reduced[i].size * work_.reduced[i].step;
        rest /= work_.reduced[i].size;
      }
      body(at);
    }
  }

  void add(int64_t rows, int64_t columns, const std::byte* in, int64_t step) {
    if (work_.sums_floats) return add_to_sums(rows, columns, in, step);
    for (int64_t r = 0; r < rows; ++r) {
      const std::byte* row = in + r * step;
      prefetch_row(row + kRowsAhead * step, columns * work_.in.item());
      if (work_.load != nullptr) {
        work_.load(columns, loaded_.data(), row, work_.in.item());
        row = loaded_.data();
      }
      work_.any_order(columns, results_.data(), results_.data(), 1, row, 1);
    }
  }

  void add_to_sums(int64_t rows, int64_t columns, const std::byte* in, int64_t step) {
    if (work_.load == nullptr) return sums_->add(rows, columns, in, step);
    const int64_t row_bytes = columns * static_cast<int64_t>(sizeof(float));
    for (int64_t done = 0; done < rows; done += kLoadedRows) {
      const int64_t n = std::min(kLoadedRows, rows - done);
      for (int64_t r = 0; r < n; ++r) {
        const std::byte* row = in + (done + r) * step;
        prefetch_row(row + kRowsAhead * step, columns * work_.in.item());
        work_.load(columns, loaded_.data() + r * row_bytes, row, work_.in.item());
      }
      sums_->add(n, columns, loaded_.data(), row_bytes);
    }
  }

  void fold(int64_t columns) {
    if (work_.sums_floats) sums_->fold(columns, reinterpret_cast<double*>(results_.data()));
  }

  const Reduce& work_;
  std::optional<ColumnSums> sums_;
  alignas(64) std::array<std::byte, kWidest * 16> results_;
  static constexpr int64_t kLoadedRows = 16;
  static constexpr int64_t kLoadedSums = kLoadedRows * kMostColumns * static_cast<int64_t>(sizeof(float));
  alignas(64) std::array<std::byte, std::max(kWidest * 16, kLoadedSums)> loaded_;
};

// `columns` results whose elements step by `in_step` from one to the next.
void reduce_row_of_results(const Reduce& work, int64_t columns, std::byte* out, int64_t out_step, const std::byte* in,
                           int64_t in_step) {
  const bool side_by_side = in_step == work.in.item() && work.reduced[0].step != in_step && columns >= 4 &&
                            (work.any_order != nullptr || work.sums_floats) && work.count > 0;
  if (side_by_side) {
    ReducedColumns reduced(work);
    const int64_t widest = work.sums_floats ? kMostColumns : ReducedColumns::kWidest;
    for (int64_t done = 0; done < columns; done += widest) {
      const int64_t n = std::min(widest, columns - done);
      reduced.run(n, out + done * out_step, out_step, in + done * in_step);
    }
    return;
  }
  for (int64_t column = 0; column < columns; ++column) {
    reduce_one(work, out + column * out_step, in + column * in_step);
  }
}

template <typename T>
std::array<std::byte, 16> bytes_of(T value) {
  std::array<std::byte, 16> result{};
  std::memcpy(result.data(), &value, sizeof(T));
  return result;
}

template <typename T>
std::array<std::byte, 16> neutral_element(AluOp op) {
  if constexpr (!is_complex_type<T>) {
    using Limits = std::numeric_limits<T>;
    const T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    if (op == AluOp::Max) return bytes_of(lowest);
    if (op == AluOp::Min || op == AluOp::AbsMin) return bytes_of(highest);
    if constexpr (std::is_integral_v<T>) {
      if (op == AluOp::BitwiseAnd) return bytes_of(static_cast<T>(~T{0}));
    }
  }
  if (op == AluOp::Multiply || op == AluOp::LogicalAnd) return bytes_of(T(1));
  return bytes_of(T(0));
}

std::array<std::byte, 16> neutral_of(AluOp op, ComputeType type) {
  switch (type) {
    case ComputeType::F32: return neutral_element<float>(op);
    case ComputeType::I32: return neutral_element<int32_t>(op);
    case ComputeType::U32: return neutral_element<uint32_t>(op);
    case ComputeType::I64: return neutral_element<int64_t>(op);
    case ComputeType::U64: return neutral_element<uint64_t>(op);
    case ComputeType::F64: return neutral_element<double>(op);
    case ComputeType::C64: return neutral_element<std::complex<float>>(op);
    case ComputeType::C128: return neutral_element<std::complex<double>>(op);
  }
  __builtin_unreachable();
}

bool order_is_free(AluOp op, ComputeType type) {
  if (op == AluOp::Add || op == AluOp::Multiply)
    return type == ComputeType::I32 || type == ComputeType::U32 || type == ComputeType::I64 || type == ComputeType::U64;
  return op != AluOp::Subtract;
}

// Fills in everything but `out`, `in`, `kept` and `reduced`.
void choose_kernels(const Request& request, Reduce& work) {
  const AluOp op = request.instruction.op0;
  const bool patterns = info(op).alu_class == AluClass::Bitvec;
  work.type = patterns ? pattern_type(request) : compute_type(request);
  work.item = size_of(work.type);
  const auto read_as = [&](DType dtype) { return patterns && dtype != DType::Bool ? unsigned_of(dtype) : dtype; };
  const DType in = read_as(work.in.dtype);
  if (in != dtype_of(work.type)) work.load = kernels().load(in, work.type);
  work.gather = kernels().copy(work.in.item());
  work.store = kernels().store(work.type, read_as(work.out.dtype));
  const AluOp repeated = op == AluOp::Subtract ? AluOp::Add : op;
  work.carry = carry_of(repeated, work.type);
  work.neutral = neutral_of(op, work.carry);
  work.reduce = kernels().reduce(repeated, work.type);
  if (op == AluOp::Subtract) work.subtract = kernels().binary(AluOp::Subtract, work.type);
  if (order_is_free(op, work.type)) work.any_order = kernels().binary(op, work.type);
  work.sums_floats = work.carry != work.type;
  if (request.instruction.negate) {
    work.multiply = kernels().binary(AluOp::Multiply, work.type);
    work.minus_one = converted(immediate(DType::F64, -1.0), work.type).bytes;
  }
  if (work.reduce == nullptr) refuse(request, "an operation that does not reduce this type");
}

Kernel finish(const Request& request, std::shared_ptr<Reduce> work, bool whole) {
  choose_kernels(request, *work);
  if (work->reduced.empty()) work->reduced.push_back({0, 1});
  work->count = 1;
  for (const Dimension& dimension : work->reduced) work->count *= dimension.size;
  const std::array<const Operand*, 2> operands{&work->out, &work->in};
  auto nest = make_nest(operands, {.whole = whole});
  if (!nest) return {};
  work->kept = std::move(*nest);
  return [work](const Frame& frame) {
    const Addresses addresses{address(work->out.at(frame)), address(work->in.at(frame))};
    const Addresses& row_steps = work->kept.dimensions[1].steps;
    const Addresses& steps = work->kept.dimensions[0].steps;
    for_each_plane(work->kept, frame, addresses, [&](int64_t rows, int64_t columns, Addresses at) {
      for (int64_t row = 0; row < rows; ++row) {
        reduce_row_of_results(*work, columns, pointer(at[0]), steps[0], pointer(at[1]), steps[1]);
        advance(at, row_steps, 1);
      }
    });
  };
}

}  // namespace

Kernel prepare_reduce(const Request& request) {
  const auto work = std::make_shared<Reduce>();
  work->out = request.outputs[0];
  work->in = request.inputs[0];
  std::vector<Dimension>& free = work->in.free;
  const auto reduced = static_cast<std::ptrdiff_t>(request.instruction.integers.at(0));
  if (reduced < 0 || reduced > static_cast<std::ptrdiff_t>(free.size()))
    refuse(request, "more reduced dimensions than the pattern has");
  const std::vector<Dimension> trailing(free.end() - reduced, free.end());
  free.erase(free.end() - reduced, free.end());
  work->reduced = merged(trailing);
  for (const Dimension& dimension : trailing) {
    if (dimension.size == 0) work->reduced = {{0, 0}};
  }
  return finish(request, work, request.whole);
}

Kernel prepare_partition_reduce(const Request& request) {
  const auto work = std::make_shared<Reduce>();
  work->out = request.outputs[0];
  work->in = request.inputs[0];
  work->reduced = {{work->in.partition_step, work->in.partitions}};
  work->in.partitions = 1;
  work->in.partition_step = 0;
  return finish(request, work, true);
}

}  // namespace opentrn::neuroncore::emulator
