#include "neuroncore/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <random>

#include "base/error.h"
#include "neuroncore/builder.h"
#include "neuroncore/checker.h"
#include "neuroncore/dependencies.h"

namespace opentrn::neuroncore {
namespace {

Program sample() {
  Builder b("add one", "trn2");
  const int32_t source = b.parameter(0, DType::BF16, 1000);
  const int32_t result = b.result(0, DType::F32, 1000);
  const int32_t loop = b.begin_loop(4, true);
  const int32_t in = b.sbuf(DType::BF16, 128, 2, 2, "in");
  const int32_t out = b.sbuf(DType::F32, 128, 2, 2, "out");
  const PatternDimension rows{.step = 1, .size = 128, .tail_loop = loop, .tail = 116};
  const PatternDimension hbm_rows{.step = 2, .size = 128, .tail_loop = loop, .tail = 116};
  const std::vector<Term> terms{{.index = loop, .coefficient = 256}};
  b.dma_copy(b.tile(in, rows, {1, 2}), b.hbm_access(source, 0, terms, {hbm_rows, {1, 2}}));
  b.tensor_scalar(b.tile(out, rows, {1, 2}), b.tile(in, rows, {1, 2}), AluOp::Add, immediate(DType::F32, 1.5));
  b.dma_copy(b.hbm_access(result, 0, terms, {hbm_rows, {1, 2}}), b.tile(out, rows, {1, 2}), Engine::Scalar);
  b.end_loop();
  Program program = b.finish();
  add_waits(program);
  return program;
}

TEST(NeuronCoreText, IsReadable) {
  EXPECT_EQ(print(sample()),
            R"(program "add one" target "trn2" {
  hbm %parameter0 : bf16[1000] parameter 0
  hbm %result0 : f32[1000] result 0
  sbuf %in : bf16[128 x 2] copies 2
  sbuf %out : f32[128 x 2] copies 2
  for %i0 in 0..4 independent {
    #0 dma_copy.sync %in[1 x 128:116@%i0, 1 x 2] <- %parameter0[2 x 128:116@%i0, 1 x 2] + 256*%i0 wait #1(-2)
    #1 tensor_scalar.vector %out[1 x 128:116@%i0, 1 x 2] <- %in[1 x 128:116@%i0, 1 x 2] {op0 = add, scalar0 = f32 1.5} wait #0, #2(-2)
    #2 dma_copy.scalar %result0[2 x 128:116@%i0, 1 x 2] + 256*%i0 <- %out[1 x 128:116@%i0, 1 x 2] wait #1
  }
}
)");
}

void expect_same(const PatternDimension& a, const PatternDimension& b);
void expect_same(const Term& a, const Term& b);
void expect_same(const Access& a, const Access& b);
void expect_same(const Wait& a, const Wait& b);
void expect_same(const Statement& a, const Statement& b);
void expect_same(const Loop& a, const Loop& b);
void expect_same(const Buffer& a, const Buffer& b);
void expect_same(const LibraryCall& a, const LibraryCall& b);
void expect_same(const SharedMemory& a, const SharedMemory& b);
void expect_same(const Instruction& a, const Instruction& b);
void expect_same(const Program& a, const Program& b);

void expect_same(const PatternDimension& a, const PatternDimension& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.tail_loop, b.tail_loop);
  EXPECT_EQ(a.tail, b.tail);
}

void expect_same(const Term& a, const Term& b) {
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.coefficient, b.coefficient);
  EXPECT_EQ(a.is_register, b.is_register);
}

template <typename Item>
void expect_same(const std::vector<Item>& a, const std::vector<Item>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i]);
}

void expect_same(const Access& a, const Access& b) {
  EXPECT_EQ(a.buffer, b.buffer);
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.partition, b.partition);
  EXPECT_EQ(a.index_operand, b.index_operand);
  EXPECT_EQ(a.index_step, b.index_step);
  EXPECT_EQ(a.index_limit, b.index_limit);
  expect_same(a.terms, b.terms);
  expect_same(a.pattern, b.pattern);
}

void expect_same(const Wait& a, const Wait& b) {
  EXPECT_EQ(a.instruction, b.instruction);
  EXPECT_EQ(a.iterations, b.iterations);
}

void expect_same(const Statement& a, const Statement& b) {
  EXPECT_EQ(a.loop, b.loop);
  EXPECT_EQ(a.instruction, b.instruction);
}

void expect_same(const Loop& a, const Loop& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.independent, b.independent);
  expect_same(a.body, b.body);
}

