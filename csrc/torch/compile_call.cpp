// The cold half of the dispatcher: from a call that was never seen before to a program.
#include <ATen/core/Tensor.h>
#include <c10/core/DefaultDtype.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "base/environment.h"
#include "base/log.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "lowering/lower.h"
#include "passes/passes.h"
#include "runtime/configuration.h"
#include "runtime/dump.h"
#include "torch/dispatcher.h"
#include "torch/types.h"

namespace opentrn::torch_backend {
namespace {

using lowering::Argument;
using lowering::TensorArgument;

Dims to_dims(const c10::IValue& value) {
  if (value.isInt()) return {value.toInt()};
  Dims result;
  for (const c10::IValue& element : value.toListRef()) result.push_back(element.toInt());
  return result;
}

/// Turns stack values into a Call, giving every operand its graph parameter in the order of gathering.
class CallMaker {
 public:
  CallMaker(const Operator& op, const Gathered& gathered, ir::Builder& builder)
      : op_(op), gathered_(gathered), builder_(builder) {}

  lowering::Call make(at::ArrayRef<c10::IValue> arguments) {
    lowering::Call call;
    call.operator_name = op_.rule->name;
    call.in_place = op_.in_place;
    call.derived = gathered_.derived;
    call.default_dtype = *dtype_of(c10::get_default_dtype_as_scalartype());
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ArgumentPlan& plan = op_.arguments[i];
      Argument argument = convert(plan, arguments[i]);
      if (plan.destination || (op_.in_place && i == 0)) {
        call.destinations.push_back(std::get<TensorArgument>(argument));
      }
      if (!plan.destination) call.arguments.push_back({plan.name, std::move(argument)});
    }
    return call;
  }

 private:
  TensorArgument tensor(const at::Tensor& tensor) {
    const Operand& operand = gathered_.operands[next_];
    TensorArgument argument;
    argument.operand = static_cast<int>(next_++);
    argument.type = {operand.dtype, to_dims(tensor.sizes())};
    argument.strides = to_dims(tensor.strides());
    argument.wrapped_number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
    argument.value = builder_.parameter(argument.type);
    return argument;
  }

  Argument scalar() {
    const Operand& operand = gathered_.operands[next_];
    return lowering::ScalarArgument{static_cast<int>(next_++), builder_.parameter({operand.dtype, {}}), operand.dtype};
  }

  Argument tensor_list(const c10::IValue& value) {
    lowering::TensorList list;
    for (const c10::IValue& element : value.toListRef()) {
      if (element.isNone() || !element.toTensor().defined()) {
        list.emplace_back();
      } else {
        list.emplace_back(tensor(element.toTensor()));
      }
    }
    return list;
  }

  Argument convert(const ArgumentPlan& plan, const c10::IValue& value) {
    if (value.isNone() && plan.kind != ArgumentKind::Generator) return std::monostate{};
    switch (plan.kind) {
      case ArgumentKind::Tensor:
        if (!value.toTensor().defined()) return std::monostate{};
        return tensor(value.toTensor());
      case ArgumentKind::TensorList: return tensor_list(value);
      case ArgumentKind::RuntimeScalar: return scalar();
      case ArgumentKind::StructuralScalar: return value.toScalar().toDouble();
      case ArgumentKind::ScalarList: {
        lowering::ScalarList list;
        for (size_t i = 0; i < value.toListRef().size(); ++i) {
          list.push_back(std::get<lowering::ScalarArgument>(scalar()));
        }
        return list;
      }
      case ArgumentKind::Integer: return value.toInt();
      case ArgumentKind::Bool: return value.toBool();
      case ArgumentKind::IntegerList: return to_dims(value);
      case ArgumentKind::BoolList: return value.toBoolList().vec();
      case ArgumentKind::DType: return require_dtype(value.toScalarType(), op_.name.c_str());
      case ArgumentKind::Text: return std::string(value.toStringView());
      case ArgumentKind::Generator: return lowering::GeneratorArgument{};
      case ArgumentKind::Ignored: return std::monostate{};
    }
    __builtin_unreachable();
  }

