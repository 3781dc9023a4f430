#include "ir/types.h"

namespace opentrn::ir {

std::string to_string(const TensorType& type) {
  std::string text = "tensor<";
  for (const int64_t size : type.shape) text += std::to_string(size) + "x";
  text += name(type.dtype);
  return text + ">";
}

}  // namespace opentrn::ir