void expect_same(const Buffer& a, const Buffer& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.space, b.space);
  EXPECT_EQ(a.role, b.role);
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.partitions, b.partitions);
  EXPECT_EQ(a.elements, b.elements);
  EXPECT_EQ(a.copies, b.copies);
  EXPECT_EQ(a.address, b.address);
}

void expect_same(const LibraryCall& a, const LibraryCall& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.cost_cycles, b.cost_cycles);
}

void expect_same(const SharedMemory& a, const SharedMemory& b) {
  EXPECT_EQ(a.result, b.result);
  EXPECT_EQ(a.parameter, b.parameter);
}

void expect_same(const Instruction& a, const Instruction& b) {
  EXPECT_EQ(a.opcode, b.opcode);
  EXPECT_EQ(a.engine, b.engine);
  EXPECT_EQ(a.op0, b.op0);
  EXPECT_EQ(a.op1, b.op1);
  EXPECT_EQ(a.reverse0, b.reverse0);
  EXPECT_EQ(a.reverse1, b.reverse1);
  EXPECT_EQ(a.function, b.function);
  EXPECT_EQ(a.has_scalar0, b.has_scalar0);
  EXPECT_EQ(a.has_scalar1, b.has_scalar1);
  EXPECT_EQ(a.scalar_operand, b.scalar_operand);
  for (size_t i = 0; i < a.scalars.size(); ++i) {
    EXPECT_EQ(a.scalars[i].dtype, b.scalars[i].dtype);
    EXPECT_EQ(a.scalars[i].bytes, b.scalars[i].bytes);
  }
  EXPECT_EQ(a.accumulate, b.accumulate);
  EXPECT_EQ(a.is_transpose, b.is_transpose);
  EXPECT_EQ(a.negate, b.negate);
  EXPECT_EQ(a.out_of_bounds, b.out_of_bounds);
  EXPECT_EQ(a.integers, b.integers);
  EXPECT_EQ(a.library, b.library);
  EXPECT_EQ(a.register_index, b.register_index);
  EXPECT_EQ(a.text, b.text);
  expect_same(a.outputs, b.outputs);
  expect_same(a.inputs, b.inputs);
  expect_same(a.terms, b.terms);
  expect_same(a.waits, b.waits);
}

void expect_same(const Program& a, const Program& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.registers, b.registers);
  EXPECT_EQ(a.constants, b.constants);
  EXPECT_EQ(a.texts, b.texts);
  expect_same(a.buffers, b.buffers);
  expect_same(a.library, b.library);
  expect_same(a.shared, b.shared);
  expect_same(a.instructions, b.instructions);
  expect_same(a.loops, b.loops);
  expect_same(a.body, b.body);
}

TEST(NeuronCoreText, TextsOfErrors) {
  Builder b("check", "trn2");
  const Access index = b.tile(b.sbuf(DType::I64, 1, 4, 1, "index"));
  b.checked_index(index, index, {.size = 5, .dimension = 1, .rule = IndexRule::NonNegative, .where = "aten.take"});
  b.check(b.tile(b.sbuf(DType::Bool, 1, 1, 1, "flag")), "no \"luck\"\n");
  b.check(b.tile(b.sbuf(DType::Bool, 1, 1, 1, "other")), "aten.take");
  const Program program = b.finish();
  EXPECT_EQ(print(program), R"(program "check" target "trn2" {
  sbuf %index : i64[1 x 4]
  sbuf %flag : i1[1 x 1]
  sbuf %other : i1[1 x 1]
  text 0 = "aten.take"
  text 1 = "no \"luck\"\n"
  #0 checked_index.gpsimd %index[1 x 1, 1 x 4] <- %index[1 x 1, 1 x 4] {integers = [5, 1, 1], text = 0}
  #1 check.gpsimd <- %flag[1 x 1, 1 x 1] {text = 1}
  #2 check.gpsimd <- %other[1 x 1, 1 x 1] {text = 0}
}
)");
  expect_same(parse(print(program)), program);
  EXPECT_THROW(parse("program \"a\" target \"b\" {\n text 1 = \"x\"\n}"), Error);
}

TEST(NeuronCoreText, SampleParsesBack) { expect_same(parse(print(sample())), sample()); }

