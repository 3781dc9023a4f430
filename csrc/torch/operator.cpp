#include "torch/operator.h"

#include <map>
#include <set>
#include <string_view>

#include "base/error.h"

namespace opentrn::torch_backend {
namespace {

bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool contains_word(std::string_view words, std::string_view word) {
  size_t begin = 0;
  while (begin < words.size()) {
    const size_t end = std::min(words.find(' ', begin), words.size());
    if (words.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

c10::TypePtr without_optional(const c10::TypePtr& type) {
  const auto optional = type->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : type;
}

ArgumentKind list_kind(const c10::TypePtr& element) {
  switch (without_optional(element)->kind()) {
    case c10::TypeKind::TensorType: return ArgumentKind::TensorList;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType: return ArgumentKind::IntegerList;
    case c10::TypeKind::BoolType: return ArgumentKind::BoolList;
    case c10::TypeKind::FloatType:
    case c10::TypeKind::NumberType: return ArgumentKind::ScalarList;
    default: return ArgumentKind::Ignored;
  }
}

ArgumentKind kind_of(const lowering::Rule& rule, const c10::Argument& argument) {
  // The real type tells a ScalarType, Layout or MemoryFormat from an int.
  const c10::TypePtr type = without_optional(argument.real_type());
  switch (type->kind()) {
    case c10::TypeKind::TensorType: return ArgumentKind::Tensor;
    case c10::TypeKind::ListType: return list_kind(type->expectRef<c10::ListType>().getElementType());
    case c10::TypeKind::FloatType:
    case c10::TypeKind::NumberType:
      return contains_word(rule.structural, argument.name()) ? ArgumentKind::StructuralScalar
                                                             : ArgumentKind::RuntimeScalar;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
    case c10::TypeKind::MemoryFormatType: return ArgumentKind::Integer;
    case c10::TypeKind::BoolType: return ArgumentKind::Bool;
    case c10::TypeKind::ScalarTypeType: return ArgumentKind::DType;
    case c10::TypeKind::StringType: return ArgumentKind::Text;
    case c10::TypeKind::GeneratorType: return ArgumentKind::Generator;
    default: return ArgumentKind::Ignored;
  }
}

bool is_factory(const c10::FunctionSchema& schema) {
  for (const auto& argument : schema.arguments()) {
    if (argument.name() == "pin_memory") return true;
  }
  return false;
}

bool is_tensor_option(const std::string& name) {
  return name == "dtype" || name == "layout" || name == "device" || name == "pin_memory";
}

/// Names and types of the arguments that are not `out` destinations, e.g. "self Tensor,other Tensor,alpha Scalar,". A
/// factory's tensor options are those of the destination in its out= variant.
std::string signature(const c10::FunctionSchema& schema) {
  const bool factory = is_factory(schema);
  std::string text;
  for (const auto& argument : schema.arguments()) {
    if (argument.is_out() || (factory && is_tensor_option(argument.name()))) continue;
    text += argument.name() + " " + argument.real_type()->str() + ",";
  }
  return text;
}

bool has_destination(const c10::FunctionSchema& schema) {
  for (const auto& argument : schema.arguments()) {
    if (argument.is_out()) return true;
  }
  return false;
}

/// "add_.Tensor" and "add.out" both belong to "add"; dunder and private names keep their leading underscores.
std::string family(const std::string& name) {
  std::string base = name.substr(name.find("::") + 2);
  if (base.size() > 1 && base.back() == '_' && base[base.size() - 2] != '_') base.pop_back();
  for (const std::string_view suffix : {"_functional"}) {
    if (base.ends_with(suffix)) base.resize(base.size() - suffix.size());
  }
  return base;
}

/// Every aten overload with a schema, by family.
std::map<std::string, std::vector<c10::OperatorHandle>> overloads_by_family() {
  std::map<std::string, std::vector<c10::OperatorHandle>> result;
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (!name.name.starts_with("aten::")) continue;
    const auto handle = dispatcher.findSchema(name);
    if (handle) result[family(name.name)].push_back(*handle);
  }
  return result;
}

std::optional<c10::OperatorHandle> functional_overload(std::string_view rule_name) {
  const size_t dot = rule_name.find('.');
  const std::string base = "aten::" + std::string(rule_name.substr(0, dot));
  const std::string overload(dot == std::string_view::npos ? "" : rule_name.substr(dot + 1));
  return c10::Dispatcher::singleton().findSchema({base, overload});
}

/// Operators that are nothing but compositions keep them, and with them their derivatives. With a CPU kernel beside the
/// composition the operator has a derivative of its own, and the composition would only be less exact.
bool is_composed(const c10::OperatorHandle& handle) {
  return handle.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
         !handle.hasKernelForDispatchKey(c10::DispatchKey::CPU);
}

/// Rules named by an in-place schema (`_fused_adamw_`) write to their arguments and return nothing: they have no
/// variants.
bool writes_itself(const c10::OperatorHandle& handle) { return handle.schema().is_mutable(); }

bool returns_tensors(const c10::FunctionSchema& schema) {
  for (const auto& result : schema.returns()) {
    if (result.type()->kind() != c10::TypeKind::TensorType) return false;
  }
  return true;
}

}  // namespace

Operator plan_operator(const lowering::Rule& rule, const c10::FunctionSchema& schema) {
  Operator result;
  result.rule = &rule;
  result.name = schema.name() + (schema.overload_name().empty() ? "" : "." + schema.overload_name());
  result.returns = schema.returns().size();
  result.counter = &runtime::operator_counter(result.name);
  for (const auto& argument : schema.arguments()) {
    ArgumentPlan plan;
    plan.name = argument.name();
    plan.kind = kind_of(rule, argument);
    plan.written = is_written(argument);
    plan.destination = argument.is_out();
    result.arguments.push_back(std::move(plan));
  }
  const bool writes_first = !result.arguments.empty() && result.arguments.front().written;
  result.in_place = writes_first && !result.arguments.front().destination && result.returns > 0;
  return result;
}

std::vector<Variant> find_variants() {
  const auto families = overloads_by_family();
  std::vector<Variant> variants;
  std::set<std::string> taken;
  for (const lowering::Rule& rule : lowering::rules()) {
    if (rule.name.starts_with("opentrn.")) continue;
    const auto functional = functional_overload(rule.name);
    if (!functional) {
      raise(ErrorKind::Internal, {.where = std::string(rule.name), .what = "no ATen overload has this rule's name"});
    }
    const std::string wanted = signature(functional->schema());
    for (const c10::OperatorHandle& handle : families.at(family(functional->schema().name()))) {
      const c10::FunctionSchema& schema = handle.schema();
      const bool same = schema.operator_name() == functional->schema().operator_name();
      const bool variant = !writes_itself(*functional) && (schema.is_mutable() || has_destination(schema));
      if (!same && !(variant && signature(schema) == wanted)) continue;
      if (is_factory(schema) || is_composed(handle) || !returns_tensors(schema)) continue;
      const std::string name = schema.name() + "." + schema.overload_name();
      if (taken.insert(name).second) variants.push_back({handle, &rule});
    }
  }
  return variants;
}

}  // namespace opentrn::torch_backend
