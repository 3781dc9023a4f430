// Convolutions, transposed ones too, and their gradients. PyTorch calls them `overrideable` on devices like this one.
#include <algorithm>
#include <array>

#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/memory_format.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::ConvolutionAttributes;
using ir::Op;
using ir::Value;

/// The window's arguments, one number for each spatial dimension.
struct Window {
  Dims stride, padding, dilation, output_padding;
  int64_t groups = 1;
  bool transposed = false;
};

Dims for_each_dimension(const Dims& given, size_t count) { return given.size() == 1 ? Dims(count, given[0]) : given; }

Window window_of(const Context& c, const ir::TensorType& input) {
  const auto count = static_cast<size_t>(std::max<int64_t>(input.rank() - 2, 0));
  const auto numbers = [&](std::string_view name) { return for_each_dimension(c.integers(name), count); };
  return {.stride = numbers("stride"),
          .padding = numbers("padding"),
          .dilation = numbers("dilation"),
          .output_padding = numbers("output_padding"),
          .groups = c.integer("groups"),
          .transposed = c.flag("transposed")};
}

Dims spatial(const Dims& shape) { return Dims(shape.begin() + 2, shape.end()); }

// Operands and result as PyTorch lays them out: batch, features, space; the kernel's output features first.
ConvolutionAttributes attributes_for(size_t space) {
  ConvolutionAttributes a;
  const Dims ones(space, 1), zeros(space, 0);
  a.window_strides = a.lhs_dilation = a.rhs_dilation = ones;
  a.padding_low = a.padding_high = zeros;
  a.window_reversal.assign(space, false);
  a.input_feature_dimension = a.output_feature_dimension = a.kernel_input_feature_dimension = 1;
  for (size_t i = 0; i < space; ++i) {
    for (Dims* dimensions : {&a.input_spatial_dimensions, &a.kernel_spatial_dimensions, &a.output_spatial_dimensions})
      dimensions->push_back(static_cast<int64_t>(i) + 2);
  }
  return a;
}

// Sums are float32 for narrow floats, and rounded once by whoever stores them.
Value convolve(Builder& b, Value x, Value kernel, ConvolutionAttributes attributes) {
  return b.convolution(x, kernel, std::move(attributes), compute_dtype(b.dtype(x)));
}

// `beyond`: what the window does not reach at the end of `x`, to be left out.
Value forward(Builder& b, Value x, Value weight, const Window& w, const Dims& beyond = {}) {
  ConvolutionAttributes a = attributes_for(w.stride.size());
  a.window_strides = w.stride;
  a.padding_low = a.padding_high = w.padding;
  for (size_t i = 0; i < beyond.size(); ++i) a.padding_high[i] -= beyond[i];
  a.rhs_dilation = w.dilation;
  a.feature_group_count = w.groups;
  return convolve(b, x, weight, std::move(a));
}

// [groups * inputs, outputs of a group, ...] to [inputs of a group, groups * outputs, ...].
Value by_group(Builder& b, Value weight, int64_t groups) {
  if (groups == 1) return weight;
  const Dims shape = b.shape(weight);
  Dims split = {groups, shape[0] / groups, shape[1]};
  Dims order = {1, 0, 2};
  Dims joined = {shape[0] / groups, groups * shape[1]};
  for (size_t i = 2; i < shape.size(); ++i) {
    split.push_back(shape[i]);
    order.push_back(static_cast<int64_t>(i) + 1);
    joined.push_back(shape[i]);
  }
  return b.reshape(b.transpose(b.reshape(weight, split), order), joined);
}

// The input is spread out by the stride, and the kernel runs over it backwards.
Value transposed(Builder& b, Value x, Value weight, const Window& w) {
  const size_t space = w.stride.size();
  const Dims kernel = spatial(b.shape(weight));
  ConvolutionAttributes a = attributes_for(space);
  for (size_t i = 0; i < space; ++i) {
    a.padding_low[i] = w.dilation[i] * (kernel[i] - 1) - w.padding[i];
    a.padding_high[i] = a.padding_low[i] + w.output_padding[i];
    a.window_reversal[i] = true;
  }
  a.lhs_dilation = w.stride;
  a.rhs_dilation = w.dilation;
  a.feature_group_count = w.groups;
  a.kernel_input_feature_dimension = 0;
  a.kernel_output_feature_dimension = 1;
  return convolve(b, x, by_group(b, weight, w.groups), std::move(a));
}

