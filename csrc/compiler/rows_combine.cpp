// Steps that one instruction can do together become one step. Instructions read narrow floats, compute in float32 and
// round once, when they write; after every operation they round to float32 as the steps on their own would. So all
// rules but that for Silu keep every bit.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "compiler/rows_ops.h"

namespace opentrn::compiler::rows {

namespace {

using ir::Op;
using neuroncore::ActivationFunction;
using neuroncore::AluOp;
using neuroncore::Engine;

// A narrow tile that more steps than these read is converted once.
constexpr size_t kMostNarrowReaders = 2;

bool is_narrow(DType dtype) { return dtype == DType::BF16 || dtype == DType::F16; }
bool is_computed_in_f32(DType dtype) { return dtype == DType::F32 || is_narrow(dtype); }

class Combiner {
 public:
  Combiner(const neuroncore::Machine& machine, Description& description)
      : machine_(machine), description_(description) {}

  void run() {
    using Rule = void (Combiner::*)(size_t step);
    // In this order: a rule may use what the one before it made.
    constexpr std::array<Rule, 4> kRules{&Combiner::read_narrow, &Combiner::use_silu, &Combiner::absorb_operation,
                                         &Combiner::write_narrow};
    find_uses();
    for (const Rule rule : kRules) {
      for (size_t i = 0; i < steps().size(); ++i) {
        if (!is_dropped(steps()[i])) (this->*rule)(i);
      }
    }
    std::erase_if(steps(), is_dropped);
    for (Slot& slot : description_.slots) slot.last_use = -1;
    for (size_t i = 0; i < steps().size(); ++i) {
      const Step& step = steps()[i];
      for (size_t k = 0; k < step.count; ++k) slot(step.operands[k]).last_use = static_cast<int32_t>(i);
    }
  }

 private:
  // One operation on a tile, and a number or a row's value.
  struct Operation {
    Use data;
    Use scalar;
    Link link;
  };

  std::vector<Step>& steps() { return description_.steps; }
  Slot& slot(const Use& use) { return description_.slots[static_cast<size_t>(use.slot)]; }
  Slot& result(const Step& step) { return description_.slots[static_cast<size_t>(step.result)]; }
  static bool is_dropped(const Step& step) { return step.result < 0; }
  static bool is(const Step& step, Op op) { return !step.chain && step.node->op == op; }

  void find_uses() {
    const size_t count = description_.slots.size();
    uses_.assign(count, 0);
    makers_.assign(count, -1);
    for (size_t i = 0; i < count; ++i) uses_[i] += description_.slots[i].stored ? 1 : 0;
    for (size_t i = 0; i < steps().size(); ++i) {
      const Step& step = steps()[i];
      if (is_dropped(step)) continue;
      makers_[static_cast<size_t>(step.result)] = static_cast<int32_t>(i);
      for (size_t k = 0; k < step.count; ++k) ++uses_[static_cast<size_t>(step.operands[k].slot)];
    }
  }

  void drop(Step& step) {
    step.result = -1;
    step.count = 0;
    find_uses();
  }

  Step* maker(const Use& use) {
    const int32_t number = makers_[static_cast<size_t>(use.slot)];
    return number < 0 ? nullptr : &steps()[static_cast<size_t>(number)];
  }

  // The step that makes a float32 value for this use alone.
  Step* own_maker(const Use& use) {
    if (use.dtype != DType::F32 || slot(use).dtype != DType::F32 || uses_[static_cast<size_t>(use.slot)] != 1) {
      return nullptr;
    }
    return maker(use);
  }

  bool computes_in_f32(const Step& step) {
    return std::all_of(step.operands.begin(), step.operands.begin() + static_cast<std::ptrdiff_t>(step.count),
                       [](const Use& use) { return is_computed_in_f32(use.dtype); });
  }

  // --- conversions

  // Whether the step's instructions may read operand `k` from a narrower float.
  bool takes_narrow(const Step& step, size_t k) {
    const DType dtype = step.operands[0].dtype;
    switch (step.node->op) {
      case Op::Compare:
      case Op::Clamp:
      case Op::Convert: return true;
      case Op::Reduce: return k == 0;
      case Op::NextAfter:
      case Op::Select: return false;
      default: break;
    }
    if (step.count == 2) return binary_unit(step.node->op, dtype).has_value();
    return step.count == 1 && (step.node->op == Op::Negate || function_of(step.node->op, dtype).has_value());
  }

  // A row's value that instructions take as a scalar, which is always float32.
  bool is_row_scalar(uint64_t varies, const Step& reader) {
    const uint64_t reduced = description_.reduced;
    return (varies & reduced) == 0 && (result(reader).varies & reduced) != 0;
  }

