#include "lowering/arguments.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::ComparisonDirection;

struct Limits {
  double low, high;
};

/// PyTorch lets an unsigned type take the negative numbers whose magnitude fits.
template <typename T>
Limits accepted() {
  const auto high = static_cast<double>(std::numeric_limits<T>::max());
  return {std::is_signed_v<T> ? static_cast<double>(std::numeric_limits<T>::min()) : -high, high};
}

Limits accepted_by(DType dtype) {
  return visit_dtype(dtype, []<typename T>() -> Limits {
    if constexpr (std::is_integral_v<T>) {
      return accepted<T>();
    } else {
      return {};
    }
  });
}

/// An integer type is too small when the number lies outside it; 64 bits hold every integer scalar.
ir::Value fits_integer(ir::Builder& b, ir::Value number, DType dtype) {
  const Limits limits = accepted_by(dtype);
  const ir::Value above = compare_with(b, ComparisonDirection::GE, number, limits.low);
  return b.and_(above, compare_with(b, ComparisonDirection::LE, number, limits.high));
}

/// A floating type is too small when a finite number becomes infinite.
ir::Value fits_float(ir::Builder& b, ir::Value number, ir::Value converted) {
  if (is_complex(b.dtype(number))) {
    const ir::Value real = fits_float(b, b.real(number), b.real(converted));
    return b.and_(real, fits_float(b, b.imag(number), b.imag(converted)));
  }
  return b.compare(ComparisonDirection::EQ, b.is_finite(number), b.is_finite(converted));
}

std::string overflow_message(DType dtype) {
  return concat("value cannot be converted to type ", info(dtype).torch_name, " without overflow");
}

ir::Value check_fit(Context& context, ir::Value number, DType dtype) {
  ir::Builder& b = context.b;
  const DType from = b.dtype(number);
  const ir::Value converted = b.convert(number, dtype);
  if (is_bool(dtype) || is_bool(from)) return converted;
  if (is_complex(from) && !is_complex(dtype)) {
    const ir::Value imaginary = b.imag(number);
    const ir::Value real = compare_with(b, ComparisonDirection::EQ, imaginary, 0);
    return b.check(real, check_fit(context, b.real(number), dtype), overflow_message(dtype));
  }
  const bool wide_integer = size_of(dtype) == 8 && is_integer(from);
  if (wide_integer || from == dtype) return converted;
  if (is_complex(dtype)) {
    const ir::Value complex_number = b.convert(number, DType::C128);
    return b.check(fits_float(b, complex_number, converted), converted, overflow_message(dtype));
  }
  if (is_integer(dtype)) return b.check(fits_integer(b, number, dtype), converted, overflow_message(dtype));
  if (is_integer(from) && size_of(dtype) >= 4) return converted;
  const ir::Value float_number = is_integer(from) ? b.convert(number, DType::F64) : number;
  const ir::Value compared = size_of(dtype) == 1 ? b.convert(converted, DType::F32) : converted;
  return b.check(fits_float(b, float_number, compared), converted, overflow_message(dtype));
}

int64_t coefficient_class(std::complex<double> number) {
  if (number == 0.0) return kZero;
  return number == 1.0 ? kOne : kAny;
}

}  // namespace

bool is_given(const Context& context, std::string_view name) {
  const auto& arguments = context.call.arguments;
  return std::any_of(arguments.begin(), arguments.end(), [&](const NamedArgument& argument) {
    return argument.name == name && !std::holds_alternative<std::monostate>(argument.value);
  });
}

DType factory_dtype(const Context& context, DType inferred) {
  if (!context.call.destinations.empty()) return context.call.destinations.front().type.dtype;
  return is_given(context, "dtype") ? context.dtype("dtype") : inferred;
}

ir::Value checked_scalar(Context& context, std::string_view name, DType dtype) {
  return check_fit(context, context.scalar(name).value, dtype);
}

ir::Value checked_convert(Context& context, ir::Value number, DType dtype) { return check_fit(context, number, dtype); }

ir::Value integer_splat(ir::Builder& b, ir::TensorType type, int64_t value) {
  const DType dtype = type.dtype;
  std::vector<std::byte> bytes(static_cast<size_t>(size_of(dtype)));
  std::memcpy(bytes.data(), &value, bytes.size());  // the low bytes come first
  return b.constant(std::move(type), std::move(bytes));
}

ir::Value check_all(Context& context, ir::Value condition, ir::Value value, std::string_view message) {
  Dims dims;
  for (int64_t dim = 0; dim < context.b.rank(condition); ++dim) dims.push_back(dim);
  const ir::Value all = dims.empty() ? condition : context.b.reduce(condition, ir::Op::And, dims);
  return context.b.check(all, value, concat("[", context.call.operator_name, "] ", message));
}

ir::Value is_less(ir::Builder& b, ir::Value x, double bound) {
  return compare_with(b, ComparisonDirection::LT, x, bound);
}
ir::Value is_greater(ir::Builder& b, ir::Value x, double bound) {
  return compare_with(b, ComparisonDirection::GT, x, bound);
}

Dims coefficient_classes(std::span<const ScalarValue> scalars) {
  Dims classes;
  for (const ScalarValue& scalar : scalars) classes.push_back(coefficient_class(scalar.number));
  return classes;
}

ir::Value scaled(Context& context, ir::Value factor, std::string_view name, int64_t coefficient) {
  if (coefficient == kOne) return factor;
  return context.b.multiply(factor, scalar_like(context, name, factor));
}

void require(bool condition, const Context& context, ErrorKind kind, Complaint complaint) {
  if (!condition) context.refuse(kind, std::move(complaint));
}

}  // namespace opentrn::lowering
