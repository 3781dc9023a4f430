// Resizing of signals, images and volumes: nearest, linear and cubic interpolation, and their gradients. Sizes are
// known when the graph is built, and so are the places each element is read from and their weights.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/memory_format.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Value;

enum class Method { Nearest, NearestExact, Linear, Cubic };

constexpr bool is_nearest(Method method) { return method == Method::Nearest || method == Method::NearestExact; }

/// One dimension that is resized.
struct Side {
  int64_t input, output;
  bool align_corners;
  double scale;  // as the caller gave it; 0 when it follows from the sizes
};

/// Every element of the result reads one element of the operand for each tap, and adds them up by weight.
struct Tap {
  Dims indices;
  std::vector<double> weights;  // empty: all 1
};
using Taps = std::vector<Tap>;

// --- where elements are read from; T is the type in which the CPU finds the places

template <typename T>
T step_of(const Side& side) {
  if (side.align_corners) {
    return side.output > 1 ? static_cast<T>(side.input - 1) / static_cast<T>(side.output - 1) : T{0};
  }
  if (side.scale > 0) return static_cast<T>(1.0 / side.scale);
  return static_cast<T>(side.input) / static_cast<T>(side.output);
}

template <typename T>
T position(const Side& side, int64_t i) {
  const T step = step_of<T>(side);
  if (side.align_corners) return step * static_cast<T>(i);
  return std::fma(step, static_cast<T>(i) + T{0.5}, T{-0.5});
}

/// The whole part in float32, whatever T, as on the CPU.
template <typename T>
int64_t floor_within(T x, const Side& side) {
  return std::min(static_cast<int64_t>(std::floor(static_cast<float>(x))), side.input - 1);
}

/// 1-dimensional and 3-dimensional operators.
template <typename T>
int64_t nearest_by_position(const Side& side, int64_t i, bool exact) {
  if (exact) return floor_within(std::max(position<T>(side, i), T{0}) + T{0.5}, side);
  return floor_within(static_cast<T>(i) * step_of<T>(side), side);
}

/// 2-dimensional operators and all gradients: in float32, and exact for the factors 1 and 2.
int64_t nearest_by_factor(const Side& side, int64_t i, bool exact) {
  if (exact) return floor_within((static_cast<float>(i) + 0.5f) * step_of<float>(side), side);
  if (side.input == side.output) return i;
  if (side.output == 2 * side.input) return i / 2;
  return floor_within(static_cast<float>(i) * step_of<float>(side), side);
}

enum class Places { ByFactor, Float, Double };

Taps nearest_taps(const Side& side, bool exact, Places places) {
  Tap tap;
  for (int64_t i = 0; i < side.output; ++i) {
    tap.indices.push_back(places == Places::ByFactor ? nearest_by_factor(side, i, exact)
                          : places == Places::Float  ? nearest_by_position<float>(side, i, exact)
                                                     : nearest_by_position<double>(side, i, exact));
  }
  return {tap};
}

template <typename T>
struct Place {
  int64_t index;
  T rest;
};

template <typename T>
Place<T> place_of(const Side& side, T x) {
  const int64_t index = floor_within(x, side);
  return {index, std::clamp(x - static_cast<T>(index), T{0}, T{1})};
}

template <typename T>
Taps linear_taps(const Side& side) {
  Taps taps(2);
  for (int64_t i = 0; i < side.output; ++i) {
    const Place<T> place = place_of<T>(side, std::max(position<T>(side, i), T{0}));
    taps[0].indices.push_back(place.index);
    taps[1].indices.push_back(std::min(place.index + 1, side.input - 1));
    taps[0].weights.push_back(static_cast<double>(T{1} - place.rest));
    taps[1].weights.push_back(static_cast<double>(place.rest));
  }
  return taps;
}

/// The cubic convolution kernel at a distance of at most 1, and of 1 to 2.
constexpr double kSharpness = -0.75;