  void read_narrow(size_t number) {
    Step& convert = steps()[number];
    if (!is(convert, Op::Convert) || !is_narrow(convert.operands[0].dtype)) return;
    const Slot& wide = result(convert);
    if (wide.dtype != DType::F32 || wide.stored) return;
    const Use narrow = convert.operands[0];
    size_t readers = 0;
    for (const Step& step : steps()) {
      bool reads = false;
      for (size_t k = 0; k < step.count; ++k) {
        if (step.operands[k].slot != convert.result) continue;
        if (step.operands[k].dtype != DType::F32 || !takes_narrow(step, k)) return;
        if (is_row_scalar(wide.varies, step)) return;
        reads = true;
      }
      readers += reads ? 1 : 0;
    }
    if (readers > kMostNarrowReaders) return;
    for (Step& step : steps()) {
      for (size_t k = 0; k < step.count; ++k) {
        if (step.operands[k].slot == convert.result) step.operands[k] = narrow;
      }
    }
    drop(convert);
  }

  // Whether the last instruction of the step writes what it has computed in float32.
  bool rounds_when_it_writes(const Step& step) {
    if (!computes_in_f32(step)) return false;
    if (step.chain) return true;
    const Op op = step.node->op;
    const DType dtype = step.operands[0].dtype;
    if (op == Op::Negate || op == Op::Clamp) return true;
    if (op == Op::Compare || op == Op::Reduce) return false;
    if (step.count == 2) return binary_unit(op, dtype).has_value();
    return step.count == 1 && function_of(op, dtype).has_value();
  }

  void write_narrow(size_t number) {
    Step& convert = steps()[number];
    if (!is(convert, Op::Convert) || !is_float(result(convert).dtype) || size_of(result(convert).dtype) >= 4) return;
    Step* producer = own_maker(convert.operands[0]);
    if (producer == nullptr || !rounds_when_it_writes(*producer)) return;
    producer->result = convert.result;
    drop(convert);
  }

  // --- operations

  void use_silu(size_t number) {
    Step& product = steps()[number];
    if (!is(product, Op::Multiply) || result(product).dtype != DType::F32) return;
    for (const size_t k : {size_t{0}, size_t{1}}) {
      const Use other = product.operands[1 - k];
      Step* logistic = own_maker(product.operands[k]);
      if (logistic == nullptr || !is(*logistic, Op::Logistic) || !computes_in_f32(*logistic)) continue;
      if (logistic->operands[0].slot != other.slot || logistic->operands[0].dtype != other.dtype) continue;
      product.chain.emplace().function = ActivationFunction::Silu;
      product.operands = {other};
      product.count = 1;
      return drop(*logistic);
    }
  }

  bool is_scalar(const Use& use, const Step& reader) {
    const Slot& scalar = slot(use);
    if (scalar.kind == Slot::Kind::Splat) return scalar.dtype == DType::F32;
    if (use.dtype != DType::F32) return false;
    // Without reductions it depends on how the tiles are cut whether this is one element of each partition.
    const bool may_be = description_.reduced == 0 && scalar.varies != result(reader).varies;
    return may_be || is_row_scalar(scalar.varies, reader);
  }

  Use number(double value) {
    Slot splat;
    splat.kind = Slot::Kind::Splat;
    splat.number = neuroncore::immediate(DType::F32, value);
    description_.slots.push_back(std::move(splat));
    find_uses();
    return {static_cast<int32_t>(description_.slots.size()) - 1, DType::F32};
  }

  // The step as an operation of the Vector engine on float32.
  std::optional<AluOp> arithmetic(const Step& step) {
    if (step.chain || step.count != 2 || result(step).dtype != DType::F32 || !computes_in_f32(step))
      return std::nullopt;
    if (step.node->op == Op::Compare || step.node->op == Op::Reduce) return std::nullopt;
    const std::optional<Unit> unit = binary_unit(step.node->op, DType::F32);
    if (!unit || unit->engine != Engine::Vector) return std::nullopt;
    return unit->op;
  }

  std::optional<Operation> operation(const Step& step) {
    if (is(step, Op::Negate) && computes_in_f32(step) && result(step).dtype == DType::F32) {
      return Operation{step.operands[0], number(-1), {AluOp::Multiply}};
    }
    const std::optional<AluOp> op = arithmetic(step);
    if (!op) return std::nullopt;
    for (const size_t k : {size_t{1}, size_t{0}}) {
      const Use& data = step.operands[1 - k];
      if (!is_scalar(step.operands[k], step) || slot(data).kind == Slot::Kind::Splat) continue;
      return Operation{data, step.operands[k], {*op, k == 0 && !neuroncore::info(*op).commutes}};
    }
    return std::nullopt;
  }

  // What has been computed before `use`, for this use alone, and goes over the same elements as the step.
  Step* source(const Use& use, const Step& step) {
    Step* maker = own_maker(use);
    return maker != nullptr && result(*maker).varies == result(step).varies ? maker : nullptr;
  }

  // An inner product is more than its two halves.
  bool is_summed_product(const Step& step) {
    if (!is(step, Op::Multiply) || uses_[static_cast<size_t>(step.result)] != 1) return false;
    return std::any_of(steps().begin(), steps().end(), [&](const Step& reader) {
      return reader.count == 2 && is(reader, Op::Reduce) && reader.operands[0].slot == step.result;
    });
  }

