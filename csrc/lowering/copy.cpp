// Copies within the device: any dtype to any other, any strides to any others.
#include <array>

#include "lowering/families.h"

namespace opentrn::lowering {
namespace {

Results copy(Context& c) {
  const ir::TensorType& target = c.tensor("self").type;
  Dims shape;
  if (!broadcast_shapes(target.shape, c.tensor("src").type.shape, shape) || shape != target.shape) {
    c.refuse(ErrorKind::Runtime, {.what = "the source's shape does not broadcast to the destination's",
                                  .got = to_string(c.tensor("src").type.shape),
                                  .expected = "a shape that broadcasts to " + to_string(target.shape),
                                  .action = "reshape the source"});
  }
  return {c.b.broadcast_to(c.value("src", target.dtype), target.shape)};
}

const std::array kRules = {general("copy", copy, StrideRule::LikeSelf)};

}  // namespace

std::span<const Rule> copy_rules() { return kRules; }

}  // namespace opentrn::lowering
