// The compiler's main loop: every node is taken by the first family that has a form for it.
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

// The module with the nodes of each attention next to each other, or nothing when it has none.
std::optional<ir::Module> with_grouped_attention(const ir::Module& module) {
  ir::Graph graph = module.graph;
  if (!passes::group_attention(graph)) return std::nullopt;
  return ir::Module{std::move(graph), module.parameters, module.results, module.overlaps};
}

neuroncore::Program compile_grouped(const ir::Module& module, const neuroncore::Machine& machine,
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
  if (!passes::may_have_attention(module.graph)) return compile_grouped(module, machine, library);
  const std::optional<ir::Module> grouped = with_grouped_attention(module);
  return compile_grouped(grouped ? *grouped : module, machine, library);
}

}  // namespace opentrn::compiler
