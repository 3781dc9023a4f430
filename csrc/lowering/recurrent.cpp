// Cells of LSTM and GRU: everything behind the two products with the weights, and their gradients.
#include <array>

#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;

/// Part `index` of `count` equal ones along the features of [batch, features].
Value part(Builder& b, Value x, int64_t index, int64_t count) {
  const Dims shape = b.shape(x);
  const int64_t size = shape[1] / count;
  return b.slice(x, {0, index * size}, {shape[0], (index + 1) * size}, {1, 1});
}

Value joined(Builder& b, std::initializer_list<Value> parts) { return b.concatenate(std::vector<Value>(parts), 1); }

Value one_minus(Builder& b, Value x) { return b.subtract(b.splat({b.dtype(x), b.shape(x)}, 1.0), x); }

// Of the logistic function and of tanh, in terms of their results.
Value logistic_slope(Builder& b, Value y) { return b.multiply(y, one_minus(b, y)); }
Value tanh_slope(Builder& b, Value y) { return one_minus(b, b.multiply(y, y)); }

Value with_bias(Context& c, Value gates, std::string_view bias) {
  if (!c.has(bias)) return gates;
  return c.b.add(gates, c.b.broadcast_in_dim(compute_value(c, bias), c.b.shape(gates), {1}));
}

Value sum_of_batch(Builder& b, Value x, bool wanted, DType dtype) {
  return wanted ? b.convert(b.reduce(x, Op::Add, {0}), dtype) : Value{};
}

DType checked_dtype(const Context& c, std::string_view name) {
  const DType dtype = c.tensor(name).type.dtype;
  check_types(c, dtype, "f");
  return dtype;
}

/// Results: the output, the cell's state, and the four gates after their functions, for the gradient.
Results lstm_cell(Context& c) {
  Builder& b = c.b;
  const DType dtype = checked_dtype(c, "input_gates");
  const Value input = with_bias(c, compute_value(c, "input_gates"), "input_bias");
  const Value gates = b.add(input, with_bias(c, compute_value(c, "hidden_gates"), "hidden_bias"));
  const Value in = b.logistic(part(b, gates, 0, 4));
  const Value forget = b.logistic(part(b, gates, 1, 4));
  const Value cell = b.tanh(part(b, gates, 2, 4));
  const Value out = b.logistic(part(b, gates, 3, 4));
  const Value state = b.add(b.multiply(forget, compute_value(c, "cx")), b.multiply(in, cell));
  const Value result = b.multiply(out, b.tanh(state));
  return {b.convert(result, dtype), b.convert(state, dtype), b.convert(joined(b, {in, forget, cell, out}), dtype)};
}

Results lstm_cell_backward(Context& c) {
  Builder& b = c.b;
  const DType dtype = checked_dtype(c, "workspace");
  const Value gates = compute_value(c, "workspace");
  const Value in = part(b, gates, 0, 4), forget = part(b, gates, 1, 4);
  const Value cell = part(b, gates, 2, 4), out = part(b, gates, 3, 4);
  const Value before = compute_value(c, "cx");
  const Value bent = b.tanh(compute_value(c, "cy"));
  const Value nothing = b.splat({b.dtype(bent), b.shape(bent)}, 0.0);
  const Value of_result = c.has("grad_hy") ? compute_value(c, "grad_hy") : nothing;
  Value of_state = b.multiply(b.multiply(of_result, out), tanh_slope(b, bent));
  if (c.has("grad_cy")) of_state = b.add(of_state, compute_value(c, "grad_cy"));
  const Value of_gates = joined(b, {b.multiply(b.multiply(of_state, cell), logistic_slope(b, in)),
                                    b.multiply(b.multiply(of_state, before), logistic_slope(b, forget)),
                                    b.multiply(b.multiply(of_state, in), tanh_slope(b, cell)),
                                    b.multiply(b.multiply(of_result, bent), logistic_slope(b, out))});
  return {b.convert(of_gates, dtype), b.convert(b.multiply(of_state, forget), dtype),
          sum_of_batch(b, of_gates, c.flag("has_bias"), dtype)};
}

/// Results: the output, and for the gradient the reset and update gates, the candidate, the state before, and what the
/// reset gate was multiplied with.
Results gru_cell(Context& c) {
  Builder& b = c.b;
  const DType dtype = checked_dtype(c, "input_gates");
  const Value input = with_bias(c, compute_value(c, "input_gates"), "input_bias");
  const Value hidden = with_bias(c, compute_value(c, "hidden_gates"), "hidden_bias");
  const Value before = compute_value(c, "hx");
  const Value reset = b.logistic(b.add(part(b, input, 0, 3), part(b, hidden, 0, 3)));
  const Value update = b.logistic(b.add(part(b, input, 1, 3), part(b, hidden, 1, 3)));
  const Value memory = part(b, hidden, 2, 3);
  const Value candidate = b.tanh(b.add(part(b, input, 2, 3), b.multiply(reset, memory)));
  const Value result = b.add(candidate, b.multiply(update, b.subtract(before, candidate)));
  return {b.convert(result, dtype), b.convert(joined(b, {reset, update, candidate, before, memory}), dtype)};
}

Results gru_cell_backward(Context& c) {
  Builder& b = c.b;
  const DType dtype = checked_dtype(c, "workspace");
  const Value saved = compute_value(c, "workspace");
  const Value reset = part(b, saved, 0, 5), update = part(b, saved, 1, 5), candidate = part(b, saved, 2, 5);
  const Value before = part(b, saved, 3, 5), memory = part(b, saved, 4, 5);
  const Value gradient = compute_value(c, "grad_hy");
  const Value of_update = b.multiply(b.multiply(gradient, b.subtract(before, candidate)), logistic_slope(b, update));
  const Value of_candidate = b.multiply(b.multiply(gradient, one_minus(b, update)), tanh_slope(b, candidate));
  const Value of_reset = b.multiply(b.multiply(of_candidate, memory), logistic_slope(b, reset));
  const Value of_input = joined(b, {of_reset, of_update, of_candidate});
  const Value of_hidden = joined(b, {of_reset, of_update, b.multiply(of_candidate, reset)});
  const bool has_bias = c.flag("has_bias");
  return {b.convert(of_input, dtype), b.convert(of_hidden, dtype), b.convert(b.multiply(gradient, update), dtype),
          sum_of_batch(b, of_input, has_bias, dtype), sum_of_batch(b, of_hidden, has_bias, dtype)};
}

const std::array kRules = {
    general("_thnn_fused_gru_cell", gru_cell),
    general("_thnn_fused_gru_cell_backward", gru_cell_backward),
    general("_thnn_fused_lstm_cell", lstm_cell),
    general("_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward),
};

}  // namespace

std::span<const Rule> recurrent_rules() { return kRules; }

}  // namespace opentrn::lowering
