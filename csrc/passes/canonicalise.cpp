#include "passes/passes.h"

namespace opentrn::passes {

void canonicalise(ir::Graph& graph) {
  fold_constants(graph);
  simplify(graph);
  eliminate_common_subexpressions(graph);
  eliminate_dead_code(graph);
}

}  // namespace opentrn::passes
