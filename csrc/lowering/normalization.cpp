// Layer and group normalisation; batch normalisation is in batch_norm.cpp.
#include <array>

#include "lowering/families.h"
#include "lowering/normalization_parts.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;

constexpr std::array<std::string_view, 2> kParameters{"weight", "bias"};

// --- layer norm

Dims trailing_dims(int64_t rank, int64_t count) {
  Dims dims;
  for (int64_t dim = rank - count; dim < rank; ++dim) dims.push_back(dim);
  return dims;
}

Dims leading_dims(int64_t count) {
  Dims dims;
  for (int64_t dim = 0; dim < count; ++dim) dims.push_back(dim);
  return dims;
}

void check_parameter_shape(const Context& c, std::string_view name, const Dims& normalized) {
  if (!c.has(name) || c.tensor(name).type.shape == normalized) return;
  c.refuse(ErrorKind::Runtime, {.what = concat("Expected ", name, " to be of same shape as normalized_shape"),
                                .got = concat(name, " of shape ", to_string(c.tensor(name).type.shape)),
                                .expected = "normalized_shape = " + to_string(normalized)});
}

void check_layer_norm(const Context& c) {
  const Dims& normalized = c.integers("normalized_shape");
  if (normalized.empty()) {
    c.refuse(ErrorKind::Runtime,
             {.what = "Expected normalized_shape to be at least 1-dimensional", .got = "normalized_shape = []"});
  }
  for (const std::string_view name : kParameters) check_parameter_shape(c, name, normalized);
  const Dims& shape = c.tensor("input").type.shape;
  const bool fits =
      shape.size() >= normalized.size() && std::equal(normalized.rbegin(), normalized.rend(), shape.rbegin());
  if (fits) return;
  c.refuse(ErrorKind::Runtime, {.what = concat("Given normalized_shape=", to_string(normalized),
                                               ", expected input with shape ending in it"),
                                .got = "input of size " + to_string(shape)});
}

Value affine(Context& c, Value x) {
  Builder& b = c.b;
  const DType dtype = b.dtype(x);
  if (c.has("weight")) x = b.multiply(x, b.broadcast_to(c.value("weight", dtype), b.shape(x)));
  if (c.has("bias")) x = b.add(x, b.broadcast_to(c.value("bias", dtype), b.shape(x)));
  return x;
}

Results layer_norm(Context& c) {
  check_layer_norm(c);
  const ir::TensorType& type = c.tensor("input").type;
  check_float_input(c, type.dtype);
  const DType parameters = parameter_dtype(c, type.dtype, kParameters);
  Builder& b = c.b;
  const Value x = compute_value(c, "input");
  const Dims dims = trailing_dims(type.rank(), static_cast<int64_t>(c.integers("normalized_shape").size()));
  const Moments both = moments(b, x, dims);
  const double count = static_cast<double>(count_of(type.shape, dims));
  const Value rstd = inverse_deviation(c, b.divide(both.squares, b.splat_like(both.squares, count)));
  const Value normalised = b.multiply(both.deviations, expand_reduced(b, rstd, type.shape, dims));
  const auto statistic = [&](Value value) {
    return keep_dims(b, b.convert(value, parameters), type.shape, dims, true);
  };
  return {b.convert(affine(c, normalised), type.dtype), statistic(both.mean), statistic(rstd)};
}

Results layer_norm_backward(Context& c) {
  const ir::TensorType& type = c.tensor("input").type;
  check_float_input(c, type.dtype);
  Builder& b = c.b;
  const Value x = compute_value(c, "input");
  const DType compute = b.dtype(x);
  const Value gradient = c.value("grad_out", compute);
  const int64_t inner = static_cast<int64_t>(c.integers("normalized_shape").size());
  const Dims dims = trailing_dims(type.rank(), inner);
  const Dims outer = leading_dims(type.rank() - inner);
  const Value mean = b.broadcast_to(c.value("mean", compute), type.shape);
  const Value rstd = b.broadcast_to(c.value("rstd", compute), type.shape);
  const Value normalised = b.multiply(b.subtract(x, mean), rstd);
  const auto& mask = c.mask("output_mask");
  Results results(3);
  if (mask[0]) {
    Value scaled = gradient;
    if (c.has("weight")) scaled = b.multiply(gradient, b.broadcast_to(c.value("weight", compute), type.shape));
    results[0] = b.convert(normalised_gradient(b, scaled, normalised, rstd, dims), type.dtype);
  }
  const auto parameter_gradient = [&](std::string_view name, Value terms) {
    const DType dtype = c.has(name) ? c.tensor(name).type.dtype : type.dtype;
    return b.convert(b.reduce(terms, Op::Add, outer), dtype);
  };
  if (mask[1]) results[1] = parameter_gradient("weight", b.multiply(gradient, normalised));
  if (mask[2]) results[2] = parameter_gradient("bias", gradient);
  return results;
}

