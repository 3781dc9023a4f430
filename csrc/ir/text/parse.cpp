// Modules, functions and regions.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "ir/constants.h"
#include "ir/text/parser.h"

namespace opentrn::ir {

namespace text {

namespace {

struct ResultName {
  Token token;
  int64_t count = 1;  // of "%0:2"
};

std::vector<ResultName> parse_result_names(Lexer& lexer) {
  std::vector<ResultName> names;
  if (lexer.peek().kind != TokenKind::Value) return names;
  do {
    ResultName name{lexer.expect_kind(TokenKind::Value, "a result or the end of the function")};
    if (lexer.take(":")) name.count = parse_integer(lexer);
    names.push_back(std::move(name));
  } while (lexer.take(","));
  lexer.expect("=");
  return names;
}

void bind_results(const Lexer& lexer, const std::vector<ResultName>& names, const std::vector<Value>& results,
                  Scope& scope) {
  if (names.empty()) return;  // nobody reads them
  size_t next = 0;
  for (const ResultName& name : names) {
    for (int64_t i = 0; i < name.count; ++i, ++next) {
      if (next >= results.size()) lexer.fail(name.token, "an operation has fewer results than names");
      const bool one = name.count == 1;
      define_name(lexer, name.token, one ? name.token.text : concat(name.token.text, "#", i), results[next], scope);
    }
  }
  if (next != results.size()) lexer.fail(names.front().token, "an operation has more results than names");
}

struct WrittenParameter {
  Token name;
  WrittenType type;
};

// "(%a: T {...}, %b: T)"
std::vector<WrittenParameter> parse_parameters(Lexer& lexer) {
  std::vector<WrittenParameter> parameters;
  lexer.expect("(");
  if (lexer.take(")")) return parameters;
  do {
    const Token name = lexer.expect_kind(TokenKind::Value, "a parameter");
    lexer.expect(":");
    parameters.push_back({name, parse_type(lexer)});
    if (lexer.peek().is("{")) parse_dictionary(lexer);
    lexer.skip_location();
  } while (lexer.take(","));
  lexer.expect(")");
  return parameters;
}

// "-> T" or "-> (T {...}, T)"; nothing for a function without results.
std::vector<WrittenType> parse_result_types(Lexer& lexer) {
  std::vector<WrittenType> types;
  if (!lexer.take("->")) return types;
  if (!lexer.take("(")) return {parse_type(lexer)};
  if (lexer.take(")")) return types;
  do {
    types.push_back(parse_type(lexer));
    if (lexer.peek().is("{")) parse_dictionary(lexer);
  } while (lexer.take(","));
  lexer.expect(")");
  return types;
}

struct Header {
  Token name;
  bool is_private = false;
  std::vector<WrittenParameter> parameters;
  std::vector<WrittenType> results;
};

Header parse_header(Lexer& lexer) {
  Header header;
  lexer.expect_word("func.func");
  if (!lexer.take_word("public") && !lexer.take_word("nested")) header.is_private = lexer.take_word("private");
  header.name = lexer.expect_kind(TokenKind::Symbol, "the name of the function");
  header.parameters = parse_parameters(lexer);
  header.results = parse_result_types(lexer);
  if (lexer.take_word("attributes")) parse_dictionary(lexer);
  return header;
}

bool all_match(const std::vector<WrittenType>& written, const Graph& graph, const std::vector<Value>& values) {
  return std::equal(written.begin(), written.end(), values.begin(), values.end(),
                    [&](const WrittenType& type, Value value) { return type.matches(graph.type(value)); });
}

std::vector<Value> parse_function_body(Lexer& lexer, const Header& header, Scope& scope) {
  lexer.expect("{");
  const std::vector<Value> results = parse_body(lexer, scope);
  lexer.expect("}");
  if (!all_match(header.results, scope.graph, results)) {
    lexer.fail(header.name, "the function returns other types than it declares");
  }
  return results;
}

void mark_encoding(Scope& scope, Value value, const WrittenType& type) {
  if (type.quantization) scope.quantizations[value.id] = *type.quantization;
  if (type.narrow_bits > 0) scope.narrow_bits[value.id] = type.narrow_bits;
}

// The size of what is written "?", and the parameters that hand it over.
void bind_entry_parameters(const Lexer& lexer, const std::vector<WrittenParameter>& parameters, Scope& scope) {
  const auto is_static = [](const WrittenParameter& parameter) { return parameter.type.is_static(); };
  const auto dynamic = std::find_if_not(parameters.begin(), parameters.end(), is_static);
  const std::optional<int64_t> size = scope.source->options.dynamic_size;
  for (auto parameter = parameters.begin(); parameter != parameters.end(); ++parameter) {
    TensorType type = parameter->type.type;
    if (!is_static(*parameter) && !size) {
      lexer.fail(parameter->name, "a size is not known", to_string(parameter->type),
                 "static sizes, or a value for those written '?'");
    }
    std::replace(type.shape.begin(), type.shape.end(), kDynamic, size.value_or(0));
    const bool is_size = size && parameter < dynamic && dynamic != parameters.end() && type.rank() == 0 &&
                         (type.dtype == DType::I32 || type.dtype == DType::I64);
    Value value;
    if (is_size) {
      value = emit_constant(scope, type, element_bytes(type.dtype, static_cast<double>(*size)));
    } else {
      value = scope.graph.new_value(type);
      scope.graph.parameters.push_back(value);
    }
    mark_encoding(scope, value, parameter->type);
    define_name(lexer, parameter->name, parameter->name.text, value, scope);
  }
}

Graph parse_entry(Source& source) {
  Lexer lexer(source.text, source.functions.at(source.entry));
  Scope scope{.source = &source};
  source.active.insert(source.entry);
  const Header header = parse_header(lexer);
  scope.graph.name = header.name.text;
  bind_entry_parameters(lexer, header.parameters, scope);
  scope.graph.results = parse_function_body(lexer, header, scope);
  return std::move(scope.graph);
}

// Notes where the functions of a module are, up to the bracket that ends it.
void find_functions(Lexer& lexer, Source& source) {
  std::vector<std::string> open_functions;
  std::string only;
  if (!lexer.peek().is_word("func.func")) lexer.fail_expected("'func.func'");
  while (lexer.peek().is_word("func.func")) {
    const size_t position = lexer.peek().position;
    const Header header = parse_header(lexer);
    if (lexer.peek().is("{")) {
      lexer.skip_brackets("{", "}");
      if (!source.functions.emplace(header.name.text, position).second) {
        lexer.fail(header.name, "a function is defined twice", "@" + header.name.text);
      }
      only = header.name.text;
      if (!header.is_private) open_functions.push_back(header.name.text);
    }
    lexer.skip_location();
  }
  if (source.functions.contains("main")) {
    source.entry = "main";
  } else if (open_functions.size() == 1) {
    source.entry = open_functions.front();
  } else if (source.functions.size() == 1) {
    source.entry = only;
  } else {
    lexer.fail(lexer.peek(), "the module has no function to start with",
               concat(source.functions.size(), " functions, ", open_functions.size(), " of them not private"),
               "one named main, or only one that is not private");
  }
}

// "#loc1 = loc(...)"
void skip_aliases(Lexer& lexer) {
  while (lexer.peek().kind == TokenKind::Alias) {
    lexer.next();
    lexer.expect("=");
    parse_attribute_value(lexer);
  }
}

}  // namespace

void define_name(const Lexer& lexer, const Token& token, std::string name, Value value, Scope& scope) {
  if (!scope.names.emplace(std::move(name), value).second)
    lexer.fail(token, "a value is defined twice", "%" + token.text);
}

namespace {

constexpr size_t kLargestCopiedConstant = 64;  // bytes

const Node* producer_of(const Graph& graph, Value value) {
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (std::find(node->results.begin(), node->results.end(), value) != node->results.end()) return &*node;
  }
  return nullptr;
}

// Small constants are copied into the region, so that its function is known without its surroundings.
Value capture(Value outer, Scope& scope) {
  const Graph& parent = scope.parent->graph;
  const Node* producer = producer_of(parent, outer);
  if (producer != nullptr && producer->op == Op::Constant) {
    const auto& data = producer->as<ConstantAttributes>().data;
    if (data.size() <= kLargestCopiedConstant) return emit_constant(scope, parent.type(outer), data);
  }
  std::vector<Value>& captures = *scope.captures;
  const auto found = std::find(captures.begin(), captures.end(), outer);
  const size_t own = scope.graph.parameters.size() - captures.size();
  if (found != captures.end()) return scope.graph.parameters[own + static_cast<size_t>(found - captures.begin())];
  captures.push_back(outer);
  add_captures(scope.graph, parent, captures, captures.size() - 1);
  return scope.graph.parameters.back();
}

}  // namespace

Value find_value(const Lexer& lexer, const Token& token, Scope& scope) {
  const auto found = scope.names.find(token.text);
  if (found != scope.names.end()) return found->second;
  const auto outside = scope.captured_names.find(token.text);
  if (scope.parent != nullptr && outside != scope.captured_names.end()) return outside->second;
  if (scope.parent == nullptr) lexer.fail(token, "a value is not defined here", "%" + token.text);
  const Value outer = find_value(lexer, token, *scope.parent);
  if (scope.parent->quantizations.contains(outer.id) || scope.parent->narrow_bits.contains(outer.id)) {
    lexer.fail(token, "a region reads a value of a type that the IR has no like of", "%" + token.text);
  }
  const Value value = capture(outer, scope);
  scope.captured_names.emplace(token.text, value);
  return value;
}

std::vector<Value> parse_body(Lexer& lexer, Scope& scope) {
  const auto at_return = [&] {
    const Token& token = lexer.peek();
    return token.is_word("return") || token.is_word("func.return") || token.is_word("stablehlo.return");
  };
  while (!at_return()) {
    const std::vector<ResultName> names = parse_result_names(lexer);
    std::vector<Value> results = append_statement(lexer, parse_statement(lexer, scope), scope);
    lexer.skip_location();
    bind_results(lexer, names, results, scope);
  }
  const Token where = lexer.next();
  std::vector<Value> results;
  while (lexer.peek().kind == TokenKind::Value) {
    results.push_back(find_value(lexer, lexer.next(), scope));
    if (!lexer.take(",")) break;
  }
  if (lexer.peek().is("{")) parse_dictionary(lexer);
  if (!results.empty()) {
    lexer.expect(":");
    std::vector<WrittenType> written{parse_type(lexer)};
    while (lexer.take(",")) written.push_back(parse_type(lexer));
    if (!all_match(written, scope.graph, results)) {
      lexer.fail(where, "the values returned have other types than written");
    }
  }
  lexer.skip_location();
  return results;
}

std::vector<Value> inline_function(const Lexer& lexer, const Token& where, Scope& scope, const std::string& name,
                                   const std::vector<Value>& arguments) {
  Source& source = *scope.source;
  const auto found = source.functions.find(name);
  if (found == source.functions.end()) lexer.fail(where, "there is no such function", "@" + name);
  if (!source.active.insert(name).second) lexer.fail(where, "a function calls itself", "@" + name);
  Lexer inner(source.text, found->second);
  const Header header = parse_header(inner);
  if (header.parameters.size() != arguments.size()) {
    lexer.fail(where, "a call has a wrong number of arguments", std::to_string(arguments.size()),
               std::to_string(header.parameters.size()));
  }
  // A function sees its parameters and nothing else.
  auto names = std::exchange(scope.names, {});
  Scope* parent = std::exchange(scope.parent, nullptr);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const WrittenParameter& parameter = header.parameters[i];
    if (!parameter.type.matches(scope.graph.type(arguments[i]))) {
      lexer.fail(where, concat("argument ", i, " of the call has a wrong type"),
                 opentrn::ir::to_string(scope.graph.type(arguments[i])), to_string(parameter.type));
    }
    define_name(inner, parameter.name, parameter.name.text, arguments[i], scope);
  }
  std::vector<Value> results = parse_function_body(inner, header, scope);
  scope.names = std::move(names);
  scope.parent = parent;
  source.active.erase(name);
  return results;
}

