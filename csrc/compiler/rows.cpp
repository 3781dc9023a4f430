#include "compiler/rows.h"

#include "compiler/families.h"
#include "ir/aliases.h"

namespace opentrn::compiler {

size_t emit_rows(Emitter& emitter, size_t first) {
  const ir::Graph& graph = emitter.graph();
  if (!rows::has_tile_form(graph, emitter.node(first))) return 0;
  const auto takes = [&](const ir::Node& node) { return rows::has_tile_form(graph, node); };
  const auto is_view = [&](const ir::Node& node) { return emitter.alias(node); };
  const auto needed_after = [&](ir::Value value, size_t position) { return emitter.needed_after(value, position); };
  passes::RunRules rules{.takes = takes, .is_view = is_view, .needed_after = needed_after};
  passes::Run run = passes::find_run(graph, first, rules);
  if (run.empty()) return 0;
  rows::Description description = rows::describe(emitter, run);
  if (rows::is_multi_stage(description) && !rows::rows_fit(emitter.machine(), description)) {
    rules.one_stage = true;
    run = passes::find_run(graph, first, rules);
    if (run.empty()) return 0;
    description = rows::describe(emitter, run);
  }
  rows::place_results(emitter, run, description);
  rows::emit(emitter, description);
  return run.last - first;
}

}  // namespace opentrn::compiler
