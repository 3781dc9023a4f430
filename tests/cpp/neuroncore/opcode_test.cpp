#include "neuroncore/opcode.h"

#include <gtest/gtest.h>

#include "neuroncore/alu.h"

namespace opentrn::neuroncore {
namespace {

TEST(Opcodes, NamesLeadBack) {
  for (const OpcodeInfo& row : opcodes()) {
    EXPECT_EQ(opcode_from_name(row.name), row.opcode);
    EXPECT_EQ(&info(row.opcode), &row);
  }
  EXPECT_FALSE(opcode_from_name("nc_frobnicate"));
  EXPECT_EQ(opcodes().size(), static_cast<size_t>(Opcode::LibraryCall) + 1);
}

TEST(Opcodes, RowsAreComplete) {
  for (const OpcodeInfo& row : opcodes()) {
    EXPECT_FALSE(row.engines.empty()) << row.name;
    EXPECT_EQ(row.engines.find_first_not_of("TVSGYD"), std::string_view::npos) << row.name;
    EXPECT_LE(row.fewest_inputs, row.most_inputs) << row.name;
    EXPECT_LE(row.fewest_outputs, row.most_outputs) << row.name;
    for (const std::string_view text : {row.operands, row.meaning, row.limits, row.cost})
      EXPECT_FALSE(text.empty()) << row.name;
    EXPECT_NE(row.rules, nullptr) << row.name;
    EXPECT_EQ(row.cycles == nullptr, row.opcode == Opcode::DmaCopy) << row.name;
  }
}

TEST(Engines, NamesLeadBack) {
  for (const Engine engine : {Engine::Tensor, Engine::Vector, Engine::Scalar, Engine::GpSimd, Engine::Sync})
    EXPECT_EQ(engine_from_name(name(engine)), engine);
  EXPECT_FALSE(engine_from_name("dma"));
}

TEST(AluOps, NamesLeadBack) {
  for (const AluOpInfo& row : alu_ops()) {
    EXPECT_EQ(alu_op_from_name(row.name), row.op);
    EXPECT_EQ(&info(row.op), &row);
    EXPECT_NE(row.engines.find('G'), std::string_view::npos) << row.name << ": GpSimd is programmable";
    EXPECT_TRUE(!row.reduces || row.operands == 2) << row.name;
    EXPECT_TRUE(row.alu_class != AluClass::Custom || row.engines == "G") << row.name;
  }
  EXPECT_FALSE(alu_op_from_name("plus"));
}

TEST(AluOps, FactsOfTheDocumentation) {
  EXPECT_EQ(info(AluOp::Power).engines, "G");
  EXPECT_EQ(info(AluOp::Rsqrt).engines, "G");
  EXPECT_EQ(info(AluOp::AbsMax).generation, 4);
  EXPECT_EQ(info(AluOp::Divide).alu_class, AluClass::Custom) << "no unit divides";
  EXPECT_EQ(info(AluOp::BitwiseAnd).alu_class, AluClass::Bitvec);
}

TEST(ActivationFunctions, NamesLeadBack) {
  for (const ActivationInfo& row : activation_functions()) {
    EXPECT_EQ(activation_from_name(row.name), row.function);
    EXPECT_EQ(&info(row.function), &row);
    EXPECT_LT(row.lowest, row.highest) << row.name;
  }
  EXPECT_FALSE(activation_from_name("frobnicate"));
  EXPECT_FALSE(info(ActivationFunction::Exp).custom);
  EXPECT_TRUE(info(ActivationFunction::Sine).custom);
}

}  // namespace
}  // namespace opentrn::neuroncore
