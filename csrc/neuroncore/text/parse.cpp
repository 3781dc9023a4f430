#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "neuroncore/text.h"
#include "neuroncore/text/lexer.h"
#include "neuroncore/text/names.h"

namespace opentrn::neuroncore {

namespace {

using text::Lexer;
using text::Token;

class Parser {
 public:
  explicit Parser(std::string_view source) : lexer_(source) {}

  Program run() {
    lexer_.expect("program");
    program_.name = lexer_.string();
    lexer_.expect("target");
    program_.target = lexer_.string();
    if (lexer_.accept("registers")) program_.registers = number();
    lexer_.expect("{");
    while (!lexer_.is("for") && !lexer_.is("#") && !lexer_.is("}")) declaration();
    body(program_.body);
    if (lexer_.token() != Token::End) lexer_.fail("unexpected text", "nothing more");
    return std::move(program_);
  }

 private:
  static constexpr int64_t kMostNumbered = 1 << 24;  // loops and instructions of one program

  int32_t number() {
    const int64_t value = lexer_.integer();
    if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
      lexer_.fail("a number is too large", "32 bits");
    return static_cast<int32_t>(value);
  }

  /// The number of a loop or instruction, for which `list` is made long enough.
  template <typename Item>
  size_t numbered(std::vector<Item>& list) {
    const int64_t value = lexer_.integer();
    if (value < 0 || value > kMostNumbered) lexer_.fail("a number is out of range", concat("0 .. ", kMostNumbered));
    const auto at = static_cast<size_t>(value);
    if (at >= list.size()) list.resize(at + 1);
    return at;
  }

  DType dtype() {
    std::string word = lexer_.word("a type");
    if (lexer_.accept("<")) {
      word += "<" + lexer_.word("a type") + ">";
      lexer_.expect(">");
    }
    const auto found = dtype_from_name(word);
    if (!found) lexer_.fail(concat("there is no type '", word, "'"), "f32, bf16, i32, ...");
    return *found;
  }

  void declaration() {
    if (lexer_.accept("constant")) return constant();
    if (lexer_.accept("library")) return library();
    if (lexer_.accept("text")) return text_of_errors();
    if (lexer_.accept("share")) return share();
    buffer();
  }

  void constant() {
    const auto at = static_cast<size_t>(number());
    if (at != program_.constants.size()) lexer_.fail("constants are not in order", concat(program_.constants.size()));
    lexer_.expect("=");
    program_.constants.push_back(hexadecimal());
  }

  std::vector<std::byte> hexadecimal() {
    // "0x" alone, of an empty constant, is a number and a word.
    if (lexer_.token() == Token::Number && lexer_.accept("0")) {
      lexer_.expect("x");
      return {};
    }
    if (lexer_.token() != Token::Hexadecimal || lexer_.text().size() % 2 != 0)
      lexer_.fail("unexpected text", "bytes in hexadecimal digits");
    const std::string& digits = lexer_.text();
    std::vector<std::byte> bytes;
    bytes.reserve(digits.size() / 2 - 1);
    const auto value = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
    for (size_t i = 2; i < digits.size(); i += 2)
      bytes.push_back(static_cast<std::byte>(value(digits[i]) * 16 + value(digits[i + 1])));
    lexer_.advance();
    return bytes;
  }

  void library() {
    if (static_cast<size_t>(number()) != program_.library.size())
      lexer_.fail("library calls are not in order", concat(program_.library.size()));
    LibraryCall call;
    call.name = lexer_.string();
    lexer_.expect("cost");
    const Immediate cost = immediate_value(DType::F64);
    std::memcpy(&call.cost_cycles, cost.bytes.data(), sizeof call.cost_cycles);
    lexer_.expect("text");
    call.text = lexer_.string();
    program_.library.push_back(std::move(call));
  }

  void text_of_errors() {
    if (static_cast<size_t>(number()) != program_.texts.size())
      lexer_.fail("texts are not in order", concat(program_.texts.size()));
    lexer_.expect("=");
    program_.texts.push_back(lexer_.string());
  }

  void share() {
    SharedMemory shared;
    lexer_.expect("result");
    shared.result = number();
    lexer_.expect("parameter");
    shared.parameter = number();
    program_.shared.push_back(shared);
  }

  void buffer() {
    Buffer buffer;
    const std::string space = lexer_.word("hbm, sbuf, psum, constant, library, text, share, for or #");
    if (space == "sbuf")
      buffer.space = Space::Sbuf;
    else if (space == "psum")
      buffer.space = Space::Psum;
    else if (space != "hbm")
      lexer_.fail(concat("there is no memory '", space, "'"), "hbm, sbuf or psum");
    lexer_.expect("%");
    const std::string reference = lexer_.text();
    if (lexer_.token() != Token::Word && lexer_.token() != Token::Number) lexer_.fail("unexpected text", "a name");
    if (!buffers_.emplace(reference, static_cast<int32_t>(program_.buffers.size())).second)
      lexer_.fail("a buffer of this name exists already", "another name");
    lexer_.advance();
    buffer.name = reference;
    lexer_.expect(":");
    buffer.dtype = dtype();
    lexer_.expect("[");
    buffer.elements = lexer_.integer();
    if (lexer_.accept("x")) {
      buffer.partitions = static_cast<int32_t>(buffer.elements);
      buffer.elements = lexer_.integer();
    }
    lexer_.expect("]");
    role(buffer);
    if (lexer_.accept("copies")) buffer.copies = number();
    if (lexer_.accept("at")) buffer.address = lexer_.integer();
    if (lexer_.accept("name")) buffer.name = lexer_.string();
    program_.buffers.push_back(std::move(buffer));
  }

