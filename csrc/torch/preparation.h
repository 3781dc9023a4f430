// What some operators need before their arguments can be lowered: index masks become integer indices, whose number
// depends on the data.
#pragma once

#include <ATen/core/stack.h>

#include <string_view>

#include "torch/operator.h"

namespace opentrn::torch_backend {

using Preparation = void (*)(const Operator& op, torch::jit::Stack* stack);

/// The preparation of a rule's operators, or nullptr.
Preparation preparation_for(std::string_view rule_name);

}  // namespace opentrn::torch_backend
