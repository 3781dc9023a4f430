// What the compiler's tests share: a graph is compiled, checked and emulated, and compared with the reference engine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/convert.h"
#include "base/error.h"
#include "compiler/compiler.h"
#include "ir/builder.h"
#include "neuroncore/machine.h"

namespace opentrn::compiler {

using Storage = std::vector<std::byte>;

/// A graph, the memory it is called with, and what its parameters hold.
struct Case {
  ir::Module module;
  std::vector<Storage> parameters;

  using Build = std::function<std::vector<ir::Value>(ir::Builder&, const std::vector<ir::Value>&)>;
  /// Row-major parameters and results. `values` gives element i (in row-major order) of parameter p.
  Case(const std::vector<ir::TensorType>& types, const Build& build,
       const std::function<double(size_t p, int64_t i)>& values);
  Case(const std::vector<ir::Layout>& layouts, const Build& build,
       const std::function<double(size_t p, int64_t i)>& values);

  /// The result lies in the very memory of the parameter.
  Case& in_place(int result, int parameter);
  Case& strides_of_result(size_t result, const Dims& strides);
};

ir::Layout row_major(const ir::TensorType& type);

neuroncore::Program compiled(const ir::Module& module, const neuroncore::Machine& machine = neuroncore::machines()[0]);

/// Runs the case on the reference and as a program (checked, and in the emulator's check mode and its fast one) for
/// every machine. All memory of the results must be the same, gaps included.
void expect_same_bytes(const Case& test, const std::string& what);
/// The same, but elements may differ by `tolerance` times the largest result.
void expect_close(const Case& test, double tolerance, const std::string& what);

/// All end with the same error, and memory that results share with parameters is the same then.
void expect_same_error(const Case& test, const std::string& what);

int64_t count(const neuroncore::Program& program, neuroncore::Opcode opcode);

/// Small whole numbers, whose sums are exact in every order.
double small_whole(size_t p, int64_t i);

}  // namespace opentrn::compiler
