#include "lowering/call.h"

#include "base/error.h"

namespace opentrn::lowering {

const Argument& Call::argument(std::string_view name) const {
  for (const auto& argument : arguments) {
    if (argument.name == name) return argument.value;
  }
  raise(ErrorKind::Internal, {.where = operator_name, .what = concat("the schema has no argument '", name, "'")});
}

}  // namespace opentrn::lowering