template <typename T>
T near_weight(T x) {
  constexpr T a = static_cast<T>(kSharpness);
  return ((a + 2) * x - (a + 3)) * x * x + 1;
}

template <typename T>
T far_weight(T x) {
  constexpr T a = static_cast<T>(kSharpness);
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

template <typename T>
Taps cubic_taps(const Side& side) {
  Taps taps(4);
  for (int64_t i = 0; i < side.output; ++i) {
    const Place<T> place = place_of<T>(side, position<T>(side, i));
    const T t = place.rest;
    const std::array<T, 4> weights{far_weight(t + 1), near_weight(t), near_weight(1 - t), far_weight(2 - t)};
    for (size_t tap = 0; tap < taps.size(); ++tap) {
      const int64_t index = place.index - 1 + static_cast<int64_t>(tap);
      taps[tap].indices.push_back(std::clamp<int64_t>(index, 0, side.input - 1));
      taps[tap].weights.push_back(static_cast<double>(weights[tap]));
    }
  }
  return taps;
}

Taps taps_of(Method method, const Side& side, Places places) {
  const bool wide = places == Places::Double;
  switch (method) {
    case Method::Nearest:
    case Method::NearestExact: return nearest_taps(side, method == Method::NearestExact, places);
    case Method::Linear: return wide ? linear_taps<double>(side) : linear_taps<float>(side);
    case Method::Cubic: return wide ? cubic_taps<double>(side) : cubic_taps<float>(side);
  }
  __builtin_unreachable();
}

// --- reading by taps, and the transposed operation

template <typename T>
Value vector_constant(Builder& b, DType dtype, const std::vector<T>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(T));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return b.constant({dtype, {static_cast<int64_t>(numbers.size())}}, std::move(bytes));
}

Value weighted(Builder& b, Value x, int64_t dim, const std::vector<double>& weights) {
  if (weights.empty()) return x;
  const Value wide = vector_constant(b, DType::F64, weights);
  return b.multiply(x, along(b, b.convert(wide, b.dtype(x)), b.shape(x), dim));
}

/// n when each index from 0 to size - 1 comes n times in a row, else nothing.
std::optional<int64_t> repetition(const Dims& indices, int64_t size) {
  const auto count = static_cast<int64_t>(indices.size());
  if (size == 0 || count % size != 0) return std::nullopt;
  const int64_t times = count / size;
  for (int64_t i = 0; i < count; ++i) {
    if (indices[static_cast<size_t>(i)] != i / times) return std::nullopt;
  }
  return times;
}

Dims with_size(Dims shape, int64_t dim, int64_t size) {
  shape[static_cast<size_t>(dim)] = size;
  return shape;
}

/// The shape with a dimension of `times` after `dim`, whose own size becomes `size`.
Dims split(const Dims& shape, int64_t dim, int64_t size, int64_t times) {
  Dims result = with_size(shape, dim, size);
  result.insert(result.begin() + dim + 1, times);
  return result;
}

Value read(Builder& b, Value x, int64_t dim, const Dims& indices) {
  const Dims shape = b.shape(x);
  const int64_t size = shape[static_cast<size_t>(dim)];
  const std::optional<int64_t> times = repetition(indices, size);
  if (!times) return gather_slices(b, x, dim, vector_constant(b, DType::I64, indices));
  if (*times == 1) return x;
  const Dims spread = split(shape, dim, size, *times);
  Dims sources;
  for (int64_t i = 0; i < static_cast<int64_t>(spread.size()); ++i) {
    if (i != dim + 1) sources.push_back(i);
  }
  return b.reshape(b.broadcast_in_dim(x, spread, sources), with_size(shape, dim, size * *times));
}