  void absorb_operation(size_t number) {
    if (absorb_into_function(number)) return;
    if (!arithmetic(steps()[number]) || is_summed_product(steps()[number])) return;
    if (const auto second = operation(steps()[number])) {
      absorb(number, second->data, second->scalar, second->link);
      return;
    }
    const AluOp op = *arithmetic(steps()[number]);
    const Use left = steps()[number].operands[0];
    const Use right = steps()[number].operands[1];
    if (absorb(number, right, left, {op, !neuroncore::info(op).commutes})) return;
    absorb(number, left, right, {op});
  }

  // The step becomes (x first scalar) second other, where `data` is x first scalar.
  bool absorb(size_t number, const Use& data, const Use& other, const Link& second) {
    const Step* maker = source(data, steps()[number]);
    if (maker == nullptr || other.slot == data.slot) return false;
    const size_t source_number = static_cast<size_t>(maker - steps().data());
    const auto first = operation(*maker);
    if (!first) return false;
    Step& step = steps()[number];
    step.chain = Chain{.links = {first->link, second}, .count = 2};
    step.operands = {first->data, first->scalar, other};
    step.count = 3;
    drop(steps()[source_number]);
    return true;
  }

  // --- function(x * scale + bias)

  // What a step computes with two numbers at most, as a chain.
  std::optional<Step> scaled(const Step& step) {
    if (step.chain) return step;
    const auto only = operation(step);
    if (!only) return std::nullopt;
    Step result;
    result.operands = {only->data, only->scalar};
    result.count = 2;
    result.chain = Chain{.links = {only->link}, .count = 1};
    return result;
  }

  bool is_scale(const Chain& chain, size_t k) { return k == 0 && chain.links[k].op == AluOp::Multiply; }

  bool is_bias(const Chain& chain, size_t k, const Use& operand) {
    if (k + 1 != chain.count) return false;
    const bool subtracts = chain.links[k].op == AluOp::Subtract && !chain.links[k].reverse;
    // AWS Neuron documentation, "nki.isa.activation": from NeuronCore-v3 on the bias may be a number.
    const bool is_number = slot(operand).kind == Slot::Kind::Splat;
    if (subtracts && !is_number && description_.reduced == 0) return false;  // not worth an instruction of its own
    return (chain.links[k].op == AluOp::Add || subtracts) && (!is_number || machine_.nki_generation >= 3);
  }

  // The negative of a number or a row's value.
  Use negative(const Use& use, size_t before) {
    const Slot of = slot(use);
    if (of.kind == Slot::Kind::Splat) {
      float value = 0;
      std::memcpy(&value, of.number.bytes.data(), sizeof(value));
      return number(-static_cast<double>(value));
    }
    Step step;
    step.node = steps()[before].node;
    step.operands = {use, number(-1)};
    step.count = 2;
    step.chain = Chain{.links = {Link{AluOp::Multiply}}, .count = 1};
    step.result = static_cast<int32_t>(description_.slots.size());
    Slot& row = description_.slots.emplace_back();
    row.dimensions = of.dimensions;
    row.varies = of.varies;
    row.stage = of.stage;
    steps().insert(steps().begin() + static_cast<std::ptrdiff_t>(before), std::move(step));
    find_uses();
    return {static_cast<int32_t>(description_.slots.size()) - 1, DType::F32};
  }

  bool absorb_into_function(size_t number) {
    const Step& step = steps()[number];
    if (step.chain || step.count != 1 || result(step).dtype != DType::F32) return false;
    const auto function = function_of(step.node->op, step.operands[0].dtype);
    if (!function || neuroncore::info(*function).custom) return false;
    Step* maker = source(step.operands[0], step);
    const std::optional<Step> argument = maker == nullptr ? std::nullopt : scaled(*maker);
    if (!argument || argument->chain->function != ActivationFunction::Copy) return false;
    Chain chain = *argument->chain;
    for (size_t k = 0; k < chain.count; ++k) {
      const Use& operand = argument->operands[k + 1];
      if (!is_scalar(operand, step) || (!is_scale(chain, k) && !is_bias(chain, k, operand))) return false;
    }
    chain.function = *function;
    std::array<Use, kMostOperands> operands = argument->operands;
    drop(*maker);
    const size_t last = chain.count - 1;
    size_t at = number;
    if (chain.links[last].op == AluOp::Subtract) {
      const size_t before = steps().size();
      operands[last + 1] = negative(operands[last + 1], number);
      at += steps().size() - before;
      chain.links[last].op = AluOp::Add;
    }
    Step& combined = steps()[at];
    combined.chain = chain;
    combined.operands = operands;
    combined.count = chain.count + 1;
    find_uses();
    return true;
  }

  const neuroncore::Machine& machine_;
  Description& description_;
  std::vector<int> uses_;        // by slot
  std::vector<int32_t> makers_;  // by slot: steps
};

}  // namespace

void combine(const neuroncore::Machine& machine, Description& description) { Combiner(machine, description).run(); }

}  // namespace opentrn::compiler::rows