  void role(Buffer& buffer) {
    for (const Role role : {Role::Parameter, Role::Result, Role::Constant, Role::Internal}) {
      // A constant's data is a declaration that begins with the same word, followed by "=".
      if (!lexer_.is(text::name(role)) || (role == Role::Constant && constant_data_follows())) continue;
      lexer_.advance();
      buffer.role = role;
      buffer.index = number();
      return;
    }
  }

  bool constant_data_follows() const {
    Lexer ahead = lexer_;
    ahead.advance();
    ahead.advance();
    return ahead.is("=");
  }

  void body(std::vector<Statement>& statements) {
    // Loops are parsed into lists of their own: `statements` may move when a loop is added.
    std::vector<Statement> parsed;
    while (!lexer_.accept("}")) {
      if (lexer_.accept("#"))
        parsed.push_back({.instruction = instruction()});
      else if (lexer_.accept("for"))
        parsed.push_back({.loop = loop()});
      else
        lexer_.fail("unexpected text", "#, for or }");
    }
    statements = std::move(parsed);
  }

  int32_t loop_name() {
    lexer_.expect("%");
    return indexed('i');
  }

  /// The number in a word like "i12".
  int32_t indexed(char kind) {
    const std::string word = lexer_.text();
    const bool fits = lexer_.token() == Token::Word && word.size() > 1 && word.size() < 8 && word.front() == kind &&
                      word.find_first_not_of("0123456789", 1) == std::string::npos;
    if (!fits) lexer_.fail("unexpected text", concat("'", kind, "' and a number"));
    lexer_.advance();
    return std::stoi(word.substr(1));
  }

  int32_t loop() {
    const int32_t number = loop_name();
    if (static_cast<size_t>(number) >= program_.loops.size()) program_.loops.resize(static_cast<size_t>(number) + 1);
    Loop loop;
    lexer_.expect("in");
    lexer_.expect("0");
    lexer_.expect("..");
    loop.count = lexer_.integer();
    loop.independent = lexer_.accept("independent");
    lexer_.expect("{");
    body(loop.body);
    program_.loops[static_cast<size_t>(number)] = std::move(loop);
    return number;
  }

  int32_t instruction() {
    const size_t number = numbered(program_.instructions);
    Instruction instruction;
    const std::string word = lexer_.word("an instruction");
    const size_t dot = word.rfind('.');
    const auto opcode = opcode_from_name(word.substr(0, dot));
    const auto engine = engine_from_name(dot == std::string::npos ? "" : std::string_view(word).substr(dot + 1));
    if (!opcode || !engine) lexer_.fail(concat("there is no instruction '", word, "'"), "nc_matmul.tensor, ...");
    instruction.opcode = *opcode;
    instruction.engine = *engine;
    if (lexer_.is("%")) accesses(instruction.outputs);
    if (lexer_.accept("<-")) accesses(instruction.inputs);
    if (lexer_.accept("{")) attributes(instruction);
    if (lexer_.accept("wait")) waits(instruction);
    program_.instructions[number] = std::move(instruction);
    return static_cast<int32_t>(number);
  }

  void accesses(std::vector<Access>& list) {
    do list.push_back(access());
    while (lexer_.accept(","));
  }

  Access access() {
    Access access;
    lexer_.expect("%");
    const auto found = buffers_.find(lexer_.text());
    if (found == buffers_.end()) lexer_.fail("there is no such buffer", "the name of a buffer");
    lexer_.advance();
    access.buffer = found->second;
    access.dtype = program_.buffers[static_cast<size_t>(found->second)].dtype;
    lexer_.expect("[");
    if (!lexer_.is("]")) {
      do access.pattern.push_back(dimension());
      while (lexer_.accept(","));
    }
    lexer_.expect("]");
    if (lexer_.accept("@")) access.partition = number();
    offset(access);
    if (lexer_.accept("as")) access.dtype = dtype();
    if (lexer_.accept("index")) index(access);
    return access;
  }

  PatternDimension dimension() {
    PatternDimension dimension;
    dimension.step = lexer_.integer();
    lexer_.expect("x");
    dimension.size = lexer_.integer();
    if (!lexer_.accept(":")) return dimension;
    dimension.tail = lexer_.integer();
    lexer_.expect("@");
    dimension.tail_loop = loop_name();
    return dimension;
  }

