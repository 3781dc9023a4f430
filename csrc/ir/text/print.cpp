#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "ir/text.h"
#include "ir/text/printer.h"

namespace opentrn::ir {

namespace text {

std::string print_items(const Dims& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(values[i]);
  return text;
}

std::string print_list(const Dims& values) { return "[" + print_items(values) + "]"; }

std::string print_string(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string quoted = "\"";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      quoted += {'\\', character};
    } else if (code < 0x20 || code >= 0x7F) {
      quoted += {'\\', digits[code >> 4], digits[code & 15u]};
    } else {
      quoted += character;
    }
  }
  return quoted + "\"";
}

std::string print_types(const Graph& graph, const std::vector<Value>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) text += (i > 0 ? ", " : "") + to_string(graph.type(values[i]));
  return text;
}

std::string_view comparison_type(DType dtype) {
  switch (category(dtype)) {
    case Category::Signed: return "SIGNED";
    case Category::Bool:
    case Category::Unsigned: return "UNSIGNED";
    case Category::Float:
    case Category::Complex: return "FLOAT";
  }
  __builtin_unreachable();
}

std::string_view direction_name(ComparisonDirection direction) {
  switch (direction) {
    case ComparisonDirection::EQ: return "EQ";
    case ComparisonDirection::NE: return "NE";
    case ComparisonDirection::GE: return "GE";
    case ComparisonDirection::GT: return "GT";
    case ComparisonDirection::LE: return "LE";
    case ComparisonDirection::LT: return "LT";
  }
  __builtin_unreachable();
}

namespace {

bool is_plain_name(const std::string& name) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
  };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), plain);
}

Names name_values(const Graph& graph) {
  Names names(graph.types.size());
  for (size_t i = 0; i < graph.parameters.size(); ++i) {
    names[static_cast<size_t>(graph.parameters[i].id)] = "%arg" + std::to_string(i);
  }
  int64_t next = 0;
  for (const Node& node : graph.nodes) {
    for (const Value result : node.results) names[static_cast<size_t>(result.id)] = "%" + std::to_string(next++);
  }
  return names;
}

std::string join(const std::vector<Value>& values, const Names& names) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) text += (i > 0 ? ", " : "") + names[static_cast<size_t>(values[i].id)];
  return text;
}

std::string print_signature(const Graph& graph, const Names& names) {
  std::string text = "(";
  for (size_t i = 0; i < graph.parameters.size(); ++i) {
    const Value parameter = graph.parameters[i];
    text += (i > 0 ? ", " : "") + names[static_cast<size_t>(parameter.id)] + ": " + to_string(graph.type(parameter));
  }
  text += ")";
  if (graph.results.empty()) return text;
  const std::string results = print_types(graph, graph.results);
  return text + " -> " + (graph.results.size() == 1 ? results : "(" + results + ")");
}

std::string print_results(const Node& node, const Names& names) {
  return node.results.empty() ? "" : join(node.results, names) + " = ";
}

std::string print_return(const Graph& graph, const Names& names) {
  if (graph.results.empty()) return "    return\n";
  return "    return " + join(graph.results, names) + " : " + print_types(graph, graph.results) + "\n";
}

}  // namespace

}  // namespace text

std::string print(const Graph& graph) {
  const text::Names names = text::name_values(graph);
  const std::string name = text::is_plain_name(graph.name) ? graph.name : text::print_string(graph.name);
  std::string module = "module {\n  func.func @" + name + text::print_signature(graph, names) + " {\n";
  for (const Node& node : graph.nodes) {
    module += "    " + text::print_results(node, names) + text::print_node(graph, node, names) + "\n";
  }
  return module + text::print_return(graph, names) + "  }\n}\n";
}

}  // namespace opentrn::ir
