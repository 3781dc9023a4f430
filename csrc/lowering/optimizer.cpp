// Fused optimizers: one graph updates every parameter and its state in place.
#include <array>

#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Value;
using Direction = ir::ComparisonDirection;

const TensorArgument& member(const Context& c, std::string_view list, size_t index) {
  const TensorList& tensors = c.tensors(list);
  if (index < tensors.size() && tensors[index]) return *tensors[index];
  c.refuse(ErrorKind::Runtime,
           {.what = concat("tensor list '", list, "' is too short"), .got = std::to_string(tensors.size())});
}

/// The learning rate is a number or, in the `tensor_lr` overloads, a tensor.
Value learning_rate(Context& c) {
  if (std::holds_alternative<TensorArgument>(c.call.argument("lr"))) {
    return c.b.reshape(c.value("lr", DType::F64), {});
  }
  return c.scalar_value("lr", DType::F64);
}

/// Reads and writes of one parameter's tensors. When an infinite gradient was found, every write keeps the old value.
class Update {
 public:
  Update(Context& context, size_t index) : c_(context), b_(context.b), index_(index) {
    type_ = {compute_dtype(member(c_, "self", index).type.dtype), member(c_, "self", index).type.shape};
    if (c_.has("found_inf")) {
      const Value found = b_.reshape(c_.value("found_inf"), {});
      skip_ = compare_with(b_, Direction::EQ, found, 1.0);
    }
  }

  Value read(std::string_view list) { return b_.convert(member(c_, list, index_).value, type_.dtype); }

  void write(std::string_view list, Value value) {
    const TensorArgument& destination = member(c_, list, index_);
    if (skip_.valid()) value = b_.select(skip_, b_.convert(destination.value, type_.dtype), value);
    c_.write(destination, value);
  }

  /// A float64 number in the parameter's type and shape.
  Value spread(Value number) { return b_.broadcast_to(b_.convert(number, type_.dtype), type_.shape); }
  Value spread(std::string_view scalar) { return spread(c_.scalar_value(scalar, DType::F64)); }

  /// The gradient, unscaled (also in memory, as the scaler expects) and with its sign for maximisation.
  Value gradient() {
    Value gradient = read("grads");
    if (c_.has("grad_scale")) {
      gradient = b_.divide(gradient, spread(b_.reshape(c_.value("grad_scale", DType::F64), {})));
      write("grads", gradient);
    }
    return c_.flag("maximize") ? b_.negate(gradient) : gradient;
  }

 private:
  Context& c_;
  Builder& b_;
  size_t index_;
  ir::TensorType type_;
  Value skip_;
};

/// 1 - beta ^ step
Value bias_correction(Context& c, std::string_view beta, Value step) {
  const Value power = c.b.power(c.scalar_value(beta, DType::F64), step);
  return c.b.subtract(c.b.scalar(DType::F64, 1.0), power);
}

Value interpolate(Builder& b, Value start, Value end, Value weight) {
  return b.add(start, b.multiply(weight, b.subtract(end, start)));
}

enum class Decay { Coupled, Decoupled };

void adam_step(Context& c, size_t index, Decay decay) {
  Builder& b = c.b;
  Update update(c, index);
  const Value step = b.reshape(b.convert(member(c, "state_steps", index).value, DType::F64), {});
  const Value rate = learning_rate(c);
  const Value one = b.scalar(DType::F64, 1.0);
  const Value weight_decay = c.scalar_value("weight_decay", DType::F64);
  Value parameter = update.read("self");
  Value gradient = update.gradient();
  if (decay == Decay::Decoupled) {
    parameter = b.subtract(parameter, b.multiply(update.spread(b.multiply(rate, weight_decay)), parameter));
  } else {
    gradient = b.add(gradient, b.multiply(update.spread(weight_decay), parameter));
  }
  const Value first_weight = update.spread(b.subtract(one, c.scalar_value("beta1", DType::F64)));
  const Value average = interpolate(b, update.read("exp_avgs"), gradient, first_weight);
  const Value second_weight = update.spread(b.subtract(one, c.scalar_value("beta2", DType::F64)));
  const Value square = b.add(b.multiply(update.read("exp_avg_sqs"), update.spread("beta2")),
                             b.multiply(second_weight, b.multiply(gradient, gradient)));
  Value spread = square;
  if (c.flag("amsgrad")) {
    spread = b.maximum(update.read("max_exp_avg_sqs"), square);
    update.write("max_exp_avg_sqs", spread);
  }
  const Value root = update.spread(b.sqrt(bias_correction(c, "beta2", step)));
  const Value denominator = b.add(b.divide(b.sqrt(spread), root), update.spread("eps"));
  const Value step_size = update.spread(b.divide(rate, bias_correction(c, "beta1", step)));
  update.write("self", b.subtract(parameter, b.divide(b.multiply(step_size, average), denominator)));
  update.write("exp_avgs", average);
  update.write("exp_avg_sqs", square);
}

