// Library calls: primitives without a tile form, as host kernels with a cost estimate.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "compiler/families.h"
#include "compiler/movement.h"

namespace opentrn::compiler {

namespace {

// Operations for each element that is read or written, by what the usual algorithm needs: sorting networks compare each
// element log(n) (log(n) + 1) / 2 times, an FFT has 5 log(n) operations, factorisations and solvers a row's length.
double operations_per_element(const Emitter& emitter, const ir::Node& node) {
  const auto logarithm = [](int64_t n) { return std::log2(static_cast<double>(std::max<int64_t>(n, 2))); };
  const auto last = [&](const Dims& shape) { return shape.empty() ? int64_t{1} : shape.back(); };
  const Dims& shape = emitter.type(node.operands.empty() ? node.results[0] : node.operands[0]).shape;
  switch (node.op) {
    case ir::Op::Sort: {
      const double steps = logarithm(shape[static_cast<size_t>(node.as<ir::SortAttributes>().dimension)]);
      return steps * (steps + 1) / 2;
    }
    case ir::Op::Fft: return 5 * logarithm(element_count(node.as<ir::FftAttributes>().fft_length));
    case ir::Op::Cholesky:
    case ir::Op::TriangularSolve: return static_cast<double>(last(shape));
    default: return 1;
  }
}

// GpSimd cycles: an estimate, one operation per partition and cycle, with the instruction's start-up. A primitive with
// regions counts as one pass over its operands, for how often they run is not known before.
double estimated_cycles(const Emitter& emitter, const ir::Node& node) {
  constexpr double kStartUp = 150;
  int64_t elements = 0;
  for (const ir::Value value : node.operands) elements += emitter.type(value).elements();
  for (const ir::Value value : node.results) elements += emitter.type(value).elements();
  const double operations = static_cast<double>(elements) * operations_per_element(emitter, node);
  return kStartUp + operations / static_cast<double>(emitter.machine().partitions);
}

std::string describe(const Emitter& emitter, const ir::Node& node) {
  std::string text;
  for (const ir::Value value : node.operands) text += (text.empty() ? "" : ", ") + ir::to_string(emitter.type(value));
  text += " -> ";
  for (size_t i = 0; i < node.results.size(); ++i) {
    text += (i == 0 ? "" : ", ") + ir::to_string(emitter.type(node.results[i]));
  }
  return text;
}

// What the call gets the address of. A value without elements has none of its own.
neuroncore::Access argument(Emitter& emitter, const Location& location) {
  if (location.view.elements() > 0) return whole(location);
  return whole(emitter.internal({location.view.dtype, {1}}));
}

}  // namespace

size_t emit_library(Emitter& emitter, size_t first) {
  const ir::Node& node = emitter.node(first);
  std::vector<Location> operands;
  for (const ir::Value operand : node.operands) operands.push_back(emitter.location(operand));
  std::vector<Location> results;
  for (const ir::Value result : node.results) results.push_back(emitter.place(result, {first, first + 1}, false));
  std::vector<ir::View> operand_views, result_views;
  std::vector<neuroncore::Access> inputs, outputs;
  for (const Location& location : operands) {
    operand_views.push_back(location.view);
    inputs.push_back(argument(emitter, location));
  }
  for (const Location& location : results) {
    result_views.push_back(location.view);
    outputs.push_back(argument(emitter, location));
  }
  neuroncore::LibraryCall call{std::string(ir::name(node.op)), describe(emitter, node), estimated_cycles(emitter, node),
                               emitter.library()(node, operand_views, result_views)};
  emitter.program().library_call(std::move(call), std::move(outputs), std::move(inputs));
  return 1;
}

}  // namespace opentrn::compiler