/// Programs without meaning, in which every field takes all sorts of values.
class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {
    program_.name = text();
    program_.target = "trn3";
    program_.registers = below(5);
    const int buffers = 1 + below(6);
    for (int i = 0; i < buffers; ++i) program_.buffers.push_back(buffer());
    for (int i = below(3); i > 0; --i) program_.constants.push_back(bytes(below(20)));
    for (int i = below(3); i > 0; --i)
      program_.library.push_back(
          {.name = text(), .text = text(), .cost_cycles = below(1000) / 3.0, .function = nullptr});
    for (int i = below(3); i > 0; --i) program_.texts.push_back(text());
    for (int i = below(3); i > 0; --i) program_.shared.push_back({.result = below(4), .parameter = below(4)});
    body(program_.body, 0);
  }
  Program take() { return std::move(program_); }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint32_t>(limit)); }
  bool coin() { return below(2) == 0; }
  int64_t number() { return below(3) == 0 ? -below(1000) : static_cast<int64_t>(random_()) << below(20); }

  std::string text() {
    constexpr std::string_view kLetters = "abz_09.\"\\\n {}%#/é";
    std::string result;
    for (int i = below(8); i > 0; --i)
      result += kLetters[static_cast<size_t>(below(static_cast<int>(kLetters.size())))];
    return result;
  }

  std::string buffer_name() {
    if (below(3) == 0) return text();
    constexpr std::array<const char*, 6> kNames{"i3", "r0", "tile", "x.y", "as", "constant"};
    return kNames[static_cast<size_t>(below(6))];
  }

  DType dtype() { return static_cast<DType>(below(static_cast<int>(dtype_table().size()))); }

  std::vector<std::byte> bytes(int count) {
    std::vector<std::byte> result;
    for (int i = 0; i < count; ++i) result.push_back(static_cast<std::byte>(below(256)));
    return result;
  }

  Buffer buffer() {
    Buffer result{.name = buffer_name(), .dtype = dtype(), .elements = below(1000)};
    result.space = static_cast<Space>(below(3));
    result.role = static_cast<Role>(below(4));
    if (result.role != Role::Internal || coin()) result.index = below(9);
    if (coin()) result.partitions = 1 + below(128);
    result.copies = 1 + below(3);
    if (coin()) result.address = below(100000);
    return result;
  }

  void body(std::vector<Statement>& statements, int depth) {
    std::vector<Statement> list;
    for (int i = 1 + below(4); i > 0; --i) {
      if (depth < 3 && below(3) == 0) {
        const auto loop = static_cast<int32_t>(program_.loops.size());
        program_.loops.push_back({.count = below(100), .independent = coin(), .body = {}});
        std::vector<Statement> inside;
        body(inside, depth + 1);
        program_.loops[static_cast<size_t>(loop)].body = std::move(inside);
        list.push_back({.loop = loop});
      } else {
        list.push_back({.instruction = static_cast<int32_t>(program_.instructions.size())});
        program_.instructions.push_back(instruction());
      }
    }
    statements = std::move(list);
  }

  std::vector<Term> terms() {
    std::vector<Term> result;
    for (int i = below(3); i > 0; --i)
      result.push_back({.index = below(20), .coefficient = number(), .is_register = coin()});
    return result;
  }

  Access access() {
    Access result;
    result.buffer = below(static_cast<int>(program_.buffers.size()));
    result.dtype = coin() ? dtype() : program_.buffers[static_cast<size_t>(result.buffer)].dtype;
    if (coin()) result.offset = number();
    if (coin()) result.partition = below(128);
    result.terms = terms();
    for (int i = below(5); i > 0; --i) {
      PatternDimension dimension{.step = number(), .size = 1 + below(600)};
      if (coin()) {
        dimension.tail_loop = below(20);
        dimension.tail = below(100);
      }
      result.pattern.push_back(dimension);
    }
    if (below(4) == 0) {
      result.index_operand = below(3);
      result.index_step = number();
      result.index_limit = number();
    }
    return result;
  }

  void scalar(Instruction& instruction, size_t i) {
    (i == 0 ? instruction.has_scalar0 : instruction.has_scalar1) = true;
    if (coin()) {
      instruction.scalar_operand[i] = below(4);
      return;
    }
    const DType type = dtype();
    instruction.scalars[i].dtype = type;
    const std::vector<std::byte> random = bytes(static_cast<int>(size_of(type)));
    if (coin())
      instruction.scalars[i] = immediate(type, static_cast<double>(below(9)) / 4);
    else
      std::copy(random.begin(), random.end(), instruction.scalars[i].bytes.begin());
  }

  Instruction instruction() {
    Instruction result;
    result.opcode = static_cast<Opcode>(below(static_cast<int>(opcodes().size())));
    result.engine = static_cast<Engine>(below(5));
    for (int i = below(3); i > 0; --i) result.outputs.push_back(access());
    for (int i = below(4); i > 0; --i) result.inputs.push_back(access());
    result.op0 = static_cast<AluOp>(below(static_cast<int>(alu_ops().size())));
    result.op1 = static_cast<AluOp>(below(static_cast<int>(alu_ops().size())));
    result.reverse0 = coin();
    result.reverse1 = coin();
    if (coin())
      result.function = static_cast<ActivationFunction>(below(static_cast<int>(activation_functions().size())));
    for (const size_t i : {0, 1}) {
      if (coin()) scalar(result, i);
    }
    result.accumulate = coin();
    result.is_transpose = coin();
    result.negate = coin();
    if (coin()) result.out_of_bounds = OutOfBounds::Skip;
    for (int i = below(4); i > 0; --i) result.integers.push_back(number());
    result.terms = terms();
    if (coin()) result.library = below(5);
    if (coin()) result.text = below(5);
    if (coin()) result.register_index = below(64);
    for (int i = below(3); i > 0; --i) result.waits.push_back({.instruction = below(50), .iterations = below(3)});
    return result;
  }

  std::mt19937 random_;
  Program program_;
};