Value add_back(Builder& b, Value gradient, int64_t dim, const Dims& indices, int64_t size) {
  const Dims shape = b.shape(gradient);
  const std::optional<int64_t> times = repetition(indices, size);
  if (!times) {
    const Value zeros = b.splat({b.dtype(gradient), with_size(shape, dim, size)}, 0.0);
    return scatter_slices(b, zeros, dim, vector_constant(b, DType::I64, indices), gradient, ir::Op::Add);
  }
  if (*times == 1) return gradient;
  return b.reduce(b.reshape(gradient, split(shape, dim, size, *times)), ir::Op::Add, {dim + 1});
}

Value total(Builder& b, const std::vector<Value>& parts) {
  Value sum = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) sum = b.add(sum, parts[i]);
  return sum;
}

Value resized(Builder& b, Value x, int64_t dim, const Taps& taps) {
  std::vector<Value> parts;
  for (const Tap& tap : taps) parts.push_back(weighted(b, read(b, x, dim, tap.indices), dim, tap.weights));
  return total(b, parts);
}

Value resized_backward(Builder& b, Value gradient, int64_t dim, const Taps& taps, int64_t size) {
  std::vector<Value> parts;
  for (const Tap& tap : taps) {
    parts.push_back(add_back(b, weighted(b, gradient, dim, tap.weights), dim, tap.indices, size));
  }
  return total(b, parts);
}

// --- arguments

std::string_view scale_name(size_t spatial, size_t i) {
  constexpr std::array<std::string_view, 3> kNames{"scales_d", "scales_h", "scales_w"};
  return spatial == 1 ? "scales" : kNames[kNames.size() - spatial + i];
}

/// The resized dimensions of `input` (batch, channels, then these), checked.
std::vector<Side> sides_of(const Context& c, Method method, size_t spatial, const Dims& input) {
  const Dims& output = c.integers("output_size");
  require(output.size() == spatial, c, ErrorKind::Runtime,
          {.what = concat("It is expected output_size equals to ", spatial, ", but got size ", output.size()),
           .action = "give one size per resized dimension"});
  require(input.size() == spatial + 2, c, ErrorKind::Runtime,
          {.what = concat("It is expected input_size equals to ", spatial + 2, ", but got size ", input.size()),
           .action = "give batch and channel dimensions"});
  std::vector<Side> sides;
  for (size_t i = 0; i < spatial; ++i) {
    const std::string_view name = scale_name(spatial, i);
    const bool align = !is_nearest(method) && c.flag("align_corners");
    sides.push_back({input[i + 2], output[i], align, c.has(name) ? c.number(name) : 0.0});
    require(input[1] > 0 && input[i + 2] > 0 && output[i] > 0, c, ErrorKind::Runtime,
            {.what = "Input and output sizes should be greater than 0",
             .got = concat("input ", to_string(input), ", output ", to_string(output)),
             .action = "only the batch may be empty"});
  }
  return sides;
}

Dims memory_format(const TensorArgument& like, const Dims& shape) {
  return is_channels_last_like(like.type.shape, like.strides) ? channels_last_strides(shape)
                                                              : contiguous_strides(shape);
}

template <Method method, size_t spatial>
Results upsample(Context& c) {
  const TensorArgument& self = c.tensor("self");
  const DType dtype = self.type.dtype;
  const std::vector<Side> sides = sides_of(c, method, spatial, self.type.shape);
  if (dtype == DType::U8) {
    if (!is_nearest(method) && spatial == 2) decline("interpolation of 8-bit images");
    if (!is_nearest(method)) check_types(c, dtype, "f");
  } else {
    check_types(c, dtype, "f");
  }
  const bool wide = dtype == DType::F64;
  const Places places = is_nearest(method) && spatial == 2 ? Places::ByFactor : wide ? Places::Double : Places::Float;
  Value x = is_nearest(method) ? self.value : compute_value(c, "self");
  for (size_t i = spatial; i-- > 0;) {
    if (method == Method::Linear && sides[i].input == sides[i].output) continue;
    x = resized(c.b, x, static_cast<int64_t>(i) + 2, taps_of(method, sides[i], places));
  }
  c.result_strides = {memory_format(self, c.b.shape(x))};
  return {c.b.convert(x, dtype)};
}

