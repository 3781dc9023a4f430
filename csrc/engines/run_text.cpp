#include "engines/run_text.h"

#include <algorithm>

#include "base/error.h"
#include "ir/constants.h"
#include "ir/custom_calls.h"
#include "ir/region.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "passes/passes.h"

namespace opentrn::engines {

namespace {

using Bytes = std::vector<std::byte>;

bool is_expectation(const ir::Node& node) {
  return node.op == ir::Op::CustomCall && ir::is_expectation(node.as<ir::CustomCallAttributes>().target);
}

std::vector<Layout> layouts(const ir::Graph& graph, const std::vector<ir::Value>& values) {
  std::vector<Layout> result;
  for (const ir::Value value : values) {
    const ir::TensorType& type = graph.type(value);
    result.push_back({type, contiguous_strides(type.shape)});
  }
  return result;
}

Bytes filled(const ir::TensorType& type, double value) {
  const Bytes element = ir::element_bytes(type.dtype, value);
  Bytes data;
  data.reserve(static_cast<size_t>(type.bytes()));
  for (int64_t i = 0; i < type.elements(); ++i) data.insert(data.end(), element.begin(), element.end());
  return data;
}

bool has_arguments(const ir::Graph& graph, const RunOptions& options) {
  return graph.parameters.empty() || options.fill;
}

void require_arguments(const ir::Graph& graph, const RunOptions& options) {
  if (has_arguments(graph, options) || options.show) return;
  std::string types;
  for (const ir::Value value : graph.parameters) types += (types.empty() ? "" : ", ") + to_string(graph.type(value));
  raise(ErrorKind::Value, {.where = "@" + graph.name,
                           .what = "the function has parameters, and there are no arguments",
                           .got = types,
                           .expected = "a function without parameters, or a value that fills them all",
                           .action = "pass --fill VALUE"});
}

void require_memory(const Module& module, const neuroncore::Machine& machine) {
  int64_t bytes = 0;
  for (const auto* layouts : {&module.parameters, &module.results}) {
    for (const Layout& layout : *layouts) {
      const int64_t elements = layout.type.elements();
      const int64_t item = size_of(layout.type.dtype);
      // Compared before it is multiplied: sizes may be anything.
      if (elements > (machine.hbm_bytes_per_logical_core() - bytes) / item)
        raise(ErrorKind::OutOfMemory,
              {.where = "@" + module.graph.name,
               .what = concat("the arguments and results do not fit into the memory of ", machine.name),
               .got = to_string(layout.type),
               .expected = concat("no more than ", machine.hbm_bytes_per_logical_core(), " bytes"),
               .action = "use smaller tensors"});
      bytes += elements * item;
    }
  }
}

}  // namespace

RunReport run_text(std::string_view text, const Engine& engine, const neuroncore::Machine& machine,
                   const RunOptions& options) {
  Module module;
  module.graph = ir::parse(text, {options.dynamic_size});
  RunReport report;
  report.name = module.graph.name;
  report.text = ir::print(module.graph);
  require_arguments(module.graph, options);
  ir::verify(module.graph);
  report.checks = ir::count_nodes(module.graph, is_expectation);
  passes::canonicalise(module.graph);
  ir::verify(module.graph);
  module.parameters = layouts(module.graph, module.graph.parameters);
  module.results = layouts(module.graph, module.graph.results);
  require_memory(module, machine);
  const std::unique_ptr<Executable> executable = engine.compile(module, machine);
  report.program = executable->program_text();
  if (!has_arguments(module.graph, options)) return report;
  std::vector<Bytes> arguments, results;
  for (const Layout& layout : module.parameters) arguments.push_back(filled(layout.type, options.fill.value_or(0)));
  for (const Layout& layout : module.results) results.emplace_back(static_cast<size_t>(layout.type.bytes()));
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const Bytes& bytes : arguments) from.push_back(bytes.data());
  for (Bytes& bytes : results) to.push_back(bytes.data());
  executable->run(from, to);
  for (size_t i = 0; i < results.size(); ++i) {
    const ir::TensorType& type = module.results[i].type;
    report.results.push_back(ir::print_elements(type, ir::normalised_data(type, results[i])));
  }
  return report;
}

}  // namespace opentrn::engines
