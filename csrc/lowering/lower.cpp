#include "lowering/lower.h"

#include <algorithm>

#include "lowering/helpers.h"
#include "lowering/strides.h"

namespace opentrn::lowering {
namespace {

template <typename Visit>
void for_each_tensor(const Call& call, Visit&& visit) {
  for (const auto& argument : call.arguments) {
    if (const auto* tensor = std::get_if<TensorArgument>(&argument.value)) visit(*tensor);
    if (const auto* list = std::get_if<TensorList>(&argument.value)) {
      for (const auto& tensor : *list) {
        if (tensor) visit(*tensor);
      }
    }
  }
}

std::vector<TensorArgument> tensor_arguments(const Call& call) {
  std::vector<TensorArgument> tensors;
  for_each_tensor(call, [&](const TensorArgument& tensor) { tensors.push_back(tensor); });
  return tensors;
}

DType result_dtype(const Rule& rule, DType operands) {
  switch (rule.promotion) {
    case Promotion::Compare: return DType::Bool;
    case Promotion::ComplexToReal: return real_dtype(operands);
    case Promotion::Common:
    case Promotion::Float: return operands;
  }
  __builtin_unreachable();
}

Results lower_elementwise(const Rule& rule, Context& context) {
  const Operands operands = promote_operands(context, rule.promotion, rule.types, rule.wide_scalars);
  const ir::Value result = rule.elementwise(context.b, operands.values);
  return {context.b.convert(result, result_dtype(rule, operands.dtype))};
}

void check_cast(const Call& call, DType from, DType to) {
  if (can_cast(from, to)) return;
  raise(ErrorKind::Runtime, {.where = call.operator_name,
                             .what = concat("result type ", info(from).torch_name,
                                            " can't be cast to the desired output type ", info(to).torch_name),
                             .action = "give an output of a type that can hold the result"});
}

void check_in_place_shape(const Call& call, const Dims& result, const Dims& self) {
  if (result == self) return;
  raise(ErrorKind::Runtime, {.where = call.operator_name,
                             .what = concat("output with shape ", to_string(self),
                                            " doesn't match the broadcast shape ", to_string(result)),
                             .action = "use the out-of-place form or expand the tensor first"});
}

void check_writable(const Call& call, const TensorArgument& destination) {
  if (destination.type.elements() == 0) return;
  for (size_t i = 0; i < destination.strides.size(); ++i) {
    if (destination.strides[i] != 0 || destination.type.shape[i] <= 1) continue;
    raise(ErrorKind::Runtime,
          {.where = call.operator_name,
           .what = "unsupported operation: more than one element of the written-to tensor refers "
                   "to a single memory location",
           .got = "shape " + to_string(destination.type.shape) + " with strides " + to_string(destination.strides),
           .action = "clone() the tensor before writing to it"});
  }
}

Dims fresh_strides(const Rule& rule, const Context& context, const Dims& shape, size_t result) {
  const Call& call = context.call;
  if (result < context.result_strides.size() && !context.result_strides[result].empty()) {
    return context.result_strides[result];
  }
  const std::vector<TensorArgument> tensors = tensor_arguments(call);
  if (rule.strides == StrideRule::Contiguous || tensors.empty() || result > 0) return contiguous_strides(shape);
  if (rule.strides == StrideRule::Elementwise) return elementwise_strides(shape, tensors);
  if (tensors.front().type.shape != shape) return contiguous_strides(shape);
  return preserved_strides(shape, tensors.front().strides);
}

/// Of the operators that are not element-wise, most take no `out=` of another type.
void check_output_dtype(const Rule& rule, const Call& call, DType result, DType out) {
  const bool converts = rule.elementwise || rule.converts_output || rule.strides == StrideRule::Elementwise;
  const bool byte_for_bool = result == DType::Bool && out == DType::U8;
  if (call.in_place || converts || result == out || byte_for_bool) return;
  raise(ErrorKind::Runtime, {.where = call.operator_name,
                             .what = concat("Expected out tensor to have dtype ", info(result).torch_name, ", but got ",
                                            info(out).torch_name, " instead"),
                             .action = "give an out= of that dtype"});
}

void add_outputs(const Rule& rule, Context& context, const Results& results, Lowered& lowered,
                 std::vector<ir::Value>& graph_results) {
  const Call& call = context.call;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].valid()) {
      lowered.outputs.emplace_back().defined = false;
      continue;
    }
    const ir::TensorType type = context.b.type(results[i]);
    if (i >= call.destinations.size()) {
      lowered.outputs.push_back({type, fresh_strides(rule, context, type.shape, i)});
      graph_results.push_back(results[i]);
      continue;
    }
    const TensorArgument& destination = call.destinations[i];
    check_cast(call, type.dtype, destination.type.dtype);
    check_output_dtype(rule, call, type.dtype, destination.type.dtype);
    if (call.in_place) check_in_place_shape(call, type.shape, destination.type.shape);
    check_writable(call, destination);
    lowered.outputs.push_back({destination.type, destination.strides, destination.operand});
    graph_results.push_back(context.b.convert(results[i], destination.type.dtype));
  }
}

void add_writes(Context& context, Lowered& lowered, std::vector<ir::Value>& graph_results) {
  for (const Write& write : context.writes) {
    for_each_tensor(context.call, [&](const TensorArgument& tensor) {
      if (tensor.operand != write.operand) return;
      check_writable(context.call, tensor);
      lowered.outputs.push_back({tensor.type, tensor.strides, tensor.operand, false});
      graph_results.push_back(context.b.convert(write.value, tensor.type.dtype));
    });
  }
}

bool needs_resize(const Context& context, const Results& results) {
  const Call& call = context.call;
  if (call.in_place) return false;
  for (size_t i = 0; i < call.destinations.size() && i < results.size(); ++i) {
    if (results[i].valid() && context.b.shape(results[i]) != call.destinations[i].type.shape) return true;
  }
  return false;
}

}  // namespace

Lowered lower(const Rule& rule, const Call& call, ir::Builder builder) {
  Context context(builder, call);
  const Results results = rule.elementwise ? lower_elementwise(rule, context) : rule.function(context);
  Lowered lowered;
  if (needs_resize(context, results)) {
    for (size_t i = 0; i < results.size(); ++i) {
      const Dims shape = results[i].valid() ? builder.shape(results[i]) : Dims{};
      lowered.resize_destinations.push_back(shape);
      lowered.resize_strides.push_back(fresh_strides(rule, context, shape, i));
    }
    return lowered;
  }
  std::vector<ir::Value> graph_results;
  add_outputs(rule, context, results, lowered, graph_results);
  add_writes(context, lowered, graph_results);
  lowered.random_blocks = context.random_blocks;
  lowered.graph = builder.finish(std::move(graph_results));
  return lowered;
}

}  // namespace opentrn::lowering