  const Operator& op_;
  const Gathered& gathered_;
  ir::Builder& builder_;
  size_t next_ = 0;
};

// Built member by member: g++ 12 takes a nested braced list for uninitialised memory.
engines::Layout make_layout(DType dtype, Dims shape, Dims strides) {
  engines::Layout layout;
  layout.type.dtype = dtype;
  layout.type.shape = std::move(shape);
  layout.strides = std::move(strides);
  return layout;
}

engines::Layout layout_of(const Operand& operand) {
  if (operand.tensor == nullptr) return make_layout(operand.dtype, {}, {});
  return make_layout(operand.dtype, to_dims(operand.tensor->sizes()), to_dims(operand.tensor->strides()));
}

engines::Module make_module(lowering::Lowered& lowered, const Gathered& gathered) {
  engines::Module module;
  module.graph = std::move(lowered.graph);
  for (const Operand& operand : gathered.operands) module.parameters.push_back(layout_of(operand));
  if (lowered.random_blocks > 0) module.parameters.push_back(make_layout(DType::U64, {2}, {1}));
  for (const lowering::Output& output : lowered.outputs) {
    if (!output.defined) continue;
    const int result = static_cast<int>(module.results.size());
    module.results.push_back(make_layout(output.type.dtype, output.type.shape, output.strides));
    if (output.operand < 0) continue;
    const Operand& written = gathered.operands[static_cast<size_t>(output.operand)];
    for (size_t p = 0; p < gathered.operands.size(); ++p) {
      const OverlapKind kind =
          static_cast<int>(p) == output.operand ? OverlapKind::Identical : overlap(written, gathered.operands[p]);
      if (kind == OverlapKind::None) continue;
      module.overlaps.push_back({result, static_cast<int>(p), kind == OverlapKind::Identical});
    }
  }
  return module;
}

OutputPlan plan_output(const lowering::Output& output) {
  OutputPlan plan;
  plan.defined = output.defined;
  if (!plan.defined) return plan;
  plan.dtype = scalar_type_of(output.type.dtype);
  plan.sizes.assign(output.type.shape.begin(), output.type.shape.end());
  plan.strides.assign(output.strides.begin(), output.strides.end());
  plan.bytes = span_in_bytes(output.type.shape, output.strides, size_of(output.type.dtype));
  plan.operand = output.operand;
  plan.returned = output.returned;
  return plan;
}

/// Writes the graph to a file that reproduces the fault and says where it is.
std::string dump_reproducer(const ir::Graph& graph) {
  static std::atomic<int> number{0};
  const auto path = std::filesystem::temp_directory_path() /
                    concat("opentrn-reproducer-", getpid(), "-", number.fetch_add(1), ".mlir");
  std::ofstream(path) << ir::print(graph);
  return path.string();
}

/// Compiles a module. A fault of ours keeps the graph that caused it.
std::unique_ptr<engines::Executable> compile_module(const engines::Module& module) {
  const runtime::Configuration& configuration = runtime::configuration();
  try {
    ir::verify(module.graph);
    return configuration.engine->compile(module, *configuration.machine);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Internal) throw;
    throw Error(ErrorKind::Internal, concat(error.what(), "; the graph is in ", dump_reproducer(module.graph)));
  }
}

}  // namespace

Program compile_call(const Operator& op, at::ArrayRef<c10::IValue> arguments, const Gathered& gathered,
                     Resize& resize) {
  const int64_t start = runtime::now_nanoseconds();
  const std::optional<std::string> folder = environment("OPENTRN_DUMP");
  std::string graph_text;
  Program program;
  try {
    ir::Builder builder(op.name);
    const lowering::Call call = CallMaker(op, gathered, builder).make(arguments);
    lowering::Lowered lowered = lowering::lower(*op.rule, call, std::move(builder));
    resize = {std::move(lowered.resize_destinations), std::move(lowered.resize_strides)};
    if (!resize.shapes.empty()) return program;
    passes::canonicalise(lowered.graph);
    for (const lowering::Output& output : lowered.outputs) program.outputs.push_back(plan_output(output));
    program.random_blocks = lowered.random_blocks;
    if (folder) graph_text = ir::print(lowered.graph);
    program.executable = compile_module(make_module(lowered, gathered));
  } catch (const lowering::Declined& declined) {
    program = Program{};
    program.declined = declined.reason;
    return program;
  }
  const int64_t nanoseconds = runtime::now_nanoseconds() - start;
  runtime::count_compile(nanoseconds);
  const engines::ProgramFacts facts = program.executable->facts();
  for (const std::string& call : facts.library_calls) runtime::count_note(op.name, "library call", call);
  for (const std::string& what : facts.without_native_unit) runtime::count_note(op.name, "no native unit", what);
  if (folder) runtime::dump(*folder, op.name, graph_text, program.executable->program_text());
  log(LogLevel::Debug, "compiled ", op.name, " in ", nanoseconds / 1000, " us");
  return program;
}

}  // namespace opentrn::torch_backend
