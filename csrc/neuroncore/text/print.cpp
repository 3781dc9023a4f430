#include <cstring>

#include "base/error.h"
#include "neuroncore/text.h"
#include "neuroncore/text/names.h"

namespace opentrn::neuroncore {

namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// Appends " + 5" or " - 5"; `unit` follows the number.
void add_signed(std::string& text, int64_t value, const std::string& unit = {}) {
  const bool minus = value < 0;
  const std::string digits = std::to_string(value);
  text += minus ? " - " : " + ";
  text += minus ? digits.substr(1) : digits;
  text += unit;
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program), names_(text::buffer_names(program)) {}

  std::string whole() {
    text_ = concat("program ", quoted(program_.name), " target ", quoted(program_.target));
    if (program_.registers > 0) text_ += concat(" registers ", program_.registers);
    text_ += " {\n";
    for (size_t b = 0; b < program_.buffers.size(); ++b) buffer(b);
    for (size_t c = 0; c < program_.constants.size(); ++c)
      text_ += concat("  constant ", c, " = ",
                      text::hexadecimal(program_.constants[c].data(), program_.constants[c].size()), "\n");
    for (size_t l = 0; l < program_.library.size(); ++l) library(l);
    for (size_t t = 0; t < program_.texts.size(); ++t)
      text_ += concat("  text ", t, " = ", quoted(program_.texts[t]), "\n");
    for (const SharedMemory& shared : program_.shared)
      text_ += concat("  share result ", shared.result, " parameter ", shared.parameter, "\n");
    body(program_.body, 1);
    text_ += "}\n";
    return std::move(text_);
  }

  std::string one(int32_t number) {
    instruction(number);
    return std::move(text_);
  }

 private:
  void buffer(size_t b) {
    const Buffer& buffer = program_.buffers[b];
    text_ += concat("  ", text::name(buffer.space), " %", names_[b], " : ", name(buffer.dtype), "[");
    if (buffer.space != Space::Hbm || buffer.partitions != 1) text_ += concat(buffer.partitions, " x ");
    text_ += concat(buffer.elements, "]");
    if (buffer.role != Role::Internal || buffer.index >= 0)
      text_ += concat(" ", text::name(buffer.role), " ", buffer.index);
    if (buffer.copies != 1) text_ += concat(" copies ", buffer.copies);
    if (buffer.address >= 0) text_ += concat(" at ", buffer.address);
    if (names_[b] != buffer.name) text_ += concat(" name ", quoted(buffer.name));
    text_ += '\n';
  }

  void library(size_t l) {
    const LibraryCall& call = program_.library[l];
    // The cost in the digits that give the same number again.
    Immediate cost{.dtype = DType::F64};
    std::memcpy(cost.bytes.data(), &call.cost_cycles, sizeof call.cost_cycles);
    text_ += concat("  library ", l, " ", quoted(call.name), " cost ", immediate_text(cost), " text ",
                    quoted(call.text), "\n");
  }

  void body(const std::vector<Statement>& statements, size_t depth) {
    const std::string indent(2 * depth, ' ');
    for (const Statement& statement : statements) {
      text_ += indent;
      if (statement.loop < 0) {
        instruction(statement.instruction);
        text_ += '\n';
        continue;
      }
      const Loop& loop = program_.loops[static_cast<size_t>(statement.loop)];
      text_ += concat("for %i", statement.loop, " in 0..", loop.count, loop.independent ? " independent {\n" : " {\n");
      body(loop.body, depth + 1);
      text_ += indent + "}\n";
    }
  }

  void instruction(int32_t number) {
    const Instruction& instruction = program_.instructions[static_cast<size_t>(number)];
    text_ += concat("#", number, " ", info(instruction.opcode).name, ".", name(instruction.engine));
    for (size_t i = 0; i < instruction.outputs.size(); ++i) {
      text_ += i == 0 ? " " : ", ";
      access(instruction.outputs[i]);
    }
    for (size_t i = 0; i < instruction.inputs.size(); ++i) {
      text_ += i == 0 ? " <- " : ", ";
      access(instruction.inputs[i]);
    }
    attributes(instruction);
    for (size_t i = 0; i < instruction.waits.size(); ++i) {
      text_ += concat(i == 0 ? " wait #" : ", #", instruction.waits[i].instruction);
      if (instruction.waits[i].iterations != 0) text_ += concat("(-", instruction.waits[i].iterations, ")");
    }
  }

