// Tensors from numbers alone.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::ComparisonDirection;

bool all_integral(const Context& context, std::initializer_list<std::string_view> names) {
  return std::all_of(names.begin(), names.end(),
                     [&](std::string_view name) { return is_integral(context.scalar(name).dtype); });
}

const ScalarValue& named(std::span<const ScalarValue> scalars, std::string_view name) {
  for (const ScalarValue& scalar : scalars) {
    if (scalar.name == name) return scalar;
  }
  raise(ErrorKind::Internal, {.where = "creation", .what = concat("no scalar '", name, "'")});
}

void require_range(double start, double end, double step) {
  const auto refuse = [](std::string what, std::string action) {
    raise(ErrorKind::Runtime, {.where = "arange", .what = std::move(what), .action = std::move(action)});
  };
  if (step == 0) refuse("step must be nonzero", "give another step");
  if (!std::isfinite(start) || !std::isfinite(end)) {
    refuse(concat("unsupported range: ", start, " -> ", end), "give finite ends");
  }
  if ((step > 0 && end < start) || (step < 0 && end > start)) {
    refuse("upper bound and lower bound inconsistent with step sign", "swap the ends or negate the step");
  }
}

int64_t as_integer(const ScalarValue& scalar) {
  return is_integral(scalar.dtype) ? scalar.integer : static_cast<int64_t>(scalar.number.real());
}

/// Numbers from `start` to `end` without the end, counted in 128 bits: the difference need not fit into 64.
int64_t count_integers(int64_t start, int64_t end, int64_t step) {
  if (step == 0) return -1;
  const __int128 span = static_cast<__int128>(end) - start;
  const __int128 towards = step > 0 ? step - 1 : step + 1;
  return static_cast<int64_t>(std::max<__int128>((span + towards) / step, 0));
}

/// PyTorch counts in integers when the result is int64, and in float64 otherwise. -1 where a count makes no sense.
Dims arange_counts(std::span<const ScalarValue> scalars) {
  const ScalarValue& start = named(scalars, "start");
  const ScalarValue& end = named(scalars, "end");
  const ScalarValue& step = named(scalars, "step");
  require_range(start.number.real(), end.number.real(), step.number.real());
  const double count = std::ceil((end.number.real() - start.number.real()) / step.number.real());
  if (!(count < 0x1p62)) {
    raise(ErrorKind::Runtime,
          {.where = "arange", .what = "invalid size, possible overflow?", .action = "give a larger step"});
  }
  return {count_integers(as_integer(start), as_integer(end), as_integer(step)), static_cast<int64_t>(count)};
}

Results arange(Context& context) {
  ir::Builder& b = context.b;
  const bool integral = all_integral(context, {"start", "end", "step"});
  const DType dtype = factory_dtype(context, integral ? DType::I64 : context.call.default_dtype);
  check_types(context, dtype, "if");
  const int64_t count = context.call.derived.at(dtype == DType::I64 ? 0 : 1);
  require(count >= 0, context, ErrorKind::Value, {.what = "step must be nonzero", .action = "give another step"});
  const DType compute = is_integer(dtype) ? DType::I64 : DType::F64;
  const ir::TensorType type{compute, {count}};
  const ir::Value numbers = b.iota(type, 0);
  const ir::Value step = b.broadcast_to(context.scalar_value("step", compute), type.shape);
  const ir::Value start = b.broadcast_to(context.scalar_value("start", compute), type.shape);
  return {b.convert(b.add(start, b.multiply(step, numbers)), dtype)};
}

/// As arange, but with the end.
Dims range_count(std::span<const ScalarValue> scalars) {
  const double start = named(scalars, "start").number.real();
  const double end = named(scalars, "end").number.real();
  const double step = named(scalars, "step").number.real();
  require_range(start, end, step);
  return {static_cast<int64_t>((end - start) / step) + 1};
}

Results range(Context& context) {
  ir::Builder& b = context.b;
  const DType dtype = factory_dtype(context, context.call.default_dtype);
  check_types(context, dtype, "if");
  const DType compute = is_integer(dtype) ? DType::I64 : DType::F64;
  const ir::TensorType type{compute, {context.call.derived.at(0)}};
  const ir::Value step = b.broadcast_to(context.scalar_value("step", compute), type.shape);
  const ir::Value start = b.broadcast_to(context.scalar_value("start", compute), type.shape);
  return {b.convert(b.add(start, b.multiply(step, b.iota(type, 0))), dtype)};
}

/// The type the step is rounded to: that of the result, but float64 for integers.
DType step_dtype(DType dtype) { return is_integer(dtype) ? DType::F64 : compute_dtype(dtype); }

/// Like PyTorch's, exact at both ends: the first half counts up from `start`, the second down from `end`. Multiplied
/// and added with one rounding, as by the CPU's fused instruction.
ir::Value spaced(Context& context, DType dtype, int64_t steps) {
  ir::Builder& b = context.b;
  const DType rounded = step_dtype(dtype);
  const DType exact = is_complex(dtype) ? DType::C128 : DType::F64;
  const auto end_value = [&](std::string_view name) {
    return b.convert(checked_scalar(context, name, dtype), rounded);
  };
  const Dims shape = {steps};
  if (steps <= 1) return b.broadcast_to(end_value("start"), shape);
  const ir::Value start = end_value("start");
  const ir::Value end = end_value("end");
  const ir::Value step = b.divide(b.subtract(end, start), b.scalar(rounded, static_cast<double>(steps - 1)));
  const auto spread = [&](ir::Value scalar) { return b.broadcast_to(b.convert(scalar, exact), shape); };
  const ir::Value place = b.iota({DType::I64, shape}, 0);
  const ir::Value from_end = b.subtract(b.splat_like(place, static_cast<double>(steps - 1)), place);
  const auto offset = [&](ir::Value count) { return b.multiply(spread(step), b.convert(count, exact)); };
  const ir::Value up = b.add(spread(start), offset(place));
  const ir::Value down = b.subtract(spread(end), offset(from_end));
  return b.select(is_less(b, place, static_cast<double>(steps / 2)), up, down);
}