// What the output of a convolution of `input` leaves over at the end, which its gradient has to make again.
Dims left_over(const Dims& input, const Dims& output, const Dims& kernel, const Window& w) {
  Dims rest;
  for (size_t i = 0; i < input.size(); ++i) {
    const int64_t covered = (output[i] - 1) * w.stride[i] - 2 * w.padding[i] + w.dilation[i] * (kernel[i] - 1) + 1;
    rest.push_back(input[i] - covered);
  }
  return rest;
}

Value input_gradient(Builder& b, Value gradient, Value weight, const Dims& input, Window w) {
  if (w.transposed) return forward(b, gradient, weight, w, w.output_padding);
  w.output_padding = left_over(spatial(input), spatial(b.shape(gradient)), spatial(b.shape(weight)), w);
  return transposed(b, gradient, weight, w);
}

// Of a convolution of `x` whose output has the gradient `gradient`: that is the kernel, and batches are summed over as
// features are otherwise. [outputs, inputs of a group, kernel].
Value weight_gradient(Builder& b, Value x, Value gradient, const Dims& kernel, const Window& w) {
  const Dims input = spatial(b.shape(x));
  const Dims output = spatial(b.shape(gradient));
  ConvolutionAttributes a = attributes_for(kernel.size());
  std::swap(a.input_batch_dimension, a.input_feature_dimension);
  std::swap(a.output_batch_dimension, a.output_feature_dimension);
  a.kernel_input_feature_dimension = 0;
  a.kernel_output_feature_dimension = 1;
  a.window_strides = w.dilation;
  a.rhs_dilation = w.stride;
  a.padding_low = w.padding;
  for (size_t i = 0; i < kernel.size(); ++i) {
    const int64_t needed = (kernel[i] - 1) * w.dilation[i] + (output[i] - 1) * w.stride[i] + 1;
    a.padding_high[i] = needed - input[i] - w.padding[i];
  }
  a.batch_group_count = w.groups;
  return convolve(b, x, gradient, std::move(a));
}

Dims strides_like(const TensorArgument& input, const TensorArgument& weight, const Dims& shape) {
  const auto is_last = [](const TensorArgument& t) { return is_channels_last_like(t.type.shape, t.strides); };
  return is_last(input) || is_last(weight) ? channels_last_strides(shape) : contiguous_strides(shape);
}

Results convolution(Context& c) {
  Builder& b = c.b;
  const TensorArgument& input = c.tensor("input");
  const TensorArgument& weight = c.tensor("weight");
  const Window w = window_of(c, input.type);
  const bool integer = is_integral(input.type.dtype);
  // Of integers the CPU's transposed convolution takes int64 alone.
  check_types(c, input.type.dtype, integer && (!w.transposed || input.type.dtype == DType::I64) ? "i" : "f");
  Value result = w.transposed ? transposed(b, input.value, weight.value, w) : forward(b, input.value, weight.value, w);
  if (c.has("bias")) {
    const Value bias = c.value("bias", b.dtype(result));
    result = b.add(result, b.broadcast_in_dim(bias, b.shape(result), {1}));
  }
  c.result_strides = {strides_like(input, weight, b.shape(result))};
  return {b.convert(result, input.type.dtype)};
}

Results convolution_backward(Context& c) {
  Builder& b = c.b;
  const TensorArgument& gradient = c.tensor("grad_output");
  const TensorArgument& input = c.tensor("input");
  const TensorArgument& weight = c.tensor("weight");
  check_types(c, input.type.dtype, "f");
  const Window w = window_of(c, input.type);
  const std::vector<bool>& mask = c.mask("output_mask");
  Results results(3);
  c.result_strides.resize(3);
  if (mask[0]) {
    results[0] = b.convert(input_gradient(b, gradient.value, weight.value, input.type.shape, w), input.type.dtype);
    c.result_strides[0] = strides_like(input, weight, input.type.shape);
  }
  if (mask[1]) {
    const Dims kernel = spatial(weight.type.shape);
    const Value sums = w.transposed ? weight_gradient(b, gradient.value, input.value, kernel, w)
                                    : weight_gradient(b, input.value, gradient.value, kernel, w);
    results[1] = b.convert(sums, weight.type.dtype);
    c.result_strides[1] = strides_like(input, weight, weight.type.shape);
  }
  if (mask[2]) {
    Dims others;
    for (int64_t i = 0; i < gradient.type.rank(); ++i) {
      if (i != 1) others.push_back(i);
    }
    results[2] = b.convert(b.reduce(compute_value(c, "grad_output"), Op::Add, others), gradient.type.dtype);
  }
  return results;
}

const std::array kRules = {
    general("convolution_backward_overrideable", convolution_backward),
    general("convolution_overrideable", convolution),
};

}  // namespace

std::span<const Rule> convolution_rules() { return kRules; }

}  // namespace opentrn::lowering
