// Conditions that stop the program. The value they stand before is only another look at the operand.
#include "compiler/families.h"
#include "compiler/movement.h"
#include "ir/aliases.h"

namespace opentrn::compiler {

size_t emit_check(Emitter& emitter, size_t first) {
  const ir::Node& node = emitter.node(first);
  if (!ir::is_check(node)) return 0;
  neuroncore::Builder& program = emitter.program();
  const Location& condition = emitter.location(node.operands[0]);
  const neuroncore::Access loaded = program.tile(program.sbuf(condition.view.dtype, 1, 1));
  neuroncore::Access stored = program.hbm_access(condition.buffer, condition.view.offset / condition.view.item_size(),
                                                 {}, {{.step = 1, .size = 1}, {.step = 1, .size = 1}});
  stored.dtype = condition.view.dtype;
  program.dma_copy(loaded, std::move(stored));
  program.check(loaded, node.as<ir::CustomCallAttributes>().text);
  emitter.alias(node);
  return 1;
}

}  // namespace opentrn::compiler
