// Batch normalisation, whose running statistics are written in place.
#include <array>

#include "lowering/families.h"
#include "lowering/normalization_parts.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;

constexpr std::array<std::string_view, 4> kParameters{"weight", "bias", "running_mean", "running_var"};
constexpr std::array<std::string_view, 2> kAffine{"weight", "bias"};

/// All dimensions but that of the channels.
Dims sample_dims(int64_t rank) {
  Dims dims;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim != 1) dims.push_back(dim);
  }
  return dims;
}

void check_input(const Context& c, std::span<const std::string_view> parameters) {
  const ir::TensorType& type = c.tensor("input").type;
  check_float_input(c, type.dtype);
  if (type.rank() < 2) {
    c.refuse(ErrorKind::Runtime,
             {.what = "batch normalisation needs an input of at least 2 dimensions", .got = to_string(type.shape)});
  }
  if (type.elements() == 0) {
    c.refuse(ErrorKind::Runtime,
             {.what = "input tensor must have at least one element", .got = "input_sizes = " + to_string(type.shape)});
  }
  for (const std::string_view name : parameters) {
    if (!c.has(name) || c.tensor(name).type.elements() == type.shape[1]) continue;
    c.refuse(ErrorKind::Runtime, {.what = concat(name, " should contain ", type.shape[1], " elements"),
                                  .got = std::to_string(c.tensor(name).type.elements())});
  }
}

/// running = momentum * batch + (1 - momentum) * running
void update_running(Context& c, std::string_view name, Value batch) {
  Builder& b = c.b;
  const Value momentum = scalar_like(c, "momentum", batch);
  const Value rest = b.subtract(b.splat_like(momentum, 1.0), momentum);
  const Value old = c.value(name, b.dtype(batch));
  c.write(c.tensor(name), b.add(b.multiply(momentum, batch), b.multiply(rest, old)));
}

struct Statistics {
  Value mean, invstd;
  Value deviations;  // of the input from the mean
};

Statistics batch_statistics(Context& c, Value x, bool running) {
  Builder& b = c.b;
  const Dims dims = sample_dims(b.rank(x));
  const double count = static_cast<double>(count_of(b.shape(x), dims));
  const Moments both = moments(b, x, dims);
  if (running) {
    const Value unbiased = b.divide(both.squares, b.splat_like(both.squares, count - 1.0));
    if (c.has("running_mean")) update_running(c, "running_mean", both.mean);
    if (c.has("running_var")) update_running(c, "running_var", unbiased);
  }
  const Value variance = b.divide(both.squares, b.splat_like(both.squares, count));
  return {both.mean, inverse_deviation(c, variance), both.deviations};
}

Statistics running_statistics(Context& c, Value x) {
  if (!c.has("running_mean") || !c.has("running_var")) {
    c.refuse(ErrorKind::Runtime, {.what = "running_mean and running_var must be defined in evaluation mode"});
  }
  const DType compute = c.b.dtype(x);
  const Value mean = c.value("running_mean", compute);
  const Value deviations = c.b.subtract(x, along(c.b, mean, c.b.shape(x), 1));
  return {mean, inverse_deviation(c, c.value("running_var", compute)), deviations};
}

Statistics saved_statistics(Context& c, Value x, std::string_view invstd) {
  const Value mean = c.value("save_mean", c.b.dtype(x));
  const Value deviations = c.b.subtract(x, along(c.b, mean, c.b.shape(x), 1));
  return {mean, c.value(invstd, c.b.dtype(x)), deviations};
}