template <Decay decay>
Results adam(Context& c) {
  for (size_t i = 0; i < c.tensors("self").size(); ++i) adam_step(c, i, decay);
  return {};
}

void sgd_step(Context& c, size_t index, bool momentum) {
  Builder& b = c.b;
  Update update(c, index);
  const Value parameter = update.read("self");
  Value gradient = b.add(update.gradient(), b.multiply(update.spread("weight_decay"), parameter));
  if (momentum) {
    Value buffer = gradient;
    if (!c.flag("is_first_step")) {
      const Value fresh = b.subtract(b.scalar(DType::F64, 1.0), c.scalar_value("dampening", DType::F64));
      buffer = b.add(b.multiply(update.spread("momentum"), update.read("momentum_buffer_list")),
                     b.multiply(update.spread(fresh), gradient));
    }
    update.write("momentum_buffer_list", buffer);
    gradient = c.flag("nesterov") ? b.add(gradient, b.multiply(update.spread("momentum"), buffer)) : buffer;
  }
  update.write("self", b.subtract(parameter, b.multiply(update.spread(learning_rate(c)), gradient)));
}

Results sgd(Context& c) {
  const bool momentum = !c.tensors("momentum_buffer_list").empty();
  for (size_t i = 0; i < c.tensors("self").size(); ++i) sgd_step(c, i, momentum);
  return {};
}

// --- gradient scaling of mixed precision

Results unscale(Context& c) {
  Builder& b = c.b;
  const Value inverse = b.reshape(c.value("inv_scale"), {});
  Value found = b.reshape(c.value("found_inf"), {});
  for (const auto& gradient : c.tensors("self")) {
    const DType compute = compute_dtype(gradient->type.dtype);
    const Value x = b.convert(gradient->value, compute);
    Dims dims(gradient->type.shape.size());
    for (size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<int64_t>(i);
    const Value infinite = b.not_(b.reduce(b.is_finite(x), ir::Op::And, dims));
    found = b.select(infinite, b.splat_like(found, 1.0), found);
    c.write(*gradient, b.multiply(x, b.broadcast_to(b.convert(inverse, compute), gradient->type.shape)));
  }
  c.write(c.tensor("found_inf"), b.reshape(found, c.tensor("found_inf").type.shape));
  return {};
}

Results update_scale(Context& c) {
  Builder& b = c.b;
  const Value scale = c.value("self");
  const Value tracker = c.value("growth_tracker");
  const Value found = b.reshape(compare_with(b, Direction::NE, c.value("found_inf"), 0.0), b.shape(scale));
  const Value streak = b.add(tracker, b.splat_like(tracker, 1.0));
  const Value complete = compare_with(b, Direction::EQ, streak, static_cast<double>(c.integer("growth_interval")));
  const Value grown = b.multiply(scale, scalar_like(c, "scale_growth_factor", scale));
  const Value growing = b.and_(b.reshape(complete, b.shape(scale)), b.is_finite(grown));
  const Value shrunk = b.multiply(scale, scalar_like(c, "scale_backoff_factor", scale));
  const Value reset = b.or_(b.reshape(found, b.shape(tracker)), complete);
  c.write(c.tensor("growth_tracker"), select_constant(b, reset, 0.0, streak));
  return {b.select(found, shrunk, b.select(growing, grown, scale))};
}

const std::array kRules = {
    general("_amp_foreach_non_finite_check_and_unscale_", unscale),
    general("_amp_update_scale_", update_scale),
    general("_fused_adam_", adam<Decay::Coupled>),
    general("_fused_adam_.tensor_lr", adam<Decay::Coupled>),
    general("_fused_adamw_", adam<Decay::Decoupled>),
    general("_fused_adamw_.tensor_lr", adam<Decay::Decoupled>),
    general("_fused_sgd_", sgd),
    general("_fused_sgd_.tensor_lr", sgd),
};

}  // namespace

std::span<const Rule> optimizer_rules() { return kRules; }

}  // namespace opentrn::lowering
