// Which values are other looks at the same memory.
#pragma once

#include <optional>

#include "ir/graph.h"
#include "ir/view.h"

namespace opentrn::ir {

/// The result of `node` as a view of its operand's memory, or nothing when it has to be computed.
std::optional<View> alias_of(const Graph& graph, const Node& node, const View& operand);

/// True for primitives that may be aliases, whatever the strides turn out to be.
bool may_alias(const Node& node);

/// The inverse direction: how the operand of `node` has to lie so that its result lies as `result` says. Nothing when
/// the two do not have the same elements or no strides do it.
std::optional<View> operand_for(const Graph& graph, const Node& node, const View& result);

/// True for the custom call that hands its second operand through.
bool is_check(const Node& node);

/// The operand whose memory an alias looks at.
Value aliased_operand(const Node& node);

}  // namespace opentrn::ir
