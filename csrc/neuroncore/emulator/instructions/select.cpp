// Instructions that choose between two sources: by a predicate tile, or by the sign of an affine function of the
// position.
#include <algorithm>
#include <memory>

#include "base/convert_rows.h"
#include "base/vector_clones.h"
#include "neuroncore/emulator/instructions/types.h"
#include "neuroncore/emulator/nest.h"

namespace opentrn::neuroncore::emulator {

namespace {

constexpr int64_t kChunk = 256;

using ChooseKernel = void (*)(int64_t n, std::byte* out, const uint8_t* mask, const std::byte* yes, int64_t yes_step,
                              const std::byte* no, int64_t no_step);

template <int64_t yes_step, int64_t no_step, typename T>
[[gnu::always_inline]] inline void choose_row(int64_t n, T* out, const uint8_t* mask, const T* yes, const T* no) {
  for (int64_t i = 0; i < n; ++i) {
    // Both are read, so that there is no branch.
    const T one = yes[i * yes_step];
    const T other = no[i * no_step];
    out[i] = mask[i] != 0 ? one : other;
  }
}

// Steps are 1, or 0 for one element repeated.
template <typename T>
[[gnu::always_inline]] inline void choose(int64_t n, std::byte* out, const uint8_t* mask, const std::byte* yes,
                                          int64_t yes_step, const std::byte* no, int64_t no_step) {
  T* to = reinterpret_cast<T*>(out);
  const T* from_yes = reinterpret_cast<const T*>(yes);
  const T* from_no = reinterpret_cast<const T*>(no);
  if (yes_step == 1 && no_step == 1) return choose_row<1, 1>(n, to, mask, from_yes, from_no);
  if (yes_step == 1) return choose_row<1, 0>(n, to, mask, from_yes, from_no);
  if (no_step == 1) return choose_row<0, 1>(n, to, mask, from_yes, from_no);
  choose_row<0, 0>(n, to, mask, from_yes, from_no);
}

struct Item16 {
  uint64_t low, high;
};

OPENTRN_VECTOR_CLONES void choose_1(int64_t n, std::byte* out, const uint8_t* mask, const std::byte* yes,
                                    int64_t yes_step, const std::byte* no, int64_t no_step) {
  choose<uint8_t>(n, out, mask, yes, yes_step, no, no_step);
}
OPENTRN_VECTOR_CLONES void choose_2(int64_t n, std::byte* out, const uint8_t* mask, const std::byte* yes,
                                    int64_t yes_step, const std::byte* no, int64_t no_step) {
  choose<uint16_t>(n, out, mask, yes, yes_step, no, no_step);
}
OPENTRN_VECTOR_CLONES void choose_4(int64_t n, std::byte* out, const uint8_t* mask, const std::byte* yes,
                                    int64_t yes_step, const std::byte* no, int64_t no_step) {
  choose<uint32_t>(n, out, mask, yes, yes_step, no, no_step);
}
OPENTRN_VECTOR_CLONES void choose_8(int64_t n, std::byte* out, const uint8_t* mask, const std::byte* yes,
                                    int64_t yes_step, const std::byte* no, int64_t no_step) {
  choose<uint64_t>(n, out, mask, yes, yes_step, no, no_step);
}

ChooseKernel choose_kernel(int64_t item) {
  switch (item) {
    case 1: return choose_1;
    case 2: return choose_2;
    case 4: return choose_4;
    case 8: return choose_8;
    default: return choose<Item16>;
  }
}

using CompareKernel = void (*)(int64_t n, uint8_t* mask, int64_t value, int64_t step);

template <typename Compare>
void compare_row(int64_t n, uint8_t* mask, int64_t value, int64_t step) {
  for (int64_t i = 0; i < n; ++i) mask[i] = Compare{}(value + i * step, int64_t{0}) ? 1 : 0;
}

CompareKernel compare_kernel(AluOp op) {
  switch (op) {
    case AluOp::IsEqual: return compare_row<std::equal_to<int64_t>>;
    case AluOp::NotEqual: return compare_row<std::not_equal_to<int64_t>>;
    case AluOp::GreaterEqual: return compare_row<std::greater_equal<int64_t>>;
    case AluOp::GreaterThan: return compare_row<std::greater<int64_t>>;
    case AluOp::LessEqual: return compare_row<std::less_equal<int64_t>>;
    case AluOp::LessThan: return compare_row<std::less<int64_t>>;
    default: return nullptr;
  }
}

// One of the two sources: a tile of the nest, or an immediate.
struct Source {
  int operand = -1;  // of the nest
  LoadKernel load = nullptr;
  CopyKernel copy = nullptr;
  alignas(16) std::array<std::byte, 16> immediate{};
};

struct Select {
  Nest nest;
  std::vector<Operand> operands;  // out, predicate (or the affine function's steps), then the sources
  Source yes, no;
  ConvertRow predicate = nullptr;   // to bool; null when its elements are bytes of integers
  CompareKernel compare = nullptr;  // of the affine function
  int64_t item = 4;                 // of the type the sources are chosen in
  ChooseKernel choose = nullptr;
  StoreKernel store = nullptr;  // null when that is the type of `out`
  CopyKernel copy = nullptr;
};

struct Fetched {
  const std::byte* data;
  int64_t step;
};

Fetched fetch(const Select& select, const Source& source, int64_t n, const Addresses& at, const Addresses& steps,
              std::byte* memory) {
  if (source.operand < 0) return {source.immediate.data(), 0};
  const auto i = static_cast<size_t>(source.operand);
  const std::byte* from = pointer(at[i]);
  if (source.load == nullptr && steps[i] == 0) return {from, 0};
  if (source.load == nullptr && steps[i] == select.item) return {from, 1};
  if (source.load != nullptr) {
    source.load(n, memory, from, steps[i]);
  } else {
    source.copy(1, n, memory, 0, select.item, from, 0, steps[i]);
  }
  return {memory, 1};
}

// The elements that are not 0 are chosen.
const uint8_t* fetch_mask(const Select& select, int64_t n, const Addresses& at, const Addresses& steps,
                          uint8_t* memory) {
  if (select.compare != nullptr) {
    select.compare(n, memory, at[1], steps[1]);
    return memory;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(pointer(at[1]));
  if (select.predicate != nullptr) {
    select.predicate(bytes, steps[1] / select.operands[1].item(), memory, 1, n);
    return memory;
  }
  if (steps[1] == 1) return bytes;
  if (steps[1] == 0) {
    std::fill_n(memory, n, *bytes);
  } else {
    for (int64_t i = 0; i < n; ++i) memory[i] = bytes[i * steps[1]];
  }
  return memory;
}

void run_chunk(const Select& select, int64_t n, const Addresses& at, const Addresses& steps) {
  alignas(64) std::array<uint8_t, kChunk> memory_of_mask;
  const uint8_t* mask = fetch_mask(select, n, at, steps, memory_of_mask.data());
  alignas(64) std::array<std::array<std::byte, kChunk * 16>, 3> memory;
  const Fetched yes = fetch(select, select.yes, n, at, steps, memory[0].data());
  const Fetched no = fetch(select, select.no, n, at, steps, memory[1].data());
  std::byte* out = pointer(at[0]);
  const bool direct = select.store == nullptr && steps[0] == select.item;
  std::byte* to = direct ? out : memory[2].data();
  select.choose(n, to, mask, yes.data, yes.step, no.data, no.step);
  if (direct) return;
  if (select.store != nullptr) return select.store(n, out, steps[0], to);
  select.copy(1, n, out, 0, steps[0], to, 0, select.item);
}

void run(const Select& select, const Frame& frame) {
  Addresses addresses{};
  for (size_t i = 0; i < select.operands.size(); ++i) {
    const Operand& operand = select.operands[i];
    addresses[i] = operand.slot < 0 ? operand.displacement(frame) : address(operand.at(frame));
  }
  const Addresses& row_steps = select.nest.dimensions[1].steps;
  const Addresses& steps = select.nest.dimensions[0].steps;
  for_each_plane(select.nest, frame, addresses, [&](int64_t rows, int64_t columns, Addresses at) {
    for (int64_t row = 0; row < rows; ++row) {
      Addresses chunk = at;
      for (int64_t done = 0; done < columns; done += kChunk) {
        run_chunk(select, std::min(kChunk, columns - done), chunk, steps);
        advance(chunk, steps, kChunk);
      }
      advance(at, row_steps, 1);
    }
  });
}

class Planner {
 public:
  explicit Planner(const Request& request) : request_(request) {
    const DType out = request.outputs[0].dtype;
    select_->operands.push_back(request.outputs[0]);
    for (const Operand& source : sources()) same_type_ = same_type_ && source.dtype == out;
    if (const auto number = immediate_scalar(request.instruction, 0)) same_type_ = same_type_ && number->dtype == out;
    Request chosen = request;
    chosen.inputs = sources();
    type_ = compute_type(chosen);
    select_->item = same_type_ ? size_of(out) : size_of(type_);
    select_->choose = choose_kernel(select_->item);
    select_->copy = kernels().copy(select_->item);
    if (!same_type_) select_->store = kernels().store(type_, out);
  }

  void predicate(const Operand& operand) {
    const bool is_byte = operand.item() == 1 && !is_float(operand.dtype);
    if (!is_byte) select_->predicate = convert_row(operand.dtype, DType::Bool);
    push(operand);
  }

  void affine() {
    select_->operands.push_back(affine_operand(request_));
    select_->compare = compare_kernel(request_.instruction.op0);
    if (select_->compare == nullptr) refuse(request_, "affine_select takes a comparison");
  }

  Source source(const Operand& operand) {
    push(operand);
    Source result{.operand = static_cast<int>(select_->operands.size()) - 1};
    result.copy = kernels().copy(operand.item());
    if (!same_type_) result.load = kernels().load(operand.dtype, type_);
    return result;
  }

  Source scalar() {
    const Instruction& instruction = request_.instruction;
    if (!instruction.has_scalar0) refuse(request_, "a scalar is missing");
    if (instruction.scalar_operand[0] >= 0)
      return source(request_.inputs[static_cast<size_t>(instruction.scalar_operand[0])]);
    Source result;
    result.immediate = same_type_ ? instruction.scalars[0].bytes : converted(instruction.scalars[0], type_).bytes;
    return result;
  }

  Select& select() { return *select_; }

  Kernel finish() {
    std::array<const Operand*, kMaxOperands> operands{};
    for (size_t i = 0; i < select_->operands.size(); ++i) operands[i] = &select_->operands[i];
    auto nest = make_nest(std::span(operands).first(select_->operands.size()), {.whole = request_.whole});
    if (!nest) return {};
    select_->nest = std::move(*nest);
    return [select = select_](const Frame& frame) { run(*select, frame); };
  }

 private:
  void push(Operand operand) {
    if (operand.free_elements() == 1) operand.free = {{0, request_.outputs[0].free_elements()}};
    select_->operands.push_back(std::move(operand));
  }

  std::vector<Operand> sources() const {
    const size_t first = request_.instruction.opcode == Opcode::AffineSelect ? 0 : 1;
    return {request_.inputs.begin() + static_cast<std::ptrdiff_t>(first), request_.inputs.end()};
  }

  const Request& request_;
  std::shared_ptr<Select> select_ = std::make_shared<Select>();
  ComputeType type_ = ComputeType::F32;
  bool same_type_ = true;
};

}  // namespace

Kernel prepare_select(const Request& request) {
  Planner planner(request);
  Select& select = planner.select();
  switch (request.instruction.opcode) {
    case Opcode::TensorCopyPredicated:
      planner.predicate(request.inputs[0]);
      select.yes = planner.source(request.inputs[1]);
      select.no = planner.source(request.outputs[0]);
      break;
    case Opcode::SelectReduce:
      planner.predicate(request.inputs[0]);
      select.yes = planner.source(request.inputs[1]);
      select.no = planner.scalar();
      break;
    default:
      planner.affine();
      select.yes = planner.source(request.inputs[0]);
      select.no = planner.scalar();
      break;
  }
  return planner.finish();
}

}  // namespace opentrn::neuroncore::emulator
