// One ATen overload with a lowering: what the dispatcher knows about its schema before any call.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <vector>

#include "lowering/rule.h"
#include "runtime/counters.h"

namespace opentrn::torch_backend {

/// How an argument enters key and call.
enum class ArgumentKind {
  Tensor,
  TensorList,
  RuntimeScalar,     // its value is an operand, only its type is in the key
  StructuralScalar,  // its value shapes the graph
  ScalarList,
  Integer,
  Bool,
  IntegerList,
  BoolList,
  DType,
  Text,
  Generator,
  Ignored,  // layout, device, pin_memory: they have no influence on the result's content
};

struct ArgumentPlan {
  std::string name;
  ArgumentKind kind = ArgumentKind::Ignored;
  bool written = false;      // in-place or out=
  bool destination = false;  // an `out` argument: not an argument of the functional overload
};

struct Operator {
  const lowering::Rule* rule = nullptr;
  std::string name;  // of this overload, with namespace: "aten::add_.Tensor"
  std::vector<ArgumentPlan> arguments;
  bool in_place = false;  // results go to the memory of the first argument
  size_t returns = 0;
  runtime::OperatorCounter* counter = nullptr;
};

/// Derives the plan of an overload from its schema.
Operator plan_operator(const lowering::Rule& rule, const c10::FunctionSchema& schema);

/// An overload that runs through a rule: the functional one, or an in-place or out= variant with the same arguments.
struct Variant {
  c10::OperatorHandle handle;
  const lowering::Rule* rule;
};

/// All overloads of namespace aten that the rules cover, found by comparing schemas.
std::vector<Variant> find_variants();

}  // namespace opentrn::torch_backend