  void offset(Access& access) {
    while (lexer_.is("+") || lexer_.is("-")) {
      const int64_t value = signed_integer();
      if (lexer_.accept("*"))
        access.terms.push_back(term(value));
      else
        access.offset += value;
    }
  }

  int64_t signed_integer() {
    if (lexer_.accept("+")) return lexer_.integer();
    return lexer_.integer();
  }

  Term term(int64_t coefficient) {
    lexer_.expect("%");
    const bool is_register = lexer_.text().starts_with('r');
    return {.index = indexed(is_register ? 'r' : 'i'), .coefficient = coefficient, .is_register = is_register};
  }

  void index(Access& access) {
    lexer_.expect("(");
    access.index_operand = number();
    lexer_.expect(",");
    lexer_.expect("step");
    access.index_step = lexer_.integer();
    lexer_.expect(",");
    lexer_.expect("limit");
    access.index_limit = lexer_.integer();
    lexer_.expect(")");
  }

  void waits(Instruction& instruction) {
    do {
      Wait wait;
      lexer_.expect("#");
      wait.instruction = number();
      if (lexer_.accept("(")) {
        wait.iterations = -number();
        lexer_.expect(")");
      }
      instruction.waits.push_back(wait);
    } while (lexer_.accept(","));
  }

  void attributes(Instruction& instruction) {
    do attribute(instruction, lexer_.word("an attribute"));
    while (lexer_.accept(","));
    lexer_.expect("}");
  }

  void attribute(Instruction& instruction, const std::string& key) {
    if (flag(instruction, key)) return;
    lexer_.expect("=");
    if (key == "function")
      instruction.function = named(activation_from_name, "function");
    else if (key == "op0")
      instruction.op0 = named(alu_op_from_name, "operation");
    else if (key == "op1")
      instruction.op1 = named(alu_op_from_name, "operation");
    else if (key == "scalar0")
      scalar(instruction, 0);
    else if (key == "scalar1")
      scalar(instruction, 1);
    else if (key == "integers")
      integers(instruction);
    else if (key == "library")
      instruction.library = number();
    else if (key == "text")
      instruction.text = number();
    else if (key == "terms")
      terms(instruction.terms);
    else if (key == "register") {
      lexer_.expect("%");
      instruction.register_index = indexed('r');
    } else if (key == "out_of_bounds") {
      lexer_.expect("skip");
      instruction.out_of_bounds = OutOfBounds::Skip;
    } else {
      lexer_.fail(concat("there is no attribute '", key, "'"), "op0, scalar0, function, ...");
    }
  }

  static bool flag(Instruction& instruction, std::string_view key) {
    if (key == "reverse0") return instruction.reverse0 = true;
    if (key == "reverse1") return instruction.reverse1 = true;
    if (key == "accumulate") return instruction.accumulate = true;
    if (key == "is_transpose") return instruction.is_transpose = true;
    if (key == "negate") return instruction.negate = true;
    return false;
  }

  template <typename Value>
  Value named(std::optional<Value> (*from_name)(std::string_view), const char* what) {
    const auto found = from_name(lexer_.text());
    if (!found) lexer_.fail(concat("there is no such ", what), "one of the table");
    lexer_.advance();
    return *found;
  }

  void scalar(Instruction& instruction, size_t position) {
    (position == 0 ? instruction.has_scalar0 : instruction.has_scalar1) = true;
    if (lexer_.accept("input"))
      instruction.scalar_operand[position] = number();
    else
      instruction.scalars[position] = immediate_value(dtype());
  }

  Immediate immediate_value(DType dtype) {
    if (lexer_.token() == Token::Hexadecimal) {
      Immediate value{.dtype = dtype};
      const std::vector<std::byte> bytes = hexadecimal();
      if (static_cast<int64_t>(bytes.size()) != size_of(dtype))
        lexer_.fail("wrong number of bytes", concat(size_of(dtype)));
      std::copy(bytes.begin(), bytes.end(), value.bytes.begin());
      return value;
    }
    const std::string sign = lexer_.accept("-") ? "-" : "";
    if (lexer_.token() != Token::Number) lexer_.fail("unexpected text", "a number");
    const Immediate value = text::from_decimal(dtype, sign + lexer_.text());
    lexer_.advance();
    return value;
  }

  void integers(Instruction& instruction) {
    lexer_.expect("[");
    do instruction.integers.push_back(lexer_.integer());
    while (lexer_.accept(","));
    lexer_.expect("]");
  }

  void terms(std::vector<Term>& list) {
    while (lexer_.is("+") || lexer_.is("-")) {
      const int64_t value = signed_integer();
      lexer_.expect("*");
      list.push_back(term(value));
    }
  }

  Lexer lexer_;
  Program program_;
  std::unordered_map<std::string, int32_t> buffers_;
};

}  // namespace

Program parse(std::string_view text) { return Parser(text).run(); }

}  // namespace opentrn::neuroncore