  void access(const Access& access) {
    const Buffer& buffer = program_.buffers[static_cast<size_t>(access.buffer)];
    text_ += concat("%", names_[static_cast<size_t>(access.buffer)], "[");
    for (size_t d = 0; d < access.pattern.size(); ++d) {
      const PatternDimension& dimension = access.pattern[d];
      text_ += concat(d == 0 ? "" : ", ", dimension.step, " x ", dimension.size);
      if (dimension.tail_loop >= 0) text_ += concat(":", dimension.tail, "@%i", dimension.tail_loop);
    }
    text_ += "]";
    if (access.partition != 0) text_ += concat(" @", access.partition);
    if (access.offset != 0) add_signed(text_, access.offset);
    terms(access.terms);
    if (access.dtype != buffer.dtype) text_ += concat(" as ", name(access.dtype));
    if (access.index_operand >= 0)
      text_ +=
          concat(" index(", access.index_operand, ", step ", access.index_step, ", limit ", access.index_limit, ")");
  }

  void terms(const std::vector<Term>& terms) {
    for (const Term& term : terms)
      add_signed(text_, term.coefficient, concat("*%", term.is_register ? "r" : "i", term.index));
  }

  static std::string immediate_text(const Immediate& value) {
    const std::string digits = text::decimal(value);
    return digits.empty() ? text::hexadecimal(value.bytes.data(), static_cast<size_t>(size_of(value.dtype))) : digits;
  }

  void attributes(const Instruction& instruction) {
    std::string list;
    const auto add = [&](const std::string& text) { list += (list.empty() ? "" : ", ") + text; };
    const bool has_function =
        instruction.opcode == Opcode::Activation || instruction.opcode == Opcode::ActivationReduce;
    if (has_function || instruction.function != ActivationFunction::Copy)
      add(concat("function = ", info(instruction.function).name));
    if (instruction.op0 != AluOp::Bypass) add(concat("op0 = ", info(instruction.op0).name));
    if (instruction.op1 != AluOp::Bypass) add(concat("op1 = ", info(instruction.op1).name));
    if (instruction.reverse0) add("reverse0");
    if (instruction.reverse1) add("reverse1");
    for (const size_t i : {size_t{0}, size_t{1}}) scalar(instruction, i, add);
    if (instruction.accumulate) add("accumulate");
    if (instruction.is_transpose) add("is_transpose");
    if (instruction.negate) add("negate");
    if (instruction.out_of_bounds == OutOfBounds::Skip) add("out_of_bounds = skip");
    if (!instruction.integers.empty()) {
      std::string numbers;
      for (const int64_t number : instruction.integers) numbers += concat(numbers.empty() ? "" : ", ", number);
      add("integers = [" + numbers + "]");
    }
    if (instruction.library >= 0) add(concat("library = ", instruction.library));
    if (instruction.text >= 0) add(concat("text = ", instruction.text));
    if (instruction.register_index >= 0) add(concat("register = %r", instruction.register_index));
    if (!instruction.terms.empty()) {
      std::swap(text_, list);
      text_ += text_.empty() ? "terms =" : ", terms =";
      terms(instruction.terms);
      std::swap(text_, list);
    }
    if (!list.empty()) text_ += " {" + list + "}";
  }

  template <typename Add>
  static void scalar(const Instruction& instruction, size_t i, const Add& add) {
    if (!(i == 0 ? instruction.has_scalar0 : instruction.has_scalar1)) return;
    const int32_t operand = instruction.scalar_operand[i];
    const Immediate& value = instruction.scalars[i];
    add(operand >= 0 ? concat("scalar", i, " = input ", operand)
                     : concat("scalar", i, " = ", name(value.dtype), " ", immediate_text(value)));
  }

  const Program& program_;
  std::vector<std::string> names_;
  std::string text_;
};

}  // namespace

std::string print(const Program& program) { return Printer(program).whole(); }

std::string print(const Program& program, int32_t instruction) { return Printer(program).one(instruction); }

}  // namespace opentrn::neuroncore