template <Method method, size_t spatial>
Results upsample_backward(Context& c) {
  const TensorArgument& gradient = c.tensor("grad_output");
  const DType dtype = gradient.type.dtype;
  const Dims& input = c.integers("input_size");
  const std::vector<Side> sides = sides_of(c, method, spatial, input);
  Dims expected(input.begin(), input.begin() + 2);
  for (const Side& side : sides) expected.push_back(side.output);
  require(gradient.type.shape == expected, c, ErrorKind::Runtime,
          {.what = "Expected grad_output to have the same shape as output",
           .got = to_string(gradient.type.shape),
           .expected = to_string(expected),
           .action = "give the gradient of that output"});
  check_types(c, dtype, "f");
  const bool same = std::all_of(sides.begin(), sides.end(), [](const Side& side) { return side.input == side.output; });
  const Places places = is_nearest(method) ? Places::ByFactor : dtype == DType::F64 ? Places::Double : Places::Float;
  Value x = compute_value(c, "grad_output");
  for (size_t i = 0; i < spatial; ++i) {
    const bool kept = method == Method::Cubic ? same : method == Method::Linear && sides[i].input == sides[i].output;
    if (kept) continue;
    x = resized_backward(c.b, x, static_cast<int64_t>(i) + 2, taps_of(method, sides[i], places), sides[i].input);
  }
  const bool row_major = method == Method::Cubic || (is_nearest(method) && spatial == 3);
  c.result_strides = {row_major ? contiguous_strides(input) : memory_format(gradient, input)};
  return {c.b.convert(x, dtype)};
}

/// The factors choose what is read from where.
Rule resampling(std::string_view name, RuleFunction function) {
  Rule rule = general(name, function);
  rule.structural = "scales scales_d scales_h scales_w";
  return rule;
}

Rule image(std::string_view name, RuleFunction function) {
  Rule rule = resampling(name, function);
  rule.note = "8-bit images run as a fallback";
  return rule;
}

const std::array kRules = {
    resampling("_upsample_nearest_exact1d", upsample<Method::NearestExact, 1>),
    resampling("_upsample_nearest_exact1d_backward", upsample_backward<Method::NearestExact, 1>),
    resampling("_upsample_nearest_exact2d", upsample<Method::NearestExact, 2>),
    resampling("_upsample_nearest_exact2d_backward", upsample_backward<Method::NearestExact, 2>),
    resampling("_upsample_nearest_exact3d", upsample<Method::NearestExact, 3>),
    resampling("_upsample_nearest_exact3d_backward", upsample_backward<Method::NearestExact, 3>),
    image("upsample_bicubic2d", upsample<Method::Cubic, 2>),
    resampling("upsample_bicubic2d_backward", upsample_backward<Method::Cubic, 2>),
    image("upsample_bilinear2d", upsample<Method::Linear, 2>),
    resampling("upsample_bilinear2d_backward", upsample_backward<Method::Linear, 2>),
    resampling("upsample_linear1d", upsample<Method::Linear, 1>),
    resampling("upsample_linear1d_backward", upsample_backward<Method::Linear, 1>),
    resampling("upsample_nearest1d", upsample<Method::Nearest, 1>),
    resampling("upsample_nearest1d_backward", upsample_backward<Method::Nearest, 1>),
    resampling("upsample_nearest2d", upsample<Method::Nearest, 2>),
    resampling("upsample_nearest2d_backward", upsample_backward<Method::Nearest, 2>),
    resampling("upsample_nearest3d", upsample<Method::Nearest, 3>),
    resampling("upsample_nearest3d_backward", upsample_backward<Method::Nearest, 3>),
    resampling("upsample_trilinear3d", upsample<Method::Linear, 3>),
    resampling("upsample_trilinear3d_backward", upsample_backward<Method::Linear, 3>),
};

}  // namespace

std::span<const Rule> upsampling_rules() { return kRules; }

}  // namespace opentrn::lowering
