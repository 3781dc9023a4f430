// Random choices: permutations and draws by weight.
#include <limits>

#include "lowering/arguments.h"
#include "lowering/distributions.h"
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/running.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

using ir::ComparisonDirection;
using ir::Op;

/// Random keys, sorted together with the numbers they carry.
Results randperm(Context& context) {
  ir::Builder& b = context.b;
  const int64_t n = context.integer("n");
  const DType dtype = factory_dtype(context, DType::I64);
  check_types(context, dtype, "if");
  require(n >= 0, context, ErrorKind::Runtime,
          {.what = "n must be non-negative", .got = concat(n), .action = "give a larger number"});
  const int64_t digits = dtype == DType::BF16 ? 8 : dtype == DType::F16 ? 11 : dtype == DType::F32 ? 24 : 53;
  const int64_t bits = size_of(dtype) * 8 - (category(dtype) == Category::Signed ? 1 : 0);
  const bool fits = is_float(dtype) ? n <= (int64_t{1} << digits) + 1 : bits >= 63 || n <= int64_t{1} << bits;
  require(fits, context, ErrorKind::Runtime,
          {.what = concat("n is too large: the value cannot be converted to type ", info(dtype).torch_name,
                          " without overflow"),
           .got = concat(n),
           .action = "choose a wider type"});
  if (n == 0) return {b.splat({dtype, {0}}, 0)};
  const ir::Value operands[] = {context.random_bits({DType::U64, {n}}), b.iota({DType::I64, {n}}, 0)};
  return {b.convert(b.sort(operands, {0, true, false})[1], dtype)};
}

/// Weights of [rows, categories], checked. The checks speak as CPU PyTorch's.
ir::Value checked_weights(Context& context, ir::Value weights) {
  ir::Builder& b = context.b;
  const double infinity = std::numeric_limits<double>::infinity();
  const ir::Value not_negative = compare_with(b, ComparisonDirection::GE, weights, 0);
  const ir::Value valid = b.and_(not_negative, is_less(b, weights, infinity));
  const ir::Value finite =
      check_all(context, valid, weights, "probability tensor contains either `inf`, `nan` or element < 0");
  const ir::Value largest = b.reduce(finite, Op::Maximum, {1});
  return check_all(context, is_greater(b, largest, 0), finite,
                   "invalid multinomial distribution (sum of probabilities <= 0)");
}

/// Position of the largest element of each row, as [rows, 1].
ir::Value argmax_of_rows(ir::Builder& b, ir::Value keys) {
  const Dims shape = b.shape(keys);
  const ir::Value largest = expand_reduced(b, b.reduce(keys, Op::Maximum, {1}), shape, {1});
  const ir::Value positions = b.iota({DType::I64, shape}, 1);
  const ir::Value beyond = b.splat_like(positions, static_cast<double>(shape[1]));
  const ir::Value candidates = b.select(b.compare(ComparisonDirection::EQ, keys, largest), positions, beyond);
  return b.reshape(b.reduce(candidates, Op::Minimum, {1}), {shape[0], 1});
}

/// Weights divided by exponential numbers: the order of the quotients is that of draws without replacement.
ir::Value draw_without_replacement(Context& context, ir::Value weights, int64_t samples) {
  ir::Builder& b = context.b;
  const Dims shape = b.shape(weights);
  const ir::Value noise = standard_exponential(context, shape, b.dtype(weights));
  // Below any quotient of a positive weight, even one that underflows.
  const ir::Value keys = b.select(is_greater(b, weights, 0), b.divide(weights, noise), b.splat_like(weights, -1));
  if (samples == 1) return argmax_of_rows(b, keys);
  const ir::Value operands[] = {keys, b.iota({DType::I64, shape}, 1)};
  return head(b, b.sort(operands, {1, true, true})[1], {shape[0], samples});
}

/// Uniform numbers looked up among the running sums.
ir::Value draw_with_replacement(Context& context, ir::Value weights, int64_t samples) {
  ir::Builder& b = context.b;
  const Dims shape = b.shape(weights);
  const ir::TensorType drawn{DType::F64, {shape[0], samples}};
  const ir::Value wide = b.convert(weights, DType::F64);
  const ir::Value sums = running_sum(b, wide, 1);
  const ir::Value total = b.reduce(sums, Op::Maximum, {1});
  const ir::Value targets = b.multiply(context.random_uniform(drawn), along(b, total, drawn.shape, 0));
  const ir::Value found = search_sorted(b, sums, targets, true);
  // Rounding may carry a target to the total: the last category that can occur takes it.
  const ir::Value positions = b.iota({DType::I64, shape}, 1);
  const ir::Value possible = b.select(is_greater(b, wide, 0), positions, b.splat_like(positions, 0));
  return b.minimum(found, along(b, b.reduce(possible, Op::Maximum, {1}), drawn.shape, 0));
}

void require_multinomial(const Context& context, const ir::TensorType& type, int64_t samples, bool replacement) {
  require(type.rank() == 1 || type.rank() == 2, context, ErrorKind::Runtime,
          {.what = "prob_dist must be 1 or 2 dim", .got = "shape " + to_string(type.shape), .action = "reshape it"});
  require(
      is_float(type.dtype), context, ErrorKind::Runtime,
      {.what = concat("multinomial only supports floating-point dtypes for input, got: ", scalar_type_name(type.dtype)),
       .action = "convert it with .float()"});
  require(samples > 0, context, ErrorKind::Runtime,
          {.what = "cannot sample n_sample <= 0 samples", .got = concat(samples), .action = "ask for at least one"});
  require(replacement || samples <= type.shape.back(), context, ErrorKind::Runtime,
          {.what = "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
           .got = concat(samples, " of ", type.shape.back()),
           .action = "ask for fewer, or pass replacement=True"});
}

Results multinomial(Context& context) {
  ir::Builder& b = context.b;
  const ir::TensorType& type = context.tensor("self").type;
  const int64_t samples = context.integer("num_samples");
  const bool replacement = context.flag("replacement");
  require_multinomial(context, type, samples, replacement);
  check_types(context, type.dtype, "f");
  const int64_t categories = type.shape.back();
  const int64_t rows = type.rank() == 2 ? type.shape[0] : 1;
  const Dims shape = type.rank() == 2 ? Dims{rows, samples} : Dims{samples};
  if (rows == 0) return {b.splat({DType::I64, shape}, 0)};
  require(categories > 0, context, ErrorKind::Runtime,
          {.what = "invalid multinomial distribution (sum of probabilities <= 0)",
           .got = "no category",
           .action = "give at least one positive probability"});
  const ir::Value raw = b.reshape(context.value("self", drawing_dtype(type.dtype)), {rows, categories});
  const ir::Value weights = checked_weights(context, raw);
  const bool by_noise = !replacement || samples == 1;
  const ir::Value drawn =
      by_noise ? draw_without_replacement(context, weights, samples) : draw_with_replacement(context, weights, samples);
  return {b.reshape(drawn, shape)};
}

}  // namespace

std::span<const Rule> random_choice_rules() {
  static const Rule rules[] = {
      general("multinomial", multinomial),
      general("randperm.generator", randperm),
  };
  return rules;
}

}  // namespace opentrn::lowering
