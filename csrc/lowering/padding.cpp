// Padding with what lies at the border: its mirror image or its repetition.
#include <algorithm>
#include <array>

#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/memory_format.h"
#include "lowering/places.h"

namespace opentrn::lowering {
namespace {

using ir::Value;

enum class Border { Reflection, Replication };

/// PyTorch lists paddings from the last dimension backwards, as pairs.
struct Padded {
  int64_t first;  // of the padded dimensions
  Dims low, high;
  Dims shape;  // of the result
};

void require_padding(const Context& c, bool condition, std::string what, std::string action) {
  require(condition, c, ErrorKind::Runtime, {.what = std::move(what), .action = std::move(action)});
}

/// An empty batch is fine; other dimensions need elements.
void check_input(const Context& c, const Dims& shape, size_t spatial, bool elements) {
  const bool batched = shape.size() == spatial + 2;
  bool valid = batched || shape.size() == spatial + 1;
  for (size_t dim = batched ? 1 : 0; elements && dim < shape.size(); ++dim) valid = valid && shape[dim] != 0;
  require_padding(c, valid,
                  concat("Expected ", spatial + 1, "D or ", spatial + 2,
                         "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
                         "but got: ",
                         to_string(shape)),
                  "reshape the input");
}

void check_sizes(const Context& c, const Padded& padded, const Dims& input, Border border) {
  bool any = false;
  for (size_t i = 0; i < padded.low.size(); ++i) {
    const size_t dim = static_cast<size_t>(padded.first) + i;
    const int64_t low = padded.low[i], high = padded.high[i];
    require_padding(c, border == Border::Replication || (low < input[dim] && high < input[dim]),
                    concat("Padding size should be less than the corresponding input dimension, but got: padding (",
                           low, ", ", high, ") at dimension ", dim, " of input ", to_string(input)),
                    "pad less");
    require_padding(c, padded.shape[dim] >= 0,
                    concat("input is too small. Calculated output size: ", padded.shape[dim], " at dimension ", dim),
                    "cut off less");
    any = any || padded.shape[dim] >= 1;
  }
  require_padding(c, any, concat("input is too small. Calculated output: ", to_string(padded.shape)), "cut off less");
}

Padded padded_by(const Context& c, size_t spatial, Border border, bool elements) {
  const Dims& padding = c.integers("padding");
  const Dims& input = c.tensor("self").type.shape;
  require_padding(c, padding.size() == 2 * spatial,
                  concat("padding size is expected to be ", 2 * spatial, ", but got: ", padding.size()), "give pairs");
  check_input(c, input, spatial, elements);
  Padded padded{static_cast<int64_t>(input.size() - spatial), {}, {}, input};
  for (size_t i = 0; i < spatial; ++i) {
    const size_t pair = 2 * (spatial - 1 - i);
    padded.low.push_back(padding[pair]);
    padded.high.push_back(padding[pair + 1]);
    padded.shape[static_cast<size_t>(padded.first) + i] += padding[pair] + padding[pair + 1];
  }
  check_sizes(c, padded, input, border);
  return padded;
}

/// The element of `size` ones that each element of the padded dimension shows.
Dims sources(Border border, int64_t size, int64_t low, int64_t padded_size) {
  Dims places;
  for (int64_t i = 0; i < padded_size; ++i) {
    const int64_t place = i - low;
    if (border == Border::Replication) {
      places.push_back(std::clamp<int64_t>(place, 0, size - 1));
    } else {
      places.push_back(place < 0 ? -place : std::min(place, 2 * (size - 1) - place));
    }
  }
  return places;
}

template <Border border, size_t spatial>
Results pad(Context& c) {
  const TensorArgument& self = c.tensor("self");
  const Padded padded = padded_by(c, spatial, border, true);
  check_types(c, self.type.dtype, "ifc");
  c.result_strides = {format_strides(self, padded.shape)};
  if (element_count(padded.shape) == 0) return {c.b.splat({self.type.dtype, padded.shape}, 0)};
  Value x = self.value;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t dim = padded.first + static_cast<int64_t>(i);
    const auto at = static_cast<size_t>(dim);
    x = take(c.b, x, dim, sources(border, self.type.shape[at], padded.low[i], padded.shape[at]));
  }
  return {x};
}

template <Border border, size_t spatial>
Results pad_backward(Context& c) {
  const TensorArgument& self = c.tensor("self");
  const TensorArgument& gradient = c.tensor("grad_output");
  const Padded padded = padded_by(c, spatial, border, false);
  require_padding(c, gradient.type.shape == padded.shape,
                  concat("grad_output size unexpected. Expected: ", to_string(padded.shape),
                         ", Got: ", to_string(gradient.type.shape)),
                  "give the gradient of the padded tensor");
  check_types(c, self.type.dtype, "fc");
  require_padding(c, gradient.type.dtype == self.type.dtype,
                  concat("expected scalar type ", scalar_type_name(self.type.dtype), " but found ",
                         scalar_type_name(gradient.type.dtype)),
                  "convert the gradient");
  c.result_strides = {format_strides(self)};
  if (self.type.elements() == 0 || gradient.type.elements() == 0) return {c.b.splat(self.type, 0)};
  Value x = compute_value(c, "grad_output");
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t dim = padded.first + static_cast<int64_t>(i);
    const auto at = static_cast<size_t>(dim);
    const int64_t size = self.type.shape[at];
    x = add_at(c.b, x, dim, sources(border, size, padded.low[i], padded.shape[at]), size);
  }
  return {c.b.convert(x, self.type.dtype)};
}

constexpr Border kReflection = Border::Reflection, kReplication = Border::Replication;

const std::array kRules = {
    general("reflection_pad1d", pad<kReflection, 1>),
    general("reflection_pad1d_backward", pad_backward<kReflection, 1>),
    general("reflection_pad2d", pad<kReflection, 2>),
    general("reflection_pad2d_backward", pad_backward<kReflection, 2>),
    general("reflection_pad3d", pad<kReflection, 3>),
    general("reflection_pad3d_backward", pad_backward<kReflection, 3>),
    general("replication_pad1d", pad<kReplication, 1>),
    general("replication_pad1d_backward", pad_backward<kReplication, 1>),
    general("replication_pad2d", pad<kReplication, 2>),
    general("replication_pad2d_backward", pad_backward<kReplication, 2>),
    general("replication_pad3d", pad<kReplication, 3>),
    general("replication_pad3d_backward", pad_backward<kReplication, 3>),
};

}  // namespace

std::span<const Rule> padding_rules() { return kRules; }

}  // namespace opentrn::lowering