Results normalise(Context& c, std::span<const std::string_view> parameters, bool training) {
  check_input(c, parameters);
  const bool running = parameters.size() == kParameters.size();
  const TensorArgument& input = c.tensor("input");
  const DType parameter = parameter_dtype(c, input.type.dtype, parameters);
  Builder& b = c.b;
  const Value x = compute_value(c, "input");
  const DType compute = b.dtype(x);
  const Dims& shape = input.type.shape;
  const Statistics statistics = training ? batch_statistics(c, x, running) : running_statistics(c, x);
  Value result = b.multiply(statistics.deviations, along(b, statistics.invstd, shape, 1));
  if (c.has("weight")) result = b.multiply(result, along(b, c.value("weight", compute), shape, 1));
  if (c.has("bias")) result = b.add(result, along(b, c.value("bias", compute), shape, 1));
  c.result_strides = {format_strides(input)};
  const Value nothing = b.splat({parameter, {0}}, 0.0);
  return {b.convert(result, input.type.dtype), training ? b.convert(statistics.mean, parameter) : nothing,
          training ? b.convert(statistics.invstd, parameter) : nothing};
}

Results batch_norm(Context& c) { return normalise(c, kParameters, c.flag("training")); }

Results batch_norm_no_stats(Context& c) {
  if (!c.flag("training")) decline("batch norm without running statistics in evaluation mode");
  return normalise(c, kAffine, true);
}

// The names: what the operator's schema calls them.
Results gradients(Context& c, std::string_view invstd_name, std::string_view training_name) {
  constexpr std::array<std::string_view, 1> weight{"weight"};
  check_input(c, weight);
  const TensorArgument& input = c.tensor("input");
  const Dims& shape = input.type.shape;
  Builder& b = c.b;
  const Value x = compute_value(c, "input");
  const DType compute = b.dtype(x);
  const Value gradient = c.value("grad_out", compute);
  const bool training = c.flag(training_name);
  const Statistics statistics = training ? saved_statistics(c, x, invstd_name) : running_statistics(c, x);
  const Dims dims = sample_dims(input.type.rank());
  const Value invstd = along(b, statistics.invstd, shape, 1);
  const Value normalised = b.multiply(statistics.deviations, invstd);
  const auto& mask = c.mask("output_mask");
  Results results(3);
  if (mask[0]) {
    Value scaled = gradient;
    if (c.has("weight")) scaled = b.multiply(gradient, along(b, c.value("weight", compute), shape, 1));
    const Value result =
        training ? normalised_gradient(b, scaled, normalised, invstd, dims) : b.multiply(scaled, invstd);
    results[0] = b.convert(result, input.type.dtype);
    c.result_strides = {format_strides(input)};
  }
  const DType parameter = c.has("weight") ? c.tensor("weight").type.dtype : input.type.dtype;
  if (mask[1]) results[1] = b.convert(b.reduce(b.multiply(gradient, normalised), Op::Add, dims), parameter);
  if (mask[2]) results[2] = b.convert(b.reduce(gradient, Op::Add, dims), parameter);
  return results;
}

Results native_batch_norm_backward(Context& c) { return gradients(c, "save_invstd", "train"); }
Results batch_norm_backward(Context& c) { return gradients(c, "save_var", "update"); }

// The last result is a reserve for backends with their own format.
Results with_reserve(Context& c, Results results) {
  results.push_back(c.b.splat({DType::U8, {0}}, 0.0));
  return results;
}
Results batch_norm_with_update(Context& c) { return with_reserve(c, normalise(c, kParameters, true)); }
Results batch_norm_no_update(Context& c) { return with_reserve(c, normalise(c, kParameters, false)); }

const std::array kRules = {
    general("_batch_norm_no_update", batch_norm_no_update),
    general("_batch_norm_with_update", batch_norm_with_update),
    general("_native_batch_norm_legit", batch_norm),
    general("_native_batch_norm_legit.no_stats", batch_norm_no_stats),
    general("batch_norm_backward", batch_norm_backward),
    general("native_batch_norm", batch_norm),
    general("native_batch_norm_backward", native_batch_norm_backward),
};

}  // namespace

std::span<const Rule> batch_norm_rules() { return kRules; }

}  // namespace opentrn::lowering