TEST(NeuronCoreText, RandomProgramsParseBack) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Program program = RandomProgram(seed).take();
    const std::string text = print(program);
    SCOPED_TRACE(text);
    expect_same(parse(text), program);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(NeuronCoreText, OneInstruction) {
  EXPECT_EQ(print(sample(), 2),
            "#2 dma_copy.scalar %result0[2 x 128:116@%i0, 1 x 2] + 256*%i0 <- %out[1 x 128:116@%i0, 1 x 2] wait #1");
}

TEST(NeuronCoreText, CommentsAndBlanks) {
  expect_same(parse("// a\nprogram \"p\" // b\n target \"trn2\" {\n\n}"), parse("program \"p\" target \"trn2\" {}"));
}

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Value);
    return error.what();
  }
  return "no error";
}

TEST(NeuronCoreText, ErrorsNameLineAndColumn) {
  const auto expect = [](const std::string& body, std::initializer_list<const char*> parts) {
    const std::string error = error_of("program \"p\" target \"trn2\" {\n" + body);
    for (const char* part : parts) EXPECT_NE(error.find(part), std::string::npos) << body << "\n" << error;
  };
  expect("  hbm %a : f33[4]\n}", {"line 2, column 15", "no type 'f33'"});
  expect("  dram %a : f32[4]\n}", {"line 2, column 8", "no memory 'dram'"});
  expect("  hbm %a : f32[4]\n  hbm %a : f32[4]\n}", {"line 3, column 8", "exists already"});
  expect("  #0 frobnicate.vector\n}", {"line 3, column 1", "no instruction 'frobnicate.vector'"});
  expect("  #0 tensor_copy.vector %b[1 x 1]\n}", {"line 2, column 26", "no such buffer", "'b'"});
  expect("  hbm %a : f32[4]\n  #0 memset.vector %a[1 y 1]\n}", {"line 3, column 25", "'x'"});
  expect("  #0 memset.vector {op0 = plus}\n}", {"line 2, column 27", "no such operation"});
  expect("  #0 memset.vector {colour = 1}\n}", {"no attribute 'colour'"});
  expect("  for %i0 in 0..2 {\n", {"the end of the text"});
  expect("  for %j0 in 0..2 {\n}}", {"'i' and a number"});
  expect("  #99999999999 memset.vector\n}", {"line 2"});
  expect("  hbm %a : f32[4] name \"x\n}", {"a string does not end"});
  expect("  constant 0 = 0x123\n}", {"bytes in hexadecimal"});
  expect("} more", {"line 2, column 3", "nothing more"});
}

TEST(NeuronCoreText, MarkdownHasARowForEverything) {
  const std::string text = instruction_table_markdown();
  for (const OpcodeInfo& row : opcodes())
    EXPECT_NE(text.find("| `" + std::string(row.name) + "` |"), std::string::npos);
  for (const AluOpInfo& row : alu_ops()) EXPECT_NE(text.find("| `" + std::string(row.name) + "` |"), std::string::npos);
  for (const ActivationInfo& row : activation_functions())
    EXPECT_NE(text.find("| `" + std::string(row.name) + "` |"), std::string::npos);
}

TEST(NeuronCoreText, ProgramOfTheDocumentationIsLegal) {
  std::ifstream file(std::string(OPENTRN_SOURCE_DIR) + "/docs/neuroncore.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string fence = "```neuroncore\n";
  const size_t begin = page.find(fence) + fence.size();
  ASSERT_GE(begin, fence.size());
  const std::string text = page.substr(begin, page.find("```", begin) - begin);
  Program program = parse(text);
  EXPECT_EQ(print(program), text);
  check(program, machine(program.target));
  add_waits(program);
  EXPECT_EQ(print(program), text) << "its waits are those it needs";
}

}  // namespace
}  // namespace opentrn::neuroncore