Graph parse_region(Lexer& lexer, Scope& parent, std::vector<Value>& captured,
                   const std::vector<Parameter>& parameters) {
  Scope scope{.source = parent.source, .parent = &parent, .captures = &captured};
  scope.graph.name = "region";
  const auto add = [&](const Token& name, const TensorType& type) {
    const Value value = scope.graph.new_value(type);
    scope.graph.parameters.push_back(value);
    define_name(lexer, name, name.text, value, scope);
  };
  for (const Parameter& parameter : parameters) add(parameter.name, parameter.type);
  lexer.expect("{");
  if (lexer.peek().kind == TokenKind::Block) {
    lexer.next();
    if (lexer.peek().is("(")) {
      for (const WrittenParameter& parameter : parse_parameters(lexer)) {
        add(parameter.name, plain_type(lexer, parameter.name, parameter.type));
      }
    }
    lexer.expect(":");
  }
  add_captures(scope.graph, parent.graph, captured, 0);
  scope.graph.results = parse_body(lexer, scope);
  lexer.expect("}");
  return std::move(scope.graph);
}

void add_captures(Graph& region, const Graph& parent, const std::vector<Value>& captured, size_t known) {
  for (size_t i = known; i < captured.size(); ++i) {
    region.parameters.push_back(region.new_value(parent.type(captured[i])));
  }
}

}  // namespace text

Graph parse(std::string_view source_text, const ParseOptions& options) {
  text::Lexer lexer(source_text);
  text::Source source{.text = source_text, .options = options, .functions = {}, .entry = {}};
  text::skip_aliases(lexer);
  const bool module = lexer.take_word("module");
  if (module) {
    if (lexer.peek().kind == text::TokenKind::Symbol) lexer.next();
    if (lexer.take_word("attributes")) text::parse_dictionary(lexer);
    lexer.expect("{");
  }
  text::find_functions(lexer, source);
  if (module && !lexer.take("}")) lexer.fail_expected("a function or the end of the module");
  lexer.skip_location();
  text::skip_aliases(lexer);
  if (lexer.peek().kind != text::TokenKind::End) lexer.fail_expected("the end of the text");
  return text::parse_entry(source);
}

std::vector<std::string> split_modules(std::string_view text) {
  constexpr std::string_view separator = "// -----";
  std::vector<std::string> modules(1);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(separator)) {
      modules.emplace_back();
    } else {
      modules.back() += line;
    }
    text.remove_prefix(end);
  }
  return modules;
}

}  // namespace opentrn::ir
