// The tables as documentation.
#include <cmath>

#include "base/error.h"
#include "neuroncore/machine.h"
#include "neuroncore/text.h"

namespace opentrn::neuroncore {

namespace {

std::string engines(std::string_view letters) {
  std::string text;
  for (const char letter : letters) {
    const std::string_view word = letter == 'T'   ? "Tensor"
                                  : letter == 'V' ? "Vector"
                                  : letter == 'S' ? "Scalar"
                                  : letter == 'G' ? "GpSimd"
                                  : letter == 'Y' ? "Sync"
                                                  : "DMA";
    text += concat(text.empty() ? "" : ", ", word);
  }
  return text;
}

/// A cell may not hold the bar that ends it.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

std::string instructions() {
  std::string text =
      "| instruction | engines | operands | meaning | limits | engine cycles |\n|---|---|---|---|---|---|\n";
  for (const OpcodeInfo& row : opcodes()) {
    text += concat("| `", row.name, "` | ", engines(row.engines), " | ", cell(row.operands), " | ", cell(row.meaning),
                   " | ", cell(row.limits), " | ", cell(row.cost), " |\n");
  }
  return text;
}

std::string operations() {
  std::string text = "| operation | class | operands | engines | reduces | from |\n|---|---|---|---|---|---|\n";
  for (const AluOpInfo& row : alu_ops()) {
    const std::string_view kind = row.alu_class == AluClass::Arithmetic ? "arithmetic"
                                  : row.alu_class == AluClass::Bitvec   ? "bits"
                                                                        : "custom";
    text += concat("| `", row.name, "` | ", kind, " | ", row.operands, " | ", engines(row.engines), " | ",
                   row.reduces ? "yes" : "", " | NeuronCore-v", row.generation, " |\n");
  }
  return text;
}

std::string range(const ActivationInfo& row) {
  if (std::isinf(row.lowest) && std::isinf(row.highest)) return "all";
  return concat(row.lowest, " .. ", row.highest);
}

std::string functions() {
  std::string text = "| function | engine | arguments |\n|---|---|---|\n";
  for (const ActivationInfo& row : activation_functions())
    text +=
        concat("| `", row.name, "` | ", row.custom ? "GpSimd (custom operator)" : "Scalar", " | ", range(row), " |\n");
  return text;
}

}  // namespace

std::string instruction_table_markdown() {
  return concat("### Instructions\n\n", instructions(), "\n### Operations\n\n", operations(),
                "\n### Functions of `activation`\n\n", functions());
}

}  // namespace opentrn::neuroncore
