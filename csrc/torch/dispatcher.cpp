#include "torch/dispatcher.h"

#include <ATen/native/Resize.h>
#include <c10/core/DeviceGuard.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/library.h>

#include <atomic>
#include <deque>
#include <map>

#include "runtime/allocator.h"
#include "runtime/configuration.h"
#include "runtime/program_cache.h"
#include "runtime/stream.h"
#include "torch/errors.h"
#include "torch/fallback.h"
#include "torch/generator.h"
#include "torch/preparation.h"
#include "torch/tensors.h"
#include "torch/types.h"

namespace opentrn::torch_backend {
namespace {

std::atomic<bool> engine_paused{false};

using ProgramHandle = runtime::ProgramCache<Program>::Handle;

runtime::ProgramCache<Program>& program_cache() {
  static auto* const cache = new runtime::ProgramCache<Program>;
  return *cache;
}

/// Switches the current device for one call, and only when it has to.
class CallDevice {
 public:
  explicit CallDevice(c10::Device device) : previous_(runtime::current_device()), changed_(false) {
    if (device.type() != kDeviceType || device.index() == previous_) return;
    runtime::exchange_device(device.index());
    changed_ = true;
  }
  ~CallDevice() {
    if (changed_) runtime::exchange_device(previous_);
  }
  CallDevice(const CallDevice&) = delete;
  CallDevice& operator=(const CallDevice&) = delete;

 private:
  int previous_;
  bool changed_;
};

void execute(const Operator& op, const Program& program, c10::ArrayRef<const void*> parameters,
             c10::ArrayRef<void*> results) {
  if (engine_paused.load(std::memory_order_relaxed)) return;
  const std::span<const void* const> inputs(parameters.data(), parameters.size());
  const std::span<void* const> outputs(results.data(), results.size());
  if (!runtime::timing()) return program.executable->run(inputs, outputs);
  const int64_t start = runtime::now_nanoseconds();
  program.executable->run(inputs, outputs);
  op.counter->engine_nanoseconds.fetch_add(runtime::now_nanoseconds() - start, std::memory_order_relaxed);
}

PhiloxGenerator::State take_random_state(const Gathered& gathered, int64_t blocks) {
  std::optional<at::Generator> generator;
  if (gathered.generator != nullptr && !gathered.generator->isNone()) generator = gathered.generator->toGenerator();
  const auto device = static_cast<c10::DeviceIndex>(runtime::current_device());
  return generator_for(generator, device).take(blocks);
}

at::Tensor output_tensor(const OutputPlan& plan, const Gathered& gathered) {
  if (plan.operand >= 0) return *gathered.operands[static_cast<size_t>(plan.operand)].tensor;
  return make_tensor(plan.sizes, plan.strides, plan.bytes, plan.dtype);
}

/// Allocates the results, runs the program and returns what the operator returns.
c10::SmallVector<at::Tensor, 3> launch(const Operator& op, const Program& program, const Gathered& gathered) {
  const CallDevice device(gathered.device);
  runtime::set_allocation_label(op.name.c_str());
  c10::SmallVector<const void*, 8> parameters;
  for (const Operand& operand : gathered.operands) parameters.push_back(operand.address());
  PhiloxGenerator::State state{};
  if (program.random_blocks > 0) {
    state = take_random_state(gathered, program.random_blocks);
    parameters.push_back(&state);
  }
  c10::SmallVector<at::Tensor, 3> outputs;
  c10::SmallVector<at::Tensor, 3> returned;
  c10::SmallVector<void*, 3> results;
  for (const OutputPlan& plan : program.outputs) {
    if (!plan.defined) {
      returned.emplace_back();
      continue;
    }
    at::Tensor output = output_tensor(plan, gathered);
    results.push_back(element_address(output.unsafeGetTensorImpl()));
    if (plan.returned) returned.push_back(output);
    outputs.push_back(std::move(output));
  }
  execute(op, program, parameters, results);
  op.counter->calls.fetch_add(1, std::memory_order_relaxed);
  return returned;
}

/// TensorIterator refuses an `out` that is also read and has another shape than the result.
void check_resizable(const Operator& op, at::ArrayRef<c10::IValue> arguments, const at::Tensor& out,
                     const Dims& shape) {
  if (out.sizes() == at::IntArrayRef(shape)) return;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (op.arguments[i].destination || !arguments[i].isTensor() || !arguments[i].toTensor().is_same(out)) continue;
    raise(ErrorKind::Runtime, {.where = std::string(op.rule->name),
                               .what = concat("output with shape ", out.sizes(), " doesn't match the broadcast shape ",
                                              at::IntArrayRef(shape)),
                               .got = "an output that is also an input",
                               .action = "give another tensor as out="});
  }
}

void resize_destinations(const Operator& op, at::ArrayRef<c10::IValue> arguments, const Resize& resize) {
  size_t next = 0;
  for (size_t i = 0; i < arguments.size() && next < resize.shapes.size(); ++i) {
    if (!op.arguments[i].destination) continue;
    const at::Tensor& destination = arguments[i].toTensor();
    check_resizable(op, arguments, destination, resize.shapes[next]);
    const bool resized = at::native::resize_output(destination, resize.shapes[next]);
    if (resized) destination.as_strided_(resize.shapes[next], resize.strides[next]);
    ++next;
  }
}

/// The program of a call, or null after the destinations were resized and the call must be gathered again.
ProgramHandle find_program(const Operator& op, at::ArrayRef<c10::IValue> arguments, Gathered& gathered) {
  if (ProgramHandle known = program_cache().find(gathered.key)) return known;
  Resize resize;
  Program made = compile_call(op, arguments, gathered, resize);
  if (resize.shapes.empty()) return program_cache().insert(gathered.key, std::move(made));
  resize_destinations(op, arguments, resize);
  return nullptr;
}

void finish(torch::jit::Stack* stack, size_t arguments, const Operator& op, c10::SmallVector<at::Tensor, 3>& results) {
  torch::jit::drop(*stack, arguments);
  for (size_t i = 0; i < op.returns && i < results.size(); ++i) stack->emplace_back(std::move(results[i]));
}

/// A marked tensor and the plain copy that stands for it while the operator runs.
struct Resolved {
  at::Tensor marked, plain;
};

c10::IValue resolve(const c10::IValue& value, std::vector<Resolved>& resolved) {
  const auto plain_of = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || !(tensor.is_conj() || tensor.is_neg())) return tensor;
    return resolved.emplace_back(Resolved{tensor, tensor.resolve_conj().resolve_neg()}).plain;
  };
  if (value.isTensor()) return plain_of(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(plain_of(tensor));
    return list;
  }
  if (!value.isOptionalTensorList()) return value;
  c10::List<std::optional<at::Tensor>> list;
  for (const auto& tensor : value.toOptionalTensorVector()) {
    list.push_back(tensor ? std::optional(plain_of(*tensor)) : std::nullopt);
  }
  return list;
}