DType spaced_dtype(const Context& context) {
  const DType default_dtype = context.call.default_dtype;
  const bool complex = is_complex(context.scalar("start").dtype) || is_complex(context.scalar("end").dtype);
  if (!complex) return factory_dtype(context, default_dtype);
  return factory_dtype(context, default_dtype == DType::F64 ? DType::C128 : DType::C64);
}

int64_t steps_of(const Context& context) {
  const int64_t steps = context.integer("steps");
  require(steps >= 0, context, ErrorKind::Runtime,
          {.what = "number of steps must be non-negative", .got = concat(steps), .action = "give a larger number"});
  return steps;
}

Results linspace(Context& context) {
  const DType dtype = spaced_dtype(context);
  check_types(context, dtype, "ifc");
  return {context.b.convert(spaced(context, dtype, steps_of(context)), dtype)};
}

/// The base to the power of evenly spaced exponents. Of integers CPU PyTorch rounds each power towards zero.
Results logspace(Context& context) {
  ir::Builder& b = context.b;
  const DType dtype = spaced_dtype(context);
  const int64_t steps = steps_of(context);
  if (steps > 1) check_types(context, dtype, "ifc");
  const ir::Value exponents = spaced(context, is_bool(dtype) ? DType::F64 : dtype, steps);
  const ir::Value base = b.broadcast_to(context.scalar_value("base", b.dtype(exponents)), b.shape(exponents));
  return {b.convert(b.power(base, exponents), dtype)};
}

Results eye(Context& context, int64_t rows, int64_t columns) {
  ir::Builder& b = context.b;
  for (const int64_t size : {rows, columns}) {
    require(size >= 0, context, ErrorKind::Runtime,
            {.what = concat("n must be greater or equal to 0, got ", size), .action = "give a larger number"});
  }
  const DType dtype = factory_dtype(context, context.call.default_dtype);
  const Dims shape = {rows, columns};
  const ir::Value row = along(b, b.iota({DType::I64, {rows}}, 0), shape, 0);
  const ir::Value column = along(b, b.iota({DType::I64, {columns}}, 0), shape, 1);
  return {b.convert(b.compare(ComparisonDirection::EQ, row, column), dtype)};
}

Results eye_square(Context& context) { return eye(context, context.integer("n"), context.integer("n")); }
Results eye_rectangle(Context& context) { return eye(context, context.integer("n"), context.integer("m")); }

/// Positions of a triangle, row by row. Which columns of row `i` belong to it: [begin(i), end(i)).
template <typename Begin, typename End>
Results triangle_indices(Context& context, Begin begin, End end) {
  const int64_t rows = context.integer("row");
  const int64_t columns = context.integer("col");
  require(rows >= 0 && columns >= 0, context, ErrorKind::Runtime,
          {.what = concat(rows < 0 ? "row" : "col", " must be non-negative, got ", std::min(rows, columns)),
           .action = "give a larger number"});
  constexpr int64_t kLargestConstant = int64_t{1} << 20;
  if (rows * columns > kLargestConstant) decline("more positions than a constant should hold");
  std::vector<int64_t> row_of, column_of;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t stop = std::clamp<int64_t>(end(row), 0, columns);
    for (int64_t column = std::clamp<int64_t>(begin(row), 0, columns); column < stop; ++column) {
      row_of.push_back(row);
      column_of.push_back(column);
    }
  }
  const auto count = static_cast<int64_t>(row_of.size());
  row_of.insert(row_of.end(), column_of.begin(), column_of.end());
  std::vector<std::byte> bytes(row_of.size() * sizeof(int64_t));
  if (!row_of.empty()) std::memcpy(bytes.data(), row_of.data(), bytes.size());
  const ir::Value positions = context.b.constant({DType::I64, {2, count}}, std::move(bytes));
  return {context.b.convert(positions, factory_dtype(context, DType::I64))};
}

Results tril_indices(Context& context) {
  const int64_t offset = context.integer("offset");
  return triangle_indices(context, [](int64_t) { return int64_t{0}; }, [=](int64_t row) { return row + offset + 1; });
}

Results triu_indices(Context& context) {
  const int64_t offset = context.integer("offset");
  const int64_t columns = context.integer("col");
  return triangle_indices(context, [=](int64_t row) { return row + offset; }, [=](int64_t) { return columns; });
}

}  // namespace

std::span<const Rule> creation_rules() {
  static const Rule rules[] = {
      Rule{.name = "arange.start_step", .function = arange, .derive = arange_counts},
      general("eye", eye_square),
      general("eye.m", eye_rectangle),
      general("linspace", linspace),
      general("logspace", logspace),
      Rule{.name = "range.step", .function = range, .derive = range_count},
      general("tril_indices", tril_indices),
      general("triu_indices", triu_indices),
  };
  return rules;
}

}  // namespace opentrn::lowering