// --- group norm: computed as [batch, group, channel in group, position]

struct Groups {
  int64_t batch, channels, positions, groups;
  Dims shape() const { return {batch, groups, channels / groups, positions}; }
  Dims statistics() const { return {batch, groups}; }
};

const Dims kWithinGroup{2, 3};

Groups groups_of(const Context& c) {
  const Groups groups{c.integer("N"), c.integer("C"), c.integer("HxW"), c.integer("group")};
  if (groups.groups > 0 && groups.channels % groups.groups == 0) return groups;
  c.refuse(ErrorKind::Runtime, {.what = "Expected number of channels in input to be divisible by num_groups",
                                .got = concat(groups.channels, " channels and num_groups=", groups.groups)});
}

/// One number per channel, repeated to the grouped shape.
Value per_channel(Builder& b, Value vector, const Groups& groups) {
  const Value grouped = b.reshape(vector, {groups.groups, groups.channels / groups.groups});
  return b.broadcast_in_dim(grouped, groups.shape(), {1, 2});
}

Value per_group(Builder& b, Value statistic, const Groups& groups) {
  return b.broadcast_in_dim(statistic, groups.shape(), {0, 1});
}

Results group_norm(Context& c) {
  const TensorArgument& input = c.tensor("input");
  check_float_input(c, input.type.dtype);
  const DType parameters = parameter_dtype(c, input.type.dtype, kParameters);
  const Groups groups = groups_of(c);
  Builder& b = c.b;
  const Value x = b.reshape(compute_value(c, "input"), groups.shape());
  const DType compute = b.dtype(x);
  const Moments both = moments(b, x, kWithinGroup);
  const double count = static_cast<double>(groups.channels / groups.groups * groups.positions);
  const Value rstd = inverse_deviation(c, b.divide(both.squares, b.splat_like(both.squares, count)));
  Value result = b.multiply(both.deviations, per_group(b, rstd, groups));
  if (c.has("weight")) result = b.multiply(result, per_channel(b, c.value("weight", compute), groups));
  if (c.has("bias")) result = b.add(result, per_channel(b, c.value("bias", compute), groups));
  c.result_strides = {format_strides(input)};
  return {b.reshape(b.convert(result, input.type.dtype), input.type.shape), b.convert(both.mean, parameters),
          b.convert(rstd, parameters)};
}

Results group_norm_backward(Context& c) {
  const TensorArgument& input = c.tensor("input");
  check_float_input(c, input.type.dtype);
  const Groups groups = groups_of(c);
  Builder& b = c.b;
  const Value x = b.reshape(compute_value(c, "input"), groups.shape());
  const DType compute = b.dtype(x);
  const Value gradient = b.reshape(c.value("grad_out", compute), groups.shape());
  const auto statistic = [&](std::string_view name) {
    return per_group(b, b.reshape(c.value(name, compute), groups.statistics()), groups);
  };
  const Value rstd = statistic("rstd");
  const Value normalised = b.multiply(b.subtract(x, statistic("mean")), rstd);
  const auto& mask = c.mask("output_mask");
  Results results(3);
  if (mask[0]) {
    Value scaled = gradient;
    if (c.has("weight")) scaled = b.multiply(gradient, per_channel(b, c.value("weight", compute), groups));
    const Value result = normalised_gradient(b, scaled, normalised, rstd, kWithinGroup);
    results[0] = b.reshape(b.convert(result, input.type.dtype), input.type.shape);
    c.result_strides = {format_strides(input)};
  }
  const DType parameters = c.has("weight") ? c.tensor("weight").type.dtype : input.type.dtype;
  const auto channel_sum = [&](Value terms) {
    return b.reshape(b.convert(b.reduce(terms, Op::Add, {0, 3}), parameters), {groups.channels});
  };
  if (mask[1]) results[1] = channel_sum(b.multiply(gradient, normalised));
  if (mask[2]) results[2] = channel_sum(gradient);
  return results;
}

const std::array kRules = {
    general("native_group_norm", group_norm),
    general("native_group_norm_backward", group_norm_backward),
    general("native_layer_norm", layer_norm),
    general("native_layer_norm_backward", layer_norm_backward),
};

}  // namespace

std::span<const Rule> normalization_rules() { return kRules; }

}  // namespace opentrn::lowering