/// torch leaves lazily conjugated and negated tensors to the kernels of some operators (matrix products,
/// conj_physical). Programs read memory as it lies: the marks are carried out first, and what was written goes back
/// through them.
void run_resolved(const Operator& op, const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const size_t first = stack->size() - op.arguments.size();
  std::vector<Resolved> read, written;
  for (size_t i = 0; i < op.arguments.size(); ++i) {
    c10::IValue& value = (*stack)[first + i];
    value = resolve(value, op.arguments[i].written ? written : read);
  }
  run_operator(op, handle, stack);
  for (const Resolved& each : written) {
    at::native::resize_output(each.marked, each.plain.sizes());
    each.marked.copy_(each.plain);
    for (size_t i = stack->size() - op.returns; i < stack->size(); ++i) {
      c10::IValue& value = (*stack)[i];
      if (value.isTensor() && value.toTensor().is_same(each.plain)) value = each.marked;
    }
  }
}

/// Returns false when the call has to be gathered again.
bool try_run(const Operator& op, const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const size_t count = op.arguments.size();
  const auto arguments = torch::jit::last(*stack, count);
  Gathered gathered;
  gather(op, arguments, gathered);
  if (gathered.marked) {
    run_resolved(op, handle, stack);
    return true;
  }
  const ProgramHandle program = find_program(op, arguments, gathered);
  if (program == nullptr) return false;
  if (program->executable == nullptr) {
    run_fallback(handle, stack, program->declined);
    return true;
  }
  auto results = launch(op, *program, gathered);
  finish(stack, count, op, results);
  return true;
}

class Kernel final : public c10::OperatorKernel {
 public:
  explicit Kernel(Operator op) : op_(std::move(op)), prepare_(preparation_for(op_.rule->name)) {}
  void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet, torch::jit::Stack* stack) {
    if (prepare_ != nullptr) prepare_(op_, stack);
    run_operator(op_, handle, stack);
  }

 private:
  Operator op_;
  Preparation prepare_;
};

std::vector<std::pair<std::string, std::string>>& overloads() {
  static auto* const list = new std::vector<std::pair<std::string, std::string>>;
  return *list;
}

}  // namespace

void register_lowerings() {
  static auto* const library =
      new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  for (const Variant& variant : find_variants()) {
    Operator op = plan_operator(*variant.rule, variant.handle.schema());
    overloads().emplace_back(std::string(variant.rule->name), op.name);
    // Hand-written kernels of this folder (copy_) reach their rule themselves.
    if (variant.handle.hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1)) continue;
    const std::string name = op.name.substr(op.name.find("::") + 2);
    library->impl(name.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(std::move(op))));
  }
}

void run_operator(const Operator& op, const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  translate_errors([&] {
    if (runtime::in_bad_fork()) runtime::check_not_forked();
    // Resized destinations change the key once; a second resize would mean that the rule contradicts itself.
    if (try_run(op, handle, stack) || try_run(op, handle, stack)) return;
    raise(ErrorKind::Internal, {.where = op.name, .what = "the result's shape changed while it was computed"});
  });
}

at::Tensor run_internal(const char* schema, std::vector<c10::IValue> arguments) {
  static std::mutex mutex;
  static auto* const operators = new std::map<std::string, std::unique_ptr<Operator>>;
  Operator* op = nullptr;
  {
    const std::lock_guard lock(mutex);
    std::unique_ptr<Operator>& slot = (*operators)[schema];
    if (slot == nullptr) {
      const c10::FunctionSchema parsed = torch::jit::parseSchema(schema);
      const std::string rule_name = "opentrn." + parsed.name().substr(parsed.name().find("::") + 2);
      slot = std::make_unique<Operator>(plan_operator(*lowering::find_rule(rule_name), parsed));
    }
    op = slot.get();
  }
  return translate_errors([&] {
    Gathered gathered;
    gather(*op, arguments, gathered);
    const ProgramHandle program = find_program(*op, arguments, gathered);
    if (program == nullptr || program->executable == nullptr) {
      raise(ErrorKind::Internal,
            {.where = op->name, .what = "an internal rule declined: " + (program ? program->declined : "")});
    }
    return launch(*op, *program, gathered)[0];
  });
}

void set_engine_paused(bool paused) noexcept { engine_paused.store(paused); }

const std::vector<std::pair<std::string, std::string>>& registered_overloads() { return overloads(); }

}  // namespace opentrn::torch_backend
