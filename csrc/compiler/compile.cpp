// The compiler's main loop: every node is taken by the first family that has a form for it.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "compiler/allocate.h"
#include "compiler/compiler.h"
#include "compiler/emitter.h"
#include "compiler/families.h"
#include "ir/aliases.h"
#include "neuroncore/dependencies.h"
#include "passes/attention.h"
#include "passes/recompute.h"

namespace opentrn::compiler {

namespace {

using Family = size_t (*)(Emitter& emitter, size_t first);

constexpr std::array<Family, 11> kFamilies{emit_attention, emit_rows,   emit_dot,     emit_convolution,
                                           emit_movement,  emit_gather, emit_scatter, emit_scan,
                                           emit_window,    emit_check,  emit_library};

size_t emit(Emitter& emitter, size_t first) {
  const ir::Node& node = emitter.node(first);
  if (node.op == ir::Op::Constant) return 1;  // placed when something reads it
  if (!ir::is_check(node) && emitter.alias(node)) return 1;
  for (const Family family : kFamilies) {
    const size_t taken = family(emitter, first);
    if (taken > 0) return taken;
  }
  return 1;
}

// A pass over the data ends with it: whole rows do not fit on the chip, with what is computed of them.
bool has_long_rows(const ir::Graph& graph, const ir::Node& node, const neuroncore::Machine& machine) {
  constexpr int64_t kBytesPerElement = 8;  // at least: a narrow operand and result, and one float32 tile
  if (node.op != ir::Op::Reduce) return false;
  const int64_t rows = std::max<int64_t>(1, graph.type(node.results[0]).elements());
  return graph.type(node.operands[0]).elements() / rows * kBytesPerElement > machine.sbuf_bytes_per_partition;
}

// The module as the families of primitives take it best: the nodes of each attention next to each other, and what is
// cheap computed anew in each pass over long rows. Absent when it is that already.
std::optional<ir::Module> prepare(const ir::Module& module, const neuroncore::Machine& machine) {
  const auto ends_pass = [&](const ir::Node& node) { return has_long_rows(module.graph, node, machine); };
  const bool long_rows = std::any_of(module.graph.nodes.begin(), module.graph.nodes.end(), ends_pass);
  if (!long_rows && !passes::may_have_attention(module.graph)) return std::nullopt;
  ir::Graph graph = module.graph;
  const bool repeated = long_rows && passes::recompute_between_passes(graph, ends_pass);
  const bool grouped = passes::group_attention(graph);
  if (!repeated && !grouped) return std::nullopt;
  return ir::Module{std::move(graph), module.parameters, module.results, module.overlaps};
}

// Strides of memory without elements mean nothing: those of an expanded tensor would reach beyond it.
bool has_strides_of_nothing(const ir::Layout& layout) {
  return layout.type.elements() == 0 && layout.strides != contiguous_strides(layout.type.shape);
}

void plain_strides(std::vector<ir::Layout>& layouts) {
  for (ir::Layout& layout : layouts) {
    if (layout.type.elements() == 0) layout.strides = contiguous_strides(layout.type.shape);
  }
}

neuroncore::Program compile_prepared(const ir::Module& module, const neuroncore::Machine& machine,
                                     LibraryMaker library) {
  Emitter emitter(module, machine, library);
  const ir::Graph& graph = module.graph;
  for (size_t first = 0; first < graph.nodes.size();) {
    first += emit(emitter, first);
  }
  neuroncore::Program program = emitter.finish();
  allocate(program, machine);
  neuroncore::add_waits(program);
  return program;
}

}  // namespace

neuroncore::Program compile(const ir::Module& module, const neuroncore::Machine& machine, LibraryMaker library) {
  if (std::any_of(module.parameters.begin(), module.parameters.end(), has_strides_of_nothing) ||
      std::any_of(module.results.begin(), module.results.end(), has_strides_of_nothing)) {
    ir::Module plain = module;
    plain_strides(plain.parameters);
    plain_strides(plain.results);
    return compile(plain, machine, library);
  }
  const std::optional<ir::Module> prepared = prepare(module, machine);
  return compile_prepared(prepared ? *prepared : module, machine, library);
}

}  // namespace opentrn::compiler
