// The readable form of programs. `parse(print(program))` is the same program, without the host functions of its library
// calls.
#pragma once

#include <string>
#include <string_view>

#include "neuroncore/program.h"

namespace opentrn::neuroncore {

std::string print(const Program& program);

/// Errors name line and column.
Program parse(std::string_view text);

}  // namespace opentrn::neuroncore
